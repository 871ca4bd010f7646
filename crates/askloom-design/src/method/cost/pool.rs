//! All collections that are looked at.

use super::buckets::in_buckets;
use super::candidate::{of_query, renamed};
use super::threads;
use crate::limits::{self, Limits};
use crate::method::{complete, given, noam};
use crate::{native, simple};
use askloom_model::{
    ClassId, Collection, CollectionId, Conceptual, Contents, Design, EndId, Id, Keeper, Model, Origin, Path,
    Query, Role, Rule, Table,
};
use askloom_plan::cost::{Costing, Statistics, at_most};
use askloom_plan::planner::write::parts::finds;
use askloom_plan::{planner, upkeep};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// All collections that are looked at, in one design: masters and what every design needs first, then candidates, then
/// the ways back that some of them need.
#[derive(Debug, Clone)]
pub(super) struct Pool {
    pub(super) design: Design,
    /// Where candidates begin.
    pub(super) first: usize,
    /// Where ways back begin.
    pub(super) back: usize,
    /// Other orders of copies that the store keeps beside them, and beside which.
    pub(super) local: BTreeMap<CollectionId, CollectionId>,
    /// Copies whose blocks are larger than they should be, which are there in buckets, too.
    pub(super) too_large: BTreeSet<CollectionId>,
    /// Whether copies can have indexes at all; else all are of masters.
    hosted: bool,
    /// The masters that can be cut in several ways; in the design, the first way.
    pub(super) cuts: Vec<Cut>,
    pub(super) made: Made,
    /// By root, what is there.
    by_root: HashMap<ClassId, Vec<CollectionId>>,
    names: HashSet<String>,
}

/// A master that can be cut in several ways.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cut {
    pub(super) master: CollectionId,
    pub(super) ways: Vec<Vec<Rule>>,
}

/// How many candidates were made, and why some are not looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Made {
    pub(super) collections: usize,
    /// The same as another one.
    pub(super) same: usize,
    /// Larger than the store takes.
    pub(super) too_large: usize,
    pub(super) cuts: usize,
    pub(super) cuts_left: usize,
}

/// What every design has, and the ways in which NoAM would cut it.
pub(super) struct Masters {
    design: Design,
    cuts: Vec<noam::Cuts>,
}

impl Masters {
    pub(super) fn new(model: &Model, costing: &Costing<'_>) -> Self {
        let design = masters(model);
        let cuts = noam::cuts(model, costing, &design);
        Self { design, cuts }
    }
}

impl Pool {
    /// All that could serve a model, designs of other methods included.
    pub(super) fn new(model: &Model, costing: &Costing<'_>, masters: Masters, others: &[Design]) -> Self {
        let Masters { design, cuts } = masters;
        let mut pool = Self {
            first: design.collections.len(),
            back: 0,
            local: BTreeMap::new(),
            too_large: BTreeSet::new(),
            hosted: costing.capability.indexes.is_some_and(|indexes| indexes.value.local.is_some()),
            cuts: Vec::new(),
            made: Made::default(),
            by_root: HashMap::new(),
            names: design.collections.iter().map(|(_, one)| one.name.clone()).collect(),
            design,
        };
        for (id, collection) in pool.design.collections.iter() {
            pool.by_root.entry(collection.source.root).or_default().push(id);
        }
        pool.cut(model, costing, cuts, others);
        let conceptual = &model.conceptual;
        let most = at_most(conceptual);
        let (average, most) = (Statistics::new(conceptual), Statistics::new(&most));
        let limits = Limits { capability: costing.capability, average: &average, most: &most };
        let mut walked: BTreeSet<EndId> = BTreeSet::new();
        let questions = pool.questions(model, costing);
        for candidate in threads::each(&questions, |query| of_query(model, query)).into_iter().flatten() {
            walked.extend(candidate.reverses());
            pool.add(conceptual, &limits, candidate);
        }
        for (_, collection) in others.iter().flat_map(|design| design.collections.iter()) {
            walked.extend(collection.reverses());
            let name = told_apart(model, &collection.name);
            // Another order of a copy is made of one below, beside the copy that it needs.
            let keeper = match native::is_of_own_values(conceptual, collection) {
                true => collection.keeper,
                false => Keeper::Ours,
            };
            let candidate = Collection { origin: Origin::Method, name, keeper, ..collection.clone() };
            pool.add(conceptual, &limits, candidate);
        }
        pool.unions(conceptual, &limits);
        pool.natives(conceptual, costing, &limits);
        pool.locals(conceptual, costing, &limits);
        pool.buckets(model, costing, &limits);
        pool.back = pool.design.collections.len();
        upkeep::add_indexes(model, &mut pool.design);
        walked.into_iter().for_each(|end| upkeep::add_way_back(conceptual, &mut pool.design, end));
        pool
    }

