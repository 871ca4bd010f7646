//! The hbase shell on HBase.

use crate::cassandra::bytes;
use crate::files::{Folder, Follow, quoted, some_examples};
use crate::harness::{Shell, every_example};
use crate::server::{self, Session};
use askloom_plan::layout::Layout;
use askloom_plan::program::Read;
use askloom_target::generate::{Options, Sample};
use askloom_target::hbase::{Key, Limit, Request, Row, Rows, Scan, record, request, tables};

pub(crate) struct Hbase {
    session: Session,
    line: Vec<String>,
    /// All tables of one test start with it.
    test: &'static str,
    prefix: String,
}

const MARK: &str = "askloom-mark";

/// Only how rows are shown: each cell on a line of its own, its parts in hexadecimal digits.
const PLAIN: &str = r##"
class ShownPlainly < ::Shell::Formatter::Console
  def header(args = [], widths = []); @row_count = 0; end
  def row(args = [], inset = true, widths = []); puts "CELL " + args.map { |part| part.to_s.unpack("H*")[0] }.join(" "); end
end
class ::Shell::Commands::Command; def formatter; @plain ||= ShownPlainly.new; end; end
"##;

/// All tables at once: one by one takes seconds each.
const DROP: &str = r##"
$admin ||= org.apache.hadoop.hbase.client.ConnectionFactory.createConnection(get_table("hbase:meta").table.getConfiguration).getAdmin
names = $admin.listTableNames(java.util.regex.Pattern.compile("TEST[.].*")).to_a
names.map { |name| $admin.disableTableAsync(name) if $admin.isTableEnabled(name) }.compact.each { |done| done.get }
names.map { |name| $admin.deleteTableAsync(name) }.each { |done| done.get }
"##;

impl Hbase {
    pub(crate) fn start(test: &'static str) -> Self {
        server::up("hbase");
        let line = server::shell("hbase");
        let session = Session::start(&line, &[]);
        let mut shell = Self { session, line, test, prefix: String::new() };
        shell.send(PLAIN).unwrap();
        shell
    }

    /// In pieces: the shell repeats what it reads, and neither side may wait for the other to read first.
    pub(crate) fn send(&mut self, text: &str) -> Result<String, String> {
        const PIECE: usize = 16 << 10;
        let mut shown = String::new();
        let mut piece = String::new();
        for line in text.lines() {
            piece.push_str(line);
            piece.push('\n');
            if piece.len() > PIECE {
                shown.push_str(&self.session.send(&format!("{piece}puts \"\\n{MARK}\"\n"), MARK)?);
                piece.clear();
            }
        }
        shown.push_str(&self.session.send(&format!("{piece}puts \"\\n{MARK}\"\n"), MARK)?);
        Ok(shown)
    }
}

impl Shell for Hbase {
    fn target(&self) -> &'static str {
        "hbase"
    }

    fn clear(&mut self, name: &str) -> Options {
        let drop = DROP.replace("TEST", self.test);
        self.send(&drop).unwrap();
        self.prefix = format!("{}.{name}.", self.test);
        Options { prefix: self.prefix.clone(), ..Options::default() }
    }

    fn run(&mut self, text: &str) -> Result<(), String> {
        self.send(text).map(|_| ())
    }

    fn read(&mut self, layout: &Layout, read: &Read) -> Result<Vec<Sample>, String> {
        let all = tables(layout, &self.prefix);
        let request = request(layout, &all, read).ok_or("no such table")?;
        let shown = self.send(&request.text())?;
        self.decoded(layout, read, &shown)
    }
}

impl Hbase {
    /// The records in what a read shows.
    pub(crate) fn decoded(&self, layout: &Layout, read: &Read, shown: &str) -> Result<Vec<Sample>, String> {
        let all = tables(layout, &self.prefix);
        let request = request(layout, &all, read).ok_or("no such table")?;
        let mut rows: Vec<Row> = Vec::new();
        for line in shown.lines().filter_map(|line| line.trim().strip_prefix("CELL ")) {
            let parts: Vec<String> =
                line.split(' ').map(|part| String::from_utf8(bytes(part)).unwrap()).collect();
            let (key, column, value) = cell(&request, &parts);
            if rows.last().is_none_or(|row| row.key != key) {
                rows.push(Row { key, ..Row::default() });
            }
            rows.last_mut().unwrap().cells.insert(column, value);
        }
        let own = all.iter().find(|own| own.collection == read.table).unwrap();
        rows.iter().map(|row| record(layout, own, row).map_err(|error| error.0)).collect()
    }
}

