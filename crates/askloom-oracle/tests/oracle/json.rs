//! Records from JSON: every problem is named, at its place.

use crate::fixture::{class, model};
use crate::generator::examples;
use askloom_model::Record;
use askloom_oracle::{Inputs, State};
use serde_json::{Value as Json, json};
use std::path::Path;

const MODEL: &str = "
entity Game {
  id g: int
  name: text
  mood: enum(good, bad) = good
  note: text?
  tags: text[*]
  at: timestamp?
  ref host: Player inverse hosted
  ref seat: Seat?
  ref judges: Player[0..2]
  part rounds: Round[0..3]
  part main: Round?
  part log: Log
}
value Round { moves: text, part steps: Step[*] }
value Step { x: int }
value Log { size: long = 0 }
entity Player { id p: text }
entity Seat { id row: int, id col: text }
abstract entity Shape { id s: int }
entity Circle extends Shape { r: int }
entity Memo { text: text }
";

fn errors(name: &str, json: &Json) -> Vec<String> {
    let model = model(MODEL);
    let result = Record::from_json(&model.conceptual, class(&model.conceptual, name), json);
    let mut errors: Vec<String> = result.err().unwrap_or_default().iter().map(ToString::to_string).collect();
    errors.sort();
    errors
}

fn whole() -> Json {
    json!({
        "g": 1, "name": "x", "mood": "bad", "note": "n", "tags": ["a", "a"], "at": "2026-01-01T00:00:00.25Z",
        "host": "ann", "seat": [3, "b"], "judges": ["ann", "bob"],
        "rounds": [{"moves": "m", "steps": [{"x": 1}, {"x": 2}]}, {"moves": ""}],
        "main": {"moves": "e"}, "log": {"size": 3}
    })
}

#[test]
fn what_is_right_comes_back_as_it_was() {
    let model = model(MODEL);
    let game = class(&model.conceptual, "Game");
    let record = Record::from_json(&model.conceptual, game, &whole()).unwrap();
    assert_eq!(record.to_json(&model.conceptual, game), whole());
    let rounds = record.fields.values().find_map(|value| match value {
        askloom_model::Value::List(elements) if elements.len() == 2 => Some(elements),
        _other => None,
    });
    assert_eq!(rounds.unwrap().iter().map(|element| element.ordinal).collect::<Vec<_>>(), [0, 1]);
    // Null, absent and empty are the same where they are allowed.
    let least = json!({"g": 1, "name": "x", "host": "ann", "log": {}});
    let null = json!({"g": 1, "name": "x", "host": "ann", "log": {}, "note": null, "tags": [], "judges": null,
                      "seat": null, "rounds": [], "main": null, "at": null});
    let read = |json| Record::from_json(&model.conceptual, game, json).unwrap();
    assert_eq!(read(&least), read(&null));
    assert_eq!(read(&least).to_json(&model.conceptual, game), least);
}

#[test]
fn every_problem_is_named() {
    let wrong = json!({
        "g": "one", "mood": "ugly", "tags": ["a", 3, null], "at": "2026-01-01T00:00:00.0001Z", "colour": "red",
        "host": ["ann"], "seat": [3], "judges": ["ann", "ann", "bob"],
        "rounds": [{"moves": "m", "steps": [{"x": 1}, {"x": "y", "z": 0}]}, {}, 7, {"moves": "a"}],
        "main": [], "log": null
    });
    assert_eq!(
        errors("Game", &wrong),
        [
            "at: `2026-01-01T00:00:00.0001Z` is finer than timestamp",
            "colour: Game has no such field",
            "g: \"one\" is not of type int",
            "host: [\"ann\"] is not of type text",
            "judges: has 3 elements, and may have 2",
            "judges[1]: is there already: references make a set",
            "log: must have a value, and here is null",
            "main: [] is not an object, and a Round is one",
            "mood: `ugly` is not one of good, bad",
            "name: is missing",
            "rounds: has 4 elements, and may have 3",
            "rounds[0].steps[1].x: \"y\" is not of type int",
            "rounds[0].steps[1].z: Step has no such field",
            "rounds[1].moves: is missing",
            "rounds[2]: 7 is not an object, and a Round is one",
            "seat: [3] is not the id of a Seat",
            "tags[1]: 3 is not of type text",
            "tags[2]: must have a value, and here is null",
        ]
    );
    assert_eq!(errors("Game", &json!([])), ["[] is not an object, and a Game is one"]);
    assert_eq!(
        errors("Player", &json!({"p": "a", "hosted": [1]})),
        ["hosted: is derived: the link is stored at Game"]
    );
    assert_eq!(errors("Player", &json!({"p": null})), ["p: must have a value, and here is null"]);
}

#[test]
fn subclasses_and_surrogates_say_so() {
    let id = "67e55044-10b1-426f-9247-bb680e5fe0c8";
    assert_eq!(errors("Shape", &json!({"$class": "Circle", "s": 1, "r": 2})), [""; 0]);
    assert_eq!(errors("Circle", &json!({"s": 1, "r": 2})), [""; 0]);
    assert_eq!(
        errors("Shape", &json!({"s": 1})),
        ["Shape is abstract: `$class` has to name one of its subclasses"]
    );
    assert_eq!(errors("Shape", &json!({"$class": "Player"})), ["$class: `Player` is not a kind of Shape"]);
    assert_eq!(errors("Shape", &json!({"$class": 3})), ["$class: it is the name of a class, as a text"]);
    assert_eq!(errors("Memo", &json!({"$id": id, "text": "t"})), [""; 0]);
    assert_eq!(errors("Memo", &json!({"text": "t"})), [""; 0]);
    assert_eq!(errors("Memo", &json!({"$id": 3, "text": "t"})), ["$id: 3 is not of type uuid"]);
    assert_eq!(
        errors("Player", &json!({"$id": id, "p": "x"})),
        ["$id: Player has an identifier of its own, or needs none"]
    );
}

/// The data that comes with the examples is data of their models, and the oracle takes all of it at once.
#[test]
fn the_data_of_the_examples_can_be_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut lines = 0;
    for (name, model) in examples() {
        let Ok(files) = std::fs::read_dir(folder.join(&name).join("data")) else { continue };
        let mut records = Vec::new();
        for file in files {
            let path = file.unwrap().path();
            let class = class(&model.conceptual, path.file_stem().unwrap().to_str().unwrap());
            for line in std::fs::read_to_string(&path).unwrap().lines() {
                let json = serde_json::from_str(line).unwrap();
                let record = Record::from_json(&model.conceptual, class, &json);
                records
                    .push(record.unwrap_or_else(|errors| panic!("{}: {line}: {errors:?}", path.display())));
                lines += 1;
            }
        }
        let inputs = Inputs { now: jiff::Timestamp::UNIX_EPOCH, uuids: vec![uuid::Uuid::nil(); 1_000] };
        assert_eq!(State::new().load(&model, &records, &inputs), Ok(records.len()), "{name}");
    }
    assert!(lines > 50, "{lines} lines");
}
