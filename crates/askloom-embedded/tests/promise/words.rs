//! Values and records as people read them, for failures.

use askloom_model::{Collection, Conceptual, Contents, Id, KeyField, Leaf, Path, Position, Record, Value};
use std::collections::BTreeMap;

pub(crate) fn value(conceptual: &Conceptual, value: &Value) -> String {
    let id = |parts: &Vec<Value>| {
        let parts: Vec<String> = parts.iter().map(|part| self::value(conceptual, part)).collect();
        format!("→{}", parts.join("/"))
    };
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Decimal(value) => format!("{value}d"),
        Value::Double(value) => format!("{value:e}"),
        Value::Text(text) if text.len() > 60 => format!("{:?}…", &text[..20]),
        Value::Text(text) => format!("{text:?}"),
        Value::Enum(index) => format!("#{index}"),
        Value::Date(date) => date.to_string(),
        Value::Time(time) => time.to_string(),
        Value::Timestamp(at) => at.to_string(),
        Value::Uuid(uuid) => uuid.to_string(),
        Value::Blob(bytes) => format!("{bytes:?}"),
        Value::Geo(place) => format!("({}, {})", place.latitude, place.longitude),
        Value::Json(json) => format!("json {json}"),
        Value::Reference(parts) => id(parts),
        Value::Set(ids) => format!("{{{}}}", ids.iter().map(id).collect::<Vec<_>>().join(", ")),
        Value::List(elements) => {
            let one =
                |e: &askloom_model::Element| format!("{}: {}", e.ordinal, self::value(conceptual, &e.value));
            format!("[{}]", elements.iter().map(one).collect::<Vec<_>>().join(", "))
        }
        Value::Record(record) => self::record(conceptual, record),
    }
}

pub(crate) fn record(conceptual: &Conceptual, record: &Record) -> String {
    let mut fields: Vec<String> = Vec::new();
    fields.extend(record.surrogate.map(|id| format!("$id: {id}")));
    for (&member, held) in &record.fields {
        fields.push(format!("{}: {}", conceptual.member_name(member), value(conceptual, held)));
    }
    format!("{} {{ {} }}", conceptual.classes[record.class].name, fields.join(", "))
}

pub(crate) fn arguments(conceptual: &Conceptual, given: &BTreeMap<String, Value>) -> String {
    let one = |(name, held): (&String, &Value)| format!(":{name} = {}", value(conceptual, held));
    given.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Some rows, one a line.
pub(crate) fn rows(conceptual: &Conceptual, rows: &[Vec<Value>]) -> String {
    const MOST: usize = 12;
    let line = |row: &Vec<Value>| {
        let values: Vec<String> = row.iter().map(|held| value(conceptual, held)).collect();
        format!("    {}\n", values.join(" | "))
    };
    let mut text: String = rows.iter().take(MOST).map(line).collect();
    if rows.len() > MOST {
        text.push_str(&format!("    … {} more\n", rows.len() - MOST));
    }
    if rows.is_empty() {
        text.push_str("    nothing\n");
    }
    text
}

/// A path from its position on.
fn path(conceptual: &Conceptual, path: &Path) -> String {
    let mut text = format!("{}", path.position.index());
    for &hop in &path.hops {
        text.push_str(&format!(".{}", conceptual.ends[hop].name));
    }
    match path.leaf {
        Leaf::Attribute(id) => text.push_str(&format!(".{}", conceptual.attributes[id].name)),
        Leaf::Reference(id) => text.push_str(&format!(".{}", conceptual.ends[id].name)),
        Leaf::Itself => {}
        Leaf::Bucket(of) => text.push_str(&format!(".bucket of {of}")),
        Leaf::TimeBucket(id, unit) => {
            text.push_str(&format!(".{}({})", unit.name(), conceptual.attributes[id].name));
        }
    }
    text
}

fn kind(collection: &Collection) -> &'static str {
    match (&collection.contents, collection.indexed()) {
        (Contents::Aggregate(_), _) => "master",
        (Contents::Nested(_), _) => "nested copy",
        (Contents::Fields(_), Some(_)) => "index",
        (Contents::Fields(_), None) => "copy",
    }
}

/// A collection in one line: positions, condition, keys, fields.
pub(crate) fn collection(conceptual: &Conceptual, collection: &Collection) -> String {
    let position = |(_, position): (_, &Position)| match position.from {
        None => conceptual.classes[collection.source.root].name.clone(),
        Some(hop) => {
            let outer = if position.outer { "?" } else { "" };
            format!("{}.{}{outer}", hop.parent.index(), conceptual.member_name(hop.step))
        }
    };
    let positions: Vec<String> = collection.source.positions.iter().map(position).collect();
    let key = |field: &KeyField| {
        format!("{}{}", path(conceptual, &field.path), if field.descending { " desc" } else { "" })
    };
    let keys = |fields: &[KeyField]| fields.iter().map(key).collect::<Vec<_>>().join(", ");
    let fields: Vec<String> = match &collection.contents {
        Contents::Aggregate(rules) => vec![format!("aggregate by {} rules", rules.len())],
        Contents::Fields(fields) => fields.iter().map(|field| path(conceptual, field)).collect(),
        Contents::Nested(nodes) => {
            let whole = nodes.whole.iter().map(|position| format!("all of {}", position.index()));
            nodes.fields.iter().map(|field| path(conceptual, field)).chain(whole).collect()
        }
    };
    let condition = collection.source.condition.as_ref().map(|condition| format!(" where {condition:?}"));
    format!(
        "{} ({}) of {}{}: block ({}), entry ({}), fields ({})",
        collection.name,
        kind(collection),
        positions.join(", "),
        condition.unwrap_or_default(),
        keys(&collection.block_key),
        keys(&collection.entry_key),
        fields.join(", ")
    )
}
