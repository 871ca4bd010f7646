//! CSV with a header: a column is a field, or by its path a field of a to-one part. Cells are the text of their values;
//! lists, sets and ids of several parts are JSON. An empty cell is no value, or the empty text where a text must be.

use super::incoming::{ABOUT, Refusal};
use super::{Row, Rows};
use askloom_model::{ClassId, Conceptual, Member, RelationshipKind, Type, identity_types};
use serde_json::{Map, Value as Json};
use std::cell::Cell;
use std::io::{self, Read, Seek, SeekFrom};
use std::rc::Rc;

/// How the text of a cell becomes JSON.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// An empty cell is the empty text for a member of this class that must have one.
    Text {
        required: Option<ClassId>,
    },
    Typed(Type),
    Json,
}

/// The kind of a column by its path. Nothing if no class has such a field.
pub(super) fn kind(conceptual: &Conceptual, class: ClassId, path: &str) -> Option<(Vec<String>, Kind)> {
    let special = match path {
        "$class" => Some(Kind::Text { required: None }),
        "$id" => Some(Kind::Typed(Type::Uuid)),
        ABOUT => Some(Kind::Json),
        _field => None,
    };
    if let Some(kind) = special {
        return Some((vec![path.to_owned()], kind));
    }
    let classes = conceptual.classes.ids().filter(|&sub| conceptual.is_kind_of(sub, class));
    let members = classes.flat_map(|class| conceptual.all_members(class).collect::<Vec<_>>());
    let mut parts = None;
    for member in members {
        let name = conceptual.member_name(member);
        if name == path {
            return Some((vec![name.to_owned()], member_kind(conceptual, member)));
        }
        let rest = path.strip_prefix(name).and_then(|rest| rest.strip_prefix('.'));
        if let (Some(rest), Some(target), None) = (rest, single_part(conceptual, member), &parts) {
            parts = kind(conceptual, target, rest).map(|(mut way, kind)| {
                way.insert(0, name.to_owned());
                (way, kind)
            });
        }
    }
    parts
}

/// The class of a to-one part.
pub(super) fn single_part(conceptual: &Conceptual, member: Member) -> Option<ClassId> {
    let Member::End(id) = member else { return None };
    let end = &conceptual.ends[id];
    let single = end.stored && end.kind == RelationshipKind::Composition && !end.cardinality.is_many();
    single.then_some(end.target)
}

fn member_kind(conceptual: &Conceptual, member: Member) -> Kind {
    match member {
        Member::Attribute(id) => {
            let attribute = &conceptual.attributes[id];
            let optional = attribute.optional || attribute.default.is_some();
            match (&attribute.ty, attribute.list) {
                (_, true) => Kind::Json,
                (Type::Text, false) => Kind::Text { required: (!optional).then_some(attribute.class) },
                (ty, false) => Kind::Typed(ty.clone()),
            }
        }
        Member::End(id) => {
            let end = &conceptual.ends[id];
            if end.kind == RelationshipKind::Composition || end.cardinality.is_many() {
                return Kind::Json;
            }
            match identity_types(conceptual, end.target).as_slice() {
                [Type::Text] => Kind::Text { required: None },
                [only] => Kind::Typed(only.clone()),
                _several => Kind::Json,
            }
        }
    }
}

/// What a cell says; nothing if it says nothing.
fn cell(text: &str, kind: &Kind) -> Result<Option<Json>, String> {
    let json = |text: &str| serde_json::from_str::<Json>(text);
    Ok(match kind {
        _any if text.is_empty() => None,
        Kind::Text { .. } => Some(Json::from(text)),
        Kind::Json | Kind::Typed(Type::Json) => {
            Some(json(text).map_err(|error| format!("the cell is not JSON: {error}"))?)
        }
        Kind::Typed(Type::Geo) => Some(match json(text) {
            Ok(place) => place,
            Err(_) => json(&format!("[{text}]")).unwrap_or_else(|_| Json::from(text)),
        }),
        // What is no number or truth value stays a text, and is refused by its type.
        Kind::Typed(Type::Int | Type::Long | Type::Decimal | Type::Double | Type::Bool) => {
            let read = json(text).ok().filter(|json| json.is_number() || json.is_boolean());
            Some(read.unwrap_or_else(|| Json::from(text)))
        }
        Kind::Typed(_) => Some(Json::from(text)),
    })
}

/// Puts a value at its place in nested objects.
fn insert(object: &mut Map<String, Json>, way: &[String], value: Json) {
    let Some((name, rest)) = way.split_first() else { return };
    if rest.is_empty() {
        object.insert(name.clone(), value);
        return;
    }
    let part = object.entry(name.clone()).or_insert_with(|| Json::Object(Map::new()));
    if let Json::Object(part) = part {
        insert(part, rest, value);
    }
}

/// Gives a required text its empty value, if it is in the record itself or in a part that is there.
fn insert_empty(object: &mut Map<String, Json>, way: &[String]) {
    match way {
        [name] => {
            object.entry(name.clone()).or_insert_with(|| Json::from(""));
        }
        [name, rest @ ..] => {
            if let Some(Json::Object(part)) = object.get_mut(name) {
                insert_empty(part, rest);
            }
        }
        [] => {}
    }
}

/// A reader that gives up when one record takes too much: a quote that is never closed would take all of the file.
struct Bounded<R> {
    from: R,
    left: Rc<Cell<usize>>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left.get() == 0 {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a record does not end; is a quote unclosed?",
            ));
        }
        let read = self.from.read(buffer)?;
        self.left.set(self.left.get().saturating_sub(read));
        Ok(read)
    }
}

