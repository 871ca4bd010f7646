use crate::project::Project;
use serde_json::Value;

const EXAMPLES: [&str; 6] = ["game", "noam-game", "airline", "inbox", "blog", "shop"];
const METHODS: [&str; 5] = ["cost", "noam", "qodm", "kvmod", "given"];

fn made(example: &str) -> Project {
    let project = Project::new();
    project.run(&["new", ".", "--example", example]).exits(0);
    project
}

fn game() -> Project {
    made("game")
}

/// The schema that the program prints.
struct Schema {
    schemas: boon::Schemas,
    design: boon::SchemaIndex,
}

impl Schema {
    fn printed() -> Self {
        let schema = Project::new().run(&["design", "--json-schema"]).exits(0).stdout;
        let schema: Value = serde_json::from_str(&schema).unwrap();
        let mut schemas = boon::Schemas::new();
        let mut compiler = boon::Compiler::new();
        compiler.add_resource("design.json", schema).unwrap();
        let design = compiler.compile("design.json", &mut schemas).unwrap();
        Self { schemas, design }
    }

    #[track_caller]
    fn describes(&self, document: &Value) {
        let wrong = self.schemas.validate(document, self.design).err().map(|error| format!("{error:#}"));
        assert_eq!(wrong, None, "{} by {}", document["model"], document["method"]);
    }
}

/// Lines that a terminal of 80 columns would break. A wide character has two.
fn wide(text: &str) -> Vec<&str> {
    text.lines().filter(|line| unicode_width::UnicodeWidthStr::width(*line) > 80).collect()
}

/// The document inside a page.
fn inside(page: &str) -> Value {
    let (_, after) = page.split_once("type=\"application/json\">").unwrap();
    serde_json::from_str(after.split_once("</script>").unwrap().0).unwrap()
}

/// Every example by every method: it fits a terminal, and the document is what its schema says.
#[test]
fn every_example_by_every_method() {
    let schema = Schema::printed();
    for example in EXAMPLES {
        let project = made(example);
        let file = format!("{example}.loom");
        for method in METHODS {
            let text = project.run(&["design", &file, "--method", method]).exits(0).stdout;
            assert!(text.contains("STATEMENT") && text.contains(&format!("by {method}: ")), "{text}");
            assert_eq!(wide(&text), [""; 0]);
            let json =
                project.run(&["design", &file, "--method", method, "--format", "json"]).exits(0).stdout;
            let document: Value = serde_json::from_str(&json).unwrap();
            schema.describes(&document);
            assert!(document["plans"].as_array().unwrap().iter().all(|plan| plan.get("missing").is_none()));
        }
    }
}

#[test]
fn a_design_is_saved_checked_and_used() {
    let project = game();
    project.run(&["design", "game.loom", "--check"]).exits(1).says("`askloom design --save` writes it");
    project.run(&["design", "game.loom", "--method", "qodm", "--save"]).exits(0).says("game.embedded.design");
    project.run(&["design", "game.loom", "--check"]).exits(0).says("answers all of game.loom").says("% less");
    project.run(&["explain", "game.loom", "lobby"]).exits(0).prints("from Lobby, by");
    let changed =
        std::fs::read_to_string(project.path("game.loom")).unwrap().replace("score: int", "points: int");
    let project = project.with("game.loom", changed.replace("score", "points"));
    project.run(&["design", "game.loom", "--check"]).exits(1).says("score");
}

#[test]
fn a_saved_design_is_of_one_store() {
    let project = game();
    project
        .run(&["design", "game.loom", "--target", "dynamodb", "--save"])
        .exits(0)
        .says("game.dynamodb.design");
    project.run(&["design", "game.loom", "--check"]).exits(1);
    project.run(&["design", "game.loom", "--target", "dynamodb", "--check"]).exits(0);
}

#[test]
fn pictures() {
    let project = game();
    let run = |format: &str| project.run(&["design", "game.loom", "--format", format]).exits(0).stdout;
    let mermaid = run("mermaid");
    assert!(mermaid.starts_with("classDiagram\n") && mermaid.contains("[\"Game\"]"), "{mermaid}");
    assert!(!mermaid.contains("[*]"), "a rule would be read as a method or a list\n{mermaid}");
    let dot = run("dot");
    assert!(dot.starts_with("digraph design {") && dot.contains("c1 -> c2;"), "{dot}");
    let svg = run("svg");
    assert!(svg.starts_with("<svg ") && svg.contains("LobbyView") && svg.trim_end().ends_with("</svg>"));
}

