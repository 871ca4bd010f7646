//! What HBase can do.

use super::key::LONGEST;
use askloom_model::{AtomicUnit, Capability, Fact, Held, Limits, SnapshotReads, Words};

const ROW_KEY: &str = "HBase API, HConstants.MAX_ROW_LENGTH: a row key is at most 32,767 bytes";

pub static CAPABILITY: Capability = Capability {
    target: "hbase",
    title: "HBase",
    words: Words {
        collection: "table",
        packed_block: "row",
        spread_block: "range of rows",
        entry: "row",
        heading: "TABLE",
        block: "row key prefix",
        block_key: "row key",
        entry_key: "then",
        records: "rows",
        kept: "on disk",
        own_index: "index",
        own_key: None,
    },
    // An aggregate is one row, whatever entries it has; the rows of a copy follow one by one.
    atomic: Fact::new(
        AtomicUnit::Block,
        "Apache HBase, \"ACID properties\": all changes of one row are atomic, checkAndMutate included",
    ),
    transaction: None,
    limits: Limits {
        block_key: Some(Fact::new(LONGEST as u64, ROW_KEY)),
        entry_key: Some(Fact::new(LONGEST as u64, ROW_KEY)),
        record: Some(Fact::new(
            10 << 20,
            "HBase Reference Guide, hbase.server.keyvalue.maxsize: a cell is at most 10 MB by default",
        )),
        aggregate: Held::Members,
        block: None,
        advised_block: None,
        page: None,
        batch_get: Some(Fact::new(
            1_000,
            "HBase API, Table.get of a list: one request a region server; no limit is documented, a thousand is modest",
        )),
        heat: None,
    },
    indexes: None,
    ordered: Fact::new(true, "HBase Reference Guide, \"Rows\": sorted by the bytes of their keys"),
    scan: Fact::new(true, "HBase Reference Guide, \"Scans\""),
    shares_tables: false,
    search: None,
    snapshot: Fact::new(
        SnapshotReads::Never,
        "Apache HBase, \"ACID properties\": a scan is no consistent view of a table; each row is as it was at some time",
    ),
    // Filters compare bytes at the server, which still reads every row.
    pushes: &[],
    // A time to live is counted from a cell's timestamp, and here that is a version, not a time.
    expiry: None,
    request: None,
};
