//! Pages of a list that may change between them.

use crate::error::QueryError;
use crate::limit;
use crate::order::{Key, RowIdentity};
use crate::parameters::{Parameters, bind};
use crate::query::Row;
use crate::state::State;
use askloom_model::{Limit, Model, Query};
use jiff::Timestamp;
use std::cmp::Ordering;

/// Where a page ended: the order values and the identity of its last row. Opaque to whoever holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Continuation {
    last: Key,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    pub rows: Vec<Row>,
    /// For the next page; nothing if no row follows.
    pub next: Option<Continuation>,
}

impl State {
    /// The first page, or what follows a continuation in the state of now.
    pub fn page(
        &self,
        model: &Model,
        query: &Query,
        parameters: &Parameters,
        now: Timestamp,
        after: Option<&Continuation>,
    ) -> Result<Page, QueryError> {
        let Some(limit @ Limit::Page(_)) = &query.limit else { return Err(QueryError::BadLimit) };
        let bound = bind(&model.conceptual, &query.parameters, parameters)?;
        let size = limit::rows(limit, &bound)?;
        let mut rows = self.ordered(model, query, &bound, now)?;
        if let Some(Continuation { last }) = after {
            check(query, last)?;
            rows.retain(|placed| placed.key.compare(last, &query.order_by) == Ordering::Greater);
        }
        let more = rows.len() > size;
        rows.truncate(size);
        let last = rows.last().filter(|_| more).map(|placed| placed.key.clone());
        Ok(Page {
            rows: rows.into_iter().map(|placed| placed.row).collect(),
            next: last.map(|last| Continuation { last }),
        })
    }
}

/// A continuation has as many order values and parts of an identity as the query.
fn check(query: &Query, last: &Key) -> Result<(), QueryError> {
    let parts = match &last.identity {
        RowIdentity::Positions(parts) => parts.len() == query.positions.len(),
        RowIdentity::Group(values) => values.len() == query.group_by.len(),
    };
    match parts && last.order.len() == query.order_by.len() {
        true => Ok(()),
        false => Err(QueryError::BadContinuation),
    }
}
