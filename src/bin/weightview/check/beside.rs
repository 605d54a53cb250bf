//! What stands beside the weights: a configuration that says otherwise, pickles, pointers that were not followed.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use weightview::Dtype;
use weightview::checkpoint::Catalog;
use weightview::detect::{self, Format, detect};

use super::report::Finding;
use crate::escape;

/// Files of a directory that are looked at.
const MOST_FILES: usize = 1000;
/// The longest configuration that is read, in bytes.
const MOST_CONFIG: u64 = 16 << 20;

/// Looks into the directory of a checkpoint, or of a single file that has the usual name.
pub(super) fn check(path: &Path, catalog: Option<&Catalog>, findings: &mut Vec<Finding>) {
    let directory = match path {
        path if path.is_dir() => path,
        path => match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        },
    };
    let is_whole_model = path.is_dir()
        || path.extension().is_some_and(|extension| extension == "json")
        || path.file_name().is_some_and(|name| name == "model.safetensors");
    if !is_whole_model {
        return; // what stands beside any file need not belong to it
    }
    files(directory, catalog, findings);
    if let Some(catalog) = catalog {
        configuration(&directory.join("config.json"), catalog, findings);
    }
}

/// Whether files of the format hold a model.
pub(super) fn is_model(format: Format) -> bool {
    use Format::{ExecuTorch, Gguf, Hdf5, Npy, Onnx, Pickle, TfLite, Zip};
    matches!(format, Gguf | Zip | Pickle | Hdf5 | Npy | Onnx | TfLite | ExecuTorch)
}

fn files(directory: &Path, catalog: Option<&Catalog>, findings: &mut Vec<Finding>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).take(MOST_FILES).collect();
    paths.sort();
    for path in paths {
        let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else { continue };
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
        let extension = extension.unwrap_or_default();
        let is_shard = extension == "safetensors";
        let finding = match format_of(&path) {
            // Of shards the catalog has said it.
            Some(Format::GitLfsPointer) if !is_shard => Finding::warning(
                "lfs-pointer",
                format!("{} is a Git LFS pointer, not the file that it stands for", escape::str(&name)),
                "run `git lfs pull` in the repository",
            ),
            Some(Format::Pickle | Format::Zip)
                if catalog.is_some() && ["bin", "pt", "pth", "ckpt", "pkl", "pickle"].contains(&extension.as_str()) =>
            {
                Finding::warning(
                    "pickle-beside",
                    format!("{} is a Python pickle, or holds one", escape::str(&name)),
                    "loading it may run code: load the safetensors files, and remove it if nothing needs it",
                )
            }
            _ => continue,
        };
        findings.push(Finding { file: Some(name.into()), ..finding });
    }
}

fn format_of(path: &Path) -> Option<Format> {
    if !path.is_file() {
        return None; // opening a pipe would wait
    }
    let mut prefix = Vec::new();
    File::open(path).ok()?.take(detect::PREFIX_LEN as u64).read_to_end(&mut prefix).ok()?;
    detect(&prefix)
}

/// Whether the configuration names the dtype that most of the weights have.
fn configuration(path: &Path, catalog: &Catalog, findings: &mut Vec<Finding>) {
    if !path.is_file() {
        return;
    }
    let mut text = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MOST_CONFIG).read_to_end(&mut text));
    let config = match read.ok().and_then(|_| serde_json::from_slice::<Value>(&text).ok()) {
        Some(config) => config,
        None if detect(&text) == Some(Format::GitLfsPointer) => return, // it was said
        None => {
            let message = "config.json cannot be read as JSON".to_owned();
            findings.push(Finding {
                file: Some("config.json".into()),
                ..Finding::warning("config-malformed", message, "fetch it again")
            });
            return;
        }
    };
    // Quantised weights are of other dtypes than what they are computed in.
    let is_quantized = config.get("quantization_config").is_some_and(|value| !value.is_null());
    let Some((key, declared)) = declared(&config).filter(|_| !is_quantized) else { return };
    let Some(expected) = dtype_of(&declared) else { return };
    if let Some((dtype, share)) = most(catalog).filter(|(dtype, _)| *dtype != expected) {
        let message = format!(
            "config.json says that the weights are {} ({key}), but {share:.0} % of the floats are {dtype}",
            escape::str(&declared)
        );
        findings.push(Finding {
            file: Some("config.json".into()),
            ..Finding::warning(
                "config-dtype",
                message,
                "loaders that go by config.json convert the weights, at a cost or a loss",
            )
        });
    }
}

/// What a configuration says of the dtype: at its top, or of its language model.
fn declared(config: &Value) -> Option<(&'static str, String)> {
    let text = config.get("text_config").unwrap_or(&Value::Null);
    [("dtype", config), ("torch_dtype", config), ("text_config.dtype", text), ("text_config.torch_dtype", text)]
        .into_iter()
        .find_map(|(key, object)| {
            let field = key.rsplit('.').next().unwrap_or(key);
            Some((key, object.get(field)?.as_str()?.to_owned()))
        })
}

fn dtype_of(declared: &str) -> Option<Dtype> {
    match declared.trim_start_matches("torch.") {
        "bfloat16" => Some(Dtype::BF16),
        "float16" | "half" => Some(Dtype::F16),
        "float32" | "float" => Some(Dtype::F32),
        "float64" | "double" => Some(Dtype::F64),
        _ => None, // "auto"
    }
}

/// The dtype that most floats have, and their share in percent.
fn most(catalog: &Catalog) -> Option<(Dtype, f64)> {
    let mut counts: Vec<(Dtype, u128)> = Vec::new();
    for entry in catalog.tensors() {
        let (dtype, elements) = (entry.info().dtype(), u128::from(entry.info().elements()));
        match counts.iter_mut().find(|(other, _)| *other == dtype) {
            Some((_, count)) => *count += elements,
            None if dtype.is_float() => counts.push((dtype, elements)),
            None => {}
        }
    }
    let all: u128 = counts.iter().map(|(_, count)| count).sum();
    let (dtype, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    (all > 0).then(|| (dtype, count as f64 * 100.0 / all as f64))
}
