//! Values as DynamoDB has them, and back.
//!
//! | value | is kept as |
//! | --- | --- |
//! | null, an empty set | nothing; in a list NULL |
//! | int, long, decimal | N |
//! | double | N; past 1e±125 B of ordered bytes, since N ends there |
//! | timestamp | S, in UTC with the digits of its precision: `2026-11-17T09:00:00.000Z` |
//! | text, enum, uuid, date, time, json | S |
//! | a set of ids of one part each | SS or NS, where it is an attribute |
//! | lists, places, other ids | L |
//! | parts | M |

use super::key::{self, Order};
use super::schema::{Attribute, DynamoTable, Key, KeyKind, descends};
use askloom_model::{Type, Value, identity_types};
use askloom_plan::layout::{Holds, Layout};
use askloom_plan::ordered_bytes::{decode, encode, encode_descending};
use askloom_plan::tree::{Tree, TreeOf, tree};
use bigdecimal::BigDecimal;

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub enum Dynamo {
    S(String),
    /// In digits.
    N(String),
    B(Vec<u8>),
    Bool(bool),
    Null,
    L(Vec<Dynamo>),
    M(Vec<(String, Dynamo)>),
    Ss(Vec<String>),
    Ns(Vec<String>),
}

/// The keys of a record, by the cells of its columns. Nothing if a cell that the key needs has no value for it.
#[must_use]
pub(super) fn key_value(table: &DynamoTable, key: &Key, cells: &[&Value]) -> Option<Dynamo> {
    item_key_value(table, key, cells, key::ITSELF)
}

/// The same of one of the items of an aggregate.
pub(super) fn item_key_value(table: &DynamoTable, key: &Key, cells: &[&Value], item: &str) -> Option<Dynamo> {
    let columns: Vec<&Attribute> =
        key.columns.iter().filter_map(|&index| table.attributes.get(index)).collect();
    match key.kind {
        KeyKind::Constant => Some(Dynamo::S(format!("{}all", key.start))),
        KeyKind::Item => Some(Dynamo::S(item.to_owned())),
        KeyKind::Plain(_) => {
            let ty = columns.first()?.of.holds.scalar()?;
            native(single(cells.first()?)?, ty, key.order)
        }
        KeyKind::Joined => {
            let mut text = key.start.clone();
            for (at, (column, cell)) in columns.iter().zip(cells).enumerate() {
                let last = at + 1 == columns.len() && !key.ends_in_item;
                text.push_str(&part(single(cell)?, column.of.holds.scalar()?, key.order, last)?);
                if !last {
                    text.push(key::JOIN);
                }
            }
            if key.ends_in_item {
                text.push_str(item);
            }
            (cells.len() == columns.len()).then_some(Dynamo::S(text))
        }
        KeyKind::Bytes => {
            let mut bytes = key.start.clone().into_bytes();
            for (column, cell) in columns.iter().zip(cells) {
                bytes.extend(ordered(single(cell)?, column));
            }
            if key.ends_in_item {
                bytes.extend(item.as_bytes());
            }
            (cells.len() == columns.len()).then_some(Dynamo::B(bytes))
        }
    }
}

/// An id of one part is that part.
fn single(value: &Value) -> Option<&Value> {
    match value {
        Value::Reference(parts) => match parts.as_slice() {
            [only] => Some(only),
            _several => None,
        },
        other => Some(other),
    }
}

/// The ordered bytes of a column's value.
pub(super) fn ordered(value: &Value, column: &Attribute) -> Vec<u8> {
    let mut bytes = Vec::new();
    if descends(&column.of) {
        encode_descending(value, &mut bytes)
    } else {
        encode(value, &mut bytes)
    }
    bytes
}

