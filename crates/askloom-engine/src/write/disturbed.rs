//! Whether a write changes what the rows of a copy read.
//!
//! A copy is looked at only where it is disturbed: a changed nickname does not touch the copies that hold titles. And of
//! an instance that a write makes or ends, those who refer to it by a reference that is relied on are among what the
//! same write changes: nobody else is asked.

use super::Phase;
use crate::place::{Place, records};
use crate::{Aggregate, Held, Instances, Schema, Stop, Stored};
use askloom_model::{
    ClassId, Conceptual, EndId, HomePlace, Identity, Leaf, Member, Record, RelationshipKind, Value, fault,
};
use askloom_plan::dependency::{Dependency, Existence, Members, is_relied_on};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Whether what rows read at a point of an aggregate differs between two states of it.
pub(super) fn disturbs(
    conceptual: &Conceptual,
    point: &Dependency,
    before: Option<&Stored>,
    after: Option<&Stored>,
    moved: &BTreeSet<Identity>,
    phase: Phase,
) -> bool {
    // A row of a load may be what others refer to already.
    let existence = match phase {
        Phase::Running => point.existence,
        Phase::Loading => Existence::Read,
    };
    match (before, after) {
        (None, None) => false,
        (Some(one), None) | (None, Some(one)) => {
            existence == Existence::Read
                || parts(conceptual, point.class, &one.record).any(|id| moved.contains(&id))
        }
        (Some(before), Some(after)) => {
            let (before, after) = (&before.record, &after.record);
            match &point.members {
                Members::All => before != after,
                Members::Some(members) => {
                    let seen = Seen { conceptual, class: point.class, existence, members, moved };
                    seen.of(before, after) != seen.of(after, before)
                }
            }
        }
    }
}

/// What a point of a copy shows of an aggregate.
struct Seen<'s> {
    conceptual: &'s Conceptual,
    class: ClassId,
    existence: Existence,
    members: &'s BTreeSet<Member>,
    /// Parts that are in another aggregate in the other state.
    moved: &'s BTreeSet<Identity>,
}

/// The ids of the instances of a class that are in an aggregate.
pub(super) fn parts<'r>(
    conceptual: &'r Conceptual,
    class: ClassId,
    record: &'r Record,
) -> impl Iterator<Item = Identity> + 'r {
    let all = records(record).into_iter();
    all.filter(move |(_, record)| conceptual.is_kind_of(record.class, class))
        .filter_map(|(_, record)| record.identity(conceptual))
}

/// A record by its place: its class and id, and the values of the members that are read.
type Shown<'r> = BTreeMap<Place, (ClassId, Option<Identity>, Vec<(Member, &'r Value)>)>;

impl Seen<'_> {
    fn of<'r>(&self, record: &'r Record, other: &Record) -> Shown<'r> {
        let mut shown: Shown<'r> = records(record)
            .into_iter()
            .map(|(place, record)| {
                let identity = record.identity(self.conceptual);
                let read = |(member, _): &(&Member, &Value)| self.is_value(**member);
                let values = record.fields.iter().filter(read).map(|(&member, value)| (member, value));
                (place, (record.class, identity, values.collect()))
            })
            .collect();
        if self.existence == Existence::ReliedOn {
            self.leave_out_new(&mut shown, other);
        }
        shown
    }

    /// What is inside a record has a place of its own.
    fn is_value(&self, member: Member) -> bool {
        let part = match member {
            Member::Attribute(_) => false,
            Member::End(end) => self.conceptual.ends[end].kind == RelationshipKind::Composition,
        };
        let overlooked = fault!(ChangeOverlooked) && matches!(member, Member::End(_));
        !part && self.members.contains(&member) && !overlooked
    }

    /// Parts that the other state does not have come or go, and nobody refers to them while they do.
    fn leave_out_new(&self, shown: &mut Shown<'_>, other: &Record) {
        let of_class = |class: ClassId| self.conceptual.is_kind_of(class, self.class);
        let there: BTreeSet<Identity> = parts(self.conceptual, self.class, other).collect();
        let is_new = |identity: &Identity| !there.contains(identity) && !self.moved.contains(identity);
        let new: Vec<Place> = shown
            .iter()
            .filter(|(_, (class, identity, _))| of_class(*class) && identity.as_ref().is_some_and(is_new))
            .map(|(place, _)| place.clone())
            .collect();
        shown.retain(|place, _| !new.iter().any(|new| place.starts_with(new)));
    }
}

/// By stored end, those who refer by it and whose rows are looked at; rows of others do not change.
pub(super) type Alone = BTreeMap<EndId, BTreeSet<Aggregate>>;

/// A state in which nobody is asked who cannot refer: to an instance that the write makes or ends, by a reference that
/// is relied on, only aggregates that it changes refer.
pub(super) struct Narrowed<'n> {
    pub(super) state: &'n dyn Instances,
    pub(super) before: &'n dyn Instances,
    pub(super) after: &'n dyn Instances,
    pub(super) changed: &'n [&'n Aggregate],
    pub(super) alone: &'n Alone,
    pub(super) phase: Phase,
}

impl Narrowed<'_> {
    /// The end, if the value is of an instance that the write makes or ends.
    fn made_or_ended(&self, held: Held, value: &Value) -> Result<Option<EndId>, Stop> {
        let (Leaf::Reference(end), Value::Reference(target)) = (held.leaf, value) else { return Ok(None) };
        let schema = self.schema();
        let conceptual = &schema.model.conceptual;
        let homes = schema.homes(conceptual.ends[end].target);
        // Parts are found by an index that may be asked as well.
        let roots = homes.iter().all(|home| home.place == HomePlace::Root);
        if !roots || self.phase == Phase::Loading || !is_relied_on(conceptual, end) {
            return Ok(None);
        }
        let mut exists = [false, false];
        for (state, exists) in [self.before, self.after].into_iter().zip(&mut exists) {
            for home in homes {
                *exists |= state.aggregate(home.root, target)?.is_some();
            }
        }
        Ok((exists == [true, false] || exists == [false, true]).then_some(end))
    }
}

impl Instances for Narrowed<'_> {
    fn schema(&self) -> &Schema {
        self.state.schema()
    }

    fn aggregate(&self, root: ClassId, id: &Identity) -> Result<Option<Arc<Stored>>, Stop> {
        self.state.aggregate(root, id)
    }

    fn all(&self, root: ClassId) -> Result<Vec<(Identity, Arc<Stored>)>, Stop> {
        self.state.all(root)
    }

    fn holding(&self, held: Held, value: &Value) -> Result<BTreeSet<Aggregate>, Stop> {
        let alone = match held.leaf {
            Leaf::Reference(end) => self.alone.get(&end),
            Leaf::Attribute(_) | Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => None,
        };
        if let Some(alone) = alone {
            return self.among(alone.iter(), held, value);
        }
        if self.made_or_ended(held, value)?.is_none() {
            return self.state.holding(held, value);
        }
        self.among(self.changed.iter().copied(), held, value)
    }
}

impl Narrowed<'_> {
    /// Those of some aggregates that hold a value.
    fn among<'a>(
        &self,
        some: impl Iterator<Item = &'a Aggregate>,
        held: Held,
        value: &Value,
    ) -> Result<BTreeSet<Aggregate>, Stop> {
        let conceptual = &self.schema().model.conceptual;
        let mut found = BTreeSet::new();
        for aggregate in some {
            let stored = self.state.aggregate(aggregate.0, &aggregate.1)?;
            if stored.is_some_and(|stored| held.is_in(conceptual, &stored.record, value)) {
                found.insert(aggregate.clone());
            }
        }
        Ok(found)
    }
}
