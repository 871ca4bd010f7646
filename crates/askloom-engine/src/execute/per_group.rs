//! `LIMIT … PER`: of each group of the ordered rows, the first ones.

use super::page::Placed;
use super::{Row, Scene, count};
use crate::Stop;
use askloom_model::{Query, Value, fault};
use std::collections::HashMap;

/// What a row is grouped by.
pub(super) fn group(scene: &Scene<'_>, query: &Query, row: &Row) -> Result<Vec<Value>, Stop> {
    if query.per_group.is_none() {
        return Ok(Vec::new());
    }
    query.per_group_paths().map(|path| scene.single(path, row)).collect()
}

/// The rows that are left, in their order. Null is a group.
///
/// All rows have to be there: a row that a page or LIMIT leaves out still counts for its group.
pub(super) fn cut(scene: &Scene<'_>, query: &Query, mut rows: Vec<Placed>) -> Result<Vec<Placed>, Stop> {
    let Some(per_group) = &query.per_group else { return Ok(rows) };
    let most = count(scene, &per_group.rows)?;
    let mut taken: HashMap<Vec<Value>, usize> = HashMap::new();
    rows.retain_mut(|row| {
        if fault!(NullNotCounted) && row.group.iter().any(Value::is_null) {
            return true;
        }
        let before = taken.entry(std::mem::take(&mut row.group)).or_default();
        let is_kept = *before < most;
        *before += usize::from(is_kept);
        is_kept
    });
    Ok(rows)
}
