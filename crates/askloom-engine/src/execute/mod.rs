//! Carries out a plan: reads, joins, filters, groups, sorts, cuts, projects.

mod access;
mod aggregate;
mod condition;
mod entries;
mod evaluation;
mod fetch;
mod nested;
mod node;
mod page;
mod path;
mod per_group;
mod restriction;
mod row;
mod scene;
mod tree;
mod words;

pub use condition::Truth;
pub use evaluation::{Evaluation, Progress};
pub use fetch::Fetcher;
pub use node::{Inner, Node};
pub use page::Continuation;
pub use restriction::Restriction;
pub use row::Row;
pub use scene::Scene;
pub use scene::collect_parts;
pub(crate) use scene::{holds, stored_ids};

use crate::source::Source;
use crate::{RunError, Schema, Stop};
use access::Purpose;
use aggregate::Groups;
use askloom_model::{
    Ask, ColumnValue, Conceptual, Id, Operand, OrderBy, OrderTerm, Parameter, Plan, PositionId, Query, Value,
    fault, typed,
};
use askloom_plan::program::{self, Program, Retrieval};
use entries::EntryReader;
use page::Placed;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

/// Values by parameter name. A whole number is as good as a decimal of the same value, an id of one part as that part.
pub type Arguments = HashMap<String, Value>;

/// What a query gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Value>>,
    /// Where the next page starts, if there is one.
    pub next: Option<Continuation>,
}

/// A query that is planned and lowered once, and run as often as it is asked.
#[derive(Debug, Clone)]
pub struct PreparedQuery {
    /// As it is asked.
    pub query: Query,
    pub program: Program,
    /// How the first rows are read of the query, then of what finds ids for it, and so on.
    readers: Vec<Arc<EntryReader>>,
}

impl PreparedQuery {
    /// The program of a plan.
    #[must_use]
    pub fn new(schema: &Schema, query: &Query, plan: &Plan) -> Self {
        let program = program::query(schema.layout(), query, plan, None);
        let mut prepared = Self { query: query.clone(), program, readers: Vec::new() };
        let reader = |retrieval: &Retrieval| Arc::new(EntryReader::new(schema, retrieval));
        prepared.readers = prepared.retrievals().map(reader).collect();
        prepared
    }

    #[expect(clippy::expect_used, reason = "lowering gives every query its retrieval")]
    fn retrieval(&self) -> &Retrieval {
        self.program.retrieval.as_deref().expect("the program of a query has a retrieval")
    }

    /// That of the query, then what finds ids for it, and so on.
    fn retrievals(&self) -> impl Iterator<Item = &Retrieval> {
        std::iter::successors(Some(self.retrieval()), |level| level.key_lookup.as_deref())
    }

    /// Starts the query. Arguments are by the names of its parameters.
    pub fn start<'e>(
        &'e self,
        schema: &Schema,
        arguments: &Arguments,
        now: jiff::Timestamp,
        after: Option<&'e Continuation>,
    ) -> Result<Evaluation<'e>, RunError> {
        let arguments = ordered(&schema.model.conceptual, &self.query, arguments)?;
        Evaluation::new(self, arguments, now, after, Purpose::Answer)
    }

    /// Runs the query on one state of a store that knows everything.
    pub fn run(
        &self,
        source: &dyn Source,
        arguments: &Arguments,
        now: jiff::Timestamp,
        after: Option<&Continuation>,
    ) -> Result<Answer, RunError> {
        self.start(source.schema(), arguments, now, after)?.run(source)
    }

    /// The joined and filtered rows, in no particular order. They are of the query's own positions.
    pub fn rows(
        &self,
        source: &dyn Source,
        arguments: &[Value],
        now: jiff::Timestamp,
    ) -> Result<Vec<Row>, Stop> {
        Evaluation::new(self, arguments.to_vec(), now, None, Purpose::Rows)?.rows(source)
    }
}

/// Runs a query by a plan on one state of a store that knows everything.
pub fn run(
    source: &dyn Source,
    query: &Query,
    plan: &Plan,
    arguments: &Arguments,
    now: jiff::Timestamp,
    after: Option<&Continuation>,
) -> Result<Answer, RunError> {
    PreparedQuery::new(source.schema(), query, plan).run(source, arguments, now, after)
}

