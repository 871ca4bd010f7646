//! Loading in bulk is putting row by row, only faster.

use crate::{Folder, keyspace, models, now, parse, rows};
use askloom_embedded::bulk::{Fate, Incoming, Loader, Mark};
use askloom_embedded::database::Database;
use askloom_engine::RunError;
use askloom_engine::write::Inputs;
use askloom_model::{ClassId, Model};
use fastrand::Rng;
use serde_json::Value as Json;

pub(crate) fn inputs(now: jiff::Timestamp) -> Inputs {
    Inputs { now, uuids: Vec::new(), id: None }
}

/// What is said of a row, in words that both ways share.
fn put(database: &Database, model: &Model, class: ClassId, row: &Json) -> String {
    let incoming = match Incoming::read(&model.conceptual, class, row.clone()) {
        Ok(incoming) => incoming,
        Err(refusal) => return refusal.to_string(),
    };
    match database.load(&incoming.record, &inputs(now())) {
        Ok(_) => String::new(),
        Err(error @ (RunError::Store(_) | RunError::Corrupted(_))) => panic!("{error}"),
        Err(error) => error.to_string(),
    }
}

fn load(loader: &mut Loader<'_>, model: &Model, class: ClassId, row: &Json) -> String {
    let incoming = match Incoming::read(&model.conceptual, class, row.clone()) {
        Ok(incoming) => incoming,
        Err(refusal) => return refusal.to_string(),
    };
    match loader.row(incoming).unwrap() {
        Fate::Loaded => String::new(),
        Fate::Rejected(refusal) | Fate::Waits(refusal) => refusal.0[0].message.clone(),
    }
}

struct Seen {
    loaded: usize,
    rejected: usize,
}

fn case(seed: u64) -> Seen {
    let mut random = Rng::with_seed(seed);
    let model = parse(models::ALL[usize::try_from(seed).unwrap() % models::ALL.len()]);
    let (one, many) = (Folder::new(), Folder::new());
    let (one, mut many) = (one.open(&model), many.open(&model));
    let mut seen = Seen { loaded: 0, rejected: 0 };
    // Half of the stores hold something before, and something that is gone.
    if random.bool() {
        for _ in 0..random.usize(..12) {
            let (class, row) = rows::row(&model, &mut random);
            let before = now() - jiff::SignedDuration::from_hours(random.i64(0..40));
            let Ok(incoming) = Incoming::read(&model.conceptual, class, row) else { continue };
            for database in [&one, &many] {
                let _ = database.load(&incoming.record, &inputs(before));
            }
            if random.u8(..4) == 0
                && let Some(id) = incoming.record.identity(&model.conceptual)
            {
                for database in [&one, &many] {
                    let _ = database.delete(class, &id, &inputs(before));
                }
            }
        }
    }
    let mark = Mark::default();
    for _ in 0..1 + random.usize(..2) {
        let mut loader = Loader::new(&mut many, now()).unwrap();
        for _ in 0..random.usize(..40) {
            let (class, row) = rows::row(&model, &mut random);
            let (said, told) = (put(&one, &model, class, &row), load(&mut loader, &model, class, &row));
            assert_eq!(told, said, "of {row}");
            seen.loaded += usize::from(said.is_empty());
            seen.rejected += usize::from(!said.is_empty());
            if random.u8(..6) == 0 {
                loader.flush("f", &mark).unwrap();
            }
        }
        loader.flush("f", &mark).unwrap();
        loader.finish(&mut |_, _| {}).unwrap();
        assert_eq!(many.filling().count(), 0);
        assert!(keyspace(&many) == keyspace(&one), "the keyspaces differ");
    }
    seen
}

#[test]
fn loading_is_putting() {
    let cases: u64 =
        std::env::var("ASKLOOM_BULK_CASES").ok().and_then(|number| number.parse().ok()).unwrap_or(72);
    let (mut loaded, mut rejected) = (0, 0);
    for seed in 0..cases {
        let seen = std::panic::catch_unwind(|| case(seed)).unwrap_or_else(|_| panic!("seed {seed}"));
        loaded += seen.loaded;
        rejected += seen.rejected;
    }
    println!("{cases} cases, {loaded} rows loaded, {rejected} rejected");
    assert!(loaded > 300 && rejected > 300 || cases < 72, "{loaded} loaded, {rejected} rejected");
}
