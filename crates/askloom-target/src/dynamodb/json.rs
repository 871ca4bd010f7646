//! JSON with its fields in the order that people expect, in lines of a bearable length.

use super::read::{Bound, Cells};
use super::value::Dynamo;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Doc {
    Text(String),
    /// A number or a truth value.
    Plain(String),
    List(Vec<Doc>),
    Map(Vec<(String, Doc)>),
}

const WIDTH: usize = 100;

pub(super) fn text(text: impl Into<String>) -> Doc {
    Doc::Text(text.into())
}

pub(super) fn truth(truth: bool) -> Doc {
    Doc::Plain(truth.to_string())
}

pub(super) fn map<const N: usize>(fields: [(&str, Doc); N]) -> Doc {
    Doc::Map(fields.into_iter().map(|(name, field)| (name.to_owned(), field)).collect())
}

impl Doc {
    /// In one line if it fits, else broken.
    pub(super) fn print(&self) -> String {
        let mut out = String::new();
        self.broken(0, &mut out, true);
        out
    }

    pub(super) fn line(&self) -> String {
        match self {
            Self::Text(text) => quoted(text),
            Self::Plain(plain) => plain.clone(),
            Self::List(items) => {
                format!("[{}]", items.iter().map(Self::line).collect::<Vec<_>>().join(", "))
            }
            Self::Map(fields) => {
                let one = |(name, field): &(String, Self)| format!("{}: {}", quoted(name), field.line());
                format!("{{{}}}", fields.iter().map(one).collect::<Vec<_>>().join(", "))
            }
        }
    }

    fn broken(&self, indent: usize, out: &mut String, first: bool) {
        let line = self.line();
        let short = !first && indent + line.len() <= WIDTH;
        let inner = " ".repeat(indent + 2);
        match self {
            Self::List(items) if !short && !items.is_empty() => {
                out.push_str("[\n");
                for (at, item) in items.iter().enumerate() {
                    out.push_str(&inner);
                    item.broken(indent + 2, out, false);
                    out.push_str(if at + 1 < items.len() { ",\n" } else { "\n" });
                }
                out.push_str(&format!("{}]", " ".repeat(indent)));
            }
            Self::Map(fields) if !short && !fields.is_empty() => {
                out.push_str("{\n");
                for (at, (name, field)) in fields.iter().enumerate() {
                    out.push_str(&format!("{inner}{}: ", quoted(name)));
                    field.broken(indent + 2, out, false);
                    out.push_str(if at + 1 < fields.len() { ",\n" } else { "\n" });
                }
                out.push_str(&format!("{}}}", " ".repeat(indent)));
            }
            Self::Text(_) | Self::Plain(_) | Self::List(_) | Self::Map(_) => out.push_str(&line),
        }
    }
}

/// A text in quotes. What a terminal or an editor might change on the way is written by its code.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            ' '..='~' => out.push(letter),
            _ if letter.is_alphanumeric() => out.push(letter),
            _strange => {
                let mut units = [0; 2];
                for unit in letter.encode_utf16(&mut units) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    out.push('"');
    out
}

impl Dynamo {
    /// As requests have it.
    pub(super) fn doc(&self) -> Doc {
        let texts = |texts: &[String]| Doc::List(texts.iter().map(text).collect());
        match self {
            Self::S(value) => map([("S", text(value))]),
            Self::N(digits) => map([("N", text(digits))]),
            Self::B(bytes) => map([("B", text(STANDARD.encode(bytes)))]),
            Self::Bool(value) => map([("BOOL", truth(*value))]),
            Self::Null => map([("NULL", truth(true))]),
            Self::L(items) => map([("L", Doc::List(items.iter().map(Self::doc).collect()))]),
            Self::M(fields) => {
                let fields = fields.iter().map(|(name, field)| (name.clone(), field.doc()));
                map([("M", Doc::Map(fields.collect()))])
            }
            Self::Ss(values) => map([("SS", texts(values))]),
            Self::Ns(values) => map([("NS", texts(values))]),
        }
    }
}

impl Bound {
    pub(super) fn doc(&self) -> Doc {
        match self {
            Self::Slot { text: slot, tag } => map([(tag, text(slot))]),
            Self::Value(value) => value.doc(),
        }
    }
}

pub(super) fn cells(cells: &Cells) -> Doc {
    Doc::Map(cells.iter().map(|(name, bound)| (name.clone(), bound.doc())).collect())
}

/// An argument of a POSIX shell.
pub(super) fn argument(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_is_one_argument_and_comes_back() {
        let texts = [
            "it's", "a\"b", "}", "*", "$where", "{tag}", "`x`", "$(x)", "\n\r\t\0", "\\", "é", "🎲",
            "\u{202e}",
        ];
        for value in texts {
            let line = text(value).line();
            assert!(line.chars().all(|letter| !letter.is_control()), "{line}");
            assert_eq!(serde_json::from_str::<String>(&line).as_deref().ok(), Some(value));
            let argument = argument(&line);
            // Inside quotes a shell knows nothing but their end.
            let inner = argument.replace("'\\''", "");
            assert!(
                inner.starts_with('\'') && inner.ends_with('\'') && inner.matches('\'').count() == 2,
                "{argument}"
            );
        }
    }
}
