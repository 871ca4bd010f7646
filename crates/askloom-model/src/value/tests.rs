use super::*;
use std::str::FromStr;

fn decimal(text: &str) -> Result<Value, ValueError> {
    Value::decimal(&BigDecimal::from_str(text).unwrap())
}

#[test]
fn decimals_are_normal_and_bounded() {
    assert_eq!(decimal("1.500"), decimal("1.5"));
    assert_eq!(decimal("-0.0"), decimal("0"));
    assert!(decimal("-2").unwrap() < decimal("-1.9").unwrap());
    assert!(decimal(&"9".repeat(34)).is_ok());
    assert!(decimal(&"9".repeat(35)).is_err());
    assert!(decimal("1e33").is_ok());
    assert!(decimal("1e34").is_err());
    assert!(decimal(&format!("0.{}1", "0".repeat(33))).is_ok());
    assert!(decimal(&format!("0.{}1", "0".repeat(34))).is_err());
}

#[test]
fn doubles_are_finite_and_have_one_zero() {
    assert_eq!(Value::double(-0.0).unwrap(), Value::double(0.0).unwrap());
    assert!(Value::double(f64::NAN).is_err());
    assert!(Value::double(f64::INFINITY).is_err());
    assert!(Value::double(-1.0).unwrap() < Value::double(f64::MIN_POSITIVE).unwrap());
}

#[test]
fn null_is_the_smallest_and_text_sorts_by_code_point() {
    assert!(Value::Null < Value::Text(String::new()));
    assert!(Value::Null < Value::Bool(false));
    let text = |t: &str| Value::Text(t.to_owned());
    // U+FF5E is below U+1F600 by code point, above it by UTF-16 unit.
    assert!(text("\u{ff5e}") < text("\u{1f600}"));
    assert!(text("Z") < text("a"));
    assert!(text("a") < text("a\0"));
}

#[test]
fn numbers_of_different_types_compare_exactly() {
    let long = Value::Int((1 << 53) + 1);
    let double = Value::double(9_007_199_254_740_992.0).unwrap();
    assert_eq!(compare_numbers(&long, &double), Some(Ordering::Greater));
    assert_eq!(compare_numbers(&decimal("0.1").unwrap(), &Value::double(0.1).unwrap()), Some(Ordering::Less));
    assert_eq!(compare_numbers(&Value::Int(1), &Value::Null), None);
}

#[test]
fn json_loses_nothing() {
    let types = [
        (Type::Text, Value::Text("\0é🎲\"".to_owned())),
        (Type::Int, Value::Int(i32::MIN.into())),
        (Type::Long, Value::Int(i64::MAX)),
        (Type::Decimal, decimal("-1234567890123456789012345678901.234").unwrap()),
        (Type::Double, Value::double(5e-324).unwrap()),
        (Type::Double, Value::double(f64::MAX).unwrap()),
        (Type::Double, Value::double(0.1 + 0.2).unwrap()),
        (Type::Bool, Value::Bool(true)),
        (Type::Date, Value::Date("-9999-01-01".parse().unwrap_or(jiff::civil::Date::MIN))),
        (Type::Date, Value::Date(jiff::civil::Date::MAX)),
        (Type::Time, Value::Time("23:59:59.999999999".parse().unwrap())),
        (
            Type::Timestamp(Precision::Nanos),
            Value::Timestamp("1969-12-31T23:59:59.000000001Z".parse().unwrap()),
        ),
        (Type::Uuid, Value::Uuid(uuid::Uuid::max())),
        (Type::Blob, Value::Blob(vec![0, 255, 7])),
        (Type::Geo, Value::Geo(Geo::new(-90.0, 180.0).unwrap())),
        (Type::Json, Value::Json(serde_json::json!({"a": [1, null, "x"]}))),
        (Type::Enum(["a".to_owned(), "b".to_owned()].into()), Value::Enum(1)),
    ];
    for (ty, value) in types {
        let written = to_json(&value, &ty).to_string();
        let read = serde_json::from_str(&written).unwrap();
        assert_eq!(from_json(&read, &ty), Ok(value), "{ty}: {written}");
        assert_eq!(from_json(&Json::Null, &ty), Ok(Value::Null));
    }
}

use serde_json::Value as Json;

#[test]
fn what_does_not_fit_is_refused() {
    for (json, ty) in [
        ("2147483648", Type::Int),
        ("1.5", Type::Int),
        ("9223372036854775808", Type::Long),
        ("1e999", Type::Double),
        ("\"x\"", Type::Int),
        ("3", Type::Text),
        ("\"2026-02-30\"", Type::Date),
        ("\"2026-01-01T00:00:00.0001Z\"", Type::Timestamp(Precision::Millis)),
        ("\"24:00:00\"", Type::Time),
        ("\"c\"", Type::Enum(["a".to_owned()].into())),
        ("[91, 0]", Type::Geo),
        ("[1]", Type::Geo),
        ("\"%%\"", Type::Blob),
    ] {
        let json: Json = serde_json::from_str(json).unwrap();
        assert!(from_json(&json, &ty).is_err(), "{json} as {ty}");
    }
}
