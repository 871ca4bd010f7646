//! Commands as text for redis-cli.

use super::command::{Arg, Command, Piece};
use super::limit::refused;
use super::paper;
use super::read::{PAGES, command};
use super::schema::{Flavour, RedisTable, tables};
use super::write::{Call, calls, sample};
use crate::generate::{
    Block, File, Generated, Language, Options, Sample, Source, Statement, client_line, heading, step_heading,
};
use askloom_plan::layout::Layout;
use askloom_plan::program::{Action, ExpiryUse, Read, StampUse, Step, TableInputs, Words, WriteInputs};
use std::fmt::Write;

const MARK: &str = "#";

/// The functions that reads and writes call.
pub const FUNCTIONS: &str = include_str!("askloom.lua");

/// redis-cli, and functions in Lua.
#[derive(Debug)]
pub struct Redis(pub Flavour);

impl Language for Redis {
    fn generate(&self, source: &Source<'_>) -> Generated {
        if source.options.faithful && self.0 == Flavour::Search {
            return paper::generate(source);
        }
        let tables = tables(source.layout, self.0, &source.options.prefix);
        let mut files = vec![functions(self.0)];
        let indexes: Vec<Block> = tables.iter().filter_map(definition).collect();
        if !indexes.is_empty() {
            files.push(File {
                name: "schema.redis".to_owned(),
                run: run(self.0, "schema.redis"),
                blocks: indexes,
            });
        }
        if !source.sample.is_empty() {
            let blocks = source.sample.iter().map(|record| Block {
                of: record.collection(source.layout).to_owned(),
                text: put(source.layout, &tables, record),
                whole: true,
            });
            let name = "sample.redis".to_owned();
            files.push(File { run: run(self.0, &name), name, blocks: blocks.collect() });
        }
        let blocks = source.statements.iter().map(|statement| self.block(source.layout, &tables, statement));
        files.push(File { name: "statements.redis".to_owned(), run: None, blocks: blocks.collect() });
        let refused = refused(source, &tables, self.0);
        Generated { files, notes: notes(self.0, source), refused }
    }

    fn read(&self, layout: &Layout, options: &Options, read: &Read) -> String {
        let tables = tables(layout, self.0, &options.prefix);
        command(&tables, read).map(|command| command.text()).unwrap_or_default()
    }

    fn put(&self, layout: &Layout, options: &Options, sample: &Sample) -> String {
        put(layout, &tables(layout, self.0, &options.prefix), sample)
    }

    fn write_inputs(&self, layout: &Layout, options: &Options) -> WriteInputs {
        if options.faithful && self.0 == Flavour::Search && paper::prints(layout) {
            return WriteInputs::default();
        }
        let stamp = match self.0 {
            Flavour::Plain | Flavour::Search => StampUse::Never,
            Flavour::Cluster => StampUse::EveryVersion,
        };
        let inputs = |table: &RedisTable| match (table.kind.is_of_aggregates(), table.stamped) {
            (true, _) => TableInputs { version: true, stamp, expiry: ExpiryUse::Aggregates },
            (false, true) => TableInputs { stamp: StampUse::Rows, ..TableInputs::default() },
            (false, false) => TableInputs::default(),
        };
        let checks_reads = match self.0 {
            Flavour::Plain | Flavour::Search => true,
            Flavour::Cluster => false,
        };
        let tables = tables(layout, self.0, &options.prefix);
        WriteInputs { checks_reads, tables: tables.iter().map(inputs).collect() }
    }
}

impl Redis {
    fn block(&self, layout: &Layout, tables: &[RedisTable], statement: &Statement) -> Block {
        let program = &statement.program;
        let words = program.words(layout);
        let mut text = heading(MARK, statement);
        for (index, step) in program.steps.iter().enumerate() {
            text.push_str(&step_heading(MARK, &words, index + 1, program.steps.len(), step));
            match &step.action {
                Action::Read(read) => {
                    let command = command(tables, read).map(|command| command.text()).unwrap_or_default();
                    text.push_str(&self.loops(&command));
                    let _ = writeln!(text, "{command}");
                }
                Action::Change(batch) => {
                    let before = program.steps.get(..index).unwrap_or_default();
                    for call in calls(layout, tables, self.0, before, batch) {
                        text.push_str(&repeated(&words, &call));
                        let _ = writeln!(text, "{}", call.command().text());
                    }
                }
            }
        }
        text.push_str(&client_line(MARK, program));
        Block { of: program.name.clone(), text, whole: program.is_direct() }
    }

    /// What is said before a read that takes several calls.
    fn loops(&self, command: &str) -> String {
        if !command.starts_with(PAGES) {
            return String::new();
        }
        let where_to = match self.0 {
            Flavour::Plain | Flavour::Search => "",
            Flavour::Cluster => "on every master: ",
        };
        format!("{MARK} {where_to}page by page, until the next one starts at 0; a record may come twice\n")
    }
}

