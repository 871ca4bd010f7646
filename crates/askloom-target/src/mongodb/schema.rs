//! A design as collections of MongoDB.
//!
//! An aggregate is one document, with all its parts in their nesting; `_id` is its id, or a document of the id's parts.
//! A row of a copy is one document whose `_id` has a field for each component of the key, which an index on these fields
//! sorts. A key of one component is `_id` itself. A copy that MongoDB keeps is an index of the aggregates.
//!
//! | what | is kept as |
//! | --- | --- |
//! | a uuid or a blob that sorts | text, hexadecimal digits: BinData sorts by length first |
//! | an enum | its name; where it sorts, its number, so that it sorts as declared |
//! | a place or JSON in a key | hexadecimal digits of ordered bytes: neither may be a list |
//! | a key that can be null | null, which is the first there, too |
//! | a date | midnight UTC |
//! | a time | text |
//! | `timestamp(6)`, `timestamp(9)` | a long of micro- or nanoseconds; before 1678 and after 2261 a decimal |
//! | a list | an array in which an element's place is its ordinal, null where one was removed; if most would be null, a document with the ordinals as names. `'rounds.7'` is the same element in both |
//! | an id of several parts | a document of its parts, as in `_id` |
//! | an empty list of an aggregate | an empty array, so that an element can be set by its place |
//! | anything else that is null | nothing |

use super::bson::{Bson, Document};
use super::index::{self, IndexOf};
use super::names::{COLLECTIONS, FIELDS};
use crate::generate::Options;
use askloom_model::{CollectionId, Precision, Type};
use askloom_plan::layout::{Column, Holds, Layout, Place, Shape, Table};
use askloom_plan::tree::TreeOf;

/// The most fields that an index may have.
const INDEX_FIELDS: usize = 32;

/// What every master has beside its members: the version, the rest of the system's part, the class.
const SYSTEM: [&str; 3] = ["n", "system", "class"];

/// What those have besides that expire.
const EXPIRES: &str = "expires";

/// A collection, with the columns of the layout in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct MongoCollection {
    pub collection: CollectionId,
    pub name: String,
    pub fields: Vec<MongoField>,
    /// The fields of a master that are no members.
    pub system: Option<System>,
    /// As the papers print it: no version, references as `Class:id`, entries of their own as fields of their own.
    pub faithful: bool,
    /// Of a copy that MongoDB keeps: it has no documents, but is an index of those of a master.
    pub index: Option<IndexOf>,
}

/// The names of the fields that are no members.
#[derive(Debug, Clone, PartialEq)]
pub struct System {
    pub version: String,
    pub rest: String,
    pub class: String,
    /// Where aggregates expire: when, as a Date, which an index on it goes by.
    pub expires: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct MongoField {
    /// In the document, or of a key in `_id`.
    pub name: String,
    /// Where it is, as conditions and updates name it.
    pub path: String,
    pub kind: Kind,
    pub place: Place,
    pub of: Column,
}

/// How values of a field are kept.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    Plain(Type),
    /// A uuid as text.
    Letters,
    /// Bytes as hexadecimal digits.
    Digits,
    /// Hexadecimal digits of ordered bytes.
    Ordered,
    /// The place of an enum's value among the declared ones.
    Number,
    Nested {
        of: TreeOf,
        many: bool,
    },
}

/// All collections, in the order of the layout's tables.
#[must_use]
pub fn collections(layout: &Layout, options: &Options) -> Vec<MongoCollection> {
    let wanted: Vec<String> =
        layout.tables().iter().map(|table| format!("{}{}", options.prefix, table.name)).collect();
    let names = COLLECTIONS.names(wanted.iter().map(String::as_str));
    let own = layout.tables().iter().zip(names);
    let mut all = own
        .map(|(table, name)| one(table, name, layout.expires(table), options.faithful))
        .collect::<Vec<_>>();
    index::link(layout, &mut all);
    all
}

