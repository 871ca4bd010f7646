//! Carries out a plan: reads, joins, filters, groups, sorts, cuts, projects.

mod access;
mod aggregate;
mod condition;
mod fetch;
mod nested;
mod node;
mod page;
mod path;
mod per_group;
mod row;
mod scene;
mod tree;
mod words;

pub use condition::Truth;
pub use fetch::Fetcher;
pub(crate) use nested::node as decode_node;
pub use node::{Inner, Node};
pub use page::Continuation;
pub use row::Row;
pub use scene::Scene;
pub(crate) use scene::collect_parts;

use crate::source::Source;
use crate::{Instances, Keyspace, KeyspaceRecords, PlannedInstances, RunError, Schema};
use access::QueryExec;
use askloom_model::{
    Ask, ColumnValue, Conceptual, Element, Id, Limit, Operand, OrderBy, OrderTerm, Parameter, Plan,
    PositionId, Query, Value, fault, typed,
};
use askloom_target::program::{self, Program, Retrieval};
use page::Placed;
use std::cmp::Ordering;
use std::collections::HashMap;

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
}

impl PreparedQuery {
    /// The program of a plan.
    #[must_use]
    pub fn new(schema: &Schema, query: &Query, plan: &Plan) -> Self {
        Self { query: query.clone(), program: program::query(schema.layout(), query, plan, None) }
    }

    #[expect(clippy::expect_used, reason = "lowering gives every query its retrieval")]
    fn retrieval(&self) -> &Retrieval {
        self.program.retrieval.as_deref().expect("the program of a query has a retrieval")
    }

    /// Runs the query on one state of a store.
    pub fn run(
        &self,
        source: &dyn Source,
        arguments: &Arguments,
        now: jiff::Timestamp,
        after: Option<&Continuation>,
    ) -> Result<Answer, RunError> {
        let arguments = ordered(&source.schema().model.conceptual, &self.query, arguments)?;
        let retrieval = self.retrieval();
        let instances = PlannedInstances::new(source, &self.program, &retrieval.ways);
        let fetcher = Fetcher::new(source, retrieval);
        let scene = Scene {
            instances: &instances,
            positions: &retrieval.query.positions,
            arguments: &arguments,
            now,
            fetcher: Some(&fetcher),
        };
        if let Some(after) = after {
            page::check(&retrieval.query, after, aggregate::applies(&retrieval.query))?;
        }
        let exec = QueryExec { scene: &scene, source, program: &self.program, retrieval, after };
        finish(&exec, exec.rows()?)
    }

    /// The joined and filtered rows, in no particular order. They are of the query's own positions.
    pub(crate) fn rows(
        &self,
        source: &dyn Source,
        instances: &dyn Instances,
        arguments: &[Value],
        now: jiff::Timestamp,
    ) -> Result<Vec<Row>, RunError> {
        let retrieval = self.retrieval();
        let positions = &retrieval.query.positions;
        let scene = Scene { instances, positions, arguments, now, fetcher: None };
        QueryExec { scene: &scene, source, program: &self.program, retrieval, after: None }.rows()
    }
}

/// Runs a query by its plan on one state of the keyspace.
pub fn run(
    schema: &Schema,
    keyspace: &dyn Keyspace,
    query: &Query,
    plan: &Plan,
    arguments: &Arguments,
    now: jiff::Timestamp,
    after: Option<&Continuation>,
) -> Result<Answer, RunError> {
    let records = KeyspaceRecords { schema, keyspace };
    PreparedQuery::new(schema, query, plan).run(&records, arguments, now, after)
}

/// Runs a tuple query by its cheapest plan: each linked tuple of result instances once, in the order of their ids. The
/// arguments are the ids of the key classes by the names of the classes.
pub fn ask(
    schema: &Schema,
    keyspace: &dyn Keyspace,
    ask: &Ask,
    arguments: &Arguments,
    now: jiff::Timestamp,
) -> Result<Answer, RunError> {
    let conceptual = &schema.model.conceptual;
    let circle = RunError::NotYet("an `ask` whose links close a circle between two value objects");
    let query = askloom_design::ask::query(conceptual, ask).ok_or(circle)?;
    let no_master = || RunError::Corrupted("the design lacks a master".to_owned());
    let plan = askloom_design::plan::plan(conceptual, schema.readable(), &query).ok_or_else(no_master)?;
    tuples(schema, keyspace, &query, &plan, arguments, now)
}

