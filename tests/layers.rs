//! The layers of the crate: which module may use which. An arrow that runs upward, or from one format to
//! another, is a failure here, and so is a file that no layer claims.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The modules of each layer. One may use those of its own layer and below. `lib.rs`, the root, is exempt, and
/// the command in `bin` sees the public API alone.
const LAYERS: [&[&str]; 6] = [
    &["error", "fault", "limits"],
    &["cursor", "dtype", "float", "json", "shape", "text"],
    &["element", "index", "iter", "narrow", "numbers", "slice", "summary", "view", "widen"],
    FORMATS,
    &["detect", "explain", "shards"],
    &["aligned", "checkpoint", "file", "mmap"],
];

/// The formats, a folder each: they never use each other.
const FORMATS: &[&str] = &["gguf", "npy", "npz", "pytorch", "safetensors"];

/// The most lines of a file. Past about 500 it is time to split it by what it knows.
const MOST_LINES: usize = 600;

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|modules| modules.contains(&module))
}

/// The source files: their paths below `src`, and their texts.
fn sources() -> BTreeMap<String, String> {
    fn read(folder: &Path, root: &Path, sources: &mut BTreeMap<String, String>) {
        for entry in std::fs::read_dir(folder).expect("a folder that can be listed") {
            let path: PathBuf = entry.expect("an entry").path();
            if path.is_dir() {
                read(&path, root, sources);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let below = path.strip_prefix(root).expect("below src").to_str().expect("UTF-8");
                let text = std::fs::read_to_string(&path).expect("a text");
                sources.insert(below.replace('\\', "/"), text);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut sources = BTreeMap::new();
    read(&root, &root, &mut sources);
    assert!(sources.len() > 20, "the sources are not where they were");
    sources
}

/// The module at the root that a file belongs to, and how many modules deep it stands.
fn module_of(path: &str) -> (&str, usize) {
    let without = path.trim_end_matches(".rs").trim_end_matches("/mod");
    (without.split('/').next().expect("a name"), without.split('/').count())
}

/// The text without its comments. (A `//` in a string ends the line too, which does no harm here.)
fn code(text: &str) -> String {
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// What follows every `crate::` in the code, groups taken apart: `crate::{a::{b, c}, d}` is `a` and `d`. A
/// `super::` that leads to the root counts too.
fn used(code: &str, depth: usize) -> Vec<String> {
    let mut used = Vec::new();
    for root in ["crate::".to_string(), "super::".repeat(depth)] {
        for (at, _) in code.match_indices(&root) {
            if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                continue;
            }
            let rest = code[at + root.len()..].trim_start_matches("super::").trim_start();
            match rest.strip_prefix('{') {
                Some(group) => used.extend(heads_of_group(group)),
                None => used.push(identifier(rest)),
            }
        }
    }
    used
}

fn identifier(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The first names of the members of a group whose `{` was passed.
fn heads_of_group(group: &str) -> Vec<String> {
    let mut heads = Vec::new();
    let (mut depth, mut fresh) = (0, true);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => fresh = true,
            c if fresh && !c.is_whitespace() => {
                heads.push(identifier(&group[at..]));
                fresh = false;
            }
            _ => {}
        }
    }
    heads
}

/// What the root exports from its modules: item to module.
fn exports(lib: &str) -> BTreeMap<String, String> {
    let mut exports = BTreeMap::new();
    for line in code(lib).split(';') {
        let Some((module, items)) = line.split_once("pub use ").and_then(|(_, path)| path.split_once("::")) else {
            continue;
        };
        for item in heads_of_group(items.trim_start_matches('{')) {
            exports.insert(item, module.trim().to_string());
        }
    }
    exports
}

#[test]
fn reads_paths_of_every_shape() {
    let code = code(
        "use crate::error::Error; // use crate::mmap;\nuse crate::{text::{Text, Chars}, view,\n  shape::*};\n\
         fn f() -> crate::Dtype { my_crate::nothing(); super::super::json::x(); super::beside() }\n/// [`crate::checkpoint`]",
    );
    assert_eq!(used(&code, 2), ["error", "text", "view", "shape", "Dtype", "json"]);
    assert_eq!(used("super::view::x(); super::super::text::y()", 1), ["view", "text", "text"]);
    let exports = exports("pub use error::Error;\npub use view::{TensorInfo, TensorView};");
    assert_eq!(exports.get("TensorView").map(String::as_str), Some("view"));
    assert_eq!(exports.get("Error").map(String::as_str), Some("error"));
    assert_eq!(module_of("safetensors/walk.rs"), ("safetensors", 2));
    assert_eq!(module_of("safetensors/mod.rs"), ("safetensors", 1));
    assert_eq!(module_of("view.rs"), ("view", 1));
}

#[test]
fn every_file_has_a_layer() {
    for path in sources().keys() {
        let known = path == "lib.rs" || path.starts_with("bin/weightview/") || layer(module_of(path).0).is_some();
        assert!(known, "src/{path} is in no layer: give it one in tests/layers.rs, and in the design");
    }
}

#[test]
fn no_arrow_runs_upward() {
    let sources = sources();
    let exports = exports(&sources["lib.rs"]);
    let mut arrows = 0;
    for (path, text) in &sources {
        let (module, depth) = module_of(path);
        let Some(own) = layer(module) else { continue };
        for name in used(&code(text), depth) {
            let target = exports.get(&name).unwrap_or(&name);
            let Some(other) = layer(target) else {
                // A path that leads by `super` to something of the file itself.
                assert!(!code(text).contains(&format!("crate::{name}")), "src/{path} uses crate::{name}: what is it?");
                continue;
            };
            arrows += 1;
            assert!(other <= own, "src/{path} (layer {own}) uses {target} (layer {other})");
            let formats = FORMATS.contains(&module) && FORMATS.contains(&target.as_str());
            assert!(!formats || target == module, "src/{path}: formats never use each other, but this uses {target}");
        }
    }
    assert!(arrows > 50, "only {arrows} arrows were found");
}

/// The command is a user of the crate like any other.
#[test]
fn the_command_uses_the_public_api() {
    let mut uses = 0;
    for (path, text) in sources().iter().filter(|source| source.0.starts_with("bin/")) {
        let code = code(text);
        assert!(!code.contains("#[path") && !code.contains("include!"), "src/{path} takes in other files");
        uses += code.matches("weightview::").count();
    }
    assert!(uses > 0, "the command does not use the crate");
}

#[test]
fn no_file_is_long() {
    for (path, text) in sources() {
        let lines = text.lines().count();
        assert!(lines <= MOST_LINES, "src/{path} has {lines} lines: split it by what it knows");
    }
}

/// The compiler says so too; this also sees code that a feature or a target hides.
#[test]
fn only_the_mapping_is_unsafe() {
    let unsafe_files = sources().into_iter().filter(|(_, text)| {
        let code = code(text).replace("unsafe_code", "");
        code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe")
    });
    assert_eq!(unsafe_files.map(|(path, _)| path).collect::<Vec<_>>(), ["mmap.rs", "mmap/checkpoint.rs"]);

    let lib = code(&sources()["lib.rs"]);
    assert!(lib.contains("#![cfg_attr(not(feature = \"mmap\"), forbid(unsafe_code))]"));
    assert!(lib.contains("#![cfg_attr(feature = \"mmap\", deny(unsafe_code))]"));
    for (path, text) in sources() {
        let allowed = code(&text).matches("allow(unsafe_code)").count();
        assert_eq!(allowed, usize::from(path == "lib.rs"), "src/{path}");
    }
    assert!(lib.contains("#[allow(unsafe_code)]\npub mod mmap;"));
}
