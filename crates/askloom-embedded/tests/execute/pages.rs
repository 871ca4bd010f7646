//! Pages while others write: the next page is what follows the last row in the state of then.

use crate::constructs::{arguments, step};
use crate::mirror::{Mirror, designs, parse};
use askloom_embedded::KeyspaceRecords;
use askloom_engine::RunError;
use askloom_engine::execute::{self, Arguments, Continuation};
use askloom_model::Query;
use askloom_oracle::{Inputs, Random, State};
use jiff::Timestamp;

const MODEL: &str = "
    entity N { id n: int, a: int?, b: text?, tags: text[*], ref to: N? inverse from }
    query ordered: SELECT n, a FROM N ORDER BY a DESC, b DESC PAGE 2
    query ascending: SELECT n, a FROM N WHERE b = :b ORDER BY a PAGE 1
    query mixed: SELECT n FROM N ORDER BY a, b DESC PAGE 2
    query plain: SELECT n FROM N PAGE 2
    query chosen: SELECT n, a FROM N WHERE b IN :bs ORDER BY a PAGE 2
    query listed: SELECT n, t FROM N JOIN tags AS t ORDER BY t DESC PAGE 3
    query joined: SELECT n, x.n AS m FROM N LEFT JOIN from AS x ORDER BY m PAGE 2
    query filtered: SELECT n FROM N WHERE NOT a = :a ORDER BY b PAGE 2
    query groups: SELECT b, COUNT(*) AS c FROM N GROUP BY b ORDER BY c DESC PAGE 1
";

/// Goes through the pages of one plan, with a write after each.
fn walk(mirror: &mut Mirror, state: &mut State, query: &Query, at: usize, random: &mut Random) -> usize {
    let now: Timestamp = "2026-06-01T00:00:00Z".parse().unwrap();
    let model = mirror.schema.model.clone();
    let given = arguments(&model, query, random);
    let by_name: Arguments = given.clone().into_iter().collect();
    let (mut meant_after, mut after): (_, Option<Continuation>) = (None, None);
    for page in 1.. {
        let plan = mirror.plans(query).swap_remove(at);
        let meant = state.page(&model, query, &given, now, meant_after.as_ref()).unwrap();
        let found = execute::run(
            &KeyspaceRecords { schema: &mirror.schema, keyspace: &mirror.keyspace },
            query,
            &plan,
            &by_name,
            now,
            after.as_ref(),
        )
        .unwrap();
        assert_eq!(found.rows, meant.rows, "page {page} of {} {given:?} {plan:?}", query.header.name);
        assert_eq!(found.next.is_some(), meant.next.is_some(), "page {page} of {}", query.header.name);
        if meant.next.is_none() || page == 8 {
            return page;
        }
        (meant_after, after) = (meant.next, found.next.map(|next| next.to_string().parse().unwrap()));
        step(&model, state, now, random);
        mirror.follow(state, now);
    }
    0
}

#[test]
fn pages_go_on_in_the_state_of_then() {
    let model = parse(MODEL);
    let now: Timestamp = "2026-06-01T00:00:00Z".parse().unwrap();
    let mut pages = 0;
    for seed in 0..6 {
        for design in designs(&model) {
            let mut random = Random::of(seed, &[3]);
            let (mut state, mut mirror) = (State::new(), Mirror::new(&model, design));
            for _ in 0..8 {
                step(&model, &mut state, now, &mut random);
            }
            mirror.follow(&state, now);
            for query in &model.workload.queries {
                for at in 0..mirror.plans(query).len() {
                    pages += walk(&mut mirror, &mut state, query, at, &mut random);
                }
            }
        }
    }
    println!("{pages} pages");
    assert!(pages > 500, "{pages} pages");
}

#[test]
fn a_continuation_of_another_query_is_refused() {
    let model = parse(MODEL);
    let now: Timestamp = "2026-06-01T00:00:00Z".parse().unwrap();
    let mirror = Mirror::new(&model, designs(&model).swap_remove(0));
    let one = &model.workload.queries[0];
    let plan = &mirror.plans(one)[0];
    let run = |after: &Continuation| {
        execute::run(
            &KeyspaceRecords { schema: &mirror.schema, keyspace: &mirror.keyspace },
            one,
            plan,
            &Arguments::new(),
            now,
            Some(after),
        )
    };
    let null = || askloom_model::Value::Null;
    let wrong = Continuation { order: vec![null()], identity: vec![null()] };
    assert_eq!(run(&wrong).unwrap_err(), RunError::BadContinuation);
    let right = Continuation { order: vec![null(), null()], identity: vec![null()] };
    assert_eq!(run(&right).unwrap().rows.len(), 0);
}

#[test]
fn arguments_are_checked() {
    let model =
        parse("entity N { id n: int, d: decimal? }\nquery q: SELECT n FROM N WHERE n = :n AND d > :d");
    let now: Timestamp = "2026-06-01T00:00:00Z".parse().unwrap();
    let mut mirror = Mirror::new(&model, designs(&model).swap_remove(0));
    let mut state = State::new();
    let record = serde_json::json!({ "n": 2, "d": 3.5 });
    let class = model.conceptual.classes.ids().next().unwrap();
    let record = askloom_model::Record::from_json(&model.conceptual, class, &record).unwrap();
    state.create(&model, &record, &Inputs::at(now)).unwrap();
    mirror.follow(&state, now);
    let query = &model.workload.queries[0];
    let run = |arguments: &[(&str, askloom_model::Value)]| {
        let arguments = arguments.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let plan = &mirror.plans(query)[0];
        let answer = execute::run(
            &KeyspaceRecords { schema: &mirror.schema, keyspace: &mirror.keyspace },
            query,
            plan,
            &arguments,
            now,
            None,
        );
        answer.map(|answer| answer.rows.len())
    };
    let int = askloom_model::Value::Int;
    let decimal = |digits: &str| askloom_model::Value::Decimal(digits.parse().unwrap());
    // Whole numbers of any type; nothing is rounded.
    assert_eq!(run(&[("n", decimal("2.0")), ("d", int(3))]), Ok(1));
    assert!(matches!(run(&[("n", decimal("2.5")), ("d", int(3))]), Err(RunError::WrongType { .. })));
    assert_eq!(run(&[("n", int(2))]), Err(RunError::MissingParameter("d".to_owned())));
    let surplus = run(&[("n", int(2)), ("d", int(3)), ("x", int(1))]);
    assert_eq!(surplus, Err(RunError::UnknownParameter("x".to_owned())));
}
