//! Writes: what one step does, to the oracle and to the store.

use crate::case::{Case, Failure};
use crate::coverage::{Coverage, shape};
use crate::data::{Known, Maker, numbered};
use crate::keyspace::expired;
use crate::random::Random;
use crate::refusals::{meant_refusal, refusal};
use crate::{changes, words};
use askloom_embedded::keyspace::write as keyed;
use askloom_engine::RunError;
use askloom_engine::execute::Arguments;
use askloom_engine::write::{self, Expect, Phase};
use askloom_model::{
    ClassId, Conceptual, Element, Identity, Member, Record, RelationshipKind, Value, Write, WriteStep,
};
use askloom_oracle::{Inputs, Parameters, State, WriteError};
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeMap;

/// A write that can be done to both.
#[derive(Debug, Clone)]
pub(crate) enum Doing {
    /// Many new aggregates at once.
    Load(Vec<Record>),
    /// One of them.
    Row(Record),
    Store(Record),
    Delete(ClassId, Identity),
    Statement(usize, Parameters),
}

/// What both answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    matched: Vec<u64>,
    /// The first statement of a write that says `@apart` that was not done, and why.
    stopped: Option<(usize, String)>,
}

impl Answer {
    /// What the store answers.
    pub(crate) fn of(outcome: write::Outcome) -> Self {
        let stopped = outcome.stopped.map(|at| (at.step, refusal(&at.why)));
        Self { matched: outcome.matched, stopped }
    }
}

