//! Parameters for writes: values of instances that are there, and new ones for what is made.

use crate::data::{compared, held, identities};
use askloom_engine::execute::Arguments;
use askloom_model::{
    Assigned, ClassId, Conceptual, Condition, Leaf, Member, Model, Operand, ParameterType, Record, Type,
    Value, Write, WriteStep,
};
use askloom_oracle::generate::{Generator, Options, few};

/// What parameters are taken from.
pub(crate) struct Pool<'p> {
    pub(crate) model: &'p Model,
    /// The aggregates that are there.
    pub(crate) stored: Vec<Record>,
    /// Aggregates that are not.
    pub(crate) fresh: Vec<Record>,
}

/// Aggregates with ids that nothing stored has, and with other values.
pub(crate) fn fresh(model: &Model, stored: &[Record], nasty: bool) -> Vec<Record> {
    let more = few(model, 9, 3, 40);
    let conceptual = &model.conceptual;
    let is_new = |record: &Record| {
        let id = record.identity(conceptual);
        stored.iter().all(|other| other.identity(conceptual) != id)
    };
    let generator = Generator::new(&more, Options { seed: 12, nasty, ..Options::default() });
    generator.records().map(|(_, record)| record).filter(is_new).collect()
}

impl Pool<'_> {
    fn conceptual(&self) -> &Conceptual {
        &self.model.conceptual
    }

    /// The n-th attempt at parameters for a write.
    pub(crate) fn arguments(&self, write: &Write, n: usize) -> Arguments {
        let mut arguments = Arguments::new();
        for step in &write.steps {
            if let Some(class) = step.fields_of() {
                self.fields(class, !matches!(step, WriteStep::Insert { .. }), n, &mut arguments);
            }
        }
        for (index, parameter) in write.parameters.iter().enumerate() {
            let value = self.argument(write, index, &parameter.ty, n);
            arguments.insert(parameter.name.clone(), value);
        }
        arguments
    }

    /// The fields of a new instance. An UPSERT has every other time the id of one that is there.
    fn fields(&self, class: ClassId, upsert: bool, n: usize, arguments: &mut Arguments) {
        let conceptual = self.conceptual();
        let of = |records: &[Record]| -> Vec<Record> {
            records.iter().filter(|record| record.class == class).cloned().collect()
        };
        let (fresh, stored) = (of(&self.fresh), of(&self.stored));
        let Some(record) = pick(&fresh, n / 2) else { return };
        for member in conceptual.all_members(class) {
            // Of lists there is no text yet.
            let taken = conceptual.insertable(member).is_some() && !conceptual.is_many(member);
            if taken && !record.get(member).is_absent() {
                let value = self.alone(member, record.get(member).clone(), n);
                arguments.insert(conceptual.member_name(member).to_owned(), value);
            }
        }
        if let Some(old) = pick(&stored, n / 2).filter(|_| upsert && n.is_multiple_of(2)) {
            let stays = |member: &Member| {
                conceptual.classes[old.class].identifier.contains(member)
                    || matches!(member, Member::Attribute(id) if conceptual.attributes[*id].immutable)
            };
            for member in conceptual.all_members(class).filter(stays) {
                let name = conceptual.member_name(member).to_owned();
                match old.get(member) {
                    Value::Null => arguments.remove(&name),
                    value => arguments.insert(name, value.clone()),
                };
            }
        }
    }

    /// A unique text is one that nobody has.
    fn alone(&self, member: Member, value: Value, n: usize) -> Value {
        match (member, value) {
            (Member::Attribute(id), Value::Text(text)) if self.conceptual().attributes[id].unique => {
                Value::Text(format!("{text}{n}"))
            }
            (_, value) => value,
        }
    }

    fn argument(&self, write: &Write, index: usize, ty: &ParameterType, n: usize) -> Value {
        // Each parameter goes through its values at its own pace, so that all combinations are met.
        let at = (n * (index * 2 + 1)) ^ (n >> (index + 1));
        let conceptual = self.conceptual();
        match ty {
            ParameterType::Identity(class) => {
                pick(&identities(conceptual, &self.stored, *class), at).unwrap_or(Value::Null)
            }
            ParameterType::Whole(class) => {
                let mut parts = Vec::new();
                self.fresh.iter().for_each(|record| self.parts(record, *class, &mut parts));
                pick(&parts, at).unwrap_or_else(|| Value::Record(Box::new(self.made(*class, at))))
            }
            ParameterType::Basic(ty) => self.basic(write, index, ty, at),
            ParameterType::List(_) => Value::Null,
        }
    }

    fn basic(&self, write: &Write, index: usize, ty: &Type, at: usize) -> Value {
        let asked = write.steps.iter().find_map(|step| compared(condition(step)?, index));
        let set = write.steps.iter().find_map(|step| assigned(step, index));
        let taken = write.steps.iter().find_map(removed);
        let mut values = Vec::new();
        let (member, records) = match (asked, set) {
            (Some(Leaf::Attribute(id)), None) => (Some(Member::Attribute(id)), &self.stored),
            (Some(Leaf::Reference(id)), None) => (Some(Member::End(id)), &self.stored),
            (_, Some(member)) => (Some(member), &self.fresh),
            (_, None) => (taken, &self.stored),
        };
        if let Some(member) = member {
            records.iter().for_each(|record| held(record, member, &mut values));
        }
        pick(&values, at).unwrap_or_else(|| plain(ty, at))
    }

    /// An instance that no other has inside it: its own values alone.
    fn made(&self, class: ClassId, at: usize) -> Record {
        let mut record = Record::new(class);
        for member in self.conceptual().all_members(class) {
            if let Member::Attribute(id) = member
                && !self.conceptual().attributes[id].list
            {
                record.set(member, plain(&self.conceptual().attributes[id].ty, at));
            }
        }
        record
    }

    fn parts(&self, record: &Record, class: ClassId, found: &mut Vec<Value>) {
        let mut part = |part: &Record| {
            if self.conceptual().is_kind_of(part.class, class) {
                found.push(Value::Record(Box::new(part.clone())));
            }
            self.parts(part, class, found);
        };
        for value in record.fields.values() {
            match value {
                Value::Record(inner) => part(inner),
                Value::List(elements) => elements.iter().for_each(|element| {
                    if let Value::Record(inner) = &element.value {
                        part(inner);
                    }
                }),
                _plain => {}
            }
        }
    }
}