#[test]
fn what_the_papers_have() {
    let airline = made("airline");
    let kvmod = airline.run(&["design", "airline.loom", "--method", "kvmod", "--faithful"]).exits(0).stdout;
    assert!(kvmod.contains("Q3_passengersOfGivenFlight_id  numerical   K\n"), "{kvmod}");
    let never = ["--method", "kvmod", "--threshold", "100", "--faithful"];
    let apart = airline.run(&[&["design", "airline.loom"][..], &never].concat()).exits(0).stdout;
    assert_eq!(apart.matches("numerical").count(), kvmod.matches("numerical").count() + 1);
    let inbox = made("inbox");
    let qodm = inbox.run(&["design", "inbox.loom", "--method", "qodm", "--faithful"]).exits(0).stdout;
    assert!(qodm.contains("// Q1: index entity of <{Mailbox, Label}, {Message}>\n"), "{qodm}");
    let noam = game().run(&["design", "game.loom", "--method", "noam", "--faithful"]).exits(0).stdout;
    game().run(&["design", "game.loom", "--faithful"]).exits(2).says("say --method noam, qodm or kvmod");
    assert!(noam.contains("collection Game: a block for each gameId\n  /Game/*/rounds[*]\n"), "{noam}");
}

#[test]
fn all_methods_beside_each_other() {
    let shop = made("shop");
    let text = shop.run(&["compare", "shop.loom"]).exits(0).stdout;
    assert!(text.contains("given: takes the collections"), "{text}");
    let none = game().run(&["compare", "game.loom"]).exits(0).stdout;
    assert!(none.contains("given: left out, as the model declares no collection\n"), "{none}");
    assert_eq!(none.matches("given").count(), 1, "{none}");
    for part in ["noam", "qodm", "kvmod", "given", "put for a byte", "cheapest here", "productPage"] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let json = shop.run(&["compare", "shop.loom", "--format", "json", "--workload", "sale"]).exits(0).stdout;
    let comparison: Value = serde_json::from_str(&json).unwrap();
    let rate = |name: &str| {
        let statements = comparison["statements"].as_array().unwrap();
        statements.iter().find(|statement| statement["statement"] == name).unwrap()["rate"].as_f64()
    };
    assert_eq!((rate("productPage"), rate("categoryPage")), (Some(9000.0), Some(0.0)));
    shop.run(&["compare", "shop.loom", "--workload", "sail"]).exits(2).says("everyday, sale");
    shop.run(&["design", "shop.loom", "--target", "paper"]).exits(2).says("there is no store `paper`");
}

/// What a page adds is described, too, and every lit item is one of those that are shown.
#[test]
fn the_document_of_a_page() {
    let schema = Schema::printed();
    for example in EXAMPLES {
        let page =
            made(example).run(&["design", &format!("{example}.loom"), "--format", "html"]).exits(0).stdout;
        let document = inside(&page);
        schema.describes(&document);
        let shown = |name: &Value| {
            let all = document["collections"].as_array().unwrap();
            let found = all.iter().find(|collection| collection["name"] == *name).unwrap();
            found["sample"]["rows"].as_array().unwrap().len() as u64
        };
        let plans = document["plans"].as_array().unwrap();
        let steps = plans.iter().flat_map(|plan| plan["steps"].as_array().unwrap());
        let mut lit = 0;
        for step in steps.filter(|step| step.get("touches").is_some()) {
            let items = step["touches"]["items"].as_array().unwrap();
            assert!(items.iter().all(|at| at.as_u64().unwrap() < shown(&step["collection"])), "{step}");
            lit += items.len();
        }
        assert!(lit > plans.len() / 2, "{example}: {lit}");
    }
}

/// What was assumed and what to watch is told with the line that says, or would say, otherwise.
#[test]
fn notes_have_lines() {
    let model = "entity Note {\n  id noteId: int\n  body: text\n}\n\nquery all: SELECT body FROM Note\n\n\
                 query found: SELECT body FROM Note WHERE body > :least\n";
    let project = Project::new().with("notes.loom", model);
    let words = ["design", "notes.loom", "--method", "noam", "--format", "json"];
    let document: Value = serde_json::from_str(&project.run(&words).exits(0).stdout).unwrap();
    let lines = |key: &str, part: &str| -> Vec<(Option<u64>, String)> {
        let notes = document[key].as_array().unwrap().iter();
        let notes = notes.filter(|note| note["text"].as_str().unwrap().contains(part));
        notes.map(|note| (note["line"].as_u64(), note["file"].to_string())).collect()
    };
    let at = |line: u64| vec![(Some(line), "\"notes.loom\"".to_owned())];
    assert_eq!(lines("assumed", "Note.body"), at(3));
    assert_eq!(lines("assumed", " Note")[..1], at(1));
    assert_eq!(lines("assumed", "a comparison keeps"), at(8));
    assert_eq!(lines("assumed", "all once a second"), at(6));
    assert_eq!(lines("watch", "all: goes through everything"), at(6));
    let text = project.run(&["design", "notes.loom"]).exits(0).stdout;
    assert!(text.contains("all, found once a second"), "{text}");
}

