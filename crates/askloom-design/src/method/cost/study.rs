//! All that is known of a model's choice: the cheapest design, and what it would be if.

use super::buckets::should_be_cut;
use super::choice::Choice;
use super::decide::Decided;
use super::enumerate::Pick;
use super::pool::{Masters, Pool};
use super::presolve::Rules;
use super::report::{Report, total};
use super::threads;
use super::wishes::Wishes;
use crate::limits;
use crate::method::{Method, Options, Progress, Proposal, Stage, complete, design, given};
use askloom_model::{Collection, CollectionId, Contents, Design, Header, Id, Model, Role, Table};
use askloom_plan::cost::{Costing, Sizes};
use askloom_plan::{planner, upkeep};
use serde::Serialize;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Collections and plans of a model, ready to be chosen from.
#[derive(Debug)]
pub struct Study<'s> {
    pub(super) model: &'s Model,
    pub(super) costing: &'s Costing<'s>,
    pub(super) pool: Pool,
    pub(super) choice: Choice,
    /// What the other methods make of the model, with what the model declares.
    pub(super) others: Vec<(Method, Design)>,
    pub(super) progress: Progress,
    began: Instant,
}

/// Why there is no design as it must be.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unmet {
    /// No candidate has the name; these are near.
    Unknown { name: String, known: Vec<String> },
    /// Every design has it.
    Needed { name: String },
    /// A pinned collection cannot be without a forbidden one.
    Contradiction { name: String },
    /// The smallest design takes so many bytes.
    Storage { least: f64 },
    /// The fewest collections.
    Collections { least: usize },
    /// A statement has no plan.
    NoPlan { statement: String },
    /// None was found before the time was over.
    Time,
}

/// When to stop, if at all.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline(Option<Instant>);

impl Deadline {
    pub(super) fn left(self) -> Option<Duration> {
        self.0.map(|end| end.saturating_duration_since(Instant::now()))
    }

    pub(super) fn is_over(self) -> bool {
        self.left() == Some(Duration::ZERO)
    }

    /// A share of what is left, the same for each of so many.
    pub(super) fn share(self, of: usize) -> Option<Duration> {
        self.left().map(|left| left / u32::try_from(of.max(1)).unwrap_or(u32::MAX))
    }
}

impl<'s> Study<'s> {
    #[must_use]
    pub fn new(model: &'s Model, costing: &'s Costing<'s>, options: &Options) -> Self {
        let began = Instant::now();
        let progress = options.progress.clone();
        progress.tell(Stage::Candidates);
        let declared = given::propose(model).design;
        let others = || {
            threads::each(&Method::PUBLISHED, |&method| {
                let Proposal { design, .. } = design(method, model, costing, options);
                (method, with(model, design, &declared))
            })
        };
        let (others, masters) = threads::both(others, || Masters::new(model, costing));
        let designs: Vec<Design> = others.iter().map(|(_, design)| design.clone()).collect();
        let pool = Pool::new(model, costing, masters, &designs);
        let choice = Choice::new(model, costing, &pool, &progress);
        Self { model, costing, pool, choice, others, progress, began }
    }

    /// The cheapest design, and how it came about.
    pub fn best(&self, wishes: &Wishes) -> Result<(Design, Report), Unmet> {
        let mut rules = self.rules(wishes)?;
        let forbidden = rules.forbidden.len();
        let deadline = self.deadline(wishes);
        let decided = self.cool(&mut rules, &self.starts(), deadline.left(), &self.progress);
        let Some(decided) = decided else {
            return self.otherwise(&rules, deadline, |patient| patient.best(wishes));
        };
        self.progress.tell(Stage::Worth);
        let design = self.design(&decided.chosen);
        let mut report = Report::new(self, &rules, &decided, &design);
        report.looked_at.too_hot = rules.forbidden.len() - forbidden;
        report.looked_at.candidates -= report.looked_at.too_hot.min(report.looked_at.candidates);
        Ok(self.at_least_as_cheap(design, report, &rules))
    }

