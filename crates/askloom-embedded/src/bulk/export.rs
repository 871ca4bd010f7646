//! Everything of a class, from one snapshot, aggregate by aggregate.

use super::csv::single_part;
use super::incoming::{ABOUT, about};
use crate::block::{BlockContents, decode_aggregate, no_master};
use crate::codec::block_prefix;
use crate::database::Database;
use crate::store::Snapshot;
use crate::{KeyedSchema, Keyspace};
use askloom_engine::expiry::alive;
use askloom_engine::{RunError, Stored, System};
use askloom_model::{
    ClassId, ClassKind, Conceptual, Member, Record, Type, Value, identity_types, member_to_json,
};
use askloom_plan::ordered_bytes::prefix_end;
use serde_json::{Map, Value as Json};
use std::sync::Arc;

/// One state of a database, to be written out.
#[derive(Debug)]
pub struct Export<'d> {
    schema: &'d KeyedSchema,
    snapshot: Snapshot,
    now: jiff::Timestamp,
}

/// An aggregate with what has to be said of its past.
#[derive(Debug, Clone, PartialEq)]
pub struct Exported {
    pub record: Record,
    about: Map<String, Json>,
}

impl<'d> Export<'d> {
    /// What lives at a clock.
    #[must_use]
    pub fn new(database: &'d Database, now: jiff::Timestamp) -> Self {
        Self { schema: database.schema(), snapshot: database.store().snapshot(), now }
    }

    #[must_use]
    pub fn conceptual(&self) -> &Conceptual {
        &self.schema.model.conceptual
    }

    /// The classes that have a file of their own: the roots.
    pub fn roots(&self) -> impl Iterator<Item = ClassId> + '_ {
        self.schema.masters().map(|(root, _)| root)
    }

    /// Gives every aggregate of a root class and its subclasses, in the order of the master's key.
    pub fn each(
        &self,
        root: ClassId,
        give: &mut dyn FnMut(&Exported) -> Result<(), RunError>,
    ) -> Result<u64, RunError> {
        let master = self.schema.design.master(root).ok_or_else(|| no_master(self.schema, root))?;
        let keys = self.schema.master_key(master);
        let prefix = block_prefix(self.schema.number(master), &[]);
        let end = prefix_end(&prefix);
        let mut count = 0;
        let mut open: (Vec<u8>, BlockContents) = (Vec::new(), BlockContents::default());
        let mut close = |contents: BlockContents| -> Result<(), RunError> {
            if let Some(exported) = self.exported(root, contents)? {
                give(&exported)?;
                count += 1;
            }
            Ok(())
        };
        Keyspace::scan(&self.snapshot, &prefix, end.as_deref(), false, &mut |key, value| {
            if open.0.is_empty() || !key.starts_with(&open.0) {
                let (_, entry) = keys.split(key)?;
                let block = key.get(..key.len() - entry.len()).unwrap_or_default().to_vec();
                let (_, contents) = std::mem::replace(&mut open, (block, BlockContents::default()));
                close(contents)?;
            }
            open.1.take(key.get(open.0.len()..).unwrap_or_default(), value)?;
            Ok(true)
        })?;
        close(open.1)?;
        Ok(count)
    }

    fn exported(&self, root: ClassId, contents: BlockContents) -> Result<Option<Exported>, RunError> {
        let Some(system) = contents.system else { return Ok(None) };
        let system = System::decode(&system)?;
        if system.deleted.is_some() {
            return Ok(None);
        }
        let conceptual = self.conceptual();
        let record = decode_aggregate(self.schema, root, contents.entries)?;
        let Some(stored) = alive(conceptual, Arc::new(Stored { record, system }), self.now) else {
            return Ok(None);
        };
        let about = about(conceptual, &stored.record, &stored.system);
        Ok(Some(Exported { record: stored.record.clone(), about }))
    }
}

impl Exported {
    /// The aggregate as a line of JSON, without its end: fields in the order of the model.
    #[must_use]
    pub fn json_line(&self, conceptual: &Conceptual, declared: ClassId) -> String {
        let mut text = String::new();
        write_record(conceptual, &self.record, declared, &mut text);
        // The closing brace comes back behind what is said of the past.
        text.pop();
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&format!("\"{ABOUT}\":{}}}", Json::Object(self.about.clone())));
        text
    }
}

fn write_record(conceptual: &Conceptual, record: &Record, declared: ClassId, out: &mut String) {
    out.push('{');
    let mut first = true;
    let mut name = |name: &str, out: &mut String| {
        if !std::mem::take(&mut first) {
            out.push(',');
        }
        out.push_str(&Json::from(name).to_string());
        out.push(':');
    };
    if record.class != declared {
        name("$class", out);
        out.push_str(&Json::from(conceptual.classes[record.class].name.as_str()).to_string());
    }
    if let Some(id) = record.surrogate {
        name("$id", out);
        out.push_str(&Json::from(id.to_string()).to_string());
    }
    for member in conceptual.all_members(record.class) {
        let value = record.get(member);
        if !value.is_absent() {
            name(conceptual.member_name(member), out);
            write_value(conceptual, member, value, out);
        }
    }
    out.push('}');
}

