//! How many requests, rows and bytes each step of a plan takes, and what that costs.
//!
//! The steps are those that the executor takes, in its order: what an entry does not hold is looked up when it is
//! first needed, for a condition before rows are dropped, for a column after the limit.

use super::conjuncts::conjuncts;
use super::guarantee::{guarantee, lags};
use super::same::{Same, is_given};
use super::terms::key_terms;
use super::{cover, fetch, lookup, paths, search};
use crate::cost::{Asked, Costing, Sizes, StatedShares, Statistics, list_length, selectivity};
use askloom_model::{
    AssumptionAbout, BucketsBetween, ClassId, ColumnValue, Condition, Constant, Contents, Derivation, Design,
    EndId, Estimate, Fetch, Follow, Found, Guarantee, InSet, IndexedFields, Joining, KeySet, Leaf, Limit,
    Member, Operand, OrderBy, Path, Plan, PositionId, Priced, Query, Reading, StepEstimate, StepOf, Work,
};
use std::collections::HashSet;

/// Rows that a parameter of LIMIT or PAGE asks for.
const ROWS: f64 = 20.0;

/// Estimates a plan and settles what is chosen by cost within it: whether those that refer back are found by an
/// index or by reading all.
pub(super) fn price(
    costing: &Costing<'_>,
    statistics: &Statistics<'_>,
    design: &Design,
    query: &Query,
    plan: &mut Plan,
) {
    let sizes = Sizes { statistics, design };
    // Out of the plan while it is changed: there are many plans, and each would have to be copied.
    let (fetches, first) = (std::mem::take(&mut plan.fetches), plan.first.take());
    let mut pricing = Pricing {
        costing,
        sizes,
        query,
        stated: StatedShares::of(statistics, query),
        found: first.as_deref(),
        fetches: &fetches,
        flowing: 0.0,
        searched: search::searched(
            costing,
            statistics.conceptual(),
            &design.collections[plan.access.collection],
            query,
            plan,
        ),
        loaded: HashSet::new(),
        fetched: HashSet::new(),
        steps: Vec::new(),
    };
    pricing.first();
    pricing.access(plan);
    pricing.joins(plan);
    pricing.filter(plan);
    pricing.arrange(plan);
    pricing.per_group(plan);
    pricing.limit(plan);
    pricing.columns(plan);
    let (steps, searched) = (pricing.steps, pricing.searched);
    (plan.fetches, plan.first) = (fetches, first);
    plan.estimate = Estimate::default();
    for step in &steps {
        plan.estimate += step.estimate;
    }
    let mut assumed = statistics.assumed();
    for before in plan.first.iter().flat_map(|found| &found.plan.priced.assumed) {
        if !assumed.contains(before) {
            assumed.push(*before);
        }
    }
    plan.priced = Priced {
        target: costing.capability.target,
        unit: costing.model.unit(),
        reads: Guarantee::default(),
        steps,
        searched,
        assumed,
    };
    plan.priced.reads = guarantee(costing.capability, statistics, design, plan);
}

struct Pricing<'p> {
    costing: &'p Costing<'p>,
    sizes: Sizes<'p>,
    query: &'p Query,
    /// What the query says about how many rows its comparisons keep.
    stated: StatedShares,
    /// What is found first.
    found: Option<&'p Found>,
    fetches: &'p [Fetch],
    /// Rows between the last step and the next.
    flowing: f64,
    /// What the store finds the first rows by, if it searches.
    searched: Vec<Condition>,
    /// Positions, with hops beyond them, whose instances are there.
    loaded: HashSet<(PositionId, Vec<EndId>)>,
    /// Entries of copies that have been read by the identities of rows: of which fetch, and at which position if the
    /// copy is nested.
    fetched: HashSet<(usize, Option<PositionId>)>,
    steps: Vec<StepEstimate>,
}

