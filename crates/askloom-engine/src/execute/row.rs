//! Rows: one instance or element at each position, loaded when it is first needed.

use super::fetch::{Entry, EntryPlace};
use super::main_position;
use super::node::{Inner, Node};
use super::restriction::Nothing;
use super::scene::Scene;
use crate::system::System;
use crate::{Stop, Stored};
use askloom_model::{Id, Leaf, Member, Path, PositionId, Record, Value, fault};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// One row: the identity of each position, in the order of positions.
#[derive(Debug, Clone)]
pub struct Row {
    /// An entity's id as a reference, a list element's ordinal as a number, null for nothing.
    pub keys: Vec<Value>,
    nodes: RefCell<Vec<Option<Node>>>,
    held: Held,
    /// Entries of other copies, by their keys.
    pub(super) fetched: RefCell<HashMap<EntryPlace, Option<Entry>>>,
}

/// Values that an entry of a copy gave. The paths are those of all its entries.
#[derive(Debug, Clone, Default)]
pub(super) struct Held {
    pub(super) paths: Arc<[Path]>,
    pub(super) values: Arc<[Value]>,
}

impl Row {
    pub(super) fn held(&self, path: &Path) -> Option<&Value> {
        let at = self.held.paths.iter().position(|held| held == path)?;
        self.held.values.get(at)
    }

    /// The instance of the main entity, if the reads that gave the row brought it.
    pub fn main(&self) -> Option<Inner> {
        match self.nodes.borrow().first()? {
            Some(Node::Record(inner)) => Some(inner.clone()),
            Some(Node::Nothing | Node::Element(_)) | None => None,
        }
    }

    fn keep(&self, position: PositionId, node: Node) {
        if let Some(slot) = self.nodes.borrow_mut().get_mut(position.index()) {
            *slot = Some(node);
        }
    }

    pub(super) fn bind(&mut self, position: PositionId, key: Value, node: Node) {
        if let (Some(slot), Some(at)) =
            (self.keys.get_mut(position.index()), self.nodes.get_mut().get_mut(position.index()))
        {
            *slot = key;
            *at = Some(node);
        }
    }
}

