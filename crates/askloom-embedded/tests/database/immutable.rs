//! Immutable entities, and times to live that count from an attribute, on the embedded store.

use super::{Scratch, assert_sound, now, query, text, write, write_at};
use askloom_embedded::database::{OpenError, Swept};
use askloom_engine::RunError;
use askloom_model::{Element, Record, Value};
use jiff::ToSpan;

const MODEL: &str = "
@ttl(2 days from at)
immutable entity Reading { id sensor: text, id at: timestamp, volts: int }
query bySensor: SELECT volts FROM Reading WHERE sensor = :sensor ORDER BY at
query strong: SELECT sensor FROM Reading WHERE volts = :volts
write record: UPSERT Reading
";

fn reading(sensor: &str, at: jiff::Timestamp, volts: i64) -> [(&'static str, Value); 3] {
    [("sensor", text(sensor)), ("at", Value::Timestamp(at)), ("volts", Value::Int(volts))]
}

#[test]
fn the_same_value_again_changes_nothing_and_another_is_refused() {
    let folder = Scratch::new();
    let (database, _) = folder.apply(MODEL).unwrap();
    for _ in 0..3 {
        let outcome = write(&database, "record", &reading("s", now(), 5)).unwrap();
        assert_eq!(outcome.matched, [1]);
    }
    let breach = write(&database, "record", &reading("s", now(), 6)).unwrap_err();
    assert_eq!(breach, RunError::ImmutableEntity { class: "Reading".to_owned() });
    assert_eq!(query(&database, "bySensor", &[("sensor", text("s"))]).0, [[Value::Int(5)]]);
    assert_sound(&database);
}

#[test]
fn sweeping_goes_by_the_time_that_the_data_says() {
    let folder = Scratch::new();
    let (database, _) = folder.apply(MODEL).unwrap();
    let later = |hours: i64| now().checked_add(hours.hours()).unwrap();
    for hours in [-47, -24, 0, 24] {
        write(&database, "record", &reading("s", later(hours), hours)).unwrap();
    }
    // Past its time when it comes: gone at once, and nothing is left of it.
    write(&database, "record", &reading("s", later(-48), 9)).unwrap();
    let volts = |rows: Vec<Vec<Value>>| rows.into_iter().map(|row| row[0].clone()).collect::<Vec<_>>();
    let (rows, _) = query(&database, "bySensor", &[("sensor", text("s"))]);
    assert_eq!(volts(rows), [-47, -24, 0, 24].map(Value::Int));
    assert_eq!(database.sweep(now()).unwrap(), Swept::default());
    assert_eq!(database.sweep(later(24)).unwrap(), Swept { aggregates: 2, parts: 0, tombstones: 0 });
    assert_sound(&database);
    // Its id is free.
    write_at(&database, "record", &reading("s", later(24), 24), later(24)).unwrap();
    assert_eq!(database.sweep(later(72)).unwrap(), Swept { aggregates: 2, parts: 0, tombstones: 0 });
    assert_sound(&database);
}

#[test]
fn a_store_refuses_another_word_about_immutability() {
    let folder = Scratch::new();
    drop(folder.apply(MODEL).unwrap());
    let refused = |text: &str| match folder.apply(text) {
        Err(OpenError::Different(differences)) => {
            differences.iter().map(ToString::to_string).collect::<Vec<_>>()
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("the store took it"),
    };
    let changed = refused(&MODEL.replace("immutable entity", "entity"));
    assert_eq!(
        changed,
        ["`Reading` would no longer be immutable, and copies may rely on it that it never changes"]
    );
    let ttl = MODEL.replace("2 days from at", "2 days");
    drop(folder.apply(&ttl).unwrap());
}

#[test]
fn a_part_that_moves_in_its_list_keeps_its_immutable_members() {
    let folder = Scratch::new();
    let (database, _) = folder
        .apply(
            "entity Shelf { id h: int, part books: Book[*] }
        entity Book { id b: int, immutable made: int }
        query books: SELECT b, made FROM Book
        write keep: STORE Shelf",
        )
        .unwrap();
    let conceptual = &database.schema().model.conceptual;
    let class = conceptual.classes.iter().find(|(_, class)| class.name == "Book").unwrap().0;
    let members: Vec<_> = conceptual.all_members(class).collect();
    let keep = |books: &[[i64; 2]]| {
        let element = |(ordinal, book): (u64, &[i64; 2])| {
            let mut record = Record::new(class);
            for (&member, &value) in members.iter().zip(book) {
                record.set(member, Value::Int(value));
            }
            Element { ordinal, value: Value::Record(Box::new(record)) }
        };
        let books = Value::List((0..).zip(books).map(element).collect());
        write(&database, "keep", &[("h", Value::Int(1)), ("books", books)])
    };
    keep(&[[1, 10], [2, 20]]).unwrap();
    let refused = RunError::Immutable { field: "Book.made".to_owned() };
    assert_eq!(keep(&[[2, 21]]).unwrap_err(), refused);
    keep(&[[2, 20], [3, 10]]).unwrap();
    assert_eq!(query(&database, "books", &[]).0, [[2, 20], [3, 10]].map(|row| row.map(Value::Int)));
    assert_sound(&database);
}
