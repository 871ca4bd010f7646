//! What costs are worked out by: what is known of the store, a model that has a name, or one's own numbers.

mod entries;
mod file;
mod prices;
mod sources;

pub use prices::PriceList;
pub use sources::page;

use crate::error::Error;
use askloom_plan::cost::{CostModel, Costing, NAMES, Tariff};
use askloom_target::Target;
use entries::Entries;
use std::path::Path;

/// The unit of what is paid for: dollars for a million.
const DOLLARS: &str = "$/M";

/// A cost model for a store.
#[derive(Debug)]
pub struct Pricing {
    pub target: &'static Target,
    tariff: Tariff,
    /// As it was named; nothing for the store's own.
    pub model: Option<String>,
    pub prices: Option<PriceList>,
}

impl Pricing {
    /// What is known of the store, at the prices that come with the program.
    pub fn own(target: &'static Target) -> Result<Self, Error> {
        let mut tariff = Tariff::from(target.profile);
        let prices = match target.prices {
            Some(text) => {
                let entries = Entries::parse(Path::new("prices.toml"), text.to_owned())?;
                Some(prices::put(entries, None, &mut tariff)?)
            }
            None => None,
        };
        Ok(Self { target, tariff, model: None, prices })
    }

    /// What is known of the store, at the prices of a list. `read` gives the text of the file.
    pub fn at_prices(
        target: &'static Target,
        file: &Path,
        read: impl FnOnce(&Path) -> Result<String, Error>,
    ) -> Result<Self, Error> {
        if target.prices.is_none() {
            let title = target.capability.title;
            let why = "is not paid by the request; --cost-model FILE.toml takes other numbers for it";
            return Err(Error::Call(format!("--prices does nothing here: {title} {why}")));
        }
        let mut tariff = Tariff::from(target.profile);
        let name = Some(file.display().to_string());
        let prices = Some(prices::put(Entries::parse(file, read(file)?)?, name, &mut tariff)?);
        Ok(Self { target, tariff, model: None, prices })
    }

    /// A cost model by its name, or of a file in the folder `beside`. `read` gives the text of the file.
    pub fn named(
        target: &'static Target,
        name: &str,
        beside: &Path,
        read: impl FnOnce(&Path) -> Result<String, Error>,
    ) -> Result<Self, Error> {
        let is_file = Path::new(name).extension().is_some_and(|extension| extension == "toml");
        let tariff = match Tariff::named(name) {
            Some(tariff) => tariff,
            None if is_file => {
                let path = beside.join(name);
                file::tariff(Entries::parse(&path, read(&path)?)?)?
            }
            None => {
                let known = NAMES.join(", ");
                let why = format!("there is no cost model `{name}`; there are {known}");
                return Err(Error::Call(format!("{why}, and files, whose names end in .toml")));
            }
        };
        Ok(Self { target, tariff, model: Some(name.to_owned()), prices: None })
    }

    pub fn costing(&self) -> Costing<'_> {
        Costing::new(self.target.capability, &self.tariff)
    }

    /// Dollars for a byte that is stored and a million seconds, if costs are dollars.
    pub fn dollars(&self) -> Option<f64> {
        (self.tariff.unit() == DOLLARS).then(|| self.tariff.storage())
    }

    /// What costs are by, if that is more than what is known of the store.
    pub fn words(&self) -> Option<String> {
        let model = || Some(format!("costs: by {}, not by what is known of the store", self.model.as_ref()?));
        self.prices.as_ref().map(PriceList::words).or_else(model)
    }
}
