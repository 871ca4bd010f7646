//! A model and its design, ready to run: names found, collections numbered.

use crate::execute::PreparedQuery;
use crate::{RecordKey, RunError, SortValue};
use askloom_model::{
    ClassId, Collection, CollectionId, Design, EndId, Home, Id, Identity, Leaf, MasterField, Member, Model,
    Query, Role, Table, Value,
};
use askloom_plan::dependency::{Dependency, dependencies};
use askloom_plan::layout::{Layout, Table as LayoutTable};
use askloom_target::embedded::{MasterKey, Names};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

#[derive(Debug)]
pub struct Schema {
    pub model: Model,
    /// Everything that writes keep right: what can be read first, then what is still being filled.
    pub design: Design,
    /// What can be read, where that is not everything. Collections have the same ids as in `design`.
    readable: Option<Design>,
    numbers: Vec<u32>,
    /// By collection, what the key of a master is made of; nothing for a copy, and for one that is keyed by the identity.
    master_fields: Vec<Option<Vec<MasterField>>>,
    /// By collection, how the keys of a master are made; nothing for a copy.
    master_keys: Vec<Option<MasterKey>>,
    classes: HashMap<String, ClassId>,
    members: HashMap<ClassId, HashMap<String, Member>>,
    /// Worked out for a class when it is first asked for.
    homes: HashMap<ClassId, OnceLock<Vec<Home>>>,
    /// The same, of the members that each instance is no more than.
    plain: HashMap<ClassId, OnceLock<Option<Vec<Leaf>>>>,
    /// By collection, what its rows read, worked out when it is first asked for.
    dependencies: Vec<OnceLock<Vec<Dependency>>>,
    expires: bool,
    layout: Layout,
    prepared: Mutex<Vec<Arc<PreparedQuery>>>,
}

/// More queries than these are prepared anew.
const PREPARED: usize = 256;

impl Schema {
    /// A design on a store of its own, numbered as it stands.
    #[must_use]
    pub fn new(model: Model, design: Design) -> Self {
        // Zero is the store's own.
        let numbers =
            design.collections.ids().map(|id| u32::try_from(id.index() + 1).unwrap_or(u32::MAX)).collect();
        Self::with(model, design, None, numbers)
    }

    /// A design whose collections have the numbers that a store keeps for their names. Those that are being filled are
    /// kept right and not read.
    #[must_use]
    pub fn numbered(
        model: Model,
        design: Design,
        numbers: &HashMap<String, u32>,
        filling: &BTreeSet<String>,
    ) -> Self {
        let Design { method, collections } = design;
        let mut rows: Vec<_> = collections.iter().map(|(_, collection)| collection.clone()).collect();
        rows.sort_by_key(|collection| filling.contains(&collection.name));
        let mut all = Table::default();
        let mut ready = Table::default();
        let mut own = Vec::new();
        for collection in rows {
            own.push(numbers.get(&collection.name).copied().unwrap_or(u32::MAX));
            if !filling.contains(&collection.name) {
                ready.push(collection.clone());
            }
            all.push(collection);
        }
        let readable =
            (ready.len() < all.len()).then(|| Design { method: method.clone(), collections: ready });
        Self::with(model, Design { method, collections: all }, readable, own)
    }

    fn with(mut model: Model, design: Design, readable: Option<Design>, numbers: Vec<u32>) -> Self {
        askloom_plan::ask::name_ways_back(&mut model);
        let conceptual = &model.conceptual;
        let classes = conceptual.classes.iter().map(|(id, class)| (class.name.clone(), id)).collect();
        let members = conceptual.classes.ids().map(|class| {
            let members = conceptual.all_members(class);
            (class, members.map(|member| (conceptual.member_name(member).to_owned(), member)).collect())
        });
        let members = members.collect();
        let homes = conceptual.classes.ids().map(|class| (class, OnceLock::new())).collect();
        let plain = conceptual.classes.ids().map(|class| (class, OnceLock::new())).collect();
        let expires = conceptual.classes.iter().any(|(_, class)| class.ttl.is_some());
        let dependencies = design.collections.ids().map(|_| OnceLock::new()).collect();
        let key = |((_, collection), &number): ((CollectionId, &Collection), &u32)| {
            let master = collection.role == Role::Master;
            master.then(|| MasterKey::new(conceptual, collection, number))
        };
        let master_keys = design.collections.iter().zip(&numbers).map(key).collect();
        let fields = |(_, collection): (CollectionId, &Collection)| {
            let split = collection.role == Role::Master && collection.is_clustered();
            split.then(|| conceptual.master_fields(collection)).flatten()
        };
        let master_fields = design.collections.iter().map(fields).collect();
        let layout = Layout::new(conceptual, &design);
        let prepared = Mutex::default();
        Self {
            model,
            design,
            readable,
            numbers,
            master_fields,
            master_keys,
            classes,
            members,
            homes,
            plain,
            dependencies,
            expires,
            layout,
            prepared,
        }
    }

