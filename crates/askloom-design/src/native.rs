//! Copies that a store keeps by itself: its secondary indexes.
//!
//! Such an index has the records of one master under another key. So a copy can be one if its rows are the instances of
//! a root class, each once, and all that they hold and depend on is in the root itself; or if it has the rows of
//! another copy in the same blocks, in another order. Where an index leads to the master's records, it is of their
//! fields, and stands for any copy of such keys, whatever else that one holds.
//!
//! What writes have to find, unique values and who refers, they never find by it: where it lags they would miss
//! something.

use askloom_model::{
    Collection, CollectionId, Conceptual, Contents, Design, Id, IndexKeys, IndexedFields, Keeper, KeyField,
    Leaf, Member, Model, Origin, Path, Role, Source, StoredKeys,
};
use askloom_plan::cost::{Costing, Sizes, Statistics};
use askloom_plan::naming::capitalised;
use std::collections::HashMap;

/// Lets the store keep what was added for queries alone, as far as it can: as an index of a master, else as another
/// order of another copy that was added.
pub fn hand_over(model: &Model, costing: &Costing<'_>, design: &mut Design) {
    let Some(indexes) = costing.capability.indexes else { return };
    // Without an order all of a block is read where the copy gives the first of it: whether it pays, cost has to say.
    if indexes.value.keys.gives_no_order() {
        return;
    }
    let conceptual = &model.conceptual;
    let mut given = Given::default();
    for id in design.collections.ids().collect::<Vec<_>>() {
        let collection = &design.collections[id];
        if collection.origin != Origin::Added || is_for_writes(conceptual, collection) {
            continue;
        }
        if let Some(index) = index_for(conceptual, indexes.value.keys, collection) {
            let shares = costing.capability.shares_tables;
            let master = design.indexed_with(collection.source.root, shares);
            if given.over(design, id, master, indexes.value.most) {
                design.collections[id] = index;
            }
        } else if let Some(local) = indexes.value.local {
            let host = same_blocks(conceptual, design, id, local.block);
            if given.over(design, id, host, local.most)
                && let Some(host) = host
            {
                design.collections[host] = holding(&design.collections[host], &design.collections[id]);
            }
        }
    }
}

/// How many indexes each collection has been given.
#[derive(Default)]
struct Given(HashMap<CollectionId, u32>);

impl Given {
    fn over(&mut self, design: &mut Design, id: CollectionId, host: Option<CollectionId>, most: u32) -> bool {
        let Some(host) = host else { return false };
        let count = self.0.entry(host).or_default();
        if *count >= most {
            return false;
        }
        *count += 1;
        design.collections[id].keeper = Keeper::Store;
        true
    }
}

/// An earlier copy that was added and has the same rows in the same blocks, which stay small enough.
fn same_blocks(
    conceptual: &Conceptual,
    design: &Design,
    id: CollectionId,
    most: u64,
) -> Option<CollectionId> {
    let collection = &design.collections[id];
    let flat = |one: &Collection| {
        one.role.is_table_of_rows()
            && matches!(one.contents, Contents::Fields(_))
            && !one.entry_key.is_empty()
    };
    let earlier = design.collections.iter().take_while(|(other, _)| *other != id);
    let mut same = earlier.filter(|(_, other)| {
        let ours = other.keeper == Keeper::Ours && other.origin == Origin::Added && flat(other);
        ours && other.source == collection.source && other.block_key == collection.block_key
    });
    let (host, _) = same.next().filter(|_| flat(collection))?;
    fit_together(&Statistics::new(conceptual), design, id, host, most).then_some(host)
}

/// Whether blocks of both stay smaller than this together.
pub(crate) fn fit_together(
    statistics: &Statistics<'_>,
    design: &Design,
    one: CollectionId,
    other: CollectionId,
    most: u64,
) -> bool {
    let sizes = Sizes { statistics, design };
    let bytes = |id| sizes.entries(id) / sizes.blocks(id).max(1.0) * sizes.entry_bytes(id);
    bytes(one) + bytes(other) < most as f64
}

/// A copy that holds all that another one holds, too: an index is made of what its records have.
pub(crate) fn holding(host: &Collection, index: &Collection) -> Collection {
    let mut host = host.clone();
    let held: Vec<Path> = host.held().cloned().collect();
    let lacking: Vec<Path> = index.held().filter(|path| !held.contains(path)).cloned().collect();
    if let Contents::Fields(fields) = &mut host.contents
        && !lacking.is_empty()
    {
        fields.extend(lacking);
        host.role = Role::Copy;
    }
    host
}

/// The index of a master that a store could keep for queries in place of a copy.
pub(crate) fn index_for(
    conceptual: &Conceptual,
    keys: IndexKeys,
    collection: &Collection,
) -> Option<Collection> {
    let index = Collection { keeper: Keeper::Store, ..collection.clone() };
    match keys {
        IndexKeys::Computed => is_of_own_values(conceptual, collection).then_some(index),
        // All rows are in it, those without a key included.
        IndexKeys::Stored(keys) => keys.can_be_of(conceptual, collection).then(|| Collection {
            role: Role::Copy,
            contents: Contents::Fields(Vec::new()),
            ..index
        }),
    }
}

