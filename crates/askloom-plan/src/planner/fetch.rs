//! Copies in which a row is found by its own identity: what an index does not hold comes from there.

use super::same::is_given;
use super::{Planner, cover, needed_paths, needs_whole};
use crate::cost::Sizes;
use askloom_model::{
    Collection, CollectionId, Contents, Design, Fetch, Keeper, Leaf, Mapped, Path, PositionId, Role,
};

impl Planner<'_> {
    /// Which copies are looked into for what the rows of a collection do not hold themselves: none, one, or two of which
    /// each gives something that the other one does not. Whatever other copies there are, these ways stay, so that who
    /// adds a collection takes no plan from anybody.
    pub(super) fn fetches(
        &self,
        access: CollectionId,
        positions: &[Option<PositionId>],
        of: Of,
    ) -> Vec<Vec<Fetch>> {
        let collection = &self.design.collections[access];
        let mut ways = vec![Vec::new()];
        // What a copy holds of the expired is told from what lives by the masters.
        if self.expires {
            return ways;
        }
        // A master has all of its own, and what it carries comes with its records.
        if collection.role == Role::Master {
            return vec![self.carried(collection, positions).into_iter().collect()];
        }
        let lacking = self.lacking(collection, positions);
        if lacking.is_empty() {
            return ways;
        }
        // An index of the store's own finds nothing by an identity.
        let others = self.design.collections.iter();
        let others = others.filter(|(id, other)| {
            *id != access && other.keeper == Keeper::Ours && other.role != Role::Carried
        });
        let mut others: Vec<(Fetch, Vec<bool>)> = others
            .filter_map(|(id, other)| {
                let fetch = Fetch { collection: id, positions: self.found_by_identity(other, positions)? };
                let given: Vec<bool> =
                    lacking.iter().map(|lack| lack.is_given(self.design, &fetch)).collect();
                given.contains(&true).then_some((fetch, given))
            })
            .collect();
        match of {
            Of::All => {}
            Of::Cheapest => self.cheapest_of_each(&mut others),
        }
        ways.extend(others.iter().map(|(fetch, _)| vec![fetch.clone()]));
        for (at, (one, gives)) in others.iter().enumerate() {
            for (other, too) in others.iter().skip(at + 1) {
                ways.extend(both((one, gives), (other, too)));
            }
        }
        ways
    }

    /// What the records of a master carry, if the query needs some of it.
    fn carried(&self, master: &Collection, positions: &[Option<PositionId>]) -> Option<Fetch> {
        let id = self.design.carried(master.source.root)?;
        let found = self.found_by_identity(&self.design.collections[id], positions)?;
        let fetch = Fetch { collection: id, positions: found };
        let needed = needed_paths(self.query);
        let some = needed.iter().chain(&self.query.identity).any(|path| gives(self.design, &fetch, path));
        some.then_some(fetch)
    }

    /// Leaves out what gives no more than another one that is read for no more.
    fn cheapest_of_each(&self, others: &mut Vec<(Fetch, Vec<bool>)>) {
        let statistics = self.costing.statistics(self.conceptual);
        let sizes = Sizes { statistics: &statistics, design: self.design };
        let bytes = |fetch: &Fetch| match self.design.collections[fetch.collection].contents {
            Contents::Fields(_) if !fetch.positions.contains(&None) => {
                Some(sizes.entry_bytes(fetch.collection))
            }
            Contents::Fields(_) | Contents::Nested(_) | Contents::Aggregate(_) => None,
        };
        let mut left: Vec<(Fetch, Vec<bool>, Option<f64>)> = Vec::new();
        for (fetch, given) in others.drain(..) {
            let read = bytes(&fetch);
            let no_less = |a: &[bool], b: &[bool]| a.iter().zip(b).all(|(a, b)| *a || !b);
            let beats = |a: (&[bool], Option<f64>), b: (&[bool], Option<f64>)| {
                a.1.zip(b.1).is_some_and(|(a, b)| a <= b) && no_less(a.0, b.0)
            };
            if left.iter().any(|(_, other, bytes)| beats((other, *bytes), (&given, read))) {
                continue;
            }
            left.retain(|(_, other, bytes)| !beats((&given, read), (other, *bytes)));
            left.push((fetch, given, read));
        }
        others.extend(left.into_iter().map(|(fetch, given, _)| (fetch, given)));
    }

    /// What the query needs of the collection's positions and the collection does not hold.
    fn lacking(&self, collection: &Collection, positions: &[Option<PositionId>]) -> Vec<Lack> {
        let whole: Vec<PositionId> = collection
            .whole()
            .iter()
            .filter_map(|position| positions.get(askloom_model::Id::index(*position)).copied()?)
            .collect();
        // The record that an index leads to has all of its root.
        let leads = self.costing.capability.leads_to_records(self.conceptual, collection);
        let record = positions.first().copied().flatten().filter(|_| leads);
        let held = cover::given_paths(self.conceptual, collection, positions);
        let at_hand = |path: &Path| {
            let of_record = record == Some(path.position) && path.hops.is_empty();
            of_record || held.contains(path) || self.same().is_of_identity(path)
        };
        let identity = self.query.identity.iter().cloned();
        let paths = needed_paths(self.query).into_iter().chain(identity).filter(|path| {
            positions.contains(&Some(path.position)) && !is_given(self.conceptual, path, &at_hand)
        });
        let wholes = needs_whole(self.query).into_iter().filter(|&position| {
            positions.contains(&Some(position))
                && record != Some(position)
                && !cover::spells_out(self.conceptual, collection, self.query, &held, position)
        });
        let lacking = paths.map(Lack::Path).chain(wholes.map(Lack::Whole));
        lacking.filter(|lack| !whole.contains(&lack.position())).collect()
    }

    /// The query's position for each of the collection's, if whoever has a row of these positions knows the key of its
    /// entry there.
    fn found_by_identity(&self, other: &Collection, positions: &[Option<PositionId>]) -> Option<Mapped> {
        // An element of a list is told apart by its ordinal, and a key holds its value.
        let is_entity = |position: PositionId| {
            let class = other.source.positions[position].class;
            class.is_some_and(|class| self.conceptual.classes[class].kind.is_entity())
        };
        let by_identity = other.role != Role::Master
            && other.indexed().is_none()
            && other.entry_key.is_empty()
            && other.block_key.iter().all(|field| {
                field.path.leaf == Leaf::Itself
                    && field.path.hops.is_empty()
                    && is_entity(field.path.position)
                    && !field.descending
            });
        if !by_identity {
            return None;
        }
        let found = cover::embed(self.conceptual, other, self.query, &self.homes)?;
        if !self.is_kept(other) {
            return None;
        }
        self.implied(other, &found)?;
        // What is not known of the identity has to be at its end: it has no choice, so there is one entry.
        let mut behind = found.iter().skip_while(|position| position.is_some());
        let known = behind.all(Option::is_none)
            && other.block_key.iter().all(|field| cover::map_path(&field.path, &found).is_some());
        let there = found.iter().flatten().all(|position| positions.contains(&Some(*position)));
        (known && there).then_some(found)
    }
}

