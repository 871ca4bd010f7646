//! Changes as one call of a function: what was read is checked, then all of it is done. In a cluster there is a call
//! for each tag: first those that take unique values, then the aggregate's, then the others. What follows an aggregate
//! there has the stamp of the write, which is its version, too.

use super::command::{Arg, Command};
use super::schema::{CLASS, EXPIRES, Flavour, Kind, NOTHING, RedisTable, SYSTEM, VERSION};
use super::value::{field, number, number_of};
use crate::generate::Sample;
use askloom_model::{Id, Value};
use askloom_plan::layout::{Layout, Shape};
use askloom_plan::program::{
    Action, Batch, Change, ChangeKind, EachChange, EntryPath, How, Step, Term, Version, later_seconds, millis,
};

/// A call of the function that writes, as data.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Call {
    pub keys: Vec<Arg>,
    /// Which key must have which version: the number of the key from 1, and an empty one if there must be none.
    pub checks: Vec<(usize, Arg)>,
    /// Blocks in which nobody else may have a row.
    pub free: Vec<Repeated>,
    pub steps: Vec<Repeated>,
}

/// What is done to a key, and what it is repeated for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeated {
    pub each: EachChange,
    pub key: usize,
    pub name: &'static str,
    pub args: Vec<Arg>,
}

const READ: &str = "version";
/// Of a write in a cluster: the version that it makes, more than the one that was read and not less than the clock in
/// microseconds.
const STAMP: &str = "stamp";

/// The calls of a batch, in their order. `before` is what was read for it.
#[must_use]
pub fn calls(
    layout: &Layout,
    tables: &[RedisTable],
    flavour: Flavour,
    before: &[Step],
    batch: &Batch,
) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    for change in &batch.changes {
        let Some(table) = tables.get(change.table.index()) else { continue };
        let key = table.aggregate_key(change.kind.terms());
        let call = match flavour {
            Flavour::Plain | Flavour::Search => 0,
            Flavour::Cluster => calls.iter().position(|call| call.keys.contains(&key)).unwrap_or(calls.len()),
        };
        while calls.len() <= call {
            calls.push(Call::default());
        }
        if let Some(call) = calls.get_mut(call) {
            let number = call.key(key);
            call.change(layout, table, flavour, batch, change, number);
            call.list(table, change);
        }
    }
    calls.sort_by_key(|call| call.free.is_empty());
    if let (Flavour::Plain | Flavour::Search, Some(call)) = (flavour, calls.first_mut()) {
        call.read(layout, tables, before, batch);
    }
    calls
}

impl Call {
    /// The number of a key, from 1.
    fn key(&mut self, key: Arg) -> usize {
        match self.keys.iter().position(|other| *other == key) {
            Some(index) => index + 1,
            None => {
                self.keys.push(key);
                self.keys.len()
            }
        }
    }

    fn check(&mut self, key: usize, version: Arg) {
        if self.checks.iter().all(|(other, _)| *other != key) {
            self.checks.push((key, version));
        }
    }

    fn step(&mut self, key: usize, name: &'static str, args: Vec<Arg>, each: EachChange) {
        let step = Repeated { each, key, name, args };
        // Several statements of one write make one new version.
        if !matches!(name, "next" | "at") || !self.steps.contains(&step) {
            self.steps.push(step);
        }
    }

    /// What the other aggregates that were read must still be.
    fn read(&mut self, layout: &Layout, tables: &[RedisTable], before: &[Step], batch: &Batch) {
        for step in before.iter().filter(|step| step.each.is_once()) {
            let Action::Read(read) = &step.action else { continue };
            let How::Block(terms) = &read.how else { continue };
            let own = tables.get(read.table.index());
            let Some(table) = own.filter(|table| table.kind.is_of_aggregates()) else { continue };
            let name = layout.table(read.table).map(|table| table.name.as_str()).unwrap_or_default();
            let number = self.key(table.aggregate_key(terms));
            self.check(number, version(batch.version(read.table, terms), &format!("{name}.{READ}")));
        }
    }

    /// A new version of an aggregate.
    fn version(&mut self, key: usize, flavour: Flavour, batch: &Batch, each: EachChange) {
        match flavour {
            Flavour::Plain | Flavour::Search => self.step(key, "next", Vec::new(), each),
            Flavour::Cluster => self.step(key, "at", vec![stamp(batch)], each),
        }
    }

