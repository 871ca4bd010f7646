//! The choice of collections and plans as a programme: one variable for each collection that may be kept, one for each
//! plan of each statement, and what binds them.
//!
//! Only the collections are chosen: which plan is taken, which support reads are done and what makes a write one follows
//! from them, so that their variables come out whole by themselves.

use super::candidate::{Pool, ways_back};
use super::programme::{Op, Programme};
use crate::cost::{Costing, Sizes, Statistics};
use crate::method::complete;
use crate::plan;
use crate::plan::write::parts::{self, CopyPart, FindPart, Parts, SupportKey, at};
use askloom_model::{CollectionId, CopyLevel, Design, Header, Id, Keeper, Model, Query};
use std::collections::{BTreeMap, BTreeSet};

/// A statement without `@rate` counts as done once a second.
const RATE: f64 = 1.0;

/// A plan of a statement over what may be kept.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Alternative {
    /// What it costs in a second.
    pub(super) cost: f64,
    /// Which optional collections it reads.
    pub(super) reads: BTreeSet<CollectionId>,
}

/// All that a choice is made of.
pub(super) struct Choice {
    pub(super) programme: Programme,
    /// The variable of each optional collection.
    kept: BTreeMap<CollectionId, usize>,
    served: Vec<Served>,
    follows: Vec<Follows>,
    /// What a collection needs to be kept right.
    pub(super) needs: BTreeMap<CollectionId, Vec<CollectionId>>,
    pub(super) plans: Plans,
}

/// How many plans were looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Plans {
    pub(super) made: usize,
    pub(super) left: usize,
    /// Statements that no collection can answer.
    pub(super) missing: usize,
}

/// A query, or how a write finds what it is about: exactly one plan is taken.
struct Served {
    name: String,
    alternatives: Vec<(usize, Alternative)>,
}

/// A variable whose value follows from others.
enum Follows {
    /// 1 if any of these is.
    Any(usize, Vec<usize>),
    /// 1 if any of these is and that other one is not.
    AnyBut(usize, Vec<usize>, Option<usize>),
    /// 1 if both are.
    Both(usize, usize, usize),
}

impl Choice {
    pub(super) fn new(model: &Model, costing: &Costing<'_>, pool: &Pool) -> Self {
        let mut choice = Self {
            programme: Programme::default(),
            kept: BTreeMap::new(),
            served: Vec::new(),
            follows: Vec::new(),
            needs: BTreeMap::new(),
            plans: Plans::default(),
        };
        choice.collections(model, costing, pool);
        let without = pool.without_ways_back();
        for query in &complete::questions(model) {
            let rate = rate(&query.header);
            choice.serve(model, costing, pool, &without, query, query.header.name.clone(), rate);
        }
        for write in &model.workload.writes {
            let Some(parts) = parts::parts(costing, model, &pool.design, write) else {
                choice.plans.missing += 1;
                continue;
            };
            let rate = rate(&write.header);
            for (index, step) in parts.steps.iter().enumerate() {
                let name = format!("{}_find_{index}", write.header.name);
                match &step.find {
                    FindPart::Query(query) => {
                        choice.serve(model, costing, pool, &without, query, name, rate);
                    }
                    FindPart::Nothing(cost) => choice.programme.constant += rate * cost,
                }
            }
            choice.write(&write.header.name, &parts, rate);
        }
        choice
    }

    fn collections(&mut self, model: &Model, costing: &Costing<'_>, pool: &Pool) {
        let conceptual = &model.conceptual;
        let statistics = Statistics::new(conceptual);
        let sizes = Sizes { statistics: &statistics, design: &pool.design };
        let price = costing.model.storage();
        for id in pool.design.collections.ids().take(pool.first) {
            self.programme.constant += price * sizes.bytes(id);
        }
        for id in pool.optional() {
            let name = format!("keep_{}", pool.design.collections[id].name);
            let variable = self.programme.variable(name, price * sizes.bytes(id), true);
            self.kept.insert(id, variable);
        }
        for id in pool.optional() {
            let ends = ways_back(conceptual, &pool.design.collections[id]);
            let back = pool.optional().filter(|&other| {
                let way = pool.design.collections[other].reverses();
                other != id && way.is_some_and(|way| ends.contains(&way))
            });
            let back: Vec<CollectionId> = back.collect();
            for other in &back {
                let row = vec![(self.of(id), 1.0), (self.of(*other), -1.0)];
                self.programme.row(row, Op::AtMost, 0.0);
            }
            self.needs.insert(id, back);
        }
        self.own_indexes(costing, &pool.design);
    }

