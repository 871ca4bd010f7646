//! Streams, permutations and Zipf's law, with whole numbers and a mathematics library that is the same everywhere:
//! the one of the platform would round differently here and there.

use crate::random::Random;
use askloom_model::{Conceptual, Member};

/// A stream of its own for what the parts name.
pub(super) fn stream(seed: u64, parts: &[u64]) -> u64 {
    Random::of(seed, parts).next_u64()
}

/// A name as a number (FNV-1a), so that data does not depend on the order of declarations.
pub(super) fn text(name: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

pub(super) fn member(conceptual: &Conceptual, member: Member) -> u64 {
    let class = match member {
        Member::Attribute(id) => conceptual.attributes[id].class,
        Member::End(id) => conceptual.ends[id].class,
    };
    text(&conceptual.classes[class].name) ^ text(conceptual.member_name(member)).rotate_left(32)
}

/// A permutation of `0..n`: neighbours come out far apart, and every number once.
pub(super) fn permuted(index: u64, n: u64, seed: u64) -> u64 {
    if n < 2 {
        return 0;
    }
    let factor = coprime(n);
    let shift = u128::from(stream(seed, &[n])) % u128::from(n);
    let product = u128::from(index % n) * u128::from(factor) + shift;
    u64::try_from(product % u128::from(n)).unwrap_or(0)
}

/// A number near the golden section of `n` that has no divisor in common with it.
fn coprime(n: u64) -> u64 {
    let golden = u64::try_from(u128::from(n) * 618_033_988_749 / 1_000_000_000_000).unwrap_or(1);
    (golden.max(1)..n).find(|&candidate| gcd(candidate, n) == 1).unwrap_or(1)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A rank from `0..n` by Zipf's law with that exponent; evenly if it is 0. The continuous form of the law is
/// used, which needs no table.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rank is only as exact as a double, and is cut off at n"
)]
pub(super) fn zipf(random: &mut Random, n: u64, exponent: f64) -> u64 {
    if n < 2 || exponent <= 0.0 {
        return random.below(n);
    }
    let (u, end) = (random.unit(), n as f64 + 1.0);
    let rest = 1.0 - exponent;
    let x = match rest.abs() < 1e-9 {
        true => libm::pow(end, u),
        false => libm::pow(1.0 + u * (libm::pow(end, rest) - 1.0), 1.0 / rest),
    };
    ((x - 1.0).max(0.0) as u64).min(n - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_permutation_hits_every_number_once() {
        for n in [1, 2, 3, 10, 36, 97, 1000] {
            let hit: BTreeSet<u64> = (0..n).map(|index| permuted(index, n, 3)).collect();
            assert_eq!(hit.len() as u64, n);
            assert!(hit.iter().all(|&number| number < n));
        }
    }

    #[test]
    fn zipf_prefers_the_first() {
        let mut random = Random::new(1);
        for exponent in [0.5, 1.0, 1.3] {
            let ranks: Vec<u64> = (0..20_000).map(|_| zipf(&mut random, 1000, exponent)).collect();
            let share = |below: u64| ranks.iter().filter(|&&rank| rank < below).count();
            assert!(ranks.iter().all(|&rank| rank < 1000));
            // More in the first tenth than evenly, and the more so the larger the exponent.
            assert!(share(100) > if exponent < 0.9 { 5_000 } else { 10_000 }, "{exponent}: {}", share(100));
        }
        let even: Vec<u64> = (0..20_000).map(|_| zipf(&mut random, 10, 0.0)).collect();
        assert!((0..10).all(|rank| even.iter().filter(|&&r| r == rank).count() > 1_700));
    }
}
