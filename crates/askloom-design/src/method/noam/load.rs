//! What statements cost while the partition of one class changes.
//!
//! Each statement is planned over the few collections that it can have to do with, not over the whole design: so a
//! large model costs what its statements cost, not its classes times its statements.

use super::usage::{Use, Uses};
use crate::method::around::{Around, Statement};
use crate::method::complete::{Found, add_index, questions};
use askloom_model::{ClassId, Collection, CollectionId, Contents, Design, Id, Model, Query, Role, Rule};
use askloom_plan::cost::Costing;
use askloom_plan::partition::Strategy;
use askloom_plan::{planner, upkeep};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The rate of a statement that has none, per second.
pub(super) const RATE: f64 = 1.0;

/// A statement, its rate, and the collections around it.
pub(super) struct Load<'m> {
    statement: Statement<'m>,
    pub(super) rate: f64,
    /// Which of the designs is around it.
    around: usize,
    /// The collections that its cheapest plan starts with under some partition.
    from: Vec<CollectionId>,
    pub(super) uses: BTreeMap<ClassId, Use>,
}

impl Load<'_> {
    /// What it costs in a second. Without a plan, nothing can be dearer.
    fn price(&self, model: &Model, costing: &Costing<'_>, design: &Design) -> f64 {
        let cost = self.statement.cost(model, costing, design, &self.from);
        cost.map_or(f64::INFINITY, |cost| cost * self.rate)
    }

    /// The collections that the cheapest plan can start with. It costs most where every atom is an entry: whatever costs
    /// more before anything is read of a master is never the cheapest.
    fn starts(
        &self,
        model: &Model,
        costing: &Costing<'_>,
        design: &mut Design,
        masters: &[(ClassId, Vec<Rule>)],
    ) -> Vec<CollectionId> {
        let Statement::Query(query) = &self.statement else { return Vec::new() };
        for (class, _) in masters {
            cut(design, *class, &[Strategy::PerAtomicValue.rule(Some(*class))]);
        }
        let most = self.statement.cost(model, costing, design, &self.from).unwrap_or(f64::INFINITY);
        for (class, rules) in masters {
            cut(design, *class, rules);
        }
        planner::starts_within(costing, &model.conceptual, design, query, most)
    }
}

/// Cuts a class of a design by these rules.
fn cut(design: &mut Design, class: ClassId, rules: &[Rule]) {
    if let Some(master) = design.master(class) {
        design.collections[master].contents = Contents::Aggregate(rules.to_vec());
    }
}

/// All statements that have a plan, and which of them the partition of a class makes cheaper or dearer.
pub(super) struct Loads<'m> {
    model: &'m Model,
    costing: &'m Costing<'m>,
    /// Each for all statements that have to do with the same aggregates.
    designs: Vec<Design>,
    loads: Vec<Load<'m>>,
    touching: HashMap<ClassId, Vec<usize>>,
    /// How many have no rate.
    pub(super) unrated: usize,
}

impl<'m> Loads<'m> {
    /// Of those classes whose partition is open, given the masters of all.
    pub(super) fn new(
        model: &'m Model,
        costing: &'m Costing<'m>,
        masters: &Design,
        open: &BTreeSet<ClassId>,
    ) -> Self {
        let queries = questions(model);
        let completed = completed(model, costing, masters, &queries);
        let around = Around::new(&model.conceptual, &completed);
        let writes = model.workload.writes.iter().map(Statement::Write);
        let statements = queries.into_iter().map(|query| Statement::Query(Box::new(query))).chain(writes);
        let mut loads = Self {
            model,
            costing,
            designs: Vec::new(),
            loads: Vec::new(),
            touching: HashMap::new(),
            unrated: 0,
        };
        let mut known: HashMap<BTreeSet<ClassId>, usize> = HashMap::new();
        for statement in statements {
            let roots = around.roots(&statement);
            let at = *known.entry(roots).or_insert_with_key(|roots| {
                loads.designs.push(around.design(roots));
                loads.designs.len() - 1
            });
            loads.enter(statement, at, open);
        }
        loads
    }

    fn enter(&mut self, statement: Statement<'m>, around: usize, open: &BTreeSet<ClassId>) {
        let Some(design) = self.designs.get_mut(around) else { return };
        let all: Vec<CollectionId> = design.collections.ids().collect();
        // A statement without any plan is said elsewhere, and is no reason for any partition.
        let Some(now) = statement.cost(self.model, self.costing, design, &all) else { return };
        let rate = statement.header().rate;
        self.unrated += usize::from(rate.is_none());
        let uses = Uses::of(&self.model.conceptual, &statement);
        let mut load = Load { statement, rate: rate.unwrap_or(RATE), around, from: all, uses };
        let now = now * load.rate;
        let masters = masters(design, open);
        load.from = load.starts(self.model, self.costing, design, &masters);
        // Every partition is between one entry and one for each atom: where these cost the same, all do.
        for (class, rules) in &masters {
            cut(design, *class, &[Strategy::PerAtomicValue.rule(Some(*class))]);
            let apart = load.price(self.model, self.costing, design);
            cut(design, *class, rules);
            if apart.to_bits() != now.to_bits() {
                self.touching.entry(*class).or_default().push(self.loads.len());
            }
        }
        self.loads.push(load);
    }

