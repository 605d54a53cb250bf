//! The command `weightview`, run as a person or a script runs it.

mod broken;
mod build;
mod check;
mod checkpoints;
mod diff;
mod export;
mod foreign;
mod hash;
mod json;
mod listing;
mod names;
mod numpy;
mod pipes;
mod stats;
mod tree;
mod usage;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const WEIGHTVIEW: &str = env!("CARGO_BIN_EXE_weightview");

/// A directory of a test's own, gone when the test ends well. The command runs in it, so that messages hold the
/// paths that a test gives and nothing of the machine.
struct Dir(PathBuf);

/// What a run left.
struct Run {
    code: i32,
    out: String,
    err: String,
}

impl Dir {
    fn new(test: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli").join(test);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A file with these bytes.
    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(&self.0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs `weightview` with these words.
    fn run(&self, args: &[&str]) -> Run {
        Run::of(self.command(WEIGHTVIEW, args).output().unwrap())
    }

    /// Runs a line of the shell, in which `weightview` is `$W`.
    #[cfg(unix)]
    fn shell(&self, line: &str) -> Run {
        Run::of(self.command("sh", &["-c", line]).env("W", WEIGHTVIEW).output().unwrap())
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

impl Run {
    fn of(output: Output) -> Self {
        let Output { status, stdout, stderr } = output;
        let code = status.code().expect("not killed by a signal");
        let run = Self { code, out: String::from_utf8(stdout).unwrap(), err: String::from_utf8(stderr).unwrap() };
        assert!(!run.err.contains("panicked"), "{}", run.err);
        run
    }

    /// The output of a run that went well and had nothing to say besides.
    #[track_caller]
    fn ok(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
    }

    /// The message of a run that listed nothing and ended with this status.
    #[track_caller]
    fn fails(self, code: i32) -> String {
        assert_eq!((self.code, self.out.as_str()), (code, ""), "{}", self.err);
        self.err
    }

    /// The names in the table, in its order.
    #[track_caller]
    fn names(self) -> Vec<String> {
        let out = self.ok();
        let rows = out.lines().skip(2).take_while(|line| !line.starts_with("Total: "));
        rows.map(|line| line.split("  ").next().unwrap().to_owned()).collect()
    }
}

/// The folder of real models, where it is at hand; a test without it says that it is skipped.
fn data(file: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("WEIGHTVIEW_DATA").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data"));
    let path = folder.join(file);
    if !path.exists() {
        println!("skipped: {file} is not there; WEIGHTVIEW_DATA says where to look");
        return None;
    }
    Some(path)
}
