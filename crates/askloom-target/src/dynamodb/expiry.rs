//! The attribute by which DynamoDB takes away what has expired.

use super::read::Bound;
use super::schema::System;
use super::value::Dynamo;
use super::write::{STAMP, Write, number, slot};
use askloom_plan::layout::Block;
use askloom_plan::program::{Batch, Change, Expires, Version, later_seconds, millis};

const GOES: &str = "expires+1hour";

/// When DynamoDB may take the aggregate away, which is some time after it has expired.
pub(super) fn expires(system: &System, change: &Change) -> Option<(String, Bound)> {
    let known = seconds(change.expires.as_ref()?).map(Bound::Value);
    Some((system.expires.clone()?, known.unwrap_or_else(|| slot(GOES, "N"))))
}

/// The same of an aggregate that is put in as it stands.
pub(super) fn of_block(system: &System, block: &Block) -> Option<(String, Dynamo)> {
    Some((system.expires.clone()?, seconds(block.expires.as_ref()?)?))
}

fn seconds(expires: &Expires) -> Option<Dynamo> {
    let seconds = millis(&expires.at)?.div_euclid(1000).saturating_add_unsigned(later_seconds());
    Some(Dynamo::N(seconds.to_string()))
}

/// An item that joins an aggregate goes when that does.
pub(super) fn with(write: Write, at: Option<(String, Bound)>) -> Write {
    match write {
        Write::Put { table, mut item, only } => {
            item.extend(at);
            Write::Put { table, item, only }
        }
        Write::Update { .. } | Write::Delete { .. } | Write::Transaction { .. } | Write::Batch { .. } => {
            write
        }
    }
}

/// Whether a write of the version that was read may make the first one.
pub(super) fn is_first(version: Version) -> bool {
    match version {
        Version::Slot | Version::Absent => true,
        Version::Read(_) => false,
    }
}

/// The version of a new aggregate. What expires goes with its version, which is the clock's for that reason: what is made
/// afterwards in its place has a higher one.
pub(super) fn first(batch: &Batch, expires: bool) -> Bound {
    if expires { number(batch.preconditions.stamp, STAMP) } else { Bound::Value(Dynamo::N("1".to_owned())) }
}
