//! Copies that DynamoDB could keep by itself: secondary indexes.
//!
//! An index holds items of its table under another key. A copy is such a thing if it has the rows of one master and no
//! others, keyed by attributes that an item has as they are. Items without the attributes of the key are not in the
//! index, so that what can be null is only in one that leaves it out, too.

use super::schema::{DynamoTable, KeyKind, Scalar};
use crate::layout::{Column, Layout, Place, Shape, Source};
use askloom_model::{Collection, CollectionId, Conceptual, Id, Leaf, Member, Type};

/// A secondary index in place of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    /// The table that has it.
    pub table: String,
    pub name: String,
    pub partition: (String, Scalar),
    pub sort: Option<(String, Scalar)>,
    /// Whether reads go the other way round.
    pub reversed: bool,
    pub projection: Projection,
    /// Attributes that a write must not leave empty: DynamoDB refuses an empty key.
    pub filled: Vec<String>,
    /// Whether it shares the partition key of its table, and can so be read consistently.
    pub local: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Projection {
    Keys,
    Include(Vec<String>),
}

/// The index that could stand in for a copy. Nothing if none could.
#[must_use]
pub fn index(layout: &Layout<'_>, tables: &[DynamoTable], copy: CollectionId) -> Option<Index> {
    let collection = &layout.design.collections[copy];
    let own = layout.table(copy)?;
    let rows = matches!(own.shape, Shape::Rows(_)) && collection.source.positions.len() == 1;
    if !rows || collection.source.condition.is_some() {
        return None;
    }
    let master = tables.get(layout.design.master(collection.source.root)?.index())?;
    let of = |column: &Column| attribute(layout.conceptual, master, column);
    let at = |wanted: fn(Place) -> bool| -> Vec<&Column> {
        own.columns.iter().filter(|column| wanted(column.place)).collect()
    };
    let block = at(|place| place == Place::Block);
    let sorts = at(|place| matches!(place, Place::Sort { .. }));
    let ([partition], [] | [_]) = (block.as_slice(), sorts.as_slice()) else { return None };
    if sparse(collection, partition) || sorts.iter().any(|column| column.optional) {
        return None;
    }
    let partition_key = (of(partition)?, key_type(partition, false)?);
    let sort = match sorts.first() {
        Some(column) => Some((of(column)?, key_type(column, true)?)),
        None => None,
    };
    let held: Vec<String> = own.values().map(of).collect::<Option<_>>()?;
    let texts = [Some(*partition), sorts.first().copied()].into_iter().flatten();
    let texts = texts.filter(|column| column.holds.scalar() == Some(&Type::Text));
    Some(Index {
        table: master.name.clone(),
        name: tables.get(copy.index())?.name.clone(),
        local: partition_key.0 == master.partition.name && master.sort.is_some(),
        reversed: sorts.iter().any(|column| matches!(column.place, Place::Sort { descending: true })),
        filled: texts.filter_map(of).collect(),
        partition: partition_key,
        sort,
        projection: if held.is_empty() { Projection::Keys } else { Projection::Include(held) },
    })
}

/// Whether the copy has rows that the index has not.
fn sparse(collection: &Collection, partition: &Column) -> bool {
    partition.optional && collection.indexed().is_none()
}

/// The attribute of a master's items that a column of a copy is.
fn attribute(conceptual: &Conceptual, master: &DynamoTable, column: &Column) -> Option<String> {
    let wanted = match &column.source {
        Source::Position { part, .. } => {
            let plain = matches!(master.partition.kind, KeyKind::Plain(_)) && *part == Some(0);
            return plain.then(|| master.partition.name.clone());
        }
        Source::Path { path, .. } if path.hops.is_empty() => match path.leaf {
            Leaf::Attribute(id) if !conceptual.attributes[id].list => Member::Attribute(id),
            Leaf::Reference(id) if !conceptual.ends[id].cardinality.is_many() => Member::End(id),
            Leaf::Attribute(_) | Leaf::Reference(_) | Leaf::Itself => return None,
        },
        Source::Path { .. } | Source::Node | Source::Whole(_) | Source::Member(_) => return None,
    };
    let own = |own: &&super::schema::Attribute| {
        own.of.source == Source::Member(wanted) && own.of.holds == column.holds
    };
    master.attributes.iter().find(own).map(|own| own.name.clone())
}

/// The type of an attribute as a key. Nothing if it cannot be one, or would sort another way.
fn key_type(column: &Column, sorts: bool) -> Option<Scalar> {
    match column.holds.scalar()? {
        Type::Text | Type::Uuid => Some(Scalar::S),
        Type::Enum(_) | Type::Date | Type::Time if !sorts => Some(Scalar::S),
        Type::Int | Type::Long | Type::Decimal | Type::Timestamp(_) => Some(Scalar::N),
        Type::Enum(_)
        | Type::Date
        | Type::Time
        | Type::Bool
        | Type::Double
        | Type::Blob
        | Type::Geo
        | Type::Json => None,
    }
}

impl Index {
    /// What could be done, for people.
    #[must_use]
    pub fn sentence(&self) -> String {
        let kind = if self.local { "a local" } else { "a global" };
        let sort = self.sort.as_ref().map_or_else(String::new, |(name, _)| format!(", SK `{name}`"));
        let holds = match &self.projection {
            Projection::Keys => "KEYS_ONLY".to_owned(),
            Projection::Include(names) => format!("INCLUDE {}", names.join(", ")),
        };
        let lag = if self.local { "" } else { "; it lags behind its table" };
        format!(
            "{} could be {kind} secondary index of {}: PK `{}`{sort}, {holds}{lag}",
            self.name, self.table, self.partition.0
        )
    }
}
