//! GROUP BY, and the five aggregates: of the rows no more is kept than their groups.

use super::condition::order;
use super::page::{Kept, Placed};
use super::{Row, Scene};
use crate::{RunError, Stop};
use askloom_model::{Aggregate, AggregateFunction, ColumnValue, OrderBy, Path, Query, Value, fault};
use bigdecimal::BigDecimal;
use bigdecimal::num_bigint::{BigInt, Sign};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn applies(query: &Query) -> bool {
    !query.group_by.is_empty() || aggregates(query).next().is_some()
}

/// The aggregates that a group is ordered by, then those of its columns.
fn aggregates(query: &Query) -> impl Iterator<Item = &Aggregate> {
    let ordered = query.order_by.iter().filter_map(|term| match &term.by {
        OrderBy::Aggregate(aggregate) => Some(aggregate),
        OrderBy::Path(_) => None,
    });
    let selected = query.columns.iter().filter_map(|column| match &column.value {
        ColumnValue::Aggregate(aggregate) => Some(aggregate),
        ColumnValue::Path(_) | ColumnValue::Whole(_) => None,
    });
    ordered.chain(selected)
}

/// What one row is of its group.
pub(super) struct Part {
    /// The grouping values as written.
    key: Vec<Value>,
    /// What each aggregate is of; null of `COUNT(*)`.
    values: Vec<Value>,
}

pub(super) fn part(scene: &Scene<'_>, query: &Query, row: &Row) -> Result<Part, Stop> {
    let key = query.group_by.iter().map(|path| scene.single(path, row)).collect::<Result<_, _>>()?;
    let value = |aggregate: &Aggregate| match &aggregate.of {
        Some(path) => scene.selected(path, row),
        None => Ok(Value::Null),
    };
    Ok(Part { key, values: aggregates(query).map(value).collect::<Result<_, _>>()? })
}

/// What is known of each group, by the grouping values.
#[derive(Debug, Default)]
pub(super) struct Groups(BTreeMap<Vec<Value>, Vec<Tally>>);

impl Groups {
    pub(super) fn add(&mut self, query: &Query, parts: Vec<Part>) -> Result<(), Stop> {
        for Part { key, values } in parts {
            if fault!(NullGroupDropped) && key.iter().any(Value::is_null) {
                continue;
            }
            let tallies = self.0.entry(key).or_insert_with(|| aggregates(query).map(Tally::new).collect());
            for (tally, value) in tallies.iter_mut().zip(values) {
                tally.add(value)?;
            }
        }
        Ok(())
    }

    /// One row a group, in no particular order. Without GROUP BY all rows are one group, also if there are none.
    pub(super) fn rows(mut self, query: &Query) -> Result<Vec<Placed>, Stop> {
        if query.group_by.is_empty() && self.0.is_empty() {
            self.0.insert(Vec::new(), aggregates(query).map(Tally::new).collect());
        }
        self.0.into_iter().map(|(key, tallies)| row(query, key, tallies)).collect()
    }
}

fn row(query: &Query, key: Vec<Value>, tallies: Vec<Tally>) -> Result<Placed, Stop> {
    let mut values = tallies.into_iter().map(Tally::value).collect::<Result<Vec<_>, _>>()?.into_iter();
    let mut next = || values.next().unwrap_or(Value::Null);
    let order = query.order_by.iter().map(|term| match &term.by {
        OrderBy::Path(path) => grouping(query, &key, path),
        OrderBy::Aggregate(_) => next(),
    });
    let order = order.collect();
    let columns = query.columns.iter().map(|column| match &column.value {
        ColumnValue::Path(path) => grouping(query, &key, path),
        ColumnValue::Aggregate(_) => next(),
        // Whole instances are never grouped by.
        ColumnValue::Whole(_) => Value::Null,
    });
    let row = Kept::Columns(columns.collect());
    Ok(Placed { order, identity: key, ..Placed::new(row) })
}

fn grouping(query: &Query, key: &[Value], path: &Path) -> Value {
    let at = query.group_by.iter().position(|grouped| grouped == path);
    at.and_then(|at| key.get(at)).cloned().unwrap_or(Value::Null)
}

/// An aggregate of the rows so far.
#[derive(Debug)]
enum Tally {
    Rows(usize),
    Count(usize),
    Least(Value),
    Greatest(Value),
    Sum(Sum),
    Average(Sum),
    /// Of values that count once: what they are of is worked out when all are there.
    Distinct(AggregateFunction, BTreeSet<Value>),
}

