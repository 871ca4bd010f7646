//! Ids and unique values, as functions of a number: two numbers never give the same.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "values and types are many, and a function knows the few that concern it"
)]

use super::population::capacity;
use super::{Generator, Number, nasty, shuffle};
use askloom_model::{Attribute, Identity, Member, Precision, Type, Value};
use bigdecimal::BigDecimal;
use jiff::civil::{Date, Time};
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

/// The size of a text in an id, where the model says nothing.
const TEXT_SIZE: u64 = 10;

impl Generator<'_> {
    pub(super) fn identity_at(&self, number: Number) -> Identity {
        if self.conceptual.classes[number.top].surrogate {
            return self.surrogate(number).map(Value::Uuid).into_iter().collect();
        }
        let mut identity = Vec::new();
        for (_, value) in self.id_members(number) {
            match value {
                Value::Reference(parts) => identity.extend(parts),
                single => identity.push(single),
            }
        }
        identity
    }

    pub(super) fn surrogate(&self, number: Number) -> Option<Uuid> {
        let name = shuffle::text(&self.conceptual.classes[number.top].name);
        Some(uuid(number.index, self.options.seed ^ name))
    }

    /// The members of an identifier. The number is written with a digit for each of them: a reference has as many
    /// values as there are targets, and attributes share the rest.
    pub(super) fn id_members(&self, number: Number) -> Vec<(Member, Value)> {
        let mut rest = number.index;
        let identifier = &self.conceptual.classes[number.top].identifier;
        let mut digits: Vec<(Member, u64)> = Vec::new();
        let mut expected = self.population.total(number.top).max(1);
        let mut digit = |base: u64| {
            let digit = rest % base.max(1);
            rest /= base.max(1);
            expected = expected.div_ceil(base.max(1));
            (digit, expected)
        };
        for &member in identifier {
            if let Member::End(id) = member {
                digits.push((member, digit(self.population.total(self.conceptual.ends[id].target)).0));
            }
        }
        let attributes: Vec<_> =
            identifier.iter().filter(|member| matches!(member, Member::Attribute(_))).collect();
        for (position, &&member) in attributes.iter().enumerate() {
            let Member::Attribute(id) = member else { continue };
            let room = capacity(&self.conceptual.attributes[id].ty);
            let left = attributes.len() - position;
            let (_, still) = digit(1);
            let base = if left > 1 { root(still, left).min(room) } else { u64::MAX };
            digits.push((member, digit(base).0));
        }
        // In the order of the identifier, which is the order of the parts of an id.
        digits.sort_by_key(|(member, _)| identifier.iter().position(|m| m == member));
        digits.into_iter().map(|(member, digit)| (member, self.id_value(member, digit))).collect()
    }

    fn id_value(&self, member: Member, digit: u64) -> Value {
        match member {
            Member::Attribute(id) => self.numbered(&self.conceptual.attributes[id], digit),
            Member::End(id) => Value::Reference(self.identity(self.conceptual.ends[id].target, digit)),
        }
    }

    /// The value of that number for an attribute whose values all differ.
    pub(super) fn numbered(&self, attribute: &Attribute, number: u64) -> Value {
        let special = if self.options.nasty { nasty::distinct(&attribute.ty) } else { Vec::new() };
        match usize::try_from(number).ok().and_then(|index| special.get(index)) {
            Some(value) => value.clone(),
            None => {
                let size = attribute.statistics.size_bytes.unwrap_or(TEXT_SIZE);
                let salt = self.options.seed ^ shuffle::text(&attribute.name);
                distinct(&attribute.ty, number - special.len() as u64, size, salt)
            }
        }
    }
}

/// The least number whose power is at least `n`.
fn root(n: u64, power: usize) -> u64 {
    let reaches = |base: &u64| {
        let exponent = u32::try_from(power).unwrap_or(u32::MAX);
        base.checked_pow(exponent).is_none_or(|reached| reached >= n)
    };
    // Doubling, then halving the distance.
    let mut high = 1_u64;
    while !reaches(&high) {
        high = high.saturating_mul(2);
    }
    let mut low = high / 2;
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if reaches(&middle) { high = middle } else { low = middle }
    }
    high.max(1)
}

