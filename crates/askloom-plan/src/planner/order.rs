//! Whether the entries of a block come in the order that a query wants, ties included.

use super::conjuncts::{Conjunct, comparison};
use super::cover::map_path;
use super::is_single;
use super::same::{Atom, Same};
use askloom_model::{
    Access, Collection, Comparison, Contents, KeyField, KeySet, Leaf, OrderBy, Path, Query, Reading, fault,
};

/// Forwards (`Some(false)`) or backwards (`Some(true)`); `None` if the rows have to be sorted.
///
/// Entries are ordered by the entry key, then by row identity, ascending. The query orders by its terms, then by row
/// identity in the direction of the last term. So without what has one value only and what comes again, what the entries
/// are ordered by has to be what the query orders by, all in the key's direction or all against it.
pub(super) fn direction(
    same: Same<'_>,
    collection: &Collection,
    access: &Access,
    query: &Query,
    conjuncts: &[Conjunct<'_>],
) -> Option<bool> {
    let mut how = &access.how;
    // Fields that a set gives a value have one value in each of the ranges.
    let mut chosen = Vec::new();
    while let Reading::Each { field, of, .. } = how {
        chosen.push(*field);
        how = of;
    }
    let Reading::Range { .. } = how else { return None };
    let ordered = match collection.contents {
        Contents::Fields(_) => true,
        // Aggregates of one partition are in the order of their ids, as the key has them.
        Contents::Aggregate(_) => collection.is_clustered(),
        Contents::Nested(_) => false,
    };
    if !ordered {
        return None;
    }
    let unknown = |field: &KeyField| map_path(&field.path, &access.positions).is_none();
    if collection.entry_key.iter().any(unknown) {
        return None;
    }
    let keys = collection.block_key.iter().chain(&collection.entry_key);
    let chosen = keys
        .enumerate()
        .filter(|(at, _)| chosen.contains(at))
        .filter_map(|(_, field)| map_path(&field.path, &access.positions));
    let mut fixed: Vec<Atom> = chosen.flat_map(|path| same.atoms(&path)).collect();
    for conjunct in conjuncts {
        if let Some((path, Comparison::Equal, _)) = comparison(conjunct)
            && is_single(same.conceptual, path)
        {
            fixed.extend(same.atoms(path));
        }
    }
    let stored = Sequence::new(&fixed, &stored_order(same, collection, access));
    let wanted = wanted_order(same, query)?;
    let terms = Sequence::new(&fixed, wanted.get(..query.order_by.len())?).0.len();
    let wanted = Sequence::new(&fixed, &wanted);
    let backwards = stored.turned_to(&wanted, terms)?;
    Some(backwards.unwrap_or_else(|| ties_descend(query)))
}

/// Whether the ranges of a set's values, one after the other, are in the order that each of them has: buckets of the time
/// that their entries are ordered by first.
pub(super) fn follow_each_other(collection: &Collection, field: usize, set: &KeySet) -> bool {
    let leaf = |field: Option<&KeyField>| field.map(|field| field.path.leaf);
    let first = leaf(collection.entry_key.first());
    match (set, leaf(collection.block_key.get(field))) {
        (KeySet::Buckets(_), Some(Leaf::TimeBucket(id, _))) => first == Some(Leaf::Attribute(id)),
        (KeySet::Buckets(_) | KeySet::In(_), _) => false,
    }
}

/// What something is ordered by, and whether that descends.
type Term = (Vec<Atom>, bool);

/// What entries are ordered by: the key, then the identities of the collection's positions. One that the query does not
/// have hangs on one before it and has no choice.
fn stored_order(same: Same<'_>, collection: &Collection, access: &Access) -> Vec<Term> {
    let keys = collection
        .entry_key
        .iter()
        .filter_map(|field| Some((same.atoms(&map_path(&field.path, &access.positions)?), field.descending)));
    let itself = |position| Path { position, hops: Vec::new(), leaf: Leaf::Itself };
    let positions = access.positions.iter().flatten();
    let identity = positions.map(|&position| (same.identity_atoms(&itself(position)), false));
    keys.chain(identity).collect()
}

/// What the query is ordered by: its terms, then the identity of a row.
fn wanted_order(same: Same<'_>, query: &Query) -> Option<Vec<Term>> {
    let term = |by: &OrderBy| match by {
        OrderBy::Path(path) => Some(same.atoms(path)),
        OrderBy::Aggregate(_) => None,
    };
    let terms = query.order_by.iter().map(|order| Some((term(&order.by)?, order.descending)));
    let ties = ties_descend(query);
    let identity = query.row_identity();
    let identity = identity.iter().map(|path| Some((same.identity_atoms(path), ties)));
    terms.chain(identity).collect()
}

fn ties_descend(query: &Query) -> bool {
    query.order_by.last().is_some_and(|term| term.descending)
}

/// What something is ordered by, each with whether it descends.
struct Sequence(Vec<(Atom, bool)>);

impl Sequence {
    fn new(fixed: &[Atom], order: &[Term]) -> Self {
        let mut all: Vec<(Atom, bool)> = Vec::new();
        for (atoms, descending) in order {
            for atom in atoms {
                if !fixed.contains(atom) && all.iter().all(|(before, _)| before != atom) {
                    all.push((atom.clone(), *descending));
                }
            }
        }
        Self(all)
    }

    /// Whether it has to be read backwards to be as wanted, if that makes a difference; nothing if it is another order. So
    /// many of what is wanted are the query's own terms.
    fn turned_to(&self, wanted: &Self, terms: usize) -> Option<Option<bool>> {
        if self.0.len() != wanted.0.len() {
            return None;
        }
        let mut backwards: Option<bool> = None;
        for (at, ((own, descends), (asked, should))) in self.0.iter().zip(&wanted.0).enumerate() {
            let against = descends != should;
            let turned = backwards.is_some_and(|before| before != against);
            let ignored = match at < terms {
                true => fault!(MixedDirectionsIgnored),
                false => fault!(TieDirectionIgnored),
            };
            if own != asked || (turned && !ignored) {
                return None;
            }
            backwards = backwards.or(Some(against));
        }
        Some(backwards)
    }
}
