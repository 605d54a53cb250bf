//! How far long work has come: a line at a terminal, nothing anywhere else.

use std::io::{self, IsTerminal as _, Write as _};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What is over sooner needs no line.
const SOON: Duration = Duration::from_millis(500);
/// Between two lines.
const TICK: Duration = Duration::from_millis(100);
/// Cells of the bar.
const CELLS: u128 = 30;

/// Whether a line is on the terminal now.
static SHOWN: AtomicBool = AtomicBool::new(false);

/// How much is to be done, and how much is.
pub(crate) struct Progress {
    done: u128,
    total: u128,
    start: Instant,
    next: Instant,
    enabled: bool,
}

impl Progress {
    /// Of so many bytes.
    pub(crate) fn new(total: u128) -> Self {
        let start = Instant::now();
        let enabled = io::stderr().is_terminal();
        if enabled {
            // Where it cannot be had, the default goes on as well, but for a line that is left standing.
            let _ = ctrlc::try_set_handler(|| {
                erase();
                process::exit(130); // 128 and SIGINT, as a shell has it
            });
        }
        Self { done: 0, total, start, next: start + SOON, enabled }
    }

    pub(crate) fn add(&mut self, bytes: u64) {
        self.done += u128::from(bytes);
    }

    /// Shows the line, if it is time to.
    pub(crate) fn show(&mut self) {
        let now = Instant::now();
        if !self.enabled || now < self.next {
            return;
        }
        self.next = now + TICK;
        SHOWN.store(true, Ordering::SeqCst);
        let mut err = io::stderr().lock();
        let _ = write!(err, "\r{}\x1b[K", self.line(now - self.start)).and_then(|()| err.flush());
    }

    fn line(&self, elapsed: Duration) -> String {
        let (done, total) = (self.done, self.total.max(1));
        let full = usize::try_from(done * CELLS / total).unwrap_or(0);
        let bar = format!("{}{}", "#".repeat(full), "-".repeat((CELLS as usize).saturating_sub(full)));
        let rate = done as f64 / elapsed.as_secs_f64().max(1e-3);
        let left = (total - done.min(total)) as f64 / rate.max(1.0);
        let percent = done * 100 / total;
        format!("[{bar}] {percent:>3} %, {:.2} GB/s, {} left", rate / 1e9, clock(left))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        erase();
    }
}

/// Takes the line away, if there is one.
fn erase() {
    if SHOWN.swap(false, Ordering::SeqCst) {
        let mut err = io::stderr().lock();
        let _ = err.write_all(b"\r\x1b[K").and_then(|()| err.flush());
    }
}

/// Seconds, as a person has them.
fn clock(seconds: f64) -> String {
    let seconds = seconds.min(359_999.0) as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, minutes, seconds) => format!("{minutes}:{seconds:02}"),
        (hours, minutes, seconds) => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Progress, clock};

    #[test]
    fn a_line_says_how_far_and_how_long() {
        let now = Instant::now();
        let mut progress = Progress { done: 0, total: 4_000_000_000, start: now, next: now, enabled: true };
        assert!(progress.line(Duration::from_secs(1)).starts_with("[------------------------------]   0 %, 0.00 GB/s"));
        progress.add(1_000_000_000);
        assert_eq!(
            progress.line(Duration::from_secs(2)),
            "[#######-----------------------]  25 %, 0.50 GB/s, 0:06 left"
        );
        progress.add(3_000_000_000);
        assert_eq!(
            progress.line(Duration::from_secs(2)),
            "[##############################] 100 %, 2.00 GB/s, 0:00 left"
        );
    }

    #[test]
    fn of_nothing() {
        let now = Instant::now();
        let progress = Progress { done: 0, total: 0, start: now, next: now, enabled: true };
        assert!(progress.line(Duration::ZERO).contains("  0 %"));
    }

    #[test]
    fn times() {
        assert_eq!(
            [0.0, 59.9, 60.0, 3599.0, 3600.0, 1e12].map(clock).join(" "),
            "0:00 0:59 1:00 59:59 1:00:00 99:59:59"
        );
    }
}