#[test]
fn numbers_past_all_bounds_stay_numbers() {
    let model = format!(
        "@count(9_000_000_000_000_000_000)\nentity A {{\n  id a: int\n  part b: B[*] @avg(1e300)\n}}\n\
         value B {{ x: text @size(9000000 GB), y: text[*] @avg(1{zeros}) }}\n\
         @rate(1{zeros}/s)\nquery q: SELECT * FROM A WHERE a = :a\n\
         @rate(1{zeros}/s)\nquery r: SELECT b.x FROM A JOIN A.b AS b\n",
        zeros = "0".repeat(300)
    );
    let simple = format!(
        "@count(9_000_000_000_000_000_000)\nentity A {{\n  id a: int\n  b: text\n}}\n\
         @rate(1{zeros}/s)\nquery q: SELECT * FROM A WHERE a = :a\n\
         @rate(1{zeros}/s)\nquery r: SELECT b FROM A\n",
        zeros = "0".repeat(307)
    );
    let project = Project::new().with("huge.loom", model).with("simple.loom", simple);
    let schema = Schema::printed();
    for file in ["huge.loom", "simple.loom"] {
        let json = project.run(&["design", file, "--format", "json"]).exits(0).stdout;
        schema.describes(&serde_json::from_str(&json).unwrap());
        for command in [&["design", file][..], &["compare", file]] {
            let text = project.run(command).exits(0).stdout;
            assert!(!text.contains("inf") && !text.contains("NaN"), "{text}");
            assert_eq!(wide(&text), [""; 0]);
        }
        project.run(&["design", file]).exits(0).prints("past counting");
    }
}

#[test]
fn long_and_wide_names_fit_a_terminal() {
    let long = "a".repeat(150);
    let dice = "🎲".repeat(30);
    let model = format!(
        "@count(10)\nentity `{dice}` {{\n  id `{long}`: int\n  `日本語`: text\n}}\n\n\
         @rate(1/s)\nquery {long}: SELECT `日本語` FROM `{dice}` WHERE `日本語` = :x\n\n\
         @rate(1/s)\nwrite put_{long}: INSERT `{dice}`\n"
    );
    let project = Project::new().with("names.loom", model);
    for command in [
        &["design", "names.loom"][..],
        &["design", "names.loom", "--method", "kvmod"],
        &["compare", "names.loom"],
    ] {
        let text = project.run(command).exits(0).stdout;
        assert_eq!(wide(&text), [""; 0]);
    }
}

#[test]
fn a_threshold_is_for_kvmod() {
    let project = game();
    let with =
        |more: &[&str]| project.run(&[&["design", "game.loom", "--threshold", "50"][..], more].concat());
    with(&["--method", "kvmod"]).exits(0);
    let ran = with(&["--method", "noam"]).exits(2).says("--threshold is for kvmod, and noam has none");
    assert_eq!(ran.stdout, "");
    with(&[]).exits(0).says("--threshold does nothing here");
    assert!(!with(&["--format", "html"]).exits(0).stderr.contains("--threshold"));
}

const TIED: &str =
    "@count(100)\nentity A {\n  id a: int\n}\n\n@rate(1/s)\nquery one: SELECT * FROM A WHERE a = :a\n";

#[test]
fn ties_are_told_as_ties() {
    let text = Project::new().with("a.loom", TIED).run(&["compare", "a.loom"]).exits(0).stdout;
    assert_eq!(text.matches("cheapest here").count(), 1, "{text}");
    assert!(text.contains("as cheap as cost"), "{text}");
}

#[test]
fn a_copy_that_nobody_reads_is_told() {
    let model = "@count(100)\nentity A {\n  id a: int\n  b: int\n}\n\n\
                 @rate(1/s)\nquery one: SELECT a, b FROM A WHERE a = :a\n\n@rate(1/s)\nwrite put: INSERT A\n\n\
                 @rate(1/s)\nwrite set: UPDATE A SET b = :b WHERE a = :a\n\n\
                 collection Idle of A { key b }\n";
    let project = Project::new().with("a.loom", model);
    let text = project.run(&["design", "a.loom", "--method", "given"]).exits(0).stdout;
    assert!(text.contains("Idle: no statement reads it, and 2 writes keep it right"), "{text}");
    assert!(!text.contains("A: no statement"), "{text}");
}

