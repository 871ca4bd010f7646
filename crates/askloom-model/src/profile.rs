//! What a store can do, and what it costs, as data. Every fact says where it comes from.
//!
//! A [`Capability`] holds what is so or not so: units, limits, guarantees. A [`Profile`] holds what things cost. No
//! code outside a target's folder knows a store by its name: it asks these tables.

use serde::Serialize;

/// A value, and where it comes from, in words that a person can follow up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Fact<T> {
    pub value: T,
    pub said: &'static str,
}

impl<T> Fact<T> {
    pub const fn new(value: T, said: &'static str) -> Self {
        Self { value, said }
    }
}

/// What a store can do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Capability {
    /// As in `--target`: `dynamodb`
    pub target: &'static str,
    /// As its makers write it: `DynamoDB`
    pub title: &'static str,
    pub words: Words,
    /// What changes at once, conditionally, without a transaction.
    pub atomic: Fact<AtomicUnit>,
    /// A transaction over several atomic units, if the store has one.
    pub transaction: Option<Fact<Transaction>>,
    pub limits: Limits,
    /// Secondary indexes that the store keeps by itself.
    pub indexes: Option<Fact<NativeIndexes>>,
    /// Whether the entries of a block can be read in order and by range.
    pub ordered: Fact<bool>,
    /// Whether all of a collection can be read.
    pub scan: Fact<bool>,
    /// Whether masters that lie in the partitions of another one are in its table. If not, each is by itself.
    pub shares_tables: bool,
    /// What the store finds by itself in copies whose rows are in no order of their own, whatever their keys.
    pub search: Option<Fact<Search>>,
    pub snapshot: Fact<SnapshotReads>,
    /// What the store can filter by with exactly our meaning. What is not listed, the client does.
    pub pushes: &'static [Push],
    /// Deleting by itself what has expired. It only reclaims: readers filter by the clock.
    pub expiry: Option<Fact<Expiry>>,
    /// Milliseconds of a request, where what is paid for says nothing about time.
    pub request: Option<Fact<f64>>,
}

/// What things are called in the store's own language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Words {
    pub collection: &'static str,
    pub packed_block: &'static str,
    pub spread_block: &'static str,
    pub entry: &'static str,
    /// Before the name of a collection: `TABLE`
    pub heading: &'static str,
    /// What all of a block is under: `partition key`
    pub block: &'static str,
    /// What says where a block is: `PK`
    pub block_key: &'static str,
    /// What orders a block: `SK`
    pub entry_key: &'static str,
    /// Several of what is kept: `items`
    pub records: &'static str,
    /// Where data is: `on disk`
    pub kept: &'static str,
    /// A collection that the store keeps by itself: `global secondary index`
    pub own_index: &'static str,
    /// What its keys are, if not what those of a collection are.
    pub own_key: Option<&'static str>,
}

impl Words {
    /// How many columns the labels of a collection take, with the space behind them.
    #[must_use]
    pub fn label_width(&self) -> usize {
        let longest = [self.block_key, self.entry_key].map(|label| label.chars().count()).into_iter().max();
        longest.unwrap_or(0).max(9) + 1
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AtomicUnit {
    /// Any records of the store.
    Store,
    /// All records of one block.
    Block,
    /// One record.
    Record,
}

/// What one transaction may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Transaction {
    pub records: Option<u64>,
    pub bytes: Option<u64>,
}

/// In bytes, but for the number of keys in one batch. `None`: none is documented.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Limits {
    pub block_key: Option<Fact<u64>>,
    pub entry_key: Option<Fact<u64>>,
    pub record: Option<Fact<u64>>,
    /// How much of an aggregate is one record.
    pub aggregate: Held,
    /// What of one block can be written at once.
    pub block: Option<Fact<u64>>,
    /// What a block should not be larger than, though the store takes it.
    pub advised_block: Option<Fact<u64>>,
    /// What one request returns at most.
    pub page: Option<Fact<u64>>,
    /// Keys in one request of many gets. `None`: each get is a request.
    pub batch_get: Option<Fact<u64>>,
    /// What one block serves in a second.
    pub heat: Option<Fact<Heat>>,
}

/// What one block serves in a second, in units of bytes that are begun.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Heat {
    pub reads: u32,
    pub writes: u32,
    pub read_bytes: u32,
    pub write_bytes: u32,
    /// What a read takes that may be behind, as a share.
    pub lagging: f64,
}