fn write_value(conceptual: &Conceptual, member: Member, value: &Value, out: &mut String) {
    let target = match member {
        Member::End(id) => Some(conceptual.ends[id].target),
        Member::Attribute(_) => None,
    };
    match (value, target) {
        (Value::Record(part), Some(target)) => write_record(conceptual, part, target, out),
        (Value::List(elements), Some(target)) => {
            out.push('[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                if let Value::Record(part) = &element.value {
                    write_record(conceptual, part, target, out);
                }
            }
            out.push(']');
        }
        (value, _) => out.push_str(&member_to_json(conceptual, member, value).to_string()),
    }
}

/// Aggregates as rows of CSV. To-one parts are columns by path, lists and sets JSON in cells. What CSV cannot say: an
/// empty text where there may be none, and a part of which every field is empty, are loaded as no value.
#[derive(Debug)]
pub struct CsvWriter<'m> {
    conceptual: &'m Conceptual,
    columns: Vec<Column>,
}

#[derive(Debug)]
enum Column {
    Class,
    Surrogate,
    Field(Vec<Member>),
    About,
}

impl<'m> CsvWriter<'m> {
    #[must_use]
    pub fn new(conceptual: &'m Conceptual, root: ClassId) -> Self {
        let mut columns = Vec::new();
        let kinds: Vec<ClassId> =
            conceptual.classes.ids().filter(|&class| conceptual.is_kind_of(class, root)).collect();
        if kinds.len() > 1 || conceptual.classes[root].kind == ClassKind::AbstractEntity {
            columns.push(Column::Class);
        }
        if kinds.iter().any(|&class| conceptual.classes[class].surrogate) {
            columns.push(Column::Surrogate);
        }
        let mut members: Vec<Member> = Vec::new();
        for class in kinds {
            for member in conceptual.all_members(class) {
                if !members.contains(&member) {
                    members.push(member);
                }
            }
        }
        for member in members {
            fields(conceptual, &mut vec![member], &mut columns);
        }
        columns.push(Column::About);
        Self { conceptual, columns }
    }

    /// The first row.
    #[must_use]
    pub fn header(&self) -> Vec<String> {
        let name = |column: &Column| match column {
            Column::Class => "$class".to_owned(),
            Column::Surrogate => "$id".to_owned(),
            Column::About => ABOUT.to_owned(),
            Column::Field(way) => {
                way.iter().map(|&member| self.conceptual.member_name(member)).collect::<Vec<_>>().join(".")
            }
        };
        self.columns.iter().map(name).collect()
    }

    #[must_use]
    pub fn row(&self, exported: &Exported) -> Vec<String> {
        let record = &exported.record;
        let cell = |column: &Column| match column {
            Column::Class => self.conceptual.classes[record.class].name.clone(),
            Column::Surrogate => record.surrogate.map(|id| id.to_string()).unwrap_or_default(),
            Column::About => Json::Object(exported.about.clone()).to_string(),
            Column::Field(way) => self.cell(record, way),
        };
        self.columns.iter().map(cell).collect()
    }

    fn cell(&self, record: &Record, way: &[Member]) -> String {
        let Some((&member, rest)) = way.split_first() else { return String::new() };
        match record.get(member) {
            Value::Record(part) if !rest.is_empty() => self.cell(part, rest),
            Value::Null => String::new(),
            value if value.is_absent() => String::new(),
            value => {
                let is_json = match member {
                    Member::Attribute(id) => self.conceptual.attributes[id].ty == Type::Json,
                    Member::End(id) => {
                        identity_types(self.conceptual, self.conceptual.ends[id].target).len() > 1
                    }
                };
                match member_to_json(self.conceptual, member, value) {
                    Json::String(text) if !is_json => text,
                    json => json.to_string(),
                }
            }
        }
    }
}

/// One column for a member, or those of the fields of a part. A part that may be of several classes is JSON.
fn fields(conceptual: &Conceptual, way: &mut Vec<Member>, columns: &mut Vec<Column>) {
    let Some(&member) = way.last() else { return };
    if let Member::End(id) = member
        && !conceptual.ends[id].stored
    {
        return;
    }
    let plain = |class: ClassId| {
        let kinds = conceptual.classes.ids().filter(|&sub| conceptual.is_kind_of(sub, class)).count();
        kinds == 1 && !conceptual.classes[class].surrogate
    };
    match single_part(conceptual, member).filter(|&class| plain(class)) {
        Some(class) if way.len() < askloom_model::MAX_NESTING => {
            for member in conceptual.all_members(class).collect::<Vec<_>>() {
                way.push(member);
                fields(conceptual, way, columns);
                way.pop();
            }
        }
        Some(_) | None => columns.push(Column::Field(way.clone())),
    }
}
