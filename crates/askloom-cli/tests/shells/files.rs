//! What `askloom generate -o DIR` leaves in a folder, as a user gets it: the program is run, its README is done as it says,
//! the statements are pasted as they stand, and the rows that they show are those that each query means.

use crate::data::{aggregates, arguments, example, now, schema};
use crate::harness::{Count, Shell, Trial};
use crate::samples::memory_of;
use askloom_design::method::{self, Method, Options as MethodOptions};
use askloom_engine::execute::Arguments;
use askloom_model::{Conceptual, ParameterType, Plan, Query, Value, identity_to_json, to_json};
use askloom_oracle::State;
use askloom_plan::cost::Costing;
use askloom_plan::layout::{Block, Layout, Table};
use askloom_plan::lower::values;
use askloom_plan::program::{self, Action, How, Program, Read, Term};
use askloom_plan::{ask, planner};
use askloom_target::generate::{Options, Sample};
use serde_json::{Map, Value as Json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A shell that a README is followed with.
pub(crate) trait Follow: Shell {
    /// The programs that a README names, and what they are here.
    fn programs(&self) -> Vec<(&'static str, Vec<String>)>;

    /// A command of a README with what it leaves to the user.
    fn filled(&self, command: &str) -> String {
        command.to_owned()
    }

    /// Opens the shell anew, if it does not see at once what others have made meanwhile.
    fn reopen(&mut self) {}

    /// Pastes the blocks of the file of statements, as they stand, and gives what each of them shows.
    fn paste(&mut self, folder: &Folder, file: &str, blocks: &[&str]) -> Vec<String>;

    /// The records in what a block shows whose first statement is this read.
    fn shown(
        &mut self,
        layout: &Layout,
        read: &Read,
        block: &str,
        shown: &str,
    ) -> Result<Vec<Sample>, String>;
}

/// A folder of its own, with the programs of a README in `bin`.
pub(crate) struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, programs: &[(&str, Vec<String>)]) -> Self {
        let folder = std::env::temp_dir().join(format!("askloom-{}-{name}", std::process::id()));
        std::fs::create_dir_all(folder.join("bin")).unwrap();
        for (name, words) in programs {
            let path = folder.join("bin").join(name);
            std::fs::write(&path, format!("#!/bin/sh\nexec {} \"$@\"\n", quoted(words))).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Runs a command of the README there, and gives what it prints.
    pub(crate) fn sh(&self, command: &str) -> Result<String, String> {
        let path = format!("{}:{}", self.0.join("bin").display(), std::env::var("PATH").unwrap());
        let made = Command::new("sh")
            .args(["-c", command])
            .current_dir(self.0.join("made"))
            .env("PATH", path)
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&made.stdout).into_owned();
        let complaint = String::from_utf8_lossy(&made.stderr);
        if made.status.success() { Ok(printed) } else { Err(format!("{command}: {printed}{complaint}")) }
    }

    /// Runs the program.
    fn generate(&self, model: &Path, target: &str, method: Method, prefix: &str, params: &Json) {
        let file = self.0.join("params.json");
        std::fs::write(&file, params.to_string()).unwrap();
        let made = Command::new(env!("CARGO_BIN_EXE_askloom"))
            .arg("generate")
            .arg(model)
            .args(["--target", target, "--method", method.name(), "--sample", "--params"])
            .arg(file)
            .arg(format!("--prefix={prefix}"))
            .arg("-o")
            .arg(self.0.join("made"))
            .output()
            .unwrap();
        assert!(made.status.success(), "{}\n{params}", String::from_utf8_lossy(&made.stderr));
    }

    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join("made").join(name)).unwrap()
    }

    /// The files of the README's table, each with its command if it has one.
    fn files(&self) -> Vec<(String, Option<String>)> {
        let readme = self.text("README.md");
        let rows = readme.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |"));
        rows.map(|row| {
            let (name, run) = row.split_once("` | ").unwrap();
            let run = run.strip_prefix('`').and_then(|run| run.strip_suffix('`'));
            (name.to_owned(), run.map(str::to_owned))
        })
        .collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Words for a POSIX shell.
pub(crate) fn quoted(words: &[String]) -> String {
    let one = |word: &String| format!("'{}'", word.replace('\'', "'\\''"));
    words.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// What the first read of a block has shown; what follows it for each row is done by the client, one read at a time.
struct Answered<'a> {
    shell: &'a mut dyn Shell,
    shown: Option<(Read, Vec<Sample>)>,
}

impl Shell for Answered<'_> {
    fn target(&self) -> &'static str {
        self.shell.target()
    }

    fn clear(&mut self, name: &str) -> Options {
        self.shell.clear(name)
    }

    fn run(&mut self, text: &str) -> Result<(), String> {
        self.shell.run(text)
    }

    fn read(&mut self, layout: &Layout, read: &Read) -> Result<Vec<Sample>, String> {
        match &self.shown {
            Some((own, records)) if own == read => Ok(records.clone()),
            Some(_) | None => self.shell.read(layout, read),
        }
    }
}

