//! Random instances of any model, and arguments for its statements, often of what exists.

use crate::random::Random;
use crate::values::{start, uuid, value};
use askloom_model::{
    AttributeId, Cardinality, ClassId, ClassKind, Conceptual, Element, EndId, Identity, Member,
    ParameterType, Record, RelationshipKind, Type, Value, identity_types,
};
use askloom_oracle::State;
use std::collections::BTreeMap;

/// What exists: ids by class, values by type.
#[derive(Debug, Default)]
pub(crate) struct Known {
    ids: BTreeMap<ClassId, Vec<Identity>>,
    values: BTreeMap<String, Vec<Value>>,
}

impl Known {
    pub(crate) fn of(conceptual: &Conceptual, state: &State) -> Self {
        let mut known = Self::default();
        for (_, _, instance) in state.instances() {
            known.note(conceptual, instance.record());
        }
        known
    }

    pub(crate) fn note(&mut self, conceptual: &Conceptual, record: &Record) {
        if let Some(identity) = record.identity(conceptual) {
            for class in conceptual.lineage(record.class) {
                self.ids.entry(class).or_default().push(identity.clone());
            }
        }
        for (&member, held) in &record.fields {
            let elements: Vec<&Value> = match held {
                Value::List(elements) => elements.iter().map(|element| &element.value).collect(),
                single => vec![single],
            };
            for value in elements {
                match (member, value) {
                    (_, Value::Record(inner)) => self.note(conceptual, inner),
                    (Member::Attribute(id), value) => {
                        let ty = conceptual.attributes[id].ty.to_string();
                        self.values.entry(ty).or_default().push(value.clone());
                    }
                    (Member::End(_), _) => {}
                }
            }
        }
    }

    pub(crate) fn ids(&self, class: ClassId) -> &[Identity] {
        self.ids.get(&class).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Makes things up.
pub(crate) struct Maker<'m> {
    pub(crate) conceptual: &'m Conceptual,
    pub(crate) known: &'m Known,
}

impl Maker<'_> {
    /// A class that has instances, among the class and those below it.
    pub(crate) fn concrete(&self, class: ClassId, random: &Random) -> Option<ClassId> {
        let is_concrete = |&c: &ClassId| {
            self.conceptual.is_kind_of(c, class)
                && self.conceptual.classes[c].kind != ClassKind::AbstractEntity
        };
        let all: Vec<ClassId> = self.conceptual.classes.ids().filter(is_concrete).collect();
        (!all.is_empty()).then(|| *random.pick(&all))
    }

    /// An id of a class, whether such an instance exists or not.
    pub(crate) fn identity(&self, class: ClassId, random: &Random) -> Identity {
        let known = self.known.ids(class);
        if !known.is_empty() && random.percent(88) {
            return random.pick(known).clone();
        }
        self.new_identity(class, random)
    }

    fn new_identity(&self, class: ClassId, random: &Random) -> Identity {
        if self.conceptual.classes[class].surrogate {
            return vec![Value::Uuid(uuid(random.below(8)))];
        }
        let is_part = self.is_part(class);
        let types = identity_types(self.conceptual, class);
        types.iter().map(|ty| if is_part { wide(ty, random) } else { value(ty, true, random) }).collect()
    }

    fn is_part(&self, class: ClassId) -> bool {
        self.conceptual.lineage(class).iter().any(|&c| self.conceptual.classes[c].owner.is_some())
    }

    /// A record of that very class. Its id is new, or that of one that exists.
    pub(crate) fn record(&self, class: ClassId, random: &Random) -> Record {
        let mut record = Record::new(class);
        for member in self.conceptual.all_members(class) {
            let random = random.fork(self.conceptual.member_name(member));
            let made = match member {
                Member::Attribute(id) => self.attribute(id, &random),
                Member::End(id) => self.end(id, &random),
            };
            record.set(member, made);
        }
        let row = &self.conceptual.classes[class];
        let random = random.fork("identity");
        if row.kind.is_entity() {
            let identity = match self.is_part(class) {
                true => self.new_identity(class, &random),
                false if random.percent(55) => self.new_identity(class, &random),
                false => self.identity(class, &random),
            };
            self.identify(&mut record, &identity);
        }
        record
    }

    /// Gives a record an id: members that are references take as many parts as theirs have.
    pub(crate) fn identify(&self, record: &mut Record, identity: &Identity) {
        let row = &self.conceptual.classes[record.class];
        if let (true, Some(Value::Uuid(id))) = (row.surrogate, identity.first()) {
            record.surrogate = Some(*id);
            return;
        }
        let mut rest = identity.as_slice();
        for &member in &row.identifier {
            let (value, left) = match member {
                Member::Attribute(_) => (rest[0].clone(), &rest[1..]),
                Member::End(end) => {
                    let length = identity_length(self.conceptual, self.conceptual.ends[end].target);
                    (Value::Reference(rest[..length].to_vec()), &rest[length..])
                }
            };
            record.set(member, value);
            rest = left;
        }
    }

