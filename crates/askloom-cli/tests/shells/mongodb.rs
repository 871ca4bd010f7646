//! mongosh on MongoDB.

use crate::data::example;
use crate::files::{Folder, Follow, some_examples};
use crate::harness::{Shell, every_example};
use crate::mongodb_text::{designed, ours};
use crate::server::{self, Session};
use askloom_design::method::Method;
use askloom_model::{Element, Record, Value};
use askloom_plan::cost::Costing;
use askloom_plan::layout::Layout;
use askloom_plan::lower::Lowering;
use askloom_plan::ordered_bytes::encode;
use askloom_plan::program::{How, Read};
use askloom_target::generate::{Options, Sample, Source};
use askloom_target::mongodb::{Bson, Document, MongoCollection, collections, decode, find};
use askloom_target::target;
use serde_json::Value as Json;
use std::collections::HashMap;
use std::path::PathBuf;

pub(crate) struct Mongosh {
    session: Session,
    line: Vec<String>,
    file: PathBuf,
    database: String,
}

const MARK: &str = "askloom-mark";
const FAILED: &str = "askloom-failed";

impl Mongosh {
    pub(crate) fn start(name: &str) -> Self {
        Self::start_on("mongodb", name)
    }

    pub(crate) fn start_on(server: &str, name: &str) -> Self {
        server::up(server);
        let line = server::shell(server);
        let session = Session::start(&line, &[]);
        let file = std::env::temp_dir().join(format!("askloom-mongosh-{}-{name}.js", std::process::id()));
        Self { session, line, file, database: String::new() }
    }

    /// Runs a file, as `mongosh URL FILE` does, and gives what it prints.
    pub(crate) fn load(&mut self, text: &str) -> Result<String, String> {
        std::fs::write(&self.file, text).map_err(|error| error.to_string())?;
        let path = serde_json::to_string(&self.file).unwrap();
        let failed = format!("print('\\n{FAILED}', error)");
        let line = format!("try {{ load({path}) }} catch (error) {{ {failed} }}; print('\\n{MARK}')\n");
        let printed = self.session.send(&line, MARK)?;
        match printed.lines().find(|line| line.contains(FAILED)) {
            Some(_) => Err(format!("{printed}\n{}", text.chars().take(20_000).collect::<String>())),
            None => Ok(printed),
        }
    }

    /// The records that an expression stands for.
    pub(crate) fn decoded(
        &mut self,
        layout: &Layout,
        read: &Read,
        text: &str,
    ) -> Result<Vec<Sample>, String> {
        let shown = self.load(&format!("print('\\n' + EJSON.stringify({text}, {{ relaxed: false }}))"))?;
        let line =
            shown.lines().find(|line| line.starts_with('[')).ok_or_else(|| format!("no answer: {shown}"))?;
        let found: Vec<Json> = serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
        let all = collections(layout, &Options::default());
        let of = all.iter().find(|of| of.collection == read.table).unwrap();
        // A document that is found by an index is a row of it, and the aggregate.
        let host = of.index.as_ref().and_then(|index| all.iter().find(|of| of.collection == index.host));
        let of = [of].into_iter().chain(host);
        let each = |json: &Json| match Bson::from_extended(json) {
            Ok(Bson::Document(mut document)) => {
                if let Some(host) = host {
                    complete(layout, host, read, &mut document);
                }
                let records = of.clone().map(|of| decode(layout, of, &document).map_err(|error| error.0));
                records.collect::<Result<Vec<_>, _>>()
            }
            other => Err(format!("{other:?}")),
        };
        let records: Vec<Vec<Sample>> = found.iter().map(each).collect::<Result<_, _>>()?;
        Ok(records.into_iter().flatten().collect())
    }
}

