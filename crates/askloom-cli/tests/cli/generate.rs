//! What `generate` refuses, and what it writes into a folder.

use crate::project::{Project, Ran};

fn game() -> Project {
    let project = Project::new();
    project.run(&["new", ".", "--example", "game"]).exits(0);
    project
}

/// With these parameters.
fn given(params: &str) -> Ran {
    let project = game().with("params.json", params);
    project.run(&["generate", "game.loom", "--target", "redis", "--params", "params.json"])
}

#[track_caller]
fn refused(params: &str, code: i32, says: &[&str]) {
    let mut ran = given(params).exits(code);
    assert_eq!(ran.stdout, "");
    for part in says {
        ran = ran.says(part);
    }
    assert_eq!(ran.stderr.lines().filter(|line| line.starts_with("error")).count(), 1, "{}", ran.stderr);
}

#[test]
fn parameters_that_are_no_json_are_told_where() {
    refused("{\"lobby\": {}", 1, &["params.json: ", "line 1 column 12"]);
    refused("", 1, &["params.json: "]);
    refused("[]", 1, &["params.json: it takes an object with a statement's name for each key"]);
    let project = game();
    let args = ["generate", "game.loom", "--target", "redis", "--params", "none.json"];
    project.run(&args).exits(1).says("none.json: cannot be read");
}

