//! Changes as one conditional batch for an aggregate, and a statement for each record of a copy.
//!
//! An aggregate is in one partition, so that all of it changes in one batch, under the condition that its version is the
//! one that was read. Copies are in other partitions: they follow, each with the stamp of the change, so that of two
//! writers the later wins whatever order they arrive in.

use super::read::{Bound, Condition, bound, column, is_of_key};
use super::schema::{CqlTable, System, has_entries};
use super::value::Cql;
use crate::generate::Sample;
use askloom_model::{ClassId, Id, Value};
use askloom_plan::layout::Layout;
use askloom_plan::program::{Batch, Change, ChangeKind, EachChange, Term, Version};

/// A statement that changes something, as data.
#[derive(Debug, Clone, PartialEq)]
pub enum Mutation {
    /// All or nothing, in one partition.
    Batch(Vec<Mutation>),
    Insert {
        table: String,
        cells: Vec<(String, Bound)>,
        stamp: Option<Bound>,
        /// In seconds.
        ttl: Option<u64>,
    },
    Update {
        table: String,
        /// In seconds.
        ttl: Option<u64>,
        set: Vec<(String, Bound)>,
        key: Vec<Condition>,
        condition: Option<Condition>,
    },
    Delete {
        table: String,
        key: Vec<Condition>,
        stamp: Option<Bound>,
    },
}

/// A mutation with what it is repeated for.
pub type Repeated = (EachChange, Mutation);

/// One aggregate: a conditional batch changes no more than one.
type Partition = (String, Vec<Condition>);

const STAMP: &str = "stamp";
const BEFORE: &str = "stamp-1";
const VERSION: &str = "version";
const NEXT: &str = "version+1";
/// The longest TTL that Cassandra takes: 20 years.
const LONGEST: u64 = 20 * 365 * 24 * 60 * 60;

/// The statements of a batch, in their order.
#[must_use]
pub fn mutations(layout: &Layout, tables: &[CqlTable], batch: &Batch) -> Vec<Repeated> {
    let mut found: Vec<Repeated> = Vec::new();
    let mut owned: Vec<(Partition, EachChange, Vec<Mutation>)> = Vec::new();
    for change in &batch.changes {
        let own = tables.get(change.table.index());
        // An index changes with the rows that it is of.
        let Some(table) = own.filter(|table| table.index.is_none()) else { continue };
        match &table.system {
            Some(system) => {
                let all = master(layout, table, system, batch, change);
                let partition = (table.name.clone(), key(layout, table, change.kind.terms()));
                match owned.iter_mut().find(|(own, each, _)| *own == partition && *each == change.each) {
                    Some((_, _, mutations)) => mutations.extend(all),
                    None => owned.push((partition, change.each, all)),
                }
            }
            None => found.extend(copy(layout, table, batch, change).map(|mutation| (change.each, mutation))),
        }
    }
    let masters = owned.into_iter().filter_map(|(_, each, mut mutations)| {
        let mutation = match mutations.len() {
            0 | 1 => mutations.pop()?,
            _several => Mutation::Batch(mutations),
        };
        Some((each, mutation))
    });
    masters.chain(found).collect()
}

fn slot(name: &str) -> Bound {
    Bound::Slot(name.to_owned())
}

fn known(value: Cql) -> Bound {
    Bound::Value(value)
}

fn number(known_number: Option<u64>, name: &str) -> Bound {
    known_number
        .map_or_else(|| slot(name), |number| known(Cql::Int(i64::try_from(number).unwrap_or(i64::MAX))))
}

