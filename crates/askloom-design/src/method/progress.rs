//! How far long work has come, for whoever waits for it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What is done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The other methods, and the candidates.
    Candidates,
    /// The plans of so many statements are known.
    Plans { done: usize, of: usize },
    /// So many parts are solved and proven.
    Parts { done: usize, of: usize },
    /// What each collection is worth.
    Worth,
    /// Designs for so many budgets are known.
    Budgets { done: usize, of: usize },
    /// Between which rates of so many statements nothing else is cheaper is known.
    Rates { done: usize, of: usize },
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Candidates => f.write_str("looking for candidates"),
            Self::Plans { done, of } => write!(f, "plans of {done} of {of} statements"),
            Self::Parts { done, of } => write!(f, "solved {done} of {of} parts"),
            Self::Worth => f.write_str("what each collection is worth"),
            Self::Budgets { done, of } => write!(f, "{done} of {of} budgets"),
            Self::Rates { done, of } => write!(f, "rates of {done} of {of} statements"),
        }
    }
}

/// Who is told, if anybody; from several threads.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<dyn Fn(Stage) + Send + Sync>>);

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Progress").field(&self.0.is_some()).finish()
    }
}

impl Progress {
    #[must_use]
    pub fn new(tell: impl Fn(Stage) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(tell)))
    }

    pub(crate) fn tell(&self, stage: Stage) {
        if let Some(tell) = &self.0 {
            tell(stage);
        }
    }

    /// For work in so many pieces.
    pub(crate) fn count(&self, of: usize, stage: fn(usize, usize) -> Stage) -> Count<'_> {
        self.tell(stage(0, of));
        Count { progress: self, done: AtomicUsize::new(0), of, stage }
    }
}

/// How many of some pieces are done.
pub(crate) struct Count<'c> {
    progress: &'c Progress,
    done: AtomicUsize,
    of: usize,
    stage: fn(usize, usize) -> Stage,
}

impl Count<'_> {
    pub(crate) fn one_more(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.progress.tell((self.stage)(done, self.of));
    }
}
