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
fn only_predicates_are_negated() {
    let text = edited("\"compare\": [", "\"negated\": [");
    let found = said(&text);
    let is_said = |(code, message, _): &(Code, String, String)| {
        *code == Code::DesignOfAnotherModel && message.contains("a condition is an object of one member")
    };
    assert!(found.iter().any(is_said), "{found:#?}");
    let (from, to) = ("\"tree\": {", "\"tree\": {\"negated\": {\"and\": []}}, \"x\": {");
    let found = said(&edited(from, to));
    let wrong = "`negated` is not followed by what it needs, but by `{\"and\":[]}`";
    assert!(found.iter().any(|(_, message, _)| message.ends_with(wrong)), "{found:#?}");
}

#[test]
fn nonsense() {
    let malformed = Code::DesignMalformed;
    assert_eq!(said("{")[0].0, malformed);
    assert_eq!(said("[]")[0].1, "an object is expected here, not `[]`");
    let none = said("{\"format\": 1, \"method\": \"noam\", \"collections\": []}");
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
        "collections[2].role: a role is `master`, `copy`, `index` or `carried`, not `cpoy`",
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
        "collections[0].block_key: the keys of a master are the identifier of Player, each member once, and buckets of its timestamps",
        "[\n        {\n          \"path\": \"score\",\n          \"order\": \"asc\"\n        }\n      ]",
    );
}

/// What is said of a text, with what to do about it.
fn hinted(text: &str) -> Vec<(String, String)> {
    let (model, _) = game();
    let found = from_json(&model, text).expect_err(text);
    found.into_iter().map(|diagnostic| (diagnostic.message, diagnostic.hint.unwrap_or_default())).collect()
}

#[track_caller]
fn hints(text: &str, message: &str, hint: &str) {
    let found = hinted(text);
    assert!(
        found.iter().any(|(said, does)| said == message && does.contains(hint)),
        "{message}, {hint}: {found:#?}"
    );
}

/// Nothing else is said of a text in another form: all of it may be right there.
#[test]
fn the_format_is_looked_at_first() {
    let later = "{\"format\": 2, \"way\": \"x\", \"way\": \"y\", \"tables\": []}";
    assert_eq!(hinted(later).len(), 1);
    hints(later, "format: the format is `2`, and only 1 can be read", "a later askloom wrote it");
    for odd in ["0", "\"1\"", "1.5", "null", "-1"] {
        let message = format!("format: the format is `{odd}`, and only 1 can be read");
        hints(&format!("{{\"format\": {odd}}}"), &message, "`askloom design --save` writes it anew");
    }
    assert_eq!(hinted("{}")[0].0, "`format` is missing");
}

#[test]
fn a_method_that_there_is_not() {
    for odd in ["naom", ""] {
        let text = edited("\"method\": \"simple\"", &format!("\"method\": \"{odd}\""));
        hints(&text, &format!("method: there is no method `{odd}`"), "noam, qodm, kvmod, given");
    }
}

#[test]
fn names_that_nobody_could_use() {
    let named = |name: &str| edited("\"name\": \"Game\"", &format!("\"name\": \"{name}\""));
    let hint = "give it the name";
    hints(&named(""), "collections[1].name: a collection has a name", hint);
    hints(&named("  "), "collections[1].name: a collection has a name", hint);
    hints(&named(" Game"), "collections[1].name: a name neither starts nor ends with a space", hint);
    for (odd, shown) in [("\\n", "\\u{a}"), ("\\u0000", "\\u{0}"), ("\u{202e}", "\\u{202e}")] {
        let message = format!("collections[1].name: a name has no such character as {shown}");
        hints(&named(&format!("Ga{odd}me")), &message, hint);
    }
    let (model, _) = game();
    for fine in ["Spiele der Spieler", "игры 🎲", "a.b/c"] {
        assert!(from_json(&model, &named(fine)).is_ok(), "{fine}");
    }
}

#[test]
fn buckets_where_there_are_none() {
    let malformed = Code::DesignMalformed;
    let wrong = "a bucket is a field of a block key, of the entity that the rows begin with, ascending";
    says(
        "firstPlayer.score",
        "$bucket:4",
        malformed,
        &format!("collections[2].value[2]: {wrong}"),
        "\"$bucket:4\"",
    );
    for (count, of) in [("0", "0"), ("1000", "1000"), ("x", "x")] {
        let found = said(&edited("firstPlayer.score", &format!("$bucket:{count}")));
        let message = format!("`$bucket:{of}` is not 1 to 256 buckets");
        assert!(found.iter().any(|(_, said, _)| said.contains(&message)), "{found:#?}");
    }
}

#[test]
fn what_is_there_twice() {
    let (name, twice) = ("\"name\": \"Game\"", "\"name\": \"Spiel\", \"name\": \"Game\"");
    hints(&edited(name, twice), "collections[1].name: this is there twice", "keep one of the two");
    let doubled = edited("\"gameId\",\n        \"first", "\"gameId\", \"gameId\",\n        \"first");
    hints(&doubled, "collections[2].value[1]: this field is there twice", "take one of the two away");
    let key = "{\n          \"path\": \"startedAt\",\n          \"order\": \"asc\"\n        }";
    let doubled = edited(key, &format!("{key}, {key}"));
    hints(&doubled, "collections[2].entry_key[1]: this field is there twice", "take one of the two away");
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
