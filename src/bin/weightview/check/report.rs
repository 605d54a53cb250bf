//! Findings, and how they are printed.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::escape;
use crate::fault::{self, Fault};
use crate::json;

/// Findings of one id that are printed for people; programs get all.
const SHOWN: usize = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Severity {
    /// The file cannot be read, or not as it is meant.
    Error,
    /// Readers disagree, or a person should know.
    Warning,
}

impl Severity {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// Something that was found.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) severity: Severity,
    /// A stable name of what it is.
    pub(super) id: &'static str,
    /// The file concerned, where there are several.
    pub(super) file: Option<PathBuf>,
    /// The tensor concerned, decoded.
    pub(super) tensor: Option<String>,
    /// The byte of the file.
    pub(super) byte: Option<u64>,
    /// A sentence, in which nothing acts on a terminal.
    pub(super) message: String,
    /// More lines of it.
    pub(super) detail: Vec<String>,
    /// What to do.
    pub(super) help: &'static str,
}

impl Finding {
    pub(super) fn new(severity: Severity, id: &'static str, message: String, help: &'static str) -> Self {
        Self { severity, id, file: None, tensor: None, byte: None, message, detail: Vec::new(), help }
    }

    pub(super) fn warning(id: &'static str, message: String, help: &'static str) -> Self {
        Self::new(Severity::Warning, id, message, help)
    }
}

/// All that was checked.
#[derive(Default)]
pub(super) struct Report {
    paths: Vec<(PathBuf, Vec<Finding>)>,
}

impl Report {
    pub(super) fn add(&mut self, path: &Path, mut findings: Vec<Finding>) {
        findings.sort_by_key(|finding| (finding.severity, finding.id)); // stable: in the order of the files
        self.paths.push((path.into(), findings));
    }

    fn count(&self, severity: Severity) -> usize {
        self.paths.iter().flat_map(|(_, findings)| findings).filter(|finding| finding.severity == severity).count()
    }

    /// Whether the exit status says that something is wrong.
    pub(super) fn is_bad(&self, strict: bool) -> bool {
        self.count(Severity::Error) > 0 || strict && self.count(Severity::Warning) > 0
    }

    /// Whoever closed the pipe has read enough.
    pub(super) fn print(&self, json: bool) -> Result<(), Fault> {
        let mut out = BufWriter::new(io::stdout().lock());
        let printed = if json { self.json(&mut out) } else { self.text(&mut out) };
        match printed.and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(fault::unwritable(&error)),
            _ => Ok(()),
        }
    }

    fn text(&self, out: &mut impl Write) -> io::Result<()> {
        for (path, findings) in &self.paths {
            let path = escape::path(path);
            if findings.is_empty() {
                writeln!(out, "{path}: sound")?;
            }
            let mut last = None;
            let mut shown = 0;
            for (i, finding) in findings.iter().enumerate() {
                shown = if last == Some(finding.id) { shown + 1 } else { 0 };
                last = Some(finding.id);
                if shown < SHOWN {
                    writeln!(out, "{path}: {}: {}: {}", finding.severity.as_str(), finding.id, finding.message)?;
                    finding.detail.iter().try_for_each(|line| writeln!(out, "{line}"))?;
                }
                // Once for all of its kind.
                if findings.get(i + 1).is_none_or(|next| next.id != finding.id) {
                    if shown >= SHOWN {
                        writeln!(out, "  and {} more", shown + 1 - SHOWN)?;
                    }
                    writeln!(out, "  help: {}", finding.help)?;
                }
            }
        }
        let (errors, warnings) = (self.count(Severity::Error), self.count(Severity::Warning));
        if errors + warnings > 0 {
            writeln!(out, "Total: {}, {}", plural(errors, "error"), plural(warnings, "warning"))?;
        }
        Ok(())
    }

    fn json(&self, out: &mut impl Write) -> io::Result<()> {
        write!(out, "{{\"paths\":[")?;
        for (i, (path, findings)) in self.paths.iter().enumerate() {
            json::separate(out, i)?;
            let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
            let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
            write!(out, "{{\"path\":")?;
            json::string(out, path.to_string_lossy().chars())?;
            write!(out, ",\"errors\":{errors},\"warnings\":{warnings}}}")?;
        }
        write!(out, "\n],\"findings\":[")?;
        let all = self.paths.iter().flat_map(|(path, findings)| findings.iter().map(move |finding| (path, finding)));
        for (i, (path, finding)) in all.enumerate() {
            json::separate(out, i)?;
            let Finding { severity, id, file, tensor, byte, message, detail: _, help } = finding;
            write!(out, "{{\"id\":\"{id}\",\"severity\":\"{}\",\"path\":", severity.as_str())?;
            json::string(out, path.to_string_lossy().chars())?;
            for (key, value) in [
                ("file", file.as_ref().map(|file| file.to_string_lossy().into_owned())),
                ("tensor", tensor.clone()),
                ("message", Some(message.clone())),
                ("help", Some((*help).to_owned())),
            ] {
                write!(out, ",\"{key}\":")?;
                match value {
                    Some(text) => json::string(out, text.chars())?,
                    None => write!(out, "null")?,
                }
            }
            match byte {
                Some(byte) => write!(out, ",\"byte\":{byte}}}")?,
                None => write!(out, ",\"byte\":null}}")?,
            }
        }
        let (errors, warnings) = (self.count(Severity::Error), self.count(Severity::Warning));
        writeln!(out, "\n],\"total\":{{\"errors\":{errors},\"warnings\":{warnings}}}}}")
    }
}

/// `1 error`, `2 errors`.
pub(super) fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
