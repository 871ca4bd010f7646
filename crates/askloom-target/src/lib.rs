//! A design in the terms of a store. One folder a store, the same files in each: `capability.rs` says what it can do,
//! `profile.rs` what it costs.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a value has eighteen kinds, and each place here is about a few of them"
)]

pub mod cassandra;
pub mod dynamodb;
pub mod embedded;
pub mod generate;
pub mod hbase;
pub mod mongodb;
pub mod names;
pub mod oracle;
pub mod redis;
mod shared_tables;

use askloom_model::{Capability, Profile};
use askloom_plan::cost::Costing;
use generate::Language;

/// A store that designs can be made for.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    pub capability: &'static Capability,
    pub profile: &'static Profile,
    /// What it is paid, as a file, where it is paid by the request.
    pub prices: Option<&'static str>,
    /// Its statements as text. Nothing for a store that has no language of its own.
    pub language: Option<&'static dyn Language>,
}

impl From<&Target> for Costing<'static> {
    fn from(target: &Target) -> Self {
        Self::new(target.capability, target.profile)
    }
}

static TARGETS: [Target; 9] = [
    Target { capability: &embedded::CAPABILITY, profile: &embedded::PROFILE, prices: None, language: None },
    Target {
        capability: &redis::CAPABILITY,
        profile: &redis::PROFILE,
        prices: None,
        language: Some(&redis::Redis(redis::Flavour::Plain)),
    },
    Target {
        capability: &redis::SEARCH_CAPABILITY,
        profile: &redis::SEARCH_PROFILE,
        prices: None,
        language: Some(&redis::Redis(redis::Flavour::Search)),
    },
    Target {
        capability: &redis::CLUSTER_CAPABILITY,
        profile: &redis::CLUSTER_PROFILE,
        prices: None,
        language: Some(&redis::Redis(redis::Flavour::Cluster)),
    },
    Target {
        capability: &mongodb::CAPABILITY,
        profile: &mongodb::PROFILE,
        prices: None,
        language: Some(&mongodb::MongoDb),
    },
    Target {
        capability: &dynamodb::CAPABILITY,
        profile: &dynamodb::PROFILE,
        prices: Some(dynamodb::PRICES),
        language: Some(&dynamodb::DynamoDb),
    },
    Target {
        capability: &cassandra::CAPABILITY,
        profile: &cassandra::PROFILE,
        prices: None,
        language: Some(&cassandra::Cassandra),
    },
    Target {
        capability: &hbase::CAPABILITY,
        profile: &hbase::PROFILE,
        prices: None,
        language: Some(&hbase::HBase),
    },
    Target {
        capability: &oracle::CAPABILITY,
        profile: &oracle::PROFILE,
        prices: None,
        language: Some(&oracle::Oracle),
    },
];

/// Every store, the embedded one first: it is the one that is always there.
#[must_use]
pub fn targets() -> &'static [Target] {
    &TARGETS
}

/// The store of that name, as in `--target`.
#[must_use]
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.capability.target == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use askloom_model::Work;
    use askloom_plan::cost::{CostModel, Tariff};

    #[test]
    fn names_are_unique_and_the_tables_of_a_target_belong_together() {
        for target in targets() {
            assert_eq!(target.capability.target, target.profile.target);
            let found = super::target(target.capability.target).unwrap();
            assert!(std::ptr::eq(found.capability, target.capability));
        }
        assert!(target("sql").is_none());
    }

    #[test]
    fn every_number_is_sane_and_says_where_it_comes_from() {
        for target in targets() {
            let (capability, profile) = (target.capability, target.profile);
            for fact in profile.facts() {
                let number: f64 = fact.value.parse().unwrap();
                assert!(number.is_finite() && number >= 0.0, "{}: {fact:?}", profile.target);
            }
            assert!(capability.facts().len() > 6 && profile.facts().len() > 4);
            let pushes = capability.pushes.iter().map(|push| push.said);
            let facts = capability.facts().into_iter().chain(profile.facts()).map(|fact| fact.said);
            for said in facts.chain(pushes).chain([profile.said]) {
                assert!(said.len() > 10, "{}: {said:?}", capability.target);
            }
        }
    }

    #[test]
    fn a_profile_and_its_tariff_are_one_model() {
        for target in targets() {
            let tariff = Tariff::from(target.profile);
            let work = Work {
                requests: 2.0,
                reads: 2.0,
                rows: 9.0,
                bytes: 9e4,
                puts: 3.0,
                written: 1e4,
                ..Work::default()
            };
            assert_eq!(tariff.cost(&work), target.profile.cost(&work));
            assert_eq!((tariff.unit(), tariff.storage()), (target.profile.unit(), target.profile.storage()));
        }
    }
}