impl Pricing<'_> {
    fn push(&mut self, of: StepOf, work: Work) {
        let estimate = lookup::estimate(self.costing, &work);
        self.steps.push(StepEstimate { of, estimate, out: self.flowing });
    }

    fn asked(&self) -> Asked<'_> {
        Asked {
            positions: &self.query.positions,
            skew: self.query.header.skew.unwrap_or(0.0),
            stated: Some(&self.stated),
        }
    }

    fn first(&mut self) {
        if let Some(found) = self.found {
            let out = self.count(found);
            self.steps.push(StepEstimate { of: StepOf::First, estimate: found.plan.estimate, out });
        }
    }

    /// How many are found, whichever plan finds them.
    fn count(&self, found: &Found) -> f64 {
        let class = found.query.positions[super::main()].class;
        class.map_or(1.0, |class| self.sizes.statistics.count(class)) * self.found_share(found)
    }

    fn found_share(&self, found: &Found) -> f64 {
        let asked = Asked { positions: &found.query.positions, stated: None, ..self.asked() };
        let share = |condition| selectivity(self.sizes.statistics, asked, condition);
        found.query.condition.as_ref().map_or(1.0, share)
    }

    /// What is found first, if this is the list of it.
    fn listed(&self, set: &InSet) -> Option<&Found> {
        match set {
            InSet::Parameter(index) => self.found.filter(|found| found.index() == *index),
            InSet::List(_) => None,
        }
    }

    /// How many values a set has for a field of a collection's key.
    fn length(&self, set: &KeySet, path: Option<&Path>) -> f64 {
        match set {
            KeySet::In(set) => match self.listed(set) {
                Some(found) => self.count(found),
                None => list_length(self.sizes.statistics, set),
            },
            KeySet::Buckets(between) => path.map_or(1.0, |path| self.buckets(between, path)),
        }
    }

    /// How many buckets there are between two instants, by the share of all instants that are between them.
    fn buckets(&self, BucketsBetween { unit, .. }: &BucketsBetween, path: &Path) -> f64 {
        let Leaf::TimeBucket(id, _) = path.leaf else { return 1.0 };
        let at = Path { leaf: Leaf::Attribute(id), ..path.clone() };
        let bounds = conjuncts(self.query.condition.as_ref());
        let bounds = bounds.iter().filter(|term| term.condition.paths().into_iter().all(|path| *path == at));
        let share: f64 = bounds.map(|term| self.term_share(term.condition)).product();
        (self.sizes.statistics.time_buckets(id, *unit) * share).max(1.0)
    }

    /// The share of rows for which a term of a key holds. Of those that lead to what is found first, the share of that.
    fn term_share(&self, condition: &Condition) -> f64 {
        if let Condition::In { set, .. } = condition
            && let Some(found) = self.listed(set)
        {
            return self.found_share(found);
        }
        selectivity(self.sizes.statistics, self.asked(), condition)
    }

    fn access(&mut self, plan: &Plan) {
        let id = plan.access.collection;
        let collection = &self.sizes.design.collections[id];
        let capability = self.costing.capability;
        let keys = capability.stored_keys(self.sizes.statistics.conceptual(), collection);
        let leads = keys.is_some();
        let entry = match leads {
            true => self.sizes.led_to(plan),
            false => self.sizes.entry_bytes(id),
        };
        let (times, how) = self.times(&plan.access.how, plan);
        if let (Reading::Scan, Contents::Aggregate(_)) = (how, &collection.contents) {
            return self.scan_homes();
        }
        let (rows, partitions) = match how {
            Reading::GetBlock { .. } => (self.sizes.block_entries(id) * times, times),
            Reading::Scan | Reading::Each { .. } => {
                let share = self.share(&self.searched);
                (self.sizes.entries(id) * share, self.sizes.blocks(id) * share)
            }
            Reading::Range { limited, .. } => {
                let rows = self.range_rows(plan);
                let most = self.limit_rows(plan).map_or(rows, |limit| limit * times);
                // A row of a master is an aggregate, which may have several entries.
                let each = match collection.contents {
                    Contents::Aggregate(_) => self.sizes.block_entries(id).max(1.0),
                    Contents::Fields(_) | Contents::Nested(_) => 1.0,
                };
                // Where the ranges follow each other, those behind the limit are not read.
                let ends = self.limit_rows(plan).filter(|_| *limited && plan.sort.is_none());
                match ends.filter(|&limit| limit < rows) {
                    Some(limit) => (limit * each, (times * limit / rows).max(1.0)),
                    None => (if *limited { rows.min(most) } else { rows } * each, times),
                }
            }
        };
        let ranges = partitions;
        // Records that come in no order are each looked up where they are.
        let apart = keys.filter(|keys| keys.of == IndexedFields::One);
        let partitions = if apart.is_some() { partitions + rows } else { partitions };
        let found = rows;
        let rows = if apart.is_some() { rows * self.sizes.rows_led_to(plan) } else { rows };
        let bytes = found * entry;
        let requests = match how {
            Reading::Scan | Reading::Each { .. } => self.costing.pages(bytes),
            Reading::GetBlock { .. } | Reading::Range { .. } => ranges * self.costing.pages(bytes / ranges),
        };
        self.flowing = match collection.contents {
            Contents::Aggregate(_) => found / self.sizes.block_entries(id).max(1.0),
            Contents::Fields(_) | Contents::Nested(_) => found,
        };
        if let Contents::Aggregate(_) = collection.contents {
            self.loaded.insert((super::main(), Vec::new()));
        }
        let records: &[PositionId] = if leads { &[super::main()] } else { collection.whole() };
        for whole in records {
            if let Some(&Some(position)) = plan.access.positions.get(askloom_model::Id::index(*whole)) {
                self.loaded.insert((position, Vec::new()));
            }
        }
        let lagging = lookup::is_behind(capability, self.sizes.design, id);
        let read = Work { read_steps: 1.0, requests, partitions, rows, bytes, ..Work::default() };
        let work = Work { reads: requests, lagging, ..read };
        self.push(StepOf::Access, work);
    }

    /// All instances of the main class, in every collection that is a source of some.
    fn scan_homes(&mut self) {
        let conceptual = self.sizes.statistics.conceptual();
        let Some(class) = self.query.positions[super::main()].class else { return };
        let mut roots: Vec<ClassId> = conceptual.homes(class).iter().map(|home| home.root).collect();
        roots.sort_unstable();
        roots.dedup();
        let masters = roots.into_iter().filter_map(|root| self.sizes.design.master(root));
        let work = masters
            .map(|master| lookup::scan(self.costing, &self.sizes, master))
            .fold(Work::default(), lookup::add);
        self.flowing = self.sizes.statistics.count(class);
        self.loaded.insert((super::main(), Vec::new()));
        self.push(StepOf::Access, work);
    }

    /// How many times something is read for the values of sets, and what.
    fn times<'r>(&self, how: &'r Reading, plan: &Plan) -> (f64, &'r Reading) {
        match how {
            Reading::Each { field, set, of } => {
                let (inner, how) = self.times(of, plan);
                let mut fields = self.sizes.design.collections[plan.access.collection].key_fields();
                let path =
                    fields.nth(*field).and_then(|field| cover::map_path(&field.path, &plan.access.positions));
                (self.length(set, path.as_ref()).max(1.0) * inner, how)
            }
            Reading::GetBlock { .. } | Reading::Range { .. } | Reading::Scan => (1.0, how),
        }
    }

    /// The entries of a block that a range reads: of all rows, those that fit the collection's own condition and the
    /// key. What is said twice counts once: a reference can be a key and part of an identifier.
    fn range_rows(&self, plan: &Plan) -> f64 {
        let collection = &self.sizes.design.collections[plan.access.collection];
        let rows = self.sizes.rows(collection);
        let mut said: Vec<_> = conjuncts(collection.source.condition.as_ref())
            .iter()
            .filter_map(|conjunct| cover::map_condition(conjunct.condition, &plan.access.positions))
            .collect();
        let mut rows = rows * self.sizes.keys_of_row(collection);
        for term in key_terms(collection, &plan.access) {
            if said.contains(&term.condition) {
                continue;
            }
            let share = self.term_share(&term.condition);
            // Each entry has one of the several values of a row.
            rows *= share / self.sizes.statistics.values(&term.path).max(1.0);
            said.push(term.condition);
        }
        rows
    }

    fn joins(&mut self, plan: &mut Plan) {
        for (index, join) in plan.joins.iter_mut().enumerate() {
            let Some(hop) = self.query.positions[join.position].from else { continue };
            self.load(hop.parent, &[]);
            let fan_out = self.sizes.statistics.fan_out(hop.step);
            let outer = self.query.positions[join.position].outer;
            let (how, work) = self.cheaper(join.how.clone(), hop.step);
            join.how = how;
            self.flowing *= if outer { fan_out.max(1.0) } else { fan_out };
            self.loaded.insert((join.position, Vec::new()));
            self.push(StepOf::Join(index), work);
        }
    }

    /// The work of a step. Reading all of a small collection can be cheaper than going to an index for each row, and is as
    /// fresh as can be.
    fn cheaper(&self, how: Joining, step: Member) -> (Joining, Work) {
        let work = lookup::work(self.costing, &self.sizes, &how, step, self.flowing);
        let Joining::Back { index, master } = how else { return (how, work) };
        let scan = Joining::BackByScan { master };
        let by_scan = lookup::work(self.costing, &self.sizes, &scan, step, self.flowing);
        let Sizes { statistics, design } = &self.sizes;
        let too_old = self.query.fresh && lags(self.costing.capability, statistics, design, index);
        let better = too_old || self.costing.model.cost(&by_scan) < self.costing.model.cost(&work);
        if better && self.costing.capability.scan.value { (scan, by_scan) } else { (how, work) }
    }

    fn filter(&mut self, plan: &Plan) {
        let Some(filter) = &plan.filter else { return };
        self.need(plan, filter.paths().into_iter());
        let work = Work { filtered: self.flowing, ..Work::default() };
        self.flowing *= self.share(search::without(filter, &self.searched).as_slice());
        self.push(StepOf::Filter, work);
    }

    /// The share of rows for which all of these hold.
    fn share(&self, conditions: &[Condition]) -> f64 {
        let share = |one: &Condition| selectivity(self.sizes.statistics, self.asked(), one);
        conditions.iter().map(share).product()
    }

    /// Groups or sorts.
    fn arrange(&mut self, plan: &Plan) {
        if paths::aggregates(self.query) || !plan.group_by.is_empty() {
            self.group(plan);
        }
        let ordered: Vec<&Path> = self.query.order_by.iter().filter_map(|term| path_of(&term.by)).collect();
        self.need(plan, ordered.into_iter());
        let grouped = paths::aggregates(self.query) || !plan.group_by.is_empty();
        if !grouped && (plan.sort.is_some() || matches!(plan.limit, Some(Limit::Page(_)))) {
            self.need(plan, self.query.identity.iter());
        }
        if plan.sort.is_some() {
            let compared = if self.flowing > 1.0 { self.flowing * self.flowing.log2() } else { 0.0 };
            // An order that nobody asks for keeps answers the same, and is no sort of the query.
            let sorts = f64::from(!self.query.order_by.is_empty());
            self.push(StepOf::Sort, Work { compared, sorts, ..Work::default() });
        }
    }

    fn group(&mut self, plan: &Plan) {
        let aggregated = plan.columns.iter().filter_map(|column| match &column.value {
            ColumnValue::Aggregate(aggregate) => aggregate.of.as_ref(),
            ColumnValue::Path(_) | ColumnValue::Whole(_) => None,
        });
        let needed: Vec<&Path> = plan.group_by.iter().chain(aggregated).collect();
        self.need(plan, needed.into_iter());
        let work = Work { grouped: self.flowing, ..Work::default() };
        let groups: f64 = plan.group_by.iter().map(|path| self.different(path)).product();
        self.flowing = self.flowing.min(groups);
        self.push(StepOf::Group, work);
    }

    fn different(&self, path: &Path) -> f64 {
        match path.leaf {
            Leaf::Attribute(id) => self.sizes.statistics.distinct(Member::Attribute(id)),
            Leaf::Reference(id) => self.sizes.statistics.distinct(Member::End(id)),
            Leaf::Itself => f64::INFINITY,
            Leaf::Bucket(of) => f64::from(of),
            Leaf::TimeBucket(id, unit) => self.sizes.statistics.time_buckets(id, unit),
        }
    }

    /// The first rows of each group: at most so many of each value that there is.
    fn per_group(&mut self, plan: &Plan) {
        let Some(per_group) = &plan.per_group else { return };
        self.need(plan, per_group.by.iter());
        let work = Work { grouped: self.flowing, ..Work::default() };
        let groups: f64 = per_group.by.iter().map(|path| self.different(path)).product();
        self.flowing = self.flowing.min(groups * self.row_count(&per_group.rows));
        self.push(StepOf::PerGroup, work);
    }

    fn limit(&mut self, plan: &Plan) {
        if let Some(rows) = self.limit_rows(plan) {
            self.flowing = self.flowing.min(rows);
            self.push(StepOf::Limit, Work::default());
        }
    }

    fn limit_rows(&self, plan: &Plan) -> Option<f64> {
        let (Limit::Rows(operand) | Limit::Page(operand)) = plan.limit.as_ref()?;
        Some(self.row_count(operand))
    }

    fn row_count(&self, operand: &Operand) -> f64 {
        match operand {
            Operand::Constant(Constant::Int(rows)) => *rows as f64,
            Operand::Constant(_) | Operand::Parameter(_) | Operand::Path(_) => {
                self.sizes.statistics.assume(AssumptionAbout::Rows, ROWS)
            }
        }
    }

    fn columns(&mut self, plan: &Plan) {
        for column in &plan.columns {
            match &column.value {
                ColumnValue::Path(path) => {
                    self.need(plan, std::iter::once(path));
                    self.referring(path);
                }
                ColumnValue::Whole(position) if self.is_spelled_out(plan, *position) => {}
                ColumnValue::Whole(position) => self.load(*position, &[]),
                // A group has its values already.
                ColumnValue::Aggregate(_) => {}
            }
        }
    }

    /// Those that refer back: a selected list that its instance does not hold itself.
    fn referring(&mut self, path: &Path) {
        let Leaf::Reference(end) = path.leaf else { return };
        let row = &self.sizes.statistics.conceptual().ends[end];
        // Of a symmetric relationship either side may hold the link.
        let back = !row.stored || row.inverse == Some(end);
        let hops: Vec<EndId> = path.hops.iter().copied().chain([end]).collect();
        if !row.cardinality.is_many() || !back || self.loaded.contains(&(path.position, hops.clone())) {
            return;
        }
        let Some(how) = lookup::referring(self.sizes.statistics, self.sizes.design, end) else { return };
        let (how, work) = self.cheaper(how, Member::End(end));
        self.loaded.insert((path.position, hops.clone()));
        if how != Joining::Inside {
            self.push(StepOf::Follow(Follow { position: path.position, hops, how }), work);
        }
    }

    /// The values that the first rows hold.
    fn held(&self, plan: &Plan) -> Vec<Path> {
        let collection = &self.sizes.design.collections[plan.access.collection];
        cover::given_paths(self.sizes.statistics.conceptual(), collection, &plan.access.positions)
    }

    /// Whether they are all that there is of an instance.
    fn is_spelled_out(&self, plan: &Plan, position: PositionId) -> bool {
        let collection = &self.sizes.design.collections[plan.access.collection];
        let conceptual = self.sizes.statistics.conceptual();
        cover::spells_out(conceptual, collection, self.query, &self.held(plan), position)
    }

    /// What has to be looked up so that these paths have values.
    fn need<'n>(&mut self, plan: &Plan, paths: impl Iterator<Item = &'n Path>) {
        let held = self.held(plan);
        let conceptual = self.sizes.statistics.conceptual();
        let same = Same { conceptual, positions: &self.query.positions };
        for path in paths {
            let at_hand = |path: &Path| held.contains(path) || same.is_of_identity(path);
            if !is_given(conceptual, path, &at_hand) && !self.fetch_some(path) {
                let nearest = conceptual.nearest(path);
                self.load(nearest.position, &nearest.hops);
            }
        }
    }

    /// Whether copies give the value, or what it follows from.
    fn fetch_some(&mut self, path: &Path) -> bool {
        let ways = self.sizes.statistics.conceptual().derivations(path);
        let given =
            |path: &Path| self.fetches.iter().any(|fetch| fetch::gives(self.sizes.design, fetch, path));
        let mut ways = std::iter::once(std::slice::from_ref(path)).chain(ways.iter().map(Derivation::paths));
        let Some(way) = ways.find(|way| way.iter().all(given)) else { return false };
        way.iter().all(|path| self.fetch(path))
    }

    /// Whether a copy gives the value by the identity of the row; its entry is read once.
    fn fetch(&mut self, path: &Path) -> bool {
        let gives = |fetch: &Fetch| fetch::gives(self.sizes.design, fetch, path);
        let Some(index) = self.fetches.iter().position(gives) else { return false };
        self.read_entry(index, path.position);
        true
    }

    fn read_entry(&mut self, index: usize, position: PositionId) {
        let Some(fetch) = self.fetches.get(index) else { return };
        let collection = &self.sizes.design.collections[fetch.collection];
        let (at, bytes) = match &collection.contents {
            Contents::Nested(nodes) => {
                let own = fetch.positions.iter().zip(collection.source.positions.ids());
                let own = own.into_iter().find(|(asked, _)| **asked == Some(position)).map(|(_, own)| own);
                let bytes = own.map_or(0.0, |own| self.sizes.node_bytes_at(collection, nodes, own));
                (Some(position), bytes)
            }
            Contents::Aggregate(_) | Contents::Fields(_) => (None, self.sizes.entry_bytes(fetch.collection)),
        };
        if self.fetched.insert((index, at)) {
            // An identity whose end is not known is a range with one entry in it.
            let work = match at.is_none() && fetch.positions.contains(&None) {
                true => lookup::found(self.costing, &self.sizes, fetch.collection, self.flowing, 1.0),
                false => lookup::entries(self.costing, self.flowing, bytes),
            };
            self.push(StepOf::Fetch(index), work);
        }
    }

    /// Brings the instance at a position, or along hops from it, and all on the way there that is not there yet.
    fn load(&mut self, position: PositionId, hops: &[EndId]) {
        if !self.loaded.insert((position, hops.to_vec())) {
            return;
        }
        let whole = |fetch: &Fetch| fetch::gives_whole(self.sizes.design, fetch, position);
        if let Some(index) = self.fetches.iter().position(whole).filter(|_| hops.is_empty()) {
            return self.read_entry(index, position);
        }
        let step = match hops.split_last() {
            Some((&last, before)) => {
                self.load(position, before);
                Some(Member::End(last))
            }
            None => self.query.positions[position].from.map(|hop| {
                self.load(hop.parent, &[]);
                hop.step
            }),
        };
        let (how, work) = match step {
            Some(step) => {
                let Some(how) = lookup::joining(self.sizes.statistics, self.sizes.design, step) else {
                    return;
                };
                self.cheaper(how, step)
            }
            None => {
                let Some(how) = self.root(position) else { return };
                let work = lookup::get(self.costing, &self.sizes, &how, self.roots());
                (how, work)
            }
        };
        if how != Joining::Inside {
            self.push(StepOf::Follow(Follow { position, hops: hops.to_vec(), how }), work);
        }
    }

    /// How many different roots the rows have: each brings a row for each of what is joined to it.
    fn roots(&self) -> f64 {
        let joined = self.query.positions.iter().filter_map(|(_, position)| position.from);
        let each: f64 = joined.map(|hop| self.sizes.statistics.fan_out(hop.step).max(1.0)).product();
        (self.flowing / each).max(self.flowing.min(1.0))
    }

    fn root(&self, position: PositionId) -> Option<Joining> {
        let conceptual = self.sizes.statistics.conceptual();
        let class = self.query.positions[position].class?;
        let master = self.sizes.design.master(conceptual.aggregate_root(class)?)?;
        Some(Joining::LookUp { master })
    }
}

fn path_of(by: &OrderBy) -> Option<&Path> {
    match by {
        OrderBy::Path(path) => Some(path),
        OrderBy::Aggregate(_) => None,
    }
}