    /// What is to be said where nothing is as it must be: the same of a study in which writes may take longer, if that is
    /// why, else why.
    pub(super) fn otherwise<T>(
        &self,
        rules: &Rules,
        deadline: Deadline,
        again: impl FnOnce(&Self) -> Result<T, Unmet>,
    ) -> Result<T, Unmet> {
        match self.patient(rules, deadline) {
            Some(patient) => again(&patient),
            None => Err(self.unmet(rules, deadline)),
        }
    }

    /// The same where no design is as quick as writes must be: those that are late in the cheapest one may take longer, and
    /// that is told. Nothing if that is not why there is none.
    fn patient(&self, rules: &Rules, deadline: Deadline) -> Option<Self> {
        if self.choice.waits.is_empty() {
            return None;
        }
        let without = Choice { waits: Vec::new(), ..self.choice.clone() };
        let decided = without.decide(rules, &self.starts(), deadline.left(), &Progress::default())?;
        let late = self.choice.late(&decided.chosen);
        let mut choice = self.choice.clone();
        choice.waits.retain(|wait| {
            let name = choice.statements.get(wait.statement).map(|one| &one.name);
            !late.iter().any(|slow| Some(&slow.statement) == name)
        });
        if late.is_empty() {
            // It was not found before.
            choice.waits.clear();
        }
        choice.slow.extend(late);
        let (pool, others) = (self.pool.clone(), self.others.clone());
        let (model, costing, progress) = (self.model, self.costing, self.progress.clone());
        Some(Self { model, costing, pool, choice, others, progress, began: self.began })
    }

    /// What candidates and plans took is part of the time.
    pub(super) fn deadline(&self, wishes: &Wishes) -> Deadline {
        Deadline(wishes.time_limit.and_then(|limit| self.began.checked_add(limit)))
    }

    /// The cheapest choice of which no block is asked for more often than the store can serve one. What would be is forbidden.
    pub(super) fn cool(
        &self,
        rules: &mut Rules,
        starts: &[Vec<bool>],
        limit: Option<Duration>,
        progress: &Progress,
    ) -> Option<Decided> {
        let began = Instant::now();
        loop {
            let limit = limit.map(|limit| limit.saturating_sub(began.elapsed()));
            let decided = self.choice.decide(rules, starts, limit, progress)?;
            let hot = self.hot(&self.design(&decided.chosen), rules);
            if hot.is_empty() {
                return Some(decided);
            }
            rules.forbidden.extend(hot);
        }
    }

    /// Kept collections whose blocks are asked for more often than the store can serve one, and that may be left.
    fn hot(&self, design: &Design, rules: &Rules) -> Vec<usize> {
        let hot = limits::hot(self.model, self.costing, design);
        let names = hot.into_iter().map(|hot| &design.collections[hot.collection].name);
        let picks = names.filter_map(|name| self.named(name).ok().flatten());
        picks.filter(|pick| !rules.pinned.contains(pick) && !rules.forbidden.contains(pick)).collect()
    }

    /// A design of another method that is cheaper after all, as it has what no candidate is, is taken as it is.
    fn at_least_as_cheap(&self, design: Design, report: Report, rules: &Rules) -> (Design, Report) {
        let cheapest = report.others.iter().min_by(|(_, a), (_, b)| a.total_cmp(b));
        let cheaper = cheapest.filter(|(_, cost)| *cost < report.cost * (1.0 - 1e-9));
        let found = cheaper.and_then(|(name, cost)| {
            let other = self.others.iter().find(|(method, _)| method.name() == name);
            other.map(|(_, design)| (*cost, name.clone(), self.with_pins(design, rules)))
        });
        match found {
            Some((cost, name, other)) => {
                let bound = report.bound.min(cost);
                let taken = Some(name);
                (Design { method: "cost".to_owned(), ..other }, Report { cost, bound, taken, ..report })
            }
            None => (design, report),
        }
    }

