//! A design as pairs of Oracle NoSQL, and the same as tables for those who use its table API.

use crate::names::NameRule;
use askloom_model::{CollectionId, Contents, Precision, RuleStep, Type};
use askloom_plan::layout::{Column, Layout, Place, Shape, Table};
use std::fmt::Write;

/// A collection is the first component of a major key: any text, but for none.
pub(super) const COLLECTIONS: NameRule = NameRule {
    allowed: |letter| !letter.is_control(),
    first: |letter| !letter.is_control(),
    small: false,
    reserved: &[],
    longest: 256,
};

/// The words that its SQL reserves where a name can stand, and that models are likely to use.
const RESERVED: &[&str] = &[
    "all",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "between",
    "binary",
    "boolean",
    "by",
    "case",
    "create",
    "date",
    "default",
    "delete",
    "desc",
    "double",
    "drop",
    "end",
    "enum",
    "exists",
    "float",
    "from",
    "group",
    "in",
    "index",
    "insert",
    "integer",
    "into",
    "is",
    "json",
    "key",
    "limit",
    "long",
    "map",
    "not",
    "null",
    "number",
    "of",
    "offset",
    "on",
    "or",
    "order",
    "primary",
    "record",
    "select",
    "set",
    "shard",
    "string",
    "table",
    "timestamp",
    "to",
    "ttl",
    "update",
    "user",
    "using",
    "values",
    "when",
    "where",
    "with",
];

/// As its SQL has them: a letter, then letters, digits and `_`, at most 64 for a column.
pub(super) const SQL: NameRule = NameRule {
    allowed: |letter| letter.is_ascii_alphanumeric() || letter == '_',
    first: |letter| letter.is_ascii_alphabetic(),
    small: false,
    reserved: RESERVED,
    longest: 64,
};

/// A collection as pairs.
#[derive(Debug, Clone, PartialEq)]
pub struct Pairs {
    pub collection: CollectionId,
    /// The first component of its major keys.
    pub name: String,
    pub root: Root,
}

/// Where the members of an aggregate's root are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// Together in one pair under the major key alone.
    Together,
    /// Each in a pair of its own.
    Apart,
}

/// All collections, in the order of the layout's.
#[must_use]
pub fn pairs(layout: &Layout, prefix: &str) -> Vec<Pairs> {
    let wanted: Vec<String> = layout.tables().iter().map(|table| format!("{prefix}{}", table.name)).collect();
    let names = COLLECTIONS.names(wanted.iter().map(String::as_str));
    let one = |(table, name): (&Table, String)| Pairs {
        collection: table.collection,
        name,
        root: root(&layout.design.collections[table.collection].contents),
    };
    layout.tables().iter().zip(names).map(one).collect()
}

fn root(contents: &Contents) -> Root {
    let apart = |step: Option<&RuleStep>| match step {
        Some(RuleStep::AnyField { .. } | RuleStep::EachAtom) => true,
        Some(RuleStep::Field { .. }) | None => false,
    };
    match contents {
        Contents::Aggregate(rules) if rules.iter().any(|rule| apart(rule.steps.first())) => Root::Apart,
        Contents::Aggregate(_) | Contents::Fields(_) | Contents::Nested(_) => Root::Together,
    }
}

/// The same records as tables: `CREATE TABLE` for each collection, in the order of the layout's.
#[must_use]
pub fn definitions(layout: &Layout, prefix: &str) -> Vec<(String, String)> {
    let wanted: Vec<String> = layout.tables().iter().map(|table| format!("{prefix}{}", table.name)).collect();
    let names = SQL.names(wanted.iter().map(String::as_str));
    let own = layout.tables().iter().zip(names).filter(|(table, _)| layout.has_records(table.collection));
    own.map(|(table, name)| (name.clone(), definition(table, &name))).collect()
}

fn definition(table: &Table, name: &str) -> String {
    let master = matches!(table.shape, Shape::Master { .. });
    let own = ["entry", "value", "block"];
    let members = table.columns.iter().map(|column| column.name.as_str());
    let mut names = SQL.names(own.into_iter().chain(members)).into_iter();
    let (entry, value, block) = (names.next(), names.next(), names.next());
    let (entry, value, block) =
        (entry.unwrap_or_default(), value.unwrap_or_default(), block.unwrap_or_default());
    let columns: Vec<(&Column, String)> = table.columns.iter().zip(names).collect();
    let named = |wanted: &dyn Fn(&Column) -> bool| -> Vec<String> {
        columns.iter().filter(|(column, _)| wanted(column)).map(|(_, name)| name.clone()).collect()
    };
    let mut shard = named(&|column| column.place == Place::Block);
    let mut rest = named(&|column| column.is_key() && column.place != Place::Block);
    let mut text = format!("CREATE TABLE IF NOT EXISTS {name} (\n");
    if shard.is_empty() {
        let _ = writeln!(text, "  {block} INTEGER,");
        shard.push(block);
    }
    for (column, name) in columns.iter().filter(|(column, _)| column.is_key() || !master) {
        let _ = writeln!(text, "  {name} {},", sql(column));
    }
    if master {
        let _ = writeln!(text, "  {entry} STRING,\n  {value} JSON,");
        rest.push(entry);
    }
    let mut key = vec![format!("SHARD({})", shard.join(", "))];
    key.extend(rest);
    let _ = write!(text, "  PRIMARY KEY ({})\n);", key.join(", "));
    text
}

/// A key that can be null or descends is text of ordered digits: keys have a value, and ascend.
fn sql(column: &Column) -> String {
    let turned = column.is_key() && (column.optional || super::key::is_descending(column));
    let Some(ty) = column.holds.scalar().filter(|_| !turned) else {
        return if turned { "STRING".to_owned() } else { "JSON".to_owned() };
    };
    match ty {
        Type::Text | Type::Uuid | Type::Date | Type::Time => "STRING".to_owned(),
        Type::Int => "INTEGER".to_owned(),
        Type::Long => "LONG".to_owned(),
        Type::Decimal => "NUMBER".to_owned(),
        Type::Double => "DOUBLE".to_owned(),
        Type::Bool if !column.is_key() => "BOOLEAN".to_owned(),
        Type::Blob if !column.is_key() => "BINARY".to_owned(),
        Type::Geo | Type::Json if !column.is_key() => "JSON".to_owned(),
        Type::Bool | Type::Blob | Type::Geo | Type::Json => "STRING".to_owned(),
        Type::Enum(names) => format!("ENUM({})", names.join(", ")),
        Type::Timestamp(precision) => {
            let digits = match precision {
                Precision::Millis => 3,
                Precision::Micros => 6,
                Precision::Nanos => 9,
            };
            format!("TIMESTAMP({digits})")
        }
    }
}