/// The indexes of a master that a store could keep for queries that a copy is for: in place of it, or, where an index
/// has one field, one for each field of its key.
pub(crate) fn indexes_for(
    conceptual: &Conceptual,
    keys: IndexKeys,
    collection: &Collection,
) -> Vec<Collection> {
    match keys {
        IndexKeys::Stored(StoredKeys { of: IndexedFields::One, .. }) => {
            let fields = collection.block_key.iter().chain(&collection.entry_key);
            fields.filter_map(|field| index_of(conceptual, keys, collection, field)).collect()
        }
        IndexKeys::Stored(StoredKeys { of: IndexedFields::Several, .. }) | IndexKeys::Computed => {
            index_for(conceptual, keys, collection).into_iter().collect()
        }
    }
}

/// The index of the records of a copy's root by one field: what is within a range, if the store finds that, else what
/// is equal.
fn index_of(
    conceptual: &Conceptual,
    keys: IndexKeys,
    copy: &Collection,
    field: &KeyField,
) -> Option<Collection> {
    let member = match field.path.leaf {
        Leaf::Attribute(id) => Member::Attribute(id),
        Leaf::Reference(id) => Member::End(id),
        Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => return None,
    };
    let root = copy.source.root;
    let (class, field_name) = (&conceptual.classes[root].name, conceptual.member_name(member));
    let key = vec![KeyField { descending: false, ..field.clone() }];
    let within = Collection {
        name: format!("{class}By{}", capitalised(field_name)),
        reasons: vec![format!("{class} is found by `{field_name}` through it.")],
        source: Source { root, positions: askloom_plan::positions::only_main(root), condition: None },
        block_key: Vec::new(),
        entry_key: key.clone(),
        role: Role::Copy,
        contents: Contents::Fields(Vec::new()),
        ..copy.clone()
    };
    let equal = Collection { block_key: key, entry_key: Vec::new(), ..within.clone() };
    index_for(conceptual, keys, &within).or_else(|| index_for(conceptual, keys, &equal))
}

/// Whether the rows of a copy are the instances of its root, each once, made of values of the root alone.
pub(crate) fn is_of_own_values(conceptual: &Conceptual, collection: &Collection) -> bool {
    let rows = matches!(collection.contents, Contents::Fields(_)) && collection.role.is_table_of_rows();
    let condition = collection.source.condition.as_ref();
    let condition = condition.map(askloom_model::Condition::paths).unwrap_or_default();
    let main = collection.source.positions.iter().map(|(_, position)| position.class);
    rows && main.eq([Some(collection.source.root)])
        && conceptual.is_aggregate(collection.source.root)
        && collection.held().chain(condition).all(|path| is_own_value(conceptual, path))
}

fn is_own_value(conceptual: &Conceptual, path: &Path) -> bool {
    let single = match path.leaf {
        Leaf::Attribute(id) => !conceptual.attributes[id].list,
        Leaf::Reference(id) => {
            let end = &conceptual.ends[id];
            end.stored && !end.cardinality.is_many() && end.inverse != Some(id)
        }
        Leaf::Itself => true,
        // It follows from the id: a record has it for the index alone.
        Leaf::Bucket(_) | Leaf::TimeBucket(..) => true,
    };
    path.hops.is_empty() && path.position.index() == 0 && single
}

/// Whether an index has the rows of its master in the same partitions and in the same order, or against it: the master's
/// own table can be read so, and is never behind.
pub(crate) fn repeats(master: &Collection, index: &Collection) -> bool {
    let paths = |fields: &[KeyField]| fields.iter().map(|field| field.path.clone()).collect::<Vec<Path>>();
    let ordered = index.entry_key.iter().zip(&master.entry_key);
    let mut turned = ordered.clone().map(|(own, key)| own.descending != key.descending);
    let first = turned.next();
    let same_order = ordered.len() == index.entry_key.len()
        && paths(&master.entry_key).starts_with(&paths(&index.entry_key))
        && turned.all(|other| Some(other) == first);
    master.is_clustered()
        && index.source.condition.is_none()
        && paths(&index.block_key) == paths(&master.block_key)
        && same_order
}

/// Whether writes go by it: to those that refer, or to who has a value that no other may have.
pub(crate) fn is_for_writes(conceptual: &Conceptual, collection: &Collection) -> bool {
    collection.indexed().is_some_and(|path| match path.leaf {
        Leaf::Attribute(id) => conceptual.attributes[id].unique,
        Leaf::Reference(_) | Leaf::Itself => true,
        Leaf::Bucket(_) | Leaf::TimeBucket(..) => false,
    })
}
