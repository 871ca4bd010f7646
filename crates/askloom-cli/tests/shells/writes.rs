//! Every write of a model as it is printed: its program is bound to what the engine says that the write changes, printed,
//! run by the shell, and everything is read back. A second run of the same text must change nothing.

use crate::bound::{Bound, Difference, FIRST_STAMP, key_cells};
use crate::data::{aggregates, inputs};
use crate::given::{Pool, fresh};
use crate::harness::{Count, Shell, Trial, Versions};
use crate::samples::{Contents, with_system};
use askloom_engine::driver::MemoryDriver;
use askloom_engine::execute::Arguments;
use askloom_engine::{Changes, Schema, System, write};
use askloom_model::{CollectionId, Identity, Write, WriteStep};
use askloom_plan::planner;
use askloom_plan::program::{self, Action, Program};
use askloom_target::generate::{Options, Source, Statement};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// Parameters that are tried.
const TRIED: usize = 160;

/// What the store should hold.
pub(crate) struct Held {
    /// By the engine.
    memory: MemoryDriver,
    /// What printed writes leave in the system's part of each aggregate.
    system: BTreeMap<(CollectionId, Identity), System>,
    done: u32,
}

impl Held {
    pub(crate) fn new(schema: &Schema, memory: MemoryDriver) -> Self {
        let mut system = BTreeMap::new();
        for (_, master) in schema.masters() {
            for (identity, state) in memory.blocks(master) {
                let own = state.system().expect("a block that is there has a system's part");
                system.insert((master, identity), own.clone());
            }
        }
        Self { memory, system, done: 0 }
    }

    /// Takes over what a write changes. A printed write makes the next version, and leaves the rest of the system's part
    /// as it was.
    fn advance(&mut self, schema: &Schema, changes: &Changes, stamped: bool) {
        for (root, identity) in changes.blocks.keys() {
            let System { version, .. } =
                self.system.entry((schema.master(*root), identity.clone())).or_default();
            *version = if stamped { FIRST_STAMP + u64::from(self.done) } else { *version + 1 };
        }
        self.memory.apply(schema, changes);
        self.done += 1;
    }

    /// These aggregates have the versions that they should have.
    fn has(&self, versions: &Versions, told: &str) {
        for (aggregate, version) in versions {
            assert_eq!(Some(*version), self.system.get(aggregate).map(|system| system.version), "{told}");
        }
    }

    /// The records as the store should have them.
    fn expected(&self, schema: &Schema) -> Contents {
        let mut contents = Contents::of_memory(schema, &self.memory);
        for (master, blocks) in &mut contents.blocks {
            for (identity, state) in blocks {
                let system = self.system[&(*master, identity.clone())].clone();
                *state = with_system(state, System { version: 0, ..system });
            }
        }
        contents
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
        let stored = aggregates(self.schema, &held.memory);
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
                    pool.stored = aggregates(self.schema, &held.memory);
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
            let versions = self.comes_back(shell, &held.expected(self.schema), None);
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
        let Some(changes) = self.changes(held, write, given) else { return false };
        let difference = Difference::new(self.schema, &held.memory, &changes);
        if difference.is_empty() {
            return false;
        }
        let plan =
            planner::write::plan(&self.costing, &self.schema.model, &self.schema.design, write).unwrap();
        let given = given.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let program = program::write(self.layout, write, &plan, Some(&given));
        let versions = held.system.iter().map(|((table, id), system)| {
            (*table, key_cells(self.layout.table(*table).unwrap(), id), Some(system.version))
        });
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
        held.advance(self.schema, &changes, stamped);
        count.kinds.extend(kinds(&program));
        let Some(shell) = shell.as_deref_mut() else { return true };
        let tables = changed(&program);
        shell.run(&text).unwrap_or_else(|why| panic!("{}: {why}\n{text}", told()));
        let expected = held.expected(self.schema);
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
                held.system.entry(key).or_default().version = *version;
            }
        }
    }

    /// What the engine says of it. Nothing if it refuses, or if nothing changes.
    fn changes(&self, held: &Held, write: &Write, given: &Arguments) -> Option<Changes> {
        let needed = write::uuids_needed(&self.schema.model, write, given).ok()?;
        let uuid = |n: usize| Uuid::from_u128((u128::from(held.done) << 64) + n as u128 + 1);
        let inputs = inputs((0..needed).map(uuid).collect());
        let worked_out =
            held.memory.look(self.schema, |source| write::statement(source, write, given, &inputs));
        let (changes, _) = worked_out.ok()?;
        (!changes.is_empty()).then_some(changes)
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
