//! Writes: what changes, and what follows from it in every copy.
//!
//! A write is prepared on one state of a store. Each statement finds what it is about by a program, changes those
//! aggregates in an overlay, follows links and checked references, and keeps the rules; then every copy that depends
//! on what was changed is updated. What comes out is [`Changes`]: blocks and rows as they are afterwards. A driver
//! applies them as a whole if what was read on the way is still the same, or not at all.

mod deletes;
mod draft;
mod elements;
mod gained;
mod links;
mod make;
mod permitted;
mod rules;
mod steps;
mod upkeep;

pub use draft::note_parts;
pub use make::Maker;
pub use upkeep::{entries_of, entries_of_root, roots_of, update_some_copies};

use crate::execute::Arguments;
use crate::source::{Once, Overlaid, Source};
use crate::{BlockAfter, Changed, Changes, Instances, Overlay, Reader, RunError, Stop};
use askloom_model::{ClassId, Identity, Model, Record, Write, fault, typed};
use draft::{Address, Draft};
use make::Given;
pub use permitted::permitted;
use std::fmt;
use std::sync::Arc;
use uuid::Uuid;

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
    source: &dyn Source,
    write: &Write,
    arguments: &Arguments,
    inputs: &Inputs,
) -> Result<(Changes, Outcome), Stop> {
    let model = &source.schema().model;
    let given = Given::of(&model.conceptual, write, arguments)?;
    if write.apart {
        // A parameter that does not fit is found before the first statement is done.
        uuids_needed(model, write, arguments)?;
    }
    let mut maker = Maker::of(&model.conceptual, inputs);
    once(source, inputs, |source| {
        let at_once = !write.apart && write.steps.len() > 1;
        let mut done = Done { changes: Changes::default(), at_once: at_once.then(AtOnce::default) };
        let mut outcome = Outcome { matched: Vec::new(), made: Vec::new(), stopped: None };
        for (index, step) in write.steps.iter().enumerate() {
            // Each statement works on what the ones before it left.
            let nothing = Changes::default();
            let changes = if fault!(StatementsApart) { &nothing } else { &done.changes };
            let overlaid = Overlaid { base: source, changes };
            let reader = Reader::new(if changes.is_empty() { source } else { &overlaid });
            let mut draft = Draft::new(&reader, inputs.now);
            let settled = draft.step(step, &given, &mut maker).and_then(|count| {
                if write.compound && count == 0 && !fault!(CompoundGoesOn) {
                    return Err(Stop::Failed(RunError::MatchedNothing { step: index }));
                }
                draft.settle()?;
                Ok((count, written(&mut draft, inputs, Phase::Running)?))
            });
            match settled {
                Ok((count, changes)) => {
                    outcome.made.append(&mut draft.made);
                    outcome.matched.push(count);
                    let changed = draft.after.changed;
                    done.add(changes, changed);
                }
                Err(Stop::Failed(why)) if write.apart && why.refuses() && !fault!(ApartTogether) => {
                    outcome.stopped = Some(Stopped { step: index, why });
                    break;
                }
                Err(why) => return Err(why),
            }
        }
        Ok((done.written(&Reader::new(source))?, outcome))
    })
}

/// What the statements of a write have done so far.
#[derive(Debug)]
struct Done {
    /// What the next statement finds, copies included.
    changes: Changes,
    /// Of several statements that are written at once.
    at_once: Option<AtOnce>,
}

/// A reference can lead nowhere between two statements that are written at once, so that copies go by the states before
/// the first one and after the last.
#[derive(Debug, Default)]
struct AtOnce {
    changed: Changed,
}

impl Done {
    fn add(&mut self, changes: Changes, changed: Changed) {
        if let Some(at_once) = &mut self.at_once {
            at_once.changed.extend(changed);
        }
        self.changes.extend(changes);
    }

    /// All that is written, to the state before the first statement.
    fn written(self, before: &Reader<'_>) -> Result<Changes, Stop> {
        let Some(AtOnce { changed }) = self.at_once else { return Ok(self.changes) };
        let mut after = Overlay::new(before);
        after.changed = changed;
        let mut changes = Changes { blocks: self.changes.blocks, ..Changes::default() };
        upkeep::update_copies(before, &after, Phase::Running, &mut changes)?;
        Ok(changes)
    }
}

/// Prepares a write, unless a block that it reads says that it has been done.
fn once<T>(
    source: &dyn Source,
    inputs: &Inputs,
    prepare: impl FnOnce(&dyn Source) -> Result<(Changes, T), Stop>,
) -> Result<(Changes, T), Stop> {
    let once = Once::new(source, inputs.id);
    let prepared = prepare(&once);
    if once.has_met_itself() { Err(Stop::Failed(RunError::AlreadyWritten)) } else { prepared }
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
    source: &dyn Source,
    record: Record,
    expect: Expect,
    inputs: &Inputs,
) -> Result<(Changes, Identity), Stop> {
    prepared(source, inputs, Phase::Running, |draft| {
        let record = whole_root(draft, record, inputs)?;
        draft.store(record, expect)
    })
}