fn master(
    layout: &Layout,
    table: &CqlTable,
    system: &System,
    batch: &Batch,
    change: &Change,
) -> Vec<Mutation> {
    let version = batch.version(change.table, change.kind.terms());
    let next = || number(version.next(), NEXT);
    let before = match version {
        Version::Slot => slot(VERSION),
        Version::Absent => known(Cql::Null),
        Version::Read(version) => number(Some(version), VERSION),
    };
    let read = || Condition { column: system.version.clone(), operator: "=", bound: before.clone() };
    let ttl = ttl(layout, change);
    let update = |set: Vec<(String, Bound)>, mut key: Vec<Condition>, condition: Condition| {
        key.extend(first_row(system));
        let table = table.name.clone();
        expiring(system, ttl, Mutation::Update { table, ttl: None, set, key, condition: Some(condition) })
    };
    match &change.kind {
        ChangeKind::Create(cells) => {
            // One that was deleted, or has expired, left its version: what is made now goes on from there.
            let (condition, first) = match version {
                Version::Read(_) => (read(), next()),
                Version::Slot | Version::Absent => {
                    (Condition { bound: known(Cql::Null), ..read() }, known(Cql::Int(1)))
                }
            };
            let set = whole(layout, table, system, change.class, cells, first);
            update(set, key(layout, table, cells), condition)
        }
        ChangeKind::Replace(cells) => {
            let set = whole(layout, table, system, change.class, cells, next());
            update(set, key(layout, table, cells), read())
        }
        ChangeKind::Set { key: of, set } => {
            let mut all = vec![(system.version.clone(), next())];
            all.extend(set.iter().filter_map(|term| cell(layout, table, term)));
            update(all, key(layout, table, of), read())
        }
        ChangeKind::Bury { key: of } => {
            let mut all = vec![(system.version.clone(), next()), (system.class.clone(), known(Cql::Null))];
            let members = table.columns.iter().filter(|column| !is_of_key(column));
            all.extend(members.map(|column| (column.name.clone(), known(Cql::Null))));
            let mut gone = update(all, key(layout, table, of), read());
            // Every path is behind the empty one. A delete of the partition, or of the first row, would take the version
            // along.
            let own = layout.table(change.table).is_some_and(has_entries);
            gone.extend(system.entry.as_ref().filter(|_| own).map(|(entry, _)| {
                let mut key = key(layout, table, of);
                let bound = known(Cql::Text(String::new()));
                let operator = if system.clustered { ">" } else { ">=" };
                key.push(Condition { column: entry.clone(), operator, bound });
                Mutation::Delete { table: table.name.clone(), key, stamp: None }
            }));
            gone
        }
        ChangeKind::PutEntry { key: of, path, value } => {
            let Some((entry, held)) = &system.entry else { return Vec::new() };
            let mut cells: Vec<(String, Bound)> =
                of.iter().filter_map(|term| cell(layout, table, term)).chain(table.fixed_cells()).collect();
            cells.push((entry.clone(), known(Cql::Text(path.text()))));
            cells.push((held.clone(), element(layout, change, value)));
            vec![Mutation::Insert { table: table.name.clone(), cells, stamp: None, ttl }]
        }
        ChangeKind::DropEntry { key: of, path } => {
            let Some((entry, _)) = &system.entry else { return Vec::new() };
            let mut key = key(layout, table, of);
            key.push(Condition {
                column: entry.clone(),
                operator: "=",
                bound: known(Cql::Text(path.text())),
            });
            vec![Mutation::Delete { table: table.name.clone(), key, stamp: None }]
        }
        ChangeKind::PutRow(_) | ChangeKind::DropRow(_) => Vec::new(),
    }
}

/// Which row of an aggregate has its version, where that is not static.
fn first_row(system: &System) -> Option<Condition> {
    let column = system.first_row()?.to_owned();
    Some(Condition { column, operator: "=", bound: known(Cql::Text(String::new())) })
}

/// How long Cassandra keeps what a change writes into an aggregate that expires.
fn ttl(layout: &Layout, change: &Change) -> Option<u64> {
    let kept = match &change.expires {
        Some(expires) => expires.kept_ms(),
        None => layout.kept_ms(layout.table(change.table)?),
    };
    seconds(kept?)
}

fn seconds(kept_ms: u64) -> Option<u64> {
    Some(kept_ms.div_ceil(1000)).filter(|seconds| *seconds <= LONGEST)
}

/// All that a statement sets has its TTL, so what expires is set by a statement of its own beside the one that has the
/// condition. The version stays, and without the class what is left is an aggregate that was deleted.
fn expiring(system: &System, ttl: Option<u64>, update: Mutation) -> Vec<Mutation> {
    let Mutation::Update { table, set, key, condition, .. } = update else { return vec![update] };
    let known = |(_, bound): &(String, Bound)| *bound != Bound::Value(Cql::Null);
    let (stays, goes): (Vec<_>, Vec<_>) =
        set.into_iter().partition(|cell| ttl.is_none() || cell.0 == system.version || !known(cell));
    let mut all =
        vec![Mutation::Update { table: table.clone(), ttl: None, set: stays, key: key.clone(), condition }];
    if !goes.is_empty() {
        all.push(Mutation::Update { table, ttl, set: goes, key, condition: None });
    }
    all
}

fn element(layout: &Layout, change: &Change, value: &Term) -> Bound {
    let column = layout.table(change.table).and_then(|table| table.columns.get(value.column?));
    match (&value.value, column) {
        (Some(known_value), Some(column)) => {
            known(Cql::Text(column.tree(&layout.conceptual, known_value).to_json().to_string()))
        }
        (_, _) => slot(&value.name),
    }
}

fn whole(
    layout: &Layout,
    table: &CqlTable,
    system: &System,
    class: ClassId,
    cells: &[Term],
    version: Bound,
) -> Vec<(String, Bound)> {
    let name = layout.name_of(class).to_owned();
    let mut set = vec![(system.version.clone(), version), (system.class.clone(), known(Cql::Text(name)))];
    let members = cells.iter().filter(|term| column(table, term).is_some_and(|own| !is_of_key(own)));
    set.extend(members.filter_map(|term| cell(layout, table, term)));
    set
}

fn class_name(layout: &Layout, table: &CqlTable) -> String {
    let root = layout.design.collections[table.collection].source.root;
    layout.conceptual.classes[root].name.clone()
}

fn key(layout: &Layout, table: &CqlTable, terms: &[Term]) -> Vec<Condition> {
    let own = terms.iter().filter(|term| column(table, term).is_some_and(is_of_key));
    let own = own.filter_map(|term| cell(layout, table, term));
    let mut conditions = own.map(|(column, bound)| Condition { column, operator: "=", bound }).collect();
    table.of_class(true, &mut conditions);
    conditions
}

