//! A small TOML file of keys and values, each taken once. What is wrong with it is told with its line.

use crate::error::Error;
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};
use toml::{Spanned, Value};

#[derive(Debug)]
pub(super) struct Entries {
    path: PathBuf,
    text: String,
    left: BTreeMap<String, Spanned<Value>>,
}

impl Entries {
    pub(super) fn parse(path: &Path, text: String) -> Result<Self, Error> {
        let mut entries = Self { path: path.to_owned(), text, left: BTreeMap::new() };
        match toml::from_str(&entries.text) {
            Ok(left) => entries.left = left,
            Err(error) => return Err(entries.wrong(error.span().unwrap_or(0..0), error.message())),
        }
        Ok(entries)
    }

    /// What is wrong, and in which line.
    fn wrong(&self, span: Range<usize>, why: &str) -> Error {
        let line = self.text.get(..span.start).unwrap_or(&self.text).matches('\n').count() + 1;
        Error::Input(format!("{}:{line}: {why}", self.path.display()))
    }

    /// What is wrong with the file as a whole.
    pub(super) fn lacks(&self, key: &str, what: &str) -> Error {
        Error::Input(format!("{}: `{key}` is missing: {what}", self.path.display()))
    }

    fn take(&mut self, key: &str) -> Option<(Range<usize>, Value)> {
        self.left.remove(key).map(|value| (value.span(), value.into_inner()))
    }

    /// A number within bounds.
    pub(super) fn number(&mut self, key: &str, within: &RangeInclusive<f64>) -> Result<Option<f64>, Error> {
        let Some((span, value)) = self.take(key) else { return Ok(None) };
        let number = match value {
            Value::Integer(number) => number as f64,
            Value::Float(number) => number,
            Value::String(_) | Value::Boolean(_) | Value::Datetime(_) | Value::Array(_) | Value::Table(_) => {
                return Err(self.wrong(span, &format!("`{key}` is no number")));
            }
        };
        // What is no number is in no range.
        if within.contains(&number) {
            return Ok(Some(number));
        }
        let (least, most) = (within.start(), within.end());
        Err(self.wrong(span, &format!("`{key}` is {number}; it has to be a number from {least} to {most}")))
    }

    /// A word or two, as it is printed.
    pub(super) fn text(&mut self, key: &str, columns: usize) -> Result<Option<String>, Error> {
        let Some((span, value)) = self.take(key) else { return Ok(None) };
        let text = match value {
            Value::String(text) => text,
            Value::Datetime(date) => date.to_string(),
            Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Array(_) | Value::Table(_) => {
                return Err(self.wrong(span, &format!("`{key}` is no text; write it in quotes")));
            }
        };
        let width = crate::fit::width(&text);
        if text.trim().is_empty() || text.chars().any(char::is_control) || width > columns {
            let why = format!("`{key}` has to be a text of 1 to {columns} characters in one line");
            return Err(self.wrong(span, &why));
        }
        Ok(Some(text))
    }

    /// One of several words, else what they are.
    pub(super) fn one_of<T>(
        &mut self,
        key: &str,
        known: &[&str],
        find: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let span = self.left.get(key).map(Spanned::span);
        let Some((span, name)) = span.zip(self.text(key, 64)?) else { return Ok(None) };
        match find(&name) {
            Some(found) => Ok(Some(found)),
            None => Err(self.wrong(span, &format!("`{key}` is `{name}`; there are {}", known.join(", ")))),
        }
    }

    pub(super) fn flag(&mut self, key: &str) -> Result<Option<bool>, Error> {
        let Some((span, value)) = self.take(key) else { return Ok(None) };
        value.as_bool().map(Some).ok_or_else(|| self.wrong(span, &format!("`{key}` is true or false")))
    }

    /// Nothing may be left that nobody has taken.
    pub(super) fn finish(self, known: &[&str]) -> Result<(), Error> {
        let first = self.left.iter().min_by_key(|(_, value)| value.span().start);
        match first {
            Some((key, value)) => {
                let key = crate::fit::cut(key, 40);
                Err(self
                    .wrong(value.span(), &format!("`{key}` is no key here; there are {}", known.join(", "))))
            }
            None => Ok(()),
        }
    }
}
