//! Which columns of a copy the queries search and sort by: what KVMod marks in its collections.

use super::{Column, Layout, Source, Table};
use askloom_model::{
    CollectionId, Condition, Id, Leaf, Operand, OrderBy, Path, Position, PositionId, Query, Role,
};
use std::collections::{BTreeSet, HashMap};

/// What queries ask of a copy. Columns are given by their places.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// Columns in conditions.
    pub searched: BTreeSet<usize>,
    /// The columns of each ORDER BY, and whether each descends.
    pub orders: Vec<Vec<(usize, bool)>>,
}

static NOTHING: Asked = Asked { searched: BTreeSet::new(), orders: Vec::new() };

impl Layout<'_> {
    /// With what queries search and sort by.
    #[must_use]
    pub fn asked_by(mut self, queries: &[Query]) -> Self {
        self.asked = self.tables.iter().map(|table| self.asked_of(table, queries)).collect();
        self
    }

    /// What is searched and sorted by in a collection.
    #[must_use]
    pub fn asked(&self, collection: CollectionId) -> &Asked {
        self.asked.get(collection.index()).unwrap_or(&NOTHING)
    }

    fn asked_of(&self, table: &Table, queries: &[Query]) -> Asked {
        let mut asked = Asked::default();
        if table.role != Role::Copy {
            return asked;
        }
        let collection = &self.design.collections[table.collection];
        let by_place: HashMap<Vec<Stride>, usize> = table
            .columns
            .iter()
            .enumerate()
            .filter_map(|(index, column)| Some((self.way(&collection.source.positions, column)?, index)))
            .collect();
        let root = collection.source.root;
        for query in queries {
            let main = query.positions.iter().next().and_then(|(_, position)| position.class);
            if main != Some(root) {
                continue;
            }
            let column = |path: &Path| by_place.get(&steps(&query.positions, path)).copied();
            let mut paths = Vec::new();
            if let Some(condition) = &query.condition {
                searched(condition, &mut paths);
            }
            asked.searched.extend(paths.into_iter().filter_map(column));
            let order: Option<Vec<(usize, bool)>> = query
                .order_by
                .iter()
                .map(|term| match &term.by {
                    OrderBy::Path(path) => Some((column(path)?, term.descending)),
                    _other => None,
                })
                .collect();
            if let Some(order) = order.filter(|order| !order.is_empty() && !asked.orders.contains(order)) {
                asked.orders.push(order);
            }
        }
        asked
    }

    /// From the root to what a column holds. Nothing for what no query names.
    fn way(
        &self,
        positions: &askloom_model::Table<PositionId, Position>,
        column: &Column,
    ) -> Option<Vec<Stride>> {
        match &column.source {
            Source::Path { path, part: None | Some(0) } => Some(steps(positions, path)),
            Source::Position { position, part: Some(0) } => {
                let class = positions[*position].class?;
                let [only] = self.conceptual.classes[class].identifier.as_slice() else { return None };
                let leaf = match *only {
                    askloom_model::Member::Attribute(id) => Leaf::Attribute(id),
                    askloom_model::Member::End(id) => Leaf::Reference(id),
                };
                Some(steps(positions, &Path { position: *position, hops: Vec::new(), leaf }))
            }
            Source::Path { .. }
            | Source::Position { .. }
            | Source::Node
            | Source::Whole(_)
            | Source::Member(_) => None,
        }
    }
}

/// A step of a way: into a member, or its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Stride {
    Into(askloom_model::Member),
    Leaf(Leaf),
}

fn steps(positions: &askloom_model::Table<PositionId, Position>, path: &Path) -> Vec<Stride> {
    let mut way = Vec::new();
    let mut at = path.position;
    while let Some(hop) = positions[at].from {
        way.push(Stride::Into(hop.step));
        at = hop.parent;
    }
    way.reverse();
    way.extend(path.hops.iter().map(|&end| Stride::Into(askloom_model::Member::End(end))));
    way.push(Stride::Leaf(path.leaf));
    way
}

fn searched<'c>(condition: &'c Condition, paths: &mut Vec<&'c Path>) {
    let mut one = |operand: &'c Operand| {
        if let Operand::Path(path) = operand {
            paths.push(path);
        }
    };
    match condition {
        Condition::And(all) | Condition::Or(all) => all.iter().for_each(|inner| searched(inner, paths)),
        Condition::Not(inner) => searched(inner, paths),
        Condition::Compare { left, right, .. } => [left, right].into_iter().for_each(one),
        Condition::Between { value, .. }
        | Condition::In { value, .. }
        | Condition::StartsWith { value, .. }
        | Condition::IsNull { value }
        | Condition::Matches { value, .. }
        | Condition::Under { value, .. }
        | Condition::Above { value, .. }
        | Condition::Within { value, .. }
        | Condition::InBox { value, .. } => one(value),
    }
}