    /// A store keeps so many indexes of one collection.
    fn own_indexes(&mut self, costing: &Costing<'_>, design: &Design) {
        let Some(indexes) = costing.capability.indexes else { return };
        let mut of: BTreeMap<_, Vec<(usize, f64)>> = BTreeMap::new();
        for (&id, &variable) in &self.kept {
            let collection = &design.collections[id];
            if collection.keeper == Keeper::Store {
                of.entry(collection.source.root).or_default().push((variable, 1.0));
            }
        }
        for terms in of.into_values().filter(|terms| terms.len() > indexes.value.most as usize) {
            self.programme.row(terms, Op::AtMost, f64::from(indexes.value.most));
        }
    }

    fn of(&self, id: CollectionId) -> usize {
        self.kept.get(&id).copied().unwrap_or(usize::MAX)
    }

    #[expect(clippy::too_many_arguments, reason = "all of it is one statement over one pool")]
    fn serve(
        &mut self,
        model: &Model,
        costing: &Costing<'_>,
        pool: &Pool,
        without: &Design,
        query: &Query,
        name: String,
        rate: f64,
    ) {
        let conceptual = &model.conceptual;
        let mut plans = plan::plans_for(costing, conceptual, &pool.design, query);
        plans.extend(plan::plans_for(costing, conceptual, without, query));
        self.plans.made += plans.len();
        let optional = |id: &CollectionId| id.index() >= pool.first;
        let alternatives = plans.iter().map(|plan| Alternative {
            cost: rate * plan.estimate.cost,
            reads: plan.collections().filter(optional).collect(),
        });
        let alternatives = undominated(alternatives.collect());
        self.plans.left += alternatives.len();
        self.plans.missing += usize::from(alternatives.is_empty());
        self.take_one(name, alternatives);
    }

    /// Exactly one plan is taken, and what it reads is kept.
    fn take_one(&mut self, name: String, alternatives: Vec<Alternative>) {
        if let [only] = alternatives.as_slice()
            && only.reads.is_empty()
        {
            self.programme.constant += only.cost;
            return;
        }
        let mut taken = Vec::with_capacity(alternatives.len());
        for (index, alternative) in alternatives.into_iter().enumerate() {
            let variable = self.programme.variable(format!("{name}_{index}"), alternative.cost, false);
            taken.push((variable, alternative));
        }
        if !taken.is_empty() {
            let all = taken.iter().map(|(variable, _)| (*variable, 1.0)).collect();
            self.programme.row(all, Op::Equal, 1.0);
        }
        let read: BTreeSet<CollectionId> =
            taken.iter().flat_map(|(_, alternative)| alternative.reads.iter().copied()).collect();
        for id in read {
            let by = taken.iter().filter(|(_, alternative)| alternative.reads.contains(&id));
            let mut terms: Vec<(usize, f64)> = by.map(|(variable, _)| (*variable, 1.0)).collect();
            terms.push((self.of(id), -1.0));
            self.programme.row(terms, Op::AtMost, 0.0);
        }
        self.served.push(Served { name, alternatives: taken });
    }

    /// What a write costs besides finding: the aggregates, by what makes it one, and what each copy adds.
    fn write(&mut self, name: &str, parts: &Parts, rate: f64) {
        let own = |level: CopyLevel| -> f64 {
            rate * parts.steps.iter().map(|step| step.own.get(at(level)).copied().unwrap_or(0.0)).sum::<f64>()
        };
        let copies: Vec<&CopyPart> = parts.steps.iter().flat_map(|step| &step.copies).collect();
        let always = copies.iter().filter(|copy| !self.kept.contains_key(&copy.collection));
        let least = always.map(|copy| copy.level).fold(parts.least, CopyLevel::max);
        let at_level = |level: CopyLevel| -> Vec<usize> {
            let mut those: Vec<usize> = copies
                .iter()
                .filter(|copy| copy.level == level)
                .filter_map(|copy| self.kept.get(&copy.collection).copied())
                .collect();
            those.sort_unstable();
            those.dedup();
            those
        };
        let (second, third) = (at_level(CopyLevel::Transaction), at_level(CopyLevel::Intents));
        self.programme.constant += own(least);
        let intents = (least != CopyLevel::Intents && !third.is_empty()).then(|| {
            let cost = own(CopyLevel::Intents) - own(least);
            self.any(format!("{name}_intents"), cost, &third)
        });
        let transaction = (least == CopyLevel::AtomicUnit && !second.is_empty()).then(|| {
            let cost = own(CopyLevel::Transaction) - own(least);
            self.any_but(format!("{name}_transaction"), cost, &second, intents)
        });
        let mode = Mode { least, intents, transaction };
        for copy in &copies {
            self.copy(name, copy, rate, &mode);
        }
        for step in &parts.steps {
            self.support(name, &step.copies, rate);
        }
    }

