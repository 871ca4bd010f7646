//! The value of a path in a row.

use crate::node::Node;
use crate::view::View;
use askloom_model::{EndId, Id, Leaf, Member, Path, RelationshipKind, Value, bucket};

/// One instance or nothing at each position, in order.
pub(crate) type Joined<'s> = Vec<Option<Node<'s>>>;

/// What a path in a condition leads to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reached {
    One(Value),
    /// Across a to-many hop, or at a list: each of them.
    Each(Vec<Value>),
}

impl<'s> View<'s> {
    /// The value of a path that crosses nothing to-many; null where there is nothing. A list is one value.
    pub(crate) fn value(&self, row: &Joined<'s>, path: &Path) -> Value {
        let Some(node) = self.ends(row, path).into_iter().next().flatten() else { return Value::Null };
        match path.leaf {
            Leaf::Attribute(id) => match node.record() {
                Some(record) if self.conceptual.attributes[id].list => {
                    Value::List(record.list(Member::Attribute(id)).to_vec())
                }
                Some(record) => record.get(Member::Attribute(id)).clone(),
                None => Value::Null,
            },
            Leaf::Reference(id) if self.conceptual.ends[id].cardinality.is_many() => self.list(&node, id),
            Leaf::Reference(_) | Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => {
                self.leaves(&node, path.leaf).into_iter().next().unwrap_or(Value::Null)
            }
        }
    }

    /// All that is at a to-many end, as one value: parts whole and in list order, of others the ids.
    fn list(&self, node: &Node<'s>, id: EndId) -> Value {
        let end = &self.conceptual.ends[id];
        match (end.kind, end.stored) {
            (RelationshipKind::Composition, true) => {
                let parts = node.record().map(|record| record.list(Member::End(id)).to_vec());
                Value::List(parts.unwrap_or_default())
            }
            (RelationshipKind::Composition, false)
            | (RelationshipKind::Association | RelationshipKind::Aggregation, _) => {
                Value::Set(self.ids_at(node, id).into_iter().collect())
            }
        }
    }

    /// The value or values of a path in a condition.
    pub(crate) fn reached(&self, row: &Joined<'s>, path: &Path) -> Reached {
        let ends = self.ends(row, path);
        if !self.crosses_many(path) {
            let node = ends.into_iter().next().flatten();
            let value = node.and_then(|node| self.leaves(&node, path.leaf).into_iter().next());
            return Reached::One(value.unwrap_or(Value::Null));
        }
        let mut each = Vec::new();
        for node in ends {
            match node {
                Some(node) => each.extend(self.leaves(&node, path.leaf)),
                // A to-one hop behind the to-many one found nothing: that element has null here, but no list.
                None if !self.is_list(path.leaf) => each.push(Value::Null),
                None => {}
            }
        }
        Reached::Each(each)
    }

    /// Where the hops of a path lead. A to-one hop is an outer join: it keeps its place with nothing in it.
    fn ends(&self, row: &Joined<'s>, path: &Path) -> Vec<Option<Node<'s>>> {
        let mut reached = vec![row.get(path.position.index()).cloned().flatten()];
        for &hop in &path.hops {
            let many = self.conceptual.ends[hop].cardinality.is_many();
            let mut next = Vec::new();
            for node in reached {
                let found = node.map(|node| self.follow(&node, Member::End(hop))).unwrap_or_default();
                match many {
                    true => next.extend(found.into_iter().map(Some)),
                    false => next.push(found.into_iter().next()),
                }
            }
            reached = next;
        }
        reached
    }

    fn crosses_many(&self, path: &Path) -> bool {
        let many = |&hop: &_| self.conceptual.ends[hop].cardinality.is_many();
        path.hops.iter().any(many) || self.is_list(path.leaf)
    }

    fn is_list(&self, leaf: Leaf) -> bool {
        match leaf {
            Leaf::Attribute(id) => self.conceptual.attributes[id].list,
            Leaf::Reference(id) => self.conceptual.ends[id].cardinality.is_many(),
            Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => false,
        }
    }

    /// The values at the end of a path: one, unless it is a list or a set.
    fn leaves(&self, node: &Node<'s>, leaf: Leaf) -> Vec<Value> {
        match leaf {
            Leaf::Itself => vec![node.itself()],
            Leaf::Bucket(of) => match (node.record(), node.itself()) {
                (Some(record), Value::Reference(identity)) => {
                    vec![bucket(self.conceptual, record.class, &identity, of)]
                }
                (_, _) => vec![Value::Null],
            },
            Leaf::TimeBucket(id, unit) => {
                let at = node.record().map_or(&Value::Null, |record| record.get(Member::Attribute(id)));
                vec![unit.of_value(at)]
            }
            Leaf::Attribute(id) => {
                let Some(record) = node.record() else { return vec![Value::Null] };
                let member = Member::Attribute(id);
                match self.conceptual.attributes[id].list {
                    true => record.list(member).iter().map(|element| element.value.clone()).collect(),
                    false => vec![record.get(member).clone()],
                }
            }
            Leaf::Reference(id) => {
                let end = &self.conceptual.ends[id];
                let values: Vec<Value> = match end.kind {
                    RelationshipKind::Composition => {
                        self.follow(node, Member::End(id)).iter().map(Node::itself).collect()
                    }
                    RelationshipKind::Association | RelationshipKind::Aggregation => {
                        self.ids_at(node, id).into_iter().map(Value::Reference).collect()
                    }
                };
                match end.cardinality.is_many() {
                    true => values,
                    false => vec![values.into_iter().next().unwrap_or(Value::Null)],
                }
            }
        }
    }
}
