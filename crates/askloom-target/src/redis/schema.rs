//! A design as keys of Redis.
//!
//! | what | is kept as |
//! | --- | --- |
//! | a collection | the keys that start with `C:{` |
//! | an aggregate | a hash `C:{id}`: a field for each member, one for each entry of its own by its path, `n`, `system`, `class` |
//! | an aggregate that shares its partition with others | the same hash as `C:{partition}:rest`, and `rest` in the sorted set `C:{partition}` |
//! | a block of one record | a hash `C:{key}` |
//! | a block of several | a sorted set `C:{key}` of the records' keys, and a hash `C:{key}:record` for each |
//!
//! What a block or a partition has is under one tag, and so in one slot of a cluster.

use crate::names::NameRule;
use askloom_model::{CollectionId, Role, Type, Value};
use askloom_plan::layout::{Column, Holds, Layout, Place, Shape, Table};
use askloom_plan::program::Term;

use super::command::{Arg, Command, Piece};
use super::value::{hex, key_part, ordered, sorted_bytes};

/// What runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// One node without modules.
    Plain,
    /// One node with the search module.
    Search,
    Cluster,
}

/// Names of collections and fields: neither ends a tag or means anything in a pattern or a query.
pub(super) const NAMES: NameRule = NameRule {
    allowed: |letter| letter.is_alphanumeric() || letter == '_',
    first: char::is_alphabetic,
    small: false,
    reserved: &[],
    longest: 200,
};

/// The fields of a master that are no members. The functions know them by these names.
pub(super) const VERSION: &str = "n";
pub(super) const SYSTEM: &str = "system";
pub(super) const CLASS: &str = "class";
pub(super) const EXPIRES: &str = "expires";
/// The fields of a row that follows later: the version that it is of, and, where it is deleted, when all of it can go.
pub(super) const STAMP: &str = "stamp";
pub(super) const GONE: &str = "gone";
/// The field of a record that has nothing else: no hash is empty. No member can be named so.
pub(super) const NOTHING: &str = "-";
/// The block of a collection that has but one.
const ONLY: &str = "-";

/// A collection, with the columns of the layout in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct RedisTable {
    pub collection: CollectionId,
    /// All keys start with this and a brace: `app:Game:`
    pub prefix: String,
    pub columns: Vec<RedisColumn>,
    pub kind: Kind,
    /// Whether its rows follow aggregates in calls of their own, and so have a stamp.
    pub stamped: bool,
    pub search: Option<Index>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RedisColumn {
    pub field: String,
    pub of: Column,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A hash for each aggregate.
    Master,
    /// A sorted set for each partition, a hash for each aggregate.
    Clustered,
    /// A hash for each block.
    Packed,
    /// A sorted set for each block, a hash for each record.
    Spread,
}

impl Kind {
    /// Whether a hash is an aggregate.
    #[must_use]
    pub fn is_of_aggregates(self) -> bool {
        match self {
            Self::Master | Self::Clustered => true,
            Self::Packed | Self::Spread => false,
        }
    }
}

/// An index of the search module over the hashes of a collection.
#[derive(Debug, Clone, PartialEq)]
pub struct Index {
    pub name: String,
    pub shadows: Vec<Shadow>,
    pub numbers: Vec<Number>,
}

/// A field that is kept for searching alone: hexadecimal digits of the ordered bytes of some columns, one behind the
/// other. It is never missing, since null has bytes, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shadow {
    pub field: String,
    /// Which columns, and whether each descends.
    pub of: Vec<(usize, bool)>,
}

/// A field that is kept for searching alone, too: the number of a column that is to be between others. The search
/// module compares numbers as doubles, so it may find some that are just outside, and these are dropped afterwards.
/// Null has no such field: it is in no range, and what is no number would take the whole record out of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Number {
    pub field: String,
    pub of: usize,
}

/// Digits beyond this are replaced by a digest: longer ones are no tags.
pub(super) const LONGEST_TAG: usize = 4096;

/// All collections, in the order of the layout's.
#[must_use]
pub fn tables(layout: &Layout, flavour: Flavour, prefix: &str) -> Vec<RedisTable> {
    let names = NAMES.names(layout.tables().iter().map(|table| table.name.as_str()));
    let named = layout.tables().iter().zip(names);
    named.map(|(table, name)| redis(layout, table, flavour, &format!("{prefix}{name}"))).collect()
}