/// What the executor asks of every aggregate, where only members were asked for: those that were not are null.
fn complete(layout: &Layout, of: &MongoCollection, read: &Read, document: &mut Document) {
    let Some(system) = of.system.as_ref().filter(|_| read.members.is_some()) else { return };
    let has = |name: &String| document.iter().any(|(own, _)| own == name);
    let mut more = Vec::new();
    if !has(&system.class) {
        let root = layout.design.collections[of.collection].source.root;
        more.push((system.class.clone(), Bson::Text(layout.name_of(root).to_owned())));
    }
    if !has(&system.rest) {
        // No version, no epoch, made in 1970, not deleted, no writes, no ordinals.
        let mut bytes = vec![0; 16];
        let rest = [Value::Int(0), Value::Null, Value::Blob(Vec::new()), Value::Int(0)];
        rest.iter().for_each(|value| encode(value, &mut bytes));
        more.push((system.rest.clone(), Bson::Binary(bytes)));
    }
    document.extend(more);
}

impl Drop for Mongosh {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file);
    }
}

impl Shell for Mongosh {
    fn target(&self) -> &'static str {
        "mongodb"
    }

    fn clear(&mut self, name: &str) -> Options {
        self.load(&format!("db = db.getSiblingDB('{name}'); db.dropDatabase();")).unwrap();
        name.clone_into(&mut self.database);
        Options::default()
    }

    fn run(&mut self, text: &str) -> Result<(), String> {
        self.load(text).map(|_| ())
    }

    fn read(&mut self, layout: &Layout, read: &Read) -> Result<Vec<Sample>, String> {
        let text = find(layout, &collections(layout, &Options::default()), read);
        let text = text.ok_or("no such collection")?.text();
        // The same statement; EJSON only says how the documents are shown.
        let text = text.trim_end_matches(';');
        self.decoded(layout, read, &format!("({text}).toArray()"))
    }
}

/// What is shown before every answer, so that answers are told from each other.
const PROMPT: &str = "@@";

impl Follow for Mongosh {
    fn programs(&self) -> Vec<(&'static str, Vec<String>)> {
        let (_url, line) = self.line.split_last().unwrap();
        vec![("mongosh", line.to_vec())]
    }

    fn filled(&self, command: &str) -> String {
        let (server, options) = self.line.last().unwrap().split_once("/?").unwrap();
        command.replace("URL", &format!("'{server}/{}?{options}'", self.database))
    }

    fn paste(&mut self, _: &Folder, _: &str, blocks: &[&str]) -> Vec<String> {
        self.load(&format!("prompt = () => '{PROMPT}'")).unwrap();
        let paste =
            |block: &&str| self.session.send(&format!("{block}\nprint('\\n{MARK}')\n"), MARK).unwrap();
        blocks.iter().map(paste).collect()
    }

    /// The documents are shown as JavaScript, which the shell reads as well.
    fn shown(&mut self, layout: &Layout, read: &Read, _: &str, shown: &str) -> Result<Vec<Sample>, String> {
        let mut lines = shown.lines().map(|line| line.trim_start_matches("... "));
        let is_answer = |line: &&str| line.trim_start_matches(PROMPT).starts_with('[');
        let Some(start) = lines.by_ref().find(is_answer) else {
            return if shown.contains("Uncaught") { first_is_wrong(shown) } else { Ok(Vec::new()) };
        };
        let more = lines.take_while(|line| !line.starts_with(PROMPT) && !line.starts_with("Type \"it\""));
        let text: Vec<&str> = std::iter::once(start.trim_start_matches(PROMPT)).chain(more).collect();
        self.decoded(layout, read, &text.join("\n"))
    }
}

/// Statements for each row have slots that nothing fills; the first one must not be wrong.
fn first_is_wrong(shown: &str) -> Result<Vec<Sample>, String> {
    let first = shown.lines().find(|line| line.starts_with("> 1 |")).unwrap_or_default();
    if first.contains(": :") || first.contains("':") { Ok(Vec::new()) } else { Err(shown.to_owned()) }
}

#[test]
#[ignore = "slow"]
fn the_files_of_mongodb_run_as_the_readme_says() {
    some_examples(&mut Mongosh::start("files"));
}

#[test]
#[ignore = "slow"]
fn every_example_runs_in_mongosh() {
    every_example(&mut Mongosh::start("examples"));
}

