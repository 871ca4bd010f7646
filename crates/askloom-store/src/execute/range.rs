//! Which keys of a copy are read.

use super::Continuation;
use super::access::Asked;
use super::keys::{Bound, KeyType, Side, bound, fitted, mapped};
use crate::RunError;
use askloom_model::{
    BucketsBetween, Collection, Contents, Inclusive, KeyField, KeyRange, KeySet, KeyValue, Leaf, OrderBy,
    Path, Reading, Value, fault,
};
use askloom_target::embedded::{block_prefix, decode, encode, encode_descending, prefix_end};

/// The first instant of the year 0.
const YEAR_ZERO: jiff::Timestamp = jiff::Timestamp::constant(-62_167_219_200, 0);

/// The first key and the one after the last; none if there is no end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeyBounds {
    pub(super) from: Vec<u8>,
    pub(super) to: Option<Vec<u8>>,
    pub(super) backwards: bool,
    /// The entries come in the query's order.
    pub(super) in_order: bool,
}

/// The first key and the one after the last.
type FromTo = (Vec<u8>, Option<Vec<u8>>);

pub(super) struct Ranges<'r> {
    pub(super) asked: &'r Asked<'r>,
    pub(super) collection: &'r Collection,
    pub(super) number: u32,
}

/// A field whose value an IN has chosen: which of the key's fields, and the value.
type Chosen = Vec<(usize, Value)>;

impl Ranges<'_> {
    /// Every range to read; none if nothing can match.
    pub(super) fn all(&self) -> Result<Vec<KeyBounds>, RunError> {
        let mut found = Vec::new();
        self.collect(&self.asked.plan.access.how, &mut Vec::new(), &mut found)?;
        Ok(found)
    }

    fn fields(&self) -> impl Iterator<Item = &KeyField> {
        self.collection.block_key.iter().chain(&self.collection.entry_key)
    }

    fn path(&self, field: &KeyField) -> Option<Path> {
        mapped(&field.path, &self.asked.plan.access.positions)
    }

    fn key_type(&self, at: usize) -> KeyType {
        let path = self.fields().nth(at).and_then(|field| self.path(field));
        path.map_or(KeyType::Identity(Vec::new()), |path| self.asked.scene.key_type(&path))
    }

    fn collect(
        &self,
        how: &Reading,
        chosen: &mut Chosen,
        found: &mut Vec<KeyBounds>,
    ) -> Result<(), RunError> {
        match how {
            Reading::Each { field, set, of } => {
                let values = match set {
                    KeySet::In(set) => self.asked.scene.choices(set, &self.key_type(*field))?,
                    KeySet::Buckets(between) => self.time_buckets(*field, between, of, chosen)?,
                };
                for value in values {
                    chosen.push((*field, value));
                    self.collect(of, chosen, found)?;
                    chosen.pop();
                }
            }
            Reading::Scan | Reading::GetBlock { .. } => {
                let from = block_prefix(self.number, &[]);
                let to = prefix_end(&from);
                found.push(KeyBounds { from, to, backwards: false, in_order: false });
            }
            Reading::Range { key, equal, range, backwards, limited } => {
                let operands: Vec<&KeyValue> = key.iter().chain(equal).collect();
                let Some(prefix) = self.prefix(&operands, chosen)? else { return Ok(()) };
                let bounds = match range {
                    None => Some((prefix.clone(), prefix_end(&prefix))),
                    Some(range) => self.narrowed(&prefix, range, operands.len())?,
                };
                let Some((from, to)) = bounds else { return Ok(()) };
                let in_order = *limited || self.asked.plan.sort.is_none();
                let mut bounds = KeyBounds { from, to, backwards: *backwards, in_order };
                if in_order {
                    self.seek(&prefix, operands.len(), &mut bounds);
                }
                found.push(bounds);
            }
        }
        Ok(())
    }

    /// The buckets between two instants that anything is in, in the order in which they are read: each is found by
    /// looking for the first key behind the one before.
    fn time_buckets(
        &self,
        field: usize,
        BucketsBetween { unit, low, high }: &BucketsBetween,
        of: &Reading,
        chosen: &Chosen,
    ) -> Result<Vec<Value>, RunError> {
        let Reading::Range { key: operands, backwards, .. } = of.innermost() else { return Ok(Vec::new()) };
        let scene = self.asked.scene;
        let (Value::Timestamp(low), Value::Timestamp(high)) = (scene.constant(low)?, scene.constant(high)?)
        else {
            return Ok(Vec::new());
        };
        let operands: Vec<&KeyValue> = operands.iter().take(field).collect();
        let Some(prefix) = self.prefix(&operands, chosen)? else { return Ok(Vec::new()) };
        let bucket = |at| key(&prefix, &Value::Text(unit.of(at)), false);
        // Years before the first are in no order as text: then all buckets are looked at.
        let (mut from, to) = match low > high {
            true => return Ok(Vec::new()),
            false if bucket(low) <= bucket(high) && low >= YEAR_ZERO => {
                (bucket(low), prefix_end(&bucket(high)))
            }
            false => (prefix.clone(), prefix_end(&prefix)),
        };
        let mut found = Vec::new();
        loop {
            let mut next = None;
            self.asked.keyspace.scan(&from, to.as_deref(), false, &mut |key, _| {
                next = Some(decode(&mut key.get(prefix.len()..).unwrap_or_default())?);
                Ok(false)
            })?;
            let Some(value) = next else { break };
            from = prefix_end(&key(&prefix, &value, false)).unwrap_or_default();
            found.push(value);
        }
        let descends = self.collection.entry_key.first().is_some_and(|field| field.descending);
        if self.asked.plan.sort.is_none() && descends != *backwards {
            found.reverse();
        }
        Ok(found)
    }

    /// The bytes that all keys start with. Nothing if no key can.
    fn prefix(&self, operands: &[&KeyValue], chosen: &Chosen) -> Result<Option<Vec<u8>>, RunError> {
        let mut prefix = block_prefix(self.number, &[]);
        for (at, (operand, field)) in operands.iter().zip(self.fields()).enumerate() {
            let value = match chosen.iter().find(|(field, _)| *field == at) {
                Some((_, value)) => Some(value.clone()),
                None => fitted(&self.asked.scene.key_value(operand)?, &self.key_type(at)),
            };
            let Some(value) = value else { return Ok(None) };
            append(&value, field.descending, &mut prefix);
        }
        Ok(Some(prefix))
    }

    /// A range of one field below a prefix. Null is in no range: a comparison with it is never true.
    fn narrowed(&self, prefix: &[u8], range: &KeyRange, at: usize) -> Result<Option<FromTo>, RunError> {
        let descending = self.fields().nth(at).is_some_and(|field| field.descending);
        if let Some(starts) = &range.prefix {
            let Value::Text(text) = self.asked.scene.constant(starts)? else { return Ok(None) };
            return Ok(Some(text_range(prefix, &text, descending)));
        }
        let ty = self.key_type(at);
        // The keys of all values but null.
        let null = key(prefix, &Value::Null, descending);
        let (mut from, mut to) = if descending {
            (prefix.to_vec(), Some(null))
        } else {
            let from =
                if fault!(NullInRange) { prefix.to_vec() } else { prefix_end(&null).unwrap_or_default() };
            (from, prefix_end(prefix))
        };
        for (given, side) in [(&range.low, Side::Low), (&range.high, Side::High)] {
            let Some((operand, inclusive)) = given else { continue };
            let value = self.asked.scene.constant(operand)?;
            let (value, inclusive) = match bound(&value, *inclusive, &ty, side) {
                Bound::Nothing => return Ok(None),
                Bound::Everything => continue,
                Bound::At(value, inclusive) => (value, inclusive),
            };
            let key = key(prefix, &value, descending);
            // The end of the keys' range that this side is; a descending field turns them round.
            match ((side == Side::Low) != descending, inclusive) {
                (true, Inclusive::Yes) => from = key,
                (true, Inclusive::No) if fault!(BoundIncluded) => from = key,
                (true, Inclusive::No) => from = prefix_end(&key).unwrap_or_default(),
                (false, Inclusive::Yes) => to = prefix_end(&key),
                (false, Inclusive::No) => to = Some(key),
            }
        }
        Ok(Some((from, to)))
    }

    /// Starts where the page before ended, if that can be told from the keys.
    fn seek(&self, prefix: &[u8], bound: usize, bounds: &mut KeyBounds) {
        let asked = self.asked;
        let Some(after) = asked.starts_after() else { return };
        if let Contents::Aggregate(_) = self.collection.contents {
            return self.seek_block(prefix, after, bounds);
        }
        // Entries of positions that the query does not have are not where its identities say.
        if asked.plan.access.positions.contains(&None) {
            return;
        }
        let mut last = prefix.to_vec();
        for field in self.fields().skip(bound) {
            let path = self.path(field);
            let same = |by: &OrderBy| matches!(by, OrderBy::Path(ordered) if Some(ordered) == path.as_ref());
            let term = asked.query.order_by.iter().position(|term| same(&term.by));
            let Some(value) = term.and_then(|at| after.order.get(at)) else { return };
            append(value, field.descending, &mut last);
        }
        let identity = asked.query.row_identity();
        for position in asked.plan.access.positions.iter().flatten() {
            let itself = Path { position: *position, hops: Vec::new(), leaf: Leaf::Itself };
            let at = identity.iter().position(|path| *path == itself);
            let Some(part) = at.and_then(|at| after.identity.get(at)) else { return };
            encode(part, &mut last);
        }
        if bounds.backwards {
            if bounds.to.as_ref().is_none_or(|to| last < *to) {
                bounds.to = Some(last);
            }
        } else if last >= bounds.from {
            bounds.from = last;
        }
    }
}

