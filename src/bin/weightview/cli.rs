//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use glob::{Pattern, PatternError};
use weightview::limits;
use weightview::safetensors::ParseOptions;

/// Lists what is in files of model weights, and proves them sound; it never runs what they hold
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  weightview ls model.safetensors                            list a file
  weightview stats model.safetensors                         what its numbers are like
  weightview check models/llama-3-8b                         is it sound?
  weightview diff a.safetensors b.safetensors --values       what is different
  weightview hash model.safetensors                          a digest of its tensors
  weightview export model.safetensors fc1.bias -o bias.npy   one tensor, for numpy
  weightview ls --help                                       more on listing";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Ls(LsArgs),
    Stats(StatsArgs),
    Check(CheckArgs),
    Diff(DiffArgs),
    Hash(HashArgs),
    Export(ExportArgs),
    Completions(CompletionsArgs),
    /// Print the manual page, in roff: weightview man | man -l -
    Man,
}

/// Print a script that completes this command in a shell
#[derive(Args, Debug)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  weightview completions bash > ~/.local/share/bash-completion/completions/weightview
  weightview completions zsh > ~/.zfunc/_weightview
  weightview completions fish > ~/.config/fish/completions/weightview.fish";

/// List the tensors of safetensors files
///
/// It prints name, dtype, shape, and where the bytes lie in their file's data section.
/// Only the head of a file is read, however large the file is. All that the head says
/// is checked, and held against the length of the file. A directory or an index is listed
/// as the one model that it is, and held against its index.
#[derive(Args, Debug)]
#[command(verbatim_doc_comment, after_long_help = LS_EXAMPLES)]
pub(crate) struct LsArgs {
    /// Files, directories or indexes (`*.index.json`), all in one listing; `-` is the standard input
    ///
    /// A pipe is read to its end, which is how its length is known.
    #[arg(required = true, value_name = "FILE", verbatim_doc_comment)]
    pub(crate) files: Vec<PathBuf>,

    /// The order of the listing
    #[arg(long, value_name = "ORDER", default_value = "name")]
    pub(crate) sort: Sort,

    /// Show the names as a tree instead of a table: their parts, with tensors, parameters and bytes
    ///
    /// Parts are what stands between dots, or slashes. Numbered parts that hold the same are one
    /// line: {0..27}, with the sums over all of them.
    #[arg(long, conflicts_with_all = ["json", "sort"], verbatim_doc_comment)]
    pub(crate) tree: bool,

    /// List and count only tensors whose name matches
    ///
    /// The whole name must match: `*` stands for any characters, `?` for one, `[0-9]` for
    /// one of these, `[*]` for `*` itself. Quote it from the shell. It may be given more
    /// than once: then a name need match only one.
    #[arg(long, value_name = "GLOB", value_parser = name_pattern, verbatim_doc_comment)]
    pub(crate) filter: Vec<Pattern>,

    /// Print one JSON document instead of a table
    ///
    /// {"files":   [{"path", "format", "header_len", "data_start", "metadata"}],
    ///  "tensors": [{"name", "dtype", "shape", "data_offsets", "file"}],
    ///  "total":   {"tensors", "parameters", "bytes"}}
    /// Integers are exact, up to 64 bits and in `total` beyond. `header_len` is the N of the
    /// format, `data_start` is 8 + N, and `data_offsets` count from there. `metadata` is
    /// `__metadata__`, strings by name, and {} when the file has none. `file` is a `path`.
    /// A file that is at fault is left out. Each entry stands on a line of its own.
    #[arg(long, verbatim_doc_comment)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) limits: Limits,
}

/// What files may be like.
#[derive(Args, Debug)]
pub(crate) struct Limits {
    /// Hold files to the letter of the specification
    ///
    /// No white space before the header's `{`, no padding behind it but spaces, no unknown
    /// fields. Without it, what the reference implementation reads is accepted.
    #[arg(long, verbatim_doc_comment)]
    pub(crate) strict: bool,

    #[command(flatten)]
    ceilings: Ceilings,
}

