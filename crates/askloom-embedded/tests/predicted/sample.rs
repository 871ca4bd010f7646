//! Models with some data: less than they say, in about the same proportions.

use crate::measured::Measured;
use askloom_design::simple;
use askloom_embedded::keyspace::write as keyed;
use askloom_embedded::{KeyedSchema, Memory};
use askloom_engine::write::{self, Inputs, Phase};
use askloom_model::{Design, Model, Origin, Record, Table};
use askloom_oracle::generate::{Generator, Options};
use askloom_plan::upkeep;
use jiff::Timestamp;

/// How much of the proportions between counts is left: of a class with a thousandth of the instances, about a tenth.
const PROPORTION: f64 = 0.3;
/// Elements of a list, and letters of a text.
const ELEMENTS: f64 = 8.0;
const LETTERS: u64 = 40;
/// Instances of a class that says nothing.
const COUNT: u64 = 10_000;

pub(crate) fn now() -> Timestamp {
    "2026-06-01T00:00:00Z".parse().unwrap()
}

/// A model whose statistics are those of its data.
pub(crate) struct Sample {
    pub(crate) model: Model,
    pub(crate) records: Vec<Record>,
    pub(crate) data: Measured,
}

impl Sample {
    /// With at most so many instances of a class.
    pub(crate) fn of(model: &Model, instances: u64, seed: u64) -> Self {
        let small = reduced(model, instances);
        let generator = Generator::new(&small, Options { seed, ..Options::default() });
        let records: Vec<Record> = generator.records().map(|(_, record)| record).collect();
        // What the rules of the model refuse is not there.
        let mut masters = Design { method: "masters".to_owned(), collections: Table::default() };
        simple::masters(&small, Origin::Method, &mut masters);
        upkeep::add_indexes(&small, &mut masters);
        let (_, records) = load(&KeyedSchema::new(small.clone(), masters), records);
        let data = Measured::of(&small, &records);
        let mut model = small;
        data.set(&mut model);
        Self { model, records, data }
    }

    /// The data in a store of the design.
    pub(crate) fn stored(&self, design: Design) -> (KeyedSchema, Memory) {
        let schema = KeyedSchema::new(self.model.clone(), design);
        let (keyspace, _) = load(&schema, self.records.clone());
        (schema, keyspace)
    }
}

fn load(schema: &KeyedSchema, records: Vec<Record>) -> (Memory, Vec<Record>) {
    let mut keyspace = Memory::new();
    let mut loaded = Vec::new();
    for record in records {
        let needed = write::uuids_needed_by(&schema.model, &record).unwrap_or(0);
        let number = loaded.len() as u128;
        let uuids = (0..needed).map(|n| uuid::Uuid::from_u128(number << 32 | n as u128)).collect();
        let inputs = Inputs { now: now(), uuids, id: None };
        if let Ok((change, _)) = keyed::load(schema, &keyspace, record.clone(), Phase::Loading, &inputs) {
            change.apply(&mut keyspace);
            loaded.push(record);
        }
    }
    (keyspace, loaded)
}

/// The model with fewer instances, shorter lists and shorter texts.
fn reduced(model: &Model, instances: u64) -> Model {
    let mut model = model.clone();
    let conceptual = &mut model.conceptual;
    let said = |count: Option<u64>| count.unwrap_or(COUNT);
    let most = conceptual.classes.iter().map(|(_, class)| said(class.statistics.count)).max().unwrap_or(1);
    let shrink = |count: u64| {
        let share = (count as f64 / most.max(1) as f64).powf(PROPORTION);
        ((instances as f64 * share).round() as u64).clamp(1, count.max(1))
    };
    for id in conceptual.classes.ids() {
        let class = &mut conceptual.classes[id];
        let counted =
            class.statistics.count.is_some() || (class.owner.is_none() && class.subclasses.is_empty());
        if counted && class.parent.is_none() || class.statistics.count.is_some() {
            class.statistics.count = Some(shrink(said(class.statistics.count)));
        }
    }
    let shorten = |statistics: &mut askloom_model::MemberStatistics| {
        // With few instances, nothing would have a rare value that statements ask for.
        statistics.frequencies.clear();
        statistics.avg = statistics.avg.map(|avg| avg.min(ELEMENTS));
        statistics.max = statistics.max.map(|max| max.min(4 * ELEMENTS as u64));
        statistics.size_bytes = statistics.size_bytes.map(|size| size.min(LETTERS));
        statistics.distinct =
            statistics.distinct.map(|distinct| distinct.min(shrink(distinct.max(20))).max(2));
    };
    for id in conceptual.attributes.ids() {
        shorten(&mut conceptual.attributes[id].statistics);
    }
    for id in conceptual.ends.ids() {
        shorten(&mut conceptual.ends[id].statistics);
    }
    model
}