#[test]
fn a_broken_saved_design_is_told_with_what_to_do() {
    let project = game();
    project.run(&["design", "game.loom", "--save"]).exits(0);
    let saved = project.read("game.embedded.design");
    let project = project.with("game.embedded.design", saved.replace("\"format\": 1", "\"format\": 7"));
    let ran = project.run(&["design", "game.loom", "--check"]).exits(1);
    ran.says("the format is `7`, and only 1 can be read").says("help: a later askloom wrote it");
    let project = project.with("game.embedded.design", saved.replace("\"cost\"", "\"naom\""));
    let ran = project.run(&["explain", "game.loom", "lobby"]).exits(1);
    ran.says("there is no method `naom`").says("help: name the one that made the design: cost");
}

/// Whatever a method makes can be saved and read again.
#[test]
#[ignore = "slow"]
fn every_design_can_be_saved() {
    for example in EXAMPLES {
        let project = made(example);
        let file = format!("{example}.loom");
        for method in METHODS {
            project.run(&["design", &file, "--method", method, "--save"]).exits(0);
            project.run(&["design", &file]).exits(0).says("this is the saved design");
        }
    }
}

#[test]
fn the_cheapest_design_is_as_it_is_wanted() {
    let project = game();
    let run = |words: &[&str]| project.run(&[&["design", "game.loom"], words].concat());
    let json = |words: &[&str]| -> Value {
        let text = run(&[words, &["--format", "json"]].concat()).exits(0).stdout;
        serde_json::from_str(&text).unwrap()
    };
    let names = |document: &Value| -> Vec<String> {
        let all = document["collections"].as_array().unwrap().iter();
        all.map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    let free = json(&[]);
    assert_eq!((&free["method"], &free["optimal"]["proven"]), (&Value::from("cost"), &Value::from(true)));
    assert!(names(&free).contains(&"LobbyView".to_owned()), "{:?}", names(&free));
    let without = json(&["--forbid", "LobbyView"]);
    assert!(!names(&without).contains(&"LobbyView".to_owned()));
    let cost = |document: &Value| document["optimal"]["cost"].as_f64().unwrap();
    assert!(cost(&without) > cost(&free));
    let pinned = json(&["--pin", "ContinueGameView"]);
    assert!(names(&pinned).contains(&"ContinueGameView".to_owned()) && cost(&pinned) > cost(&free));
    let few = json(&["--max-collections", "2"]);
    assert_eq!(names(&few), ["Player", "Game"]);
    let stored = free["total"]["storage"].as_f64().unwrap();
    let small = json(&["--storage", &format!("{:.0}", stored * 0.999)]);
    assert!(small["total"]["storage"].as_f64().unwrap() <= stored * 0.999 && cost(&small) > cost(&free));

    run(&["--storage", "1MB"]).exits(1).says("no design is that small: the smallest takes");
    run(&["--max-collections", "1"]).exits(1).says("2 are needed");
    run(&["--pin", "Nobody"]).exits(2).says("no candidate is called `Nobody`");
    run(&["--forbid", "Game"]).exits(2).says("`Game` is in every design");
    run(&["--method", "noam", "--pin", "LobbyView"]).exits(2).says("are for --method cost");
    run(&["--storage", "much"]).exits(2).says("a size is a number with B, KB, MB, GB or TB");
    run(&["--time-limit", "5"]).exits(2).says("a time has a unit");
    run(&["--time-limit", "5s"]).exits(0).prints("proven");
}

#[test]
fn every_point_of_the_shops_curve_is_proven() {
    let shop = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/shop/shop.loom");
    let curve = game().run(&["design", shop, "--pareto", "--format", "json"]).exits(0).stdout;
    let curve: Value = serde_json::from_str(&curve).unwrap();
    let points = curve.as_array().unwrap();
    assert!(points.len() > 5, "{curve}");
    for point in points {
        assert!(point["gap"].as_f64().unwrap() < 1e-6, "{point}");
    }
}

#[test]
fn a_choice_can_be_looked_into() {
    let project = game();
    let run = |words: &[&str]| project.run(&[&["design", "game.loom"], words].concat());
    run(&["--dump-lp", "game.lp"]).exits(0).says("the programme is in game.lp");
    let lp = project.read("game.lp");
    assert!(lp.contains("Minimize") && lp.contains("_LobbyView") && lp.ends_with("End\n"), "{lp}");
    let curve: Value = serde_json::from_str(&run(&["--pareto", "--format", "json"]).exits(0).stdout).unwrap();
    let points = curve.as_array().unwrap();
    let number = |point: &Value, name: &str| point[name].as_f64().unwrap();
    assert!(points.len() > 1);
    for pair in points.windows(2) {
        assert!(number(&pair[0], "storage") <= number(&pair[1], "storage"), "{curve}");
        assert!(number(&pair[0], "cost") >= number(&pair[1], "cost"), "{curve}");
    }
    run(&["--pareto"]).exits(0).prints("STORED").prints("*");
    assert!(run(&["--pareto", "--format", "svg"]).exits(0).stdout.starts_with("<svg "));
    run(&["--pareto", "--format", "dot"]).exits(2).says("human, json or svg");
    let text = run(&["--sensitivity"]).exits(0).stdout;
    assert!(text.contains("setScore") && text.contains("STATEMENT"), "{text}");
    let ranges: Value =
        serde_json::from_str(&run(&["--sensitivity", "--format", "json"]).exits(0).stdout).unwrap();
    for range in ranges.as_array().unwrap() {
        let rate = number(range, "rate");
        assert!(range["least"].as_f64().is_none_or(|least| least <= rate), "{range}");
        assert!(range["most"].as_f64().is_none_or(|most| most >= rate), "{range}");
        assert_eq!(range["proven"], true, "{range}");
    }
    // What there was no time for is not said to be so.
    run(&["--sensitivity", "--time-limit", "1ms"]).exits(0).prints("not proven");
    let late = run(&["--pareto", "--time-limit", "1ms", "--format", "json"]).exits(0).stdout;
    assert!(late.contains("\"gap\": 0.") && late.contains("\"too_hot\": 0"), "{late}");
    run(&["--storage", "1MB", "--time-limit", "1ms"]).exits(1).says("in the time; give --time-limit more");
}

#[test]
fn why_a_write_must_do_without_a_copy_is_told() {
    let project = Project::new().with(
        "m.loom",
        "@count(1_000_000) entity User { id k: uuid, mail: text, name: text }\n\
         @rate(500/s) query of: SELECT k, name FROM User WHERE mail = :mail\n\
         @rate(50/s) @latency(60 ms) write add: INSERT User\n",
    );
    let run = |words: &[&str]| project.run(&[&["design", "m.loom", "--target", "cassandra"], words].concat());
    let made = run(&[]).exits(0).stdout;
    let words = made.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = "not kept: rows by mail; it would serve of, but add would take longer than it may, though the \
                workload would cost";
    assert!(words.contains(told), "{made}");
    // What must be there leaves no design that is quick enough: it is the cheapest, and says so.
    let pinned = run(&["--pin", "OfView"]).exits(0).stdout;
    let words = pinned.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("add: no design is as quick as 60 ms wants it: it takes 1"), "{pinned}");
    let printed = project.run(&["generate", "m.loom", "--target", "cassandra"]).exits(0).stdout;
    assert!(printed.contains("USING 'sai'"), "{printed}");
}

