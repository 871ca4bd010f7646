//! Hand-made diagnostics for the tests of all renderers.

use super::Report;
use askloom::lang::{Checked, Dialect, Sources};
use askloom::model::{Code, Diagnostic, Edit, FileId, Model, Span};
use std::ops::Range;

pub(super) const SHOP: &str = "\
import \"stock.loom\"
entity Order {
  id number: int
  ref item: Itme
}
query late: SELECT * FROM Order WHERE number = 1 AND paid = true OR number = 2
";
pub(super) const STOCK: &str = "entity Item {\n  id code: text\n}\n";

pub(super) fn clean() -> Report {
    of(Vec::new())
}

/// An error that points into another file, a warning with a suggestion, a note.
pub(super) fn report() -> Report {
    let misspelt = at(SHOP, 0, "Itme");
    let both = at(SHOP, 0, "number = 1 AND paid = true");
    of(vec![
        Diagnostic::new(Code::UnknownClass, misspelt, "no entity is called `Itme`")
            .here("not declared")
            .also(at(STOCK, 1, "Item"), "this one is")
            .replace(misspelt, "Item"),
        Diagnostic::new(Code::MixedAndOr, both, "AND binds tighter than OR: 100%, sure?")
            .hint("parentheses say which is meant")
            .suggest(
                "put parentheses",
                vec![
                    Edit { span: both.before(), text: "(".to_owned() },
                    Edit { span: both.after(), text: ")".to_owned() },
                ],
            ),
        Diagnostic::new(Code::Surrogate, at(STOCK, 1, "Item"), "`Item` gets\na surrogate"),
    ])
}

pub(super) fn of(diagnostics: Vec<Diagnostic>) -> Report {
    let mut sources = Sources::default();
    sources.add("shop/shop.loom".into(), SHOP.to_owned(), Dialect::Loom);
    sources.add("shop/stock.loom".into(), STOCK.to_owned(), Dialect::Loom);
    with(sources, diagnostics)
}

pub(super) fn with(sources: Sources, diagnostics: Vec<Diagnostic>) -> Report {
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).count();
    let checked = Checked { sources, model: Model::default(), diagnostics, errors };
    Report { root: "shop/shop.loom".into(), checked }
}

pub(super) fn at(text: &str, file: u32, part: &str) -> Span {
    let start = text.find(part).unwrap();
    span(file, start..start + part.len())
}

pub(super) fn span(file: u32, range: Range<usize>) -> Span {
    Span::new(FileId(file), u32::try_from(range.start).unwrap(), u32::try_from(range.end).unwrap())
}
