//! LIMIT and PAGE: how much of the ordered list is given, and where it goes on.

use super::{Row, Scene, compare, count};
use crate::RunError;
use askloom_model::{Limit, Query, Value};
use std::cmp::Ordering;

/// Where a page ended: the order values and the identity of its last row. The next page is what follows it in the
/// state of then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Continuation {
    pub order: Vec<Value>,
    pub identity: Vec<Value>,
}

type Keyed = (Vec<Value>, Row);

pub(super) fn cut(
    scene: &Scene<'_>,
    query: &Query,
    mut rows: Vec<Keyed>,
    after: Option<&Continuation>,
) -> Result<(Vec<Keyed>, Option<Continuation>), RunError> {
    if let Some(after) = after {
        rows.retain(|(order, row)| {
            compare(&query.order_by, order, &after.order, &row.keys, &after.identity) == Ordering::Greater
        });
    }
    match &query.limit {
        None => Ok((rows, None)),
        Some(Limit::Rows(operand)) => {
            rows.truncate(count(scene, operand)?);
            Ok((rows, None))
        }
        Some(Limit::Page(operand)) => {
            let most = count(scene, operand)?;
            let more = rows.len() > most;
            rows.truncate(most);
            let last = rows.last().filter(|_| more);
            let next =
                last.map(|(order, row)| Continuation { order: order.clone(), identity: row.keys.clone() });
            Ok((rows, next))
        }
    }
}