fn plain(ty: &Type, at: usize) -> Value {
    match ty {
        // Nothing is added to what may be the largest there is.
        Type::Decimal => Value::Decimal(i64::try_from(at % 2).unwrap().into()),
        Type::Double => Value::Double(1.0),
        Type::Text => Value::Text(format!("it's {at}")),
        Type::Bool => Value::Bool(true),
        Type::Uuid => Value::Uuid(uuid::Uuid::from_u128(at as u128)),
        Type::Enum { .. } => Value::Enum(0),
        Type::Int | Type::Long => Value::Int(i64::try_from(at % 2).unwrap()),
        _other => Value::Null,
    }
}

fn pick<T: Clone>(values: &[T], n: usize) -> Option<T> {
    if values.is_empty() { None } else { values.get(n % values.len()).cloned() }
}

pub(crate) fn condition(step: &WriteStep) -> Option<&Condition> {
    match step {
        WriteStep::Insert { .. } | WriteStep::Upsert { .. } | WriteStep::Store { .. } => None,
        WriteStep::Update { condition, .. }
        | WriteStep::UpdateElements { condition, .. }
        | WriteStep::Delete { condition, .. }
        | WriteStep::Add { condition, .. }
        | WriteStep::Remove { condition, .. }
        | WriteStep::Connect { condition, .. }
        | WriteStep::Disconnect { condition, .. } => condition.as_ref(),
    }
}

/// The list that elements are taken from.
fn removed(step: &WriteStep) -> Option<Member> {
    match step {
        WriteStep::Remove { list, at: None, .. } => Some(*list),
        _other => None,
    }
}

/// The member that a parameter becomes the value of.
fn assigned(step: &WriteStep, index: usize) -> Option<Member> {
    let is = |operand: &Operand| *operand == Operand::Parameter(index);
    match step {
        WriteStep::Update { set, .. } => set.iter().find_map(|assignment| match &assignment.value {
            Assigned::To(operand) if is(operand) => Some(assignment.member),
            _other => None,
        }),
        WriteStep::Add { list, value, .. } if is(value) => Some(*list),
        _other => None,
    }
}
