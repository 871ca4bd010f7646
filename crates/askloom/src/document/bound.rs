//! Numbers that a document can have: JSON has none that are infinite.

/// What is as much as this or more is past counting: a sum of many of them is still a number.
pub(super) const MOST: f64 = 1e100;

/// The number, or the largest one there is for what is larger or has come to no number on the way.
pub(super) fn bounded(number: f64) -> f64 {
    if number.is_nan() { MOST } else { number.clamp(-MOST, MOST) }
}

/// Whether it stands for more than can be said.
pub(super) fn is_past_counting(number: f64) -> bool {
    number >= MOST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_one_that_json_has() {
        for number in [0.0, 1.5, 1e99, f64::MAX, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            assert!(serde_json::to_value(bounded(number)).unwrap().is_number(), "{number}");
        }
        assert_eq!([bounded(1.5), bounded(f64::NAN), bounded(f64::INFINITY)], [1.5, MOST, MOST]);
    }
}
