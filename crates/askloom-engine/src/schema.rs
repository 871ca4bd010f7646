//! A model and its design, ready to run: what is worked out once for all statements.

use crate::execute::PreparedQuery;
use crate::{RecordKey, RunError, SortValue};
use askloom_model::{
    ClassId, Collection, CollectionId, Design, EndId, Home, Id, Identity, Leaf, MasterField, Model, Plan,
    Query, Role, Table, Value,
};
use askloom_plan::cost::Costing;
use askloom_plan::delta::{Delta, deltas};
use askloom_plan::effects::Effects;
use askloom_plan::layout::{Layout, Table as LayoutTable};
use askloom_plan::planner;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

#[derive(Debug)]
pub struct Schema {
    pub model: Model,
    /// Everything that writes keep right: what can be read first, then what is still being filled.
    pub design: Design,
    /// What can be read, where that is not everything. Collections have the same ids as in `design`.
    readable: Option<Design>,
    /// By collection, what the key of a master is made of; nothing for a copy, and for one that is keyed by the identity.
    master_fields: Vec<Option<Vec<MasterField>>>,
    /// Worked out for a class when it is first asked for.
    homes: HashMap<ClassId, OnceLock<Vec<Home>>>,
    /// The same, of the members that each instance is no more than.
    plain: HashMap<ClassId, OnceLock<Option<Vec<Leaf>>>>,
    /// By collection, how its rows are found from what changes, worked out when it is first asked for.
    deltas: Vec<OnceLock<Vec<Delta>>>,
    expires: bool,
    layout: Layout,
    /// What plans are made for.
    costing: Costing<'static>,
    prepared: Mutex<Vec<Arc<PreparedQuery>>>,
}

/// More queries than these are prepared anew.
const PREPARED: usize = 256;

impl Schema {
    /// A design all of whose collections can be read.
    #[must_use]
    pub fn new(model: Model, design: Design, costing: Costing<'static>) -> Self {
        Self::with(model, design, None, costing)
    }

    /// A design some of whose copies are being filled: they are kept right and not read, and come last.
    #[must_use]
    pub fn filling(
        model: Model,
        design: Design,
        filling: &BTreeSet<String>,
        costing: Costing<'static>,
    ) -> Self {
        let Design { method, collections } = design;
        let mut rows: Vec<_> = collections.iter().map(|(_, collection)| collection.clone()).collect();
        rows.sort_by_key(|collection| filling.contains(&collection.name));
        let mut all = Table::default();
        let mut ready = Table::default();
        for collection in rows {
            if !filling.contains(&collection.name) {
                ready.push(collection.clone());
            }
            all.push(collection);
        }
        let readable =
            (ready.len() < all.len()).then(|| Design { method: method.clone(), collections: ready });
        Self::with(model, Design { method, collections: all }, readable, costing)
    }

    fn with(mut model: Model, design: Design, readable: Option<Design>, costing: Costing<'static>) -> Self {
        askloom_plan::ask::name_ways_back(&mut model);
        let conceptual = &model.conceptual;
        let homes = conceptual.classes.ids().map(|class| (class, OnceLock::new())).collect();
        let plain = conceptual.classes.ids().map(|class| (class, OnceLock::new())).collect();
        let expires = conceptual.classes.iter().any(|(_, class)| class.ttl.is_some());
        let deltas = design.collections.ids().map(|_| OnceLock::new()).collect();
        let fields = |(_, collection): (CollectionId, &Collection)| {
            let split = collection.role == Role::Master && !conceptual.is_keyed_by_identity(collection);
            split.then(|| conceptual.master_fields(collection)).flatten()
        };
        let master_fields = design.collections.iter().map(fields).collect();
        let layout = Layout::new(conceptual, &design);
        let prepared = Mutex::default();
        Self {
            model,
            design,
            readable,
            master_fields,
            homes,
            plain,
            deltas,
            expires,
            layout,
            costing,
            prepared,
        }
    }

    /// The master of a root class.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a design without it is refused before anything is stored")]
    pub fn master(&self, root: ClassId) -> CollectionId {
        self.design.master(root).expect("every root class has a master")
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
        let plan = self.plan(query)?;
        let prepared = Arc::new(PreparedQuery::new(self, query, &plan));
        if known.len() >= PREPARED {
            known.clear();
        }
        known.push(Arc::clone(&prepared));
        Ok(prepared)
    }

    /// The cheapest plan of a query over the design.
    pub fn plan(&self, query: &Query) -> Result<Plan, RunError> {
        planner::plan(&self.costing, &self.model.conceptual, self.readable(), query)
            .ok_or_else(|| RunError::Corrupted("the design lacks a master".to_owned()))
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

    /// How the rows of a copy are found from what changes, place by place.
    #[must_use]
    pub fn deltas(&self, collection: CollectionId) -> &[Delta] {
        let of = |id| deltas(&self.model.conceptual, &self.design.collections[id]);
        let known = self.deltas.get(collection.index());
        known.map_or(&[], |known| known.get_or_init(|| of(collection)))
    }

    /// Whether rows of a copy come or go when something expires.
    #[must_use]
    pub fn changes_by_expiry(&self, collection: CollectionId) -> bool {
        let conceptual = &self.model.conceptual;
        let expiry = Effects::of_expiry(conceptual);
        let copy = &self.design.collections[collection];
        self.deltas(collection).iter().any(|delta| delta.is_disturbed(conceptual, copy, &expiry))
    }

    /// Whether a collection may be read to find the rows that come or go when something expires: a master of what stands
    /// in them, or an index that leads there.
    #[must_use]
    pub fn is_read_by_expiry(&self, collection: CollectionId) -> bool {
        let conceptual = &self.model.conceptual;
        let read = &self.design.collections[collection];
        let leads_back = match read.role {
            Role::Master => true,
            Role::Index => read.indexed().is_some(),
            Role::Copy | Role::Carried => false,
        };
        let reads = |copy: CollectionId| {
            let mut deltas = self.deltas(copy).iter();
            deltas.any(|delta| conceptual.homes(delta.entry).iter().any(|home| home.root == read.source.root))
        };
        leads_back && self.copies().any(|copy| self.changes_by_expiry(copy) && reads(copy))
    }

    /// The values that instances of a class are no more than.
    #[must_use]
    pub fn plain_members(&self, class: ClassId) -> Option<&[Leaf]> {
        let plain = self.plain.get(&class)?;
        plain.get_or_init(|| self.model.conceptual.plain_members(class)).as_deref()
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