impl Scene<'_> {
    /// Rows with only the main entity bound, from an aggregate: itself, or the parts in it that are asked for.
    pub fn root(&self, stored: Arc<Stored>) -> Vec<Row> {
        let Some(class) = self.positions[main_position()].class else { return Vec::new() };
        let found = self.instances_in(stored, class).into_iter();
        found.map(|inner| self.main_row(self.lone_key(&inner), Node::Record(inner))).collect()
    }

    pub(super) fn main_row(&self, key: Value, node: Node) -> Row {
        let mut row = self.unbound(Held::default());
        row.bind(main_position(), key, node);
        row
    }

    fn unbound(&self, held: Held) -> Row {
        let count = self.positions.len();
        Row {
            keys: vec![Value::Null; count],
            nodes: RefCell::new(vec![None; count]),
            held,
            fetched: RefCell::default(),
        }
    }

    /// Puts the aggregate that stands at a position of a row there, if it is one of those that are asked for.
    pub(super) fn place(&self, row: &mut Row, position: PositionId, stored: Arc<Stored>) {
        let inner = Inner::root(stored);
        let wanted = self.positions[position].class.is_some_and(|class| self.is_a(&inner, class));
        if let Some(slot) = row.nodes.get_mut().get_mut(position.index()).filter(|_| wanted) {
            *slot = Some(Node::Record(inner));
        }
    }

    /// A row from an entry of a copy: identities are known, instances are not yet.
    pub(super) fn entry(&self, positions: &[Option<PositionId>], identity: Vec<Value>, held: Held) -> Row {
        let mut row = self.unbound(held);
        for (position, key) in positions.iter().zip(identity) {
            if let Some(slot) = position.and_then(|position| row.keys.get_mut(position.index())) {
                *slot = key;
            }
        }
        row
    }

    /// Whether all that a row names at some positions is there.
    pub(super) fn is_there(&self, row: &Row, positions: &[PositionId]) -> Result<bool, Stop> {
        for &id in positions {
            let Some(key) = row.keys.get(id.index()).filter(|key| !key.is_null()) else { continue };
            if matches!(row.nodes.borrow().get(id.index()), Some(Some(Node::Record(_) | Node::Element(_)))) {
                continue;
            }
            // What the entry spells out may be gone.
            let node = self.stored(id, key, row)?;
            if matches!(node, Node::Nothing) {
                return Ok(false);
            }
            row.keep(id, node);
        }
        Ok(true)
    }

    /// What stands at a position of a row, loaded if need be.
    pub fn node(&self, position: PositionId, row: &Row) -> Result<Node, Stop> {
        if let Some(Some(node)) = row.nodes.borrow().get(position.index()) {
            return Ok(node.clone());
        }
        let key = row.keys.get(position.index()).cloned().unwrap_or(Value::Null);
        let node = self.load(position, &key, row)?;
        row.keep(position, node.clone());
        Ok(node)
    }

    fn load(&self, position: PositionId, key: &Value, row: &Row) -> Result<Node, Stop> {
        if key.is_null() {
            return Ok(Node::Nothing);
        }
        match self.spelled_out(position, key, row) {
            Some(node) => Ok(node),
            None => self.stored(position, key, row),
        }
    }

    /// What the store has at a position of a row.
    fn stored(&self, position: PositionId, key: &Value, row: &Row) -> Result<Node, Stop> {
        if let Some(node) = self.fetched_whole(position, row)? {
            return Ok(node);
        }
        let entry = &self.positions[position];
        if let (Some(class), Value::Reference(id)) = (entry.class, key)
            && (entry.from.is_none() || self.is_by_id(class))
        {
            return Ok(self.instance(class, id)?.map_or(Node::Nothing, Node::Record));
        }
        let Some(hop) = entry.from else { return Ok(Node::Nothing) };
        let parent = self.node(hop.parent, row)?;
        let children = self.at(position, &parent)?;
        Ok(children.into_iter().find(|(child, _)| child == key).map_or(Node::Nothing, |(_, node)| node))
    }

    /// The instance that an entry holds value by value.
    fn spelled_out(&self, position: PositionId, key: &Value, row: &Row) -> Option<Node> {
        if row.held.paths.is_empty() || !matches!(key, Value::Reference(_)) {
            return None;
        }
        let class = self.positions[position].class?;
        let mut fields = BTreeMap::new();
        for &leaf in self.instances.schema().plain_members(class)? {
            let value = row.held(&Path { position, hops: Vec::new(), leaf })?;
            let member = match leaf {
                Leaf::Attribute(id) => Member::Attribute(id),
                Leaf::Reference(id) => Member::End(id),
                Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => return None,
            };
            if !value.is_null() {
                fields.insert(member, value.clone());
            }
        }
        let record = Record { class, surrogate: None, fields };
        // A query sees the record alone.
        let stored = Stored { record, system: System::default() };
        Some(Node::Record(Inner::root(Arc::new(stored))))
    }

    /// What can stand at a position below a node, in order of identity.
    pub(super) fn at(&self, position: PositionId, parent: &Node) -> Result<Vec<(Value, Node)>, Stop> {
        let entry = &self.positions[position];
        let Some(hop) = entry.from else { return Ok(Vec::new()) };
        let mut children = self.children(parent, hop.step)?;
        self.retain_class(position, &mut children);
        Ok(children)
    }

    /// Keeps those that a position is about: it may be a subclass of what its relationship leads to.
    pub(super) fn retain_class(&self, position: PositionId, children: &mut Vec<(Value, Node)>) {
        let Some(class) = self.positions[position].class else { return };
        let conceptual = self.conceptual();
        let is_one = |node: &Node| node.record().is_none_or(|r| conceptual.is_kind_of(r.class, class));
        children.retain(|(_, node)| is_one(node));
    }

    /// Joins a position to a row: one row for each child; for an outer position at least one.
    pub fn expand(&self, row: Row, position: PositionId, out: &mut Vec<Row>) -> Result<(), Stop> {
        let Some(hop) = self.positions[position].from else { return Ok(()) };
        let parent = self.node(hop.parent, &row)?;
        let (mut children, nothing) = self.allowed_at(position, &parent)?;
        let outer = self.positions[position].outer && nothing == Nothing::IfNoneAllowed;
        let last = match children.pop() {
            Some(last) => last,
            None if outer && !fault!(OuterMissDropped) => (Value::Null, Node::Nothing),
            None => return Ok(()),
        };
        for (key, node) in children {
            let mut row = row.clone();
            row.bind(position, key, node);
            out.push(row);
        }
        let mut row = row;
        row.bind(position, last.0, last.1);
        out.push(row);
        Ok(())
    }
}
