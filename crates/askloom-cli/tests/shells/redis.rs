//! redis-cli on Redis: one node without and with search, and a cluster.

use crate::data::example;
use crate::harness::{Count, Shell, every_example, one_design};
use crate::server::{self, Session};
use askloom_design::cost::Costing;
use askloom_design::method::{self, Method, Options as MethodOptions};
use askloom_model::{Collection, CollectionId, Conceptual, Design, Id, Origin, Role, Type, Value};
use askloom_target::generate::{Options, Sample};
use askloom_target::layout::{Column, Holds, Layout, Place, Source};
use askloom_target::program::{Bounds, How, Kept, Known, Read, Term};
use askloom_target::redis::{
    Arg, Command, FUNCTIONS, Flavour, Hash, Index, Kind, RedisColumn, RedisTable, Shadow, read_command,
    sample, tables,
};
use serde_json::Value as Json;
use std::io::Write;
use std::process::{Command as Process, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

struct RedisCli {
    flavour: Flavour,
    /// The command line, without what it is to do.
    line: Vec<String>,
    session: Session,
    /// A shell for each node that has keys of its own. Those of one node are in the session.
    masters: Vec<Session>,
    options: Options,
    searches: usize,
    /// Indexes are of one database, and a cluster has but one: what works there works alone.
    _alone: Option<MutexGuard<'static, ()>>,
}

static SEARCHING: Mutex<()> = Mutex::new(());
static CLUSTER: Mutex<()> = Mutex::new(());

/// As the shell shows it.
const MARK: &str = "\"askloom-mark\"";

impl RedisCli {
    fn start(flavour: Flavour) -> Self {
        // Indexes are of the first database; what has none goes elsewhere.
        Self::start_in(flavour, if flavour == Flavour::Plain { "1" } else { "0" })
    }

    fn start_in(flavour: Flavour, database: &str) -> Self {
        let name = match flavour {
            Flavour::Plain | Flavour::Search => "redis",
            Flavour::Cluster => "redis-cluster",
        };
        let alone = match flavour {
            Flavour::Plain => None,
            Flavour::Search => Some(&SEARCHING),
            Flavour::Cluster => Some(&CLUSTER),
        };
        let _alone = alone.map(|mutex| mutex.lock().unwrap_or_else(PoisonError::into_inner));
        server::up(name);
        let mut line = server::shell(name);
        if flavour != Flavour::Cluster {
            line.extend(["-n", database].map(str::to_owned));
        }
        let session = open(&line);
        let mut shell = Self {
            flavour,
            line,
            session,
            masters: Vec::new(),
            options: Options::default(),
            searches: 0,
            _alone,
        };
        if flavour == Flavour::Cluster {
            shell.masters = shell.master_ports().iter().map(|port| open(&shell.on(port))).collect();
            assert!(shell.masters.len() > 1);
        }
        shell
    }

    /// The command line for one node.
    fn on(&self, port: &str) -> Vec<String> {
        let at = self.line.iter().position(|word| word == "-p").unwrap();
        let mut line: Vec<String> = self.line.iter().filter(|word| *word != "-c").cloned().collect();
        let at = if line.len() < self.line.len() { at - 1 } else { at };
        line[at + 1] = port.to_owned();
        line
    }

    fn master_ports(&mut self) -> Vec<String> {
        let nodes = self.send("CLUSTER NODES").unwrap();
        let masters = nodes.lines().filter(|line| line.contains("master"));
        masters
            .map(|line| {
                let address = line.split(' ').nth(1).unwrap();
                address.split('@').next().unwrap().rsplit(':').next().unwrap().to_owned()
            })
            .collect()
    }

    /// Runs the shell once, with words on its command line and a text that it reads.
    fn once(&self, words: &[&str], input: &str) -> Result<(), String> {
        let mut process = Process::new(&self.line[0])
            .args(&self.line[1..])
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        process.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let made = process.wait_with_output().unwrap();
        let printed = String::from_utf8_lossy(&made.stdout).into_owned();
        if made.status.success() && !printed.contains("ERR") { Ok(()) } else { Err(printed) }
    }

    /// The same on every master.
    fn everywhere(&self, words: &[&str]) -> Result<(), String> {
        let at = self.line.iter().position(|word| word == "-h").unwrap();
        let address = format!("{}:{}", self.line[at + 1], self.line[at + 3]);
        let call = ["--cluster", "call", &address];
        self.once(&[call.as_slice(), words, &["--cluster-only-masters"]].concat(), "")
    }

    fn send(&mut self, text: &str) -> Result<String, String> {
        send(&mut self.session, text)
    }

    /// Everything, page by page, on every node.
    fn pages(&mut self, command: &Command) -> Result<Vec<Hash>, String> {
        let mut all = Vec::new();
        let mut masters: Vec<&mut Session> = self.masters.iter_mut().collect();
        if masters.is_empty() {
            masters.push(&mut self.session);
        }
        for session in masters {
            let mut command = command.clone();
            loop {
                let page = json(&send(session, &command.text())?)?;
                all.extend(page[1].as_array().unwrap().iter().map(hash));
                let next = text(&page[0]);
                if next == b"0" {
                    break;
                }
                command.args[3] = Arg::known(next);
            }
        }
        Ok(all)
    }

    fn found(&mut self, command: &Command) -> Result<Vec<Hash>, String> {
        let printed = command.text();
        if printed.starts_with("FCALL_RO askloom_page") {
            return self.pages(command);
        }
        let reply = json(&self.send(&printed)?)?;
        Ok(match printed.split(' ').next().unwrap() {
            "HGETALL" => vec![hash(&reply)],
            "FT.AGGREGATE" => {
                self.searches += 1;
                assert_eq!(reply["warning"], Json::Array(Vec::new()), "{printed}");
                reply["results"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|row| hash(&row["extra_attributes"]))
                    .collect()
            }
            _range => reply.as_array().unwrap().iter().map(hash).collect(),
        })
    }
}

fn open(line: &[String]) -> Session {
    Session::start(&[line, &["--quoted-json".to_owned()]].concat(), &[])
}

fn send(session: &mut Session, text: &str) -> Result<String, String> {
    let printed = session.send(&format!("{text}\nECHO askloom-mark\n"), MARK)?;
    let wrong = printed.lines().find(|line| line.starts_with("error:") || line.starts_with("Invalid"));
    match wrong {
        Some(line) => Err(format!("{line}\n{}", &text[..text.len().min(600)])),
        None => Ok(printed),
    }
}

/// The last answer that was printed.
fn json(printed: &str) -> Result<Json, String> {
    let line = printed.lines().rfind(|line| !line.is_empty() && !line.starts_with("->"));
    let line = line.ok_or_else(|| format!("nothing was printed: {printed}"))?;
    serde_json::from_str(&mended(line)).map_err(|error| format!("{error}: {line}"))
}

/// The bytes of a string, which stand for its letters here.
fn text(json: &Json) -> Vec<u8> {
    bytes_of(json.as_str().unwrap_or_else(|| panic!("{json} is no string")))
}

fn bytes_of(letters: &str) -> Vec<u8> {
    letters.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect()
}

/// What `--quoted-json` prints as JSON: strings are escaped as in a command, then each of their backslashes is
/// doubled, but the quotes behind them are not escaped. Every byte of a string becomes the letter of that number.
fn mended(printed: &str) -> String {
    let mut all = String::new();
    let mut letters = printed.chars();
    let mut inside = false;
    while let Some(letter) = letters.next() {
        match letter {
            '"' => {
                inside = !inside;
                all.push('"');
            }
            '\\' => {
                assert!(inside && letters.next() == Some('\\'), "{printed}");
                let byte = match letters.next().unwrap() {
                    'n' => b'\n',
                    'r' => b'\r',
                    't' => b'\t',
                    'a' => 7,
                    'b' => 8,
                    'x' => {
                        let digits: String = letters.by_ref().take(2).collect();
                        u8::from_str_radix(&digits, 16).unwrap()
                    }
                    '\\' => {
                        assert_eq!(letters.next(), Some('\\'), "{printed}");
                        b'\\'
                    }
                    '"' => b'"',
                    other => panic!("{other}: {printed}"),
                };
                all.push_str(&format!("\\u{byte:04x}"));
            }
            letter => all.push(letter),
        }
    }
    all
}

/// A hash as a list of fields and values, or as a map of them.
fn hash(json: &Json) -> Hash {
    match json {
        Json::Array(items) => items.chunks(2).map(|pair| (text(&pair[0]), text(&pair[1]))).collect(),
        Json::Object(fields) => fields.iter().map(|(name, value)| (bytes_of(name), text(value))).collect(),
        other => panic!("{other} is no hash"),
    }
}

impl Shell for RedisCli {
    fn target(&self) -> &'static str {
        match self.flavour {
            Flavour::Plain => "redis",
            Flavour::Search => "redis-search",
            Flavour::Cluster => "redis-cluster",
        }
    }

    fn clear(&mut self, name: &str) -> Options {
        match self.flavour {
            Flavour::Plain | Flavour::Search => self.send("FLUSHDB").map(|_| ()),
            Flavour::Cluster => self.everywhere(&["FLUSHALL"]),
        }
        .unwrap();
        // Nothing in a prefix means more than it says.
        self.options = Options { prefix: format!("{name}*[a-\\]?:"), ..Options::default() };
        self.options.clone()
    }

    fn run(&mut self, text: &str) -> Result<(), String> {
        match (text.starts_with("#!lua"), self.flavour) {
            (true, Flavour::Plain | Flavour::Search) => {
                self.once(&["-x", "FUNCTION", "LOAD", "REPLACE"], text)
            }
            (true, Flavour::Cluster) => self.everywhere(&["FUNCTION", "LOAD", "REPLACE", text]),
            (false, _) => self.send(text).map(|_| ()),
        }
    }

    fn read(&mut self, layout: &Layout<'_>, read: &Read) -> Result<Vec<Sample>, String> {
        let tables = tables(layout, self.flavour, &self.options.prefix);
        let command = read_command(&tables, read).ok_or("no such table")?;
        let table = tables.iter().find(|table| table.collection == read.table).unwrap();
        let mut all = Vec::new();
        for hash in self.found(&command)? {
            all.extend(table.record(layout, &hash).map_err(|error| format!("{error:?}: {hash:?}"))?);
        }
        Ok(all)
    }
}

