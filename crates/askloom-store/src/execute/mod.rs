//! Carries out a plan: reads, joins, filters, groups, sorts, cuts, projects.

mod aggregate;
mod condition;
mod page;
mod row;

pub use condition::Truth;
pub use page::Continuation;
pub(crate) use row::collect_parts;
pub use row::{Node, Row, Scene};

use crate::{Keyspace, Reader, RunError, Schema};
use askloom_model::{
    ColumnValue, Contents, Id, Inclusive, KeyRange, Limit, Operand, OrderBy, OrderTerm, Path, Plan,
    PositionId, Query, Reading, Value,
};
use askloom_target::embedded::{block_prefix, encode, encode_descending, prefix_end, split_entry};
use std::cmp::Ordering;
use std::collections::HashMap;

/// Values by parameter name, already of the parameters' types.
pub type Arguments = HashMap<String, Value>;

/// What a query gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Value>>,
    /// Where the next page starts, if there is one.
    pub next: Option<Continuation>,
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
    let reader = Reader::new(schema, keyspace);
    let arguments = ordered(query, arguments)?;
    let scene = Scene { instances: &reader, positions: &query.positions, arguments: &arguments, now };
    let rows = rows(&scene, keyspace, query, plan)?;
    finish(&scene, query, plan, rows, after)
}

/// Arguments in the order of the query's parameters.
fn ordered(query: &Query, arguments: &Arguments) -> Result<Vec<Value>, RunError> {
    let find =
        |name: &String| arguments.get(name).cloned().ok_or_else(|| RunError::MissingParameter(name.clone()));
    query.parameters.iter().map(|parameter| find(&parameter.name)).collect()
}

/// The joined and filtered rows, in no particular order unless the plan needs no sort.
pub(crate) fn rows(
    scene: &Scene<'_>,
    keyspace: &dyn Keyspace,
    query: &Query,
    plan: &Plan,
) -> Result<Vec<Row>, RunError> {
    let mut rows = access(scene, keyspace, query, plan)?;
    for join in &plan.joins {
        let mut joined = Vec::new();
        for row in rows {
            scene.expand(row, join.position, &mut joined)?;
        }
        rows = joined;
    }
    let mut kept = Vec::with_capacity(rows.len());
    for row in rows {
        let holds = match &plan.filter {
            Some(condition) => scene.truth(condition, &row)? == Some(true),
            None => true,
        };
        if holds {
            kept.push(row);
        }
    }
    Ok(kept)
}

fn access(
    scene: &Scene<'_>,
    keyspace: &dyn Keyspace,
    query: &Query,
    plan: &Plan,
) -> Result<Vec<Row>, RunError> {
    let schema = scene.instances.schema();
    let collection = &schema.design.collections[plan.access.collection];
    match collection.contents {
        Contents::Aggregate(_) => access_master(scene, plan, collection),
        Contents::Fields(_) => access_copy(scene, keyspace, query, plan),
    }
}

fn access_master(
    scene: &Scene<'_>,
    plan: &Plan,
    collection: &askloom_model::Collection,
) -> Result<Vec<Row>, RunError> {
    let root = collection.source.root;
    let mut rows = Vec::new();
    match &plan.access.how {
        Reading::GetBlock { key } => {
            let mut identity = Vec::new();
            for operand in key {
                match scene.constant(operand)? {
                    Value::Null => return Ok(rows),
                    Value::Reference(parts) => identity.extend(parts),
                    part => identity.push(part),
                }
            }
            if let Some(stored) = scene.instances.aggregate(root, &identity)? {
                rows.extend(scene.root(identity, stored));
            }
        }
        Reading::Range { .. } | Reading::Each { .. } | Reading::Scan => {
            for (identity, stored) in scene.instances.all(root)? {
                rows.extend(scene.root(identity, stored));
            }
        }
    }
    Ok(rows)
}

