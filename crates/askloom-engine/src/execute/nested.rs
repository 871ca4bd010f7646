//! Rows from the nodes of a nested copy: joined along the tree of its positions.

use crate::source::Records;
use crate::{Stored, System};
use askloom_model::{Collection, Contents, Id, Nodes as Contained, Path, PositionId, Value};
use askloom_plan::layout::Entry;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where nodes are: in a block, at a position, below the identities of what stands above it.
type Spot = (Vec<Value>, usize, Vec<Value>);

/// The nodes of some blocks.
pub(super) struct Nodes<'n> {
    collection: &'n Collection,
    nodes: &'n Contained,
    at: BTreeMap<Spot, Vec<Node>>,
}

struct Node {
    identity: Value,
    /// Those of the paths that start at it.
    values: Vec<Value>,
    whole: Option<Arc<Stored>>,
}

/// An aggregate that stands at a position of the collection.
pub(super) type Whole = (PositionId, Arc<Stored>);

/// A row on the way down the tree.
#[derive(Clone)]
struct Partial {
    block: Vec<Value>,
    /// For each position.
    identity: Vec<Value>,
    /// For each path, its value.
    values: Vec<Value>,
    whole: Vec<Whole>,
}

/// The aggregate that a node holds as a whole.
pub(super) fn whole(value: Option<Value>) -> Option<Arc<Stored>> {
    match value {
        Some(Value::Record(record)) => {
            // A query sees the record alone.
            Some(Arc::new(Stored { record: *record, system: System::default() }))
        }
        Some(_) | None => None,
    }
}

impl<'n> Nodes<'n> {
    pub(super) fn new(collection: &'n Collection) -> Option<Self> {
        match &collection.contents {
            Contents::Nested(nodes) => Some(Self { collection, nodes, at: BTreeMap::new() }),
            Contents::Aggregate(_) | Contents::Fields(_) => None,
        }
    }

    /// Takes in what a page gives.
    pub(super) fn add(&mut self, records: Records) {
        let Records::Entries(entries) = records else { return };
        for entry in Arc::unwrap_or_clone(entries) {
            let Entry::Node { block, position, mut chain, values, whole: held } = entry else { continue };
            let Some(identity) = chain.pop() else { continue };
            let node = Node { identity, values, whole: whole(held) };
            self.at.entry((block, position.index(), chain)).or_default().push(node);
        }
    }

    /// The rows as entries of a copy that is not nested, each with what stands whole at its positions.
    pub(super) fn rows(&self) -> Vec<(Entry, Vec<Whole>)> {
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
        let entry = |Partial { block, identity, values, whole }| {
            (Entry::Row { block, sort: Vec::new(), row: identity, values }, whole)
        };
        rows.into_iter().map(entry).collect()
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
            row.whole.extend(node.whole.iter().map(|stored| (position, Arc::clone(stored))));
            row
        };
        nodes.iter().map(bind).collect()
    }
}
