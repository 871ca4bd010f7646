//! A choice of collections and plans: what each statement costs by each of its plans, and what each collection adds to the
//! writes that keep it right.
//!
//! Only collections, and how masters are cut, are chosen. Which plan is taken, which support reads are done and what
//! makes a write one follows from that.

use super::enumerate::{Alternative, Looked, Over, Pick, Timed, WriteParts};
use super::pool::Pool;
use super::reads::Reads;
use super::threads;
use super::upkeep::Mode;
use super::wait::Wait;
use crate::method::{Progress, Stage, complete};
use askloom_model::{CollectionId, Contents, Header, Keeper, Model, Query};
use askloom_plan::cost::{Costing, Sizes, Spent};
use askloom_plan::delta::ways_back;
use askloom_plan::effects::Effects;
use askloom_plan::planner::write::parts::FindPart;
use std::collections::{BTreeMap, BTreeSet};

/// A statement without `@rate` counts as done once a second.
pub(super) const RATE: f64 = 1.0;

/// All that a choice is made of.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    pub(super) picks: Vec<Pick>,
    /// Bytes that each pick takes.
    pub(super) bytes: Vec<f64>,
    /// What is stored whatever is chosen.
    pub(super) stored: f64,
    /// What a byte costs.
    pub(super) price: f64,
    /// Picks that must be there with a pick.
    pub(super) needs: Vec<Vec<usize>>,
    /// Of each of these, exactly one is chosen.
    pub(super) groups: Vec<Vec<usize>>,
    /// Of each of these, no more than so many.
    pub(super) bounds: Vec<(Vec<usize>, usize)>,
    pub(super) statements: Vec<Rated>,
    pub(super) served: Vec<Served>,
    pub(super) events: Vec<Event>,
    pub(super) charges: Vec<Charge>,
    pub(super) plans: Plans,
    /// Statements that are never as quick as they must be.
    pub(super) slow: Vec<Slow>,
    /// Writes that may not take longer, but for those.
    pub(super) waits: Vec<Wait>,
}

/// A statement that takes longer than it may.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Slow {
    pub statement: String,
    /// Milliseconds of its quickest plan; of a write, what it takes whatever is kept.
    pub takes: f64,
    pub most: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rated {
    pub(super) name: String,
    pub(super) rate: f64,
}

/// How many plans were looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Plans {
    pub(super) made: usize,
    pub(super) left: usize,
    /// Statements that no collection can answer.
    pub(super) missing: usize,
    /// Statements of which not every choice was looked at.
    pub(super) capped: usize,
}

/// A query, or how a write finds what it is about: exactly one plan is taken.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Served {
    pub(super) statement: usize,
    /// The cheapest first.
    pub(super) alternatives: Vec<Alternative>,
    /// What each of them reads.
    pub(super) reads: Reads,
}

impl Served {
    pub(super) fn new(statement: usize, alternatives: Vec<Alternative>) -> Self {
        let mut reads = Reads::of(alternatives.iter().flat_map(|one| one.reads.iter().copied()));
        for one in &alternatives {
            reads.push(one.reads.iter());
        }
        Self { statement, alternatives, reads }
    }
}

/// Something that happens or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Of {
    Pick(usize),
    Event(usize),
}

/// What follows from picks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    /// Any of these, and not that other event.
    Any {
        of: Vec<usize>,
        but: Option<usize>,
    },
    Both(Of, Of),
}

/// What is paid each time that a statement is done, if something happens; always if it is nothing.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Charge {
    pub(super) of: Option<Of>,
    pub(super) statement: usize,
    pub(super) cost: f64,
    /// Milliseconds.
    pub(super) takes: f64,
}

impl Charge {
    pub(super) fn is_paid(&self, chosen: &[bool], happens: &[bool]) -> bool {
        match self.of {
            None => true,
            Some(Of::Pick(at)) => chosen.get(at).copied().unwrap_or(false),
            Some(Of::Event(at)) => happens.get(at).copied().unwrap_or(false),
        }
    }
}