    /// The programme in the LP format that solvers read, with nothing settled beforehand.
    pub fn lp(&self, wishes: &Wishes) -> Result<String, Unmet> {
        let rules = self.rules(wishes)?;
        let states = vec![super::presolve::State::Open; self.choice.picks.len()];
        let names: Vec<String> = (0..self.choice.picks.len()).map(|pick| self.name(pick)).collect();
        let mut lowered = super::lower::lower(&self.choice, &rules, &states, &names);
        for (pick, bound) in
            rules.pinned.iter().map(|pick| (pick, 1.0)).chain(rules.forbidden.iter().map(|pick| (pick, 0.0)))
        {
            lowered.programme.row(vec![(*pick, 1.0)], super::programme::Op::Equal, bound);
        }
        Ok(lowered.programme.lp())
    }

    /// What every design has, and nothing else.
    #[must_use]
    pub fn bare(&self) -> Design {
        self.design(&[])
    }

    /// What must be so, in terms of picks.
    pub(super) fn rules(&self, wishes: &Wishes) -> Result<Rules, Unmet> {
        let mut rules = Rules {
            storage: wishes.storage,
            most: None,
            rates: self.choice.statements.iter().map(|statement| statement.rate).collect(),
            ..Rules::default()
        };
        if let Some(most) = wishes.max_collections {
            let always = self.pool.first;
            rules.most = Some(most.checked_sub(always).ok_or(Unmet::Collections { least: always })?);
        }
        for name in &wishes.pin {
            rules.pinned.extend(self.named(name)?);
        }
        for name in &wishes.forbid {
            let pick = self.named(name)?.ok_or_else(|| Unmet::Needed { name: name.clone() })?;
            rules.forbidden.insert(pick);
        }
        let mut pinned = vec![false; self.choice.picks.len()];
        rules.pinned.iter().for_each(|&pick| pinned.get_mut(pick).into_iter().for_each(|slot| *slot = true));
        self.choice.close(&mut pinned);
        for &pick in &rules.forbidden {
            if pinned.get(pick).copied().unwrap_or(false) {
                return Err(Unmet::Contradiction { name: self.name(pick) });
            }
        }
        let too_large = self.pool.too_large.iter().filter_map(|&id| self.pick(id));
        let free = too_large.filter(|&pick| !pinned.get(pick).copied().unwrap_or(false));
        rules.forbidden.extend(free);
        Ok(rules)
    }

    /// The pick of a name; nothing if every design has it.
    fn named(&self, name: &str) -> Result<Option<usize>, Unmet> {
        let found = self.pool.design.collections.iter().find(|(_, one)| one.name == name);
        match found {
            Some((id, _)) if !self.pool.is_optional(id) => Ok(None),
            Some((id, _)) => Ok(self.pick(id)),
            None => {
                let all = self.pool.design.collections.iter().map(|(_, one)| one.name.clone());
                Err(Unmet::Unknown { name: name.to_owned(), known: near(name, all.collect()) })
            }
        }
    }

    fn pick(&self, id: CollectionId) -> Option<usize> {
        self.choice.picks.iter().position(|pick| *pick == Pick::Keep(id))
    }

    pub(super) fn name(&self, pick: usize) -> String {
        match self.choice.picks.get(pick) {
            Some(Pick::Keep(id)) => self.pool.design.collections[*id].name.clone(),
            Some(Pick::Cut(cut, way)) => {
                let master =
                    self.pool.cuts.get(*cut).map(|cut| &self.pool.design.collections[cut.master].name);
                format!("{}_cut_{way}", master.map(String::as_str).unwrap_or_default())
            }
            None => String::new(),
        }
    }

    /// What the designs of the other methods choose.
    pub(super) fn starts(&self) -> Vec<Vec<bool>> {
        let mut starts: Vec<Vec<bool>> = self.others.iter().map(|(_, design)| self.start(design)).collect();
        starts.push(vec![false; self.choice.picks.len()]);
        starts
    }

    fn start(&self, design: &Design) -> Vec<bool> {
        let known: BTreeSet<_> = design
            .collections
            .iter()
            .filter(|(_, one)| one.role != Role::Master)
            .filter_map(|(_, one)| self.pool.known(one))
            .collect();
        let picked = |pick: &Pick| {
            match *pick {
            Pick::Keep(id) => known.contains(&id),
            Pick::Cut(cut, way) => self.pool.cuts.get(cut).is_some_and(|cut| {
                let root = self.pool.design.collections[cut.master].source.root;
                let own = design.master(root).map(|id| &design.collections[id].contents);
                matches!((own, cut.ways.get(way)), (Some(Contents::Aggregate(own)), Some(rules)) if own == rules)
            }),
        }
        };
        self.choice.picks.iter().map(picked).collect()
    }

