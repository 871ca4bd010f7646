//! Which of some buckets an instance is in: blocks that would be asked for too often, or grow too large, are cut into
//! buckets by the ids of what they hold.

use super::{Identity, Value, identity_to_json};
use crate::{ClassId, Conceptual};

/// Blocks are cut into no more buckets than this: a query reads all of them.
pub const MAX_BUCKETS: u32 = 256;

/// FNV-1a of 32 bits: other programs that write the same tables need it, and it is a few lines in every language.
const START: u32 = 0x811c_9dc5;
const PRIME: u32 = 0x0100_0193;

/// The bucket of an instance, from 0: FNV-1a of its id, as JSON without spaces, modulo the number of buckets.
#[must_use]
pub fn bucket(conceptual: &Conceptual, class: ClassId, identity: &Identity, of: u32) -> Value {
    let text = identity_to_json(conceptual, class, identity).to_string();
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(PRIME);
    let hash = text.bytes().fold(START, step);
    Value::Int(i64::from(hash % of.max(1)))
}