impl Choice {
    pub(super) fn new(model: &Model, costing: &Costing<'_>, pool: &Pool, progress: &Progress) -> Self {
        let over = Over::new(model, costing, pool);
        let mut choice = Self {
            picks: over.picks.clone(),
            bytes: Vec::new(),
            stored: 0.0,
            price: costing.model.storage(),
            needs: Vec::new(),
            groups: Vec::new(),
            bounds: Vec::new(),
            statements: Vec::new(),
            served: Vec::new(),
            events: Vec::new(),
            charges: Vec::new(),
            plans: Plans::default(),
            slow: Vec::new(),
            waits: Vec::new(),
        };
        choice.sizes(model, costing, pool);
        choice.needs(model, &over);
        choice.bounds(costing, pool);
        let questions = complete::questions(model);
        let writes = &model.workload.writes;
        let count = progress.count(questions.len() + writes.len(), |done, of| Stage::Plans { done, of });
        let looked = threads::each(&questions, |query| {
            let looked = over.query(query);
            count.one_more();
            looked
        });
        for (query, looked) in questions.iter().zip(looked) {
            let statement = choice.statement(&query.header);
            choice.serve(query, looked, statement);
        }
        let looked = threads::each(writes, |write| {
            let timed = if write.latency_ms.is_some() { Timed::Added } else { Timed::No };
            let looked = over.write(write).map(|parts| (over.finds(&parts, timed), parts));
            count.one_more();
            looked
        });
        for (write, looked) in writes.iter().zip(looked) {
            let statement = choice.statement(&write.header);
            match looked {
                Some((finds, parts)) => {
                    choice.write(&over, statement, &parts, finds);
                    choice.wait(costing, statement, write);
                }
                None => choice.plans.missing += 1,
            }
        }
        choice
    }

    fn sizes(&mut self, model: &Model, costing: &Costing<'_>, pool: &Pool) {
        let statistics = costing.statistics(&model.conceptual);
        let mut design = pool.design.clone();
        let cut: BTreeSet<CollectionId> = pool.cuts.iter().map(|cut| cut.master).collect();
        let sizes = Sizes { statistics: &statistics, design: &pool.design };
        let fixed = pool.design.collections.ids().take(pool.first).filter(|id| !cut.contains(id));
        self.stored = fixed.map(|id| sizes.bytes(id)).sum();
        let mut bytes = Vec::with_capacity(self.picks.len());
        for &pick in &self.picks {
            bytes.push(match pick {
                Pick::Keep(id) => sizes.bytes(id),
                Pick::Cut(cut, way) => {
                    let Some(cut) = pool.cuts.get(cut) else { continue };
                    if let Some(rules) = cut.ways.get(way) {
                        design.collections[cut.master].contents = Contents::Aggregate(rules.clone());
                    }
                    Sizes { statistics: &statistics, design: &design }.bytes(cut.master)
                }
            });
        }
        self.bytes = bytes;
    }

    fn needs(&mut self, model: &Model, over: &Over<'_>) {
        let collections = &over.pool.design.collections;
        let effects = Effects::of(model);
        let mut back: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for id in over.pool.optional() {
            if let Some((end, pick)) = collections[id].reverses().zip(over.pick(Pick::Keep(id))) {
                back.entry(end).or_default().push(pick);
            }
        }
        for (at, &pick) in self.picks.iter().enumerate() {
            self.needs.push(match pick {
                Pick::Keep(id) => {
                    let ends = ways_back(&model.conceptual, &effects, &collections[id]);
                    let needed = ends.iter().filter_map(|end| back.get(end)).flatten().copied();
                    let host = over.pool.local.get(&id).and_then(|&host| over.pick(Pick::Keep(host)));
                    needed.chain(host).filter(|&other| other != at).collect()
                }
                Pick::Cut(..) => Vec::new(),
            });
        }
        for cut in 0..over.pool.cuts.len() {
            let own = |pick: &Pick| matches!(pick, Pick::Cut(of, _) if *of == cut);
            let ways = self.picks.iter().enumerate().filter(|(_, pick)| own(pick)).map(|(at, _)| at);
            self.groups.push(ways.collect());
        }
    }

