//! UNDER and ABOVE: walks a tree upwards from the lower instance.

use super::condition::Truth;
use super::node::{Inner, Node};
use super::scene::Scene;
use crate::Stop;
use askloom_model::{ClassId, EndId, Identity, Leaf, Member, Operand, Value};
use std::collections::HashSet;

impl Scene<'_> {
    /// The class whose tree a condition is about.
    pub(super) fn tree_class(&self, value: &Operand) -> Option<ClassId> {
        let Operand::Path(path) = value else { return None };
        let ends = &self.conceptual().ends;
        match path.leaf {
            Leaf::Reference(end) => Some(ends[end].target),
            Leaf::Itself => match path.hops.last() {
                Some(&hop) => Some(ends[hop].target),
                None => self.positions[path.position].class,
            },
            Leaf::Attribute(_) | Leaf::Bucket(_) | Leaf::TimeBucket(..) => None,
        }
    }

    /// Whether one instance lies below another, at any depth; none lies below itself, but in a circle. Both have to
    /// exist.
    pub(super) fn lies_under(
        &self,
        class: Option<ClassId>,
        below: &Value,
        above: &Value,
    ) -> Result<Truth, Stop> {
        let (Some(class), Some(below), Some(above)) = (class, id(below), id(above)) else { return Ok(None) };
        let (Some(start), Some(end)) = (self.instance(class, &below)?, self.tree_end(class)) else {
            return Ok(Some(false));
        };
        let mut seen: HashSet<Identity> = HashSet::new();
        let mut open = self.parents(end, start)?;
        while let Some((parent, inner)) = open.pop() {
            if parent == above {
                return Ok(Some(true));
            }
            if seen.insert(parent) {
                open.extend(self.parents(end, inner)?);
            }
        }
        Ok(Some(false))
    }

    fn tree_end(&self, class: ClassId) -> Option<EndId> {
        let conceptual = self.conceptual();
        conceptual.all_members(class).find_map(|member| match member {
            Member::End(end) if conceptual.ends[end].tree => Some(end),
            Member::End(_) | Member::Attribute(_) => None,
        })
    }

    /// Those directly above: where a to-one tree leads, or who has this one at a to-many one.
    fn parents(&self, end: EndId, inner: Inner) -> Result<Vec<(Identity, Inner)>, Stop> {
        let conceptual = self.conceptual();
        let row = &conceptual.ends[end];
        let found: Vec<Inner> = match (row.cardinality.is_many(), row.stored) {
            (false, _) => self.inners(inner, end)?,
            (true, true) if row.inverse == Some(end) => self.inners(inner, end)?,
            (true, false) => {
                // Links of a derived end are at its inverse, in the child.
                let Some(stored) = row.inverse else { return Ok(Vec::new()) };
                let mut found = Vec::new();
                for id in self.ids_at(&inner, stored)? {
                    found.extend(self.instance(row.class, &id)?);
                }
                found
            }
            (true, true) => self.holders(&inner, end)?,
        };
        let with_id = |inner: Inner| inner.identity(conceptual).map(|id| (id, inner));
        Ok(found.into_iter().filter_map(with_id).collect())
    }

    fn inners(&self, inner: Inner, end: EndId) -> Result<Vec<Inner>, Stop> {
        let children = self.children(&Node::Record(inner), Member::End(end))?;
        Ok(children
            .into_iter()
            .filter_map(|(_, node)| match node {
                Node::Record(inner) => Some(inner),
                Node::Nothing | Node::Element(_) => None,
            })
            .collect())
    }
}

fn id(value: &Value) -> Option<Identity> {
    match value {
        Value::Null => None,
        Value::Reference(identity) => Some(identity.clone()),
        single => Some(vec![single.clone()]),
    }
}
