//! Joining: one loop for each position, inside the loops of those before it.

use crate::path::Joined;
use crate::view::View;
use askloom_model::{Id, Position, PositionId, Table};

impl<'s> View<'s> {
    /// Every combination of instances at the positions. Where an inner position has nothing there is no row; at
    /// an outer one the row stays, with nothing there.
    pub(crate) fn join(&self, positions: &Table<PositionId, Position>) -> Vec<Joined<'s>> {
        let mut rows = vec![Vec::new()];
        for (_, position) in positions.iter() {
            let mut longer = Vec::new();
            for row in rows {
                let mut found = self.at(&row, position);
                if found.is_empty() && position.outer {
                    found.push(None);
                }
                for node in found {
                    let mut row = row.clone();
                    row.push(node);
                    longer.push(row);
                }
            }
            rows = longer;
        }
        rows
    }

    /// What can stand at a position, given those before it.
    fn at(&self, row: &Joined<'s>, position: &Position) -> Joined<'s> {
        match (position.from, position.class) {
            (Some(hop), _) => {
                let parent = row.get(hop.parent.index()).cloned().flatten();
                let found = parent.map(|parent| self.follow(&parent, hop.step)).unwrap_or_default();
                found.into_iter().map(Some).collect()
            }
            (None, Some(class)) => self.extent(class).cloned().map(Some).collect(),
            (None, None) => Vec::new(),
        }
    }
}
