//! Which values a query needs.

use askloom_model::{Aggregate, ColumnValue, OrderBy, Path, PositionId, Query};

/// Every path whose value the query needs, each once, in the order of the clauses.
#[must_use]
pub fn needed_paths(query: &Query) -> Vec<Path> {
    let mut paths = Vec::new();
    for column in &query.columns {
        match &column.value {
            ColumnValue::Path(path) => paths.push(path.clone()),
            ColumnValue::Aggregate(aggregate) => paths.extend(aggregate.of.clone()),
            ColumnValue::Whole(_) => {}
        }
    }
    if let Some(condition) = &query.condition {
        paths.extend(condition.paths().into_iter().cloned());
    }
    paths.extend(query.group_by.iter().cloned());
    for term in &query.order_by {
        match &term.by {
            OrderBy::Path(path) => paths.push(path.clone()),
            OrderBy::Aggregate(aggregate) => paths.extend(aggregate.of.clone()),
        }
    }
    paths.extend(query.per_group_paths().cloned());
    let mut seen = std::collections::HashSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    paths
}

/// The positions of which the query wants the whole instance.
#[must_use]
pub fn needs_whole(query: &Query) -> Vec<PositionId> {
    let whole = |value: &ColumnValue| match value {
        ColumnValue::Whole(position) => Some(*position),
        ColumnValue::Path(_) | ColumnValue::Aggregate(_) => None,
    };
    query.columns.iter().filter_map(|column| whole(&column.value)).collect()
}

pub(super) fn aggregates(query: &Query) -> bool {
    let column = query.columns.iter().any(|column| matches!(column.value, ColumnValue::Aggregate(_)));
    column || query.order_by.iter().any(|term| matches!(term.by, OrderBy::Aggregate(Aggregate { .. })))
}
