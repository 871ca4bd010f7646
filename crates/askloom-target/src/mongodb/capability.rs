//! What MongoDB can do: a replica set, since a lone server has no transactions.

use askloom_model::{
    AtomicUnit, Capability, Expiry, Fact, Held, IndexKeys, IndexedFields, KeyType, Limits, NativeIndexes,
    Operator, Push, PushedType, SnapshotReads, StoredKeys, Transaction, Words,
};

/// MongoDB manual, "Comparison/Sort Order": null, to which a missing field is equal, before numbers, each by its value,
/// texts by their bytes, BinData by its length and then its bytes, of which a uuid always has 16, false before true,
/// dates. What a master stores of each type is in `value.rs`; a time is a text that sorts as times do.
///
/// An enum is its name there, which does not sort as declared. Doubles are left out, as `-0.0` equals `0.0` there alone;
/// blobs, as the shorter one comes first; a place and JSON, as they are documents and may be lists.
const INDEXED: StoredKeys = StoredKeys {
    equal: &[
        KeyType::Text,
        KeyType::Int,
        KeyType::Long,
        KeyType::Decimal,
        KeyType::Bool,
        KeyType::Date,
        KeyType::Time,
        KeyType::Timestamp,
        KeyType::Uuid,
        KeyType::Enum,
    ],
    ordered: &[
        KeyType::Text,
        KeyType::Int,
        KeyType::Long,
        KeyType::Decimal,
        KeyType::Bool,
        KeyType::Date,
        KeyType::Time,
        KeyType::Timestamp,
        KeyType::Uuid,
    ],
    of: IndexedFields::Several,
    longest: None,
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
        own_key: Some("fields"),
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
        // One of the 64 is that of `_id`, one that by which aggregates expire.
        NativeIndexes { most: 62, local: None, lag: false, keys: IndexKeys::Stored(INDEXED) },
        "MongoDB manual, \"MongoDB Limits and Thresholds\": 64 indexes a collection, written with the document",
    )),
    ordered: Fact::new(true, "MongoDB manual, \"Indexes\": ordered, with range queries"),
    scan: Fact::new(true, "MongoDB manual, \"Query Plans\": a collection scan"),
    shares_tables: false,
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