/// What of an aggregate is one record, for the limit of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Held {
    /// All of it.
    Whole,
    /// All of it but for the elements of lists that the design puts into entries of their own.
    Lists,
    /// Each entry.
    Entries,
    /// Each member, and each entry of its own.
    Members,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct NativeIndexes {
    /// For one table, which is one collection unless classes share it.
    pub most: u32,
    /// Of these, such that order the records of a block another way and never lag; and how large a block may be then.
    pub local: Option<LocalIndexes>,
    /// Whether a reader may see them behind the records.
    pub lag: bool,
    pub keys: IndexKeys,
}

/// What the keys of indexes are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum IndexKeys {
    /// Records can have values for an index alone, so that any key and any condition can be one. It holds what it is
    /// told to hold.
    Computed,
    /// Fields of the records of a master, as they are stored there. It leads to the record: whoever reads by it has all
    /// of that in the same request, and it holds keys alone.
    Stored(StoredKeys),
}

/// The types whose values are stored in a way that an index can go by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StoredKeys {
    /// The same value is stored in the same way.
    pub equal: &'static [KeyType],
    /// Of those, the ones that are sorted as the language sorts them, null first.
    pub ordered: &'static [KeyType],
    pub of: IndexedFields,
    /// The most bytes of a value.
    pub longest: Option<Fact<u64>>,
}

/// How many fields one index has, and how it gives the records that it leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum IndexedFields {
    /// Several, and records in the order of those that sort. It may be of some records alone.
    Several,
    /// One, and records in no order. Null is not in it.
    One,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyType {
    Text,
    Int,
    Long,
    Decimal,
    Double,
    Bool,
    Date,
    Time,
    Timestamp,
    Uuid,
    Blob,
    Geo,
    Json,
    Enum,
}

/// Rows that the store finds by their fields, without going through the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Search {
    /// What fields can be compared by.
    pub by: &'static [Operator],
    /// Whether it gives the rows in an order that a field has.
    pub ordered: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LocalIndexes {
    /// For one table, which is one collection unless classes share it.
    pub most: u32,
    /// Bytes of a block with all its indexes.
    pub block: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SnapshotReads {
    /// Every plan reads one state.
    Always,
    /// In a session for that.
    InSession,
    /// A plan of one request does.
    OneRequest,
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Push {
    pub operator: Operator,
    pub types: &'static [PushedType],
    pub said: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Operator {
    Equal,
    /// `<`, `<=`, `>`, `>=` and BETWEEN
    Order,
    StartsWith,
}

impl Operator {
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::Order => "ranges",
            Self::StartsWith => "STARTS WITH",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PushedType {
    Text,
    Int,
    Long,
    Bool,
    Uuid,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Expiry {
    /// A record, at the time that it names.
    PerRecord,
    /// A cell or a row, so long after it was written.
    PerWrite,
}

/// How a copy is kept right beside its masters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CopyLevel {
    /// Master and copy change in one atomic unit.
    AtomicUnit,
    /// In one transaction, which is always large enough.
    Transaction,
    /// The master first, then the copy, by intents that survive a crash: a reader may see the copy behind.
    Intents,
}

impl CopyLevel {
    /// 1, 2 or 3.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::AtomicUnit => 1,
            Self::Transaction => 2,
            Self::Intents => 3,
        }
    }
}

impl Capability {
    /// The level of a copy in blocks of its own. `most` is how many records any one write changes, masters and old
    /// and new entries together; `None` if the model sets no bound.
    #[must_use]
    pub fn copy_level(&self, most: Option<u64>) -> CopyLevel {
        if self.atomic.value == AtomicUnit::Store {
            return CopyLevel::AtomicUnit;
        }
        let Some(transaction) = self.transaction else { return CopyLevel::Intents };
        let fits = match (transaction.value.records, most) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(limit), Some(most)) => most <= limit,
        };
        if fits { CopyLevel::Transaction } else { CopyLevel::Intents }
    }

    /// Whether aggregates can change together: all of them or none.
    #[must_use]
    pub fn several_aggregates(&self) -> bool {
        self.atomic.value == AtomicUnit::Store || self.transaction.is_some()
    }
}

