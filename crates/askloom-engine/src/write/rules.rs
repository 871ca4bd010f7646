//! What holds after every statement. Each rule is one function, and looks at what the statement has changed: what it
//! has not changed kept the rules before.

use super::draft::{Address, Draft};
use crate::execute::stored_ids;
use crate::place::{Place, records};
use crate::stop::each;
use crate::{Aggregate, Held, Instances, RunError, Stop, Stored};
use askloom_model::{
    Cardinality, ClassId, EndId, Identity, Leaf, Member, Record, RelationshipKind, Value, fault,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What must hold.
type Rule<'r> = &'r dyn Fn() -> Result<(), Stop>;

impl Draft<'_> {
    pub(super) fn check_rules(&self) -> Result<(), Stop> {
        let changed = self.changed()?;
        let rules: [(bool, Rule<'_>); 6] = [
            (fault!(ImmutableEntityUnchecked), &|| self.immutable_entities_stay()),
            (false, &|| self.ids_are_unique()),
            (fault!(ImmutableUnchecked), &|| self.immutable_members_stay(&changed)),
            (false, &|| self.required_ends_have_links(&changed)),
            (fault!(BoundUnchecked), &|| self.upper_bounds_hold(&changed)),
            (fault!(UniqueUnchecked), &|| self.unique_values_are_unique()),
        ];
        each(rules, |(is_forgotten, holds)| if is_forgotten { Ok(()) } else { holds() })?;
        Ok(())
    }

    /// What an immutable entity had before, it has still.
    fn immutable_entities_stay(&self) -> Result<(), Stop> {
        let conceptual = self.conceptual();
        let immutable = self.after.changed.keys().filter(|(root, _)| conceptual.classes[*root].immutable);
        each(immutable, |aggregate| {
            let Some(before) = self.live(self.before, aggregate)? else { return Ok(()) };
            let after = self.live(&self.after, aggregate)?;
            if after.is_none_or(|after| after.record != before.record) {
                return Err(self.immutable_entity(before.record.class).into());
            }
            Ok(())
        })?;
        Ok(())
    }

    pub(super) fn immutable_entity(&self, class: ClassId) -> RunError {
        RunError::ImmutableEntity { class: self.conceptual().classes[class].name.clone() }
    }

    /// The changed aggregates that live.
    fn changed(&self) -> Result<Vec<(Aggregate, Arc<Stored>)>, Stop> {
        let mut changed = Vec::new();
        for aggregate in self.after.changed.keys() {
            if let Some(stored) = self.live(&self.after, aggregate)? {
                changed.push((aggregate.clone(), stored));
            }
        }
        Ok(changed)
    }

    /// In a hierarchy no two entities have the same id, roots and parts alike.
    fn ids_are_unique(&self) -> Result<(), Stop> {
        let conceptual = self.conceptual();
        let gained = self.gained(|record| {
            let top = conceptual.lineage(record.class).last().copied().unwrap_or(record.class);
            record.identity(conceptual).map(|identity| (top, identity)).into_iter().collect()
        })?;
        each(gained, |(top, identity)| {
            // A root is kept under its id; two of them cannot be.
            if matches!(conceptual.occurrences(top).as_slice(), [only] if only.hops.is_empty()) {
                return Ok(());
            }
            match self.all_in(&self.after, top, &identity)?.len() {
                0 | 1 => Ok(()),
                _several => Err(Stop::Failed(RunError::AlreadyExists)),
            }
        })?;
        Ok(())
    }

    /// What is still there has the immutable members it had. An entity is known by its id, wherever it is in its
    /// aggregate; a value object by its place, and one without an ordinal is replaced as a whole, so it is another one
    /// then.
    fn immutable_members_stay(&self, changed: &[(Aggregate, Arc<Stored>)]) -> Result<(), Stop> {
        let conceptual = self.conceptual();
        each(changed, |(aggregate, stored)| {
            let Some(before) = self.live(self.before, aggregate)? else { return Ok(()) };
            let former = records(&before.record);
            let of_place: BTreeMap<&Place, &Record> =
                former.iter().map(|(place, old)| (place, *old)).collect();
            let top = |record: &Record| conceptual.lineage(record.class).last().copied();
            let entity = |record: &Record| Some((top(record), record.identity(conceptual)?));
            let of_id: BTreeMap<(Option<ClassId>, Identity), &Record> =
                former.iter().filter_map(|&(_, old)| Some((entity(old)?, old))).collect();
            for (place, new) in records(&stored.record) {
                let old = match entity(new) {
                    Some(entity) => of_id.get(&entity),
                    None => of_place.get(&place),
                };
                let Some(old) = old else { continue };
                let (identity, former) = (new.identity(conceptual), old.identity(conceptual));
                let single = place.0.last().is_some_and(|step| step.ordinal.is_none());
                if identity != former || (single && identity.is_none()) || old.class != new.class {
                    continue;
                }
                for member in conceptual.all_members(new.class) {
                    let immutable = match member {
                        Member::Attribute(id) => conceptual.attributes[id].immutable,
                        Member::End(id) => conceptual.ends[id].immutable && conceptual.ends[id].stored,
                    };
                    if immutable && old.get(member) != new.get(member) {
                        return Err(Stop::Failed(RunError::Immutable { field: self.field(member) }));
                    }
                }
            }
            Ok(())
        })?;
        Ok(())
    }

    /// A required to-one reference has a value. A required derived end that had a link keeps one, unless the instance
    /// at the other end is gone: what is new has none yet, as INSERT cannot give it one.
    fn required_ends_have_links(&self, changed: &[(Aggregate, Arc<Stored>)]) -> Result<(), Stop> {
        let conceptual = self.conceptual();
        each(conceptual.ends.iter(), |(id, end)| {
            let missing = || RunError::RequiredLink { field: self.field(Member::End(id)) };
            let reference = end.kind != RelationshipKind::Composition;
            if end.stored && end.cardinality == Cardinality::ONE && reference {
                let empty = |record: &Record| {
                    conceptual.is_kind_of(record.class, end.class) && record.get(Member::End(id)).is_null()
                };
                let any = |(_, stored): &(_, Arc<Stored>)| {
                    records(&stored.record).iter().any(|(_, record)| empty(record))
                };
                if changed.iter().any(any) {
                    return Err(missing().into());
                }
            }
            // A part that is there is in its owner.
            if let (true, false, Cardinality::ONE, Some(stored)) =
                (reference, end.stored, end.cardinality, end.inverse)
                && self.lost_its_partner(stored, end.class)?
            {
                return Err(missing().into());
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Whether an instance that was linked at a derived end is not any more, though its partner is still there.
    fn lost_its_partner(&self, stored: EndId, class: ClassId) -> Result<bool, Stop> {
        let lost = each(self.lost_links(stored)?, |target| {
            let there = self.find_in(self.before, class, &target)?.is_some()
                && self.find_in(&self.after, class, &target)?.is_some();
            if !there || !self.holders(&self.after, stored, &target)?.is_empty() {
                return Ok(false);
            }
            let former = self.holders(self.before, stored, &target)?;
            Ok(each(&former, |partner| self.survives(partner))?.contains(&true))
        })?;
        Ok(lost.contains(&true))
    }

    fn survives(&self, partner: &Address) -> Result<bool, Stop> {
        let conceptual = self.conceptual();
        let before = self.live(self.before, &partner.aggregate)?;
        let record = before.as_ref().and_then(|stored| partner.place.find(&stored.record));
        let Some(record) = record else { return Ok(false) };
        match record.identity(conceptual) {
            Some(identity) => Ok(self.find_in(&self.after, record.class, &identity)?.is_some()),
            None => Ok(false),
        }
    }

    /// No end has more links than its cardinality allows. Lower bounds of lists and sets are not enforced, as an
    /// instance starts with empty ones.
    fn upper_bounds_hold(&self, changed: &[(Aggregate, Arc<Stored>)]) -> Result<(), Stop> {
        let conceptual = self.conceptual();
        each(conceptual.ends.iter().filter(|(_, end)| end.stored), |(id, end)| {
            if end.cardinality.max.is_some() {
                for (_, stored) in changed {
                    for (_, record) in records(&stored.record) {
                        if conceptual.is_kind_of(record.class, end.class) {
                            self.within(id, end.cardinality, count(record, id))?;
                        }
                    }
                }
            }
            // That a part has one owner is seen by its id.
            let is_reference = end.kind != RelationshipKind::Composition;
            let other = end.inverse.filter(|&inverse| inverse != id && is_reference);
            let Some(inverse) = other.filter(|&inverse| conceptual.ends[inverse].cardinality.max.is_some())
            else {
                return Ok(());
            };
            each(self.gained_links(id)?, |target| {
                let links = self.holders(&self.after, id, &target)?.len();
                self.within(inverse, conceptual.ends[inverse].cardinality, links)
            })?;
            Ok(())
        })?;
        Ok(())
    }

    fn within(&self, end: EndId, cardinality: Cardinality, count: usize) -> Result<(), Stop> {
        match cardinality.max {
            Some(max) if count > max as usize => {
                Err(Stop::Failed(RunError::UpperBound { field: self.field(Member::End(end)) }))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// No two instances share the value of a unique member; any number of them may have none.
    fn unique_values_are_unique(&self) -> Result<(), Stop> {
        let conceptual = self.conceptual();
        let attributes = conceptual.attributes.iter().filter(|(_, attribute)| attribute.unique);
        let attributes = attributes.map(|(id, attribute)| (Leaf::Attribute(id), attribute.class));
        let ends = conceptual.ends.iter().filter(|(_, end)| end.unique && end.stored);
        let ends = ends.map(|(id, end)| (Leaf::Reference(id), end.class));
        each(attributes.chain(ends), |(leaf, class)| {
            let member = match leaf {
                Leaf::Attribute(id) => Member::Attribute(id),
                Leaf::Reference(id) => Member::End(id),
                Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => return Ok(()),
            };
            let gained = self.gained(|record| {
                let value = Some(record.get(member)).filter(|value| !value.is_null());
                let value = value.filter(|_| conceptual.is_kind_of(record.class, class));
                value.cloned().into_iter().collect()
            })?;
            each(gained, |value| {
                if self.having(Held { class, leaf }, member, &value)? > 1 {
                    return Err(Stop::Failed(RunError::NotUnique { field: self.field(member) }));
                }
                Ok(())
            })?;
            Ok(())
        })?;
        Ok(())
    }

    /// How many live records have the value.
    fn having(&self, held: Held, member: Member, value: &Value) -> Result<usize, Stop> {
        let conceptual = self.conceptual();
        let found = each(self.after.holding(held, value)?, |aggregate| {
            let Some(stored) = self.live(&self.after, &aggregate)? else { return Ok(0) };
            let has = |record: &Record| {
                conceptual.is_kind_of(record.class, held.class) && record.get(member) == value
            };
            Ok(records(&stored.record).iter().filter(|(_, record)| has(record)).count())
        })?;
        Ok(found.into_iter().sum())
    }
}

/// How many links or parts a record has at an end.
fn count(record: &Record, end: EndId) -> usize {
    match record.get(Member::End(end)) {
        Value::List(elements) => elements.len(),
        Value::Record(_) => 1,
        _reference => stored_ids(record, end).len(),
    }
}