    /// What every design has, and what was chosen.
    pub(super) fn design(&self, chosen: &[bool]) -> Design {
        let kept: BTreeSet<_> = self
            .choice
            .picks
            .iter()
            .zip(chosen)
            .filter_map(|(pick, chosen)| match pick {
                Pick::Keep(id) if *chosen => Some(*id),
                Pick::Keep(_) | Pick::Cut(..) => None,
            })
            .collect();
        let mut design = Design { method: "cost".to_owned(), collections: Table::default() };
        for (id, collection) in self.pool.design.collections.iter() {
            if !self.pool.is_optional(id) || kept.contains(&id) {
                design.collections.push(collection.clone());
            }
        }
        for (pick, _) in self.choice.picks.iter().zip(chosen).filter(|(_, chosen)| **chosen) {
            let Pick::Cut(cut, way) = *pick else { continue };
            let cut = self.pool.cuts.get(cut);
            if let Some((master, rules)) = cut.and_then(|cut| Some((cut.master, cut.ways.get(way)?))) {
                // Masters are first, so that they are where they were.
                if master.index() < design.collections.len() {
                    design.collections[master].contents = Contents::Aggregate(rules.clone());
                }
            }
        }
        design
    }

    /// What the designs of the other methods cost that are as they must be, each with what is pinned.
    pub(super) fn baselines(&self, rules: &Rules) -> Vec<(String, f64)> {
        let others = self.others.iter().map(|(method, design)| (method, self.with_pins(design, rules)));
        let fitting = others.filter(|(_, design)| self.fits(design, rules));
        let cost = |design: &Design| total(self.model, self.costing, design);
        fitting.map(|(method, design)| (method.name().to_owned(), cost(&design))).collect()
    }

    fn with_pins(&self, design: &Design, rules: &Rules) -> Design {
        let mut design = design.clone();
        let mut pinned = vec![false; self.choice.picks.len()];
        rules.pinned.iter().for_each(|&pick| pinned.get_mut(pick).into_iter().for_each(|slot| *slot = true));
        // With what they need, as a local index needs its copy.
        self.choice.close(&mut pinned);
        for (pick, _) in self.choice.picks.iter().zip(pinned).filter(|(_, pinned)| *pinned) {
            let Pick::Keep(id) = *pick else { continue };
            let pinned = &self.pool.design.collections[id];
            if !design.collections.iter().any(|(_, other)| other.is_same_as(pinned)) {
                let name = upkeep::unused(&design, pinned.name.clone());
                design.collections.push(Collection { name, ..pinned.clone() });
            }
        }
        upkeep::add_indexes(self.model, &mut design);
        design
    }

    /// Whether a design of another method is as it must be.
    fn fits(&self, design: &Design, rules: &Rules) -> bool {
        let start = self.start(design);
        let stored = self.costing.statistics(&self.model.conceptual);
        let sizes = Sizes { statistics: &stored, design };
        let bytes: f64 = design.collections.ids().map(|id| sizes.bytes(id)).sum();
        let count = design.collections.len();
        let is = |pick: &usize| start.get(*pick).copied().unwrap_or(false);
        // What is there whatever is chosen is in every design.
        let is_too_large = |id: CollectionId| {
            self.pool.known(&design.collections[id]).is_none_or(|own| self.pool.is_optional(own))
                && should_be_cut(self.model, self.costing, &sizes, id)
        };
        let broken = limits::all_broken(self.costing.capability, &stored, design);
        rules.storage.is_none_or(|most| bytes <= most)
            && rules.most.is_none_or(|most| count <= most + self.pool.first)
            && !rules.forbidden.iter().any(is)
            && !broken.iter().any(limits::Broken::is_error)
            && !design.collections.ids().any(is_too_large)
            && limits::hot(self.model, self.costing, design).is_empty()
            && self.is_quick(design)
    }

