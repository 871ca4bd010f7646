//! Collections that could serve: for each query the view that answers it with one request and what is less than that,
//! what the other methods make, unions of what has the same rows and keys, and indexes of the store's own.

use crate::cost::Costing;
use crate::method::complete;
use crate::{native, simple, upkeep};
use askloom_model::{
    Collection, CollectionId, Conceptual, Contents, Design, Id, Keeper, KeyField, Leaf, Member, Model,
    Origin, Path, Position, PositionId, Query, Role, Table,
};

/// All collections that are looked at, in one design: masters and what every design needs first, then candidates, then
/// the ways back that some of them need.
#[derive(Debug, Clone)]
pub(super) struct Pool {
    pub(super) design: Design,
    /// Where candidates begin.
    pub(super) first: usize,
    /// Where ways back begin.
    pub(super) back: usize,
    /// How many candidates were made, those that turned out to be the same included.
    pub(super) made: usize,
}

impl Pool {
    /// `masters` has the masters, and what every design of the model needs.
    pub(super) fn new(model: &Model, costing: &Costing<'_>, masters: &Design, others: &[Design]) -> Self {
        let mut pool = Self { design: masters.clone(), first: masters.collections.len(), back: 0, made: 0 };
        for query in &complete::questions(model) {
            for candidate in of_query(model, query) {
                pool.add(&model.conceptual, candidate);
            }
        }
        for (_, collection) in others.iter().flat_map(|design| design.collections.iter()) {
            pool.add(&model.conceptual, Collection { origin: Origin::Method, ..collection.clone() });
        }
        pool.unions(&model.conceptual);
        pool.natives(&model.conceptual, costing);
        pool.back = pool.design.collections.len();
        upkeep::add_indexes(model, &mut pool.design);
        pool
    }

    pub(super) fn optional(&self) -> impl Iterator<Item = CollectionId> + '_ {
        self.design.collections.ids().skip(self.first)
    }

    /// Without the ways back.
    pub(super) fn without_ways_back(&self) -> Design {
        let mut design = self.design.clone();
        design.collections.truncate(self.back);
        design
    }

    fn add(&mut self, conceptual: &Conceptual, candidate: Collection) {
        let copy = candidate.role != Role::Master && candidate.reverses().is_none();
        if !copy || (candidate.block_key.is_empty() && candidate.entry_key.is_empty()) {
            return;
        }
        self.made += 1;
        if self.known(&candidate).is_none() && is_kept(conceptual, &candidate) {
            let name = upkeep::unused(&self.design, candidate.name.clone());
            self.design.collections.push(Collection { name, ..candidate });
        }
    }

    /// The collection that holds the same under the same keys.
    pub(super) fn known(&self, candidate: &Collection) -> Option<CollectionId> {
        let same = |other: &Collection| {
            other.source == candidate.source
                && other.block_key == candidate.block_key
                && other.entry_key == candidate.entry_key
                && other.contents == candidate.contents
                && other.keeper == candidate.keeper
                && other.indexed().is_some() == candidate.indexed().is_some()
        };
        self.design.collections.iter().find(|(_, other)| same(other)).map(|(id, _)| id)
    }

    /// Candidates with the same rows and keys as one that holds what all of them hold.
    fn unions(&mut self, conceptual: &Conceptual) {
        let candidates: Vec<Collection> =
            self.design.collections.iter().skip(self.first).map(|(_, one)| one.clone()).collect();
        let mut done: Vec<&Collection> = Vec::new();
        for one in &candidates {
            let same = |other: &&Collection| {
                other.source == one.source
                    && other.block_key == one.block_key
                    && other.entry_key == one.entry_key
                    && matches!(other.contents, Contents::Fields(_))
            };
            if done.iter().any(|other| same(other)) || !matches!(one.contents, Contents::Fields(_)) {
                continue;
            }
            done.push(one);
            let mut fields: Vec<Path> = Vec::new();
            for other in candidates.iter().filter(same) {
                fields.extend(
                    other.fields().iter().filter(|path| !fields.contains(path)).cloned().collect::<Vec<_>>(),
                );
            }
            let union = Collection { role: Role::Copy, contents: Contents::Fields(fields), ..one.clone() };
            self.add(conceptual, union);
        }
    }

    /// The same, kept by the store where it can.
    fn natives(&mut self, conceptual: &Conceptual, costing: &Costing<'_>) {
        if costing.capability.indexes.is_none_or(|indexes| !indexes.value.computed) {
            return;
        }
        let candidates: Vec<Collection> =
            self.design.collections.iter().skip(self.first).map(|(_, one)| one.clone()).collect();
        for one in candidates.into_iter().filter(|one| native::could_keep(conceptual, one)) {
            self.add(conceptual, Collection { keeper: Keeper::Store, ..one });
        }
    }
}

/// Whether the planner can rely on it.
fn is_kept(conceptual: &Conceptual, collection: &Collection) -> bool {
    match collection.contents {
        Contents::Nested(_) => crate::nested_is_exact(conceptual, collection),
        Contents::Aggregate(_) | Contents::Fields(_) => true,
    }
}

