//! Changes as PutItem, UpdateItem, DeleteItem, and as one TransactWriteItems where several items change together.
//!
//! Every write of an aggregate is conditional on its version. An entry that is an item of its own changes with the
//! version in the item of the aggregate, so that writers of different entries collide.
//!
//! A copy that follows its masters in the same transaction is put and deleted as it is. One that follows later has a
//! stamp, so that of two writers the later wins whatever order they arrive in; for the same reason a deleted row leaves
//! its key, its stamp and the time when that can go, too.

use super::expiry;
use super::item::{Item, items};
use super::key::{self, Order};
use super::read::{Bound, Cells, block, item_key_bound, key_bound, record};
use super::schema::{Attribute, DynamoTable, Entries, Scalar, Stamps, System, scalar};
use super::value::{Dynamo, attribute, inside};
use crate::generate::Sample;
use askloom_model::{AccessPath, CollectionId, CopyLevel, Id, Value};
use askloom_plan::layout::{Holds, Layout};
use askloom_plan::program::{Batch, Change, ChangeKind, EachChange, EntryPath, Term, Version};
use askloom_plan::tree::TreeOf;

/// A request that writes, as data.
#[derive(Debug, Clone, PartialEq)]
pub enum Write {
    Put {
        table: String,
        item: Cells,
        only: Option<Only>,
    },
    Update {
        table: String,
        key: Cells,
        set: Cells,
        remove: Vec<String>,
        only: Option<Only>,
    },
    Delete {
        table: String,
        key: Cells,
        only: Option<Only>,
    },
    /// All or nothing: at most 100 items, 4 MB, each item once.
    Transaction {
        writes: Vec<Repeated>,
        token: Bound,
    },
    /// Items of one table, each by itself: at most 25, 16 MB, each item once.
    Batch {
        table: String,
        items: Vec<Cells>,
    },
}

/// What must be so of the item before it is written.
#[derive(Debug, Clone, PartialEq)]
pub enum Only {
    /// It has no such attribute, or does not exist.
    Without(String),
    /// The attribute has the value.
    With(String, Bound),
    /// The attribute is missing or smaller.
    Before(String, Bound),
}

/// A write with what it is repeated for.
pub type Repeated = (EachChange, Write);

const VERSION: &str = "version";
const NEXT: &str = "version+1";
pub(super) const STAMP: &str = "stamp";
const GONE: &str = "stamp+10days";
/// The random id of the write.
const TOKEN: &str = "w";

pub(super) fn slot(name: &str, tag: &'static str) -> Bound {
    Bound::Slot { text: format!(":{name}"), tag }
}

/// The requests of a batch, in their order.
#[must_use]
pub fn writes(layout: &Layout, tables: &[DynamoTable], batch: &Batch) -> Vec<Repeated> {
    let mut masters: Vec<(CollectionId, Repeated)> = Vec::new();
    let mut copies: Vec<Repeated> = Vec::new();
    for change in &batch.changes {
        let Some(table) = tables.get(change.table.index()).filter(|table| table.index.is_none()) else {
            continue;
        };
        match (&table.system, &table.stamps) {
            (Some(system), _) => {
                let all = master(layout, table, system, batch, change).into_iter();
                masters.extend(all.map(|(each, write)| {
                    (table.collection, (if each.is_once() { change.each } else { each }, write))
                }));
            }
            (None, Some(stamps)) => {
                let write = copy(layout, table, stamps, batch, change)
                    .map(|write| in_local_indexes(layout, tables, batch, table, change, write));
                copies.extend(write.map(|write| (change.each, write)));
            }
            (None, None) => {}
        }
    }
    for change in &batch.changes {
        let table = tables.get(change.table.index());
        let index = table.and_then(|table| Some((table, table.index.as_ref().filter(|index| !index.local)?)));
        if let Some((table, index)) = index {
            let own = masters.iter_mut().filter(|(of, (_, write))| *of == index.host && write.is_aggregate());
            own.for_each(|(_, (_, write))| index_keys(layout, table, change, write));
        }
    }
    let masters = masters.into_iter().map(|(_, write)| write);
    match batch.level {
        CopyLevel::AtomicUnit | CopyLevel::Transaction => together(masters.chain(copies).collect(), batch),
        CopyLevel::Intents => together(masters.collect(), batch).into_iter().chain(copies).collect(),
    }
}

impl Write {
    /// Whether it writes the item of an aggregate itself.
    fn is_aggregate(&self) -> bool {
        match self {
            Self::Put { only, .. } | Self::Update { only, .. } => only.is_some(),
            Self::Delete { .. } | Self::Transaction { .. } | Self::Batch { .. } => false,
        }
    }
}

