//! Models, made-up data, and parameters that find something in it.

use askloom_engine::driver::{Isolation, MemoryDriver};
use askloom_engine::execute::Arguments;
use askloom_engine::source::Source;
use askloom_engine::write::{self, Expect, Inputs, Phase};
use askloom_engine::{Instances, Reader, Schema};
use askloom_lang::{Memory as Files, check};
use askloom_model::{
    ClassId, Conceptual, Condition, Design, Element, InSet, Leaf, Limit, Member, Model, Operand,
    ParameterType, Query, Record, Value,
};
use askloom_oracle::generate::{Generator, Options, few};
use askloom_plan::cost::Costing;
use askloom_target::Target;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use uuid::Uuid;

pub(crate) const EXAMPLES: [&str; 6] = ["game", "noam-game", "airline", "inbox", "blog", "shop"];

/// A model by its text.
pub(crate) fn model(text: &str) -> Model {
    checked(&Files::default().with("m.loom", text), "m")
}

pub(crate) fn example(name: &str) -> Model {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let mut files = Files::default();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "loom") {
            files = files.with(path.file_name().unwrap(), std::fs::read(&path).unwrap());
        }
    }
    checked(&files, name)
}

fn checked(files: &Files, name: &str) -> Model {
    let checked = check(files, Path::new(&format!("{name}.loom")));
    assert_eq!(checked.errors, 0, "{name}: {:?}", checked.diagnostics);
    let mut model = checked.model;
    askloom_plan::ask::name_ways_back(&mut model);
    model
}

/// A model and its design, planned for a target.
pub(crate) fn schema(model: Model, design: Design, target: &'static Target) -> Arc<Schema> {
    Arc::new(Schema::new(model, design, Costing::from(target)))
}

/// Some instances of each class, with values that break things.
pub(crate) fn filled(schema: &Schema, nasty: bool) -> MemoryDriver {
    let model = few(&schema.model, 5, 3, 40);
    let generator = Generator::new(&model, Options { seed: 11, nasty, ..Options::default() });
    stored(schema, generator.records().map(|(_, record)| record))
}

/// What a store holds after these records, without those that it refuses.
pub(crate) fn stored(schema: &Schema, records: impl Iterator<Item = Record>) -> MemoryDriver {
    let memory = MemoryDriver::new(Isolation::Ranges);
    for record in records {
        let loaded =
            memory.look(schema, |source| write::load(source, record, Phase::Loading, &inputs(Vec::new())));
        if let Ok((changes, _)) = loaded {
            memory.apply(schema, &changes);
        }
    }
    memory
}

/// The same of records of which a store refuses none.
pub(crate) fn holding(schema: &Schema, records: impl Iterator<Item = Record>) -> MemoryDriver {
    let memory = MemoryDriver::new(Isolation::Ranges);
    for record in records {
        let put = |source: &dyn Source| write::store(source, record, Expect::Anything, &inputs(Vec::new()));
        let (changes, _) = memory.look(schema, put).unwrap();
        memory.apply(schema, &changes);
    }
    memory
}

/// Of a driver that answers at once.
pub(crate) fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => panic!("nothing waits"),
    }
}

pub(crate) fn inputs(uuids: Vec<Uuid>) -> Inputs {
    Inputs { now: now(), uuids, id: None }
}

pub(crate) fn now() -> jiff::Timestamp {
    jiff::Timestamp::from_second(1_800_000_000).unwrap()
}

/// Every aggregate that is stored.
pub(crate) fn aggregates(schema: &Schema, memory: &MemoryDriver) -> Vec<Record> {
    let conceptual = &schema.model.conceptual;
    let roots = conceptual.classes.ids().filter(|&class| schema.design.master(class).is_some());
    memory.look(schema, |source| {
        let reader = Reader::new(source);
        roots.flat_map(|root| reader.all(root).unwrap()).map(|(_, stored)| stored.record.clone()).collect()
    })
}

/// Values for the parameters of a query: those of the n-th instance that has any.
pub(crate) fn arguments(conceptual: &Conceptual, query: &Query, records: &[Record], n: usize) -> Arguments {
    let mut arguments = Arguments::new();
    for (index, parameter) in query.parameters.iter().enumerate() {
        let value = argument(conceptual, query, index, &parameter.ty, records, n);
        arguments.insert(parameter.name.clone(), value);
    }
    arguments
}

