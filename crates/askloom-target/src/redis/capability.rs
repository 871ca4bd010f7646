//! What Redis can do: one node, without its search module. A cluster changes at once only what is in one slot.

use askloom_model::{AtomicUnit, Capability, Expiry, Fact, Limits, SnapshotReads, Words};

const STRINGS: &str =
    "Redis documentation, \"Redis Strings\", limits: 512 MB by default (proto-max-bulk-len)";

pub static CAPABILITY: Capability = Capability {
    target: "redis",
    title: "Redis",
    words: Words {
        collection: "key prefix",
        packed_block: "hash",
        spread_block: "hash with a sorted set beside it",
        entry: "field",
        heading: "KEYS",
        block_key: "key",
        entry_key: "sorted by",
        records: "hashes",
        kept: "in memory",
    },
    atomic: Fact::new(
        AtomicUnit::Store,
        "Redis documentation, \"Redis functions\": a function runs atomically; on one node it reaches every key",
    ),
    // MULTI is no transaction in our sense: it does not read, and WATCH needs a connection of its own.
    transaction: None,
    limits: Limits {
        block_key: Some(Fact::new(512 << 20, STRINGS)),
        entry_key: Some(Fact::new(512 << 20, STRINGS)),
        record: Some(Fact::new(512 << 20, STRINGS)),
        block: None,
        page: None,
        batch_get: Some(Fact::new(
            10_000,
            "Redis documentation, \"Redis pipelining\": batches of a reasonable number, for instance 10k commands",
        )),
    },
    // Those of the search module are a target of their own.
    indexes: None,
    ordered: Fact::new(
        true,
        "Redis documentation, ZRANGE BYLEX: members of one score are ordered by their bytes",
    ),
    scan: Fact::new(true, "Redis documentation, SCAN with MATCH"),
    snapshot: Fact::new(
        SnapshotReads::OneRequest,
        "Redis documentation, \"Redis functions\": nothing else runs while a function or a command does",
    ),
    pushes: &[],
    expiry: Some(Fact::new(Expiry::PerRecord, "Redis documentation, EXPIREAT: a key expires at a time")),
};
