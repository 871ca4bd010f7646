//! LIMIT and PAGE: how much of the ordered list is given, and where it goes on.

use super::{Row, Scene, compare, count};
use crate::{RunError, Stop};
use askloom_model::{Limit, Query, Value, fault};
use askloom_plan::ordered_bytes::{decode, encode};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// Where a page ended: the order values and the identity of its last row. The next page is what follows it in the
/// state of then. As text it is opaque; whoever holds it gives it back as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Continuation {
    pub order: Vec<Value>,
    pub identity: Vec<Value>,
}

/// Longer texts are refused unread. The largest key of an instance is far below.
const MAX_TEXT: usize = 64 * 1024;
/// The first byte, so that another form can be told from this one.
const FORM: u8 = 1;

impl fmt::Display for Continuation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = vec![FORM];
        for part in [&self.order, &self.identity] {
            let length = u32::try_from(part.len()).unwrap_or(u32::MAX);
            bytes.extend(length.to_be_bytes());
            for value in part {
                encode(value, &mut bytes);
            }
        }
        f.write_str(&URL_SAFE_NO_PAD.encode(bytes))
    }
}

impl FromStr for Continuation {
    type Err = RunError;

    fn from_str(text: &str) -> Result<Self, RunError> {
        if text.len() > MAX_TEXT {
            return Err(RunError::BadContinuation);
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| RunError::BadContinuation)?;
        let mut rest = bytes.as_slice();
        let Some((&FORM, after)) = rest.split_first() else { return Err(RunError::BadContinuation) };
        rest = after;
        let order = values(&mut rest)?;
        let identity = values(&mut rest)?;
        if rest.is_empty() { Ok(Self { order, identity }) } else { Err(RunError::BadContinuation) }
    }
}

fn values(rest: &mut &[u8]) -> Result<Vec<Value>, RunError> {
    let (length, after) = rest.split_first_chunk::<4>().ok_or(RunError::BadContinuation)?;
    *rest = after;
    let mut values = Vec::new();
    for _ in 0..u32::from_be_bytes(*length) {
        values.push(decode(rest).map_err(|_| RunError::BadContinuation)?);
    }
    Ok(values)
}

/// A row until the answer.
#[derive(Debug)]
pub(super) enum Kept {
    /// Boxed, since most rows have columns already, and all are moved several times.
    Row(Box<Row>),
    /// What the answer has of it.
    Columns(Vec<Value>),
}

/// A row, and what places it among the others.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) order: Vec<Value>,
    pub(super) identity: Vec<Value>,
    /// What `LIMIT … PER` counts it by.
    pub(super) group: Vec<Value>,
    pub(super) row: Kept,
}

impl Placed {
    /// A row that nothing places.
    pub(super) fn new(row: Kept) -> Self {
        Self { order: Vec::new(), identity: Vec::new(), group: Vec::new(), row }
    }

    /// Keeps no more of the page that the row comes from than its own entry.
    pub(super) fn leave_page(&mut self) {
        match &mut self.row {
            Kept::Row(row) => row.leave_page(),
            Kept::Columns(_) => {}
        }
    }
}

/// A continuation has as many order values and parts of an identity as the query's rows.
pub(super) fn check(query: &Query, after: &Continuation, grouped: bool) -> Result<(), RunError> {
    let parts = if grouped { query.group_by.len() } else { query.row_identity().len() };
    let paged = matches!(query.limit, Some(Limit::Page(_)));
    let fits = paged && after.order.len() == query.order_by.len() && after.identity.len() == parts;
    if fits { Ok(()) } else { Err(RunError::BadContinuation) }
}

/// No more rows than LIMIT asks for.
pub(super) fn limit(scene: &Scene<'_>, query: &Query, rows: &mut Vec<Placed>) -> Result<(), Stop> {
    if let Some(Limit::Rows(operand)) = &query.limit {
        rows.truncate(count(scene, operand)?);
    }
    Ok(())
}

/// The part of an ordered list that is asked for, and where the next one starts.
pub(super) fn cut(
    scene: &Scene<'_>,
    query: &Query,
    mut rows: Vec<Placed>,
    after: Option<&Continuation>,
) -> Result<(Vec<Kept>, Option<Continuation>), Stop> {
    if let Some(after) = after {
        rows.retain(|row| {
            compare(&query.order_by, &row.order, &after.order, &row.identity, &after.identity)
                == Ordering::Greater
        });
    }
    let next = match &query.limit {
        None | Some(Limit::Rows(_)) => {
            limit(scene, query, &mut rows)?;
            None
        }
        Some(Limit::Page(operand)) => {
            let most = count(scene, operand)?;
            let more = rows.len() > most;
            rows.truncate(most);
            let last = rows.last().filter(|_| more);
            let last = if fault!(PageSkips) { rows.first().filter(|_| more) } else { last };
            last.map(|row| Continuation { order: row.order.clone(), identity: row.identity.clone() })
        }
    };
    Ok((rows.into_iter().map(|row| row.row).collect(), next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_continuation_survives_being_text() {
        let continuation = Continuation {
            order: vec![Value::Null, Value::Text("a\0é".to_owned()), Value::Double(-0.5)],
            identity: vec![Value::Reference(vec![Value::Int(7), Value::Text(String::new())]), Value::Int(3)],
        };
        let text = continuation.to_string();
        assert!(text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'), "{text}");
        assert_eq!(text.parse(), Ok(continuation));
    }

    #[test]
    fn foreign_text_is_an_error() {
        let good = Continuation { order: vec![Value::Int(1)], identity: vec![Value::Int(2)] }.to_string();
        let mut wrong = vec![String::new(), "!".to_owned(), "AAAA".to_owned(), "A".repeat(MAX_TEXT + 4)];
        wrong.push(good[..good.len() - 4].to_owned());
        wrong.push(format!("{good}AAAA"));
        // A list that claims to be long, without anything in it.
        wrong.push(URL_SAFE_NO_PAD.encode([FORM, 0xff, 0xff, 0xff, 0xff]));
        for text in wrong {
            assert_eq!(text.parse::<Continuation>(), Err(RunError::BadContinuation), "{text}");
        }
    }
}
