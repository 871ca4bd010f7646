//! Conditions on a row, in three-valued logic.

use super::row::Values;
use super::{Row, Scene};
use crate::RunError;
use askloom_model::{Comparison, Condition, InSet, Operand, Value, compare_numbers};
use std::cmp::Ordering;

/// True, false, or unknown.
pub type Truth = Option<bool>;

impl Scene<'_> {
    pub(crate) fn truth(&self, condition: &Condition, row: &Row) -> Result<Truth, RunError> {
        match condition {
            Condition::And(terms) => self.junction(terms, row, false),
            Condition::Or(terms) => self.junction(terms, row, true),
            Condition::Not(inner) => Ok(self.truth(inner, row)?.map(|truth| !truth)),
            Condition::Compare { left, op, right } => {
                let (left, right) = (self.operand(left, row)?, self.operand(right, row)?);
                Ok(some(left, |a| some(right.clone(), |b| compared(a, b).map(|order| fits(*op, order)))))
            }
            Condition::Between { value, low, high } => {
                let (low, high) = (self.operand(low, row)?, self.operand(high, row)?);
                let (low, high) = (first(low), first(high));
                let within = |value: &Value| {
                    let above = compared(value, &low).map(|order| order != Ordering::Less);
                    let below = compared(value, &high).map(|order| order != Ordering::Greater);
                    and(above, below)
                };
                Ok(some(self.operand(value, row)?, within))
            }
            Condition::In { value, set } => self.member(value, set, row),
            Condition::StartsWith { value, prefix } => {
                let prefix = first(self.operand(prefix, row)?);
                let starts = |value: &Value| match (value, &prefix) {
                    (Value::Text(text), Value::Text(prefix)) => Some(text.starts_with(prefix.as_str())),
                    (_, _) => None,
                };
                Ok(some(self.operand(value, row)?, starts))
            }
            Condition::IsNull { value } => Ok(Some(match self.operand(value, row)? {
                Values::Single(value) => value.is_null(),
                Values::Many(values) => values.iter().any(Value::is_null),
            })),
            Condition::Matches { .. } => Err(RunError::NotYet("MATCHES")),
            Condition::Under { .. } | Condition::Above { .. } => Err(RunError::NotYet("UNDER and ABOVE")),
            Condition::Within { .. } | Condition::InBox { .. } => Err(RunError::NotYet("WITHIN and IN BOX")),
        }
    }

    /// AND stops at false, OR at true; unknown stays unless something decides.
    fn junction(&self, terms: &[Condition], row: &Row, decides: bool) -> Result<Truth, RunError> {
        let mut unknown = false;
        for term in terms {
            match self.truth(term, row)? {
                Some(truth) if truth == decides => return Ok(Some(decides)),
                Some(_) => {}
                None => unknown = true,
            }
        }
        Ok(if unknown { None } else { Some(!decides) })
    }

    fn operand(&self, operand: &Operand, row: &Row) -> Result<Values, RunError> {
        match operand {
            Operand::Path(path) => self.values(path, row),
            Operand::Constant(_) | Operand::Parameter(_) => Ok(Values::Single(self.constant(operand)?)),
        }
    }

    fn member(&self, value: &Operand, set: &InSet, row: &Row) -> Result<Truth, RunError> {
        let items: Vec<Value> = match set {
            InSet::List(items) => {
                let mut values = Vec::with_capacity(items.len());
                for item in items {
                    values.push(first(self.operand(item, row)?));
                }
                values
            }
            InSet::Parameter(index) => match self.arguments.get(*index) {
                Some(Value::List(elements)) => elements.iter().map(|element| element.value.clone()).collect(),
                Some(_) | None => return Ok(None),
            },
        };
        let one_of = |value: &Value| {
            let mut unknown = false;
            for item in &items {
                match compared(value, item) {
                    Some(Ordering::Equal) => return Some(true),
                    Some(_) => {}
                    None => unknown = true,
                }
            }
            if unknown { None } else { Some(false) }
        };
        Ok(some(self.operand(value, row)?, one_of))
    }
}

/// A condition on many values is true if some value makes it true, else false.
fn some(values: Values, condition: impl Fn(&Value) -> Truth) -> Truth {
    match values {
        Values::Single(value) => condition(&value),
        Values::Many(values) => Some(values.iter().any(|value| condition(value) == Some(true))),
    }
}

fn first(values: Values) -> Value {
    match values {
        Values::Single(value) => value,
        Values::Many(values) => values.into_iter().next().unwrap_or(Value::Null),
    }
}

fn and(a: Truth, b: Truth) -> Truth {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        (None, _) | (_, None) => None,
    }
}

/// Unknown if one of the two is null.
fn compared(a: &Value, b: &Value) -> Option<Ordering> {
    if a.is_null() || b.is_null() {
        return None;
    }
    // A reference of one part can be compared with that part.
    let plain = |value: &Value| match value {
        Value::Reference(parts) if parts.len() == 1 => parts.first().cloned(),
        _other => None,
    };
    match (a, b) {
        (Value::Reference(_), Value::Reference(_)) => Some(a.cmp(b)),
        (Value::Reference(_), other) => plain(a).map_or(Some(a.cmp(b)), |part| compared(&part, other)),
        (other, Value::Reference(_)) => plain(b).map_or(Some(a.cmp(b)), |part| compared(other, &part)),
        (_, _) => compare_numbers(a, b).or_else(|| Some(a.cmp(b))),
    }
}

fn fits(op: Comparison, order: Ordering) -> bool {
    match op {
        Comparison::Equal => order == Ordering::Equal,
        Comparison::NotEqual => order != Ordering::Equal,
        Comparison::Less => order == Ordering::Less,
        Comparison::LessOrEqual => order != Ordering::Greater,
        Comparison::Greater => order == Ordering::Greater,
        Comparison::GreaterOrEqual => order != Ordering::Less,
    }
}
