//! Data in and data out, with the built program.

use crate::project::{Project, repository};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime};

const NOW: &str = "--now=2026-06-01T00:00:00Z";

const MODEL: &str = "\
entity Player {
  id username: text
  unique email: text?
  score: int = 0
  level: enum(low, high) = low
  born: date?
  ref coach: Player?
  checked ref club: Club? on delete refuse
  part prizes: Prize[*]
  ref rivals: Player[0..2]
}
entity Club { id code: text, checked ref above: Club? on delete refuse }
value Prize { title: text, year: int? }
query byScore: SELECT username, coach.score AS theirs FROM Player WHERE score = :score ORDER BY coach.score DESC
";

fn project() -> Project {
    let project = Project::new().with("m.loom", MODEL);
    project.run(&["apply", "m.loom", "--store", "file:s"]).exits(0);
    project
}

/// The files of a folder, by name.
fn files(folder: &Path) -> BTreeMap<String, String> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap())
        })
        .collect()
}

#[test]
fn examples_go_in_and_out_and_in_again() {
    for name in ["game", "noam-game", "shop"] {
        let model = repository().join(format!("examples/{name}/{name}.loom"));
        let data = repository().join(format!("examples/{name}/data"));
        let (model, data) = (model.to_str().unwrap(), data.to_str().unwrap());
        let project = Project::new();
        for format in ["jsonl", "csv"] {
            let (first, second) = (format!("file:first-{format}"), format!("file:second-{format}"));
            for store in [&first, &second] {
                project.run(&["apply", model, "--store", store]).exits(0);
            }
            project.run(&["load", model, data, "--store", &first]).exits(0);
            let export = |store: &str, to: &str, format: &str| {
                project.run(&["export", model, "--store", store, "-o", to, "--format", format]).exits(0);
                files(&project.path(to))
            };
            let out = export(&first, &format!("out-{format}"), format);
            let lines: usize = out.values().map(|text| text.lines().count()).sum();
            assert!(lines > 2, "{out:?}");
            project.run(&["load", model, &format!("out-{format}"), "--store", &second]).exits(0);
            // Compared as JSON lines, which can say everything.
            let before = export(&first, &format!("before-{format}"), "jsonl");
            assert_eq!(export(&second, &format!("after-{format}"), "jsonl"), before);
        }
    }
}