/// A value as a key by itself.
pub(super) fn native(value: &Value, ty: &Type, order: Order) -> Option<Dynamo> {
    Some(match (value, ty) {
        (Value::Text(text), Type::Text) => Dynamo::S(filled(text)),
        (Value::Uuid(id), Type::Uuid) => Dynamo::S(id.to_string()),
        (Value::Date(date), Type::Date) => Dynamo::S(key::date(*date)),
        (Value::Time(time), Type::Time) => Dynamo::S(key::clock(*time)),
        (Value::Enum(index), Type::Enum(names)) => match order {
            Order::Kept => Dynamo::N(index.to_string()),
            Order::Free => Dynamo::S(names.get(*index as usize)?.clone()),
        },
        (Value::Bool(truth), Type::Bool) => Dynamo::N(u8::from(*truth).to_string()),
        (Value::Int(number), Type::Int | Type::Long | Type::Decimal) => Dynamo::N(number.to_string()),
        (Value::Decimal(number), Type::Int | Type::Long | Type::Decimal) => {
            Dynamo::N(number.to_plain_string())
        }
        (Value::Timestamp(at), Type::Timestamp(precision)) => Dynamo::S(key::instant(*at, *precision)),
        _another => return None,
    })
}

/// A text that must not be empty.
fn filled(text: &str) -> String {
    if text.is_empty() || text.starts_with('\0') { format!("\0{text}") } else { text.to_owned() }
}

/// The text that was filled.
pub(super) fn emptied(value: &Dynamo) -> Dynamo {
    match value {
        Dynamo::S(text) => Dynamo::S(text.strip_prefix('\0').unwrap_or(text).to_owned()),
        other => other.clone(),
    }
}

/// A value as a part of a joined key.
pub(super) fn part(value: &Value, ty: &Type, order: Order, last: bool) -> Option<String> {
    let text = |text: &str| if last { text.to_owned() } else { key::escaped(text, order) };
    let number = |number: i64| match order {
        Order::Kept => key::number(number),
        Order::Free => number.to_string(),
    };
    match (value, ty) {
        (Value::Text(value), Type::Text) => Some(text(value)),
        (Value::Uuid(id), Type::Uuid) => Some(id.to_string()),
        (Value::Int(value), Type::Int | Type::Long) => Some(number(*value)),
        (Value::Enum(index), Type::Enum(names)) => match order {
            Order::Kept => Some(key::number(i64::from(*index))),
            Order::Free => names.get(*index as usize).map(|name| text(name)),
        },
        (Value::Bool(truth), Type::Bool) => Some(truth.to_string()),
        (Value::Date(date), Type::Date) => Some(key::date(*date)),
        (Value::Time(time), Type::Time) => Some(key::clock(*time)),
        (Value::Timestamp(at), Type::Timestamp(precision)) => Some(key::instant(*at, *precision)),
        _another => None,
    }
}

/// The value of an attribute. Nothing if it is left out.
#[must_use]
pub(super) fn attribute(layout: &Layout, attribute: &Attribute, value: &Value) -> Option<Dynamo> {
    let made = unfilled(layout, attribute, value)?;
    Some(match made {
        Dynamo::S(text) if attribute.filled => Dynamo::S(filled(&text)),
        other => other,
    })
}

fn unfilled(layout: &Layout, attribute: &Attribute, value: &Value) -> Option<Dynamo> {
    match (&attribute.of.holds, value) {
        (_, Value::Null) => None,
        (Holds::Tree { of: TreeOf::Identity(class), .. }, Value::Set(ids)) => {
            let types = identity_types(&layout.conceptual, *class);
            let [ty] = types.as_slice() else {
                return some(nested(&attribute.of.tree(&layout.conceptual, value)));
            };
            let parts = ids.iter().filter_map(|id| id.first().map(|part| leaf(part, ty)));
            set(parts.collect())
        }
        (_, value) => some(nested(&attribute.of.tree(&layout.conceptual, value))),
    }
}

fn some(value: Dynamo) -> Option<Dynamo> {
    (value != Dynamo::Null).then_some(value)
}

/// A set has one type, and is never empty.
fn set(parts: Vec<Dynamo>) -> Option<Dynamo> {
    let texts: Option<Vec<String>> = parts.iter().map(text_of).collect();
    let numbers: Option<Vec<String>> = parts.iter().map(digits_of).collect();
    match (parts.is_empty(), texts, numbers) {
        (true, _, _) => None,
        (false, Some(texts), _) => Some(Dynamo::Ss(texts)),
        (false, None, Some(numbers)) => Some(Dynamo::Ns(numbers)),
        (false, None, None) => Some(Dynamo::L(parts)),
    }
}

