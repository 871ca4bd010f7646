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
    Value::Int(i64::from(hash(&text) % of.max(1)))
}

fn hash(text: &str) -> u32 {
    text.bytes().fold(START, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first are of those that come with the algorithm, the others are in the documents of stores.
    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(["", "a", "foobar"].map(hash), [START, 0xe40c_292c, 0xbf9c_f968]);
        assert_eq!(["7", "\"ada\"", "[\"a\",2]"].map(|id| hash(id) % 16), [6, 11, 8]);
    }
}
