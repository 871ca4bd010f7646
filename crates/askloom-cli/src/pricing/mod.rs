//! What costs are worked out by: what is known of the store, a model that has a name, or one's own numbers.

mod entries;
mod file;
mod prices;
mod sources;

pub(crate) use prices::PriceList;
pub(crate) use sources::page;

use crate::exit::Failure;
use crate::settings::{Settings, folder, variable};
use askloom_design::cost::{CostModel, Costing, NAMES, Tariff};
use askloom_target::Target;
use entries::Entries;
use std::path::{Path, PathBuf};

/// The unit of what is paid for: dollars for a million.
const DOLLARS: &str = "$/M";

#[derive(Debug, Default, clap::Args)]
pub(crate) struct PricingArgs {
    /// What costs are worked out by: request-count, cassandra-published, or your
    /// own FILE.toml. Without it ASKLOOM_COST_MODEL, then askloom.toml beside the
    /// model, then what is known of the store
    #[arg(long, value_name = "NAME or FILE")]
    cost_model: Option<String>,

    /// For DynamoDB: prices from a file instead of the list that comes with the
    /// program
    #[arg(long, value_name = "FILE", conflicts_with = "cost_model")]
    prices: Option<PathBuf>,
}

/// A cost model for a store.
#[derive(Debug)]
pub(crate) struct Pricing {
    pub(crate) target: &'static Target,
    tariff: Tariff,
    /// As it was named; nothing for the store's own.
    pub(crate) model: Option<String>,
    pub(crate) prices: Option<PriceList>,
}

impl PricingArgs {
    /// The one that is named, else by `ASKLOOM_COST_MODEL`, else by askloom.toml beside the model, else the store's own.
    pub(crate) fn chosen(&self, target: &'static Target, model: &Path) -> Result<Pricing, Failure> {
        // A list of prices is for what the store is paid, whatever else the settings name.
        if let Some(file) = &self.prices {
            return Pricing::at_prices(target, file);
        }
        if let Some(name) = self.cost_model.clone().or_else(|| variable("ASKLOOM_COST_MODEL")) {
            return Pricing::named(target, &name, Path::new(""));
        }
        match Settings::beside(model)?.cost_model {
            // What the settings name is beside them, wherever the command was started.
            Some(name) => Pricing::named(target, &name, &folder(model)),
            None => Pricing::own(target),
        }
    }
}

impl Pricing {
    /// What is known of the store, at the prices that come with the program.
    fn own(target: &'static Target) -> Result<Self, Failure> {
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

    fn at_prices(target: &'static Target, file: &Path) -> Result<Self, Failure> {
        if target.prices.is_none() {
            let title = target.capability.title;
            let why = "is not paid by the request; --cost-model FILE.toml takes other numbers for it";
            return Err(Failure::Call(format!("--prices does nothing here: {title} {why}")));
        }
        let mut tariff = Tariff::from(target.profile);
        let name = Some(file.display().to_string());
        let prices = Some(prices::put(Entries::read(file)?, name, &mut tariff)?);
        Ok(Self { target, tariff, model: None, prices })
    }

    fn named(target: &'static Target, name: &str, beside: &Path) -> Result<Self, Failure> {
        let is_file = Path::new(name).extension().is_some_and(|extension| extension == "toml");
        let tariff = match Tariff::named(name) {
            Some(tariff) => tariff,
            None if is_file => file::tariff(Entries::read(&beside.join(name))?)?,
            None => {
                let known = NAMES.join(", ");
                let why = format!("there is no cost model `{name}`; there are {known}");
                return Err(Failure::Call(format!("{why}, and files, whose names end in .toml")));
            }
        };
        Ok(Self { target, tariff, model: Some(name.to_owned()), prices: None })
    }

    pub(crate) fn costing(&self) -> Costing<'_> {
        Costing::new(self.target.capability, &self.tariff)
    }

    /// Dollars for a byte that is stored and a million seconds, if costs are dollars.
    pub(crate) fn dollars(&self) -> Option<f64> {
        (self.tariff.unit() == DOLLARS).then(|| self.tariff.storage())
    }

    /// What costs are by, if that is more than what is known of the store.
    pub(crate) fn words(&self) -> Option<String> {
        let model = || Some(format!("costs: by {}, not by what is known of the store", self.model.as_ref()?));
        self.prices.as_ref().map(PriceList::words).or_else(model)
    }
}
