//! A line on the terminal that says how far long work has come. Nothing where nobody looks.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Often enough to be seen moving.
const EVERY: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(crate) struct ProgressLine {
    shown: bool,
    began: Instant,
    last: Instant,
}

impl ProgressLine {
    pub(crate) fn new(quiet: bool) -> Self {
        let now = Instant::now();
        Self { shown: !quiet && std::io::stderr().is_terminal(), began: now, last: now }
    }

    /// Shows what the work has come to, if it is time to.
    pub(crate) fn show(&mut self, text: impl FnOnce(Duration) -> String) {
        if self.shown && self.last.elapsed() >= EVERY {
            self.last = Instant::now();
            let _ = write!(std::io::stderr(), "\r\x1b[K{}", text(self.began.elapsed()));
        }
    }

    /// Takes the line away, so that something else can be said.
    pub(crate) fn clear(&self) {
        if self.shown {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