fn redis(layout: &Layout, table: &Table, flavour: Flavour, name: &str) -> RedisTable {
    let kind = match table.shape {
        Shape::Master { .. } if table.is_clustered() => Kind::Clustered,
        Shape::Master { .. } => Kind::Master,
        Shape::Rows(_) | Shape::Nodes(_) if table.is_packed() => Kind::Packed,
        Shape::Rows(_) | Shape::Nodes(_) => Kind::Spread,
    };
    let stamped = flavour == Flavour::Cluster && !kind.is_of_aggregates();
    let system: &[&str] = match kind {
        Kind::Master | Kind::Clustered => &[VERSION, SYSTEM, CLASS, EXPIRES],
        Kind::Packed | Kind::Spread if stamped => &[STAMP, GONE],
        Kind::Packed | Kind::Spread => &[],
    };
    let shadows = if flavour == Flavour::Search { wanted_shadows(layout, table) } else { Vec::new() };
    let numbers = if shadows.is_empty() { Vec::new() } else { wanted_numbers(layout, table) };
    let mut own: Vec<String> = shadows.iter().map(|of| shadow_name(table, of)).collect();
    own.extend(numbers.iter().filter_map(|&of| Some(format!("number_{}", table.columns.get(of)?.name))));
    let members = table.columns.iter().map(|column| column.name.as_str());
    let wanted = system.iter().copied().chain(members).chain(own.iter().map(String::as_str));
    let mut names = NAMES.names(wanted).into_iter().skip(system.len());
    let columns: Vec<RedisColumn> = table
        .columns
        .iter()
        .zip(names.by_ref())
        .map(|(column, field)| RedisColumn { field, of: column.clone() })
        .collect();
    let shadows: Vec<Shadow> =
        shadows.into_iter().zip(names.by_ref()).map(|(of, field)| Shadow { field, of }).collect();
    let numbers = numbers.into_iter().zip(names).map(|(of, field)| Number { field, of }).collect();
    let search = (!shadows.is_empty()).then(|| Index { name: name.to_owned(), shadows, numbers });
    RedisTable { collection: table.collection, prefix: format!("{name}:"), columns, kind, stamped, search }
}

/// Copies of rows that are not in any order of their own are searched: those that KVMod makes.
fn wanted_shadows(layout: &Layout, table: &Table) -> Vec<Vec<(usize, bool)>> {
    let rows = matches!(table.shape, Shape::Rows(_)) && table.role == Role::Copy;
    if !rows || table.columns.iter().any(|column| matches!(column.place, Place::Sort { .. })) {
        return Vec::new();
    }
    let scalar = |index: &usize| {
        table.columns.get(*index).is_some_and(|column| !matches!(column.holds, Holds::Tree { .. }))
    };
    let asked = layout.asked(table.collection);
    let mut shadows: Vec<Vec<(usize, bool)>> =
        asked.searched.iter().filter(|index| scalar(index)).map(|&index| vec![(index, false)]).collect();
    for order in &asked.orders {
        if order.iter().all(|(index, _)| scalar(index)) && !shadows.contains(order) {
            shadows.push(order.clone());
        }
    }
    shadows
}

/// Those that are to be between values and have numbers.
fn wanted_numbers(layout: &Layout, table: &Table) -> Vec<usize> {
    let numeric = |index: &usize| {
        let holds = table.columns.get(*index).and_then(|column| column.holds.scalar());
        matches!(holds, Some(Type::Int | Type::Long | Type::Date | Type::Timestamp(_)))
    };
    layout.asked(table.collection).ranged.iter().copied().filter(numeric).collect()
}

/// `by_city`, `by_country_city_desc`
fn shadow_name(table: &Table, of: &[(usize, bool)]) -> String {
    let mut name = "by".to_owned();
    for (index, descending) in of {
        let column = table.columns.get(*index).map(|column| column.name.as_str()).unwrap_or_default();
        name.push('_');
        name.push_str(column);
        if *descending {
            name.push_str("_desc");
        }
    }
    name
}

impl Shadow {
    /// What the field holds for a record.
    #[must_use]
    pub fn digits(&self, cells: &[Value]) -> String {
        let bytes = self.of.iter().flat_map(|&(index, descending)| {
            sorted_bytes(cells.get(index).unwrap_or(&Value::Null), descending)
        });
        tag(&bytes.collect::<Vec<u8>>())
    }
}