    /// What must be read and what is done for a row of a copy.
    fn copy(
        &mut self,
        table: &RedisTable,
        (batch, change): (&Batch, &Change),
        key: usize,
        row: &[Term],
        fields: Option<Vec<Arg>>,
    ) {
        let spread = table.kind == Kind::Spread;
        let name = match (&fields, spread, table.stamped) {
            (Some(_), true, false) => "row",
            (Some(_), true, true) => "newer_row",
            (Some(_), false, false) => "hash",
            (Some(_), false, true) => "newer_hash",
            (None, true, false) => "norow",
            (None, true, true) => "newer_norow",
            (None, false, false) => "gone",
            (None, false, true) => "newer_gone",
        };
        let each = change.each;
        if change.unique && spread {
            let args = counted(vec![table.member(row)], 1);
            self.free.push(Repeated { each, key, name: "free", args });
        }
        let mut args = Vec::new();
        args.extend(spread.then(|| table.member(row)));
        args.extend(table.stamped.then(|| stamp(batch)));
        args.extend(fields.into_iter().flatten());
        self.step(key, name, args, each);
    }

    fn change(
        &mut self,
        layout: &Layout,
        table: &RedisTable,
        flavour: Flavour,
        batch: &Batch,
        change: &Change,
        key: usize,
    ) {
        let each = change.each;
        let read = || version(batch.version(change.table, change.kind.terms()), READ);
        match &change.kind {
            ChangeKind::Create(cells) | ChangeKind::Replace(cells) => {
                let new = matches!(change.kind, ChangeKind::Create(_));
                self.check(key, if new { Arg::text("") } else { read() });
                self.version(key, flavour, batch, each);
                // One that has expired may still be there.
                if new && change.expires.is_some() {
                    self.step(key, "clear", Vec::new(), each);
                }
                if !new {
                    self.cut(table, key, cells, each);
                }
                let mut pairs = vec![Arg::text(CLASS), Arg::text(layout.name_of(change.class))];
                pairs.extend(self::pairs(layout, table, cells));
                self.step(key, "put", counted(pairs, 2), each);
                if let Some(expires) = &change.expires {
                    self.step(key, "expire", vec![time(&expires.at)], each);
                }
            }
            ChangeKind::Set { set, .. } => {
                self.check(key, read());
                self.version(key, flavour, batch, each);
                self.cut(table, key, set, each);
                let pairs = pairs(layout, table, set);
                if !pairs.is_empty() {
                    self.step(key, "put", counted(pairs, 2), each);
                }
            }
            ChangeKind::Bury { key: of } => {
                self.check(key, read());
                self.version(key, flavour, batch, each);
                self.step(key, "clear", Vec::new(), each);
                // The id stays with the version: who reads all of them sees whose it is.
                self.step(key, "put", counted(pairs(layout, table, of), 2), each);
            }
            ChangeKind::PutEntry { path, value, .. } => {
                let held = element(layout, change, value);
                self.step(key, "put", counted(vec![entry(path), held], 2), each);
            }
            ChangeKind::DropEntry { path, .. } => {
                self.step(key, "cut", counted(vec![entry(path)], 1), each);
            }
            ChangeKind::PutRow(cells) => {
                let mut fields = pairs(layout, table, cells);
                fields.extend(shadow_pairs(table, cells));
                if fields.is_empty() {
                    fields = vec![Arg::text(NOTHING), Arg::text("")];
                }
                self.copy(table, (batch, change), key, cells, Some(counted(fields, 2)));
            }
            ChangeKind::DropRow(terms) => self.copy(table, (batch, change), key, terms, None),
        }
    }

    /// Puts an aggregate into the list of its partition, or takes it out: what was deleted keeps its version, and is not
    /// in the way of who reads the list.
    fn list(&mut self, table: &RedisTable, change: &Change) {
        let name = match &change.kind {
            _ if table.kind != Kind::Clustered => return,
            ChangeKind::Create(_) | ChangeKind::Replace(_) => "list",
            ChangeKind::Bury { .. } => "unlist",
            ChangeKind::Set { .. }
            | ChangeKind::PutEntry { .. }
            | ChangeKind::DropEntry { .. }
            | ChangeKind::PutRow(_)
            | ChangeKind::DropRow(_) => return,
        };
        let terms = change.kind.terms();
        let partition = self.key(table.block_key(terms));
        self.step(partition, name, vec![table.member(terms)], change.each);
    }

