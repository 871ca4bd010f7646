//! Where relationships lead, in one state of all aggregates.

use super::node::{Inner, Node};
use super::{Fetcher, Restriction};
use crate::expiry::alive;
use crate::stop::each;
use crate::{Aggregate, Instances, Stop, Stored};
use askloom_model::{
    ClassId, Conceptual, EndId, HomePlace, Identity, Member, Position, PositionId, Record, RelationshipKind,
    Table, Value, fault,
};
use std::sync::Arc;

/// What rows are evaluated in.
pub struct Scene<'s> {
    pub instances: &'s dyn Instances,
    pub positions: &'s Table<PositionId, Position>,
    pub arguments: &'s [Value],
    pub now: jiff::Timestamp,
    /// Copies that rows are looked up in by their own identities.
    pub fetcher: Option<&'s Fetcher<'s>>,
    /// What may stand at some positions, if not everything may.
    pub restriction: Option<&'s Restriction>,
}

impl std::fmt::Debug for Scene<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scene").field("now", &self.now).finish_non_exhaustive()
    }
}

impl Scene<'_> {
    pub(super) fn conceptual(&self) -> &Conceptual {
        &self.instances.schema().model.conceptual
    }

    /// The aggregate as it is by the clock of this scene: without what has expired.
    fn aggregate(&self, root: ClassId, id: &Identity) -> Result<Option<Arc<Stored>>, Stop> {
        let stored = self.instances.aggregate(root, id)?;
        Ok(stored.and_then(|stored| alive(self.conceptual(), stored, self.now)))
    }

    pub(crate) fn is_a(&self, inner: &Inner, class: ClassId) -> bool {
        inner.record().is_some_and(|record| match fault!(SubclassesLeftOut) {
            true => record.class == class,
            false => self.conceptual().is_kind_of(record.class, class),
        })
    }

    /// Whether an instance of the class is found by its id alone; parts are found in their owners.
    pub(super) fn is_by_id(&self, class: ClassId) -> bool {
        self.instances.schema().homes(class).iter().all(|home| home.place == HomePlace::Root)
    }

    /// The instance of an entity class with that id.
    pub fn instance(&self, class: ClassId, id: &Identity) -> Result<Option<Inner>, Stop> {
        for home in self.instances.schema().homes(class) {
            match home.place {
                HomePlace::Root => {
                    let found = self.aggregate(home.root, id)?.map(Inner::root);
                    if let Some(found) = found.filter(|found| self.is_a(found, class)) {
                        return Ok(Some(found));
                    }
                }
                HomePlace::Inside => {
                    if let Some(found) = self.part(class, id)? {
                        return Ok(Some(found));
                    }
                }
            }
        }
        Ok(None)
    }

    /// The part entity with that id, in its owner.
    fn part(&self, class: ClassId, id: &Identity) -> Result<Option<Inner>, Stop> {
        for (root, owner) in self.instances.owners(class, id)? {
            let Some(stored) = self.aggregate(root, &owner)? else { continue };
            let inside = self.inside(stored, class).into_iter();
            let mut same = inside.filter(|part| part.identity(self.conceptual()).as_ref() == Some(id));
            if let Some(found) = same.next() {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Every instance of a class in an aggregate: itself, or parts of it.
    pub(crate) fn instances_in(&self, stored: Arc<Stored>, class: ClassId) -> Vec<Inner> {
        let conceptual = self.conceptual();
        let Some(stored) = alive(conceptual, stored, self.now) else { return Vec::new() };
        let root = conceptual.lineage(stored.record.class).last().copied();
        let mut found = Vec::new();
        for home in self.instances.schema().homes(class).iter().filter(|home| Some(home.root) == root) {
            match home.place {
                HomePlace::Root => {
                    let itself = Some(Inner::root(Arc::clone(&stored)));
                    found.extend(itself.filter(|root| self.is_a(root, class)));
                }
                HomePlace::Inside => found.extend(self.inside(Arc::clone(&stored), class)),
            }
        }
        found
    }

    /// Every part of a class in an aggregate, at any depth.
    fn inside(&self, stored: Arc<Stored>, class: ClassId) -> Vec<Inner> {
        let mut found = Vec::new();
        let mut open = Inner::root(stored).parts();
        open.reverse();
        while let Some(part) = open.pop() {
            open.extend(part.parts().into_iter().rev());
            if self.is_a(&part, class) {
                found.push(part);
            }
        }
        found
    }

    /// What a step leads to from a node, with what tells each apart from the others.
    pub fn children(&self, node: &Node, step: Member) -> Result<Vec<(Value, Node)>, Stop> {
        let Node::Record(inner) = node else { return Ok(Vec::new()) };
        match step {
            Member::Attribute(_) => {
                let elements = inner.record().map(|record| record.list(step)).unwrap_or_default();
                let child = |e: &askloom_model::Element| (ordinal(e.ordinal), Node::Element(e.value.clone()));
                Ok(elements.iter().map(child).collect())
            }
            Member::End(end) => {
                let mut linked = self.linked(inner, end)?;
                linked.sort_by(|(a, _), (b, _)| a.cmp(b));
                Ok(linked.into_iter().map(|(key, inner)| (key, Node::Record(inner))).collect())
            }
        }
    }

    fn linked(&self, inner: &Inner, end: EndId) -> Result<Vec<(Value, Inner)>, Stop> {
        let row = &self.conceptual().ends[end];
        match (row.stored, row.kind) {
            (true, RelationshipKind::Composition) => {
                let parts = inner.parts_at(Member::End(end)).into_iter();
                Ok(parts.map(|part| (self.part_key(&part), part)).collect())
            }
            (true, RelationshipKind::Association | RelationshipKind::Aggregation) => {
                let found = each(self.ids_at(inner, end)?, |id| {
                    let instance = self.instance(row.target, &id)?;
                    Ok(instance.map(|instance| (Value::Reference(id), instance)))
                })?;
                Ok(found.into_iter().flatten().collect())
            }
            (false, _) => {
                let Some(stored_end) = row.inverse else { return Ok(Vec::new()) };
                let holders = self.holders(inner, stored_end)?.into_iter();
                Ok(holders.map(|holder| (self.lone_key(&holder), holder)).collect())
            }
        }
    }

    /// The ids that a stored reference holds, whether such instances exist or not. Of a symmetric relationship either
    /// side may hold the link.
    pub(super) fn ids_at(&self, inner: &Inner, end: EndId) -> Result<Vec<Identity>, Stop> {
        let mut ids = inner.record().map(|record| stored_ids(record, end)).unwrap_or_default();
        if self.conceptual().ends[end].inverse == Some(end) {
            let holders = self.holders(inner, end)?;
            ids.extend(holders.iter().filter_map(|holder| holder.identity(self.conceptual())));
            ids.sort();
            ids.dedup();
        }
        Ok(ids)
    }

    /// Those that hold this instance in the stored end.
    pub(crate) fn holders(&self, inner: &Inner, stored_end: EndId) -> Result<Vec<Inner>, Stop> {
        let conceptual = self.conceptual();
        let row = &conceptual.ends[stored_end];
        // A tuple query may come here with an instance of a class above the end's: somebody may hold its id, but a link
        // to it there is not.
        if !inner.record().is_some_and(|record| conceptual.is_kind_of(record.class, row.target)) {
            return Ok(Vec::new());
        }
        if row.kind == RelationshipKind::Composition {
            // A part is inside its owner.
            let owner = inner.above().filter(|(_, member)| *member == Member::End(stored_end));
            return Ok(owner.into_iter().map(|(owner, _)| owner).collect());
        }
        let Some(id) = inner.identity(conceptual) else { return Ok(Vec::new()) };
        self.holders_among(inner, stored_end, self.instances.referring(stored_end, &id)?.into_iter())
    }

    /// Those that hold this instance in the stored end, of some aggregates.
    pub(super) fn holders_among(
        &self,
        inner: &Inner,
        stored_end: EndId,
        aggregates: impl Iterator<Item = Aggregate>,
    ) -> Result<Vec<Inner>, Stop> {
        let conceptual = self.conceptual();
        let row = &conceptual.ends[stored_end];
        if !inner.record().is_some_and(|record| conceptual.is_kind_of(record.class, row.target)) {
            return Ok(Vec::new());
        }
        let Some(id) = inner.identity(conceptual) else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        each(aggregates, |(root, owner)| {
            let Some(stored) = self.instances.aggregate(root, &owner)? else { return Ok(()) };
            let holds = |holder: &Inner| holder.record().is_some_and(|record| holds(record, stored_end, &id));
            found.extend(self.instances_in(stored, row.class).into_iter().filter(holds));
            Ok(())
        })?;
        Ok(found)
    }

    /// What tells a part apart from the others of its owner: an entity's id, else where it is in its list. A to-one
    /// part is the only one there is.
    pub(crate) fn part_key(&self, part: &Inner) -> Value {
        match part.identity(self.conceptual()) {
            Some(identity) => Value::Reference(identity),
            None => ordinal(part.ordinal().unwrap_or(0)),
        }
    }

    /// What tells a record apart from all others: a value object by its owner, the field, and where it is in it.
    pub(crate) fn lone_key(&self, inner: &Inner) -> Value {
        let conceptual = self.conceptual();
        match (inner.identity(conceptual), inner.above()) {
            (Some(identity), _) => Value::Reference(identity),
            (None, Some((owner, member))) => {
                let field = Value::Text(conceptual.member_name(member).to_owned());
                let at = inner.ordinal().map_or(Value::Null, ordinal);
                let parts = [self.lone_key(&owner), field, at].into_iter().zip(0..);
                Value::List(parts.map(|(value, ordinal)| askloom_model::Element { ordinal, value }).collect())
            }
            (None, None) => Value::Null,
        }
    }
}

fn ordinal(at: u64) -> Value {
    Value::Int(i64::try_from(at).unwrap_or(i64::MAX))
}

/// The ids in a stored reference.
pub(crate) fn stored_ids(record: &Record, end: EndId) -> Vec<Identity> {
    match record.get(Member::End(end)) {
        Value::Reference(identity) => vec![identity.clone()],
        Value::Set(ids) => ids.iter().cloned().collect(),
        _absent_or_part => Vec::new(),
    }
}

/// Whether a stored reference holds an id.
pub(crate) fn holds(record: &Record, end: EndId, id: &Identity) -> bool {
    match record.get(Member::End(end)) {
        Value::Reference(held) => held == id,
        Value::Set(held) => held.contains(id),
        _absent_or_part => false,
    }
}

/// The records of a class in an aggregate, the aggregate itself included.
pub fn collect_parts<'r>(
    conceptual: &Conceptual,
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
