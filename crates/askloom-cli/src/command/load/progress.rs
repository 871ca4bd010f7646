//! How far a load has come, on a terminal.

use crate::progress::ProgressLine;
use std::time::Duration;

#[derive(Debug)]
pub(super) struct Progress {
    shown: ProgressLine,
    rows: u64,
    bytes: u64,
    total: u64,
}

impl Progress {
    pub(super) fn new(quiet: bool) -> Self {
        Self { shown: ProgressLine::new(quiet), rows: 0, bytes: 0, total: 0 }
    }

    /// So much more is to be read.
    pub(super) fn expect(&mut self, bytes: u64) {
        self.total += bytes;
    }

    pub(super) fn row(&mut self, name: &str, bytes: u64) {
        self.rows += 1;
        self.bytes += bytes;
        if self.rows.is_multiple_of(256) {
            let (rows, bytes, total) = (self.rows, self.bytes, self.total);
            self.shown.show(|elapsed| line(name, rows, bytes, total, elapsed));
        }
    }

    /// Takes the line away, so that something else can be said.
    pub(super) fn clear(&self) {
        self.shown.clear();
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
