//! Names as people write them.

use askloom_model::{Conceptual, Leaf};

#[must_use]
pub fn leaf_name(conceptual: &Conceptual, leaf: Leaf) -> String {
    match leaf {
        Leaf::Attribute(id) => conceptual.attributes[id].name.clone(),
        Leaf::Reference(id) => conceptual.ends[id].name.clone(),
        Leaf::Itself => "id".to_owned(),
        Leaf::Bucket(_) => "bucket".to_owned(),
        Leaf::TimeBucket(id, unit) => format!("{}({})", unit.name(), conceptual.attributes[id].name),
    }
}

#[must_use]
pub fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// A name as the language writes it: in back-quotes unless it is a plain word.
#[must_use]
pub fn name(text: &str) -> String {
    let plain = text.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
        && text.chars().next().is_some_and(|first| !first.is_numeric());
    if plain { text.to_owned() } else { format!("`{text}`") }
}