/// The same by a plan of the query that [`askloom_design::ask::query`] makes of it.
pub fn tuples(
    schema: &Schema,
    keyspace: &dyn Keyspace,
    query: &Query,
    plan: &Plan,
    arguments: &Arguments,
    now: jiff::Timestamp,
) -> Result<Answer, RunError> {
    let mut answer = run(schema, keyspace, query, plan, arguments, now, None)?;
    // Linked twice is linked; the two are neighbours.
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

impl QueryExec<'_> {
    /// The joined and filtered rows, in no particular order unless they need no sort.
    fn rows(&self) -> Result<Vec<Row>, RunError> {
        let Some(lookup) = &self.retrieval.key_lookup else { return self.joined() };
        let mut arguments = self.scene.arguments.to_vec();
        arguments.push(self.find(lookup)?);
        let scene = Scene { arguments: &arguments, ..*self.scene };
        QueryExec { scene: &scene, ..*self }.joined()
    }

    /// The ids of what rows have to lead to.
    fn find(&self, lookup: &Retrieval) -> Result<Value, RunError> {
        let query = &lookup.query;
        let instances = PlannedInstances::new(self.source, self.program, &lookup.ways);
        let fetcher = Fetcher::new(self.source, lookup);
        let (instances, fetcher): (&dyn Instances, _) = (&instances, Some(&fetcher));
        let scene = Scene { positions: &query.positions, instances, fetcher, ..*self.scene };
        let rows = QueryExec { scene: &scene, retrieval: lookup, after: None, ..*self }.rows()?;
        let ids =
            rows.iter().map(|row| scene.identity(query, row).map(|identity| identity.into_iter().next()));
        let ids = ids.collect::<Result<Vec<_>, _>>()?.into_iter().flatten();
        let elements = ids.zip(0..).map(|(value, ordinal)| Element { ordinal, value });
        Ok(Value::List(elements.collect()))
    }

    /// The rows, when all arguments are there.
    fn joined(&self) -> Result<Vec<Row>, RunError> {
        let mut rows = self.first_rows()?;
        for &position in &self.retrieval.joins {
            let mut joined = Vec::new();
            for row in rows {
                self.scene.expand(row, position, &mut joined)?;
            }
            rows = joined;
        }
        // Rows that come in order were filtered on the way, so that no more were read than needed.
        let Some(condition) = self.retrieval.filter.as_ref().filter(|_| self.retrieval.sorts) else {
            return Ok(rows);
        };
        let mut kept = Vec::with_capacity(rows.len());
        for row in rows {
            if self.scene.truth(condition, &row)? == Some(true) {
                kept.push(row);
            }
        }
        Ok(kept)
    }
}

/// How many rows LIMIT or PAGE asks for.
fn count(scene: &Scene<'_>, operand: &Operand) -> Result<usize, RunError> {
    match scene.constant(operand)? {
        Value::Int(rows) if rows > 0 => Ok(usize::try_from(rows).unwrap_or(usize::MAX)),
        _other => Err(RunError::WrongType {
            parameter: "limit".to_owned(),
            message: "LIMIT and PAGE take a whole number above zero".to_owned(),
        }),
    }
}

fn finish(exec: &QueryExec<'_>, rows: Vec<Row>) -> Result<Answer, RunError> {
    let QueryExec { scene, after, retrieval, .. } = *exec;
    let query = &retrieval.query;
    let columns: Vec<String> = query.columns.iter().map(|column| column.name.clone()).collect();
    if aggregate::applies(query) {
        let groups = aggregate::grouped(scene, query, rows)?.into_iter();
        let placed = groups.map(|g| Placed { order: g.order, identity: g.key, row: g.columns });
        let (rows, next) = page::cut(scene, query, sorted(query, placed.collect()), after)?;
        return Ok(Answer { columns, rows, next });
    }
    // Nobody asks where a row is that comes in order and is the start of no page.
    let placing = retrieval.sorts || matches!(query.limit, Some(Limit::Page(_)));
    let mut placed = Vec::with_capacity(rows.len());
    for row in rows {
        let order = order_values(scene, &query.order_by, &row)?;
        let identity = if placing { scene.identity(query, &row)? } else { Vec::new() };
        placed.push(Placed { order, identity, row });
    }
    if retrieval.sorts {
        placed = sorted(query, placed);
    }
    if fault!(LimitBeforePerGroup) {
        page::limit(scene, query, &mut placed)?;
    }
    let placed = per_group::cut(scene, query, placed)?;
    let (rows, next) = page::cut(scene, query, placed, after)?;
    let mut rows: Vec<Vec<Value>> =
        rows.iter().map(|row| project(scene, query, row)).collect::<Result<_, _>>()?;
    if fault!(DuplicatesDropped) {
        rows.dedup();
    }
    Ok(Answer { columns, rows, next })
}

fn sorted<T>(query: &Query, mut rows: Vec<Placed<T>>) -> Vec<Placed<T>> {
    rows.sort_by(|a, b| compare(&query.order_by, &a.order, &b.order, &a.identity, &b.identity));
    rows
}

fn order_values(scene: &Scene<'_>, terms: &[OrderTerm], row: &Row) -> Result<Vec<Value>, RunError> {
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

fn project(scene: &Scene<'_>, query: &Query, row: &Row) -> Result<Vec<Value>, RunError> {
    let value = |column: &askloom_model::Column| match &column.value {
        ColumnValue::Whole(position) => scene.whole(*position, row),
        ColumnValue::Path(path) => scene.selected(path, row),
        ColumnValue::Aggregate(_) => Ok(Value::Null),
    };
    query.columns.iter().map(value).collect()
}

pub(crate) fn main_position() -> PositionId {
    PositionId::from_index(0)
}
