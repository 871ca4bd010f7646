//! What Redis can do: one node without modules, one with the search module, and a cluster, which changes at once only
//! what is in one slot.

use askloom_model::{
    AtomicUnit, Capability, Expiry, Fact, Held, Limits, Operator, Push, PushedType, Search, SnapshotReads,
    Words,
};

const STRINGS: &str =
    "Redis documentation, \"Redis Strings\", limits: 512 MB by default (proto-max-bulk-len)";

const NODE: Capability = Capability {
    target: "redis",
    title: "Redis",
    words: Words {
        collection: "key prefix",
        packed_block: "hash",
        spread_block: "hash with a sorted set beside it",
        entry: "field",
        heading: "KEYS",
        block: "key",
        block_key: "key",
        entry_key: "sorted by",
        records: "hashes",
        kept: "in memory",
        own_index: "index",
        own_key: None,
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
        aggregate: Held::Members,
        block: None,
        advised_block: None,
        page: None,
        batch_get: Some(Fact::new(
            10_000,
            "Redis documentation, \"Redis pipelining\": batches of a reasonable number, for instance 10k commands",
        )),
        heat: None,
    },
    // Those of the search module are a target of their own.
    indexes: None,
    ordered: Fact::new(
        true,
        "Redis documentation, ZRANGE BYLEX: members of one score are ordered by their bytes",
    ),
    scan: Fact::new(true, "Redis documentation, SCAN with MATCH"),
    shares_tables: false,
    search: None,
    snapshot: Fact::new(
        SnapshotReads::OneRequest,
        "Redis documentation, \"Redis functions\": nothing else runs while a function or a command does",
    ),
    pushes: &[],
    expiry: Some(Fact::new(Expiry::PerRecord, "Redis documentation, EXPIREAT: a key expires at a time")),
    request: None,
};

pub static CAPABILITY: Capability = NODE;

/// Indexes are kept beside the hashes, at once with them. They serve where a copy would be read as a whole.
pub static SEARCH_CAPABILITY: Capability = Capability {
    target: "redis-search",
    title: "Redis with search",
    words: Words { collection: "key prefix", ..NODE.words },
    search: Some(Fact::new(
        Search { by: &[Operator::Equal, Operator::Order], ordered: true },
        "Redis documentation, FT.SEARCH and FT.AGGREGATE: by TAG and NUMERIC fields, SORTBY one of them",
    )),
    pushes: &[
        Push { operator: Operator::Equal, types: PUSHED, said: DIGITS },
        Push { operator: Operator::Order, types: PUSHED, said: DIGITS },
    ],
    ..NODE
};

const PUSHED: &[PushedType] =
    &[PushedType::Text, PushedType::Int, PushedType::Long, PushedType::Bool, PushedType::Uuid];
const DIGITS: &str = "Redis documentation, \"Tags\" and FT.AGGREGATE: a TAG is compared byte by byte with CASESENSITIVE \
                      and UNF; fields of digits sort as the values that they stand for";

/// All keys of a block have one tag, and so one slot.
pub static CLUSTER_CAPABILITY: Capability = Capability {
    target: "redis-cluster",
    title: "Redis Cluster",
    atomic: Fact::new(
        AtomicUnit::Block,
        "Redis documentation, \"Redis cluster specification\", hash tags: what one function touches is in one slot",
    ),
    ..NODE
};