fn cell(layout: &Layout, table: &CqlTable, term: &Term) -> Option<(String, Bound)> {
    let own = column(table, term)?;
    Some((own.name.clone(), bound(layout, own, term)))
}

fn copy(layout: &Layout, table: &CqlTable, batch: &Batch, change: &Change) -> Option<Mutation> {
    let stamp = Some(number(batch.preconditions.stamp, STAMP));
    let constant = table.constant.iter().map(|name| (name.clone(), known(Cql::Int(0))));
    match &change.kind {
        ChangeKind::PutRow(cells) => {
            let own = cells.iter().filter_map(|term| cell(layout, table, term));
            let cells = constant.chain(own).collect();
            Some(Mutation::Insert { table: table.name.clone(), cells, stamp, ttl: None })
        }
        ChangeKind::DropRow(terms) => {
            let own = terms.iter().filter_map(|term| cell(layout, table, term));
            let key = constant.chain(own).map(|(column, bound)| Condition { column, operator: "=", bound });
            // Of two that are as late the delete would win: the row may be put back by the same change.
            let before = batch.preconditions.stamp.map(|stamp| stamp.saturating_sub(1));
            let stamp = Some(number(before, BEFORE));
            Some(Mutation::Delete { table: table.name.clone(), key: key.collect(), stamp })
        }
        ChangeKind::Create(_)
        | ChangeKind::Replace(_)
        | ChangeKind::Set { .. }
        | ChangeKind::Bury { .. }
        | ChangeKind::PutEntry { .. }
        | ChangeKind::DropEntry { .. } => None,
    }
}

/// The statements that put a record in as it stands.
#[must_use]
pub(super) fn sample(layout: &Layout, tables: &[CqlTable], sample: &Sample) -> Vec<Mutation> {
    match sample {
        Sample::Row { table, cells } => {
            let own = tables.get(table.index()).filter(|table| table.index.is_none());
            let Some(table) = own else { return Vec::new() };
            let constant = table.constant.iter().map(|name| (name.clone(), known(Cql::Int(0))));
            let cells = constant.chain(filled(layout, table, cells)).collect();
            vec![Mutation::Insert { table: table.name.clone(), cells, stamp: None, ttl: None }]
        }
        Sample::Block { table: id, block } => {
            let (Some(table), Some(own)) = (tables.get(id.index()), layout.table(*id)) else {
                return Vec::new();
            };
            let Some(system) = &table.system else { return Vec::new() };
            let values = layout.block_cells(own, block);
            let (mut key, mut cells): (Vec<_>, Vec<_>) = filled(layout, table, &values)
                .partition(|(name, _): &(String, Bound)| table.names_aggregate(name));
            key.extend(table.fixed_cells());
            let version = i64::try_from(block.version).unwrap_or(i64::MAX);
            cells.push((system.version.clone(), known(Cql::Int(version))));
            cells.push((system.rest.clone(), known(Cql::Blob(block.system.clone()))));
            if block.fields.root.is_some() {
                let name =
                    layout.class_name(own, block).map_or_else(|| class_name(layout, table), str::to_owned);
                cells.push((system.class.clone(), known(Cql::Text(name))));
            }
            // As every write of an aggregate, by a lightweight transaction: others must not come before or behind it.
            let equal = |(name, bound): &(String, Bound)| Condition {
                column: name.clone(),
                operator: "=",
                bound: bound.clone(),
            };
            let none = Condition { column: system.version.clone(), operator: "=", bound: known(Cql::Null) };
            let ttl = block.expires.as_ref().and_then(|expires| seconds(expires.kept_ms()?));
            let update = Mutation::Update {
                table: table.name.clone(),
                ttl: None,
                set: cells,
                key: key.iter().map(equal).chain(first_row(system)).collect(),
                condition: Some(none),
            };
            let mut all = expiring(system, ttl, update);
            for (path, value) in &block.entries {
                let Some((entry, held)) = &system.entry else { continue };
                let json = layout.entry_tree(own, path, value).to_json().to_string();
                let mut cells = key.clone();
                cells.push((entry.clone(), known(Cql::Text(path.to_string()))));
                cells.push((held.clone(), known(Cql::Text(json))));
                all.push(Mutation::Insert { table: table.name.clone(), cells, stamp: None, ttl });
            }
            if all.len() > 1 { vec![Mutation::Batch(all)] } else { all }
        }
    }
}

/// The cells that are not null, which are left out: a null in an INSERT deletes.
fn filled<'c>(
    layout: &'c Layout,
    table: &'c CqlTable,
    cells: &'c [Value],
) -> impl Iterator<Item = (String, Bound)> + 'c {
    let pairs = table.columns.iter().enumerate().zip(cells);
    pairs.filter_map(|((index, column), value)| {
        let term = Term::known(value.clone(), index);
        let bound = bound(layout, column, &term);
        (bound != Bound::Value(Cql::Null)).then(|| (column.name.clone(), bound))
    })
}
