//! Designs that were edited by hand, or belong to another model.

use crate::{example, game};
use askloom_design::saved::{from_json, to_json};
use askloom_model::Code;

/// What is said of a text, with the words that are pointed at.
fn said(text: &str) -> Vec<(Code, String, String)> {
    let (model, _) = game();
    let found = from_json(&model, text).expect_err(text);
    found
        .into_iter()
        .map(|diagnostic| {
            let span = diagnostic.span();
            let place = text[span.start as usize..span.end as usize].to_owned();
            (diagnostic.code, diagnostic.message, place)
        })
        .collect()
}

fn edited(from: &str, to: &str) -> String {
    let (model, design) = game();
    let text = to_json(&model, &design);
    assert!(text.contains(from), "{from} is not in\n{text}");
    text.replacen(from, to, 1)
}

#[track_caller]
fn says(from: &str, to: &str, code: Code, message: &str, place: &str) {
    let found = said(&edited(from, to));
    let wanted = (code, message.to_owned(), place.to_owned());
    assert!(found.contains(&wanted), "{wanted:?} is not in {found:#?}");
}

#[test]
fn names_that_the_model_does_not_have() {
    let of_another = Code::DesignOfAnotherModel;
    says(
        "\"root\": \"Game\"",
        "\"root\": \"Gmae\"",
        of_another,
        "collections[1].source.root: no entity is called `Gmae`",
        "\"Gmae\"",
    );
    says(
        "firstPlayer.score",
        "firstPlayer.scor",
        of_another,
        "collections[2].value[2]: Player has no member `scor`",
        "\"firstPlayer.scor\"",
    );
    says(
        "\"path\": \"status\"",
        "\"path\": \"status.x\"",
        of_another,
        "collections[2].source.condition.tree: a path goes on after the attribute `status`",
        "{\n            \"compare\": [\n              {\n                \"path\": \"status.x\"\n              },\n              \"=\",\n              {\n                \"enum\": \"waiting\"\n              }\n            ]\n          }",
    );
    says(
        "\"enum\": \"waiting\"",
        "\"enum\": \"resting\"",
        of_another,
        "collections[2].source.condition.tree: `\"resting\"` is no enum",
        "{\n            \"compare\": [\n              {\n                \"path\": \"status\"\n              },\n              \"=\",\n              {\n                \"enum\": \"resting\"\n              }\n            ]\n          }",
    );
    says(
        "/Game/*/rounds[*]",
        "/Game/*/laps[*]",
        of_another,
        "collections[1].rules[0]: no class has a field `laps`",
        "\"/Game/*/laps[*]\"",
    );
}

#[test]
fn a_design_of_another_model() {
    let shop = example("shop");
    let text = to_json(&shop, &askloom_design::simple::design(&shop));
    let found = said(&text);
    assert!(
        found.iter().any(|(_, message, _)| message.ends_with("no entity is called `Account`")),
        "{found:#?}"
    );
}

#[test]
fn nonsense() {
    let malformed = Code::DesignMalformed;
    assert_eq!(said("{")[0].0, malformed);
    assert_eq!(said("[]")[0].1, "an object is expected here, not `[]`");
    assert_eq!(
        said("{\"format\": 2, \"method\": \"x\", \"collections\": []}")[0].1,
        "format: only the format 1 can be read"
    );
    let none = said("{\"format\": 1, \"method\": \"x\", \"collections\": []}");
    assert_eq!(none[0].1, "collections: Player has no master in this design");
    says(
        "\"order\": \"asc\"",
        "\"order\": \"down\"",
        malformed,
        "collections[0].block_key[0].order: an order is `asc` or `desc`, not `down`",
        "\"down\"",
    );
    says(
        "\"role\": \"copy\"",
        "\"role\": \"cpoy\"",
        malformed,
        "collections[2].role: a role is `master`, `copy` or `index`, not `cpoy`",
        "\"cpoy\"",
    );
    says(
        "\"text\": \"status = 'waiting'\"",
        "\"text\": \"status = 'over'\"",
        malformed,
        "collections[2].source.condition.text: the text is not what the tree says, which is `status = 'waiting'`",
        "\"status = 'over'\"",
    );
    says(
        "\"name\": \"Game\"",
        "\"name\": \"Player\"",
        malformed,
        "collections[1].name: another collection has this name",
        "\"Player\"",
    );
    says(
        "\"reasons\"",
        "\"colour\": 1, \"reasons\"",
        malformed,
        "collections[0].colour: nothing of this name belongs here",
        "1",
    );
    says(
        "\"path\": \"username\"",
        "\"path\": \"score\"",
        malformed,
        "collections[0].block_key: the key of a master is the identifier of Player, ascending, and nothing else",
        "[\n        {\n          \"path\": \"score\",\n          \"order\": \"asc\"\n        }\n      ]",
    );
}

/// No text makes the reader do anything but answer.
#[test]
fn damaged_texts_are_answered() {
    let (model, design) = game();
    let text = to_json(&model, &design);
    for cut in (0..text.len()).filter(|cut| text.is_char_boundary(*cut)).step_by(7) {
        let _ = from_json(&model, &text[..cut]);
        let without = format!("{}{}", &text[..cut], text.get(cut + 5..).unwrap_or_default());
        let _ = from_json(&model, &without);
    }
}
