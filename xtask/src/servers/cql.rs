//! As much of Cassandra's protocol as it takes to ask one question.

use super::wire::Wire;
use crate::repository::Outcome;

/// Levels of consistency.
pub(super) const ONE: u16 = 1;
pub(super) const ALL: u16 = 5;

const STARTUP: u8 = 1;
const READY: u8 = 2;
const QUERY: u8 = 7;
const RESULT: u8 = 8;

const QUESTION: &str =
    "SELECT * FROM system_distributed.view_build_status WHERE keyspace_name = 'x' AND view_name = 'y'";

/// Whether the node answers a query at this consistency.
pub(super) fn answers(address: &str, consistency: u16) -> Outcome {
    let mut wire = Wire::open(address)?;
    let options = [&1_u16.to_be_bytes()[..], &short("CQL_VERSION"), &short("3.0.0")].concat();
    expect(&mut wire, STARTUP, &options, READY)?;
    let length = u32::try_from(QUESTION.len()).unwrap_or_default().to_be_bytes();
    let query = [&length, QUESTION.as_bytes(), &consistency.to_be_bytes(), &[0]].concat();
    expect(&mut wire, QUERY, &query, RESULT)
}

fn expect(wire: &mut Wire, operation: u8, body: &[u8], expected: u8) -> Outcome {
    wire.send(&frame(operation, body))?;
    let header = wire.receive(9)?;
    let length = header.last_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes));
    let answer = wire.receive(usize::try_from(length).unwrap_or_default())?;
    if header.get(4) == Some(&expected) { Ok(()) } else { Err(String::from_utf8_lossy(&answer).into_owned()) }
}

/// Version 4, no flags, stream 1.
fn frame(operation: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap_or_default().to_be_bytes();
    [&[4, 0, 0, 1, operation], &length[..], body].concat()
}

fn short(text: &str) -> Vec<u8> {
    [&u16::try_from(text.len()).unwrap_or_default().to_be_bytes(), text.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_a_header_and_a_body() {
        assert_eq!(frame(STARTUP, &short("ab")), [4, 0, 0, 1, 1, 0, 0, 0, 4, 0, 2, b'a', b'b']);
    }
}
