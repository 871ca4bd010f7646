//! Statements as text for cqlsh.

use super::capability::INDEXED_BYTES;
use super::limit::refused;
use super::read::{Bound, Condition, Select, select};
use super::schema::{CqlTable, System, tables};
use super::value::Cql;
use super::write::{Mutation, mutations, sample};
use crate::generate::{
    self, Block, File, Generated, Language, Options, Sample, Source, Statement, former, repeated,
};
use askloom_plan::layout::{Layout, Place};
use askloom_plan::program::{Action, Read, StampUse, TableInputs, WriteInputs, without_native_expiry};
use std::fmt::Write;

const MARK: &str = "--";
const SERIAL: &str = "CONSISTENCY SERIAL;\n";
const QUORUM: &str = "CONSISTENCY QUORUM;\n";

/// CQL.
#[derive(Debug)]
pub struct Cassandra;

impl Language for Cassandra {
    fn generate(&self, source: &Source<'_>) -> Generated {
        let tables = tables(source.layout, &source.options.prefix);
        let run = |name: &str| Some(format!("cqlsh -k KEYSPACE -f {name}"));
        let mut files = vec![File {
            name: "schema.cql".to_owned(),
            run: run("schema.cql"),
            blocks: definitions(source.layout, &tables),
        }];
        if !source.sample.is_empty() {
            let blocks = source.sample.iter().map(|record| Block {
                of: record.collection(source.layout).to_owned(),
                text: put(source.layout, &tables, record),
                whole: true,
            });
            let first = Block { of: String::new(), text: QUORUM.to_owned(), whole: true };
            let blocks = std::iter::once(first).chain(blocks).collect();
            files.push(File { name: "sample.cql".to_owned(), run: run("sample.cql"), blocks });
        }
        let blocks = source.statements.iter().map(|statement| block(source.layout, &tables, statement));
        files.push(File { name: "statements.cql".to_owned(), run: None, blocks: blocks.collect() });
        let mut notes = notes(&tables);
        notes.extend(without_native_expiry(source.layout, "Cassandra"));
        Generated { refused: refused(source, &tables), files, notes }
    }

    fn read(&self, layout: &Layout, options: &Options, read: &Read) -> String {
        let tables = tables(layout, &options.prefix);
        select(layout, &tables, read).map(|select| select.text()).unwrap_or_default()
    }

    fn put(&self, layout: &Layout, options: &Options, sample: &Sample) -> String {
        put(layout, &tables(layout, &options.prefix), sample)
    }

    fn write_inputs(&self, layout: &Layout, options: &Options) -> WriteInputs {
        let inputs = |table: &CqlTable| match (&table.index, &table.system) {
            (Some(_), _) => TableInputs::default(),
            (None, Some(_)) => TableInputs { version: true, ..TableInputs::default() },
            (None, None) => TableInputs { stamp: StampUse::Rows, ..TableInputs::default() },
        };
        let tables = tables(layout, &options.prefix);
        WriteInputs { checks_reads: false, tables: tables.iter().map(inputs).collect() }
    }
}

fn put(layout: &Layout, tables: &[CqlTable], record: &Sample) -> String {
    let statements = sample(layout, tables, record);
    statements.iter().map(|mutation| mutation.text() + "\n").collect()
}

fn block(layout: &Layout, tables: &[CqlTable], statement: &Statement) -> Block {
    generate::block(MARK, layout, statement, |words, step| match &step.action {
        Action::Read(read) => {
            select(layout, tables, read).map(|select| select.text() + "\n").unwrap_or_default()
        }
        Action::Change(batch) => {
            let all = mutations(layout, tables, batch).into_iter();
            // At SERIAL, which masters are read at, a write without a condition is refused.
            former(MARK, batch)
                + QUORUM
                + &repeated(MARK, words, all.map(|(each, mutation)| (each, mutation.text())))
        }
    })
}

fn notes(tables: &[CqlTable]) -> Vec<String> {
    let mut notes = vec![
        "Create a keyspace first, with the replication that you want.".to_owned(),
        "`stamp` is the version of the aggregate that a row of a copy follows, in microseconds.".to_owned(),
        "A blob that stands for a key holds ordered bytes, null first; `--params` prints them.".to_owned(),
    ];
    if tables.iter().any(|table| table.index.is_some()) {
        notes.push("A read by an index asks every node, which the cost model does not count.".to_owned());
        notes.push(format!(
            "A text of more than {INDEXED_BYTES} bytes is not in an index, and Cassandra does not say so: \
             refuse it before you write."
        ));
    }
    notes
}

