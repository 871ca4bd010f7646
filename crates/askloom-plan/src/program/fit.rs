//! Values of a statement as values of key columns: of the column's own type, since keys are compared as they are stored.

use askloom_model::{Type, Value};
use bigdecimal::{BigDecimal, RoundingMode};
use std::cmp::Ordering;

/// One side of a range of a key column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FittedBound {
    /// No value is on this side of it.
    Nothing,
    /// Every value but null is.
    Everything,
    /// The value, and whether it is included.
    At(Value, bool),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Low,
    High,
}

/// The value of a column that equals a value. `None` if none does; null equals nothing.
pub(super) fn fitted(value: &Value, ty: &Type) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Reference(parts) => match parts.as_slice() {
            [only] => fitted(only, ty),
            _several => None,
        },
        _ if ty.is_number() => {
            let exact = exact(value)?;
            match nearest(&exact, ty, RoundingMode::Floor) {
                Nearest::At(found) if self::exact(&found)? == exact => Some(found),
                Nearest::At(_) | Nearest::Below | Nearest::Above => None,
            }
        }
        _ => Some(value.clone()),
    }
}

/// One side of a range. Numbers between two values of the column's type are rounded the way that loses nothing.
pub(super) fn fitted_bound(value: &Value, inclusive: bool, ty: &Type, side: Side) -> FittedBound {
    if let Value::Reference(parts) = value {
        return match parts.as_slice() {
            [only] => fitted_bound(only, inclusive, ty, side),
            _several => FittedBound::Nothing,
        };
    }
    let Some(exact) = exact(value).filter(|_| ty.is_number()) else {
        return if value.is_null() {
            FittedBound::Nothing
        } else {
            FittedBound::At(value.clone(), inclusive)
        };
    };
    let rounding = match side {
        Side::Low => RoundingMode::Ceiling,
        Side::High => RoundingMode::Floor,
    };
    match (nearest(&exact, ty, rounding), side) {
        (Nearest::Below, Side::Low) | (Nearest::Above, Side::High) => FittedBound::Everything,
        (Nearest::Below, Side::High) | (Nearest::Above, Side::Low) => FittedBound::Nothing,
        (Nearest::At(found), _) => match self::exact(&found) {
            Some(same) if same == exact => FittedBound::At(found, inclusive),
            Some(_) | None => FittedBound::At(found, true),
        },
    }
}

/// A number of a type next to an exact one.
enum Nearest {
    At(Value),
    /// The number is smaller than all of the type.
    Below,
    /// The number is larger than all of the type.
    Above,
}

fn nearest(exact: &BigDecimal, ty: &Type, rounding: RoundingMode) -> Nearest {
    let beyond =
        if exact.sign() == bigdecimal::num_bigint::Sign::Minus { Nearest::Below } else { Nearest::Above };
    match ty {
        Type::Int | Type::Long => {
            let whole = exact.with_scale_round(0, rounding);
            whole.to_plain_string().parse().map_or(beyond, |whole| Nearest::At(Value::Int(whole)))
        }
        Type::Double => nearest_double(exact, rounding).map_or(beyond, |n| Nearest::At(Value::Double(n))),
        _decimal => Nearest::At(Value::Decimal(exact.normalized())),
    }
}

/// The largest double that is not above, or the smallest that is not below.
fn nearest_double(number: &BigDecimal, rounding: RoundingMode) -> Option<f64> {
    let near: f64 = number.to_scientific_notation().parse().ok()?;
    let up = rounding == RoundingMode::Ceiling;
    if near.is_infinite() {
        // Past the end there is still the last one, on the side of zero.
        return match (near > 0.0, up) {
            (true, false) => Some(f64::MAX),
            (false, true) => Some(f64::MIN),
            (true, true) | (false, false) => None,
        };
    }
    let near = near + 0.0;
    let next = match (BigDecimal::try_from(near).ok()?.cmp(number), up) {
        (Ordering::Less, true) => near.next_up(),
        (Ordering::Greater, false) => near.next_down(),
        (Ordering::Less | Ordering::Equal | Ordering::Greater, _) => near,
    };
    next.is_finite().then_some(next + 0.0)
}

fn exact(value: &Value) -> Option<BigDecimal> {
    match value {
        Value::Int(n) => Some(BigDecimal::from(*n)),
        Value::Decimal(n) => Some(n.clone()),
        Value::Double(n) => BigDecimal::try_from(*n).ok(),
        _no_number => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(digits: &str) -> Value {
        Value::Decimal(digits.parse().unwrap())
    }

    #[test]
    fn a_number_equals_the_same_number_of_another_type() {
        assert_eq!(fitted(&decimal("2.0"), &Type::Int), Some(Value::Int(2)));
        assert_eq!(fitted(&decimal("2.5"), &Type::Int), None);
        assert_eq!(fitted(&Value::Double(1e300), &Type::Int), None);
        assert_eq!(fitted(&Value::Int(3), &Type::Decimal), Some(decimal("3")));
        assert_eq!(fitted(&Value::Int(3), &Type::Double), Some(Value::Double(3.0)));
        assert_eq!(fitted(&decimal("0.1"), &Type::Double), None);
        assert_eq!(fitted(&Value::Int(i64::MAX), &Type::Double), None);
        assert_eq!(fitted(&Value::Null, &Type::Int), None);
    }

    #[test]
    fn a_bound_is_rounded_towards_what_it_lets_in() {
        let long = Type::Long;
        let at = |n, inclusive| FittedBound::At(Value::Int(n), inclusive);
        assert_eq!(fitted_bound(&decimal("2.5"), false, &long, Side::Low), at(3, true));
        assert_eq!(fitted_bound(&decimal("2.5"), false, &long, Side::High), at(2, true));
        assert_eq!(fitted_bound(&decimal("-2.5"), true, &long, Side::Low), at(-2, true));
        assert_eq!(fitted_bound(&decimal("2.00"), false, &long, Side::High), at(2, false));
        assert_eq!(fitted_bound(&Value::Double(1e300), false, &long, Side::High), FittedBound::Everything);
        assert_eq!(fitted_bound(&Value::Double(-1e300), false, &long, Side::High), FittedBound::Nothing);
        assert_eq!(fitted_bound(&Value::Null, false, &long, Side::High), FittedBound::Nothing);
    }

    #[test]
    fn a_bound_between_two_doubles() {
        let double = Type::Double;
        let tenth = 0.1_f64;
        // The double nearest to a tenth is above it.
        let low = fitted_bound(&decimal("0.1"), false, &double, Side::Low);
        assert_eq!(low, FittedBound::At(Value::Double(tenth), true));
        let high = fitted_bound(&decimal("0.1"), false, &double, Side::High);
        assert_eq!(high, FittedBound::At(Value::Double(tenth.next_down()), true));
        let huge = Value::Decimal("1e400".parse().unwrap());
        assert_eq!(fitted_bound(&huge, false, &double, Side::Low), FittedBound::Nothing);
        assert_eq!(
            fitted_bound(&huge, false, &double, Side::High),
            FittedBound::At(Value::Double(f64::MAX), true)
        );
    }
}
