//! The JSON Schema of `design --format json`.

/// As it is published.
pub const TEXT: &str = include_str!("schema.json");
