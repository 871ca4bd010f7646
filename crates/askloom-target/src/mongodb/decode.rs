//! Documents as records of the layout.

use super::bson::{Bson, Document};
use super::names::{CLASS, FIELDS, ID, JSON, escaped, unescaped};
use super::schema::{Kind, MongoCollection, MongoField};
use crate::generate::Sample;
use askloom_model::{
    ClassId, Conceptual, Element, Geo, Identity, Precision, Record, Type, Value, ValueError, from_text,
};
use askloom_plan::layout::{Block, Fields, Layout, named_identity};
use askloom_plan::ordered_bytes::decode;
use askloom_plan::tree::{TreeOf, class_named, is_many};
use jiff::{Timestamp, ToSpan};
use std::collections::BTreeMap;

/// The record of a document.
pub fn sample(layout: &Layout, of: &MongoCollection, document: &Document) -> Result<Sample, ValueError> {
    if get(document, "_id").is_none() {
        return Err(ValueError("a document without `_id`".to_owned()));
    }
    let decoder = Decoder { conceptual: &layout.conceptual };
    let cell = |field: &MongoField| decoder.field(field, at(document, &field.path).unwrap_or(&Bson::Null));
    let cells: Vec<Value> = of.fields.iter().map(cell).collect::<Result<_, _>>()?;
    let (Some(system), Some(table)) = (&of.system, layout.table(of.collection)) else {
        return Ok(Sample::Row { table: of.collection, cells });
    };
    let cells: Vec<Value> =
        cells.into_iter().map(|cell| if cell.is_absent() { Value::Null } else { cell }).collect();
    let class = match get(document, &system.class) {
        Some(Bson::Text(name)) => Some(name.as_str()),
        _none => None,
    };
    let (identity, root) = layout.root(table, &cells, class)?;
    let version = match get(document, &system.version) {
        Some(Bson::Long(version)) => u64::try_from(*version).unwrap_or_default(),
        Some(Bson::Int(version)) => u64::try_from(*version).unwrap_or_default(),
        _none => 0,
    };
    let rest = match get(document, &system.rest) {
        Some(Bson::Binary(bytes)) => bytes.clone(),
        _none => Vec::new(),
    };
    let fields = Fields { root: class.map(|_| root) };
    let entries = BTreeMap::new();
    let carried = layout.carried(table, &cells, &fields)?;
    let block = Block { identity, version, system: rest, fields, entries, carried, expires: None };
    Ok(Sample::Block { table: of.collection, block: Box::new(block) })
}

fn get<'d>(document: &'d Document, name: &str) -> Option<&'d Bson> {
    document.iter().find(|(own, _)| own == name).map(|(_, value)| value)
}

/// What is at a path. No name has a dot in it.
fn at<'d>(document: &'d Document, path: &str) -> Option<&'d Bson> {
    match path.split_once('.') {
        Some((first, rest)) => at(fields(get(document, first)?)?, rest),
        None => get(document, path),
    }
}

fn fields(value: &Bson) -> Option<&Document> {
    match value {
        Bson::Document(fields) => Some(fields),
        _other => None,
    }
}

struct Decoder<'d> {
    conceptual: &'d Conceptual,
}

fn wrong(value: &Bson, what: &str) -> ValueError {
    ValueError(format!("{} is no {what}", value.literal()))
}