/// A query with everything that is asked of it.
struct Asked {
    query: Query,
    plan: Plan,
    given: Arguments,
    tuples: bool,
}

/// Follows the README of an example by a method.
pub(crate) fn follow(shell: &mut dyn Follow, name: &str, method: Method, count: &mut Count) {
    let place = format!("files_{}_{}", name.replace('-', "_"), method.name());
    let target = askloom_target::target(shell.target()).unwrap();
    let costing = Costing::from(target);
    let model = example(name);
    let design = method::design(method, &model, &costing, &MethodOptions::default()).design;
    let schema = schema(model, design, target);
    let questions = method::questions(&schema.model);
    let layout = Layout::new(&schema.model.conceptual, &schema.design).asked_by(&questions);
    let options = shell.clear(&place);
    let folder = Folder::new(&format!("{place}_{}", shell.target()), &shell.programs());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../examples/{name}/{name}.loom"));
    let generate =
        |params: &Json| folder.generate(&file, target.capability.target, method, &options.prefix, params);
    generate(&Json::Object(Map::new()));
    prepare(shell, &folder);
    shell.reopen();
    let held = everything(shell, &layout);
    let stored = aggregates(&schema, &memory_of(&schema, &held));
    assert!(!stored.is_empty(), "{place}: the sample is empty");
    let trial = Trial { schema: &schema, layout: &layout, target, costing, place };
    let state =
        State::of_stored(&schema.model.conceptual, stored.iter().map(|record| (record.clone(), now())));
    let asked = questions_of(&trial, &stored);
    let write = Write::new(&layout, &held).filter(|_| name == "game");
    let mut given = params(&schema.model.conceptual, &asked);
    given.extend(write.iter().map(|write| (SET_SCORE.to_owned(), write.params.clone())));
    generate(&Json::Object(given));
    let (file, _) = folder.files().into_iter().find(|(name, _)| name.starts_with("statements")).unwrap();
    let text = folder.text(&file);
    let blocks = blocks(&text);
    let shown = shell.paste(&folder, &file, &blocks);
    assert_eq!(shown.len(), blocks.len());
    if let Some(write) = write {
        let at = blocks.iter().position(|block| is_of(block, "write", SET_SCORE)).unwrap();
        write.is_done(shell, &layout, &format!("{}\n{}", blocks[at], shown[at]));
        count.writes += 1;
    }
    for Asked { query, plan, given, tuples } in &asked {
        let at = blocks.iter().position(|block| is_of(block, "query", &query.header.name)).unwrap();
        let told = format!("{}, {}\n{}\n{}", trial.place, query.header.name, blocks[at], shown[at]);
        let program = program::query(&layout, query, plan, Some(&values(query, given)));
        let first = first(&program).map(|read| {
            let printed = trial.language().read(&layout, &options, read);
            assert!(blocks[at].contains(printed.trim_end()), "{printed}\nis not in {told}");
            let found = shell.shown(&layout, read, blocks[at], &shown[at]);
            (read.clone(), found.unwrap_or_else(|why| panic!("{why}: {told}")))
        });
        count.statements += usize::from(first.is_some());
        let parameters = given.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let mut expected = state.query(&schema.model, query, &parameters, now()).unwrap();
        if *tuples {
            expected.dedup();
        }
        count.queries += 1;
        count.rows += expected.len();
        let mut answered = Answered { shell: &mut *shell, shown: first };
        trial.answers(&mut answered, query, plan, given, &expected, *tuples, count);
    }
}

/// Runs what the README says to run. What makes the same tables by other tools is another way, and the last file is for
/// reading.
fn prepare(shell: &mut dyn Follow, folder: &Folder) {
    for (name, run) in folder.files() {
        let Some(run) = run.filter(|_| !name.ends_with(".json")) else { continue };
        if run.starts_with("load ") {
            continue;
        }
        let run = shell.filled(&run);
        let printed = folder.sh(&run).unwrap_or_else(|why| panic!("{why}"));
        let wrong = ["ERROR", "error:", "Error", "Exception"].iter().any(|word| printed.contains(word));
        assert!(!wrong, "{run}: {printed}");
    }
}

/// All that the sample has put in.
fn everything(shell: &mut dyn Follow, layout: &Layout) -> Vec<Sample> {
    let all = |table: &Table| shell.read(layout, &Read::new(table.collection, How::All)).unwrap();
    layout.tables().iter().flat_map(all).collect()
}

/// A write that a file of `--params` says everything of: it makes a new version, and leaves the rest as it is, so that
/// queries before and after it mean the same.
struct Write<'w> {
    table: &'w Table,
    block: &'w Block,
    params: Json,
}

const SET_SCORE: &str = "setScore";