    /// Fields that become null.
    fn cut(&mut self, table: &RedisTable, key: usize, terms: &[Term], each: EachChange) {
        let nulls = terms.iter().filter(|term| term.value == Some(Value::Null));
        let columns = nulls.filter_map(|term| table.column(term));
        let cut: Vec<Arg> = columns.map(|column| Arg::text(&column.field)).collect();
        if !cut.is_empty() {
            self.step(key, "cut", counted(cut, 1), each);
        }
    }

    /// The call as a command.
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = Command::new("FCALL askloom_write").word(&self.keys.len().to_string());
        command.args.extend(self.keys.iter().cloned());
        for (key, version) in &self.checks {
            command = command.word("if").word(&key.to_string()).arg(version.clone());
        }
        for step in self.free.iter().chain(&self.steps) {
            command = command.word(step.name).word(&step.key.to_string());
            command.args.extend(step.args.iter().cloned());
        }
        command
    }
}

/// As the function takes it: empty where there is none.
fn version(version: Version, name: &str) -> Arg {
    match version {
        Version::Slot => Arg::slot(name),
        Version::Absent => Arg::text(""),
        Version::Read(number) => Arg::text(&number.to_string()),
    }
}

/// The stamp of the write.
fn stamp(batch: &Batch) -> Arg {
    batch.preconditions.stamp.map_or_else(|| Arg::slot(STAMP), |stamp| Arg::text(&stamp.to_string()))
}

/// Milliseconds since 1970.
fn time(term: &Term) -> Arg {
    match &term.value {
        Some(Value::Timestamp(at)) => Arg::text(&at.as_millisecond().to_string()),
        Some(Value::Int(at)) => Arg::text(&at.to_string()),
        Some(_) | None => Arg::slot(&term.name),
    }
}

/// How many there are, then they.
fn counted(args: Vec<Arg>, size: usize) -> Vec<Arg> {
    let count = Arg::text(&(args.len() / size).to_string());
    [vec![count], args].concat()
}

/// Fields and what they hold, without nulls.
fn pairs(layout: &Layout, table: &RedisTable, terms: &[Term]) -> Vec<Arg> {
    let mut pairs = Vec::new();
    for term in terms {
        let Some(column) = table.column(term) else { continue };
        let held = match &term.value {
            Some(value) => match field(layout, &column.of, value) {
                Some(bytes) => Arg::known(bytes),
                None => continue,
            },
            None => Arg::slot(&term.name),
        };
        pairs.extend([Arg::text(&column.field), held]);
    }
    pairs
}

fn shadow_pairs(table: &RedisTable, terms: &[Term]) -> Vec<Arg> {
    let mut pairs = Vec::new();
    for shadow in table.search.iter().flat_map(|index| &index.shadows) {
        let found: Vec<Option<&Term>> = shadow
            .of
            .iter()
            .map(|(index, _)| terms.iter().find(|term| term.column == Some(*index)))
            .collect();
        let known: Option<Vec<Value>> =
            found.iter().map(|term| term.and_then(|term| term.value.clone())).collect();
        let held = match known {
            Some(values) => {
                let mut cells = vec![Value::Null; table.columns.len()];
                for ((index, _), value) in shadow.of.iter().zip(values) {
                    if let Some(cell) = cells.get_mut(*index) {
                        *cell = value;
                    }
                }
                Arg::text(&shadow.digits(&cells))
            }
            None => {
                let names = shadow.of.iter().zip(&found).map(|((_, descending), term)| {
                    let name = term.map(|term| &*term.name).unwrap_or_default();
                    if *descending { format!("{name} desc") } else { name.to_owned() }
                });
                Arg::slot(&format!("hex({})", names.collect::<Vec<_>>().join(",")))
            }
        };
        pairs.extend([Arg::text(&shadow.field), held]);
    }
    for own in table.search.iter().flat_map(|index| &index.numbers) {
        let Some(term) = terms.iter().find(|term| term.column == Some(own.of)) else { continue };
        let held = match &term.value {
            Some(value) => number(value).map(|digits| Arg::text(&digits)),
            None => {
                let column = table.columns.get(own.of).map(|column| &column.of);
                Some(Arg::slot(&number_of(column, &term.name)))
            }
        };
        pairs.extend(held.into_iter().flat_map(|held| [Arg::text(&own.field), held]));
    }
    pairs
}