#[test]
#[ignore = "slow"]
fn no_text_means_more_than_it_says_in_mongosh() {
    crate::peculiar::texts(&mut Mongosh::start("texts"), Method::Qodm);
}

#[test]
#[ignore = "slow"]
fn any_name_is_a_name_in_mongosh() {
    crate::peculiar::names(&mut Mongosh::start("names"));
}

/// The writes of the game, as they are printed: the slots are filled with what the reads before them give.
#[test]
#[ignore = "slow"]
fn the_writes_of_the_game_run_in_mongosh() {
    let mut shell = Mongosh::start("writes");
    let model = example("game");
    let design = ours(designed(&model, Method::Noam));
    let layout = Layout::new(&model.conceptual, &design);
    let options = shell.clear("game_writes");
    let game = Value::Uuid(uuid::Uuid::from_u128(5));
    let text = |text: &str| Value::Text(text.to_owned());
    let class = |name: &str| model.conceptual.classes.iter().find(|(_, row)| row.name == name).unwrap().0;
    let record = |name: &str, json: &Json| Record::from_json(&model.conceptual, class(name), json).unwrap();
    let round =
        record("Round", &serde_json::json!({"moves": "it's '}{\" $where\u{0}\u{2028}\n", "comments": "*"}));
    let given = |pairs: &[(&str, Value)]| {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect::<HashMap<_, _>>()
    };
    let at = Value::Timestamp(jiff::Timestamp::from_second(1_700_000_000).unwrap());
    let nasty = text("o'mary \\ $where");
    let arguments = HashMap::from([
        (
            "startGame".to_owned(),
            given(&[
                ("gameId", game.clone()),
                ("status", Value::Enum(0)),
                ("startedAt", at),
                ("firstPlayer", Value::Reference(vec![nasty.clone()])),
            ]),
        ),
        (
            "joinGame".to_owned(),
            given(&[("gameId", game.clone()), ("player", Value::Reference(vec![nasty]))]),
        ),
        (
            "addRound".to_owned(),
            given(&[
                ("gameId", game.clone()),
                ("round", Value::Record(Box::new(round.clone()))),
                ("status", Value::Enum(2)),
            ]),
        ),
    ]);
    let costing = Costing::from(target("mongodb").unwrap());
    let lowering = Lowering {
        model: &model,
        design: &design,
        layout: &layout,
        costing: &costing,
        arguments: &arguments,
    };
    let statements = lowering.statements(&|_| String::new()).unwrap();
    let source = Source { layout: &layout, statements, sample: Vec::new(), options };
    let made = target("mongodb").unwrap().language.unwrap().generate(&source);
    shell.run(&made.files[0].text()).unwrap();
    // Twice changes nothing.
    shell.run(&made.files[0].text()).unwrap();
    let mut write = |name: &str, slots: &[(&str, &str)]| {
        let block = made.files[1].blocks.iter().find(|block| block.of == name).unwrap();
        let mut text = block.text.clone();
        for (slot, value) in slots {
            text = text.replace(slot, value);
        }
        shell.load(&text)
    };
    let key = "'00000000-0000-0000-0000-000000000005'";
    let at = "ISODate('2023-11-14T22:13:20Z')";
    write("startGame", &[]).unwrap();
    let again = write("startGame", &[]).unwrap_err();
    assert!(again.contains("E11000"), "{again}");
    let old = [(":old.startedAt", at), (":old.gameId", key), (":startedAt", at), (":gameId", key)];
    let joining = |version| [&[(":version", version), (":old.status", "'waiting'")], &old[..]].concat();
    write("joinGame", &joining("Long('1')")).unwrap();
    let late = write("joinGame", &joining("Long('1')")).unwrap_err();
    assert!(late.contains("it has changed since it was read"), "{late}");
    let adding = |version, ordinal| {
        [&[(":version", version), (":ordinal", ordinal), (":old.status", "'playing'")], &old[..]].concat()
    };
    write("addRound", &adding("Long('2')", "0")).unwrap();
    // The next ordinal, after one that was removed.
    write("addRound", &adding("Long('3')", "2")).unwrap();
    let tables = layout.tables().iter();
    let all: Vec<Sample> = tables
        .flat_map(|table| shell.read(&layout, &Read::new(table.collection, How::All)).unwrap())
        .collect();
    let block = all.iter().find_map(|sample| match sample {
        Sample::Block { block, .. } => Some(block),
        Sample::Row { .. } => None,
    });
    let block = block.unwrap();
    assert_eq!((block.version, &block.identity), (4, &vec![game.clone()]));
    let root = block.fields.root.as_ref().unwrap();
    let rounds = root.fields.values().find_map(|value| match value {
        Value::List(elements) => Some(elements.clone()),
        _other => None,
    });
    let element = |ordinal| Element { ordinal, value: Value::Record(Box::new(round.clone())) };
    assert_eq!(rounds.unwrap(), [element(0), element(2)]);
    let rows: Vec<&Vec<Value>> = all
        .iter()
        .filter_map(|sample| match sample {
            Sample::Row { cells, .. } => Some(cells),
            Sample::Block { .. } => None,
        })
        .collect();
    assert!(rows.iter().all(|cells| cells.contains(&game)) && !rows.is_empty(), "{rows:?}");
}

