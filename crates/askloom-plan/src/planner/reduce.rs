//! A query without the positions of which it wants nothing but the identity.
//!
//! A reference that is relied on stores the identity of an instance that exists. Whoever has the reference has the
//! position: `FROM Video JOIN Video.comments AS C WHERE Video.videoId = :v` has a row for each comment whose `video` is
//! `:v`, and nothing of a video has to be read.

use super::{cover, main, needed_paths, needs_whole};
use askloom_model::{
    Aggregate, Cardinality, ClassId, ColumnValue, Conceptual, Condition, EndId, Hop, Id, Leaf, Member,
    OrderBy, Path, Position, PositionId, Query, Table,
};

/// The query that has the same rows with fewer positions; nothing if every position is needed.
#[must_use]
pub fn reduced(conceptual: &Conceptual, query: &Query) -> Option<Query> {
    let mut left = Query { identity: query.row_identity(), ..query.clone() };
    let mut fewer = false;
    while let Some(gone) = eliminable(conceptual, &left) {
        left = gone.without(&left)?;
        fewer = true;
    }
    fewer.then_some(left)
}

/// The query, and the one with fewer positions that has the same rows.
pub fn forms(conceptual: &Conceptual, query: &Query) -> Vec<Query> {
    std::iter::once(query.clone()).chain(reduced(conceptual, query)).collect()
}

/// The references that have to lead somewhere for the answer to be that of the query as it was asked: those that stand
/// for positions, and those whose stored ids stand for what they name.
pub(super) fn relies_on(conceptual: &Conceptual, query: &Query) -> Vec<EndId> {
    let mut ends: Vec<EndId> = Vec::new();
    for path in needed_paths(query).iter().chain(&query.identity) {
        let parts = conceptual.identity_parts(path).into_iter().map(|part| part.of.leaf);
        let stands = (path.leaf != Leaf::Itself && query.identity.contains(path)).then_some(path.leaf);
        for leaf in parts.chain(stands) {
            if let Leaf::Reference(end) = leaf
                && conceptual.stores_relied_on(end)
                && !ends.contains(&end)
            {
                ends.push(end);
            }
        }
    }
    ends.sort_unstable();
    ends
}

/// A position, and the reference at another one that stores its identity.
struct Gone {
    position: PositionId,
    at: PositionId,
    reference: EndId,
}

fn eliminable(conceptual: &Conceptual, query: &Query) -> Option<Gone> {
    query.positions.ids().find_map(|position| {
        let gone = match position == main() {
            true => below_main(conceptual, query),
            false => at_the_end(conceptual, query, position),
        };
        gone.filter(|_| is_only_identity(conceptual, query, position))
    })
}

/// The main position, if what hangs on it refers to it, each to one.
fn below_main(conceptual: &Conceptual, query: &Query) -> Option<Gone> {
    let mut below = children(query, main());
    let (Some((at, child)), None) = (below.next(), below.next()) else { return None };
    let Some(Hop { step: Member::End(end), .. }) = child.from else { return None };
    let row = &conceptual.ends[end];
    let reference = row.inverse.filter(|_| !row.stored)?;
    let stored = &conceptual.ends[reference];
    let entity = child.class.is_some_and(|class| conceptual.classes[class].kind.is_entity());
    let always = stored.cardinality == Cardinality::ONE && !child.outer;
    let all = is_all(conceptual, stored.target, query.positions[main()].class);
    let known = conceptual.stores_relied_on(reference) && always && entity && all;
    known.then_some(Gone { position: main(), at, reference })
}

/// A position on which nothing hangs and that a reference leads to, one from each row.
fn at_the_end(conceptual: &Conceptual, query: &Query, position: PositionId) -> Option<Gone> {
    let here = &query.positions[position];
    let Some(Hop { parent, step: Member::End(reference) }) = here.from else { return None };
    let row = &conceptual.ends[reference];
    let always = row.cardinality == Cardinality::ONE && !query.positions[parent].outer;
    let one = !row.cardinality.is_many() && (here.outer || always);
    let last = children(query, position).next().is_none();
    let all = is_all(conceptual, row.target, here.class);
    let known = conceptual.stores_relied_on(reference) && one && last && all;
    known.then_some(Gone { position, at: parent, reference })
}

