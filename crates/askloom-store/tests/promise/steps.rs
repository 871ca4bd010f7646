//! Writes: what one step does, to the oracle and to the store.

use crate::case::{Case, Failure};
use crate::coverage::{Coverage, shape};
use crate::data::{Known, Maker, numbered};
use crate::keyspace::expired;
use crate::random::Random;
use crate::{changes, words};
use askloom_model::{ClassId, Element, Identity, Member, Record, RelationshipKind, Value, Write, WriteStep};
use askloom_oracle::{Inputs, Parameters, State, WriteError};
use askloom_store::RunError;
use askloom_store::write::{self, Expect};
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeMap;

/// A write that can be done to both.
#[derive(Debug, Clone)]
enum Doing {
    /// Many new aggregates at once.
    Load(Vec<Record>),
    Store(Record),
    Delete(ClassId, Identity),
    Statement(usize, Parameters),
}

impl Case {
    /// Time passes, then something is written. The shapes of what was done.
    pub(crate) fn step(
        &mut self,
        step: usize,
        known: &Known,
        random: &Random,
        coverage: &mut Coverage,
    ) -> Result<Vec<usize>, Failure> {
        let mut shapes = Vec::new();
        let was = self.now;
        let pause = match random.below(40) {
            0 => SignedDuration::from_hours(60),
            1..=3 => SignedDuration::from_hours(23),
            _short => SignedDuration::from_millis(1 + random.below(1000) as i64),
        };
        self.now += pause;
        let has_expired = |instance: &askloom_oracle::Instance| {
            expired(&self.schema, instance.record(), instance.created(), self.now)
                && !expired(&self.schema, instance.record(), instance.created(), was)
        };
        if self.oracle.instances().any(|(_, _, instance)| has_expired(instance)) {
            shapes.push(shape("expiry"));
        }
        // A write that is refused is worth something, but less than one that is not.
        for attempt in 0..3 {
            let random = random.fork(&format!("attempt{attempt}"));
            let Some(doing) = self.choose(step, known, &random) else { continue };
            let inputs = self.inputs(&random);
            let (done, found) = self.apply(&doing, &inputs, coverage)?;
            if done || random.percent(30) {
                shapes.extend(found);
                break;
            }
        }
        Ok(shapes)
    }

    fn inputs(&self, random: &Random) -> Inputs {
        let random = random.fork("uuids");
        let uuids = (0..40).map(|n| crate::values::uuid(8 + random.below(30) + 100 * n)).collect();
        Inputs { now: self.now, uuids }
    }

    fn choose(&self, step: usize, known: &Known, random: &Random) -> Option<Doing> {
        let model = &self.schema.model;
        let maker = Maker { conceptual: &model.conceptual, known };
        let roots: Vec<ClassId> = model
            .conceptual
            .classes
            .ids()
            .filter(|&class| model.conceptual.aggregate_root(class) == Some(class))
            .collect();
        if step == 0 {
            return Some(Doing::Load(self.load(&maker, &roots, random)));
        }
        let root = *random.pick(&roots);
        match random.below(20) {
            0 | 1 => Some(Doing::Delete(root, maker.identity(root, random))),
            2..=7 => {
                let class = maker.concrete(root, random)?;
                Some(Doing::Store(maker.record(class, random)))
            }
            _statement if model.workload.writes.is_empty() => {
                let class = maker.concrete(root, random)?;
                Some(Doing::Store(maker.record(class, random)))
            }
            _statement => {
                let write = random.below(model.workload.writes.len());
                let arguments = self.arguments(&maker, &model.workload.writes[write], random);
                Some(Doing::Statement(write, arguments))
            }
        }
    }

