//! What a store that searches finds by itself in a copy, whatever its key. The others go through all of it.

use super::conjuncts::{Conjunct, comparison, conjuncts};
use super::{cover, paths};
use crate::cost::Costing;
use askloom_model::{
    Collection, Comparison, Conceptual, Condition, Contents, Leaf, Operand, Operator, Path, Plan, Query,
    Reading, Role, Type,
};

/// Whether rows of this collection could be searched for at all: each is by itself, in no order of the collection.
/// Where there is an order, a key leads there.
pub(super) fn is_searchable(costing: &Costing<'_>, collection: &Collection) -> bool {
    let rows = matches!(collection.contents, Contents::Fields(_)) && collection.entry_key.is_empty();
    costing.capability.search.is_some() && collection.role == Role::Copy && rows
}

/// The terms of the plan's filter by which the store finds the rows. None if it reads everything, as it does for a query
/// that needs more than the copy holds.
pub(super) fn searched(
    costing: &Costing<'_>,
    conceptual: &Conceptual,
    collection: &Collection,
    query: &Query,
    plan: &Plan,
) -> Vec<Condition> {
    let scanned = plan.access.how == Reading::Scan && plan.joins.is_empty();
    let Some(search) = costing.capability.search.filter(|_| scanned && is_searchable(costing, collection))
    else {
        return Vec::new();
    };
    let held = cover::given_paths(conceptual, collection, &plan.access.positions);
    let is_held = |path: &Path| held.contains(path) || held.contains(&conceptual.same_identity(path));
    let covered = paths::needed_paths(query).iter().chain(&query.identity).all(is_held);
    if !covered || !paths::needs_whole(query).is_empty() {
        return Vec::new();
    }
    let found = |conjunct: &Conjunct<'_>| {
        let (path, operator) = by(conjunct)?;
        let can = search.value.by.contains(&operator) && is_field(conceptual, path);
        can.then(|| conjunct.condition.clone())
    };
    conjuncts(plan.filter.as_ref()).iter().filter_map(found).collect()
}

/// What is left of a condition without some of its terms.
pub(super) fn without(condition: &Condition, terms: &[Condition]) -> Option<Condition> {
    if terms.is_empty() {
        return Some(condition.clone());
    }
    let left = conjuncts(Some(condition)).into_iter().map(|conjunct| conjunct.condition);
    crate::conditions::all_of(left.filter(|term| !terms.contains(term)).cloned().collect())
}

/// The path that a term compares with values, and how.
fn by<'c>(conjunct: &Conjunct<'c>) -> Option<(&'c Path, Operator)> {
    if let Some((path, op, _)) = comparison(conjunct) {
        return match op {
            Comparison::Equal => Some((path, Operator::Equal)),
            Comparison::Less | Comparison::LessOrEqual | Comparison::Greater | Comparison::GreaterOrEqual => {
                Some((path, Operator::Order))
            }
            Comparison::NotEqual => None,
        };
    }
    let plain = |operand: &Operand| !matches!(operand, Operand::Path(_));
    match conjunct.condition {
        Condition::Between { value: Operand::Path(path), low, high } if plain(low) && plain(high) => {
            Some((path, Operator::Order))
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
        | Condition::InBox { .. } => None,
    }
}

/// Whether a row has one field with the value of a path: no list, and no id of several parts.
fn is_field(conceptual: &Conceptual, path: &Path) -> bool {
    let single = super::is_single(conceptual, path);
    single
        && match path.leaf {
            Leaf::Attribute(id) => !matches!(conceptual.attributes[id].ty, Type::Json | Type::Geo),
            Leaf::Reference(id) => {
                let leaves = crate::positions::identity_leaves(conceptual, conceptual.ends[id].target);
                matches!(leaves.as_slice(), [Leaf::Attribute(_)])
            }
            Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => false,
        }
}