fn text_of(value: &Dynamo) -> Option<String> {
    if let Dynamo::S(text) = value { Some(text.clone()) } else { None }
}

fn digits_of(value: &Dynamo) -> Option<String> {
    if let Dynamo::N(digits) = value { Some(digits.clone()) } else { None }
}

/// A value by what it is of.
pub(super) fn inside(layout: &Layout, of: &TreeOf, value: &Value) -> Dynamo {
    nested(&tree(&layout.conceptual, of, value))
}

pub(super) fn nested(tree: &Tree) -> Dynamo {
    match tree {
        Tree::Nothing => Dynamo::Null,
        Tree::Leaf(value, ty) => leaf(value, ty),
        Tree::List(items) => Dynamo::L(items.iter().map(nested).collect()),
        Tree::Map(fields) => {
            let fields = fields.iter().map(|(name, field)| (name.clone(), nested(field)));
            Dynamo::M(fields.filter(|(_, field)| *field != Dynamo::Null).collect())
        }
    }
}

fn leaf(value: &Value, ty: &Type) -> Dynamo {
    match (value, ty) {
        (Value::Text(text), _) => Dynamo::S(text.clone()),
        (Value::Int(number), _) => Dynamo::N(number.to_string()),
        (Value::Decimal(number), _) => Dynamo::N(number.to_plain_string()),
        (Value::Double(number), _) => double(*number),
        (Value::Bool(truth), _) => Dynamo::Bool(*truth),
        (Value::Enum(index), Type::Enum(names)) => {
            names.get(*index as usize).map_or(Dynamo::Null, |name| Dynamo::S(name.clone()))
        }
        (Value::Date(date), _) => Dynamo::S(date.to_string()),
        (Value::Time(time), _) => Dynamo::S(time.to_string()),
        (Value::Timestamp(at), Type::Timestamp(precision)) => Dynamo::S(key::instant(*at, *precision)),
        (Value::Uuid(id), _) => Dynamo::S(id.to_string()),
        (Value::Blob(bytes), _) => Dynamo::B(bytes.clone()),
        (Value::Geo(place), _) => Dynamo::L(vec![double(place.latitude), double(place.longitude)]),
        (Value::Json(json), _) => Dynamo::S(json.to_string()),
        (Value::Reference(parts), ty) => match parts.as_slice() {
            [only] => leaf(only, ty),
            _several => Dynamo::Null,
        },
        _nothing => Dynamo::Null,
    }
}

/// N has magnitudes from 1e-130 to 9.9e125; this stays well within.
fn double(number: f64) -> Dynamo {
    if number == 0.0 || (1e-120..1e120).contains(&number.abs()) {
        return Dynamo::N(format!("{number:e}"));
    }
    let mut bytes = Vec::new();
    encode(&Value::Double(number), &mut bytes);
    Dynamo::B(bytes)
}

/// A plain value from an attribute.
pub(super) fn leaf_back(value: &Dynamo, ty: &Type) -> Option<Value> {
    match (value, ty) {
        (Dynamo::Null, _) => Some(Value::Null),
        (Dynamo::S(text), Type::Json) => serde_json::from_str(text).ok().map(Value::Json),
        (Dynamo::S(text), Type::Timestamp(_)) => key::instant_back(text).map(Value::Timestamp),
        (Dynamo::S(text), ty) => askloom_model::from_text(text, ty).ok(),
        (Dynamo::N(digits), Type::Int | Type::Long) => i64::try_from(whole(digits)?).ok().map(Value::Int),
        (Dynamo::N(digits), Type::Decimal) => Value::decimal(&digits.parse().ok()?).ok(),
        (Dynamo::N(digits), Type::Double) => Value::double(digits.parse().ok()?).ok(),
        (Dynamo::B(bytes), Type::Double) => decode(&mut bytes.as_slice()).ok(),
        (Dynamo::B(bytes), Type::Blob) => Some(Value::Blob(bytes.clone())),
        (Dynamo::Bool(truth), Type::Bool) => Some(Value::Bool(*truth)),
        (Dynamo::L(parts), Type::Geo) => {
            let [Value::Double(latitude), Value::Double(longitude)] = [parts.first()?, parts.get(1)?]
                .map(|part| leaf_back(part, &Type::Double).unwrap_or(Value::Null))
            else {
                return None;
            };
            askloom_model::Geo::new(latitude, longitude).ok().map(Value::Geo)
        }
        _another => None,
    }
}