fn functions(flavour: Flavour) -> File {
    let run = match flavour {
        Flavour::Plain | Flavour::Search => "redis-cli -x FUNCTION LOAD REPLACE < functions.lua",
        Flavour::Cluster => {
            "redis-cli --cluster call HOST:PORT FUNCTION LOAD REPLACE \"$(cat functions.lua)\" --cluster-only-masters"
        }
    };
    let blocks = vec![Block { of: "functions".to_owned(), text: FUNCTIONS.to_owned(), whole: true }];
    File { name: "functions.lua".to_owned(), run: Some(run.to_owned()), blocks }
}

fn run(flavour: Flavour, name: &str) -> Option<String> {
    let cluster = if flavour == Flavour::Cluster { "-c " } else { "" };
    Some(format!("redis-cli {cluster}< {name}"))
}

fn notes(flavour: Flavour, source: &Source<'_>) -> Vec<String> {
    let mut notes = vec![
        "The server must not evict: `CONFIG GET maxmemory-policy` says noeviction.".to_owned(),
        "redis-cli knows no comments: paste what has no `#` before it, or run `grep -v '^#' statements.redis | \
         redis-cli -3`."
            .to_owned(),
        "`bytes(a,b)` stands for the ordered bytes of these values, `after(…)` for the first bytes behind all that \
         start with them; `--params` prints them."
            .to_owned(),
    ];
    let steps = source.statements.iter().flat_map(|statement| &statement.program.steps);
    let expires = |step: &Step| match &step.action {
        Action::Change(batch) => batch.changes.iter().any(|change| change.expires.is_some()),
        Action::Read(_) => false,
    };
    if steps.into_iter().any(expires) {
        let said = "`:expires` is when a new aggregate is gone for readers, in milliseconds since 1970; an hour later \
                    Redis takes it away.";
        notes.push(said.to_owned());
    }
    match flavour {
        Flavour::Plain => {}
        Flavour::Search => notes.extend([
            "`hex(a)` stands for digits of these bytes, `number(a)` for the days or microseconds since 1970. An index \
             is ready when FT.INFO says percent_indexed 1 and hash_indexing_failures 0. A warning in an \
             answer, or 1000000 rows, mean that rows may be missing."
                .to_owned(),
            "Indexes are of database 0. A change of a key in another database takes the key of that name out of them: \
             nothing there may have the same names."
                .to_owned(),
        ]),
        Flavour::Cluster => notes.push(
            "A call changes what is under one {tag}: the aggregate first, then each copy in a call of its own, in any \
             order. `:stamp` is the new version, more than the one that was read and not less than the clock in \
             microseconds. A unique value is taken before; if the aggregate's call is refused, `newer_norow` with the \
             next stamp gives it back."
                .to_owned(),
        ),
    }
    notes
}

fn put(layout: &Layout, tables: &[RedisTable], record: &Sample) -> String {
    sample(layout, tables, record).iter().map(|command| command.text() + "\n").collect()
}

fn definition(table: &RedisTable) -> Option<Block> {
    let (index, command) = (table.search.as_ref()?, table.create_index()?);
    Some(Block { of: index.name.clone(), text: command.text(), whole: true })
}

/// Which steps of a call are there more than once.
fn repeated(words: &Words<'_>, call: &Call) -> String {
    let mut text = String::new();
    for step in call.free.iter().chain(&call.steps) {
        if let Some(each) = words.change(step.each) {
            let _ = writeln!(text, "{MARK} `{} {} …` for each {each}", step.name, step.key);
        }
    }
    text
}

impl Command {
    #[must_use]
    pub fn text(&self) -> String {
        self.args.iter().map(Arg::text_of).collect::<Vec<_>>().join(" ")
    }
}

impl Arg {
    fn text_of(&self) -> String {
        match self.pieces() {
            [Piece::Slot(name)] => format!(":{name}"),
            [Piece::Known(bytes)] if is_word(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            pieces => {
                let inner = pieces.iter().map(|piece| match piece {
                    Piece::Known(bytes) => quoted(bytes),
                    Piece::Slot(name) => format!(":{name}"),
                });
                format!("\"{}\"", inner.collect::<String>())
            }
        }
    }
}

/// What redis-cli takes without quotes. A colon at the start would look like a slot.
fn is_word(bytes: &[u8]) -> bool {
    let word =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'+' | b'@' | b'*');
    !bytes.is_empty() && bytes.iter().all(word)
}

/// The inside of a quoted string: texts as they are, what a terminal would not show as `\x00`.
fn quoted(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                '"' | '\\' => text.extend(['\\', letter]),
                '\n' => text.push_str("\\n"),
                '\r' => text.push_str("\\r"),
                '\t' => text.push_str("\\t"),
                letter if letter.is_control() => text.push_str(&escaped(letter.to_string().as_bytes())),
                letter => text.push(letter),
            }
        }
        text.push_str(&escaped(chunk.invalid()));
    }
    text
}

fn escaped(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect()
}
