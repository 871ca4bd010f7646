//! The oracle against SQL on SQLite: random models, random data with nulls, duplicates and references that lead
//! nowhere, and every random query that SQL can say as well. The two texts of a query are made side by side; the
//! lists have to be equal, row by row.

mod cuts;
mod lists;
mod question;
mod schema;
mod steps;

use crate::fixture::{class, model, parameters};
use askloom_model::{Conceptual, Model, Record, Value};
use askloom_oracle::{Inputs, Random, State};
use question::Question;
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use schema::Schema;
use serde_json::Value as Json;

const SCHEMAS: u64 = 100;
const QUERIES: u64 = 10;

type Rows = Vec<Vec<String>>;

#[test]
fn the_oracle_answers_as_sql_does() {
    let mut with_rows = 0;
    let mut features = std::collections::BTreeMap::<&str, u64>::new();
    for seed in 0..SCHEMAS {
        let mut random = Random::of(2026, &[seed]);
        let schema = Schema::random(&mut random);
        let data = schema.data(&mut random);
        let database = Connection::open_in_memory().unwrap();
        database.execute_batch(&(schema.tables() + &schema.inserts(&data))).unwrap();
        let questions: Vec<Question> =
            (0..QUERIES).map(|n| Question::random(&schema, n, &mut random)).collect();
        let text = schema.text() + &questions.iter().map(|q| format!("\n{}\n", q.loom)).collect::<String>();
        let model = model(&text);
        let lines = schema.lines(&data);
        let state = loaded(&model, &lines);
        for (n, question) in questions.iter().enumerate() {
            let expected = by_sql(&database, &question.sql);
            let found = by_oracle(&model, &state, n, &question.parameters);
            assert_eq!(
                found,
                expected,
                "\nseed {seed}\n{}\n{}\n{}\n{}\n{}\n",
                schema.text(),
                lines.iter().map(|(class, json)| format!("{class} {json}\n")).collect::<String>(),
                question.loom,
                question.parameters,
                question.sql
            );
            with_rows += u64::from(!found.is_empty());
            for feature in &question.features {
                *features.entry(feature).or_default() += 1;
            }
        }
    }
    let cases = SCHEMAS * QUERIES;
    assert!(with_rows * 100 >= cases * 60, "only {with_rows} of {cases} have rows");
    for feature in question::FEATURES {
        let count = features.get(feature).copied().unwrap_or(0);
        assert!(count * 100 >= cases, "{feature} in {count} of {cases} only: {features:?}");
    }
}

fn loaded(model: &Model, lines: &[(String, Json)]) -> State {
    let record = |(name, json): &(String, Json)| {
        Record::from_json(&model.conceptual, class(&model.conceptual, name), json)
            .unwrap_or_else(|errors| panic!("{json}: {errors:?}"))
    };
    let records: Vec<Record> = lines.iter().map(record).collect();
    let mut state = State::new();
    state.load(model, &records, &Inputs::at(jiff::Timestamp::UNIX_EPOCH)).unwrap();
    state
}

fn by_oracle(model: &Model, state: &State, n: usize, given: &Json) -> Rows {
    let query = &model.workload.queries[n];
    let parameters = parameters(&model.conceptual, &query.parameters, given);
    let rows = state.query(model, query, &parameters, jiff::Timestamp::UNIX_EPOCH).unwrap();
    rows.iter().map(|row| row.iter().map(|value| shown(&model.conceptual, value)).collect()).collect()
}

fn shown(conceptual: &Conceptual, value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => u8::from(*value).to_string(),
        Value::Int(value) => value.to_string(),
        Value::Text(text) => format!("{text:?}"),
        Value::Reference(parts) => {
            parts.iter().map(|part| shown(conceptual, part)).collect::<Vec<_>>().join("/")
        }
        Value::List(_) | Value::Set(_) => lists::shown_list(conceptual, value),
        other => panic!("{other:?}"),
    }
}

fn by_sql(database: &Connection, sql: &str) -> Rows {
    let mut statement = database.prepare(sql).unwrap_or_else(|error| panic!("{error}\n{sql}"));
    let columns = statement.column_count();
    let mut rows = statement.query([]).unwrap();
    let mut found = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        let column = |index| match row.get_ref(index).unwrap() {
            ValueRef::Null => "null".to_owned(),
            ValueRef::Integer(value) => value.to_string(),
            ValueRef::Text(text) => format!("{:?}", std::str::from_utf8(text).unwrap()),
            other => panic!("{other:?}"),
        };
        found.push((0..columns).map(column).collect());
    }
    found
}
