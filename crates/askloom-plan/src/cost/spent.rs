//! Cost and time side by side: what is cheap need not be quick where costs are no time.

use std::iter::Sum;
use std::ops::{Add, Neg, Sub};

/// What something costs, and how many milliseconds it takes; none where costs say nothing about time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spent {
    pub cost: f64,
    pub takes: f64,
}

impl Add for Spent {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { cost: self.cost + other.cost, takes: self.takes + other.takes }
    }
}

impl Neg for Spent {
    type Output = Self;

    fn neg(self) -> Self {
        Self { cost: -self.cost, takes: -self.takes }
    }
}

impl Sub for Spent {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Sum for Spent {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}
