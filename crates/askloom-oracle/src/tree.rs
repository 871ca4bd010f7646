//! Trees: what UNDER and ABOVE mean.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a value is one of eighteen things, and a function knows the few that concern it"
)]

use crate::condition::Asked;
use crate::node::Node;
use crate::view::View;
use askloom_model::{ClassId, EndId, Identity, Member, Value};

impl Asked<'_, '_> {
    /// Whether one instance lies below another, at any depth; none lies below itself. Both have to exist.
    pub(crate) fn lies_under(&self, class: ClassId, below: &Value, above: &Value) -> Option<bool> {
        let (below, above) = (identity(below)?, identity(above)?);
        let Some(start) = self.view.find(class, &below) else { return Some(false) };
        Some(self.view.ancestors(class, start).iter().any(|node| node.identity.entity() == Some(&above)))
    }
}

impl<'s> View<'s> {
    /// Parent, grandparent and so on. In a circle everything is above everything, itself included.
    fn ancestors(&self, class: ClassId, start: &Node<'s>) -> Vec<Node<'s>> {
        let mut found: Vec<Node<'s>> = Vec::new();
        let mut next = self.parents(class, start);
        while let Some(node) = next.pop() {
            if found.iter().all(|known| known.identity != node.identity) {
                next.extend(self.parents(class, &node));
                found.push(node);
            }
        }
        found
    }

    fn parents(&self, class: ClassId, node: &Node<'s>) -> Vec<Node<'s>> {
        let Some(end) = self.tree_of(class) else { return Vec::new() };
        match self.conceptual.ends[end].cardinality.is_many() {
            false => self.follow(node, Member::End(end)),
            // `@tree` on the way down: the parents are those who have this one below them.
            true => {
                let Some(identity) = node.identity.entity() else { return Vec::new() };
                let class = self.conceptual.ends[end].class;
                let has = |parent: &&Node<'s>| self.ids_at(parent, end).contains(identity);
                self.extent(class).filter(has).cloned().collect()
            }
        }
    }

    fn tree_of(&self, class: ClassId) -> Option<EndId> {
        let is_tree = |member: Member| match member {
            Member::End(end) if self.conceptual.ends[end].tree => Some(end),
            Member::End(_) | Member::Attribute(_) => None,
        };
        self.conceptual.all_members(class).find_map(is_tree)
    }
}

fn identity(value: &Value) -> Option<Identity> {
    match value {
        Value::Null => None,
        Value::Reference(identity) => Some(identity.clone()),
        single => Some(vec![single.clone()]),
    }
}
