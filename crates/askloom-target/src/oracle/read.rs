//! Reads as get, multiGet and iterators.

use super::key::{Key, component, is_descending, key, prefix};
use super::schema::Pairs;
use askloom_model::{Id, Value};
use askloom_plan::layout::{Column, Layout, Shape, Table};
use askloom_plan::program::{Bounds, How, Range, Read, Term};

/// A request that reads, as data.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    Get(Key),
    /// Everything under a major key, in one transaction.
    MultiGet(Key),
    /// What is under a key, in order.
    Iterate {
        under: Key,
        range: Option<KeyRange>,
        backwards: bool,
        limit: Option<Bound>,
        /// Whether the limit counts aggregates, which have several pairs each.
        aggregates: bool,
    },
    /// Everything of a collection, over all shards.
    Everything(Key),
    /// No pair can be meant.
    Nothing,
}

/// Bounds of the component that follows.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyRange {
    Prefix(Bound),
    Between { start: Option<(Bound, bool)>, end: Option<(Bound, bool)> },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bound {
    Slot(String),
    Text(String),
}

/// The request of a read.
#[must_use]
pub fn request(layout: &Layout, all: &[Pairs], read: &Read) -> Option<Request> {
    let own = all.get(read.table.index())?;
    let table = layout.table(read.table)?;
    let master = matches!(table.shape, Shape::Master { .. });
    let spread = table.block().next().is_some();
    Some(match &read.how {
        How::All if spread => Request::Everything(Key::new(&own.name)),
        How::All => Request::MultiGet(Key::new(&own.name)),
        How::Block(terms) if master || !table.is_packed() => Request::MultiGet(key(&own.name, table, terms)),
        How::Block(terms) | How::Record(terms) => Request::Get(key(&own.name, table, terms)),
        How::Range(range) => iterate(own, table, range),
    })
}

fn iterate(own: &Pairs, table: &Table, range: &Range) -> Request {
    let under = key(&own.name, table, &[range.block.as_slice(), &range.equal].concat());
    let limit = range.limit.as_ref().map(|limit| match &limit.value {
        Some(Value::Int(rows)) => Bound::Text(rows.to_string()),
        Some(_) | None => Bound::Slot(limit.name.to_string()),
    });
    let bounds = match &range.bounds {
        Some(bounds) => match key_range(table, bounds) {
            Some(bounds) => Some(bounds),
            None => return Request::Nothing,
        },
        None => None,
    };
    let none = matches!(range.limit.as_ref().and_then(|limit| limit.value.as_ref()), Some(Value::Int(..=0)));
    if none {
        return Request::Nothing;
    }
    let aggregates = matches!(table.shape, Shape::Master { .. });
    Request::Iterate { under, range: bounds, backwards: range.backwards, limit, aggregates }
}

/// Null is in no range, and no value lies beyond it.
pub(super) fn key_range(table: &Table, bounds: &Bounds) -> Option<KeyRange> {
    let column = table.columns.get(bounds.column)?;
    let bound = |term: &Term| match &term.value {
        Some(Value::Null) => None,
        Some(value) => Some(Bound::Text(component(column, value))),
        None => Some(Bound::Slot(term.name.to_string())),
    };
    if let Some(text) = &bounds.prefix {
        return match &text.value {
            Some(value @ Value::Text(_)) => Some(KeyRange::Prefix(Bound::Text(prefix(column, value)))),
            Some(_) => None,
            None => Some(KeyRange::Prefix(Bound::Slot(text.name.to_string()))),
        };
    }
    let side = |side: &Option<(Term, bool)>| match side {
        Some((term, inclusive)) => bound(term).map(|bound| Some((bound, *inclusive))),
        None => Some(None),
    };
    let (low, high) = (side(&bounds.low)?, side(&bounds.high)?);
    let descending = is_descending(column);
    let null = null(column);
    let (mut start, mut end) = if descending { (high, low) } else { (low, high) };
    if descending {
        end = end.or(null);
    } else {
        start = start.or(null);
    }
    Some(KeyRange::Between { start, end })
}

/// What a missing bound stands for where the column can be null.
fn null(column: &Column) -> Option<(Bound, bool)> {
    column.optional.then(|| (Bound::Text(component(column, &Value::Null)), false))
}
