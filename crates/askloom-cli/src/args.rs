//! Arguments that several commands take.

use askloom::data_format::DataFormat;
use askloom::design::method::Method;
use askloom::error::Error;
use askloom::project::{CostChoice, Project};
use askloom::store::StoreUrl;
use clap::ValueEnum;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct StoreArgs {
    /// The store, as a URL: `file:FOLDER` is the embedded one. Without it
    /// ASKLOOM_STORE, then askloom.toml beside the model, then file:data/
    #[arg(long, value_name = "URL")]
    store: Option<String>,
}

impl StoreArgs {
    /// The store that is meant.
    pub(crate) fn url(&self, project: &Project) -> Result<StoreUrl, Error> {
        project.store(self.store.as_deref())
    }
}

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

impl PricingArgs {
    pub(crate) fn choice(&self) -> CostChoice {
        CostChoice { cost_model: self.cost_model.clone(), prices: self.prices.clone() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodName {
    Cost,
    Noam,
    Qodm,
    Kvmod,
    Given,
}

impl MethodName {
    pub(crate) fn method(self) -> Method {
        match self {
            Self::Cost => Method::Cost,
            Self::Noam => Method::Noam,
            Self::Qodm => Method::Qodm,
            Self::Kvmod => Method::Kvmod,
            Self::Given => Method::Given,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DataFormatName {
    Jsonl,
    Csv,
}

impl DataFormatName {
    pub(crate) fn format(self) -> DataFormat {
        match self {
            Self::Jsonl => DataFormat::Jsonl,
            Self::Csv => DataFormat::Csv,
        }
    }
}
