//! From text to a checked model, and back to canonical text.
//!
//! ```text
//! bytes ─lex, parse→ Tree ─resolve→ Model ─check→ diagnostics
//!                      └──format→ text
//! ```
//!
//! Nothing here fails: [`check()`] and [`format()`] return a value and a list of diagnostics, whatever the
//! text. Nothing here reads a file: see [`World`].

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "tokens, nodes and keywords are large enums of which each construct knows a few; what it does not \
              know is no part of it"
)]

mod check;
mod dialect;
mod fix;
mod format;
mod load;
mod positional;
mod resolve;
mod source;
mod suggest;
mod syntax;
mod words;
mod world;

pub use dialect::Dialect;
pub use fix::{FixOutcome, fix};
pub use source::{LineColumn, SourceFile, Sources};
pub use world::{MAX_FILE_BYTES, Memory, ReadError, World};

use askloom_model::{Code, Diagnostic, Diagnostics, Model, Severity};
use std::path::Path;

/// What [`check()`] found out about a model.
#[derive(Debug)]
pub struct Checked {
    pub sources: Sources,
    /// As much as could be understood; complete when there is no error.
    pub model: Model,
    /// In the order of the text. If the list was cut off, the last one says so.
    pub diagnostics: Vec<Diagnostic>,
    /// How many errors there were, listed or not.
    pub errors: usize,
}

impl Checked {
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == severity).count()
    }
}

/// Reads, parses, resolves and checks the model at `root` with everything it imports.
#[must_use]
pub fn check(world: &dyn World, root: &Path) -> Checked {
    check_up_to(world, root, Diagnostics::LIMIT)
}

pub(crate) fn check_up_to(world: &dyn World, root: &Path, limit: usize) -> Checked {
    let mut loader = load::Loader::new(world, root, limit);
    loader.load(root);
    let load::Loader { sources, mut diagnostics, unparsed, .. } = loader;
    let readable = diagnostics.errors() == 0;
    let trees = load::parse_all(&sources, &unparsed, &mut diagnostics);
    let model = resolve::resolve(&trees, &mut diagnostics);
    drop(trees);
    // What a missing file declares would only look unknown or unused.
    if readable {
        check::check(&model, &sources, &mut diagnostics);
    }
    finish(sources, model, diagnostics)
}

fn finish(sources: Sources, model: Model, diagnostics: Diagnostics) -> Checked {
    let (errors, dropped) = (diagnostics.errors(), diagnostics.dropped());
    let mut diagnostics = diagnostics.into_sorted();
    if let Some((count, severity)) = dropped {
        let end = diagnostics.last().map(Diagnostic::span).unwrap_or_default();
        let message = format!("{count} more are not listed");
        let said = Diagnostic::new(Code::TooManyDiagnostics, end, message).severity(severity);
        diagnostics.push(said.hint("mend these first"));
    }
    Checked { sources, model, diagnostics, errors }
}

/// Canonical text of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formatted {
    /// Always in `.loom`, whatever the dialect was.
    pub text: String,
    /// True if some part could not be parsed: that part stands as it was.
    pub left_broken: bool,
}

/// Writes a file in the canonical style; `.pidm` and `.gdm` become `.loom` with the same meaning.
#[must_use]
pub fn format(text: &str, dialect: Dialect) -> Formatted {
    format::format(text, dialect)
}
