//! What the whole keyspace must hold, worked out from the definitions by the oracle: no missing, wrong or extra key.

use crate::coverage::Coverage;
use askloom_embedded::codec::{BlockEntry, encode_entry, entry_key};
use askloom_embedded::{KeyedSchema, KeyspaceRecords, Memory};
use askloom_engine::{Instances, Reader};
use askloom_model::{
    ClassId, Collection, CollectionId, Column, ColumnValue, Conceptual, Contents, Element, EndId, Header, Id,
    Identity, Leaf, Member, Path, Position, PositionId, Query, Record, Role, Value,
};
use askloom_oracle::{NodeIdentity, State};
use askloom_plan::ordered_bytes::encode;
use askloom_plan::partition;
use askloom_plan::positions::each_value;
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// Keys and values.
type Entries = Vec<(Vec<u8>, Vec<u8>)>;

/// Compares a keyspace with the state it stands for. The error says what differs.
pub(crate) fn check(
    schema: &KeyedSchema,
    keyspace: &Memory,
    state: &State,
    now: Timestamp,
    coverage: &mut Coverage,
) -> Result<(), String> {
    let stored = masters(schema, keyspace, state, now)?;
    let model = &schema.model;
    let held = State::of_stored(&model.conceptual, stored);
    if !ids_are_unique(&model.conceptual, &held) || !partners_are_single(&model.conceptual, &held) {
        // Something has taken the id or the only partner of what has expired and is still stored: what copies have of
        // that is of one or of the other, and no plan reads it.
        return check_masters(schema, keyspace, &held, None);
    }
    if !held.breaches(&model.conceptual, Timestamp::MIN).is_empty() {
        // What has expired and is still stored refers to what is gone, and integrity does not hold for it: what copies have
        // of it no plan reads.
        return check_masters(schema, keyspace, &held, None);
    }
    let mut expected: CopyEntries = BTreeMap::new();
    for (id, collection) in model_copies(schema) {
        for (key, value) in entries(schema, id, collection, &held, coverage)? {
            let shared = matches!(collection.contents, Contents::Nested(_));
            let before = expected.insert(key, (id, value.clone()));
            if before.is_some_and(|(_, before)| !shared || before != value) {
                return Err(format!("two rows of {} share a key", collection.name));
            }
        }
    }
    let name = |id: CollectionId| &schema.design.collections[id].name;
    let is_copy =
        |key: &[u8]| model_copies(schema).find(|(id, _)| key.starts_with(&schema.number(*id).to_be_bytes()));
    for (key, (id, value)) in &expected {
        match keyspace.get(key) {
            None => return Err(format!("a key of {} is missing: {key:?}", name(*id))),
            Some(found) if found != value => {
                return Err(format!(
                    "a value of {} is wrong at {key:?}: {found:?}, not {value:?}",
                    name(*id)
                ));
            }
            Some(_) => {}
        }
    }
    check_masters(schema, keyspace, &held, Some(&expected))?;
    for key in keyspace.keys() {
        if let Some((id, _)) = is_copy(key).filter(|_| !expected.contains_key(key)) {
            return Err(format!("a key of {} should not be there: {key:?}", name(id)));
        }
    }
    Ok(())
}

fn ids_are_unique(conceptual: &Conceptual, held: &State) -> bool {
    fn note(conceptual: &Conceptual, record: &Record, seen: &mut BTreeSet<(ClassId, Identity)>) -> bool {
        let top = conceptual.lineage(record.class).last().copied().unwrap_or(record.class);
        let new = record.identity(conceptual).is_none_or(|id| seen.insert((top, id)));
        new && record.fields.values().all(|value| match value {
            Value::Record(part) => note(conceptual, part, seen),
            Value::List(elements) => elements
                .iter()
                .all(|element| part_of(&element.value).is_none_or(|part| note(conceptual, part, seen))),
            _plain => true,
        })
    }
    let mut seen = BTreeSet::new();
    held.instances().all(|(_, _, instance)| note(conceptual, instance.record(), &mut seen))
}

/// Whether nothing has two partners at an end that leads to one at most.
fn partners_are_single(conceptual: &Conceptual, held: &State) -> bool {
    fn note(conceptual: &Conceptual, record: &Record, seen: &mut BTreeSet<(EndId, Identity)>) -> bool {
        let is_bound = |end: EndId| {
            let back = conceptual.ends[end].inverse.map(|inverse| conceptual.ends[inverse].cardinality);
            back.is_some_and(|back| !back.is_many())
        };
        record.fields.iter().all(|(&member, value)| match (member, value) {
            (Member::End(end), Value::Reference(id)) => !is_bound(end) || seen.insert((end, id.clone())),
            (Member::End(end), Value::Set(ids)) => {
                !is_bound(end) || ids.iter().all(|id| seen.insert((end, id.clone())))
            }
            (_, Value::Record(part)) => note(conceptual, part, seen),
            (_, Value::List(elements)) => elements
                .iter()
                .all(|element| part_of(&element.value).is_none_or(|part| note(conceptual, part, seen))),
            (_, _plain) => true,
        })
    }
    let mut seen = BTreeSet::new();
    held.instances().all(|(_, _, instance)| note(conceptual, instance.record(), &mut seen))
}

