//! What a statement is predicted to read and write, and what it does.

use crate::arguments::Draw;
use crate::counting::{CountingKeyspace, CountingSource};
use crate::random::Random;
use crate::sample::{Sample, now};
use askloom_embedded::keyspace::write as keyed;
use askloom_embedded::{KeyedSchema, KeyspaceRecords, Memory};
use askloom_engine::Stop;
use askloom_engine::execute::PreparedQuery;
use askloom_engine::source::{Fetched, Source};
use askloom_engine::write::{self, Inputs};
use askloom_model::{Plan, Query, Work, Write, WritePlan};
use askloom_plan::planner;
use std::cell::Cell;

/// Records and requests, on average.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Amount {
    pub(crate) records: f64,
    pub(crate) requests: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Query,
    Write,
}

#[derive(Debug, Clone)]
pub(crate) struct Score {
    pub(crate) model: String,
    pub(crate) method: String,
    pub(crate) statement: String,
    pub(crate) kind: Kind,
    pub(crate) predicted: Amount,
    /// Why nothing was counted, if so.
    pub(crate) counted: Result<Amount, String>,
    /// The plan in words.
    pub(crate) plan: String,
}

impl Score {
    /// The ratio of what was counted to what was predicted, of records and of requests.
    pub(crate) fn ratios(&self) -> Option<(f64, f64)> {
        let ratio = |counted: f64, predicted: f64| (counted + 1.0) / (predicted + 1.0);
        let counted = self.counted.as_ref().ok()?;
        let records = ratio(counted.records, self.predicted.records);
        Some((records, ratio(counted.requests, self.predicted.requests)))
    }
}

/// A design with the data of a sample in it.
#[derive(Clone, Copy)]
pub(crate) struct Store<'s> {
    pub(crate) sample: &'s Sample,
    pub(crate) schema: &'s KeyedSchema,
    pub(crate) keyspace: &'s Memory,
}