/// The schema of the game, in a database of its own.
fn schema(shell: &mut Mongosh, place: &str, before: &str) -> Result<(), String> {
    let model = example("game");
    let design = ours(designed(&model, Method::Noam));
    let layout = Layout::new(&model.conceptual, &design);
    let options = shell.clear(place);
    shell.load(before)?;
    let source = Source { layout: &layout, statements: Vec::new(), sample: Vec::new(), options };
    let made = target("mongodb").unwrap().language.unwrap().generate(&source);
    shell.run(&made.files[0].text())
}

#[test]
#[ignore = "slow"]
fn a_document_of_another_shape_is_refused() {
    let mut shell = Mongosh::start("validators");
    schema(&mut shell, "game_validators", "").unwrap();
    let mut code = |collection: &str, document: &str| {
        let insert = format!("db.{collection}.insertOne({document})");
        let shown = shell
            .load(&format!(
                "try {{ {insert}; print('\\nCODE none') }} catch (error) {{ print('\\nCODE ' + error.code) }}"
            ))
            .unwrap();
        shown.lines().find_map(|line| line.strip_prefix("CODE ")).unwrap().to_owned()
    };
    let player = |id: &str, more: &str| format!("{{ _id: {id}, n: Long('1'), class: 'Player'{more} }}");
    assert_eq!(code("Player", &player("'mary'", ", firstName: 'Mary', score: 7")), "none");
    let wrong = [
        player("7", ""),
        player("'ann'", ", firstName: 7"),
        player("'ann'", ", score: 'many'"),
        player("'ann'", ", score: 0.5"),
        "{ _id: 'ann', n: 'one', class: 'Player' }".to_owned(),
        "{ _id: 'ann', class: 'Player' }".to_owned(),
    ];
    for document in wrong {
        assert_eq!(code("Player", &document), "121", "{document}");
    }
    const GAME: &str = "00000000-0000-0000-0000-000000000005";
    let at = "ISODate('2024-01-01T00:00:00Z')";
    let row = |status: &str| format!("{{ _id: {{ status: {status}, startedAt: {at}, gameId: '{GAME}' }} }}");
    assert_eq!(code("LobbyIndex", &row("'waiting'")), "none");
    for status in ["7", "null", "'lost'"] {
        assert_eq!(code("LobbyIndex", &row(status)), "121", "{status}");
    }
}

#[test]
#[ignore = "slow"]
fn a_collection_that_sorts_by_a_language_is_not_taken() {
    let mut shell = Mongosh::start("collations");
    let there = |options: &str| format!("db.createCollection('Player', {options});");
    let simple = there("{}");
    schema(&mut shell, "game_collations", &simple).unwrap();
    let english = there("{ collation: { locale: 'en' } }");
    let refused = schema(&mut shell, "game_collations", &english).unwrap_err();
    assert!(refused.contains("compares texts by a collation"), "{refused}");
}
