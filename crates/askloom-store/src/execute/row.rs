//! Rows: one instance or element at each position, loaded when it is first needed.

use super::main_position;
use crate::expiry::alive;
use crate::{Instances, RunError, Stored};
use askloom_model::{
    ClassId, EndId, Id, Identity, Leaf, Member, Operand, Path, Position, PositionId, Record,
    RelationshipKind, Table, Value,
};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

/// What stands at a position.
#[derive(Debug, Clone)]
pub enum Node {
    /// An outer join found nothing.
    Nothing,
    /// An entity or a value object.
    Record(Rc<Record>),
    /// An element of a list of plain values.
    Element(Value),
}

/// One row: the identity of each position, in the order of positions.
#[derive(Debug, Clone)]
pub struct Row {
    /// An entity's id as a reference, a list element's ordinal as a number, null for nothing.
    pub keys: Vec<Value>,
    nodes: RefCell<Vec<Option<Node>>>,
    /// Values that an entry of a copy gave.
    held: Rc<Vec<(Path, Value)>>,
}

/// What rows are evaluated in.
pub struct Scene<'s> {
    pub instances: &'s dyn Instances,
    pub positions: &'s Table<PositionId, Position>,
    pub arguments: &'s [Value],
    pub now: jiff::Timestamp,
}

impl std::fmt::Debug for Scene<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scene").field("now", &self.now).finish_non_exhaustive()
    }
}

