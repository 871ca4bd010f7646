//! A design as tables of DynamoDB.
//!
//! A collection is a table, a record an item. The columns of the block make up the partition key, the others of the key
//! the sort key; what is not in the key is an attribute of its own.
//!
//! | a key of | is kept as |
//! | --- | --- |
//! | one column: text, uuid, date, time | S; a text that is empty or starts with a NUL has one before it, as no key may be empty |
//! | one column: int, long, decimal, bool, timestamp (in its own unit since 1970), an enum that sorts | N |
//! | one column: an enum of a partition key | S, its name |
//! | several columns, each a text, an int, a long, an ordinal, a uuid or an enum | S, joined: see `key` |
//! | anything else: what can be null, descends, doubles, blobs, places | B of ordered bytes |
//! | no column | S `all`: the copy is one partition |
//!
//! What the settings want a key to start with is before all of that, in S or in B.
//!
//! An aggregate is one item. Where entries inside its lists are apart, it is several items of one partition, and the sort
//! key says which: `#` the aggregate itself, `rounds#000007` a round. Where many aggregates share a partition, the part
//! of the id that orders them is the sort key, or what it starts with: `000042#rounds#000007`. If all of that descends,
//! it is kept ascending and read backwards. Entries that are apart but in no list are
//! attributes, `/` and their path. A table of several classes is in `shared_table`.

use super::index::IndexOf;
use super::key::Order;
use super::settings::Settings;
use crate::generate::Options;
use crate::names::NameRule;
use crate::shared_tables::{column_names, table_names};
use askloom_model::{Collection, CollectionId, Contents, Keeper, RuleStep, Type};
use askloom_plan::layout::{Column, Layout, Place, Shape, Table};

/// Tables are named by letters, digits, `_`, `-` and `.`.
pub(super) const TABLES: NameRule = NameRule {
    allowed: |letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.'),
    first: |letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.'),
    small: false,
    reserved: &[],
    longest: 255,
};

/// A name of a table has at least so many characters.
const SHORTEST: usize = 3;

/// Attributes have any name, since expressions hold placeholders alone. `/` starts the name of an entry.
const ATTRIBUTES: NameRule = NameRule {
    allowed: |letter| !letter.is_control() && letter != '/',
    first: |letter| !letter.is_control() && letter != '/',
    small: false,
    reserved: &[],
    longest: 255,
};

/// What every master has beside its members: the version, the rest of the system's part, the class, and for entries that
/// are items which one it is and what it holds.
const SYSTEM: [&str; 5] = ["n", "system", "class", "item", "value"];
/// What those have besides that expire: the last of the names, so that the others stay where they are.
const EXPIRES: &str = "expires";
/// What a copy has: the key of one that is one partition, and for rows that follow their masters the stamp, and when
/// what is left of a row that is gone can go, too.
const OWN: [&str; 3] = ["block", "stamp", "gone"];

/// A table, with the columns of the layout in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct DynamoTable {
    pub collection: CollectionId,
    pub name: String,
    pub partition: Key,
    pub sort: Option<Key>,
    pub attributes: Vec<Attribute>,
    /// Of a master.
    pub system: Option<System>,
    /// Of a copy.
    pub stamps: Option<Stamps>,
    /// Of a copy that DynamoDB keeps: it is no table, but an index of one.
    pub index: Option<IndexOf>,
    /// As the papers print it: nothing of the system's.
    pub faithful: bool,
    /// The column whose values of several rows are one set, as a paper prints it.
    pub set: Option<usize>,
    /// Whether the sort key ascends where the design descends.
    pub turned: bool,
    /// Of a table that several classes share: the collection that it is named after.
    pub shared: Option<CollectionId>,
    /// The attribute by which items of the table expire, whatever class they are of.
    pub goes: Option<String>,
}

/// One attribute of the primary key.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    pub name: String,
    pub kind: KeyKind,
    /// The columns that it is made of, in their order.
    pub columns: Vec<usize>,
    pub order: Order,
    /// What it starts with: `GAME#`.
    pub start: String,
    /// Whether it ends in which item of an aggregate it is, behind the columns.
    pub ends_in_item: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyKind {
    /// One column as it is.
    Plain(Scalar),
    /// Columns joined to a text.
    Joined,
    /// Ordered bytes of all columns.
    Bytes,
    /// The same for all.
    Constant,
    /// Which item of an aggregate it is.
    Item,
}

/// The types that a key can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar {
    S,
    N,
    B,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    pub name: String,
    pub of: Column,
    /// Whether the key holds it, so that it is no attribute of its own, unless it is the key.
    pub in_key: bool,
    /// Whether it is the key of an index, so that no text in it is empty.
    pub filled: bool,
}

