//! Requests as text for the hbase shell, which is Ruby.

use super::key::{Key, Part, Slot};
use super::limit::refused;
use super::read::{Limit, Request, Rows, Scan, request};
use super::schema::{HTable, VERSION, tables};
use super::value::{Cell, Packing};
use super::write::{Bound, Check, Mutation, mutations, sample};
use crate::generate::{
    self, Block, File, Generated, Language, Options, Sample, Source, Statement, former, repeated,
};
use askloom_plan::layout::Layout;
use askloom_plan::program::{Action, Read, StampUse, TableInputs, WriteInputs, without_native_expiry};
use std::fmt::Write;

const MARK: &str = "#";

/// What the shell has no command for: several changes of one row at once, under a condition.
const MUTATE: &str = include_str!("mutate.rb");

/// The hbase shell.
#[derive(Debug)]
pub struct HBase;

impl Language for HBase {
    fn generate(&self, source: &Source<'_>) -> Generated {
        let tables = tables(source.layout, &source.options.prefix);
        let run = |name: &str| Some(format!("hbase shell -n {name}"));
        let file = |name: &str, run: Option<String>, blocks| File { name: name.to_owned(), run, blocks };
        let own = tables.iter().filter(|table| source.layout.has_records(table.collection));
        let mut files = vec![file("schema.rb", run("schema.rb"), own.map(definition).collect())];
        if !source.sample.is_empty() {
            let blocks = source.sample.iter().map(|record| Block {
                of: record.collection(source.layout).to_owned(),
                text: put(source.layout, &tables, record),
                whole: true,
            });
            files.push(file("sample.rb", run("sample.rb"), blocks.collect()));
        }
        if source.statements.iter().any(|statement| statement.write) {
            let own = Block { of: "mutate".to_owned(), text: MUTATE.to_owned(), whole: true };
            files.push(file("mutate.rb", Some("load \"mutate.rb\"".to_owned()), vec![own]));
        }
        let blocks = source.statements.iter().map(|statement| block(source.layout, &tables, statement));
        files.push(file("statements.rb", None, blocks.collect()));
        let mut notes = notes();
        notes.extend(without_native_expiry(source.layout, "HBase"));
        Generated { files, notes, refused: refused(source, &tables) }
    }

    fn read(&self, layout: &Layout, options: &Options, read: &Read) -> String {
        let tables = tables(layout, &options.prefix);
        request(layout, &tables, read).map(|request| request.text()).unwrap_or_default()
    }

    fn put(&self, layout: &Layout, options: &Options, sample: &Sample) -> String {
        put(layout, &tables(layout, &options.prefix), sample)
    }

    fn write_inputs(&self, layout: &Layout, options: &Options) -> WriteInputs {
        let inputs = |table: &HTable| match table.master {
            true => TableInputs { version: true, ..TableInputs::default() },
            false => TableInputs { stamp: StampUse::Rows, ..TableInputs::default() },
        };
        let tables = tables(layout, &options.prefix);
        WriteInputs { checks_reads: false, tables: tables.iter().map(inputs).collect() }
    }
}

fn notes() -> Vec<String> {
    let notes = [
        "`load \"mutate.rb\"` once in a session of the shell, for the writes.",
        "A row key is ordered bytes, in which `key(:gameId)` stands for the bytes of one value and `inverted(…)` for \
         those of one that descends; `--params` prints them.",
        "`after(…)` is the first key behind all that start with these bytes.",
        "Timestamps are versions, not times. What is null has no cell: name its column in `delete:`.",
        "A deleted row keeps late puts out until the next major compaction: leave a week between two.",
    ];
    notes.map(str::to_owned).to_vec()
}

fn put(layout: &Layout, tables: &[HTable], record: &Sample) -> String {
    let Some(mutation) = sample(layout, tables, record) else { return String::new() };
    let (table, row, at) = (text(mutation.table.as_bytes()), mutation.row.text(), mutation.at.plain());
    // The server counts from the timestamp, which is no time here.
    let ttl = mutation
        .ttl_ms
        .map_or_else(String::new, |kept| format!(", {{TTL => (Time.now.to_f * 1000).to_i + {kept} - {at}}}"));
    let one = |(column, bound): &(String, Bound)| {
        let ttl = if column == VERSION { "" } else { ttl.as_str() };
        format!("put {table}, {row}, {}, {}, {at}{ttl}\n", text(column.as_bytes()), bound.text())
    };
    mutation.put.iter().map(one).collect()
}

