//! What Oracle NoSQL Database can do, by its key-value API. No server of it is in any package registry: nothing of this
//! has been run.

use askloom_model::{AtomicUnit, Capability, Fact, Held, Limits, SnapshotReads, Words};

pub static CAPABILITY: Capability = Capability {
    target: "oracle-nosql",
    title: "Oracle NoSQL",
    words: Words {
        collection: "major key prefix",
        packed_block: "major key",
        spread_block: "major key",
        entry: "minor key",
        heading: "KEYS",
        block: "major key",
        block_key: "major key",
        entry_key: "minor key",
        records: "pairs",
        kept: "on disk",
        own_index: "index",
        own_key: None,
    },
    atomic: Fact::new(
        AtomicUnit::Block,
        "Oracle NoSQL Database Java API, KVStore.execute: operations under one major path are one transaction",
    ),
    transaction: None,
    // Of one's own servers the documentation gives advice on sizes, and no number.
    limits: Limits {
        block_key: None,
        entry_key: None,
        record: Some(Fact::new(
            512 << 10,
            "Oracle NoSQL Database Cloud Service, limits: a row is at most 512 KB",
        )),
        aggregate: Held::Entries,
        block: Some(Fact::new(
            25 << 20,
            "Oracle NoSQL Database Cloud Service, limits: a request that writes several is at most 25 MB",
        )),
        advised_block: None,
        page: None,
        batch_get: None,
        heat: None,
    },
    indexes: None,
    ordered: Fact::new(
        true,
        "Oracle NoSQL Database Java API, KVStore.multiGetIterator: a KeyRange, forward or in reverse",
    ),
    scan: Fact::new(true, "Oracle NoSQL Database Java API, KVStore.storeIterator"),
    shares_tables: false,
    search: None,
    snapshot: Fact::new(
        SnapshotReads::OneRequest,
        "Oracle NoSQL Database Java API, Key: all of a multiple operation is in one transaction",
    ),
    pushes: &[],
    expiry: None,
    request: None,
};