impl Store<'_> {
    /// The scores of all statements, each by its cheapest plan.
    pub(crate) fn scores(self, name: &str, sets: usize) -> Vec<Score> {
        let model = &self.schema.model;
        let workload = &model.workload;
        let design = &self.schema.design;
        let costing = askloom_target::embedded::costing();
        let asks = workload.asks.iter().filter_map(|ask| askloom_plan::ask::query(&model.conceptual, ask));
        let queries: Vec<Query> = workload.queries.iter().cloned().chain(asks).collect();
        let score = |statement: &str, kind: Kind, predicted: Amount, counted, plan: String| Score {
            model: name.to_owned(),
            method: design.method.clone(),
            statement: statement.to_owned(),
            kind,
            predicted,
            counted,
            plan,
        };
        let mut scores = Vec::new();
        for query in &queries {
            let Some(plan) = planner::plan(&costing, &model.conceptual, design, query) else { continue };
            let printed = planner::print(model, design, query, &plan);
            let counted = self.query(query, &plan, sets);
            scores.push(score(&query.header.name, Kind::Query, predicted(plan.work()), counted, printed));
        }
        for write in &workload.writes {
            let Ok(plan) = planner::write::plan(&costing, model, design, write) else { continue };
            let printed = planner::write::print(model, design, Some(write), &plan);
            let counted = self.write(write, &plan, sets);
            scores.push(score(&write.header.name, Kind::Write, predicted(plan.work()), counted, printed));
        }
        scores
    }

    /// Runs a query by a plan with so many sets of arguments.
    pub(crate) fn query(self, query: &Query, plan: &Plan, sets: usize) -> Result<Amount, String> {
        let Self { sample, schema, keyspace } = self;
        let prepared = PreparedQuery::new(schema, query, plan);
        let draw = Draw { model: &sample.model, data: &sample.data };
        average(sets, |set| {
            let random = Random::new(set).fork(&query.header.name);
            let arguments = draw.query(query, &random).ok_or("the data has no arguments for it")?;
            let keyspace = CountingKeyspace::new(keyspace);
            let of = KeyspaceRecords { schema, keyspace: &keyspace };
            let source = CountingSource { of, requests: Cell::new(0) };
            prepared.run(&source, &arguments, now(), None).map_err(|error| error.to_string())?;
            Ok(Amount { records: keyspace.entries.get() as f64, requests: source.requests.get() as f64 })
        })
    }

    /// Prepares a write with so many sets of arguments, each on the same state, as an engine does that knows nothing at
    /// first: whatever it lacks is asked for once. Whoever names an instance expects it to be there, so arguments that
    /// match nothing do not count where the plan expects a match.
    fn write(self, write: &Write, plan: &WritePlan, sets: usize) -> Result<Amount, String> {
        let Self { sample, schema, keyspace } = self;
        let draw = Draw { model: &sample.model, data: &sample.data };
        let expects_match = plan.steps.iter().all(|step| step.matched >= 1.0);
        average(sets, |set| {
            let mut refused = NOTHING_MATCHES.to_owned();
            for again in 0..DRAWS {
                let random = Random::new(set).fork(&write.header.name).fork(&again.to_string());
                let arguments = draw.write(write, &random).ok_or("the data has no arguments for it")?;
                let needed = write::uuids_needed(&schema.model, write, &arguments)
                    .map_err(|error| error.to_string())?;
                let uuid = |n: usize| uuid::Uuid::from_u128(u128::from(set + 1) << 64 | n as u128);
                let inputs = Inputs { now: now(), uuids: (0..needed).map(uuid).collect(), id: None };
                let change = match keyed::statement(schema, keyspace, write, &arguments, &inputs) {
                    Ok((change, _)) if expects_match && change.puts.is_empty() => continue,
                    Ok((change, _)) => change,
                    Err(error) if !error.refuses() => return Err(error.to_string()),
                    Err(error) => {
                        refused = error.to_string();
                        continue;
                    }
                };
                let read = self.read_by(|source| write::statement(source, write, &arguments, &inputs))?;
                // All of it is written at once.
                let (puts, sent) = (change.puts.len() as f64, f64::from(!change.puts.is_empty()));
                return Ok(Amount { records: read.records + puts, requests: read.requests + sent });
            }
            Err(refused)
        })
    }

    /// What is asked for until a write can be prepared.
    fn read_by<T>(self, prepare: impl Fn(&dyn Source) -> Result<T, Stop>) -> Result<Amount, String> {
        let keyspace = CountingKeyspace::new(self.keyspace);
        let of = KeyspaceRecords { schema: self.schema, keyspace: &keyspace };
        let source = CountingSource { of, requests: Cell::new(0) };
        let mut fetched = Fetched::new(self.schema);
        loop {
            match prepare(&fetched) {
                Ok(_) => break,
                Err(Stop::Failed(error)) => return Err(error.to_string()),
                Err(Stop::Missing) => {
                    for wanted in fetched.take_wanted() {
                        fetched.fetch(wanted, &source).map_err(|_| "the store does not answer")?;
                    }
                }
            }
        }
        Ok(Amount { records: keyspace.entries.get() as f64, requests: source.requests.get() as f64 })
    }
}

/// How many sets of arguments are drawn until one matches something.
const DRAWS: u64 = 200;

const NOTHING_MATCHES: &str = "the data has nothing that it matches";

/// The average over the sets of arguments that the store takes; why it takes none, if so.
fn average(sets: usize, mut count: impl FnMut(u64) -> Result<Amount, String>) -> Result<Amount, String> {
    let (mut sum, mut taken, mut refused) = (Amount::default(), 0.0, None);
    for set in 0..sets {
        match count(set as u64) {
            Ok(Amount { records, requests }) => {
                sum.records += records;
                sum.requests += requests;
                taken += 1.0;
            }
            Err(error) => refused = Some(error),
        }
    }
    match refused {
        Some(error) if taken == 0.0 => Err(error),
        Some(_) | None => Ok(Amount { records: sum.records / taken, requests: sum.requests / taken }),
    }
}

fn predicted<'w>(work: impl Iterator<Item = &'w Work>) -> Amount {
    work.fold(Amount::default(), |sum, work| Amount {
        records: sum.records + work.rows + work.puts + work.deletes,
        requests: sum.requests + work.requests + work.write_requests,
    })
}
