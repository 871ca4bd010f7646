//! A design in the terms of a store. One folder a store, the same files in each: `capability.rs` says what it can do,
//! `profile.rs` what it costs.

pub mod cassandra;
pub mod dynamodb;
pub mod embedded;
pub mod mongodb;
pub mod redis;

use askloom_model::{Capability, Profile};

/// A store that designs can be made for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    pub capability: &'static Capability,
    pub profile: &'static Profile,
}

static TARGETS: [Target; 5] = [
    Target { capability: &embedded::CAPABILITY, profile: &embedded::PROFILE },
    Target { capability: &redis::CAPABILITY, profile: &redis::PROFILE },
    Target { capability: &mongodb::CAPABILITY, profile: &mongodb::PROFILE },
    Target { capability: &dynamodb::CAPABILITY, profile: &dynamodb::PROFILE },
    Target { capability: &cassandra::CAPABILITY, profile: &cassandra::PROFILE },
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
    use askloom_model::{Charging, Fact};

    #[test]
    fn names_are_unique_and_the_tables_of_a_target_belong_together() {
        for target in targets() {
            assert_eq!(target.capability.target, target.profile.target);
            assert_eq!(super::target(target.capability.target), Some(target));
        }
        assert_eq!(target("sql"), None);
    }

    #[test]
    fn every_number_is_sane_and_says_where_it_comes_from() {
        for target in targets() {
            let mut facts: Vec<Fact<f64>> = target.profile.storage.into_iter().collect();
            match target.profile.charging {
                Charging::Linear(c) => facts.extend([
                    c.read_request,
                    c.partition,
                    c.row,
                    c.byte_read,
                    c.write_request,
                    c.put,
                    c.delete,
                    c.byte_written,
                    c.client.filter,
                    c.client.compare,
                    c.client.group,
                ]),
                Charging::Units(u) => {
                    facts.extend([u.read_bytes, u.write_bytes, u.transaction, u.read_price, u.write_price]);
                }
            }
            for fact in facts {
                assert!(fact.value.is_finite() && fact.value >= 0.0, "{}: {fact:?}", target.profile.target);
                assert!(fact.said.len() > 10, "{}: {fact:?}", target.profile.target);
            }
            let limits = target.capability.limits;
            let numbers = [
                limits.block_key,
                limits.entry_key,
                limits.record,
                limits.block,
                limits.page,
                limits.batch_get,
            ];
            for limit in numbers.into_iter().flatten() {
                assert!(limit.value > 0 && limit.said.len() > 10, "{}: {limit:?}", target.capability.target);
            }
        }
    }
}
