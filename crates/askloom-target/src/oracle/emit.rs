//! Requests as calls of the Java client, for jshell.

use super::key::Key;
use super::limit::refused;
use super::paper;
use super::read::{Bound, KeyRange, Request, request};
use super::schema::{Pairs, definitions, pairs};
use super::write::{Held, Operation, sample, transactions};
use crate::generate::{self, Block, File, Generated, Language, Options, Sample, Source, Statement, repeated};
use askloom_plan::layout::Layout;
use askloom_plan::program::{Action, Read, WriteInputs};
use std::fmt::Write;

const MARK: &str = "//";

/// What every session starts with.
const OPEN: &str = "\
// jshell --class-path kvclient.jar
import oracle.kv.*;
KVStore store = KVStoreFactory.getStore(new KVStoreConfig(\"kvstore\", \"localhost:5000\"));
OperationFactory operations = store.getOperationFactory();
Value json(String text) { return Value.createValue(text.getBytes(java.nio.charset.StandardCharsets.UTF_8)); }";

const UNVERIFIED: &str =
    "Nothing of this has been run: no server of Oracle NoSQL Database is in a package registry.";

/// The key-value API of Oracle NoSQL Database.
#[derive(Debug)]
pub struct Oracle;

impl Language for Oracle {
    fn generate(&self, source: &Source<'_>) -> Generated {
        let all = pairs(source.layout, &source.options.prefix);
        let file = |name: &str, blocks| File { name: name.to_owned(), run: None, blocks };
        if source.options.faithful {
            let blocks = source.sample.iter().map(|record| Block {
                of: record.collection(source.layout).to_owned(),
                text: paper::figure(source.layout, &all, record),
                whole: false,
            });
            let files = vec![file("pairs.txt", blocks.collect())];
            return Generated { files, ..Generated::default() };
        }
        let open = Block { of: "open".to_owned(), text: OPEN.to_owned(), whole: true };
        let mut files = vec![file("open.jsh", vec![open])];
        if !source.sample.is_empty() {
            let blocks = source.sample.iter().map(|record| Block {
                of: record.collection(source.layout).to_owned(),
                text: put(source.layout, &all, record),
                whole: true,
            });
            files.push(file("sample.jsh", blocks.collect()));
        }
        let blocks = source.statements.iter().map(|statement| block(source.layout, &all, statement));
        files.push(file("statements.jsh", blocks.collect()));
        let tables = definitions(source.layout, &source.options.prefix);
        let tables = tables.into_iter().map(|(of, text)| Block { of, text, whole: true });
        files.push(file("tables.sql", tables.collect()));
        Generated { files, notes: notes(), refused: refused(source, &all) }
    }

    fn read(&self, layout: &Layout, options: &Options, read: &Read) -> String {
        let all = pairs(layout, &options.prefix);
        request(layout, &all, read).map(|request| request.text()).unwrap_or_default()
    }

    fn put(&self, layout: &Layout, options: &Options, sample: &Sample) -> String {
        let all = pairs(layout, &options.prefix);
        if options.faithful { paper::figure(layout, &all, sample) } else { put(layout, &all, sample) }
    }

    /// The client knows the version of a pair only as what it was read with, and nothing else is asked for.
    fn write_inputs(&self, _layout: &Layout, _options: &Options) -> WriteInputs {
        WriteInputs::default()
    }
}

fn notes() -> Vec<String> {
    let notes = [
        UNVERIFIED,
        "Pairs need no definition. `tables.sql` has the same records as tables, for its SQL and its table API.",
        "`version` is what the pair `$` was read with; `:version+1` is its number `n` and one more. Slots of values are JSON.",
        "What was deleted keeps its pair `$`: who makes the same again puts it with createPutIfVersion and the next `n`.",
        "A component of hexadecimal digits is a key in ordered bytes; `--params` prints them.",
    ];
    notes.map(str::to_owned).to_vec()
}

fn put(layout: &Layout, all: &[Pairs], record: &Sample) -> String {
    execute(&sample(layout, all, record)) + "\n"
}

fn block(layout: &Layout, all: &[Pairs], statement: &Statement) -> Block {
    generate::block(MARK, layout, statement, |words, step| match &step.action {
        Action::Read(read) => {
            request(layout, all, read).map(|request| request.text() + "\n").unwrap_or_default()
        }
        Action::Change(batch) => {
            let all = transactions(layout, all, batch).into_iter();
            repeated(MARK, words, all.map(|(each, operations)| (each, execute(&operations))))
        }
    })
}

impl Key {
    /// As an expression of Java.
    #[must_use]
    pub fn java(&self) -> String {
        format!("Key.fromString({})", java(&self.text()))
    }
}

impl Request {
    #[must_use]
    pub fn text(&self) -> String {
        const FRESH: &str = "Consistency.ABSOLUTE, 0, null";
        match self {
            Self::Get(key) => format!("store.get({}, {FRESH});", key.java()),
            Self::MultiGet(key) => {
                format!("store.multiGet({}, null, Depth.PARENT_AND_DESCENDANTS, {FRESH});", key.java())
            }
            Self::Everything(key) => format!(
                "store.storeIterator(Direction.UNORDERED, 0, {}, null, Depth.PARENT_AND_DESCENDANTS, {FRESH});",
                key.java()
            ),
            Self::Nothing => format!("{MARK} nothing is read: no pair can be meant"),
            Self::Iterate { under, range, backwards, limit, aggregates } => {
                let direction = if *backwards { "REVERSE" } else { "FORWARD" };
                let range = range.as_ref().map_or_else(|| "null".to_owned(), KeyRange::text);
                let counted = if *aggregates { "aggregates of it" } else { "of it" };
                let first = limit.as_ref().map_or_else(String::new, |limit| {
                    format!(" {MARK} the first {} {counted}", limit.plain())
                });
                // How many pairs an aggregate has is not known before.
                let batch = limit.as_ref().filter(|_| !aggregates);
                let batch = batch.map_or_else(|| "0".to_owned(), Bound::plain);
                format!(
                    "store.multiGetIterator(Direction.{direction}, {batch}, {}, {range}, \
                     Depth.PARENT_AND_DESCENDANTS, {FRESH});{first}",
                    under.java()
                )
            }
        }
    }
}

impl KeyRange {
    fn text(&self) -> String {
        match self {
            Self::Prefix(prefix) => format!("new KeyRange({})", prefix.text()),
            Self::Between { start, end } => {
                let side = |side: &Option<(Bound, bool)>| match side {
                    Some((bound, inclusive)) => format!("{}, {inclusive}", bound.text()),
                    None => "null, true".to_owned(),
                };
                match (start, end) {
                    (None, None) => "null".to_owned(),
                    (_, _) => format!("new KeyRange({}, {})", side(start), side(end)),
                }
            }
        }
    }
}

impl Bound {
    fn text(&self) -> String {
        match self {
            Self::Slot(name) => format!(":{name}"),
            Self::Text(text) => java(text),
        }
    }

    fn plain(&self) -> String {
        match self {
            Self::Slot(name) => format!(":{name}"),
            Self::Text(text) => text.clone(),
        }
    }
}

/// One operation by itself, or several as one transaction.
fn execute(operations: &[Operation]) -> String {
    let (others, own): (Vec<&Operation>, Vec<&Operation>) =
        operations.iter().partition(|operation| matches!(operation, Operation::DeleteOthers(_)));
    match (own.as_slice(), others.is_empty()) {
        ([Operation::Put(key, held)], true) => format!("store.put({}, {});", key.java(), held.java()),
        ([Operation::Delete(key)], true) => format!("store.delete({});", key.java()),
        (_, none) => {
            let lines: Vec<String> = own.iter().map(|operation| format!("  {}", operation.java())).collect();
            let rest = if none {
                ""
            } else {
                "\n  // and for each other pair that was read: operations.createDelete(key)"
            };
            format!("store.execute(java.util.List.of(\n{}{rest}\n));", lines.join(",\n"))
        }
    }
}

impl Operation {
    fn java(&self) -> String {
        const NONE: &str = "ReturnValueVersion.Choice.NONE";
        match self {
            Self::Put(key, held) => format!("operations.createPut({}, {})", key.java(), held.java()),
            Self::PutIfAbsent(key, held) => {
                format!("operations.createPutIfAbsent({}, {}, {NONE}, true)", key.java(), held.java())
            }
            Self::PutIfVersion(key, held) => {
                format!(
                    "operations.createPutIfVersion({}, {}, {NONE}, version, true)",
                    key.java(),
                    held.java()
                )
            }
            Self::Delete(key) => format!("operations.createDelete({})", key.java()),
            Self::DeleteOthers(_) => String::new(),
        }
    }
}

impl Held {
    pub(super) fn java(&self) -> String {
        format!("json({})", self.expression())
    }

    /// Literals with what is not known yet between them.
    fn expression(&self) -> String {
        let mut parts = vec![String::new()];
        self.collect(&mut parts);
        let shown = parts.iter().enumerate().filter(|(_, part)| !part.is_empty());
        let one = |(index, part): (usize, &String)| if index % 2 == 0 { java(part) } else { part.clone() };
        shown.map(one).collect::<Vec<_>>().join(" + ")
    }

    /// Text and slots by turns.
    fn collect(&self, parts: &mut Vec<String>) {
        let mut push = |text: &str| {
            if let Some(last) = parts.last_mut() {
                last.push_str(text);
            }
        };
        match self {
            Self::Json(value) => push(&value.to_string()),
            Self::Slot(name) => parts.extend([format!(":{name}"), String::new()]),
            Self::Object(fields) => {
                push("{");
                for (index, (name, held)) in fields.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    if let Some(last) = parts.last_mut() {
                        let _ = write!(last, "{comma}{}:", serde_json::Value::from(name.as_str()));
                    }
                    held.collect(parts);
                }
                if let Some(last) = parts.last_mut() {
                    last.push('}');
                }
            }
        }
    }
}

/// A string of Java. Unicode escapes are read before anything else there, so that one for a line break would break the
/// line: control characters go in octal digits.
pub(super) fn java(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            ' '..='~' => out.push(letter),
            '\0'..='\x1f' | '\x7f' => {
                let _ = write!(out, "\\{:03o}", letter as u32);
            }
            _other => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
    out
}
