//! In which aggregates the instances of a class can be.

use crate::{ClassId, Conceptual};
use std::collections::BTreeSet;

/// A kind of aggregate in which instances of a class live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Home {
    /// The root class of the aggregates.
    pub root: ClassId,
    pub place: HomePlace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HomePlace {
    /// The aggregate is the instance.
    Root,
    /// Somewhere inside.
    Inside,
}

impl Conceptual {
    /// Where the instances of a class and of its subclasses are. Most classes have one home; a subclass can be a part
    /// where its parent is none, and a part of a value object is wherever that can be.
    #[must_use]
    pub fn homes(&self, class: ClassId) -> Vec<Home> {
        let place = |inside: bool| if inside { HomePlace::Inside } else { HomePlace::Root };
        let homes: BTreeSet<Home> = self
            .occurrences(class)
            .into_iter()
            .map(|occurrence| Home { root: occurrence.root, place: place(!occurrence.hops.is_empty()) })
            .collect();
        homes.into_iter().collect()
    }

    /// Whether every instance of a class is an aggregate of its own.
    #[must_use]
    pub fn is_aggregate(&self, class: ClassId) -> bool {
        let homes = self.homes(class);
        !homes.is_empty() && homes.iter().all(|home| home.place == HomePlace::Root)
    }
}
