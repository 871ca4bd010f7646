//! How writes are done: those of the workload, and those that any program may do at any time.
//!
//! A write finds its instances, reads what the copies need, and puts and deletes records: of the aggregates, of values
//! that no other may have, of every copy that holds something which changes. What makes that one is a level for each
//! copy, by what the store can do.

mod blind;
mod checks;
mod copies;
mod level;
mod links;
mod master;
mod matched;
pub mod parts;
mod print;
mod rows;
mod step;
mod support;

pub use blind::is_blind_insert;
pub use level::level;
pub(super) use print::outline;
pub use print::{print, relied_on};
pub use step::finding;
pub use step::way_to;

use super::lookup;
use crate::cost::{Costing, Sizes, Statistics, price_all};
use askloom_model::{
    AtomicUnit, ClassId, Code, CopyLevel, Design, Diagnostic, Estimate, Keeper, Model, Plan, PlanStep, Reach,
    RelationshipKind, StepOf, Work, Write, WriteOf, WritePlan, WriteStepPlan,
};
use step::Step;

/// The plan of a write of the workload, or why the store cannot do it.
pub fn plan(
    costing: &Costing<'_>,
    model: &Model,
    design: &Design,
    write: &Write,
) -> Result<WritePlan, Box<Diagnostic>> {
    let steps: Vec<Step> = write.steps.iter().map(|step| Step::of_write(model, write, step)).collect();
    let planner = Planner::new(costing, model, design);
    planner.together(write)?;
    let of = WriteOf::Statement(write.header.name.clone());
    if write.apart { planner.plan_apart(of, &steps) } else { planner.plan(of, &steps) }
}

/// The plans of writes that are not in the workload and that any program may do: create, store and delete of every
/// aggregate, and change of every stored link that is no part of an id. An immutable aggregate is only created.
pub fn implicit(
    costing: &Costing<'_>,
    model: &Model,
    design: &Design,
) -> Result<Vec<WritePlan>, Box<Diagnostic>> {
    let planner = Planner::new(costing, model, design);
    let mut plans = Vec::new();
    for of in implied(model) {
        let step = match of {
            WriteOf::Statement(_) => continue,
            WriteOf::Create(class) => Step::create(model, class),
            WriteOf::Store(class) => Step::store(model, class),
            WriteOf::Delete(class) => Step::delete(model, class),
            WriteOf::Relink(end) => Step::relink(model, end),
        };
        plans.push(planner.plan(of, &[step])?);
    }
    Ok(plans)
}

/// Milliseconds until a write is done, without what the store does by itself beside it; nothing if costs say nothing
/// about time.
#[must_use]
pub fn lasts(costing: &Costing<'_>, design: &Design, plan: &WritePlan) -> Option<f64> {
    let copies = plan.steps.iter().flat_map(|step| &step.copies);
    let by_store = copies.filter(|copy| design.collections[copy.collection].keeper == Keeper::Store);
    let all = costing.milliseconds(&plan.estimate)?;
    Some(all - by_store.filter_map(|copy| costing.milliseconds(&copy.estimate)).sum::<f64>())
}

/// Writes that need no statement.
#[must_use]
pub fn implied(model: &Model) -> Vec<WriteOf> {
    let conceptual = &model.conceptual;
    let is_root = |&class: &ClassId| conceptual.aggregate_root(class) == Some(class);
    let roots: Vec<ClassId> = conceptual.classes.ids().filter(is_root).collect();
    let whole = roots.iter().flat_map(|&class| match conceptual.classes[class].immutable {
        true => vec![WriteOf::Create(class)],
        false => vec![WriteOf::Create(class), WriteOf::Store(class), WriteOf::Delete(class)],
    });
    let links = conceptual.ends.iter().filter(|(_, end)| {
        let reference = end.kind != RelationshipKind::Composition;
        let may_change = !end.id && !end.immutable && !conceptual.is_immutable(end.class);
        end.stored && reference && may_change && conceptual.aggregate_root(end.class).is_some()
    });
    whole.chain(links.map(|(id, _)| WriteOf::Relink(id))).collect()
}

