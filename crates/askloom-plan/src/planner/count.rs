//! How many requests, rows and bytes each step of a plan takes. Nothing here looks at prices.

use super::conjuncts::conjuncts;
use super::terms::key_terms;
use super::{cover, lookup, search};
use crate::cost::{
    Asked, Costing, Sizes, StatedShares, Statistics, list_length, selectivity, selectivity_of_all,
};
use askloom_model::{
    AssumptionAbout, BucketsBetween, ClassId, Collection, Condition, Constant, Contents, Design, Follow,
    Found, InSet, IndexedFields, JoinStep, KeySet, Leaf, Limit, Member, Operand, Path, Plan, PositionId,
    Query, Reading, RelationshipKind, StepOf, Work,
};

/// Rows that a parameter of LIMIT or PAGE asks for.
const ROWS: f64 = 20.0;

/// What one step of a plan is expected to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepWork {
    pub work: Work,
    /// Rows that go on to the next step.
    pub out: f64,
}

/// What each step of a plan is expected to do, by the statistics of the model. `query` is the one that the plan answers
/// ([`Plan::query`]).
#[must_use]
pub fn count(
    costing: &Costing<'_>,
    statistics: &Statistics<'_>,
    design: &Design,
    query: &Query,
    plan: &Plan,
) -> Vec<StepWork> {
    let mut counter = Counter::new(costing, statistics, design, query, plan);
    plan.steps.iter().map(|step| counter.count(&step.of)).collect()
}

/// Goes through the steps of a plan, with the rows that flow from each to the next.
pub(super) struct Counter<'c> {
    costing: &'c Costing<'c>,
    sizes: Sizes<'c>,
    query: &'c Query,
    plan: &'c Plan,
    /// What is read first.
    collection: &'c Collection,
    /// What the query says about how many rows its comparisons keep.
    stated: StatedShares,
    prefetched: Option<Prefetched>,
    /// Rows between the last step and the next.
    flowing: f64,
    /// The positions that they have.
    bound: Vec<PositionId>,
    /// Whether the filter of the plan has been applied to them.
    filtered: bool,
}

/// What is found first.
struct Prefetched {
    /// Which parameter its ids are.
    index: usize,
    /// How many are found, whichever plan finds them.
    count: f64,
    /// Of all of their class.
    share: f64,
}

impl<'c> Counter<'c> {
    pub(super) fn new(
        costing: &'c Costing<'c>,
        statistics: &'c Statistics<'c>,
        design: &'c Design,
        query: &'c Query,
        plan: &'c Plan,
    ) -> Self {
        let stated = StatedShares::of(statistics, query);
        let prefetched = plan.first.as_deref().map(|found| prefetched(statistics, query, found));
        Self {
            costing,
            sizes: Sizes { statistics, design },
            query,
            plan,
            collection: &design.collections[plan.access.collection],
            stated,
            prefetched,
            flowing: 0.0,
            bound: Vec::new(),
            filtered: false,
        }
    }

    /// What the next step does.
    pub(super) fn count(&mut self, of: &StepOf) -> StepWork {
        let work = match of {
            StepOf::Access => self.access(),
            StepOf::Join(index) => self.join(self.plan.join(*index)),
            StepOf::Fetch { index, node } => self.fetch(*index, *node),
            StepOf::Follow(follow) => self.follow(follow),
            StepOf::Filter => self.filter(),
            StepOf::Group => self.group(),
            StepOf::Sort => self.sort(),
            StepOf::PerGroup => self.per_group(),
            StepOf::Limit => self.limit(),
        };
        StepWork { work, out: self.flowing }
    }

