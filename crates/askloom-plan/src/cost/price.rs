//! The price of a step: the only place where work becomes an estimate, so that plans, writes and the optimiser agree.

use super::CostModel;
use askloom_model::{Estimate, Work};

/// What one step costs.
#[must_use]
pub fn price(model: &dyn CostModel, work: &Work) -> Estimate {
    Estimate {
        requests: work.requests + work.write_requests,
        partitions: work.partitions,
        rows: work.rows,
        bytes: work.bytes,
        puts: work.puts,
        deletes: work.deletes,
        written: work.written,
        cost: model.cost(work),
    }
}

/// What several steps cost together: the sum of their prices.
#[must_use]
pub fn price_all<'w>(model: &dyn CostModel, work: impl IntoIterator<Item = &'w Work>) -> Estimate {
    work.into_iter().map(|work| price(model, work)).sum()
}
