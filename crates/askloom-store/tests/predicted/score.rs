//! What a statement is predicted to read and write, and what it does.

use crate::arguments::Draw;
use crate::counting::{CountingKeyspace, CountingSource};
use crate::random::Random;
use crate::sample::{Sample, now};
use askloom_model::{Plan, Query};
use askloom_plan::planner;
use askloom_store::execute::PreparedQuery;
use askloom_store::{KeyspaceRecords, Memory, Schema};
use std::cell::Cell;

/// Records and requests, on average.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Amount {
    pub(crate) records: f64,
    pub(crate) requests: f64,
}

#[derive(Debug, Clone)]
pub(crate) struct Score {
    pub(crate) model: String,
    pub(crate) method: String,
    pub(crate) statement: String,
    pub(crate) predicted: Amount,
    pub(crate) counted: Amount,
    /// The plan in words.
    pub(crate) plan: String,
}

fn ratio(counted: f64, predicted: f64) -> f64 {
    (counted + 1.0) / (predicted + 1.0)
}

impl Score {
    pub(crate) fn records(&self) -> f64 {
        ratio(self.counted.records, self.predicted.records)
    }

    pub(crate) fn requests(&self) -> f64 {
        ratio(self.counted.requests, self.predicted.requests)
    }
}

/// Runs a query by a plan with so many sets of arguments. Nothing if the data has no arguments for it.
pub(crate) fn query(
    sample: &Sample,
    (schema, keyspace): (&Schema, &Memory),
    query: &Query,
    plan: &Plan,
    sets: usize,
) -> Option<(Amount, Amount)> {
    let prepared = PreparedQuery::new(schema, query, plan);
    let draw = Draw { model: &sample.model, data: &sample.data };
    let mut counted = Amount::default();
    for set in 0..sets {
        let arguments = draw.query(query, &Random::new(set as u64).fork(&query.header.name))?;
        let keyspace = CountingKeyspace::new(keyspace);
        let of = KeyspaceRecords { schema, keyspace: &keyspace };
        let source = CountingSource { of, requests: Cell::new(0) };
        prepared.run(&source, &arguments, now(), None).ok()?;
        counted.records += keyspace.entries.get() as f64 / sets as f64;
        counted.requests += source.requests.get() as f64 / sets as f64;
    }
    let predicted = plan.work().fold(Amount::default(), |sum, work| Amount {
        records: sum.records + work.rows,
        requests: sum.requests + work.requests,
    });
    Some((predicted, counted))
}

/// The scores of all queries of a model, each by its cheapest plan.
pub(crate) fn queries(
    name: &str,
    sample: &Sample,
    (schema, keyspace): (&Schema, &Memory),
    sets: usize,
) -> Vec<Score> {
    let conceptual = &schema.model.conceptual;
    let costing = askloom_target::embedded::costing();
    let workload = &schema.model.workload;
    let asks = workload.asks.iter().filter_map(|ask| askloom_plan::ask::query(conceptual, ask));
    let queries: Vec<Query> = workload.queries.iter().cloned().chain(asks).collect();
    let mut scores = Vec::new();
    for one in &queries {
        let Some(plan) = planner::plan(&costing, conceptual, &schema.design, one) else { continue };
        let Some((predicted, counted)) = query(sample, (schema, keyspace), one, &plan, sets) else { continue };
        scores.push(Score {
            model: name.to_owned(),
            method: schema.design.method.clone(),
            statement: one.header.name.clone(),
            predicted,
            counted,
            plan: planner::print(&schema.model, &schema.design, one, &plan),
        });
    }
    scores
}
