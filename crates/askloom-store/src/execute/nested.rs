//! Rows from the nodes of a nested copy: joined along the tree of its positions.

use crate::{RunError, Schema, Stored, System};
use askloom_model::{Collection, Contents, Id, Nodes, Path, PositionId, Value};
use askloom_target::embedded::{DecodeError, decode, decode_entry};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Where nodes are: in a block, at a position, below the identities of what stands above it.
type Spot = (Vec<Value>, usize, Vec<Value>);

/// The nodes of some blocks.
pub(super) struct Read<'n> {
    schema: &'n Schema,
    collection: &'n Collection,
    nodes: &'n Nodes,
    at: BTreeMap<Spot, Vec<Node>>,
}

struct Node {
    identity: Value,
    /// Those of the paths that start at it.
    values: Vec<Value>,
    whole: Option<Rc<Stored>>,
}

/// A row on the way down the tree.
#[derive(Clone)]
pub(super) struct Partial {
    block: Vec<Value>,
    /// For each position.
    pub(super) identity: Vec<Value>,
    /// For each path, its value.
    values: Vec<Value>,
    /// Aggregates by the positions that they stand at.
    pub(super) whole: Vec<(PositionId, Rc<Stored>)>,
}

impl Partial {
    /// The values of the block key, then those of the paths.
    pub(super) fn values(&self) -> Vec<Value> {
        self.block.iter().chain(&self.values).cloned().collect()
    }
}

/// What the value of a node holds: the values of the paths that start there, then the aggregate if that is held.
pub(crate) fn node(
    schema: &Schema,
    nodes: &Nodes,
    position: PositionId,
    bytes: &[u8],
) -> Result<(Vec<Value>, Option<Rc<Stored>>), RunError> {
    let mut rest = bytes;
    let mut values = Vec::new();
    for _ in nodes.fields.iter().filter(|path| path.position == position) {
        values.push(decode(&mut rest)?);
    }
    if !nodes.whole.contains(&position) {
        return if rest.is_empty() { Ok((values, None)) } else { Err(DecodeError.into()) };
    }
    let Value::Record(record) = decode_entry(&schema.model.conceptual, schema, &mut rest)? else {
        return Err(DecodeError.into());
    };
    Ok((values, Some(Rc::new(Stored { record: *record, system: System::default() }))))
}

impl<'n> Read<'n> {
    pub(super) fn new(schema: &'n Schema, collection: &'n Collection) -> Option<Self> {
        match &collection.contents {
            Contents::Nested(nodes) => Some(Self { schema, collection, nodes, at: BTreeMap::new() }),
            Contents::Aggregate(_) | Contents::Fields(_) => None,
        }
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
        let identity = above.pop().ok_or(DecodeError)?;
        let (values, whole) = node(self.schema, self.nodes, PositionId::from_index(position), value)?;
        self.at.entry((block, position, above)).or_default().push(Node { identity, values, whole });
        Ok(())
    }

    pub(super) fn rows(&self) -> Vec<Partial> {
        let count = self.collection.source.positions.len();
        let roots = self.at.keys().filter(|(_, position, _)| *position == 0).map(|(block, _, _)| block);
        let start = |block: &Vec<Value>| Partial {
            block: block.clone(),
            identity: vec![Value::Null; count],
            values: vec![Value::Null; self.nodes.fields.len()],
            whole: Vec::new(),
        };
        let mut rows: Vec<Partial> = roots.map(start).collect();
        for position in self.collection.source.positions.ids() {
            rows = rows.into_iter().flat_map(|row| self.join(row, position)).collect();
        }
        rows
    }

    /// A row for each node at a position below what the row has already.
    fn join(&self, row: Partial, position: PositionId) -> Vec<Partial> {
        let mut chain = self.collection.chain(position);
        chain.pop();
        let above: Vec<Value> = chain.iter().filter_map(|p| row.identity.get(p.index())).cloned().collect();
        let found = self.at.get(&(row.block.clone(), position.index(), above));
        let Some(nodes) = found else {
            // Every row has a node at each inner position; so nothing here is nothing at an outer one.
            return if self.collection.source.positions[position].outer { vec![row] } else { Vec::new() };
        };
        let bind = |node: &Node| {
            let mut row = row.clone();
            if let Some(slot) = row.identity.get_mut(position.index()) {
                *slot = node.identity.clone();
            }
            let starts = |(path, _): &(&Path, &mut Value)| path.position == position;
            let slots = self.nodes.fields.iter().zip(&mut row.values).filter(starts);
            for ((_, slot), value) in slots.zip(&node.values) {
                *slot = value.clone();
            }
            row.whole.extend(node.whole.iter().map(|stored| (position, Rc::clone(stored))));
            row
        };
        nodes.iter().map(bind).collect()
    }
}