    /// Every query, and how writes find what they are about, where no key of a master tells.
    fn questions(&self, model: &Model, costing: &Costing<'_>) -> Vec<Query> {
        let finds = model.workload.writes.iter().flat_map(|write| finds(model, write));
        let scans = |query: &Query| {
            let plan = planner::plan(costing, &model.conceptual, &self.design, query);
            plan.is_none_or(|plan| complete::scans(&plan))
        };
        complete::questions(model).into_iter().chain(finds.filter(scans)).collect()
    }

    pub(super) fn optional(&self) -> impl Iterator<Item = CollectionId> + '_ {
        self.design.collections.ids().skip(self.first)
    }

    pub(super) fn is_optional(&self, id: CollectionId) -> bool {
        id.index() >= self.first
    }

    /// The ways to cut masters that somebody proposes: NoAM's, and those of the other methods' designs.
    fn cut(&mut self, model: &Model, costing: &Costing<'_>, mut found: Vec<noam::Cuts>, others: &[Design]) {
        self.made.cuts = found.iter().map(|cuts| cuts.made).sum();
        for cuts in &mut found {
            for design in others {
                let master = design.master(cuts.class).map(|id| &design.collections[id].contents);
                if let Some(Contents::Aggregate(rules)) = master
                    && !cuts.rules.contains(rules)
                {
                    cuts.rules.push(rules.clone());
                }
            }
            let Some(master) = self.design.master(cuts.class) else { continue };
            let ways = self.that_fit(model, costing, master, std::mem::take(&mut cuts.rules));
            self.made.cuts_left += ways.len();
            if let Some(first) = ways.first() {
                self.design.collections[master].contents = Contents::Aggregate(first.clone());
            }
            if ways.len() > 1 {
                self.cuts.push(Cut { master, ways });
            }
        }
    }

    /// Without those whose records get larger than the store takes, unless all do.
    fn that_fit(
        &self,
        model: &Model,
        costing: &Costing<'_>,
        master: CollectionId,
        ways: Vec<Vec<Rule>>,
    ) -> Vec<Vec<Rule>> {
        let statistics = Statistics::new(&model.conceptual);
        let mut design = Design { method: String::new(), collections: Table::default() };
        let own = design.collections.push(self.design.collections[master].clone());
        let fits = |rules: &&Vec<Rule>| {
            design.collections[own].contents = Contents::Aggregate((*rules).clone());
            !limits::broken(costing.capability, &statistics, &design, own)
                .iter()
                .any(limits::Broken::is_error)
        };
        let fitting: Vec<Vec<Rule>> = ways.iter().filter(fits).cloned().collect();
        if fitting.is_empty() { ways } else { fitting }
    }

    fn add(&mut self, conceptual: &Conceptual, limits: &Limits<'_>, candidate: Collection) {
        let copy = candidate.role != Role::Master && candidate.reverses().is_none();
        if !copy {
            return;
        }
        self.made.collections += 1;
        if !is_kept(conceptual, &candidate) {
            return;
        }
        if self.known(&candidate).is_some() {
            self.made.same += 1;
            return;
        }
        let name = self.unused(&candidate.name);
        let root = candidate.source.root;
        let id = self.design.collections.push(Collection { name: name.clone(), ..candidate });
        if limits.broken(&self.design, id).iter().any(limits::Broken::is_error) {
            self.design.collections.truncate(id.index());
            self.made.too_large += 1;
            return;
        }
        self.names.insert(name);
        self.by_root.entry(root).or_default().push(id);
    }

    fn unused(&self, name: &str) -> String {
        if !self.names.contains(name) {
            return name.to_owned();
        }
        let numbered = (2..).map(|number| format!("{name}{number}"));
        numbered.into_iter().find(|name| !self.names.contains(name)).unwrap_or_default()
    }

    /// The collection that holds the same under the same keys.
    pub(super) fn known(&self, candidate: &Collection) -> Option<CollectionId> {
        let same = |other: &Collection| {
            other.is_same_as(candidate) && other.indexed().is_some() == candidate.indexed().is_some()
        };
        let near = self.by_root.get(&candidate.source.root).into_iter().flatten().copied();
        let back = self.design.collections.ids().skip(self.back).filter(|_| self.back > 0);
        near.chain(back).find(|&id| same(&self.design.collections[id]))
    }

    /// Candidates with the same rows and keys as one that holds what all of them hold.
    fn unions(&mut self, conceptual: &Conceptual, limits: &Limits<'_>) {
        let roots: BTreeSet<ClassId> = self.by_root.keys().copied().collect();
        for root in roots {
            let near = self.by_root.get(&root).into_iter().flatten();
            let flat = |one: &&Collection| matches!(one.contents, Contents::Fields(_));
            let candidates: Vec<Collection> = near
                .filter(|&&id| self.is_optional(id))
                .map(|&id| &self.design.collections[id])
                .filter(flat)
                .cloned()
                .collect();
            for union in unions(&candidates) {
                self.add(conceptual, limits, union);
            }
        }
    }

    /// The same, kept by the store where it can.
    fn natives(&mut self, conceptual: &Conceptual, costing: &Costing<'_>, limits: &Limits<'_>) {
        let Some(keys) = costing.capability.indexes.map(|indexes| indexes.value.keys) else { return };
        let candidates: Vec<Collection> =
            self.design.collections.iter().skip(self.first).map(|(_, one)| one.clone()).collect();
        let for_queries = candidates.into_iter().filter(|one| !native::is_for_writes(conceptual, one));
        for one in for_queries {
            for index in native::indexes_for(conceptual, keys, &one) {
                let native = Collection { name: renamed(&index.name, "Index"), ..index };
                // Beside a copy that is always there it would be another order of that one.
                let always = self.design.collections.iter().take(self.first);
                let beside = always.into_iter().any(|(_, other)| other.is_sibling_of(&native));
                let master = self.design.master(native.source.root).map(|id| &self.design.collections[id]);
                let repeats = master.is_some_and(|master| native::repeats(master, &native));
                if !(repeats || (self.hosted && beside)) {
                    self.add(conceptual, limits, native);
                }
            }
        }
    }

    /// Other orders of copies, kept by the store beside a copy that holds as much.
    fn locals(&mut self, conceptual: &Conceptual, costing: &Costing<'_>, limits: &Limits<'_>) {
        let indexes = costing.capability.indexes;
        let Some(local) = indexes.and_then(|indexes| indexes.value.local) else { return };
        let ordered = |one: &Collection| {
            let flat = matches!(one.contents, Contents::Fields(_)) && !one.entry_key.is_empty();
            // Of its root's own values it is an index of the master.
            flat && one.keeper == Keeper::Ours && !native::is_of_own_values(conceptual, one)
        };
        let optional = self.design.collections.iter().skip(self.first).map(|(_, one)| one);
        let copies: Vec<Collection> = optional.filter(|one| ordered(one)).cloned().collect();
        let statistics = costing.statistics(conceptual);
        for index in &copies {
            let beside = copies.iter().find(|one| {
                one.source == index.source
                    && one.block_key == index.block_key
                    && one.entry_key != index.entry_key
            });
            let Some(beside) = beside else { continue };
            let host = self.added(conceptual, limits, native::holding(beside, index));
            let own = self.known(index).zip(host.filter(|&host| self.is_optional(host)));
            let Some((own, host)) = own else { continue };
            if !native::fit_together(&statistics, &self.design, own, host, local.block) {
                continue;
            }
            let name = renamed(&index.name, "Local");
            let order = Collection { name, keeper: Keeper::Store, ..index.clone() };
            if let Some(order) = self.added(conceptual, limits, order) {
                self.local.insert(order, host);
            }
        }
    }

    /// Copies whose blocks would be too large, or written too often, in buckets.
    fn buckets(&mut self, model: &Model, costing: &Costing<'_>, limits: &Limits<'_>) {
        for cut in in_buckets(model, costing, &self.design, self.first) {
            // Another order of a copy goes with the blocks of that one.
            if self.local.contains_key(&cut.of) {
                continue;
            }
            let copy = Collection { name: renamed(&cut.copy.name, "Buckets"), ..cut.copy };
            if self.added(&model.conceptual, limits, copy).is_some() && cut.too_large {
                self.too_large.insert(cut.of);
            }
        }
    }

    /// Where a candidate is, if it is one.
    fn added(
        &mut self,
        conceptual: &Conceptual,
        limits: &Limits<'_>,
        candidate: Collection,
    ) -> Option<CollectionId> {
        self.add(conceptual, limits, candidate.clone());
        self.known(&candidate)
    }

    /// Copies beside which an index of the store's own would not be one of the master, but another order of the copy.
    pub(super) fn siblings(&self, native: CollectionId) -> impl Iterator<Item = CollectionId> + '_ {
        let index = &self.design.collections[native];
        let global = self.hosted && index.keeper == Keeper::Store && !self.local.contains_key(&native);
        let near = self.by_root.get(&index.source.root).into_iter().flatten().copied();
        let back = self.design.collections.ids().skip(self.back).filter(|_| self.back > 0);
        near.chain(back)
            .filter(move |_| global)
            .filter(|&id| self.design.collections[id].is_sibling_of(index))
    }
}

