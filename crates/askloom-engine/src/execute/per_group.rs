//! `LIMIT … PER`: of each group of the ordered rows, the first ones.

use super::page::Placed;
use super::{Row, Scene, count};
use crate::Stop;
use askloom_model::{Query, Value, fault};
use std::collections::HashMap;

/// Makes sure that what a row is grouped by is at hand.
pub(super) fn touch(scene: &Scene<'_>, query: &Query, row: &Row) -> Result<(), Stop> {
    for path in query.per_group.iter().flat_map(|per_group| &per_group.by) {
        scene.single(path, row)?;
    }
    Ok(())
}

/// The rows that are left, in their order. Null is a group.
///
/// All rows have to be there: a row that a page or LIMIT leaves out still counts for its group.
pub(super) fn cut(
    scene: &Scene<'_>,
    query: &Query,
    rows: Vec<Placed<Row>>,
) -> Result<Vec<Placed<Row>>, Stop> {
    let Some(per_group) = &query.per_group else { return Ok(rows) };
    let most = count(scene, &per_group.rows)?;
    let mut taken: HashMap<Vec<Value>, usize> = HashMap::new();
    let mut kept = Vec::new();
    for row in rows {
        let group: Vec<Value> =
            per_group.by.iter().map(|path| scene.single(path, &row.row)).collect::<Result<_, _>>()?;
        if fault!(NullNotCounted) && group.iter().any(Value::is_null) {
            kept.push(row);
            continue;
        }
        let before = taken.entry(group).or_default();
        if *before < most {
            *before += 1;
            kept.push(row);
        }
    }
    Ok(kept)
}
