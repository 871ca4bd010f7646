//! How each statement is carried out.

use super::columns::Touched;
use super::{RATE, Subject};
use crate::statement::Statement;
use askloom_design::method::scans;
use askloom_design::plan::{self, Line};
use askloom_lang::Sources;
use askloom_model::{Assumption, CopyLevel, Guarantee, Header, Query, Write};
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub(crate) struct PlanDocument {
    pub(crate) statement: String,
    pub(crate) kind: &'static str,
    /// As the model has it.
    pub(crate) text: String,
    /// The line of the model.
    pub(crate) line: u32,
    /// A second; nothing if the model does not say.
    pub(crate) rate: Option<f64>,
    /// Of one call.
    pub(crate) cost: f64,
    /// Of all that the workload costs.
    pub(crate) share: f64,
    /// What a reader may see while others write.
    pub(crate) reads: &'static str,
    /// The first thing that is done, in words.
    pub(crate) how: String,
    pub(crate) scans: bool,
    pub(crate) steps: Vec<StepDocument>,
    /// Of a write: what has to be brought after.
    pub(crate) copies: Vec<CopyDocument>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) missing: Option<String>,
    /// Bytes that a call puts.
    pub(crate) written: f64,
    #[serde(skip)]
    pub(crate) written_to_masters: f64,
    #[serde(skip)]
    assumed: Vec<Assumption>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct StepDocument {
    pub(crate) op: &'static str,
    pub(crate) words: String,
    pub(crate) collection: Option<String>,
    /// The fields that are read or written of it; none named if it is all of them.
    pub(crate) columns: Vec<String>,
    pub(crate) requests: f64,
    pub(crate) partitions: f64,
    pub(crate) rows: f64,
    pub(crate) bytes: f64,
    pub(crate) puts: f64,
    pub(crate) deletes: f64,
    pub(crate) cost: f64,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct CopyDocument {
    pub(crate) collection: String,
    /// What makes the copy and its master one.
    pub(crate) level: &'static str,
    pub(crate) puts: f64,
    pub(crate) deletes: f64,
}

impl PlanDocument {
    pub(crate) fn is_write(&self) -> bool {
        self.kind == "write"
    }

    pub(crate) fn uses(&self, collection: &str) -> bool {
        let read = self.steps.iter().any(|step| step.collection.as_deref() == Some(collection));
        read || self.copies.iter().any(|copy| copy.collection == collection)
    }

    pub(crate) fn requests(&self) -> f64 {
        self.steps.iter().map(|step| step.requests).sum()
    }

    pub(crate) fn rows(&self) -> f64 {
        self.steps.iter().map(|step| step.rows).sum()
    }

    pub(crate) fn bytes(&self) -> f64 {
        self.steps.iter().map(|step| step.bytes).sum()
    }

    fn new(sources: &Sources, header: &Header, kind: &'static str) -> Self {
        let span = header.span;
        let line = sources.start(span).line;
        Self {
            statement: header.name.clone(),
            kind,
            text: text(sources, header),
            line: u32::try_from(line).unwrap_or(u32::MAX),
            rate: header.rate,
            cost: 0.0,
            share: 0.0,
            reads: "",
            how: String::new(),
            scans: false,
            steps: Vec::new(),
            copies: Vec::new(),
            missing: None,
            written: 0.0,
            written_to_masters: 0.0,
            assumed: Vec::new(),
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

/// What all of them assume, each once.
pub(super) fn assumed(subject: &Subject<'_>, plans: &[PlanDocument]) -> Vec<String> {
    let mut all: Vec<Assumption> = Vec::new();
    for assumption in plans.iter().flat_map(|plan| &plan.assumed) {
        if all.iter().all(|known| known.about != assumption.about) {
            all.push(*assumption);
        }
    }
    plan::assumptions(subject.model, &all)
}

fn plan(subject: &Subject<'_>, statement: Statement<'_>) -> PlanDocument {
    let mut document = PlanDocument::new(subject.sources, statement.header(), kind(statement));
    match statement {
        Statement::Query(asked) => read(subject, asked, &mut document),
        Statement::Ask(ask) => match askloom_design::ask::query(&subject.model.conceptual, ask) {
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
    match plan::answer(&subject.costing(), subject.model, subject.design, query) {
        Err(why) => document.missing = Some(why.message.clone()),
        Ok(found) => {
            let lines = plan::outline(subject.model, subject.design, query, &found);
            document.cost = found.estimate.cost;
            document.reads = reads(found.priced.reads);
            document.scans = scans(&found);
            let touched = Touched::by_query(query);
            document.steps = lines.iter().map(|line| step(subject, line, Some(&touched))).collect();
            document.how = lines.first().map(|line| line.words.clone()).unwrap_or_default();
            document.assumed = found.priced.assumed;
        }
    }
}

fn written(subject: &Subject<'_>, write: &Write, document: &mut PlanDocument) {
    match plan::write::plan(&subject.costing(), subject.model, subject.design, write) {
        Err(why) => document.missing = Some(why.message.clone()),
        Ok(found) => {
            let lines = plan::outline_write(subject.model, subject.design, write, &found);
            document.cost = found.estimate.cost;
            document.reads = "";
            document.scans = found.steps.iter().any(|step| scans(&step.find));
            document.steps = write_steps(subject, write, &lines);
            document.how =
                lines.iter().find(|line| line.op == "put").map(|line| line.words.clone()).unwrap_or_default();
            document.written = found.estimate.written;
            for done in &found.steps {
                document.written_to_masters += done.master.estimate.written;
                for copy in &done.copies {
                    document.copies.push(CopyDocument {
                        collection: subject.design.collections[copy.collection].name.clone(),
                        level: level(copy.level),
                        puts: copy.estimate.puts,
                        deletes: copy.estimate.deletes,
                    });
                }
            }
            document.assumed = found.assumed;
        }
    }
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
        requests: line.requests,
        partitions: line.partitions,
        rows: line.rows,
        bytes: line.bytes,
        puts: line.puts,
        deletes: line.deletes,
        cost: line.cost,
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
