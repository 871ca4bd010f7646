//! Values of a statement as values of key fields: of the field's own type, since keys are compared as bytes.

use super::Scene;
use crate::RunError;
use askloom_model::{
    ClassId, Id, InSet, Inclusive, KeyValue, Leaf, Member, Path, Type, Value, identity_types,
};
use bigdecimal::{BigDecimal, RoundingMode};
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// What a key field holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KeyType {
    Basic(Type),
    /// Ids, as references, with components of these types. None if it is not known which.
    Identity(Vec<Type>),
}

/// One side of a range of a key field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Bound {
    /// No value is on this side of it.
    Nothing,
    /// Every value but null is.
    Everything,
    At(Value, Inclusive),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Low,
    High,
}

impl Scene<'_> {
    /// The type of the field that holds a path of the query.
    pub(super) fn key_type(&self, path: &Path) -> KeyType {
        let conceptual = self.conceptual();
        match path.leaf {
            Leaf::Attribute(id) => KeyType::Basic(conceptual.attributes[id].ty.clone()),
            Leaf::Reference(end) => self.identity_type(conceptual.ends[end].target),
            Leaf::Bucket(_) => KeyType::Basic(Type::Int),
            Leaf::TimeBucket(..) => KeyType::Basic(Type::Text),
            Leaf::Itself => {
                match (path.hops.last(), self.positions[path.position].from.map(|hop| hop.step)) {
                    (None, Some(Member::Attribute(id))) => {
                        KeyType::Basic(conceptual.attributes[id].ty.clone())
                    }
                    (Some(&hop), _) => self.identity_type(conceptual.ends[hop].target),
                    (None, Some(Member::End(_)) | None) => {
                        let class = self.positions[path.position].class;
                        class.map_or(KeyType::Identity(Vec::new()), |class| self.identity_type(class))
                    }
                }
            }
        }
    }

    /// The type of a field that holds ids of a class.
    pub(super) fn identity_type(&self, class: ClassId) -> KeyType {
        let conceptual = self.conceptual();
        let entity = conceptual.classes[class].kind.is_entity();
        KeyType::Identity(if entity { identity_types(conceptual, class) } else { Vec::new() })
    }

    /// What a field of a key is equal to, before it is fitted to the type of the field. An identity with a component that
    /// is null is none.
    pub(super) fn key_value(&self, is: &KeyValue) -> Result<Value, RunError> {
        match is {
            KeyValue::Is(operand) => self.constant(operand),
            KeyValue::Identity(components) => {
                let mut parts = Vec::with_capacity(components.len());
                for component in components {
                    match self.constant(&component.is)? {
                        Value::Null => return Ok(Value::Null),
                        Value::Reference(own) => parts.extend(own),
                        single => parts.push(single),
                    }
                }
                Ok(Value::Reference(parts))
            }
            KeyValue::TimeBucket { unit, of } => Ok(unit.of_value(&self.constant(of)?)),
            // Only the key of one aggregate has it, and there the instant itself is in the key too.
            KeyValue::TimeBucketOfField { .. } => Ok(Value::Null),
        }
    }

    /// The values of a set that a key field can have, each once.
    pub(super) fn choices(&self, set: &InSet, ty: &KeyType) -> Result<Vec<Value>, RunError> {
        let mut values = Vec::new();
        match set {
            InSet::List(items) => {
                for item in items {
                    values.push(self.constant(item)?);
                }
            }
            InSet::Parameter(index) => {
                if let Some(Value::List(elements)) = self.arguments.get(*index) {
                    values.extend(elements.iter().map(|element| element.value.clone()));
                }
            }
        }
        let fitted: BTreeSet<Value> = values.iter().filter_map(|value| fitted(value, ty)).collect();
        Ok(fitted.into_iter().collect())
    }
}

/// The value of a key field that equals a value. Nothing if none does; null equals nothing.
pub(super) fn fitted(value: &Value, ty: &KeyType) -> Option<Value> {
    match (ty, value) {
        (_, Value::Null) => None,
        (KeyType::Identity(types), Value::Reference(parts)) => identity(parts, types),
        (KeyType::Identity(types), single) => identity(std::slice::from_ref(single), types),
        (KeyType::Basic(_), Value::Reference(parts)) => match parts.as_slice() {
            [only] => fitted(only, ty),
            _several => None,
        },
        (KeyType::Basic(number), _) if number.is_number() => {
            let exact = exact(value)?;
            match nearest(&exact, number, RoundingMode::Floor) {
                Nearest::At(found) if self::exact(&found)? == exact => Some(found),
                Nearest::At(_) | Nearest::Below | Nearest::Above => None,
            }
        }
        (KeyType::Basic(_), _) => Some(value.clone()),
    }
}

/// An id with components of these types.
fn identity(parts: &[Value], types: &[Type]) -> Option<Value> {
    if types.is_empty() {
        return Some(Value::Reference(parts.to_vec()));
    }
    let fit = |(part, ty): (&Value, &Type)| fitted(part, &KeyType::Basic(ty.clone()));
    let fitting: Option<Vec<Value>> = parts.iter().zip(types).map(fit).collect();
    fitting.filter(|_| parts.len() == types.len()).map(Value::Reference)
}

