//! Which columns of a copy the queries search and sort by: what KVMod marks in its collections.

use super::{Column, Layout, Source, Table, identifier_parts};
use askloom_model::{
    ClassId, CollectionId, ColumnValue, Comparison, Condition, Id, Leaf, Member, Operand, OrderBy, Path,
    Position, PositionId, Query, Role,
};
use std::collections::{BTreeSet, HashMap};

/// What queries ask of a copy that has all they need. Columns are given by their places.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// Columns in conditions.
    pub searched: BTreeSet<usize>,
    /// Of those, columns that are to be between values.
    pub ranged: BTreeSet<usize>,
    /// The columns of each ORDER BY, and whether each descends.
    pub orders: Vec<Vec<(usize, bool)>>,
}

static NOTHING: Asked = Asked { searched: BTreeSet::new(), ranged: BTreeSet::new(), orders: Vec::new() };

/// From the root to a value.
type Way = Vec<Stride>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Stride {
    Into(Member),
    Last(Leaf),
}

/// The ways that a query takes.
struct Asking {
    shown: Vec<Way>,
    searched: Vec<Way>,
    ranged: Vec<Way>,
    order: Vec<(Way, bool)>,
}

impl Layout {
    /// With what queries search and sort by.
    #[must_use]
    pub fn asked_by(mut self, queries: &[Query]) -> Self {
        let mut by_root: HashMap<ClassId, Vec<Asking>> = HashMap::new();
        for query in queries {
            let root = query.positions.iter().next().and_then(|(_, position)| position.class);
            if let (Some(root), Some(asking)) = (root, asking(query)) {
                by_root.entry(root).or_default().push(asking);
            }
        }
        self.asked = self.tables.iter().map(|table| self.asked_of(table, &by_root)).collect();
        self
    }

    /// What is searched and sorted by in a collection.
    #[must_use]
    pub fn asked(&self, collection: CollectionId) -> &Asked {
        self.asked.get(collection.index()).unwrap_or(&NOTHING)
    }

    fn asked_of(&self, table: &Table, by_root: &HashMap<ClassId, Vec<Asking>>) -> Asked {
        let mut asked = Asked::default();
        let source = &self.design.collections[table.collection].source;
        let Some(queries) = by_root.get(&source.root).filter(|_| table.role == Role::Copy) else {
            return asked;
        };
        let columns = table.columns.iter().enumerate();
        let places: HashMap<Way, usize> = columns
            .filter_map(|(index, column)| Some((self.way(&source.positions, column)?, index)))
            .collect();
        let place = |way: &Way| places.get(way).copied();
        for query in queries {
            let searched: Option<Vec<usize>> = query.searched.iter().map(place).collect();
            let order: Option<Vec<(usize, bool)>> =
                query.order.iter().map(|(way, descending)| Some((place(way)?, *descending))).collect();
            let (Some(searched), Some(order)) = (searched, order) else { continue };
            if query.shown.iter().any(|way| place(way).is_none()) {
                continue;
            }
            asked.searched.extend(searched);
            asked.ranged.extend(query.ranged.iter().filter_map(place));
            if !order.is_empty() && !asked.orders.contains(&order) {
                asked.orders.push(order);
            }
        }
        asked
    }

    /// From the root to what a column holds. Nothing for what no query names.
    fn way(&self, positions: &askloom_model::Table<PositionId, Position>, column: &Column) -> Option<Way> {
        match &column.source {
            Source::Path { path, part: None | Some(0) } => Some(way(positions, path)),
            Source::Position { position, part: Some(part) } => {
                let leaf = self.identifier_leaf(positions[*position].class?, *part)?;
                Some(way(positions, &Path { position: *position, hops: Vec::new(), leaf }))
            }
            Source::Path { .. }
            | Source::Position { .. }
            | Source::Node
            | Source::Whole(_)
            | Source::Member(_) => None,
        }
    }

    /// The member of an identifier whose only part this is.
    fn identifier_leaf(&self, class: ClassId, part: usize) -> Option<Leaf> {
        let parts = identifier_parts(&self.conceptual, class);
        let (member, _) = parts.get(part)?;
        let only = parts.iter().filter(|(own, _)| own == member).count() == 1;
        only.then_some(match *member {
            Member::Attribute(id) => Leaf::Attribute(id),
            Member::End(id) => Leaf::Reference(id),
        })
    }
}

/// Nothing for a query that needs more than values of paths.
fn asking(query: &Query) -> Option<Asking> {
    let of = |path: &Path| way(&query.positions, path);
    let mut shown: Vec<Way> = query.group_by.iter().map(of).collect();
    for column in &query.columns {
        match &column.value {
            ColumnValue::Path(path) => shown.push(of(path)),
            ColumnValue::Aggregate(aggregate) => shown.extend(aggregate.of.as_ref().map(of)),
            ColumnValue::Whole(_) => return None,
        }
    }
    // Groups are in no order that rows have.
    let grouped = query.columns.iter().any(|column| matches!(column.value, ColumnValue::Aggregate(_)));
    let mut order = Vec::new();
    for term in &query.order_by {
        match &term.by {
            OrderBy::Path(path) if grouped || !query.group_by.is_empty() => shown.push(of(path)),
            OrderBy::Path(path) => order.push((of(path), term.descending)),
            OrderBy::Aggregate(aggregate) => shown.extend(aggregate.of.as_ref().map(of)),
        }
    }
    let mut paths = Vec::new();
    if let Some(condition) = &query.condition {
        paths.extend(condition.paths());
    }
    let searched = paths.into_iter().map(of).collect();
    let ranged = query.condition.as_ref().map(ranged).unwrap_or_default().into_iter().map(of).collect();
    Some(Asking { shown, searched, ranged, order })
}

/// What must be between values.
fn ranged(condition: &Condition) -> Vec<&Path> {
    match condition {
        Condition::And(all) => all.iter().flat_map(ranged).collect(),
        Condition::Between { value: Operand::Path(path), .. } => vec![path],
        Condition::Compare { left, op, right } => match (op, left, right) {
            (Comparison::Equal | Comparison::NotEqual, _, _) => Vec::new(),
            (_, Operand::Path(path), _) | (_, _, Operand::Path(path)) => vec![path],
            (_, _, _) => Vec::new(),
        },
        Condition::Or(_)
        | Condition::Not(_)
        | Condition::Negated(_)
        | Condition::Between { .. }
        | Condition::In { .. }
        | Condition::StartsWith { .. }
        | Condition::IsNull { .. }
        | Condition::Matches { .. }
        | Condition::Under { .. }
        | Condition::Above { .. }
        | Condition::Within { .. }
        | Condition::InBox { .. } => Vec::new(),
    }
}

fn way(positions: &askloom_model::Table<PositionId, Position>, path: &Path) -> Way {
    let mut way = Vec::new();
    let mut at = path.position;
    while let Some(hop) = positions[at].from {
        way.push(Stride::Into(hop.step));
        at = hop.parent;
    }
    way.reverse();
    way.extend(path.hops.iter().map(|&end| Stride::Into(Member::End(end))));
    way.push(Stride::Last(path.leaf));
    way
}