struct Planner<'p> {
    costing: &'p Costing<'p>,
    model: &'p Model,
    design: &'p Design,
    statistics: Statistics<'p>,
}

impl<'p> Planner<'p> {
    fn new(costing: &'p Costing<'p>, model: &'p Model, design: &'p Design) -> Self {
        Self { costing, model, design, statistics: costing.statistics(&model.conceptual) }
    }

    fn sizes(&self) -> Sizes<'_> {
        Sizes { statistics: &self.statistics, design: self.design }
    }

    fn root(&self, class: ClassId) -> Option<ClassId> {
        self.model.conceptual.aggregate_root(class)
    }

    /// Several aggregates change together only where the store can do that.
    fn together(&self, write: &Write) -> Result<(), Box<Diagnostic>> {
        let conceptual = &self.model.conceptual;
        let needed = !write.apart && write.reach(conceptual) == Reach::Several;
        if !needed || self.costing.capability.several_aggregates() {
            return Ok(());
        }
        let mut roots = write.roots(conceptual);
        roots.sort_unstable();
        let names: Vec<&str> = roots.iter().map(|&root| conceptual.classes[root].name.as_str()).collect();
        let title = self.costing.capability.title;
        let what = match names.as_slice() {
            [one] => format!("several aggregates of {one}"),
            several => several.join(" and "),
        };
        let message = format!("`{}` changes {what} at once", write.header.name);
        let diagnostic = Diagnostic::new(Code::NotTogether, write.header.span, message)
            .here(format!("{title} has no transaction over several aggregates"))
            .hint("say `@apart` if earlier statements may stay when a later one fails, or make one a `part` of the other");
        Err(Box::new(diagnostic))
    }

    fn plan(&self, of: WriteOf, steps: &[Step]) -> Result<WritePlan, Box<Diagnostic>> {
        let level = self.weakest(steps);
        let mut plans = Vec::with_capacity(steps.len());
        for (index, step) in steps.iter().enumerate() {
            plans.push(self.step(step, level, index == 0)?);
        }
        Ok(self.summed(of, plans, level))
    }

    /// Each statement is a write of its own.
    fn plan_apart(&self, of: WriteOf, steps: &[Step]) -> Result<WritePlan, Box<Diagnostic>> {
        let mut plans = Vec::with_capacity(steps.len());
        let mut weakest = CopyLevel::AtomicUnit;
        for step in steps {
            let level = self.weakest(std::slice::from_ref(step));
            weakest = weakest.max(level);
            plans.push(self.step(step, level, true)?);
        }
        Ok(self.summed(of, plans, weakest))
    }

    fn summed(&self, of: WriteOf, plans: Vec<WriteStepPlan>, level: CopyLevel) -> WritePlan {
        let estimate = price_all(self.costing.model, plans.iter().flat_map(WriteStepPlan::work));
        let mut assumed = self.statistics.assumed();
        for found in plans.iter().flat_map(|step| &step.find.priced.assumed) {
            if assumed.iter().all(|known| known.about != found.about) {
                assumed.push(*found);
            }
        }
        WritePlan {
            of,
            target: self.costing.capability.target,
            unit: self.costing.model.unit(),
            steps: plans,
            level,
            estimate,
            assumed,
        }
    }

    /// What makes all of a write one: the weakest of what it changes decides.
    fn weakest(&self, steps: &[Step]) -> CopyLevel {
        let mut weakest = self.without_copies(steps);
        for step in steps {
            for touched in copies::touched(&self.model.conceptual, self.design, step) {
                weakest = weakest.max(self.level(touched));
            }
        }
        weakest
    }

    /// What makes the aggregates of a write one.
    fn without_copies(&self, steps: &[Step]) -> CopyLevel {
        let mut roots: Vec<ClassId> = steps.iter().filter_map(|step| self.root(step.class)).collect();
        roots.dedup();
        let apart = match self.costing.capability.atomic.value {
            AtomicUnit::Store => false,
            AtomicUnit::Block => roots.len() > 1,
            AtomicUnit::Record => roots.len() > 1 || roots.iter().any(|&root| self.is_spread(root)),
        };
        if apart { CopyLevel::Transaction } else { CopyLevel::AtomicUnit }
    }

    fn level(&self, collection: askloom_model::CollectionId) -> CopyLevel {
        level(self.costing.capability, &self.statistics, self.design, collection)
    }

    fn is_spread(&self, root: ClassId) -> bool {
        self.design.master(root).is_some_and(|master| self.sizes().block_entries(master) > 1.0)
    }

    fn step(&self, step: &Step, level: CopyLevel, first: bool) -> Result<WriteStepPlan, Box<Diagnostic>> {
        let found = self.find(step)?;
        let matched = self.matched(&step.find, &found);
        let blind = self.is_blind(step);
        let find = if blind { unread(found) } else { found };
        let writing = Writing { planner: self, step, level, matched };
        let root = self.root(step.class);
        let master = root.and_then(|root| self.design.master(root));
        let master = master.ok_or_else(|| {
            let class = &self.model.conceptual.classes[step.class].name;
            let span = self.model.conceptual.classes[step.class].span;
            let message = format!("`{class}` has no collection that is its source in this design");
            Box::new(Diagnostic::new(Code::NoPlan, span, message).hint(format!("give `{class}` one")))
        })?;
        let reservations = writing.reservations(master);
        let reserved: Vec<_> = reservations.iter().filter_map(|reservation| reservation.index).collect();
        Ok(WriteStepPlan {
            action: step.action,
            class: step.class,
            blind,
            matched,
            master: writing.master(master, first),
            reservations,
            checks: writing.checks(),
            copies: writing.copies(&reserved),
            find,
        })
    }

    /// Whether a step only puts, over this design.
    fn is_blind(&self, step: &Step) -> bool {
        let conceptual = &self.model.conceptual;
        blind::may_be_blind(conceptual, step.class, step.action) && self.breaking(step).next().is_none()
    }

    /// The copies for which a step that could be blind has to read.
    fn breaking(&self, step: &Step) -> impl Iterator<Item = askloom_model::CollectionId> {
        let class = step.class;
        let all = self.design.collections.iter();
        let breaking = all.filter(move |(_, one)| blind::needs_reads(&self.model.conceptual, one, class));
        breaking.map(|(id, _)| id)
    }

    /// How the instances of a step are found. For a new one: how it is seen that there is none.
    fn find(&self, step: &Step) -> Result<Plan, Box<Diagnostic>> {
        let plan = super::answer(self.costing, self.model, self.design, &step.find)?;
        Ok(match step.changes {
            step::Changes::Made(_) => self.probe(plan),
            step::Changes::Replaced | step::Changes::Ended | step::Changes::Fields(_) => plan,
        })
    }

    /// The same access where nothing is expected to be there.
    fn probe(&self, plan: Plan) -> Plan {
        let work = Work { read_steps: 1.0, requests: 1.0, partitions: 1.0, reads: 1.0, ..Work::default() };
        let estimate = self.costing.price(&work);
        let steps = vec![PlanStep { of: StepOf::Access, work, out: 0.0, estimate }];
        Plan { first: None, steps, estimate, ..plan }
    }
}

/// The plan of a read that is not done.
fn unread(plan: Plan) -> Plan {
    Plan { first: None, steps: Vec::new(), estimate: Estimate::default(), ..plan }
}

/// One step of a write that is being counted.
struct Writing<'w> {
    planner: &'w Planner<'w>,
    step: &'w Step,
    level: CopyLevel,
    matched: f64,
}

impl Writing<'_> {
    fn sizes(&self) -> Sizes<'_> {
        self.planner.sizes()
    }

    /// The work as a part of this write.
    fn together(&self, work: Work) -> Work {
        Work { in_transaction: self.level == CopyLevel::Transaction, ..work }
    }

    fn price(&self, work: &Work) -> Estimate {
        self.planner.costing.price(work)
    }
}
