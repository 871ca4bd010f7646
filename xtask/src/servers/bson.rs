//! As much of MongoDB's protocol as it takes to say one command and see whether it went well.

use super::wire::Wire;
use crate::repository::Outcome;
use serde_json::Value;

/// The operation that carries a command.
const MESSAGE: i32 = 2013;
const HEADER: usize = 16;

pub(super) struct Reply(Vec<u8>);

impl Reply {
    /// Whether a field of the answer, at whatever depth, is true.
    pub(super) fn says(&self, field: &str) -> bool {
        self.has(&[&[8], field.as_bytes(), &[0, 1]].concat())
    }

    pub(super) fn is_ok(&self) -> bool {
        self.has(&[&[1], &b"ok\0"[..], &1_f64.to_le_bytes()].concat())
    }

    /// What of it can be read.
    pub(super) fn text(&self) -> String {
        let readable = |byte: &u8| if byte.is_ascii_graphic() { char::from(*byte) } else { ' ' };
        let text: String = self.0.iter().map(readable).collect();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn has(&self, bytes: &[u8]) -> bool {
        self.0.windows(bytes.len()).any(|window| window == bytes)
    }
}

pub(super) fn ask(address: &str, command: &str, argument: &Value) -> Outcome<Reply> {
    let mut wire = Wire::open(address)?;
    wire.send(&message(command, argument))?;
    let header = wire.receive(HEADER)?;
    let length = header.first_chunk().map_or(0, |bytes| i32::from_le_bytes(*bytes));
    let length = usize::try_from(length).unwrap_or_default();
    wire.receive(length.saturating_sub(HEADER)).map(Reply)
}

/// The command has to be the first field, which a map of names would not promise.
fn message(command: &str, argument: &Value) -> Vec<u8> {
    let fields = [element(command, argument), element("$db", &Value::from("admin"))].concat();
    let body = [&[0; 5], document(&fields).as_slice()].concat();
    let numbers = [size(HEADER + body.len()), 1, 0, MESSAGE];
    let header: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    [header, body].concat()
}

fn document(fields: &[u8]) -> Vec<u8> {
    [&size(fields.len() + 5).to_le_bytes(), fields, &[0]].concat()
}

fn element(name: &str, value: &Value) -> Vec<u8> {
    let (kind, bytes) = match value {
        Value::Null => (10, Vec::new()),
        Value::Bool(yes) => (8, vec![u8::from(*yes)]),
        Value::Number(number) => (18, number.as_i64().unwrap_or_default().to_le_bytes().to_vec()),
        Value::String(text) => (2, [&size(text.len() + 1).to_le_bytes(), text.as_bytes(), &[0]].concat()),
        Value::Array(items) => {
            let fields = items.iter().enumerate().flat_map(|(at, item)| element(&at.to_string(), item));
            (4, document(&fields.collect::<Vec<u8>>()))
        }
        Value::Object(map) => {
            let fields = map.iter().flat_map(|(name, value)| element(name, value));
            (3, document(&fields.collect::<Vec<u8>>()))
        }
    };
    [&[kind], name.as_bytes(), &[0], &bytes].concat()
}

fn size(bytes: usize) -> i32 {
    i32::try_from(bytes).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_document_is_written_as_the_specification_shows_it() {
        let hello = document(&element("hello", &json!("world")));
        assert_eq!(hello, b"\x16\0\0\0\x02hello\0\x06\0\0\0world\0\0");
        let list = document(&element("a", &json!([true])));
        assert_eq!(list, b"\x11\0\0\0\x04a\0\x09\0\0\0\x080\0\x01\0\0");
    }

    #[test]
    fn a_message_carries_its_own_length() {
        let bytes = message("hello", &json!(1));
        assert_eq!(i32::from_le_bytes(*bytes.first_chunk().unwrap()), i32::try_from(bytes.len()).unwrap());
    }

    #[test]
    fn an_answer_is_good_only_if_it_says_so() {
        let reply = Reply(b"\x08secondary\0\x01\x01ok\0\0\0\0\0\0\0\xf0\x3f".to_vec());
        assert!(reply.says("secondary") && !reply.says("isWritablePrimary") && reply.is_ok());
        assert!(!Reply(b"\x01ok\0\0\0\0\0\0\0\0\0".to_vec()).is_ok());
    }
}
