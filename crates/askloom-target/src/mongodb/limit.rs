//! What MongoDB would refuse, since it is too large.

use super::bson::{Bson, Document};
use super::schema::MongoCollection;
use super::write::{Command, commands, sample};
use crate::generate::{self, Source, too_large};
use askloom_plan::program::{Action, Step};

/// The most bytes of a document.
const DOCUMENT: usize = 16 << 20;

/// What is refused of all statements and records.
pub(super) fn refused(source: &Source<'_>, all: &[MongoCollection]) -> Vec<String> {
    let layout = source.layout;
    let step = |step: &Step| match &step.action {
        Action::Read(_) => Vec::new(),
        Action::Change(batch) => {
            commands(layout, all, batch).iter().filter_map(|(_, command)| of_command(command)).collect()
        }
    };
    generate::refused(source, step, |record| {
        sample(layout, all, record).iter().filter_map(of_command).collect()
    })
}

fn of_command(command: &Command) -> Option<String> {
    let (collection, document) = match command {
        Command::Insert { collection, document } | Command::Replace { collection, document, .. } => {
            (collection, document)
        }
        Command::Update { collection, update, .. } => (collection, update),
        Command::Delete { collection, filter } => (collection, filter),
    };
    let largest = largest(document);
    let what = format!("a document of {collection}, most of it in `{largest}`,");
    too_large(&what, of_document(document), DOCUMENT, "MongoDB")
}

/// The field with most of a document. An operator of an update is none: its fields are.
fn largest(document: &Document) -> &str {
    let Some((name, value)) = document.iter().max_by_key(|(_, value)| size(value)) else { return "" };
    match value {
        Bson::Document(inner) if name.starts_with('$') => largest(inner),
        _field => name,
    }
}

/// Its length, the fields, and the end.
fn of_document(document: &Document) -> usize {
    5 + document.iter().map(|(name, value)| 2 + name.len() + size(value)).sum::<usize>()
}

/// As BSON has it. What is not known yet takes nothing.
fn size(value: &Bson) -> usize {
    match value {
        Bson::Null | Bson::Slot(_) => 0,
        Bson::Bool(_) => 1,
        Bson::Int(_) => 4,
        Bson::Long(_) | Bson::Double(_) | Bson::Date(_) => 8,
        Bson::Decimal(_) => 16,
        Bson::Text(text) => 5 + text.len(),
        Bson::Binary(bytes) => 5 + bytes.len(),
        Bson::Uuid(_) => 5 + 16,
        // The names of elements are their places.
        Bson::Array(items) => {
            let place = |at: usize| 2 + at.checked_ilog10().unwrap_or(0) as usize + 1;
            5 + items.iter().enumerate().map(|(at, item)| place(at) + size(item)).sum::<usize>()
        }
        Bson::Document(fields) => of_document(fields),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_bson() {
        // {"hello": "world"} and {"BSON": ["awesome", 5.05, 1986]}, the examples of its specification.
        let hello = vec![("hello".to_owned(), Bson::text("world"))];
        assert_eq!(of_document(&hello), 0x16);
        let items = vec![Bson::text("awesome"), Bson::Double(5.05), Bson::Int(1986)];
        assert_eq!(of_document(&vec![("BSON".to_owned(), Bson::Array(items))]), 0x31);
    }

    #[test]
    fn a_document_of_more_than_16_megabytes_is_refused() {
        let insert = |letters: usize| Command::Insert {
            collection: "c".to_owned(),
            document: vec![
                ("_id".to_owned(), Bson::Int(1)),
                ("text".to_owned(), Bson::text(&"x".repeat(letters))),
            ],
        };
        let most = (16 << 20) - 5 - 9 - 6 - 5;
        assert_eq!(of_command(&insert(most)), None);
        let said = of_command(&insert(most + 1)).unwrap();
        let wanted =
            "a document of c, most of it in `text`, has 16777217 bytes, and MongoDB takes 16777216 at most";
        assert_eq!(said, wanted);
    }
}
