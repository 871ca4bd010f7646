//! When a store may take away by itself what has expired.

use super::{Expires, Term, ValueFrom};
use crate::layout::{Layout, Shape, Table};
use askloom_model::{ClassId, Value};

/// The slot of the time when an aggregate expires.
pub(super) fn slot() -> Term {
    Term { name: "expires".into(), from: ValueFrom::After, value: None, column: None }
}

/// Readers go by the time that an aggregate says. A store takes it away an hour later, so that clocks that differ do no
/// harm.
const LATER_MS: u64 = 60 * 60 * 1000;

impl Expires {
    /// At a known time, in milliseconds since 1970.
    #[must_use]
    pub fn at_ms(at: i64, after_ms: Option<u64>) -> Self {
        Self { at: Term { value: Some(Value::Int(at)), ..slot() }, after_ms }
    }

    /// How long after it was made the store may take it away, in milliseconds. Nothing if the time counts from what the
    /// aggregate says.
    #[must_use]
    pub fn kept_ms(&self) -> Option<u64> {
        self.after_ms.map(kept_ms)
    }
}

fn kept_ms(after_ms: u64) -> u64 {
    after_ms.saturating_add(LATER_MS)
}

/// The hour, in the seconds that stores count.
pub fn later_seconds() -> u64 {
    LATER_MS / 1000
}

/// The milliseconds since 1970 of a time. Nothing while it is a slot.
pub fn millis(at: &Term) -> Option<i64> {
    match &at.value {
        Some(Value::Timestamp(at)) => Some(at.as_millisecond()),
        Some(Value::Int(at)) => Some(*at),
        Some(_) | None => None,
    }
}

/// What has no native expiry on a store that counts from the write: classes whose time counts from an attribute.
pub fn without_native_expiry(layout: &Layout, store: &str) -> Option<String> {
    let conceptual = &layout.conceptual;
    let counted = conceptual.classes.iter().filter_map(|(_, class)| {
        let from = &conceptual.attributes[class.ttl?.from?].name;
        Some(format!("`{}` (from `{from}`)", class.name))
    });
    let counted: Vec<String> = counted.collect();
    (!counted.is_empty()).then(|| {
        format!(
            "{store} counts a TTL from the write: for {}, which expire counted from an attribute, none is generated yet. \
             Readers leave out what has expired; delete it yourself.",
            counted.join(", ")
        )
    })
}

impl Layout {
    /// The classes of a master's aggregates. None for a copy.
    fn classes(&self, table: &Table) -> impl Iterator<Item = ClassId> {
        let root = match table.shape {
            Shape::Master { .. } => Some(self.design.collections[table.collection].source.root),
            Shape::Rows(_) | Shape::Nodes(_) => None,
        };
        let below = root.map(|root| self.conceptual.descendants(root)).unwrap_or_default();
        root.into_iter().chain(below)
    }

    /// How long what is written into an aggregate must be kept at least, in milliseconds. An aggregate keeps the time that
    /// it was made with, so that what is written later may stay too long, but never goes too early. Nothing for a table
    /// with aggregates that do not expire, or whose time counts from what they say.
    #[must_use]
    pub fn kept_ms(&self, table: &Table) -> Option<u64> {
        let counted = |class| self.conceptual.ttl(class).filter(|ttl| ttl.from.is_none());
        let lives: Option<Vec<u64>> = self.classes(table).map(|class| Some(counted(class)?.ms)).collect();
        lives?.into_iter().max().map(kept_ms)
    }

    /// Whether some aggregates of a table expire.
    #[must_use]
    pub fn expires(&self, table: &Table) -> bool {
        self.classes(table).any(|class| self.conceptual.ttl(class).is_some())
    }
}
