//! GROUP BY, and the five aggregates.

use super::condition::order;
use super::{Row, Scene};
use crate::{RunError, Stop};
use askloom_model::{Aggregate, AggregateFunction, ColumnValue, OrderBy, Path, Query, Value, fault};
use bigdecimal::BigDecimal;
use bigdecimal::num_bigint::{BigInt, Sign};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn applies(query: &Query) -> bool {
    let selected = query.columns.iter().any(|column| matches!(column.value, ColumnValue::Aggregate(_)));
    let ordered = query.order_by.iter().any(|term| matches!(term.by, OrderBy::Aggregate(_)));
    selected || ordered || !query.group_by.is_empty()
}

/// The rows that share the grouping values, as one.
pub(super) struct Group {
    pub(super) order: Vec<Value>,
    /// The grouping values as written.
    pub(super) key: Vec<Value>,
    pub(super) columns: Vec<Value>,
}

/// Makes sure that all that groups are made of is at hand in a row.
pub(super) fn touch(scene: &Scene<'_>, query: &Query, row: &Row) -> Result<(), Stop> {
    for path in &query.group_by {
        scene.single(path, row)?;
    }
    let selected = query.columns.iter().filter_map(|column| match &column.value {
        ColumnValue::Aggregate(aggregate) => aggregate.of.as_ref(),
        ColumnValue::Path(_) | ColumnValue::Whole(_) => None,
    });
    let ordered = query.order_by.iter().filter_map(|term| match &term.by {
        OrderBy::Aggregate(aggregate) => aggregate.of.as_ref(),
        OrderBy::Path(_) => None,
    });
    for path in selected.chain(ordered) {
        scene.values(path, row)?;
    }
    Ok(())
}

/// One row a group, in no particular order. Without GROUP BY all rows are one group, also if there are none.
pub(super) fn grouped(scene: &Scene<'_>, query: &Query, rows: Vec<Row>) -> Result<Vec<Group>, Stop> {
    let mut groups: BTreeMap<Vec<Value>, Vec<Row>> = BTreeMap::new();
    for row in rows {
        let key =
            query.group_by.iter().map(|path| scene.single(path, &row)).collect::<Result<Vec<_>, _>>()?;
        if fault!(NullGroupDropped) && key.iter().any(Value::is_null) {
            continue;
        }
        groups.entry(key).or_default().push(row);
    }
    if query.group_by.is_empty() && groups.is_empty() {
        groups.insert(Vec::new(), Vec::new());
    }
    groups.into_iter().map(|(key, rows)| group(scene, query, key, &rows)).collect()
}

fn group(scene: &Scene<'_>, query: &Query, key: Vec<Value>, rows: &[Row]) -> Result<Group, Stop> {
    let mut order = Vec::with_capacity(query.order_by.len());
    for term in &query.order_by {
        order.push(match &term.by {
            OrderBy::Path(path) => grouping(query, &key, path),
            OrderBy::Aggregate(aggregate) => value(scene, aggregate, rows)?,
        });
    }
    let mut columns = Vec::with_capacity(query.columns.len());
    for column in &query.columns {
        columns.push(match &column.value {
            ColumnValue::Path(path) => grouping(query, &key, path),
            ColumnValue::Aggregate(aggregate) => value(scene, aggregate, rows)?,
            // Whole instances are never grouped by.
            ColumnValue::Whole(_) => Value::Null,
        });
    }
    Ok(Group { order, key, columns })
}

fn grouping(query: &Query, key: &[Value], path: &Path) -> Value {
    let at = query.group_by.iter().position(|grouped| grouped == path);
    at.and_then(|at| key.get(at)).cloned().unwrap_or(Value::Null)
}

fn value(scene: &Scene<'_>, aggregate: &Aggregate, rows: &[Row]) -> Result<Value, Stop> {
    let Some(path) = &aggregate.of else { return Ok(int(rows.len())) };
    let mut values = Vec::with_capacity(rows.len());
    for row in rows {
        let value = scene.selected(path, row)?;
        if !value.is_null() || fault!(NullsCounted) {
            values.push(value);
        }
    }
    if aggregate.distinct && !fault!(DistinctIgnored) {
        values = values.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    }
    match aggregate.function {
        AggregateFunction::Count => Ok(int(values.len())),
        AggregateFunction::Min => Ok(values.into_iter().min_by(order).unwrap_or(Value::Null)),
        AggregateFunction::Max => Ok(values.into_iter().max_by(order).unwrap_or(Value::Null)),
        AggregateFunction::Sum => sum(&values),
        AggregateFunction::Avg => average(&values),
    }
}