impl Decoder<'_> {
    fn field(&self, field: &MongoField, value: &Bson) -> Result<Value, ValueError> {
        let wrong = || wrong(value, &field.of.name);
        match (&field.kind, value) {
            (_, Bson::Null) => Ok(Value::Null),
            (Kind::Plain(ty), value) => plain(value, ty),
            (Kind::Letters, Bson::Text(text)) => from_text(text, &Type::Uuid),
            (Kind::Digits, Bson::Text(text)) => bytes(text).map(Value::Blob).ok_or_else(wrong),
            (Kind::Ordered, Bson::Text(text)) => {
                decode(&mut bytes(text).ok_or_else(wrong)?.as_slice()).map_err(|_| wrong())
            }
            (Kind::Number, value) => {
                let index = whole(value).and_then(|number| u32::try_from(number).ok());
                index.map(Value::Enum).ok_or_else(wrong)
            }
            (Kind::Nested { of, many }, value) => self.nested(of, *many, value),
            (Kind::Letters | Kind::Digits | Kind::Ordered, _) => Err(wrong()),
        }
    }

    fn nested(&self, of: &TreeOf, many: bool, value: &Bson) -> Result<Value, ValueError> {
        match (value, of, many) {
            (Bson::Null, _, _) => Ok(Value::Null),
            (Bson::Array(items), TreeOf::Identity(class), true) => {
                let ids = items.iter().map(|item| self.identity(*class, item));
                ids.collect::<Result<_, _>>().map(Value::Set)
            }
            (_, _, true) => self.list(of, value),
            (_, TreeOf::Basic(ty), false) => plain(value, ty),
            (_, TreeOf::Identity(class), false) => self.identity(*class, value).map(Value::Reference),
            (_, TreeOf::Instance(class), false) => {
                self.record(*class, value).map(|record| Value::Record(Box::new(record)))
            }
        }
    }

    fn list(&self, of: &TreeOf, value: &Bson) -> Result<Value, ValueError> {
        let placed: Vec<(u64, &Bson)> = match value {
            Bson::Array(items) => (0..).zip(items).collect(),
            Bson::Document(named) => {
                let one = |(name, item)| named_ordinal(name).map(|ordinal| (ordinal, item));
                named.iter().map(|(name, item)| one((name, item))).collect::<Result<_, _>>()?
            }
            other => return Err(wrong(other, "list")),
        };
        let mut elements = Vec::new();
        for (ordinal, item) in placed.into_iter().filter(|(_, item)| **item != Bson::Null) {
            elements.push(Element { ordinal, value: self.nested(of, false, item)? });
        }
        elements.sort_by_key(|element| element.ordinal);
        Ok(Value::List(elements))
    }

    fn identity(&self, class: ClassId, value: &Bson) -> Result<Identity, ValueError> {
        let parts = named_identity(self.conceptual, class);
        if let [(_, ty)] = parts.as_slice() {
            return Ok(vec![plain(value, ty)?]);
        }
        let names = FIELDS.names(parts.iter().map(|(name, _)| name.as_str()));
        let document = fields(value).ok_or_else(|| wrong(value, "id"))?;
        let part = |(name, (_, ty)): (String, &(String, Type))| {
            plain(get(document, &name).unwrap_or(&Bson::Null), ty)
        };
        names.into_iter().zip(&parts).map(part).collect()
    }

    fn record(&self, declared: ClassId, value: &Bson) -> Result<Record, ValueError> {
        let document = fields(value).ok_or_else(|| wrong(value, "part"))?;
        let class = match get(document, CLASS) {
            Some(Bson::Text(name)) => class_named(self.conceptual, declared, name)?,
            _none => declared,
        };
        let mut record = Record::new(class);
        if let Some(Bson::Uuid(id)) = get(document, ID) {
            record.surrogate = Some(*id);
        }
        for member in self.conceptual.all_members(class) {
            let name = escaped(self.conceptual.member_name(member));
            let Some(value) = get(document, &name) else { continue };
            let of = TreeOf::member(self.conceptual, member);
            record.set(member, self.nested(&of, is_many(self.conceptual, member), value)?);
        }
        Ok(record)
    }
}

fn named_ordinal(name: &str) -> Result<u64, ValueError> {
    name.parse().map_err(|_| ValueError(format!("`{name}` is no place in a list")))
}

