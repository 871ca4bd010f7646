//! The value of a path in a row.

use super::node::Node;
use super::scene::stored_ids;
use super::{Row, Scene};
use crate::{RunError, Stop};
use askloom_model::{
    Conceptual, EndId, Leaf, Member, Operand, Path, Position, PositionId, Query, RelationshipKind, Table,
    Value, bucket,
};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// What a path in a condition leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Values {
    Single(Value),
    /// Across a to-many hop, or at a list: "some" of these.
    Many(Vec<Value>),
}

impl Scene<'_> {
    /// The value of an operand that is no path.
    pub fn constant(&self, operand: &Operand) -> Result<Value, Stop> {
        match operand {
            Operand::Constant(constant) => {
                Value::of_constant(constant).map_err(|error| RunError::Corrupted(error.to_string()).into())
            }
            Operand::Parameter(index) => Ok(self.arguments.get(*index).cloned().unwrap_or(Value::Null)),
            Operand::Path(_) => Ok(Value::Null),
        }
    }

    /// Every value at the end of a path: one if it is single (null if there is none), else those of all elements.
    pub fn values(&self, path: &Path, row: &Row) -> Result<Values, Stop> {
        let many = self.crosses_many(path);
        if let Some(value) = self.given(path, row)? {
            return Ok(match many {
                true => Values::Many(elements(value)),
                false => Values::Single(value),
            });
        }
        if let Some(id) = self.known_id(path, row) {
            return Ok(Values::Single(id));
        }
        if let Some(part) = self.conceptual().identity_part(path) {
            return Ok(match self.values(&part.of, row)? {
                Values::Single(identity) => Values::Single(part.of_value(&identity)),
                Values::Many(all) => Values::Many(all.iter().map(|one| part.of_value(one)).collect()),
            });
        }
        let ends = self.ends(path, row)?;
        if !many {
            let value = match ends.first() {
                Some(Some(node)) => self.leaves(node, path.leaf)?.into_iter().next(),
                Some(None) | None => None,
            };
            return Ok(Values::Single(value.unwrap_or(Value::Null)));
        }
        let mut each = Vec::new();
        for node in ends {
            match node {
                Some(node) => each.extend(self.leaves(&node, path.leaf)?),
                // A to-one hop behind the to-many one found nothing: that element has null here, but no list.
                None if !self.is_list(path.leaf) => each.push(Value::Null),
                None => {}
            }
        }
        Ok(Values::Many(each))
    }

    /// The one value of a path that crosses nothing to-many; null where there is nothing. A list is one value.
    pub fn selected(&self, path: &Path, row: &Row) -> Result<Value, Stop> {
        if let Some(value) = self.given(path, row)? {
            return Ok(value);
        }
        if let Some(id) = self.known_id(path, row) {
            return Ok(id);
        }
        if let Some(part) = self.conceptual().identity_part(path) {
            return Ok(part.of_value(&self.selected(&part.of, row)?));
        }
        let Some(Some(node)) = self.ends(path, row)?.into_iter().next() else { return Ok(Value::Null) };
        if let (Leaf::Attribute(id), Some(record)) = (path.leaf, node.record())
            && self.conceptual().attributes[id].list
        {
            return Ok(Value::List(record.list(Member::Attribute(id)).to_vec()));
        }
        if let Leaf::Reference(id) = path.leaf
            && self.is_list(path.leaf)
        {
            return self.list(&node, id);
        }
        Ok(self.leaves(&node, path.leaf)?.into_iter().next().unwrap_or(Value::Null))
    }

    /// All that is at a to-many end, as one value: parts whole and in list order, of others the ids.
    fn list(&self, node: &Node, end: EndId) -> Result<Value, Stop> {
        let row = &self.conceptual().ends[end];
        if row.kind == RelationshipKind::Composition && row.stored {
            let parts = node.record().map(|record| record.list(Member::End(end)).to_vec());
            return Ok(Value::List(parts.unwrap_or_default()));
        }
        let mut ids = BTreeSet::new();
        for value in self.referred(node, end)? {
            if let Value::Reference(id) = value {
                ids.insert(id);
            }
        }
        Ok(Value::Set(ids))
    }

    /// The value that an entry gives, or that follows from what it gives: the one that the row is from, or that of another
    /// copy with the same identity.
    fn given(&self, path: &Path, row: &Row) -> Result<Option<Value>, Stop> {
        if let Some(value) = row.held(path) {
            return Ok(Some(value.into_owned()));
        }
        if self.crosses_many(path) {
            return self.fetched(path, row);
        }
        let ways = self.conceptual().derivations(path);
        let at_hand = |path: &Path| {
            let held = row.held(path).map(Cow::into_owned);
            held.or_else(|| self.known_id(path, row))
        };
        for way in &ways {
            if let Some(values) = way.paths().iter().map(at_hand).collect::<Option<Vec<_>>>() {
                return Ok(Some(way.value(values)));
            }
        }
        if let Some(value) = self.fetched(path, row)? {
            return Ok(Some(value));
        }
        for way in &ways {
            let values = way.paths().iter().map(|path| self.fetched(path, row));
            if let Some(values) = values.collect::<Result<Option<Vec<_>>, _>>()? {
                return Ok(Some(way.value(values)));
            }
        }
        Ok(None)
    }

    /// The identity of a row of the query.
    pub(super) fn identity(&self, query: &Query, row: &Row) -> Result<Vec<Value>, Stop> {
        if query.identity.is_empty() {
            return Ok(row.keys().cloned().collect());
        }
        let part = |path: &Path| match path.leaf {
            // An element of a list is told from the others by where it is, not by its value.
            Leaf::Itself if path.hops.is_empty() => Ok(row.key(path.position).clone()),
            Leaf::Itself
            | Leaf::Attribute(_)
            | Leaf::Reference(_)
            | Leaf::Bucket(_)
            | Leaf::TimeBucket(..) => self.single(path, row),
        };
        query.identity.iter().map(part).collect()
    }

    /// An entity's id or a part of it, which is known without the entity.
    fn known_id(&self, path: &Path, row: &Row) -> Option<Value> {
        let key = row.key(path.position);
        if !path.hops.is_empty() || !matches!(key, Value::Reference(_)) {
            return None;
        }
        if path.leaf == Leaf::Itself {
            return Some(key.clone());
        }
        let class = self.positions[path.position].class?;
        Some(self.conceptual().known_part(class, path)?.of_value(key))
    }

    /// The one value of a path that is single.
    pub fn single(&self, path: &Path, row: &Row) -> Result<Value, Stop> {
        self.selected(path, row)
    }

    /// The distinct values of a path that an index leads back from. Ids are those that are held there, also of a
    /// symmetric relationship: the other side has entries of its own.
    pub fn every(&self, path: &Path, row: &Row) -> Result<BTreeSet<Value>, Stop> {
        let mut found = BTreeSet::new();
        if let Some(part) = self.conceptual().identity_part(path) {
            let mut found: BTreeSet<Value> =
                self.every(&part.of, row)?.iter().map(|identity| part.of_value(identity)).collect();
            found.remove(&Value::Null);
            return Ok(found);
        }
        for node in self.ends(path, row)?.into_iter().flatten() {
            match (path.leaf, node.record()) {
                (Leaf::Reference(end), Some(record)) if self.is_reference(end) => {
                    found.extend(stored_ids(record, end).into_iter().map(Value::Reference));
                }
                (leaf, _) => found.extend(self.leaves(&node, leaf)?),
            }
        }
        found.remove(&Value::Null);
        Ok(found)
    }

    fn is_reference(&self, end: EndId) -> bool {
        let row = &self.conceptual().ends[end];
        row.stored && row.kind != RelationshipKind::Composition
    }

    /// The whole instance at a position.
    pub fn whole(&self, position: PositionId, row: &Row) -> Result<Value, Stop> {
        Ok(self.whole_of(&self.node(position, row)?))
    }

    /// The node as a value in an expression: an entity is its id.
    fn itself(&self, node: &Node) -> Value {
        match node.record().and_then(|record| record.identity(self.conceptual())) {
            Some(identity) => Value::Reference(identity),
            None => self.whole_of(node),
        }
    }

    /// Which bucket an entity is in.
    fn bucket(&self, node: &Node, of: u32) -> Value {
        let found = node.record().and_then(|record| {
            let identity = record.identity(self.conceptual())?;
            Some(bucket(self.conceptual(), record.class, &identity, of))
        });
        found.unwrap_or(Value::Null)
    }

    fn whole_of(&self, node: &Node) -> Value {
        match node {
            Node::Nothing => Value::Null,
            Node::Record(inner) => {
                inner.record().map_or(Value::Null, |record| Value::Record(Box::new(record.clone())))
            }
            Node::Element(value) => value.clone(),
        }
    }

    /// Where the hops of a path lead. A to-one hop is an outer join: it keeps its place with nothing in it.
    fn ends(&self, path: &Path, row: &Row) -> Result<Vec<Option<Node>>, Stop> {
        let start = match self.node(path.position, row)? {
            Node::Nothing => None,
            node => Some(node),
        };
        let mut reached = vec![start];
        for &hop in &path.hops {
            let many = self.conceptual().ends[hop].cardinality.is_many();
            let mut next = Vec::new();
            for node in reached {
                let found = match node {
                    Some(node) => self.children(&node, Member::End(hop))?,
                    None => Vec::new(),
                };
                let mut found = found.into_iter().map(|(_, node)| node);
                match many {
                    true => next.extend(found.map(Some)),
                    false => next.push(found.next()),
                }
            }
            reached = next;
        }
        Ok(reached)
    }

    fn crosses_many(&self, path: &Path) -> bool {
        crosses_many(self.conceptual(), path)
    }

    fn is_list(&self, leaf: Leaf) -> bool {
        is_list(self.conceptual(), leaf)
    }

    /// The values at the end of a path: one, unless it is a list or a set.
    fn leaves(&self, node: &Node, leaf: Leaf) -> Result<Vec<Value>, Stop> {
        match leaf {
            Leaf::Itself => Ok(vec![self.itself(node)]),
            Leaf::Bucket(of) => Ok(vec![self.bucket(node, of)]),
            Leaf::TimeBucket(id, unit) => {
                let at = node.record().map_or(&Value::Null, |record| record.get(Member::Attribute(id)));
                Ok(vec![unit.of_value(at)])
            }
            Leaf::Attribute(id) => {
                let Some(record) = node.record() else { return Ok(vec![Value::Null]) };
                let member = Member::Attribute(id);
                Ok(match self.conceptual().attributes[id].list {
                    true => record.list(member).iter().map(|element| element.value.clone()).collect(),
                    false => vec![record.get(member).clone()],
                })
            }
            Leaf::Reference(id) => {
                let values = self.referred(node, id)?;
                Ok(match self.conceptual().ends[id].cardinality.is_many() {
                    true => values,
                    false => vec![values.into_iter().next().unwrap_or(Value::Null)],
                })
            }
        }
    }

    /// The ids at an end; of a part that is a value object, the part itself.
    fn referred(&self, node: &Node, end: EndId) -> Result<Vec<Value>, Stop> {
        let row = &self.conceptual().ends[end];
        match (row.kind, row.stored) {
            (RelationshipKind::Association | RelationshipKind::Aggregation, true) => {
                let Node::Record(inner) = node else { return Ok(Vec::new()) };
                Ok(self.ids_at(inner, end)?.into_iter().map(Value::Reference).collect())
            }
            (RelationshipKind::Composition, _) | (_, false) => {
                let children = self.children(node, Member::End(end))?;
                Ok(children.iter().map(|(_, child)| self.itself(child)).collect())
            }
        }
    }
}

