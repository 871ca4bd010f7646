//! The figures of the papers, drawn from `examples/noam-game`.

use crate::{checked, class};
use askloom_model::{AccessStep, Model, Record, Rule, Value};
use askloom_plan::partition::{Entries, Strategy, diff, elements_apart, join, split};
use serde_json::{Value as Json, json};

fn example() -> Model {
    let text = include_str!("../../../../examples/noam-game/noam-game.loom");
    checked(text).model
}

fn mary(model: &Model) -> Record {
    let json = json!({
        "username": "mary", "firstName": "Mary", "lastName": "Wilson",
        "games": [{"game": "2345", "opponent": "rick"}, {"game": "2611", "opponent": "ann"}],
    });
    Record::from_json(&model.conceptual, class(&model.conceptual, "Player"), &json).unwrap()
}

fn game(model: &Model) -> Record {
    let json = json!({
        "id": "2345", "firstPlayer": "mary", "secondPlayer": "rick",
        "rounds": [{"moves": "m0", "comments": "c0"}, {"moves": "m1", "actions": "a1", "spell": "s1"}],
    });
    Record::from_json(&model.conceptual, class(&model.conceptual, "Game"), &json).unwrap()
}

/// Entries as the figures have them: key and value, the value as JSON.
fn drawn(model: &Model, entries: &Entries) -> Vec<(String, Json)> {
    let conceptual = &model.conceptual;
    let value = |path: &[AccessStep], value: &Value| match value {
        Value::Record(record) => record.to_json(conceptual, record.class),
        Value::Text(text) => json!(text),
        Value::Reference(id) => json!(format!("{:?}", id.first().unwrap())),
        other => panic!("no figure has {other:?} at {path:?}"),
    };
    entries.iter().map(|(path, held)| (path.to_string(), value(&path.0, held))).collect()
}

fn of(model: &Model, name: &str) -> Vec<Rule> {
    model.representations.iter().find(|representation| representation.name == name).expect(name).rules.clone()
}

fn keys(entries: &Entries) -> Vec<String> {
    entries.keys().map(ToString::to_string).collect()
}

#[test]
fn figure_8_elements_and_remaining_fields() {
    let model = example();
    let entries = split(&model.conceptual, &of(&model, "elementsEtf"), &mary(&model)).unwrap();
    let expected = vec![
        ("firstName".to_owned(), json!("Mary")),
        ("games[0]".to_owned(), json!({"game": "2345", "opponent": "rick"})),
        ("games[1]".to_owned(), json!({"game": "2611", "opponent": "ann"})),
        ("lastName".to_owned(), json!("Wilson")),
        ("username".to_owned(), json!("mary")),
    ];
    assert_eq!(drawn(&model, &entries), expected);
    let entries = split(&model.conceptual, &of(&model, "elementsEtf"), &game(&model)).unwrap();
    assert_eq!(keys(&entries), ["firstPlayer", "id", "rounds[0]", "rounds[1]", "secondPlayer"]);
}

#[test]
fn figure_9_entry_per_aggregate() {
    let model = example();
    for record in [mary(&model), game(&model)] {
        let entries = split(&model.conceptual, &of(&model, "eao"), &record).unwrap();
        let expected = vec![(String::new(), record.to_json(&model.conceptual, record.class))];
        assert_eq!(drawn(&model, &entries), expected);
    }
}

#[test]
fn figure_10_entry_per_top_level_field() {
    let model = example();
    let entries = split(&model.conceptual, &of(&model, "etf"), &mary(&model)).unwrap();
    assert_eq!(keys(&entries), ["firstName", "games", "lastName", "username"]);
    let entries = split(&model.conceptual, &of(&model, "etf"), &game(&model)).unwrap();
    assert_eq!(keys(&entries), ["firstPlayer", "id", "rounds", "secondPlayer"]);
}