/// Digits for a tag: those of the bytes, or if these are too long their first ones and a digest of all.
#[must_use]
pub(super) fn tag(bytes: &[u8]) -> String {
    let digits = hex(bytes);
    if digits.len() <= LONGEST_TAG {
        return digits;
    }
    let digest = digest(bytes);
    let first = digits.get(..LONGEST_TAG - 2 * digest.len() - 1).unwrap_or_default();
    format!("{first}x{}", hex(&digest))
}

/// FNV-1a of 128 bits. What it finds is checked again, so that it need not withstand anybody.
fn digest(bytes: &[u8]) -> [u8; 16] {
    const START: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let hash = bytes.iter().fold(START, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME));
    hash.to_be_bytes()
}

impl RedisTable {
    #[must_use]
    pub fn column(&self, term: &Term) -> Option<&RedisColumn> {
        self.columns.get(term.column?)
    }

    /// The key of a block.
    #[must_use]
    pub fn block_key(&self, terms: &[Term]) -> Arg {
        let mut parts: Vec<(usize, Piece)> = Vec::new();
        for term in terms {
            let Some(column) = self.column(term).filter(|column| column.of.place == Place::Block) else {
                continue;
            };
            let piece = match &term.value {
                Some(value) => Piece::known(key_part(&column.of, value)),
                None => Piece::Slot(term.name.to_string()),
            };
            parts.push((term.column.unwrap_or_default(), piece));
        }
        parts.sort_by_key(|(index, _)| *index);
        let mut pieces = vec![Piece::known(format!("{}{{", self.prefix))];
        if parts.is_empty() {
            pieces.push(Piece::known(ONLY));
        }
        for (number, (_, piece)) in parts.into_iter().enumerate() {
            if number > 0 {
                pieces.push(Piece::known(","));
            }
            pieces.push(piece);
        }
        pieces.push(Piece::known("}"));
        Arg::new(pieces)
    }

    /// The key of an aggregate's hash.
    #[must_use]
    pub fn aggregate_key(&self, terms: &[Term]) -> Arg {
        match self.kind {
            Kind::Clustered => self.block_key(terms).then(Arg::text(":")).then(self.member(terms)),
            Kind::Master | Kind::Packed | Kind::Spread => self.block_key(terms),
        }
    }

    /// The key of a record in its block: the ordered bytes of the other columns of the key.
    #[must_use]
    pub fn member(&self, terms: &[Term]) -> Arg {
        let mut bytes = Vec::new();
        let mut names: Vec<String> = Vec::new();
        let mut open = false;
        let within = |column: &Column| column.is_key() && column.place != Place::Block;
        for (index, column) in self.columns.iter().enumerate().filter(|(_, column)| within(&column.of)) {
            let Some(term) = terms.iter().find(|term| term.column == Some(index)) else { continue };
            let down = if column.of.place == (Place::Sort { descending: true }) { " desc" } else { "" };
            names.push(format!("{}{down}", term.name));
            match &term.value {
                Some(value) => bytes.extend(ordered(&column.of, value)),
                None => open = true,
            }
        }
        if open { Arg::slot(&format!("bytes({})", names.join(","))) } else { Arg::known(bytes) }
    }

    /// The command that makes the index, if there is one.
    #[must_use]
    pub fn create_index(&self) -> Option<Command> {
        let index = self.search.as_ref()?;
        let prefix = format!("{}{{", self.prefix);
        let mut command = Command::new("FT.CREATE").word(&index.name);
        for word in ["ON", "HASH", "PREFIX", "1", &prefix, "SCHEMA"] {
            command = command.word(word);
        }
        for shadow in &index.shadows {
            for word in [&shadow.field, "TAG", "CASESENSITIVE", "SORTABLE", "UNF"] {
                command = command.word(word);
            }
        }
        for number in &index.numbers {
            for word in [&number.field, "NUMERIC"] {
                command = command.word(word);
            }
        }
        Some(command)
    }

    /// A pattern of SCAN for the keys of all blocks.
    #[must_use]
    pub fn pattern(&self) -> String {
        let mut pattern = String::new();
        for letter in self.prefix.chars() {
            if matches!(letter, '*' | '?' | '[' | ']' | '\\' | '^') {
                pattern.push('\\');
            }
            pattern.push(letter);
        }
        pattern.push_str("{*");
        pattern
    }
}