/// Which copies are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// All: whoever chooses among collections may not have the better one.
    All,
    /// Those that can be part of the cheapest plan.
    Cheapest,
}

/// Two copies, first the one that gives more, if each gives something that the other one does not.
fn both(one: (&Fetch, &[bool]), other: (&Fetch, &[bool])) -> Option<Vec<Fetch>> {
    let more = |a: &[bool], b: &[bool]| a.iter().zip(b).any(|(a, b)| *a && !b);
    let count = |gives: &[bool]| gives.iter().filter(|given| **given).count();
    let (first, second) = if count(other.1) > count(one.1) { (other, one) } else { (one, other) };
    let useful = more(first.1, second.1) && more(second.1, first.1);
    useful.then(|| vec![first.0.clone(), second.0.clone()])
}

/// Something that a query needs.
enum Lack {
    Path(Path),
    Whole(PositionId),
}

impl Lack {
    fn position(&self) -> PositionId {
        match self {
            Self::Path(path) => path.position,
            Self::Whole(position) => *position,
        }
    }

    fn is_given(&self, design: &Design, fetch: &Fetch) -> bool {
        let whole = gives_whole(design, fetch, self.position());
        match self {
            Self::Path(path) => whole || gives(design, fetch, path),
            Self::Whole(_) => whole,
        }
    }
}

/// Whether the entries of a copy come with the records that are read first.
pub(super) fn is_carried(design: &Design, fetch: &Fetch) -> bool {
    design.collections[fetch.collection].role == Role::Carried
}

/// Whether the entries of a copy hold the value of a path of the query.
pub(super) fn gives(design: &Design, fetch: &Fetch, path: &Path) -> bool {
    let fields = design.collections[fetch.collection].fields();
    fields.iter().any(|held| cover::map_path(held, &fetch.positions).as_ref() == Some(path))
}

/// Whether they hold the whole aggregate at a position of the query.
pub(super) fn gives_whole(design: &Design, fetch: &Fetch, position: PositionId) -> bool {
    let whole = design.collections[fetch.collection].whole();
    whole.iter().any(|own| fetch.positions.get(askloom_model::Id::index(*own)) == Some(&Some(position)))
}
