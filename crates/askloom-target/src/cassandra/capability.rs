//! What Cassandra can do.

use askloom_model::{
    AtomicUnit, Capability, Expiry, Fact, Held, IndexKeys, IndexedFields, KeyType, Limits, NativeIndexes,
    SnapshotReads, StoredKeys, Words,
};

const CQL_LIMITS: &str = "DataStax CQL reference, \"Limitations\": a key or clustering column, 65,535 bytes";

/// The most bytes of a value in a storage-attached index. A lightweight transaction writes a longer one, and the index
/// leaves it out without a word.
pub(super) const INDEXED_BYTES: usize = 8 << 10;

/// A storage-attached index has one column, and finds what equals a value: a text by its bytes, a number by its value.
/// Where values have an order it also finds what is within a range, but not for text; and gives rows by token.
///
/// Doubles are left out, as `-0.0` equals `0.0` in the language alone; blobs, places and JSON, as nobody asks by them.
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
        KeyType::Int,
        KeyType::Long,
        KeyType::Decimal,
        KeyType::Date,
        KeyType::Time,
        KeyType::Timestamp,
    ],
    of: IndexedFields::One,
    longest: Some(Fact::new(
        INDEXED_BYTES as u64,
        "cassandra.yaml, sai_string_term_size_fail_threshold: 8 KiB by default",
    )),
};

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
        own_key: Some("column"),
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
    indexes: Some(Fact::new(
        NativeIndexes { most: 10, local: None, lag: false, keys: IndexKeys::Stored(INDEXED) },
        "DataStax, \"Configure SAI\": 10 indexes a table; since Cassandra 5.0, written with the row",
    )),
    ordered: Fact::new(true, "Apache Cassandra documentation, CREATE TABLE: rows by CLUSTERING ORDER"),
    scan: Fact::new(true, "Apache Cassandra documentation, SELECT by token ranges"),
    shares_tables: true,
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
