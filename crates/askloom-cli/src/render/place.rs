//! Where something is, as other programs want to be told.

use super::Report;
use askloom::model::{FileId, Span};
use serde::Serialize;
use std::path::Path;

/// A place in a file: line and column from 1, the column in characters, the offset in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) offset: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Range {
    pub(super) start: Place,
    pub(super) end: Place,
}

impl Report {
    /// A file's path from where the user stands.
    pub(super) fn path(&self, file: FileId) -> &Path {
        self.checked.sources.path(file)
    }

    /// The same with `/` on every system, for programs.
    pub(super) fn slashed(&self, file: FileId) -> String {
        let path = self.path(file);
        let text = path.to_string_lossy();
        if std::path::MAIN_SEPARATOR == '/' { text.into_owned() } else { text.replace('\\', "/") }
    }

    pub(super) fn range(&self, span: Span) -> Range {
        let (start, end) = (self.checked.sources.start(span), self.checked.sources.end(span));
        Range {
            start: Place { line: start.line, column: start.column, offset: span.start },
            end: Place { line: end.line, column: end.column, offset: span.end },
        }
    }
}