#[test]
#[ignore = "slow"]
fn every_example_runs_in_redis_cli() {
    every_example(&mut RedisCli::start(Flavour::Plain));
}

#[test]
#[ignore = "slow"]
fn every_example_runs_in_redis_cli_with_search() {
    let mut shell = RedisCli::start(Flavour::Search);
    every_example(&mut shell);
    // Without the indexes that were added to KVMod's collections, these are searched.
    let mut count = Count::default();
    for name in ["airline", "game", "blog", "shop"] {
        let model = example(name);
        let costing = Costing::from(askloom_target::target(shell.target()).unwrap());
        let mut design = method::design(Method::Kvmod, &model, &costing, &MethodOptions::default()).design;
        let kept =
            |collection: &Collection| collection.origin == Origin::Method || collection.role == Role::Master;
        let all: Vec<Collection> =
            design.collections.iter().map(|(_, collection)| collection.clone()).collect();
        design.collections = askloom_model::Table::default();
        all.into_iter().filter(kept).for_each(|collection| {
            design.collections.push(collection);
        });
        one_design(&mut shell, format!("{name}_searched"), &model, design, name != "blog", &mut count);
    }
    println!("searched {} times: {count:?}", shell.searches);
    assert!(shell.searches > 10 && count.rows > 10, "{}", shell.searches);
}

