//! Values and statements as text for mongosh.

use super::bson::{Bson, Document};
use super::read::Find;
use super::write::Command;
use std::fmt::Write;

const WIDTH: usize = 100;
const STEP: usize = 2;

/// Everything that is written is on a majority of the servers, and on their disks, before it counts.
pub(super) const WRITE_CONCERN: &str = "writeConcern: { w: 'majority', j: true }";

impl Bson {
    /// The value as mongosh takes it, on one line.
    #[must_use]
    pub fn literal(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Text(text) => self::text(text),
            Self::Int(number) => number.to_string(),
            Self::Long(number) => format!("Long('{number}')"),
            Self::Double(number) => format!("Double({number:?})"),
            Self::Decimal(number) => format!("Decimal128('{}')", number.to_plain_string()),
            Self::Bool(truth) => truth.to_string(),
            Self::Date(at) => date(*at),
            Self::Binary(bytes) => {
                let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                format!("HexData(0, '{digits}')")
            }
            Self::Uuid(id) => format!("UUID('{id}')"),
            Self::Array(items) => {
                format!("[{}]", items.iter().map(Self::literal).collect::<Vec<_>>().join(", "))
            }
            Self::Document(fields) => document(fields),
            Self::Slot(name) => format!(":{}", in_comment(name)),
        }
    }

    /// The same on as many lines as it takes. The first one starts somewhere in a line that has so much before it.
    fn laid_out(&self, indent: usize, before: usize) -> String {
        let line = self.literal();
        if before + line.len() <= WIDTH {
            return line;
        }
        let inner = indent + STEP;
        let space = " ".repeat(inner);
        let (open, close, parts) = match self {
            Self::Array(items) if !items.is_empty() => {
                ('[', ']', items.iter().map(|item| item.laid_out(inner, inner)).collect::<Vec<_>>())
            }
            Self::Document(fields) if !fields.is_empty() => {
                let field = |(name, value): &(String, Self)| {
                    let name = key(name);
                    let before = inner + name.len() + 2;
                    format!("{name}: {}", value.laid_out(inner, before))
                };
                ('{', '}', fields.iter().map(field).collect())
            }
            _plain => return line,
        };
        format!("{open}\n{space}{}\n{}{close}", parts.join(&format!(",\n{space}")), " ".repeat(indent))
    }
}

fn document(fields: &Document) -> String {
    if fields.is_empty() {
        return "{}".to_owned();
    }
    let one = |(name, value): &(String, Bson)| format!("{}: {}", key(name), value.literal());
    format!("{{ {} }}", fields.iter().map(one).collect::<Vec<_>>().join(", "))
}

/// Values as the arguments of a call, with so much before and behind them on the line.
fn arguments(values: &[&Document], indent: usize, (before, behind): (usize, usize)) -> String {
    let values: Vec<Bson> = values.iter().map(|fields| Bson::Document((*fields).clone())).collect();
    let line = values.iter().map(Bson::literal).collect::<Vec<_>>().join(", ");
    if indent + before + line.len() + behind <= WIDTH {
        return line;
    }
    let mut shown: Vec<String> = Vec::with_capacity(values.len());
    for value in &values {
        // The last line of what stands before it: a bracket, or all of it.
        let before =
            shown.last().map_or(before, |last| last.rsplit('\n').next().map_or(0, str::len) + before);
        shown.push(value.laid_out(indent, indent + before));
    }
    shown.join(", ")
}

/// A document with a line for each field that needs one, behind so much on its first line.
pub(super) fn laid_out(fields: &Document, before: usize) -> String {
    Bson::Document(fields.clone()).laid_out(0, before)
}

/// The name of a field. In quotes, `__proto__` would still be no field.
fn key(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$');
    let starts = name.chars().next().is_some_and(|first| !first.is_ascii_digit());
    match name {
        "__proto__" => "['__proto__']".to_owned(),
        name if plain && starts => name.to_owned(),
        name => text(name),
    }
}

