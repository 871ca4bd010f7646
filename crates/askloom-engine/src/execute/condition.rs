//! Conditions on a row, in three-valued logic.

use super::path::Values;
use super::{Row, Scene, words};
use crate::Stop;
use askloom_model::{Comparison, Condition, InSet, Operand, Value, compare_numbers, fault};
use std::cmp::Ordering;

/// True, false, or unknown.
pub type Truth = Option<bool>;

/// Whether a predicate or its negation is asked of each element.
#[derive(Debug, Clone, Copy)]
enum Sense {
    Asserted,
    Negated,
}

impl Sense {
    /// Unknown stays unknown.
    fn of(self, truth: Truth) -> Truth {
        match self {
            Self::Asserted => truth,
            Self::Negated => truth.map(|truth| !truth),
        }
    }
}

/// The row that a predicate is about, and its sense.
#[derive(Clone, Copy)]
struct On<'r> {
    row: &'r Row,
    sense: Sense,
}

impl Scene<'_> {
    pub fn truth(&self, condition: &Condition, row: &Row) -> Result<Truth, Stop> {
        match condition {
            Condition::And(terms) => self.junction(terms, row, false),
            Condition::Or(terms) => self.junction(terms, row, true),
            Condition::Not(inner) => {
                let truth = self.truth(inner, row)?.or(fault!(NotOfUnknown).then_some(false));
                Ok(truth.map(|truth| !truth))
            }
            Condition::Negated(inner) if fault!(NegatedMeansNone) => {
                Ok(self.predicate(inner, row, Sense::Asserted)?.map(|truth| !truth))
            }
            Condition::Negated(inner) => self.predicate(inner, row, Sense::Negated),
            Condition::Compare { .. }
            | Condition::Between { .. }
            | Condition::In { .. }
            | Condition::StartsWith { .. }
            | Condition::Matches { .. }
            | Condition::IsNull { .. }
            | Condition::Under { .. }
            | Condition::Above { .. }
            | Condition::Within { .. }
            | Condition::InBox { .. } => self.predicate(condition, row, Sense::Asserted),
        }
    }

    /// A predicate, or the negation of an element's.
    fn predicate(&self, predicate: &Condition, row: &Row, sense: Sense) -> Result<Truth, Stop> {
        let at = On { row, sense };
        match predicate {
            // Only predicates have a negated form.
            Condition::And(_) | Condition::Or(_) | Condition::Not(_) | Condition::Negated(_) => {
                Ok(sense.of(self.truth(predicate, row)?))
            }
            Condition::Compare { left, op, right } => {
                self.some(at, [left, right], |[left, right]| Ok(fits(*op, compared(left, right))))
            }
            Condition::Between { value, low, high } => {
                self.some(at, [value, low, high], |[value, low, high]| {
                    let above = fits(Comparison::GreaterOrEqual, compared(value, low));
                    Ok(and(above, fits(Comparison::LessOrEqual, compared(value, high))))
                })
            }
            Condition::In { value, set } => self.member(value, set, at),
            Condition::StartsWith { value, prefix } => {
                self.on_texts(at, value, prefix, |text, prefix| text.starts_with(prefix))
            }
            Condition::Matches { value, words } => self.on_texts(at, value, words, words::matches),
            Condition::IsNull { value } => self.some(at, [value], |[value]| Ok(Some(value.is_null()))),
            Condition::Under { value, of } => {
                let class = self.tree_class(value);
                self.some(at, [value, of], |[value, of]| self.lies_under(class, value, of))
            }
            Condition::Above { value, of } => {
                let class = self.tree_class(value);
                self.some(at, [value, of], |[value, of]| self.lies_under(class, of, value))
            }
            Condition::Within { value, km, of } => self.some(at, [value, km, of], |values| {
                Ok(match values {
                    [Value::Geo(place), Value::Double(km), Value::Geo(of)] => {
                        Some(place.distance_km(*of) <= *km)
                    }
                    _null => None,
                })
            }),
            Condition::InBox { value, low, high } => self.some(at, [value, low, high], |values| {
                Ok(match values {
                    [Value::Geo(place), Value::Geo(low), Value::Geo(high)] => Some(place.in_box(*low, *high)),
                    _null => None,
                })
            }),
        }
    }

    /// AND stops at false, OR at true; unknown stays unless something decides.
    fn junction(&self, terms: &[Condition], row: &Row, decides: bool) -> Result<Truth, Stop> {
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

    /// A test of single values as it is. If one of the operands stands for many values, it is true if some of them
    /// make it true, else false.
    fn some<const N: usize>(
        &self,
        at: On<'_>,
        operands: [&Operand; N],
        test: impl Fn([&Value; N]) -> Result<Truth, Stop>,
    ) -> Result<Truth, Stop> {
        let mut values = Vec::with_capacity(N);
        for operand in operands {
            values.push(self.operand(operand, at.row)?);
        }
        let choose = |choice: &[&Value]| match <[&Value; N]>::try_from(choice) {
            Ok(choice) => Ok(at.sense.of(test(choice)?)),
            Err(_) => Ok(None),
        };
        tried(&values, &choose)
    }

    fn operand(&self, operand: &Operand, row: &Row) -> Result<Values, Stop> {
        match operand {
            Operand::Path(path) => self.values(path, row),
            Operand::Constant(_) | Operand::Parameter(_) => Ok(Values::Single(self.constant(operand)?)),
        }
    }

    fn member(&self, value: &Operand, set: &InSet, at: On<'_>) -> Result<Truth, Stop> {
        let mut values = vec![self.operand(value, at.row)?];
        match set {
            InSet::List(items) => {
                for item in items {
                    values.push(self.operand(item, at.row)?);
                }
            }
            InSet::Parameter(index) => match self.arguments.get(*index) {
                Some(Value::List(elements)) => {
                    values.extend(elements.iter().map(|element| Values::Single(element.value.clone())));
                }
                // No list is given: whether anything is in it is unknown.
                Some(_) | None => return tried(&values, &|_| Ok(None)),
            },
        }
        tried(&values, &|choice| {
            let Some((value, items)) = choice.split_first() else { return Ok(None) };
            let mut found = Some(false);
            for item in items {
                match fits(Comparison::Equal, compared(value, item)) {
                    Some(true) => return Ok(at.sense.of(Some(true))),
                    Some(false) => {}
                    None => found = None,
                }
            }
            Ok(at.sense.of(found))
        })
    }

    fn on_texts(
        &self,
        at: On<'_>,
        value: &Operand,
        argument: &Operand,
        test: impl Fn(&str, &str) -> bool,
    ) -> Result<Truth, Stop> {
        self.some(at, [value, argument], |values| {
            Ok(match values {
                [Value::Text(text), Value::Text(argument)] => Some(test(text, argument)),
                _null => None,
            })
        })
    }
}