fn one(table: &Table, name: String, expires: bool, faithful: bool) -> MongoCollection {
    let master = matches!(table.shape, Shape::Master { .. });
    let named = |key: bool| {
        let columns = table.columns.iter().filter(move |column| column.is_key() == key);
        columns.map(|column| column.name.as_str())
    };
    let mut keys = FIELDS.names(named(true)).into_iter();
    let mut system: Vec<&str> = if master && !faithful { SYSTEM.to_vec() } else { Vec::new() };
    system.extend((expires && !faithful).then_some(EXPIRES));
    // The papers repeat the id beside `_id`.
    let beside: Vec<&str> = if faithful { named(true).collect() } else { Vec::new() };
    let own = system.iter().copied().chain(beside.iter().copied());
    let mut members = FIELDS.names(own.chain(named(false))).into_iter();
    let system = match (members.by_ref().take(system.len()).collect::<Vec<_>>().as_slice(), faithful) {
        ([version, rest, class, more @ ..], false) => Some(System {
            version: version.clone(),
            rest: rest.clone(),
            class: class.clone(),
            expires: more.first().cloned(),
        }),
        (_, _) => None,
    };
    let mut members = members.skip(beside.len());
    let lone = named(true).count() == 1;
    let field = |column: &Column| {
        let name = if column.is_key() { keys.next() } else { members.next() };
        let name = name.unwrap_or_default();
        let path = match (column.is_key(), lone) {
            (true, true) => "_id".to_owned(),
            (true, false) => format!("_id.{name}"),
            (false, _) => name.clone(),
        };
        MongoField { name, path, kind: kind(column), place: column.place, of: column.clone() }
    };
    let fields = table.columns.iter().map(field).collect();
    let faithful = faithful && master;
    MongoCollection { collection: table.collection, name, fields, system, faithful, index: None }
}

fn kind(column: &Column) -> Kind {
    let sorts = matches!(column.place, Place::Sort { .. } | Place::Row);
    match (&column.holds, column.holds.scalar()) {
        (Holds::Tree { of, many }, _) => Kind::Nested { of: of.clone(), many: *many },
        (_, Some(Type::Geo | Type::Json)) if column.is_key() => Kind::Ordered,
        (_, Some(Type::Uuid)) if sorts => Kind::Letters,
        (_, Some(Type::Blob)) if sorts => Kind::Digits,
        (_, Some(Type::Enum(_))) if sorts => Kind::Number,
        (_, Some(ty)) => Kind::Plain(ty.clone()),
        (_, None) => Kind::Plain(Type::Text),
    }
}

impl MongoField {
    #[must_use]
    pub fn is_key(&self) -> bool {
        self.of.is_key()
    }
}

impl MongoCollection {
    /// Whether the documents are aggregates.
    #[must_use]
    pub fn is_master(&self) -> bool {
        self.index.is_none() && (self.system.is_some() || self.faithful)
    }

    /// The fields of `_id`, in their order there.
    pub fn keys(&self) -> impl Iterator<Item = &MongoField> {
        self.fields.iter().filter(|field| field.is_key())
    }

    /// Whether `_id` is the only component of the key, and no document.
    #[must_use]
    pub fn is_lone(&self) -> bool {
        self.keys().count() == 1
    }

    /// The fields that sort the documents of a block, and whether each descends.
    #[must_use]
    pub fn order(&self) -> Vec<(String, bool)> {
        let directed = |field: &MongoField| match field.place {
            Place::Sort { descending } => Some((field.path.clone(), descending)),
            Place::Row => Some((field.path.clone(), false)),
            Place::Block | Place::Value => None,
        };
        self.fields.iter().filter_map(directed).collect()
    }

    /// The fields of the index that finds blocks and sorts them. None where `_id` does both.
    #[must_use]
    pub fn index(&self) -> Option<Document> {
        let order = self.order();
        if self.index.is_none() && (self.is_lone() || order.is_empty()) {
            return None;
        }
        let block = self.fields.iter().filter(|field| field.place == Place::Block);
        let block = block.map(|field| (field.path.clone(), false));
        let one = |(path, descending): (String, bool)| (path, Bson::Int(if descending { -1 } else { 1 }));
        Some(block.chain(order).map(one).take(INDEX_FIELDS).collect())
    }