/// The names of a master's attributes that are no members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct System {
    pub version: String,
    pub rest: String,
    pub class: String,
    pub entries: Entries,
    /// Where aggregates expire: when DynamoDB may take them away, in seconds since 1970.
    pub expires: Option<String>,
}

/// Where entries are that are neither the root nor its members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entries {
    /// There are none.
    Inside,
    /// Items of the same partition; the attribute holds the value.
    Items { value: String },
    /// Attributes of the one item.
    Attributes,
}

/// The names of a copy's attributes that are no columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamps {
    /// Which version of its masters a row follows.
    pub stamp: String,
    /// Until when, in seconds since 1970, what is left of a deleted row is kept.
    pub gone: String,
}

/// All tables, in the order of the layout's.
#[must_use]
pub fn tables(layout: &Layout, options: &Options) -> Vec<DynamoTable> {
    let (prefix, faithful) = (&options.prefix, options.faithful);
    // What is wrong with settings has been said before.
    let settings = Settings::new(&options.settings).unwrap_or_default();
    let names = table_names(&TABLES, layout, |table| long_enough(format!("{prefix}{}", table.name)));
    let pairs = layout.tables().iter().zip(names);
    let mut tables: Vec<_> = pairs.map(|(table, name)| one(layout, table, name, faithful)).collect();
    if !faithful {
        for (own, table) in tables.iter_mut().zip(layout.tables()) {
            let starts = settings.keys.iter().find(|(name, _)| *name == table.name);
            starts.into_iter().for_each(|(_, starts)| start_keys(own, starts));
        }
        super::index::link(layout, &mut tables);
    }
    super::shared_table::name_expiry(&mut tables);
    tables
}

/// Keys that start with a text are texts, or bytes.
fn start_keys(table: &mut DynamoTable, starts: &[String]) {
    let joins = |attributes: &[Attribute], key: &Key| {
        let mut columns = key.columns.iter().filter_map(|&at| attributes.get(at));
        columns.all(|column| column.of.holds.scalar().is_some_and(joins))
    };
    let attributes = std::mem::take(&mut table.attributes);
    let keys = std::iter::once(&mut table.partition).chain(&mut table.sort);
    for (key, start) in keys.zip(starts).filter(|(key, start)| key.kind != KeyKind::Item && !start.is_empty())
    {
        key.start.clone_from(start);
        key.kind = match key.kind {
            KeyKind::Plain(_) if joins(&attributes, key) => KeyKind::Joined,
            KeyKind::Plain(_) => KeyKind::Bytes,
            other @ (KeyKind::Joined | KeyKind::Bytes | KeyKind::Constant | KeyKind::Item) => other,
        };
    }
    table.attributes = attributes;
}

pub(super) fn long_enough(mut name: String) -> String {
    while name.len() < SHORTEST {
        name.push('_');
    }
    name
}

fn one(layout: &Layout, table: &Table, name: String, faithful: bool) -> DynamoTable {
    let master = matches!(table.shape, Shape::Master { .. });
    let system = |table: &Table| {
        let mut own: Vec<&str> = match (master, faithful) {
            (true, false) => SYSTEM.to_vec(),
            (false, false) => OWN.to_vec(),
            (_, true) => Vec::new(),
        };
        own.extend((layout.expires(table) && !faithful).then_some(EXPIRES));
        own
    };
    let (mut taken, names) = column_names(&ATTRIBUTES, layout, table, system);
    let collection = &layout.design.collections[table.collection];
    let held = present(collection, table);
    let columns: Vec<(&Column, String)> = held.iter().zip(names).collect();
    let entries = if master { entries(collection, &mut taken, faithful) } else { Entries::Inside };
    let partition = partition(&columns, taken.first());
    let items = matches!(entries, Entries::Items { .. });
    let sort = match (&entries, master) {
        _ if let Some(shared) = &table.shared => {
            let held: Vec<&Column> = columns.iter().map(|(column, _)| *column).collect();
            let name = taken.get(3).cloned().unwrap_or_default();
            Some(super::shared_table::sort_key(layout, table, shared, &held, name, items))
        }
        (Entries::Items { .. }, true) if table.is_clustered() => {
            sort(&columns).map(|key| ending_in_item(&columns, key, taken.get(3)))
        }
        (Entries::Items { .. }, _) => Some(Key {
            name: taken.get(3).cloned().unwrap_or_default(),
            kind: KeyKind::Item,
            columns: Vec::new(),
            order: Order::Kept,
            start: String::new(),
            ends_in_item: false,
        }),
        // An aggregate that has its partition to itself has nothing that sorts.
        (Entries::Inside | Entries::Attributes, _) => sort(&columns),
    };
    let expires = taken.get(SYSTEM.len()).filter(|_| layout.expires(table)).cloned();
    let mut named = taken.into_iter();
    let mut next = || named.next().unwrap_or_default();
    let (system, stamps) = if master {
        (Some(System { version: next(), rest: next(), class: next(), entries, expires }), None)
    } else if layout.has_records(table.collection) {
        let _block = next();
        (None, Some(Stamps { stamp: next(), gone: next() }))
    } else {
        (None, None)
    };
    let in_key = |index: usize| {
        [Some(&partition), sort.as_ref()].into_iter().flatten().any(|key| key.columns.contains(&index))
    };
    let attributes = columns.iter().enumerate().map(|(index, (column, name))| Attribute {
        name: name.clone(),
        of: (*column).clone(),
        in_key: in_key(index),
        filled: false,
    });
    let attributes = attributes.collect();
    let mut made = DynamoTable {
        collection: table.collection,
        name,
        partition,
        sort,
        attributes,
        system,
        stamps,
        index: None,
        faithful,
        set: None,
        turned: turns(table),
        shared: table.shared.as_ref().map(|shared| shared.first),
        goes: None,
    };
    if faithful {
        let _as_it_is = super::paper::group(layout, table, &mut made);
    }
    made
}

