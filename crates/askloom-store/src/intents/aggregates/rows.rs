//! What the copies of a schema hold, worked out from the masters that are known.

use super::Aggregates;
use crate::instances::inner_records;
use crate::intents::{Entries, Error, Found, Known, Need, Rows};
use crate::write::{entries_of, roots_of};
use crate::{Aggregate, Held, Instances, RunError, Schema, Stored};
use askloom_model::{ClassId, CollectionId, Identity, Leaf, Member, Record, RelationshipKind, Value};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

#[derive(Debug, Clone, Copy)]
pub struct Copies<'c> {
    pub schema: &'c Schema,
}

impl Copies<'_> {
    /// The aggregates that a record refers to, at any depth. Of a reference to a part nobody can say whose it is.
    fn collect(&self, record: &Record, found: &mut BTreeSet<Aggregate>) {
        let conceptual = &self.schema.model.conceptual;
        for (&member, value) in &record.fields {
            let Member::End(end) = member else { continue };
            let row = &conceptual.ends[end];
            let Some(root) = conceptual.aggregate_root(row.target) else { continue };
            if row.kind != RelationshipKind::Composition && conceptual.is_kind_of(row.target, root) {
                match value {
                    Value::Reference(id) => drop(found.insert((root, id.clone()))),
                    Value::Set(ids) => found.extend(ids.iter().map(|id| (root, id.clone()))),
                    _absent => {}
                }
            }
        }
        for inner in inner_records(record) {
            self.collect(inner, found);
        }
    }

    /// Asks what may need more than is known.
    fn ask<X>(
        &self,
        known: &Known<Aggregates>,
        ask: impl FnOnce(&RefCell<Option<Need<Aggregates>>>) -> Result<X, RunError>,
    ) -> Result<Found<Aggregates, X>, Error> {
        let need = RefCell::new(None);
        let answer = ask(&need);
        match (need.into_inner(), answer) {
            (Some(need), _) if is_new(&need, known) => Ok(Found::Need(need)),
            (_, Ok(answer)) => Ok(Found::Ready(answer)),
            (_, Err(error)) => Err(Error::Rows(error.to_string())),
        }
    }
}

fn is_new(need: &Need<Aggregates>, known: &Known<Aggregates>) -> bool {
    match need {
        Need::Master(id) => !known.masters.contains_key(id),
        Need::Referrers(id) => !known.referrers.contains_key(id),
    }
}

impl Rows<Aggregates> for Copies<'_> {
    fn references(&self, value: &Stored) -> BTreeSet<Aggregate> {
        let mut found = BTreeSet::new();
        self.collect(&value.record, &mut found);
        found
    }

    fn checked(&self, _value: &Stored) -> BTreeSet<Aggregate> {
        BTreeSet::new()
    }

    fn guarded(&self, _id: &Aggregate) -> bool {
        false
    }

    /// All of it: the ids of parts, too, lead to rows.
    fn remembered(&self, value: &Stored) -> Stored {
        value.clone()
    }

    fn holding(
        &self,
        id: &Aggregate,
        values: &[&Stored],
        known: &Known<Aggregates>,
    ) -> Result<Found<Aggregates, BTreeSet<(CollectionId, Aggregate)>>, Error> {
        self.ask(known, |need| {
            let state = |value| Partial { schema: self.schema, known, instead: Some((id, value)), need };
            let (before, after) = (state(values.first().copied()), state(values.last().copied()));
            let mut rows = BTreeSet::new();
            for copy in self.schema.copies() {
                let roots = roots_of(&before, &after, copy, id)?;
                rows.extend(roots.into_iter().map(|root| (copy, root)));
            }
            Ok(rows)
        })
    }

    fn entries(
        &self,
        (copy, root): &(CollectionId, Aggregate),
        known: &Known<Aggregates>,
    ) -> Result<Found<Aggregates, Entries<Aggregates>>, Error> {
        self.ask(known, |need| {
            let state = Partial { schema: self.schema, known, instead: None, need };
            let mut entries = BTreeMap::new();
            entries_of(&state, *copy, root, &mut entries)?;
            Ok(entries)
        })
    }

    fn possible(&self, _row: &(CollectionId, Aggregate), _known: &Known<Aggregates>) -> BTreeSet<Vec<u8>> {
        BTreeSet::new()
    }
}

/// The aggregates that are known. The first one that is asked for and is not is noted.
struct Partial<'p> {
    schema: &'p Schema,
    known: &'p Known<Aggregates>,
    /// One that is taken for another.
    instead: Option<(&'p Aggregate, Option<&'p Stored>)>,
    need: &'p RefCell<Option<Need<Aggregates>>>,
}

impl Partial<'_> {
    fn needs<X>(&self, need: Need<Aggregates>) -> Result<X, RunError> {
        self.need.borrow_mut().get_or_insert(need);
        Err(RunError::NotYet("what is not known yet"))
    }
}

impl Instances for Partial<'_> {
    fn schema(&self) -> &Schema {
        self.schema
    }

    fn aggregate(&self, root: ClassId, id: &Identity) -> Result<Option<Rc<Stored>>, RunError> {
        let key = (root, id.clone());
        if let Some((_, value)) = self.instead.filter(|(of, _)| **of == key) {
            return Ok(value.cloned().map(Rc::new));
        }
        match self.known.masters.get(&key) {
            Some(block) => Ok(block.value.clone().map(Rc::new)),
            None => self.needs(Need::Master(key)),
        }
    }

    fn all(&self, _root: ClassId) -> Result<Vec<(Identity, Rc<Stored>)>, RunError> {
        Err(RunError::NotYet("a scan while copies are brought after"))
    }

    /// By the ways back; what they lead to is asked whether it is so.
    fn holding(&self, held: Held, value: &Value) -> Result<BTreeSet<Aggregate>, RunError> {
        let conceptual = &self.schema.model.conceptual;
        let (Leaf::Reference(end), Value::Reference(id)) = (held.leaf, value) else {
            return Err(RunError::NotYet("a reference to a part, kept right by intents,"));
        };
        let target = conceptual.ends[end].target;
        let Some(root) =
            conceptual.aggregate_root(target).filter(|root| conceptual.is_kind_of(target, *root))
        else {
            return Err(RunError::NotYet("a reference to a part, kept right by intents,"));
        };
        let target = (root, id.clone());
        let Some(referrers) = self.known.referrers.get(&target) else {
            return self.needs(Need::Referrers(target));
        };
        let mut found = BTreeSet::new();
        for referrer in referrers {
            let stored = self.aggregate(referrer.0, &referrer.1)?;
            if stored.is_some_and(|stored| held.is_in(conceptual, &stored.record, value)) {
                found.insert(referrer.clone());
            }
        }
        Ok(found)
    }
}
