//! The order of an answer: by the terms of ORDER BY, then by identity, so that it is one exact list.

use crate::identity::NodeIdentity;
use crate::number::compare;
use askloom_model::{OrderTerm, Value};
use std::cmp::Ordering;

/// What places a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key {
    /// The values of the ORDER BY terms.
    pub(crate) order: Vec<Value>,
    pub(crate) identity: RowIdentity,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RowIdentity {
    /// What is at each position; nothing is smaller than anything.
    Positions(Vec<Option<NodeIdentity>>),
    /// The grouping values as written.
    Group(Vec<Value>),
}

impl Key {
    pub(crate) fn compare(&self, other: &Self, terms: &[OrderTerm]) -> Ordering {
        for (term, (a, b)) in terms.iter().zip(self.order.iter().zip(&other.order)) {
            let ordering = directed(compare(a, b), term.descending);
            if ordering != Ordering::Equal {
                return ordering;
            }
        }
        let descending = terms.last().is_some_and(|last| last.descending);
        directed(self.identity.compare(&other.identity), descending)
    }
}

impl RowIdentity {
    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Positions(a), Self::Positions(b)) => a.cmp(b),
            (Self::Group(a), Self::Group(b)) => {
                let unequal = a.iter().zip(b).map(|(a, b)| compare(a, b)).find(|o| *o != Ordering::Equal);
                unequal.unwrap_or(Ordering::Equal)
            }
            (Self::Positions(_), Self::Group(_)) => Ordering::Less,
            (Self::Group(_), Self::Positions(_)) => Ordering::Greater,
        }
    }
}

fn directed(ordering: Ordering, descending: bool) -> Ordering {
    if descending { ordering.reverse() } else { ordering }
}
