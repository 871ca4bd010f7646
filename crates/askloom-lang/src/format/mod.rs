//! Canonical text.
//!
//! ```text
//! Tree ─builder→ Item, one a declaration ─layout→ lines ─verify→ text
//! ```
//!
//! A declaration becomes atoms, one a token, each with the gap and the comments before it; how tokens are
//! spelled and, for a dialect, in which order they stand is decided there. The layout then decides where lines
//! end. Line ends mean something in this language, so that the result is parsed again: a declaration that would
//! be read as anything but what it was stands as it was instead. So does everything that could not be parsed.

mod atom;
mod builder;
mod conversion;
mod declarations;
mod ends;
mod layout;
mod members;
mod nodes;
mod tokens;
mod verify;
mod writer;

use crate::syntax::{NodeId, TokenId, TokenKind, Tree, parse};
use crate::{Dialect, Formatted};
use askloom_model::{Diagnostics, FileId};
use atom::Item;
use builder::{Builder, plain_line_ends};
use std::collections::HashSet;
use std::ops::Range;
use writer::{Blank, Writer};

pub(crate) fn format(text: &str, dialect: Dialect) -> Formatted {
    let formatted = format_once(text, dialect);
    if dialect == Dialect::Loom {
        return formatted;
    }
    // What was left of the dialect may mean something in `.loom`.
    let again = format_once(&formatted.text, Dialect::Loom);
    Formatted { left_broken: formatted.left_broken || again.left_broken, ..again }
}

fn format_once(text: &str, dialect: Dialect) -> Formatted {
    let tree = parsed(text, dialect);
    let written = write(&tree, &HashSet::new());
    if written.is_faithful(&tree) {
        return written.formatted();
    }
    let misread = written.misread(&tree);
    let written = write(&tree, &misread);
    if written.is_faithful(&tree) {
        return written.formatted();
    }
    Formatted { text: plain_line_ends(text).into_owned(), left_broken: true }
}

fn parsed(text: &str, dialect: Dialect) -> Tree<'_> {
    parse(text, FileId::default(), dialect, &mut Diagnostics::with_limit(0))
}

/// The text, and which part of it is which declaration.
struct Written {
    writer: Writer,
    declarations: Vec<(NodeId, Range<usize>)>,
    left_broken: bool,
}

impl Written {
    fn formatted(self) -> Formatted {
        Formatted { text: self.writer.text, left_broken: self.left_broken }
    }
}

fn write(tree: &Tree<'_>, as_they_are: &HashSet<NodeId>) -> Written {
    let mut printer = Printer {
        builder: Builder::new(tree),
        writer: Writer::new(tree.text.len()),
        tree,
        last: None,
        declarations: Vec::new(),
    };
    let mut at = 0;
    for node in tree.children(tree.root()) {
        let range = tree.token_range(node);
        printer.strays(at..range.start);
        if !range.is_empty() {
            printer.declaration(node, as_they_are.contains(&node));
        }
        at = printer.builder.passed();
    }
    printer.strays(at..tree.token_count());
    printer.finish()
}

struct Printer<'t, 'a> {
    builder: Builder<'t, 'a>,
    writer: Writer,
    tree: &'t Tree<'a>,
    last: Option<Last>,
    declarations: Vec<(NodeId, Range<usize>)>,
}

/// What decides whether a blank line is wanted behind it.
#[derive(Clone, Copy)]
struct Last {
    one_line: bool,
    verbatim: bool,
}

impl<'a> Printer<'_, 'a> {
    fn declaration(&mut self, node: NodeId, as_it_is: bool) {
        let item = match as_it_is {
            true => self.builder.as_it_is(node),
            false => self.builder.declaration(node),
        };
        let start = self.writer.text.len();
        self.item(&item);
        // What is left of a dialect is not `.loom`, and need not be read as anything.
        let checked = match self.tree.dialect {
            Dialect::Loom => !item.is_verbatim(),
            Dialect::Pidm | Dialect::Gdm => !item.has_verbatim(),
        };
        if checked {
            self.declarations.push((node, start..self.writer.text.len()));
        }
    }

    /// Characters without meaning between declarations, line by line.
    fn strays(&mut self, range: Range<u32>) {
        let mut run: Option<Range<u32>> = None;
        for index in range {
            let token = self.tree.token(TokenId(index));
            if token.kind != TokenKind::Unknown {
                continue;
            }
            run = match run {
                Some(run) if !token.starts_line => Some(run.start..index + 1),
                run => {
                    self.stray(run);
                    Some(index..index + 1)
                }
            };
        }
        self.stray(run);
    }

    fn stray(&mut self, run: Option<Range<u32>>) {
        if let Some(run) = run {
            let item = Item::Line(self.builder.verbatim(run));
            self.item(&item);
        }
    }

    fn item(&mut self, item: &Item<'a>) {
        let this = Last { one_line: layout::is_one_line(item), verbatim: item.is_verbatim() };
        let blank = match self.last {
            None => Blank::Never,
            Some(last) if last.verbatim || this.verbatim => Blank::Kept,
            Some(last) if last.one_line && this.one_line => Blank::Kept,
            Some(_) => Blank::Always,
        };
        let continues = self.last.is_some_and(|last| last.verbatim) && this.verbatim;
        match item.head().first() {
            // What is broken on one line stays on one.
            Some(first) if continues && !first.starts_line && first.comments.is_empty() => {
                self.writer.separator(" ");
                layout::print_verbatim(&mut self.writer, self.tree, item.head());
            }
            _new_line => layout::print(&mut self.writer, self.tree, item, blank),
        }
        self.last = Some(this);
    }

    fn finish(mut self) -> Written {
        let rest = self.builder.rest();
        if !rest.is_empty() {
            self.writer.start(&rest, false, 0, Blank::Kept);
        }
        self.writer.finish();
        Written {
            writer: self.writer,
            declarations: self.declarations,
            left_broken: self.builder.left_broken,
        }
    }
}