impl Scene<'_> {
    fn conceptual(&self) -> &askloom_model::Conceptual {
        &self.instances.schema().model.conceptual
    }

    /// The instance of an entity class with that id.
    pub(crate) fn instance(&self, class: ClassId, id: &Identity) -> Result<Option<Rc<Record>>, RunError> {
        let conceptual = self.conceptual();
        let Some(root) = conceptual.aggregate_root(class) else { return Ok(None) };
        let part_of = conceptual.lineage(class).iter().any(|&c| conceptual.classes[c].owner.is_some());
        if !part_of {
            let stored = self.aggregate(root, id)?;
            return Ok(stored
                .filter(|s| conceptual.is_kind_of(s.record.class, class))
                .map(|s| Rc::new(s.record.clone())));
        }
        // A part: somewhere in an aggregate of its owner.
        for (_, stored) in self.owners(class, id)? {
            if let Some(found) = find_part(conceptual, &stored.record, class, id) {
                return Ok(Some(Rc::new(found.clone())));
            }
        }
        Ok(None)
    }

    /// Rows with only the main entity bound, from an aggregate: itself, or the parts in it that are asked for.
    pub(crate) fn root(&self, identity: Identity, stored: Rc<Stored>) -> Vec<Row> {
        let conceptual = self.conceptual();
        let Some(class) = self.positions[main_position()].class else { return Vec::new() };
        let Some(stored) = alive(conceptual, stored, self.now) else { return Vec::new() };
        let is_root = conceptual.aggregate_root(class).is_some_and(|root| conceptual.is_kind_of(class, root));
        if is_root {
            let kind = conceptual.is_kind_of(stored.record.class, class);
            let record = Rc::new(stored.record.clone());
            return if kind {
                vec![self.row(Value::Reference(identity), Node::Record(record))]
            } else {
                Vec::new()
            };
        }
        let mut parts = Vec::new();
        collect_parts(conceptual, &stored.record, class, &mut parts);
        let row = |part: &&Record| {
            let id = identity_of(conceptual, part);
            self.row(Value::Reference(id), Node::Record(Rc::new((*part).clone())))
        };
        parts.iter().map(row).collect()
    }

    fn row(&self, key: Value, node: Node) -> Row {
        let mut keys = vec![Value::Null; self.positions.len()];
        let mut nodes = vec![None; self.positions.len()];
        if let (Some(first), Some(slot)) = (keys.first_mut(), nodes.first_mut()) {
            *first = key;
            *slot = Some(node);
        }
        Row { keys, nodes: RefCell::new(nodes), held: Rc::default() }
    }

    /// A row from an entry of a copy: identities are known, instances are not yet.
    pub(crate) fn entry(
        &self,
        positions: &[PositionId],
        identity: Vec<Value>,
        held: &[Path],
        values: Vec<Value>,
    ) -> Result<Option<Row>, RunError> {
        let mut keys = vec![Value::Null; self.positions.len()];
        for (position, key) in positions.iter().zip(identity) {
            if let Some(slot) = keys.get_mut(position.index()) {
                *slot = key;
            }
        }
        let mapped = held.iter().zip(values).map(|(path, value)| {
            let position = positions.get(path.position.index()).copied().unwrap_or(path.position);
            (Path { position, ..path.clone() }, value)
        });
        let nodes = RefCell::new(vec![None; self.positions.len()]);
        let row = Row { keys, nodes, held: Rc::new(mapped.collect()) };
        self.still_there(row)
    }

    /// Entries outlive what has expired: the row is gone if an inner position is, and an outer one reads as nothing.
    fn still_there(&self, mut row: Row) -> Result<Option<Row>, RunError> {
        let conceptual = self.conceptual();
        let expires = conceptual.classes.iter().any(|(_, class)| class.ttl_ms.is_some());
        if !expires {
            return Ok(Some(row));
        }
        // Values may be of what has expired: with a time to live anywhere, they are read afresh.
        row.held = Rc::default();
        for (id, position) in self.positions.iter() {
            let known = row.keys.get(id.index()).is_some_and(|key| !key.is_null());
            if known && matches!(self.node(id, &row)?, Node::Nothing) {
                if !position.outer {
                    return Ok(None);
                }
                if let Some(slot) = row.keys.get_mut(id.index()) {
                    *slot = Value::Null;
                }
            }
        }
        Ok(Some(row))
    }

    /// What stands at a position of a row, loaded if need be.
    pub(crate) fn node(&self, position: PositionId, row: &Row) -> Result<Node, RunError> {
        if let Some(Some(node)) = row.nodes.borrow().get(position.index()) {
            return Ok(node.clone());
        }
        let key = row.keys.get(position.index()).cloned().unwrap_or(Value::Null);
        let node = self.load(position, &key, row)?;
        if let Some(slot) = row.nodes.borrow_mut().get_mut(position.index()) {
            *slot = Some(node.clone());
        }
        Ok(node)
    }

    fn load(&self, position: PositionId, key: &Value, row: &Row) -> Result<Node, RunError> {
        if key.is_null() {
            return Ok(Node::Nothing);
        }
        let entry = &self.positions[position];
        let Some(hop) = entry.from else {
            let (Some(class), Value::Reference(id)) = (entry.class, key) else { return Ok(Node::Nothing) };
            return Ok(self.instance(class, id)?.map_or(Node::Nothing, Node::Record));
        };
        let parent = self.node(hop.parent, row)?;
        let children = self.children(&parent, hop.step)?;
        Ok(children.into_iter().find(|(child, _)| child == key).map_or(Node::Nothing, |(_, node)| node))
    }

    /// What a step leads to from a node: identities and nodes, in order of identity.
    pub(crate) fn children(&self, node: &Node, step: Member) -> Result<Vec<(Value, Node)>, RunError> {
        let Node::Record(record) = node else { return Ok(Vec::new()) };
        let end = match step {
            Member::Attribute(_) => {
                let elements = record.list(step).iter();
                return Ok(elements.map(|e| (ordinal(e.ordinal), Node::Element(e.value.clone()))).collect());
            }
            Member::End(end) => end,
        };
        let row = &self.conceptual().ends[end];
        let target = row.target;
        if !row.stored {
            return self.derived(record, end);
        }
        match record.get(step) {
            Value::Reference(id) => self.referred(target, std::iter::once(id)),
            Value::Set(ids) => self.referred(target, ids.iter()),
            Value::Record(part) => Ok(vec![self.part(part, None)]),
            Value::List(elements) => {
                let mut parts: Vec<_> = elements
                    .iter()
                    .filter_map(|element| match &element.value {
                        Value::Record(part) => Some(self.part(part, Some(element.ordinal))),
                        _plain => None,
                    })
                    .collect();
                parts.sort_by(|(a, _), (b, _)| a.cmp(b));
                Ok(parts)
            }
            _absent => Ok(Vec::new()),
        }
    }

    fn part(&self, part: &Record, at: Option<u64>) -> (Value, Node) {
        let conceptual = self.conceptual();
        let key = match (conceptual.classes[part.class].kind.is_entity(), at) {
            (true, _) => Value::Reference(identity_of(conceptual, part)),
            (false, Some(at)) => ordinal(at),
            // A to-one part is the only one there is.
            (false, None) => ordinal(0),
        };
        (key, Node::Record(Rc::new(part.clone())))
    }

    fn referred<'i>(
        &self,
        target: ClassId,
        ids: impl Iterator<Item = &'i Identity>,
    ) -> Result<Vec<(Value, Node)>, RunError> {
        let mut found = Vec::new();
        for id in ids {
            if let Some(record) = self.instance(target, id)? {
                found.push((Value::Reference(id.clone()), Node::Record(record)));
            }
        }
        Ok(found)
    }

    /// Those that hold this instance's id in the stored end.
    fn derived(&self, record: &Record, end: EndId) -> Result<Vec<(Value, Node)>, RunError> {
        let conceptual = self.conceptual();
        let Some(stored_end) = conceptual.ends[end].inverse else { return Ok(Vec::new()) };
        let (holder, kind) = (conceptual.ends[stored_end].class, conceptual.ends[stored_end].kind);
        let id = identity_of(conceptual, record);
        let mut found = Vec::new();
        if kind == RelationshipKind::Composition {
            // From a part to its owner.
            for (owner, stored) in self.owners(record.class, &id)? {
                if let Some(whole) = find_holder(conceptual, &stored.record, stored_end, &id) {
                    let _ = owner;
                    found.push((
                        Value::Reference(identity_of(conceptual, whole)),
                        Node::Record(Rc::new(whole.clone())),
                    ));
                }
            }
            return Ok(found);
        }
        for (root, owner) in self.instances.referring(stored_end, &id)? {
            let Some(stored) = self.aggregate(root, &owner)? else { continue };
            let mut holders = Vec::new();
            collect_parts(conceptual, &stored.record, holder, &mut holders);
            for part in holders {
                let holds = match part.get(Member::End(stored_end)) {
                    Value::Reference(held) => *held == id,
                    Value::Set(held) => held.contains(&id),
                    _absent => false,
                };
                if holds {
                    found.push((
                        Value::Reference(identity_of(conceptual, part)),
                        Node::Record(Rc::new(part.clone())),
                    ));
                }
            }
        }
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(found)
    }

    fn owners(&self, part: ClassId, id: &Identity) -> Result<Vec<(Identity, Rc<Stored>)>, RunError> {
        let mut found = Vec::new();
        for (root, owner) in self.instances.owners(part, id)? {
            if let Some(stored) = self.aggregate(root, &owner)? {
                found.push((owner, stored));
            }
        }
        Ok(found)
    }

    /// The aggregate as it is by the clock of this scene.
    fn aggregate(&self, root: ClassId, id: &Identity) -> Result<Option<Rc<Stored>>, RunError> {
        let stored = self.instances.aggregate(root, id)?;
        Ok(stored.and_then(|stored| alive(self.conceptual(), stored, self.now)))
    }

    /// Joins a position to a row: one row for each child; for an outer position at least one.
    pub(crate) fn expand(&self, row: Row, position: PositionId, out: &mut Vec<Row>) -> Result<(), RunError> {
        let Some(hop) = self.positions[position].from else { return Ok(()) };
        let parent = self.node(hop.parent, &row)?;
        let children = self.children(&parent, hop.step)?;
        if children.is_empty() && self.positions[position].outer {
            out.push(bound(&row, position, Value::Null, Node::Nothing));
        }
        for (key, node) in children {
            out.push(bound(&row, position, key, node));
        }
        Ok(())
    }

    /// The value of an operand that is no path.
    pub(crate) fn constant(&self, operand: &Operand) -> Result<Value, RunError> {
        match operand {
            Operand::Constant(constant) => {
                Value::of_constant(constant).map_err(|error| RunError::Corrupted(error.to_string()))
            }
            Operand::Parameter(index) => Ok(self.arguments.get(*index).cloned().unwrap_or(Value::Null)),
            Operand::Path(_) => Ok(Value::Null),
        }
    }

    /// Every value at the end of a path: one if it is single (null if there is none), else those of all elements.
    pub(crate) fn values(&self, path: &Path, row: &Row) -> Result<Values, RunError> {
        if let Some((_, value)) = row.held.iter().find(|(held, _)| held == path) {
            return Ok(self.shaped(path, value.clone()));
        }
        let start = self.node(path.position, row)?;
        if path.leaf == Leaf::Itself && path.hops.is_empty() {
            let key = row.keys.get(path.position.index()).cloned().unwrap_or(Value::Null);
            return Ok(Values::Single(self.itself(&start, key)));
        }
        let mut nodes = vec![start];
        let mut many = false;
        for &hop in &path.hops {
            many |= self.conceptual().ends[hop].cardinality.is_many();
            let mut next = Vec::new();
            for node in &nodes {
                next.extend(self.children(node, Member::End(hop))?.into_iter().map(|(_, node)| node));
            }
            nodes = next;
        }
        let mut values = Vec::new();
        for node in &nodes {
            values.push(self.leaf(node, path.leaf)?);
        }
        if !many {
            let value = values.into_iter().next().unwrap_or(Value::Null);
            return Ok(self.shaped(path, value));
        }
        let flat = values.into_iter().flat_map(elements);
        Ok(Values::Many(flat.collect()))
    }

    /// A list is many values, anything else one.
    fn shaped(&self, path: &Path, value: Value) -> Values {
        let list = match path.leaf {
            Leaf::Attribute(id) => self.conceptual().attributes[id].list,
            Leaf::Reference(id) => self.conceptual().ends[id].cardinality.is_many(),
            Leaf::Itself => false,
        };
        if list { Values::Many(elements(value).collect()) } else { Values::Single(value) }
    }

    fn itself(&self, node: &Node, key: Value) -> Value {
        match node {
            Node::Nothing => Value::Null,
            Node::Element(value) => value.clone(),
            Node::Record(_) => key,
        }
    }

    fn leaf(&self, node: &Node, leaf: Leaf) -> Result<Value, RunError> {
        let Node::Record(record) = node else { return Ok(Value::Null) };
        match leaf {
            Leaf::Attribute(id) => Ok(record.get(Member::Attribute(id)).clone()),
            Leaf::Reference(id) if self.conceptual().ends[id].stored => {
                Ok(record.get(Member::End(id)).clone())
            }
            Leaf::Reference(id) => {
                let children = self.children(node, Member::End(id))?.into_iter().map(|(key, _)| key);
                let ids: Vec<Value> = children.collect();
                if self.conceptual().ends[id].cardinality.is_many() {
                    let ids = ids.into_iter().filter_map(|key| match key {
                        Value::Reference(id) => Some(id),
                        _other => None,
                    });
                    return Ok(Value::Set(ids.collect()));
                }
                Ok(ids.into_iter().next().unwrap_or(Value::Null))
            }
            Leaf::Itself => Ok(Value::Reference(identity_of(self.conceptual(), record))),
        }
    }

    /// The one value of a path that is single.
    pub(crate) fn single(&self, path: &Path, row: &Row) -> Result<Value, RunError> {
        Ok(match self.values(path, row)? {
            Values::Single(value) => value,
            Values::Many(values) => values.into_iter().next().unwrap_or(Value::Null),
        })
    }

    /// A selected value: a list stays a list.
    pub(crate) fn selected(&self, path: &Path, row: &Row) -> Result<Value, RunError> {
        if let Some((_, value)) = row.held.iter().find(|(held, _)| held == path) {
            return Ok(value.clone());
        }
        let many = match path.leaf {
            Leaf::Attribute(id) => self.conceptual().attributes[id].list,
            Leaf::Reference(_) | Leaf::Itself => false,
        };
        if !many {
            return self.single(path, row);
        }
        let mut node = self.node(path.position, row)?;
        for &hop in &path.hops {
            node = self
                .children(&node, Member::End(hop))?
                .into_iter()
                .next()
                .map_or(Node::Nothing, |(_, node)| node);
        }
        self.leaf(&node, path.leaf)
    }

    /// The distinct values of a path that an index leads back from.
    pub(crate) fn every(&self, path: &Path, row: &Row) -> Result<BTreeSet<Value>, RunError> {
        let values = match self.values(path, row)? {
            Values::Single(value) => vec![value],
            Values::Many(values) => values,
        };
        Ok(values.into_iter().filter(|value| !value.is_null()).collect())
    }

    /// The whole instance at a position.
    pub(crate) fn whole(&self, position: PositionId, row: &Row) -> Result<Value, RunError> {
        Ok(match self.node(position, row)? {
            Node::Nothing => Value::Null,
            Node::Record(record) => Value::Record(Box::new((*record).clone())),
            Node::Element(value) => value,
        })
    }
}