/// Whether a path leads to several values: over a to-many hop, or to a list.
pub(super) fn crosses_many(conceptual: &Conceptual, path: &Path) -> bool {
    let many = |&hop: &EndId| conceptual.ends[hop].cardinality.is_many();
    path.hops.iter().any(many) || is_list(conceptual, path.leaf)
}

fn is_list(conceptual: &Conceptual, leaf: Leaf) -> bool {
    match leaf {
        Leaf::Attribute(id) => conceptual.attributes[id].list,
        Leaf::Reference(id) => conceptual.ends[id].cardinality.is_many(),
        Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => false,
    }
}

/// Whether an entry of a copy can hold all that a path over these positions means: one value, or a whole list of plain
/// ones.
pub(super) fn is_readable(
    conceptual: &Conceptual,
    positions: &Table<PositionId, Position>,
    path: &Path,
) -> bool {
    match path.leaf {
        Leaf::Itself if path.hops.is_empty() => {
            // A value object is no plain value.
            positions[path.position].class.is_none_or(|class| conceptual.classes[class].kind.is_entity())
        }
        Leaf::Reference(end) => conceptual.ends[end].kind != RelationshipKind::Composition,
        Leaf::Itself | Leaf::Attribute(_) | Leaf::Bucket(_) | Leaf::TimeBucket(..) => true,
    }
}

fn elements(value: Value) -> Vec<Value> {
    match value {
        Value::List(elements) => elements.into_iter().map(|element| element.value).collect(),
        Value::Set(ids) => ids.into_iter().map(Value::Reference).collect(),
        Value::Null => Vec::new(),
        single => vec![single],
    }
}