    fn attribute(&self, id: AttributeId, random: &Random) -> Value {
        let attribute = &self.conceptual.attributes[id];
        if attribute.list {
            return list((0..random.below(4)).map(|_| value(&attribute.ty, false, random)), random);
        }
        let left_out =
            (attribute.optional && random.percent(25)) || (attribute.default.is_some() && random.percent(30));
        let counts = |class: &askloom_model::Class| class.ttl.is_some_and(|ttl| ttl.from == Some(id));
        match left_out {
            true => Value::Null,
            false if self.conceptual.classes.iter().any(|(_, class)| counts(class)) => {
                start(&attribute.ty, random)
            }
            false => value(&attribute.ty, false, random),
        }
    }

    fn end(&self, id: EndId, random: &Random) -> Value {
        let end = &self.conceptual.ends[id];
        if !end.stored {
            return Value::Null;
        }
        let most = end.cardinality.max.map_or(3, |max| max.min(3)) as usize;
        let part = |n: usize| {
            let random = random.fork(&n.to_string());
            let class = self.concrete(end.target, &random).unwrap_or(end.target);
            Value::Record(Box::new(self.record(class, &random)))
        };
        match (end.kind, end.cardinality.is_many()) {
            (RelationshipKind::Composition, true) => list((0..random.below(most + 1)).map(part), random),
            (RelationshipKind::Composition, false) => match end.cardinality == Cardinality::ONE {
                false if random.percent(30) => Value::Null,
                _present => part(0),
            },
            (_, true) => {
                let ids = (0..random.below(most + 1)).map(|_| self.identity(end.target, random));
                Value::Set(ids.collect())
            }
            (_, false) if end.cardinality.min == 0 && random.percent(20) => Value::Null,
            (_, false) => Value::Reference(self.identity(end.target, random)),
        }
    }

    pub(crate) fn argument(&self, ty: &ParameterType, random: &Random) -> Value {
        match ty {
            ParameterType::Basic(_) | ParameterType::Identity(_) if random.percent(4) => Value::Null,
            ParameterType::Basic(ty) => match self.known.values.get(&ty.to_string()) {
                Some(known) if random.percent(95) => random.pick(known).clone(),
                _unknown => value(ty, false, random),
            },
            ParameterType::Identity(class) => Value::Reference(self.identity(*class, random)),
            ParameterType::List(of) => {
                list((0..random.below(4)).map(|n| self.argument(of, &random.fork(&n.to_string()))), random)
            }
            ParameterType::Whole(class) => {
                let class = self.concrete(*class, random).unwrap_or(*class);
                Value::Record(Box::new(self.record(class, random)))
            }
        }
    }
}

fn identity_length(conceptual: &Conceptual, class: ClassId) -> usize {
    identity_types(conceptual, class).len()
}

/// Ids of parts are from a larger pool, as they are unique over all owners.
fn wide(ty: &Type, random: &Random) -> Value {
    let number = i64::try_from(random.below(40)).unwrap();
    match ty {
        Type::Int | Type::Long => Value::Int(number),
        Type::Text => Value::Text(format!("p{number}")),
        Type::Uuid => Value::Uuid(uuid(random.below(40))),
        other => value(other, true, random),
    }
}

/// The n-th of any number of ids.
pub(crate) fn numbered(conceptual: &Conceptual, class: ClassId, n: usize) -> Option<Identity> {
    if conceptual.classes[class].surrogate {
        return Some(vec![Value::Uuid(uuid(1000 + n))]);
    }
    let number = i64::try_from(1000 + n).unwrap();
    let types = identity_types(conceptual, class);
    let one = |ty: &Type| match ty {
        Type::Int | Type::Long => Some(Value::Int(number)),
        Type::Text => Some(Value::Text(format!("n{n}"))),
        Type::Uuid => Some(Value::Uuid(uuid(1000 + n))),
        Type::Decimal => Value::decimal(&number.into()).ok(),
        _few => None,
    };
    types.iter().map(one).collect()
}

/// Elements with ordinals that ascend, with gaps at times.
fn list(values: impl Iterator<Item = Value>, random: &Random) -> Value {
    let step = if random.one_in(4) { 3 } else { 1 };
    let element = |(n, value): (u64, Value)| Element { ordinal: n * step, value };
    Value::List((0..).zip(values).map(element).collect())
}
