//! Copies that DynamoDB keeps by itself: secondary indexes.
//!
//! An index holds items of its table under another key. Where the attributes of its key are members as they are, they
//! are just that. Where not (a key of several columns, what can be null, rows on a condition) an item has attributes for
//! the index alone, which its writes set with the rest: an item without them is not in the index.
//!
//! An index of a master's table is global. One that has the rows of another copy in another order is local to the
//! partitions of that one's table.

use super::key::Order;
use super::schema::{Attribute, DynamoTable, Key, KeyKind};
use super::shared_table::{group, has_attribute};
use askloom_model::{Collection, CollectionId, Id, Keeper, Leaf, Member, Type};
use askloom_plan::layout::{Column, Layout, Source};
use askloom_plan::program::Term;

/// What an index is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexOf {
    pub host: CollectionId,
    /// The table that has it.
    pub table: String,
    /// Which attributes are in an item for the index alone.
    pub own: Vec<Own>,
    /// Whether it is local to partitions, and can so be read consistently.
    pub local: bool,
}

/// What an attribute that is there for an index holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Own {
    Partition,
    Sort,
    /// A column.
    Value(usize),
}

/// What an index holds beside the keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Projection {
    Keys,
    Include(Vec<String>),
    All,
}

/// DynamoDB Developer Guide, "Constraints": attributes that one index may include by their names.
const INCLUDED: usize = 20;

/// Makes indexes of the tables that the store is to keep.
pub(super) fn link(layout: &Layout, tables: &mut [DynamoTable]) {
    let kept = layout.design.collections.iter();
    let kept: Vec<CollectionId> =
        kept.filter(|(_, copy)| copy.keeper == Keeper::Store).map(|(id, _)| id).collect();
    let mut taken: Vec<Taken> = Vec::new();
    for &id in &kept {
        keys(layout, tables, id, &mut taken);
    }
    for &id in &kept {
        values(tables, id, &mut taken);
    }
}

/// The name of an attribute for indexes, and what it holds: the same is there once.
struct Taken {
    host: CollectionId,
    name: String,
    /// The index, if it has a condition; the columns; whether they sort.
    holds: (Option<CollectionId>, Vec<Source>, KeyKind, Order),
}

fn keys(layout: &Layout, tables: &mut [DynamoTable], id: CollectionId, taken: &mut Vec<Taken>) {
    let collection = &layout.design.collections[id];
    let Some(host) = layout.design.host(id) else { return };
    let (Some(table), Some(of)) = (tables.get(id.index()), tables.get(host.index())) else { return };
    let natural: Vec<Option<usize>> = table.keys().map(|key| natural(table, of, key)).collect();
    // An item that is not to be in the index lacks something of its key.
    let leaves =
        |at: &Option<usize>| at.is_some_and(|at| of.attributes.get(at).is_some_and(|own| !own.in_key));
    let local = of.system.is_none();
    let apart = (collection.source.condition.is_some() && !local) || !natural.iter().any(leaves);
    let last = natural.len().saturating_sub(1);
    let mut named = Vec::new();
    let mut own = Vec::new();
    for (at, (key, natural)) in table.keys().zip(natural).enumerate() {
        if local && at == 0 {
            named.push((of.partition.name.clone(), None));
            continue;
        }
        let natural = natural.filter(|_| !(apart && at == last));
        if let Some(attribute) = natural.and_then(|natural| of.attributes.get(natural)) {
            named.push((attribute.name.clone(), natural));
            continue;
        }
        own.push(if at == 0 { Own::Partition } else { Own::Sort });
        let columns = key.columns.iter().filter_map(|&column| table.attributes.get(column));
        let holds = (
            collection.source.condition.as_ref().filter(|_| !local).map(|_| id),
            columns.map(|column| column.of.source.clone()).collect(),
            key.kind,
            key.order,
        );
        named.push((name(tables, host, collection, &key.name, holds, taken), None));
    }
    let (name, partition) = (of.name.clone(), of.partition.name.clone());
    let Some(table) = tables.get_mut(id.index()) else { return };
    table.index = Some(IndexOf { host, table: name, own, local });
    let mut names = named.iter().map(|(name, _)| name.clone());
    table.partition.name = names.next().unwrap_or(partition);
    if let Some(sort) = &mut table.sort {
        sort.name = names.next().unwrap_or_default();
    }
    let Some(of) = tables.get_mut(host.index()) else { return };
    for natural in named.into_iter().filter_map(|(_, natural)| natural) {
        if let Some(attribute) = of.attributes.get_mut(natural).filter(|own| !own.in_key) {
            attribute.filled = true;
        }
    }
}

/// A name that no other attribute of the host has, unless it holds the same.
fn name(
    tables: &[DynamoTable],
    id: CollectionId,
    collection: &Collection,
    wanted: &str,
    holds: (Option<CollectionId>, Vec<Source>, KeyKind, Order),
    taken: &mut Vec<Taken>,
) -> String {
    let mut name = match holds.0 {
        Some(_) => format!("{}#{wanted}", collection.name),
        None => wanted.to_owned(),
    };
    loop {
        let other = taken.iter().find(|other| is_one(tables, other.host, id) && other.name == name);
        match other {
            Some(other) if other.host == id && other.holds == holds => return name,
            None if !has_attribute(tables, id, &name) => {
                taken.push(Taken { host: id, name: name.clone(), holds });
                return name;
            }
            Some(_) | None => name.push('#'),
        }
    }
}

/// Whether two masters are in one table.
fn is_one(tables: &[DynamoTable], one: CollectionId, other: CollectionId) -> bool {
    group(tables, one).any(|table| table.collection == other)
}

