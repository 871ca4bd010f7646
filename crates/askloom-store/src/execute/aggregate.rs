//! GROUP BY, and the five aggregates.

use super::{Row, Scene};
use crate::RunError;
use askloom_model::{Aggregate, AggregateFunction, ColumnValue, OrderBy, Path, Query, Value};
use bigdecimal::{BigDecimal, RoundingMode};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn applies(query: &Query) -> bool {
    let selected = query.columns.iter().any(|column| matches!(column.value, ColumnValue::Aggregate(_)));
    let ordered = query.order_by.iter().any(|term| matches!(term.by, OrderBy::Aggregate(_)));
    selected || ordered || !query.group_by.is_empty()
}

/// One row a group, in the query's order; ties by the grouping values as written.
pub(super) fn grouped(scene: &Scene<'_>, query: &Query, rows: Vec<Row>) -> Result<Vec<Vec<Value>>, RunError> {
    let mut groups: BTreeMap<Vec<Value>, Vec<Row>> = BTreeMap::new();
    for row in rows {
        let key =
            query.group_by.iter().map(|path| scene.single(path, &row)).collect::<Result<Vec<_>, _>>()?;
        groups.entry(key).or_default().push(row);
    }
    if query.group_by.is_empty() && groups.is_empty() {
        groups.insert(Vec::new(), Vec::new());
    }
    let mut given = Vec::new();
    for (key, rows) in groups {
        let mut order = Vec::new();
        for term in &query.order_by {
            order.push(match &term.by {
                OrderBy::Path(path) => grouping(query, &key, path),
                OrderBy::Aggregate(aggregate) => value(scene, aggregate, &rows)?,
            });
        }
        let mut columns = Vec::new();
        for column in &query.columns {
            columns.push(match &column.value {
                ColumnValue::Path(path) => grouping(query, &key, path),
                ColumnValue::Aggregate(aggregate) => value(scene, aggregate, &rows)?,
                ColumnValue::Whole(_) => Value::Null,
            });
        }
        given.push((order, key, columns));
    }
    given.sort_by(|(a, key_a, _), (b, key_b, _)| super::compare(&query.order_by, a, b, key_a, key_b));
    Ok(given.into_iter().map(|(_, _, columns)| columns).collect())
}

fn grouping(query: &Query, key: &[Value], path: &Path) -> Value {
    let at = query.group_by.iter().position(|grouped| grouped == path);
    at.and_then(|at| key.get(at)).cloned().unwrap_or(Value::Null)
}

fn value(scene: &Scene<'_>, aggregate: &Aggregate, rows: &[Row]) -> Result<Value, RunError> {
    let Some(path) = &aggregate.of else { return Ok(int(rows.len())) };
    let mut values = Vec::new();
    for row in rows {
        let value = scene.selected(path, row)?;
        if !value.is_absent() {
            values.push(value);
        }
    }
    Ok(match aggregate.function {
        AggregateFunction::Count if aggregate.distinct => {
            int(values.into_iter().collect::<BTreeSet<_>>().len())
        }
        AggregateFunction::Count => int(values.len()),
        AggregateFunction::Min => values.into_iter().min_by(smaller).unwrap_or(Value::Null),
        AggregateFunction::Max => values.into_iter().max_by(smaller).unwrap_or(Value::Null),
        AggregateFunction::Sum => sum(&values)?,
        AggregateFunction::Avg => average(&values)?,
    })
}

fn smaller(a: &Value, b: &Value) -> Ordering {
    a.cmp(b)
}

fn int(count: usize) -> Value {
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
}

/// Exact, so that the order of the rows does not matter; a sum of doubles is rounded once, at the end.
fn exact(values: &[Value]) -> Result<Option<(BigDecimal, bool)>, RunError> {
    let mut total = BigDecimal::from(0);
    let mut doubles = false;
    for value in values {
        if let Value::Int(n) = value {
            total += BigDecimal::from(*n);
        } else if let Value::Decimal(n) = value {
            total += n;
        } else if let Value::Double(n) = value {
            doubles = true;
            total += BigDecimal::try_from(*n).map_err(|error| RunError::Corrupted(error.to_string()))?;
        }
    }
    Ok((!values.is_empty()).then_some((total, doubles)))
}

fn sum(values: &[Value]) -> Result<Value, RunError> {
    let Some((total, doubles)) = exact(values)? else { return Ok(Value::Null) };
    let out_of_range = |_| RunError::OutOfRange { field: "SUM".to_owned() };
    if doubles {
        return rounded(&total);
    }
    if values.iter().all(|value| matches!(value, Value::Int(_))) {
        let whole: i64 = total.to_plain_string().parse().map_err(out_of_range)?;
        return Ok(Value::Int(whole));
    }
    Value::decimal(&total).map_err(|_| RunError::OutOfRange { field: "SUM".to_owned() })
}

/// The double nearest to an exact number.
fn rounded(total: &BigDecimal) -> Result<Value, RunError> {
    let number: f64 = total.to_scientific_notation().parse().unwrap_or(f64::NAN);
    Value::double(number).map_err(|_| RunError::OutOfRange { field: "SUM".to_owned() })
}

/// Half-even to twelve decimals; of doubles, the nearest double to the exact mean.
fn average(values: &[Value]) -> Result<Value, RunError> {
    const DECIMALS: i64 = 12;
    let Some((total, doubles)) = exact(values)? else { return Ok(Value::Null) };
    let count = BigDecimal::from(u64::try_from(values.len()).unwrap_or(u64::MAX));
    let mean = total / count;
    if doubles {
        return rounded(&mean);
    }
    let rounded = mean.with_scale_round(DECIMALS, RoundingMode::HalfEven);
    Value::decimal(&rounded).map_err(|_| RunError::OutOfRange { field: "AVG".to_owned() })
}
