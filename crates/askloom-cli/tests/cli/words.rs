//! What is said about a store is said in the words of that store.

use crate::project::{Project, Ran};

/// How a store calls things, and how it does not.
struct Store {
    target: &'static str,
    /// In the design of the game, which has an index with a key of two parts.
    design: &'static [&'static str],
    /// The start of the read of that index, as its shell takes it.
    read: &'static str,
    /// What a price is counted in.
    unit: &'static str,
}

const STORES: [Store; 8] = [
    Store {
        target: "redis",
        design: &["3 key prefixes", "KEYS LobbyIndex", "500 hashes", "  key       status", "in memory"],
        read: "FCALL_RO askloom_range 1 \"LobbyIndex:{waiting}\" - + desc 20\n",
        unit: "µs",
    },
    Store {
        target: "redis-search",
        design: &["3 key prefixes", "KEYS LobbyIndex", "500 hashes", "  key       status", "in memory"],
        read: "FCALL_RO askloom_range 1 \"LobbyIndex:{waiting}\" - + desc 20\n",
        unit: "µs",
    },
    Store {
        target: "redis-cluster",
        design: &["3 key prefixes", "KEYS LobbyIndex", "500 hashes", "  key       status", "in memory"],
        read: "FCALL_RO askloom_range 1 \"LobbyIndex:{waiting}\" - + desc 20\n",
        unit: "µs",
    },
    Store {
        target: "mongodb",
        design: &[
            "2 collections and 1 index",
            "INDEX LobbyIndex (index of Game, added)",
            "500 documents",
            "  fields    status, startedAt",
        ],
        read: "db.Game.find({ status: 'waiting' }, { status: 1, startedAt: 1, firstPlayer: 1 }).sort({ startedAt: -1, _id: -1 }).limit(20)",
        unit: "µs",
    },
    Store {
        target: "dynamodb",
        design: &[
            "2 tables and 1 secondary index",
            "INDEX LobbyIndex",
            "500 items",
            "  PK        status",
            "  SK        startedAt",
            "$/MONTH",
            "a month for requests and $",
            "a month is the least of 5 candidates",
        ],
        read: "aws dynamodb query --cli-input-json '{\n  \"TableName\": \"Game\",\n  \"IndexName\": \"LobbyIndex\",",
        unit: "$/M",
    },
    Store {
        target: "cassandra",
        design: &[
            "3 tables",
            "TABLE LobbyIndex",
            "500 rows",
            "  partition key  status",
            "  clustering key startedAt",
        ],
        read: "SELECT status, started_at, game_id FROM lobby_index WHERE status = 'waiting' ORDER BY started_at DESC, \
               game_id DESC LIMIT 20;\n",
        unit: "ms",
    },
    Store {
        target: "hbase",
        design: &["3 tables", "TABLE LobbyIndex", "500 rows", "  row key   status", "  then      startedAt"],
        read: "scan \"LobbyIndex\", {STARTROW => ",
        unit: "µs",
    },
    Store {
        target: "oracle-nosql",
        design: &["3 major key prefixes", "500 pairs", "  major key status", "  minor key startedAt"],
        read: "store.multiGetIterator(Direction.REVERSE, 20, Key.fromString(\"/LobbyIndex/waiting\"), ",
        unit: "µs",
    },
];

/// Words of the embedded store, and of our own code.
const NOT_THEIRS: [&str; 6] = ["block key", "entry key", "block_key", "entry_key", "entries by", " blocks"];

fn game() -> Project {
    let project = Project::new();
    project.run(&["new", "model", "--example", "game"]).exits(0);
    project
}

impl Store {
    fn run(&self, project: &Project, words: &[&str]) -> Ran {
        project.run(&[words, &["--target", self.target]].concat()).exits(0)
    }

    #[track_caller]
    fn has(&self, text: &str, words: &[&str]) {
        for words in words {
            assert!(text.contains(words), "{}: no {words:?} in\n{text}", self.target);
        }
        for words in NOT_THEIRS {
            assert!(!text.contains(words), "{}: {words:?} in\n{text}", self.target);
        }
    }
}

#[test]
fn a_design_is_described_in_the_words_of_its_store() {
    let project = game();
    for store in STORES {
        let design = store.run(&project, &["design", "model/game.loom", "--method", "noam"]).stdout;
        store.has(&design, store.design);
        let unit = format!(" {} a second", store.unit);
        assert_eq!(design.contains(&unit), store.unit != "$/M", "{design}");
        assert_eq!(design.contains('$'), store.unit == "$/M", "{design}");
        assert!(design.lines().all(|line| line.chars().count() <= 80), "{design}");
    }
}

#[test]
fn a_plan_ends_with_the_statements_of_its_store() {
    let project = game();
    for store in STORES {
        let lobby = store.run(&project, &["explain", "model/game.loom", "lobby", "--method", "noam"]).stdout;
        let heading = format!("query lobby on {}: 20 rows", store.target);
        store.has(&lobby, &[&heading, store.unit, store.read]);
        // Every statement has its own, the writes too.
        let all = store.run(&project, &["explain", "model/game.loom", "--method", "noam"]).stdout;
        for statement in [
            "query continueGame",
            "query lobby",
            "write startGame",
            "write joinGame",
            "write addRound",
            "write setScore",
        ] {
            let plan = format!("{statement} on {}", store.target);
            let said = all.lines().filter(|line| line.ends_with(statement)).count();
            assert!(all.contains(&plan) && said == 1, "{}: {statement} in\n{all}", store.target);
        }
        store.has(&all, &[store.read]);
    }
}

#[test]
fn the_document_names_things_as_its_store_does() {
    let project = game();
    for (target, key, sorted) in [
        ("embedded", "block", "sorted by"),
        ("dynamodb", "PK", "SK"),
        ("mongodb", "_id", "index"),
        ("cassandra", "partition key", "clustering key"),
        ("hbase", "row key", "then"),
        ("redis", "key", "sorted by"),
    ] {
        let args = ["design", "model/game.loom", "--target", target, "--format", "json"];
        let document: serde_json::Value = serde_json::from_str(&project.run(&args).exits(0).stdout).unwrap();
        assert_eq!(document["words"]["block_key"], key);
        assert_eq!(document["words"]["entry_key"], sorted);
    }
}

/// Labels stand apart from what is behind them.
#[test]
fn no_label_runs_into_its_words() {
    let project = game();
    for target in ["embedded", "redis", "mongodb", "dynamodb", "cassandra", "hbase", "oracle-nosql"] {
        let design = project.run(&["design", "model/game.loom", "--target", target]).exits(0).stdout;
        let keys: Vec<&str> = design
            .lines()
            .filter(|line| line.starts_with("  ") && !line.starts_with("   ") && line.ends_with("startedAt"))
            .collect();
        assert_eq!(keys.len(), 1, "{target}: {design}");
        assert!(keys[0].ends_with(" startedAt"), "{}", keys[0]);
    }
}

#[test]
fn methods_are_compared_by_the_bill_where_there_is_one() {
    let project = game();
    for (target, price, other) in
        [("dynamodb", "\n$ a month ", "$/M a second"), ("mongodb", "\nµs a second ", "a month")]
    {
        let compared = project.run(&["compare", "model/game.loom", "--target", target]).exits(0).stdout;
        assert!(compared.contains(price) && !compared.contains(other), "{compared}");
    }
}
