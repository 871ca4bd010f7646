//! Data by the statistics of a model.
//!
//! Every instance is a pure function of the seed, its class and its index, so data of any size streams in constant
//! memory, a reference knows the id of its target without having seen it, and the same seed gives the same bytes
//! with every version and on every machine.
//!
//! What a model does not say is assumed:
//!
//! | where | says | unless it does |
//! | --- | --- | --- |
//! | entity | `@count` | 1,000 instances; a subclass an equal share of its parent's |
//! | entity, reference | `@skew` | 0: every target is as likely |
//! | list, set, list of parts | `@avg`, `@max` | 3 elements on average (with `@max(n)` no more than n), at most twice the average |
//! | optional attribute, reference or part | | 80 % have a value; a reference whose inverse says `@avg`, as many as that takes |
//! | text, json | `@size` | 16 bytes on average |
//! | blob | `@size` | 32 bytes on average |
//! | attribute | `@distinct` | as many values as its range has |
//! | enum, bool | `@freq` | every value is as likely; what `@freq` leaves over is shared by the others |
//! | int, long, decimal, double | | 0 to 1,000,000; to 1,000,000,000; to 10,000.00; to 1,000 |
//! | date, timestamp | | the years 2020 to 2029 |
//! | time, uuid, geo | | any |
//!
//! Lengths of lists vary evenly around their average. Three things are regular instead, because they have to add
//! up: lists of part entities (so that others can refer to every part), and references and sets whose other end
//! has an upper bound or `@max`. Nothing is ever above `@max` or an upper bound. A `@tree` has no circles.
//!
//! Ids and unique values are numbered through. A class has no more instances than its ids, its unique attributes
//! and its exclusive references allow.
//!
//! Entities that are parts of a value object are not generated: nothing could refer to them by number.

mod identity;
mod length;
mod links;
mod nasty;
mod population;
mod shuffle;
mod values;

use crate::state::top;
use askloom_model::{ClassId, Conceptual, Element, Identity, Member, Model, Record, RelationshipKind, Value};
use population::Population;

/// How data is generated.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    pub seed: u64,
    /// Multiplies every `@count`.
    pub scale: f64,
    /// For tests: values that break things (empty texts, NUL, emoji, separators, the bounds of every type), and
    /// nothing wherever nothing is allowed.
    pub nasty: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { seed: 0, scale: 1.0, nasty: false }
    }
}

/// The model with few instances of each class, short lists and short texts. What is rare is not rare here: a copy of it
/// should have something.
#[must_use]
pub fn few(model: &Model, instances: u64, elements: u64, letters: u64) -> Model {
    let mut model = model.clone();
    let conceptual = &mut model.conceptual;
    for id in conceptual.classes.ids() {
        let statistics = &mut conceptual.classes[id].statistics;
        statistics.count = Some(statistics.count.unwrap_or(instances).min(instances));
    }
    let shorten = |statistics: &mut askloom_model::MemberStatistics| {
        statistics.avg = statistics.avg.map(|avg| avg.min(elements as f64 - 1.0));
        statistics.max = Some(statistics.max.unwrap_or(elements).min(elements));
        statistics.size_bytes = statistics.size_bytes.map(|size| size.min(letters));
    };
    for id in conceptual.attributes.ids() {
        conceptual.attributes[id].statistics.frequencies.clear();
        shorten(&mut conceptual.attributes[id].statistics);
    }
    for id in conceptual.ends.ids() {
        shorten(&mut conceptual.ends[id].statistics);
    }
    model
}

/// Makes the instances of a model. It holds a few numbers for each class, whatever the number of instances.
#[derive(Debug, Clone)]
pub struct Generator<'m> {
    conceptual: &'m Conceptual,
    options: Options,
    population: Population,
}

/// Where a value is to be: decides its randomness.
#[derive(Debug, Clone, Copy)]
struct Spot {
    /// The stream of the record that it is in.
    stream: u64,
    /// The number of the record among all of its class, if it is an entity.
    number: Option<Number>,
}

/// The index of an entity in its hierarchy.
#[derive(Debug, Clone, Copy)]
struct Number {
    top: ClassId,
    index: u64,
}