/// The digits that DynamoDB gives back may have an exponent.
fn whole(digits: &str) -> Option<i128> {
    let number: BigDecimal = digits.parse().ok()?;
    number.normalized().to_plain_string().parse().ok()
}

/// The cells of a key's columns from what the key holds.
pub(super) fn key_back(table: &DynamoTable, key: &Key, value: &Dynamo) -> Option<Vec<Value>> {
    parts_back(table, key, value).map(|(cells, _)| cells)
}

/// Which item of an aggregate has a key; nothing if aggregates have one each.
pub(super) fn item_back(table: &DynamoTable, key: &Key, value: &Dynamo) -> Option<String> {
    match (key.kind, value) {
        (KeyKind::Item, Dynamo::S(text)) => Some(text.clone()),
        (_, value) if key.ends_in_item => parts_back(table, key, value).map(|(_, item)| item),
        (_, _) => None,
    }
}

/// The cells of a key's columns, and which item it is of.
fn parts_back(table: &DynamoTable, key: &Key, value: &Dynamo) -> Option<(Vec<Value>, String)> {
    let columns: Vec<&Attribute> =
        key.columns.iter().filter_map(|&index| table.attributes.get(index)).collect();
    let none = String::new;
    match (key.kind, value) {
        (KeyKind::Constant | KeyKind::Item, _) => Some((Vec::new(), none())),
        (KeyKind::Plain(_), value) => {
            let value = native_back(value, columns.first()?.of.holds.scalar()?, key.order)?;
            Some((vec![value], none()))
        }
        (KeyKind::Joined, Dynamo::S(text)) => {
            let text = text.strip_prefix(key.start.as_str())?;
            let length = columns.len() + usize::from(key.ends_in_item);
            let mut parts: Vec<&str> = text.splitn(length, key::JOIN).collect();
            if parts.len() != length || (length == 0 && !text.is_empty()) {
                return None;
            }
            let item = if key.ends_in_item { parts.pop()?.to_owned() } else { none() };
            let pairs = parts.iter().zip(&columns).enumerate();
            let back = pairs.map(|(at, (text, column))| {
                let last = at + 1 == columns.len() && !key.ends_in_item;
                part_back(text, column.of.holds.scalar()?, key.order, last)
            });
            Some((back.collect::<Option<_>>()?, item))
        }
        (KeyKind::Bytes, Dynamo::B(bytes)) => {
            let (values, rest) = bytes_back(&columns, bytes.strip_prefix(key.start.as_bytes())?)?;
            let item = String::from_utf8(rest.to_vec()).ok()?;
            (key.ends_in_item || item.is_empty()).then_some((values, item))
        }
        (KeyKind::Joined | KeyKind::Bytes, _) => None,
    }
}

/// The values of some columns, and what is behind them.
fn bytes_back<'b>(columns: &[&Attribute], bytes: &'b [u8]) -> Option<(Vec<Value>, &'b [u8])> {
    let mut rest = bytes;
    let mut values = Vec::with_capacity(columns.len());
    for column in columns {
        if descends(&column.of) {
            let inverted: Vec<u8> = rest.iter().map(|byte| !byte).collect();
            let mut inner = inverted.as_slice();
            values.push(decode(&mut inner).ok()?);
            rest = rest.get(inverted.len() - inner.len()..)?;
        } else {
            values.push(decode(&mut rest).ok()?);
        }
    }
    Some((values, rest))
}

fn native_back(value: &Dynamo, ty: &Type, order: Order) -> Option<Value> {
    match (value, ty) {
        (Dynamo::S(text), Type::Text) => {
            Some(Value::Text(text.strip_prefix('\0').unwrap_or(text).to_owned()))
        }
        (Dynamo::S(text), Type::Date) => key::date_back(text).map(Value::Date),
        (Dynamo::N(digits), Type::Bool) => Some(Value::Bool(whole(digits)? != 0)),
        (Dynamo::N(digits), Type::Enum(_)) if order == Order::Kept => {
            u32::try_from(whole(digits)?).ok().map(Value::Enum)
        }
        (value, ty) => leaf_back(value, ty),
    }
}

