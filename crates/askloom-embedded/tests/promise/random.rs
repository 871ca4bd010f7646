//! A small generator whose numbers are the same for ever.

#![allow(dead_code, reason = "each test that makes things up needs some of it")]

use std::cell::Cell;

/// Numbers from a seed. [`Random::fork`] gives an independent generator by name, so that leaving one thing out of a
/// case does not change what the others are.
pub(crate) struct Random(Cell<u64>);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Cell::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x9e37_79b9_7f4a_7c15))
    }

    pub(crate) fn fork(&self, name: &str) -> Self {
        let mut hash = self.0.get() ^ 0xcbf2_9ce4_8422_2325;
        for byte in name.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Self::new(mixed(hash))
    }

    fn next(&self) -> u64 {
        self.0.set(self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15));
        mixed(self.0.get())
    }

    pub(crate) fn below(&self, limit: usize) -> usize {
        usize::try_from(self.next() % limit.max(1) as u64).unwrap()
    }

    pub(crate) fn one_in(&self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// True in so many of a hundred cases.
    pub(crate) fn percent(&self, share: usize) -> bool {
        self.below(100) < share
    }

    pub(crate) fn pick<'a, T>(&self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// One of the items, as often as its weight says.
    pub(crate) fn weighted<'a, T>(&self, from: &'a [(usize, T)]) -> &'a T {
        let mut at = self.below(from.iter().map(|(weight, _)| weight).sum());
        for (weight, item) in from {
            if at < *weight {
                return item;
            }
            at -= weight;
        }
        &from[0].1
    }
}

fn mixed(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
