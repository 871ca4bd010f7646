//! Changes as updates with the version in their filter, and a statement for each document of a copy.
//!
//! An aggregate is one document, so that all of it changes at once, if its version is still the one that was read. With
//! documents of copies beside it, all is one transaction.

use super::bson::{Bson, Document};
use super::names::escaped;
use super::read::{Missing, field, id, value};
use super::schema::{Kind, MongoCollection, MongoField, System};
use super::value::Encoder;
use crate::generate::Sample;
use askloom_model::{AccessStep, Class, ClassId, Id, Value, join};
use askloom_plan::layout::{Block, Fields, Layout, Table};
use askloom_plan::program::{Batch, Change, ChangeKind, EachChange, EntryPath, Term, Version, millis};
use askloom_plan::tree::TreeOf;
use std::collections::BTreeMap;

/// A statement that changes one document, as data.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    Insert {
        collection: String,
        document: Document,
    },
    /// If it matches none, the document has changed since it was read.
    Update {
        collection: String,
        filter: Document,
        update: Document,
        /// Whether it is inserted where there is none. If there is another version, its id is taken, and that is an error.
        upsert: bool,
    },
    /// Or inserts it.
    Replace {
        collection: String,
        filter: Document,
        document: Document,
    },
    Delete {
        collection: String,
        filter: Document,
    },
}

/// A command with what it is repeated for.
pub type Repeated = (EachChange, Command);

const VERSION: &str = "version";
/// The clock, in microseconds.
const STAMP: &str = "stamp";
/// How the place of an element ends that is not known yet.
const ORDINAL: &str = ":ordinal";

/// The commands of a batch, in their order.
#[must_use]
pub fn commands(layout: &Layout, collections: &[MongoCollection], batch: &Batch) -> Vec<Repeated> {
    let mut all: Vec<Repeated> = Vec::new();
    for change in &batch.changes {
        let own = collections.get(change.table.index());
        // An index changes with the documents that it is of.
        let Some(of) = own.filter(|of| of.index.is_none()) else { continue };
        let version = batch.version(change.table, change.kind.terms());
        let changing = Changing { layout, of, version, stamp: batch.preconditions.stamp };
        let Some(command) = changing.command(change) else { continue };
        match all.iter_mut().find_map(|(each, other)| together(*each, other, change, &command)) {
            Some(update) => {
                if let Command::Update { update: more, .. } = command {
                    add(update, more);
                }
            }
            None => all.push((change.each, command)),
        }
    }
    // An update without anything to do is refused.
    all.retain(|(_, command)| !matches!(command, Command::Update { update, .. } if update.is_empty()));
    all
}

/// The update of the same document, which changes at once.
fn together<'u>(
    each: EachChange,
    other: &'u mut Command,
    change: &Change,
    command: &Command,
) -> Option<&'u mut Document> {
    match (other, command) {
        (
            Command::Update { collection, filter, update, .. },
            Command::Update { collection: same, filter: own, .. },
        ) if collection == same && filter == own && each == change.each => Some(update),
        (_, _) => None,
    }
}

/// Adds what comes later to an update of the same document. Of two values of one field the later stays, and a field is
/// under one operator alone: the store refuses an update that sets and removes it.
fn add(update: &mut Document, more: Document) {
    for (operator, fields) in more {
        let Bson::Document(fields) = fields else { continue };
        for (name, value) in fields {
            place(update, &operator, name, value);
        }
    }
    update.retain(|(_, fields)| *fields != Bson::Document(Vec::new()));
}

fn place(update: &mut Document, operator: &str, name: String, value: Bson) {
    let opposite = match operator {
        "$set" => "$unset",
        "$unset" => "$set",
        _other => "",
    };
    let is_slot = name.ends_with(ORDINAL);
    for (other, fields) in update.iter_mut() {
        if let Bson::Document(fields) = fields
            && other == opposite
            && !is_slot
        {
            fields.retain(|(own, _)| *own != name);
        }
    }
    let Some((_, Bson::Document(fields))) = update.iter_mut().find(|(own, _)| own == operator) else {
        return update.push((operator.to_owned(), Bson::Document(vec![(name, value)])));
    };
    let Some(same) = fields.iter().position(|(own, _)| *own == name) else {
        return fields.push((name, value));
    };
    let Some((_, before)) = fields.get_mut(same) else { return };
    match operator {
        // The version goes up once.
        "$inc" => {}
        "$addToSet" => several(before, "$each", value),
        "$pull" => several(before, "$in", value),
        // Another element of the same list, whose place is another slot.
        _set if is_slot => {
            let mut number = 2_usize;
            while fields.iter().any(|(own, _)| *own == format!("{name}_{number}")) {
                number += 1;
            }
            fields.push((format!("{name}_{number}"), value));
        }
        _set => *before = value,
    }
}