/// How much is too much.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Ceilings {
    /// The longest header that is read, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = limits::MAX_HEADER_LEN)]
    max_header: u64,

    /// The most tensors that one file may have
    #[arg(long, value_name = "N", default_value_t = limits::MAX_TENSORS)]
    max_tensors: u64,
}

/// Say what the numbers of each tensor are like
///
/// Least, greatest, mean, standard deviation (of the whole population), zeros, NaNs,
/// infinities, and a histogram: bars of equal width from the least to the greatest,
/// the tallest bar the fullest. NaNs and infinities are not in mean, deviation and
/// histogram. All bytes of the tensors are read, on all cores.
#[derive(Args, Debug)]
#[command(verbatim_doc_comment, after_long_help = STATS_EXAMPLES)]
pub(crate) struct StatsArgs {
    /// Files, directories or indexes, all in one table
    ///
    /// A pipe will not do: tensors are read out of order.
    #[arg(required = true, value_name = "FILE", verbatim_doc_comment)]
    pub(crate) files: Vec<PathBuf>,

    /// Only tensors whose name matches, as with `ls`; may be given more than once
    #[arg(long, value_name = "GLOB", value_parser = name_pattern)]
    pub(crate) filter: Vec<Pattern>,

    /// Print one JSON document instead of a table
    ///
    /// {"files":   [{"path", "format", "header_len", "data_start", "metadata"}],
    ///  "tensors": [{"name", "dtype", "shape", "file", "count",
    ///               "finite", "nans", "infinities", "negative_infinities", "zeros",
    ///               "negatives", "subnormals", "min", "max", "mean", "std", "histogram"}],
    ///  "total":   {"tensors", "parameters", "bytes", "nans", "infinities"}}
    /// `min`, `max`, `mean` and `std` are null where there are no numbers; an infinity is
    /// "Infinity" or "-Infinity". `histogram` has [low, high, count] for each bar. A tensor
    /// without a summary (C64, F6) has "why" in the place of the numbers.
    #[arg(long, verbatim_doc_comment)]
    pub(crate) json: bool,

    /// Draw histograms with ASCII characters
    #[arg(long)]
    pub(crate) ascii: bool,

    #[command(flatten)]
    pub(crate) limits: Limits,
}

const STATS_EXAMPLES: &str = "\
Examples:
  weightview stats models/llama-3-8b
      all tensors of a model in several files
  weightview stats --filter '*.mlp.*' model.safetensors
      some of them
  weightview stats --json model.safetensors | jq -r '.tensors[] | select(.nans > 0) | .name'
      which tensors have NaNs?

Exit status:
  0  all is well; NaNs are no fault
  1  a file is at fault: malformed, cut, of another format, or over a limit
  2  wrong usage, or a file could not be read (even if another was also at fault)";

/// Say whether a file or a checkpoint is sound, and what readers would stumble over
///
/// Errors: whatever makes a file unreadable, or leaves a tensor missing or ambiguous.
/// Warnings: where a file leaves the letter of the specification and readers disagree, odd
/// names, data that cannot be used in place, an index or a config.json that says otherwise,
/// what stands beside the weights and is dangerous or missing, slow file systems.
/// Each finding has an id that stays the same, the place, and what to do.
#[derive(Args, Debug)]
#[command(verbatim_doc_comment, after_long_help = CHECK_EXAMPLES)]
pub(crate) struct CheckArgs {
    /// Files, directories or indexes
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// Look at the numbers too: NaNs, infinities, BOOL that is neither 0 nor 1; all bytes are read
    #[arg(long)]
    pub(crate) values: bool,

    /// Take warnings for errors
    #[arg(long)]
    pub(crate) strict: bool,