/// A column of a header.
#[derive(Debug)]
struct Column {
    name: String,
    /// The way to its field, and how its cells are read; nothing if no class has such a field.
    field: Option<(Vec<String>, Kind)>,
}

/// Rows of a CSV file.
pub struct CsvRows<'m, R> {
    conceptual: &'m Conceptual,
    class: ClassId,
    columns: Vec<Column>,
    reader: csv::Reader<Bounded<R>>,
    record: csv::ByteRecord,
    left: Rc<Cell<usize>>,
    offset: u64,
    lines: u64,
}

impl<R> std::fmt::Debug for CsvRows<'_, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CsvRows").field("columns", &self.columns).finish_non_exhaustive()
    }
}

fn reader<R: Read>(from: R, left: &Rc<Cell<usize>>) -> csv::Reader<Bounded<R>> {
    let bounded = Bounded { from, left: Rc::clone(left) };
    // Every line ends in LF; the CR before it is taken off the last cell, so that positions are those of lines.
    let lines = csv::Terminator::Any(b'\n');
    csv::ReaderBuilder::new().has_headers(false).flexible(true).terminator(lines).from_reader(bounded)
}

impl<'m, R: Read + Seek> CsvRows<'m, R> {
    /// Reads the header, then on from an offset and after so many lines, which are 0 for the first row.
    pub fn new(
        conceptual: &'m Conceptual,
        class: ClassId,
        mut from: R,
        offset: u64,
        lines: u64,
    ) -> io::Result<Self> {
        let left = Rc::new(Cell::new(super::MAX_LINE));
        let mut record = csv::ByteRecord::new();
        let mut head = reader(&mut from, &left);
        head.read_byte_record(&mut record).map_err(io_error)?;
        let (head_end, head_lines) = (head.position().byte(), head.position().line().saturating_sub(1));
        drop(head);
        let columns = record.iter().map(|name| {
            let name = String::from_utf8_lossy(without_cr(name)).into_owned();
            let field = kind(conceptual, class, &name);
            Column { name, field }
        });
        let columns = columns.collect();
        let (offset, lines) = if offset == 0 { (head_end, head_lines) } else { (offset, lines) };
        from.seek(SeekFrom::Start(offset))?;
        Ok(Self { conceptual, class, columns, reader: reader(from, &left), record, left, offset, lines })
    }
}

fn io_error(error: csv::Error) -> io::Error {
    let text = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        _other => io::Error::new(io::ErrorKind::InvalidData, text),
    }
}

impl<R: Read> Rows for CsvRows<'_, R> {
    fn next(&mut self) -> io::Result<Option<Row>> {
        loop {
            self.left.set(super::MAX_LINE);
            if !self.reader.read_byte_record(&mut self.record).map_err(io_error)? {
                return Ok(None);
            }
            // A line of CR alone is empty.
            if self.record.len() == 1 && self.record.get(0).is_some_and(|cell| cell == b"\r") {
                continue;
            }
            let (start, first) = self.record.position().map_or((0, 1), |at| (at.byte(), at.line()));
            let breaks = self.record.as_slice().iter().filter(|&&byte| byte == b'\n').count() as u64;
            // Empty lines before it are skipped; the last line of a file may lack its end.
            let first = first.max(self.reader.position().line().saturating_sub(1 + breaks));
            return Ok(Some(Row {
                line: self.lines + first,
                last_line: self.lines + first + breaks,
                start: self.offset + start,
                end: self.offset + self.reader.position().byte(),
                content: self.object(),
            }));
        }
    }
}

fn without_cr(cell: &[u8]) -> &[u8] {
    cell.strip_suffix(b"\r").unwrap_or(cell)
}

impl<R> CsvRows<'_, R> {
    fn object(&self) -> Result<Json, Refusal> {
        if self.record.len() != self.columns.len() {
            let (has, head) = (self.record.len(), self.columns.len());
            return Err(Refusal::of(format!("the row has {has} cells, and the header has {head}")));
        }
        let mut object = Map::new();
        let mut empty = Vec::new();
        for (index, (bytes, Column { name, field })) in self.record.iter().zip(&self.columns).enumerate() {
            let bytes = if index + 1 == self.columns.len() { without_cr(bytes) } else { bytes };
            let text = std::str::from_utf8(bytes).map_err(|_| Refusal::at(name, "is not UTF-8"))?;
            match field {
                Some((way, Kind::Text { required: Some(class) })) if text.is_empty() => {
                    empty.push((way, *class))
                }
                Some((way, kind)) => {
                    if let Some(value) = cell(text, kind).map_err(|why| Refusal::at(name, why))? {
                        insert(&mut object, way, value);
                    }
                }
                // Is refused as an unknown field, if it says anything.
                None if text.is_empty() => {}
                None => {
                    object.insert(name.clone(), Json::from(text));
                }
            }
        }
        let class = self.class_of(&object);
        for (way, declared) in empty {
            // A column may belong to another subclass than this row's.
            if way.len() > 1 || self.conceptual.is_kind_of(class, declared) {
                insert_empty(&mut object, way);
            }
        }
        Ok(Json::Object(object))
    }

    fn class_of(&self, object: &Map<String, Json>) -> ClassId {
        let named = object.get("$class").and_then(Json::as_str);
        let mut classes = self.conceptual.classes.iter();
        classes.find(|(_, class)| Some(class.name.as_str()) == named).map_or(self.class, |(id, _)| id)
    }
}
