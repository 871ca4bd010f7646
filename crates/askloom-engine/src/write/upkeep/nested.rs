//! Nodes of nested copies. Several rows share a node, so it comes and goes with the last of them.

use super::entries::Entries;
use super::{Candidates, Upkeep};
use crate::execute::{Restriction, Row, Scene, main_position};
use crate::stop::each;
use crate::{Instances, Rows, Stop};
use askloom_model::{Nodes, PositionId, Value};
use askloom_plan::delta::Delta;
use std::collections::{BTreeMap, BTreeSet};

/// A row with the block that its nodes are in.
pub(super) struct Placed {
    pub(super) block: Vec<Value>,
    pub(super) row: Row,
}

/// A block, and the keys from the root down to a position of a chain.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Prefix {
    block: Vec<Value>,
    keys: Vec<Value>,
}

impl Prefix {
    fn of(chain: &[PositionId], Placed { block, row }: &Placed) -> Self {
        let keys = chain.iter().map(|position| row.key(*position).clone()).collect();
        Self { block: block.clone(), keys }
    }

    fn first(&self, length: usize) -> Self {
        Self { block: self.block.clone(), keys: self.keys.iter().take(length).cloned().collect() }
    }
}

/// Down from which position of the chain the nodes of each row may differ. The nodes above, and those of branches above,
/// are shared with rows that no change touches.
pub(super) struct Levels {
    chain: Vec<PositionId>,
    levels: BTreeMap<Prefix, usize>,
}

impl Levels {
    fn of(&self, row: &Placed) -> usize {
        self.levels.get(&Prefix::of(&self.chain, row)).copied().unwrap_or(self.chain.len() - 1)
    }
}

impl Upkeep<'_> {
    /// A node of the chain is looked at if all rows below it come or go.
    pub(super) fn nested_levels(
        &self,
        delta: &Delta,
        candidates: &Candidates,
        before: &[Placed],
        after: &[Placed],
    ) -> Result<Levels, Stop> {
        let chain = delta.chain.clone();
        let prefixes = |rows: &[Placed], length: usize| -> BTreeSet<Prefix> {
            rows.iter().map(|row| Prefix::of(chain.get(..length).unwrap_or_default(), row)).collect()
        };
        let mut one_sided: BTreeSet<Prefix> = prefixes(before, chain.len())
            .symmetric_difference(&prefixes(after, chain.len()))
            .cloned()
            .collect();
        let mut top: BTreeMap<Prefix, usize> = BTreeMap::new();
        for length in (1..chain.len()).rev() {
            let above: BTreeSet<Prefix> = one_sided.iter().map(|prefix| prefix.first(length)).collect();
            let (was, is) = (prefixes(before, length), prefixes(after, length));
            let mut differ = BTreeSet::new();
            each(above, |prefix| {
                let shown = |state, known: &BTreeSet<Prefix>| -> Result<bool, Stop> {
                    Ok(known.contains(&prefix) || self.has_row(state, delta, candidates, &prefix)?)
                };
                if shown(self.before, &was)? != shown(self.after, &is)? {
                    top.insert(prefix.clone(), length - 1);
                    differ.insert(prefix);
                }
                Ok(())
            })?;
            one_sided = differ;
        }
        let mut levels = BTreeMap::new();
        for row in before.iter().chain(after) {
            let prefix = Prefix::of(&chain, row);
            let highest = (1..chain.len()).find_map(|length| top.get(&prefix.first(length)).copied());
            levels.extend(highest.map(|level| (prefix, level)));
        }
        Ok(Levels { chain, levels })
    }

    /// Whether a state has any row in this block with these instances at the first positions of a chain.
    fn has_row(
        &self,
        state: &dyn Instances,
        delta: &Delta,
        candidates: &Candidates,
        prefix: &Prefix,
    ) -> Result<bool, Stop> {
        let Some(root) = prefix.keys.first() else { return Ok(false) };
        let mut restriction = Restriction::default();
        for (&position, key) in delta.chain.iter().zip(&prefix.keys).skip(1) {
            let holders = candidates.restriction.bound(position).map(|bound| bound.holders.clone());
            let bound = restriction.bind(position);
            bound.keys.insert(key.clone());
            bound.holders = holders.unwrap_or_default();
        }
        let scene = self.scene(state, Some(&restriction));
        let free = self.scene(state, None);
        let left = self.bound_first(delta);
        for (class, id) in candidates.roots.get(root).into_iter().flatten() {
            let Some(stored) = state.aggregate(*class, id)? else { continue };
            for row in scene.root(stored).into_iter().filter(|row| row.key(main_position()) == root) {
                let mut counts = |row: &Row| {
                    let entries = self.entries();
                    Ok(entries.holds(&free, row)? && entries.block(&free, row)? == prefix.block)
                };
                if scene.completes(row, &left, &mut counts)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

impl Entries<'_> {
    pub(super) fn placed(&self, scene: &Scene<'_>, rows: Vec<Row>) -> Result<Vec<Placed>, Stop> {
        each(rows, |row| Ok(Placed { block: self.block(scene, &row)?, row }))
    }

    /// The nodes of rows from their levels down.
    pub(super) fn nodes_of(
        &self,
        scene: &Scene<'_>,
        rows: &[Placed],
        nodes: &Nodes,
        levels: &Levels,
        out: &mut Rows,
    ) -> Result<(), Stop> {
        each(rows, |row| {
            let top = levels.chain.get(levels.of(row)).copied();
            let below =
                |position: PositionId| top.is_none_or(|top| self.collection.chain(position).contains(&top));
            self.nodes(scene, row, nodes, &below, out)
        })?;
        Ok(())
    }
}
