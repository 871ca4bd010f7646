//! What DynamoDB can do. Its documentation counts in powers of two: 1 KB is 1,024 bytes.

use askloom_model::{
    AtomicUnit, Capability, Expiry, Fact, Heat, Held, IndexKeys, Limits, LocalIndexes, NativeIndexes,
    Operator, Push, PushedType, SnapshotReads, Transaction, Words,
};

const FILTERED: &str = "DynamoDB Developer Guide, \"Comparison operator and function reference\": N by value, S by its UTF-8 bytes";

pub static CAPABILITY: Capability = Capability {
    target: "dynamodb",
    title: "DynamoDB",
    words: Words {
        collection: "table",
        packed_block: "item",
        spread_block: "items of one partition key",
        entry: "item",
        heading: "TABLE",
        block: "partition key",
        block_key: "PK",
        entry_key: "SK",
        records: "items",
        kept: "stored",
        own_index: "secondary index",
        own_key: None,
    },
    atomic: Fact::new(
        AtomicUnit::Record,
        "DynamoDB Developer Guide, \"Condition expressions\": a write of one item, with its condition",
    ),
    transaction: Some(Fact::new(
        Transaction { records: Some(100), bytes: Some(4 << 20) },
        "DynamoDB API Reference, TransactWriteItems: up to 100 actions, 4 MB, no item twice",
    )),
    limits: Limits {
        block_key: Some(Fact::new(
            2_048,
            "DynamoDB Developer Guide, \"Constraints\": partition key, 2048 bytes",
        )),
        entry_key: Some(Fact::new(1_024, "DynamoDB Developer Guide, \"Constraints\": sort key, 1024 bytes")),
        record: Some(Fact::new(400 << 10, "DynamoDB Developer Guide, \"Constraints\": item size, 400 KB")),
        aggregate: Held::Lists,
        // 10 GB only where a table has a local secondary index.
        block: None,
        advised_block: None,
        page: Some(Fact::new(1 << 20, "DynamoDB API Reference, Query and Scan: 1 MB a page")),
        batch_get: Some(Fact::new(100, "DynamoDB API Reference, BatchGetItem: up to 100 items, 16 MB")),
        heat: Some(Fact::new(
            Heat { reads: 3_000, writes: 1_000, read_bytes: 4_096, write_bytes: 1_024, lagging: 0.5 },
            "DynamoDB Developer Guide, \"Designing partition keys\": 3,000 read and 1,000 write units a second for a partition key; an eventually consistent read is half a unit",
        )),
    },
    indexes: Some(Fact::new(
        NativeIndexes {
            most: 20,
            local: Some(LocalIndexes { most: 5, block: 10 << 30 }),
            lag: true,
            keys: IndexKeys::Computed,
        },
        "DynamoDB Developer Guide, \"Quotas\": 20 global secondary indexes a table, eventually consistent; 5 local ones, then 10 GB a partition key",
    )),
    ordered: Fact::new(true, "DynamoDB API Reference, Query: items in the order of the sort key"),
    scan: Fact::new(true, "DynamoDB API Reference, Scan"),
    shares_tables: true,
    search: None,
    snapshot: Fact::new(
        SnapshotReads::Never,
        "DynamoDB Developer Guide, \"Isolation levels\": a Query or Scan as a unit is read-committed",
    ),
    pushes: &[
        Push {
            operator: Operator::Equal,
            types: &[PushedType::Text, PushedType::Int, PushedType::Long, PushedType::Bool],
            said: FILTERED,
        },
        Push {
            operator: Operator::Order,
            types: &[PushedType::Text, PushedType::Int, PushedType::Long],
            said: FILTERED,
        },
        Push { operator: Operator::StartsWith, types: &[PushedType::Text], said: FILTERED },
    ],
    expiry: Some(Fact::new(
        Expiry::PerRecord,
        "DynamoDB Developer Guide, \"Time to Live\": an item, within a few days of the time in an attribute",
    )),
    request: Some(Fact::new(
        5.0,
        "assumed: DynamoDB Developer Guide, \"What is Amazon DynamoDB?\", promises single-digit milliseconds",
    )),
};