/// One side of a range. Numbers between two values of the field's type are rounded the way that loses nothing.
pub(super) fn bound(value: &Value, inclusive: Inclusive, ty: &KeyType, side: Side) -> Bound {
    let number = match ty {
        KeyType::Basic(number) => number,
        // An id of one component is in the order of that.
        KeyType::Identity(types) => match types.as_slice() {
            [only] => {
                return match bound(value, inclusive, &KeyType::Basic(only.clone()), side) {
                    Bound::At(found, inclusive) => Bound::At(Value::Reference(vec![found]), inclusive),
                    other @ (Bound::Nothing | Bound::Everything) => other,
                };
            }
            _several => return fitted(value, ty).map_or(Bound::Nothing, |v| Bound::At(v, inclusive)),
        },
    };
    if let Value::Reference(parts) = value {
        return match parts.as_slice() {
            [only] => bound(only, inclusive, ty, side),
            _several => Bound::Nothing,
        };
    }
    let Some(exact) = exact(value).filter(|_| number.is_number()) else {
        return if value.is_null() { Bound::Nothing } else { Bound::At(value.clone(), inclusive) };
    };
    let rounding = match side {
        Side::Low => RoundingMode::Ceiling,
        Side::High => RoundingMode::Floor,
    };
    match (nearest(&exact, number, rounding), side) {
        (Nearest::Below, Side::Low) | (Nearest::Above, Side::High) => Bound::Everything,
        (Nearest::Below, Side::High) | (Nearest::Above, Side::Low) => Bound::Nothing,
        (Nearest::At(found), _) => match self::exact(&found) {
            Some(same) if same == exact => Bound::At(found, inclusive),
            Some(_) | None => Bound::At(found, Inclusive::Yes),
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

/// A path of a collection as one of the query; nothing if the query does not have its position.
pub(super) fn mapped(path: &Path, positions: &[Option<askloom_model::PositionId>]) -> Option<Path> {
    let position = positions.get(path.position.index()).copied()??;
    Some(Path { position, ..path.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(digits: &str) -> Value {
        Value::Decimal(digits.parse().unwrap())
    }

    #[test]
    fn a_number_equals_the_same_number_of_another_type() {
        let int = KeyType::Basic(Type::Int);
        assert_eq!(fitted(&decimal("2.0"), &int), Some(Value::Int(2)));
        assert_eq!(fitted(&decimal("2.5"), &int), None);
        assert_eq!(fitted(&Value::Double(1e300), &int), None);
        assert_eq!(fitted(&Value::Int(3), &KeyType::Basic(Type::Decimal)), Some(decimal("3")));
        assert_eq!(fitted(&Value::Int(3), &KeyType::Basic(Type::Double)), Some(Value::Double(3.0)));
        assert_eq!(fitted(&decimal("0.1"), &KeyType::Basic(Type::Double)), None);
        assert_eq!(fitted(&Value::Int(i64::MAX), &KeyType::Basic(Type::Double)), None);
        assert_eq!(fitted(&Value::Null, &int), None);
    }

    #[test]
    fn a_bound_is_rounded_towards_what_it_lets_in() {
        let int = KeyType::Basic(Type::Long);
        let at = |n, inclusive| Bound::At(Value::Int(n), inclusive);
        assert_eq!(bound(&decimal("2.5"), Inclusive::No, &int, Side::Low), at(3, Inclusive::Yes));
        assert_eq!(bound(&decimal("2.5"), Inclusive::No, &int, Side::High), at(2, Inclusive::Yes));
        assert_eq!(bound(&decimal("-2.5"), Inclusive::Yes, &int, Side::Low), at(-2, Inclusive::Yes));
        assert_eq!(bound(&decimal("2.00"), Inclusive::No, &int, Side::High), at(2, Inclusive::No));
        assert_eq!(bound(&Value::Double(1e300), Inclusive::No, &int, Side::High), Bound::Everything);
        assert_eq!(bound(&Value::Double(-1e300), Inclusive::No, &int, Side::High), Bound::Nothing);
        assert_eq!(bound(&Value::Null, Inclusive::No, &int, Side::High), Bound::Nothing);
    }

    #[test]
    fn a_bound_between_two_doubles() {
        let double = KeyType::Basic(Type::Double);
        let tenth = 0.1_f64;
        // The double nearest to a tenth is above it.
        let low = bound(&decimal("0.1"), Inclusive::No, &double, Side::Low);
        assert_eq!(low, Bound::At(Value::Double(tenth), Inclusive::Yes));
        let high = bound(&decimal("0.1"), Inclusive::No, &double, Side::High);
        assert_eq!(high, Bound::At(Value::Double(tenth.next_down()), Inclusive::Yes));
        let huge = Value::Decimal("1e400".parse().unwrap());
        assert_eq!(bound(&huge, Inclusive::No, &double, Side::Low), Bound::Nothing);
        assert_eq!(
            bound(&huge, Inclusive::No, &double, Side::High),
            Bound::At(Value::Double(f64::MAX), Inclusive::Yes)
        );
    }
}
