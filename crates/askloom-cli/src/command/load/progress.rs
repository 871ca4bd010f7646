//! How far a load has come, on a terminal.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Often enough to be seen moving.
const EVERY: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(super) struct Progress {
    shown: bool,
    began: Instant,
    last: Instant,
    rows: u64,
    bytes: u64,
    total: u64,
}

impl Progress {
    pub(super) fn new(quiet: bool) -> Self {
        let now = Instant::now();
        let shown = !quiet && std::io::stderr().is_terminal();
        Self { shown, began: now, last: now, rows: 0, bytes: 0, total: 0 }
    }

    /// So much more is to be read.
    pub(super) fn expect(&mut self, bytes: u64) {
        self.total += bytes;
    }

    pub(super) fn row(&mut self, name: &str, bytes: u64) {
        self.rows += 1;
        self.bytes += bytes;
        if !self.shown || !self.rows.is_multiple_of(256) || self.last.elapsed() < EVERY {
            return;
        }
        self.last = Instant::now();
        let line = line(name, self.rows, self.bytes, self.total, self.began.elapsed());
        let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
    }

    /// Takes the line away, so that something else can be said.
    pub(super) fn clear(&self) {
        if self.shown {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rate is shown with two digits")]
fn line(name: &str, rows: u64, bytes: u64, total: u64, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64().max(0.001);
    let share = bytes as f64 / (total.max(1) as f64);
    let left = (seconds / share.max(1e-6) - seconds).max(0.0);
    format!(
        "{name}: {:.0} %, {rows} rows, {:.0} rows/s, {} left",
        share * 100.0,
        rows as f64 / seconds,
        span(left)
    )
}

fn span(seconds: f64) -> String {
    let whole = Duration::from_secs_f64(seconds.min(1e6)).as_secs();
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_share_rate_and_time_left() {
        let shown = line("Player.csv", 500, 25, 100, Duration::from_secs(10));
        assert_eq!(shown, "Player.csv: 25 %, 500 rows, 50 rows/s, 30 s left");
        assert_eq!(span(3725.0), "1 h 2 min");
        assert_eq!(span(61.0), "1 min 1 s");
    }
}
