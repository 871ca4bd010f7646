//! Instances as a program reads them: those that hold an id are found by the steps that its plan chose.

use super::reader::{Cache, aggregate, all};
use super::{Aggregate, Held, Instances, Stored};
use crate::source::{Records, Source, every};
use crate::{Schema, Stop};
use askloom_model::{ClassId, EndId, Identity, Leaf, Value};
use askloom_plan::layout::Entry;
use askloom_plan::program::{Action, Frame, Program, Read, Way, Ways};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

pub struct PlannedInstances<'p> {
    source: &'p dyn Source,
    program: &'p Program,
    ways: &'p Ways,
    cache: &'p RefCell<Cache>,
}

impl std::fmt::Debug for PlannedInstances<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PlannedInstances").field("ways", &self.ways).finish_non_exhaustive()
    }
}

impl<'p> PlannedInstances<'p> {
    pub(crate) fn new(
        source: &'p dyn Source,
        program: &'p Program,
        ways: &'p Ways,
        cache: &'p RefCell<Cache>,
    ) -> Self {
        Self { source, program, ways, cache }
    }

    /// How the program finds the aggregates of each root that hold an id.
    #[expect(
        clippy::panic,
        reason = "a program that lacks a way would answer without rows that it should have"
    )]
    fn ways(&self, held: Held) -> Vec<(ClassId, &'p Way)> {
        let found: Vec<(ClassId, &Way)> = match held.leaf {
            Leaf::Reference(end) => self.referrers(end),
            Leaf::Itself => {
                let owners = self.ways.owners.iter().filter(|(part, _, _)| *part == held.class);
                owners.map(|(_, root, way)| (*root, way)).collect()
            }
            Leaf::Attribute(_) | Leaf::Bucket(_) | Leaf::TimeBucket(..) => Vec::new(),
        };
        if found.is_empty() {
            let class = &self.schema().model.conceptual.classes[held.class].name;
            panic!(
                "the program of `{}` has no way to who holds {:?} of {class}",
                self.program.name, held.leaf
            );
        }
        found
    }

    fn referrers(&self, end: EndId) -> Vec<(ClassId, &'p Way)> {
        let own = self.ways.referrers.iter().filter(|(of, _, _)| *of == end);
        own.map(|(_, root, way)| (*root, way)).collect()
    }

    /// The aggregates that an index names under an id.
    fn indexed(
        &self,
        read: &Read,
        root: ClassId,
        id: &Identity,
        found: &mut BTreeSet<Aggregate>,
    ) -> Result<(), Stop> {
        let frame = Frame { identity: id, ..Frame::default() };
        let Some(read) = read.filled(self.schema().table(read.table), &frame) else { return Ok(()) };
        every(self.source, &read, |records| {
            let Records::Entries(entries) = records else { return Ok(true) };
            for entry in entries.iter() {
                if let Entry::Row { row, .. } = entry
                    && let Some(Value::Reference(owner)) = row.first()
                {
                    found.insert((root, owner.clone()));
                }
            }
            Ok(true)
        })
    }
}

impl Instances for PlannedInstances<'_> {
    fn schema(&self) -> &Schema {
        self.source.schema()
    }

    fn aggregate(&self, root: ClassId, id: &Identity) -> Result<Option<Arc<Stored>>, Stop> {
        aggregate(self.source, root, id, self.cache)
    }

    fn all(&self, root: ClassId) -> Result<Vec<(Identity, Arc<Stored>)>, Stop> {
        all(self.source, root, self.cache)
    }

    fn holding(&self, held: Held, value: &Value) -> Result<BTreeSet<Aggregate>, Stop> {
        let conceptual = &self.schema().model.conceptual;
        let Value::Reference(id) = value else { return Ok(BTreeSet::new()) };
        let key = (held, value.clone());
        if let Some(known) = self.cache.borrow().holding.get(&key) {
            return Ok(known.clone());
        }
        let mut found = BTreeSet::new();
        for (root, way) in self.ways(held) {
            match way {
                Way::Indexes(steps) => {
                    for step in steps.iter().filter_map(|&step| self.program.steps.get(step)) {
                        if let Action::Read(read) = &step.action {
                            self.indexed(read, root, id, &mut found)?;
                        }
                    }
                }
                Way::Scan => {
                    for (owner, stored) in self.all(root)? {
                        if held.is_in(conceptual, &stored.record, value) {
                            found.insert((root, owner));
                        }
                    }
                }
            }
        }
        self.cache.borrow_mut().holding.insert(key, found.clone());
        Ok(found)
    }
}
