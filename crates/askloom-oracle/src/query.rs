//! A query from its positions to its rows.

use crate::condition::Asked;
use crate::error::QueryError;
use crate::group::{Group, is_grouped};
use crate::identity::NodeIdentity;
use crate::limit;
use crate::order::{Key, RowIdentity};
use crate::parameters::{Parameters, bind};
use crate::path::Joined;
use crate::state::State;
use crate::view::View;
use askloom_model::{ClassId, ColumnValue, Id, Limit, Model, OrderBy, Query, Value};
use jiff::Timestamp;

/// The values of the columns, in their order. A whole instance is a [`Value::Record`] without derived ends.
pub type Row = Vec<Value>;

/// A row with what identifies it at every position.
pub type IdentifiedRow = (Vec<Option<NodeIdentity>>, Row);

/// A row with what places it among the others.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) key: Key,
    /// The values that `LIMIT … PER` groups by.
    pub(crate) group: Vec<Value>,
    pub(crate) row: Row,
}

impl State {
    /// The answer of a query: one exact list. Of a query with PAGE, it is the whole list that the pages make.
    pub fn query(
        &self,
        model: &Model,
        query: &Query,
        parameters: &Parameters,
        now: Timestamp,
    ) -> Result<Vec<Row>, QueryError> {
        let bound = bind(&model.conceptual, &query.parameters, parameters)?;
        let mut rows = self.ordered(model, query, &bound, now)?;
        if let Some(limit @ Limit::Rows(_)) = &query.limit {
            rows.truncate(limit::rows(limit, &bound)?);
        }
        Ok(rows.into_iter().map(|placed| placed.row).collect())
    }

    /// The rows of a query that does not group, each with what identifies it at every position.
    pub fn identified(
        &self,
        model: &Model,
        query: &Query,
        parameters: &Parameters,
        now: Timestamp,
    ) -> Result<Vec<IdentifiedRow>, QueryError> {
        let bound = bind(&model.conceptual, &query.parameters, parameters)?;
        let rows = self.ordered(model, query, &bound, now)?.into_iter();
        let identified = |placed: Placed| match placed.key.identity {
            RowIdentity::Positions(identity) => Some((identity, placed.row)),
            RowIdentity::Group(_) => None,
        };
        Ok(rows.filter_map(identified).collect())
    }

    /// Every row in order, before LIMIT or PAGE; of each group of `LIMIT … PER` the first ones.
    pub(crate) fn ordered(
        &self,
        model: &Model,
        query: &Query,
        parameters: &[Value],
        now: Timestamp,
    ) -> Result<Vec<Placed>, QueryError> {
        let live = self.live(&model.conceptual, now);
        let view = View::new(&model.conceptual, &live);
        let mut rows = view.join(&query.positions);
        let classes: Vec<Option<ClassId>> =
            query.positions.iter().map(|(_, position)| position.class).collect();
        rows.retain(|row| {
            Asked { view: &view, row, parameters, classes: &classes }.holds(query.condition.as_ref())
        });
        let mut placed: Vec<Placed> = match is_grouped(query) {
            true => {
                let groups = view.group(rows, &query.group_by);
                groups.iter().map(|group| place_group(&view, query, group)).collect::<Result<_, _>>()?
            }
            false => rows.iter().map(|row| place_row(&view, query, row)).collect(),
        };
        placed.sort_by(|a, b| a.key.compare(&b.key, &query.order_by));
        if let Some(per_group) = &query.per_group {
            placed = first_of_each(placed, limit::count(&per_group.rows, parameters)?);
        }
        Ok(placed)
    }
}

/// The first rows of each group, in the order in which they were.
fn first_of_each(rows: Vec<Placed>, most: usize) -> Vec<Placed> {
    let mut kept: Vec<Placed> = Vec::new();
    for row in rows {
        let before = kept.iter().filter(|other| other.group == row.group).count();
        if before < most {
            kept.push(row);
        }
    }
    kept
}

fn place_row<'s>(view: &View<'s>, query: &Query, row: &Joined<'s>) -> Placed {
    let order = query.order_by.iter().map(|term| match &term.by {
        OrderBy::Path(path) => view.value(row, path),
        // Only groups are ordered by aggregates.
        OrderBy::Aggregate(_) => Value::Null,
    });
    let columns = query.columns.iter().map(|column| match &column.value {
        ColumnValue::Path(path) => view.value(row, path),
        ColumnValue::Whole(position) => {
            let node = row.get(position.index()).and_then(Option::as_ref);
            node.map_or(Value::Null, |node| node.whole())
        }
        ColumnValue::Aggregate(_) => Value::Null,
    });
    let identity = row.iter().map(|node| node.as_ref().map(|node| node.identity.clone())).collect();
    Placed {
        key: Key { order: order.collect(), identity: RowIdentity::Positions(identity) },
        group: query.per_group_paths().map(|path| view.value(row, path)).collect(),
        row: columns.collect(),
    }
}

fn place_group<'s>(view: &View<'s>, query: &Query, group: &Group<'s>) -> Result<Placed, QueryError> {
    let order = query.order_by.iter().map(|term| match &term.by {
        OrderBy::Path(path) => Ok(group.value(&query.group_by, path)),
        OrderBy::Aggregate(aggregate) => view.aggregate(group, aggregate),
    });
    let columns = query.columns.iter().map(|column| match &column.value {
        ColumnValue::Path(path) => Ok(group.value(&query.group_by, path)),
        ColumnValue::Aggregate(aggregate) => view.aggregate(group, aggregate),
        // Whole instances are never grouped by.
        ColumnValue::Whole(_) => Ok(Value::Null),
    });
    Ok(Placed {
        key: Key {
            order: order.collect::<Result<_, _>>()?,
            identity: RowIdentity::Group(group.values.clone()),
        },
        // `LIMIT … PER` counts single rows.
        group: Vec::new(),
        row: columns.collect::<Result<_, _>>()?,
    })
}