fn int(count: usize) -> Value {
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
}

/// Exact, so that the order of the rows does not matter.
fn total(values: &[Value]) -> Result<BigDecimal, Stop> {
    let mut total = BigDecimal::from(0);
    for value in values {
        if let Value::Int(n) = value {
            total += BigDecimal::from(*n);
        } else if let Value::Decimal(n) = value {
            total += n;
        } else if let Value::Double(n) = value {
            total += BigDecimal::try_from(*n).map_err(|error| RunError::Corrupted(error.to_string()))?;
        }
    }
    Ok(total)
}

/// Of the type of what is added; but whole numbers past 64 bits become a decimal with all their digits.
fn sum(values: &[Value]) -> Result<Value, Stop> {
    let total = total(values)?;
    match values.first() {
        None => Ok(Value::Null),
        Some(Value::Double(_)) => double(&total, "SUM"),
        Some(Value::Int(_)) => {
            Ok(total.to_plain_string().parse().map_or(Value::Decimal(total.normalized()), Value::Int))
        }
        Some(_decimal) => Ok(Value::Decimal(total.normalized())),
    }
}

/// Half-even to twelve decimals; of doubles, the double nearest to that.
fn average(values: &[Value]) -> Result<Value, Stop> {
    let Some(first) = values.first() else { return Ok(Value::Null) };
    let mean = mean(&total(values)?, values.len());
    match first {
        Value::Double(_) => double(&mean, "AVG"),
        _exact => Ok(Value::Decimal(mean)),
    }
}

fn mean(total: &BigDecimal, count: usize) -> BigDecimal {
    const DECIMALS: i64 = 12;
    // As a fraction of whole numbers of the last kept decimal, so that it is rounded once.
    let (mut above, scale) = total.as_bigint_and_exponent();
    let mut below = BigInt::from(count);
    let shift = u32::try_from((DECIMALS - scale).unsigned_abs()).unwrap_or(u32::MAX);
    let power = BigInt::from(10).pow(shift);
    if scale <= DECIMALS {
        above *= power;
    } else {
        below *= power;
    }
    let negative = above.sign() == Sign::Minus;
    let size = if negative { -above } else { above };
    let (whole, left) = (&size / &below, &size % &below);
    let twice = left * 2;
    let up = twice > below || (twice == below && &whole % 2 == BigInt::from(1));
    let size = if up { whole + 1 } else { whole };
    BigDecimal::new(if negative { -size } else { size }, DECIMALS).normalized()
}

/// The double nearest to an exact number.
fn double(exact: &BigDecimal, field: &str) -> Result<Value, Stop> {
    let out_of_range = || RunError::OutOfRange { field: field.to_owned() };
    let number: f64 = exact.to_scientific_notation().parse().map_err(|_| out_of_range())?;
    Ok(Value::double(number).map_err(|_| out_of_range())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, count: usize) -> String {
        mean(&text.parse().unwrap(), count).to_plain_string()
    }

    #[test]
    fn averages_are_rounded_half_even_once() {
        assert_eq!(of("2", 3), "0.666666666667");
        assert_eq!(of("-2", 3), "-0.666666666667");
        assert_eq!(of("0.000000000001", 2), "0");
        assert_eq!(of("-0.000000000003", 2), "-0.000000000002");
        assert_eq!(of("0.0000000000025", 1), "0.000000000002");
        assert_eq!(of("1e30", 3), "333333333333333333333333333333.333333333333");
    }

    #[test]
    fn whole_sums_keep_all_their_digits() {
        let sum = sum(&[Value::Int(i64::MAX), Value::Int(i64::MAX)]).unwrap();
        assert_eq!(sum, Value::Decimal("18446744073709551614".parse().unwrap()));
    }
}