/// Whether every target of a reference is of the class that a position asks for.
fn is_all(conceptual: &Conceptual, target: ClassId, class: Option<ClassId>) -> bool {
    class.is_some_and(|class| conceptual.is_kind_of(target, class))
}

fn children(query: &Query, of: PositionId) -> impl Iterator<Item = (PositionId, &Position)> {
    query.positions.iter().filter(move |(_, position)| position.from.is_some_and(|hop| hop.parent == of))
}

/// Whether nothing of a position but its identity is wanted.
fn is_only_identity(conceptual: &Conceptual, query: &Query, position: PositionId) -> bool {
    let Some(class) = query.positions[position].class else { return false };
    let of_identity = |path: &Path| {
        let near = conceptual.nearest(path);
        near.hops.is_empty() && conceptual.component(class, near.leaf).is_some()
    };
    let mut paths = needed_paths(query).into_iter().chain(query.identity.iter().cloned());
    !needs_whole(query).contains(&position)
        && paths.all(|path| path.position != position || of_identity(&path))
}

impl Gone {
    fn without(&self, query: &Query) -> Option<Query> {
        let path = |path: &Path| Some(self.path(path));
        let aggregate = |aggregate: &Aggregate| Aggregate {
            of: aggregate.of.as_ref().map(|of| self.path(of)),
            ..aggregate.clone()
        };
        let condition: Option<Condition> = match &query.condition {
            Some(condition) => Some(cover::map_paths(condition, &path)?),
            None => None,
        };
        let mut left = Query { positions: self.positions(query), condition, ..query.clone() };
        for column in &mut left.columns {
            column.value = match &column.value {
                ColumnValue::Whole(position) => ColumnValue::Whole(self.renumbered(*position)),
                ColumnValue::Path(of) => ColumnValue::Path(self.path(of)),
                ColumnValue::Aggregate(of) => ColumnValue::Aggregate(aggregate(of)),
            };
        }
        for term in &mut left.order_by {
            term.by = match &term.by {
                OrderBy::Path(of) => OrderBy::Path(self.path(of)),
                OrderBy::Aggregate(of) => OrderBy::Aggregate(aggregate(of)),
            };
        }
        let groups = left.per_group.iter_mut().flat_map(|per_group| &mut per_group.by);
        for of in left.group_by.iter_mut().chain(&mut left.identity).chain(groups) {
            *of = self.path(of);
        }
        for stated in &mut left.stated {
            if let Some(condition) = &stated.condition {
                stated.condition = Some(cover::map_paths(condition, &path)?);
            }
        }
        Some(left)
    }

    fn positions(&self, query: &Query) -> Table<PositionId, Position> {
        let mut left = Table::default();
        for (_, position) in query.positions.iter().filter(|(id, _)| *id != self.position) {
            let from = position.from.filter(|hop| hop.parent != self.position);
            let from = from.map(|hop| Hop { parent: self.renumbered(hop.parent), ..hop });
            left.push(Position { from, ..position.clone() });
        }
        left
    }

    fn renumbered(&self, position: PositionId) -> PositionId {
        match position > self.position {
            true => PositionId::from_index(position.index() - 1),
            false => position,
        }
    }

    /// The path from a position that is left.
    fn path(&self, path: &Path) -> Path {
        if path.position != self.position {
            return Path { position: self.renumbered(path.position), ..path.clone() };
        }
        let position = self.renumbered(self.at);
        if path.hops.is_empty() && path.leaf == Leaf::Itself {
            return Path { position, hops: Vec::new(), leaf: Leaf::Reference(self.reference) };
        }
        let hops = std::iter::once(self.reference).chain(path.hops.iter().copied()).collect();
        Path { position, hops, leaf: path.leaf }
    }
}