/// What an item has for an index alone.
pub(super) fn index_cells(layout: &Layout, table: &DynamoTable, cells: &[Term]) -> Becoming {
    let keys = table.own_keys().map(|key| (key.name.clone(), key_bound(table, key, cells)));
    let values = table.own_values().map(|(at, column)| {
        let term = cells.iter().find(|term| term.column == Some(at));
        (column.name.clone(), term.and_then(|term| bound(layout, column, term)))
    });
    keys.chain(values).collect()
}

/// What a change of an index is in the write of the item: where it is put, what is for the index is set.
fn index_keys(layout: &Layout, table: &DynamoTable, change: &Change, write: &mut Write) {
    let becoming: Becoming = match &change.kind {
        ChangeKind::PutRow(cells) => index_cells(layout, table, cells),
        ChangeKind::DropRow(terms) => {
            index_cells(layout, table, terms).into_iter().map(|(name, _)| (name, None)).collect()
        }
        ChangeKind::Create(_)
        | ChangeKind::Replace(_)
        | ChangeKind::Set { .. }
        | ChangeKind::Bury { .. }
        | ChangeKind::PutEntry { .. }
        | ChangeKind::DropEntry { .. } => return,
    };
    match write {
        Write::Put { item, .. } => {
            for (name, bound) in becoming {
                item.retain(|(other, _)| *other != name);
                item.extend(bound.map(|bound| (name, bound)));
            }
        }
        Write::Update { set, remove, .. } => become_all(set, remove, becoming),
        Write::Delete { .. } | Write::Transaction { .. } | Write::Batch { .. } => {}
    }
}

/// A row with what it has for the local indexes of its table.
fn in_local_indexes(
    layout: &Layout,
    tables: &[DynamoTable],
    batch: &Batch,
    table: &DynamoTable,
    change: &Change,
    mut write: Write,
) -> Write {
    let ChangeKind::PutRow(row) = &change.kind else { return write };
    for other in &batch.changes {
        let (ChangeKind::PutRow(cells), Some(index)) = (&other.kind, tables.get(other.table.index())) else {
            continue;
        };
        let own = index.index.as_ref().is_some_and(|of| of.local && of.host == table.collection);
        if own && index.is_same_row(table, cells, row) {
            index_keys(layout, index, other, &mut write);
        }
    }
    write
}

/// The cells of a record as terms.
pub(super) fn known(cells: &[Value]) -> Vec<Term> {
    cells.iter().enumerate().map(|(at, cell)| Term::known(cell.clone(), at)).collect()
}

/// The write that puts what is already there into a global index. Nothing if that is in it by its members.
pub(super) fn in_index(layout: &Layout, tables: &[DynamoTable], sample: &Sample) -> Option<Write> {
    let Sample::Row { table, cells } = sample else { return None };
    let table = tables.get(table.index())?;
    let index = table.index.as_ref().filter(|index| !index.local)?;
    let host = tables.get(index.host.index())?;
    let terms = known(cells);
    let becoming = index_cells(layout, table, &terms);
    if becoming.is_empty() {
        return None;
    }
    let key = own_key(host, &table.host_terms(host, &terms))?;
    let (mut set, mut remove) = (Vec::new(), Vec::new());
    become_all(&mut set, &mut remove, becoming);
    Some(Write::Update { table: index.table.clone(), key, set, remove: Vec::new(), only: None })
}

/// One request, if there are several.
fn together(writes: Vec<Repeated>, batch: &Batch) -> Vec<Repeated> {
    match writes.as_slice() {
        [] | [(EachChange::Once, _)] => writes,
        _several => {
            let known = batch.preconditions.id.map(|id| Bound::Value(Dynamo::S(id.to_string())));
            let token = known.unwrap_or_else(|| slot(TOKEN, "S"));
            vec![(EachChange::Once, Write::Transaction { writes, token })]
        }
    }
}

/// A number, or its slot.
pub(super) fn number(known: Option<u64>, name: &str) -> Bound {
    known.map_or_else(|| slot(name, "N"), |number| Bound::Value(Dynamo::N(number.to_string())))
}

