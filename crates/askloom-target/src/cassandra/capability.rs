//! What Cassandra can do.

use askloom_model::{AtomicUnit, Capability, Expiry, Fact, Held, Limits, SnapshotReads, Words};

const CQL_LIMITS: &str = "DataStax CQL reference, \"Limitations\": a key or clustering column, 65,535 bytes";

pub static CAPABILITY: Capability = Capability {
    target: "cassandra",
    title: "Cassandra",
    words: Words {
        collection: "table",
        packed_block: "row",
        spread_block: "partition",
        entry: "row",
        heading: "TABLE",
        block: "partition",
        block_key: "partition key",
        entry_key: "clustering key",
        records: "rows",
        kept: "on disk",
        own_index: "index",
        own_key: None,
    },
    atomic: Fact::new(
        AtomicUnit::Block,
        "Apache Cassandra documentation, BATCH: with conditions, all statements are on one partition",
    ),
    transaction: None,
    limits: Limits {
        block_key: Some(Fact::new(65_535, CQL_LIMITS)),
        entry_key: Some(Fact::new(65_535, CQL_LIMITS)),
        record: Some(Fact::new(
            16 << 20,
            "CASSANDRA-6737: a mutation is at most half a commit log segment, by default 16 MB",
        )),
        aggregate: Held::Lists,
        block: None,
        advised_block: Some(Fact::new(
            100_000_000,
            "DataStax, \"Calculating partition size\": a rule of thumb of 100 MB and 100,000 values",
        )),
        page: None,
        batch_get: None,
        heat: None,
    },
    // Storage-attached indexes are there since 5.0, with limits of their own; none is used before its numbers are known.
    indexes: None,
    ordered: Fact::new(true, "Apache Cassandra documentation, CREATE TABLE: rows by CLUSTERING ORDER"),
    scan: Fact::new(true, "Apache Cassandra documentation, SELECT by token ranges"),
    search: None,
    snapshot: Fact::new(
        SnapshotReads::Never,
        "Apache Cassandra documentation, \"Guarantees\": none over several partitions",
    ),
    // A filter on other columns is ALLOW FILTERING, which reads whole partitions at the server.
    pushes: &[],
    expiry: Some(Fact::new(Expiry::PerWrite, "Apache Cassandra documentation, USING TTL")),
    request: None,
};