/// The entries of the masters by their rules.
fn master_entries(schema: &KeyedSchema, held: &State) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, String> {
    let conceptual = &schema.model.conceptual;
    let mut expected = BTreeMap::new();
    for (root, identity, instance) in held.instances() {
        let Some(master) = schema.design.master(root) else { return Err("a master is missing".to_owned()) };
        let rules = match &schema.design.collections[master].contents {
            Contents::Aggregate(rules) => rules,
            Contents::Fields(_) | Contents::Nested(_) => return Err("a master holds rows".to_owned()),
        };
        let pieces =
            partition::split(conceptual, rules, instance.record()).map_err(|error| error.to_string())?;
        for (path, piece) in pieces {
            let mut value = Vec::new();
            encode_entry(conceptual, &piece, &mut value);
            expected.insert(schema.master_key(master).entry(identity, &path), value);
        }
    }
    Ok(expected)
}

/// Entries by their keys, with the copies that they are of.
type CopyEntries = BTreeMap<Vec<u8>, (CollectionId, Vec<u8>)>;

/// Every entry of a master is one of an aggregate; of what is deleted only the system entry stays.
/// What it carries is as it must be if the entries of copies are known.
fn check_masters(
    schema: &KeyedSchema,
    keyspace: &Memory,
    held: &State,
    copies: Option<&CopyEntries>,
) -> Result<(), String> {
    let expected = master_entries(schema, held)?;
    for (id, master) in schema.design.collections.iter().filter(|(_, c)| c.role == Role::Master) {
        let number = schema.number(id).to_be_bytes();
        for (key, value) in keyspace.iter().filter(|(key, _)| key.starts_with(&number)) {
            let entry = schema.master_key(id).split(key).and_then(|(_, rest)| BlockEntry::decode(rest));
            let right = match entry {
                Ok(BlockEntry::System) => true,
                Ok(BlockEntry::Aggregate(_)) => expected.get(key) == Some(value),
                Ok(BlockEntry::Carried) => copies.is_none_or(|copies| copies.contains_key(key)),
                Err(_) => false,
            };
            if !right {
                return Err(format!("an entry of {} should not be there, or not so: {key:?}", master.name));
            }
        }
    }
    match expected.keys().find(|key| !keyspace.contains_key(*key)) {
        None => Ok(()),
        Some(key) => Err(format!("an entry of a master is missing: {key:?}")),
    }
}

fn model_copies(schema: &KeyedSchema) -> impl Iterator<Item = (CollectionId, &Collection)> {
    schema.design.collections.iter().filter(|(_, collection)| collection.role != Role::Master)
}

/// Every aggregate that is stored, after comparing those that live with the state.
fn masters(
    schema: &KeyedSchema,
    keyspace: &Memory,
    state: &State,
    now: Timestamp,
) -> Result<Vec<(Record, Timestamp)>, String> {
    let conceptual = &schema.model.conceptual;
    let records = KeyspaceRecords { schema, keyspace };
    let reader = Reader::new(&records);
    let parts_expire =
        conceptual.classes.iter().any(|(_, class)| class.ttl.is_some() && class.owner.is_some());
    let mut stored = Vec::new();
    let mut live: BTreeMap<(ClassId, Identity), (Record, Timestamp)> = BTreeMap::new();
    for (_, collection) in schema.design.collections.iter().filter(|(_, c)| c.role == Role::Master) {
        let root = collection.source.root;
        for (identity, aggregate) in reader.all(root).map_err(|stop| format!("{stop:?}"))? {
            let created = Timestamp::from_microsecond(aggregate.system.created).unwrap();
            if !expired(schema, &aggregate.record, created, now) {
                live.insert((root, identity), (aggregate.record.clone(), created));
            }
            stored.push((aggregate.record.clone(), created));
        }
    }
    for (root, identity, instance) in state.instances() {
        if expired(schema, instance.record(), instance.created(), now) {
            continue;
        }
        let name = &conceptual.classes[root].name;
        match live.remove(&(root, identity.clone())) {
            None => return Err(format!("{name} {identity:?} is not stored")),
            // Parts that have expired stay in the store until somebody writes; queries see to it that they are gone.
            Some((record, _)) if record != *instance.record() && !parts_expire => {
                return Err(format!("{name} {identity:?} is {record:?}, not {:?}", instance.record()));
            }
            Some((_, created)) if created != instance.created() => {
                return Err(format!("{name} {identity:?} was made {created}, not {}", instance.created()));
            }
            Some(_) => {}
        }
    }
    match live.first_key_value() {
        None => Ok(stored),
        Some(((root, identity), _)) => {
            Err(format!("{} {identity:?} should not be there", conceptual.classes[*root].name))
        }
    }
}

