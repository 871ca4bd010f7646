//! The text of a model, and places in it as people count them.

use crate::Dialect;
use askloom_model::{FileId, Span};
use std::path::{Path, PathBuf};

/// All files of one model, in the order in which they were first read.
#[derive(Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

#[derive(Debug)]
pub struct SourceFile {
    /// As the user wrote it, or relative to the model's folder for an import.
    pub path: PathBuf,
    pub text: String,
    pub dialect: Dialect,
    /// Byte offsets at which lines start.
    line_starts: Vec<u32>,
}

/// A place as people count: both from 1, the column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineColumn {
    pub line: usize,
    pub column: usize,
}

impl Sources {
    pub fn add(&mut self, path: PathBuf, text: String, dialect: Dialect) -> FileId {
        let line_starts = line_starts(&text);
        self.files.push(SourceFile { path, text, dialect, line_starts });
        FileId(u32::try_from(self.files.len() - 1).unwrap_or(u32::MAX))
    }

    #[must_use]
    pub fn get(&self, file: FileId) -> Option<&SourceFile> {
        self.files.get(file.0 as usize)
    }

    pub fn iter(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        (0..).map(FileId).zip(&self.files)
    }

    /// The text under a span; empty if the span is of another set of sources.
    #[must_use]
    pub fn text(&self, span: Span) -> &str {
        self.get(span.file)
            .and_then(|file| file.text.get(span.start as usize..span.end as usize))
            .unwrap_or_default()
    }

    #[must_use]
    pub fn path(&self, file: FileId) -> &Path {
        self.get(file).map_or(Path::new(""), |file| &file.path)
    }

    /// Where a span starts.
    #[must_use]
    pub fn start(&self, span: Span) -> LineColumn {
        self.locate(span.file, span.start)
    }

    /// Where a span ends.
    #[must_use]
    pub fn end(&self, span: Span) -> LineColumn {
        self.locate(span.file, span.end)
    }

    fn locate(&self, file: FileId, offset: u32) -> LineColumn {
        self.get(file).map_or(LineColumn { line: 1, column: 1 }, |file| file.locate(offset))
    }
}

impl SourceFile {
    #[must_use]
    pub fn locate(&self, offset: u32) -> LineColumn {
        let line = self.line_starts.partition_point(|&start| start <= offset).max(1);
        let start = self.line_starts.get(line - 1).copied().unwrap_or(0);
        let before = self.text.get(start as usize..offset as usize).unwrap_or_default();
        LineColumn { line, column: before.chars().count() + 1 }
    }

    /// The byte range of whole lines, counted from 1, both ends included, without the last line end.
    #[must_use]
    pub fn lines(&self, first: usize, last: usize) -> std::ops::Range<usize> {
        let start = self.line_starts.get(first.saturating_sub(1)).map_or(self.text.len(), |&s| s as usize);
        let end = self.line_starts.get(last).map_or(self.text.len(), |&s| (s as usize).saturating_sub(1));
        start..end.max(start)
    }
}

fn line_starts(text: &str) -> Vec<u32> {
    let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    std::iter::once(0).chain(ends.map(|(at, _)| u32::try_from(at + 1).unwrap_or(u32::MAX))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_characters() {
        let mut sources = Sources::default();
        let file = sources.add("a.loom".into(), "é x\nab\n".into(), Dialect::Loom);
        assert_eq!(sources.start(Span::new(file, 3, 4)), LineColumn { line: 1, column: 3 });
        assert_eq!(sources.start(Span::new(file, 5, 6)), LineColumn { line: 2, column: 1 });
        assert_eq!(sources.end(Span::new(file, 5, 8)), LineColumn { line: 3, column: 1 });
        let source = sources.get(file).unwrap();
        assert_eq!(&source.text[source.lines(2, 2)], "ab");
        assert_eq!(&source.text[source.lines(1, 2)], "é x\nab");
    }
}
