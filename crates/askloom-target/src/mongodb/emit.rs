//! A design as files for mongosh.

use super::bson::Bson;
use super::index::IndexOf;
use super::limit::refused;
use super::read::{find, merged};
use super::schema::{MongoCollection, System, collections};
use super::text::{WRITE_CONCERN, collection, in_comment, laid_out, text};
use super::write::{Command, Repeated, commands, sample};
use crate::generate::{
    Block, File, Generated, Language, Options, Sample, Source, Statement, client_line, former, heading,
    step_heading,
};
use askloom_model::{CollectionId, CopyLevel};
use askloom_plan::layout::Layout;
use askloom_plan::program::{
    Action, EachChange, ExpiryUse, Read, StampUse, TableInputs, Words, WriteInputs, later_seconds,
};
use std::fmt::Write;

const MARK: &str = "//";

const UPSERT: &str =
    "// error 11000: it has changed since it was read; if there was none, the version is { $exists: false }";

/// JavaScript for mongosh.
#[derive(Debug)]
pub struct MongoDb;

impl Language for MongoDb {
    fn generate(&self, source: &Source<'_>) -> Generated {
        let all = collections(source.layout, &source.options);
        let run = |name: &str| Some(format!("mongosh URL {name}"));
        let mut files = vec![File {
            name: "schema.js".to_owned(),
            run: run("schema.js"),
            blocks: definitions(source.layout, &all),
        }];
        if !source.sample.is_empty() {
            let blocks = source.sample.iter().map(|record| Block {
                of: record.collection(source.layout).to_owned(),
                text: put(source.layout, &all, record),
                whole: true,
            });
            let blocks = blocks.filter(|block| !block.text.is_empty());
            files.push(File {
                name: "sample.js".to_owned(),
                run: run("sample.js"),
                blocks: blocks.collect(),
            });
        }
        let blocks = source.statements.iter().map(|statement| block(source.layout, &all, statement));
        files.push(File { name: "statements.js".to_owned(), run: None, blocks: blocks.collect() });
        let refused = refused(source, &all);
        Generated { files, notes: notes(&all, &source.options), refused }
    }

    fn read(&self, layout: &Layout, options: &Options, read: &Read) -> String {
        find(layout, &collections(layout, options), read).map(|find| find.text()).unwrap_or_default()
    }

    fn put(&self, layout: &Layout, options: &Options, sample: &Sample) -> String {
        put(layout, &collections(layout, options), sample)
    }

    fn write_inputs(&self, layout: &Layout, options: &Options) -> WriteInputs {
        let inputs = |of: &MongoCollection| match of.system.as_ref().filter(|_| of.index.is_none()) {
            None => TableInputs::default(),
            Some(System { expires: None, .. }) => TableInputs { version: true, ..TableInputs::default() },
            Some(System { expires: Some(_), .. }) => {
                TableInputs { version: true, stamp: StampUse::FirstVersion, expiry: ExpiryUse::Aggregates }
            }
        };
        let all = collections(layout, options);
        WriteInputs { checks_reads: false, tables: all.iter().map(inputs).collect() }
    }
}

fn notes(all: &[MongoCollection], options: &Options) -> Vec<String> {
    let mut notes = vec![
        "URL names a database of a replica set: mongodb://HOST/DATABASE?replicaSet=NAME".to_owned(),
        "A uuid or a blob that sorts is text in `_id`, an enum its number; `--params` prints them."
            .to_owned(),
    ];
    if all.iter().any(|of| of.system.as_ref().is_some_and(|system| system.expires.is_some())) {
        notes.push(
            "`:expires` is when a new aggregate is gone for readers, as a Date; an hour later MongoDB takes it away. Its \
             version goes, too, so the first one is `:stamp`, the clock in microseconds, and more than the version that \
             was read if there was one, as `Long('…')`."
                .to_owned(),
        );
    }
    if options.faithful {
        notes.push(
            "As the papers print it, a document has no version: two writers at once lose a change."
                .to_owned(),
        );
    }
    notes
}

