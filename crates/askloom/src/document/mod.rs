//! A design as one document: what is stored where, how each statement is carried out and what that costs, and why.
//! Every output of `design` is made from it, and `--format json` is it.

mod bound;
mod collections;
mod columns;
mod estimate;
mod limits;
mod note;
mod optimal;
mod plans;
pub(crate) mod sample;
pub mod schema;
mod trace;
mod watch;

pub use collections::CollectionDocument;
pub use note::{Note, SourceText};
pub use optimal::Optimal;
pub use plans::PlanDocument;
pub use sample::Sample;

pub use askloom_plan::cost::MONTH;

use crate::pricing::{PriceList, Pricing};
use askloom_design::method::{Decision, Paper};
use askloom_lang::Sources;
use askloom_model::{Design, Keeper, Model, Words};
use askloom_plan::cost::Costing;
use askloom_target::Target;
use bound::bounded;
use serde::Serialize;

/// All that is known of a design.
#[derive(Debug, Clone, Serialize)]
pub struct Document {
    pub askloom: &'static str,
    pub model: String,
    pub method: String,
    /// The design in a sentence.
    pub sentence: String,
    pub target: &'static str,
    /// What the store calls itself.
    pub title: &'static str,
    /// What costs are counted in.
    pub unit: String,
    /// The cost model that was asked for; nothing for the store's own.
    pub cost_model: Option<String>,
    /// Which prices they are, where a store is paid for what is done.
    pub prices: Option<PriceList>,
    /// What costs are by, in a line.
    #[serde(skip)]
    pub costs_by: Option<String>,
    /// What things are called there.
    pub words: Words,
    /// Dollars a month, where a store is paid for what is done.
    pub money: Option<Money>,
    pub collections: Vec<CollectionDocument>,
    pub plans: Vec<PlanDocument>,
    pub total: Total,
    pub decisions: Vec<Decision>,
    /// How the choice by cost came about, if it was one.
    pub optimal: Option<Optimal>,
    pub assumed: Vec<Note>,
    pub watch: Vec<Note>,
    /// What of it the store cannot hold: those that the watch begins with.
    #[serde(skip)]
    pub misfits: Vec<String>,
    pub comparison: Option<Comparison>,
    /// The text of the model, where its lines are to be shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceText>,
}

/// Dollars for a month of thirty days.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Money {
    pub requests: f64,
    pub storage: f64,
}

/// The workload, a second of it.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Total {
    pub cost: f64,
    pub requests: f64,
    pub rows: f64,
    /// Read and written.
    pub bytes: f64,
    /// All that is stored.
    pub storage: f64,
    /// Bytes put for a byte of a master.
    pub write_amplification: f64,
}

/// All methods on one workload.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    pub methods: Vec<Compared>,
    /// Methods that have nothing to say here.
    pub left_out: Vec<LeftOut>,
    pub statements: Vec<ComparedStatement>,
}

#[derive(Debug, Clone, Serialize)]
pub struct LeftOut {
    pub method: String,
    pub why: String,
}

#[derive(Debug, Clone, Serialize)]
pub struct Compared {
    pub method: String,
    pub sentence: String,
    #[serde(flatten)]
    pub total: Total,
    pub collections: usize,
    pub added: usize,
}

#[derive(Debug, Clone, Serialize)]
pub struct ComparedStatement {
    pub statement: String,
    pub rate: Option<f64>,
    pub cells: Vec<Cell>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Cell {
    pub method: String,
    /// Of one call.
    pub cost: f64,
    pub requests: f64,
    pub rows: f64,
    pub bytes: f64,
    pub scans: bool,
    /// The store cannot do it.
    pub missing: bool,
}

impl Document {
    /// As JSON that a person can also read.
    #[must_use]
    pub fn json(&self) -> String {
        pretty(self)
    }

    /// The statements that have no plan, each with the reason.
    #[must_use]
    pub fn unanswered(&self) -> Vec<String> {
        let missing = self.plans.iter().filter_map(|plan| Some((&plan.statement, plan.missing.as_ref()?)));
        missing.map(|(name, why)| format!("{name}: {why}")).collect()
    }
}

/// JSON in lines.
#[expect(clippy::expect_used, reason = "only a map with keys that are no strings could make it fail")]
pub(crate) fn pretty(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("the keys of documents are strings") + "\n"
}

impl Comparison {
    /// As JSON that a person can also read.
    #[must_use]
    pub fn json(&self) -> String {
        pretty(self)
    }
}

/// What a document is made of.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'s> {
    pub file: &'s str,
    pub model: &'s Model,
    pub sources: &'s Sources,
    pub design: &'s Design,
    pub decisions: &'s [Decision],
    pub paper: &'s Paper,
    pub target: &'static Target,
    pub pricing: &'s Pricing,
}

