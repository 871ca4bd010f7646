//! cqlsh on Cassandra.

use crate::files::{Folder, Follow, some_examples};
use crate::harness::{Shell, every_example};
use crate::server::{self, Session};
use askloom_model::{AccessPath, Value, ValueError};
use askloom_plan::layout::{Block, Fields, Layout, Table};
use askloom_plan::ordered_bytes::encode;
use askloom_plan::program::Read;
use askloom_target::cassandra::{CqlColumn, CqlTable, select, tables};
use askloom_target::generate::{Options, Sample};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

pub(crate) struct Cqlsh {
    session: Session,
    line: Vec<String>,
    /// How often each row is kept.
    copies: usize,
    /// Of the design before; a small server has no room for all of them.
    keyspace: Option<String>,
}

const MARK: &str = "askloom-mark";

impl Cqlsh {
    pub(crate) fn start() -> Self {
        Self::start_on("cassandra", 1)
    }

    /// On a cluster that has every row so many times.
    pub(crate) fn start_on(server: &str, copies: usize) -> Self {
        server::up(server);
        let mut line = server::shell(server);
        // Tables take long to make on a busy machine.
        line.extend(["--request-timeout", "60", "--connect-timeout", "60"].map(str::to_owned));
        let session = open(&line);
        Self { session, line, copies, keyspace: None }
    }

    /// What is printed, be it wrong or not.
    fn printed(&mut self, text: &str) -> Result<String, String> {
        // A one-row answer that ends every text.
        let text = format!("{text}\nSELECT (text)'{MARK}' AS mark FROM system.local;\n");
        self.session.send(&text, MARK)
    }

    pub(crate) fn send(&mut self, text: &str) -> Result<String, String> {
        let printed = self.printed(text)?;
        // What cqlsh complains of has the place before it, and nothing that it shows does.
        match printed.lines().find(|line| line.starts_with("<stdin>:")) {
            Some(_) => Err(printed),
            None => Ok(printed),
        }
    }
}

fn open(line: &[String]) -> Session {
    Session::start(line, &[("PYTHONUNBUFFERED", "1")])
}

impl Shell for Cqlsh {
    fn target(&self) -> &'static str {
        "cassandra"
    }

    fn clear(&mut self, name: &str) -> Options {
        let replication = format!("{{'class': 'SimpleStrategy', 'replication_factor': {}}}", self.copies);
        let former = self.keyspace.replace(name.to_owned());
        let former = former.map_or_else(String::new, |former| format!("DROP KEYSPACE IF EXISTS {former};\n"));
        let text = format!(
            "{former}DROP KEYSPACE IF EXISTS {name};\nCREATE KEYSPACE {name} WITH replication = {replication};\nUSE {name};"
        );
        self.send(&text).unwrap();
        Options::default()
    }

    fn run(&mut self, text: &str) -> Result<(), String> {
        self.send(text).map(|_| ())
    }

    fn read(&mut self, layout: &Layout, read: &Read) -> Result<Vec<Sample>, String> {
        let all = tables(layout, "");
        let text = select(layout, &all, read).ok_or("no such table")?.text();
        // The same statement; JSON only says how the rows are shown.
        let shown = self.send(&text.replacen("SELECT ", "SELECT JSON ", 1))?;
        self.decoded(layout, read, &shown)
    }
}

impl Cqlsh {
    /// The records in what a read shows as JSON.
    fn decoded(&self, layout: &Layout, read: &Read, shown: &str) -> Result<Vec<Sample>, String> {
        let all = tables(layout, "");
        let mut rows = Vec::new();
        for line in shown.lines().map(str::trim).filter(|line| line.starts_with('{')) {
            // cqlsh doubles backslashes; and a year before Christ is shown by its number alone.
            let line = line.replace("\\\\", "\\").replace("\"+10000-", "\"-009999-");
            let json: Json = serde_json::from_str(&line).map_err(|error| format!("{error}: {line}"))?;
            rows.push(json.as_object().unwrap().clone());
        }
        let table = layout.table(read.table).unwrap();
        let cql = all.iter().find(|cql| cql.collection == read.table).unwrap();
        let found = match (&cql.system, &cql.index) {
            (_, Some(index)) => {
                let host = all.iter().find(|cql| cql.collection == index.host).unwrap();
                led_to(layout, cql, host, rows)
            }
            (Some(_), None) => blocks(layout, table, cql, &rows),
            (None, None) => rows.iter().map(|row| record(layout, cql, row)).collect(),
        };
        found.map_err(|error| error.0)
    }
}

/// A partition that is found by an index is a row of it, and the aggregate. Without a class it was deleted.
fn led_to(
    layout: &Layout,
    cql: &CqlTable,
    host: &CqlTable,
    mut rows: Vec<Map<String, Json>>,
) -> Result<Vec<Sample>, ValueError> {
    let system = host.system.as_ref().unwrap();
    rows.retain(|row| !row[&system.class].is_null());
    for row in &mut rows {
        // What the executor asks of every aggregate, where only members were asked for: no version, no epoch, made in
        // 1970, not deleted, no writes, no ordinals.
        if !row.contains_key(&system.rest) {
            let mut bytes = vec![0; 16];
            let rest = [Value::Int(0), Value::Null, Value::Blob(Vec::new()), Value::Int(0)];
            rest.iter().for_each(|value| encode(value, &mut bytes));
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            row.insert(system.rest.clone(), Json::from(format!("0x{digits}")));
            row.insert(system.version.clone(), Json::from(0));
        }
    }
    let mut found = blocks(layout, layout.table(host.collection).unwrap(), host, &rows)?;
    for row in &rows {
        let own = record(layout, cql, row)?;
        if !found.contains(&own) {
            found.push(own);
        }
    }
    Ok(found)
}

