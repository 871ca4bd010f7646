//! Whether the entries of a block come in the order that a query wants, ties included.

use super::conjuncts::{Conjunct, bound_by_equality};
use super::cover::map_path;
use askloom_model::{
    Access, Collection, Contents, KeyField, OrderBy, Path, PositionId, Query, Reading, fault,
};

/// Forwards (`Some(false)`) or backwards (`Some(true)`); `None` if the rows have to be sorted.
///
/// Entries are ordered by the entry key, then by row identity, ascending. The query orders by its terms, then by row
/// identity in the direction of the last term. So after the fields with one value only, the key's fields have to be
/// the query's terms, all in the key's direction or all against it, and the collection's identity the query's.
pub(super) fn direction(
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
    if !matches!(collection.contents, Contents::Fields(_)) || !same_identity(&access.positions, query) {
        return None;
    }
    let unknown = |field: &KeyField| map_path(&field.path, &access.positions).is_none();
    if collection.entry_key.iter().any(unknown) {
        return None;
    }
    let keys = collection.block_key.iter().chain(&collection.entry_key);
    let chosen: Vec<Path> = keys
        .enumerate()
        .filter(|(at, _)| chosen.contains(at))
        .filter_map(|(_, field)| map_path(&field.path, &access.positions))
        .collect();
    let fixed = |path: &Path| bound_by_equality(conjuncts, path).is_some() || chosen.contains(path);
    let mut fields = collection.entry_key.iter().filter_map(|field| {
        let path = map_path(&field.path, &access.positions)?;
        (!fixed(&path)).then_some((path, field.descending))
    });
    let mut backwards: Option<bool> = None;
    for term in &query.order_by {
        let OrderBy::Path(path) = &term.by else { return None };
        if fixed(path) {
            // One value only: the direction of this term still decides that of the ties, if it is the last.
            continue;
        }
        let (field, descending) = fields.next()?;
        let against = term.descending != descending;
        let turned = backwards.is_some_and(|before| before != against) && !fault!(MixedDirectionsIgnored);
        if field != *path || turned {
            return None;
        }
        backwards = Some(against);
    }
    if fields.next().is_some() {
        return None;
    }
    let ties_descend = query.order_by.last().is_some_and(|term| term.descending);
    // The identity at the end of an entry key always ascends.
    match backwards {
        Some(against) if against != ties_descend && !fault!(TieDirectionIgnored) => None,
        Some(against) => Some(against),
        None => Some(ties_descend),
    }
}

/// The collection's positions are all of the query's, in the same order. One that the query does not have hangs on one
/// before it and has no choice.
fn same_identity(positions: &[Option<PositionId>], query: &Query) -> bool {
    positions.iter().flatten().copied().eq(query.positions.ids())
}