    /// Print one JSON document
    ///
    /// {"paths":    [{"path", "errors", "warnings"}],
    ///  "findings": [{"id", "severity": "error"|"warning", "path", "file", "tensor",
    ///                "message", "help", "byte"}],
    ///  "total":    {"errors", "warnings"}}
    #[arg(long, verbatim_doc_comment)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) limits: Ceilings,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  weightview check models/*
      is everything there, and whole?
  weightview check --values model.safetensors
      are there NaNs in it?
  weightview check --strict --json upload/ | jq -r '.findings[].id'
      for programs

Exit status:
  0  sound, perhaps with warnings
  1  there are errors; with --strict, or warnings
  2  wrong usage, or something could not be read";

/// Say what is different between two checkpoints
///
/// Tensors are found by their names, wherever they lie. A line for each that only B has (+),
/// only A has (-), or that has another dtype or shape (!); with --values also for each whose
/// numbers differ (~): how many; the largest |a-b|; the largest |a-b| / max(|a|, |b|); the
/// root of the mean square of a-b; and the cosine of the angle between the two as vectors.
/// Tensors of different dtypes are compared by value, of one dtype by their bytes as well.
/// Metadata is not compared.
#[derive(Args, Debug)]
#[command(verbatim_doc_comment, after_long_help = DIFF_EXAMPLES)]
pub(crate) struct DiffArgs {
    /// One checkpoint: a file, a directory, or an index
    pub(crate) a: PathBuf,

    /// The other
    pub(crate) b: PathBuf,

    /// Compare the numbers too: all bytes are read
    #[arg(long)]
    pub(crate) values: bool,

    /// Print one JSON document
    ///
    /// {"a", "b", "tensors": [{"kind": "added"|"removed"|"changed", "name", "dtype", "shape"}],
    ///  "values": [{"name", "count", "differing", "not_finite",
    ///              "max_abs", "max_rel", "rms", "cosine"}],
    ///  "equal", "total": {"same", "added", "removed", "changed", "values"}}
    /// Of a changed tensor, `dtype` and `shape` are pairs. `values` is there with --values.
    /// Elements that are not finite are in no figure but `differing` and `not_finite`.
    #[arg(long, verbatim_doc_comment)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) limits: Limits,
}

const DIFF_EXAMPLES: &str = "\
Examples:
  weightview diff base.safetensors tuned.safetensors
      are the same tensors in them?
  weightview diff --values model-bf16.safetensors model-f32.safetensors
      what did the conversion cost?
  weightview diff --values --json a b | jq -r '.values | sort_by(.cosine) | .[:10][] | .name'
      which tensors changed most?

Exit status:
  0  they are equal, as far as was asked
  1  they differ
  2  wrong usage, or one of them could not be read";

/// Print a digest of the tensors: the same for the same content, however it is written
///
/// It depends on each tensor's name, dtype, shape and bytes, and on nothing else: not on
/// the order of a header, on padding, on metadata, or on how tensors are spread over files.
///
/// A tensor's digest is BLAKE3 of its bytes. The whole digest is BLAKE3 with the context
/// "weightview 2026-12-01 digest of a checkpoint's content, version 1" (mode derive_key) of
/// this for each tensor, in the order of the names' UTF-8 bytes, integers little-endian:
///   u64 length of the name, the name; u64 length of the dtype, the dtype as in the header;
///   u64 number of dims, each dim as u64; the 32 bytes of the tensor's digest.
#[derive(Args, Debug)]
#[command(verbatim_doc_comment, after_long_help = HASH_EXAMPLES)]
pub(crate) struct HashArgs {
    /// A file, a directory, or an index
    pub(crate) path: PathBuf,

    /// Print the digest of each tensor too: BLAKE3 of its bytes
    #[arg(long)]
    pub(crate) tensors: bool,

    /// The SHA-256 of the file, or of each file, as model hubs list it; any file has one
    #[arg(long, conflicts_with = "tensors")]
    pub(crate) sha256: bool,

    /// Fail, with exit status 1, unless this is the digest (hexadecimal)
    #[arg(long, value_name = "HEX", value_parser = hex_digest)]
    pub(crate) expect: Option<String>,

    /// Print one JSON document
    ///
    /// {"path", "digest", "tensors": {name: digest}}, with `tensors` if they are asked for;
    /// with --sha256 {"files": [{"path", "sha256"}]}.
    #[arg(long, verbatim_doc_comment)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) limits: Limits,
}

/// 32 bytes in hexadecimal, perhaps behind the name of what made them, as hubs and pointers write it.
fn hex_digest(text: &str) -> Result<String, String> {
    let digits = text.trim().trim_start_matches("sha256:").trim_start_matches("blake3:").to_ascii_lowercase();
    if digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(digits);
    }
    Err("a digest is 64 hexadecimal digits".into())
}