/// What every design of a model has: what the model declares, the masters, and what writes need whatever copies there are.
fn masters(model: &Model) -> Design {
    let mut design = Design { method: "cost".to_owned(), ..given::propose(model).design };
    let mut bare = model.clone();
    bare.workload.queries.clear();
    bare.workload.asks.clear();
    simple::masters(&bare, Origin::Method, &mut design);
    upkeep::add_indexes(&bare, &mut design);
    design
}

/// What is said of a collection must not be taken for something about a statement of its name.
fn told_apart(model: &Model, name: &str) -> String {
    let workload = &model.workload;
    let queries = workload.queries.iter().map(|query| &query.header);
    let headers = queries.chain(workload.asks.iter().map(|ask| &ask.header));
    let taken = headers.into_iter().any(|header| header.name == name);
    if taken { format!("{}Rows", askloom_plan::naming::capitalised(name)) } else { name.to_owned() }
}

/// Whether the planner can rely on it.
fn is_kept(conceptual: &Conceptual, collection: &Collection) -> bool {
    match collection.contents {
        Contents::Nested(_) => askloom_plan::nested_is_exact(conceptual, collection),
        Contents::Aggregate(_) | Contents::Fields(_) => true,
    }
}

/// For each rows and keys that several of these have, one that holds what all of them hold.
fn unions(candidates: &[Collection]) -> Vec<Collection> {
    let mut done: Vec<&Collection> = Vec::new();
    let mut found = Vec::new();
    for one in candidates {
        let same = |other: &&Collection| {
            other.source == one.source && other.block_key == one.block_key && other.entry_key == one.entry_key
        };
        if done.iter().any(same) {
            continue;
        }
        done.push(one);
        let mut fields: Vec<Path> = Vec::new();
        let mut several = 0;
        for other in candidates.iter().filter(same) {
            several += 1;
            let new: Vec<Path> =
                other.fields().iter().filter(|path| !fields.contains(path)).cloned().collect();
            fields.extend(new);
        }
        if several > 1 {
            found.push(Collection { role: Role::Copy, contents: Contents::Fields(fields), ..one.clone() });
        }
    }
    found
}