    /// A store keeps so many indexes of one table.
    fn bounds(&mut self, costing: &Costing<'_>, pool: &Pool) {
        let Some(indexes) = costing.capability.indexes else { return };
        let mut of: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        let mut beside: BTreeMap<CollectionId, Vec<usize>> = BTreeMap::new();
        for (at, &pick) in self.picks.iter().enumerate() {
            let Pick::Keep(id) = pick else { continue };
            let collection = &pool.design.collections[id];
            if let Some(&host) = pool.local.get(&id) {
                beside.entry(host).or_default().push(at);
            } else if collection.keeper == Keeper::Store {
                let shares = costing.capability.shares_tables;
                of.entry(pool.design.indexed_with(collection.source.root, shares)).or_default().push(at);
            }
        }
        for (at, &pick) in self.picks.iter().enumerate() {
            let Pick::Keep(id) = pick else { continue };
            let siblings: Vec<CollectionId> = pool.siblings(id).collect();
            let pick_of =
                |other: &CollectionId| self.picks.iter().position(|pick| *pick == Pick::Keep(*other));
            let pairs = siblings.iter().filter_map(pick_of).map(|other| (vec![at, other], 1));
            self.bounds.extend(pairs.collect::<Vec<_>>());
        }
        let most = indexes.value.most as usize;
        self.bounds.extend(of.into_values().filter(|own| own.len() > most).map(|own| (own, most)));
        let most = indexes.value.local.map_or(0, |local| local.most as usize);
        self.bounds.extend(beside.into_values().filter(|own| own.len() > most).map(|own| (own, most)));
    }

    fn statement(&mut self, header: &Header) -> usize {
        self.statements.push(Rated { name: header.name.clone(), rate: header.rate.unwrap_or(RATE) });
        self.statements.len() - 1
    }

    fn serve(&mut self, query: &Query, looked: Looked, statement: usize) {
        let Looked { alternatives, made, capped } = looked;
        self.plans.made += made;
        self.plans.capped += usize::from(capped);
        self.plans.left += alternatives.len();
        self.plans.missing += usize::from(alternatives.is_empty());
        let quickest = alternatives.iter().filter_map(|one| one.takes).reduce(f64::min);
        if let Some((takes, most)) = quickest.zip(query.latency_ms).filter(|(takes, most)| takes > most) {
            self.slow.push(Slow { statement: query.header.name.clone(), takes, most });
        }
        match alternatives.as_slice() {
            [] => {}
            [only] if only.reads.is_empty() => {
                let spent = Spent { cost: only.cost, takes: only.takes.unwrap_or(0.0) };
                self.charge(None, statement, spent);
            }
            _several => self.served.push(Served::new(statement, alternatives)),
        }
    }

    fn write(&mut self, over: &Over<'_>, statement: usize, parts: &WriteParts, finds: Vec<Option<Looked>>) {
        for (step, looked) in parts.usual.steps.iter().zip(finds) {
            match (&step.find, looked) {
                (FindPart::Query(query), looked) => self.serve(query, looked.unwrap_or_default(), statement),
                (FindPart::Nothing(cost), _) => self.charge(None, statement, *cost),
                (FindPart::Blind { unless, otherwise }, _) => {
                    self.unless_blind(over, statement, unless, *otherwise);
                }
            }
        }
        if !parts.usual.apart {
            return Mode::new(over, parts).charge(self, over, statement);
        }
        for index in 0..parts.usual.steps.len() {
            Mode::new(over, &parts.of_step(index)).charge(self, over, statement);
        }
    }

    /// What a write reads that would be blind without any of some copies.
    fn unless_blind(&mut self, over: &Over<'_>, statement: usize, copies: &[CollectionId], reads: Spent) {
        let picks: Option<Vec<usize>> = copies.iter().map(|&id| over.pick(Pick::Keep(id))).collect();
        match picks {
            // One of them is always there.
            None => self.charge(None, statement, reads),
            Some(none) if none.is_empty() => {}
            Some(of) => {
                let any = self.event(Event::Any { of, but: None });
                self.charge(Some(Of::Event(any)), statement, reads);
            }
        }
    }

    pub(super) fn charge(&mut self, of: Option<Of>, statement: usize, spent: Spent) {
        let Spent { cost, takes } = spent;
        if cost != 0.0 || takes != 0.0 {
            self.charges.push(Charge { of, statement, cost, takes });
        }
    }

    pub(super) fn event(&mut self, event: Event) -> usize {
        self.events.push(event);
        self.events.len() - 1
    }

    /// What happens if these are chosen.
    pub(super) fn events(&self, chosen: &[bool]) -> Vec<bool> {
        let mut happens: Vec<bool> = Vec::with_capacity(self.events.len());
        let is = |at: usize| chosen.get(at).copied().unwrap_or(false);
        for event in &self.events {
            let did = |at: usize| happens.get(at).copied().unwrap_or(false);
            let of = |of: Of| match of {
                Of::Pick(at) => is(at),
                Of::Event(at) => did(at),
            };
            let now = match event {
                Event::Any { of, but } => of.iter().any(|&at| is(at)) && !but.is_some_and(did),
                Event::Both(a, b) => of(*a) && of(*b),
            };
            happens.push(now);
        }
        happens
    }

