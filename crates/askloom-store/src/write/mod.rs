//! Writes: what changes, and what follows from it in every copy.
//!
//! A write is prepared on one state of the keyspace. Each statement finds what it is about by a plan, changes those
//! aggregates in an overlay, follows links and checked references, and keeps the rules; then every copy that depends
//! on what was changed is brought after. What comes out is a [`Change`]: keys to put and to delete, and what was read
//! on the way. A driver applies it as a whole if that is still as it was, or not at all.

mod copies;
mod deletes;
mod disturbed;
mod draft;
mod elements;
mod links;
mod make;
mod permitted;
mod rules;
mod steps;

pub(crate) use copies::{bring_some_after, entries_of, entries_of_root, roots_of};
pub(crate) use draft::note_parts;
pub(crate) use make::Maker;

use crate::block::{Entries, encode_aggregate, no_master};
use crate::execute::Arguments;
use crate::{
    Changed, Instances, Keyspace, Layered, Overlay, Puts, Reader, Reads, Recorded, RunError, Schema, System,
};
use askloom_design::partition;
use askloom_model::{ClassId, Identity, Model, Record, Write, fault, typed};
use draft::{Address, Draft};
use make::Given;
pub use permitted::permitted;
use std::fmt;
use uuid::Uuid;

/// What a write does to the keyspace, all of it or nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    /// `None` deletes.
    pub puts: Puts,
    /// What the change was worked out from; it holds only as long as that is the same.
    pub reads: Reads,
}

impl Change {
    /// Applies the change to a keyspace in memory that nobody else writes to.
    pub fn apply(&self, keyspace: &mut crate::Memory) {
        for (key, value) in &self.puts {
            match value {
                Some(value) => keyspace.insert(key.clone(), value.clone()),
                None => keyspace.remove(key),
            };
        }
    }
}

/// Whether references that designs rely on hold when something is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// They hold before and after.
    Running,
    /// A load is under way, and an earlier row may refer to this one.
    Loading,
}

/// What is made once, before the first attempt of a write, so that a retry repeats it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inputs {
    /// The clock, and the value of `now()`.
    pub now: jiff::Timestamp,
    /// The values of `uuid()` and of surrogates, in the order in which they are needed; see [`uuids_needed`].
    pub uuids: Vec<Uuid>,
    /// The write itself, by which it is known again after a lost answer. None for what is never retried.
    pub id: Option<Uuid>,
}

/// What a write answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How many instances each statement matched, of those that were done.
    pub matched: Vec<u64>,
    /// The instances that INSERT, UPSERT and STORE made.
    pub made: Vec<(ClassId, Identity)>,
    /// Of a write that says `@apart`: the first statement that was not done. Those after it were not tried.
    pub stopped: Option<Stopped>,
}

/// A statement that failed, or that matched nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// Counted from 0.
    pub step: usize,
    pub why: RunError,
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let statement = self.step + 1;
        match &self.why {
            RunError::MatchedNothing { .. } => write!(f, "statement {statement} matched nothing")?,
            why => write!(f, "statement {statement} failed: {why}")?,
        }
        f.write_str(if self.step > 0 { "; those before it are done" } else { ", so nothing was written" })
    }
}

/// How many uuids a write needs: statement by statement; within an instance first its surrogate, then its members in
/// declared order, parts with what is inside them.
pub fn uuids_needed(model: &Model, write: &Write, arguments: &Arguments) -> Result<usize, RunError> {
    let given = Given::of(&model.conceptual, write, arguments)?;
    let mut maker = Maker::counting(&model.conceptual);
    for step in &write.steps {
        maker.dry_run(step, &given)?;
    }
    Ok(maker.used())
}

/// How many uuids storing a whole aggregate needs.
pub fn uuids_needed_by(model: &Model, record: &Record) -> Result<usize, RunError> {
    let mut maker = Maker::counting(&model.conceptual);
    maker.complete(record.clone())?;
    Ok(maker.used())
}

