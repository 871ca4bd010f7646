//! Conditions in three-valued logic.

use crate::number::compare;
use crate::path::{Joined, Reached};
use crate::view::View;
use crate::words;
use askloom_model::{ClassId, Comparison, Condition, Id, InSet, Operand, Path, Value};
use std::cmp::Ordering;

/// `None` is unknown.
type Truth = Option<bool>;

/// A row under a condition, with the values of the statement's parameters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a, 's> {
    pub(crate) view: &'a View<'s>,
    pub(crate) row: &'a Joined<'s>,
    pub(crate) parameters: &'a [Value],
    /// The class at each position.
    pub(crate) classes: &'a [Option<ClassId>],
}

impl Asked<'_, '_> {
    /// Whether the condition is true: neither false nor unknown.
    pub(crate) fn holds(&self, condition: Option<&Condition>) -> bool {
        condition.is_none_or(|condition| self.truth(condition) == Some(true))
    }

    fn truth(&self, condition: &Condition) -> Truth {
        match condition {
            Condition::And(terms) => all(terms.iter().map(|term| self.truth(term))),
            Condition::Or(terms) => some(terms.iter().map(|term| self.truth(term))),
            Condition::Not(inner) => self.truth(inner).map(|truth| !truth),
            Condition::Compare { left, op, right } => self.predicate(&[left, right], |values| match values {
                [left, right] => compared(left, *op, right),
                _ => None,
            }),
            Condition::Between { value, low, high } => {
                self.predicate(&[value, low, high], |values| match values {
                    [value, low, high] => all([
                        compared(value, Comparison::GreaterOrEqual, low),
                        compared(value, Comparison::LessOrEqual, high),
                    ]),
                    _ => None,
                })
            }
            Condition::In { value, set } => self.contained(value, set),
            Condition::StartsWith { value, prefix } => self.on_texts(value, prefix, |a, b| a.starts_with(b)),
            Condition::Matches { value, words } => self.on_texts(value, words, words::matches),
            Condition::IsNull { value } => {
                self.predicate(&[value], |values| Some(values.iter().all(|value| value.is_null())))
            }
            Condition::Under { value, of } => self.predicate(&[value, of], |values| match values {
                [value, of] => self.lies_under(self.class_of(condition)?, value, of),
                _ => None,
            }),
            Condition::Above { value, of } => self.predicate(&[value, of], |values| match values {
                [value, of] => self.lies_under(self.class_of(condition)?, of, value),
                _ => None,
            }),
            Condition::Within { value, km, of } => self.predicate(&[value, km, of], |values| match values {
                [Value::Geo(point), Value::Double(km), Value::Geo(of)] => Some(point.distance_km(*of) <= *km),
                _null => None,
            }),
            Condition::InBox { value, low, high } => {
                self.predicate(&[value, low, high], |values| match values {
                    [Value::Geo(point), Value::Geo(low), Value::Geo(high)] => Some(point.in_box(*low, *high)),
                    _null => None,
                })
            }
        }
    }

    /// A predicate on single values as it is. If an operand stands for many, it is true if some combination
    /// makes it true, otherwise false.
    fn predicate(&self, operands: &[&Operand], test: impl Fn(&[&Value]) -> Truth) -> Truth {
        let reached: Vec<Reached> = operands.iter().map(|operand| self.operand(operand)).collect();
        let any_list = reached.iter().any(|reached| matches!(reached, Reached::Each(_)));
        let mut combinations: Vec<Vec<&Value>> = vec![Vec::new()];
        for reached in &reached {
            let values = match reached {
                Reached::One(value) => std::slice::from_ref(value),
                Reached::Each(values) => values,
            };
            combinations = combinations
                .iter()
                .flat_map(|begun| values.iter().map(move |value| [begun.as_slice(), &[value]].concat()))
                .collect();
        }
        let mut truths = combinations.iter().map(|values| test(values));
        match any_list {
            true => Some(truths.any(|truth| truth == Some(true))),
            false => truths.next().flatten(),
        }
    }

    fn operand(&self, operand: &Operand) -> Reached {
        match operand {
            Operand::Path(path) => self.view.reached(self.row, path),
            // The language only makes constants that are values.
            Operand::Constant(constant) => Reached::One(Value::of_constant(constant).unwrap_or(Value::Null)),
            Operand::Parameter(index) => {
                Reached::One(self.parameters.get(*index).cloned().unwrap_or(Value::Null))
            }
        }
    }

    fn contained(&self, value: &Operand, set: &InSet) -> Truth {
        let is_one_of = |value: &Value, items: &[&Value]| {
            some(items.iter().map(|item| compared(value, Comparison::Equal, item)))
        };
        match set {
            InSet::List(items) => {
                let operands: Vec<&Operand> = std::iter::once(value).chain(items).collect();
                self.predicate(&operands, |values| {
                    let (value, items) = values.split_first()?;
                    is_one_of(value, items)
                })
            }
            InSet::Parameter(index) => match self.parameters.get(*index) {
                Some(Value::List(elements)) => {
                    let items: Vec<&Value> = elements.iter().map(|element| &element.value).collect();
                    self.predicate(&[value], |values| is_one_of(values.first()?, &items))
                }
                _null => self.predicate(&[value], |_| None),
            },
        }
    }

    fn on_texts(&self, value: &Operand, argument: &Operand, test: impl Fn(&str, &str) -> bool) -> Truth {
        self.predicate(&[value, argument], |values| match values {
            [Value::Text(text), Value::Text(argument)] => Some(test(text, argument)),
            _null => None,
        })
    }

    /// The class of the instances that a condition about a tree compares.
    fn class_of(&self, condition: &Condition) -> Option<ClassId> {
        let (Condition::Under { value, .. } | Condition::Above { value, .. }) = condition else {
            return None;
        };
        let Operand::Path(Path { position, leaf, .. }) = value else { return None };
        match leaf {
            askloom_model::Leaf::Reference(end) => Some(self.view.conceptual.ends[*end].target),
            askloom_model::Leaf::Itself => self.classes.get(position.index()).copied().flatten(),
            askloom_model::Leaf::Attribute(_) | askloom_model::Leaf::Bucket(_) => None,
        }
    }
}

/// Comparing with null is unknown.
fn compared(left: &Value, op: Comparison, right: &Value) -> Truth {
    if left.is_null() || right.is_null() {
        return None;
    }
    let ordering = compare(left, right);
    Some(match op {
        Comparison::Equal => ordering == Ordering::Equal,
        Comparison::NotEqual => ordering != Ordering::Equal,
        Comparison::Less => ordering == Ordering::Less,
        Comparison::LessOrEqual => ordering != Ordering::Greater,
        Comparison::Greater => ordering == Ordering::Greater,
        Comparison::GreaterOrEqual => ordering != Ordering::Less,
    })
}

/// False if one is false, else unknown if one is unknown, else true.
fn all(truths: impl IntoIterator<Item = Truth>) -> Truth {
    let truths: Vec<Truth> = truths.into_iter().collect();
    if truths.contains(&Some(false)) {
        return Some(false);
    }
    if truths.contains(&None) { None } else { Some(true) }
}

/// True if one is true, else unknown if one is unknown, else false.
fn some(truths: impl IntoIterator<Item = Truth>) -> Truth {
    let truths: Vec<Truth> = truths.into_iter().collect();
    if truths.contains(&Some(true)) {
        return Some(true);
    }
    if truths.contains(&None) { None } else { Some(false) }
}
