//! What a write costs, part by part: what it costs whatever copies there are, and what each copy would add.
//!
//! A plan is priced for one design. Whoever chooses among many collections prices each of them once, over a design that
//! has them all, and adds up those of a choice: the sum is what the plan over that choice costs.

use super::step::{Changes, Step};
use super::support::{Read, Support, is_same_read};
use super::{Planner, Writing, blind, copies};
use crate::cost::{Costing, Spent};
use askloom_model::{
    ClassId, CollectionId, CopyLevel, Design, Keeper, Member, Model, Query, SupportOf, Work, Write,
};

/// A write, step by step.
#[derive(Debug, Clone)]
pub struct Parts {
    pub steps: Vec<StepParts>,
    /// What it takes to be one, without any copy.
    pub least: CopyLevel,
    /// Whether each step is a write of its own.
    pub apart: bool,
}

impl Parts {
    /// One step as a write of its own.
    pub fn of_step(&self, index: usize) -> Self {
        let step = self.steps.get(index);
        let least = step.map_or(self.least, |step| step.least);
        Self { steps: step.cloned().into_iter().collect(), least, apart: false }
    }
}

#[derive(Debug, Clone)]
pub struct StepParts {
    pub find: FindPart,
    /// Aggregates, reserved values and checked references, if the write is at each level.
    pub own: [Spent; 3],
    pub copies: Vec<CopyPart>,
    /// What it takes to be one if it is a write of its own, without any copy.
    least: CopyLevel,
}

/// How the instances are found.
#[derive(Debug, Clone)]
pub enum FindPart {
    /// By a plan of this query.
    Query(Box<Query>),
    /// It is seen that there is none.
    Nothing(Spent),
    /// The same, if one of these copies is there; without them the write is blind.
    Blind { unless: Vec<CollectionId>, otherwise: Spent },
}

/// What one copy adds to a step.
#[derive(Debug, Clone)]
pub struct CopyPart {
    pub collection: CollectionId,
    pub level: CopyLevel,
    pub alone: Spent,
    /// The same while the write is in a transaction.
    pub in_transaction: Spent,
    /// Reads that it needs; another copy of the same step may need the same.
    pub support: Vec<(SupportKey, Spent)>,
}

/// What makes two support reads of a step one.
#[derive(Debug, Clone)]
pub struct SupportKey {
    root: Option<ClassId>,
    way: Vec<Member>,
    of: SupportOf,
}

/// However masters are cut, and so however a read is done, it is the same one.
impl PartialEq for SupportKey {
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root && self.way == other.way && is_same_read(&self.of, &other.of)
    }
}

pub fn parts(costing: &Costing<'_>, model: &Model, design: &Design, write: &Write) -> Option<Parts> {
    let steps: Vec<Step> = write.steps.iter().map(|step| Step::of_write(model, write, step)).collect();
    let planner = Planner::new(costing, model, design);
    planner.together(write).ok()?;
    let all =
        steps.iter().enumerate().map(|(index, step)| planner.step_parts(step, index == 0 || write.apart));
    let least = planner.without_copies(&steps);
    Some(Parts { steps: all.collect::<Option<_>>()?, least, apart: write.apart })
}

/// The queries by which a write finds what it is about, with its name.
pub fn finds(model: &Model, write: &Write) -> Vec<Query> {
    let find = |step| {
        let mut query = Step::of_write(model, write, step).find;
        query.header.name.clone_from(&write.header.name);
        query
    };
    write.steps.iter().map(find).collect()
}

/// Where a level stands in a list of all.
pub fn at(level: CopyLevel) -> usize {
    match level {
        CopyLevel::AtomicUnit => 0,
        CopyLevel::Transaction => 1,
        CopyLevel::Intents => 2,
    }
}

const LEVELS: [CopyLevel; 3] = [CopyLevel::AtomicUnit, CopyLevel::Transaction, CopyLevel::Intents];

impl Planner<'_> {
    fn step_parts(&self, step: &Step, first: bool) -> Option<StepParts> {
        let find = self.find(step).ok()?;
        let made = matches!(step.changes, Changes::Made(_));
        let matched = self.matched(&step.find, &find);
        let master = self.design.master(self.root(step.class)?)?;
        let at_level = |level| Writing { planner: self, step, level, matched };
        let own = LEVELS.map(|level| {
            let writing = at_level(level);
            let reserved = writing.reservations(master).into_iter().map(|one| one.estimate);
            let checked = writing.checks().into_iter().map(|one| one.estimate);
            let all = reserved.chain(checked).chain([writing.master(master, first).estimate]);
            all.map(|one| self.costing.spent(&one)).sum()
        });
        let reserved: Vec<CollectionId> =
            at_level(CopyLevel::AtomicUnit).reservations(master).iter().filter_map(|one| one.index).collect();
        let copies = at_level(CopyLevel::AtomicUnit).copy_parts(&reserved);
        let find = match made {
            true if blind::may_be_blind(&self.model.conceptual, step.class, step.action) => FindPart::Blind {
                unless: self.breaking(step).collect(),
                otherwise: self.costing.spent(&find.estimate),
            },
            true => FindPart::Nothing(self.costing.spent(&find.estimate)),
            false => FindPart::Query(Box::new(step.find.clone())),
        };
        let least = self.without_copies(std::slice::from_ref(step));
        Some(StepParts { find, own, copies, least })
    }
}

impl Writing<'_> {
    fn copy_parts(&self, reserved: &[CollectionId]) -> Vec<CopyPart> {
        let (conceptual, design) = (&self.planner.model.conceptual, self.planner.design);
        let Some(root) = self.planner.root(self.step.class) else { return Vec::new() };
        let touched = copies::touched(conceptual, design, self.step).into_iter();
        touched.filter(|id| !reserved.contains(id)).map(|id| self.copy_part(id, root)).collect()
    }

    fn copy_part(&self, id: CollectionId, root: ClassId) -> CopyPart {
        let mut support = Support::default();
        let level = self.planner.level(id);
        let work = self.copy_work(id, root, level, &mut support);
        let costing = self.planner.costing;
        let by_store = self.planner.design.collections[id].keeper == Keeper::Store;
        let priced = |in_transaction: bool| {
            let spent = costing.spent(&costing.price(&Work { in_transaction, ..work }));
            // Nobody waits for what the store does by itself.
            Spent { takes: if by_store { 0.0 } else { spent.takes }, ..spent }
        };
        let key =
            |read: &Read| SupportKey { root: read.from.0, way: read.from.1.clone(), of: read.of.clone() };
        let reads = support.take();
        let reads = reads.iter().map(|read| (key(read), costing.spent(&costing.price(&read.work))));
        CopyPart {
            collection: id,
            level,
            alone: priced(false),
            in_transaction: priced(!by_store),
            support: reads.collect(),
        }
    }
}