/// A write of the model, all of its statements or none; if it says `@apart`, those before the first that fails. They are
/// one change all the same: a reader sees no more than with a change for each, and a retry need not know how far it came.
pub fn statement(
    schema: &Schema,
    keyspace: &dyn Keyspace,
    write: &Write,
    arguments: &Arguments,
    inputs: &Inputs,
) -> Result<(Change, Outcome), RunError> {
    let conceptual = &schema.model.conceptual;
    let given = Given::of(conceptual, write, arguments)?;
    if write.apart {
        // A parameter that does not fit is found before the first statement is done.
        uuids_needed(&schema.model, write, arguments)?;
    }
    let mut maker = Maker::of(conceptual, inputs);
    once(keyspace, inputs, |recorded| {
        let at_once = !write.apart && write.steps.len() > 1;
        let mut done = Done { puts: Puts::new(), at_once: at_once.then(AtOnce::default) };
        let mut outcome = Outcome { matched: Vec::new(), made: Vec::new(), stopped: None };
        for (index, step) in write.steps.iter().enumerate() {
            // Each statement works on what the ones before it left.
            let nothing = Puts::new();
            let before = if fault!(StatementsApart) { &nothing } else { &done.puts };
            let layered = Layered { base: recorded, puts: before };
            let reader = Reader::new(schema, &layered);
            let mut draft = Draft::new(&reader, inputs.now);
            let settled = draft.step(step, &given, &mut maker).and_then(|count| {
                if write.compound && count == 0 && !fault!(CompoundGoesOn) {
                    return Err(RunError::MatchedNothing { step: index });
                }
                draft.settle()?;
                Ok((count, masters(&draft, inputs)?, copies_of(&draft, Phase::Running)?))
            });
            match settled {
                Ok((count, masters, copies)) => {
                    outcome.made.append(&mut draft.made);
                    outcome.matched.push(count);
                    done.add(masters, copies, draft.after.changed);
                }
                Err(why) if write.apart && why.refuses() && !fault!(ApartTogether) => {
                    outcome.stopped = Some(Stopped { step: index, why });
                    break;
                }
                Err(why) => return Err(why),
            }
        }
        Ok((done.written(&Reader::new(schema, recorded))?, outcome))
    })
}

/// What the statements of a write have done so far.
#[derive(Debug)]
struct Done {
    /// What the next statement finds, copies included.
    puts: Puts,
    /// Of several statements that are written at once.
    at_once: Option<AtOnce>,
}

/// A reference can lead nowhere between two statements that are written at once, so that copies go by the states before
/// the first one and after the last.
#[derive(Debug, Default)]
struct AtOnce {
    masters: Puts,
    changed: Changed,
}

impl Done {
    fn add(&mut self, masters: Puts, copies: Puts, changed: Changed) {
        if let Some(at_once) = &mut self.at_once {
            at_once.masters.extend(masters.clone());
            at_once.changed.extend(changed);
        }
        self.puts.extend(masters);
        self.puts.extend(copies);
    }

    /// All that is written, to the state before the first statement.
    fn written(self, before: &Reader<'_>) -> Result<Puts, RunError> {
        let Some(AtOnce { masters, changed }) = self.at_once else { return Ok(self.puts) };
        let mut after = Overlay::new(before);
        after.changed = changed;
        let mut puts = masters;
        copies::bring_after(before, &after, Phase::Running, &mut puts)?;
        Ok(puts)
    }
}

/// Prepares a write, unless a block that it reads says that it has been done.
fn once<T>(
    keyspace: &dyn Keyspace,
    inputs: &Inputs,
    prepare: impl FnOnce(&Recorded<'_>) -> Result<(Puts, T), RunError>,
) -> Result<(Change, T), RunError> {
    let recorded = Recorded::new(keyspace, inputs.id);
    let prepared = prepare(&recorded);
    if recorded.has_met_itself() {
        return Err(RunError::AlreadyWritten);
    }
    let (puts, answer) = prepared?;
    Ok((Change { puts, reads: recorded.into_reads() }, answer))
}

/// Whether an aggregate may be there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    Absent,
    Present,
    Anything,
}

/// Stores a whole aggregate, lists included: a new one, or in place of the one with its id. Elements keep the ordinals
/// they have.
pub fn store(
    schema: &Schema,
    keyspace: &dyn Keyspace,
    record: Record,
    expect: Expect,
    inputs: &Inputs,
) -> Result<(Change, Identity), RunError> {
    prepared(schema, keyspace, inputs, Phase::Running, |draft| {
        let record = whole_root(draft, record, inputs)?;
        draft.store(record, expect)
    })
}

/// Stores a new aggregate as a load does, before those that refer to it or after.
pub fn load(
    schema: &Schema,
    keyspace: &dyn Keyspace,
    record: Record,
    phase: Phase,
    inputs: &Inputs,
) -> Result<(Change, Identity), RunError> {
    prepared(schema, keyspace, inputs, phase, |draft| {
        let record = whole_root(draft, record, inputs)?;
        draft.store(record, Expect::Absent)
    })
}

/// Deletes an aggregate. False if there was none.
pub fn delete(
    schema: &Schema,
    keyspace: &dyn Keyspace,
    class: ClassId,
    identity: &Identity,
    inputs: &Inputs,
) -> Result<(Change, bool), RunError> {
    prepared(schema, keyspace, inputs, Phase::Running, |draft| {
        let Some(address) = draft.find(class, identity)? else { return Ok(false) };
        if !address.place.0.is_empty() {
            let class = draft.conceptual().classes[class].name.clone();
            return Err(RunError::NotARoot { class });
        }
        draft.remove_record(&address)?;
        Ok(true)
    })
}