/// Several values for one operator.
fn several(before: &mut Bson, word: &str, value: Bson) {
    if let Bson::Document(fields) = before
        && let [(own, Bson::Array(values))] = fields.as_mut_slice()
        && own == word
    {
        return values.push(value);
    }
    let values = Bson::Array(vec![before.clone(), value]);
    *before = Bson::Document(vec![(word.to_owned(), values)]);
}

/// The class that a master is of.
fn root<'l>(layout: &'l Layout, of: &MongoCollection) -> &'l Class {
    &layout.conceptual.classes[layout.design.collections[of.collection].source.root]
}

struct Changing<'c> {
    layout: &'c Layout,
    of: &'c MongoCollection,
    /// Of the aggregate, as it was read.
    version: Version,
    /// The clock, in microseconds, if it is known.
    stamp: Option<u64>,
}

impl Changing<'_> {
    fn command(&self, change: &Change) -> Option<Command> {
        let class = change.class;
        let collection = self.of.name.clone();
        let known = |(_, value): &(String, Bson)| *value != Bson::Null;
        match &change.kind {
            // One that was deleted, or has expired, left its version: what is made now goes on from there.
            ChangeKind::Create(cells)
                if matches!(self.version, Version::Read(_)) && self.of.system.is_some() =>
            {
                let set = self.class(class).into_iter().chain(self.expires(change));
                Some(self.set(cells, set.chain(self.cells(cells)).collect()))
            }
            ChangeKind::Create(cells) => {
                let mut document = self.id(cells);
                if let Some(system) = &self.of.system {
                    document.push((system.version.clone(), self.first(change)));
                }
                document.extend(self.class(class));
                document.extend(self.expires(change));
                document.extend(self.beside(cells));
                document.extend(self.cells(cells).into_iter().filter(known));
                Some(Command::Insert { collection, document })
            }
            ChangeKind::Replace(cells) => {
                let set = self.class(class).into_iter().chain(self.expires(change));
                let set = set.chain(self.cells(cells)).collect();
                let mut command = self.upsert(cells, self.set(cells, set));
                if let (Some(_), Version::Slot | Version::Absent) = (self.expires(change), self.version) {
                    self.start(&mut command, change);
                }
                Some(command)
            }
            ChangeKind::Set { key, set } => Some(self.set(key, self.cells(set))),
            ChangeKind::Bury { key } => {
                // What is left must not expire: it has the version.
                let own = self.of.system.iter();
                let own =
                    own.flat_map(|system| [Some(system.class.clone()), system.expires.clone()]).flatten();
                let members = self.of.fields.iter().filter(|field| !field.is_key());
                let gone = own.chain(members.map(|field| field.name.clone()));
                Some(self.update(key, operator("$unset", gone.map(|name| (name, Bson::text(""))).collect())))
            }
            ChangeKind::PutEntry { key, path, value } => Some(self.update(key, self.put_entry(path, value))),
            ChangeKind::DropEntry { key, path } => Some(self.update(key, self.drop_entry(path))),
            ChangeKind::PutRow(cells) => {
                let document = self.cells(cells).into_iter().filter(known).collect();
                Some(Command::Replace { collection, filter: self.id(cells), document })
            }
            ChangeKind::DropRow(key) => Some(Command::Delete { collection, filter: self.id(key) }),
        }
    }

    fn encoder(&self) -> Encoder<'_> {
        Encoder { conceptual: &self.layout.conceptual, faithful: self.of.faithful }
    }

    fn class(&self, class: ClassId) -> Option<(String, Bson)> {
        let system = self.of.system.as_ref()?;
        Some((system.class.clone(), Bson::text(self.layout.name_of(class))))
    }

    /// When the aggregate expires.
    fn expires(&self, change: &Change) -> Option<(String, Bson)> {
        let name = self.of.system.as_ref()?.expires.as_ref()?;
        let at = &change.expires.as_ref()?.at;
        Some((name.clone(), millis(at).map_or_else(|| Bson::slot(&at.name), Bson::Date)))
    }

    /// The version of a new aggregate. Of one that expires, the store takes the version away with the rest, so that it
    /// goes by the clock: what is made afterwards in its place has a higher one.
    fn first(&self, change: &Change) -> Bson {
        match (self.expires(change), self.stamp) {
            (None, _) => Bson::Long(1),
            (Some(_), Some(stamp)) => Bson::Long(i64::try_from(stamp).unwrap_or(i64::MAX)),
            (Some(_), None) => Bson::slot(STAMP),
        }
    }

    /// An update that may make a new aggregate which expires makes a version that is its first one as well.
    fn start(&self, command: &mut Command, change: &Change) {
        if let (Command::Update { update, .. }, Some(system)) = (command, &self.of.system) {
            update.retain(|(name, _)| name != "$inc");
            place(update, "$set", system.version.clone(), self.first(change));
        }
    }

    fn id(&self, terms: &[Term]) -> Document {
        let id = id(self.of, self.encoder(), terms, Missing::Slot).unwrap_or(Bson::Null);
        vec![("_id".to_owned(), id)]
    }

    /// The papers have the parts of the id once more, as fields of their own.
    fn beside(&self, terms: &[Term]) -> Document {
        let own = |term: &Term| {
            let field = field(self.of, term).filter(|field| field.is_key())?;
            Some((field.name.clone(), value(self.of, self.encoder(), term)))
        };
        if self.of.faithful { terms.iter().filter_map(own).collect() } else { Vec::new() }
    }

    /// The fields beside `_id`.
    fn cells(&self, terms: &[Term]) -> Document {
        let own = |term: &Term| {
            let field = field(self.of, term).filter(|field| !field.is_key())?;
            let value = value(self.of, self.encoder(), term);
            Some((field.name.clone(), if self.of.is_master() { filled(field, value) } else { value }))
        };
        terms.iter().filter_map(own).collect()
    }

    /// Sets some fields. What is null is not there.
    fn set(&self, key: &[Term], fields: Document) -> Command {
        let mut update = Vec::new();
        for (name, value) in fields {
            match value {
                Bson::Null => place(&mut update, "$unset", name, Bson::text("")),
                value => place(&mut update, "$set", name, value),
            }
        }
        self.update(key, update)
    }

    /// The same where there is none. Lists that are not set become empty ones.
    fn upsert(&self, terms: &[Term], command: Command) -> Command {
        let Command::Update { collection, filter, mut update, .. } = command else { return command };
        let is_set = |at: usize| terms.iter().any(|term| term.column == Some(at));
        let lists = self.of.fields.iter().enumerate().filter(|(at, field)| {
            !is_set(*at) && !field.is_key() && matches!(field.kind, Kind::Nested { many: true, .. })
        });
        let lists = lists.map(|(_, field)| (field.name.clone(), Bson::Array(Vec::new()))).collect();
        add(&mut update, operator("$setOnInsert", lists));
        Command::Update { collection, filter, update, upsert: true }
    }

    fn read(&self) -> Bson {
        match self.version {
            Version::Slot => Bson::slot(VERSION),
            Version::Absent => Bson::Document(vec![("$exists".to_owned(), Bson::Bool(false))]),
            Version::Read(version) => Bson::Long(i64::try_from(version).unwrap_or(i64::MAX)),
        }
    }

    /// An update of the version that was read.
    fn update(&self, key: &[Term], update: Document) -> Command {
        let mut filter = self.id(key);
        let mut all = Vec::new();
        if let Some(system) = &self.of.system {
            filter.push((system.version.clone(), self.read()));
            all.extend(operator("$inc", vec![(system.version.clone(), Bson::Long(1))]));
        }
        add(&mut all, update);
        Command::Update { collection: self.of.name.clone(), filter, update: all, upsert: false }
    }

    /// An element at its place. A set has no places.
    fn put_entry(&self, path: &EntryPath, term: &Term) -> Document {
        let (name, place) = self.entry(path);
        let of = field(self.of, term).and_then(|field| match &field.kind {
            Kind::Nested { of, .. } => Some(of),
            Kind::Plain(_) | Kind::Letters | Kind::Digits | Kind::Ordered | Kind::Number => None,
        });
        let value = match (&term.value, of) {
            (Some(known), Some(of)) => self.encoder().nested(of, known),
            (_, _) => Bson::slot(&term.name),
        };
        match (of, self.of.faithful) {
            (Some(TreeOf::Identity(_)), false) => operator("$addToSet", vec![(name, value)]),
            (_, _) => operator("$set", vec![(place, value)]),
        }
    }

    fn drop_entry(&self, path: &EntryPath) -> Document {
        let (name, place) = self.entry(path);
        let set = self.of.fields.iter().find_map(|field| match &field.kind {
            Kind::Nested { of: of @ TreeOf::Identity(_), .. } if field.name == name => Some(of),
            Kind::Nested { .. }
            | Kind::Plain(_)
            | Kind::Letters
            | Kind::Digits
            | Kind::Ordered
            | Kind::Number => None,
        });
        if let Some(of) = set.filter(|_| !self.of.faithful) {
            let last = path.known.as_ref().and_then(|path| path.0.last());
            let link = match last {
                Some(AccessStep::Link(id)) => self.encoder().nested(of, &Value::Reference(id.clone())),
                Some(AccessStep::Field(_) | AccessStep::Element(_)) | None => Bson::slot(&path.slot),
            };
            return operator("$pull", vec![(name, link)]);
        }
        // In an array, this leaves a null, so that the others keep their places.
        operator("$unset", vec![(place, Bson::text(""))])
    }

    /// The field of a path such as `rounds[:ordinal]`, and where the element is in it.
    fn entry(&self, path: &EntryPath) -> (String, String) {
        let own = self.of.fields.iter().find(|field| !field.is_key() && field.of.name == path.list);
        let name = own.map_or_else(|| escaped(&path.list), |field| field.name.clone());
        if self.of.faithful {
            return (name, escaped(&path.text()));
        }
        let last = path.known.as_ref().and_then(|path| path.0.last());
        let place = match last {
            Some(AccessStep::Element(ordinal)) => ordinal.to_string(),
            Some(AccessStep::Field(_) | AccessStep::Link(_)) | None => format!(":{}", path.slot),
        };
        let place = format!("{name}.{place}");
        (name, place)
    }
}