impl<'m> Generator<'m> {
    #[must_use]
    pub fn new(model: &'m Model, options: Options) -> Self {
        let population = Population::of(&model.conceptual, options.scale);
        Self { conceptual: &model.conceptual, options, population }
    }

    /// How many instances there are of a class and its subclasses.
    #[must_use]
    pub fn count(&self, class: ClassId) -> u64 {
        self.population.total(class)
    }

    /// The id of the n-th instance of a class and its subclasses.
    #[must_use]
    pub fn identity(&self, class: ClassId, n: u64) -> Identity {
        self.identity_at(Number { top: top(self.conceptual, class), index: self.population.start(class) + n })
    }

    /// The n-th aggregate of exactly that class, made without the ones before it; nothing for a part, and when
    /// there are not so many.
    #[must_use]
    pub fn aggregate(&self, class: ClassId, n: u64) -> Option<Record> {
        let range = self.population.own_range(class);
        let index = range.start.checked_add(n).filter(|index| range.contains(index))?;
        let top = top(self.conceptual, class);
        population::is_root(self.conceptual, class).then(|| self.record(class, Number { top, index }))
    }

    /// Every aggregate, class by class; what is referred to comes before what refers to it, where that is
    /// possible.
    pub fn records(&self) -> impl Iterator<Item = (ClassId, Record)> {
        let classes = self.population.roots(self.conceptual);
        classes.into_iter().flat_map(move |class| {
            let range = self.population.own_range(class);
            let top = top(self.conceptual, class);
            range.map(move |index| (class, self.record(class, Number { top, index })))
        })
    }

    /// The entity of that number.
    fn record(&self, class: ClassId, number: Number) -> Record {
        let name = &self.conceptual.classes[number.top].name;
        let stream = shuffle::stream(self.options.seed, &[shuffle::text(name), number.index]);
        let mut record = self.filled(class, Spot { stream, number: Some(number) });
        if self.conceptual.classes[class].surrogate {
            record.surrogate = self.surrogate(number);
        }
        for (member, value) in self.id_members(number) {
            record.set(member, value);
        }
        record
    }

    /// A record with all its members but those of an identifier.
    fn filled(&self, class: ClassId, spot: Spot) -> Record {
        let mut record = Record::new(class);
        for member in self.conceptual.all_members(class) {
            record.set(member, self.member(member, spot));
        }
        record
    }

    fn member(&self, member: Member, spot: Spot) -> Value {
        match member {
            Member::Attribute(id) => match self.conceptual.attributes[id].list {
                true => self.list(id, spot),
                false => self.attribute(id, spot),
            },
            Member::End(id) => {
                let end = &self.conceptual.ends[id];
                match (end.stored, end.kind) {
                    (false, _) => Value::Null,
                    (true, RelationshipKind::Composition) => self.parts(id, spot),
                    (true, RelationshipKind::Association | RelationshipKind::Aggregation) => {
                        self.references(id, spot)
                    }
                }
            }
        }
    }

    /// A part, or a list of parts.
    fn parts(&self, id: askloom_model::EndId, spot: Spot) -> Value {
        let end = &self.conceptual.ends[id];
        let hash = shuffle::member(self.conceptual, Member::End(id));
        let parts: Vec<Record> = match self.conceptual.classes[end.target].kind.is_entity() {
            true => self.part_numbers(id, spot).map(|number| self.part_entity(number)).collect(),
            false => {
                let count = self.part_count(id, spot);
                let below = |n: u64| shuffle::stream(self.options.seed, &[spot.stream, hash, n]);
                let part = |n: u64| self.filled(end.target, Spot { stream: below(n), number: None });
                (0..count).map(part).collect()
            }
        };
        let mut parts = parts.into_iter().map(|part| Value::Record(Box::new(part)));
        match end.cardinality.is_many() {
            true => {
                Value::List((0..).zip(parts).map(|(ordinal, value)| Element { ordinal, value }).collect())
            }
            false => parts.next().unwrap_or(Value::Null),
        }
    }

    fn part_entity(&self, number: Number) -> Record {
        let class = self.population.class_at(self.conceptual, number).unwrap_or(number.top);
        self.record(class, number)
    }
}