fn put(layout: &Layout, all: &[MongoCollection], record: &Sample) -> String {
    sample(layout, all, record).map_or_else(String::new, |command| command.call("db", 0, "") + ";\n")
}

/// Collections, then the indexes of them that are copies.
fn definitions(layout: &Layout, all: &[MongoCollection]) -> Vec<Block> {
    let collections = all.iter().filter(|of| of.index.is_none() && layout.has_records(of.collection));
    let mut blocks: Vec<Block> = collections.map(|of| definition(layout, of)).collect();
    let mut made: Vec<&MongoCollection> = Vec::new();
    for (of, index) in all.iter().filter_map(|of| Some((of, of.index.as_ref()?))) {
        let same = |other: &&&MongoCollection| {
            let condition = other.index.as_ref().map(|other| &other.condition);
            other.name == of.name && other.index() == of.index() && condition == Some(&index.condition)
        };
        // The store refuses another name for the same.
        let same = made.iter().find(same).and_then(|other| Some(other.index.as_ref()?.name.as_str()));
        blocks.push(index_definition(layout, of, index, same));
        made.push(of);
    }
    blocks
}

/// The name that a collection has in the design.
fn wanted(layout: &Layout, id: CollectionId) -> &str {
    layout.table(id).map(|table| table.name.as_str()).unwrap_or_default()
}

fn index_definition(layout: &Layout, of: &MongoCollection, index: &IndexOf, same: Option<&str>) -> Block {
    let name = wanted(layout, of.collection);
    let mut made = format!("{MARK} {}, an index of {}", in_comment(name), in_comment(&of.name));
    if let Some(same) = same {
        let _ = writeln!(made, ": the same as {}", in_comment(same));
        return Block { of: name.to_owned(), text: made, whole: true };
    }
    let own = collection("db", &of.name);
    let keys = laid_out(&of.index().unwrap_or_default(), own.len() + 15);
    let mut options = vec![("name".to_owned(), Bson::text(&index.name))];
    if !index.condition.is_empty() {
        let condition = merged(index.condition.clone());
        options.push(("partialFilterExpression".to_owned(), Bson::Document(condition)));
    }
    let before = own.len() + 17 + keys.rsplit('\n').next().map_or(0, str::len);
    let _ = write!(made, "\n{own}.createIndex({keys}, {});\n", laid_out(&options, before));
    Block { of: name.to_owned(), text: made, whole: true }
}

fn definition(layout: &Layout, of: &MongoCollection) -> Block {
    let wanted = wanted(layout, of.collection);
    let what = if of.is_master() { "an aggregate is a document" } else { "a copy: a row is a document" };
    let mut made = format!("{MARK} {}, {what}\n", in_comment(wanted));
    let name = text(&of.name);
    let _ = writeln!(made, "if (!db.getCollectionNames().includes({name})) db.createCollection({name}, {{");
    // Texts are compared by their bytes, whatever the database does elsewhere.
    made.push_str("  collation: { locale: 'simple' }");
    if let Some(validator) = of.validator() {
        let shown = laid_out(&validator, "  validator: ".len()).replace('\n', "\n  ");
        let _ = write!(made, ",\n  validator: {shown}");
    }
    made.push_str("\n});\n");
    let _ = writeln!(
        made,
        "if (db.getCollectionInfos({{ name: {name} }}).some(({{ options }}) => options.collation)) {{\n  \
         throw new Error('a collection that is there compares texts by a collation, not by their bytes');\n}}"
    );
    let own = collection("db", &of.name);
    if let Some(index) = of.index() {
        let _ = writeln!(made, "{own}.createIndex({});", laid_out(&index, own.len() + 15));
    }
    if let Some(expires) = of.system.as_ref().and_then(|system| system.expires.as_ref()) {
        let index = laid_out(&vec![(expires.clone(), Bson::Int(1))], own.len() + 15);
        let _ = writeln!(made, "{own}.createIndex({index}, {{ expireAfterSeconds: {} }});", later_seconds());
    }
    Block { of: wanted.to_owned(), text: made, whole: true }
}

