//! What `generate` prints for HBase and for Oracle NoSQL, beside what is expected. `ASKLOOM_BLESS=1` rewrites it.

use crate::project::{Project, expect_file, repository};
use askloom_design::method::{self, Method, Options as MethodOptions};
use askloom_engine::Schema;
use askloom_engine::driver::{Isolation, MemoryDriver};
use askloom_engine::source::{BlockState, Source};
use askloom_engine::write::{self, Expect, Inputs};
use askloom_lang::{Memory as Files, check};
use askloom_model::{CollectionId, Identity, Value};
use askloom_plan::cost::Costing;
use askloom_plan::layout::Layout;
use askloom_plan::tree::{TreeOf, value_from_json};
use askloom_target::generate::{Options, Sample};
use std::fs;
use std::path::Path;

fn generated(example: &str, target: &str, files: &[&str], params: &str) -> String {
    let project = Project::new().with("params.json", params);
    project.run(&["new", "model", "--example", example]).exits(0);
    let file = format!("model/{example}.loom");
    let words = [
        "generate",
        &file,
        "--method",
        "noam",
        "--target",
        target,
        "--params",
        "params.json",
        "--prefix",
        "app.",
        "-o",
        "out",
    ];
    project.run(&words).exits(0);
    files.iter().map(|name| format!("== {name}\n{}\n", project.read(&format!("out/{name}")))).collect()
}

#[track_caller]
fn expect(name: &str, text: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/generated");
    fs::create_dir_all(&folder).unwrap();
    expect_file(&folder.join(name), text);
}

const GAME: &str = r##"{
  "continueGame": {"gameId": "2fa740e6-1f12-42f3-9d59-d7aab6ca0680"},
  "lobby": {},
  "setScore": {"username": "}{\"*\\\n$where\u0000 :x #{`id`} '/-/", "score": -7, "$version": 3},
  "joinGame": {"gameId": "2fa740e6-1f12-42f3-9d59-d7aab6ca0680", "player": "#{`id`} \"quoted\" \\u000a é", "$version": 3, "$stamp": 1800000000000000}
}"##;

const HBASE: [&str; 3] = ["README.md", "schema.rb", "statements.rb"];
const ORACLE: [&str; 4] = ["README.md", "open.jsh", "statements.jsh", "tables.sql"];

#[test]
fn the_game_and_the_shop_on_hbase() {
    expect("game.hbase.txt", &generated("game", "hbase", &HBASE, GAME));
    expect("shop.hbase.txt", &generated("shop", "hbase", &HBASE, "{}"));
}

#[test]
fn the_game_and_the_shop_on_oracle_nosql() {
    let game = generated("game", "oracle-nosql", &ORACLE, GAME);
    assert!(game.contains("Nothing of this has been run"), "{game}");
    expect("game.oracle-nosql.txt", &game);
    expect("shop.oracle-nosql.txt", &generated("shop", "oracle-nosql", &ORACLE, "{}"));
}

/// The aggregates of the papers by one of their representations.
fn figure(representation: &str, faithful: bool) -> String {
    let folder = repository().join("examples/noam-game");
    let text = fs::read_to_string(folder.join("noam-game.loom")).unwrap();
    let (before, rest) = text.split_once("represent * as ").unwrap();
    let chosen =
        rest.split("represent * as ").find(|one| one.starts_with(&format!("{representation} "))).unwrap();
    let (chosen, _) = chosen.split_once("\n}").unwrap();
    let text = format!("{before}represent * as {chosen}\n}}\n");
    let checked = check(&Files::default().with("game.loom", text.into_bytes()), Path::new("game.loom"));
    assert_eq!(checked.errors, 0);
    let mut model = checked.model;
    askloom_plan::ask::name_ways_back(&mut model);
    let target = askloom_target::target("oracle-nosql").unwrap();
    let costing = Costing::from(target);
    let made = method::design(Method::Noam, &model, &costing, &MethodOptions::default());
    let schema = Schema::new(model, made.design, costing);
    let layout = Layout::new(&schema.model.conceptual, &schema.design);
    let memory = MemoryDriver::new(Isolation::Ranges);
    let now = jiff::Timestamp::from_second(1_800_000_000).unwrap();
    let inputs = Inputs { now, uuids: Vec::new(), id: None };
    for name in ["Player", "Game"] {
        let class = schema.model.conceptual.classes.iter().find(|(_, class)| class.name == name).unwrap().0;
        for line in fs::read_to_string(folder.join(format!("data/{name}.jsonl"))).unwrap().lines() {
            let json = serde_json::from_str(line).unwrap();
            let value =
                value_from_json(&schema.model.conceptual, &TreeOf::Instance(class), false, &json).unwrap();
            let record = if let Value::Record(record) = value { Some(*record) } else { None };
            let put = |source: &dyn Source| write::store(source, record.unwrap(), Expect::Anything, &inputs);
            let (changes, _) = memory.look(&schema, put).unwrap();
            memory.apply(&schema, &changes);
        }
    }
    let options = Options { faithful, ..Options::default() };
    let blocks = schema.masters().flat_map(|(_, master)| {
        memory.blocks(master).into_iter().map(move |(identity, state)| (master, identity, state))
    });
    let put = |(table, identity, state): (CollectionId, Identity, BlockState)| {
        let block = Box::new(state.block(&schema, table, &identity).unwrap().unwrap());
        target.language.unwrap().put(&layout, &options, &Sample::Block { table, block })
    };
    blocks.map(put).collect()
}

#[test]
fn oracle_nosql_as_the_papers_print_it() {
    let several = figure("elementsEtf", true);
    for line in [
        "Player/mary/-/username \"mary\"\n",
        "Player/mary/-/firstName \"Mary\"\n",
        "Player/mary/-/games[1] { game: \"Game:2611\", opponent: \"Player:ann\" }\n",
        "Player/rick/-/score 42\n",
        "Game/2345/-/id 2345\n",
        "Game/2345/-/secondPlayer \"Player:rick\"\n",
    ] {
        assert!(several.contains(line), "no {line:?} in\n{several}");
    }
    expect("noam-game.figure-4b.txt", &several);
    let one = figure("eao", true);
    assert!(one.contains("/Player/mary/- { username: \"mary\", firstName: \"Mary\", "), "{one}");
    assert!(one.contains("/Game/2345/- { id: \"2345\", firstPlayer: \"Player:mary\", "), "{one}");
    expect("noam-game.figure-4a.txt", &one);
    let plain = figure("elementsEtf", false);
    assert!(plain.contains(r#"Key.fromString("/Player/mary/-/games%5B0%5D")"#), "{plain}");
    expect("noam-game.oracle-nosql.txt", &plain);
}