/// Stores a new aggregate as a load does, before those that refer to it or after.
pub fn load(
    source: &dyn Source,
    record: Record,
    phase: Phase,
    inputs: &Inputs,
) -> Result<(Changes, Identity), Stop> {
    prepared(source, inputs, phase, |draft| {
        let record = whole_root(draft, record, inputs)?;
        draft.store(record, Expect::Absent)
    })
}

/// Deletes an aggregate. False if there was none.
pub fn delete(
    source: &dyn Source,
    class: ClassId,
    identity: &Identity,
    inputs: &Inputs,
) -> Result<(Changes, bool), Stop> {
    prepared(source, inputs, Phase::Running, |draft| {
        let Some(address) = draft.find(class, identity)? else { return Ok(false) };
        if !address.place.0.is_empty() {
            let class = draft.conceptual().classes[class].name.clone();
            return Err(Stop::Failed(RunError::NotARoot { class }));
        }
        draft.remove_record(&address)?;
        Ok(true)
    })
}

/// Takes away what has expired, in one aggregate: all of it, or parts. False if nothing has.
pub fn sweep(
    source: &dyn Source,
    root: ClassId,
    identity: &Identity,
    inputs: &Inputs,
) -> Result<(Changes, bool), Stop> {
    once(source, inputs, |source| {
        let reader = Reader::new(source);
        let mut draft = Draft::new(&reader, inputs.now);
        let aggregate = (root, identity.clone());
        let stored = reader.aggregate(root, identity)?;
        let live = draft.live(&reader, &aggregate)?;
        if stored == live {
            return Ok((Changes::default(), false));
        }
        draft.after.changed.insert(aggregate, live);
        // No rule is asked: what has expired was gone already.
        Ok((written(&mut draft, inputs, Phase::Running)?, true))
    })
}

fn prepared<T>(
    source: &dyn Source,
    inputs: &Inputs,
    phase: Phase,
    act: impl FnOnce(&mut Draft<'_>) -> Result<T, Stop>,
) -> Result<(Changes, T), Stop> {
    once(source, inputs, |source| {
        let reader = Reader::new(source);
        let mut draft = Draft::new(&reader, inputs.now);
        let answer = act(&mut draft)?;
        draft.settle()?;
        Ok((written(&mut draft, inputs, phase)?, answer))
    })
}

/// The record with its defaults, if it can be a root.
fn whole_root(draft: &Draft<'_>, record: Record, inputs: &Inputs) -> Result<Record, Stop> {
    let conceptual = draft.conceptual();
    let class = record.class;
    let row = &conceptual.classes[class];
    let is_part = conceptual.lineage(class).iter().any(|&c| conceptual.classes[c].owner.is_some());
    if !row.kind.is_entity() || is_part {
        return Err(Stop::Failed(RunError::NotARoot { class: row.name.clone() }));
    }
    let record = typed::whole(conceptual, &record, class).ok_or_else(|| RunError::WrongType {
        parameter: row.name.clone(),
        message: "a field has a value of another type".to_owned(),
    })?;
    Ok(Maker::of(conceptual, inputs).complete(record)?)
}

impl Draft<'_> {
    fn store(&mut self, record: Record, expect: Expect) -> Result<Identity, Stop> {
        let conceptual = self.conceptual();
        let identity = self.identity_of(&record)?;
        let top = conceptual.lineage(record.class).last().copied().unwrap_or(record.class);
        let aggregate = (top, identity.clone());
        let live = self.live(&self.after, &aggregate)?;
        let old = live.filter(|stored| stored.record.class == record.class);
        match (old, expect) {
            (None, Expect::Present) => Err(Stop::Failed(RunError::NotFound)),
            (None, Expect::Absent | Expect::Anything) => self.insert(record),
            (Some(_), Expect::Absent) => Err(Stop::Failed(RunError::AlreadyExists)),
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
    fn settle(&mut self) -> Result<(), Stop> {
        self.after_deletes()?;
        self.note_removed()?;
        self.check_rules()?;
        self.clear_former_holders()
    }
}

/// Everything that is written for the aggregates that a draft changes.
fn written(draft: &mut Draft<'_>, inputs: &Inputs, phase: Phase) -> Result<Changes, Stop> {
    let mut changes = Changes::default();
    for ((root, identity), after) in draft.after.changed.systems() {
        let block = match after {
            Some(stored) => {
                let changed = Arc::make_mut(stored);
                changed.system.written(inputs);
                BlockAfter::Stored(Arc::clone(stored))
            }
            None => match draft.before.system(*root, identity)? {
                Some(system) => {
                    let mut system = system.deleted(inputs.now);
                    system.written(inputs);
                    BlockAfter::Deleted(system)
                }
                None => continue,
            },
        };
        changes.blocks.insert((*root, identity.clone()), block);
    }
    upkeep::update_copies(draft.before, &draft.after, phase, &mut changes)?;
    Ok(changes)
}