/// Runs a tuple query by its cheapest plan: each linked tuple of result instances once, in the order of their ids. The
/// arguments are the ids of the key classes by the names of the classes.
pub fn ask(
    source: &dyn Source,
    ask: &Ask,
    arguments: &Arguments,
    now: jiff::Timestamp,
) -> Result<Answer, RunError> {
    let schema = source.schema();
    let conceptual = &schema.model.conceptual;
    let circle = RunError::NotYet("an `ask` whose links close a circle between two value objects");
    let query = askloom_plan::ask::query(conceptual, ask).ok_or(circle)?;
    distinct(schema.prepared(&query)?.run(source, arguments, now, None)?)
}

/// The same by a plan of the query that [`askloom_plan::ask::query`] makes of it.
pub fn tuples(
    source: &dyn Source,
    query: &Query,
    plan: &Plan,
    arguments: &Arguments,
    now: jiff::Timestamp,
) -> Result<Answer, RunError> {
    distinct(run(source, query, plan, arguments, now, None)?)
}

/// Linked twice is linked; the two are neighbours.
fn distinct(mut answer: Answer) -> Result<Answer, RunError> {
    answer.rows.dedup();
    Ok(answer)
}

/// Arguments in the order of the query's parameters, each of its type.
fn ordered(conceptual: &Conceptual, query: &Query, arguments: &Arguments) -> Result<Vec<Value>, RunError> {
    let known = |name: &String| query.parameters.iter().any(|parameter| parameter.name == *name);
    if let Some(name) = arguments.keys().find(|name| !known(name)) {
        return Err(RunError::UnknownParameter(name.clone()));
    }
    let mut ordered = Vec::with_capacity(query.parameters.len());
    for Parameter { name, ty, .. } in &query.parameters {
        let value = arguments.get(name).ok_or_else(|| RunError::MissingParameter(name.clone()))?;
        let fitting = typed::fitting(conceptual, value, ty).ok_or_else(|| RunError::WrongType {
            parameter: name.clone(),
            message: "its value is of another type".to_owned(),
        })?;
        ordered.push(fitting);
    }
    Ok(ordered)
}

/// How many rows LIMIT or PAGE asks for.
fn count(scene: &Scene<'_>, operand: &Operand) -> Result<usize, Stop> {
    match scene.constant(operand)? {
        Value::Int(rows) if rows > 0 => Ok(usize::try_from(rows).unwrap_or(usize::MAX)),
        _other => Err(Stop::Failed(RunError::WrongType {
            parameter: "limit".to_owned(),
            message: "LIMIT and PAGE take a whole number above zero".to_owned(),
        })),
    }
}

fn sorted(query: &Query, mut rows: Vec<Placed>) -> Vec<Placed> {
    rows.sort_by(|a, b| compare(&query.order_by, &a.order, &b.order, &a.identity, &b.identity));
    rows
}

fn order_values(scene: &Scene<'_>, terms: &[OrderTerm], row: &Row) -> Result<Vec<Value>, Stop> {
    let value = |term: &OrderTerm| match &term.by {
        OrderBy::Path(path) => scene.single(path, row),
        // Only groups are ordered by aggregates, and those have an order of their own.
        OrderBy::Aggregate(_) => Ok(Value::Null),
    };
    terms.iter().map(value).collect()
}

/// By the terms, then by identity in the direction of the last term.
fn compare(terms: &[OrderTerm], a: &[Value], b: &[Value], id_a: &[Value], id_b: &[Value]) -> Ordering {
    for ((term, a), b) in terms.iter().zip(a).zip(b) {
        let order = if term.descending { condition::order(b, a) } else { condition::order(a, b) };
        if order != Ordering::Equal {
            return order;
        }
    }
    let unequal = id_a.iter().zip(id_b).map(|(a, b)| condition::order(a, b)).find(|o| *o != Ordering::Equal);
    let order = unequal.filter(|_| !fault!(TieBreakDropped)).unwrap_or(Ordering::Equal);
    if terms.last().is_some_and(|term| term.descending) { order.reverse() } else { order }
}

fn project(scene: &Scene<'_>, query: &Query, row: &Row) -> Result<Vec<Value>, Stop> {
    let value = |column: &askloom_model::Column| match &column.value {
        ColumnValue::Whole(position) => scene.whole(*position, row),
        ColumnValue::Path(path) => scene.selected(path, row),
        ColumnValue::Aggregate(_) => Ok(Value::Null),
    };
    query.columns.iter().map(value).collect()
}

pub fn main_position() -> PositionId {
    PositionId::from_index(0)
}
