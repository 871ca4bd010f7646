//! Copies that Cassandra keeps by itself: storage-attached indexes of the columns of a master.
//!
//! Such an index has no rows of its own. Its columns are those of the master, kept as they are kept there, and who reads
//! by it finds the master's rows. What was deleted has no value but its id, and no class.

use super::capability::CAPABILITY;
use super::read::{Bound, Condition, Select};
use super::schema::{CqlColumn, CqlTable};
use askloom_model::{CollectionId, Value};
use askloom_plan::layout::{Column, Layout, Place, Source};
use askloom_plan::program::{How, Read, Term};

/// What an index is of.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexOf {
    pub host: CollectionId,
    /// Its own name: that of the table is the master's.
    pub name: String,
    pub column: String,
}

/// Makes indexes of the tables that the store is to keep.
pub(super) fn link(layout: &Layout, all: &mut [CqlTable]) {
    layout.link(&CAPABILITY, all, |_, host, own| index(host, own));
}

fn index(host: &CqlTable, own: &CqlTable) -> Option<CqlTable> {
    let column = |column: &CqlColumn| {
        let stored = host.columns.iter().find(|stored| stored.of.keeps(&column.of))?;
        let of = Column { place: column.place, optional: column.of.optional, ..stored.of.clone() };
        Some(CqlColumn { place: column.place, of, ..stored.clone() })
    };
    let columns: Vec<CqlColumn> = own.columns.iter().map(column).collect::<Option<_>>()?;
    let key = columns.iter().find(|column| matches!(column.place, Place::Block | Place::Sort { .. }))?;
    let index = IndexOf { host: host.collection, name: own.name.clone(), column: key.name.clone() };
    Some(CqlTable {
        collection: own.collection,
        name: host.name.clone(),
        columns,
        system: None,
        constant: None,
        index: Some(index),
        shared: None,
    })
}

/// The columns that are read of the rows that an index leads to: all, or where some members are enough, those. They are
/// the same for all rows of an aggregate, or in its first row alone, so that one row of each is enough. Rows of what was deleted are told by their
/// class.
pub(super) fn columns(host: &CqlTable, index: &IndexOf, read: &Read) -> Option<Vec<String>> {
    let system = host.system.as_ref()?;
    let members = read.members.as_ref()?;
    let of = |member| host.columns.iter().find(|column| column.of.source == Source::Member(member));
    let single = |member| of(member).is_none_or(|column| column.of.holds.scalar().is_some());
    if system.entry.is_some() && !members.iter().copied().all(single) {
        return None;
    }
    let wanted = |column: &&CqlColumn| match column.of.source {
        Source::Member(member) => members.contains(&member) || column.name == index.column,
        Source::Position { .. } | Source::Path { .. } | Source::Node | Source::Whole(_) => true,
    };
    let own = host.columns.iter().filter(|column| column.of.is_key() || wanted(column));
    Some(own.map(|column| column.name.clone()).chain([system.class.clone()]).collect())
}

/// Null equals nothing and is in no range, and an index is not asked for it.
pub(super) fn asks_for_null(read: &Read) -> bool {
    let null = |term: &Term| term.value == Some(Value::Null);
    match &read.how {
        How::All => false,
        How::Block(terms) | How::Record(terms) => terms.iter().any(null),
        How::Range(range) => {
            let sides = range.bounds.iter().flat_map(|bounds| [&bounds.low, &bounds.high]).flatten();
            let bounds = range.bounds.iter().filter_map(|bounds| bounds.prefix.as_ref());
            let sides = sides.map(|(term, _)| term).chain(bounds);
            range.block.iter().chain(&range.equal).chain(sides).any(null)
        }
    }
}

/// Finds nothing, as it asks for no partition.
pub(super) fn nothing(host: &CqlTable, select: &mut Select) {
    let none = |name: &str| Condition { column: name.to_owned(), operator: "IN", bound: Bound::Nothing };
    select.conditions = host.partition().into_iter().map(none).collect();
}
