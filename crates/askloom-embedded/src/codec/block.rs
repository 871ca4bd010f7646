//! The entries of a master's blocks: the system entry first, then the aggregate by access paths, in their order, then
//! what the block carries of others.
//!
//! | after the block's key | is |
//! | --- | --- |
//! | `00` | the system entry: `#` as a text |
//! | `01`, then steps | an entry of the aggregate; without steps the root |
//! | `02` | the values of others that the block carries, one behind the other |
//! | step `02` | a field: its name, 0 as `00 FF`, ended by `00 01` |
//! | step `03` | an element: 8 bytes of its ordinal |
//! | step `04` | a reference in a set: what it refers to, as a value |
//!
//! All that lies below a path has the path's key as a prefix.

use super::key::collection_prefix;
use askloom_model::{
    AccessPath, AccessStep, Collection, Conceptual, Identity, MasterField, Value, identity_by_key,
};
use askloom_plan::ordered_bytes::{
    DecodeError, byte, decode, decode_descending, encode, encode_descending, escaped, take, unescaped,
};

const SYSTEM: u8 = 0x00;
const SYSTEM_NAME: &[u8] = b"#";
const AGGREGATE: u8 = 0x01;
const CARRIED: u8 = 0x02;
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
    /// Values of others, which are kept right as the rows of a copy are.
    Carried,
}

/// How the keys of one master's blocks are made: the one place that knows.
///
/// A master that is keyed by the identity as it is has it as one value. Any other has a value for each field of its
/// key, in their order, descending ones inverted; a reference in the id is one value, and a bucket of time is left out
/// when the identity is read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MasterKey {
    number: u32,
    fields: KeyedBy,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum KeyedBy {
    Identity,
    /// Each with whether it descends.
    Fields(Vec<(MasterField, bool)>),
}

