//! What the embedded store can do. Its limits are constants of `askloom_embedded::store`, and a test there compares.

use askloom_model::{AtomicUnit, Capability, Fact, Held, Limits, SnapshotReads, Transaction, Words};

const STORE: &str = "askloom_embedded::store, the contract in its documentation";

pub static CAPABILITY: Capability = Capability {
    target: "embedded",
    title: "the embedded store",
    words: Words {
        collection: "key prefix",
        packed_block: "key",
        spread_block: "keys under one prefix",
        entry: "key",
        heading: "COLLECTION",
        block: "block",
        block_key: "block",
        entry_key: "sorted by",
        records: "entries",
        kept: "stored",
        own_index: "index",
        own_key: None,
    },
    // A batch holds any keys, and is applied as a whole if its conditions hold.
    atomic: Fact::new(AtomicUnit::Store, STORE),
    transaction: Some(Fact::new(
        Transaction { records: None, bytes: Some(256 << 20) },
        "askloom_embedded::store::MAX_BATCH",
    )),
    limits: Limits {
        // One key holds collection, block and entry.
        block_key: Some(Fact::new(63 << 10, "askloom_embedded::store::MAX_KEY")),
        entry_key: Some(Fact::new(63 << 10, "askloom_embedded::store::MAX_KEY, with the block key")),
        record: Some(Fact::new(64 << 20, "askloom_embedded::store::MAX_VALUE")),
        aggregate: Held::Entries,
        block: None,
        advised_block: None,
        page: None,
        batch_get: None,
        heat: None,
    },
    indexes: None,
    ordered: Fact::new(true, STORE),
    scan: Fact::new(true, STORE),
    shares_tables: false,
    search: None,
    snapshot: Fact::new(SnapshotReads::Always, STORE),
    // Filters run in the same process either way.
    pushes: &[],
    expiry: None,
    request: None,
};