/// Whether an aggregate's time is up.
pub(crate) fn expired(schema: &KeyedSchema, record: &Record, created: Timestamp, now: Timestamp) -> bool {
    let conceptual = &schema.model.conceptual;
    let ttl = conceptual.lineage(record.class).into_iter().find_map(|class| conceptual.classes[class].ttl);
    ttl.is_some_and(|ttl| {
        let since = match ttl.from.map(|id| record.get(Member::Attribute(id))) {
            Some(Value::Timestamp(at)) => *at,
            Some(Value::Date(day)) => day.to_zoned(jiff::tz::TimeZone::UTC).unwrap().timestamp(),
            Some(_) | None => created,
        };
        now.duration_since(since) >= jiff::SignedDuration::from_millis(i64::try_from(ttl.ms).unwrap())
    })
}

/// The entries of a copy: its definition as a query, asked of all that is stored.
fn entries(
    schema: &KeyedSchema,
    id: CollectionId,
    collection: &Collection,
    held: &State,
    coverage: &mut Coverage,
) -> Result<Entries, String> {
    let number = schema.number(id);
    let mut values: Vec<ColumnValue> = collection.held().cloned().map(ColumnValue::Path).collect();
    values.push(ColumnValue::Whole(PositionId::from_index(0)));
    values.extend(collection.whole().iter().map(|&position| ColumnValue::Whole(position)));
    let query = definition(collection, values);
    // What has expired is in a copy as long as it is in its master: no clock is late enough to hide it.
    let rows = held
        .identified(&schema.model, &query, &BTreeMap::new(), Timestamp::MIN)
        .map_err(|error| error.to_string())?;
    let mut entries = Vec::new();
    for (identity, mut row) in rows {
        let aggregates = row.split_off(row.len() - collection.whole().len());
        let whole = row.pop().unwrap_or(Value::Null);
        let positions = collection.source.positions.iter().map(|(_, position)| position);
        let identity: Vec<Value> = identity
            .into_iter()
            .zip(positions)
            .map(|(identity, position)| match is_way_back(&schema.model.conceptual, position) {
                true => {
                    identity.map_or(Value::Null, |identity| lone_key(&schema.model.conceptual, &identity))
                }
                false => position_key(identity),
            })
            .collect();
        let (block, rest) = row.split_at(collection.block_key.len());
        let (entry, held) = rest.split_at(collection.entry_key.len());
        let sorted: Vec<(Value, bool)> = entry
            .iter()
            .zip(&collection.entry_key)
            .map(|(value, field)| (value.clone(), field.descending))
            .collect();
        coverage.row(schema, collection, &identity, block.iter().chain(entry).any(Value::is_null));
        let mut value = Vec::new();
        held.iter().for_each(|held| encode(held, &mut value));
        let each = each_value(&schema.model.conceptual, collection);
        let each = each.and_then(|at| Some((at, &collection.block_key.get(at)?.path)));
        match (each, &whole) {
            _nodes if matches!(collection.contents, Contents::Nested(_)) => {
                let held = |at: PositionId| {
                    let mut value = Vec::new();
                    for (_, held) in
                        collection.fields().iter().zip(held).filter(|(path, _)| path.position == at)
                    {
                        encode(held, &mut value);
                    }
                    for (_, held) in collection.whole().iter().zip(&aggregates).filter(|(own, _)| **own == at)
                    {
                        encode_entry(&schema.model.conceptual, held, &mut value);
                    }
                    value
                };
                entries.extend(nodes(number, collection, block, &identity, &held));
            }
            (Some((at, path)), Value::Record(record)) => {
                for target in held_at(&schema.model.conceptual, record, path) {
                    let mut block = block.to_vec();
                    block[at] = target;
                    entries.push((entry_key(number, &block, in_order(&sorted), &identity), value.clone()));
                }
            }
            (_, _) if collection.role == Role::Carried => {
                let [Value::Reference(identity)] = identity.as_slice() else {
                    return Err(format!("{identity:?} carries something"));
                };
                let master = schema.master_key(schema.master(collection.source.root));
                entries.push((master.carried(identity), value));
            }
            (_, _) => entries.push((entry_key(number, block, in_order(&sorted), &identity), value)),
        }
    }
    Ok(entries)
}

