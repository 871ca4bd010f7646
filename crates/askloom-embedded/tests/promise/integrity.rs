//! Writes that keep what the model promises: references that are relied on lead somewhere, and only declared writes are
//! done.

use crate::case::Case;
use crate::coverage::Coverage;
use crate::random::Random;
use crate::steps::Doing;
use askloom_engine::{RunError, write};
use askloom_model::{
    ClassId, Conceptual, Condition, Identity, Integrity, Member, Record, RelationshipKind, Value, Write,
    WriteOf, WriteStep,
};
use askloom_oracle::{Inputs, Parameters, State};
use std::collections::{BTreeMap, BTreeSet};

impl Case {
    /// Records that can be loaded one after the other and keep integrity in the end. They stay in their order, in which
    /// some come before what they refer to.
    pub(crate) fn with_integrity(&self, mut records: Vec<Record>, random: &Random) -> Vec<Record> {
        let conceptual = &self.schema.model.conceptual;
        if random.fork("order").one_in(2) {
            records.reverse();
        }
        loop {
            let accepted = self.accepted(&records, random);
            let dangling: BTreeSet<(ClassId, Identity)> =
                accepted.1.into_iter().map(|(class, id)| (top(conceptual, class), id)).collect();
            let before = records.len();
            records = accepted.0;
            if dangling.is_empty() && records.len() == before {
                return records;
            }
            let known = ids(conceptual, &records);
            records.iter_mut().for_each(|record| cut(conceptual, record, &dangling, &known));
        }
    }

    /// The records that the oracle takes, and what they refer to in vain.
    fn accepted(&self, records: &[Record], random: &Random) -> (Vec<Record>, Vec<(ClassId, Identity)>) {
        let model = &self.schema.model;
        let mut state = State::new();
        let inputs = self.inputs(random);
        let taken: Vec<Record> =
            records.iter().filter(|record| state.create(model, record, &inputs).is_ok()).cloned().collect();
        let breaches = state.breaches(&model.conceptual, self.now).into_iter();
        let target = |end| model.conceptual.ends[end].target;
        (taken, breaches.map(|breach| (target(breach.end), breach.target)).collect())
    }

    /// Whether the model does not declare what a program would do, and the store says so with a line to add.
    pub(crate) fn is_undeclared(&self, doing: &Doing) -> bool {
        let of = match doing {
            Doing::Load(_) | Doing::Row(_) | Doing::Statement(..) => return false,
            Doing::Store(record) => WriteOf::Store(record.class),
            Doing::Delete(class, _) => WriteOf::Delete(*class),
        };
        match write::permitted(&self.schema.model, &of) {
            Ok(()) => false,
            Err(RunError::Undeclared { line, .. }) => {
                assert!(line.starts_with("write "), "{line}");
                true
            }
            Err(other) => panic!("{other}"),
        }
    }

    /// Whether a write would leave a reference that is relied on without its target: at its end, where it commits
    /// before, or where a later statement looks through it.
    pub(crate) fn breaches(&mut self, doing: &Doing, inputs: &Inputs) -> bool {
        let before = self.oracle.clone();
        let done = self.mean(doing, inputs).is_ok();
        let after = std::mem::replace(&mut self.oracle, before);
        let conceptual = &self.schema.model.conceptual;
        let states = self.between(doing, inputs).into_iter().chain(done.then_some(after));
        states.into_iter().any(|state| !state.breaches(conceptual, inputs.now).is_empty())
    }

    /// What a write leaves after each of its statements that commits alone, or that a later one looks at.
    fn between(&self, doing: &Doing, inputs: &Inputs) -> Vec<State> {
        let Doing::Statement(index, arguments) = doing else { return Vec::new() };
        let model = &self.schema.model;
        let write = &model.workload.writes[*index];
        let is_seen = |&count: &usize| write.apart || write.steps[count..].iter().any(looks_further);
        let first = |count: usize| {
            let start = Write { steps: write.steps[..count].to_vec(), ..write.clone() };
            let classes: Vec<ClassId> = start.steps.iter().filter_map(WriteStep::fields_of).collect();
            let is_known = |name: &String| {
                let field = |member: Member| *name == model.conceptual.member_name(member);
                start.parameters.iter().any(|parameter| parameter.name == *name)
                    || classes.iter().any(|&class| model.conceptual.all_members(class).any(field))
            };
            let known = arguments.iter().filter(|(name, _)| is_known(name));
            let known: Parameters = known.map(|(name, value)| (name.clone(), value.clone())).collect();
            let mut state = self.oracle.clone();
            state.write(model, &start, &known, inputs).is_ok().then_some(state)
        };
        (1..write.steps.len()).filter(is_seen).filter_map(first).collect()
    }

