//! Groups and aggregates.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a value is one of eighteen things, and a function knows the few that concern it"
)]

use crate::error::QueryError;
use crate::number::{average, compare};
use crate::path::Joined;
use crate::view::View;
use askloom_model::typed::{exact, nearest_double};
use askloom_model::{Aggregate, AggregateFunction, ColumnValue, OrderBy, Path, Query, Value};
use bigdecimal::BigDecimal;
use std::collections::{BTreeMap, BTreeSet};

/// The rows that share the grouping values.
#[derive(Debug)]
pub(crate) struct Group<'s> {
    pub(crate) values: Vec<Value>,
    rows: Vec<Joined<'s>>,
}

impl Group<'_> {
    /// The value of a grouping path.
    pub(crate) fn value(&self, by: &[Path], path: &Path) -> Value {
        let index = by.iter().position(|by| by == path);
        index.and_then(|index| self.values.get(index)).cloned().unwrap_or(Value::Null)
    }
}

/// Whether a query is about groups: it says GROUP BY, or asks for an aggregate.
pub(crate) fn is_grouped(query: &Query) -> bool {
    let selected = query.columns.iter().any(|column| matches!(column.value, ColumnValue::Aggregate(_)));
    let ordered = query.order_by.iter().any(|term| matches!(term.by, OrderBy::Aggregate(_)));
    !query.group_by.is_empty() || selected || ordered
}

impl<'s> View<'s> {
    /// Null is a grouping value like any other. Without GROUP BY all rows are one group, also if there are none.
    pub(crate) fn group(&self, rows: Vec<Joined<'s>>, by: &[Path]) -> Vec<Group<'s>> {
        let mut groups: BTreeMap<Vec<Value>, Vec<Joined<'s>>> = BTreeMap::new();
        if by.is_empty() {
            groups.insert(Vec::new(), Vec::new());
        }
        for row in rows {
            let values = by.iter().map(|path| self.value(&row, path)).collect();
            groups.entry(values).or_default().push(row);
        }
        groups.into_iter().map(|(values, rows)| Group { values, rows }).collect()
    }

    pub(crate) fn aggregate(&self, group: &Group<'s>, aggregate: &Aggregate) -> Result<Value, QueryError> {
        let Some(path) = &aggregate.of else { return Ok(count(group.rows.len())) };
        let values = group.rows.iter().map(|row| self.value(row, path));
        let mut values: Vec<Value> = values.filter(|value| !value.is_null()).collect();
        if aggregate.distinct {
            values = values.into_iter().collect::<BTreeSet<Value>>().into_iter().collect();
        }
        match aggregate.function {
            AggregateFunction::Count => Ok(count(values.len())),
            AggregateFunction::Min => Ok(values.into_iter().min_by(compare).unwrap_or(Value::Null)),
            AggregateFunction::Max => Ok(values.into_iter().max_by(compare).unwrap_or(Value::Null)),
            AggregateFunction::Sum => sum(&values),
            AggregateFunction::Avg => mean(&values),
        }
    }
}

fn count(rows: usize) -> Value {
    Value::Int(i64::try_from(rows).unwrap_or(i64::MAX))
}

fn total(values: &[Value]) -> BigDecimal {
    values.iter().filter_map(exact).sum()
}

/// A sum is of the type of what was added. One of whole numbers that 64 bits cannot hold still has all its
/// digits, as a decimal.
fn sum(values: &[Value]) -> Result<Value, QueryError> {
    let total = total(values);
    match values.first() {
        None => Ok(Value::Null),
        Some(Value::Double(_)) => double(&total),
        Some(Value::Int(_)) => match total.to_plain_string().parse() {
            Ok(whole) => Ok(Value::Int(whole)),
            Err(_) => Ok(Value::Decimal(total.normalized())),
        },
        Some(_decimal) => Ok(Value::Decimal(total.normalized())),
    }
}

/// An average of doubles is a double, any other a decimal.
fn mean(values: &[Value]) -> Result<Value, QueryError> {
    let Some(first) = values.first() else { return Ok(Value::Null) };
    let mean = average(&total(values), values.len() as u64);
    match first {
        Value::Double(_) => double(&mean),
        _exact => Ok(Value::Decimal(mean)),
    }
}

/// Rounded once, at the end, so that the order of the rows does not matter.
fn double(exact: &BigDecimal) -> Result<Value, QueryError> {
    nearest_double(exact).map(Value::Double).ok_or(QueryError::OutOfRange)
}