impl Ranges<'_> {
    /// Starts behind the aggregate that the page before ended with, if that is in this partition.
    fn seek_block(&self, prefix: &[u8], after: &Continuation, bounds: &mut KeyBounds) {
        let asked = self.asked;
        let Some(Value::Reference(identity)) = after.identity.first() else { return };
        let schema = asked.scene.instances.schema();
        let last = schema.master_key(asked.plan.access.collection).block(identity);
        if !last.starts_with(prefix) {
            return;
        }
        if bounds.backwards {
            if bounds.to.as_ref().is_none_or(|to| last < *to) {
                bounds.to = Some(last);
            }
        } else if last >= bounds.from {
            bounds.from = prefix_end(&last).unwrap_or(last);
        }
    }
}

fn append(value: &Value, descending: bool, out: &mut Vec<u8>) {
    if descending {
        encode_descending(value, out);
    } else {
        encode(value, out);
    }
}

fn key(prefix: &[u8], value: &Value, descending: bool) -> Vec<u8> {
    let mut key = prefix.to_vec();
    append(value, descending, &mut key);
    key
}

/// The keys of the texts that start with a text: those between it and what follows it, its end mark left off.
fn text_range(prefix: &[u8], text: &str, descending: bool) -> FromTo {
    const END_MARK: usize = 2;
    let mut from = key(prefix, &Value::Text(text.to_owned()), descending);
    from.truncate(from.len().saturating_sub(END_MARK));
    let to = prefix_end(&from);
    (from, to)
}