#[test]
fn every_row_that_cannot_be_loaded_is_named() {
    let rows = [
        r#"{"username": "ada", "email": "a@x", "club": "X"}"#,
        r#"{"username": "ben", "score": "many"}"#,
        r#"{"username": "cy", "score": 3000000000}"#,
        r#"{"score": 1}"#,
        r#"{"username": "dan", "colour": "red"}"#,
        r#"{"username": "ada"}"#,
        r#"{"username": "eve", "email": "a@x"}"#,
        r#"{"username": "fay", "club": "nowhere"}"#,
        r#"{"username": "gil", "coach": "nobody"}"#,
        r#"{"username": "hal", "level": "middle"}"#,
        r#"{"username": "ida", "prizes": [{"title": "x"}, {"year": 1}]}"#,
        r#"{"username": "jo", "rivals": ["a", "b", "c"]}"#,
        r#"{"username": "kim", "born": "2026-02-30"}"#,
        r#"{"username": "lou""#,
        r#"["mia"]"#,
        r#"{"username": null}"#,
        "",
        r#"{"username": "nat", "score": null}"#,
        r#"{"username": "oda"}"#,
    ];
    let mut text = rows.join("\r\n").into_bytes();
    text.extend(b"\n{\"username\": \"\xff\"}\n");
    text.extend(format!("{{\"username\": \"{}\"}}\n", "p".repeat(70_000)).into_bytes());
    // A club may refer to one that comes later; the last ones to each other, which can never be.
    let clubs = "{\"code\":\"A\",\"above\":\"X\"}\n{\"code\":\"X\",\"above\":\"Z\"}\n{\"code\":\"Z\"}\n\
                 {\"code\":\"P\",\"above\":\"Q\"}\n{\"code\":\"Q\",\"above\":\"P\"}\n";
    let project = project().with("data/Player.jsonl", text).with("data/clubs.jsonl", clubs);
    let load = ["load", "m.loom", "data", "--store", "file:s", NOW];
    let dry = project.run(&["load", "m.loom", "data", "--store", "file:s", "--dry-run"]).exits(1);
    assert!(dry.stdout.contains("in all: 25 read, 6 would be loaded, 19 rejected"), "{}", dry.stdout);
    let ran = project.run(&load).exits(1);
    for line in [
        "data/Player.jsonl:2: score: \"many\" is not of type int",
        "data/Player.jsonl:3: score: `3000000000` is not of type int",
        "data/Player.jsonl:4: username: is missing",
        "data/Player.jsonl:5: colour: Player has no such field",
        "data/Player.jsonl:6: an instance with this id exists already",
        "data/Player.jsonl:7: email: the value of `Player.email` is taken",
        "data/Player.jsonl:8: club: `Player.club` is checked, and refers to nothing",
        "data/Player.jsonl:9: coach: refers to nothing; loaded all the same",
        "data/Player.jsonl:10: level: `middle` is not one of low, high",
        "data/Player.jsonl:11: prizes[1].title: is missing",
        "data/Player.jsonl:12: rivals: has 3 elements, and may have 2",
        "data/Player.jsonl:13: born: `2026-02-30` is not of type date",
        "data/Player.jsonl:14: column 18 is not JSON: EOF while parsing an object",
        "data/Player.jsonl:15: [\"mia\"] is not an object, and a Player is one",
        "data/Player.jsonl:16: username: must have a value, and here is null",
        "data/Player.jsonl:18: score: must have a value, and here is null",
        "data/Player.jsonl:20: byte 15 is not UTF-8",
        "data/Player.jsonl:21: a key has ",
        "data/clubs.jsonl:4: above: `Club.above` is checked, and refers to nothing",
        "data/clubs.jsonl:5: above: `Club.above` is checked, and refers to nothing",
    ] {
        assert!(ran.stderr.contains(line), "no {line:?} in\n{}", ran.stderr);
    }
    assert_eq!(ran.stderr.matches("data/").count(), 20, "{}", ran.stderr);
    assert_eq!(
        ran.stdout,
        "data/clubs.jsonl: 5 read, 3 loaded, 2 rejected\n\
         data/Player.jsonl: 20 read, 3 loaded, 17 rejected\n\
         in all: 25 read, 6 loaded, 19 rejected\n"
    );
    // What was loaded is there, and a second run has nothing to do.
    project.run(&["export", "m.loom", "--store", "file:s"]).exits(0).prints("Player.jsonl: 3 instances");
    project.run(&load).exits(1).prints("Player.jsonl: 20 read (20 by an earlier run), 3 loaded, 17 rejected");
    let again = project.run(&["load", "m.loom", "data", "--store", "file:s", "--restart"]).exits(1);
    assert!(again.stdout.contains("in all: 25 read, 0 loaded, 25 rejected"), "{}", again.stdout);
}

#[test]
fn strict_stops_at_the_first() {
    let project =
        project().with("Player.jsonl", "{\"username\":\"a\"}\n{\"username\":\"a\"}\n{\"username\":\"b\"}\n");
    let strict = ["load", "m.loom", "Player.jsonl", "--store", "file:s", "--strict"];
    project.run(&strict).exits(1).says("Player.jsonl:2: an instance").prints("1 read, 1 loaded");
    // Mended, it goes on.
    let project =
        project.with("Player.jsonl", "{\"username\":\"a\"}\n{\"username\":\"c\"}\n{\"username\":\"b\"}\n");
    project.run(&strict).exits(1).says("is another file than the one that was loaded up to line 1");
    let ran = project.run(&["load", "m.loom", "Player.jsonl", "--store", "file:s", "--restart"]).exits(1);
    assert!(ran.stdout.contains("3 read, 2 loaded, 1 rejected"), "{}", ran.stdout);
}

#[test]
fn rows_that_are_added_to_a_file_are_loaded() {
    let project = project().with("Player.jsonl", "{\"username\":\"a\"}\n");
    let load = ["load", "m.loom", "Player.jsonl", "--store", "file:s"];
    project.run(&load).exits(0).prints("1 read, 1 loaded");
    let project = project.with("Player.jsonl", "{\"username\":\"a\"}\n{\"username\":\"b\"}\n");
    project.run(&load).exits(0).says("goes on after line 1").prints("2 read (1 by an earlier run), 2 loaded");
}