const HASH_EXAMPLES: &str = "\
Examples:
  weightview hash model.safetensors
      to see whether two files hold the same tensors, whatever else differs
  weightview hash --tensors model.safetensors
      to see which tensors are the same
  weightview hash --sha256 model.safetensors --expect 8bacf4585c2808c7841f…
      to see whether a download is the file that the hub lists

Exit status:
  0  all is well
  1  the file is at fault, or its digest is not the one expected
  2  wrong usage, or something could not be read or written";

/// Write one tensor of a safetensors file, as npy or as raw bytes
///
/// Only the head of the file and the tensor's bytes are read.
#[derive(Args, Debug)]
#[command(verbatim_doc_comment, after_long_help = EXPORT_EXAMPLES)]
pub(crate) struct ExportArgs {
    /// A file, a directory, or an index
    pub(crate) file: PathBuf,

    /// The tensor's name
    pub(crate) name: String,

    /// Where to write; `-`, the default, is the standard output, if that is no terminal
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub(crate) output: PathBuf,

    /// What to write
    #[arg(long = "as", value_name = "FORMAT", default_value = "npy")]
    pub(crate) format: ExportFormat,

    /// Widen to f32, exactly: what numpy has no type for (BF16, the 8-bit floats, F4) needs it
    #[arg(long)]
    pub(crate) f32: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// An array that numpy.load reads
    Npy,
    /// The bytes alone: little-endian, row-major
    Raw,
}

const EXPORT_EXAMPLES: &str = "\
Examples:
  weightview export model.safetensors model.norm.weight --f32 -o norm.npy
      for numpy.load
  weightview export model.safetensors lm_head.weight --as raw > lm_head.bin
      the bytes as they stand in the file

Exit status:
  0  all is well
  1  the file is at fault
  2  wrong usage, no such tensor, or something could not be read or written";

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Sort {
    /// By name, over all files together
    Name,
    /// As the data lies, file by file
    Offset,
    /// The largest first, over all files together
    Size,
    /// As the header has them, file by file
    Header,
}

/// A glob for names. They are no paths: `**` is only another way to say `*`.
fn name_pattern(glob: &str) -> Result<Pattern, PatternError> {
    let mut glob = glob.to_owned();
    while glob.contains("**") {
        glob = glob.replace("**", "*");
    }
    Pattern::new(&glob)
}

impl Limits {
    pub(crate) fn parse_options(&self) -> ParseOptions {
        ParseOptions { strict: self.strict, ..self.ceilings.parse_options() }
    }
}

impl Ceilings {
    pub(crate) fn parse_options(&self) -> ParseOptions {
        ParseOptions { max_header_len: self.max_header, max_tensors: self.max_tensors, ..ParseOptions::default() }
    }
}

const LS_EXAMPLES: &str = "\
Examples:
  weightview ls model.safetensors
      what is in it?
  weightview ls models/llama-3-8b
      a model in several files
  weightview ls --tree models/llama-3-8b
      how is it built?
  weightview ls --sort size model.safetensors | head
      the largest tensors
  weightview ls --filter '*.self_attn.?_proj.weight' --filter lm_head.weight model.safetensors
      some tensors, and what they add up to
  weightview ls --json model.safetensors | jq -r '.tensors[] | select(.dtype == \"F32\") | .name'
      for programs
  weightview ls --json model.safetensors | jq '.files[].metadata'
      what the file says of itself
  curl -sL URL | weightview ls -
      without keeping the file
  weightview ls --strict --max-header 1000000 --max-tensors 10000 upload.safetensors
      do not be generous

Exit status:
  0  all is well
  1  a file is at fault: malformed, cut, of another format, or over a limit
  2  wrong usage, or a file could not be read (even if another was also at fault)
Files that are well are listed whatever the others are; errors go to the standard error.";
