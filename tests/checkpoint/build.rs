//! How tests make their checkpoints: a directory of their own, and in it, file by file, what is to be wrong.
//!
//! ```ignore
//! let model = Model::new("stray").shard("a.safetensors", &["x"]).shard("b.safetensors", &["y"])
//!     .index(&[("x", "a.safetensors")]);
//! model.reports(&[("shard-stray", r#""b.safetensors" is in no index: …"#)]);
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use weightview::checkpoint::{Catalog, CheckpointError, Finding, Options, Policy};

/// The usual name of an index.
pub(crate) const INDEX: &str = "model.safetensors.index.json";

/// A directory that a test fills; it is removed in the end.
pub(crate) struct Model {
    directory: PathBuf,
}

impl Model {
    /// An empty directory; each test has a name of its own for it.
    pub(crate) fn new(name: &str) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("checkpoint-{name}"));
        let _ = fs::remove_dir_all(&directory); // left by a test that failed
        fs::create_dir_all(&directory).expect("a directory for the test");
        Self { directory }
    }

    /// The directory, or something in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        if name.is_empty() { self.directory.clone() } else { self.directory.join(name) }
    }

    /// Any file.
    pub(crate) fn file(self, name: &str, bytes: impl AsRef<[u8]>) -> Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("it is in the directory")).expect("a directory");
        fs::write(path, bytes).expect("a file");
        self
    }

    /// A sound shard with tensors of two bytes each: 0 1, 2 3, and so on.
    pub(crate) fn shard(self, name: &str, tensors: &[&str]) -> Self {
        self.file(name, shard(tensors))
    }

    /// An index without `total_size`.
    pub(crate) fn index(self, map: &[(&str, &str)]) -> Self {
        self.file(INDEX, index(map, None))
    }

    /// An index with `total_size`.
    pub(crate) fn index_of(self, total_size: u64, map: &[(&str, &str)]) -> Self {
        self.file(INDEX, index(map, Some(total_size)))
    }

    /// A symbolic link, to a path that is taken as it is.
    #[cfg(unix)]
    pub(crate) fn link(self, name: &str, target: impl AsRef<Path>) -> Self {
        std::os::unix::fs::symlink(target, self.path(name)).expect("a link");
        self
    }

    /// Opens the directory as by default; all is well.
    pub(crate) fn opens(&self) -> Catalog {
        let catalog = self.open(Policy::default()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(listed(catalog.findings()), []);
        catalog
    }

    pub(crate) fn open(&self, policy: Policy) -> Result<Catalog, CheckpointError> {
        Catalog::open(&self.directory, &Options { policy, ..Options::default() })
    }

    /// The findings, ids and sentences, are refused by default and by `STRICT`, reported by `LENIENT`; the catalog
    /// that is then opened.
    #[track_caller]
    pub(crate) fn refuses(&self, findings: &[(&str, &str)]) -> Catalog {
        assert_eq!(listed(self.open(Policy::default()).expect_err("a fault").findings()), owned(findings));
        self.finds(findings)
    }

    /// The findings, ids and sentences, are reported by default and by `LENIENT`, refused by `STRICT`; the catalog
    /// that is opened by default.
    #[track_caller]
    pub(crate) fn reports(&self, findings: &[(&str, &str)]) -> Catalog {
        self.finds(findings);
        let catalog = self.open(Policy::default()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(listed(catalog.findings()), owned(findings));
        catalog
    }

    /// The findings, ids and sentences, are refused by `STRICT`, reported by `LENIENT`; the catalog that is then
    /// opened.
    #[track_caller]
    pub(crate) fn finds(&self, findings: &[(&str, &str)]) -> Catalog {
        let error = self.open(Policy::STRICT).expect_err("a fault");
        assert_eq!(listed(error.findings()), owned(findings));
        let catalog = self.open(Policy::LENIENT).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(listed(catalog.findings()), owned(findings));
        catalog
    }

    /// The error, which is none of findings, in words; the directory's path is `DIR`.
    #[track_caller]
    pub(crate) fn error(&self, name: &str) -> String {
        let error = Catalog::open(self.path(name), &Options::default()).expect_err("an error");
        assert_eq!(listed(error.findings()), []);
        error.to_string().replace(&*self.directory.to_string_lossy(), "DIR")
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.directory);
        }
    }
}

/// Ids and sentences.
pub(crate) fn listed(findings: &[Finding]) -> Vec<(String, String)> {
    findings.iter().map(|finding| (finding.id().to_string(), finding.to_string())).collect()
}

fn owned(findings: &[(&str, &str)]) -> Vec<(String, String)> {
    findings.iter().map(|(id, sentence)| (id.to_string(), sentence.to_string())).collect()
}

/// The names of a catalog's tensors, and the shards that have them.
pub(crate) fn table(catalog: &Catalog) -> Vec<(String, &str)> {
    let table: Vec<_> = catalog.tensors().map(|entry| (entry.name().to_string(), entry.shard().name())).collect();
    for (name, shard) in &table {
        assert_eq!(catalog.tensor(name).expect("it is listed").shard().name(), *shard);
    }
    assert_eq!((catalog.len(), catalog.tensors().len()), (table.len(), table.len()));
    table
}

/// A sound file with tensors of two bytes each. Names are spelt as they are given.
pub(crate) fn shard(tensors: &[&str]) -> Vec<u8> {
    let entry = |(place, name): (usize, &&str)| {
        format!(r#""{name}":{{"dtype":"U8","shape":[2],"data_offsets":[{},{}]}}"#, 2 * place, 2 * place + 2)
    };
    let entries: Vec<_> = tensors.iter().enumerate().map(entry).collect();
    file(&format!("{{{}}}", entries.join(",")), 2 * tensors.len())
}

/// Length field, header, and data: bytes that count up from 0.
pub(crate) fn file(header: &str, data: usize) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend((0..data).map(|place| place as u8));
    bytes
}

/// An index. Names are spelt as they are given.
pub(crate) fn index(map: &[(&str, &str)], total_size: Option<u64>) -> String {
    let map: Vec<_> = map.iter().map(|(tensor, shard)| format!(r#""{tensor}": "{shard}""#)).collect();
    let metadata = total_size.map_or(String::new(), |size| format!(r#""metadata": {{"total_size": {size}}}, "#));
    format!(r#"{{{metadata}"weight_map": {{{}}}}}"#, map.join(", "))
}
