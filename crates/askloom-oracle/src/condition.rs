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
            Condition::Not(inner) => negation(self.truth(inner)),
            Condition::Negated(inner) => self.some(inner, true),
            Condition::Compare { .. }
            | Condition::Between { .. }
            | Condition::In { .. }
            | Condition::StartsWith { .. }
            | Condition::IsNull { .. }
            | Condition::Matches { .. }
            | Condition::Under { .. }
            | Condition::Above { .. }
            | Condition::Within { .. }
            | Condition::InBox { .. } => self.some(condition, false),
        }
    }

    /// A predicate about single values, or with `not` its negation, as it is. If an operand stands for many values, it
    /// is true if some combination of them makes it true, otherwise false.
    fn some(&self, predicate: &Condition, not: bool) -> Truth {
        let reached: Vec<Reached> =
            operands(predicate).into_iter().map(|operand| self.operand(operand)).collect();
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
        let mut truths = combinations.iter().map(|values| {
            let truth = self.of_values(predicate, values);
            if not { negation(truth) } else { truth }
        });
        match any_list {
            true => Some(truths.any(|truth| truth == Some(true))),
            false => truths.next().flatten(),
        }
    }

    /// A predicate about one value for each of its operands.
    fn of_values(&self, predicate: &Condition, values: &[&Value]) -> Truth {
        match (predicate, values) {
            (Condition::Compare { op, .. }, [left, right]) => compared(left, *op, right),
            (Condition::Between { .. }, [value, low, high]) => all([
                compared(value, Comparison::GreaterOrEqual, low),
                compared(value, Comparison::LessOrEqual, high),
            ]),
            (Condition::In { set: InSet::List(_), .. }, [value, items @ ..]) => is_one_of(value, items),
            (Condition::In { set: InSet::Parameter(index), .. }, [value]) => {
                let Some(Value::List(elements)) = self.parameters.get(*index) else { return None };
                let items: Vec<&Value> = elements.iter().map(|element| &element.value).collect();
                is_one_of(value, &items)
            }
            (Condition::StartsWith { .. }, [Value::Text(text), Value::Text(prefix)]) => {
                Some(text.starts_with(prefix.as_str()))
            }
            (Condition::Matches { .. }, [Value::Text(text), Value::Text(words)]) => {
                Some(words::matches(text, words))
            }
            (Condition::IsNull { .. }, [value]) => Some(value.is_null()),
            (Condition::Under { .. }, [value, of]) => self.lies_under(self.class_of(predicate)?, value, of),
            (Condition::Above { .. }, [value, of]) => self.lies_under(self.class_of(predicate)?, of, value),
            (Condition::Within { .. }, [Value::Geo(point), Value::Double(km), Value::Geo(of)]) => {
                Some(point.distance_km(*of) <= *km)
            }
            (Condition::InBox { .. }, [Value::Geo(point), Value::Geo(low), Value::Geo(high)]) => {
                Some(point.in_box(*low, *high))
            }
            (_, _with_null) => None,
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

    /// The class of the instances that a condition about a tree compares.
    fn class_of(&self, condition: &Condition) -> Option<ClassId> {
        let (Condition::Under { value, .. } | Condition::Above { value, .. }) = condition else {
            return None;
        };
        let Operand::Path(Path { position, leaf, .. }) = value else { return None };
        match leaf {
            askloom_model::Leaf::Reference(end) => Some(self.view.conceptual.ends[*end].target),
            askloom_model::Leaf::Itself => self.classes.get(position.index()).copied().flatten(),
            askloom_model::Leaf::Attribute(_)
            | askloom_model::Leaf::Bucket(_)
            | askloom_model::Leaf::TimeBucket(..) => None,
        }
    }
}

/// The operands of a predicate, in the order of the text; none of what is made of other conditions. A list that a
/// parameter brings is one value, and no operand.
fn operands(predicate: &Condition) -> Vec<&Operand> {
    match predicate {
        Condition::And(_) | Condition::Or(_) | Condition::Not(_) | Condition::Negated(_) => Vec::new(),
        Condition::Compare { left, right, .. } => vec![left, right],
        Condition::Between { value, low, high } | Condition::InBox { value, low, high } => {
            vec![value, low, high]
        }
        Condition::In { value, set: InSet::List(items) } => std::iter::once(value).chain(items).collect(),
        Condition::In { value, set: InSet::Parameter(_) } | Condition::IsNull { value } => vec![value],
        Condition::StartsWith { value, prefix: other }
        | Condition::Matches { value, words: other }
        | Condition::Under { value, of: other }
        | Condition::Above { value, of: other } => vec![value, other],
        Condition::Within { value, km, of } => vec![value, km, of],
    }
}

/// Unknown stays unknown.
fn negation(truth: Truth) -> Truth {
    truth.map(|truth| !truth)
}

fn is_one_of(value: &Value, items: &[&Value]) -> Truth {
    some(items.iter().map(|item| compared(value, Comparison::Equal, item)))
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