impl<'w> Write<'w> {
    fn new(layout: &'w Layout, held: &'w [Sample]) -> Option<Self> {
        let player = layout.tables().iter().find(|table| table.name == "Player")?;
        let block = held.iter().find_map(|record| match record {
            Sample::Block { table, block } if *table == player.collection => Some(block),
            Sample::Block { .. } | Sample::Row { .. } => None,
        })?;
        let cells = layout.block_cells(player, block);
        let of =
            |name: &str| player.columns.iter().position(|column| column.name == name).map(|at| &cells[at]);
        let (Some(Value::Text(name)), Some(Value::Int(score))) = (of("username"), of("score")) else {
            return None;
        };
        let params = serde_json::json!({"username": name, "score": score, "$version": block.version});
        Some(Self { table: player, block, params })
    }

    fn is_done(&self, shell: &mut dyn Follow, layout: &Layout, told: &str) {
        let key = self.table.columns[0].name.clone();
        let term = Term { name: key.into(), ..Term::known(self.block.identity[0].clone(), 0) };
        let found = shell.read(layout, &Read::new(self.table.collection, How::Block(vec![term]))).unwrap();
        let [Sample::Block { block, .. }] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((block.version, &block.fields), (self.block.version + 1, &self.block.fields), "{told}");
    }
}

fn questions_of(trial: &Trial<'_>, stored: &[askloom_model::Record]) -> Vec<Asked> {
    let model = &trial.schema.model;
    let plain = model.workload.queries.iter().map(|query| (query.clone(), false));
    let asks = model.workload.asks.iter();
    let tuples = asks.filter_map(|one| ask::query(&model.conceptual, one)).map(|query| (query, true));
    plain
        .chain(tuples)
        .map(|(query, tuples)| {
            let plan = planner::answer(&trial.costing, model, &trial.schema.design, &query).unwrap();
            let given = arguments(&model.conceptual, &query, stored, 0);
            Asked { query, plan, given, tuples }
        })
        .collect()
}

/// The file of `--params`.
fn params(conceptual: &Conceptual, asked: &[Asked]) -> Map<String, Json> {
    let of = |Asked { query, given, .. }: &Asked| {
        let one = |parameter: &askloom_model::Parameter| {
            let value = in_json(conceptual, &parameter.ty, &given[&parameter.name]);
            (parameter.name.clone(), value)
        };
        let all: Map<String, Json> = query.parameters.iter().map(one).collect();
        (query.header.name.clone(), Json::Object(all))
    };
    asked.iter().map(of).collect()
}

fn in_json(conceptual: &Conceptual, ty: &ParameterType, value: &Value) -> Json {
    match (ty, value) {
        (_, Value::Null) => Json::Null,
        (ParameterType::Basic(ty), value) => to_json(value, ty),
        (ParameterType::Identity(class), Value::Reference(id)) => identity_to_json(conceptual, *class, id),
        (ParameterType::List(of), Value::List(elements)) => {
            elements.iter().map(|element| in_json(conceptual, of, &element.value)).collect()
        }
        (ParameterType::Whole(class), Value::Record(record)) => record.to_json(conceptual, *class),
        (ty, value) => panic!("{value:?} is no {ty:?}"),
    }
}

/// The blocks of a file: all of it, in its order.
fn blocks(text: &str) -> Vec<&str> {
    let starts: Vec<usize> = text
        .match_indices('\n')
        .map(|(at, _)| at + 1)
        .chain([0])
        .filter(|&at| is_heading(text[at..].lines().next().unwrap_or_default()))
        .collect();
    let mut starts = starts;
    starts.sort_unstable();
    assert_eq!(starts.first(), Some(&0), "{text}");
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(&from, to)| &text[from..to]).collect()
}

fn is_heading(line: &str) -> bool {
    line.split_once(' ').is_some_and(|(mark, rest)| {
        matches!(mark, "#" | "//" | "--") && (rest.starts_with("query ") || rest.starts_with("write "))
    })
}

fn is_of(block: &str, kind: &str, name: &str) -> bool {
    block.lines().next().is_some_and(|line| line.ends_with(&format!(" {kind} {name}")))
}

/// The read with which a program starts, if it is done once, and no other is.
fn first(program: &Program) -> Option<&Read> {
    let mut once = program.steps.iter().filter(|step| step.each.is_once());
    match (once.next().map(|step| &step.action), once.next()) {
        (Some(Action::Read(read)), None) if read.how != How::All => Some(read),
        (_, _) => None,
    }
}

/// Some examples by all ways of designing that differ.
pub(crate) fn some_examples(shell: &mut dyn Follow) {
    let mut count = Count::default();
    let all = [("game", Method::Noam), ("airline", Method::Qodm), ("blog", Method::Kvmod)];
    for (name, method) in all {
        follow(shell, name, method, &mut count);
    }
    println!("{}: {count:?}", shell.target());
    assert!(count.queries >= 13 && count.rows > 10 && count.statements > 10, "{count:?}");
    assert!(count.direct > 0 && count.writes == 1, "{count:?}");
}
