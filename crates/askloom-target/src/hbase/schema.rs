//! A design as tables of HBase.
//!
//! | what | is kept as |
//! | --- | --- |
//! | a collection | a table with the family `d`; a master has `i` beside it |
//! | an aggregate | one row: its id is the key, a column in `d` for each member and, by its access path, for each entry of its own |
//! | what the system keeps | `i:n` the version, `i:system` the rest, `i:class` the class: not there once the aggregate is deleted |
//! | a record of a copy | one row: block key and entry key are the row key, the rest are columns in `d` |
//!
//! A cell has the version of the aggregate as its timestamp, so that of two writers the later wins whatever order they
//! arrive in. A row is there only as long as it has a cell: where every value of a copy can be null, `d:_` keeps it.

use crate::names::NameRule;
use askloom_model::CollectionId;
use askloom_plan::layout::{Column, Layout, Shape, Table};

/// `create` refuses other letters, and ZooKeeper keeps one name for itself. A name is that of a folder, too.
pub(super) const TABLES: NameRule = NameRule {
    allowed: |letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.'),
    first: |letter| letter.is_ascii_alphanumeric() || letter == '_',
    small: false,
    reserved: &["zookeeper"],
    longest: 200,
};

/// A qualifier can be any bytes. A colon would end the family for some tools.
const COLUMNS: NameRule = NameRule {
    allowed: |letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.'),
    first: |letter| letter.is_ascii_alphanumeric() || letter == '_',
    small: false,
    reserved: &["_"],
    longest: 1000,
};

/// A member's name has no dot: that is how entries of their own are told from members.
const MEMBERS: NameRule =
    NameRule { allowed: |letter| letter.is_ascii_alphanumeric() || letter == '_', ..COLUMNS };

/// What is always there where nothing else might be.
pub(super) const MARKER: &str = "d:_";
pub(super) const VERSION: &str = "i:n";
pub(super) const SYSTEM: &str = "i:system";
pub(super) const CLASS: &str = "i:class";
/// The family of the data.
pub(super) const DATA: &str = "d";

/// A table, with the columns of the layout in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct HTable {
    pub collection: CollectionId,
    pub name: String,
    pub columns: Vec<HColumn>,
    /// An aggregate is a row.
    pub master: bool,
    /// Whether rows need a cell that is always there.
    pub marked: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct HColumn {
    /// With its family: `d:status`. A column of the key has no cell.
    pub name: String,
    pub of: Column,
}

/// All tables, in the order of the layout's.
#[must_use]
pub fn tables(layout: &Layout, prefix: &str) -> Vec<HTable> {
    let wanted: Vec<String> = layout.tables().iter().map(|table| format!("{prefix}{}", table.name)).collect();
    let names = TABLES.names(wanted.iter().map(String::as_str));
    layout.tables().iter().zip(names).map(|(table, name)| named(table, name)).collect()
}

pub(super) fn named(table: &Table, name: String) -> HTable {
    let master = matches!(table.shape, Shape::Master { .. });
    let rule = if master { MEMBERS } else { COLUMNS };
    let names = rule.names(table.columns.iter().map(|column| column.name.as_str()));
    let columns = table.columns.iter().zip(names);
    let columns =
        columns.map(|(column, name)| HColumn { name: format!("{DATA}:{name}"), of: column.clone() });
    HTable {
        collection: table.collection,
        name,
        columns: columns.collect(),
        master,
        marked: !master && table.values().all(|column| column.optional),
    }
}
