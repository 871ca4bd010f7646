//! The terms of a WHERE that must all hold.

use askloom_model::{Comparison, Condition, InSet, Inclusive, KeyRange, Leaf, Operand, Path};

#[derive(Debug, Clone, Copy)]
pub struct Conjunct<'c> {
    pub condition: &'c Condition,
}

/// The terms of an AND, nested ones flattened; the condition itself if it is none.
#[must_use]
pub fn conjuncts(condition: Option<&Condition>) -> Vec<Conjunct<'_>> {
    let mut found = Vec::new();
    let mut open: Vec<&Condition> = condition.into_iter().collect();
    while let Some(condition) = open.pop() {
        match condition {
            Condition::And(terms) => open.extend(terms.iter().rev()),
            Condition::Or(_)
            | Condition::Not(_)
            | Condition::Negated(_)
            | Condition::Compare { .. }
            | Condition::Between { .. }
            | Condition::In { .. }
            | Condition::StartsWith { .. }
            | Condition::IsNull { .. }
            | Condition::Matches { .. }
            | Condition::Under { .. }
            | Condition::Above { .. }
            | Condition::Within { .. }
            | Condition::InBox { .. } => found.push(Conjunct { condition }),
        }
    }
    found
}

/// `path op operand`, turned round if it is written the other way.
pub(super) fn comparison<'c>(conjunct: &Conjunct<'c>) -> Option<(&'c Path, Comparison, &'c Operand)> {
    let Condition::Compare { left, op, right } = conjunct.condition else { return None };
    match (left, right) {
        (Operand::Path(path), Operand::Constant(_) | Operand::Parameter(_)) => Some((path, *op, right)),
        (Operand::Constant(_) | Operand::Parameter(_), Operand::Path(path)) => {
            Some((path, op.turned(), left))
        }
        (Operand::Path(_), Operand::Path(_)) | (Operand::Constant(_) | Operand::Parameter(_), _) => None,
    }
}

/// What a conjunct says about the value of a path.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Binding {
    /// It is this one.
    Value(Operand),
    /// It is one of these.
    Set(InSet),
}

/// A path that is compared: whether it has the value that is asked for.
pub(super) type Is<'i> = &'i dyn Fn(&Path) -> bool;

/// The conjunct that gives a path one value, the path as it stands there, and the value.
pub(super) fn bound_by_equality<'c>(
    conjuncts: &[Conjunct<'c>],
    is: Is<'_>,
) -> Option<(usize, &'c Path, &'c Operand)> {
    conjuncts.iter().enumerate().find_map(|(index, conjunct)| match comparison(conjunct) {
        Some((bound, Comparison::Equal, operand)) if is(bound) => Some((index, bound, operand)),
        Some(_) | None => None,
    })
}

/// The conjunct that gives a path one value, else one that gives it a choice of values.
pub(super) fn bound(conjuncts: &[Conjunct<'_>], is: Is<'_>) -> Option<(usize, Binding)> {
    if let Some((index, _, operand)) = bound_by_equality(conjuncts, is) {
        return Some((index, Binding::Value(operand.clone())));
    }
    let set = |conjunct: &Conjunct<'_>| choice(conjunct.condition, is).map(Binding::Set);
    conjuncts.iter().enumerate().find_map(|(index, conjunct)| Some((index, set(conjunct)?)))
}

/// The values among which a condition leaves the path a choice: IN, or equalities joined by OR.
fn choice(condition: &Condition, is: Is<'_>) -> Option<InSet> {
    match condition {
        Condition::In { value: Operand::Path(bound), set } if is(bound) => match set {
            InSet::List(items) if items.iter().any(|item| matches!(item, Operand::Path(_))) => None,
            InSet::List(_) | InSet::Parameter(_) => Some(set.clone()),
        },
        Condition::Or(terms) => {
            let mut items = Vec::new();
            for term in terms {
                match comparison(&Conjunct { condition: term }) {
                    Some((bound, Comparison::Equal, operand)) if is(bound) => items.push(operand.clone()),
                    Some(_) => return None,
                    None => match choice(term, is)? {
                        InSet::List(more) => items.extend(more),
                        // A list that is a parameter cannot be joined with others before it is given.
                        InSet::Parameter(_) => return None,
                    },
                }
            }
            Some(InSet::List(items))
        }
        Condition::And(_)
        | Condition::Not(_)
        | Condition::Negated(_)
        | Condition::Compare { .. }
        | Condition::Between { .. }
        | Condition::In { .. }
        | Condition::StartsWith { .. }
        | Condition::IsNull { .. }
        | Condition::Matches { .. }
        | Condition::Under { .. }
        | Condition::Above { .. }
        | Condition::Within { .. }
        | Condition::InBox { .. } => None,
    }
}

/// Narrows a range by a conjunct about the path. True if the conjunct is then guaranteed by the range.
pub(super) fn narrow(conjunct: &Conjunct<'_>, path: &Path, is: Is<'_>, range: &mut KeyRange) -> bool {
    if let Some((bound, op, operand)) = comparison(conjunct) {
        return is(bound) && range.narrow(op, operand);
    }
    match conjunct.condition {
        Condition::Between { value: Operand::Path(bound), low, high }
            if is(bound) && *range == KeyRange::ALL =>
        {
            let plain = |operand: &Operand| !matches!(operand, Operand::Path(_));
            if !plain(low) || !plain(high) {
                return false;
            }
            range.low = Some((low.clone(), Inclusive::Yes));
            range.high = Some((high.clone(), Inclusive::Yes));
            true
        }
        // The texts in a key start so; those in an id within a key do not.
        Condition::StartsWith { value: Operand::Path(bound), prefix }
            if bound == path && *range == KeyRange::ALL =>
        {
            if matches!(prefix, Operand::Path(_)) {
                return false;
            }
            range.prefix = Some(prefix.clone());
            true
        }
        Condition::And(_)
        | Condition::Or(_)
        | Condition::Not(_)
        | Condition::Negated(_)
        | Condition::Compare { .. }
        | Condition::Between { .. }
        | Condition::In { .. }
        | Condition::StartsWith { .. }
        | Condition::IsNull { .. }
        | Condition::Matches { .. }
        | Condition::Under { .. }
        | Condition::Above { .. }
        | Condition::Within { .. }
        | Condition::InBox { .. } => false,
    }
}

/// Whether a path has exactly one value in each row: no list, no to-many hop.
#[must_use]
pub fn is_single(conceptual: &askloom_model::Conceptual, path: &Path) -> bool {
    let hops = path.hops.iter().all(|&hop| !conceptual.ends[hop].cardinality.is_many());
    let leaf = match path.leaf {
        Leaf::Attribute(id) => !conceptual.attributes[id].list,
        Leaf::Reference(id) => !conceptual.ends[id].cardinality.is_many(),
        Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => true,
    };
    hops && leaf
}
