//! A line on the terminal that says how far long work has come. Nothing where nobody looks.

use askloom::design::method::{Progress, Stage};
use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
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

/// Shows how far a choice by cost has come, and for how long, until it is dropped.
#[derive(Debug)]
pub(crate) struct Watch {
    progress: Progress,
    showing: Option<Showing>,
}

#[derive(Debug)]
struct Showing {
    stop: mpsc::Sender<()>,
    thread: JoinHandle<()>,
}

impl Watch {
    pub(crate) fn new(quiet: bool) -> Self {
        let mut line = ProgressLine::new(quiet);
        if !line.shown {
            return Self { progress: Progress::default(), showing: None };
        }
        let stage = Arc::new(Mutex::new(None::<Stage>));
        let told = Arc::clone(&stage);
        let (stop, stopped) = mpsc::channel::<()>();
        // A part may take long to solve: the line must move all the same.
        let thread = thread::spawn(move || {
            while stopped.recv_timeout(EVERY) == Err(mpsc::RecvTimeoutError::Timeout) {
                // Whoever works must not wait for a terminal that stands still.
                let now = *stage.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(stage) = now {
                    line.show(|elapsed| format!("{stage}, {} s", elapsed.as_secs()));
                }
            }
            line.clear();
        });
        let progress = Progress::new(move |stage| {
            *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(stage);
        });
        Self { progress, showing: Some(Showing { stop, thread }) }
    }

    pub(crate) fn progress(&self) -> Progress {
        self.progress.clone()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(Showing { stop, thread }) = self.showing.take() {
            drop(stop);
            // What went wrong with a line on the terminal is no matter.
            let _ = thread.join();
        }
    }
}
