//! Numbers that are exact: comparing, adding, rounding once.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a value is one of eighteen things, and a function knows the few that concern it"
)]

use askloom_model::{Value, compare_numbers};
use bigdecimal::BigDecimal;
use bigdecimal::num_bigint::{BigInt, Sign};
use std::cmp::Ordering;

/// How two values of an expression compare. Numbers of any two types compare by what they are; a reference to a
/// class with one id attribute is as good as that id.
pub(crate) fn compare(a: &Value, b: &Value) -> Ordering {
    let (a, b) = (plain(a), plain(b));
    compare_numbers(a, b).unwrap_or_else(|| a.cmp(b))
}

fn plain(value: &Value) -> &Value {
    match value {
        Value::Reference(parts) => match parts.as_slice() {
            [only] => only,
            _composite => value,
        },
        _other => value,
    }
}

/// Decimals behind the point of an average.
const AVERAGE_DECIMALS: i64 = 12;

/// `sum / count`, half-even to 12 decimals.
pub(crate) fn average(sum: &BigDecimal, count: u64) -> BigDecimal {
    // Both as whole numbers in units of the last kept decimal, so that nothing is rounded before the end.
    let (digits, scale) = sum.as_bigint_and_exponent();
    let mut numerator = digits;
    let mut denominator = BigInt::from(count);
    let shift = AVERAGE_DECIMALS - scale;
    let power = BigInt::from(10u8).pow(u32::try_from(shift.unsigned_abs()).unwrap_or(u32::MAX));
    match shift >= 0 {
        true => numerator *= power,
        false => denominator *= power,
    }
    BigDecimal::new(divide_half_even(&numerator, &denominator), AVERAGE_DECIMALS).normalized()
}

fn divide_half_even(numerator: &BigInt, denominator: &BigInt) -> BigInt {
    let quotient = numerator / denominator;
    let remainder: BigInt = numerator - &quotient * denominator;
    let twice: BigInt = BigInt::from(remainder.magnitude().clone()) * 2;
    let odd = (&quotient % 2) != BigInt::from(0);
    let away = match twice.cmp(denominator) {
        Ordering::Less => false,
        Ordering::Equal => odd,
        Ordering::Greater => true,
    };
    match (away, numerator.sign()) {
        (false, _) => quotient,
        (true, Sign::Minus) => quotient - 1,
        (true, Sign::NoSign | Sign::Plus) => quotient + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use askloom_model::typed::{exact, nearest_double};
    use std::str::FromStr;

    fn of(text: &str, count: u64) -> String {
        average(&BigDecimal::from_str(text).unwrap(), count).to_plain_string()
    }

    #[test]
    fn averages_round_half_even_at_the_twelfth_decimal() {
        assert_eq!(of("7", 2), "3.5");
        assert_eq!(of("1", 3), "0.333333333333");
        assert_eq!(of("2", 3), "0.666666666667");
        assert_eq!(of("-2", 3), "-0.666666666667");
        assert_eq!(of("0.000000000001", 2), "0");
        assert_eq!(of("0.000000000003", 2), "0.000000000002");
        assert_eq!(of("-0.000000000003", 2), "-0.000000000002");
        assert_eq!(of("-0.000000000005", 2), "-0.000000000002");
        assert_eq!(of("1e30", 3), "333333333333333333333333333333.333333333333");
    }

    #[test]
    fn a_double_is_rounded_once() {
        let sum = [1e16, 1.0, 1.0].map(|n| exact(&Value::Double(n)).unwrap()).into_iter().sum::<BigDecimal>();
        assert_eq!(nearest_double(&sum), Some(1e16 + 2.0));
        let huge = exact(&Value::Double(f64::MAX)).unwrap() * BigDecimal::from(2);
        assert_eq!(nearest_double(&huge), None);
        let tiny = exact(&Value::Double(5e-324)).unwrap();
        assert_eq!(nearest_double(&tiny), Some(5e-324));
    }

    #[test]
    fn ids_of_one_part_compare_as_that_part() {
        let id = Value::Reference(vec![Value::Int(3)]);
        assert_eq!(compare(&id, &Value::Int(3)), Ordering::Equal);
        assert_eq!(compare(&Value::Int(2), &Value::Double(2.5)), Ordering::Less);
        assert_eq!(compare(&Value::Null, &Value::Int(i64::MIN)), Ordering::Less);
    }
}