    fn copy(&mut self, name: &str, copy: &CopyPart, rate: f64, mode: &Mode) {
        let kept = self.kept.get(&copy.collection).copied();
        let (alone, more) = (rate * copy.alone, rate * (copy.in_transaction - copy.alone));
        let first = if mode.least == CopyLevel::Transaction { alone + more } else { alone };
        self.pay(kept, first);
        if more <= 0.0 {
            return;
        }
        match (mode.least, mode.intents, mode.transaction) {
            // In a transaction, unless something follows by intents.
            (CopyLevel::Transaction, Some(intents), _) => {
                self.both(format!("{name}_less"), -more, kept, intents)
            }
            (CopyLevel::AtomicUnit, _, Some(transaction)) => {
                self.both(format!("{name}_more"), more, kept, transaction);
            }
            (CopyLevel::AtomicUnit | CopyLevel::Transaction | CopyLevel::Intents, _, _) => {}
        }
    }

    /// Something is paid if a collection is kept; always if it is no choice.
    fn pay(&mut self, kept: Option<usize>, cost: f64) {
        match kept.and_then(|variable| self.programme.variables.get_mut(variable)) {
            Some(variable) => variable.cost += cost,
            None => self.programme.constant += cost,
        }
    }

    fn support(&mut self, name: &str, copies: &[CopyPart], rate: f64) {
        let mut reads: Vec<(&SupportKey, f64, Vec<Option<usize>>)> = Vec::new();
        for copy in copies {
            let kept = self.kept.get(&copy.collection).copied();
            for (key, cost) in &copy.support {
                match reads.iter_mut().find(|(known, _, _)| *known == key) {
                    Some((_, _, by)) => by.push(kept),
                    None => reads.push((key, rate * cost, vec![kept])),
                }
            }
        }
        for (index, (_, cost, by)) in reads.into_iter().enumerate() {
            let optional: Option<Vec<usize>> = by.into_iter().collect();
            match optional.as_deref() {
                None => self.programme.constant += cost,
                Some([only]) => self.pay(Some(*only), cost),
                Some(several) => {
                    self.any(format!("{name}_support_{index}"), cost, several);
                }
            }
        }
    }

    /// A variable that is 1 if any of these is, and only then.
    fn any(&mut self, name: String, cost: f64, of: &[usize]) -> usize {
        self.any_but(name, cost, of, None)
    }

    fn any_but(&mut self, name: String, cost: f64, of: &[usize], but: Option<usize>) -> usize {
        let variable = self.programme.variable(name, cost, false);
        for &one in of {
            let mut terms = vec![(variable, 1.0), (one, -1.0)];
            terms.extend(but.map(|but| (but, 1.0)));
            self.programme.row(terms, Op::AtLeast, 0.0);
        }
        if but.is_none() {
            // What costs less than nothing is not to be had for nothing.
            let mut terms = vec![(variable, 1.0)];
            terms.extend(of.iter().map(|&one| (one, -1.0)));
            self.programme.row(terms, Op::AtMost, 0.0);
        }
        self.follows.push(match but {
            None => Follows::Any(variable, of.to_vec()),
            Some(_) => Follows::AnyBut(variable, of.to_vec(), but),
        });
        variable
    }

    /// What is paid, or saved, if two are chosen.
    fn both(&mut self, name: String, cost: f64, kept: Option<usize>, other: usize) {
        let Some(kept) = kept else {
            self.pay(Some(other), cost);
            return;
        };
        let variable = self.programme.variable(name, cost, false);
        if cost < 0.0 {
            self.programme.row(vec![(variable, 1.0), (kept, -1.0)], Op::AtMost, 0.0);
            self.programme.row(vec![(variable, 1.0), (other, -1.0)], Op::AtMost, 0.0);
        } else {
            let terms = vec![(variable, 1.0), (kept, -1.0), (other, -1.0)];
            self.programme.row(terms, Op::AtLeast, -1.0);
        }
        self.follows.push(Follows::Both(variable, kept, other));
    }