fn plain(value: &Bson, ty: &Type) -> Result<Value, ValueError> {
    let found = match (value, ty) {
        (Bson::Null, _) => Some(Value::Null),
        (value, Type::Json) => Some(Value::Json(json(value)?)),
        (value, Type::Int | Type::Long) => whole(value).and_then(|n| i64::try_from(n).ok()).map(Value::Int),
        (value, Type::Decimal) => match value {
            Bson::Decimal(number) => Some(Value::decimal(number)?),
            other => whole(other).map(|number| Value::Decimal(number.into())),
        },
        (value, Type::Double) => double(value).map(Value::Double),
        (Bson::Bool(truth), Type::Bool) => Some(Value::Bool(*truth)),
        (Bson::Date(at), Type::Date) => {
            const DAY: i64 = 86_400_000;
            let first = jiff::civil::date(1970, 1, 1);
            let days = at.div_euclid(DAY).days();
            first.checked_add(days).ok().map(Value::Date)
        }
        (Bson::Text(text), Type::Text) => Some(Value::Text(text.clone())),
        (Bson::Text(text), Type::Time | Type::Enum(_)) => Some(from_text(text, ty)?),
        (value, Type::Timestamp(precision)) => timestamp(value, *precision).map(Value::Timestamp),
        (Bson::Uuid(id), Type::Uuid) => Some(Value::Uuid(*id)),
        (Bson::Binary(bytes), Type::Blob) => Some(Value::Blob(bytes.clone())),
        // BSON does not tell a blob of sixteen bytes that was marked as a uuid.
        (Bson::Uuid(id), Type::Blob) => Some(Value::Blob(id.as_bytes().to_vec())),
        (Bson::Document(fields), Type::Geo) => place(fields)?,
        (_, _) => None,
    };
    found.ok_or_else(|| wrong(value, &ty.to_string()))
}

fn whole(value: &Bson) -> Option<i128> {
    match value {
        Bson::Int(number) => Some(i128::from(*number)),
        Bson::Long(number) => Some(i128::from(*number)),
        Bson::Decimal(number) => number.to_plain_string().parse().ok(),
        _other => None,
    }
}

fn double(value: &Bson) -> Option<f64> {
    match value {
        Bson::Double(number) => Some(*number),
        // mongosh shows a double without a fraction as an int.
        Bson::Int(number) => Some(f64::from(*number)),
        _other => None,
    }
}

fn timestamp(value: &Bson, precision: Precision) -> Option<Timestamp> {
    let nanoseconds = match (value, precision) {
        (Bson::Date(at), Precision::Millis) => i128::from(*at) * 1_000_000,
        (Bson::Long(at), Precision::Micros) => i128::from(*at) * 1_000,
        (value, Precision::Nanos) => whole(value)?,
        (_, Precision::Millis | Precision::Micros) => return None,
    };
    // By nanoseconds, since the last second has no milliseconds in `from_millisecond`.
    Timestamp::from_nanosecond(nanoseconds).ok()
}

fn place(fields: &Document) -> Result<Option<Value>, ValueError> {
    let Some(Bson::Array(coordinates)) = get(fields, "coordinates") else { return Ok(None) };
    let numbers: Option<Vec<f64>> = coordinates.iter().map(double).collect();
    match numbers.as_deref() {
        Some([longitude, latitude]) => Geo::new(*latitude, *longitude).map(|geo| Some(Value::Geo(geo))),
        _other => Ok(None),
    }
}

