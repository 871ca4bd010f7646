//! What the copies of a schema hold, worked out from the masters that are known.

use super::references::References;
use super::{Aggregates, Origin};
use crate::KeyedSchema;
use crate::keyspace::encode::{row_key, row_value};
use askloom_engine::execute::collect_parts;
use askloom_engine::intents::{Entries, Error, Found, Known, Need, Next, Rows};
use askloom_engine::place::records;
use askloom_engine::write::{entries_of, entries_of_root, roots_of};
use askloom_engine::{Aggregate, Held, Instances, RecordKey, RowContent, RunError, Stop, Stored};
use askloom_model::{ClassId, CollectionId, HomePlace, Identity, Leaf, Value};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

#[derive(Debug, Clone, Copy)]
pub struct Copies<'c> {
    pub schema: &'c KeyedSchema,
}

impl Copies<'_> {
    fn about(&self) -> References<'_> {
        References { schema: self.schema }
    }

    /// The class at the root of a copy, if it can be a part. Its rows have the same keys whoever owns it, so each such
    /// root is a row of its own: with one anchor for each owner, nothing would order what the former owner's writer
    /// deletes and what the next one's puts.
    fn part_root(&self, copy: CollectionId) -> Option<ClassId> {
        let class = self.schema.design.collections[copy].source.root;
        let is_entity = self.schema.model.conceptual.classes[class].kind.is_entity();
        let mut homes = self.schema.homes(class).iter();
        (is_entity && homes.any(|home| home.place == HomePlace::Inside)).then_some(class)
    }

    /// Whether an aggregate has an entity, of all of these classes.
    fn has(&self, stored: &Stored, id: &Identity, classes: &BTreeSet<ClassId>) -> bool {
        let conceptual = &self.schema.model.conceptual;
        records(&stored.record).into_iter().any(|(_, record)| {
            classes.iter().all(|&class| conceptual.is_kind_of(record.class, class))
                && record.identity(conceptual).as_ref() == Some(id)
        })
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
    fn references(&self, value: &Stored) -> BTreeSet<Origin> {
        let mut found = self.about().targets(&value.record);
        found.extend(self.about().claims(&value.record));
        found
    }

    fn checked(&self, before: Option<&Stored>, value: &Stored) -> BTreeSet<Origin> {
        self.about().newly_checked(before.map(|before| &before.record), &value.record)
    }

    fn claims(&self, value: &Stored) -> BTreeSet<Origin> {
        self.about().claims(&value.record).into_iter().collect()
    }

    fn may_claim(&self, id: &Aggregate, origin: &Origin) -> bool {
        self.about().may_claim(id.0, origin)
    }

    fn lost(&self, _id: &Aggregate, before: &Stored, after: Option<&Stored>) -> BTreeSet<Origin> {
        self.about().lost(&before.record, after.map(|after| &after.record))
    }

    fn home(
        &self,
        value: &Stored,
        origin: &Origin,
        known: &Known<Aggregates>,
    ) -> Result<Found<Aggregates, Option<Aggregate>>, Error> {
        let Origin::Entity(top, id) = origin else { return Ok(Found::Ready(None)) };
        let classes = self.about().expected(&value.record, origin);
        self.ask(known, |need| {
            let state = Partial { schema: self.schema, known, instead: None, need };
            for home in self.schema.homes(*top) {
                let there = match home.place {
                    HomePlace::Root => BTreeSet::from([(home.root, id.clone())]),
                    HomePlace::Inside => state.back_from(origin)?,
                };
                for (root, owner) in there.into_iter().filter(|(root, _)| *root == home.root) {
                    let stored = state.aggregate(root, &owner)?;
                    if stored.is_some_and(|stored| self.has(&stored, id, &classes)) {
                        return Ok(Some((root, owner)));
                    }
                }
            }
            Ok(None)
        })
    }

    fn cascade(&self, value: &Stored, gone: &BTreeSet<Origin>) -> Next<Stored> {
        self.about().cascade(value, gone)
    }

    fn refuses(&self, value: &Stored, gone: &BTreeSet<Origin>) -> bool {
        self.about().refuses(&value.record, gone)
    }

    fn clear(&self, value: &Stored, gone: &BTreeSet<Origin>) -> Next<Stored> {
        self.about().clear(value, gone)
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
                let Some(class) = self.part_root(copy) else {
                    rows.extend(roots.into_iter().map(|root| (copy, root)));
                    continue;
                };
                for (root, owner) in &roots {
                    for state in [&before, &after] {
                        let parts = state.parts((*root, owner), class)?;
                        rows.extend(parts.into_iter().map(|part| (copy, (class, part))));
                    }
                }
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
            let mut rows = askloom_engine::Rows::new();
            if self.part_root(*copy).is_none() {
                entries_of(&state, *copy, root, &mut rows)?;
            } else {
                for owner in state.owners(root.0, &root.1)? {
                    entries_of_root(&state, *copy, &owner, &root.1, &mut rows)?;
                }
            }
            let bytes = |(key, content): (&RecordKey, &RowContent)| {
                (row_key(self.schema, *copy, key), row_value(self.schema, content))
            };
            Ok(rows.iter().map(bytes).collect())
        })
    }

    fn possible(&self, _row: &(CollectionId, Aggregate), _known: &Known<Aggregates>) -> BTreeSet<Vec<u8>> {
        BTreeSet::new()
    }
}

