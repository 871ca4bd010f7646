//! Tables that several classes share: a customer and its purchases in one partition.
//!
//! The first column that clusters says of which class a row is: the empty text for the class whose partitions these are,
//! so that its row is the first, and the name of the class for any other. Behind it are the columns that order each class,
//! one class after the other. Cassandra has no row without a value for each of them, so that a row has a fixed value of
//! its type in those of other classes. It tells nothing: the class says which of them count.

use super::read::{Bound, Condition};
use super::schema::{CqlColumn, CqlTable, Kind};
use super::value::Cql;
use askloom_model::{CollectionId, Id, Precision, Type};
use askloom_plan::layout::{Layout, Place};

/// What a table that is shared has besides, as one of its classes has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Shared {
    /// The collection that it is named after.
    pub first: CollectionId,
    /// The column that says which class a row is of, and what it says of this one.
    pub kind: (String, String),
    /// What clusters between that and the class's own columns: what orders the classes before it.
    pub before: Vec<Fixed>,
    /// What orders the classes behind it.
    pub behind: Vec<Fixed>,
}

/// A column that orders another class, with what stands there.
#[derive(Debug, Clone, PartialEq)]
pub struct Fixed {
    pub name: String,
    pub descending: bool,
    pub value: Cql,
}

/// Puts what orders the classes of each shared table into each of its parts.
pub(super) fn link(layout: &Layout, tables: &mut [CqlTable], kinds: &[Option<String>]) {
    for (at, table) in layout.tables().iter().enumerate() {
        let (Some(shared), Some(Some(column))) = (&table.shared, kinds.get(at)) else { continue };
        let (mut before, mut behind) = (Vec::new(), Vec::new());
        let mut passed = false;
        for other in layout.tables().iter().filter(|other| other.named_by() == shared.first) {
            if other.collection == table.collection {
                passed = true;
                continue;
            }
            let sorted = tables.get(other.collection.index()).into_iter().flat_map(sorted);
            let fixed = sorted.map(|(column, descending)| Fixed {
                name: column.name.clone(),
                descending,
                value: placeholder(&column.kind),
            });
            if passed { behind.extend(fixed) } else { before.extend(fixed) }
        }
        if let Some(own) = tables.get_mut(at) {
            let kind = (column.clone(), shared.kind.clone());
            own.shared = Some(Shared { first: shared.first, kind, before, behind });
        }
    }
}

/// The columns that order a class, and whether each descends.
pub(super) fn sorted(table: &CqlTable) -> impl Iterator<Item = (&CqlColumn, bool)> {
    table.columns.iter().filter_map(|column| match column.place {
        Place::Sort { descending } => Some((column, descending)),
        Place::Row => Some((column, false)),
        Place::Block | Place::Value => None,
    })
}

/// What stands in a column that orders another class.
fn placeholder(kind: &Kind) -> Cql {
    match kind {
        Kind::Filled | Kind::Json => Cql::Text(String::new()),
        Kind::Bytes => Cql::Blob(Vec::new()),
        Kind::Number => Cql::Int(0),
        Kind::List(_) => Cql::List(Vec::new()),
        Kind::Plain(ty) => match ty {
            Type::Text | Type::Enum(_) | Type::Json => Cql::Text(String::new()),
            Type::Int | Type::Long | Type::Timestamp(Precision::Micros) => Cql::Int(0),
            Type::Timestamp(Precision::Nanos) => Cql::Varint(0),
            Type::Timestamp(Precision::Millis) => Cql::Timestamp(0),
            Type::Decimal => Cql::Decimal(bigdecimal::BigDecimal::from(0)),
            Type::Double => Cql::Double(0.0),
            Type::Bool => Cql::Bool(false),
            Type::Date => Cql::Date(jiff::civil::date(1970, 1, 1)),
            Type::Time => Cql::Time(jiff::civil::Time::midnight()),
            Type::Uuid => Cql::Uuid(uuid::Uuid::nil()),
            Type::Blob => Cql::Blob(Vec::new()),
            Type::Geo => Cql::Tuple(0.0, 0.0),
        },
    }
}

impl Shared {
    fn cells<'f>(&self, fixed: impl IntoIterator<Item = &'f Fixed>) -> Vec<(String, Bound)> {
        let kind = (self.kind.0.clone(), Bound::Value(Cql::Text(self.kind.1.clone())));
        let fixed = fixed.into_iter().map(|one| (one.name.clone(), Bound::Value(one.value.clone())));
        std::iter::once(kind).chain(fixed).collect()
    }

    /// The columns that cluster before those of the class.
    pub(super) fn leading(&self) -> impl Iterator<Item = (&str, bool)> {
        let before = self.before.iter().map(|fixed| (fixed.name.as_str(), fixed.descending));
        std::iter::once((self.kind.0.as_str(), false)).chain(before)
    }

    fn all_cells(&self) -> Vec<(String, Bound)> {
        self.cells(self.before.iter().chain(&self.behind))
    }
}

impl CqlTable {
    /// The collection whose table it is: its own, or of several that share one the first.
    pub(super) fn home(&self) -> CollectionId {
        self.shared.as_ref().map_or(self.collection, |shared| shared.first)
    }

    /// What a row of the class has in the columns of others and in that of the class.
    pub(super) fn fixed_cells(&self) -> Vec<(String, Bound)> {
        self.shared.as_ref().map_or_else(Vec::new, Shared::all_cells)
    }

    /// Puts the conditions that leave the rows of the class behind those on the partition: for a change all that the key
    /// has, for a read no more than what stands before the columns that order the class, so that a range of these can
    /// follow.
    pub(super) fn of_class(&self, change: bool, conditions: &mut Vec<Condition>) {
        let Some(shared) = &self.shared else { return };
        let cells = match change {
            true => shared.all_cells(),
            false => shared.cells(&shared.before),
        };
        let of_partition = |condition: &Condition| {
            let own = self.columns.iter().find(|column| column.name == condition.column);
            own.is_some_and(|column| column.place == Place::Block)
        };
        let at = conditions.iter().take_while(|condition| of_partition(condition)).count();
        let equal = |(column, bound)| Condition { column, operator: "=", bound };
        conditions.splice(at..at, cells.into_iter().map(equal));
    }

    /// The condition that leaves the rows of the class, whatever else is known.
    pub(super) fn is_of_class(&self) -> Option<Condition> {
        let (column, kind) = &self.shared.as_ref()?.kind;
        let bound = Bound::Value(Cql::Text(kind.clone()));
        Some(Condition { column: column.clone(), operator: "=", bound })
    }
}
