//! Every write of a model as it is printed: its program is bound to what the write changes in the keyspace, printed,
//! run by the shell, and everything is read back. A second run of the same text must change nothing.

use crate::bound::{Bound, Difference, FIRST_STAMP};
use crate::data::{aggregates, now};
use crate::given::{Pool, fresh};
use crate::harness::{Count, Shell, Trial, Versions};
use askloom_embedded::keyspace::write::{self as keyed, Change};
use askloom_embedded::{Memory, records};
use askloom_engine::execute::Arguments;
use askloom_engine::write::{self, Inputs};
use askloom_model::{CollectionId, Identity, Write, WriteStep};
use askloom_plan::planner;
use askloom_plan::program::{self, Action, Program};
use askloom_target::generate::{Options, Sample, Source, Statement};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// Parameters that are tried.
const TRIED: usize = 160;

/// What the store should hold.
pub(crate) struct Held {
    keyspace: Memory,
    /// As the keyspace has it.
    records: Vec<Sample>,
    /// What printed writes leave in the system's part of each aggregate.
    system: BTreeMap<(CollectionId, Identity), (u64, Vec<u8>)>,
    done: u32,
}

impl Held {
    pub(crate) fn new(keyspace: Memory, records: Vec<Sample>) -> Self {
        let mut system = BTreeMap::new();
        for record in &records {
            if let Sample::Block { table, block } = record {
                system.insert((*table, block.identity.clone()), (block.version, block.system.clone()));
            }
        }
        Self { keyspace, records, system, done: 0 }
    }

    /// Takes over what a write has changed. A printed write makes the next version, and leaves the rest of the
    /// system's part as it was.
    fn advance(&mut self, keyspace: Memory, records: Vec<Sample>, difference: &Difference, stamped: bool) {
        for (table, identity) in difference.blocks.keys() {
            let (version, _) = self.system.entry((*table, identity.clone())).or_default();
            *version = if stamped { FIRST_STAMP + u64::from(self.done) } else { *version + 1 };
        }
        self.keyspace = keyspace;
        self.records = records;
        self.done += 1;
    }

    /// These aggregates have the versions that they should have.
    fn has(&self, versions: &Versions, told: &str) {
        for (aggregate, version) in versions {
            assert_eq!(Some(*version), self.system.get(aggregate).map(|(version, _)| *version), "{told}");
        }
    }

    /// The records as the store should have them.
    fn expected(&self) -> Vec<Sample> {
        let mut records = self.records.clone();
        for record in &mut records {
            if let Sample::Block { table, block } = record {
                let (version, system) = self.system[&(*table, block.identity.clone())].clone();
                (block.version, block.system) = (version, system);
            }
        }
        records
    }
}

