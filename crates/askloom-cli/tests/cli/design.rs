use crate::project::Project;
use serde_json::Value;

const EXAMPLES: [&str; 6] = ["game", "noam-game", "airline", "inbox", "blog", "shop"];
const METHODS: [&str; 4] = ["noam", "qodm", "kvmod", "given"];

fn made(example: &str) -> Project {
    let project = Project::new();
    project.run(&["new", ".", "--example", example]).exits(0);
    project
}

fn game() -> Project {
    made("game")
}

/// Every example by every method: it fits a terminal, and the document is what its schema says.
#[test]
fn every_example_by_every_method() {
    let schema = Project::new().run(&["design", "--json-schema"]).exits(0).stdout;
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let mut schemas = boon::Schemas::new();
    let mut compiler = boon::Compiler::new();
    compiler.add_resource("design.json", schema).unwrap();
    let design = compiler.compile("design.json", &mut schemas).unwrap();
    for example in EXAMPLES {
        let project = made(example);
        let file = format!("{example}.loom");
        for method in METHODS {
            let text = project.run(&["design", &file, "--method", method]).exits(0).stdout;
            assert!(text.contains("STATEMENT") && text.contains(&format!("by {method}: ")), "{text}");
            let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
            assert!(
                wide.iter().all(|line| !line.contains(' ') || line.starts_with("COLLECTION")),
                "{wide:#?}"
            );
            let json =
                project.run(&["design", &file, "--method", method, "--format", "json"]).exits(0).stdout;
            let document: Value = serde_json::from_str(&json).unwrap();
            if let Err(error) = schemas.validate(&document, design) {
                panic!("{example} by {method}: {error:#}");
            }
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
    project.run(&["explain", "game.loom", "lobby"]).exits(0).prints("by its identity");
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
    assert!(svg.starts_with("<svg ") && svg.contains("LobbyIndex") && svg.trim_end().ends_with("</svg>"));
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
    let noam = game().run(&["design", "game.loom", "--faithful"]).exits(0).stdout;
    assert!(noam.contains("collection Game: a block for each gameId\n  /Game/*/rounds[*]\n"), "{noam}");
}

#[test]
fn all_methods_beside_each_other() {
    let shop = made("shop");
    let text = shop.run(&["compare", "shop.loom"]).exits(0).stdout;
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
