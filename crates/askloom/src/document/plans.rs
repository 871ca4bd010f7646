//! How each statement is carried out.

use super::bound::bounded;
use super::columns::Touched;
use super::note::SourceLine;
use super::trace::{SampleCall, Touches};
use super::{RATE, Subject};
use crate::statement::Statement;
use askloom_design::method::scans;
use askloom_lang::Sources;
use askloom_model::{
    Assumption, CollectionId, CopyLevel, Diagnostic, EndId, Guarantee, Header, Keeper, Query, SupportOf,
    Write, WriteStepPlan,
};
use askloom_plan::planner::{self, Line};
use serde::Serialize;
use std::collections::BTreeSet;

#[derive(Debug, Clone, Serialize)]
pub struct PlanDocument {
    pub statement: String,
    pub kind: &'static str,
    /// As the model has it.
    pub text: String,
    /// The line of the model.
    #[serde(flatten)]
    pub place: SourceLine,
    /// A second; nothing if the model does not say.
    pub rate: Option<f64>,
    /// Of one call.
    pub cost: f64,
    /// Of all that the workload costs.
    pub share: f64,
    /// What a reader may see while others write.
    pub reads: &'static str,
    /// Where the rows come from, or the first thing that is done, in words.
    pub how: String,
    pub scans: bool,
    /// The references that have to lead somewhere for this to be the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub relies_on: Vec<String>,
    pub steps: Vec<StepDocument>,
    /// Of a write: what has to be brought after.
    pub copies: Vec<CopyDocument>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// In the store's own language.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sample: Option<SampleCall>,
    /// Bytes that a call puts.
    pub written: f64,
    #[serde(skip)]
    pub written_to_masters: f64,
    #[serde(skip)]
    pub(super) assumed: Vec<Assumption>,
    /// Every collection that is read on the way, those of which no step is named after too.
    #[serde(skip)]
    read: BTreeSet<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct StepDocument {
    pub op: &'static str,
    pub words: String,
    pub collection: Option<String>,
    /// The fields that are read or written of it; none named if it is all of them.
    pub columns: Vec<String>,
    pub requests: f64,
    pub partitions: f64,
    pub rows: f64,
    pub bytes: f64,
    pub puts: f64,
    pub deletes: f64,
    pub cost: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) touches: Option<Touches>,
}

#[derive(Debug, Clone, Serialize)]
pub struct CopyDocument {
    pub collection: String,
    /// What makes the copy and its master one.
    pub level: &'static str,
    pub puts: f64,
    pub deletes: f64,
}

impl PlanDocument {
    pub fn is_write(&self) -> bool {
        self.kind == "write"
    }

    pub fn uses(&self, collection: &str) -> bool {
        let step = self.steps.iter().any(|step| step.collection.as_deref() == Some(collection));
        step || self.reads_of(collection) || self.copies.iter().any(|copy| copy.collection == collection)
    }

    pub(super) fn reads_of(&self, collection: &str) -> bool {
        self.read.contains(collection)
    }

    pub fn requests(&self) -> f64 {
        self.steps.iter().map(|step| step.requests).sum()
    }

    pub fn rows(&self) -> f64 {
        self.steps.iter().map(|step| step.rows).sum()
    }

    pub fn bytes(&self) -> f64 {
        self.steps.iter().map(|step| step.bytes).sum()
    }

    fn new(subject: &Subject<'_>, header: &Header, kind: &'static str) -> Self {
        Self {
            statement: header.name.clone(),
            kind,
            text: text(subject.sources, header),
            place: subject.place(header.span),
            rate: header.rate.map(bounded),
            cost: 0.0,
            share: 0.0,
            reads: "",
            how: String::new(),
            scans: false,
            relies_on: Vec::new(),
            steps: Vec::new(),
            copies: Vec::new(),
            missing: None,
            native: None,
            sample: None,
            written: 0.0,
            written_to_masters: 0.0,
            assumed: Vec::new(),
            read: BTreeSet::new(),
        }
    }
}

/// A statement as the model has it: from the line of its name to the first empty one.
fn text(sources: &Sources, header: &Header) -> String {
    let Some(file) = sources.get(header.span.file) else { return String::new() };
    let (before, after) = file.text.split_at_checked(header.span.start as usize).unwrap_or((&file.text, ""));
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let end = after.find("\n\n").map_or(file.text.len(), |at| before.len() + at);
    file.text.get(start..end).unwrap_or_default().trim().to_owned()
}

/// Every statement, in the order of the model.
pub(super) fn plans(subject: &Subject<'_>) -> Vec<PlanDocument> {
    let statements = Statement::all(&subject.model.workload);
    let mut plans: Vec<PlanDocument> = statements.map(|statement| plan(subject, statement)).collect();
    let total: f64 = plans.iter().map(|plan| plan.cost * plan.rate.unwrap_or(RATE)).sum();
    for plan in &mut plans {
        plan.share = if total > 0.0 { plan.cost * plan.rate.unwrap_or(RATE) / total } else { 0.0 };
    }
    plans
}

fn plan(subject: &Subject<'_>, statement: Statement<'_>) -> PlanDocument {
    let mut document = PlanDocument::new(subject, statement.header(), kind(statement));
    match statement {
        Statement::Query(asked) => read(subject, asked, &mut document),
        Statement::Ask(ask) => match askloom_plan::ask::query(&subject.model.conceptual, ask) {
            Some(asked) => read(subject, &asked, &mut document),
            None => {
                document.missing = Some("its links close a circle between two value objects".to_owned());
            }
        },
        Statement::Write(write) => written(subject, write, &mut document),
    }
    document
}