    /// Some aggregates to start with; at times more than a hundred that refer to one.
    fn load(&self, maker: &Maker<'_>, roots: &[ClassId], random: &Random) -> Vec<Record> {
        let mut records: BTreeMap<(ClassId, Identity), Record> = BTreeMap::new();
        let conceptual = maker.conceptual;
        let mut known = Known::default();
        for n in 0..8 + random.below(8) {
            let random = random.fork(&format!("load{n}"));
            let root = *random.pick(roots);
            let maker = Maker { conceptual, known: &known };
            let Some(class) = maker.concrete(root, &random) else { continue };
            let record = maker.record(class, &random);
            if let Some(identity) = record.identity(conceptual) {
                known.note(conceptual, &record);
                records.entry((root, identity)).or_insert(record);
            }
        }
        if random.percent(4) {
            crowd(&Maker { conceptual, known: &known }, roots, random, &mut records);
        }
        records.into_values().collect()
    }

    /// Values for all parameters of a write. Those that identify belong together.
    fn arguments(&self, maker: &Maker<'_>, write: &Write, random: &Random) -> Parameters {
        let conceptual = maker.conceptual;
        let mut given = Parameters::new();
        for parameter in &write.parameters {
            let random = random.fork(&parameter.name);
            let value = match parameter.name.starts_with("at") {
                true => Value::Int(random.below(3) as i64),
                false => maker.argument(&parameter.ty, &random),
            };
            given.insert(parameter.name.clone(), value);
        }
        for (n, step) in write.steps.iter().enumerate() {
            let random = random.fork(&format!("of step {n}"));
            let suffix = if write.compound { n.to_string() } else { String::new() };
            match step {
                WriteStep::Insert { class } | WriteStep::Upsert { class } => {
                    let record = maker.record(*class, &random);
                    for member in conceptual.all_members(*class) {
                        let left_out = conceptual.insertable(member).is_none_or(|(_, may)| may && random.percent(30));
                        if !left_out {
                            let name = conceptual.member_name(member).to_owned();
                            given.insert(name, record.get(member).clone());
                        }
                    }
                }
                WriteStep::Update { class, .. }
                | WriteStep::Delete { class, .. }
                | WriteStep::Add { class, .. }
                | WriteStep::Remove { class, .. }
                | WriteStep::Connect { class, .. }
                | WriteStep::Disconnect { class, .. } => {
                    let mut record = Record::new(*class);
                    let identity = maker.identity(*class, &random);
                    maker.identify(&mut record, &identity);
                    for &member in &conceptual.classes[*class].identifier {
                        let name = format!("{}{suffix}", conceptual.member_name(member));
                        if let Some(value) = given.get_mut(&name) {
                            *value = record.get(member).clone();
                        }
                    }
                }
            }
        }
        given
    }

    /// Does it to both, and says whether it was done and which shapes it had.
    fn apply(
        &mut self,
        doing: &Doing,
        inputs: &Inputs,
        coverage: &mut Coverage,
    ) -> Result<(bool, Vec<usize>), Failure> {
        if self.telling {
            let told = self.told(doing);
            self.writes.push(told);
        }
        let before = self.oracle.clone();
        let (meant, shapes) = self.mean(doing, inputs);
        if self.telling
            && let Err(error) = &meant
        {
            let last = self.writes.last_mut().unwrap();
            last.push_str(&format!("\n    refused: {error}"));
        }
        let (changed, copy) = self.bring_after(&before, coverage)?;
        coverage.wrote(meant.is_err(), changed, copy);
        if changed {
            self.note(doing, &before, coverage);
        }
        Ok((meant.is_ok() && changed, if changed { shapes } else { Vec::new() }))
    }

