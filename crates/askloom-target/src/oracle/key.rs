//! Keys: `/Player/mary/-/username`. The major path is the collection and the block key, the minor path is where the pair
//! is in the block: the steps of an access path, or the columns that sort the rows of a copy.
//!
//! | column | component |
//! | --- | --- |
//! | of the block or completing the row: text, int, uuid, enum, bool | as it is written |
//! | any other, one that can be null, and every one that sorts | hexadecimal digits of ordered bytes, inverted where it descends |

use askloom_model::{AccessPath, AccessStep, Type, Value};
use askloom_plan::layout::{Column, Place, Table};
use askloom_plan::ordered_bytes::{encode, encode_descending};
use askloom_plan::program::Term;
use std::fmt::Write;

/// A key, or the first part of one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Key {
    pub major: Vec<Component>,
    pub minor: Vec<Component>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Component {
    Text(String),
    Slot(String),
}

/// The pair that every write of an aggregate touches. No member has this name.
pub(super) const SYSTEM: &str = "$";

impl Key {
    #[must_use]
    pub fn new(collection: &str) -> Self {
        Self { major: vec![Component::Text(collection.to_owned())], minor: Vec::new() }
    }

    #[must_use]
    pub fn with(&self, minor: impl IntoIterator<Item = Component>) -> Self {
        let mut key = self.clone();
        key.minor.extend(minor);
        key
    }

    /// As `Key.fromString` takes it.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for component in &self.major {
            let _ = write!(text, "/{}", component.text());
        }
        if !self.minor.is_empty() {
            text.push_str("/-");
        }
        for component in &self.minor {
            let _ = write!(text, "/{}", component.text());
        }
        text
    }
}

impl Component {
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => escaped(text),
            Self::Slot(name) => format!(":{name}"),
        }
    }
}

/// What a path of the key's text cannot hold goes by its number. A colon at the start would be a slot.
fn escaped(component: &str) -> String {
    let mut text = String::new();
    for (index, letter) in component.chars().enumerate() {
        let special = "\"#%/<>?[\\]^`{|}".contains(letter);
        let taken = component == "-" || (index == 0 && letter == ':');
        if special || taken || letter.is_whitespace() || letter.is_control() || is_separator(letter) {
            let mut bytes = [0; 4];
            for byte in letter.encode_utf8(&mut bytes).bytes() {
                let _ = write!(text, "%{byte:02X}");
            }
        } else {
            text.push(letter);
        }
    }
    text
}

/// Blanks that are no white space to Rust.
fn is_separator(letter: char) -> bool {
    matches!(letter, '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{feff}')
}

/// A column of a key as a component.
#[must_use]
pub fn component(column: &Column, value: &Value) -> String {
    let value = match value {
        Value::Reference(parts) if parts.len() == 1 => parts.first().unwrap_or(value),
        _other => value,
    };
    let plain = match (column.place, column.holds.scalar()) {
        (Place::Block | Place::Row, Some(ty)) if !column.optional => written(value, ty),
        (_, _) => None,
    };
    plain.unwrap_or_else(|| digits(&ordered(column, value)))
}

fn written(value: &Value, ty: &Type) -> Option<String> {
    match (value, ty) {
        (Value::Text(text), Type::Text) => Some(text.clone()),
        (Value::Int(number), Type::Int | Type::Long) => Some(number.to_string()),
        (Value::Uuid(id), Type::Uuid) => Some(id.to_string()),
        (Value::Bool(truth), Type::Bool) => Some(truth.to_string()),
        (Value::Enum(index), Type::Enum(names)) => names.get(*index as usize).cloned(),
        (_, _) => None,
    }
}

fn ordered(column: &Column, value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    if is_descending(column) {
        encode_descending(value, &mut bytes);
    } else {
        encode(value, &mut bytes);
    }
    bytes
}

pub(super) fn is_descending(column: &Column) -> bool {
    match column.place {
        Place::Sort { descending } => descending,
        Place::Block | Place::Row | Place::Value => false,
    }
}

/// The digits that all texts with a prefix start with.
pub(super) fn prefix(column: &Column, text: &Value) -> String {
    const END_MARK: usize = 2;
    let mut bytes = ordered(column, text);
    bytes.truncate(bytes.len().saturating_sub(END_MARK));
    digits(&bytes)
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The key that some terms make up.
pub(super) fn key(collection: &str, table: &Table, terms: &[Term]) -> Key {
    let mut key = Key::new(collection);
    let mut own: Vec<(usize, &Term)> = terms.iter().filter_map(|term| Some((term.column?, term))).collect();
    own.sort_by_key(|(column, _)| *column);
    own.dedup_by_key(|(column, _)| *column);
    for (index, term) in own {
        let Some(column) = table.columns.get(index) else { continue };
        let component = match &term.value {
            Some(value) => Component::Text(component(column, value)),
            None => Component::Slot(term.name.to_string()),
        };
        match column.place {
            Place::Block => key.major.push(component),
            Place::Sort { .. } | Place::Row => key.minor.push(component),
            Place::Value => {}
        }
    }
    key
}

/// The steps of an access path, an element with the list that it is in: `games[0]`.
pub(super) fn minor(path: &AccessPath) -> Vec<Component> {
    let mut found: Vec<String> = Vec::new();
    for step in &path.0 {
        let one = AccessPath(vec![step.clone()]).to_string();
        match (step, found.last_mut()) {
            (AccessStep::Element(_) | AccessStep::Link(_), Some(last)) => last.push_str(&one),
            (_, _) => found.push(one),
        }
    }
    found.into_iter().map(Component::Text).collect()
}