fn argument(
    conceptual: &Conceptual,
    query: &Query,
    index: usize,
    ty: &ParameterType,
    records: &[Record],
    n: usize,
) -> Value {
    if is_limit(query, index) {
        return Value::Int(3);
    }
    match ty {
        ParameterType::List(of) => {
            let one = |at: usize| argument(conceptual, query, index, of, records, n + at);
            let values: std::collections::BTreeSet<Value> = [one(0), one(1)].into();
            let elements = values.into_iter().zip(0..);
            Value::List(elements.map(|(value, ordinal)| Element { ordinal, value }).collect())
        }
        ParameterType::Identity(class) => {
            let ids: Vec<Value> = identities(conceptual, records, *class);
            pick(&ids, n).unwrap_or(Value::Null)
        }
        ParameterType::Basic(_) | ParameterType::Whole(_) => {
            let leaf = query.condition.as_ref().and_then(|condition| compared(condition, index));
            let mut values = Vec::new();
            if let Some(Leaf::Attribute(id)) = leaf {
                records.iter().for_each(|record| held(record, Member::Attribute(id), &mut values));
            }
            let prefix = query.condition.as_ref().is_some_and(|condition| starts(condition, index));
            match pick(&values, n) {
                Some(Value::Text(text)) if prefix => Value::Text(text.chars().take(2).collect()),
                Some(value) => value,
                None => Value::Null,
            }
        }
    }
}

fn pick(values: &[Value], n: usize) -> Option<Value> {
    if values.is_empty() { None } else { values.get(n % values.len()).cloned() }
}

pub(crate) fn identities(conceptual: &Conceptual, records: &[Record], class: ClassId) -> Vec<Value> {
    fn collect(conceptual: &Conceptual, record: &Record, class: ClassId, ids: &mut Vec<Value>) {
        if conceptual.is_kind_of(record.class, class) {
            ids.extend(record.identity(conceptual).map(Value::Reference));
        }
        for value in record.fields.values() {
            match value {
                Value::Record(part) => collect(conceptual, part, class, ids),
                Value::List(elements) => elements.iter().for_each(|element| {
                    if let Value::Record(part) = &element.value {
                        collect(conceptual, part, class, ids);
                    }
                }),
                _plain => {}
            }
        }
    }
    let mut ids = Vec::new();
    records.iter().for_each(|record| collect(conceptual, record, class, &mut ids));
    ids
}

pub(crate) fn held(record: &Record, member: Member, values: &mut Vec<Value>) {
    for (&own, value) in &record.fields {
        match value {
            Value::Record(part) => held(part, member, values),
            Value::List(elements) => {
                for element in elements {
                    match &element.value {
                        Value::Record(part) => held(part, member, values),
                        plain if own == member => values.push(plain.clone()),
                        _other => {}
                    }
                }
            }
            plain if own == member => values.push(plain.clone()),
            _other => {}
        }
    }
}

fn is_limit(query: &Query, index: usize) -> bool {
    matches!(&query.limit, Some(Limit::Rows(Operand::Parameter(at)) | Limit::Page(Operand::Parameter(at))) if *at == index)
}

/// The leaf that a parameter is compared with.
pub(crate) fn compared(condition: &Condition, index: usize) -> Option<Leaf> {
    let is = |operand: &Operand| *operand == Operand::Parameter(index);
    let leaf = |operand: &Operand| match operand {
        Operand::Path(path) => Some(path.leaf),
        Operand::Constant(_) | Operand::Parameter(_) => None,
    };
    match condition {
        Condition::And(all) | Condition::Or(all) => all.iter().find_map(|one| compared(one, index)),
        Condition::Not(inner) | Condition::Negated(inner) => compared(inner, index),
        Condition::Compare { left, right, .. } if is(right) => leaf(left),
        Condition::Compare { left, right, .. } if is(left) => leaf(right),
        Condition::Between { value, low, high } if is(low) || is(high) => leaf(value),
        Condition::In { value, set: InSet::Parameter(at) } if *at == index => leaf(value),
        Condition::In { value, set: InSet::List(items) } if items.iter().any(is) => leaf(value),
        Condition::StartsWith { value, prefix } if is(prefix) => leaf(value),
        Condition::Matches { value, words } if is(words) => leaf(value),
        Condition::Within { value, of, .. } if is(of) => leaf(value),
        Condition::InBox { value, low, high } if is(low) || is(high) => leaf(value),
        _other => None,
    }
}

fn starts(condition: &Condition, index: usize) -> bool {
    match condition {
        Condition::And(all) | Condition::Or(all) => all.iter().any(|one| starts(one, index)),
        Condition::StartsWith { prefix, .. } => *prefix == Operand::Parameter(index),
        _other => false,
    }
}
