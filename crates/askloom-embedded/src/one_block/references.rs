//! What the aggregates of a schema refer to and have: where ways back start, what is checked, and what follows when
//! something has gone.

use super::Origin;
use crate::KeyedSchema;
use askloom_engine::Stored;
use askloom_engine::intents::Next;
use askloom_engine::place::{Place, records};
use askloom_engine::write::note_parts;
use askloom_model::{
    ClassId, Conceptual, EndId, HomePlace, Identity, Member, OnDelete, Record, RelationshipKind, Value,
};
use std::collections::BTreeSet;

/// A reference: from where in an aggregate, by which end, to what.
struct Link {
    place: Place,
    end: EndId,
    target: Identity,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct References<'r> {
    pub(super) schema: &'r KeyedSchema,
}

impl References<'_> {
    fn conceptual(&self) -> &Conceptual {
        &self.schema.model.conceptual
    }

    /// An entity as ways back know it: ids are unique in a hierarchy.
    pub(super) fn entity(&self, class: ClassId, id: &Identity) -> Origin {
        let top = self.conceptual().lineage(class).last().copied().unwrap_or(class);
        Origin::Entity(top, id.clone())
    }

    fn links(&self, record: &Record) -> Vec<Link> {
        let mut links = Vec::new();
        for (place, record) in records(record) {
            for (&member, value) in &record.fields {
                let Member::End(end) = member else { continue };
                let row = &self.conceptual().ends[end];
                if !row.stored || row.kind == RelationshipKind::Composition {
                    continue;
                }
                let link = |target: &Identity| Link { place: place.clone(), end, target: target.clone() };
                match value {
                    Value::Reference(id) => links.push(link(id)),
                    Value::Set(ids) => links.extend(ids.iter().map(link)),
                    _absent => {}
                }
            }
        }
        links
    }

    fn target(&self, link: &Link) -> Origin {
        self.entity(self.conceptual().ends[link.end].target, &link.target)
    }

    /// All that a record refers to.
    pub(super) fn targets(&self, record: &Record) -> BTreeSet<Origin> {
        self.links(record).iter().map(|link| self.target(link)).collect()
    }

    /// Every checked reference of a record, each end for itself: what refuses is not what cascades.
    fn checked_links(&self, record: &Record) -> BTreeSet<(EndId, Origin)> {
        let links = self.links(record).into_iter();
        let checked = links.filter(|link| self.conceptual().ends[link.end].is_checked());
        checked.map(|link| (link.end, self.target(&link))).collect()
    }

    /// What checked references lead to outside of a record, as far as they were not there before. One to a part that the
    /// record has had counts as new.
    pub(super) fn newly_checked(&self, before: Option<&Record>, record: &Record) -> BTreeSet<Origin> {
        let known = before.map(|before| self.checked_links(before)).unwrap_or_default();
        let former = before.map(|before| self.entities(before)).unwrap_or_default();
        let own = self.entities(record);
        let links = self.checked_links(record).into_iter();
        let new = links.filter(|link| !known.contains(link) || former.contains(&link.1));
        new.map(|(_, origin)| origin).filter(|origin| !own.contains(origin)).collect()
    }

    /// The classes that a record takes something to be of.
    pub(super) fn expected(&self, record: &Record, origin: &Origin) -> BTreeSet<ClassId> {
        let links = self.links(record).into_iter().filter(|link| self.target(link) == *origin);
        links.map(|link| self.conceptual().ends[link.end].target).collect()
    }

    /// The entities of an aggregate, its root and its parts.
    fn entities(&self, record: &Record) -> BTreeSet<Origin> {
        let entity = |record: &Record| Some(self.entity(record.class, &record.identity(self.conceptual())?));
        records(record).into_iter().filter_map(|(_, record)| entity(record)).collect()
    }

    /// What only one aggregate may have, as often as it is there: the ids of parts, and unique values. The id of a root
    /// is its key, so there cannot be two, unless parts share their ids with roots.
    pub(super) fn claims(&self, record: &Record) -> Vec<Origin> {
        let conceptual = self.conceptual();
        let mut claims = Vec::new();
        for (place, record) in records(record) {
            if let Some(id) = record.identity(conceptual) {
                let origin = self.entity(record.class, &id);
                let Origin::Entity(top, _) = &origin else { continue };
                let homes = self.schema.homes(*top);
                if !place.0.is_empty() || homes.iter().any(|home| home.place == HomePlace::Inside) {
                    claims.push(origin);
                }
            }
            for (&member, value) in &record.fields {
                let unique = match member {
                    Member::Attribute(id) => conceptual.attributes[id].unique,
                    Member::End(id) => conceptual.ends[id].unique && conceptual.ends[id].stored,
                };
                if unique && !value.is_null() {
                    claims.push(Origin::Unique(member, value.clone()));
                }
            }
        }
        claims
    }

    pub(super) fn may_claim(&self, root: ClassId, origin: &Origin) -> bool {
        let class = match origin {
            Origin::Entity(top, _) => *top,
            Origin::Unique(Member::Attribute(id), _) => self.conceptual().attributes[*id].class,
            Origin::Unique(Member::End(id), _) => self.conceptual().ends[*id].class,
        };
        self.schema.homes(class).iter().any(|home| home.root == root)
    }

    /// The entities that are in one record and not in the other, and to which checked references may lead.
    pub(super) fn lost(&self, before: &Record, after: Option<&Record>) -> BTreeSet<Origin> {
        let conceptual = self.conceptual();
        let checked = conceptual.ends.iter().filter(|(_, end)| end.stored && end.is_checked());
        let guarded: BTreeSet<ClassId> =
            checked.filter_map(|(_, end)| conceptual.lineage(end.target).last().copied()).collect();
        let is_guarded = |origin: &Origin| matches!(origin, Origin::Entity(top, _) if guarded.contains(top));
        if guarded.is_empty() {
            return BTreeSet::new();
        }
        let kept = after.map(|after| self.entities(after)).unwrap_or_default();
        let mut lost = self.entities(before);
        lost.retain(|origin| is_guarded(origin) && !kept.contains(origin));
        lost
    }

    fn leading_to(&self, record: &Record, gone: &BTreeSet<Origin>, by: OnDelete) -> Vec<Link> {
        let mut links = self.links(record);
        links.retain(|link| {
            self.conceptual().ends[link.end].on_delete() == Some(by) && gone.contains(&self.target(link))
        });
        links
    }

    pub(super) fn refuses(&self, record: &Record, gone: &BTreeSet<Origin>) -> bool {
        !self.leading_to(record, gone, OnDelete::Refuse).is_empty()
    }

    pub(super) fn cascade(&self, stored: &Stored, gone: &BTreeSet<Origin>) -> Next<Stored> {
        let mut record = stored.record.clone();
        while let Some(link) = self.leading_to(&record, gone, OnDelete::Cascade).into_iter().next() {
            if !self.remove(&mut record, link.place) {
                return Next::Delete;
            }
        }
        self.next(stored, record)
    }

    pub(super) fn clear(&self, stored: &Stored, gone: &BTreeSet<Origin>) -> Next<Stored> {
        let mut record = stored.record.clone();
        for link in self.leading_to(&record, gone, OnDelete::Clear) {
            let member = Member::End(link.end);
            let Some(holder) = link.place.find_mut(&mut record) else { continue };
            let left = match holder.get(member) {
                Value::Set(ids) => Value::Set(ids.iter().filter(|id| **id != link.target).cloned().collect()),
                _single => Value::Null,
            };
            holder.set(member, left);
        }
        self.next(stored, record)
    }

    fn next(&self, stored: &Stored, record: Record) -> Next<Stored> {
        if record == stored.record {
            return Next::Keep;
        }
        let mut next = Stored { record, system: stored.system.clone() };
        // No part is new, so none is born now.
        note_parts(self.conceptual(), &mut next, jiff::Timestamp::UNIX_EPOCH);
        Next::Put(next)
    }

    /// Takes a part away; who needs it goes with it. False if that is all of the aggregate.
    fn remove(&self, record: &mut Record, mut place: Place) -> bool {
        while let Some(step) = place.0.pop() {
            let required = match step.member {
                Member::End(end) => self.conceptual().ends[end].cardinality.min > 0,
                Member::Attribute(_) => false,
            };
            let Some(owner) = place.find_mut(record) else { return true };
            match step.ordinal {
                Some(ordinal) => {
                    let mut elements = owner.list(step.member).to_vec();
                    elements.retain(|element| element.ordinal != ordinal);
                    owner.set(step.member, Value::List(elements));
                    return true;
                }
                None if required => {}
                None => {
                    owner.set(step.member, Value::Null);
                    return true;
                }
            }
        }
        false
    }
}