/// Takes away what has expired, in one aggregate: all of it, or parts. False if nothing has.
pub fn sweep(
    schema: &Schema,
    keyspace: &dyn Keyspace,
    root: ClassId,
    identity: &Identity,
    inputs: &Inputs,
) -> Result<(Change, bool), RunError> {
    once(keyspace, inputs, |recorded| {
        let reader = Reader::new(schema, recorded);
        let mut draft = Draft::new(&reader, inputs.now);
        let aggregate = (root, identity.clone());
        let stored = reader.aggregate(root, identity)?;
        let live = draft.live(&reader, &aggregate)?;
        if stored == live {
            return Ok((Puts::new(), false));
        }
        draft.after.changed.insert(aggregate, live);
        // No rule is asked: what has expired was gone already.
        Ok((written(&draft, inputs, Phase::Running)?, true))
    })
}

fn prepared<T>(
    schema: &Schema,
    keyspace: &dyn Keyspace,
    inputs: &Inputs,
    phase: Phase,
    act: impl FnOnce(&mut Draft<'_>) -> Result<T, RunError>,
) -> Result<(Change, T), RunError> {
    once(keyspace, inputs, |recorded| {
        let reader = Reader::new(schema, recorded);
        let mut draft = Draft::new(&reader, inputs.now);
        let answer = act(&mut draft)?;
        draft.settle()?;
        Ok((written(&draft, inputs, phase)?, answer))
    })
}

/// The record with its defaults, if it can be a root.
fn whole_root(draft: &Draft<'_>, record: Record, inputs: &Inputs) -> Result<Record, RunError> {
    let conceptual = draft.conceptual();
    let class = record.class;
    let row = &conceptual.classes[class];
    let is_part = conceptual.lineage(class).iter().any(|&c| conceptual.classes[c].owner.is_some());
    if !row.kind.is_entity() || is_part {
        return Err(RunError::NotARoot { class: row.name.clone() });
    }
    let record = typed::whole(conceptual, &record, class).ok_or_else(|| RunError::WrongType {
        parameter: row.name.clone(),
        message: "a field has a value of another type".to_owned(),
    })?;
    Maker::of(conceptual, inputs).complete(record)
}

impl Draft<'_> {
    fn store(&mut self, record: Record, expect: Expect) -> Result<Identity, RunError> {
        let conceptual = self.conceptual();
        let identity = self.identity_of(&record)?;
        let top = conceptual.lineage(record.class).last().copied().unwrap_or(record.class);
        let aggregate = (top, identity.clone());
        let live = self.live(&self.after, &aggregate)?;
        let old = live.filter(|stored| stored.record.class == record.class);
        match (old, expect) {
            (None, Expect::Present) => Err(RunError::NotFound),
            (None, Expect::Absent | Expect::Anything) => self.insert(record),
            (Some(_), Expect::Absent) => Err(RunError::AlreadyExists),
            (Some(old), Expect::Present | Expect::Anything) => {
                self.forget_symmetric(&[&old.record], &[&record])?;
                self.place_root(aggregate.clone(), record, Some(&old))?;
                self.claim_all(&Address::root(aggregate))?;
                Ok(identity)
            }
        }
    }
}

impl Draft<'_> {
    /// What follows from a statement, and what must hold after it.
    fn settle(&mut self) -> Result<(), RunError> {
        self.after_deletes()?;
        self.check_rules()?;
        self.clear_former_holders()
    }
}

/// Everything that is written for the aggregates that a draft changes.
fn written(draft: &Draft<'_>, inputs: &Inputs, phase: Phase) -> Result<Puts, RunError> {
    let mut puts = masters(draft, inputs)?;
    puts.extend(copies_of(draft, phase)?);
    Ok(puts)
}

/// What is written of the aggregates themselves.
fn masters(draft: &Draft<'_>, inputs: &Inputs) -> Result<Puts, RunError> {
    let mut puts = Puts::new();
    for ((root, identity), after) in &draft.after.changed {
        let before = draft.before.block(*root, identity)?;
        let (mut system, entries) = match (after, &before.system) {
            (Some(stored), _) => {
                (stored.system.clone(), encode_aggregate(draft.schema, *root, &stored.record)?)
            }
            (None, Some(system)) => (System::decode(system)?.deleted(inputs.now), Entries::new()),
            (None, None) => continue,
        };
        system.next_version(inputs.now);
        if let Some(id) = inputs.id {
            system.remember(id);
        }
        let master = draft.schema.design.master(*root).ok_or_else(|| no_master(draft.schema, *root))?;
        let keys = draft.schema.master_key(master);
        puts.insert(keys.system(identity), Some(system.encode()));
        for (path, entry) in partition::diff(&before.entries, &entries) {
            puts.insert(keys.entry(identity, &path), entry);
        }
    }
    Ok(puts)
}

/// What is written of the copies of them.
fn copies_of(draft: &Draft<'_>, phase: Phase) -> Result<Puts, RunError> {
    let mut puts = Puts::new();
    copies::bring_after(draft.before, &draft.after, phase, &mut puts)?;
    Ok(puts)
}