/// The field of an entry.
fn entry(path: &EntryPath) -> Arg {
    let (before, behind) = path.around();
    match path.known {
        Some(_) => Arg::text(&before),
        None => Arg::text(&before).then(Arg::slot(&path.slot)).then(Arg::text(behind)),
    }
}

fn element(layout: &Layout, change: &Change, value: &Term) -> Arg {
    let column = layout.table(change.table).and_then(|table| table.columns.get(value.column?));
    match (&value.value, column) {
        (Some(known), Some(column)) => {
            Arg::known(column.tree(&layout.conceptual, known).to_json().to_string().into_bytes())
        }
        (_, _) => Arg::slot(&value.name),
    }
}

fn class_name<'l>(layout: &'l Layout, table: &RedisTable) -> &'l str {
    let root = layout.design.collections[table.collection].source.root;
    &layout.conceptual.classes[root].name
}

/// Fields in one command: more would make lines that no shell likes.
const FIELDS: usize = 500;

/// The commands that put a record in as it stands.
#[must_use]
pub fn sample(layout: &Layout, tables: &[RedisTable], sample: &Sample) -> Vec<Command> {
    match sample {
        Sample::Row { table, cells } => tables.get(table.index()).map_or_else(Vec::new, |table| {
            let terms = known_terms(cells);
            let mut fields = pairs(layout, table, &terms);
            fields.extend(shadow_pairs(table, &terms));
            if fields.is_empty() {
                fields = vec![Arg::text(NOTHING), Arg::text("")];
            }
            let block = table.block_key(&terms);
            if table.kind != Kind::Spread {
                return hset(&block, &fields);
            }
            let member = table.member(&terms);
            let mut all = hset(&block.clone().then(Arg::text(":")).then(member.clone()), &fields);
            all.push(Command::new("ZADD").arg(block).word("0").arg(member));
            all
        }),
        Sample::Block { table: id, block } => {
            let (Some(table), Some(own)) = (tables.get(id.index()), layout.table(*id)) else {
                return Vec::new();
            };
            let Shape::Master { .. } = own.shape else { return Vec::new() };
            let mut terms = known_terms(&layout.block_cells(own, block));
            let root = block.fields.root.is_some();
            terms.retain(|term| root || table.column(term).is_some_and(|column| column.of.is_key()));
            let mut fields = vec![Arg::text(VERSION), Arg::text(&block.version.to_string())];
            fields.extend([Arg::text(SYSTEM), Arg::known(block.system.clone())]);
            if root {
                let name = layout.class_name(own, block).unwrap_or_else(|| class_name(layout, table));
                fields.extend([Arg::text(CLASS), Arg::text(name)]);
            }
            fields.extend(pairs(layout, table, &terms));
            for (path, value) in &block.entries {
                let json = layout.entry_tree(own, path, value).to_json().to_string();
                fields.extend([Arg::text(&path.to_string()), Arg::text(&json)]);
            }
            let key = table.aggregate_key(&terms);
            let goes = block.expires.as_ref().and_then(|expires| millis(&expires.at));
            fields.extend(goes.iter().flat_map(|at| [Arg::text(EXPIRES), Arg::text(&at.to_string())]));
            let mut all = hset(&key, &fields);
            all.extend(goes.map(|at| {
                let at = at.saturating_add_unsigned(later_seconds() * 1000);
                Command::new("PEXPIREAT").arg(key).word(&at.to_string())
            }));
            if table.kind == Kind::Clustered && root {
                let (partition, member) = (table.block_key(&terms), table.member(&terms));
                all.push(Command::new("ZADD").arg(partition).word("0").arg(member));
            }
            all
        }
    }
}

fn hset(key: &Arg, fields: &[Arg]) -> Vec<Command> {
    let chunk = |fields: &[Arg]| {
        let mut command = Command::new("HSET").arg(key.clone());
        command.args.extend(fields.iter().cloned());
        command
    };
    fields.chunks(2 * FIELDS).map(chunk).collect()
}

fn known_terms(cells: &[Value]) -> Vec<Term> {
    let one = |(index, value): (usize, &Value)| Term::known(value.clone(), index);
    cells.iter().enumerate().map(one).collect()
}
