//! What a statement gave, in the form that was asked for. Each form is a pure function of rows.

mod csv;
mod json;
mod table;

use crate::screen::Style;
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

/// Rows under names. Values are as `askloom_model::column_to_json` makes them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rows {
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<Json>>,
}

impl Rows {
    pub(crate) fn render(&self, form: Form, more: &[(&str, Json)], style: Style) -> String {
        match form {
            Form::Table => table::render(self, style),
            Form::Json => json::render(self, more),
            Form::Csv => csv::render(self),
        }
    }
}

/// A value without the quotes of JSON, which only tell texts from other things.
pub(crate) fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
