//! A cost model of one's own: coefficients in a TOML file. `docs/costs.md` tells of every key.

use super::entries::Entries;
use crate::error::Error;
use askloom_model::{Charging, Coefficients, Fact, RequestUnits};
use askloom_plan::cost::{MONTH, NAMES, Tariff, Values};
use askloom_target::{target, targets};
use std::ops::RangeInclusive;

const SAID: &str = "the file of the cost model";
const UNSAID: &str = "the file of the cost model says nothing of it";

/// No price is negative, and none so large that a workload of them were more than a number can hold.
pub(super) const PRICE: RangeInclusive<f64> = 0.0..=1e12;
const BYTES: RangeInclusive<f64> = 1.0..=1e12;
const SHARE: RangeInclusive<f64> = 0.0..=1.0;

/// As wide as a column of costs.
const UNIT: usize = 8;

/// A key, the numbers that it may have, and which coefficient it is.
type Key<T> = (&'static str, RangeInclusive<f64>, fn(&mut T) -> &mut Fact<f64>);

const LINEAR: [Key<Coefficients>; 13] = [
    ("read-step", PRICE, |c| &mut c.read_step),
    ("read-request", PRICE, |c| &mut c.read_request),
    ("partition", PRICE, |c| &mut c.partition),
    ("row", PRICE, |c| &mut c.row),
    ("byte-read", PRICE, |c| &mut c.byte_read),
    ("write-request", PRICE, |c| &mut c.write_request),
    ("put", PRICE, |c| &mut c.put),
    ("delete", PRICE, |c| &mut c.delete),
    ("byte-written", PRICE, |c| &mut c.byte_written),
    ("filter", PRICE, |c| &mut c.client.filter),
    ("compare", PRICE, |c| &mut c.client.compare),
    ("group", PRICE, |c| &mut c.client.group),
    ("sort", PRICE, |c| &mut c.client.sort),
];

const UNITS: [Key<RequestUnits>; 6] = [
    ("read-unit-bytes", BYTES, |u| &mut u.read_bytes),
    ("write-unit-bytes", BYTES, |u| &mut u.write_bytes),
    ("transaction-times", PRICE, |u| &mut u.transaction),
    ("lagging-times", PRICE, |u| &mut u.lagging),
    ("million-read-units", PRICE, |u| &mut u.read_price),
    ("million-write-units", PRICE, |u| &mut u.write_price),
];

/// For every model.
const ALL: [&str; 4] = ["unit", "based-on", "range-share", "even-values"];
/// A byte for a second, of what charges so much for each; a gigabyte for a month, of what is charged in units.
const STORED_BYTE: &str = "stored-byte";
const GIGABYTE: &str = "gigabyte-month";

/// The model that a file has.
pub(super) fn tariff(mut entries: Entries) -> Result<Tariff, Error> {
    let based = based_on(&mut entries)?;
    let unit = entries.text("unit", UNIT)?;
    let mut tariff = match (based, unit) {
        (Some(based), None) => based,
        (Some(based), Some(unit)) => Tariff { unit: unit.into(), ..based },
        (None, Some(unit)) => Tariff::free(unit, UNSAID),
        (None, None) => {
            return Err(entries.lacks("unit", "what costs are counted in, such as \"ms\", or `based-on`"));
        }
    };
    if let Some(share) = entries.number("range-share", &SHARE)? {
        tariff.counting.range = Some(share);
    }
    if let Some(even) = entries.flag("even-values")? {
        tariff.counting.values = if even { Values::Even } else { Values::AsSaid };
    }
    let mut known = ALL.to_vec();
    match &mut tariff.charging {
        Charging::Linear(coefficients) => {
            known.extend(set(&mut entries, coefficients, &LINEAR)?);
            tariff.storage = entries.number(STORED_BYTE, &PRICE)?.unwrap_or(tariff.storage);
            known.push(STORED_BYTE);
        }
        Charging::Units(units) => {
            known.extend(set(&mut entries, units, &UNITS)?);
            let price = entries.number(GIGABYTE, &PRICE)?;
            tariff.storage = price.map_or(tariff.storage, |price| price / 1e9 / MONTH);
            known.push(GIGABYTE);
        }
    }
    entries.finish(&known)?;
    Ok(tariff)
}

/// The numbers of a store or of a model with a name, of which the file changes some.
fn based_on(entries: &mut Entries) -> Result<Option<Tariff>, Error> {
    let stores = targets().iter().map(|target| target.capability.target);
    let known: Vec<&str> = stores.chain(NAMES).collect();
    let find = |name: &str| Tariff::named(name).or_else(|| Some(Tariff::from(target(name)?.profile)));
    entries.one_of("based-on", &known, find)
}

/// Sets what the file has, and says which keys there are.
fn set<T>(entries: &mut Entries, of: &mut T, keys: &[Key<T>]) -> Result<Vec<&'static str>, Error> {
    for (key, within, place) in keys {
        if let Some(number) = entries.number(key, within)? {
            *place(of) = Fact::new(number, SAID);
        }
    }
    Ok(keys.iter().map(|(key, ..)| *key).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use askloom_model::Work;
    use askloom_plan::cost::CostModel;
    use std::path::Path;

    fn read(text: &str) -> Result<Tariff, String> {
        let entries = Entries::parse(Path::new("own.toml"), text.to_owned());
        entries.and_then(tariff).map_err(|error| error.to_string())
    }

    #[track_caller]
    fn refused(text: &str, says: &str) {
        let said = read(text).unwrap_err();
        assert!(said.contains(says), "{said}");
    }

    /// Each kind of work costs what its key says, and nothing else does.
    #[test]
    fn each_key_is_for_its_own_work() {
        let one = |set: fn(&mut Work)| {
            let mut work = Work::default();
            set(&mut work);
            work
        };
        let works = [
            ("read-step", one(|w| w.read_steps = 1.0)),
            ("read-request", one(|w| w.requests = 1.0)),
            ("partition", one(|w| w.partitions = 1.0)),
            ("row", one(|w| w.rows = 1.0)),
            ("byte-read", one(|w| w.bytes = 1.0)),
            ("write-request", one(|w| w.write_requests = 1.0)),
            ("put", one(|w| w.puts = 1.0)),
            ("delete", one(|w| w.deletes = 1.0)),
            ("byte-written", one(|w| w.written = 1.0)),
            ("filter", one(|w| w.filtered = 1.0)),
            ("compare", one(|w| w.compared = 1.0)),
            ("group", one(|w| w.grouped = 1.0)),
            ("sort", one(|w| w.sorts = 1.0)),
        ];
        assert_eq!(works.len(), LINEAR.len());
        for (key, work) in works {
            let tariff = read(&format!("unit = \"coins\"\n{key} = 2.5\n")).unwrap();
            assert_eq!(tariff.cost(&work), 2.5, "{key}");
            let others: f64 =
                works.iter().filter(|(other, _)| *other != key).map(|(_, w)| tariff.cost(w)).sum();
            assert_eq!(others, 0.0, "{key}");
            assert_eq!(tariff.unit(), "coins");
        }
    }

    #[test]
    fn what_it_is_based_on_stays_but_for_what_it_says() {
        let own = read("based-on = \"dynamodb\"\nmillion-read-units = 1\ngigabyte-month = 2.592\n").unwrap();
        let read_one = Work { bytes: 10.0, reads: 1.0, ..Work::default() };
        let write_one = Work { written: 10.0, puts: 1.0, ..Work::default() };
        assert_eq!((own.cost(&read_one), own.cost(&write_one)), (1.0, 0.625));
        assert!((own.storage() * 1e9 - 1.0).abs() < 1e-12 && own.unit() == "$/M");
        let own =
            read("based-on = \"cassandra-published\"\nrange-share = 0.5\neven-values = false\n").unwrap();
        assert_eq!((own.counting.range, own.counting.values), (Some(0.5), Values::AsSaid));
        assert_eq!(own.cost(&Work { sorts: 1.0, ..Work::default() }), 1.0);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        refused("unit = \"ms\"\nrow = -1\n", "own.toml:2: `row` is -1; it has to be a number from 0 to");
        refused("unit = \"ms\"\n\nrow = nan\n", "own.toml:3: `row` is NaN");
        refused("unit = \"ms\"\nrow = inf\n", "own.toml:2: `row` is inf");
        refused("unit = \"ms\"\nrow = 1e13\n", "own.toml:2: ");
        refused("unit = \"ms\"\nrow = \"1\"\n", "own.toml:2: `row` is no number");
        refused("unit = \"ms\"\nrow = 1\nrow = 2\n", "own.toml:3: ");
        refused("unit = \"ms\"\nrow = = 2\n", "own.toml:2: ");
        refused("unit = \"milliseconds\"\n", "own.toml:1: `unit` has to be a text of 1 to 8 characters");
        refused("unit = 3\n", "own.toml:1: `unit` is no text");
        refused("unit = \"a\\u0007\"\n", "own.toml:1: `unit` has to be");
        refused("row = 1\n", "`unit` is missing");
        refused("unit = \"ms\"\nrange-share = 1.5\n", "own.toml:2: `range-share` is 1.5");
        refused("unit = \"ms\"\neven-values = 1\n", "own.toml:2: `even-values` is true or false");
        refused("based-on = \"sql\"\n", "own.toml:1: `based-on` is `sql`; there are embedded, redis");
        refused("based-on = \"dynamodb\"\nread-unit-bytes = 0\n", "from 1 to");
    }

    #[test]
    fn an_unknown_key_is_told_with_those_that_there_are() {
        refused("unit = \"ms\"\nrows = 1\n", "own.toml:2: `rows` is no key here; there are unit, based-on");
        refused("unit = \"ms\"\nmillion-read-units = 1\n", "read-request, partition, row, byte-read");
        refused("based-on = \"dynamodb\"\nrow = 1\n", "million-read-units");
        refused("unit = \"ms\"\n[prices]\nrow = 1\n", "own.toml:2: `prices` is no key here");
    }

    #[test]
    fn every_key_is_documented() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/costs.md");
        let page = std::fs::read_to_string(page).unwrap();
        let linear = LINEAR.iter().map(|(key, ..)| *key);
        let units = UNITS.iter().map(|(key, ..)| *key);
        for key in linear.chain(units).chain(ALL).chain([STORED_BYTE, GIGABYTE]) {
            assert!(page.contains(&format!("| `{key}` |")), "docs/costs.md has no row of `{key}`");
        }
    }
}
