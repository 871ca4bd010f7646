//! A plan as a list of what is done, in its order: for programs, pages and pictures.

use super::print::Printer;
use super::write;
use askloom_model::{
    CollectionId, Design, Estimate, Follow, Joining, Model, Plan, Query, Reading, StepOf, Write, WritePlan,
};

/// One thing that a plan does.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub op: &'static str,
    pub words: String,
    /// The collection that is read or written first in it.
    pub collection: Option<CollectionId>,
    pub requests: f64,
    pub partitions: f64,
    pub rows: f64,
    pub bytes: f64,
    pub puts: f64,
    pub deletes: f64,
    pub cost: f64,
}

impl Line {
    pub(super) fn read(
        op: &'static str,
        words: String,
        collection: Option<CollectionId>,
        estimate: &Estimate,
    ) -> Self {
        let Estimate { requests, partitions, rows, bytes, cost, .. } = *estimate;
        Self { op, words, collection, requests, partitions, rows, bytes, puts: 0.0, deletes: 0.0, cost }
    }

    pub(super) fn write(
        op: &'static str,
        words: String,
        collection: Option<CollectionId>,
        estimate: &Estimate,
    ) -> Self {
        let Estimate { requests, rows, puts, deletes, written, cost, .. } = *estimate;
        let partitions = 0.0;
        Self { op, words, collection, requests, partitions, rows, bytes: written, puts, deletes, cost }
    }
}

/// What the plan of a query does.
#[must_use]
pub fn outline(model: &Model, design: &Design, query: &Query, plan: &Plan) -> Vec<Line> {
    let printer = Printer::new(model, design, query, plan);
    let mut lines = Vec::new();
    if let Some(found) = &plan.first {
        lines.extend(outline(model, design, &found.query, &found.plan));
        if let Some(last) = lines.last_mut() {
            last.words = format!("{} is {}", printer.list(), last.words);
        }
    }
    for step in &plan.steps {
        let (op, collection) = kind(plan, &step.of);
        lines.push(Line::read(op, printer.step(&step.of), collection, &step.estimate));
    }
    lines
}

/// What the plan of a write of the workload does.
#[must_use]
pub fn outline_write(model: &Model, design: &Design, write: &Write, plan: &WritePlan) -> Vec<Line> {
    write::outline(model, design, write, plan)
}

fn kind(plan: &Plan, of: &StepOf) -> (&'static str, Option<CollectionId>) {
    match of {
        StepOf::Access if !plan.searched.is_empty() => ("search", Some(plan.access.collection)),
        StepOf::Access => (reading(&plan.access.how), Some(plan.access.collection)),
        StepOf::Join(index) => joining(&plan.join(*index).how),
        StepOf::Fetch { index, .. } => ("fetch", Some(plan.fetch(*index).collection)),
        StepOf::Follow(Follow { how, .. }) => joining(how),
        StepOf::Filter => ("filter", None),
        StepOf::Group => ("group", None),
        StepOf::Sort => ("sort", None),
        StepOf::PerGroup => ("per_group", None),
        StepOf::Limit => ("limit", None),
    }
}

fn reading(how: &Reading) -> &'static str {
    match how {
        Reading::GetBlock { .. } => "get_block",
        Reading::Range { .. } => "range",
        Reading::Each { of, .. } => reading(of),
        Reading::Scan => "scan",
    }
}

fn joining(how: &Joining) -> (&'static str, Option<CollectionId>) {
    let first = how.collections().into_iter().next();
    let op = match how {
        Joining::Inside => "inside",
        Joining::LookUp { .. } | Joining::PartByIndex { .. } | Joining::PartByScan { .. } => "look_up",
        Joining::Back { .. } => "back",
        Joining::BackByScan { .. } => "back_by_scan",
    };
    (op, first)
}