/// The columns; what an index leads back from is there, or the row is not.
fn present(collection: &Collection, table: &Table) -> Vec<Column> {
    let leads = collection.indexed().is_some() && collection.keeper == Keeper::Store;
    let turns = turns(table);
    let one = |column: &Column| {
        let optional = column.optional && !(leads && column.place == Place::Block);
        let place = match column.place {
            Place::Sort { .. } if turns => Place::Sort { descending: false },
            place @ (Place::Block | Place::Sort { .. } | Place::Row | Place::Value) => place,
        };
        Column { optional, place, ..column.clone() }
    };
    table.columns.iter().map(one).collect()
}

/// Whether all that orders the aggregates of a partition descends. A key that ascends can be read both ways, and stays
/// what people write.
pub(super) fn turns(table: &Table) -> bool {
    let mut sorted = table.columns.iter().filter(|column| matches!(column.place, Place::Sort { .. }));
    table.is_clustered() && sorted.all(descends)
}

/// Where entries of their own are: those in lists need an order and may be many, so that they are items.
fn entries(collection: &Collection, taken: &mut [String], faithful: bool) -> Entries {
    let Contents::Aggregate(rules) = &collection.contents else { return Entries::Inside };
    let each = |step: &RuleStep| match step {
        RuleStep::Field { each, .. } | RuleStep::AnyField { each } => *each,
        RuleStep::EachAtom => true,
    };
    let apart = rules.iter().any(|rule| rule.steps.len() > 1 || rule.steps.iter().any(each));
    let listed = rules.iter().any(|rule| rule.steps.iter().any(each));
    match (faithful, listed, apart) {
        (true, _, true) | (false, false, true) => Entries::Attributes,
        (false, true, _) => Entries::Items { value: taken.get(4).cloned().unwrap_or_default() },
        (_, _, false) => Entries::Inside,
    }
}

fn partition(columns: &[(&Column, String)], constant: Option<&String>) -> Key {
    let own = columns.iter().enumerate().filter(|(_, (column, _))| column.place == Place::Block);
    let indices: Vec<usize> = own.map(|(index, _)| index).collect();
    if indices.is_empty() {
        let name = constant.cloned().unwrap_or_else(|| "block".to_owned());
        return Key {
            name,
            kind: KeyKind::Constant,
            columns: indices,
            order: Order::Free,
            start: String::new(),
            ends_in_item: false,
        };
    }
    key(columns, indices, Order::Free)
}

fn sort(columns: &[(&Column, String)]) -> Option<Key> {
    let own = columns.iter().enumerate();
    let own = own.filter(|(_, (column, _))| column.is_key() && column.place != Place::Block);
    let indices: Vec<usize> = own.map(|(index, _)| index).collect();
    (!indices.is_empty()).then(|| key(columns, indices, Order::Kept))
}

pub(super) fn key(columns: &[(&Column, String)], indices: Vec<usize>, order: Order) -> Key {
    let own: Vec<&(&Column, String)> = indices.iter().filter_map(|&index| columns.get(index)).collect();
    let names: Vec<&str> = own.iter().map(|(_, name)| name.as_str()).collect();
    let held: Vec<&Column> = own.iter().map(|(column, _)| *column).collect();
    // A joined name has the join that no single one of these names has, unless somebody wanted it so.
    let name = if names.len() == 1 { names.concat() } else { ATTRIBUTES.one(&joined_name(columns, &names)) };
    let kind = kind(&held, order);
    Key { name, kind, columns: indices, order, start: String::new(), ends_in_item: false }
}

