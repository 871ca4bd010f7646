//! Rows from the nodes of a nested copy: joined along the tree of its positions.

use crate::RunError;
use askloom_model::{Collection, Contents, Id, Path, Value};
use askloom_target::embedded::{DecodeError, decode};
use std::collections::BTreeMap;

/// Where nodes are: in a block, at a position, below the identities of what stands above it.
type Spot = (Vec<Value>, usize, Vec<Value>);

/// The nodes of some blocks.
pub(super) struct Nodes<'n> {
    collection: &'n Collection,
    paths: &'n [Path],
    /// The identity of each node, and the values of the paths that start at it.
    at: BTreeMap<Spot, Vec<(Value, Vec<Value>)>>,
}

/// A row on the way down the tree.
#[derive(Clone)]
struct Partial {
    block: Vec<Value>,
    identity: Vec<Value>,
    /// For each path, its value.
    values: Vec<Value>,
}

impl<'n> Nodes<'n> {
    pub(super) fn new(collection: &'n Collection) -> Self {
        let paths: &[Path] = match &collection.contents {
            Contents::Nested(paths) => paths,
            Contents::Aggregate(_) | Contents::Fields(_) => &[],
        };
        Self { collection, paths, at: BTreeMap::new() }
    }

    /// Takes an entry apart: the block, the position, the identities from the root to the node; then the values.
    pub(super) fn read(&mut self, key: &[u8], value: &[u8]) -> Result<(), RunError> {
        let mut rest = key.get(4..).ok_or(DecodeError)?;
        let mut block = Vec::with_capacity(self.collection.block_key.len());
        for _ in &self.collection.block_key {
            block.push(decode(&mut rest)?);
        }
        let Value::Int(position) = decode(&mut rest)? else { return Err(DecodeError.into()) };
        let position = usize::try_from(position).map_err(|_| DecodeError)?;
        let mut above = Vec::new();
        while !rest.is_empty() {
            above.push(decode(&mut rest)?);
        }
        let node = above.pop().ok_or(DecodeError)?;
        let mut values = Vec::new();
        let mut rest = value;
        while !rest.is_empty() {
            values.push(decode(&mut rest)?);
        }
        self.at.entry((block, position, above)).or_default().push((node, values));
        Ok(())
    }

    /// The identities of each row, and its values: those of the block key, then those of the paths.
    pub(super) fn rows(&self) -> Vec<(Vec<Value>, Vec<Value>)> {
        let count = self.collection.source.positions.len();
        let roots = self.at.keys().filter(|(_, position, _)| *position == 0).map(|(block, _, _)| block);
        let start = |block: &Vec<Value>| Partial {
            block: block.clone(),
            identity: vec![Value::Null; count],
            values: vec![Value::Null; self.paths.len()],
        };
        let mut rows: Vec<Partial> = roots.map(start).collect();
        for position in self.collection.source.positions.ids() {
            rows = rows.into_iter().flat_map(|row| self.join(row, position)).collect();
        }
        rows.into_iter().map(|row| (row.identity, [row.block, row.values].concat())).collect()
    }

    /// A row for each node at a position below what the row has already.
    fn join(&self, row: Partial, position: askloom_model::PositionId) -> Vec<Partial> {
        let mut chain = self.collection.chain(position);
        chain.pop();
        let above: Vec<Value> = chain.iter().filter_map(|p| row.identity.get(p.index())).cloned().collect();
        let found = self.at.get(&(row.block.clone(), position.index(), above));
        let Some(nodes) = found else {
            // Every row has a node at each inner position; so nothing here is nothing at an outer one.
            return if self.collection.source.positions[position].outer { vec![row] } else { Vec::new() };
        };
        let bind = |(node, values): &(Value, Vec<Value>)| {
            let mut row = row.clone();
            if let Some(slot) = row.identity.get_mut(position.index()) {
                *slot = node.clone();
            }
            let starts = self.paths.iter().zip(&mut row.values).filter(|(path, _)| path.position == position);
            for ((_, slot), value) in starts.zip(values) {
                *slot = value.clone();
            }
            row
        };
        nodes.iter().map(bind).collect()
    }
}