/// The values of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Values {
    Single(Value),
    /// "Some" of these.
    Many(Vec<Value>),
}

fn elements(value: Value) -> impl Iterator<Item = Value> {
    let values: Vec<Value> = match value {
        Value::List(elements) => elements.into_iter().map(|element| element.value).collect(),
        Value::Set(ids) => ids.into_iter().map(Value::Reference).collect(),
        Value::Null => Vec::new(),
        single => vec![single],
    };
    values.into_iter()
}

fn ordinal(at: u64) -> Value {
    Value::Int(i64::try_from(at).unwrap_or(i64::MAX))
}

fn bound(row: &Row, position: PositionId, key: Value, node: Node) -> Row {
    let row = row.clone();
    let mut keys = row.keys;
    if let Some(slot) = keys.get_mut(position.index()) {
        *slot = key;
    }
    if let Some(slot) = row.nodes.borrow_mut().get_mut(position.index()) {
        *slot = Some(node);
    }
    Row { keys, nodes: row.nodes, held: row.held }
}

/// The identity of an entity's record.
pub(crate) fn identity_of(conceptual: &askloom_model::Conceptual, record: &Record) -> Identity {
    record.identity(conceptual).unwrap_or_default()
}

/// The records of a class in an aggregate, the aggregate itself included.
pub(crate) fn collect_parts<'r>(
    conceptual: &askloom_model::Conceptual,
    record: &'r Record,
    class: ClassId,
    found: &mut Vec<&'r Record>,
) {
    if conceptual.is_kind_of(record.class, class) {
        found.push(record);
    }
    for value in record.fields.values() {
        match value {
            Value::Record(inner) => collect_parts(conceptual, inner, class, found),
            Value::List(elements) => {
                for element in elements {
                    if let Value::Record(inner) = &element.value {
                        collect_parts(conceptual, inner, class, found);
                    }
                }
            }
            _plain => {}
        }
    }
}

pub(crate) fn find_part<'r>(
    conceptual: &askloom_model::Conceptual,
    record: &'r Record,
    class: ClassId,
    id: &Identity,
) -> Option<&'r Record> {
    let mut parts = Vec::new();
    collect_parts(conceptual, record, class, &mut parts);
    parts.into_iter().find(|part| identity_of(conceptual, part) == *id)
}

/// The record that holds the part with this id in the end.
fn find_holder<'r>(
    conceptual: &askloom_model::Conceptual,
    record: &'r Record,
    end: EndId,
    id: &Identity,
) -> Option<&'r Record> {
    let mut holders = Vec::new();
    collect_parts(conceptual, record, conceptual.ends[end].class, &mut holders);
    let is_it = |value: &Value| match value {
        Value::Record(part) => identity_of(conceptual, part) == *id,
        _plain => false,
    };
    holders.into_iter().find(|holder| match holder.get(Member::End(end)) {
        Value::List(elements) => elements.iter().any(|element| is_it(&element.value)),
        single => is_it(single),
    })
}