#[test]
#[ignore = "slow"]
fn every_example_runs_in_a_cluster() {
    every_example(&mut RedisCli::start(Flavour::Cluster));
}

/// What the functions answer, and what is there afterwards.
struct Functions(RedisCli);

impl Functions {
    fn loaded(flavour: Flavour, database: &str) -> Self {
        let mut shell = RedisCli::start_in(flavour, database);
        shell.run(FUNCTIONS).unwrap();
        if flavour == Flavour::Plain {
            shell.send("FLUSHDB").unwrap();
        }
        Self(shell)
    }

    #[track_caller]
    fn done(&mut self, line: &str) -> Json {
        json(&self.0.send(line).unwrap()).unwrap()
    }

    #[track_caller]
    fn refused(&mut self, line: &str, why: &str) {
        let error = self.0.send(line).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
#[ignore = "slow"]
fn a_function_checks_everything_before_it_writes() {
    let mut redis = Functions::loaded(Flavour::Plain, "2");
    let exact = (1_u64 << 53) + 1;
    redis.done(&format!("FCALL askloom_write 1 g:{{a}} if 1 \"\" next 1 put 1 2 class G score {exact}"));
    let before = redis.done("HGETALL g:{a}");
    assert_eq!((&before["n"], &before["score"]), (&Json::from("1"), &Json::from(exact.to_string())));
    redis.refused("FCALL askloom_write 1 g:{a} if 1 \"\" next 1 put 1 1 score 0", "CONFLICT");
    // The second aggregate is not what was read, a step is none, a list is too short, a key is of another type.
    redis.refused("FCALL askloom_write 2 g:{a} g:{b} if 1 1 if 2 7 next 1 put 1 1 score 0", "CONFLICT");
    redis.refused("FCALL askloom_write 1 g:{a} if 1 1 put 1 1 score 0 nonsense 1", "WRONG no such step");
    redis.refused("FCALL askloom_write 1 g:{a} if 1 1 put 1 1 score 0 put 1 2 a b", "WRONG too few");
    redis.refused("FCALL askloom_write 1 g:{a} if 1 1 put 1 1 score 0 row 1 m 0", "WRONG a key of type");
    redis.refused("FCALL askloom_write 1 g:{a} if 1 1 put 1 1 score 0 put 2 1 a b", "WRONG no such key");
    assert_eq!(redis.done("HGETALL g:{a}"), before);
}

#[test]
#[ignore = "slow"]
fn versions_are_no_doubles_and_lists_may_be_long() {
    let mut redis = Functions::loaded(Flavour::Plain, "3");
    let version = (1_u64 << 53) + 1;
    redis.done(&format!("HSET g:{{a}} n {version} system s class G x 1"));
    redis.refused(&format!("FCALL askloom_write 1 g:{{a}} if 1 {} next 1", version - 1), "CONFLICT");
    let fields: String = (0..20_000).map(|at| format!(" f{at} {at}")).collect();
    redis.done(&format!("FCALL askloom_write 1 g:{{a}} if 1 {version} next 1 put 1 20000{fields}"));
    assert_eq!(redis.done("HGET g:{a} n"), Json::from((version + 1).to_string()));
    assert_eq!(redis.done("HLEN g:{a}"), Json::from(20_004));
    // A deleted aggregate keeps its version and what the system knows.
    redis.done(&format!("FCALL askloom_write 1 g:{{a}} if 1 {} next 1 clear 1", version + 1));
    let left = redis.done("HGETALL g:{a}");
    assert_eq!(left, serde_json::json!({"n": (version + 2).to_string(), "system": "s"}));
}

#[test]
#[ignore = "slow"]
fn starting_with_finds_all_of_them() {
    let mut redis = Functions::loaded(Flavour::Plain, "4");
    // A prefix of a tag would stop at two hundred different ones.
    let rows: String = (0..500).map(|at| format!(" row 1 \"\\x06ab{at:04}\\x00\\x01\" 1 at {at}")).collect();
    redis.done(&format!("FCALL askloom_write 1 c:{{-}}{rows} row 1 \"\\x06aa\\x00\\x01\" 1 at -1"));
    let found = redis.done("FCALL_RO askloom_range 1 c:{-} \"[\\x06ab\" \"(\\x06ac\" asc -1");
    assert_eq!(found.as_array().unwrap().len(), 500);
    let last = redis.done("FCALL_RO askloom_range 1 c:{-} \"[\\x06ab\" \"(\\x06ac\" desc 2");
    assert_eq!(last, serde_json::json!([["at", "499"], ["at", "498"]]));
    redis.done("FCALL askloom_write 1 c:{-} norow 1 \"\\x06ab0499\\x00\\x01\"");
    let last = redis.done("FCALL_RO askloom_range 1 c:{-} - + desc 1");
    assert_eq!(last, serde_json::json!([["at", "498"]]));
    assert_eq!(redis.done("DBSIZE"), Json::from(501));
}

#[test]
#[ignore = "slow"]
fn a_call_in_a_cluster_reaches_one_tag_alone() {
    let mut redis = Functions::loaded(Flavour::Cluster, "0");
    redis.done("FCALL askloom_write 2 tag:{one} tag:{one}set next 1 row 2 m 1 a b");
    assert_eq!(
        redis.done("FCALL_RO askloom_range 1 tag:{one}set - + asc -1"),
        serde_json::json!([["a", "b"]])
    );
    redis.refused("FCALL askloom_write 2 tag:{one} tag:{two} next 1 next 2", "CROSSSLOT");
}

/// Copies of one text and one number each, searched by both and sorted by both.
fn searched() -> RedisTable {
    let column = |name: &str, place: Place, ty: Type| {
        let holds = Holds::Scalar(ty);
        let of = Column { name: name.to_owned(), place, source: Source::Node, holds, optional: true };
        RedisColumn { field: name.to_owned(), of }
    };
    let shadow = |field: &str, of: &[(usize, bool)]| Shadow { field: field.to_owned(), of: of.to_vec() };
    let shadows = vec![
        shadow("by_word", &[(1, false)]),
        shadow("by_number", &[(2, false)]),
        shadow("by_number_desc_word", &[(2, true), (1, false)]),
    ];
    RedisTable {
        collection: CollectionId::from_index(0),
        prefix: "traps:".to_owned(),
        columns: vec![
            column("id", Place::Block, Type::Int),
            column("word", Place::Value, Type::Text),
            column("number", Place::Value, Type::Long),
        ],
        kind: Kind::Packed,
        search: Some(Index { name: "traps".to_owned(), shadows }),
    }
}

#[test]
#[ignore = "slow"]
fn a_search_means_what_it_says() {
    let mut shell = RedisCli::start(Flavour::Search);
    let table = searched();
    let (conceptual, design) = (Conceptual::default(), Design::default());
    let layout = Layout::new(&conceptual, &design);
    let tables = std::slice::from_ref(&table);
    // Those that a TAG or a NUMERIC takes for one another, and those longer than a tag.
    let long = "x".repeat(5000);
    let words =
        ["a", "A", "a\0b", " a", "a ", "a,b", "", "*", "@x:{y}|-", "b", &(long.clone() + "1"), &(long + "2")];
    let numbers = [1 << 53, (1 << 53) + 1, -1, i64::MAX, i64::MIN, 0];
    let mut rows: Vec<Vec<Value>> = Vec::new();
    for (id, word) in words.iter().enumerate() {
        let number = numbers.get(id).map_or(Value::Null, |number| Value::Int(*number));
        rows.push(vec![Value::Int(id as i64), Value::Text((*word).to_owned()), number]);
    }
    // An index that is made later has them all when it says that it is ready.
    let put = |row: &Vec<Value>| {
        sample(&layout, tables, &Sample::Row { table: table.collection, cells: row.clone() })
    };
    let lines: Vec<String> = rows.iter().flat_map(put).map(|command| command.text()).collect();
    shell.clear("traps");
    shell.send(&lines.join("\n")).unwrap();
    shell.send(&table.create_index().unwrap().text()).unwrap();
    let mut waited = 0;
    loop {
        let info = shell.send("FT.INFO traps").unwrap().replace(":nan", ":null");
        let info = json(&info).unwrap();
        if info["percent_indexed"] == Json::from(1) && info["indexing"] == Json::from(0) {
            assert_eq!(info["hash_indexing_failures"], Json::from(0));
            break;
        }
        waited += 1;
        assert!(waited < 10_000, "{info}");
    }
    let mut found = |known: Vec<Known>, order: Vec<(usize, bool)>| -> Vec<Vec<Value>> {
        let read =
            Read { kept: Some(Box::new(Kept { known, order })), ..Read::new(table.collection, How::All) };
        let command = read_command(tables, &read).unwrap();
        assert!(command.text().starts_with("FT.AGGREGATE"));
        let cells = |hash: &Hash| match table.record(&layout, hash).unwrap().unwrap() {
            Sample::Row { cells, .. } => cells,
            Sample::Block { .. } => Vec::new(),
        };
        let mut rows: Vec<Vec<Value>> = shell.found(&command).unwrap().iter().map(cells).collect();
        if read.kept.unwrap().order.is_empty() {
            rows.sort();
        }
        rows
    };
    let term = |column: usize, value: &Value| Term {
        name: String::new(),
        value: Some(value.clone()),
        column: Some(column),
    };
    for row in &rows {
        assert_eq!(found(vec![Known::Equal(term(1, &row[1]))], Vec::new()), [row.clone()]);
    }
    for row in rows.iter().filter(|row| !row[2].is_null()) {
        for (inclusive, low) in [(true, true), (true, false), (false, true), (false, false)] {
            let side = Some((term(2, &row[2]), inclusive));
            let (low_side, high_side) = if low { (side, None) } else { (None, side) };
            let bounds = Bounds { column: 2, low: low_side, high: high_side, prefix: None };
            let expected = rows.iter().filter(|other| {
                let within = if low { other[2] > row[2] } else { other[2] < row[2] };
                !other[2].is_null() && (within || (inclusive && other[2] == row[2]))
            });
            let expected: Vec<Vec<Value>> = expected.cloned().collect();
            assert_eq!(found(vec![Known::Between(bounds)], Vec::new()), expected);
        }
    }
    let mut sorted = rows.clone();
    sorted.sort_by(|a, b| b[2].cmp(&a[2]).then(a[1].cmp(&b[1])));
    assert_eq!(found(Vec::new(), vec![(2, true), (1, false)]), sorted);
}