/// A value for each number below the capacity of the type, no two the same.
fn distinct(ty: &Type, number: u64, size: u64, salt: u64) -> Value {
    let whole = i64::try_from(number).unwrap_or(i64::MAX);
    match ty {
        Type::Text => Value::Text(text(number, size, salt)),
        Type::Int | Type::Long => Value::Int(whole.saturating_add(1)),
        Type::Decimal => Value::Decimal(BigDecimal::from(whole.saturating_add(1))),
        #[expect(clippy::cast_precision_loss, reason = "below 2^52")]
        Type::Double => Value::Double(number as f64 + 1.0),
        Type::Bool => Value::Bool(number % 2 == 1),
        Type::Date => Value::Date(day(whole)),
        Type::Time => Value::Time(time_of_day(number)),
        Type::Timestamp(precision) => Value::Timestamp(instant(whole, *precision)),
        Type::Uuid => Value::Uuid(uuid(number, salt)),
        Type::Blob => Value::Blob(number.to_be_bytes().to_vec()),
        Type::Json => Value::Json(serde_json::Value::from(number)),
        // Never part of an id, and never unique.
        Type::Geo => Value::Null,
        Type::Enum(values) => Value::Enum(u32::try_from(number % (values.len() as u64).max(1)).unwrap_or(0)),
    }
}

/// Digits and letters, `size` of them if that is enough; more than ten are padding.
fn text(number: u64, size: u64, salt: u64) -> String {
    let width = u32::try_from(size.clamp(1, 10)).unwrap_or(10);
    let room = 36_u64.pow(width);
    let mixed = if number < room { shuffle::permuted(number, room, salt) } else { number };
    let mut digits: Vec<char> = Vec::new();
    let mut rest = mixed;
    while rest > 0 || digits.len() < width as usize {
        let digit = u32::try_from(rest % 36).unwrap_or(0);
        digits.push(char::from_digit(digit, 36).unwrap_or('0'));
        rest /= 36;
    }
    let mut text: String = digits.into_iter().rev().collect();
    let padding = usize::try_from(size).unwrap_or(0).saturating_sub(text.len());
    text.extend(std::iter::repeat_n('x', padding));
    text
}

pub(super) fn day(number: i64) -> Date {
    let days = SignedDuration::from_hours(number.min(2_932_895) * 24);
    Date::constant(1970, 1, 1).checked_add(days).unwrap_or(Date::MAX)
}

pub(super) fn time_of_day(millis: u64) -> Time {
    let millis = i64::try_from(millis % 86_400_000).unwrap_or(0);
    Time::midnight().wrapping_add(SignedDuration::from_millis(millis))
}

/// From the beginning of 2020, in steps of the precision.
pub(super) fn instant(number: i64, precision: Precision) -> Timestamp {
    const BEGIN: i128 = 1_577_836_800_000_000_000;
    let unit: i128 = match precision {
        Precision::Millis => 1_000_000,
        Precision::Micros => 1_000,
        Precision::Nanos => 1,
    };
    Timestamp::from_nanosecond(BEGIN + i128::from(number) * unit).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// A uuid of version 4: of its last 62 bits no two are the same.
fn uuid(number: u64, salt: u64) -> Uuid {
    const ROOM: u64 = 1 << 62;
    let low = shuffle::permuted(number, ROOM, salt) | (1 << 63);
    let high = shuffle::stream(salt, &[number]) & !0xF000 | 0x4000;
    Uuid::from_u64_pair(high, low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_numbers_give_the_same() {
        let types = [Type::Text, Type::Int, Type::Decimal, Type::Double, Type::Date, Type::Time, Type::Uuid];
        for ty in types {
            for size in [1, 2, 30] {
                let values: BTreeSet<Value> = (0..3_000).map(|n| distinct(&ty, n, size, 5)).collect();
                assert_eq!(values.len(), 3_000, "{ty} {size}");
            }
        }
    }

    #[test]
    fn texts_have_their_size() {
        assert_eq!(text(7, 30, 1).len(), 30);
        assert_eq!(text(7, 3, 1).len(), 3);
        assert_eq!(text(36 * 36, 1, 1), "100");
    }

    #[test]
    fn roots_are_large_enough() {
        assert_eq!(root(1, 2), 1);
        assert_eq!(root(9, 2), 3);
        assert_eq!(root(10, 2), 4);
        assert_eq!(root(1_000_000, 3), 100);
    }
}