    /// The picks that can make an event happen.
    pub(super) fn involved(&self, event: &Event) -> Vec<usize> {
        match event {
            Event::Any { of, .. } => of.clone(),
            Event::Both(a, b) => [a, b].into_iter().flat_map(|of| self.behind(*of)).collect(),
        }
    }

    pub(super) fn behind(&self, of: Of) -> Vec<usize> {
        match of {
            Of::Pick(at) => vec![at],
            Of::Event(at) => self.events.get(at).map(|event| self.involved(event)).unwrap_or_default(),
        }
    }

    /// The picks that can keep an event from happening.
    pub(super) fn prevented(&self, event: &Event) -> Vec<usize> {
        match event {
            Event::Any { but: Some(other), .. } => self.behind(Of::Event(*other)),
            Event::Any { but: None, .. } => Vec::new(),
            Event::Both(a, b) => self.kept_by(*a).into_iter().chain(self.kept_by(*b)).collect(),
        }
    }

    pub(super) fn kept_by(&self, of: Of) -> Vec<usize> {
        match of {
            Of::Pick(_) => Vec::new(),
            Of::Event(at) => self.events.get(at).map(|event| self.prevented(event)).unwrap_or_default(),
        }
    }

    /// What the workload costs in a second at these rates if these are chosen. Nothing if a statement is left without a
    /// plan.
    pub(super) fn cost_at(&self, chosen: &[bool], rates: &[f64]) -> Option<f64> {
        let rate = |statement: usize| rates.get(statement).copied().unwrap_or(RATE);
        let mut cost = self.price * self.storage(chosen);
        for served in &self.served {
            cost += rate(served.statement) * self.taken(served, chosen)?.cost;
        }
        let happens = self.events(chosen);
        for charge in self.charges.iter().filter(|charge| charge.is_paid(chosen, &happens)) {
            cost += rate(charge.statement) * charge.cost;
        }
        Some(cost)
    }

    pub(super) fn storage(&self, chosen: &[bool]) -> f64 {
        let of = self.bytes.iter().zip(chosen).filter(|(_, chosen)| **chosen);
        self.stored + of.map(|(bytes, _)| bytes).sum::<f64>()
    }

    /// The plan that is taken: the first, as they are sorted by what they cost.
    pub(super) fn taken<'s>(&self, served: &'s Served, chosen: &[bool]) -> Option<&'s Alternative> {
        let there = |at: &usize| chosen.get(*at).copied().unwrap_or(false);
        served.alternatives.iter().find(|one| one.reads.iter().all(there))
    }

    /// With what they need.
    pub(super) fn close(&self, chosen: &mut [bool]) {
        let mut open: Vec<usize> =
            chosen.iter().enumerate().filter(|(_, chosen)| **chosen).map(|(at, _)| at).collect();
        while let Some(at) = open.pop() {
            for &needed in self.needs.get(at).into_iter().flatten() {
                if let Some(slot) = chosen.get_mut(needed).filter(|slot| !**slot) {
                    *slot = true;
                    open.push(needed);
                }
            }
        }
    }

    /// Those that a plan reads, that another one of them needs, or that must be there; and the cuts.
    pub(super) fn used(&self, chosen: &[bool], pinned: &BTreeSet<usize>) -> Vec<bool> {
        let mut used = vec![false; chosen.len()];
        let mut set = |at: usize| {
            if let Some(slot) = used.get_mut(at) {
                *slot = true;
            }
        };
        let taken = self.served.iter().filter_map(|served| self.taken(served, chosen));
        taken.flat_map(|one| &one.reads).for_each(|&at| set(at));
        pinned.iter().for_each(|&at| set(at));
        let cuts = self.groups.iter().flatten().filter(|at| chosen.get(**at).copied().unwrap_or(false));
        cuts.for_each(|&at| set(at));
        self.close(&mut used);
        used
    }

    /// By pick, those that have a plan which reads it.
    pub(super) fn readers(&self) -> Vec<Vec<usize>> {
        let mut readers: Vec<Vec<usize>> = vec![Vec::new(); self.picks.len()];
        for (at, served) in self.served.iter().enumerate() {
            for &pick in served.reads.picks() {
                readers.get_mut(pick).into_iter().for_each(|readers| readers.push(at));
            }
        }
        readers
    }
}