fn master(
    layout: &Layout,
    table: &DynamoTable,
    system: &System,
    batch: &Batch,
    change: &Change,
) -> Vec<Repeated> {
    let version = batch.version(change.table, change.kind.terms());
    let once = |write: Option<Write>| write.map(|write| (EachChange::Once, write)).into_iter().collect();
    match &change.kind {
        ChangeKind::Create(cells) => once(create(layout, table, system, batch, change, cells)),
        ChangeKind::Replace(cells) => {
            let mut set = members(layout, table, cells);
            set.extend(expiry::expires(system, change).map(|(name, at)| (name, Some(at))));
            if !table.faithful {
                let class = Bound::Value(Dynamo::S(layout.name_of(change.class).to_owned()));
                set.push((system.class.clone(), Some(class)));
            }
            let mut write = update(table, system, version, cells, set);
            if expiry::is_first(version) && system.expires.is_some() && change.expires.is_some() {
                set_version(&mut write, system, expiry::first(batch, true));
            }
            once(write)
        }
        ChangeKind::Set { key, set } => {
            // The papers have no version that changes with an entry.
            if table.faithful && set.is_empty() {
                return Vec::new();
            }
            once(update(table, system, version, key, members(layout, table, set)))
        }
        ChangeKind::Bury { key } => bury(table, system, version, key, batch.entries(change.table, key)),
        ChangeKind::PutEntry { key, path, value } => {
            let held = element(layout, table, value);
            let put = put_entry(table, system, version, key, path, held);
            once(put.map(|put| expiry::with(put, expiry::expires(system, change))))
        }
        ChangeKind::DropEntry { key, path } => once(drop_entry(table, system, version, key, path)),
        ChangeKind::PutRow(_) | ChangeKind::DropRow(_) => Vec::new(),
    }
}

fn create(
    layout: &Layout,
    table: &DynamoTable,
    system: &System,
    batch: &Batch,
    change: &Change,
    cells: &[Term],
) -> Option<Write> {
    // One that was deleted, or has expired, left its version: what is made now goes on from there.
    let version = batch.version(change.table, cells);
    if let (Version::Read(_), false) = (version, table.faithful) {
        let mut set = members(layout, table, cells);
        set.extend(expiry::expires(system, change).map(|(name, at)| (name, Some(at))));
        let class = Bound::Value(Dynamo::S(layout.name_of(change.class).to_owned()));
        set.push((system.class.clone(), Some(class)));
        return update(table, system, version, cells, set);
    }
    let mut item = own_key(table, cells)?;
    let own = members(layout, table, cells);
    item.extend(own.into_iter().filter_map(|(name, bound)| Some((name, bound?))));
    if table.faithful {
        return Some(Write::Put { table: table.name.clone(), item, only: None });
    }
    let expires = expiry::expires(system, change);
    item.push((system.version.clone(), expiry::first(batch, expires.is_some())));
    item.push((system.class.clone(), Bound::Value(Dynamo::S(layout.name_of(change.class).to_owned()))));
    item.extend(expires);
    let only = Some(Only::Without(system.version.clone()));
    Some(Write::Put { table: table.name.clone(), item, only })
}

fn set_version(write: &mut Option<Write>, system: &System, version: Bound) {
    if let Some(Write::Update { set, .. }) = write
        && let Some((_, next)) = set.iter_mut().find(|(name, _)| *name == system.version)
    {
        *next = version;
    }
}

/// The key of the item of the aggregate itself.
fn own_key(table: &DynamoTable, terms: &[Term]) -> Option<Cells> {
    record(table, terms)
}

/// Attributes with what they become: nothing if they go.
pub(super) type Becoming = Vec<(String, Option<Bound>)>;

fn members(layout: &Layout, table: &DynamoTable, terms: &[Term]) -> Becoming {
    let own = terms.iter().filter_map(|term| {
        let column = table.attributes.get(term.column?).filter(|column| !column.in_key)?;
        Some((column.name.clone(), bound(layout, column, term)))
    });
    own.collect()
}

fn bound(layout: &Layout, column: &Attribute, term: &Term) -> Option<Bound> {
    match &term.value {
        Some(value) => attribute(layout, column, value).map(Bound::Value),
        None => Some(slot(&term.name, tag(&column.of.holds))),
    }
}

/// The type that an attribute has.
fn tag(holds: &Holds) -> &'static str {
    match holds {
        Holds::Scalar(askloom_model::Type::Bool) => "BOOL",
        Holds::Scalar(askloom_model::Type::Double) => Scalar::N.name(),
        Holds::Scalar(askloom_model::Type::Json) => Scalar::S.name(),
        Holds::Scalar(ty) => scalar(ty, Order::Free).name(),
        Holds::Ordinal => Scalar::N.name(),
        Holds::Locator => Scalar::B.name(),
        Holds::Tree { of: TreeOf::Identity(_), many: true } => "SS",
        Holds::Tree { many: true, .. } | Holds::Tree { of: TreeOf::Identity(_), .. } => "L",
        Holds::Tree { .. } => "M",
    }
}