pub(crate) fn done(matched: Vec<u64>) -> Answer {
    Answer { matched, stopped: None }
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
        let conceptual = &self.schema.model.conceptual;
        let from_data = |instance: &askloom_oracle::Instance| {
            conceptual.ttl(instance.record().class).is_some_and(|ttl| ttl.from.is_some())
        };
        if self.oracle.instances().any(|(_, _, instance)| from_data(instance) && has_expired(instance)) {
            coverage.gate("expiry counted from an attribute");
        }
        // A write that is refused is worth something, but less than one that is not.
        for attempt in 0..3 {
            let random = random.fork(&format!("attempt{attempt}"));
            let Some(doing) = self.choose(step, known, &random) else { continue };
            if let Doing::Load(records) = &doing {
                self.lighten(records);
            }
            let inputs = self.inputs(&random);
            let (done, found) = self.apply(&doing, &inputs, coverage)?;
            if done || random.percent(30) {
                shapes.extend(found);
                break;
            }
        }
        Ok(shapes)
    }

    pub(crate) fn inputs(&self, random: &Random) -> Inputs {
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
        for n in 0..21 + random.below(9) {
            let random = random.fork(&format!("load{n}"));
            let root = roots[n % roots.len()];
            let maker = Maker { conceptual, known: &known };
            let Some(class) = maker.concrete(root, &random) else { continue };
            let record = maker.record(class, &random);
            if let Some(identity) = record.identity(conceptual) {
                known.note(conceptual, &record);
                records.entry((root, identity)).or_insert(record);
            }
        }
        match random.below(200) {
            0..=5 => self.crowd(&Maker { conceptual, known: &known }, roots, random, &mut records),
            6..=41 => {
                let longest = records.values_mut().max_by_key(|record| lists(conceptual, record).len());
                longest.into_iter().for_each(|record| lengthen(conceptual, record));
            }
            _few => {}
        }
        self.with_integrity(records.into_values().collect(), random)
    }

    /// More than a hundred that refer to one, so that a change of that one fans out.
    fn crowd(
        &self,
        maker: &Maker<'_>,
        roots: &[ClassId],
        random: &Random,
        records: &mut BTreeMap<(ClassId, Identity), Record>,
    ) {
        let conceptual = maker.conceptual;
        let refers = |&root: &ClassId| {
            conceptual.all_members(root).any(|member| match member {
                Member::End(end) => {
                    let row = &conceptual.ends[end];
                    let bounded = |other| conceptual.ends[other].cardinality.max.is_some();
                    row.stored
                        && !row.inverse.is_some_and(bounded)
                        && self.schema.design.reverse_index(end).is_some()
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
                WriteStep::Insert { class } | WriteStep::Upsert { class } | WriteStep::Store { class } => {
                    let record = self.again(*class, &random).unwrap_or_else(|| maker.record(*class, &random));
                    for member in conceptual.all_members(*class) {
                        let made = conceptual.classes[*class].identifier.contains(&member);
                        let seldom = if made { 70 } else { 30 };
                        let left_out = conceptual
                            .insertable(member)
                            .is_none_or(|(_, may)| may && random.percent(seldom));
                        if !left_out {
                            let name = conceptual.member_name(member).to_owned();
                            given.insert(name, record.get(member).clone());
                        }
                    }
                }
                WriteStep::Update { class, .. }
                | WriteStep::UpdateElements { class, .. }
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

    /// An immutable instance that is there, at times: UPSERT of the same value changes nothing.
    fn again(&self, class: ClassId, random: &Random) -> Option<Record> {
        let conceptual = &self.schema.model.conceptual;
        if !conceptual.classes[class].immutable || !random.fork("again").percent(80) {
            return None;
        }
        let there = self.oracle.instances().map(|(_, _, instance)| instance.record());
        let there: Vec<&Record> = there.filter(|record| record.class == class).collect();
        (!there.is_empty()).then(|| (*random.pick(&there)).clone())
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
        if let Doing::Load(records) = doing {
            let mut keys = 0;
            let mut done = false;
            for record in records {
                done |= self.once(&Doing::Row(record.clone()), inputs, &mut keys, coverage)?;
            }
            return Ok((done, vec![shape("load")]));
        }
        let shapes = self.shapes(doing);
        if self.is_undeclared(doing) {
            coverage.gate("refused undeclared write");
            return Ok((false, Vec::new()));
        }
        if self.breaches(doing, inputs) {
            coverage.gate("breach of a trusted reference avoided");
            if let (true, Some(last)) = (self.telling, self.writes.last_mut()) {
                last.push_str("\n    not done: it would breach a trusted reference");
            }
            return Ok((false, Vec::new()));
        }
        let changed = self.once(doing, inputs, &mut 0, coverage)?;
        Ok((changed, if changed { shapes } else { Vec::new() }))
    }

    /// One write to both sides. True if it changed something.
    fn once(
        &mut self,
        doing: &Doing,
        inputs: &Inputs,
        keys: &mut usize,
        coverage: &mut Coverage,
    ) -> Result<bool, Failure> {
        let before = self.oracle.clone();
        let meant = self.mean(doing, inputs);
        let given = self.give(doing, inputs);
        if let (true, Err(error)) = (self.telling, &meant)
            && let Some(last) = self.writes.last_mut()
        {
            last.push_str(&format!("\n    refused: {error}"));
        }
        let (change, answer) = match given {
            Ok((change, answer)) => (change, Ok(answer)),
            Err(RunError::NotYet(what)) => return Err(self.fail("not yet", what.to_owned())),
            Err(error) => (keyed::Change::default(), Err(refusal(&error))),
        };
        let expected = meant.map_err(|error| meant_refusal(&error));
        if expected != answer {
            return Err(self.fail("write", format!("the answer should be {expected:?}, and is {answer:?}")));
        }
        if let Some(driven) = &mut self.driven {
            let driven = driven.give(doing, inputs).map_err(|error| refusal(&error));
            if driven != expected {
                let text = format!("the answer should be {expected:?}, and is {driven:?} through a driver");
                return Err(self.fail("driver", text));
            }
        }
        let changed = self.oracle != before;
        if changed {
            self.note(doing, &before, coverage);
            if matches!(&expected, Ok(Answer { stopped: Some((step, _)), .. }) if *step > 0) {
                coverage.gate("stopped apart");
            }
        }
        self.note_immutable(doing, &expected, changed, coverage);
        let copy = self.commit(&change, keys, coverage);
        coverage.wrote(expected.is_err(), changed, copy);
        Ok(changed && expected.is_ok())
    }

    /// The write to the oracle.
    pub(crate) fn mean(&mut self, doing: &Doing, inputs: &Inputs) -> Result<Answer, WriteError> {
        let model = &self.schema.model;
        match doing {
            Doing::Load(_) => Ok(done(Vec::new())),
            Doing::Row(record) => self.oracle.create(model, record, inputs).map(|_| done(vec![1])),
            Doing::Store(record) => match self.is_there(record, inputs.now) {
                true => self.oracle.replace(model, record, inputs).map(|()| done(vec![1])),
                false => self.oracle.create(model, record, inputs).map(|_| done(vec![1])),
            },
            Doing::Delete(root, identity) => {
                let gone = self.oracle.delete(model, *root, identity, inputs.now)?;
                Ok(done(vec![u64::from(gone)]))
            }
            Doing::Statement(index, arguments) => {
                let write = &model.workload.writes[*index];
                let outcome = self.oracle.write(model, write, arguments, inputs)?;
                let stopped = outcome.stopped.map(|at| (at.step, meant_refusal(&at.why)));
                Ok(Answer { matched: outcome.matched, stopped })
            }
        }
    }

    fn is_there(&self, record: &Record, now: Timestamp) -> bool {
        let conceptual = &self.schema.model.conceptual;
        let identity = record.identity(conceptual);
        let there = |id: &Identity| self.oracle.get(conceptual, record.class, id);
        identity.as_ref().and_then(there).is_some_and(|instance| {
            instance.record().class == record.class
                && !expired(&self.schema, instance.record(), instance.created(), now)
        })
    }

    /// The write to the store.
    fn give(&self, doing: &Doing, inputs: &Inputs) -> Result<(keyed::Change, Answer), RunError> {
        let (schema, keyspace) = (&self.schema, &self.keyspace);
        let inputs = write::Inputs { now: inputs.now, uuids: inputs.uuids.clone(), id: None };
        match doing {
            Doing::Load(_) => Ok((keyed::Change::default(), done(Vec::new()))),
            Doing::Row(record) => keyed::load(schema, keyspace, record.clone(), Phase::Loading, &inputs)
                .map(|(change, _)| (change, done(vec![1]))),
            Doing::Store(record) => keyed::store(schema, keyspace, record.clone(), Expect::Anything, &inputs)
                .map(|(change, _)| (change, done(vec![1]))),
            Doing::Delete(root, identity) => keyed::delete(schema, keyspace, *root, identity, &inputs)
                .map(|(change, gone)| (change, done(vec![u64::from(gone)]))),
            Doing::Statement(index, arguments) => {
                let write = &schema.model.workload.writes[*index];
                let arguments: Arguments = arguments.clone().into_iter().collect();
                let (change, outcome) = keyed::statement(schema, keyspace, write, &arguments, &inputs)?;
                Ok((change, Answer::of(outcome)))
            }
        }
    }

    fn shapes(&self, doing: &Doing) -> Vec<usize> {
        match doing {
            Doing::Load(_) | Doing::Row(_) => vec![shape("load")],
            Doing::Store(record) if self.is_there(record, self.now) => vec![shape("replace")],
            Doing::Store(_) => vec![shape("create")],
            Doing::Delete(_, _) => vec![shape("delete")],
            Doing::Statement(index, _) => {
                let write = &self.schema.model.workload.writes[*index];
                let mut shapes: Vec<usize> = write.steps.iter().map(shape_of).collect();
                if write.compound {
                    shapes.push(shape("compound"));
                }
                shapes
            }
        }
    }

    /// Applies a change. True if it touches a copy.
    fn commit(&mut self, change: &keyed::Change, keys: &mut usize, coverage: &mut Coverage) -> bool {
        let seen = changes::look(&self.schema, change);
        *keys += seen.copies;
        if seen.copies > 100 {
            coverage.gate("fan-out over 100");
        }
        if seen.moved {
            coverage.gate("key change of a live row");
        }
        change.apply(&mut self.keyspace);
        seen.copies > 0
    }

    /// What the gates ask for.
    fn note(&mut self, doing: &Doing, before: &State, coverage: &mut Coverage) {
        let conceptual = &self.schema.model.conceptual;
        let steps: &[WriteStep] = match doing {
            Doing::Statement(index, _) => &self.schema.model.workload.writes[*index].steps,
            Doing::Load(_) | Doing::Row(_) | Doing::Store(_) | Doing::Delete(_, _) => &[],
        };
        let removes = steps.iter().any(|step| matches!(step, WriteStep::Remove { .. }));
        let changes_elements = steps.iter().any(|step| matches!(step, WriteStep::UpdateElements { .. }));
        let stores =
            |class| steps.iter().any(|step| matches!(step, WriteStep::Store { class: of } if *of == class));
        if !matches!(doing, Doing::Row(_)) {
            self.note_integrity(before, coverage);
        }
        for (top, id, old) in before.instances() {
            match self.oracle.get(conceptual, top, id) {
                None => {
                    self.deleted.insert((top, id.clone()));
                }
                Some(new) if removes && lost_from_the_middle(old.record(), new.record()) => {
                    coverage.gate("REMOVE from the middle");
                }
                Some(new) if changes_elements && has_another_element(old.record(), new.record()) => {
                    coverage.gate("element changed");
                }
                Some(new) if stores(new.record().class) && old.record() != new.record() => {
                    coverage.gate("STORE in place of another");
                }
                Some(_) => {}
            }
        }
        if steps.iter().any(|step| step.fields_of().is_some()) {
            let lists = |record: &Record| {
                record.fields.values().any(|value| matches!(value, Value::List(_) | Value::Set(_)))
            };
            let mut all = self.oracle.instances();
            if all.any(|(top, id, new)| before.get(conceptual, top, id).is_none() && lists(new.record())) {
                coverage.gate("list inserted");
            }
        }
        if !self.deleted.is_empty() {
            for (top, id, _) in self.oracle.instances() {
                if self.deleted.remove(&(top, id.clone())) {
                    coverage.gate("delete and re-insert");
                }
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
            Doing::Row(record) => format!("load {}", words::record(conceptual, record)),
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
        WriteStep::Store { .. } => "replace",
        WriteStep::UpdateElements { .. } => "UPDATE",
        WriteStep::Update { .. } => "UPDATE",
        WriteStep::Delete { .. } => "DELETE",
        WriteStep::Add { .. } => "ADD",
        WriteStep::Remove { .. } => "REMOVE",
        WriteStep::Connect { .. } => "CONNECT",
        WriteStep::Disconnect { .. } => "DISCONNECT",
    })
}

/// The lists of plain values and of value objects.
fn lists(conceptual: &Conceptual, record: &Record) -> Vec<Member> {
    let is_long = |member: &Member| match *member {
        Member::Attribute(id) => conceptual.attributes[id].list,
        Member::End(id) => {
            let end = &conceptual.ends[id];
            end.kind == RelationshipKind::Composition
                && end.cardinality.max.is_none()
                && !conceptual.classes[end.target].kind.is_entity()
        }
    };
    let has = |member: &Member| !record.list(*member).is_empty();
    conceptual.all_members(record.class).filter(is_long).filter(has).collect()
}

/// Makes one list of a record longer than a hundred, so that a change of it fans out. Two of them would multiply.
fn lengthen(conceptual: &Conceptual, record: &mut Record) {
    if let Some(&member) = lists(conceptual, record).first() {
        let some = record.list(member).to_vec();
        let element = |n: u64| Element { ordinal: n, value: some[n as usize % some.len()].value.clone() };
        record.set(member, Value::List((0..105).map(element).collect()));
    }
}

/// Parts and unique values cannot be the same in many.
fn without_parts(conceptual: &Conceptual, record: &mut Record) {
    record.fields.retain(|&member, value| match member {
        Member::Attribute(id) => !conceptual.attributes[id].unique,
        Member::End(_) => !matches!(value, Value::List(_)),
    });
}

/// Whether an element of a list has another value, where it was.
fn has_another_element(old: &Record, new: &Record) -> bool {
    old.fields.iter().any(|(&member, value)| {
        let Value::List(before) = value else { return false };
        let changed = |(a, b): (&Element, &Element)| a.ordinal == b.ordinal && a.value != b.value;
        before.iter().zip(new.list(member)).any(changed)
    })
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
