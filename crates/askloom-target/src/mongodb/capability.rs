//! What MongoDB can do: a replica set, since a lone server has no transactions.

use askloom_model::{
    AtomicUnit, Capability, Expiry, Fact, Held, Limits, NativeIndexes, Operator, Push, PushedType,
    SnapshotReads, Transaction, Words,
};

pub static CAPABILITY: Capability = Capability {
    target: "mongodb",
    title: "MongoDB",
    words: Words {
        collection: "collection",
        packed_block: "document",
        spread_block: "documents with one key prefix",
        entry: "field",
        heading: "COLLECTION",
        block: "key prefix",
        block_key: "_id",
        entry_key: "index",
        records: "documents",
        kept: "on disk",
        own_index: "index",
    },
    atomic: Fact::new(
        AtomicUnit::Record,
        "MongoDB manual, \"Atomicity and Transactions\": a write is atomic on one document",
    ),
    transaction: Some(Fact::new(
        Transaction { records: Some(1_000), bytes: None },
        "MongoDB, \"Performance Best Practices: Transactions\": no more than 1,000 documents; 60 seconds by default",
    )),
    limits: Limits {
        block_key: None,
        entry_key: None,
        record: Some(Fact::new(
            16 << 20,
            "MongoDB manual, \"MongoDB Limits and Thresholds\": 16 megabytes a BSON document",
        )),
        aggregate: Held::Whole,
        block: None,
        advised_block: None,
        page: Some(Fact::new(
            16 << 20,
            "MongoDB manual, \"Cursors\": a batch is at most as large as a BSON document",
        )),
        batch_get: Some(Fact::new(
            100_000,
            "keys of one $in: the statement is a BSON document of 16 megabytes, 160 bytes for each key",
        )),
        heat: None,
    },
    indexes: Some(Fact::new(
        NativeIndexes { most: 64, local: None, lag: false, computed: false },
        "MongoDB manual, \"MongoDB Limits and Thresholds\": 64 indexes a collection, written with the document",
    )),
    ordered: Fact::new(true, "MongoDB manual, \"Indexes\": ordered, with range queries"),
    scan: Fact::new(true, "MongoDB manual, \"Query Plans\": a collection scan"),
    search: None,
    snapshot: Fact::new(
        SnapshotReads::InSession,
        "MongoDB manual, \"Read Concern snapshot\": reads of one session at one point in time",
    ),
    pushes: &[
        Push {
            operator: Operator::Equal,
            types: &[PushedType::Text, PushedType::Int, PushedType::Long, PushedType::Bool],
            said: "MongoDB manual, \"Collation\": without one, strings are compared by their bytes",
        },
        Push {
            operator: Operator::Order,
            types: &[PushedType::Int, PushedType::Long],
            said: "MongoDB manual, \"Comparison/Sort Order\": integers by their value",
        },
    ],
    expiry: Some(Fact::new(
        Expiry::PerRecord,
        "MongoDB manual, \"TTL Indexes\": deletes in the background, every 60 seconds",
    )),
    request: None,
};