fn cells(layout: &Layout, cql: &CqlTable, row: &Map<String, Json>) -> Result<Vec<Value>, ValueError> {
    let cell = |column: &CqlColumn| column.from_json(layout, row.get(&column.name).unwrap_or(&Json::Null));
    cql.columns.iter().map(cell).collect()
}

fn record(layout: &Layout, cql: &CqlTable, row: &Map<String, Json>) -> Result<Sample, ValueError> {
    Ok(Sample::Row { table: cql.collection, cells: cells(layout, cql, row)? })
}

/// Rows of one id are one aggregate.
fn blocks(
    layout: &Layout,
    table: &Table,
    cql: &CqlTable,
    rows: &[Map<String, Json>],
) -> Result<Vec<Sample>, ValueError> {
    let system = cql.system.as_ref().unwrap();
    let mut found: Vec<Block> = Vec::new();
    for row in rows {
        let class = row[&system.class].as_str();
        let (identity, root) = layout.root(table, &cells(layout, cql, row)?, class)?;
        if found.last().is_none_or(|block| block.identity != identity) {
            let (fields, entries) = (Fields { root: None }, BTreeMap::new());
            let (system, carried) = (Vec::new(), Vec::new());
            found.push(Block { identity, version: 0, system, fields, entries, carried, expires: None });
        }
        // Static columns are in every row; of aggregates that share a partition their first row alone has these.
        if let (Some(block), Some(version)) = (found.last_mut(), row[&system.version].as_u64()) {
            block.version = version;
            block.system = bytes(row[&system.rest].as_str().unwrap_or("0x"));
            block.fields = Fields { root: class.map(|_| root) };
        }
        let entry = system
            .entry
            .as_ref()
            .and_then(|(entry, value)| Some((row.get(entry)?.as_str()?, row.get(value)?.as_str()?)));
        if let (Some((path, value)), Some(block)) = (entry, found.last_mut()) {
            let path: AccessPath = path.parse().map_err(|error| ValueError(format!("{error}")))?;
            let json = serde_json::from_str(value).map_err(|error| ValueError(error.to_string()))?;
            let value = layout.entry_value(table, &path, &json)?;
            block.entries.insert(path, value);
        }
    }
    Ok(found
        .into_iter()
        .map(|block| Sample::Block { table: table.collection, block: Box::new(block) })
        .collect())
}

pub(crate) fn bytes(digits: &str) -> Vec<u8> {
    let digits = digits.trim_start_matches("0x");
    (0..digits.len() / 2).map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap()).collect()
}

impl Follow for Cqlsh {
    fn programs(&self) -> Vec<(&'static str, Vec<String>)> {
        vec![("cqlsh", self.line.clone())]
    }

    fn filled(&self, command: &str) -> String {
        command.replace("KEYSPACE", self.keyspace.as_ref().unwrap())
    }

    /// It is told of tables that others have made some time later, and shows no rows of those that it does not know.
    fn reopen(&mut self) {
        self.session = open(&self.line);
        let keyspace = self.keyspace.clone().unwrap();
        self.send(&format!("USE {keyspace};")).unwrap();
    }

    fn paste(&mut self, _: &Folder, _: &str, blocks: &[&str]) -> Vec<String> {
        blocks.iter().map(|block| self.printed(block).unwrap()).collect()
    }

    /// cqlsh shows a table, in which numbers are rounded: it must have as many rows as the same statement gives as JSON.
    fn shown(&mut self, layout: &Layout, read: &Read, _: &str, shown: &str) -> Result<Vec<Sample>, String> {
        // The mark of the block before has one row, too.
        let (_, own) = shown.split_once("Consistency level").ok_or(shown)?;
        let count = own.lines().find_map(|line| line.strip_prefix('(')?.strip_suffix(" rows)"));
        let text = select(layout, &tables(layout, ""), read).ok_or("no such table")?.text();
        let again = self.send(&text.replacen("SELECT ", "SELECT JSON ", 1))?;
        let rows = again.lines().filter(|line| line.trim().starts_with('{')).count();
        assert_eq!(count, Some(rows.to_string().as_str()), "{shown}");
        self.decoded(layout, read, &again)
    }
}

#[test]
#[ignore = "slow"]
fn the_files_of_cassandra_run_as_the_readme_says() {
    some_examples(&mut Cqlsh::start());
}

#[test]
#[ignore = "slow"]
fn every_example_runs_in_cqlsh() {
    every_example(&mut Cqlsh::start());
}

#[test]
#[ignore = "slow"]
fn no_text_means_more_than_it_says_in_cqlsh() {
    crate::peculiar::texts(&mut Cqlsh::start(), askloom_design::method::Method::Qodm);
}

#[test]
#[ignore = "slow"]
fn classes_share_partitions_in_cqlsh() {
    crate::item_collections::partitions(&mut Cqlsh::start());
}

#[test]
#[ignore = "slow"]
fn any_name_is_a_name_in_cqlsh() {
    crate::peculiar::names(&mut Cqlsh::start());
}