/// The nodes of a row: each under its position and the identities from the root to it.
fn nodes(
    number: u32,
    collection: &Collection,
    block: &[Value],
    identity: &[Value],
    held: &dyn Fn(PositionId) -> Vec<u8>,
) -> Entries {
    let mut nodes = Vec::new();
    for (at, own) in identity.iter().enumerate().filter(|(_, own)| !own.is_null()) {
        let mut above = vec![own.clone()];
        let mut current = PositionId::from_index(at);
        while let Some(hop) = collection.source.positions[current].from {
            current = hop.parent;
            above.insert(0, identity[current.index()].clone());
        }
        let place = Value::Int(i64::try_from(at).unwrap());
        let value = held(PositionId::from_index(at));
        nodes.push((entry_key(number, block, [(&place, false)], &above), value));
    }
    nodes
}

fn definition(collection: &Collection, values: Vec<ColumnValue>) -> Query {
    let columns = values.into_iter().map(|value| Column { name: String::new(), value }).collect();
    Query {
        header: Header::default(),
        fresh: false,
        latency_ms: None,
        positions: collection.source.positions.clone(),
        columns,
        condition: collection.source.condition.clone(),
        group_by: Vec::new(),
        order_by: Vec::new(),
        per_group: None,
        limit: None,
        parameters: Vec::new(),
        identity: Vec::new(),
        stated: Vec::new(),
    }
}

/// Whether a position is reached from the target of a link: then what stands there has no owner in the row.
fn is_way_back(conceptual: &Conceptual, position: &Position) -> bool {
    position.from.is_some_and(|hop| match hop.step {
        Member::End(end) => !conceptual.ends[end].stored,
        Member::Attribute(_) => false,
    })
}

/// A value object by its owner, its field and where it is in it.
fn lone_key(conceptual: &Conceptual, identity: &NodeIdentity) -> Value {
    match identity {
        NodeIdentity::Entity(id) => Value::Reference(id.clone()),
        NodeIdentity::Inside { owner, field, ordinal } => {
            let field = Value::Text(conceptual.member_name(*field).to_owned());
            let at = ordinal.map_or(Value::Null, |at| Value::Int(i64::try_from(at).unwrap()));
            let parts = [lone_key(conceptual, owner), field, at].into_iter().zip(0..);
            Value::List(parts.map(|(value, ordinal)| Element { ordinal, value }).collect())
        }
    }
}

fn position_key(identity: Option<NodeIdentity>) -> Value {
    match identity {
        None => Value::Null,
        Some(NodeIdentity::Entity(id)) => Value::Reference(id),
        Some(NodeIdentity::Inside { ordinal, .. }) => {
            Value::Int(i64::try_from(ordinal.unwrap_or(0)).unwrap())
        }
    }
}

/// Every value that an aggregate holds at the path of an index: through its parts, each once.
fn held_at(conceptual: &Conceptual, record: &Record, path: &Path) -> BTreeSet<Value> {
    let mut records = vec![record];
    for &hop in &path.hops {
        let inner = records.iter().flat_map(|record| match record.get(Member::End(hop)) {
            Value::Record(part) => vec![&**part],
            Value::List(elements) => elements.iter().filter_map(|element| part_of(&element.value)).collect(),
            _none => Vec::new(),
        });
        records = inner.collect();
    }
    let mut held = BTreeSet::new();
    for record in records {
        let value = match path.leaf {
            Leaf::Attribute(id) => record.get(Member::Attribute(id)).clone(),
            Leaf::Reference(id) => record.get(Member::End(id)).clone(),
            Leaf::Itself => record.identity(conceptual).map_or(Value::Null, Value::Reference),
            // No index leads back from a bucket.
            Leaf::Bucket(_) | Leaf::TimeBucket(..) => Value::Null,
        };
        match value {
            Value::Null => {}
            Value::Set(ids) => held.extend(ids.into_iter().map(Value::Reference)),
            Value::List(elements) => held.extend(elements.into_iter().map(|element| element.value)),
            single => {
                held.insert(single);
            }
        }
    }
    held
}

fn part_of(value: &Value) -> Option<&Record> {
    match value {
        Value::Record(part) => Some(part),
        _plain => None,
    }
}

fn in_order(sorted: &[(Value, bool)]) -> impl Iterator<Item = (&Value, bool)> {
    sorted.iter().map(|(value, descending)| (value, *descending))
}
