//! Where the protocol keeps what it needs beside masters and copies, and in which bytes. All of it is under the number
//! zero, which no collection has.

use super::bytes::{broken, flag, long_number, number, put_count, put_run, run};
use super::{Aggregates, Origin};
use crate::KeyedSchema;
use crate::codec::{Names, block_prefix, decode_entry, encode_entry};
use askloom_engine::intents::{Anchor, Block, Closing, Hint, Owed, Revision, WriteId};
use askloom_engine::{Aggregate, RunError, Stored, System};
use askloom_model::{CollectionId, Member, Value};
use askloom_plan::ordered_bytes::{decode, encode};
use std::collections::BTreeSet;

/// What is under the number zero.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// What of a master block is neither aggregate nor system entry.
    Companion = 1,
    Anchor = 2,
    /// The stamp of an entry of a copy.
    Stamp = 3,
    Referrer = 4,
    Hint = 5,
}

pub(super) fn prefix(kind: Kind) -> Vec<u8> {
    block_prefix(0, &[Value::Int(kind as i64)])
}

pub(super) struct Layout<'l> {
    pub(super) schema: &'l KeyedSchema,
}

impl Layout<'_> {
    fn encode_id(&self, id: &Aggregate, out: &mut Vec<u8>) {
        let class = &self.schema.model.conceptual.classes[id.0];
        encode(&Value::Text(class.name.clone()), out);
        encode(&Value::Reference(id.1.clone()), out);
    }

    pub(super) fn decode_id(&self, rest: &mut &[u8]) -> Result<Aggregate, RunError> {
        let (Value::Text(name), Value::Reference(id)) = (decode(rest)?, decode(rest)?) else {
            return Err(broken());
        };
        Ok((self.schema.class(&name).ok_or_else(broken)?, id))
    }

    /// A dot is in no name of a class.
    fn encode_origin(&self, origin: &Origin, out: &mut Vec<u8>) {
        match origin {
            Origin::Entity(top, id) => self.encode_id(&(*top, id.clone()), out),
            Origin::Unique(member, value) => {
                let conceptual = &self.schema.model.conceptual;
                let class = match *member {
                    Member::Attribute(id) => conceptual.attributes[id].class,
                    Member::End(id) => conceptual.ends[id].class,
                };
                let name = format!("{}.{}", conceptual.classes[class].name, conceptual.member_name(*member));
                encode(&Value::Text(name), out);
                encode(&Value::Reference(vec![value.clone()]), out);
            }
        }
    }

    fn decode_origin(&self, rest: &mut &[u8]) -> Result<Origin, RunError> {
        let (Value::Text(name), Value::Reference(mut id)) = (decode(rest)?, decode(rest)?) else {
            return Err(broken());
        };
        let Some((class, member)) = name.split_once('.') else {
            return Ok(Origin::Entity(self.schema.class(&name).ok_or_else(broken)?, id));
        };
        let class = self.schema.class(class).ok_or_else(broken)?;
        let member = self.schema.member(class, member).ok_or_else(broken)?;
        Ok(Origin::Unique(member, id.pop().ok_or_else(broken)?))
    }

    fn encode_origins(&self, origins: &BTreeSet<Origin>, out: &mut Vec<u8>) {
        put_count(origins.len(), out);
        for origin in origins {
            self.encode_origin(origin, out);
        }
    }

    fn decode_origins(&self, rest: &mut &[u8]) -> Result<BTreeSet<Origin>, RunError> {
        (0..number(rest)?).map(|_| self.decode_origin(rest)).collect()
    }

    pub(super) fn companion(&self, id: &Aggregate) -> Vec<u8> {
        self.of_master(Kind::Companion, id)
    }

    fn of_master(&self, kind: Kind, id: &Aggregate) -> Vec<u8> {
        let mut key = prefix(kind);
        self.encode_id(id, &mut key);
        key
    }

    pub(super) fn anchor(&self, (copy, root): &(CollectionId, Aggregate)) -> Vec<u8> {
        let mut key = prefix(Kind::Anchor);
        encode(&Value::Int(i64::from(self.schema.number(*copy))), &mut key);
        self.encode_id(root, &mut key);
        key
    }

    pub(super) fn stamp(&self, entry: &[u8]) -> Vec<u8> {
        let mut key = prefix(Kind::Stamp);
        key.extend(entry);
        key
    }

    pub(super) fn referrers(&self, target: &Origin) -> Vec<u8> {
        let mut key = prefix(Kind::Referrer);
        self.encode_origin(target, &mut key);
        key
    }

    pub(super) fn referrer(&self, target: &Origin, referrer: &Aggregate) -> Vec<u8> {
        let mut key = self.referrers(target);
        self.encode_id(referrer, &mut key);
        key
    }

    pub(super) fn hints(&self, bucket: u16) -> Vec<u8> {
        let mut key = prefix(Kind::Hint);
        key.extend(bucket.to_be_bytes());
        key
    }

    /// Hints of one master are in one bucket.
    pub(super) fn hint(&self, hint: &Hint<Aggregates>, buckets: u16) -> Vec<u8> {
        let mut id = Vec::new();
        self.encode_id(&hint.id, &mut id);
        let bucket = crc32fast::hash(&id) % u32::from(buckets.max(1));
        let mut key = self.hints(u16::try_from(bucket).unwrap_or_default());
        key.extend(id);
        key.extend(hint.write.0.to_be_bytes());
        put_revision(hint.base, &mut key);
        key
    }

    pub(super) fn encode_hint(&self, hint: &Hint<Aggregates>) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode_id(&hint.id, &mut out);
        out.extend(hint.write.0.to_be_bytes());
        put_revision(hint.base, &mut out);
        self.encode_origins(&hint.targets, &mut out);
        out
    }

    pub(super) fn decode_hint(&self, mut bytes: &[u8]) -> Result<Hint<Aggregates>, RunError> {
        let rest = &mut bytes;
        let id = self.decode_id(rest)?;
        let write = WriteId(long_number(rest)?);
        let base = revision(rest)?;
        let targets = self.decode_origins(rest)?;
        Ok(Hint { id, write, base, targets })
    }

    pub(super) fn encode_companion(&self, block: &Block<Aggregates>) -> Vec<u8> {
        let mut out = Vec::new();
        put_revision(block.revision, &mut out);
        out.push(u8::from(block.closing.is_some()));
        if let Some(Closing { write, at, gone }) = &block.closing {
            out.extend(write.0.to_be_bytes());
            self.encode_id(at, &mut out);
            self.encode_origins(gone, &mut out);
        }
        put_count(block.recent.len(), &mut out);
        for (n, write) in &block.recent {
            out.extend(n.to_be_bytes());
            out.extend(write.0.to_be_bytes());
        }
        for (write, owed) in &block.owed {
            out.extend(write.0.to_be_bytes());
            out.push(u8::from(owed.previous.is_some()));
            if let Some(previous) = &owed.previous {
                let mut record = Vec::new();
                let value = Value::Record(Box::new(previous.record.clone()));
                encode_entry(&self.schema.model.conceptual, &value, &mut record);
                put_run(&record, &mut out);
                put_run(&previous.system.encode(), &mut out);
            }
            self.encode_origins(&owed.gone, &mut out);
            out.push(u8::from(owed.cause.is_some()));
            if let Some(cause) = &owed.cause {
                self.encode_id(cause, &mut out);
            }
        }
        out
    }

    /// Everything but the value.
    pub(super) fn decode_companion(&self, mut bytes: &[u8]) -> Result<Block<Aggregates>, RunError> {
        let rest = &mut bytes;
        let mut block = Block { revision: revision(rest)?, ..Block::default() };
        if flag(rest)? {
            let write = WriteId(long_number(rest)?);
            let at = self.decode_id(rest)?;
            block.closing = Some(Closing { write, at, gone: self.decode_origins(rest)? });
        }
        for _ in 0..number(rest)? {
            let n = number(rest)?;
            block.recent.push((n, WriteId(long_number(rest)?)));
        }
        while !rest.is_empty() {
            let write = WriteId(long_number(rest)?);
            let previous = if flag(rest)? { Some(self.decode_previous(rest)?) } else { None };
            let gone = self.decode_origins(rest)?;
            let cause = if flag(rest)? { Some(self.decode_id(rest)?) } else { None };
            block.owed.insert(write, Owed { previous, gone, cause, ..Owed::default() });
        }
        Ok(block)
    }

    fn decode_previous(&self, rest: &mut &[u8]) -> Result<Stored, RunError> {
        let value = decode_entry(&self.schema.model.conceptual, self.schema, &mut run(rest)?)?;
        let system = System::decode(run(rest)?)?;
        match value {
            Value::Record(record) => Ok(Stored { record: *record, system }),
            _other => Err(broken()),
        }
    }
}

fn put_revision(revision: Revision, out: &mut Vec<u8>) {
    out.extend(revision.n.to_be_bytes());
    out.extend(revision.e.to_be_bytes());
}

fn revision(rest: &mut &[u8]) -> Result<Revision, RunError> {
    Ok(Revision { n: number(rest)?, e: number(rest)? })
}

pub(super) fn encode_anchor(anchor: &Anchor<Aggregates>) -> Vec<u8> {
    let mut out = anchor.token.to_be_bytes().to_vec();
    for key in &anchor.keys {
        put_run(key, &mut out);
    }
    out
}

pub(super) fn decode_anchor(mut bytes: &[u8]) -> Result<Anchor<Aggregates>, RunError> {
    let rest = &mut bytes;
    let mut anchor = Anchor { token: number(rest)?, keys: BTreeSet::new() };
    while !rest.is_empty() {
        anchor.keys.insert(run(rest)?.to_vec());
    }
    Ok(anchor)
}
