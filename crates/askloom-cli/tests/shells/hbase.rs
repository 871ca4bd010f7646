//! The hbase shell on HBase.

use crate::cassandra::bytes;
use crate::harness::{Shell, every_example};
use crate::server::{self, Session};
use askloom_target::generate::{Options, Sample};
use askloom_target::hbase::{Request, Row, record, request, tables};
use askloom_target::layout::Layout;
use askloom_target::program::Read;

struct Hbase {
    session: Session,
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

impl Hbase {
    fn start() -> Self {
        server::up("hbase");
        let session = Session::start(&server::shell("hbase"), &[]);
        let mut shell = Self { session, prefix: String::new() };
        shell.send(PLAIN).unwrap();
        shell
    }

    fn send(&mut self, text: &str) -> Result<String, String> {
        self.session.send(&format!("{text}\nputs \"\\n{MARK}\"\n"), MARK)
    }
}

impl Shell for Hbase {
    fn target(&self) -> &'static str {
        "hbase"
    }

    fn clear(&mut self, name: &str) -> Options {
        self.send("list.each { |name| disable name if is_enabled name; drop name }").unwrap();
        self.prefix = format!("{name}.");
        Options { prefix: self.prefix.clone(), faithful: false }
    }

    fn run(&mut self, text: &str) -> Result<(), String> {
        self.send(text).map(|_| ())
    }

    fn read(&mut self, layout: &Layout<'_>, read: &Read) -> Result<Vec<Sample>, String> {
        let all = tables(layout, &self.prefix);
        let request = request(layout, &all, read).ok_or("no such table")?;
        let shown = self.send(&request.text())?;
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

#[test]
#[ignore = "slow"]
fn every_example_runs_in_the_hbase_shell() {
    every_example(&mut Hbase::start());
}