    /// The write to the oracle.
    fn mean(&mut self, doing: &Doing, inputs: &Inputs) -> (Result<(), WriteError>, Vec<usize>) {
        let model = &self.schema.model;
        let oracle = &mut self.oracle;
        match doing {
            Doing::Load(records) => {
                // One by one where they cannot be together.
                if oracle.load(model, records, inputs).is_err() {
                    for record in records {
                        let _ = oracle.create(model, record, inputs);
                    }
                }
                (Ok(()), vec![shape("load")])
            }
            Doing::Store(record) => {
                let identity = record.identity(&model.conceptual);
                let there = |id: &Identity| {
                    let instance = oracle.get(&model.conceptual, record.class, id)?;
                    (!expired(&self.schema, instance.record(), instance.created(), inputs.now)).then_some(())
                };
                match identity.as_ref().and_then(there) {
                    Some(()) => (oracle.replace(model, record, inputs), vec![shape("replace")]),
                    None => (oracle.create(model, record, inputs).map(drop), vec![shape("create")]),
                }
            }
            Doing::Delete(root, identity) => {
                (oracle.delete(model, *root, identity, inputs.now).map(drop), vec![shape("delete")])
            }
            Doing::Statement(index, arguments) => {
                let write = &model.workload.writes[*index];
                let mut shapes: Vec<usize> = write.steps.iter().map(shape_of).collect();
                if write.compound {
                    shapes.push(shape("compound"));
                }
                (oracle.write(model, write, arguments, inputs).map(drop), shapes)
            }
        }
    }

    /// Writes what the oracle changed to the store, aggregate by aggregate.
    fn bring_after(&mut self, before: &State, coverage: &mut Coverage) -> Result<(bool, bool), Failure> {
        type All = BTreeMap<(ClassId, Identity), (Record, Timestamp)>;
        let all = |state: &State| -> All {
            state
                .instances()
                .filter(|(_, _, i)| !expired(&self.schema, i.record(), i.created(), self.now))
                .map(|(top, id, i)| ((top, id.clone()), (i.record().clone(), i.created())))
                .collect()
        };
        let (old, new) = (all(before), all(&self.oracle));
        let (mut changed, mut copy) = (false, false);
        let mut keys = 0;
        // What was made again since is another one.
        let stays = |key: &(ClassId, Identity), made: Timestamp| {
            new.get(key).is_some_and(|(_, created)| *created == made)
        };
        let gone: Vec<(ClassId, Identity)> =
            old.iter().filter(|(key, (_, made))| !stays(key, *made)).map(|(key, _)| key.clone()).collect();
        for (top, id) in &gone {
            let change = write::delete(&self.schema, &self.keyspace, *top, id)
                .map_err(|error| self.refused(&error))?;
            let Some(change) = change else { return Err(self.fail("write", "nothing to delete".to_owned())) };
            changed = true;
            copy |= self.commit(&change, &mut keys, coverage)?;
            self.deleted.insert((*top, id.clone()));
        }
        for (key, (record, _)) in new.iter().filter(|(key, held)| old.get(*key) != Some(*held)) {
            let change =
                write::store(&self.schema, &self.keyspace, record.clone(), self.now, Expect::Anything)
                    .map_err(|error| self.refused(&error))?;
            changed = true;
            copy |= self.commit(&change, &mut keys, coverage)?;
            if self.deleted.remove(key) {
                coverage.gate("delete and re-insert");
            }
        }
        Ok((changed, copy))
    }

    fn refused(&self, error: &RunError) -> Failure {
        match error {
            RunError::NotYet(what) => self.fail("not yet", (*what).to_owned()),
            other => self.fail("write", other.to_string()),
        }
    }

    fn commit(
        &mut self,
        change: &write::Change,
        keys: &mut usize,
        coverage: &mut Coverage,
    ) -> Result<bool, Failure> {
        let seen = changes::look(&self.schema, change);
        *keys += seen.copies;
        if *keys > 100 {
            coverage.gate("fan-out over 100");
        }
        if seen.moved {
            coverage.gate("key change of a live row");
        }
        match change.apply(&mut self.keyspace) {
            true => Ok(seen.copies > 0),
            false => Err(self.fail("write", "the change does not apply to the state it was made on".to_owned())),
        }
    }