#[test]
fn figure_11_rounds_apart() {
    let model = example();
    let entries = split(&model.conceptual, &of(&model, "elementsEao"), &game(&model)).unwrap();
    let expected = vec![
        (String::new(), json!({"id": "2345", "firstPlayer": "mary", "secondPlayer": "rick", "rounds": []})),
        ("rounds[0]".to_owned(), json!({"moves": "m0", "comments": "c0"})),
        ("rounds[1]".to_owned(), json!({"moves": "m1", "actions": "a1", "spell": "s1"})),
    ];
    let drawn: Vec<_> =
        drawn(&model, &entries).into_iter().map(|(key, json)| (key, without_null(json))).collect();
    let expected: Vec<_> = expected.into_iter().map(|(key, json)| (key, without_null(json))).collect();
    assert_eq!(drawn, expected);
}

/// What is absent is not drawn.
fn without_null(json: Json) -> Json {
    match json {
        Json::Object(fields) => fields
            .into_iter()
            .filter(|(_, value)| !value.is_null() && *value != json!([]))
            .map(|(name, value)| (name, without_null(value)))
            .collect(),
        other => other,
    }
}

#[test]
fn the_lecture_entry_per_atomic_value() {
    let model = example();
    let entries = split(&model.conceptual, &of(&model, "eav"), &mary(&model)).unwrap();
    let expected = [
        "firstName",
        "games[0].game",
        "games[0].opponent",
        "games[1].game",
        "games[1].opponent",
        "lastName",
        "username",
    ];
    assert_eq!(keys(&entries), expected);
}

#[test]
fn the_lecture_players_etf_games_eao() {
    let model = example();
    let rules = of(&model, "playersEtfGamesEao");
    let entries = split(&model.conceptual, &rules, &mary(&model)).unwrap();
    assert_eq!(keys(&entries), ["firstName", "games", "lastName", "username"]);
    assert_eq!(keys(&split(&model.conceptual, &rules, &game(&model)).unwrap()), [""]);
}

/// The rule sets with a name are those that the example writes out.
#[test]
fn strategies_are_the_rules_of_the_papers() {
    let model = example();
    let named = |name: &str| of(&model, name).into_iter().map(|rule| rule.steps).collect::<Vec<_>>();
    for strategy in Strategy::ALL {
        let rule = strategy.rule(None);
        assert_eq!(vec![rule.steps], named(&strategy.abbreviation().to_lowercase()));
    }
    let game = Some(class(&model.conceptual, "Game"));
    let rounds = elements_apart(game, &["rounds"], Strategy::PerAggregate);
    let written = of(&model, "elementsEao");
    let steps =
        |rules: &[Rule]| rules.iter().map(|rule| (rule.class, rule.steps.clone())).collect::<Vec<_>>();
    assert_eq!(steps(&rounds), steps(&written[2..]));
}

/// Operation 3 of the lecture: a new round is one new entry, and nothing else is written.
#[test]
fn a_new_round_is_one_entry() {
    let model = example();
    let before = game(&model);
    let mut after = before.clone();
    for value in after.fields.values_mut() {
        if let Value::List(rounds) = value {
            let mut round = rounds[0].clone();
            round.ordinal = 7;
            rounds.push(round);
        }
    }
    let written = |rules: &str| -> Vec<(String, bool)> {
        let entries = |record| split(&model.conceptual, &of(&model, rules), record).unwrap();
        let changes = diff(&entries(&before), &entries(&after));
        let joined = join(&model.conceptual, after.class, entries(&after)).unwrap();
        assert_eq!(joined, after);
        changes.into_iter().map(|(path, value)| (path.to_string(), value.is_some())).collect()
    };
    assert_eq!(written("elementsEao"), [("rounds[7]".to_owned(), true)]);
    assert_eq!(written("elementsEtf"), [("rounds[7]".to_owned(), true)]);
    assert_eq!(written("eao"), [(String::new(), true)]);
    assert_eq!(written("etf"), [("rounds".to_owned(), true)]);
    let atoms = ["rounds[7].comments", "rounds[7].moves"].map(|path| (path.to_owned(), true));
    assert_eq!(written("eav"), atoms);
}
