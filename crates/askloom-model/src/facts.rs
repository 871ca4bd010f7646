//! The facts of a store one by one, for whoever wants to see where they come from.

use crate::{
    AtomicUnit, Capability, Charging, Expiry, Fact, IndexKeys, IndexedFields, Profile, SnapshotReads,
};
use serde::Serialize;

/// A fact in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Said {
    pub about: &'static str,
    pub value: String,
    pub said: &'static str,
}

fn said<T: ToString>(about: &'static str, fact: Fact<T>) -> Said {
    Said { about, value: fact.value.to_string(), said: fact.said }
}

fn words(about: &'static str, value: &str, said: &'static str) -> Said {
    Said { about, value: value.to_owned(), said }
}

impl Capability {
    /// Every fact, in the order of the table.
    #[must_use]
    pub fn facts(&self) -> Vec<Said> {
        let atomic = match self.atomic.value {
            AtomicUnit::Store => "any records",
            AtomicUnit::Block => "one block",
            AtomicUnit::Record => "one record",
        };
        let mut facts = vec![words("changes at once", atomic, self.atomic.said)];
        facts.push(match self.transaction {
            Some(fact) => {
                let bound = |bound: Option<u64>, unit: &str| {
                    bound.map_or_else(|| format!("any {unit}"), |bound| format!("{bound} {unit}"))
                };
                let most =
                    format!("{}, {}", bound(fact.value.records, "records"), bound(fact.value.bytes, "bytes"));
                Said { about: "transaction", value: most, said: fact.said }
            }
            None => words("transaction", "none", self.atomic.said),
        });
        let limits = [
            ("block key, bytes", self.limits.block_key),
            ("entry key, bytes", self.limits.entry_key),
            ("record, bytes", self.limits.record),
            ("block, bytes", self.limits.block),
            ("advised block, bytes", self.limits.advised_block),
            ("page, bytes", self.limits.page),
            ("keys in one get", self.limits.batch_get),
        ];
        facts.extend(limits.into_iter().filter_map(|(about, limit)| Some(said(about, limit?))));
        facts.extend(self.indexes.map(|fact| {
            let lag = if fact.value.lag { "may lag" } else { "never lag" };
            let leads = match fact.value.keys {
                IndexKeys::Computed => "",
                IndexKeys::Stored(keys) => match keys.of {
                    IndexedFields::Several => ", of stored fields",
                    IndexedFields::One => ", each of one stored field, in no order",
                },
            };
            Said {
                about: "own indexes",
                value: format!("{} a collection, {lag}{leads}", fact.value.most),
                said: fact.said,
            }
        }));
        facts.push(said("ranges in order", self.ordered));
        facts.push(said("scans", self.scan));
        facts.extend(self.search.map(|fact| {
            let by: Vec<&str> = fact.value.by.iter().map(|operator| operator.word()).collect();
            let order = if fact.value.ordered { ", in one order" } else { "" };
            Said { about: "searches", value: format!("{}{order}", by.join(", ")), said: fact.said }
        }));
        let snapshot = match self.snapshot.value {
            SnapshotReads::Always => "always",
            SnapshotReads::InSession => "in a session",
            SnapshotReads::OneRequest => "within one request",
            SnapshotReads::Never => "never",
        };
        facts.push(words("snapshot reads", snapshot, self.snapshot.said));
        facts.extend(self.expiry.map(|fact| {
            let expiry = match fact.value {
                Expiry::PerRecord => "at a time that a record names",
                Expiry::PerWrite => "so long after a write",
            };
            words("expiry", expiry, fact.said)
        }));
        facts
    }
}

impl Profile {
    /// Every number, in the order of the table.
    #[must_use]
    pub fn facts(&self) -> Vec<Said> {
        let mut facts: Vec<Said> = match self.charging {
            Charging::Linear(c) => vec![
                said("step that reads", c.read_step),
                said("request that reads", c.read_request),
                said("partition", c.partition),
                said("row", c.row),
                said("byte read", c.byte_read),
                said("request that writes", c.write_request),
                said("put", c.put),
                said("delete", c.delete),
                said("byte written", c.byte_written),
                said("row to filter", c.client.filter),
                said("rows to compare", c.client.compare),
                said("row to group", c.client.group),
                said("sort", c.client.sort),
            ],
            Charging::Units(u) => vec![
                said("bytes of a read unit", u.read_bytes),
                said("bytes of a write unit", u.write_bytes),
                said("times in a transaction", u.transaction),
                said("times for a lagging read", u.lagging),
                said("read unit", u.read_price),
                said("write unit", u.write_price),
            ],
        };
        facts.extend(self.storage.map(|fact| said("gigabyte a month", fact)));
        facts
    }
}
