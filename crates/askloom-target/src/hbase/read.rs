//! Reads as Get and Scan.

use super::key::{Key, is_descending, value_bytes};
use super::schema::HTable;
use askloom_model::{Id, Value};
use askloom_plan::layout::{Layout, Table};
use askloom_plan::program::{Bounds, How, Range, Read, Term};

/// A request that reads, as data.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    Get { table: String, row: Key },
    Scan(Scan),
}

/// Rows in the order of their keys.
#[derive(Debug, Clone, PartialEq)]
pub struct Scan {
    pub table: String,
    pub rows: Rows,
    pub backwards: bool,
    pub limit: Option<Limit>,
}

/// Which rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Rows {
    All,
    /// Those whose keys start so.
    Under(Key),
    /// From the first, up to and without the second; without one to the end of the table.
    Between {
        from: Key,
        to: Option<Key>,
        /// Whether a row's key can be one of these. A scan that goes backwards has the ends the other way round.
        exact: bool,
    },
    /// No row can lie between the bounds, or none is wanted. HBase would give one, or all: a scan from a key up to the
    /// same key is a get, and a limit of 0 is none.
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Limit {
    Slot(String),
    Rows(i64),
}

/// The request of a read.
#[must_use]
pub fn request(layout: &Layout, tables: &[HTable], read: &Read) -> Option<Request> {
    let own = tables.get(read.table.index())?;
    let table = layout.table(read.table)?;
    let scan = |rows| Request::Scan(Scan { table: own.name.clone(), rows, backwards: false, limit: None });
    Some(match &read.how {
        How::All => scan(Rows::All),
        How::Block(terms) => {
            let row = key(table, terms);
            match (own.master || table.is_packed(), row.parts.is_empty()) {
                (true, false) => Request::Get { table: own.name.clone(), row },
                (_, true) => scan(Rows::All),
                (false, false) => scan(Rows::Under(row)),
            }
        }
        How::Record(terms) => Request::Get { table: own.name.clone(), row: key(table, terms) },
        How::Range(range) => Request::Scan(self::range(own, table, range)),
    })
}

/// The key that some terms make up, in the order of the columns.
pub(super) fn key(table: &Table, terms: &[Term]) -> Key {
    let mut own: Vec<(usize, &Term)> = terms.iter().filter_map(|term| Some((term.column?, term))).collect();
    own.retain(|(column, _)| table.columns.get(*column).is_some_and(askloom_plan::layout::Column::is_key));
    own.sort_by_key(|(column, _)| *column);
    // What is of the block can be among what sorts, too.
    own.dedup_by_key(|(column, _)| *column);
    let mut key = Key::default();
    for (column, term) in own {
        key.push(column, table, term);
    }
    key
}

pub(super) fn range(own: &HTable, table: &Table, range: &Range) -> Scan {
    let start = key(table, &[range.block.as_slice(), &range.equal].concat());
    let whole = range.block.len() + range.equal.len() >= table.columns.iter().filter(|c| c.is_key()).count();
    let limit = range.limit.as_ref().map(|limit| match &limit.value {
        Some(Value::Int(rows)) => Limit::Rows(*rows),
        Some(_) | None => Limit::Slot(limit.name.to_string()),
    });
    let mut rows = match &range.bounds {
        Some(bounds) => between(table, start, bounds),
        None if range.backwards => under(start, whole),
        None if start.parts.is_empty() => Rows::All,
        None => Rows::Under(start),
    };
    if matches!(limit, Some(Limit::Rows(..=0))) || is_empty(&rows) {
        rows = Rows::Nothing;
    }
    let limit = limit.filter(|_| rows != Rows::Nothing);
    Scan { table: own.name.clone(), rows, backwards: range.backwards, limit }
}

/// All that start so, with both ends: what goes backwards needs the last one.
fn under(start: Key, exact: bool) -> Rows {
    if start.parts.is_empty() {
        return Rows::All;
    }
    Rows::Between { to: start.clone().end(), from: start, exact }
}

fn is_empty(rows: &Rows) -> bool {
    match rows {
        Rows::Between { from, to: Some(to), .. } => match (from.bytes(), to.bytes()) {
            (Some(from), Some(to)) => from >= to,
            (_, _) => false,
        },
        Rows::Between { to: None, .. } | Rows::All | Rows::Under(_) | Rows::Nothing => false,
    }
}

/// Null is in no range: it is the first value, or the last one of a column that descends.
fn between(table: &Table, start: Key, bounds: &Bounds) -> Rows {
    let Some(column) = table.columns.get(bounds.column) else { return Rows::Nothing };
    let descending = is_descending(column.place);
    if let Some(prefix) = &bounds.prefix {
        if !matches!(prefix.value, None | Some(Value::Text(_))) {
            return Rows::Nothing;
        }
        let mut from = start;
        from.push_prefix(descending, prefix);
        let to = from.clone().end();
        return Rows::Between { from, to, exact: false };
    }
    let is_null =
        |side: &Option<(Term, bool)>| matches!(side, Some((Term { value: Some(Value::Null), .. }, _)));
    if is_null(&bounds.low) || is_null(&bounds.high) {
        return Rows::Nothing;
    }
    let with = |term: &Term| {
        let mut key = start.clone();
        key.push(bounds.column, table, term);
        key
    };
    let none = || {
        let mut key = start.clone();
        key.extend(&value_bytes(&Value::Null, descending));
        key
    };
    // What lies first, and what lies last, in the order of the bytes.
    let (first, last) = if descending { (&bounds.high, &bounds.low) } else { (&bounds.low, &bounds.high) };
    let from = match first {
        Some((term, true)) => Some(with(term)),
        Some((term, false)) => with(term).end(),
        None if column.optional && !descending => none().end(),
        None => Some(start.clone()),
    };
    let to = match last {
        Some((term, true)) => with(term).end(),
        Some((term, false)) => Some(with(term)),
        None if column.optional && descending => Some(none()),
        None => start.clone().end(),
    };
    let is_last = table.columns.iter().skip(bounds.column + 1).all(|other| !other.is_key());
    match from {
        Some(from) => Rows::Between { from, to, exact: is_last },
        None => Rows::Nothing,
    }
}