/// A sort key behind whose columns stands which item of an aggregate it is.
fn ending_in_item(columns: &[(&Column, String)], key: Key, item: Option<&String>) -> Key {
    let own = key.columns.iter().filter_map(|&index| columns.get(index));
    let types: Vec<Option<&Type>> = own.map(|(column, _)| column.holds.scalar()).collect();
    let kind = match key.kind {
        KeyKind::Plain(_) if types.iter().all(|ty| ty.is_some_and(joins)) => KeyKind::Joined,
        KeyKind::Plain(_) => KeyKind::Bytes,
        other @ (KeyKind::Joined | KeyKind::Bytes | KeyKind::Constant | KeyKind::Item) => other,
    };
    let item = item.map_or("item", String::as_str);
    let name = ATTRIBUTES.one(&joined_name(columns, &[&key.name, item]));
    Key { name, kind, ends_in_item: true, ..key }
}

fn joined_name(columns: &[(&Column, String)], names: &[&str]) -> String {
    let mut name = names.join("#");
    while columns.iter().any(|(_, other)| *other == name) {
        name.push('#');
    }
    name
}

fn kind(columns: &[&Column], order: Order) -> KeyKind {
    let simple = columns.iter().all(|column| !column.optional && !descends(column));
    let types: Option<Vec<&Type>> = columns.iter().map(|column| column.holds.scalar()).collect();
    match types.as_deref().filter(|_| simple) {
        Some([only]) => match scalar(only, order) {
            Scalar::B => KeyKind::Bytes,
            plain @ (Scalar::S | Scalar::N) => KeyKind::Plain(plain),
        },
        Some(types) if types.iter().all(|ty| joins(ty)) => KeyKind::Joined,
        Some(_) | None => KeyKind::Bytes,
    }
}

pub(super) fn descends(column: &Column) -> bool {
    matches!(column.place, Place::Sort { descending: true })
}

/// The type of a key of one column.
pub(super) fn scalar(ty: &Type, order: Order) -> Scalar {
    match ty {
        Type::Text | Type::Uuid | Type::Date | Type::Time | Type::Timestamp(_) => Scalar::S,
        Type::Enum(_) => match order {
            Order::Kept => Scalar::N,
            Order::Free => Scalar::S,
        },
        Type::Int | Type::Long | Type::Decimal | Type::Bool => Scalar::N,
        Type::Double | Type::Blob | Type::Geo | Type::Json => Scalar::B,
    }
}

/// Whether a value can be a part of a joined text.
pub(super) fn joins(ty: &Type) -> bool {
    match ty {
        Type::Text
        | Type::Int
        | Type::Long
        | Type::Uuid
        | Type::Enum(_)
        | Type::Bool
        | Type::Date
        | Type::Time
        | Type::Timestamp(_) => true,
        Type::Decimal | Type::Double | Type::Blob | Type::Geo | Type::Json => false,
    }
}

impl Key {
    #[must_use]
    pub fn scalar(&self) -> Scalar {
        match self.kind {
            KeyKind::Plain(scalar) => scalar,
            KeyKind::Joined | KeyKind::Constant | KeyKind::Item => Scalar::S,
            KeyKind::Bytes => Scalar::B,
        }
    }
}

impl Scalar {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::S => "S",
            Self::N => "N",
            Self::B => "B",
        }
    }
}

impl DynamoTable {
    /// Whether it has items of its own. What a master carries is in the items of the master.
    pub(super) fn has_items(&self) -> bool {
        self.system.is_some() || self.stamps.is_some()
    }

    /// The primary key.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        std::iter::once(&self.partition).chain(&self.sort)
    }

    /// The attributes that no key holds, with their indices.
    pub fn outside(&self) -> impl Iterator<Item = (usize, &Attribute)> {
        self.attributes.iter().enumerate().filter(|(_, attribute)| !attribute.in_key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_names_that_dynamodb_takes() {
        let wanted = ["C", "", "Größe/Tabelle", "order", "a\n'b", "Game", "game"]
            .map(|name| long_enough(name.to_owned()));
        let long = "x".repeat(300);
        let names = TABLES.names(wanted.iter().map(String::as_str).chain([long.as_str()]));
        assert_eq!(names[..7], ["C__", "___", "Gr__e_Tabelle", "order", "a__b", "Game", "game_2"]);
        assert!(names.iter().all(|name| (3..=255).contains(&name.len())), "{names:?}");
    }

    #[test]
    fn attributes_keep_their_names_but_for_the_systems() {
        let members = ["status", "n", "Class", "firstPlayer.username", "a/b", "$where", "it's", "a\0b"];
        let names = ATTRIBUTES.names(SYSTEM.into_iter().chain(members));
        assert_eq!(
            names[SYSTEM.len()..],
            ["status", "n_2", "Class_2", "firstPlayer.username", "a_b", "$where", "it's", "a_b_2"]
        );
    }
}