    /// Counts what a state shows of integrity.
    pub(crate) fn note_integrity(&self, before: &State, coverage: &mut Coverage) {
        let conceptual = &self.schema.model.conceptual;
        let loose: BTreeSet<_> = conceptual
            .ends
            .iter()
            .filter(|(_, end)| end.stored && end.integrity == Integrity::Loose)
            .map(|(id, end)| (Member::End(id), end.target))
            .collect();
        for (_, _, instance) in self.oracle.instances() {
            for &(member, target) in &loose {
                if let Value::Reference(id) = instance.record().get(member)
                    && conceptual.is_aggregate(target)
                    && self.oracle.get(conceptual, target, id).is_none()
                {
                    coverage.gate("loose reference to nothing");
                }
            }
        }
        let in_copies: BTreeSet<ClassId> = self
            .schema
            .copies()
            .flat_map(|copy| self.schema.deltas(copy))
            .filter(|delta| delta.existence == askloom_plan::delta::Existence::ReliedOn)
            .map(|delta| top(conceptual, delta.entry))
            .collect();
        let new = |(top, id, _): &(ClassId, &Identity, &askloom_oracle::Instance)| {
            in_copies.contains(top) && before.get(conceptual, *top, id).is_none()
        };
        if self.oracle.instances().any(|instance| new(&instance)) {
            coverage.gate("new target of a relied-on reference in a copy");
        }
    }
}

fn top(conceptual: &Conceptual, class: ClassId) -> ClassId {
    conceptual.lineage(class).last().copied().unwrap_or(class)
}

/// The ids of all roots, by class.
fn ids(conceptual: &Conceptual, records: &[Record]) -> BTreeMap<ClassId, Identity> {
    let mut found = BTreeMap::new();
    for record in records {
        if let Some(identity) = record.identity(conceptual) {
            for class in conceptual.lineage(record.class) {
                found.insert(class, identity.clone());
            }
        }
    }
    found
}

/// Lets references to these lead to something else, or nowhere, at any depth.
fn cut(
    conceptual: &Conceptual,
    record: &mut Record,
    gone: &BTreeSet<(ClassId, Identity)>,
    known: &BTreeMap<ClassId, Identity>,
) {
    record.fields.retain(|&member, value| match (member, value) {
        (Member::End(end), value) if conceptual.ends[end].kind != RelationshipKind::Composition => {
            let target = top(conceptual, conceptual.ends[end].target);
            let gone = |id: &Identity| gone.contains(&(target, id.clone())) && conceptual.is_relied_on(end);
            match value {
                Value::Reference(id) if gone(id) => match known.get(&conceptual.ends[end].target) {
                    // Another id would be another instance.
                    Some(other) if !conceptual.ends[end].id => {
                        id.clone_from(other);
                        true
                    }
                    Some(_) | None => false,
                },
                Value::Set(ids) => {
                    ids.retain(|id| !gone(id));
                    true
                }
                _null => true,
            }
        }
        (_, Value::Record(part)) => {
            cut(conceptual, part, gone, known);
            true
        }
        (_, Value::List(elements)) => {
            for element in elements {
                if let Value::Record(part) = &mut element.value {
                    cut(conceptual, part, gone, known);
                }
            }
            true
        }
        (_, _plain) => true,
    });
}

/// Whether a statement has a condition on what is beyond its own instances.
fn looks_further(step: &WriteStep) -> bool {
    let condition = match step {
        WriteStep::Insert { .. } | WriteStep::Upsert { .. } | WriteStep::Store { .. } => None,
        WriteStep::Update { condition, .. }
        | WriteStep::UpdateElements { condition, .. }
        | WriteStep::Delete { condition, .. }
        | WriteStep::Add { condition, .. }
        | WriteStep::Remove { condition, .. }
        | WriteStep::Connect { condition, .. }
        | WriteStep::Disconnect { condition, .. } => condition.as_ref(),
    };
    let paths = condition.map(Condition::paths).unwrap_or_default();
    paths.iter().any(|path| !path.hops.is_empty())
}
