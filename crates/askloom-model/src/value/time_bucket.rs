//! The hour, day or month of a timestamp, in UTC, as the text that stands in a key: `2026-11-17T09`, `2026-11-17`,
//! `2026-11`. Other programs that write the same tables cut the ISO form of the timestamp at the same place.

use super::Value;
use crate::TimeBucket;
use jiff::civil::DateTime;
use jiff::{Span, Timestamp, ToSpan, tz::TimeZone};

impl TimeBucket {
    /// The bucket of an instant.
    #[must_use]
    pub fn of(self, at: Timestamp) -> String {
        self.text(self.start(at))
    }

    /// The bucket of a value. What is not a timestamp is in none: null.
    #[must_use]
    pub fn of_value(self, value: &Value) -> Value {
        match value {
            Value::Timestamp(at) => Value::Text(self.of(*at)),
            _other => Value::Null,
        }
    }

    /// The buckets from that of one instant to that of another, both included, oldest first; none if the second is
    /// before the first.
    pub fn between(self, low: Timestamp, high: Timestamp) -> impl Iterator<Item = String> {
        let last = self.start(high);
        let first = Some(self.start(low)).filter(|first| *first <= last);
        // The last bucket of all time has none after it.
        let next = move |at: &DateTime| at.checked_add(self.length()).ok().filter(|next| *next <= last);
        std::iter::successors(first, next).map(move |at| self.text(at))
    }

    /// Whether a bucket can be one of those from that of one instant to that of another. Years before the first are in no
    /// order as text: then any can.
    #[must_use]
    pub fn may_be_between(self, bucket: &str, low: Timestamp, high: Timestamp) -> bool {
        let ordered = self.start(low).year() >= 0;
        low <= high && (!ordered || (*self.of(low) <= *bucket && *bucket <= *self.of(high)))
    }

    fn start(self, at: Timestamp) -> DateTime {
        let at = TimeZone::UTC.to_datetime(at);
        let (date, hour) = match self {
            Self::Hour => (at.date(), at.hour()),
            Self::Day => (at.date(), 0),
            Self::Month => (at.date().first_of_month(), 0),
        };
        date.at(hour, 0, 0, 0)
    }

    fn length(self) -> Span {
        match self {
            Self::Hour => 1.hour(),
            Self::Day => 1.day(),
            Self::Month => 1.month(),
        }
    }

    fn text(self, at: DateTime) -> String {
        let (year, month, day, hour) = (at.year(), at.month(), at.day(), at.hour());
        match self {
            Self::Hour => format!("{year:04}-{month:02}-{day:02}T{hour:02}"),
            Self::Day => format!("{year:04}-{month:02}-{day:02}"),
            Self::Month => format!("{year:04}-{month:02}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_bucket_is_the_start_of_the_iso_form_in_utc() {
        let one = at("2026-11-17T01:30:00.5+02:00");
        assert_eq!(TimeBucket::ALL.map(|unit| unit.of(one)), ["2026-11-16T23", "2026-11-16", "2026-11"]);
        assert_eq!(TimeBucket::Day.of_value(&Value::Null), Value::Null);
    }

    #[test]
    fn buckets_between_two_instants_are_all_that_instants_between_them_are_in() {
        for case in 0..300_i64 {
            let unit = TimeBucket::ALL[usize::try_from(case % 3).unwrap()];
            let low = case * 60_000_017 - 9_000_000_000;
            let length = case * 7_919_003 % 20_000_000;
            let [low, middle, high] = [low, low + length * (case % 7) / 7, low + length]
                .map(|second| Timestamp::from_second(second).unwrap());
            let all: Vec<String> = unit.between(low, high).collect();
            assert_eq!(all.first(), Some(&unit.of(low)));
            assert_eq!(all.last(), Some(&unit.of(high)));
            assert!(all.contains(&unit.of(middle)));
            assert!(all.is_sorted(), "{all:?}");
            let distinct: std::collections::BTreeSet<&String> = all.iter().collect();
            assert_eq!(distinct.len(), all.len());
        }
        assert_eq!(TimeBucket::Day.between(at("2026-01-02T00:00Z"), at("2026-01-01T00:00Z")).count(), 0);
        assert_eq!(TimeBucket::Hour.between(Timestamp::MAX, Timestamp::MAX).count(), 1);
    }
}