/// The attribute of the host that a key of one column is, as it stands.
fn natural(table: &DynamoTable, host: &DynamoTable, key: &Key) -> Option<usize> {
    let (KeyKind::Plain(_), [column]) = (key.kind, key.columns.as_slice()) else { return None };
    let column = &table.attributes.get(*column)?.of;
    let same = match column.holds.scalar()? {
        Type::Text | Type::Uuid | Type::Int | Type::Long | Type::Decimal | Type::Timestamp(_) => true,
        Type::Enum(_) => key.order == Order::Free,
        Type::Date | Type::Time | Type::Bool | Type::Double | Type::Blob | Type::Geo | Type::Json => false,
    };
    let at = same.then(|| member(host, column)).flatten()?;
    let attribute = host.attributes.get(at)?;
    let alone = host.keys().any(|key| key.columns == [at] && matches!(key.kind, KeyKind::Plain(_)));
    (!attribute.in_key || alone).then_some(at)
}

/// The column of the host that a column of the copy is.
fn member(host: &DynamoTable, column: &Column) -> Option<usize> {
    if host.system.is_none() {
        let same = |own: &Attribute| own.of.source == column.source && own.of.holds == column.holds;
        return host.attributes.iter().position(same);
    }
    let is = |own: &Attribute| match &column.source {
        Source::Position { part, .. } => {
            matches!(&own.of.source, Source::Position { part: own, .. } if own == part)
        }
        Source::Path { path, .. } => match path.leaf {
            Leaf::Attribute(id) => own.of.source == Source::Member(Member::Attribute(id)),
            Leaf::Reference(id) => own.of.source == Source::Member(Member::End(id)),
            Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => false,
        },
        Source::Node | Source::Whole(_) | Source::Member(_) => false,
    };
    host.attributes.iter().position(|own| is(own) && own.of.holds == column.holds)
}

fn values(tables: &mut [DynamoTable], id: CollectionId, taken: &mut Vec<Taken>) {
    let Some(host) = tables.get(id.index()).and_then(|table| table.index.as_ref()).map(|index| index.host)
    else {
        return;
    };
    let (Some(table), Some(of)) = (tables.get(id.index()), tables.get(host.index())) else { return };
    let mut names = Vec::new();
    for (at, attribute) in table.outside() {
        match member(of, &attribute.of).and_then(|at| of.attributes.get(at)).filter(|own| !own.in_key) {
            Some(own) => names.push((at, own.name.clone(), own.filled, false)),
            None => {
                let mut name = attribute.name.clone();
                let is_taken =
                    |other: &Taken, name: &str| is_one(tables, other.host, host) && other.name == name;
                while has_attribute(tables, host, &name) || taken.iter().any(|other| is_taken(other, &name)) {
                    name.push('#');
                }
                let holds = (Some(id), vec![attribute.of.source.clone()], KeyKind::Constant, Order::Free);
                taken.push(Taken { host, name: name.clone(), holds });
                names.push((at, name, false, true));
            }
        }
    }
    let Some(table) = tables.get_mut(id.index()) else { return };
    for (at, name, filled, own) in names {
        if let Some(attribute) = table.attributes.get_mut(at) {
            attribute.name = name;
            attribute.filled = filled;
        }
        if let Some(index) = table.index.as_mut().filter(|_| own) {
            index.own.push(Own::Value(at));
        }
    }
}

impl DynamoTable {
    /// What an index of the store's own holds beside the keys.
    #[must_use]
    pub fn projection(&self) -> Projection {
        let held: Vec<String> = self.outside().map(|(_, attribute)| attribute.name.clone()).collect();
        match held.len() {
            0 => Projection::Keys,
            1..=INCLUDED => Projection::Include(held),
            _more => Projection::All,
        }
    }

    /// The key of an item of the host by the columns of a row: those that identify it.
    pub(super) fn host_terms(&self, host: &Self, terms: &[Term]) -> Vec<Term> {
        let own = terms.iter().filter_map(|term| {
            let column = &self.attributes.get(term.column?)?.of;
            let part = |own: &Attribute| match (&own.of.source, &column.source) {
                (
                    Source::Position { position: own, part: a },
                    Source::Position { position: other, part: b },
                ) => own == other && a == b,
                (_, _) => false,
            };
            let at = host.attributes.iter().position(part)?;
            Some(Term { column: Some(at), ..term.clone() })
        });
        own.collect()
    }

    /// Whether a row of this index and one of its host are the same: they have the same identity.
    pub(super) fn is_same_row(&self, host: &Self, cells: &[Term], of: &[Term]) -> bool {
        let identity = self.host_terms(host, cells);
        identity.iter().all(|term| {
            let other = of.iter().find(|other| other.column == term.column);
            other.is_some_and(|other| (&other.name, &other.value) == (&term.name, &term.value))
        })
    }

    /// The keys that are in an item for this index alone.
    pub(super) fn own_keys(&self) -> impl Iterator<Item = &Key> {
        let own = self.index.iter().flat_map(|index| &index.own);
        own.filter_map(|own| match own {
            Own::Partition => Some(&self.partition),
            Own::Sort => self.sort.as_ref(),
            Own::Value(_) => None,
        })
    }

    /// The columns that are in an item for this index alone.
    pub(super) fn own_values(&self) -> impl Iterator<Item = (usize, &Attribute)> {
        let own = self.index.iter().flat_map(|index| &index.own);
        own.filter_map(|own| match own {
            Own::Value(at) => Some((*at, self.attributes.get(*at)?)),
            Own::Partition | Own::Sort => None,
        })
    }
}