/// The aggregates that are known. The first one that is asked for and is not is noted.
struct Partial<'p> {
    schema: &'p KeyedSchema,
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

    /// The ids of all instances of a class in an aggregate.
    fn parts(&self, (root, id): (ClassId, &Identity), class: ClassId) -> Result<Vec<Identity>, RunError> {
        let conceptual = &self.schema.model.conceptual;
        let Some(stored) = self.aggregate(root, id)? else { return Ok(Vec::new()) };
        let mut parts = Vec::new();
        collect_parts(conceptual, &stored.record, class, &mut parts);
        Ok(parts.into_iter().filter_map(|part| part.identity(conceptual)).collect())
    }

    /// Those that ways back lead to, whether they still should or not.
    fn back_from(&self, origin: &Origin) -> Result<BTreeSet<Aggregate>, RunError> {
        match self.known.referrers.get(origin) {
            Some(referrers) => Ok(referrers.clone()),
            None => self.needs(Need::Referrers(origin.clone())),
        }
    }
}

impl Instances for Partial<'_> {
    fn schema(&self) -> &askloom_engine::Schema {
        self.schema
    }

    fn aggregate(&self, root: ClassId, id: &Identity) -> Result<Option<Arc<Stored>>, Stop> {
        let key = (root, id.clone());
        if let Some((_, value)) = self.instead.filter(|(of, _)| **of == key) {
            return Ok(value.cloned().map(Arc::new));
        }
        match self.known.masters.get(&key) {
            Some(block) => Ok(block.value.clone().map(Arc::new)),
            None => Ok(self.needs(Need::Master(key))?),
        }
    }

    fn all(&self, _root: ClassId) -> Result<Vec<(Identity, Arc<Stored>)>, Stop> {
        Err(RunError::NotYet("a scan while copies are brought after").into())
    }

    /// By the ways back; what they lead to is asked whether it is so.
    fn holding(&self, held: Held, value: &Value) -> Result<BTreeSet<Aggregate>, Stop> {
        let conceptual = &self.schema.model.conceptual;
        let Value::Reference(id) = value else { return Err(NO_WAY_BACK.into()) };
        let class = match held.leaf {
            Leaf::Reference(end) => conceptual.ends[end].target,
            Leaf::Itself => held.class,
            Leaf::Attribute(_) | Leaf::Bucket(_) | Leaf::TimeBucket(..) => return Err(NO_WAY_BACK.into()),
        };
        let homes = self.schema.homes(held.class);
        let mut found = BTreeSet::new();
        for (root, holder) in self.back_from(&References { schema: self.schema }.entity(class, id))? {
            if !homes.iter().any(|home| home.root == root) {
                continue;
            }
            let stored = self.aggregate(root, &holder)?;
            if stored.is_some_and(|stored| held.is_in(conceptual, &stored.record, value)) {
                found.insert((root, holder));
            }
        }
        Ok(found)
    }
}

const NO_WAY_BACK: RunError = RunError::NotYet("a way back from a plain value, kept right by intents,");