impl MasterKey {
    /// The keys of a master that has this number in the store.
    #[must_use]
    #[expect(
        clippy::expect_used,
        reason = "a master with any other key is refused where designs are made and read"
    )]
    pub fn new(conceptual: &Conceptual, master: &Collection, number: u32) -> Self {
        let fields = match conceptual.is_keyed_by_identity(master) {
            true => KeyedBy::Identity,
            false => {
                let fields = conceptual.master_fields(master).expect("the key of a master is its identifier");
                let descends = master.key_fields().map(|field| field.descending);
                KeyedBy::Fields(fields.into_iter().zip(descends).collect())
            }
        };
        Self { number, fields }
    }

    /// All keys of the block of one aggregate start with this, and no others.
    #[must_use]
    pub fn block(&self, identity: &Identity) -> Vec<u8> {
        let mut key = collection_prefix(self.number);
        match &self.fields {
            KeyedBy::Identity => encode(&Value::Reference(identity.clone()), &mut key),
            KeyedBy::Fields(fields) => {
                for (field, descending) in fields {
                    match descending {
                        true => encode_descending(&field.value(identity), &mut key),
                        false => encode(&field.value(identity), &mut key),
                    }
                }
            }
        }
        key
    }

    #[must_use]
    pub fn system(&self, identity: &Identity) -> Vec<u8> {
        let mut key = self.block(identity);
        escaped(&mut key, SYSTEM, SYSTEM_NAME);
        key
    }

    /// What the block of an aggregate carries of others.
    #[must_use]
    pub fn carried(&self, identity: &Identity) -> Vec<u8> {
        let mut key = self.block(identity);
        key.push(CARRIED);
        key
    }

    /// One entry of an aggregate, by its access path.
    #[must_use]
    pub fn entry(&self, identity: &Identity, path: &AccessPath) -> Vec<u8> {
        let mut key = self.block(identity);
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

    /// The aggregate that a key of the master is about, and the bytes that say which entry it is.
    pub fn split<'k>(&self, key: &'k [u8]) -> Result<(Identity, &'k [u8]), DecodeError> {
        let mut rest = key.get(collection_prefix(0).len()..).ok_or(DecodeError)?;
        let identity = match &self.fields {
            KeyedBy::Identity => identity(&mut rest)?,
            KeyedBy::Fields(fields) => {
                let mut values = Vec::with_capacity(fields.len());
                for (_, descending) in fields {
                    values.push(match descending {
                        true => decode_descending(&mut rest)?,
                        false => decode(&mut rest)?,
                    });
                }
                let of: Vec<MasterField> = fields.iter().map(|(field, _)| *field).collect();
                let identity = identity_by_key(&of, &values).ok_or(DecodeError)?;
                // A bucket that is not that of its component is none of ours.
                let fits = of.iter().zip(&values).all(|(field, value)| field.value(&identity) == *value);
                if fits { identity } else { return Err(DecodeError) }
            }
        };
        Ok((identity, rest))
    }
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
            CARRIED if rest.is_empty() => return Ok(Self::Carried),
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
        let master = MasterKey { number: 9, fields: KeyedBy::Identity };
        let mut entries = vec![(BlockEntry::System, master.system(&identity))];
        entries.push((BlockEntry::Carried, master.carried(&identity)));
        for _ in 0..1000 {
            let path = AccessPath((0..random.usize(..5)).map(|_| random_step(&mut random)).collect());
            let key = master.entry(&identity, &path);
            entries.push((BlockEntry::Aggregate(path), key));
        }
        for (entry, key) in &entries {
            let (of, rest) = master.split(key).unwrap();
            assert_eq!((&of, &BlockEntry::decode(rest).unwrap()), (&identity, entry));
            assert!(key.starts_with(&master.block(&identity)));
        }
        for pair in entries.windows(2) {
            assert_eq!(pair[0].0.cmp(&pair[1].0), pair[0].1.cmp(&pair[1].1), "{pair:?}");
        }
        entries.sort_by(|a, b| a.1.cmp(&b.1));
        assert!(entries.is_sorted_by(|a, b| a.0 <= b.0));
    }

    fn random_component(kind: usize, random: &mut fastrand::Rng) -> Value {
        let texts = ["", "\0", "a", "a\0", "a\0b", "ab", "\u{ff}", "#"];
        let hours = [-3_000_000, -1, 0, 1, 24, 700, 701, 8_800, 200_000];
        match kind {
            0 => Value::Text(texts[random.usize(..texts.len())].to_owned()),
            1 => Value::Int([i64::MIN, -1, 0, 1, 256, i64::MAX][random.usize(..6)]),
            _ => {
                let second = hours[random.usize(..hours.len())] * 3_600 + random.i64(0..3_600);
                Value::Timestamp(jiff::Timestamp::from_second(second).unwrap())
            }
        }
    }

    /// A split of three components, the last a timestamp: which fields, and which of them descend.
    fn random_split(random: &mut fastrand::Rng) -> Vec<(MasterField, bool)> {
        let mut fields = match random.bool() {
            true => vec![MasterField::Component(0), MasterField::Component(1), MasterField::Component(2)],
            false => vec![MasterField::Reference { from: 0, length: 2 }, MasterField::Component(2)],
        };
        random.shuffle(&mut fields);
        let mut fields: Vec<_> = fields.into_iter().map(|field| (field, random.bool())).collect();
        if random.bool() {
            let unit = askloom_model::TimeBucket::ALL[random.usize(..3)];
            let at = random.usize(..=fields.len());
            fields.insert(at, (MasterField::TimeBucket { component: 2, unit }, false));
        }
        fields
    }

    #[test]
    fn keys_of_split_masters_come_back_and_sort_as_their_fields_do() {
        let mut random = fastrand::Rng::with_seed(11);
        for _ in 0..20_000 {
            let fields = random_split(&mut random);
            let master = MasterKey { number: 9, fields: KeyedBy::Fields(fields.clone()) };
            let kinds = [random.usize(..2), random.usize(..2), 2];
            let [a, b]: [Identity; 2] =
                [(); 2].map(|()| kinds.iter().map(|&kind| random_component(kind, &mut random)).collect());
            for one in [&a, &b] {
                let key = master.system(one);
                let (back, rest) = master.split(&key).unwrap();
                assert_eq!((&back, BlockEntry::decode(rest)), (one, Ok(BlockEntry::System)));
            }
            let compared = fields.iter().map(|(field, descending)| {
                let order = field.value(&a).cmp(&field.value(&b));
                if *descending { order.reverse() } else { order }
            });
            let expected = compared.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then);
            assert_eq!(master.block(&a).cmp(&master.block(&b)), expected, "{a:?} {b:?} {fields:?}");
            assert_eq!(a == b, expected.is_eq());
            assert!(a == b || !master.system(&a).starts_with(&master.block(&b)));
        }
    }

    #[test]
    fn bytes_that_are_no_entry_are_refused() {
        for bytes in [&[][..], &[3], &[2, 0], &[0, 0], &[1, 9], &[1, 3, 0], &[1, 2, b'a'], &[1, 4, 0]] {
            assert_eq!(BlockEntry::decode(bytes), Err(DecodeError), "{bytes:?}");
        }
    }
}