fn block(layout: &Layout, tables: &[HTable], statement: &Statement) -> Block {
    generate::block(MARK, layout, statement, |words, step| match &step.action {
        Action::Read(read) => {
            request(layout, tables, read).map(|request| request.text() + "\n").unwrap_or_default()
        }
        Action::Change(batch) => {
            let all = mutations(layout, tables, batch).into_iter();
            former(MARK, batch) + &repeated(MARK, words, all.map(|(each, mutation)| (each, mutation.text())))
        }
    })
}

fn definition(table: &HTable) -> Block {
    let families: &[&str] = if table.master { &["i", "d"] } else { &["d"] };
    let families: Vec<String> =
        families.iter().map(|family| format!("{{NAME => \"{family}\", VERSIONS => 1}}")).collect();
    let name = text(table.name.as_bytes());
    let text = format!("create {name}, {} unless exists {name}", families.join(", "));
    Block { of: table.name.clone(), text, whole: true }
}

impl Request {
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Get { table, row } => format!("get {}, {}", text(table.as_bytes()), row.text()),
            Self::Scan(scan) => scan.text(),
        }
    }
}

impl Scan {
    #[must_use]
    pub fn text(&self) -> String {
        let table = text(self.table.as_bytes());
        let mut options = match &self.rows {
            Rows::Nothing => return format!("{MARK} nothing is read: no row of {} can be meant", self.table),
            Rows::All => Vec::new(),
            Rows::Under(key) => vec![format!("ROWPREFIXFILTER => {}", key.text())],
            Rows::Between { from, to, exact } if self.backwards => backwards(from, to.as_ref(), *exact),
            Rows::Between { from, to, exact: _ } => {
                let to = to.iter().map(|to| format!("STOPROW => {}", to.text()));
                std::iter::once(format!("STARTROW => {}", from.text())).chain(to).collect()
            }
        };
        if self.backwards {
            options.push("REVERSED => true".to_owned());
        }
        match &self.limit {
            Some(Limit::Rows(rows)) => options.push(format!("LIMIT => {rows}")),
            Some(Limit::Slot(name)) => options.push(format!("LIMIT => :{name}")),
            None => {}
        }
        match options.as_slice() {
            [] => format!("scan {table}"),
            _some => format!("scan {table}, {{{}}}", options.join(", ")),
        }
    }
}

/// The same rows from the other end. There a scan has its first bound and not its second, so that where a row can be
/// one of the two, filters say which.
fn backwards(from: &Key, to: Option<&Key>, exact: bool) -> Vec<String> {
    let mut options: Vec<String> = to.iter().map(|to| format!("STARTROW => {}", to.text())).collect();
    if !exact {
        options.push(format!("STOPROW => {}", from.text()));
        return options;
    }
    let mut filters: Vec<String> = to.iter().map(|to| row_filter("<", to)).collect();
    filters.push(format!("WHILE {}", row_filter(">=", from)));
    options.push(format!("FILTER => \"{}\"", filters.join(" AND ")));
    options
}

/// In the language of filters, whose quotes double inside.
fn row_filter(operator: &str, key: &Key) -> String {
    let key = match key.bytes() {
        Some(bytes) => {
            let doubled: Vec<u8> =
                bytes.iter().flat_map(|&b| std::iter::repeat_n(b, if b == b'\'' { 2 } else { 1 })).collect();
            escaped(&doubled)
        }
        None => format!("#{{{}}}", key.text()),
    };
    format!("RowFilter({operator}, 'binary:{key}')")
}