/// An operator, if there is anything for it to do.
fn operator(name: &str, fields: Document) -> Document {
    if fields.is_empty() { Vec::new() } else { vec![(name.to_owned(), Bson::Document(fields))] }
}

/// An empty list of an aggregate is an array: else an element that is set by its place would make a document.
fn filled(field: &MongoField, value: Bson) -> Bson {
    match (&field.kind, value) {
        (Kind::Nested { many: true, .. }, Bson::Null) => Bson::Array(Vec::new()),
        (_, value) => value,
    }
}

/// The command that puts a record in as it stands. Nothing for one of an index.
#[must_use]
pub fn sample(layout: &Layout, collections: &[MongoCollection], sample: &Sample) -> Option<Command> {
    let (Sample::Row { table, .. } | Sample::Block { table, .. }) = sample;
    let of = collections.get(table.index()).filter(|of| of.index.is_none())?;
    let document = match sample {
        Sample::Row { cells, .. } => document(layout, of, cells),
        Sample::Block { block, .. } if of.faithful => flat(layout, of, layout.table(*table)?, block),
        Sample::Block { block, .. } => whole(layout, of, layout.table(*table)?, block),
    };
    Some(Command::Insert { collection: of.name.clone(), document })
}

/// The `_id` and the fields that are not null.
fn document(layout: &Layout, of: &MongoCollection, cells: &[Value]) -> Document {
    let changing = Changing { layout, of, version: Version::Slot, stamp: None };
    let term = |(column, cell): (usize, &Value)| Term::known(cell.clone(), column);
    let terms: Vec<Term> = cells.iter().enumerate().map(term).collect();
    let fields = changing.cells(&terms).into_iter().filter(|(_, value)| *value != Bson::Null);
    changing.id(&terms).into_iter().chain(fields).collect()
}