impl Tally {
    fn new(aggregate: &Aggregate) -> Self {
        match aggregate.function {
            _ if aggregate.of.is_none() => Self::Rows(0),
            function if aggregate.distinct && !fault!(DistinctIgnored) => {
                Self::Distinct(function, BTreeSet::new())
            }
            function => Self::of(function),
        }
    }

    fn of(function: AggregateFunction) -> Self {
        match function {
            AggregateFunction::Count => Self::Count(0),
            AggregateFunction::Min => Self::Least(Value::Null),
            AggregateFunction::Max => Self::Greatest(Value::Null),
            AggregateFunction::Sum => Self::Sum(Sum::default()),
            AggregateFunction::Avg => Self::Average(Sum::default()),
        }
    }

    fn add(&mut self, value: Value) -> Result<(), Stop> {
        if let Self::Rows(rows) = self {
            *rows += 1;
            return Ok(());
        }
        if value.is_null() && !fault!(NullsCounted) {
            return Ok(());
        }
        match self {
            Self::Rows(count) | Self::Count(count) => *count += 1,
            Self::Least(least) => {
                if least.is_null() || order(&value, least) == Ordering::Less {
                    *least = value;
                }
            }
            Self::Greatest(greatest) => {
                if greatest.is_null() || order(&value, greatest) != Ordering::Less {
                    *greatest = value;
                }
            }
            Self::Sum(sum) | Self::Average(sum) => sum.add(&value)?,
            Self::Distinct(_, values) => {
                values.insert(value);
            }
        }
        Ok(())
    }

    fn value(self) -> Result<Value, Stop> {
        match self {
            Self::Rows(count) | Self::Count(count) => Ok(int(count)),
            Self::Least(value) | Self::Greatest(value) => Ok(value),
            Self::Sum(sum) => sum.total(),
            Self::Average(sum) => sum.average(),
            Self::Distinct(function, values) => {
                let mut tally = Self::of(function);
                for value in values {
                    tally.add(value)?;
                }
                tally.value()
            }
        }
    }
}

fn int(count: usize) -> Value {
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
}

/// Exact, so that the order of the rows does not matter.
#[derive(Debug, Default)]
struct Sum {
    /// Of one of the values that are added: all are of one type.
    of: Option<Value>,
    count: usize,
    whole: i128,
    rest: BigDecimal,
}

impl Sum {
    fn add(&mut self, value: &Value) -> Result<(), Stop> {
        if let Value::Int(n) = value {
            self.whole += i128::from(*n);
        } else if let Value::Decimal(n) = value {
            self.rest += n;
        } else if let Value::Double(n) = value {
            self.rest += BigDecimal::try_from(*n).map_err(|error| RunError::Corrupted(error.to_string()))?;
        }
        self.count += 1;
        if self.of.is_none() {
            self.of = Some(value.clone());
        }
        Ok(())
    }

    fn exact(&self) -> BigDecimal {
        BigDecimal::from(self.whole) + &self.rest
    }

    /// Of the type of what is added; but whole numbers past 64 bits become a decimal with all their digits.
    fn total(&self) -> Result<Value, Stop> {
        match &self.of {
            None => Ok(Value::Null),
            Some(Value::Double(_)) => double(&self.exact(), "SUM"),
            Some(Value::Int(_)) => Ok(i64::try_from(self.whole)
                .map_or_else(|_| Value::Decimal(self.exact().normalized()), Value::Int)),
            Some(_decimal) => Ok(Value::Decimal(self.exact().normalized())),
        }
    }

    /// Half-even to twelve decimals; of doubles, the double nearest to that.
    fn average(&self) -> Result<Value, Stop> {
        let Some(of) = &self.of else { return Ok(Value::Null) };
        let mean = mean(&self.exact(), self.count);
        match of {
            Value::Double(_) => double(&mean, "AVG"),
            _exact => Ok(Value::Decimal(mean)),
        }
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
        let mut sum = Sum::default();
        (0..2).for_each(|_| sum.add(&Value::Int(i64::MAX)).unwrap());
        assert_eq!(sum.total().unwrap(), Value::Decimal("18446744073709551614".parse().unwrap()));
    }
}
