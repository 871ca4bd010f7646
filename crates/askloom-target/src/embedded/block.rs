//! The entries of a master's blocks: the system entry first, then the aggregate by access paths, in their order.
//!
//! | after the block's identity | is |
//! | --- | --- |
//! | `00` | the system entry: `#` as a text |
//! | `01`, then steps | an entry of the aggregate; without steps the root |
//! | step `02` | a field: its name, 0 as `00 FF`, ended by `00 01` |
//! | step `03` | an element: 8 bytes of its ordinal |
//! | step `04` | a reference in a set: what it refers to, as a value |
//!
//! All that lies below a path has the path's key as a prefix.

use super::codec::{byte, escaped, take, unescaped};
use super::layout::collection_prefix;
use super::{DecodeError, decode, encode};
use askloom_model::{AccessPath, AccessStep, Identity, Value};

const SYSTEM: u8 = 0x00;
const SYSTEM_NAME: &[u8] = b"#";
const AGGREGATE: u8 = 0x01;
const FIELD: u8 = 0x02;
const ELEMENT: u8 = 0x03;
const LINK: u8 = 0x04;

/// What an entry of a master's block is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum BlockEntry {
    /// What every write of the block is conditional on.
    System,
    /// A piece of the aggregate.
    Aggregate(AccessPath),
}

/// All keys of the block of one aggregate start with this, and no others.
#[must_use]
pub fn master_prefix(number: u32, identity: &Identity) -> Vec<u8> {
    let mut key = collection_prefix(number);
    encode(&Value::Reference(identity.clone()), &mut key);
    key
}

#[must_use]
pub fn system_entry(number: u32, identity: &Identity) -> Vec<u8> {
    let mut key = master_prefix(number, identity);
    escaped(&mut key, SYSTEM, SYSTEM_NAME);
    key
}

/// One entry of an aggregate, by its access path.
#[must_use]
pub fn master_entry(number: u32, identity: &Identity, path: &AccessPath) -> Vec<u8> {
    let mut key = master_prefix(number, identity);
    key.push(AGGREGATE);
    for step in &path.0 {
        match step {
            AccessStep::Field(name) => escaped(&mut key, FIELD, name.as_bytes()),
            AccessStep::Element(ordinal) => {
                key.push(ELEMENT);
                key.extend(ordinal.to_be_bytes());
            }
            AccessStep::Link(identity) => {
                key.push(LINK);
                encode(&Value::Reference(identity.clone()), &mut key);
            }
        }
    }
    key
}

/// The aggregate that a key of a master is about, and the bytes that say which entry it is.
pub fn split_master(key: &[u8]) -> Result<(Identity, &[u8]), DecodeError> {
    let mut rest = key.get(collection_prefix(0).len()..).ok_or(DecodeError)?;
    Ok((identity(&mut rest)?, rest))
}

fn identity(bytes: &mut &[u8]) -> Result<Identity, DecodeError> {
    let Value::Reference(identity) = decode(bytes)? else { return Err(DecodeError) };
    Ok(identity)
}

impl BlockEntry {
    /// From the bytes behind the block's prefix.
    pub fn decode(mut bytes: &[u8]) -> Result<Self, DecodeError> {
        let rest = &mut bytes;
        match byte(rest)? {
            SYSTEM if unescaped(rest)? == SYSTEM_NAME && rest.is_empty() => return Ok(Self::System),
            AGGREGATE => {}
            _neither => return Err(DecodeError),
        }
        let mut steps = Vec::new();
        while !rest.is_empty() {
            steps.push(match byte(rest)? {
                FIELD => AccessStep::Field(String::from_utf8(unescaped(rest)?).map_err(|_| DecodeError)?),
                ELEMENT => AccessStep::Element(u64::from_be_bytes(take(rest)?)),
                LINK => AccessStep::Link(identity(rest)?),
                _unknown => return Err(DecodeError),
            });
        }
        Ok(Self::Aggregate(AccessPath(steps)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random_step(random: &mut fastrand::Rng) -> AccessStep {
        let names = ["", "a", "a\0", "a\0b", "ab", "b", "#", ".", "\u{1}", "\u{ff}", "rounds"];
        match random.u8(..3) {
            0 => AccessStep::Field(names[random.usize(..names.len())].to_owned()),
            1 => AccessStep::Element([0, 1, 9, 10, 255, 256, 1 << 40, u64::MAX][random.usize(..8)]),
            _ => {
                let ids = [
                    vec![Value::Int(1)],
                    vec![Value::Int(-1), Value::Text(String::new())],
                    vec![Value::Text("a".to_owned())],
                    vec![Value::Text("a\0".to_owned())],
                    vec![],
                ];
                AccessStep::Link(ids[random.usize(..5)].clone())
            }
        }
    }

    #[test]
    fn keys_come_back_and_sort_as_paths_do() {
        let mut random = fastrand::Rng::with_seed(7);
        let identity = vec![Value::Text("m\0".to_owned()), Value::Int(3)];
        let mut entries = vec![(BlockEntry::System, system_entry(9, &identity))];
        for _ in 0..1000 {
            let path = AccessPath((0..random.usize(..5)).map(|_| random_step(&mut random)).collect());
            let key = master_entry(9, &identity, &path);
            entries.push((BlockEntry::Aggregate(path), key));
        }
        for (entry, key) in &entries {
            let (of, rest) = split_master(key).unwrap();
            assert_eq!((&of, &BlockEntry::decode(rest).unwrap()), (&identity, entry));
            assert!(key.starts_with(&master_prefix(9, &identity)));
        }
        for pair in entries.windows(2) {
            assert_eq!(pair[0].0.cmp(&pair[1].0), pair[0].1.cmp(&pair[1].1), "{pair:?}");
        }
        entries.sort_by(|a, b| a.1.cmp(&b.1));
        assert!(entries.is_sorted_by(|a, b| a.0 <= b.0));
    }

    #[test]
    fn bytes_that_are_no_entry_are_refused() {
        for bytes in [&[][..], &[2], &[0, 0], &[1, 9], &[1, 3, 0], &[1, 2, b'a'], &[1, 4, 0]] {
            assert_eq!(BlockEntry::decode(bytes), Err(DecodeError), "{bytes:?}");
        }
    }
}
