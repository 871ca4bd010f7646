//! What a store is paid, by a list with a date.

use super::entries::Entries;
use super::file::PRICE;
use crate::error::Error;
use askloom_model::{Charging, Fact};
use askloom_plan::cost::{MONTH, Tariff};
use serde::Serialize;

const SAID: &str = "the price list";

/// As wide as a line can bear.
const WORDS: usize = 40;

const KEYS: [&str; 6] =
    ["date", "mode", "region", "million-read-units", "million-write-units", "gigabyte-month"];

/// Which list it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PriceList {
    pub mode: String,
    pub region: String,
    pub date: String,
    /// The file; nothing if it is the program's own.
    pub file: Option<String>,
}

impl PriceList {
    /// In a line.
    pub fn words(&self) -> String {
        let Self { mode, region, date, file } = self;
        let from = match file {
            Some(file) => format!(" in {file}"),
            None => " (--prices FILE)".to_owned(),
        };
        format!("prices: {mode}, {region}, list of {date}{from}")
    }
}

/// Puts the prices of a file into a tariff of units.
pub(super) fn put(
    mut entries: Entries,
    file: Option<String>,
    tariff: &mut Tariff,
) -> Result<PriceList, Error> {
    let mut word = |key: &str, what: &str| match entries.text(key, WORDS)? {
        Some(text) => Ok(text),
        None => Err(entries.lacks(key, what)),
    };
    let date = word("date", "when these prices were the ones, such as 2024-11-01")?;
    let mode = word("mode", "how the store is paid, such as \"on-demand\"")?;
    let region = word("region", "where, such as \"us-east-1\"")?;
    let mut price = |key: &str, what: &str| match entries.number(key, &PRICE)? {
        Some(price) => Ok(Fact::new(price, SAID)),
        None => Err(entries.lacks(key, what)),
    };
    let read = price("million-read-units", "dollars for a million of them")?;
    let write = price("million-write-units", "dollars for a million of them")?;
    let stored = price("gigabyte-month", "dollars for a gigabyte that is stored a month")?;
    if let Charging::Units(units) = &mut tariff.charging {
        (units.read_price, units.write_price) = (read, write);
        tariff.storage = stored.value / 1e9 / MONTH;
    }
    entries.finish(&KEYS)?;
    Ok(PriceList { mode, region, date, file })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn read(text: &str) -> Result<(PriceList, Tariff), String> {
        let mut tariff = Tariff::from(&askloom_target::dynamodb::PROFILE);
        let entries = Entries::parse(Path::new("prices.toml"), text.to_owned());
        let list = entries.and_then(|entries| put(entries, None, &mut tariff));
        list.map(|list| (list, tariff)).map_err(|error| error.to_string())
    }

    #[test]
    fn the_profile_has_the_prices_of_the_list() {
        let prices: Vec<_> =
            askloom_target::targets().iter().filter_map(|target| Some((target, target.prices?))).collect();
        assert_eq!(prices.len(), 1);
        for (target, text) in prices {
            let (list, priced) = read(text).unwrap();
            let own = Tariff::from(target.profile);
            let values = |tariff: &Tariff| match tariff.charging {
                Charging::Units(units) => [units.read_price.value, units.write_price.value, tariff.storage],
                Charging::Linear(_) => [0.0; 3],
            };
            assert_eq!(values(&priced), values(&own));
            let dated = target.profile.facts().into_iter().filter(|fact| fact.said.contains(&list.date));
            assert_eq!(dated.count(), 3, "the profile says when its prices were the ones: {}", list.date);
        }
    }

    #[test]
    fn every_price_has_to_be_there_and_be_one() {
        let whole = askloom_target::dynamodb::PRICES;
        for key in KEYS {
            let without: Vec<&str> = whole.lines().filter(|line| !line.starts_with(key)).collect();
            let said = read(&without.join("\n")).unwrap_err();
            assert!(said.contains(&format!("`{key}` is missing")), "{said}");
        }
        let said = read(&whole.replace("0.625", "-0.625")).unwrap_err();
        let line = whole.lines().position(|line| line.contains("0.625")).unwrap() + 1;
        assert!(said.starts_with(&format!("prices.toml:{line}: `million-write-units` is -0.625")), "{said}");
        let said = read(&format!("{whole}\nyear = 3\n")).unwrap_err();
        assert!(said.contains("`year` is no key here; there are date, mode, region"), "{said}");
    }
}
