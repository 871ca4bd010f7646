//! What a statement gave, in the form that was asked for. Each form is a pure function of rows.

mod csv;
mod json;
mod table;

use crate::screen::Style;
use askloom::run::Rows;
use clap::ValueEnum;
use serde_json::Value as Json;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Aligned columns, for people
    Table,
    /// One JSON object, every value exact
    Json,
    /// Comma-separated values with a line of names
    Csv,
}

/// Rows in a form; the forms that have a place for it say `more` beside them.
pub(crate) fn render(rows: &Rows, form: Form, more: &[(&str, Json)], style: Style) -> String {
    match form {
        Form::Table => table::render(rows, style),
        Form::Json => json::render(rows, more),
        Form::Csv => csv::render(rows),
    }
}

/// A value without the quotes of JSON, which only tell texts from other things.
pub(crate) fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