/// The key of the row, the column and the value. A get does not repeat the key.
fn cell(request: &Request, parts: &[String]) -> (Vec<u8>, String, Vec<u8>) {
    let (key, column, rest) = match (request, parts) {
        (Request::Get { row, .. }, [column, rest]) => {
            (row.bytes().unwrap().to_vec(), column.as_str(), rest.as_str())
        }
        (Request::Scan(_), [row, rest]) => {
            let (column, rest) = rest.strip_prefix("column=").unwrap().split_once(", timestamp=").unwrap();
            (shown(row), column, rest)
        }
        (_, parts) => panic!("{parts:?}"),
    };
    let (_, value) = rest.split_once(", value=").unwrap();
    (key, String::from_utf8(shown(column)).unwrap(), shown(value))
}

/// The bytes that `Bytes.toStringBinary` shows.
fn shown(text: &str) -> Vec<u8> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        match rest.strip_prefix("\\x") {
            Some(digits) => {
                found.extend(bytes(&digits[..2]));
                rest = &digits[2..];
            }
            None => {
                found.push(u8::try_from(first).unwrap());
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    found
}

impl Follow for Hbase {
    /// `hbase shell -n FILE`
    fn programs(&self) -> Vec<(&'static str, Vec<String>)> {
        let (_, line) = self.line.split_last().unwrap();
        let script = format!("shift; exec {} \"$@\"", quoted(line));
        vec![("hbase", ["sh", "-c", &script, "hbase"].map(str::to_owned).to_vec())]
    }

    /// As a person does it: without `-n`, a statement with a slot that is not filled ends no session.
    fn paste(&mut self, folder: &Folder, _: &str, blocks: &[&str]) -> Vec<String> {
        let made = folder.path().join("made");
        let (_, line) = self.line.split_last().unwrap();
        self.session = Session::start(line, &[]);
        self.send(PLAIN).unwrap();
        self.send(&format!("Dir.chdir {:?}\nload \"mutate.rb\"", made.display().to_string())).unwrap();
        blocks.iter().map(|block| self.send(block).unwrap()).collect()
    }

    fn shown(&mut self, layout: &Layout, read: &Read, _: &str, shown: &str) -> Result<Vec<Sample>, String> {
        self.decoded(layout, read, shown)
    }
}

#[test]
#[ignore = "slow"]
fn the_files_of_hbase_run_as_the_readme_says() {
    some_examples(&mut Hbase::start("files"));
}

#[test]
#[ignore = "slow"]
fn every_example_runs_in_the_hbase_shell() {
    every_example(&mut Hbase::start("examples"));
}

#[test]
#[ignore = "slow"]
fn no_text_means_more_than_it_says_in_the_hbase_shell() {
    crate::peculiar::texts(&mut Hbase::start("texts"), askloom_design::method::Method::Qodm);
}

#[test]
#[ignore = "slow"]
fn any_name_is_a_name_in_the_hbase_shell() {
    crate::peculiar::names(&mut Hbase::start("names"));
}

/// What is printed for writes: conditions, and deletes that hide nothing that is newer.
#[test]
#[ignore = "slow"]
fn changes_of_a_row_are_conditional_and_hide_nothing_newer() {
    let mut shell = Hbase::start("changes");
    shell.clear("all");
    shell.run(include_str!("../../../askloom-target/src/hbase/mutate.rb")).unwrap();
    shell
        .run("create \"changes.t\", {NAME => \"i\", VERSIONS => 1}, {NAME => \"d\", VERSIONS => 1}")
        .unwrap();
    let long = |number: i64| format!("[{number}].pack(\"q>\")");
    let mut change = |at: i64, put: &str, rest: &str| {
        let text = format!(
            "puts \"DONE #{{mutate \"changes.t\", \"r\", {at}, {{\"i:n\" => {}{put}}}{rest}}}\"",
            long(at)
        );
        let shown = shell.send(&text).unwrap();
        let done = shown.lines().any(|line| line == "DONE true");
        assert!(done || shown.lines().any(|line| line == "DONE false"), "{shown}");
        let cells = shell.send("get \"changes.t\", \"r\"").unwrap();
        (done, cells.lines().filter(|line| line.trim().starts_with("CELL ")).count())
    };
    let two = ", \"d:a\" => \"x\", \"d:rounds[0]\" => \"y\"";
    assert_eq!(change(1, two, ", version: :absent"), (true, 3));
    assert_eq!(change(1, two, ", version: :absent"), (false, 3));
    assert_eq!(change(2, "", ", delete: [\"d:a\"], version: 7"), (false, 3));
    assert_eq!(change(2, "", ", delete: [\"d:rounds[0]\"], version: 1"), (true, 2));
    // Replaced: all of it goes, and what comes stays.
    assert_eq!(change(3, two, ", delete: [\"d\"], version: 2"), (true, 3));
    assert_eq!(change(4, "", ", delete: [\"d\"], version: 3"), (true, 1));

    // A row of a copy that is dropped and put again by one write stays; a put that comes late does not.
    let mut copy =
        |text: &str| shell.send(&format!("{text}\nget \"changes.t\", \"c\"")).unwrap().contains("CELL ");
    assert!(copy("mutate \"changes.t\", \"c\", 5, {\"d:_\" => \"\"}"));
    assert!(copy(
        "deleteall \"changes.t\", \"c\", \"d\", 6-1\nmutate \"changes.t\", \"c\", 6, {\"d:_\" => \"\"}"
    ));
    assert!(!copy(
        "deleteall \"changes.t\", \"c\", \"d\", 8-1\nmutate \"changes.t\", \"c\", 7, {\"d:_\" => \"\"}"
    ));
}

/// The bounds of a scan that goes backwards, with bytes that filters have quotes and brackets for.
#[test]
#[ignore = "slow"]
fn backwards_the_bounds_are_the_same() {
    let mut shell = Hbase::start("backwards");
    shell.clear("all");
    shell.run("create \"backwards.t\", {NAME => \"d\", VERSIONS => 1}").unwrap();
    let keys: [&[u8]; 6] = [b"a", b"a'", b"a')", b"a',(\x00\xff:", b"b#{1}\"", b"c"];
    for key in keys {
        let get = Request::Get { table: "backwards.t".to_owned(), row: Key::of(key.to_vec()) }.text();
        let row = get.strip_prefix("get \"backwards.t\", ").unwrap();
        shell.run(&format!("put \"backwards.t\", {row}, \"d:x\", \"\", 1")).unwrap();
    }
    for from in 0..keys.len() {
        for to in from + 1..keys.len() {
            for limit in [None, Some(1)] {
                let rows = Rows::Between {
                    from: Key::of(keys[from].to_vec()),
                    to: Some(Key::of(keys[to].to_vec())),
                    exact: true,
                };
                let scan = Scan {
                    table: "backwards.t".to_owned(),
                    rows,
                    backwards: true,
                    limit: limit.map(Limit::Rows),
                };
                let printed = shell.send(&scan.text()).unwrap();
                let found: Vec<Vec<u8>> = printed
                    .lines()
                    .filter_map(|line| line.trim().strip_prefix("CELL "))
                    .map(|line| shown(&String::from_utf8(bytes(line.split(' ').next().unwrap())).unwrap()))
                    .collect();
                let mut wanted: Vec<Vec<u8>> = keys[from..to].iter().rev().map(|key| key.to_vec()).collect();
                wanted.truncate(limit.map_or(usize::MAX, |_| 1));
                assert_eq!(found, wanted, "{}", scan.text());
            }
        }
    }
}