    /// The values of all variables if these collections are kept. Nothing if a statement is left without a plan.
    pub(super) fn values(&self, kept: &BTreeSet<CollectionId>) -> Option<Vec<f64>> {
        let mut values = vec![0.0; self.programme.variables.len()];
        let mut set = |at: usize, value: f64| {
            if let Some(slot) = values.get_mut(at) {
                *slot = value;
            }
        };
        for (id, &variable) in &self.kept {
            set(variable, f64::from(u8::from(kept.contains(id))));
        }
        for served in &self.served {
            let possible = served.alternatives.iter().filter(|(_, one)| one.reads.is_subset(kept));
            let cheapest = possible.min_by(|(_, a), (_, b)| a.cost.total_cmp(&b.cost))?;
            set(cheapest.0, 1.0);
        }
        for follows in &self.follows {
            let is = |at: &usize| values.get(*at).is_some_and(|&value| value > 0.5);
            let (variable, one) = match follows {
                Follows::Any(variable, of) => (*variable, of.iter().any(is)),
                Follows::AnyBut(variable, of, but) => {
                    (*variable, of.iter().any(is) && !but.as_ref().is_some_and(is))
                }
                Follows::Both(variable, a, b) => (*variable, is(a) && is(b)),
            };
            if let Some(slot) = values.get_mut(variable) {
                *slot = f64::from(u8::from(one));
            }
        }
        Some(values)
    }

    /// What the workload costs in a second if these collections are kept.
    pub(super) fn cost(&self, kept: &BTreeSet<CollectionId>) -> Option<f64> {
        Some(self.programme.cost(&self.values(kept)?))
    }

    /// The collections that are kept by some values.
    pub(super) fn kept(&self, values: &[f64]) -> BTreeSet<CollectionId> {
        let kept = |(_, variable): &(&CollectionId, &usize)| {
            values.get(**variable).is_some_and(|&value| value > 0.5)
        };
        self.kept.iter().filter(kept).map(|(&id, _)| id).collect()
    }

    /// Those of some collections that a plan reads or another one of them needs.
    pub(super) fn used(&self, kept: &BTreeSet<CollectionId>) -> BTreeSet<CollectionId> {
        let mut used = BTreeSet::new();
        for served in &self.served {
            let possible = served.alternatives.iter().filter(|(_, one)| one.reads.is_subset(kept));
            let cheapest = possible.min_by(|(_, a), (_, b)| a.cost.total_cmp(&b.cost));
            used.extend(cheapest.into_iter().flat_map(|(_, one)| one.reads.iter().copied()));
        }
        let mut open: Vec<CollectionId> = used.iter().copied().collect();
        while let Some(id) = open.pop() {
            for &needed in self.needs.get(&id).into_iter().flatten() {
                if used.insert(needed) {
                    open.push(needed);
                }
            }
        }
        used
    }

    /// With what they need.
    pub(super) fn with_needs(&self, kept: &BTreeSet<CollectionId>) -> BTreeSet<CollectionId> {
        let mut all = kept.clone();
        let mut open: Vec<CollectionId> = kept.iter().copied().collect();
        while let Some(id) = open.pop() {
            for &needed in self.needs.get(&id).into_iter().flatten() {
                if all.insert(needed) {
                    open.push(needed);
                }
            }
        }
        all
    }

    /// The statements that are served by a collection, of those that are kept.
    pub(super) fn serves(&self, id: CollectionId, kept: &BTreeSet<CollectionId>) -> Vec<&str> {
        let serves = |served: &&Served| {
            let possible = served.alternatives.iter().filter(|(_, one)| one.reads.is_subset(kept));
            let cheapest = possible.min_by(|(_, a), (_, b)| a.cost.total_cmp(&b.cost));
            cheapest.is_some_and(|(_, one)| one.reads.contains(&id))
        };
        self.served.iter().filter(serves).map(|served| served.name.as_str()).collect()
    }
}

/// What makes a write one.
struct Mode {
    /// Whatever is chosen.
    least: CopyLevel,
    intents: Option<usize>,
    transaction: Option<usize>,
}

fn rate(header: &Header) -> f64 {
    header.rate.unwrap_or(RATE)
}

/// Those that no other does with less and for less.
fn undominated(mut all: Vec<Alternative>) -> Vec<Alternative> {
    all.retain(|one| one.cost.is_finite());
    all.sort_by(|a, b| {
        a.cost.total_cmp(&b.cost).then(a.reads.len().cmp(&b.reads.len())).then(a.reads.cmp(&b.reads))
    });
    let mut left: Vec<Alternative> = Vec::new();
    for one in all {
        if !left.iter().any(|other| other.reads.is_subset(&one.reads)) {
            left.push(one);
        }
    }
    left
}