fn kind(statement: Statement<'_>) -> &'static str {
    match statement {
        Statement::Query(_) => "query",
        Statement::Ask(_) => "ask",
        Statement::Write(_) => "write",
    }
}

fn read(subject: &Subject<'_>, query: &Query, document: &mut PlanDocument) {
    match planner::answer(&subject.costing(), subject.model, subject.design, query) {
        Err(why) => document.missing = Some(why.message.clone()),
        Ok(found) => {
            let lines = planner::outline(subject.model, subject.design, query, &found);
            document.cost = bounded(found.estimate.cost);
            document.reads = reads(found.priced.reads);
            document.scans = scans(&found);
            document.relies_on = relied_on(subject, planner::relied_on(&found));
            let touched = Touched::by_query(found.query(query));
            document.steps = lines.iter().map(|line| step(subject, line, Some(&touched))).collect();
            // Where its rows come from; what is found before is among the steps.
            let before = found.first.as_ref().map_or(0, |first| {
                planner::outline(subject.model, subject.design, &first.query, &first.plan).len()
            });
            document.how = lines.get(before).map(|line| line.words.clone()).unwrap_or_default();
            document.read = named(subject, found.collections());
            document.assumed = found.priced.assumed;
        }
    }
}

/// Why a write has no plan, and the way out.
fn with_hint(why: &Diagnostic) -> String {
    match &why.hint {
        Some(hint) => format!("{}; {hint}", why.message),
        None => why.message.clone(),
    }
}

fn written(subject: &Subject<'_>, write: &Write, document: &mut PlanDocument) {
    match planner::write::plan(&subject.costing(), subject.model, subject.design, write) {
        Err(why) => document.missing = Some(with_hint(&why)),
        Ok(found) => {
            let lines = planner::outline_write(subject.model, subject.design, write, &found);
            document.cost = bounded(found.estimate.cost);
            document.reads = "";
            document.scans = found.steps.iter().any(|step| scans(&step.find));
            document.relies_on = relied_on(
                subject,
                planner::write::relied_on(subject.model, subject.design, Some(write), &found),
            );
            document.steps = write_steps(subject, write, &lines);
            document.how =
                lines.iter().find(|line| line.op == "put").map(|line| line.words.clone()).unwrap_or_default();
            document.written = bounded(found.estimate.written);
            for done in &found.steps {
                document.written_to_masters += bounded(done.master.estimate.written);
                document.read.extend(named(subject, read_by(done)));
                for copy in &done.copies {
                    let collection = &subject.design.collections[copy.collection];
                    document.copies.push(CopyDocument {
                        collection: collection.name.clone(),
                        level: match collection.keeper {
                            Keeper::Ours => level(copy.level),
                            Keeper::Store => "by the store itself",
                        },
                        puts: bounded(copy.estimate.puts),
                        deletes: bounded(copy.estimate.deletes),
                    });
                }
            }
            document.assumed = found.assumed;
        }
    }
}

fn relied_on(subject: &Subject<'_>, ends: impl IntoIterator<Item = EndId>) -> Vec<String> {
    planner::references(subject.model, ends).into_iter().map(|(reference, _)| reference).collect()
}

fn named(subject: &Subject<'_>, collections: impl IntoIterator<Item = CollectionId>) -> BTreeSet<String> {
    collections.into_iter().map(|id| subject.design.collections[id].name.clone()).collect()
}

/// What one statement of a write reads: to find instances, to check them, and to bring copies after.
fn read_by(done: &WriteStepPlan) -> Vec<CollectionId> {
    let taken = done.reservations.iter().filter_map(|reservation| reservation.index);
    let checked = done.checks.iter().flat_map(|check| check.what.how().collections());
    let support = done.copies.iter().flat_map(|copy| &copy.support).flat_map(|read| match &read.of {
        SupportOf::Back(step) => step.index.into_iter().collect(),
        SupportOf::Rebuild { how, .. } => how.collections(),
    });
    done.find.collections().chain(taken).chain(checked).chain(support).collect()
}

/// Each step of the write ends with what it puts and the copies of that.
fn write_steps(subject: &Subject<'_>, write: &Write, lines: &[Line]) -> Vec<StepDocument> {
    let mut steps = write.steps.iter();
    let mut touched = None;
    let one = |line: &Line| {
        if line.op == "put" {
            touched = steps.next().map(Touched::by_write);
        }
        let writes = line.op == "put" || line.op == "copy";
        step(subject, line, touched.as_ref().filter(|_| writes))
    };
    lines.iter().map(one).collect()
}

fn step(subject: &Subject<'_>, line: &Line, touched: Option<&Touched>) -> StepDocument {
    let collection = line.collection.map(|id| &subject.design.collections[id]);
    let columns = touched.zip(collection).map(|(touched, of)| touched.columns(&subject.model.conceptual, of));
    StepDocument {
        op: line.op,
        words: line.words.clone(),
        collection: collection.map(|collection| collection.name.clone()),
        columns: columns.unwrap_or_default(),
        requests: bounded(line.requests),
        partitions: bounded(line.partitions),
        rows: bounded(line.rows),
        bytes: bounded(line.bytes),
        puts: bounded(line.puts),
        deletes: bounded(line.deletes),
        cost: bounded(line.cost),
        touches: None,
    }
}

fn reads(guarantee: Guarantee) -> &'static str {
    match guarantee {
        Guarantee::Snapshot => "snapshot",
        Guarantee::Committed => "committed",
        Guarantee::Lagging => "lagging",
    }
}

fn level(level: CopyLevel) -> &'static str {
    match level {
        CopyLevel::AtomicUnit => "one atomic unit",
        CopyLevel::Transaction => "one transaction",
        CopyLevel::Intents => "follows by intents",
    }
}
