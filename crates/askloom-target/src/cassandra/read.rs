//! Reads as SELECT.

use super::index::{self, IndexOf};
use super::schema::{CqlColumn, CqlTable, Kind, System};
use super::value::{Cql, bytes_after, ordered, value};
use askloom_model::{Id, Value};
use askloom_plan::layout::Layout;
use askloom_plan::program::{Bounds, How, Range, Read, Term, text_after};

/// A SELECT, as data.
#[derive(Debug, Clone, PartialEq)]
pub struct Select {
    pub table: String,
    pub columns: Vec<String>,
    pub conditions: Vec<Condition>,
    /// The clustering columns, each turned round. Empty: as they cluster.
    pub backwards: Vec<(String, bool)>,
    pub limit: Option<Bound>,
    /// Masters are read behind every write that has been accepted.
    pub serial: bool,
    /// One row of each partition, with what all of its rows have.
    pub distinct: bool,
    /// Whether Cassandra reads rows that it leaves out.
    pub filtering: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    pub column: String,
    pub operator: &'static str,
    pub bound: Bound,
}

/// A value, or a slot until it is known.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    Slot(String),
    Value(Cql),
    /// No value at all, of an IN.
    Nothing,
}

/// The SELECT of a read.
#[must_use]
pub fn select(layout: &Layout, tables: &[CqlTable], read: &Read) -> Option<Select> {
    let table = tables.get(read.table.index())?;
    let index = table.index.as_ref();
    let host = index.and_then(|index| Some((tables.get(index.host.index())?, index)));
    let some = host.and_then(|(host, index)| index::columns(host, index, read));
    let spread = host.is_some_and(|(host, _)| host.system.as_ref().is_some_and(System::is_static));
    let mut select = Select {
        table: table.name.clone(),
        distinct: spread && some.is_some(),
        columns: some.unwrap_or_else(|| columns(host.map_or(table, |(host, _)| host))),
        conditions: Vec::new(),
        backwards: Vec::new(),
        limit: None,
        serial: table.system.is_some(),
        filtering: false,
    };
    match &read.how {
        How::All => {}
        How::Block(terms) => {
            start(table, &mut select);
            equal(layout, table, terms, &mut select);
        }
        How::Record(terms) => {
            start(table, &mut select);
            equal(layout, table, terms, &mut select);
        }
        How::Range(range) => self::range(layout, table, range, &mut select),
    }
    if let Some((host, _)) = host.filter(|_| index::asks_for_null(read)) {
        index::nothing(host, &mut select);
    }
    // A full read asks every node; at SERIAL that is refused.
    select.serial &= !select.conditions.is_empty();
    of_class(host.map_or(table, |(host, _)| host), index, &mut select);
    Some(select)
}

/// Leaves the rows of one class, where several share the table. Member columns of other classes are null there, so that
/// an index of a member finds its own class alone.
fn of_class(table: &CqlTable, index: Option<&IndexOf>, select: &mut Select) {
    let is_key = |name: &str| table.names_aggregate(name);
    match index {
        Some(index) if !is_key(&index.column) => {}
        None if !select.conditions.is_empty() => table.of_class(false, &mut select.conditions),
        Some(_) | None => {
            let condition = table.is_of_class();
            select.filtering |= condition.is_some();
            select.conditions.extend(condition);
        }
    }
}

fn columns(table: &CqlTable) -> Vec<String> {
    let mut names: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
    if let Some(system) = &table.system {
        names.extend([system.version.clone(), system.rest.clone(), system.class.clone()]);
        if let Some((entry, value)) = &system.entry {
            names.extend([entry.clone(), value.clone()]);
        }
    }
    names
}

fn start(table: &CqlTable, select: &mut Select) {
    if let Some(constant) = &table.constant {
        let bound = Bound::Value(Cql::Int(0));
        select.conditions.push(Condition { column: constant.clone(), operator: "=", bound });
    }
}

fn equal(layout: &Layout, table: &CqlTable, terms: &[Term], select: &mut Select) {
    for term in terms {
        let Some(column) = column(table, term) else { continue };
        let bound = bound(layout, column, term);
        select.conditions.push(Condition { column: column.name.clone(), operator: "=", bound });
    }
}

fn range(layout: &Layout, table: &CqlTable, range: &Range, select: &mut Select) {
    start(table, select);
    equal(layout, table, &range.block, select);
    equal(layout, table, &range.equal, select);
    if let Some(bounds) = &range.bounds {
        self::bounds(layout, table, bounds, select);
    }
    if range.backwards {
        let turned = table.clustering().into_iter().map(|(name, descending)| (name.to_owned(), !descending));
        select.backwards = turned.collect();
    }
    select.limit = range.limit.as_ref().map(|limit| match &limit.value {
        Some(Value::Int(rows)) => Bound::Value(Cql::Int(*rows)),
        Some(_) | None => Bound::Slot(limit.name.to_string()),
    });
}

fn bounds(layout: &Layout, table: &CqlTable, bounds: &Bounds, select: &mut Select) {
    let Some(column) = table.columns.get(bounds.column) else { return };
    let mut push = |operator, bound| {
        select.conditions.push(Condition { column: column.name.clone(), operator, bound });
    };
    if let Some(prefix) = &bounds.prefix {
        let (from, to) = starting(column, prefix);
        push(">=", from);
        if let Some(to) = to {
            push("<", to);
        }
        return;
    }
    match &bounds.low {
        Some((term, inclusive)) => {
            push(if *inclusive { ">=" } else { ">" }, bound(layout, column, term));
        }
        // Null is in no range, and comes first.
        None if column.kind == Kind::Bytes => push(">", Bound::Value(Cql::Blob(ordered(&Value::Null)))),
        None => {}
    }
    if let Some((term, inclusive)) = &bounds.high {
        push(if *inclusive { "<=" } else { "<" }, bound(layout, column, term));
    }
}

/// From the first text with a prefix to the first one without.
fn starting(column: &CqlColumn, prefix: &Term) -> (Bound, Option<Bound>) {
    let Some(Value::Text(text)) = &prefix.value else {
        let name = &prefix.name;
        return (
            Bound::Slot(name.to_string()),
            Some(Bound::Slot(format!("{name} with its last letter's next"))),
        );
    };
    if column.kind == Kind::Bytes {
        let (from, to) = bytes_after(text);
        return (Bound::Value(Cql::Blob(from)), to.map(|to| Bound::Value(Cql::Blob(to))));
    }
    let to = text_after(text).map(|to| Bound::Value(Cql::Text(to)));
    (Bound::Value(Cql::Text(text.clone())), to)
}

pub(super) fn column<'t>(table: &'t CqlTable, term: &Term) -> Option<&'t CqlColumn> {
    term.column.and_then(|index| table.columns.get(index))
}

/// A term as a value of its column.
pub(super) fn bound(layout: &Layout, column: &CqlColumn, term: &Term) -> Bound {
    match &term.value {
        Some(known) => Bound::Value(value(layout, column, known)),
        None => Bound::Slot(term.name.to_string()),
    }
}

/// Whether a column is of the key.
pub(super) fn is_of_key(column: &CqlColumn) -> bool {
    column.of.is_key()
}