/// Tables, then the indexes of them.
fn definitions(layout: &Layout, tables: &[CqlTable]) -> Vec<Block> {
    let is_own = |table: &&CqlTable| table.index.is_none() && layout.has_records(table.collection);
    let own = tables.iter().filter(is_own);
    let made = own.clone().filter(|table| table.home() == table.collection);
    let group = |home: &CqlTable| -> Vec<&CqlTable> {
        own.clone().filter(|table| table.home() == home.collection).collect()
    };
    let mut blocks: Vec<Block> = made.map(|table| definition(table, &group(table))).collect();
    let indexes = || tables.iter().filter_map(|table| Some((table, table.index.as_ref()?)));
    for (table, index) in indexes() {
        // There is one index of a column, whatever it is asked for.
        let first = indexes().find(|(other, one)| other.name == table.name && one.column == index.column);
        let text = match first.filter(|(_, one)| one.name != index.name) {
            Some((_, same)) => format!("{MARK} {}: the same index as {}", index.name, same.name),
            None => format!(
                "CREATE INDEX IF NOT EXISTS {} ON {} ({}) USING 'sai';",
                index.name, table.name, index.column
            ),
        };
        blocks.push(Block { of: index.name.clone(), text, whole: true });
    }
    blocks
}

/// A table with the columns of all classes that share it.
fn definition(table: &CqlTable, group: &[&CqlTable]) -> Block {
    let mut text = format!("CREATE TABLE IF NOT EXISTS {} (\n", table.name);
    let is_static = table.system.as_ref().is_some_and(System::is_static);
    let own = |text: &mut String, name: &str, ty: &str, fixed: bool| {
        let _ = writeln!(text, "  {name} {ty}{},", if fixed { " STATIC" } else { "" });
    };
    if let Some(constant) = &table.constant {
        own(&mut text, constant, "int", false);
    }
    for column in table.columns.iter().filter(|column| column.place == Place::Block) {
        own(&mut text, &column.name, &column.kind.cql(), false);
    }
    if let Some(shared) = &table.shared {
        own(&mut text, &shared.kind.0, "text", false);
    }
    let all = || group.iter().flat_map(|table| &table.columns);
    for column in all().filter(|column| matches!(column.place, Place::Sort { .. } | Place::Row)) {
        own(&mut text, &column.name, &column.kind.cql(), false);
    }
    if let Some(system) = &table.system {
        own(&mut text, &system.version, "bigint", is_static);
        own(&mut text, &system.rest, "blob", is_static);
        own(&mut text, &system.class, "text", is_static);
        if let Some((entry, value)) = &system.entry {
            own(&mut text, entry, "text", false);
            own(&mut text, value, "text", false);
        }
    }
    for column in all().filter(|column| column.place == Place::Value) {
        own(&mut text, &column.name, &column.kind.cql(), is_static);
    }
    // Before the columns of the last class are those of all others.
    let mut clustering = group.last().map_or_else(Vec::new, |table| table.clustering());
    if let Some((entry, _)) = table.system.as_ref().and_then(|system| system.entry.as_ref())
        && table.shared.is_some()
    {
        clustering.push((entry, false));
    }
    let mut key = vec![format!("({})", table.partition().join(", "))];
    key.extend(clustering.iter().map(|(name, _)| (*name).to_owned()));
    let _ = write!(text, "  PRIMARY KEY ({})\n)", key.join(", "));
    if clustering.iter().any(|(_, descending)| *descending) {
        let _ = write!(text, " WITH CLUSTERING ORDER BY ({})", order(&clustering));
    }
    text.push(';');
    Block { of: table.name.clone(), text, whole: true }
}

fn order(columns: &[(&str, bool)]) -> String {
    let one =
        |(name, descending): &(&str, bool)| format!("{name} {}", if *descending { "DESC" } else { "ASC" });
    columns.iter().map(one).collect::<Vec<_>>().join(", ")
}

impl Select {
    #[must_use]
    pub fn text(&self) -> String {
        let level = if self.serial { SERIAL } else { QUORUM };
        let distinct = if self.distinct { "DISTINCT " } else { "" };
        let mut text = format!("{level}SELECT {distinct}{} FROM {}", self.columns.join(", "), self.table);
        text.push_str(&conditions(&self.conditions));
        if !self.backwards.is_empty() {
            let columns: Vec<(&str, bool)> =
                self.backwards.iter().map(|(name, d)| (name.as_str(), *d)).collect();
            let _ = write!(text, " ORDER BY {}", order(&columns));
        }
        if let Some(limit) = &self.limit {
            let _ = write!(text, " LIMIT {}", limit.text());
        }
        if self.filtering {
            text.push_str(" ALLOW FILTERING");
        }
        text.push(';');
        text
    }
}

fn conditions(conditions: &[Condition]) -> String {
    let one = |condition: &Condition| {
        format!("{} {} {}", condition.column, condition.operator, condition.bound.text())
    };
    match conditions {
        [] => String::new(),
        some => format!(" WHERE {}", some.iter().map(one).collect::<Vec<_>>().join(" AND ")),
    }
}