impl Trial<'_> {
    pub(crate) fn writes(
        &self,
        shell: &mut Option<&mut dyn Shell>,
        held: &mut Held,
        nasty: bool,
        options: &Options,
        count: &mut Count,
    ) {
        let model = &self.schema.model;
        let stored = aggregates(self.schema, &held.keyspace);
        let fresh = fresh(model, &stored, nasty);
        let mut pool = Pool { model, stored, fresh };
        for write in &model.workload.writes {
            // An UPSERT is about one that is there, and about one that is not; and other writes are about what is new.
            let makes =
                |step: &WriteStep| matches!(step, WriteStep::Insert { .. } | WriteStep::Upsert { .. });
            let wanted = if write.steps.iter().any(makes) { 2 } else { 1 };
            let (mut done, incomplete) = (0, count.incomplete.len());
            for n in 0..TRIED {
                let given = pool.arguments(write, n);
                if self.wrote(shell, held, write, &given, options, count) {
                    done += 1;
                    pool.stored = aggregates(self.schema, &held.keyspace);
                }
                if done == wanted || count.incomplete.len() > incomplete {
                    break;
                }
            }
            if done == 0 {
                count.unwritten.insert(format!("{} of {}", write.header.name, self.place));
            }
            count.writes += done;
        }
        if let Some(shell) = shell.as_deref_mut() {
            let versions = self.comes_back(shell, &held.expected(), None);
            held.has(&versions, &self.place);
        }
    }

    /// Whether the parameters changed something.
    fn wrote(
        &self,
        shell: &mut Option<&mut dyn Shell>,
        held: &mut Held,
        write: &Write,
        given: &Arguments,
        options: &Options,
        count: &mut Count,
    ) -> bool {
        let told = || format!("{}, {} with {given:?}", self.place, write.header.name);
        let Some(change) = self.change(held, write, given) else { return false };
        let mut after = held.keyspace.clone();
        change.apply(&mut after);
        let records = records::from_keyspace(self.schema, self.layout, &after).unwrap();
        let difference = Difference::new(self.layout, &held.records, &records);
        if difference.is_empty() {
            return false;
        }
        let plan =
            planner::write::plan(&self.costing, &self.schema.model, &self.schema.design, write).unwrap();
        let given = given.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let program = program::write(self.layout, write, &plan, Some(&given));
        let versions =
            held.system.iter().map(|((table, id), (version, _))| (*table, id.clone(), Some(*version)));
        let mut bound = Bound { layout: self.layout, difference: &difference, versions: versions.collect() };
        let program = match bound.program(&program, held.done) {
            Ok(program) => program,
            Err(why) => {
                count.incomplete.push(format!("{}: {why}", told()));
                return false;
            }
        };
        let text = self.printed(&identified(&program), options);
        // In a cluster of Redis, the stamp of the write is the version, too.
        let stamped = self.target.capability.target == "redis-cluster";
        held.advance(after, records, &difference, stamped);
        count.kinds.extend(kinds(&program));
        let Some(shell) = shell.as_deref_mut() else { return true };
        let tables = changed(&program);
        shell.run(&text).unwrap_or_else(|why| panic!("{}: {why}\n{text}", told()));
        let expected = held.expected();
        let said = || format!("{}\n{text}", told());
        let versions = self.comes_back(shell, &expected, Some((&tables, &said)));
        self.by_the_clock(held, &difference, &versions);
        held.has(&versions, &said());
        // What was read has changed by now: it is refused, or what it does changes nothing.
        let text = self.printed(&identified(&program), options);
        let _ = shell.run(&text);
        let said = || format!("again {}\n{text}", told());
        let versions = self.comes_back(shell, &expected, Some((&tables, &said)));
        held.has(&versions, &said());
        true
    }

    /// Where the version goes with an aggregate that expires, that of a new one is the clock.
    fn by_the_clock(&self, held: &mut Held, difference: &Difference, versions: &Versions) {
        for ((table, identity), (before, _)) in &difference.blocks {
            let root = self.schema.design.collections[*table].source.root;
            let goes =
                matches!(self.target.capability.target, "redis" | "redis-search" | "mongodb" | "dynamodb");
            let expires = goes && self.schema.model.conceptual.ttl(root).is_some();
            let key = (*table, identity.clone());
            if let (true, None, Some(version)) = (expires, before, versions.get(&key)) {
                held.system.entry(key).or_default().0 = *version;
            }
        }
    }

    fn change(&self, held: &Held, write: &Write, given: &Arguments) -> Option<Change> {
        let needed = write::uuids_needed(&self.schema.model, write, given).ok()?;
        let uuid = |n: usize| Uuid::from_u128((u128::from(held.done) << 64) + n as u128 + 1);
        let inputs = Inputs { now: now(), uuids: (0..needed).map(uuid).collect(), id: None };
        let (change, _) = keyed::statement(self.schema, &held.keyspace, write, given, &inputs).ok()?;
        (!change.puts.is_empty()).then_some(change)
    }

    /// The statements alone: definitions have been run.
    fn printed(&self, program: &Program, options: &Options) -> String {
        let statement = Statement { program: program.clone(), text: String::new(), write: true };
        let (statements, options) = (vec![statement], options.clone());
        let source = Source { layout: self.layout, statements, sample: Vec::new(), options };
        let files = self.language().generate(&source).files;
        files.iter().filter(|file| file.run.is_none()).map(askloom_target::generate::File::text).collect()
    }
}

/// With an id of its own: a store that is sent the same twice may keep what it answered.
fn identified(program: &Program) -> Program {
    let mut program = program.clone();
    for step in &mut program.steps {
        if let Action::Change(batch) = &mut step.action {
            batch.preconditions.id = Some(Uuid::now_v7());
        }
    }
    program
}

fn changed(program: &Program) -> BTreeSet<CollectionId> {
    let batches = program.steps.iter().filter_map(|step| match &step.action {
        Action::Change(batch) => Some(batch),
        Action::Read(_) => None,
    });
    batches.flat_map(|batch| batch.changes.iter().map(|change| change.table)).collect()
}

fn kinds(program: &Program) -> BTreeSet<&'static str> {
    use program::ChangeKind as Kind;
    let mut kinds = BTreeSet::new();
    for step in &program.steps {
        let Action::Change(batch) = &step.action else { continue };
        kinds.extend(batch.changes.iter().map(|change| match change.kind {
            Kind::Create(_) => "create",
            Kind::Replace(_) => "replace",
            Kind::Set { .. } => "set",
            Kind::Bury { .. } => "bury",
            Kind::PutEntry { .. } => "put an entry",
            Kind::DropEntry { .. } => "drop an entry",
            Kind::PutRow(_) => "put a row",
            Kind::DropRow(_) => "drop a row",
        }));
    }
    kinds
}
