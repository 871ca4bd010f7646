//! redis-cli on Redis: one node without and with search, and a cluster.

use crate::files::{Folder, Follow, some_examples};
use crate::harness::{Shell, every_example};
use crate::peculiar::{names, texts};
use crate::server::{self, Session};
use askloom_design::method::Method;
use askloom_plan::layout::Layout;
use askloom_plan::program::Read;
use askloom_target::generate::{Options, Sample};
use askloom_target::redis::{Arg, Command, Flavour, Hash, read_command, tables};
use serde_json::Value as Json;
use std::io::Write;
use std::process::{Command as Process, Stdio};
use std::sync::{Condvar, Mutex, PoisonError};

pub(crate) struct RedisCli {
    flavour: Flavour,
    /// The command line, without what it is to do.
    line: Vec<String>,
    session: Session,
    /// A shell for each node that has keys of its own. Those of one node are in the session.
    masters: Vec<Session>,
    options: Options,
    searches: usize,
    /// Indexes are of one database, and a cluster has but one: what works there works alone.
    _alone: Option<Turn>,
}

static SEARCHING: Place = Place { taken: Mutex::new(false), left: Condvar::new() };
static CLUSTER: Place = Place { taken: Mutex::new(false), left: Condvar::new() };

/// Where one shell works at a time.
struct Place {
    taken: Mutex<bool>,
    left: Condvar,
}