/// Reads entries of a copy; each gives the identities of its positions and the values it holds.
fn access_copy(
    scene: &Scene<'_>,
    keyspace: &dyn Keyspace,
    query: &Query,
    plan: &Plan,
) -> Result<Vec<Row>, RunError> {
    let schema = scene.instances.schema();
    let id = plan.access.collection;
    let collection = &schema.design.collections[id];
    let Some((from, to)) = bounds(scene, schema.number(id), collection, &plan.access.how)? else {
        return Ok(Vec::new());
    };
    let most = match (&plan.access.how, &query.limit) {
        (Reading::Range { limited: true, .. }, Some(Limit::Rows(rows))) => count(scene, rows)?,
        (_, _) => usize::MAX,
    };
    let backwards = matches!(plan.access.how, Reading::Range { backwards: true, .. });
    // What an index leads back from is one value of several; the row may have others.
    let held: Vec<Path> =
        if collection.indexed().is_some() { Vec::new() } else { collection.held().cloned().collect() };
    let mut rows = Vec::new();
    keyspace.scan(&from, to.as_deref(), backwards, &mut |key, value| {
        let positions = collection.source.positions.len();
        let parts = split_entry(key, collection.block_key.len(), &collection.entry_key, positions)?;
        let mut rest = value;
        let mut values = parts.block;
        values.extend(parts.fields);
        while !rest.is_empty() {
            values.push(askloom_target::embedded::decode(&mut rest)?);
        }
        let row = scene.entry(&plan.access.positions, parts.row, &held, values)?;
        rows.extend(row);
        Ok(rows.len() < most)
    })?;
    Ok(rows)
}

/// The first key, and the one after the last; none if there is no end.
type KeyBounds = (Vec<u8>, Option<Vec<u8>>);

/// The keys to read. `None` if a parameter is null, so that nothing can match.
fn bounds(
    scene: &Scene<'_>,
    number: u32,
    collection: &askloom_model::Collection,
    how: &Reading,
) -> Result<Option<KeyBounds>, RunError> {
    let Reading::Range { key, equal, range, .. } = how else {
        let prefix = block_prefix(number, &[]);
        let end = prefix_end(&prefix);
        return Ok(Some((prefix, end)));
    };
    let mut prefix = block_prefix(number, &[]);
    for operand in key {
        let value = scene.constant(operand)?;
        if value.is_null() {
            return Ok(None);
        }
        encode(&value, &mut prefix);
    }
    for (operand, field) in equal.iter().zip(&collection.entry_key) {
        let value = scene.constant(operand)?;
        if value.is_null() {
            return Ok(None);
        }
        append(&value, field.descending, &mut prefix);
    }
    let Some(range) = range else {
        let end = prefix_end(&prefix);
        return Ok(Some((prefix, end)));
    };
    let descending = collection.entry_key.get(equal.len()).is_some_and(|field| field.descending);
    narrowed(scene, &prefix, range, descending)
}

fn append(value: &Value, descending: bool, out: &mut Vec<u8>) {
    if descending {
        encode_descending(value, out);
    } else {
        encode(value, out);
    }
}