/// What a store costs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Profile {
    pub target: &'static str,
    /// What costs are counted in: `µs`
    pub unit: &'static str,
    pub charging: Charging,
    /// Dollars for a gigabyte a month, where storage is sold.
    pub storage: Option<Fact<f64>>,
    /// What the numbers are good for.
    pub said: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Charging {
    /// So much for each request, partition, row and byte.
    Linear(Coefficients),
    /// So much for each begun unit of bytes.
    Units(RequestUnits),
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Coefficients {
    /// For each step that reads, however many requests it takes.
    pub read_step: Fact<f64>,
    pub read_request: Fact<f64>,
    pub partition: Fact<f64>,
    pub row: Fact<f64>,
    pub byte_read: Fact<f64>,
    pub write_request: Fact<f64>,
    pub put: Fact<f64>,
    pub delete: Fact<f64>,
    pub byte_written: Fact<f64>,
    pub client: ClientWork,
}

/// What the executor does with rows that it has read.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ClientWork {
    /// For each row that a condition looks at.
    pub filter: Fact<f64>,
    /// For each comparison of two rows.
    pub compare: Fact<f64>,
    /// For each row that goes into a group.
    pub group: Fact<f64>,
    /// For each sort, however many rows it has.
    pub sort: Fact<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RequestUnits {
    pub read_bytes: Fact<f64>,
    pub write_bytes: Fact<f64>,
    /// How many times the units a record in a transaction costs.
    pub transaction: Fact<f64>,
    /// How many times the units a read costs that may see what was.
    pub lagging: Fact<f64>,
    pub read_price: Fact<f64>,
    pub write_price: Fact<f64>,
}

/// What one step of a plan does: what a cost model puts a price on.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Work {
    /// Steps that read: an index and what it leads to are two.
    pub read_steps: f64,
    /// Round trips that read.
    pub requests: f64,
    pub partitions: f64,
    /// Entries that the store goes through.
    pub rows: f64,
    pub bytes: f64,
    /// How many reads are charged apart: items of a batch are, entries of a range are not.
    pub reads: f64,
    /// Whether it reads an index of the store's own, which may lag.
    pub lagging: bool,
    /// Round trips that write.
    pub write_requests: f64,
    pub puts: f64,
    pub deletes: f64,
    /// Bytes of what is put.
    pub written: f64,
    /// Bytes of what is deleted.
    pub dropped: f64,
    /// Whether what is written is in a transaction.
    pub in_transaction: bool,
    /// Rows that a condition looks at.
    pub filtered: f64,
    /// Comparisons of rows.
    pub compared: f64,
    /// Rows that go into groups.
    pub grouped: f64,
    /// Sorts.
    pub sorts: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capability(atomic: AtomicUnit, records: Option<Option<u64>>) -> Capability {
        let limits = Limits {
            block_key: None,
            entry_key: None,
            record: None,
            aggregate: Held::Entries,
            block: None,
            advised_block: None,
            page: None,
            batch_get: None,
            heat: None,
        };
        let words = Words {
            collection: "",
            packed_block: "",
            spread_block: "",
            block: "",
            entry: "",
            heading: "",
            block_key: "",
            entry_key: "",
            records: "",
            kept: "",
            own_index: "",
            own_key: None,
        };
        Capability {
            target: "made-up",
            title: "made up",
            words,
            atomic: Fact::new(atomic, ""),
            transaction: records.map(|records| Fact::new(Transaction { records, bytes: None }, "")),
            limits,
            indexes: None,
            ordered: Fact::new(true, ""),
            scan: Fact::new(true, ""),
            shares_tables: false,
            search: None,
            snapshot: Fact::new(SnapshotReads::Never, ""),
            pushes: &[],
            expiry: None,
            request: None,
        }
    }

    #[test]
    fn a_copy_is_in_a_transaction_only_if_every_write_fits() {
        let items = capability(AtomicUnit::Record, Some(Some(100)));
        assert_eq!(items.copy_level(Some(100)), CopyLevel::Transaction);
        assert_eq!(items.copy_level(Some(101)), CopyLevel::Intents);
        assert_eq!(items.copy_level(None), CopyLevel::Intents);
        assert_eq!(
            capability(AtomicUnit::Record, Some(None)).copy_level(None),
            CopyLevel::Transaction,
            "no limit, no bound needed"
        );
        assert_eq!(capability(AtomicUnit::Block, None).copy_level(Some(1)), CopyLevel::Intents);
        assert_eq!(capability(AtomicUnit::Store, None).copy_level(None), CopyLevel::AtomicUnit);
    }
}