fn update(
    table: &DynamoTable,
    system: &System,
    version: Version,
    key: &[Term],
    becoming: Becoming,
) -> Option<Write> {
    let mut set = Vec::new();
    let mut remove = Vec::new();
    if !table.faithful {
        set.push((system.version.clone(), number(version.next(), NEXT)));
    }
    become_all(&mut set, &mut remove, becoming);
    let key = own_key(table, key)?;
    Some(Write::Update { table: table.name.clone(), key, set, remove, only: only(table, system, version) })
}

/// DynamoDB refuses an update that names an attribute twice: of two the later is meant.
fn become_all(set: &mut Cells, remove: &mut Vec<String>, becoming: Becoming) {
    for (name, bound) in becoming {
        set.retain(|(other, _)| *other != name);
        remove.retain(|other| *other != name);
        match bound {
            Some(bound) => set.push((name, bound)),
            None => remove.push(name),
        }
    }
}

fn only(table: &DynamoTable, system: &System, version: Version) -> Option<Only> {
    let name = system.version.clone();
    let only = match version {
        Version::Slot => Only::With(name, slot(VERSION, "N")),
        Version::Absent => Only::Without(name),
        Version::Read(version) => Only::With(name, number(Some(version), VERSION)),
    };
    (!table.faithful).then_some(only)
}

fn bury(
    table: &DynamoTable,
    system: &System,
    version: Version,
    key: &[Term],
    entries: Option<&[AccessPath]>,
) -> Vec<Repeated> {
    if table.faithful {
        let key = own_key(table, key);
        let delete = key.map(|key| Write::Delete { table: table.name.clone(), key, only: None });
        return delete.map(|write| (EachChange::Once, write)).into_iter().collect();
    }
    let mut gone: Becoming = vec![(system.class.clone(), None)];
    // What is left must not expire: it has the version.
    gone.extend(system.expires.iter().map(|name| (name.clone(), None)));
    gone.extend(table.outside().map(|(_, column)| (column.name.clone(), None)));
    let mut all: Vec<Repeated> = update(table, system, version, key, gone)
        .map(|write| (EachChange::Once, write))
        .into_iter()
        .collect();
    if let (Entries::Items { .. }, Some(sort), Some(partition)) =
        (&system.entries, &table.sort, block(table, key))
    {
        let item = |path: &AccessPath| item_key_bound(table, sort, key, &key::item_text(path));
        let delete = |item: Bound| Write::Delete {
            table: table.name.clone(),
            key: vec![partition.clone(), (sort.name.clone(), item)],
            only: None,
        };
        match entries {
            Some(entries) => {
                let there = entries.iter().filter_map(|path| Some((EachChange::Once, delete(item(path)?))));
                all.extend(there);
            }
            None => {
                let each = EachChange::OtherRecords(table.collection);
                all.push((each, delete(slot(&sort.name, sort.scalar().name()))));
            }
        }
    }
    all
}

/// The value of an element that becomes an entry of its own.
fn element(layout: &Layout, table: &DynamoTable, value: &Term) -> Bound {
    let column = value.column.and_then(|index| table.attributes.get(index));
    let of = column.and_then(|column| match &column.of.holds {
        Holds::Tree { of, .. } => Some(of),
        Holds::Scalar(_) | Holds::Ordinal | Holds::Locator => None,
    });
    match (&value.value, of) {
        (Some(known), Some(of)) => Bound::Value(inside(layout, of, known)),
        (_, of) => {
            let tag = match of {
                Some(TreeOf::Basic(ty)) => tag(&Holds::Scalar(ty.clone())),
                Some(TreeOf::Identity(_)) => Scalar::S.name(),
                Some(TreeOf::Instance(_)) | None => "M",
            };
            slot(&value.name, tag)
        }
    }
}

fn entry_key(table: &DynamoTable, key: &[Term], path: &EntryPath) -> Option<Cells> {
    let sort = table.sort.as_ref()?;
    let own = match &path.known {
        Some(known) => item_key_bound(table, sort, key, &key::item_text(known))?,
        None => {
            let item = format!("{}{}:{}", key::escaped(&path.list, Order::Kept), key::JOIN, path.slot);
            match item_key_bound(table, sort, key, &item)? {
                // What is known of it is not all.
                Bound::Value(Dynamo::S(text)) => Bound::Slot { text, tag: "S" },
                Bound::Value(_) => Bound::Slot { text: format!(":{}", sort.name), tag: sort.scalar().name() },
                slot @ Bound::Slot { .. } => slot,
            }
        }
    };
    Some(vec![block(table, key)?, (sort.name.clone(), own)])
}

