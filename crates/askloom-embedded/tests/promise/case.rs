//! One case: a model, a design, some writes, after each of them every query, by oracle and by every plan.

use crate::coverage::Coverage;
use crate::data::Known;
use crate::driven::Driven;
use crate::questions::Where;
use crate::random::Random;
use crate::sketch::{Sketch, sketch};
use crate::{
    clustered, conditions, constructs, designs, identities, keyspace, questions, records, statements,
};
use askloom_embedded::{KeyedSchema, KeyspaceRecords, Memory};
use askloom_lang::{Memory as Files, check};
use askloom_model::{ClassId, Design, Identity, Model, Plan};
use askloom_oracle::State;
use askloom_plan::planner;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::path::Path;

/// All that a case is made of, in pieces that can be left out.
#[derive(Debug, Clone)]
pub(crate) struct Spec {
    pub(crate) seed: u64,
    pub(crate) sketch: Sketch,
    /// Queries, asks and writes.
    pub(crate) statements: Vec<String>,
    /// Queries that only copies are made of.
    pub(crate) sources: Vec<String>,
    /// Copies that are left out, by name.
    pub(crate) dropped: Vec<String>,
    pub(crate) steps: Vec<usize>,
}

/// Why a case failed.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    /// Shrinking keeps to failures of one kind.
    pub(crate) kind: &'static str,
    pub(crate) text: String,
    /// The writes up to the failure, in words.
    pub(crate) writes: Vec<String>,
}

impl Spec {
    pub(crate) fn new(seed: u64) -> Self {
        let random = Random::new(seed);
        let sketch = sketch(&random.fork("sketch"));
        let Ok((model, _)) = parse(&sketch.text(), &[]) else {
            // Running it says what is wrong.
            return Self {
                seed,
                sketch,
                statements: Vec::new(),
                sources: Vec::new(),
                dropped: Vec::new(),
                steps: Vec::new(),
            };
        };
        let conceptual = &model.conceptual;
        let mut made = Vec::new();
        for n in 0..2 + random.below(3) {
            let name = format!("q{n}");
            made.push(questions::query(conceptual, &name, Where::Any, &random.fork(&name)));
        }
        if random.percent(35) {
            made.push(questions::query(conceptual, "q5", Where::Anchored, &random.fork("q5")));
        }
        if random.percent(20) {
            made.extend(questions::rare(conceptual, "q6", &random.fork("q6")));
        }
        if random.fork("identities").percent(45) {
            made.extend(identities::query(conceptual, "q7", &random.fork("q7")));
        }
        if random.percent(15) {
            made.push(questions::ask(conceptual, "ask0", &random.fork("ask")));
        }
        if random.fork("asks").percent(20) {
            made.push(questions::ask(conceptual, "ask1", &random.fork("ask1")));
        }
        for n in 0..3 + random.below(4) {
            made.extend(statements::write(conceptual, &format!("w{n}"), &random.fork(&format!("w{n}"))));
        }
        made.extend(clustered::statements(conceptual, &random.fork("clustered")));
        if random.fork("given").percent(12) {
            made.extend(statements::collection(conceptual, "Given0", &random.fork("given0")));
            made.extend(statements::collection(conceptual, "Given1", &random.fork("given1")));
        }
        let sources = match random.percent(30) {
            true => vec![questions::query(conceptual, "c0", Where::Any, &random.fork("c0"))],
            false => Vec::new(),
        };
        let steps = (0..8 + random.below(7)).collect();
        Self { seed, sketch, statements: made, sources, dropped: Vec::new(), steps }
    }

    pub(crate) fn text(&self) -> String {
        format!("{}{}", self.sketch.text(), self.statements.join("\n"))
    }
}

/// The model of a text, and why statements were refused: those are left out. Declarations alone must be right.
pub(crate) fn parse(declarations: &str, statements: &[String]) -> Result<(Model, Vec<String>), String> {
    let text = format!("{declarations}{}", statements.join("\n"));
    let checked = check(&Files::default().with("m.loom", text), Path::new("m.loom"));
    let refused: Vec<String> =
        checked.diagnostics.iter().filter(|d| d.is_error()).map(|d| d.message.clone()).collect();
    match refused.first() {
        Some(error) if statements.is_empty() => Err(error.clone()),
        Some(_) | None => Ok((checked.model, refused)),
    }
}