impl Mutation {
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Batch(mutations) => {
                let inner: String =
                    mutations.iter().map(|mutation| format!("  {}\n", mutation.text())).collect();
                format!("BEGIN BATCH\n{inner}APPLY BATCH;")
            }
            Self::Insert { table, cells, stamp, ttl } => {
                let names: Vec<&str> = cells.iter().map(|(name, _)| name.as_str()).collect();
                let values: Vec<String> = cells.iter().map(|(_, bound)| bound.text()).collect();
                let stamp = using(stamp.as_ref(), *ttl);
                format!("INSERT INTO {table} ({}) VALUES ({}){stamp};", names.join(", "), values.join(", "))
            }
            Self::Update { table, ttl, set, key, condition } => {
                let set: Vec<String> =
                    set.iter().map(|(name, bound)| format!("{name} = {}", bound.text())).collect();
                let only = condition.as_ref().map_or_else(String::new, |only| {
                    format!(" IF {} {} {}", only.column, only.operator, only.bound.text())
                });
                let ttl = using(None, *ttl);
                format!("UPDATE {table}{ttl} SET {}{}{only};", set.join(", "), conditions(key))
            }
            Self::Delete { table, key, stamp } => {
                format!("DELETE FROM {table}{}{};", using(stamp.as_ref(), None), conditions(key))
            }
        }
    }
}

fn using(stamp: Option<&Bound>, ttl: Option<u64>) -> String {
    let stamp = stamp.map(|stamp| format!("TIMESTAMP {}", stamp.text()));
    let all: Vec<String> = stamp.into_iter().chain(ttl.map(|seconds| format!("TTL {seconds}"))).collect();
    if all.is_empty() { String::new() } else { format!(" USING {}", all.join(" AND ")) }
}

impl Bound {
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Slot(name) => format!(":{name}"),
            Self::Value(value) => value.literal(),
            Self::Nothing => "()".to_owned(),
        }
    }
}

impl Cql {
    /// The value as CQL takes it.
    #[must_use]
    pub fn literal(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Text(text) => self::text(text),
            Self::Int(number) => number.to_string(),
            Self::Varint(number) => number.to_string(),
            Self::Decimal(number) => number.to_plain_string(),
            Self::Double(number) => format!("{number:e}"),
            Self::Bool(truth) => truth.to_string(),
            Self::Date(date) => self::date(*date),
            Self::Time(time) => {
                let fraction = time.subsec_nanosecond();
                format!("'{:02}:{:02}:{:02}.{fraction:09}'", time.hour(), time.minute(), time.second())
            }
            Self::Timestamp(milliseconds) => milliseconds.to_string(),
            Self::Uuid(id) => id.to_string(),
            Self::Blob(bytes) => hex(bytes),
            Self::Tuple(first, second) => format!("({first:e}, {second:e})"),
            Self::List(items) => {
                format!("[{}]", items.iter().map(Self::literal).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// In quotes, which double inside. What a terminal or a shell might change on the way goes as bytes.
fn text(text: &str) -> String {
    if text.chars().any(char::is_control) {
        return format!("blob_as_text({})", hex(text.as_bytes()));
    }
    format!("'{}'", text.replace('\'', "''"))
}

fn hex(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{digits}")
}

/// By its name where every calendar agrees, else by its number: 2³¹ is the first day of 1970.
fn date(date: jiff::civil::Date) -> String {
    if (1600..=9999).contains(&date.year()) {
        return format!("'{date}'");
    }
    let first = jiff::civil::date(1970, 1, 1);
    let days = date.since(first).map(|span| i64::from(span.get_days())).unwrap_or_default();
    ((1_i64 << 31) + days).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_gets_out_of_its_quotes() {
        let plain =
            ["", "'", "''", "it's", "a';DROP TABLE game;--", "$$", "/* x", "*/", ":slot", "\\", "\u{2028}"];
        for text in plain {
            let literal = Cql::Text(text.to_owned()).literal();
            let inside = literal.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).unwrap();
            assert_eq!(inside.replace("''", "\u{1}").matches('\'').count(), 0, "{literal}");
            assert_eq!(inside.replace("''", "'"), text);
        }
        // What a terminal changes on its way goes as bytes.
        assert_eq!(Cql::Text("a\n\0\u{7f}".to_owned()).literal(), "blob_as_text(0x610a007f)");
        assert_eq!(Cql::Blob(vec![0, 255]).literal(), "0x00ff");
        let list = Cql::List(vec![Cql::Text("a'b".to_owned()), Cql::Int(-1)]);
        assert_eq!(list.literal(), "['a''b', -1]");
        assert_eq!(Cql::Date(jiff::civil::date(-44, 3, 15)).literal(), "2146748123");
    }
}
