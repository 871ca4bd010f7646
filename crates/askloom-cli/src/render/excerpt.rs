//! The few lines around some spans. A model may have megabytes, a diagnostic shows three lines of it.

use askloom::lang::{LineColumn, SourceFile, Sources};
use askloom::model::{FileId, Span};
use std::ops::Range;

/// Labels this near to each other are shown in one piece.
const NEAR: usize = 12;
/// A span over more lines than this is shown by its first one.
const TALL: usize = 30;
/// A longer line is not written by a person, and nobody could read it in a terminal.
const LONG: usize = 4000;

/// Whole lines of one file that hold some of the spans that were asked for.
#[derive(Debug)]
pub(super) struct Excerpt<'a> {
    pub(super) file: FileId,
    /// Which spans: indices into the list that was given.
    pub(super) members: Vec<usize>,
    pub(super) first_line: usize,
    last_line: usize,
    /// `None` where nothing can be shown: the file has no text, or lines that are too long.
    pub(super) text: Option<&'a str>,
    /// Where the first of the spans starts; `None` in a file without text.
    pub(super) start: Option<LineColumn>,
    /// Where the text starts in its file.
    offset: usize,
}

/// The pieces that show all spans; the one with the first span comes first.
pub(super) fn excerpts<'a>(sources: &'a Sources, spans: &[Span]) -> Vec<Excerpt<'a>> {
    let mut all: Vec<Excerpt<'a>> = Vec::new();
    for (index, &span) in spans.iter().enumerate() {
        let (first, last) = lines(sources, span);
        match all.iter_mut().find(|excerpt| excerpt.is_near(span.file, first, last)) {
            Some(excerpt) => {
                excerpt.members.push(index);
                excerpt.first_line = excerpt.first_line.min(first);
                excerpt.last_line = excerpt.last_line.max(last);
            }
            None => all.push(Excerpt {
                file: span.file,
                members: vec![index],
                first_line: first,
                last_line: last,
                text: None,
                start: sources
                    .get(span.file)
                    .filter(|file| !file.text.is_empty())
                    .map(|_| sources.start(span)),
                offset: 0,
            }),
        }
    }
    for excerpt in &mut all {
        if let Some(file) = sources.get(excerpt.file) {
            excerpt.fill(file);
        }
    }
    all
}

impl<'a> Excerpt<'a> {
    fn is_near(&self, file: FileId, first: usize, last: usize) -> bool {
        self.file == file && first <= self.last_line + NEAR && self.first_line <= last + NEAR
    }

    fn fill(&mut self, file: &'a SourceFile) {
        let range = file.lines(self.first_line, self.last_line);
        let text = file.text.get(range.clone()).unwrap_or_default();
        let text = text.strip_suffix('\r').unwrap_or(text);
        if !file.text.is_empty() && text.lines().all(|line| line.len() <= LONG) {
            self.offset = range.start;
            self.text = Some(text);
        }
    }

    /// Where a span lies in the text of the excerpt: always within it, and on whole characters.
    pub(super) fn range(&self, span: Span) -> Range<usize> {
        let text = self.text.unwrap_or_default();
        let within = |offset: u32| (offset as usize).saturating_sub(self.offset).min(text.len());
        let start = text.floor_char_boundary(within(span.start));
        let end = text.ceil_char_boundary(within(span.end)).max(start);
        start..end
    }
}

fn lines(sources: &Sources, span: Span) -> (usize, usize) {
    let first = sources.start(span).line;
    let last = sources.end(span).line;
    if last < first || last - first > TALL { (first, first) } else { (first, last) }
}