/// A statement without `@rate` counts as done once a second, and that is said.
const RATE: f64 = 1.0;

impl Subject<'_> {
    pub fn costing(&self) -> Costing<'_> {
        self.pricing.costing()
    }

    /// The document, without sample data and without other methods.
    pub fn document(&self) -> Document {
        let plans = plans::plans(self);
        let collections = collections::collections(self, &plans);
        let total = total(&plans, &collections);
        let assumed = self.assumed(&plans);
        let mut watch = self.limits();
        let misfits = self.misfits();
        watch.extend(watch::watch(&self.costing().capability.words, &collections, &plans, &total));
        Document {
            askloom: env!("CARGO_PKG_VERSION"),
            model: self.file.to_owned(),
            method: self.design.method.clone(),
            sentence: sentence(self, &collections, &plans),
            target: self.target.capability.target,
            title: self.target.capability.title,
            unit: self.costing().model.unit().into_owned(),
            cost_model: self.pricing.model.clone(),
            prices: self.pricing.prices.clone(),
            costs_by: self.pricing.words(),
            words: self.target.capability.words,
            money: self.money(&total),
            collections,
            plans,
            total,
            decisions: self.decisions.to_vec(),
            optimal: Optimal::of(self.paper),
            assumed,
            watch,
            misfits,
            comparison: None,
            sources: Vec::new(),
        }
    }

    /// What the workload costs a month, where somebody is paid for it.
    fn money(&self, total: &Total) -> Option<Money> {
        let byte = self.pricing.dollars()?;
        let storage = byte * total.storage * MONTH;
        Some(Money { requests: bounded(total.cost * MONTH), storage: bounded(storage) })
    }

    /// The same with a few items of made-up data in each collection.
    pub fn with_sample(&self) -> Document {
        let mut document = self.document();
        let made = sample::Made::of(self);
        let samples = made.samples();
        let mut native =
            crate::native::statements(self.model, self.design, self.target, &self.costing(), self.sources);
        for plan in &mut document.plans {
            plan.native = native.remove(&plan.statement);
        }
        trace::trace(self, &made, &samples, &mut document.plans);
        for (collection, sample) in document.collections.iter_mut().zip(samples) {
            collection.sample = Some(sample);
        }
        document.sources = self.source_texts();
        document
    }
}

fn sentence(subject: &Subject<'_>, collections: &[CollectionDocument], plans: &[PlanDocument]) -> String {
    let amount = crate::human::amount;
    let workload = &subject.model.workload;
    let queries = workload.queries.len() + workload.asks.len();
    let added = collections.iter().filter(|collection| collection.is_added()).count();
    let added = match added {
        0 => String::new(),
        some => format!(" ({some} of them added)"),
    };
    let scanning = plans.iter().filter(|plan| plan.scans).count();
    let scanning = match scanning {
        0 => String::new(),
        some => format!(", {} of everything", amount(some, "scan")),
    };
    format!(
        "{} on {}: {}{added} for {} and {}{scanning}",
        subject.file,
        subject.target.capability.title,
        stored(collections, &subject.target.capability.words),
        crate::human::amount_of(queries as u64, "query"),
        amount(workload.writes.len(), "write"),
    )
}

/// How many collections there are, in the store's words.
fn stored(collections: &[CollectionDocument], words: &Words) -> String {
    let amount = crate::human::amount;
    let own = collections.iter().filter(|collection| collection.kept_by == Keeper::Store).count();
    let tables = amount(collections.len() - own, words.collection);
    match own {
        0 => tables,
        1 => format!("{tables} and 1 {}", words.own_index),
        more => format!("{tables} and {more} {}es", words.own_index),
    }
}

/// A second of the workload.
fn total(plans: &[PlanDocument], collections: &[CollectionDocument]) -> Total {
    let mut total = Total::default();
    let (mut put, mut of_masters) = (0.0, 0.0);
    for plan in plans {
        let rate = plan.rate.unwrap_or(RATE);
        total.cost = bounded(total.cost + rate * plan.cost);
        total.requests = bounded(total.requests + rate * plan.requests());
        total.rows = bounded(total.rows + rate * plan.rows());
        total.bytes = bounded(total.bytes + rate * plan.bytes());
        put += rate * plan.written;
        of_masters += rate * plan.written_to_masters;
    }
    total.storage = bounded(collections.iter().map(|collection| collection.estimate.bytes).sum());
    total.write_amplification = if of_masters > 0.0 { bounded(put / of_masters) } else { 1.0 };
    total
}