/// The view of a query, and views that do a part of what it does.
fn of_query(model: &Model, query: &Query) -> Vec<Collection> {
    let conceptual = &model.conceptual;
    let full = Collection {
        reasons: vec![format!("{} is answered by it.", query.header.name)],
        ..simple::view(model, query)
    };
    let mut all = vec![full.clone()];
    // Rows that a constant leaves out: others may want them.
    let every = Collection {
        source: askloom_model::Source { condition: None, ..full.source.clone() },
        ..full.clone()
    };
    all.push(every.clone());
    for view in [&full, &every] {
        all.extend(shorter(conceptual, view));
        all.extend(orders(view));
        all.extend(blocks(view));
        all.extend(identity(view));
    }
    let deep: Vec<Collection> = all.iter().flat_map(|view| ids(model, view)).collect();
    all.extend(deep);
    all.retain(|view| !view.source.positions.is_empty());
    all
}

/// Without what is beyond references, which a second look-up brings; and without the last positions, which are joined.
fn shorter(conceptual: &Conceptual, view: &Collection) -> Vec<Collection> {
    let mut all = Vec::new();
    if let Contents::Fields(fields) = &view.contents {
        let own: Vec<Path> = fields.iter().filter(|path| path.hops.is_empty()).cloned().collect();
        if own.len() < fields.len() {
            all.push(Collection { contents: Contents::Fields(own), ..view.clone() });
        }
    }
    let mut shorter = view.clone();
    while let Some(less) = without_last(conceptual, &shorter) {
        all.push(less.clone());
        shorter = less;
    }
    all
}

/// The rows without their last position, if no key and no condition is about it, and it leaves out none.
fn without_last(_conceptual: &Conceptual, view: &Collection) -> Option<Collection> {
    let count = view.source.positions.len();
    let last = PositionId::from_index(count.checked_sub(1).filter(|&last| last > 0)?);
    let condition = view.source.condition.as_ref();
    let keys = view.block_key.iter().chain(&view.entry_key).map(|field| &field.path);
    let used = keys.chain(condition.map(askloom_model::Condition::paths).unwrap_or_default());
    if used.into_iter().any(|path| path.position == last) {
        return None;
    }
    let positions: Table<PositionId, Position> = {
        let mut positions = Table::default();
        for (_, position) in view.source.positions.iter().take(count - 1) {
            positions.push(position.clone());
        }
        positions
    };
    let Contents::Fields(fields) = &view.contents else { return None };
    let fields = fields.iter().filter(|path| path.position != last).cloned().collect();
    let source = askloom_model::Source { positions, ..view.source.clone() };
    Some(Collection { source, contents: Contents::Fields(fields), ..view.clone() })
}

/// With less of an order: what is left out is sorted, or filtered, by the client.
fn orders(view: &Collection) -> Vec<Collection> {
    let with = |entry_key: Vec<KeyField>| {
        let dropped = view.entry_key.iter().filter(|field| !entry_key.contains(field));
        let mut fields = view.fields().to_vec();
        for field in dropped.filter(|field| !fields.contains(&field.path)).collect::<Vec<_>>() {
            fields.push(field.path.clone());
        }
        Collection { entry_key, contents: Contents::Fields(fields), ..view.clone() }
    };
    let mut all = Vec::new();
    if !view.entry_key.is_empty() && !view.block_key.is_empty() {
        all.push(with(Vec::new()));
    }
    if view.entry_key.len() > 1 {
        all.extend(view.entry_key.iter().take(1).map(|first| with(vec![first.clone()])));
        all.push(with(view.entry_key.iter().skip(1).cloned().collect()));
    }
    all
}

/// With one value in the block key alone: the others come first in the entry key.
fn blocks(view: &Collection) -> Vec<Collection> {
    if view.block_key.len() < 2 {
        return Vec::new();
    }
    let one = |at: usize| {
        let mut entry_key: Vec<KeyField> = Vec::new();
        for (other, field) in view.block_key.iter().enumerate() {
            if other != at {
                entry_key.push(field.clone());
            }
        }
        entry_key.extend(view.entry_key.iter().cloned());
        let block_key = view.block_key.get(at).cloned().into_iter().collect();
        Collection { block_key, entry_key, ..view.clone() }
    };
    (0..view.block_key.len()).map(one).collect()
}

/// By the identity of the row's root: who has found it elsewhere gets the rest here.
fn identity(view: &Collection) -> Option<Collection> {
    let itself = Path { position: PositionId::from_index(0), hops: Vec::new(), leaf: Leaf::Itself };
    let mut fields = view.fields().to_vec();
    for field in view.block_key.iter().chain(&view.entry_key) {
        if !fields.contains(&field.path) {
            fields.push(field.path.clone());
        }
    }
    (!fields.is_empty()).then(|| Collection {
        block_key: vec![KeyField { path: itself, descending: false }],
        entry_key: Vec::new(),
        contents: Contents::Fields(fields),
        ..view.clone()
    })
}

/// Ids alone: what is asked for is looked up.
fn ids(model: &Model, view: &Collection) -> Option<Collection> {
    let index = Collection { role: Role::Index, contents: Contents::Fields(Vec::new()), ..view.clone() };
    let index = complete::as_index(model, index);
    (!view.fields().is_empty()).then_some(index)
}

/// The stored references that have to be walked back to keep a copy.
pub(super) fn ways_back(conceptual: &Conceptual, collection: &Collection) -> Vec<askloom_model::EndId> {
    let places = upkeep::places(conceptual, collection);
    let steps = places.iter().flat_map(|place| place.steps.iter());
    let ends = steps.filter_map(|&step| match step {
        Member::End(end) => Some(conceptual.stored_end(end)),
        Member::Attribute(_) => None,
    });
    let mut ends: Vec<_> = ends.collect();
    ends.sort_unstable();
    ends.dedup();
    ends
}