    fn note(&self, doing: &Doing, before: &State, coverage: &mut Coverage) {
        let Doing::Statement(index, _) = doing else { return };
        let removes = self.schema.model.workload.writes[*index].steps.iter();
        let removes = removes.filter(|step| matches!(step, WriteStep::Remove { .. })).count();
        let conceptual = &self.schema.model.conceptual;
        for (top, id, instance) in self.oracle.instances() {
            let old = before.get(conceptual, top, id).map(|old| old.record().clone());
            if removes > 0 && old.is_some_and(|old| lost_from_the_middle(&old, instance.record())) {
                coverage.gate("REMOVE from the middle");
            }
        }
    }

    fn told(&self, doing: &Doing) -> String {
        let conceptual = &self.schema.model.conceptual;
        let what = match doing {
            Doing::Load(records) => {
                const MOST: usize = 16;
                let lines: Vec<String> =
                    records.iter().take(MOST).map(|r| words::record(conceptual, r)).collect();
                let more = records.len().saturating_sub(MOST);
                let more = if more > 0 { format!("\n    … {more} more") } else { String::new() };
                format!("load\n    {}{more}", lines.join("\n    "))
            }
            Doing::Store(record) => format!("store {}", words::record(conceptual, record)),
            Doing::Delete(class, id) => {
                let id = words::value(conceptual, &Value::Reference(id.clone()));
                format!("delete {} {id}", conceptual.classes[*class].name)
            }
            Doing::Statement(index, arguments) => {
                let write = &self.schema.model.workload.writes[*index];
                format!("{} with {}", write.header.name, words::arguments(conceptual, arguments))
            }
        };
        format!("{}: {what}", self.now)
    }
}

fn shape_of(step: &WriteStep) -> usize {
    shape(match step {
        WriteStep::Insert { .. } => "INSERT",
        WriteStep::Upsert { .. } => "UPSERT",
        WriteStep::Update { .. } => "UPDATE",
        WriteStep::Delete { .. } => "DELETE",
        WriteStep::Add { .. } => "ADD",
        WriteStep::Remove { .. } => "REMOVE",
        WriteStep::Connect { .. } => "CONNECT",
        WriteStep::Disconnect { .. } => "DISCONNECT",
    })
}

/// More than a hundred that refer to one, so that a change of that one fans out.
fn crowd(
    maker: &Maker<'_>,
    roots: &[ClassId],
    random: &Random,
    records: &mut BTreeMap<(ClassId, Identity), Record>,
) {
    let conceptual = maker.conceptual;
    let refers = |&root: &ClassId| {
        conceptual.all_members(root).any(|member| match member {
            Member::End(end) => {
                let end = &conceptual.ends[end];
                end.stored && end.kind != RelationshipKind::Composition && end.inverse.is_none_or(|other| {
                    conceptual.ends[other].cardinality.max.is_none()
                })
            }
            Member::Attribute(_) => false,
        })
    };
    let referring: Vec<ClassId> = roots.iter().copied().filter(refers).collect();
    if referring.is_empty() {
        return;
    }
    let root = *random.pick(&referring);
    let Some(class) = maker.concrete(root, random) else { return };
    for n in 0..105 {
        let random = random.fork(&format!("crowd{}", n % 3));
        let mut record = maker.record(class, &random);
        without_parts(conceptual, &mut record);
        if let Some(identity) = numbered(conceptual, class, n) {
            maker.identify(&mut record, &identity);
            records.entry((root, identity)).or_insert(record);
        }
    }
}

/// Parts and unique values cannot be the same in many.
fn without_parts(conceptual: &askloom_model::Conceptual, record: &mut Record) {
    record.fields.retain(|&member, value| match member {
        Member::Attribute(id) => !conceptual.attributes[id].unique,
        Member::End(_) => !matches!(value, Value::List(_)),
    });
}

/// Whether an element is gone that had another one behind it.
fn lost_from_the_middle(old: &Record, new: &Record) -> bool {
    old.fields.iter().any(|(&member, value)| {
        let Value::List(before) = value else { return false };
        let after = new.list(member);
        let kept = |element: &Element| after.iter().any(|other| other.ordinal == element.ordinal);
        before.iter().enumerate().any(|(n, element)| !kept(element) && before.iter().skip(n + 1).any(kept))
    })
}