#[test]
fn an_unknown_statement_names_the_nearest() {
    refused(r#"{"loby": {}}"#, 2, &["loby", "did you mean `lobby`?"]);
    refused(r#"{"zzz": {}}"#, 2, &["zzz", "lobby"]);
}

#[test]
fn an_unknown_parameter_names_those_that_there_are() {
    refused(r#"{"continueGame": {"game": 1}}"#, 1, &["params.json: continueGame: ", "`game`", "gameId"]);
    refused(r#"{"lobby": {"x": 1}}"#, 1, &["params.json: lobby: ", "`x`"]);
}

#[test]
fn a_value_of_the_wrong_type_is_told_what_is_wanted() {
    refused(r#"{"continueGame": {"gameId": 7}}"#, 1, &["params.json: continueGame: ", "gameId", "uuid"]);
    refused(r#"{"continueGame": {"gameId": "seven"}}"#, 1, &["params.json: continueGame: ", "gameId"]);
    refused(r#"{"continueGame": 7}"#, 1, &["params.json: continueGame: "]);
    refused(
        r#"{"setScore": {"username": "mary", "score": "many"}}"#,
        1,
        &["params.json: setScore: ", "score"],
    );
}

/// Everything that a write needs but its parameters is named, with how to give it.
#[test]
fn what_was_read_before_a_write_is_asked_for() {
    let score = r#""username": "mary", "score": 7"#;
    refused(
        &format!(r#"{{"setScore": {{{score}}}}}"#),
        1,
        &["params.json: setScore: `$version` is missing", "that was read of Player, a number, or null"],
    );
    refused(
        &format!(r#"{{"setScore": {{{score}, "$version": "x"}}}}"#),
        1,
        &["setScore: `$version` is the "],
    );
    refused(
        &format!(r#"{{"setScore": {{{score}, "$version": {{"Game": 3}}}}}}"#),
        1,
        &["it goes by 0 of `Game`"],
    );
    refused(&format!(r#"{{"setScore": {{{score}, "$stamp": -1}}}}"#), 1, &["`$stamp` is a number"]);
    refused(&format!(r#"{{"setScore": {{{score}, "$expires": 1}}}}"#), 1, &["`$expires` is when"]);
    refused(&format!(r#"{{"setScore": {{{score}, "$epoch": 1}}}}"#), 1, &["there is no `$epoch`"]);
    refused(r#"{"lobby": {"$version": 3}}"#, 1, &["`$version` is for writes"]);
    for (version, says) in [("3", "if 1 3 next 1"), (r#"{"Player": 3}"#, "if 1 3 "), ("null", "if 1 \"\" ")] {
        let ran = given(&format!(r#"{{"setScore": {{{score}, "$version": {version}}}}}"#)).exits(0);
        assert!(ran.stdout.contains(says), "{}", ran.stdout);
    }
    let project = game().with(
        "params.json",
        r#"{"joinGame": {"gameId": "2fa740e6-1f12-42f3-9d59-d7aab6ca0680", "player": "mary", "$version": 3}}"#,
    );
    let words = ["generate", "game.loom", "--target", "cassandra", "--params", "params.json"];
    project
        .run(&words)
        .exits(1)
        .says("params.json: joinGame: `$stamp` is missing")
        .says("clock in microseconds");
}

/// The store takes away what has expired, so a sample starts now.
#[test]
fn what_expires_in_a_sample_does_so_after_now() {
    let project = Project::new();
    project.run(&["new", ".", "--example", "shop"]).exits(0);
    let before = jiff::Timestamp::now();
    let ran = project.run(&["generate", "shop.loom", "--target", "mongodb", "--sample"]).exits(0);
    let times: Vec<jiff::Timestamp> = ran
        .stdout
        .lines()
        .filter_map(|line| line.trim().strip_prefix("expires: ISODate('")?.split('\'').next()?.parse().ok())
        .collect();
    assert!(!times.is_empty() && times.iter().all(|at| *at > before), "{times:?}");
}

#[test]
fn the_embedded_store_has_no_language() {
    let project = game();
    for words in [&["--target", "embedded"][..], &[]] {
        let ran = project.run(&[&["generate", "game.loom"], words].concat()).exits(2);
        assert_eq!(ran.stdout, "");
        ran.says("has no language of its own").says("askloom apply").says("--target");
    }
    project
        .run(&["generate", "game.loom", "--target", "mysql"])
        .exits(2)
        .says("no store `mysql`")
        .says("redis");
}

#[test]
fn what_was_made_before_is_made_anew() {
    let project = game().with("out/notes.txt", "mine");
    let args = ["generate", "game.loom", "--target", "cassandra", "-o", "out"];
    project.run(&args).exits(0).says("wrote out");
    let first = project.read("out/README.md");
    let args = ["generate", "game.loom", "--target", "cassandra", "-o", "out", "--prefix", "app_"];
    project.run(&args).exits(0);
    assert!(project.read("out/schema.cql").contains("app_"));
    assert_eq!((project.read("out/README.md"), project.read("out/notes.txt")), (first, "mine".to_owned()));
}

#[test]
fn what_is_somebody_elses_is_not_replaced() {
    for (name, content) in [("README.md", "# My project\n"), ("schema.cql", "-- mine\n")] {
        let project = game().with(&format!("out/{name}"), content);
        let args = ["generate", "game.loom", "--target", "cassandra", "-o", "out"];
        project.run(&args).exits(2).says(name).says("-o takes another folder");
        assert_eq!(project.read(&format!("out/{name}")), content);
        let other = if name == "README.md" { "schema.cql" } else { "README.md" };
        assert!(!project.exists(&format!("out/{other}")));
    }
    // A file where a folder should be.
    let project = game().with("out", "mine");
    project.run(&["generate", "game.loom", "--target", "cassandra", "-o", "out"]).exits(1).says("out");
    assert_eq!(project.read("out"), "mine");
}

#[test]
fn the_readme_names_every_file_and_how_to_run_it() {
    for (target, title, run) in [
        ("dynamodb", "DynamoDB", "`sh schema.sh`"),
        ("cassandra", "Cassandra", "`cqlsh -k KEYSPACE -f schema.cql`"),
    ] {
        let project = game();
        project.run(&["generate", "game.loom", "--target", target, "--sample", "-o", "out"]).exits(0);
        let readme = project.read("out/README.md");
        let heading =
            format!("# game.loom on {title}\n\nMade by `askloom generate game.loom --target {target}`");
        assert!(readme.starts_with(&heading), "{readme}");
        assert!(readme.contains(run), "{readme}");
        let files: Vec<String> = std::fs::read_dir(project.path("out"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "README.md")
            .collect();
        assert!(files.len() >= 3, "{files:?}");
        for file in files {
            assert!(readme.contains(&format!("| `{file}` | ")), "{file}: {readme}");
        }
    }
}

/// The block of a statement in what is printed for a store.
fn block(model: &str, target: &str, statement: &str) -> String {
    let project = Project::new().with("m.loom", model);
    let text = project.run(&["generate", "m.loom", "--target", target]).exits(0).stdout;
    let (_, rest) = text.split_once(statement).unwrap();
    let end = rest.find("query ").or_else(|| rest.find("write ")).unwrap_or(rest.len());
    rest[..end].to_owned()
}

#[test]
fn every_bucket_is_read_and_the_limit_is_of_all_of_them() {
    let model = "@count(20_000_000) entity Note { id noteId: uuid, at: timestamp }\n\
                 @rate(50/s) query latest: SELECT noteId, at FROM Note ORDER BY at DESC LIMIT 10\n\
                 @rate(20/s) write add: INSERT Note";
    let latest = block(model, "cassandra", "query latest");
    assert!(latest.contains("for each :bucket from 0 to "), "{latest}");
    assert!(latest.contains("WHERE bucket = :bucket ORDER BY at DESC, note_id DESC LIMIT 10;"), "{latest}");
    assert!(latest.contains("on the client: ") && latest.contains("sort, limit"), "{latest}");
    assert_eq!(latest.matches("SELECT bucket").count(), 1, "{latest}");
}

#[test]
fn rows_that_may_not_count_are_not_limited_by_the_store() {
    let model = |ttl: &str| {
        format!(
            "@count(1_000_000) {ttl} entity Item {{ id n: int, maker: text @distinct(1000), price: int }}\n\
             @count(500_000) entity Book extends Item {{ title: text }}\n\
             @rate(900/s) query items: SELECT n, price FROM Item WHERE maker = :maker ORDER BY price DESC LIMIT 5\n\
             @rate(1/h) query books: SELECT n, price FROM Book WHERE maker = :maker ORDER BY price DESC LIMIT 5\n\
             @rate(100/s) write add: INSERT Book"
        )
    };
    let items = block(&model(""), "mongodb", "query items");
    assert!(items.contains(".limit(5)"), "{items}");
    // Books are asked for too rarely to have a copy of their own. Some items may be no books, and some may be gone.
    let books = block(&model(""), "mongodb", "query books");
    assert!(!books.contains(".limit(5)") && books.contains("filter, limit"), "{books}");
    let expiring = block(&model("@ttl(1 days)"), "mongodb", "query items");
    assert!(!expiring.contains(".limit(5)") && expiring.contains("limit"), "{expiring}");
}
