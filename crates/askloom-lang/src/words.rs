//! The words for types in all three languages.

use askloom_model::Type;

/// The canonical type for a dialect's own word.
pub(crate) fn dialect_type(word: &str) -> Option<&'static str> {
    const WORDS: [(&str, &str); 6] = [
        ("string", "text"),
        ("number", "decimal"),
        ("datetime", "timestamp"),
        ("boolean", "bool"),
        ("key", "text"),
        ("unique", "text"),
    ];
    WORDS.iter().find(|(dialect, _)| word.eq_ignore_ascii_case(dialect)).map(|(_, canonical)| *canonical)
}

/// The canonical spelling of a type's word, in whatever case it is written.
pub(crate) fn canonical_type(word: &str) -> Option<&'static str> {
    Type::NAMES.into_iter().chain(["enum"]).find(|name| word.eq_ignore_ascii_case(name))
}

/// Whether a word names a type in any of the languages.
pub(crate) fn is_type(word: &str) -> bool {
    canonical_type(word).is_some() || dialect_type(word).is_some()
}
