//! Rows in which only some instances may stand at some positions: those that a write has to look at.

use super::node::{Inner, Node};
use super::row::Row;
use super::scene::{Scene, stored_ids};
use crate::{Aggregate, Stop};
use askloom_model::{EndId, Identity, Member, PositionId, RelationshipKind, Value};
use std::collections::{BTreeMap, BTreeSet};

/// What may stand at each position that is bound. The others are free.
#[derive(Debug, Default, Clone)]
pub struct Restriction {
    bound: BTreeMap<PositionId, Bound>,
}

#[derive(Debug, Default, Clone)]
pub struct Bound {
    /// What tells the instances apart, as rows name them.
    pub keys: BTreeSet<Value>,
    /// Where a row comes here from what an instance refers to: the aggregates with such instances, by what they refer to.
    pub holders: BTreeMap<Identity, BTreeSet<Aggregate>>,
}

impl Restriction {
    pub fn bind(&mut self, position: PositionId) -> &mut Bound {
        self.bound.entry(position).or_default()
    }

    pub fn bound(&self, position: PositionId) -> Option<&Bound> {
        self.bound.get(&position)
    }

    pub fn extend(&mut self, other: Self) {
        for (position, Bound { keys, holders }) in other.bound {
            let bound = self.bind(position);
            bound.keys.extend(keys);
            for (target, aggregates) in holders {
                bound.holders.entry(target).or_default().extend(aggregates);
            }
        }
    }
}

impl Scene<'_> {
    /// What can stand at a position below a node, of those that may. For an outer position, whether nothing may stand
    /// there for certain.
    pub(super) fn allowed_at(
        &self,
        position: PositionId,
        parent: &Node,
    ) -> Result<(Vec<(Value, Node)>, Nothing), Stop> {
        let Some(bound) = self.restriction.and_then(|restriction| restriction.bound(position)) else {
            return Ok((self.at(position, parent)?, Nothing::IfNoneAllowed));
        };
        let Some(hop) = self.positions[position].from else {
            return Ok((Vec::new(), Nothing::IfNoneAllowed));
        };
        let mut children = self.bound_children(parent, hop.step, bound)?;
        self.retain_class(position, &mut children);
        let hidden =
            children.is_empty() && self.positions[position].outer && self.has_any(position, parent)?;
        let nothing = if hidden { Nothing::Never } else { Nothing::IfNoneAllowed };
        Ok((children, nothing))
    }

    fn bound_children(&self, node: &Node, step: Member, bound: &Bound) -> Result<Vec<(Value, Node)>, Stop> {
        let Node::Record(inner) = node else { return Ok(Vec::new()) };
        let Member::End(end) = step else {
            let mut elements = self.children(node, step)?;
            elements.retain(|(key, _)| bound.keys.contains(key));
            return Ok(elements);
        };
        let row = &self.conceptual().ends[end];
        let stored = self.conceptual().stored_end(end);
        if self.conceptual().ends[stored].kind == RelationshipKind::Composition {
            let mut parts = self.children(node, step)?;
            parts.retain(|(key, _)| bound.keys.contains(key));
            return Ok(parts);
        }
        let mut found: BTreeMap<Value, Node> = BTreeMap::new();
        if row.stored {
            let ids = inner.record().map(|record| stored_ids(record, end)).unwrap_or_default();
            for id in ids {
                let key = Value::Reference(id.clone());
                if bound.keys.contains(&key)
                    && let Some(instance) = self.instance(row.target, &id)?
                {
                    found.insert(key, Node::Record(instance));
                }
            }
        }
        if !row.stored || row.inverse == Some(end) {
            for holder in self.bound_holders(inner, stored, bound)? {
                let key = self.lone_key(&holder);
                if bound.keys.contains(&key) {
                    found.insert(key, Node::Record(holder));
                }
            }
        }
        Ok(found.into_iter().collect())
    }

    /// Those among the bound aggregates that hold this instance in a stored end.
    fn bound_holders(&self, inner: &Inner, stored_end: EndId, bound: &Bound) -> Result<Vec<Inner>, Stop> {
        let Some(id) = inner.identity(self.conceptual()) else { return Ok(Vec::new()) };
        let aggregates = bound.holders.get(&id).into_iter().flatten();
        self.holders_among(inner, stored_end, aggregates.cloned())
    }

    /// Whether anything can stand at a position below a node. Looks no further than the first.
    pub(crate) fn has_any(&self, position: PositionId, parent: &Node) -> Result<bool, Stop> {
        let mut any = false;
        self.each_at(position, parent, &mut |_, _| {
            any = true;
            Ok(false)
        })?;
        Ok(any)
    }

    /// Visits what can stand at a position below a node, one after the other, until told to stop.
    pub(crate) fn each_at(
        &self,
        position: PositionId,
        parent: &Node,
        visit: &mut dyn FnMut(Value, Node) -> Result<bool, Stop>,
    ) -> Result<(), Stop> {
        let (Some(hop), Node::Record(inner)) = (self.positions[position].from, parent) else { return Ok(()) };
        let derived = match hop.step {
            Member::End(end) => {
                let row = &self.conceptual().ends[end];
                row.inverse.filter(|&stored| {
                    !row.stored && self.conceptual().ends[stored].kind != RelationshipKind::Composition
                })
            }
            Member::Attribute(_) => None,
        };
        let Some(stored_end) = derived else {
            for (key, node) in self.at(position, parent)? {
                if !visit(key, node)? {
                    break;
                }
            }
            return Ok(());
        };
        let Some(id) = inner.identity(self.conceptual()) else { return Ok(()) };
        self.instances.each_referring(stored_end, &id, &mut |aggregate| {
            let holders = self.holders_among(inner, stored_end, std::iter::once(aggregate))?;
            let mut children: Vec<(Value, Node)> =
                holders.into_iter().map(|holder| (self.lone_key(&holder), Node::Record(holder))).collect();
            self.retain_class(position, &mut children);
            for (key, node) in children {
                if !visit(key, node)? {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }

    /// Whether a row can be completed from the positions that are left so that it counts.
    pub(crate) fn completes(
        &self,
        row: Row,
        left: &[PositionId],
        counts: &mut dyn FnMut(&Row) -> Result<bool, Stop>,
    ) -> Result<bool, Stop> {
        let Some((&position, left)) = left.split_first() else { return counts(&row) };
        let Some(hop) = self.positions[position].from else { return self.completes(row, left, counts) };
        let parent = self.node(hop.parent, &row)?;
        let (mut found, mut empty) = (false, true);
        let mut visit = |key: Value, node: Node| {
            empty = false;
            let mut row = row.clone();
            row.bind(position, key, node);
            found = self.completes(row, left, counts)?;
            Ok(!found)
        };
        if self.restriction.is_some_and(|restriction| restriction.bound(position).is_some()) {
            let (children, nothing) = self.allowed_at(position, &parent)?;
            for (key, node) in children {
                if !visit(key, node)? {
                    break;
                }
            }
            empty &= nothing == Nothing::IfNoneAllowed;
        } else {
            self.each_at(position, &parent, &mut visit)?;
        }
        if empty && self.positions[position].outer {
            let mut row = row.clone();
            row.bind(position, Value::Null, Node::Nothing);
            return self.completes(row, left, counts);
        }
        Ok(found)
    }
}

/// When an outer position of a row has nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nothing {
    IfNoneAllowed,
    /// Something stands there that is not allowed: the row belongs to nobody's change.
    Never,
}
