//! What an entry of an aggregate holds, as bytes. Members are kept by name: ids are of one reading of the model, names stay.

use askloom_model::{Conceptual, Element, Member, Record, Value};
use askloom_plan::ordered_bytes::{
    DecodeError, END, MORE, byte, decode, decode_sequence, encode, escaped, sequence, tag, take,
};

/// Appends a record, members by name: ids are of one reading of the model, names stay.
fn encode_record(conceptual: &Conceptual, record: &Record, out: &mut Vec<u8>) {
    out.push(tag::RECORD);
    escaped(out, tag::TEXT, conceptual.classes[record.class].name.as_bytes());
    encode(&record.surrogate.map_or(Value::Null, Value::Uuid), out);
    for (&member, value) in &record.fields {
        out.push(MORE);
        escaped(out, tag::TEXT, conceptual.member_name(member).as_bytes());
        encode_entry(conceptual, value, out);
    }
    out.push(END);
}

/// Appends what an entry of an aggregate holds: an atom, or a piece of a record, a list or a set.
pub fn encode_entry(conceptual: &Conceptual, value: &Value, out: &mut Vec<u8>) {
    if let Value::Record(record) = value {
        encode_record(conceptual, record, out);
    } else if let Value::List(elements) = value {
        out.push(tag::LIST);
        sequence(out, elements, |element, out| {
            out.extend(element.ordinal.to_be_bytes());
            encode_entry(conceptual, &element.value, out);
        });
    } else {
        encode(value, out);
    }
}

/// Finds classes and members by name.
pub trait Names {
    fn class(&self, name: &str) -> Option<askloom_model::ClassId>;
    fn member(&self, class: askloom_model::ClassId, name: &str) -> Option<Member>;
}

fn text(bytes: &mut &[u8]) -> Result<String, DecodeError> {
    let Value::Text(text) = decode(bytes)? else { return Err(DecodeError) };
    Ok(text)
}

fn record_body(conceptual: &Conceptual, names: &dyn Names, bytes: &mut &[u8]) -> Result<Record, DecodeError> {
    let class = names.class(&text(bytes)?).ok_or(DecodeError)?;
    let mut record = Record::new(class);
    if let Value::Uuid(id) = decode(bytes)? {
        record.surrogate = Some(id);
    }
    loop {
        match byte(bytes)? {
            END => return Ok(record),
            MORE => {
                let name = text(bytes)?;
                let value = decode_entry(conceptual, names, bytes)?;
                // A member that the model no longer has is not lost in the store, only not seen.
                if let Some(member) = names.member(class, &name) {
                    record.set(member, value);
                }
            }
            _neither => return Err(DecodeError),
        }
    }
}

/// Takes what an entry of an aggregate holds off the front of the bytes.
pub fn decode_entry(
    conceptual: &Conceptual,
    names: &dyn Names,
    bytes: &mut &[u8],
) -> Result<Value, DecodeError> {
    match bytes.first() {
        Some(&tag::RECORD) => {
            byte(bytes)?;
            Ok(Value::Record(Box::new(record_body(conceptual, names, bytes)?)))
        }
        Some(&tag::LIST) => {
            byte(bytes)?;
            Ok(Value::List(decode_sequence(bytes, |bytes| {
                Ok(Element {
                    ordinal: u64::from_be_bytes(take(bytes)?),
                    value: decode_entry(conceptual, names, bytes)?,
                })
            })?))
        }
        Some(_) | None => decode(bytes),
    }
}