/// The aggregate with all its entries in their nesting.
fn whole(layout: &Layout, of: &MongoCollection, table: &Table, block: &Block) -> Document {
    let pieces = block.pieces();
    let class = layout.design.collections[of.collection].source.root;
    let there = !pieces.is_empty();
    let root = join(&layout.conceptual, class, pieces).ok().or_else(|| block.fields.root.clone());
    let joined =
        Block { fields: Fields { root: root.filter(|_| there) }, entries: BTreeMap::new(), ..block.clone() };
    let mut fields = document(layout, of, &layout.block_cells(table, &joined)).into_iter();
    let mut all: Document = fields.by_ref().take(1).collect();
    if let Some(System { version, rest, class, expires }) = &of.system {
        all.push((version.clone(), Bson::Long(i64::try_from(block.version).unwrap_or(i64::MAX))));
        all.push((rest.clone(), Bson::Binary(block.system.clone())));
        if there {
            let own = layout.class_name(table, &joined);
            let name = own.unwrap_or(&self::root(layout, of).name);
            all.push((class.clone(), Bson::text(name)));
            let at = block.expires.as_ref().and_then(|expires| millis(&expires.at));
            all.extend(expires.clone().zip(at.map(Bson::Date)));
        }
    }
    // What was deleted has its version and the system's part alone, and not even empty lists.
    if there {
        all.extend(fields);
    }
    all
}