/// The attribute of an element: its path, maybe with a slot.
fn entry_attribute(table: &DynamoTable, path: &EntryPath) -> String {
    if table.faithful { path.text() } else { format!("/{}", path.text()) }
}

fn put_entry(
    table: &DynamoTable,
    system: &System,
    version: Version,
    key: &[Term],
    path: &EntryPath,
    held: Bound,
) -> Option<Write> {
    match &system.entries {
        Entries::Inside => None,
        Entries::Items { value } => {
            let mut item = entry_key(table, key, path)?;
            item.push((value.clone(), held));
            Some(Write::Put { table: table.name.clone(), item, only: None })
        }
        Entries::Attributes => {
            update(table, system, version, key, vec![(entry_attribute(table, path), Some(held))])
        }
    }
}

fn drop_entry(
    table: &DynamoTable,
    system: &System,
    version: Version,
    key: &[Term],
    path: &EntryPath,
) -> Option<Write> {
    match &system.entries {
        Entries::Inside => None,
        Entries::Items { .. } => {
            let key = entry_key(table, key, path)?;
            Some(Write::Delete { table: table.name.clone(), key, only: None })
        }
        Entries::Attributes => {
            update(table, system, version, key, vec![(entry_attribute(table, path), None)])
        }
    }
}

fn copy(
    layout: &Layout,
    table: &DynamoTable,
    stamps: &Stamps,
    batch: &Batch,
    change: &Change,
) -> Option<Write> {
    let later = match batch.level {
        CopyLevel::AtomicUnit | CopyLevel::Transaction => false,
        CopyLevel::Intents => !table.faithful,
    };
    let stamp = || number(batch.preconditions.stamp, STAMP);
    let only = later.then(|| Only::Before(stamps.stamp.clone(), stamp()));
    let stamped = |mut item: Cells| {
        if later {
            item.push((stamps.stamp.clone(), stamp()));
        }
        item
    };
    let name = table.name.clone();
    match &change.kind {
        ChangeKind::PutRow(cells) => {
            let mut item = record(table, cells)?;
            let own = members(layout, table, cells);
            item.extend(own.into_iter().filter_map(|(name, bound)| Some((name, bound?))));
            Some(Write::Put { table: name, item: stamped(item), only })
        }
        ChangeKind::DropRow(terms) => {
            let key = record(table, terms)?;
            if !later {
                return Some(Write::Delete { table: name, key, only });
            }
            let mut item = stamped(key);
            // In seconds, as the store wants to have it.
            let gone = batch.preconditions.stamp.map(|stamp| stamp / 1_000_000 + 10 * 86_400);
            item.push((stamps.gone.clone(), number(gone, GONE)));
            Some(Write::Put { table: name, item, only })
        }
        ChangeKind::Create(_)
        | ChangeKind::Replace(_)
        | ChangeKind::Set { .. }
        | ChangeKind::Bury { .. }
        | ChangeKind::PutEntry { .. }
        | ChangeKind::DropEntry { .. } => None,
    }
}

/// The requests that put records in as they stand: as few as can be.
#[must_use]
pub fn puts(layout: &Layout, tables: &[DynamoTable], samples: &[&Sample]) -> Vec<Write> {
    let all = samples.iter().flat_map(|sample| items(layout, tables, sample));
    batches(all)
}

/// Some bytes less than the 128 KiB that Linux takes as one argument.
const ARGUMENT: usize = 100_000;
const BATCH: usize = 25;

pub(super) fn batches(all: impl IntoIterator<Item = (String, Item)>) -> Vec<Write> {
    let mut batches: Vec<(String, Vec<Item>, usize)> = Vec::new();
    for (table, item) in all {
        // What is printed is longer than what is stored, by its marks and by base64.
        let size: usize = item.iter().map(|(name, value)| 2 * (name.len() + value.size() + 16)).sum();
        match batches.last_mut() {
            Some((name, items, before))
                if *name == table && items.len() < BATCH && *before + size < ARGUMENT =>
            {
                items.push(item);
                *before += size;
            }
            _full => batches.push((table, vec![item], size)),
        }
    }
    let known =
        |item: Item| -> Cells { item.into_iter().map(|(name, value)| (name, Bound::Value(value))).collect() };
    let one = |(table, items, _): (String, Vec<Item>, usize)| {
        let mut items: Vec<Cells> = items.into_iter().map(known).collect();
        match (items.pop(), items.is_empty()) {
            (Some(item), true) => Some(Write::Put { table, item, only: None }),
            (Some(item), false) => {
                items.push(item);
                Some(Write::Batch { table, items })
            }
            (None, _) => None,
        }
    };
    batches.into_iter().filter_map(one).collect()
}

#[cfg(test)]
mod tests;