impl Mutation {
    #[must_use]
    pub fn text(&self) -> String {
        let (table, row) = (text(self.table.as_bytes()), self.row.text());
        if self.put.is_empty() && self.check == Check::Nothing {
            return self.drops(&table, &row);
        }
        let cells = self.put.iter();
        let cells: Vec<String> =
            cells.map(|(column, bound)| format!("{} => {}", text(column.as_bytes()), bound.text())).collect();
        let mut line = format!("mutate {table}, {row}, {}, {{{}}}", self.at.plain(), cells.join(", "));
        if !self.delete.is_empty() {
            let columns: Vec<String> = self.delete.iter().map(|column| text(column.as_bytes())).collect();
            let _ = write!(line, ", delete: [{}]", columns.join(", "));
        }
        if let Some(ttl) = self.ttl_ms.filter(|_| self.put.iter().any(|(column, _)| column != VERSION)) {
            let _ = write!(line, ", ttl: {ttl}");
        }
        match self.check {
            Check::Nothing => {}
            Check::Absent => line.push_str(", version: :absent"),
            Check::Version(None) => line.push_str(", version: :version"),
            Check::Version(Some(version)) => {
                let _ = write!(line, ", version: {version}");
            }
        }
        line
    }

    /// The shell's own command for what goes without anything that comes.
    fn drops(&self, table: &str, row: &str) -> String {
        let at = self.at.plain();
        let one = |column: &String| format!("deleteall {table}, {row}, {}, {at}-1", text(column.as_bytes()));
        self.delete.iter().map(one).collect::<Vec<_>>().join("\n")
    }
}

impl Key {
    #[must_use]
    pub fn text(&self) -> String {
        let part = |part: &Part| match part {
            Part::Bytes(bytes) => text(bytes),
            Part::Slot(Slot { name, descending, prefix }) => {
                let kind = match (descending, prefix) {
                    (false, false) => "key",
                    (false, true) => "start",
                    (true, false) => "inverted",
                    (true, true) => "inverted_start",
                };
                format!("{kind}(:{name})")
            }
        };
        let parts: Vec<String> = self.parts.iter().map(part).collect();
        match (self.after, parts.is_empty()) {
            (true, _) => format!("after({})", parts.join(" + ")),
            (false, true) => text(&[]),
            (false, false) => parts.join(" + "),
        }
    }
}

impl Bound {
    /// As the bytes of a cell.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Cell(cell) => cell.literal(),
            Self::Slot(name, packing) => packing.pack(&format!(":{name}")).unwrap_or(format!(":{name}")),
        }
    }

    /// As a number by itself.
    fn plain(&self) -> String {
        match self {
            Self::Slot(name, _) => format!(":{name}"),
            Self::Cell(Cell::Long(number)) => number.to_string(),
            Self::Cell(cell @ (Cell::Bytes(_) | Cell::Int(_) | Cell::Double(_))) => cell.literal(),
        }
    }
}

impl Packing {
    fn pack(self, value: &str) -> Option<String> {
        match self {
            Self::Bytes => None,
            Self::Int => Some(format!("[{value}].pack(\"l>\")")),
            Self::Long => Some(format!("[{value}].pack(\"q>\")")),
            Self::Double => Some(format!("[{value}].pack(\"G\")")),
        }
    }
}

impl Cell {
    /// The value as the shell takes it.
    #[must_use]
    pub fn literal(&self) -> String {
        let packed = match self {
            Self::Bytes(_) => None,
            Self::Int(number) => Packing::Int.pack(&number.to_string()),
            Self::Long(number) => Packing::Long.pack(&number.to_string()),
            Self::Double(number) => Packing::Double.pack(&format!("{number:e}")),
        };
        packed.unwrap_or_else(|| text(&self.bytes()))
    }
}

/// A string of Ruby. Bytes that are no plain letters, or that a string would do something with, go as their numbers.
pub(super) fn text(bytes: &[u8]) -> String {
    format!("\"{}\"", escaped(bytes))
}

fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            // `#{…}`, `#$x` and `#@x` are code.
            b'"' | b'\\' | b'#' => text.extend(['\\', char::from(byte)]),
            b' '..=b'~' => text.push(char::from(byte)),
            _other => {
                let _ = write!(text, "\\x{byte:02x}");
            }
        }
    }
    text
}