/// What is to be found out about one value of each operand.
type Test<'t> = dyn Fn(&[&Value]) -> Result<Truth, Stop> + 't;

fn tried(values: &[Values], test: &Test<'_>) -> Result<Truth, Stop> {
    let any_many = values.iter().any(|values| matches!(values, Values::Many(_)));
    let mut choice = Vec::with_capacity(values.len());
    if any_many {
        return Ok(Some(any_choice(values, &mut choice, test)?));
    }
    choice.extend(values.iter().filter_map(|value| match value {
        Values::Single(value) => Some(value),
        Values::Many(_) => None,
    }));
    test(&choice)
}

/// Whether some choice of one value each makes the test true.
fn any_choice<'v>(left: &'v [Values], choice: &mut Vec<&'v Value>, test: &Test<'_>) -> Result<bool, Stop> {
    let Some((next, left)) = left.split_first() else { return Ok(test(choice)? == Some(true)) };
    let options = match next {
        Values::Single(value) => std::slice::from_ref(value),
        Values::Many(values) => values.as_slice(),
    };
    for value in options {
        choice.push(value);
        let found = any_choice(left, choice, test)?;
        choice.pop();
        if found {
            return Ok(true);
        }
    }
    Ok(false)
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
    let known = !a.is_null() && !b.is_null();
    (known || (fault!(NullIsEqual) && a.is_null() == b.is_null())).then(|| order(a, b))
}

/// How two values compare: numbers by what they are, whatever their types; a reference of one part as that part.
pub(super) fn order(a: &Value, b: &Value) -> Ordering {
    let (a, b) = (plain(a), plain(b));
    compare_numbers(a, b).unwrap_or_else(|| a.cmp(b))
}

fn plain(value: &Value) -> &Value {
    match value {
        Value::Reference(parts) => match parts.as_slice() {
            [only] => only,
            _composite => value,
        },
        _other => value,
    }
}

fn fits(op: Comparison, order: Option<Ordering>) -> Truth {
    let order = order?;
    Some(match op {
        Comparison::Equal => order == Ordering::Equal,
        Comparison::NotEqual => order != Ordering::Equal,
        Comparison::Less => order == Ordering::Less,
        Comparison::LessOrEqual => order != Ordering::Greater,
        Comparison::Greater => order == Ordering::Greater,
        Comparison::GreaterOrEqual => order != Ordering::Less,
    })
}
