//! Values of attributes.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "values and types are many, and a function knows the few that concern it"
)]

use super::identity::{day, instant, time_of_day};
use super::length::{Length, PRESENT};
use super::population::capacity;
use super::{Generator, Spot, nasty, shuffle};
use crate::random::Random;
use askloom_model::{Attribute, AttributeId, Constant, Element, Geo, Member, Precision, Type, Value};
use bigdecimal::BigDecimal;

/// Mean sizes in bytes, where the model says nothing.
const TEXT_SIZE: u64 = 16;
const BLOB_SIZE: u64 = 32;

/// From 2020-01-01, as days since 1970 and how many.
const FIRST_DAY: i64 = 18_262;
const DAYS: u64 = 3_653;

impl Generator<'_> {
    pub(super) fn attribute(&self, id: AttributeId, spot: Spot) -> Value {
        let attribute = &self.conceptual.attributes[id];
        if attribute.id {
            return Value::Null;
        }
        let mut random = self.random_of(id, spot);
        let present = if self.options.nasty { 0.6 } else { PRESENT };
        if attribute.optional && !random.chance(present) {
            return Value::Null;
        }
        match spot.number {
            Some(number) if attribute.unique => {
                let n = number.index - self.population.start(attribute.class).min(number.index);
                match n < capacity(&attribute.ty) {
                    true => self.numbered(attribute, n),
                    false => Value::Null,
                }
            }
            Some(_) | None => self.value(attribute, &mut random),
        }
    }

    pub(super) fn list(&self, id: AttributeId, spot: Spot) -> Value {
        let attribute = &self.conceptual.attributes[id];
        let mut random = self.random_of(id, spot);
        let length = Length::of_list(attribute).random(&mut random);
        let element = |ordinal| Element { ordinal, value: self.value(attribute, &mut random) };
        Value::List((0..length).map(element).collect())
    }

    fn random_of(&self, id: AttributeId, spot: Spot) -> Random {
        let hash = shuffle::member(self.conceptual, Member::Attribute(id));
        Random::of(self.options.seed, &[spot.stream, hash])
    }

    /// A value that is not null: one of those with a known share, else one of the others.
    fn value(&self, attribute: &Attribute, random: &mut Random) -> Value {
        let mut drawn = random.unit();
        for (constant, share) in &attribute.statistics.frequencies {
            if drawn < *share {
                return Value::of_constant(constant).unwrap_or(Value::Null);
            }
            drawn -= share;
        }
        if self.options.nasty
            && random.chance(0.7)
            && let Some(value) = random.pick(&nasty::values(&attribute.ty))
        {
            return value.clone();
        }
        match (&attribute.ty, attribute.statistics.distinct) {
            (Type::Bool | Type::Enum(_), _) => other_value(attribute, random),
            (_, Some(distinct)) if attribute.ty != Type::Geo => {
                let skew = attribute.statistics.skew.unwrap_or(0.0);
                self.numbered(attribute, shuffle::zipf(random, distinct.max(1), skew))
            }
            (ty, _) => any_value(ty, attribute.statistics.size_bytes, random),
        }
    }
}

/// A value of a small type that has no share of its own, unless all have.
fn other_value(attribute: &Attribute, random: &mut Random) -> Value {
    let all: Vec<Constant> = match &attribute.ty {
        Type::Enum(values) => {
            (0..values.len()).filter_map(|n| u32::try_from(n).ok()).map(Constant::Enum).collect()
        }
        _bool => vec![Constant::Bool(false), Constant::Bool(true)],
    };
    let known =
        |constant: &&Constant| attribute.statistics.frequencies.iter().any(|(value, _)| value == *constant);
    let others: Vec<&Constant> = all.iter().filter(|constant| !known(constant)).collect();
    let constant = random.pick(&others).copied().or_else(|| random.pick(&all));
    constant.and_then(|constant| Value::of_constant(constant).ok()).unwrap_or(Value::Null)
}

/// Any value of a type, of about that size.
fn any_value(ty: &Type, size: Option<u64>, random: &mut Random) -> Value {
    match ty {
        Type::Text => Value::Text(words(random, size.unwrap_or(TEXT_SIZE))),
        Type::Int => Value::Int(random.between(0, 1_000_000)),
        Type::Long => Value::Int(random.between(0, 1_000_000_000)),
        Type::Decimal => Value::Decimal(BigDecimal::new(random.between(0, 1_000_000).into(), 2).normalized()),
        #[expect(clippy::cast_precision_loss, reason = "below 2^53")]
        Type::Double => Value::Double(random.between(0, 1_000_000_000) as f64 / 1_000_000.0),
        Type::Bool => Value::Bool(random.chance(0.5)),
        Type::Date => Value::Date(day(FIRST_DAY + i64::try_from(random.below(DAYS)).unwrap_or(0))),
        Type::Time => Value::Time(time_of_day(random.below(86_400) * 1_000)),
        Type::Timestamp(precision) => {
            let second = match precision {
                Precision::Millis => 1_000,
                Precision::Micros => 1_000_000,
                Precision::Nanos => 1_000_000_000,
            };
            let last = i64::try_from(DAYS * 86_400).unwrap_or(0) * second - 1;
            Value::Timestamp(instant(random.between(0, last), *precision))
        }
        Type::Uuid => {
            let (high, low) = (random.next_u64() & !0xF000 | 0x4000, random.next_u64() >> 2 | (1 << 63));
            Value::Uuid(uuid::Uuid::from_u64_pair(high, low))
        }
        Type::Blob => {
            let size = around(random, size.unwrap_or(BLOB_SIZE));
            Value::Blob((0..size).map(|_| u8::try_from(random.below(256)).unwrap_or(0)).collect())
        }
        #[expect(clippy::cast_precision_loss, reason = "below 2^53")]
        Type::Geo => {
            let degrees = |tenths: i64| tenths as f64 / 10_000.0;
            let (latitude, longitude) =
                (random.between(-900_000, 900_000), random.between(-1_800_000, 1_800_000));
            Geo::new(degrees(latitude), degrees(longitude)).map_or(Value::Null, Value::Geo)
        }
        Type::Json => {
            // The braces, the name and the quotes take eight bytes.
            let text = words(random, size.unwrap_or(TEXT_SIZE).saturating_sub(8));
            Value::Json(serde_json::json!({ "t": text }))
        }
        Type::Enum(values) => Value::Enum(u32::try_from(random.below(values.len() as u64)).unwrap_or(0)),
    }
}

/// Between half and one and a half of it, evenly.
fn around(random: &mut Random, size: u64) -> u64 {
    size / 2 + random.below(size / 2 * 2 + 1)
}

/// Words of two to five syllables until the size is reached.
fn words(random: &mut Random, size: u64) -> String {
    const SYLLABLES: [&str; 24] = [
        "ba", "be", "do", "fa", "ge", "hi", "ka", "la", "le", "ma", "mi", "na", "ne", "no", "pa", "ra", "re",
        "ri", "sa", "so", "ta", "ti", "to", "wa",
    ];
    let length = usize::try_from(around(random, size)).unwrap_or(usize::MAX);
    let mut text = String::with_capacity(length + 2);
    let mut left = 0;
    while text.len() < length {
        if left == 0 {
            left = 2 + random.below(4);
            if !text.is_empty() {
                text.push(' ');
            }
        }
        text.push_str(random.pick(&SYLLABLES).copied().unwrap_or("a"));
        left -= 1;
    }
    text.truncate(length);
    text
}