#[test]
fn calls_that_are_wrong() {
    let project = project().with("Planet.jsonl", "").with("Player.txt", "").with("empty/.keep", "");
    let load = |data: &str| project.run(&["load", "m.loom", data, "--store", "file:s"]);
    load("Planet.jsonl").exits(2).says("is named after no entity; there are Player, Club");
    load("Player.txt").exits(2).says("ends in neither .jsonl nor .csv");
    load("empty").exits(2).says("there are no data files here");
    load("Player.jsonl").exits(1).says("no such file");
    project.run(&["load", "m.loom", "Planet.jsonl", "--store", "file:other"]).exits(2);
    project.run(&["export", "m.loom", "--store", "file:s", "--entity", "Planet"]).exits(2).says("no entity");
}

#[test]
fn csv_goes_in() {
    let text =
        "username,score,prizes,club\r\nada,5,\"[{\"\"title\"\":\n\"\"a\"\"}]\",\r\nben,x,,\r\ncy,,,C\r\n";
    let project = project().with("players.csv", text).with("Club.csv", "code\nC\n");
    let ran = project.run(&["load", "m.loom", "players.csv", "Club.csv", "--store", "file:s", "-q"]).exits(1);
    assert_eq!(ran.stderr, "players.csv:4: score: \"x\" is not of type int\n");
    assert!(ran.stdout.contains("players.csv: 3 read, 2 loaded, 1 rejected"), "{}", ran.stdout);
    project.run(&["run", "m.loom", "byScore", "score=0", "--store", "file:s"]).exits(0).prints("cy");
}

/// When files in a folder were written last.
fn written(folder: &Path) -> Vec<SystemTime> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.metadata().ok()?.modified().ok()).collect()
}

/// Killed again and again, each time after a little more was written, then left alone: nothing is lost or doubled.
#[test]
#[ignore = "slow"]
fn a_load_that_is_killed_goes_on() {
    let mut text = String::new();
    for number in 0..60_000 {
        let coach = (number * 7919) % 60_000;
        let pad = "x".repeat(150);
        writeln!(text, "{{\"username\":\"u{number:05}\",\"score\":{},\"email\":\"{number}{pad}\",\"coach\":\"u{coach:05}\"}}", number % 100).unwrap();
        if number % 5000 == 7 {
            writeln!(text, "{{\"username\":\"u{number:05}\"}}").unwrap();
        }
    }
    let project = project().with("Player.jsonl", text);
    project.run(&["apply", "m.loom", "--store", "file:whole"]).exits(0);
    let whole = project.run(&["load", "m.loom", "Player.jsonl", "--store", "file:whole", NOW]).exits(1);
    assert!(whole.stdout.contains("60012 read, 60000 loaded, 12 rejected"), "{}", whole.stdout);
    let mut kills = 0;
    for writes in [1, 2, 3] {
        let mut child = project
            .command(&["load", "m.loom", "Player.jsonl", "--store", "file:s", NOW])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let folder = project.path("s");
        let (mut before, mut seen, began) = (written(&folder), 0, Instant::now());
        while seen <= writes
            && child.try_wait().unwrap().is_none()
            && began.elapsed() < Duration::from_secs(60)
        {
            let now = written(&folder);
            seen += u32::from(now != before);
            before = now;
            std::thread::sleep(Duration::from_millis(2));
        }
        kills += u32::from(child.try_wait().unwrap().is_none());
        let _ = child.kill();
        child.wait().unwrap();
    }
    assert!(kills > 0, "it was always done before it could be killed");
    let resumed = project.run(&["load", "m.loom", "Player.jsonl", "--store", "file:s", NOW]).exits(1);
    assert!(resumed.stdout.contains("60012 read"), "{}", resumed.stdout);
    assert!(resumed.stdout.contains("60000 loaded, 12 rejected"), "{}", resumed.stdout);
    for store in ["s", "whole"] {
        let store = format!("file:{store}");
        let out = store.replace("file:", "out-");
        project.run(&["export", "m.loom", "--store", &store, "-o", &out, NOW]).exits(0);
    }
    assert!(files(&project.path("out-s")) == files(&project.path("out-whole")), "the stores differ");
    for score in ["score=3", "score=77"] {
        let ask =
            |store: &str| project.run(&["run", "m.loom", "byScore", score, "--store", store]).exits(0).stdout;
        let rows = ask("file:s");
        assert!(rows.matches("u0").count() > 50, "{rows}");
        assert_eq!(rows, ask("file:whole"));
    }
}