/// In quotes. What a terminal might change, and what ends a line in JavaScript, goes by its number.
pub(super) fn text(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('\'');
    for letter in text.chars() {
        match letter {
            '\'' => quoted.push_str("\\'"),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            letter if must_be_named(letter) => {
                let mut units = [0; 2];
                for unit in letter.encode_utf16(&mut units) {
                    let _ = write!(quoted, "\\u{unit:04x}");
                }
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('\'');
    quoted
}

/// Control characters, ends of lines, and marks that a reader does not see: a text that reads one way and is another.
fn must_be_named(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// A text for a comment, which a line's end would end: JavaScript has four.
pub(super) fn in_comment(text: &str) -> String {
    text.chars().map(|letter| if must_be_named(letter) { ' ' } else { letter }).collect()
}

/// By its name where it has four digits in its year, else by its number.
fn date(milliseconds: i64) -> String {
    let named =
        jiff::Timestamp::from_nanosecond(i128::from(milliseconds) * 1_000_000).ok().map(|at| at.to_string());
    match named.filter(|name| name.find('-') == Some(4)) {
        Some(name) => format!("ISODate('{name}')"),
        None => format!("new Date({milliseconds})"),
    }
}

/// A collection of a database. A name in capitals is none of the shell's own.
pub(super) fn collection(database: &str, name: &str) -> String {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain && name.starts_with(|first: char| first.is_ascii_uppercase()) {
        return format!("{database}.{name}");
    }
    format!("{database}.getCollection({})", text(name))
}

impl Find {
    #[must_use]
    pub fn text(&self) -> String {
        let wanted: Document = self.projection.iter().map(|path| (path.clone(), Bson::Int(1))).collect();
        let values: &[&Document] = if wanted.is_empty() { &[&self.filter] } else { &[&self.filter, &wanted] };
        let mut text =
            format!("{}.find({})", collection("db", &self.collection), arguments(values, 0, (0, 0)));
        if !self.sort.is_empty() {
            let one = |(path, descending): &(String, bool)| {
                (path.clone(), Bson::Int(if *descending { -1 } else { 1 }))
            };
            let _ = write!(text, ".sort({})", document(&self.sort.iter().map(one).collect()));
        }
        if let Some(limit) = &self.limit {
            let limit = match limit {
                Bson::Long(rows) => rows.to_string(),
                other => other.literal(),
            };
            let _ = write!(text, ".limit({limit})");
        }
        text.push_str(".readConcern('majority');");
        text
    }
}

impl Command {
    /// The call, without a semicolon. Settings go behind the arguments.
    #[must_use]
    pub fn call(&self, database: &str, indent: usize, settings: &str) -> String {
        let settings =
            |own: &str| match [own, settings].iter().filter(|s| !s.is_empty()).copied().collect::<Vec<_>>() {
                all if all.is_empty() => String::new(),
                all => format!(", {{ {} }}", all.join(", ")),
            };
        let (name, method, values, own): (_, _, Vec<&Document>, _) = match self {
            Self::Insert { collection, document } => (collection, "insertOne", vec![document], ""),
            Self::Update { collection, filter, update, upsert } => {
                (collection, "updateOne", vec![filter, update], if *upsert { "upsert: true" } else { "" })
            }
            Self::Replace { collection, filter, document } => {
                (collection, "replaceOne", vec![filter, document], "upsert: true")
            }
            Self::Delete { collection, filter } => (collection, "deleteOne", vec![filter], ""),
        };
        let (of, settings) = (collection(database, name), settings(own));
        let beside = (of.len() + method.len() + 2, settings.len() + 2);
        format!("{of}.{method}({}{settings})", arguments(&values, indent, beside))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_leaves_its_quotes() {
        for nasty in [
            "'); db.dropDatabase(); ('",
            "\\",
            "\\'",
            "a\nb",
            "\u{2028}",
            "\0",
            "${x}",
            "`",
            "{tag}",
            "$where",
        ] {
            let literal = text(nasty);
            let inner = literal.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).unwrap();
            let mut escaped = false;
            for letter in inner.chars() {
                assert!(escaped || letter != '\'', "{literal}");
                assert!(!must_be_named(letter), "{literal}");
                escaped = letter == '\\' && !escaped;
            }
            assert!(!escaped, "{literal}");
        }
        assert_eq!(text("it's\n\0\u{1f600}"), "'it\\'s\\n\\u0000\u{1f600}'");
    }

    #[test]
    fn a_name_is_a_name_whatever_is_in_it() {
        assert_eq!(key("gameId"), "gameId");
        assert_eq!(key("$set"), "$set");
        assert_eq!(key("_id.gameId"), "'_id.gameId'");
        assert_eq!(key("a'b"), "'a\\'b'");
        assert_eq!(key("__proto__"), "['__proto__']");
        assert_eq!(key("1"), "'1'");
        assert_eq!(collection("db", "Game"), "db.Game");
        assert_eq!(collection("db", "stats"), "db.getCollection('stats')");
        assert_eq!(collection("db", "a'b"), "db.getCollection('a\\'b')");
    }

    #[test]
    fn values_keep_their_types() {
        assert_eq!(Bson::Long(i64::MIN).literal(), "Long('-9223372036854775808')");
        assert_eq!(Bson::Double(1.0).literal(), "Double(1.0)");
        assert_eq!(Bson::Double(1e300).literal(), "Double(1e300)");
        assert_eq!(Bson::Decimal("0.00000012".parse().unwrap()).literal(), "Decimal128('0.00000012')");
        assert_eq!(Bson::Date(0).literal(), "ISODate('1970-01-01T00:00:00Z')");
        assert_eq!(Bson::Date(-62_198_755_200_000).literal(), "new Date(-62198755200000)");
        assert_eq!(Bson::Binary(vec![0, 255]).literal(), "HexData(0, '00ff')");
        assert_eq!(Bson::Slot("a\n;evil()".to_owned()).literal(), ":a ;evil()");
    }

    #[test]
    fn what_is_too_long_for_a_line_is_laid_out() {
        let long = Bson::Document(vec![
            ("a".to_owned(), Bson::Array(vec![Bson::text(&"x".repeat(60)), Bson::text(&"y".repeat(60))])),
            ("b".to_owned(), Bson::Int(1)),
        ]);
        let text = long.laid_out(0, 0);
        assert_eq!(text.lines().count(), 7, "{text}");
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(bare(&text), bare(&long.literal()));
    }
}