    /// Whether each statement is as quick as it must be, but for those that never are.
    fn is_quick(&self, design: &Design) -> bool {
        let slow = |header: &Header| self.choice.slow.iter().any(|slow| slow.statement == header.name);
        let queries = complete::questions(self.model);
        let queries = queries.iter().filter(|query| !slow(&query.header)).all(|query| {
            let Some(most) = query.latency_ms else { return true };
            let plan = planner::plan(self.costing, &self.model.conceptual, design, query);
            let takes = plan.and_then(|plan| self.costing.milliseconds(&plan.estimate));
            takes.is_none_or(|takes| takes <= most)
        });
        let mut writes = self.model.workload.writes.iter().filter(|write| !slow(&write.header));
        queries
            && writes.all(|write| {
                let Some(most) = write.latency_ms else { return true };
                let plan = planner::write::plan(self.costing, self.model, design, write).ok();
                let takes = plan.and_then(|plan| planner::write::lasts(self.costing, design, &plan));
                takes.is_none_or(|takes| takes <= most)
            })
    }

    /// Why nothing is as it must be, if there is time to find out.
    fn unmet(&self, rules: &Rules, deadline: Deadline) -> Unmet {
        let why = self.why_unmet(rules, deadline);
        if deadline.is_over() { Unmet::Time } else { why }
    }

    fn why_unmet(&self, rules: &Rules, deadline: Deadline) -> Unmet {
        let without = Rules { storage: None, most: None, ..rules.clone() };
        let possible = self.choice.decide(&without, &self.starts(), deadline.left(), &Progress::default());
        if possible.is_none() {
            let lacks = self.choice.served.iter().find(|served| served.alternatives.is_empty());
            let statement = lacks.and_then(|served| self.choice.statements.get(served.statement));
            return Unmet::NoPlan { statement: statement.map(|one| one.name.clone()).unwrap_or_default() };
        }
        let least = self.least_storage(rules, deadline.left()).unwrap_or(0.0);
        if rules.storage.is_some_and(|most| least > most) {
            return Unmet::Storage { least };
        }
        let ones = self.choice.picks.iter().map(|pick| match pick {
            Pick::Keep(_) => 1.0,
            Pick::Cut(..) => 0.0,
        });
        let counting = Choice { bytes: ones.collect(), stored: 0.0, ..self.choice.clone() };
        let count = smallest(&counting, rules, deadline.left()).map_or(0.0, |decided| decided.cost);
        Unmet::Collections { least: self.pool.first + count.round() as usize }
    }

    /// The bytes of the smallest design, whatever it costs.
    pub(super) fn least_storage(&self, rules: &Rules, limit: Option<Duration>) -> Option<f64> {
        let decided = smallest(&self.choice, rules, limit)?;
        Some(self.choice.storage(&decided.chosen))
    }
}

/// The choice with the fewest bytes, whatever it costs.
fn smallest(choice: &Choice, rules: &Rules, limit: Option<Duration>) -> Option<Decided> {
    let rates = vec![0.0; rules.rates.len()];
    let rules = Rules { storage: None, most: None, rates, ..rules.clone() };
    Choice { price: 1.0, ..choice.clone() }.decide(&rules, &[], limit, &Progress::default())
}

/// With what the model declares.
fn with(model: &Model, mut design: Design, declared: &Design) -> Design {
    for (_, one) in declared.collections.iter().filter(|(_, one)| one.role != Role::Master) {
        if !design.collections.iter().any(|(_, other)| other.is_same_as(one)) {
            let name = upkeep::unused(&design, one.name.clone());
            design.collections.push(Collection { name, ..one.clone() });
        }
    }
    upkeep::add_indexes(model, &mut design);
    design
}

/// Names that begin alike, else the first of all.
fn near(name: &str, all: Vec<String>) -> Vec<String> {
    const SHOWN: usize = 8;
    let start: String = name.chars().take(3).collect::<String>().to_lowercase();
    let alike: Vec<String> =
        all.iter().filter(|known| known.to_lowercase().starts_with(&start)).cloned().collect();
    let mut shown = if alike.is_empty() { all } else { alike };
    shown.truncate(SHOWN);
    shown
}
