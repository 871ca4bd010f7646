//! Where something is inside an aggregate: NoAM's access paths, which are the keys of entries.

use crate::{Identity, Value};
use std::fmt::{self, Write};

/// Steps from the root of an aggregate to something in it; none is the root itself. A path sorts right before
/// what lies below it, and the elements of a list sort by their ordinals.
///
/// Its text is that of the papers, as in `rounds[3].moves`, and no two paths share one.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccessPath(pub Vec<AccessStep>);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessStep {
    /// A member, by name: ids of members are of one reading of the model, names stay.
    Field(String),
    /// An element of a list, by its stored ordinal.
    Element(u64),
    /// A member of a set of references, by what it refers to: a set has no ordinals.
    Link(Identity),
}

impl fmt::Display for AccessPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.0.iter().enumerate() {
            match step {
                AccessStep::Field(name) => {
                    if index > 0 {
                        f.write_char('.')?;
                    }
                    field(name, f)?;
                }
                AccessStep::Element(ordinal) => write!(f, "[{ordinal}]")?,
                AccessStep::Link(identity) => link(identity, f)?,
            }
        }
        Ok(())
    }
}

/// Back-quotes stand around a name that could be taken for something else, as in the language. The language has
/// no name with a back-quote in it, but a name may come from elsewhere.
fn field(name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let is_word = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if is_word { f.write_str(name) } else { write!(f, "`{}`", name.replace('`', "``")) }
}

fn link(identity: &[Value], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_char('(')?;
    for (index, part) in identity.iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        literal(part, f)?;
    }
    f.write_char(')')
}

/// A value with its kind, so that `3` and `'3'` are two.
fn literal(value: &Value, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    match value {
        Value::Null => f.write_str("null"),
        Value::Bool(value) => write!(f, "{value}"),
        Value::Int(value) => write!(f, "{value}"),
        Value::Decimal(value) => write!(f, "decimal {value}"),
        Value::Double(value) => write!(f, "double {value:?}"),
        Value::Text(text) => f.write_str(&quoted(text)),
        Value::Enum(index) => write!(f, "enum {index}"),
        Value::Date(date) => write!(f, "date {date}"),
        Value::Time(time) => write!(f, "time {time}"),
        Value::Timestamp(at) => write!(f, "timestamp {at}"),
        Value::Uuid(uuid) => write!(f, "uuid {uuid}"),
        Value::Blob(bytes) => {
            f.write_str("blob ")?;
            bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
        }
        Value::Json(json) => write!(f, "json {}", quoted(&json.to_string())),
        Value::Reference(identity) => link(identity, f),
        // Nothing that identifies holds one of these.
        Value::Geo(_) | Value::List(_) | Value::Set(_) | Value::Record(_) => {
            f.write_str(&quoted(&format!("{value:?}")))
        }
    }
}

/// A text that is no access path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoPath(pub String);

impl fmt::Display for NoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no path of an aggregate", self.0)
    }
}

impl std::error::Error for NoPath {}

impl std::str::FromStr for AccessPath {
    type Err = NoPath;

    fn from_str(text: &str) -> Result<Self, NoPath> {
        let mut rest = text;
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let step = parse::step(&mut rest, steps.is_empty()).ok_or_else(|| NoPath(text.to_owned()))?;
            steps.push(step);
        }
        Ok(Self(steps))
    }
}

/// Takes a path's text apart, as [`AccessPath`] writes it.
mod parse {
    use super::{AccessStep, Identity, Value};

    pub(super) fn step(rest: &mut &str, first: bool) -> Option<AccessStep> {
        if eat(rest, "[") {
            let ordinal = until(rest, "]")?.parse().ok()?;
            return Some(AccessStep::Element(ordinal));
        }
        if eat(rest, "(") {
            return link(rest).map(AccessStep::Link);
        }
        if !first && !eat(rest, ".") {
            return None;
        }
        if eat(rest, "`") {
            return quoted(rest, '`').map(AccessStep::Field);
        }
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let (name, after) = rest.split_at_checked(end).filter(|(name, _)| !name.is_empty())?;
        *rest = after;
        Some(AccessStep::Field(name.to_owned()))
    }

    /// The parts of an id up to the bracket that ends it.
    fn link(rest: &mut &str) -> Option<Identity> {
        let mut parts = Vec::new();
        while !eat(rest, ")") {
            if !parts.is_empty() && !eat(rest, ", ") {
                return None;
            }
            parts.push(literal(rest)?);
        }
        Some(parts)
    }