/// A range of one field below a prefix. Null is in no range: a comparison with it is never true.
fn narrowed(
    scene: &Scene<'_>,
    prefix: &[u8],
    range: &KeyRange,
    descending: bool,
) -> Result<Option<KeyBounds>, RunError> {
    if let Some(starts) = &range.prefix {
        let Value::Text(text) = scene.constant(starts)? else { return Ok(None) };
        return Ok(Some(text_range(prefix, &text, descending)));
    }
    let key = |operand: &Operand| -> Result<Option<Vec<u8>>, RunError> {
        let value = scene.constant(operand)?;
        let mut key = prefix.to_vec();
        append(&value, descending, &mut key);
        Ok((!value.is_null()).then_some(key))
    };
    // The keys of all values but null, in ascending terms.
    let mut null = prefix.to_vec();
    append(&Value::Null, descending, &mut null);
    let (mut from, mut to) = if descending {
        (prefix.to_vec(), Some(null))
    } else {
        (prefix_end(&null).unwrap_or_default(), prefix_end(prefix))
    };
    let (low, high) = if descending { (&range.high, &range.low) } else { (&range.low, &range.high) };
    if let Some((operand, inclusive)) = low {
        let Some(key) = key(operand)? else { return Ok(None) };
        from = match inclusive {
            Inclusive::Yes => key,
            Inclusive::No => prefix_end(&key).unwrap_or_default(),
        };
    }
    if let Some((operand, inclusive)) = high {
        let Some(key) = key(operand)? else { return Ok(None) };
        to = match inclusive {
            Inclusive::Yes => prefix_end(&key),
            Inclusive::No => Some(key),
        };
    }
    Ok(Some((from, to)))
}

/// The keys of the texts that start with a text: those between it and what follows it, its end mark left off.
fn text_range(prefix: &[u8], text: &str, descending: bool) -> (Vec<u8>, Option<Vec<u8>>) {
    const END_MARK: usize = 2;
    let mut start = Vec::new();
    append(&Value::Text(text.to_owned()), descending, &mut start);
    start.truncate(start.len().saturating_sub(END_MARK));
    let from = [prefix, start.as_slice()].concat();
    let to = prefix_end(&from);
    (from, to)
}

fn count(scene: &Scene<'_>, operand: &Operand) -> Result<usize, RunError> {
    match scene.constant(operand)? {
        Value::Int(rows) if rows > 0 => Ok(usize::try_from(rows).unwrap_or(usize::MAX)),
        _other => Err(RunError::WrongType {
            parameter: "limit".to_owned(),
            message: "LIMIT and PAGE take a whole number above zero".to_owned(),
        }),
    }
}

fn finish(
    scene: &Scene<'_>,
    query: &Query,
    plan: &Plan,
    rows: Vec<Row>,
    after: Option<&Continuation>,
) -> Result<Answer, RunError> {
    let columns: Vec<String> = query.columns.iter().map(|column| column.name.clone()).collect();
    if aggregate::applies(query) {
        let rows = aggregate::grouped(scene, query, rows)?;
        let rows = limited(scene, query, rows)?;
        return Ok(Answer { columns, rows, next: None });
    }
    let mut keyed = Vec::with_capacity(rows.len());
    for row in rows {
        keyed.push((order_values(scene, &query.order_by, &row)?, row));
    }
    if plan.sort.is_some() {
        keyed.sort_by(|(a, row_a), (b, row_b)| compare(&query.order_by, a, b, &row_a.keys, &row_b.keys));
    }
    let (keyed, next) = page::cut(scene, query, keyed, after)?;
    let mut projected = Vec::with_capacity(keyed.len());
    for (_, row) in &keyed {
        projected.push(project(scene, query, row)?);
    }
    Ok(Answer { columns, rows: projected, next })
}

fn limited(scene: &Scene<'_>, query: &Query, mut rows: Vec<Vec<Value>>) -> Result<Vec<Vec<Value>>, RunError> {
    match &query.limit {
        Some(Limit::Rows(operand) | Limit::Page(operand)) => rows.truncate(count(scene, operand)?),
        None => {}
    }
    Ok(rows)
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
pub(crate) fn compare(
    terms: &[OrderTerm],
    a: &[Value],
    b: &[Value],
    id_a: &[Value],
    id_b: &[Value],
) -> Ordering {
    for ((term, a), b) in terms.iter().zip(a).zip(b) {
        let order = if term.descending { b.cmp(a) } else { a.cmp(b) };
        if order != Ordering::Equal {
            return order;
        }
    }
    match terms.last() {
        Some(term) if term.descending => id_b.cmp(id_a),
        Some(_) | None => id_a.cmp(id_b),
    }
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