    /// The statements that a partition of the class concerns.
    pub(super) fn of(&self, class: ClassId) -> impl Iterator<Item = &Load<'m>> {
        let touching = self.touching.get(&class).into_iter().flatten();
        touching.filter_map(|&index| self.loads.get(index))
    }

    /// What they cost in a second under these rules; nothing if that is more than a bound.
    pub(super) fn price(&mut self, class: ClassId, rules: &[Rule], bound: f64) -> Option<f64> {
        self.settle(class, rules);
        let mut sum = 0.0;
        for load in self.of(class) {
            if let Some(design) = self.designs.get(load.around) {
                sum += load.price(self.model, self.costing, design);
            }
            if sum > bound {
                return None;
            }
        }
        sum.is_finite().then_some(sum)
    }

    /// What each of them costs in a second under these rules.
    pub(super) fn prices(&mut self, class: ClassId, rules: &[Rule]) -> Vec<f64> {
        self.settle(class, rules);
        let price = |load: &Load<'m>| {
            let design = self.designs.get(load.around);
            design.map_or(f64::INFINITY, |design| load.price(self.model, self.costing, design))
        };
        self.of(class).map(price).collect()
    }

    /// Leaves a class as it was decided, for the classes that come after it.
    pub(super) fn settle(&mut self, class: ClassId, rules: &[Rule]) {
        let around = self.of(class).map(|load| load.around).collect::<BTreeSet<usize>>();
        for at in around {
            if let Some(design) = self.designs.get_mut(at) {
                cut(design, class, rules);
            }
        }
    }
}

/// The masters of classes whose partition is open, with their rules.
fn masters(design: &Design, open: &BTreeSet<ClassId>) -> Vec<(ClassId, Vec<Rule>)> {
    let masters = design.collections.iter().filter(|(_, collection)| collection.role == Role::Master);
    let open = masters.filter(|(_, collection)| open.contains(&collection.source.root));
    let rules = |contents: &Contents| match contents {
        Contents::Aggregate(rules) => Some(rules.clone()),
        Contents::Fields(_) | Contents::Nested(_) => None,
    };
    open.filter_map(|(_, collection)| Some((collection.source.root, rules(&collection.contents)?))).collect()
}

/// The design with what it will have when it is completed: a scan that an index will replace is no reason for a
/// partition.
fn completed(model: &Model, costing: &Costing<'_>, masters: &Design, queries: &[Query]) -> Design {
    let mut design = masters.clone();
    upkeep::add_indexes(model, &mut design);
    let around = Around::new(&model.conceptual, &design);
    let mut designs: HashMap<BTreeSet<ClassId>, Design> = HashMap::new();
    let mut added: Vec<Collection> = Vec::new();
    for query in queries {
        let roots = around.roots_of_query(query);
        let near = designs.entry(roots).or_insert_with_key(|roots| around.design(roots));
        match add_index(model, costing, near, query) {
            Found::Index(id) => {
                added.push(near.collections[id].clone());
                near.collections.truncate(id.index());
            }
            Found::Key | Found::Scan => {}
        }
    }
    if !added.is_empty() {
        for collection in added {
            design.collections.push(collection);
        }
        upkeep::add_indexes(model, &mut design);
    }
    design
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::simple;
    use askloom_model::Origin;

    /// What a query was found not to start with is never the cheapest, however the aggregates are cut.
    #[test]
    fn the_collections_that_are_left_give_the_same_price() {
        let mut text =
            "@count(1_000) entity Thing { id k: int, note: text @size(2 KB), tags: text[*]\n".to_owned();
        (0..8).for_each(|n| text.push_str(&format!("  f{n}: int @distinct({})\n", 10 + n * n * 20)));
        text.push_str("}\n");
        for n in 0..8 {
            let (other, range) = ((n + 3) % 8, (n + 5) % 8);
            let query = format!("SELECT f{other}, note FROM Thing WHERE f{n} = :a AND f{range} > :b");
            text.push_str(&format!("query q{n}: {query}\n"));
        }
        let world = askloom_lang::Memory::default().with("m.loom", text);
        let checked = askloom_lang::check(&world, std::path::Path::new("m.loom"));
        assert_eq!(checked.errors, 0, "{:?}", checked.diagnostics);
        let (model, costing) = (checked.model, askloom_target::embedded::costing());
        let mut masters = Design::default();
        simple::masters(&model, Origin::Method, &mut masters);
        let class = masters.collections.iter().next().unwrap().1.source.root;
        let mut loads = Loads::new(&model, &costing, &masters, &BTreeSet::from([class]));
        let all: Vec<CollectionId> = loads.designs[0].collections.ids().collect();
        let left: Vec<usize> = loads.loads.iter().map(|load| load.from.len()).collect();
        assert_eq!((all.len(), left.len()), (9, 8), "the master and an index of each query");
        assert!(left.iter().all(|&left| left < all.len() / 2), "{left:?}");
        for strategy in Strategy::ALL {
            cut(&mut loads.designs[0], class, &[strategy.rule(Some(class))]);
            for load in &loads.loads {
                let over_all = load.statement.cost(&model, &costing, &loads.designs[0], &all).unwrap();
                let price = load.price(&model, &costing, &loads.designs[0]);
                assert_eq!(price.to_bits(), (over_all * load.rate).to_bits(), "{strategy:?}");
            }
        }
    }
}