    /// How the keys of a master are made.
    #[must_use]
    #[expect(clippy::expect_used, reason = "who asks has found a master")]
    pub fn master_key(&self, master: CollectionId) -> &MasterKey {
        let key = self.master_keys.get(master.index()).and_then(Option::as_ref);
        key.expect("a copy has no keys of aggregates")
    }

    /// Where the block of an aggregate is in the order of its master.
    #[must_use]
    pub fn block_key(&self, master: CollectionId, identity: &Identity) -> RecordKey {
        let Some(fields) = self.master_fields.get(master.index()).and_then(Option::as_ref) else {
            let block = vec![Value::Reference(identity.clone())];
            return RecordKey { block, sort: Vec::new(), row: Vec::new() };
        };
        let collection = &self.design.collections[master];
        let mut values = fields.iter().map(|field| field.value(identity));
        let block = values.by_ref().take(collection.block_key.len()).collect();
        let descending = collection.entry_key.iter().map(|field| field.descending);
        let sort = values.zip(descending).map(|(value, descending)| SortValue { value, descending });
        RecordKey { block, sort: sort.collect(), row: Vec::new() }
    }

    /// The tables of the design.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The table of a collection.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a layout has a table for each collection of its design")]
    pub fn table(&self, collection: CollectionId) -> &LayoutTable {
        self.layout.table(collection).expect("every collection has a table")
    }

    /// A query by its cheapest plan over the design, planned and lowered when it is first asked.
    pub fn prepared(&self, query: &Query) -> Result<Arc<PreparedQuery>, RunError> {
        let mut known = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(prepared) = known.iter().find(|prepared| prepared.query == *query) {
            return Ok(Arc::clone(prepared));
        }
        let plan = askloom_plan::planner::plan(
            &askloom_target::embedded::costing(),
            &self.model.conceptual,
            self.readable(),
            query,
        )
        .ok_or_else(|| RunError::Corrupted("the design lacks a master".to_owned()))?;
        let prepared = Arc::new(PreparedQuery::new(self, query, &plan));
        if known.len() >= PREPARED {
            known.clear();
        }
        known.push(Arc::clone(&prepared));
        Ok(prepared)
    }

    /// The collections that plans may read.
    #[must_use]
    pub fn readable(&self) -> &Design {
        self.readable.as_ref().unwrap_or(&self.design)
    }

    /// Whether any class has a time to live.
    #[must_use]
    pub fn expires(&self) -> bool {
        self.expires
    }

    /// In which aggregates the instances of a class are.
    #[must_use]
    pub fn homes(&self, class: ClassId) -> &[Home] {
        let homes = self.homes.get(&class);
        homes.map_or(&[], |homes| homes.get_or_init(|| self.model.conceptual.homes(class)))
    }

    /// Where the rows of a copy enter aggregates, and what they read there.
    #[must_use]
    pub fn dependencies(&self, collection: CollectionId) -> &[Dependency] {
        let of = |id| dependencies(&self.model.conceptual, &self.design.collections[id]);
        let known = self.dependencies.get(collection.index());
        known.map_or(&[], |known| known.get_or_init(|| of(collection)))
    }

    /// The values that instances of a class are no more than.
    #[must_use]
    pub fn plain_members(&self, class: ClassId) -> Option<&[Leaf]> {
        let plain = self.plain.get(&class)?;
        plain.get_or_init(|| self.model.conceptual.plain_members(class)).as_deref()
    }

    /// The number of a collection in the keyspace.
    #[must_use]
    pub fn number(&self, collection: CollectionId) -> u32 {
        self.numbers.get(collection.index()).copied().unwrap_or(u32::MAX)
    }

    /// The master of the aggregate that instances of this class live in.
    #[must_use]
    pub fn master_of(&self, class: ClassId) -> Option<(ClassId, CollectionId)> {
        let root = self.model.conceptual.aggregate_root(class)?;
        Some((root, self.design.master(root)?))
    }

    /// All masters, with the root class of each.
    pub fn masters(&self) -> impl Iterator<Item = (ClassId, CollectionId)> + '_ {
        let masters = self.design.collections.iter().filter(|(_, c)| c.role == Role::Master);
        masters.map(|(id, collection)| (collection.source.root, id))
    }

    /// All copies.
    pub fn copies(&self) -> impl Iterator<Item = CollectionId> + '_ {
        self.design.collections.iter().filter(|(_, c)| c.role != Role::Master).map(|(id, _)| id)
    }

    #[must_use]
    pub fn end_name(&self, end: EndId) -> String {
        self.model.conceptual.ends[end].name.clone()
    }
}

impl Names for Schema {
    fn class(&self, name: &str) -> Option<ClassId> {
        self.classes.get(name).copied()
    }

    fn member(&self, class: ClassId, name: &str) -> Option<Member> {
        self.members.get(&class)?.get(name).copied()
    }
}