/// Where a design has too many requests for one key, the curve says without what its points are the best.
#[test]
fn a_curve_says_what_heat_left_out() {
    let project = Project::new().with(
        "m.loom",
        "@count(1_000_000) entity Job { id k: int, state: enum(new, busy, done), at: timestamp, note: text @size(100 B) }\n\
         @rate(30_000/s) query next: SELECT k, at FROM Job WHERE state = :state ORDER BY at LIMIT 5\n\
         @rate(1/s) write add: INSERT Job\n",
    );
    let curve = project.run(&["design", "m.loom", "--target", "dynamodb", "--pareto"]).exits(0).stdout;
    assert!(curve.contains("proven, without") && curve.contains("too hot"), "{curve}");
}

#[test]
fn what_changed_since_the_saved_design_is_told() {
    let project = game();
    project.run(&["design", "game.loom", "--method", "noam", "--save"]).exits(0);
    let ran = project.run(&["design", "game.loom", "--method", "cost", "--format", "json"]).exits(0);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    let says = |about: &str, part: &str| {
        let all = document["decisions"].as_array().unwrap().iter();
        let found =
            all.filter(|one| one["about"] == about).any(|one| one["says"].as_str().unwrap().contains(part));
        assert!(found, "{about}: {part}");
    };
    says("since the saved design", "a second, now");
    says("LobbyView", "was not in the saved design");
    says("LobbyIndex", "would not be kept");
}
