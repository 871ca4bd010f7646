//! What plans cost: the seam between counting and pricing.
//!
//! Counting is the same for every store: how many requests, rows and bytes a step takes follows from the model's
//! [`Statistics`]. Pricing is a [`CostModel`]: a step's [`Work`] in, a number out. A target's [`Profile`] is one; what
//! a person measured on their own server, and the models of papers, are [`Tariff`]s. A model that a paper fitted to
//! counts of its own says how it counts, by [`Counting`].

mod charge;
mod cuts;
mod max_sizes;
mod price;
mod selectivity;
mod size;
mod spent;
mod stated;
mod statistics;
mod tariff;

pub use cuts::Cuts;
pub use max_sizes::at_most;
pub use price::{price, price_all};
pub use selectivity::list_length;
pub use selectivity::{Asked, selectivity, selectivity_of_all};
pub use size::{Block, Sizes};
pub use spent::Spent;
pub use stated::StatedShares;
pub use statistics::Statistics;
pub use tariff::{NAMES, Tariff};

use askloom_model::{Capability, Conceptual, Estimate, Profile, Work};
use std::borrow::Cow;

/// Puts a price on a step of a plan.
///
/// Prices of steps are added up, so a price must not depend on other steps; and more work must never be cheaper, or
/// the cheapest plan would not be the least one.
pub trait CostModel: Sync {
    /// What prices are counted in.
    fn unit(&self) -> Cow<'static, str>;

    /// What the step costs: finite and not negative.
    fn cost(&self, work: &Work) -> f64;

    /// How long it takes until what costs so much is done; nothing if costs say nothing about time.
    fn milliseconds(&self, cost: f64) -> Option<f64> {
        match self.unit().as_ref() {
            "ns" => Some(cost / 1e6),
            "µs" => Some(cost / 1e3),
            "ms" => Some(cost),
            "s" => Some(cost * 1e3),
            _no_time => None,
        }
    }

    /// What a byte that is stored costs, beside a second of the workload.
    fn storage(&self) -> f64 {
        0.0
    }

    /// How rows are counted that it puts a price on.
    fn counting(&self) -> Counting {
        Counting::default()
    }
}

/// What a cost model has to say about how many rows conditions keep: a model that was fitted to other counts than ours
/// would be wrong about them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Counting {
    /// The share of rows in a range of values. Nothing: by the kind of range, as System R has it.
    pub range: Option<f64>,
    pub values: Values,
}

/// How many rows have one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Values {
    /// As `@freq` and `@skew` say.
    #[default]
    AsSaid,
    /// All rows by the number of different values.
    Even,
}

/// Seconds of thirty days, in millions: prices are for a million.
pub const MONTH: f64 = 2.592;

impl CostModel for Profile {
    fn unit(&self) -> Cow<'static, str> {
        self.unit.into()
    }

    fn cost(&self, work: &Work) -> f64 {
        charge::charge(&self.charging, work)
    }

    fn storage(&self) -> f64 {
        self.storage.map_or(0.0, |price| price.value / 1e9 / MONTH)
    }
}

/// What plans are made for: what the store can do, and what that costs.
#[derive(Clone, Copy)]
pub struct Costing<'c> {
    pub capability: &'c Capability,
    pub model: &'c dyn CostModel,
}

impl std::fmt::Debug for Costing<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Costing").field("target", &self.capability.target).finish_non_exhaustive()
    }
}

impl<'c> Costing<'c> {
    #[must_use]
    pub fn new(capability: &'c Capability, model: &'c dyn CostModel) -> Self {
        Self { capability, model }
    }

    /// What one step costs.
    #[must_use]
    pub fn price(&self, work: &Work) -> Estimate {
        price(self.model, work)
    }

    /// How long something takes: as its cost says, else by its requests, one after the other.
    #[must_use]
    pub fn milliseconds(&self, estimate: &Estimate) -> Option<f64> {
        let by_requests = self.capability.request.map(|each| each.value * estimate.requests);
        self.model.milliseconds(estimate.cost).or(by_requests)
    }

    /// What something costs and how long it takes.
    pub fn spent(&self, estimate: &Estimate) -> Spent {
        Spent { cost: estimate.cost, takes: self.milliseconds(estimate).unwrap_or(0.0) }
    }

    /// The statistics of a model as the cost model counts.
    #[must_use]
    pub fn statistics<'m>(&self, conceptual: &'m Conceptual) -> Statistics<'m> {
        Statistics::counted(conceptual, self.model.counting())
    }

    /// Requests for that many bytes of one range.
    pub fn pages(&self, bytes: f64) -> f64 {
        self.capability.limits.page.map_or(1.0, |page| (bytes / page.value as f64).ceil().max(1.0))
    }

    /// Requests for that many single gets.
    pub fn batches(&self, gets: f64) -> f64 {
        self.capability.limits.batch_get.map_or(gets, |batch| (gets / batch.value as f64).ceil())
    }
}
