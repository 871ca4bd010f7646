//! What has expired is gone for every statement; sweeping gives its space back.

use super::{Scratch, assert_sound, now, text, write_at};
use askloom_embedded::database::Swept;
use askloom_embedded::store::Direction;
use askloom_model::Value;
use jiff::ToSpan;

const MODEL: &str = "
@ttl(1 h) entity Session { id key: text, user: text }
entity Cart { id number: int, part holds: Hold[*] }
@ttl(2 h) entity Hold { id hold: int }
query byUser: SELECT key FROM Session WHERE user = :user
write open: INSERT Session
write cart: INSERT Cart
write hold: ADD :hold TO Cart.holds WHERE number = :n
write close: DELETE FROM Session WHERE key = :key
";

#[test]
fn what_has_expired_goes_with_its_copies() {
    let folder = Scratch::new();
    let (database, _) = folder.apply(MODEL).unwrap();
    let later = |hours: i64| now().checked_add(hours.hours()).unwrap();
    for number in 0..400 {
        // Half of them an hour later.
        let at = later(number % 2);
        let key = text(&format!("s{number}"));
        write_at(&database, "open", &[("key", key), ("user", text("ada"))], at).unwrap();
    }
    write_at(&database, "cart", &[("number", Value::Int(1))], now()).unwrap();
    let hold = askloom_model::Record::from_json(
        &database.schema().model.conceptual,
        database.schema().model.conceptual.classes.iter().find(|(_, c)| c.name == "Hold").unwrap().0,
        &serde_json::json!({"hold": 1}),
    );
    let hold = Value::Record(Box::new(hold.unwrap()));
    write_at(&database, "hold", &[("n", Value::Int(1)), ("hold", hold)], now()).unwrap();
    let keys = || database.store().snapshot().prefix(&[], Direction::Ascending).unwrap().count();
    let full = keys();

    assert_eq!(database.sweep(now()).unwrap(), Swept::default());
    assert_eq!(database.sweep(later(1)).unwrap(), Swept { aggregates: 200, parts: 0, tombstones: 0 });
    assert_sound(&database);
    // Entry and copies; the system entry stays for a while.
    assert!(keys() <= full - 400, "{} of {full} keys", keys());
    assert_eq!(database.sweep(later(2)).unwrap(), Swept { aggregates: 200, parts: 1, tombstones: 0 });
    assert_sound(&database);
    assert_eq!(database.sweep(later(2)).unwrap(), Swept::default());
    let days = |days: i64| later(2 + days * 24);
    assert_eq!(database.sweep(days(9)).unwrap().tombstones, 0);
    assert_eq!(database.sweep(days(10)).unwrap().tombstones, 400);
    assert_sound(&database);
    // The cart, its system entry, and the store's own.
    assert!(keys() <= 5, "{} keys are left", keys());
}
