//! What is exported and loaded into an empty store is what it was.

use crate::equal::inputs;
use crate::{Folder, keyspace, models, now, parse, rows};
use askloom_embedded::bulk::{Export, Fate, Incoming, JsonLines, Loader, Mark, Rows};
use askloom_embedded::database::Database;
use askloom_engine::write::Expect;
use askloom_model::{ClassId, Element, Member, Model, Record, Value};
use fastrand::Rng;

/// Everything as JSON lines, class by class.
fn export(database: &Database, at: jiff::Timestamp) -> Vec<(ClassId, String)> {
    let export = Export::new(database, at);
    let mut files = Vec::new();
    for root in export.roots().collect::<Vec<_>>() {
        let mut text = String::new();
        export
            .each(root, &mut |exported| {
                text.push_str(&exported.json_line(export.conceptual(), root));
                text.push('\n');
                Ok(())
            })
            .unwrap();
        files.push((root, text));
    }
    files
}

fn load(database: &mut Database, model: &Model, files: &[(ClassId, String)], at: jiff::Timestamp) {
    let mut loader = Loader::new(database, at).unwrap();
    let mut waiting: Vec<Incoming> = Vec::new();
    for (class, text) in files {
        let mut lines = JsonLines::new(text.as_bytes(), 0, 0);
        while let Some(row) = lines.next().unwrap() {
            waiting.push(Incoming::read(&model.conceptual, *class, row.content.unwrap()).unwrap());
        }
    }
    // References that are checked may point forwards.
    while !waiting.is_empty() {
        let before = waiting.len();
        waiting.retain(|incoming| match loader.row(incoming.clone()).unwrap() {
            Fate::Loaded => false,
            Fate::Waits(_) => true,
            Fate::Rejected(refusal) => panic!("{refusal}: {incoming:?}"),
        });
        assert!(waiting.len() < before, "{waiting:?}");
    }
    loader.flush("f", &Mark::default()).unwrap();
    loader.finish(&mut |_, _| {}).unwrap();
}

/// Takes elements out of the lists of a record and leaves gaps.
fn thin(record: &mut Record, random: &mut Rng) {
    for value in record.fields.values_mut() {
        if let Value::List(elements) = value {
            elements.retain(|_| random.u8(..3) > 0);
            for Element { ordinal, value } in elements {
                *ordinal += 3;
                if let Value::Record(part) = value {
                    thin(part, random);
                }
            }
        }
    }
    record.fields.retain(|_, value| !value.is_absent());
}

fn case(seed: u64) -> usize {
    let mut random = Rng::with_seed(seed);
    let model = parse(models::ALL[usize::try_from(seed).unwrap() % models::ALL.len()]);
    let (from, to) = (Folder::new(), Folder::new());
    let (from, mut to) = (from.open(&model), to.open(&model));
    for _ in 0..30 {
        let (class, row) = rows::row(&model, &mut random);
        let Ok(mut incoming) = Incoming::read(&model.conceptual, class, row) else { continue };
        let at = now() + jiff::SignedDuration::from_millis(random.i64(0..1_000_000));
        let _ = from.load(&incoming.record, &inputs(at));
        if random.bool() {
            thin(&mut incoming.record, &mut random);
            let later = at + jiff::SignedDuration::from_secs(5);
            let _ = from.put(&incoming.record, Expect::Present, &inputs(later));
        }
    }
    let files = export(&from, now());
    load(&mut to, &model, &files, now());
    let again = export(&to, now());
    assert_eq!(again, files);
    let masters: Vec<Vec<u8>> =
        to.schema().masters().map(|(_, id)| to.schema().number(id).to_be_bytes().to_vec()).collect();
    let rest = |database: &Database| {
        let all = keyspace(database).into_iter();
        all.filter(|(key, _)| !masters.iter().any(|master| key.starts_with(master))).collect::<Vec<_>>()
    };
    assert!(rest(&from) == rest(&to), "the copies differ");
    files.iter().map(|(_, text)| text.lines().count()).sum()
}

#[test]
fn round_trips() {
    let lines: usize = (0..30)
        .map(|seed| std::panic::catch_unwind(|| case(seed)).unwrap_or_else(|_| panic!("seed {seed}")))
        .sum();
    assert!(lines > 150, "{lines}");
}

/// What an instance looks like in a file.
#[test]
fn a_line_says_what_loading_would_not_make_up() {
    let model = parse(
        "entity Game { id k: int, part rounds: Round[*], ref next: Game? }\nvalue Round { moves: text }",
    );
    let folder = Folder::new();
    let database = folder.open(&model);
    let game = crate::class(&model, "Game");
    let row =
        serde_json::json!({"k": 1, "rounds": [{"moves": "a"}, {"moves": "b"}, {"moves": "c"}], "next": 1});
    let mut incoming = Incoming::read(&model.conceptual, game, row).unwrap();
    database.put(&incoming.record, Expect::Absent, &inputs(now())).unwrap();
    let plain = "{\"k\":1,\"rounds\":[{\"moves\":\"a\"},{\"moves\":\"b\"},{\"moves\":\"c\"}],\"next\":1,\
                 \"#\":{\"created\":\"2026-06-01T00:00:00Z\"}}\n";
    assert_eq!(export(&database, now())[0].1, plain);
    let rounds = model.conceptual.all_members(game).nth(1).unwrap();
    assert!(matches!(rounds, Member::End(_)));
    if let Some(Value::List(elements)) = incoming.record.fields.get_mut(&rounds) {
        elements.remove(2);
        elements.remove(0);
    }
    database.put(&incoming.record, Expect::Present, &inputs(now())).unwrap();
    let thin = "{\"k\":1,\"rounds\":[{\"moves\":\"b\"}],\"next\":1,\
                \"#\":{\"created\":\"2026-06-01T00:00:00Z\",\"next\":{\"rounds\":3},\"ordinals\":{\"rounds\":[1]}}}\n";
    assert_eq!(export(&database, now())[0].1, thin);
}

#[test]
fn a_past_that_cannot_be_is_refused() {
    let model = parse("entity Game { id k: int, tags: text[*] }");
    let game = crate::class(&model, "Game");
    for (about, said) in [
        ("1", "#: is an object"),
        ("{\"ordinals\": {\"tags\": [1]}}", "#.ordinals: do not fit the list `tags`"),
        ("{\"ordinals\": {\"tags\": [2, 1]}}", "#.ordinals: do not fit the list `tags`"),
        ("{\"ordinals\": {\"rounds\": [1]}}", "#.ordinals: there is no list `rounds`"),
        ("{\"created\": \"today\"}", "#.created: is not a time"),
        ("{\"colour\": 1}", "#.colour: means nothing here"),
    ] {
        let row = format!("{{\"k\": 1, \"tags\": [\"a\", \"b\"], \"#\": {about}}}");
        let refusal =
            Incoming::read(&model.conceptual, game, serde_json::from_str(&row).unwrap()).unwrap_err();
        assert_eq!(refusal.to_string(), said);
    }
}