fn block(layout: &Layout, all: &[MongoCollection], statement: &Statement) -> Block {
    let program = &statement.program;
    let words = program.words(layout);
    let mut made = commented(&heading(MARK, statement));
    for (index, step) in program.steps.iter().enumerate() {
        made.push_str(&commented(&step_heading(MARK, &words, index + 1, program.steps.len(), step)));
        match &step.action {
            Action::Read(read) => {
                made.push_str(&find(layout, all, read).map(|find| find.text()).unwrap_or_default());
                made.push('\n');
            }
            Action::Change(batch) => {
                if !all.iter().any(|of| of.faithful) {
                    made.push_str(&former(MARK, batch));
                }
                let commands = commands(layout, all, batch);
                match (commands.as_slice(), batch.level) {
                    ([one], _) => made.push_str(&alone(&words, one)),
                    (several, CopyLevel::AtomicUnit | CopyLevel::Transaction) => {
                        made.push_str(&transaction(&words, several));
                    }
                    (several, CopyLevel::Intents) => {
                        several.iter().for_each(|one| made.push_str(&alone(&words, one)))
                    }
                }
            }
        }
    }
    made.push_str(&commented(&client_line(MARK, program)));
    Block { of: program.name.clone(), text: made, whole: program.is_direct() }
}

/// Lines that are comments stay so: JavaScript has more ends of lines than others.
fn commented(lines: &str) -> String {
    lines.split('\n').map(in_comment).collect::<Vec<_>>().join("\n")
}

fn repeated(words: &Words<'_>, each: EachChange, indent: usize) -> String {
    words
        .change(each)
        .map_or_else(String::new, |each| format!("{:indent$}{MARK} for each {}:\n", "", in_comment(&each)))
}

/// A command that is one document's, and so all or nothing by itself.
fn alone(words: &Words<'_>, (each, command): &Repeated) -> String {
    let mut made = repeated(words, *each, 0);
    match command {
        Command::Update { upsert: true, .. } => {
            let _ = writeln!(made, "{UPSERT}");
        }
        Command::Update { filter, .. } if filter.len() > 1 => {
            let _ = writeln!(made, "{MARK} matchedCount 0: it has changed since it was read; read it again");
        }
        Command::Update { .. } => {
            let _ = writeln!(made, "{MARK} matchedCount 0: there is none");
        }
        Command::Insert { .. } => {
            let _ = writeln!(made, "{MARK} error 11000: there is one already");
        }
        Command::Replace { .. } | Command::Delete { .. } => {}
    }
    let _ = writeln!(made, "{};", command.call("db", 0, WRITE_CONCERN));
    made
}

/// All of it or nothing, as a program. If another writer comes between, the shell starts it again.
fn transaction(words: &Words<'_>, commands: &[Repeated]) -> String {
    const INDENT: usize = 6;
    let mut made = String::from(
        "{\n  const session = db.getMongo().startSession();\n  try {\n    session.withTransaction(() => {\n      \
         const tx = session.getDatabase(db.getName());\n",
    );
    let checks = commands.iter().any(|(_, command)| matches!(command, Command::Update { upsert: false, .. }));
    if checks {
        made.push_str(
            "      const unchanged = (done) => {\n        if (done.matchedCount === 0) throw new Error('it has \
             changed since it was read: read it again');\n      };\n",
        );
    }
    for (each, command) in commands {
        made.push_str(&repeated(words, *each, INDENT));
        if let Command::Update { upsert: true, .. } = command {
            let _ = writeln!(made, "{:INDENT$}{UPSERT}", "");
        }
        let call = command.call("tx", INDENT, "");
        let call = match command {
            Command::Update { upsert: false, .. } => format!("unchanged({call})"),
            Command::Update { upsert: true, .. }
            | Command::Insert { .. }
            | Command::Replace { .. }
            | Command::Delete { .. } => call,
        };
        let _ = writeln!(made, "{:INDENT$}{call};", "");
    }
    let _ = write!(
        made,
        "    }}, {{ readConcern: {{ level: 'snapshot' }}, {WRITE_CONCERN} }});\n  }} finally {{\n    \
         session.endSession();\n  }}\n}}\n"
    );
    made
}