pub(crate) struct Case {
    pub(crate) schema: KeyedSchema,
    /// The plans of each query.
    pub(crate) plans: Vec<Vec<Plan>>,
    pub(crate) keyspace: Memory,
    /// The same data on a driver, in a part of all cases.
    pub(crate) driven: Option<Driven>,
    pub(crate) oracle: State,
    pub(crate) now: Timestamp,
    pub(crate) writes: Vec<String>,
    /// Whether the writes are put into words: only for a failure, as it takes long.
    pub(crate) telling: bool,
    /// Ids that were deleted, to see them come back.
    pub(crate) deleted: BTreeSet<(ClassId, Identity)>,
    /// What each query contains, and each plan of it does.
    pub(crate) contents: Vec<(Vec<usize>, Vec<Vec<usize>>)>,
}

impl Case {
    fn new(spec: &Spec, coverage: &mut Coverage) -> Result<Self, Failure> {
        let failed = |error: String| Failure { kind: "model", text: error, writes: Vec::new() };
        let (mut model, refused) = parse(&spec.sketch.text(), &spec.statements).map_err(failed)?;
        askloom_plan::ask::name_ways_back(&mut model);
        coverage.statements(spec.statements.len(), &refused);
        conditions::check(spec, &model, coverage).map_err(|text| Failure { kind: "text", ..failed(text) })?;
        let random = Random::new(spec.seed);
        let mut sources = Vec::new();
        if !spec.sources.is_empty() {
            sources = parse(&spec.sketch.text(), &spec.sources).map_err(failed)?.0.workload.queries;
        }
        let design = designs::design(&model, &sources, &spec.dropped, &random.fork("design"));
        Ok(Self::of(model, design))
    }

    /// A model and a design of it, without any data yet.
    pub(crate) fn of(model: Model, design: Design) -> Self {
        let queries = &model.workload.queries;
        let plans: Vec<Vec<Plan>> = queries
            .iter()
            .map(|query| {
                planner::plans(&askloom_target::embedded::costing(), &model.conceptual, &design, query)
            })
            .collect();
        let contents = queries.iter().zip(&plans).map(|(query, plans)| {
            let operators = plans.iter().map(|plan| constructs::operators(&design, plan));
            (constructs::constructs(&model.conceptual, query), operators.collect())
        });
        let contents = contents.collect();
        Self {
            schema: KeyedSchema::new(model, design),
            plans,
            keyspace: Memory::new(),
            driven: None,
            oracle: State::new(),
            now: "2026-06-01T00:00:00Z".parse().unwrap(),
            writes: Vec::new(),
            telling: false,
            deleted: BTreeSet::new(),
            contents,
        }
    }

    pub(crate) fn fail(&self, kind: &'static str, text: String) -> Failure {
        Failure { kind, text, writes: self.writes.clone() }
    }
}

/// Runs a case. What it meets is counted.
pub(crate) fn run(spec: &Spec, telling: bool, coverage: &mut Coverage) -> Result<(), Failure> {
    let mut case = Case::new(spec, coverage)?;
    case.telling = telling;
    case.run(&spec.steps, &Random::new(spec.seed), coverage)
}

impl Case {
    /// Takes steps, and after each compares what the queries give.
    pub(crate) fn run(
        mut self,
        steps: &[usize],
        random: &Random,
        coverage: &mut Coverage,
    ) -> Result<(), Failure> {
        self.driven = Some(Driven::new(&self.schema, &random.fork("driven")));
        for (n, &step) in steps.iter().enumerate() {
            let random = random.fork(&format!("step{step}"));
            let known = Known::of(&self.schema.model.conceptual, &self.oracle);
            let shapes = self.step(step, &known, &random, coverage)?;
            let known = Known::of(&self.schema.model.conceptual, &self.oracle);
            self.compare(&known, &shapes, &random.fork("compare"), coverage)?;
            let last = n + 1 == steps.len();
            if last || random.percent(15) {
                keyspace::check(&self.schema, &self.keyspace, &self.oracle, self.now, coverage)
                    .map_err(|text| self.fail("keyspace", text))?;
                records::check(&self.schema, &self.keyspace).map_err(|text| self.fail("records", text))?;
                let stored = KeyspaceRecords { schema: &self.schema, keyspace: &self.keyspace };
                self.check_driven(&stored)?;
            }
        }
        coverage.finish(&self);
        Ok(())
    }
}
