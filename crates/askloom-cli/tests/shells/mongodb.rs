//! mongosh on MongoDB.

use crate::harness::{Shell, every_example};
use crate::server::{self, Session};
use askloom_target::generate::{Options, Sample};
use askloom_target::layout::Layout;
use askloom_target::mongodb::{Bson, collections, decode, find};
use askloom_target::program::Read;
use serde_json::Value as Json;
use std::path::PathBuf;

struct Mongosh {
    session: Session,
    file: PathBuf,
}

const MARK: &str = "askloom-mark";
const FAILED: &str = "askloom-failed";

impl Mongosh {
    fn start() -> Self {
        server::up("mongodb");
        let session = Session::start(&server::shell("mongodb"), &[]);
        let file = std::env::temp_dir().join(format!("askloom-mongosh-{}.js", std::process::id()));
        Self { session, file }
    }

    /// Runs a file, as `mongosh URL FILE` does, and gives what it prints.
    fn load(&mut self, text: &str) -> Result<String, String> {
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
        Options::default()
    }

    fn run(&mut self, text: &str) -> Result<(), String> {
        self.load(text).map(|_| ())
    }

    fn read(&mut self, layout: &Layout<'_>, read: &Read) -> Result<Vec<Sample>, String> {
        let all = collections(layout, &Options::default());
        let text = find(layout, &all, read).ok_or("no such collection")?.text();
        // The same statement; EJSON only says how the documents are shown.
        let text = text.trim_end_matches(';');
        let shown =
            self.load(&format!("print('\\n' + EJSON.stringify(({text}).toArray(), {{ relaxed: false }}))"))?;
        let line =
            shown.lines().find(|line| line.starts_with('[')).ok_or_else(|| format!("no answer: {shown}"))?;
        let found: Vec<Json> = serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
        let of = all.iter().find(|of| of.collection == read.table).unwrap();
        let record = |json: &Json| match Bson::from_extended(json) {
            Ok(Bson::Document(document)) => decode(layout, of, &document).map_err(|error| error.0),
            other => Err(format!("{other:?}")),
        };
        found.iter().map(record).collect()
    }
}

#[test]
#[ignore = "slow"]
fn every_example_runs_in_mongosh() {
    every_example(&mut Mongosh::start());
}