fn part_back(text: &str, ty: &Type, order: Order, last: bool) -> Option<Value> {
    let plain = if last { text.to_owned() } else { key::unescaped(text).ok()? };
    match (ty, order) {
        (Type::Text, _) => Some(Value::Text(plain)),
        (Type::Int | Type::Long, Order::Kept) => key::number_back(text).map(Value::Int),
        (Type::Enum(_), Order::Kept) => u32::try_from(key::number_back(text)?).ok().map(Value::Enum),
        (Type::Bool, _) => text.parse().ok().map(Value::Bool),
        (Type::Date, _) => key::date_back(text).map(Value::Date),
        (Type::Timestamp(_), _) => key::instant_back(text).map(Value::Timestamp),
        (ty, _) => askloom_model::from_text(&plain, ty).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use askloom_model::Precision;

    #[test]
    fn values_come_back_and_n_is_within_its_range() {
        let doubles = [0.0, 1.5, -1e119, 1e120, 1e126, 1e308, -1e308, f64::MAX, 5e-324, 1e-125, -1e-130, 0.1];
        for number in doubles {
            let made = leaf(&Value::Double(number), &Type::Double);
            assert_eq!(leaf_back(&made, &Type::Double), Some(Value::Double(number)));
            let within = number == 0.0 || (1e-130..1e125).contains(&number.abs());
            assert!(within || matches!(made, Dynamo::B(_)), "{number}: {made:?}");
        }
        let at = |text: &str| Value::Timestamp(text.parse().unwrap());
        let digits = "-1234567890123456789012345678901234".parse().unwrap();
        let all = [
            (Value::Int(i64::MIN), Type::Long),
            (Value::decimal(&digits).unwrap(), Type::Decimal),
            (at("1969-12-31T23:59:59.999Z"), Type::Timestamp(Precision::Millis)),
            (at("-009998-01-02T00:00:00.000000001Z"), Type::Timestamp(Precision::Nanos)),
            (Value::Text("it's \"}{*$\0\n".to_owned()), Type::Text),
            (Value::Text(String::new()), Type::Text),
            (Value::Blob(vec![0, 255]), Type::Blob),
            (Value::Blob(Vec::new()), Type::Blob),
            (Value::Bool(false), Type::Bool),
            (Value::Enum(1), Type::Enum(["a", "b"].map(str::to_owned).into())),
            (Value::Json(serde_json::json!({"a": [1, null, "x"]})), Type::Json),
            (Value::Date(jiff::civil::date(-44, 3, 15)), Type::Date),
            (Value::Time(jiff::civil::time(23, 59, 59, 1)), Type::Time),
            (Value::Geo(askloom_model::Geo::new(1e-300, -180.0).unwrap()), Type::Geo),
        ];
        for (value, ty) in all {
            let made = leaf(&value, &ty);
            assert_eq!(leaf_back(&made, &ty).as_ref(), Some(&value), "{made:?}");
        }
    }

    #[test]
    fn dynamodb_writes_numbers_its_own_way() {
        let back = |digits: &str, ty: &Type| leaf_back(&Dynamo::N(digits.to_owned()), ty);
        assert_eq!(back("1E+2", &Type::Int), Some(Value::Int(100)));
        assert_eq!(back("1.5E-7", &Type::Double), Some(Value::Double(1.5e-7)));
        assert_eq!(back("1.5", &Type::Int), None);
    }

    #[test]
    fn a_set_is_never_empty_and_has_one_type() {
        assert_eq!(set(Vec::new()), None);
        let text = Dynamo::S("a".to_owned());
        let number = Dynamo::N("1".to_owned());
        assert_eq!(set(vec![text.clone()]), Some(Dynamo::Ss(vec!["a".to_owned()])));
        assert_eq!(set(vec![number.clone()]), Some(Dynamo::Ns(vec!["1".to_owned()])));
        assert_eq!(set(vec![text.clone(), number.clone()]), Some(Dynamo::L(vec![text, number])));
    }
}
