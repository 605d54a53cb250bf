//! Files on disk for tests that need them there.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// A directory of a test's own, gone when the test ends well.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(test: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("it").join(test);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A file with these bytes.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        fs::write(self.path(name), bytes).expect("room on the disk");
        self.path(name)
    }

    /// A file of that length which is nowhere written to, if the file system has files that long.
    pub(crate) fn sparse(&self, name: &str, len: u64) -> Option<PathBuf> {
        let path = self.path(name);
        if let Err(error) = File::create(&path).expect("a file").set_len(len) {
            println!("skipped: no file of {len} bytes here: {error}");
            return None;
        }
        Some(path)
    }

    /// A sparse file as long as the file system has them, 2^60 bytes at most.
    pub(crate) fn longest(&self, name: &str) -> (PathBuf, u64) {
        let powers = (30..=60).rev().map(|power| 1u64 << power);
        let mut lengths = powers.filter_map(|len| Some((self.sparse(name, len)?, len)));
        lengths.next().expect("a file of 1 GiB")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

/// Bytes that differ from place to place, with no period that pieces of a file could share.
pub(crate) fn pattern(len: usize) -> Vec<u8> {
    (0..len as u64).map(|at| (at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect()
}

/// What stands at a path and is no file, and words of what is said of it. A directory, and on Unix a pipe, a socket
/// and a device.
pub(crate) fn no_files(scratch: &Scratch) -> Vec<(PathBuf, &'static str)> {
    fs::create_dir_all(scratch.path("directory")).expect("a directory");
    #[allow(unused_mut)]
    let mut paths = vec![(scratch.path("directory"), "a directory")];
    #[cfg(unix)]
    {
        use std::os::unix::net::UnixListener;
        let pipe = scratch.path("pipe");
        match std::process::Command::new("mkfifo").arg(&pipe).status() {
            Ok(status) if status.success() => paths.push((pipe, "a pipe")),
            failed => println!("skipped: mkfifo did not work: {failed:?}"),
        }
        // A short path: those of sockets may be no longer than about 100 bytes.
        let socket = std::env::temp_dir().join(format!("weightview-{}", std::process::id()));
        let _ = fs::remove_file(&socket);
        match UnixListener::bind(&socket) {
            Ok(_) => {
                fs::rename(&socket, scratch.path("socket")).or_else(|_| fs::remove_file(&socket)).expect("no remains");
                paths.extend(scratch.path("socket").exists().then(|| (scratch.path("socket"), "a socket")));
            }
            Err(error) => println!("skipped: no socket: {error}"),
        }
        for device in ["/dev/zero", "/dev/null"] {
            paths.extend(Path::new(device).exists().then(|| (device.into(), "a device")));
        }
    }
    paths
}

/// A file that gives its length as 0 and has bytes, where there is one.
pub(crate) fn made_up() -> Option<&'static Path> {
    Some(Path::new("/proc/self/status")).filter(|path| path.exists())
}
