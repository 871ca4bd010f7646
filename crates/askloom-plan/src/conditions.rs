//! What single conditions say of a path, and several conditions as one.

use askloom_model::{Comparison, Condition, Operand, Path};

/// Several conditions as one.
#[must_use]
pub fn all_of(mut conditions: Vec<Condition>) -> Option<Condition> {
    match conditions.len() {
        0 | 1 => conditions.pop(),
        _several => Some(Condition::And(conditions)),
    }
}

/// The path that a condition gives one value.
#[must_use]
pub fn equality(condition: &Condition) -> Option<&Path> {
    let Condition::Compare { left, op: Comparison::Equal, right } = condition else { return None };
    match (left, right) {
        (Operand::Path(path), Operand::Constant(_) | Operand::Parameter(_))
        | (Operand::Constant(_) | Operand::Parameter(_), Operand::Path(path)) => Some(path),
        (_, _) => None,
    }
}

/// The path that a condition gives a choice of values.
#[must_use]
pub fn membership(condition: &Condition) -> Option<&Path> {
    if let Condition::In { value: Operand::Path(path), .. } = condition { Some(path) } else { None }
}

/// The path that a condition gives bounds.
#[must_use]
pub fn range(condition: &Condition) -> Option<&Path> {
    if let Condition::Compare { left: Operand::Path(path), op, right } = condition {
        let ranges = !matches!(op, Comparison::Equal | Comparison::NotEqual);
        return (ranges && !matches!(right, Operand::Path(_))).then_some(path);
    }
    if let Condition::Between { value: Operand::Path(path), .. }
    | Condition::StartsWith { value: Operand::Path(path), .. } = condition
    {
        return Some(path);
    }
    None
}

/// Whether a condition is about all ancestors of an instance: a copy that depended on it could not be kept.
#[must_use]
pub fn is_about_tree(condition: &Condition) -> bool {
    match condition {
        Condition::And(terms) | Condition::Or(terms) => terms.iter().any(is_about_tree),
        Condition::Not(inner) | Condition::Negated(inner) => is_about_tree(inner),
        Condition::Under { .. } | Condition::Above { .. } => true,
        Condition::Compare { .. }
        | Condition::Between { .. }
        | Condition::In { .. }
        | Condition::StartsWith { .. }
        | Condition::IsNull { .. }
        | Condition::Matches { .. }
        | Condition::Within { .. }
        | Condition::InBox { .. } => false,
    }
}

#[must_use]
pub fn has_parameter(condition: &Condition) -> bool {
    let parameter = |operand: &Operand| matches!(operand, Operand::Parameter(_));
    match condition {
        Condition::And(terms) | Condition::Or(terms) => terms.iter().any(has_parameter),
        Condition::Not(inner) | Condition::Negated(inner) => has_parameter(inner),
        Condition::Compare { left, right, .. } => parameter(left) || parameter(right),
        Condition::Between { value, low, high } | Condition::InBox { value, low, high } => {
            parameter(value) || parameter(low) || parameter(high)
        }
        Condition::In { value, set } => {
            parameter(value)
                || match set {
                    askloom_model::InSet::List(items) => items.iter().any(parameter),
                    askloom_model::InSet::Parameter(_) => true,
                }
        }
        Condition::StartsWith { value, prefix: other }
        | Condition::Matches { value, words: other }
        | Condition::Under { value, of: other }
        | Condition::Above { value, of: other } => parameter(value) || parameter(other),
        Condition::IsNull { value } => parameter(value),
        Condition::Within { value, km, of } => parameter(value) || parameter(km) || parameter(of),
    }
}
