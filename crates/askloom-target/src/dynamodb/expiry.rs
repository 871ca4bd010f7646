//! The attribute by which DynamoDB takes away what has expired.

use super::read::Bound;
use super::schema::System;
use super::value::Dynamo;
use super::write::{STAMP, number, slot};
use crate::program::{Batch, Change, later_seconds, millis};

const GOES: &str = "expires+1hour";

/// When DynamoDB may take the aggregate away, which is some time after it has expired.
pub(super) fn expires(system: &System, change: &Change) -> Option<(String, Bound)> {
    let at = &change.expires.as_ref()?.at;
    let seconds = millis(at).map(|at| at.div_euclid(1000).saturating_add_unsigned(later_seconds()));
    let known = seconds.map(|seconds| Bound::Value(Dynamo::N(seconds.to_string())));
    Some((system.expires.clone()?, known.unwrap_or_else(|| slot(GOES, "N"))))
}

/// The same of an item that joins an aggregate later.
pub(super) fn later(system: &System) -> Option<(String, Bound)> {
    Some((system.expires.clone()?, slot(GOES, "N")))
}

/// The version of a new aggregate. What expires goes with its version, which is the clock's for that reason: what is made
/// afterwards in its place has a higher one.
pub(super) fn first(batch: &Batch, expires: bool) -> Bound {
    if expires { number(batch.seen.stamp, STAMP) } else { Bound::Value(Dynamo::N("1".to_owned())) }
}