    /// What the store checks of every document.
    #[must_use]
    pub fn validator(&self) -> Option<Document> {
        if self.faithful {
            return None;
        }
        let text = Bson::text;
        let of = |field: &MongoField| (field.name.clone(), Bson::Document(field.schema()));
        let mut required = vec![text("_id")];
        let mut properties = vec![("_id".to_owned(), Bson::Document(self.id_schema()))];
        if let Some(system) = &self.system {
            required.push(text(&system.version));
            let own = [(&system.version, "long"), (&system.rest, "binData"), (&system.class, "string")];
            let expires = system.expires.iter().map(|name| (name, "date"));
            for (name, ty) in own.into_iter().chain(expires) {
                properties.push((name.clone(), Bson::Document(vec![("bsonType".to_owned(), text(ty))])));
            }
        }
        properties.extend(self.fields.iter().filter(|field| !field.is_key()).map(of));
        let schema = object(required, properties);
        Some(vec![("$jsonSchema".to_owned(), Bson::Document(schema))])
    }

    fn id_schema(&self) -> Document {
        if let (true, Some(only)) = (self.is_lone(), self.keys().next()) {
            return only.schema();
        }
        let names = self.keys().map(|field| Bson::text(&field.name)).collect();
        let properties =
            self.keys().map(|field| (field.name.clone(), Bson::Document(field.schema()))).collect();
        object(names, properties)
    }
}

fn object(required: Vec<Bson>, properties: Document) -> Document {
    let mut schema = vec![("bsonType".to_owned(), Bson::text("object"))];
    if !required.is_empty() {
        schema.push(("required".to_owned(), Bson::Array(required)));
    }
    schema.push(("properties".to_owned(), Bson::Document(properties)));
    schema
}

impl MongoField {
    fn schema(&self) -> Document {
        let nullable = self.is_key() && self.of.optional;
        if let Kind::Plain(Type::Enum(names)) = &self.kind {
            let mut names: Vec<Bson> = names.iter().map(|name| Bson::text(name)).collect();
            names.extend(nullable.then_some(Bson::Null));
            return vec![("enum".to_owned(), Bson::Array(names))];
        }
        let mut types: Vec<Bson> = self.kind.types().iter().map(|ty| Bson::text(ty)).collect();
        if types.is_empty() {
            return Vec::new();
        }
        types.extend(nullable.then(|| Bson::text("null")));
        let types = match (types.pop(), types.is_empty()) {
            (Some(only), true) => only,
            (last, _) => Bson::Array(types.into_iter().chain(last).collect()),
        };
        vec![("bsonType".to_owned(), types)]
    }
}

impl Kind {
    /// The names of its types. None if it can be anything.
    #[must_use]
    pub fn types(&self) -> &'static [&'static str] {
        match self {
            Self::Plain(ty) => plain(ty),
            Self::Letters | Self::Digits | Self::Ordered => &["string"],
            Self::Number => &["int"],
            Self::Nested { of: TreeOf::Identity(_), many: true } => &["array"],
            Self::Nested { many: true, .. } => &["array", "object"],
            Self::Nested { of: TreeOf::Basic(ty), many: false } => plain(ty),
            Self::Nested { of: TreeOf::Identity(_) | TreeOf::Instance(_), many: false } => &["object"],
        }
    }
}

fn plain(ty: &Type) -> &'static [&'static str] {
    match ty {
        Type::Text | Type::Enum(_) | Type::Time => &["string"],
        Type::Int => &["int"],
        Type::Long | Type::Timestamp(Precision::Micros) => &["long"],
        Type::Timestamp(Precision::Nanos) => &["long", "decimal"],
        Type::Decimal => &["decimal"],
        Type::Double => &["double"],
        Type::Bool => &["bool"],
        Type::Date | Type::Timestamp(Precision::Millis) => &["date"],
        Type::Uuid | Type::Blob => &["binData"],
        Type::Geo => &["object"],
        Type::Json => &[],
    }
}