    fn asked(&self) -> Asked<'_> {
        Asked {
            positions: &self.query.positions,
            skew: self.query.header.skew.unwrap_or(0.0),
            stated: Some(&self.stated),
        }
    }

    /// What is found first, if this is the list of it.
    fn listed(&self, set: &InSet) -> Option<&Prefetched> {
        match set {
            InSet::Parameter(index) => self.prefetched.as_ref().filter(|found| found.index == *index),
            InSet::List(_) => None,
        }
    }

    /// How many values a set has for a field of a collection's key.
    fn length(&self, set: &KeySet, path: Option<&Path>) -> f64 {
        match set {
            KeySet::In(set) => match self.listed(set) {
                Some(found) => found.count,
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
        let bounds: Vec<&Condition> = bounds.map(|term| term.condition).collect();
        let share = self.share_of_all(&bounds);
        (self.sizes.statistics.time_buckets(id, *unit) * share).max(1.0)
    }

    /// The share of rows that lead to what is found first, if the condition asks for those.
    fn found_share(&self, condition: &Condition) -> Option<f64> {
        let Condition::In { set, .. } = condition else { return None };
        self.listed(set).map(|found| found.share)
    }

    fn access(&mut self) -> Work {
        let (id, collection) = (self.plan.access.collection, self.collection);
        let capability = self.costing.capability;
        let keys = capability.stored_keys(self.sizes.statistics.conceptual(), collection);
        let entry = match keys.is_some() {
            true => self.sizes.led_to(self.plan),
            false => self.sizes.entry_bytes(id),
        };
        let (times, how) = self.times(&self.plan.access.how);
        if let (Reading::Scan, Contents::Aggregate(_)) = (how, &collection.contents) {
            return self.scan_homes();
        }
        // A row of a master is an aggregate, which may have several entries, one of a nested copy has a node for each position.
        let each = match collection.contents {
            Contents::Aggregate(_) => self.sizes.block_entries(id).max(1.0),
            Contents::Nested(_) => self.sizes.entries_of_row(collection).max(f64::MIN_POSITIVE),
            Contents::Fields(_) => 1.0,
        };
        let (rows, partitions) = match how {
            Reading::GetBlock { .. } => (self.sizes.block_entries(id) * times, times),
            Reading::Scan | Reading::Each { .. } => {
                let share = self.share(&self.plan.searched);
                (self.sizes.entries(id) * share, self.sizes.blocks(id) * share)
            }
            Reading::Range { limited, .. } => {
                let rows = self.range_rows();
                let most = self.most_read().map_or(rows, |most| most * times);
                // The nodes of a row may be anywhere in a block of a nested copy.
                let nested = matches!(collection.contents, Contents::Nested(_));
                let limited = *limited && !nested;
                // Where the ranges follow each other, those behind the limit are not read.
                let ends = self.most_read().filter(|_| limited && self.plan.sort.is_none());
                match ends.filter(|&limit| limit < rows) {
                    Some(limit) => (limit * each, (times * limit / rows).max(1.0)),
                    None => (if limited { rows.min(most) } else { rows } * each, times),
                }
            }
        };
        let ranges = partitions;
        // Records that come in no order are each looked up where they are.
        let apart = keys.filter(|keys| keys.of == IndexedFields::One);
        let partitions = if apart.is_some() { partitions + rows } else { partitions };
        let found = rows;
        let rows = if apart.is_some() { rows * self.sizes.rows_led_to(self.plan) } else { rows };
        let bytes = found * entry;
        let requests = match how {
            Reading::Scan | Reading::Each { .. } => self.costing.pages(bytes),
            Reading::GetBlock { .. } | Reading::Range { .. } => ranges * self.costing.pages(bytes / ranges),
        };
        self.flowing = found / each;
        let given = if matches!(collection.contents, Contents::Aggregate(_)) { 1 } else { usize::MAX };
        self.bound = self.plan.access.positions.iter().take(given).flatten().copied().collect();
        let lagging = lookup::is_behind(capability, self.sizes.design, id);
        let read = Work { read_steps: 1.0, requests, partitions, rows, bytes, ..Work::default() };
        Work { reads: requests, lagging, ..read }
    }

    /// All instances of the main class, in every collection that is a source of some.
    fn scan_homes(&mut self) -> Work {
        let conceptual = self.sizes.statistics.conceptual();
        let class = main_class(self.query);
        let mut roots: Vec<ClassId> = conceptual.homes(class).iter().map(|home| home.root).collect();
        roots.sort_unstable();
        roots.dedup();
        let masters = roots.into_iter().filter_map(|root| self.sizes.design.master(root));
        let work = masters
            .map(|master| lookup::scan(self.costing, &self.sizes, master))
            .fold(Work::default(), lookup::add);
        self.flowing = self.sizes.statistics.count(class);
        self.bound = vec![super::main()];
        work
    }

    /// How many times something is read for the values of sets, and what.
    fn times<'r>(&self, how: &'r Reading) -> (f64, &'r Reading) {
        match how {
            Reading::Each { field, set, of } => {
                let (inner, how) = self.times(of);
                let path = self.collection.key_fields().nth(*field);
                let path = path.and_then(|field| cover::map_path(&field.path, &self.plan.access.positions));
                (self.length(set, path.as_ref()).max(1.0) * inner, how)
            }
            Reading::GetBlock { .. } | Reading::Range { .. } | Reading::Scan => (1.0, how),
        }
    }

    /// The entries of a block that a range reads: of all rows, those that fit the collection's own condition and the
    /// key. What is said twice counts once: a reference can be a key and part of an identifier.
    fn range_rows(&self) -> f64 {
        let (collection, access) = (self.collection, &self.plan.access);
        let rows = self.sizes.rows(collection);
        let mut said: Vec<_> = conjuncts(collection.source.condition.as_ref())
            .iter()
            .filter_map(|conjunct| cover::map_condition(conjunct.condition, &access.positions))
            .collect();
        let mut rows = rows * self.sizes.keys_of_row(collection);
        let (mut paths, mut terms) = (Vec::new(), Vec::new());
        for term in key_terms(collection, access) {
            if said.contains(&term.condition) {
                continue;
            }
            // Each entry has one of the several values of a row.
            if !paths.contains(&term.path) {
                rows /= self.sizes.statistics.values(&term.path).max(1.0);
                paths.push(term.path);
            }
            terms.push(term.condition.clone());
            said.push(term.condition);
        }
        rows * self.share(&terms)
    }

    fn join(&mut self, join: &JoinStep) -> Work {
        let step = stepped(self.query, join.position);
        let fan_out = self.sizes.statistics.fan_out(step);
        let parent = self.query.positions[join.position].from.map_or(super::main(), |hop| hop.parent);
        let work = lookup::work(self.costing, &self.sizes, &join.how, step, self.instances(parent));
        let outer = self.query.positions[join.position].outer;
        self.flowing *= if outer { fan_out.max(1.0) } else { fan_out };
        self.bound.push(join.position);
        work
    }

    fn follow(&self, follow: &Follow) -> Work {
        let instances = self.instances(follow.position);
        match follow.hops.split_last() {
            Some((&last, before)) => {
                let before: f64 =
                    before.iter().map(|&hop| self.sizes.statistics.fan_out(Member::End(hop))).product();
                let step = Member::End(last);
                lookup::work(self.costing, &self.sizes, &follow.how, step, instances * before)
            }
            None => lookup::work_of_roots(self.costing, &self.sizes, &follow.how, instances),
        }
    }

    /// How many different instances the rows name at a position. Conditions on an instance, or on what it leads to alone,
    /// leave some of them with all of their rows; others leave each of them some of its rows.
    fn instances(&self, position: PositionId) -> f64 {
        let (rows, statistics) = (self.flowing, self.sizes.statistics);
        let class = self.query.positions[position].class;
        let class = class.filter(|&class| statistics.conceptual().classes[class].kind.is_entity());
        let Some(all) = class.map(|class| statistics.count(class)).filter(|_| rows > 1.0) else {
            return rows;
        };
        let others = self.bound.iter().filter_map(|&bound| {
            let position = &self.query.positions[bound];
            let fan_out = statistics.fan_out(position.from?.step);
            Some(if position.outer { fan_out.max(1.0) } else { fan_out })
        });
        let total = statistics.count(main_class(self.query)) * others.product::<f64>();
        let each = (total / all.max(1.0)).max(1.0);
        let known = self.determined(position);
        let filter = conjuncts(self.plan.filter.as_ref());
        let applied = conjuncts(self.query.condition.as_ref()).into_iter().filter(|term| {
            let open = !self.filtered && filter.iter().any(|left| left.condition == term.condition);
            !open && term.condition.paths().iter().all(|path| known.contains(&path.position))
        });
        let applied: Vec<&Condition> = applied.map(|term| term.condition).collect();
        let share = self.share_of_all(&applied);
        let selected = (all * share).max(1.0);
        let left = (rows / (selected * each)).min(1.0);
        (selected * (1.0 - (1.0 - left).powf(each))).clamp(1.0, rows)
    }

    /// The positions that have one instance for each instance at this one.
    fn determined(&self, position: PositionId) -> Vec<PositionId> {
        let mut known = vec![position];
        loop {
            let more = self.query.positions.iter().find_map(|(id, row)| {
                let hop = row.from?;
                let Member::End(end) = hop.step else { return None };
                let conceptual = self.sizes.statistics.conceptual();
                let end = &conceptual.ends[end];
                let back = end.inverse.map(|inverse| &conceptual.ends[inverse]);
                let (here, above) = (known.contains(&id), known.contains(&hop.parent));
                if above && !here && !end.cardinality.is_many() {
                    return Some(id);
                }
                let owned = end.kind == RelationshipKind::Composition && end.stored;
                let one = owned || back.is_some_and(|back| !back.cardinality.is_many());
                (here && !above && one).then_some(hop.parent)
            });
            match more {
                Some(more) => known.push(more),
                None => return known,
            }
        }
    }

    fn fetch(&self, index: usize, node: Option<PositionId>) -> Work {
        let fetch = self.plan.fetch(index);
        let collection = &self.sizes.design.collections[fetch.collection];
        let bytes = match (&collection.contents, node) {
            (Contents::Nested(nodes), Some(position)) => {
                let mut own = fetch.positions.iter().zip(collection.source.positions.ids());
                let own = own.find(|(asked, _)| **asked == Some(position)).map(|(_, own)| own);
                self.sizes.node_bytes_at(collection, nodes, there(own))
            }
            (Contents::Aggregate(_) | Contents::Fields(_) | Contents::Nested(_), _) => {
                self.sizes.entry_bytes(fetch.collection)
            }
        };
        // An identity whose end is not known is a range with one entry in it.
        match node.is_none() && fetch.positions.contains(&None) {
            true => lookup::found(self.costing, &self.sizes, fetch.collection, self.flowing, 1.0),
            false => lookup::entries(self.costing, self.flowing, bytes),
        }
    }

    fn filter(&mut self) -> Work {
        let work = Work { filtered: self.flowing, ..Work::default() };
        let left = self.plan.filter.as_ref().and_then(|filter| search::without(filter, &self.plan.searched));
        self.flowing *= self.share(left.as_slice());
        self.filtered = true;
        work
    }

    /// The share of rows for which all of these hold.
    fn share(&self, conditions: &[Condition]) -> f64 {
        self.share_of_all(&conditions.iter().collect::<Vec<_>>())
    }

    fn share_of_all(&self, conditions: &[&Condition]) -> f64 {
        let (found, others): (Vec<&Condition>, Vec<&Condition>) =
            conditions.iter().partition(|one| self.found_share(one).is_some());
        let found: f64 = found.into_iter().filter_map(|one| self.found_share(one)).product();
        found * selectivity_of_all(self.sizes.statistics, self.asked(), &others)
    }

    fn group(&mut self) -> Work {
        let work = Work { grouped: self.flowing, ..Work::default() };
        self.flowing = self.flowing.min(self.groups(&self.plan.group_by));
        work
    }

    fn sort(&self) -> Work {
        let compared = if self.flowing > 1.0 { self.flowing * self.flowing.log2() } else { 0.0 };
        // An order that nobody asks for keeps answers the same, and is no sort of the query.
        let sorts = f64::from(!self.query.order_by.is_empty());
        Work { compared, sorts, ..Work::default() }
    }

    /// The first rows of each group: at most so many of each value that there is.
    fn per_group(&mut self) -> Work {
        let work = Work { grouped: self.flowing, ..Work::default() };
        if let Some(per_group) = &self.plan.per_group {
            let most = self.groups(&per_group.by) * self.row_count(&per_group.rows);
            self.flowing = self.flowing.min(most);
        }
        work
    }

    fn groups(&self, by: &[Path]) -> f64 {
        by.iter().map(|path| self.different(path)).product()
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

    fn limit(&mut self) -> Work {
        if let Some(Limit::Rows(operand) | Limit::Page(operand)) = &self.plan.limit {
            self.flowing = self.flowing.min(self.row_count(operand));
        }
        Work::default()
    }

    /// How many rows of a range in the query's order are read. One row more than a page says that there is a next one.
    fn most_read(&self) -> Option<f64> {
        Some(match self.plan.limit.as_ref()? {
            Limit::Rows(operand) => self.row_count(operand),
            Limit::Page(operand) => self.row_count(operand) + 1.0,
        })
    }

    fn row_count(&self, operand: &Operand) -> f64 {
        match operand {
            Operand::Constant(Constant::Int(rows)) => *rows as f64,
            Operand::Constant(_) | Operand::Parameter(_) | Operand::Path(_) => {
                self.sizes.statistics.assume(AssumptionAbout::Rows, ROWS)
            }
        }
    }
}

fn prefetched(statistics: &Statistics<'_>, query: &Query, found: &Found) -> Prefetched {
    let skew = query.header.skew.unwrap_or(0.0);
    let asked = Asked { positions: &found.query.positions, skew, stated: None };
    let all = statistics.count(main_class(&found.query));
    let share = |condition| selectivity(statistics, asked, condition);
    let share = found.query.condition.as_ref().map_or(1.0, share);
    Prefetched { index: found.index(), count: all * share, share }
}

#[expect(clippy::expect_used, reason = "the planner plans no query without a class")]
fn main_class(query: &Query) -> ClassId {
    query.positions[super::main()].class.expect("a query that is planned starts with a class")
}

#[expect(clippy::expect_used, reason = "a broken plan must not be priced")]
fn stepped(query: &Query, position: PositionId) -> Member {
    query.positions[position].from.expect("what is joined is reached from another position").step
}

#[expect(clippy::expect_used, reason = "a broken plan must not be priced")]
fn there(own: Option<PositionId>) -> PositionId {
    own.expect("a nested copy is read at a position that it has")
}