    fn literal(rest: &mut &str) -> Option<Value> {
        if eat(rest, "'") {
            return quoted(rest, '\'').map(Value::Text);
        }
        if eat(rest, "(") {
            return link(rest).map(Value::Reference);
        }
        if eat(rest, "json '") {
            return serde_json::from_str(&quoted(rest, '\'')?).ok().map(Value::Json);
        }
        let end = rest.find([',', ')']).unwrap_or(rest.len());
        let (word, after) = rest.split_at_checked(end)?;
        *rest = after;
        let (kind, digits) = word.split_once(' ').unwrap_or(("", word));
        match (kind, digits) {
            ("", "null") => Some(Value::Null),
            ("", "true") => Some(Value::Bool(true)),
            ("", "false") => Some(Value::Bool(false)),
            ("", digits) => digits.parse().ok().map(Value::Int),
            ("decimal", digits) => digits.parse().ok().map(Value::Decimal),
            ("double", digits) => digits.parse().ok().map(Value::Double),
            ("enum", digits) => digits.parse().ok().map(Value::Enum),
            ("date", text) => text.parse().ok().map(Value::Date),
            ("time", text) => text.parse().ok().map(Value::Time),
            ("timestamp", text) => text.parse().ok().map(Value::Timestamp),
            ("uuid", text) => text.parse().ok().map(Value::Uuid),
            ("blob", digits) => bytes(digits).map(Value::Blob),
            (_unknown, _) => None,
        }
    }

    fn bytes(digits: &str) -> Option<Vec<u8>> {
        let pairs = digits.as_bytes().chunks(2);
        pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
    }

    fn eat(rest: &mut &str, start: &str) -> bool {
        let after = rest.strip_prefix(start);
        *rest = after.unwrap_or(rest);
        after.is_some()
    }

    fn until<'r>(rest: &mut &'r str, end: &str) -> Option<&'r str> {
        let (before, after) = rest.split_once(end)?;
        *rest = after;
        Some(before)
    }

    /// Up to a quote that is not doubled.
    fn quoted(rest: &mut &str, quote: char) -> Option<String> {
        let mut text = String::new();
        let mut letters = rest.char_indices();
        while let Some((at, letter)) = letters.next() {
            if letter != quote {
                text.push(letter);
                continue;
            }
            let after = rest.get(at + quote.len_utf8()..)?;
            if after.starts_with(quote) {
                text.push(quote);
                letters.next();
            } else {
                *rest = after;
                return Some(text);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(steps: &[AccessStep]) -> AccessPath {
        AccessPath(steps.to_vec())
    }

    fn named(name: &str) -> AccessStep {
        AccessStep::Field(name.to_owned())
    }

    #[test]
    fn reads_as_in_the_papers() {
        assert_eq!(path(&[]).to_string(), "");
        assert_eq!(path(&[named("firstName")]).to_string(), "firstName");
        let moves = path(&[named("rounds"), AccessStep::Element(3), named("moves")]);
        assert_eq!(moves.to_string(), "rounds[3].moves");
        let link =
            path(&[named("friends"), AccessStep::Link(vec![Value::Text("o'b".into()), Value::Int(3)])]);
        assert_eq!(link.to_string(), "friends('o''b', 3)");
    }

    /// Every path of up to three of these steps has a text of its own.
    #[test]
    fn no_two_paths_share_a_text() {
        let names = ["a", "b", "a.b", "a[0]", "", "`", "``", "a`", "#", "[0]", "('x')", ".", "a b", "`.`"];
        let mut steps: Vec<AccessStep> = names.iter().map(|name| named(name)).collect();
        steps.extend([0, 1, 10].map(AccessStep::Element));
        let ids = [
            vec![Value::Text("x".into())],
            vec![Value::Text("x".into()), Value::Text("y".into())],
            vec![Value::Text("x', 'y".into())],
            vec![Value::Text("'".into())],
            vec![Value::Int(1)],
            vec![Value::Text("1".into())],
            vec![Value::Enum(1)],
            vec![Value::Decimal(1.into())],
            vec![Value::Double(-1.5), Value::Bool(true), Value::Blob(vec![0, 255]), Value::Null],
            vec![Value::Uuid(uuid::Uuid::nil()), Value::Timestamp(jiff::Timestamp::MIN)],
            vec![Value::Date(jiff::civil::Date::MIN), Value::Time(jiff::civil::Time::MAX)],
            vec![Value::Json(serde_json::json!({"a, ')": [1]}))],
            vec![Value::Reference(vec![Value::Int(1)])],
            vec![],
        ];
        steps.extend(ids.map(AccessStep::Link));
        let mut paths = vec![AccessPath::default()];
        let mut last = paths.clone();
        for _ in 0..3 {
            last = last
                .iter()
                .flat_map(|before| steps.iter().map(|step| [&*before.0, std::slice::from_ref(step)].concat()))
                .map(AccessPath)
                .collect();
            paths.extend(last.iter().cloned());
        }
        for path in &paths {
            assert_eq!(path.to_string().parse().as_ref(), Ok(path), "{path}");
        }
        let count = paths.len();
        let texts: std::collections::HashSet<String> = paths.iter().map(ToString::to_string).collect();
        assert_eq!(texts.len(), count);
        assert!(!texts.contains("#"), "`#` is the system entry's");
    }
}