/// Until it is dropped, on whatever thread: the guard of a mutex would have to stay where it was made.
struct Turn(&'static Place);

impl Turn {
    fn wait(place: &'static Place) -> Self {
        let taken = place.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let free = place.left.wait_while(taken, |taken| *taken);
        *free.unwrap_or_else(PoisonError::into_inner) = true;
        Self(place)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.0.left.notify_one();
    }
}

/// As the shell shows it.
const MARK: &str = "\"askloom-mark\"";

impl RedisCli {
    pub(crate) fn start(flavour: Flavour) -> Self {
        // Indexes are of the first database; what has none goes elsewhere.
        Self::start_in(flavour, if flavour == Flavour::Plain { "1" } else { "0" })
    }

    pub(crate) fn start_in(flavour: Flavour, database: &str) -> Self {
        let name = match flavour {
            Flavour::Plain | Flavour::Search => "redis",
            Flavour::Cluster => "redis-cluster",
        };
        let alone = match flavour {
            Flavour::Plain => None,
            Flavour::Search => Some(&SEARCHING),
            Flavour::Cluster => Some(&CLUSTER),
        };
        let _alone = alone.map(Turn::wait);
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

    /// Takes away what is in the database. FLUSHDB of any database would drop the indexes of the first one as well, and
    /// another test may be searching there.
    pub(crate) fn empty(&mut self) {
        const KEYS: &str =
            "EVAL \"for _, key in ipairs(redis.call('KEYS', '*')) do redis.call('DEL', key) end\" 0";
        if self.flavour == Flavour::Cluster {
            return self.everywhere(&["FLUSHALL"]).unwrap();
        }
        if self.flavour == Flavour::Search {
            let indexes = json(&self.send("FT._LIST").unwrap()).unwrap();
            for index in indexes.as_array().unwrap() {
                let command = Command { args: vec![Arg::known("FT.DROPINDEX"), Arg::known(text(index))] };
                self.send(&command.text()).unwrap();
            }
        }
        self.send(KEYS).unwrap();
    }

    pub(crate) fn send(&mut self, text: &str) -> Result<String, String> {
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

    pub(crate) fn found(&mut self, command: &Command) -> Result<Vec<Hash>, String> {
        let printed = command.text();
        if printed.starts_with("FCALL_RO askloom_page") {
            return self.pages(command);
        }
        let reply = json(&self.send(&printed)?)?;
        self.searches += usize::from(printed.starts_with("FT."));
        Ok(hashes(&printed, &reply))
    }

    /// The records in some hashes.
    pub(crate) fn decoded(
        &self,
        layout: &Layout,
        read: &Read,
        hashes: &[Hash],
    ) -> Result<Vec<Sample>, String> {
        let tables = tables(layout, self.flavour, &self.options.prefix);
        let table = tables.iter().find(|table| table.collection == read.table).unwrap();
        let mut all = Vec::new();
        for hash in hashes {
            all.extend(table.record(layout, hash).map_err(|error| format!("{error:?}: {hash:?}"))?);
        }
        Ok(all)
    }
}

/// What a command found, by its reply.
pub(crate) fn hashes(command: &str, reply: &Json) -> Vec<Hash> {
    match command.split(' ').next().unwrap() {
        "HGETALL" => vec![hash(reply)],
        "FT.SEARCH" | "FT.AGGREGATE" => {
            assert_eq!(reply["warning"], Json::Array(Vec::new()), "{command}");
            let rows = reply["results"].as_array().unwrap().iter();
            rows.map(|row| hash(&row["extra_attributes"])).collect()
        }
        _range => reply.as_array().unwrap().iter().map(hash).collect(),
    }
}

fn open(line: &[String]) -> Session {
    Session::start(&[line, &["--quoted-json".to_owned()]].concat(), &[])
}

fn send(session: &mut Session, text: &str) -> Result<String, String> {
    let printed = session.send(&format!("{text}\nECHO askloom-mark\n"), MARK)?;
    let wrong = printed.lines().find(|line| line.starts_with("error:") || line.starts_with("Invalid"));
    match wrong {
        Some(line) => Err(format!("{line}\n{}", text.chars().take(600).collect::<String>())),
        None => Ok(printed),
    }
}

/// The last answer that was printed.
pub(crate) fn json(printed: &str) -> Result<Json, String> {
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
        self.empty();
        // Nothing in a prefix means more than it says. A change of a key in one database takes what has the same name in
        // the first one out of its index, so that each kind has names of its own.
        self.options = Options { prefix: format!("{name}*[a-\\]?{}:", self.target()), ..Options::default() };
        self.options.clone()
    }

    fn run(&mut self, text: &str) -> Result<(), String> {
        match (text.starts_with("#!lua"), self.flavour) {
            (true, Flavour::Plain | Flavour::Search) => {
                self.once(&["-x", "FUNCTION", "LOAD", "REPLACE"], text)
            }
            (true, Flavour::Cluster) => self.everywhere(&["FUNCTION", "LOAD", "REPLACE", text]),
            // What is said about a command is no command.
            (false, _) => {
                let commands: Vec<&str> = text.lines().filter(|line| !line.starts_with("# ")).collect();
                self.send(&commands.join("\n")).map(|_| ())
            }
        }
    }

    fn read(&mut self, layout: &Layout, read: &Read) -> Result<Vec<Sample>, String> {
        let tables = tables(layout, self.flavour, &self.options.prefix);
        let command = read_command(&tables, read).ok_or("no such table")?;
        let found = self.found(&command)?;
        self.decoded(layout, read, &found)
    }
}

impl Follow for RedisCli {
    fn programs(&self) -> Vec<(&'static str, Vec<String>)> {
        vec![("redis-cli", [self.line.as_slice(), &["--quoted-json".to_owned()]].concat())]
    }

    /// All at once, by the line that the README has for it.
    fn paste(&mut self, folder: &Folder, file: &str, blocks: &[&str]) -> Vec<String> {
        let readme = folder.text("README.md");
        let (_, rest) = readme.split_once("or run `").unwrap();
        let (command, _) = rest.split_once("`.").unwrap();
        assert!(command.contains(file), "{command}");
        let printed = folder.sh(command).unwrap();
        let mut replies = printed.lines();
        let of = |block: &&str| {
            let count = commands(block).count();
            replies.by_ref().take(count).collect::<Vec<_>>().join("\n")
        };
        let all = blocks.iter().map(of).collect();
        assert_eq!(replies.next(), None, "{printed}");
        all
    }

    fn shown(
        &mut self,
        layout: &Layout,
        read: &Read,
        block: &str,
        shown: &str,
    ) -> Result<Vec<Sample>, String> {
        let command = commands(block).next().unwrap();
        let reply = json(shown.lines().next().ok_or("no reply")?)?;
        self.decoded(layout, read, &hashes(command, &reply))
    }
}

/// What redis-cli is to do: a line each.
fn commands(block: &str) -> impl Iterator<Item = &str> {
    block.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

#[test]
#[ignore = "slow"]
fn the_files_of_redis_run_as_the_readme_says() {
    some_examples(&mut RedisCli::start_in(Flavour::Plain, "11"));
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
    println!("searched {} times", shell.searches);
    assert!(shell.searches > 30, "{}", shell.searches);
}

#[test]
#[ignore = "slow"]
fn every_example_runs_in_a_cluster() {
    every_example(&mut RedisCli::start(Flavour::Cluster));
}

#[test]
#[ignore = "slow"]
fn no_text_means_more_than_it_says_in_redis_cli() {
    texts(&mut RedisCli::start_in(Flavour::Plain, "9"), Method::Qodm);
    texts(&mut RedisCli::start(Flavour::Cluster), Method::Qodm);
    // What KVMod makes is searched.
    let mut shell = RedisCli::start(Flavour::Search);
    texts(&mut shell, Method::Kvmod);
    assert!(shell.searches > 90, "{}", shell.searches);
}

#[test]
#[ignore = "slow"]
fn any_name_is_a_name_in_redis_cli() {
    names(&mut RedisCli::start_in(Flavour::Plain, "10"));
    names(&mut RedisCli::start(Flavour::Search));
    names(&mut RedisCli::start(Flavour::Cluster));
}