fn json(value: &Bson) -> Result<serde_json::Value, ValueError> {
    use serde_json::Value as Json;
    let parsed = |text: &str| serde_json::from_str(text).map_err(|error| ValueError(error.to_string()));
    match value {
        Bson::Null => Ok(Json::Null),
        Bson::Bool(truth) => Ok(Json::Bool(*truth)),
        Bson::Text(text) => Ok(Json::String(text.clone())),
        Bson::Int(number) => Ok(Json::from(*number)),
        Bson::Long(number) => Ok(Json::from(*number)),
        Bson::Decimal(number) => parsed(&number.to_plain_string()),
        Bson::Array(items) => items.iter().map(json).collect(),
        Bson::Document(fields) => match fields.as_slice() {
            [(name, Bson::Text(text))] if name == JSON => parsed(text),
            fields => {
                let one = |(name, field): &(String, Bson)| Ok((unescaped(name), json(field)?));
                fields.iter().map(one).collect::<Result<_, ValueError>>().map(Json::Object)
            }
        },
        Bson::Double(_) | Bson::Date(_) | Bson::Binary(_) | Bson::Uuid(_) | Bson::Slot(_) => {
            Err(wrong(value, "JSON"))
        }
    }
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mongodb::value::Encoder;
    use askloom_model::{Id, PositionId};
    use askloom_plan::layout::{Column, Holds, Place, Source};

    fn nothing() -> Conceptual {
        Conceptual::default()
    }

    fn field(kind: Kind, ty: Type) -> MongoField {
        let source = Source::Position { position: PositionId::from_index(0), part: None };
        let of = Column {
            name: "f".to_owned(),
            place: Place::Row,
            source,
            holds: Holds::Scalar(ty),
            optional: true,
        };
        MongoField { name: "f".to_owned(), path: "f".to_owned(), kind, place: Place::Row, of }
    }

    fn there_and_back(field: &MongoField, value: &Value) -> Bson {
        let conceptual = nothing();
        let bson = Encoder { conceptual: &conceptual, faithful: false }.field(field, value);
        assert_eq!(&Decoder { conceptual: &conceptual }.field(field, &bson).unwrap(), value, "{bson:?}");
        bson
    }

    fn json(text: &str) -> Value {
        Value::Json(serde_json::from_str(text).unwrap())
    }

    #[test]
    fn values_come_back_with_all_that_is_in_them() {
        let at = |text: &str| Value::Timestamp(text.parse().unwrap());
        let names = Type::Enum(vec!["a".to_owned(), "b".to_owned()].into());
        let last = Value::Timestamp(Timestamp::MAX);
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        let cases = [
            (Type::Int, Value::Int(i64::from(i32::MIN))),
            (Type::Long, Value::Int(i64::MAX)),
            (Type::Decimal, Value::decimal(&"12345678901234567890.12345678901234".parse().unwrap()).unwrap()),
            (
                Type::Decimal,
                Value::decimal(&"-0.0000000000000000000000000000000001".parse().unwrap()).unwrap(),
            ),
            (Type::Double, Value::Double(5e-324)),
            (Type::Double, Value::Double(1.0)),
            (Type::Bool, Value::Bool(false)),
            (Type::Text, Value::Text("'\\ $where {tag} \0\n\u{2028}".to_owned())),
            (names, Value::Enum(1)),
            (Type::Date, Value::Date(jiff::civil::Date::MIN)),
            (Type::Date, Value::Date(jiff::civil::Date::MAX)),
            (Type::Time, Value::Time("23:59:59.000000001".parse().unwrap())),
            (Type::Timestamp(Precision::Millis), at("1969-12-31T23:59:59.999Z")),
            (Type::Timestamp(Precision::Micros), at("0001-01-01T00:00:00.000001Z")),
            (Type::Timestamp(Precision::Nanos), at("2024-01-01T00:00:00.000000001Z")),
            // Past the nanoseconds of a long.
            (Type::Timestamp(Precision::Nanos), last),
            (Type::Uuid, Value::Uuid(uuid::Uuid::from_u128(7))),
            (Type::Blob, Value::Blob(vec![0, 255])),
            (Type::Blob, Value::Blob(Vec::new())),
            (Type::Geo, Value::Geo(Geo::new(-90.0, 180.0).unwrap())),
            (Type::Json, json(r#"{"":1,"a.b":{"$x":[null,true,"t"]},"_id":1.0,"_json":"x","__proto__":2}"#)),
            (Type::Json, json("[1, 1.0, 1.10, 1e5, -0, 0.0000001, 18446744073709551615, 1e400]")),
            (Type::Json, json(&deep)),
            (Type::Json, json(r#""text""#)),
        ];
        for (ty, value) in cases {
            there_and_back(&field(Kind::Plain(ty.clone()), ty), &value);
        }
    }

    #[test]
    fn what_sorts_is_no_bin_data_and_sorts_as_the_values_do() {
        let blob = |bytes: &[u8]| Value::Blob(bytes.to_vec());
        // BinData would put the longer one last.
        let blobs = [blob(&[]), blob(&[0, 0, 0]), blob(&[0, 1]), blob(&[1]), blob(&[255])];
        let uuids = [0, 1, 1 << 64, u128::MAX].map(|id| Value::Uuid(uuid::Uuid::from_u128(id)));
        let places = [(-90.0, 0.0), (-1.0, 5.0), (0.0, -180.0), (0.0, 3.0)];
        let places = places.map(|(latitude, longitude)| Value::Geo(Geo::new(latitude, longitude).unwrap()));
        let kinds: [(Kind, Type, &[Value]); 3] = [
            (Kind::Digits, Type::Blob, &blobs),
            (Kind::Letters, Type::Uuid, &uuids),
            (Kind::Ordered, Type::Geo, &places),
        ];
        for (kind, ty, values) in kinds {
            let field = field(kind, ty);
            let mut before = String::new();
            for (index, value) in values.iter().enumerate() {
                let Bson::Text(text) = there_and_back(&field, value) else { panic!("{value:?}") };
                assert!(index == 0 || before < text, "{before} {text}");
                before = text;
            }
        }
        let names = Type::Enum(vec!["z".to_owned(), "a".to_owned()].into());
        assert_eq!(there_and_back(&field(Kind::Number, names), &Value::Enum(1)), Bson::Int(1));
        let time = |text: &str| {
            there_and_back(&field(Kind::Plain(Type::Time), Type::Time), &Value::Time(text.parse().unwrap()))
        };
        let times = ["00:00:00", "00:00:00.000000001", "00:00:00.1", "00:00:00.11", "00:00:01"].map(time);
        let texts: Vec<String> = times.iter().map(Bson::literal).collect();
        assert!(texts.is_sorted(), "{texts:?}");
    }

    #[test]
    fn an_element_is_at_its_ordinal_in_an_array_and_in_a_document() {
        let of = TreeOf::Basic(Type::Int);
        let field = field(Kind::Nested { of, many: true }, Type::Int);
        let list = |ordinals: &[u64]| {
            let element = |&ordinal: &u64| Element { ordinal, value: Value::Int(5) };
            Value::List(ordinals.iter().map(element).collect())
        };
        let (five, null) = (Bson::Int(5), Bson::Null);
        assert_eq!(there_and_back(&field, &list(&[])), Bson::Array(Vec::new()));
        assert_eq!(there_and_back(&field, &list(&[0, 1])), Bson::Array(vec![five.clone(), five.clone()]));
        assert_eq!(
            there_and_back(&field, &list(&[1, 3])),
            Bson::Array(vec![null.clone(), five.clone(), null, five.clone()])
        );
        let far = vec![("7".to_owned(), five.clone()), ("1000000".to_owned(), five)];
        assert_eq!(there_and_back(&field, &list(&[7, 1_000_000])), Bson::Document(far));
        assert_eq!(there_and_back(&field, &list(&[u64::MAX])).literal(), "{ '18446744073709551615': 5 }");
    }

    #[test]
    fn extended_json_is_read_by_its_types() {
        let text = r#"{"_id": {"$numberLong": "5"}, "u": {"$binary": {"base64": "AAECAwQFBgcICQoLDA0ODw==", "subType": "04"}},
            "b": {"$binary": {"base64": "AP8=", "subType": "00"}}, "t": {"$date": {"$numberLong": "-1"}},
            "d": {"$numberDecimal": "1E-7"}, "l": [{"$numberInt": "1"}, {"$numberDouble": "1.5"}]}"#;
        let Ok(Bson::Document(fields)) = Bson::from_extended(&serde_json::from_str(text).unwrap()) else {
            panic!()
        };
        let get = |name: &str| get(&fields, name).unwrap().clone();
        assert_eq!(get("_id"), Bson::Long(5));
        assert_eq!(
            get("u"),
            Bson::Uuid(uuid::Uuid::from_bytes([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]))
        );
        assert_eq!(get("b"), Bson::Binary(vec![0, 255]));
        assert_eq!(get("t"), Bson::Date(-1));
        assert_eq!(get("d"), Bson::Decimal("0.0000001".parse().unwrap()));
        assert_eq!(get("l"), Bson::Array(vec![Bson::Int(1), Bson::Double(1.5)]));
        assert!(Bson::from_extended(&serde_json::json!({"$code": "evil()"})).is_err());
    }
}
