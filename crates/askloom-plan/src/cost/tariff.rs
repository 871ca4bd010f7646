//! Cost models that are no store's own: those that have a name, and what a person's own numbers make of one.

use super::charge::charge;
use super::{CostModel, Counting, Values};
use askloom_model::{Charging, ClientWork, Coefficients, Fact, Profile, Work};
use std::borrow::Cow;

const BY_REQUESTS: &str = "by definition: this model counts requests and nothing else";
const NOSE: &str = "Mior, Salem, Aboulnaga, Liu, \"NoSE: Schema Design for NoSQL Applications\": the coefficients of \
                    its published experiments";
const NO_TERM: &str = "the published model has no term for it";

/// As in `--cost-model`.
pub const NAMES: [&str; 2] = ["request-count", "cassandra-published"];

/// A cost model as data.
#[derive(Debug, Clone, PartialEq)]
pub struct Tariff {
    /// What costs are counted in.
    pub unit: Cow<'static, str>,
    pub charging: Charging,
    /// What a stored byte costs beside a second of the workload.
    pub storage: f64,
    pub counting: Counting,
}

impl Tariff {
    /// The model of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "request-count" => Some(Self::request_count()),
            "cassandra-published" => Some(Self::cassandra_published()),
            _other => None,
        }
    }

    /// Nothing costs anything, in a unit.
    #[must_use]
    pub fn free(unit: impl Into<Cow<'static, str>>, said: &'static str) -> Self {
        Self {
            unit: unit.into(),
            charging: Charging::Linear(nothing(said)),
            storage: 0.0,
            counting: Counting::default(),
        }
    }

    fn request_count() -> Self {
        let one = Fact::new(1.0, BY_REQUESTS);
        let coefficients = Coefficients { read_request: one, write_request: one, ..nothing(BY_REQUESTS) };
        Self { charging: Charging::Linear(coefficients), ..Self::free("requests", BY_REQUESTS) }
    }

    /// The model of NoSE as it is published: for steps instead of requests, by its own counts, and with nothing for
    /// what the client does but a constant for a sort. The profile of the store `cassandra` takes the same
    /// coefficients for ours.
    fn cassandra_published() -> Self {
        let none = nothing(NO_TERM);
        let coefficients = Coefficients {
            read_step: Fact::new(0.007_839_564_5, NOSE),
            partition: Fact::new(0.001_369_278_6, NOSE),
            row: Fact::new(0.000_011_709_363_838_649_6, NOSE),
            put: Fact::new(0.013_329_108, NOSE),
            delete: Fact::new(0.001_328_790_3, NOSE),
            client: ClientWork { sort: Fact::new(1.0, NOSE), ..none.client },
            ..none
        };
        Self {
            charging: Charging::Linear(coefficients),
            counting: Counting { range: Some(0.1), values: Values::Even },
            ..Self::free("units", NO_TERM)
        }
    }
}

const fn nothing(said: &'static str) -> Coefficients {
    let zero = Fact::new(0.0, said);
    Coefficients {
        read_step: zero,
        read_request: zero,
        partition: zero,
        row: zero,
        byte_read: zero,
        write_request: zero,
        put: zero,
        delete: zero,
        byte_written: zero,
        client: ClientWork { filter: zero, compare: zero, group: zero, sort: zero },
    }
}

impl From<&Profile> for Tariff {
    fn from(profile: &Profile) -> Self {
        Self {
            unit: profile.unit.into(),
            charging: profile.charging,
            storage: profile.storage(),
            counting: Counting::default(),
        }
    }
}

impl CostModel for Tariff {
    fn unit(&self) -> Cow<'static, str> {
        self.unit.clone()
    }

    fn cost(&self, work: &Work) -> f64 {
        charge(&self.charging, work)
    }

    fn storage(&self) -> f64 {
        self.storage
    }

    fn counting(&self) -> Counting {
        self.counting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_model_and_no_other_has() {
        assert!(NAMES.iter().all(|name| Tariff::named(name).is_some()));
        assert_eq!(Tariff::named("cassandra"), None);
    }

    #[test]
    fn requests_are_counted_whatever_they_bring() {
        let model = Tariff::named("request-count").unwrap();
        let work =
            Work { requests: 3.0, write_requests: 2.0, rows: 1e6, bytes: 1e9, puts: 7.0, ..Work::default() };
        assert_eq!(model.cost(&work), 5.0);
        assert_eq!(model.cost(&Work { sorts: 1.0, compared: 1e6, filtered: 1e6, ..Work::default() }), 0.0);
    }
}