/// As the papers have it: a field for each entry, named by its path, and the id once more.
fn flat(layout: &Layout, of: &MongoCollection, table: &Table, block: &Block) -> Document {
    let encoder = Encoder { conceptual: &layout.conceptual, faithful: true };
    let cells = layout.block_cells(table, block);
    let mut all: Document = document(layout, of, &cells).into_iter().take(1).collect();
    for (field, cell) in of.fields.iter().zip(&cells).filter(|(_, cell)| !cell.is_absent()) {
        all.push((field.name.clone(), encoder.field(field, cell)));
    }
    for (path, value) in &block.entries {
        let Some((of, _)) = layout.at(table, path) else { continue };
        all.push((escaped(&path.to_string()), encoder.nested(&of, value)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(operator: &str, name: &str, value: i32) -> Document {
        vec![(operator.to_owned(), Bson::Document(vec![(name.to_owned(), Bson::Int(value))]))]
    }

    fn added(updates: &[(&str, &str, i32)]) -> String {
        let mut all = Vec::new();
        for (operator, name, value) in updates {
            add(&mut all, update(operator, name, *value));
        }
        Bson::Document(all).literal()
    }

    #[test]
    fn one_update_names_a_field_once() {
        assert_eq!(
            added(&[("$inc", "n", 1), ("$set", "a", 1), ("$inc", "n", 1)]),
            "{ $inc: { n: 1 }, $set: { a: 1 } }"
        );
        assert_eq!(added(&[("$set", "a", 1), ("$set", "a", 2)]), "{ $set: { a: 2 } }");
        assert_eq!(added(&[("$set", "a", 1), ("$unset", "a", 0)]), "{ $unset: { a: 0 } }");
        assert_eq!(added(&[("$unset", "a", 0), ("$set", "a", 1)]), "{ $set: { a: 1 } }");
    }

    #[test]
    fn two_elements_of_one_list_are_two() {
        let twice = [("$set", "l.:ordinal", 1), ("$set", "l.:ordinal", 2), ("$set", "l.:ordinal", 3)];
        assert_eq!(added(&twice), "{ $set: { 'l.:ordinal': 1, 'l.:ordinal_2': 2, 'l.:ordinal_3': 3 } }");
        let other = [("$set", "l.:ordinal", 1), ("$unset", "l.:ordinal", 0)];
        assert_eq!(added(&other), "{ $set: { 'l.:ordinal': 1 }, $unset: { 'l.:ordinal': 0 } }");
        let set = [("$addToSet", "s", 1), ("$addToSet", "s", 2), ("$addToSet", "s", 3)];
        assert_eq!(added(&set), "{ $addToSet: { s: { $each: [1, 2, 3] } } }");
        assert_eq!(added(&[("$pull", "s", 1), ("$pull", "s", 2)]), "{ $pull: { s: { $in: [1, 2] } } }");
    }
}
