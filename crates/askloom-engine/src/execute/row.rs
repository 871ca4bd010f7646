//! Rows: one instance or element at each position, loaded when it is first needed.

use super::entries::RowEntry;
use super::fetch::{Entry, EntryPlace};
use super::main_position;
use super::node::{Inner, Node};
use super::restriction::Nothing;
use super::scene::Scene;
use crate::system::System;
use crate::{Stop, Stored};
use askloom_model::{Id, Leaf, Member, Path, PositionId, Record, Value, fault};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One row: what stands at each position.
#[derive(Debug, Clone)]
pub struct Row {
    /// What identifies it, by positions; of a row that has only what its entry names, nothing.
    keys: Vec<Value>,
    /// What has been loaded, as far as the last position of which that is so.
    nodes: RefCell<Vec<Option<Node>>>,
    /// The entry of a copy that the row comes from.
    entry: Option<RowEntry>,
    /// Entries of other copies, by their keys.
    pub(super) fetched: RefCell<Vec<(EntryPlace, Option<Entry>)>>,
}

impl Row {
    /// A row from an entry of a copy: identities are known, instances are not yet.
    pub(super) fn of_entry(entry: RowEntry) -> Self {
        Self { keys: Vec::new(), nodes: RefCell::default(), entry: Some(entry), fetched: RefCell::default() }
    }

    /// What identifies what stands at a position: an entity's id as a reference, a list element's ordinal as a number, null
    /// for nothing.
    #[must_use]
    pub fn key(&self, position: PositionId) -> &Value {
        match &self.entry {
            Some(entry) if self.keys.is_empty() => entry.key(position),
            Some(_) | None => self.keys.get(position.index()).unwrap_or(&Value::Null),
        }
    }

    /// The same of all positions, in their order.
    pub fn keys(&self) -> impl Iterator<Item = &Value> {
        let own = self.keys.len();
        let width = self.entry.as_ref().filter(|_| own == 0).map_or(own, RowEntry::width);
        (0..width).map(|index| self.key(PositionId::from_index(index)))
    }

    /// The value of a path that the entry gives.
    pub(super) fn held(&self, path: &Path) -> Option<Cow<'_, Value>> {
        self.entry.as_ref()?.value(path)
    }

    /// The columns of the query, if the entry gives all of them.
    pub(super) fn columns(&self) -> Option<Vec<Value>> {
        self.entry.as_ref()?.columns()
    }

    /// Keeps no more of the page that it comes from than its own entry.
    pub(super) fn leave_page(&mut self) {
        if let Some(entry) = &mut self.entry {
            entry.leave_page();
        }
    }

    /// The instance of the main entity, if the reads that gave the row brought it.
    pub fn main(&self) -> Option<Inner> {
        match self.nodes.borrow().first()? {
            Some(Node::Record(inner)) => Some(inner.clone()),
            Some(Node::Nothing | Node::Element(_)) | None => None,
        }
    }

    fn keep(&self, position: PositionId, node: Node) {
        let mut nodes = self.nodes.borrow_mut();
        if nodes.len() <= position.index() {
            nodes.resize_with(position.index() + 1, || None);
        }
        if let Some(slot) = nodes.get_mut(position.index()) {
            *slot = Some(node);
        }
    }

    pub(super) fn bind(&mut self, position: PositionId, key: Value, node: Node) {
        if self.keys.is_empty() {
            self.keys = self.keys().cloned().collect();
        }
        if let Some(slot) = self.keys.get_mut(position.index()) {
            *slot = key;
            self.keep(position, node);
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
        let keys = vec![Value::Null; self.positions.len()];
        let mut row = Row { keys, nodes: RefCell::default(), entry: None, fetched: RefCell::default() };
        row.bind(main_position(), key, node);
        row
    }

    /// Puts the aggregate that stands at a position of a row there, if it is one of those that are asked for.
    pub(super) fn place(&self, row: &Row, position: PositionId, stored: Arc<Stored>) {
        let inner = Inner::root(stored);
        if self.positions[position].class.is_some_and(|class| self.is_a(&inner, class)) {
            row.keep(position, Node::Record(inner));
        }
    }

    /// Whether all that a row names at some positions is there.
    pub(super) fn is_there(&self, row: &Row, positions: &[PositionId]) -> Result<bool, Stop> {
        for &id in positions {
            let key = row.key(id);
            if key.is_null() {
                continue;
            }
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
        let node = self.load(position, row.key(position), row)?;
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

    /// Brings the main instance of a row, if it may be a part of another: what an entry spells out does not say whose.
    pub(super) fn bring_part(&self, row: &Row) -> Result<(), Stop> {
        let main = main_position();
        if self.positions[main].class.is_some_and(|class| !self.is_by_id(class)) && row.entry.is_some() {
            let node = self.stored(main, row.key(main), row)?;
            row.keep(main, node);
        }
        Ok(())
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
        if row.entry.is_none() || !matches!(key, Value::Reference(_)) {
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
                fields.insert(member, value.into_owned());
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
