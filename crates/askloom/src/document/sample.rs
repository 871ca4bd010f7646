//! A few items of each collection, of data that is made up by the model's statistics.

use super::Subject;
use crate::words;
use askloom_embedded::codec::{BlockEntry, block_prefix, decode_entry, split_entry};
use askloom_embedded::keyspace::write as keyed;
use askloom_embedded::{KeyedSchema, Memory};
use askloom_engine::write::{Inputs, Phase};
use askloom_model::{
    AccessPath, ClassId, Collection, CollectionId, Conceptual, Contents, Design, Identity, Leaf, Model, Path,
    PositionId, Record, Type, Value, identity_to_json, to_json,
};
use askloom_oracle::generate::{Generator, Options, few};
use askloom_plan::ordered_bytes::decode;
use askloom_plan::partition::Entries;
use serde::Serialize;
use serde_json::Value as Json;

/// Instances of each class that are made up.
const INSTANCES: u64 = 4;
/// So many that some of them are none of the few.
const MANY: u64 = 16;
/// Elements of each list, at most.
const ELEMENTS: u64 = 3;
/// Bytes of each text, at most.
const LETTERS: u64 = 60;
/// Items that are shown of each collection.
const ITEMS: usize = 8;
/// The clock of the sample: nothing in it has expired.
pub(super) const NOW: jiff::Timestamp = jiff::Timestamp::UNIX_EPOCH;

#[derive(Debug, Clone, Serialize)]
pub struct Sample {
    pub columns: Vec<String>,
    /// How many of the columns make up the key.
    pub keys: usize,
    pub rows: Vec<Vec<String>>,
    /// The key of each row in the store.
    #[serde(skip)]
    pub(super) stored: Vec<Vec<u8>>,
}

/// A small store of made-up data.
pub(crate) struct Made {
    pub(crate) schema: KeyedSchema,
    pub(crate) keyspace: Memory,
    /// What is in it, as it was put there.
    pub(super) records: Vec<Record>,
    /// Of each class an aggregate that is not there yet.
    pub(super) spare: Vec<Record>,
}

impl Made {
    pub(super) fn of(subject: &Subject<'_>) -> Self {
        Self::new(subject.model, subject.design)
    }

    pub(crate) fn new(model: &Model, design: &Design) -> Self {
        Self::at(model, design, NOW)
    }

    /// As it was made at some time.
    pub(crate) fn at(model: &Model, design: &Design, now: jiff::Timestamp) -> Self {
        let schema = KeyedSchema::new(model.clone(), design.clone());
        let options = Options { seed: 7, ..Options::default() };
        let mut made = Self { schema, keyspace: Memory::new(), records: Vec::new(), spare: Vec::new() };
        let few = small(model, INSTANCES);
        for (_, record) in Generator::new(&few, options.clone()).records() {
            made.store(record, now);
        }
        made.spare = made.spares(&small(model, MANY), options);
        made
    }

    /// An aggregate of each class that is none of those that are stored.
    fn spares(&self, larger: &Model, options: Options) -> Vec<Record> {
        let conceptual = &larger.conceptual;
        let generator = Generator::new(larger, options);
        let is_new = |record: &Record| {
            let identity = record.identity(conceptual);
            self.records.iter().all(|known| known.identity(conceptual) != identity)
        };
        let spare = |class: ClassId| {
            let mut all = (0..generator.count(class)).filter_map(|n| generator.aggregate(class, n));
            all.find(is_new)
        };
        conceptual.classes.ids().filter_map(spare).collect()
    }

    /// What cannot be stored (a bound that the few instances do not reach) is left out: it is a sample.
    fn store(&mut self, record: Record, now: jiff::Timestamp) {
        let inputs = Inputs { now, uuids: Vec::new(), id: None };
        let stored = keyed::load(&self.schema, &self.keyspace, record.clone(), Phase::Loading, &inputs);
        if let Ok((change, _)) = stored {
            change.apply(&mut self.keyspace);
            self.records.push(record);
        }
    }

    /// A sample for each collection, in the order of the design.
    pub(super) fn samples(&self) -> Vec<Sample> {
        self.schema.design.collections.ids().map(|id| self.sample(id)).collect()
    }

    fn sample(&self, id: CollectionId) -> Sample {
        let reader = self.reader(id);
        let prefix = self.prefix(id);
        let entries = self.keyspace.range(prefix.clone()..).take_while(|(key, _)| key.starts_with(&prefix));
        let rows = entries.filter_map(|(key, value)| Some((key.clone(), reader.row(key, value)?)));
        let (stored, rows) = rows.take(ITEMS).unzip();
        Sample { columns: reader.columns(), keys: reader.keys(), rows, stored }
    }

    fn reader(&self, id: CollectionId) -> Reader<'_> {
        let schema = &self.schema;
        Reader { schema, conceptual: &schema.model.conceptual, collection: &schema.design.collections[id] }
    }

    /// What the keys of a collection begin with.
    pub(super) fn prefix(&self, id: CollectionId) -> Vec<u8> {
        block_prefix(self.schema.number(id), &[])
    }

    /// Whether an entry is an item of the collection, and not what the store keeps beside them.
    pub(super) fn is_item(&self, id: CollectionId, key: &[u8], value: &[u8]) -> bool {
        self.reader(id).row(key, value).is_some()
    }
}

/// The model with few instances and short lists.
fn small(model: &Model, instances: u64) -> Model {
    few(model, instances, ELEMENTS, LETTERS)
}

/// Puts the entries of a collection into words.
struct Reader<'r> {
    schema: &'r KeyedSchema,
    conceptual: &'r Conceptual,
    collection: &'r Collection,
}

impl Reader<'_> {
    fn path(&self, path: &Path) -> String {
        words::path(self.conceptual, &self.collection.source.positions, path)
    }

    fn columns(&self) -> Vec<String> {
        let keys = self.collection.block_key.iter().map(|field| self.path(&field.path));
        let positions = &self.collection.source.positions;
        let position = |at: PositionId| match words::position_text(self.conceptual, positions, at) {
            name if name.is_empty() => self.conceptual.classes[self.collection.source.root].name.clone(),
            name => name,
        };
        match &self.collection.contents {
            Contents::Aggregate(_) => {
                let sorted = self.collection.entry_key.iter().map(|field| self.path(&field.path));
                keys.chain(sorted).chain(["entry".to_owned(), "value".to_owned()]).collect()
            }
            Contents::Fields(fields) => {
                let sorted = self.collection.entry_key.iter().map(|field| self.path(&field.path));
                let row = positions.ids().map(|at| format!("{} id", position(at)));
                keys.chain(sorted).chain(row).chain(fields.iter().map(|path| self.path(path))).collect()
            }
            Contents::Nested(_) => {
                keys.chain(["node".to_owned(), "id".to_owned(), "value".to_owned()]).collect()
            }
        }
    }

    fn keys(&self) -> usize {
        let block = self.collection.block_key.len();
        match &self.collection.contents {
            Contents::Aggregate(_) => block + self.collection.entry_key.len() + 1,
            Contents::Fields(_) => {
                block + self.collection.entry_key.len() + self.collection.source.positions.len()
            }
            Contents::Nested(_) => block + 2,
        }
    }

    /// Nothing for what is no data.
    fn row(&self, key: &[u8], value: &[u8]) -> Option<Vec<String>> {
        match &self.collection.contents {
            Contents::Aggregate(_) => self.entry(key, value),
            Contents::Fields(fields) => {
                let positions = self.collection.source.positions.len();
                let parts =
                    split_entry(key, self.collection.block_key.len(), &self.collection.entry_key, positions)
                        .ok()?;
                let keys = self.collection.block_key.iter().chain(&self.collection.entry_key);
                let keys = keys.map(|field| field.path.leaf).zip(parts.block.iter().chain(&parts.fields));
                let mut row: Vec<String> = keys.map(|(leaf, value)| self.text(leaf, value)).collect();
                let classes = self.collection.source.positions.iter().map(|(_, position)| position.class);
                row.extend(classes.zip(&parts.row).map(|(class, value)| self.identity(class, value)));
                let mut rest = value;
                for field in fields {
                    row.push(self.text(field.leaf, &decode(&mut rest).ok()?));
                }
                Some(row)
            }
            Contents::Nested(nodes) => self.node(nodes, key, value),
        }
    }

    fn entry(&self, key: &[u8], value: &[u8]) -> Option<Vec<String>> {
        let master = self.schema.design.master(self.collection.source.root)?;
        let (identity, rest) = self.schema.master_key(master).split(key).ok()?;
        let path = match BlockEntry::decode(rest).ok()? {
            BlockEntry::System => return None,
            BlockEntry::Aggregate(path) => path,
            BlockEntry::Carried => return self.carried(&identity, value),
        };
        let mut row = self.identity_parts(&identity);
        let mut bytes = value;
        let value = decode_entry(self.conceptual, self.schema, &mut bytes).ok()?;
        row.push(if path.0.is_empty() { "#".to_owned() } else { path.to_string() });
        row.push(self.piece(&path, value));
        Some(row)
    }

    /// What a block carries of others.
    fn carried(&self, identity: &Identity, mut value: &[u8]) -> Option<Vec<String>> {
        let carried = self.schema.design.carried(self.collection.source.root)?;
        let mut held = Vec::new();
        for field in self.schema.design.collections[carried].fields() {
            let text = self.text(field.leaf, &decode(&mut value).ok()?);
            held.push(format!("{} {text}", self.path(field)));
        }
        let mut row = self.identity_parts(identity);
        row.extend(["carried".to_owned(), held.join(", ")]);
        Some(row)
    }

    fn identity_parts(&self, identity: &Identity) -> Vec<String> {
        let leaves = self.collection.key_fields().map(|field| field.path.leaf);
        let fields = self.conceptual.master_fields(self.collection).unwrap_or_default();
        leaves.zip(fields).map(|(leaf, field)| self.text(leaf, &field.value(identity))).collect()
    }

    /// A piece of an aggregate as JSON.
    fn piece(&self, path: &AccessPath, value: Value) -> String {
        if let Value::Record(record) = &value {
            return record.to_json(self.conceptual, record.class).to_string();
        }
        // What the piece is follows from where it is: put back there, it is a record again.
        let mut entries = Entries::new();
        entries.insert(path.clone(), value);
        let joined = askloom_plan::partition::join(self.conceptual, self.collection.source.root, entries);
        joined.map(|record| innermost(&record.to_json(self.conceptual, record.class))).unwrap_or_default()
    }

    fn node(&self, nodes: &askloom_model::Nodes, key: &[u8], value: &[u8]) -> Option<Vec<String>> {
        let mut rest = key.get(block_prefix(0, &[]).len()..)?;
        let mut row = Vec::new();
        for field in &self.collection.block_key {
            row.push(self.text(field.path.leaf, &decode(&mut rest).ok()?));
        }
        let Value::Int(at) = decode(&mut rest).ok()? else { return None };
        let at = <PositionId as askloom_model::Id>::from_index(usize::try_from(at).ok()?);
        let positions = &self.collection.source.positions;
        let mut identity = Value::Null;
        while !rest.is_empty() {
            identity = decode(&mut rest).ok()?;
        }
        row.push(match words::position_text(self.conceptual, positions, at) {
            name if name.is_empty() => self.conceptual.classes[self.collection.source.root].name.clone(),
            name => name,
        });
        row.push(self.identity(positions[at].class, &identity));
        let mut bytes = value;
        let mut values = Vec::new();
        for field in nodes.fields.iter().filter(|field| field.position == at) {
            values.push(format!("{} {}", self.path(field), self.text(field.leaf, &decode(&mut bytes).ok()?)));
        }
        if nodes.whole.contains(&at)
            && let Value::Record(record) = decode_entry(self.conceptual, self.schema, &mut bytes).ok()?
        {
            values.push(record.to_json(self.conceptual, record.class).to_string());
        }
        row.push(values.join(", "));
        Some(row)
    }

    fn text(&self, leaf: Leaf, value: &Value) -> String {
        match (leaf, value) {
            (_, Value::Null) => String::new(),
            (Leaf::Attribute(id), Value::List(elements)) => {
                let ty = &self.conceptual.attributes[id].ty;
                let each = elements.iter().map(|element| plain(&to_json(&element.value, ty)));
                each.collect::<Vec<_>>().join(", ")
            }
            (Leaf::Attribute(id), value) => plain(&to_json(value, &self.conceptual.attributes[id].ty)),
            (Leaf::Reference(id), value) => self.identity(Some(self.conceptual.ends[id].target), value),
            (Leaf::Bucket(_), value) => plain(&to_json(value, &Type::Int)),
            (Leaf::TimeBucket(..), value) => plain(&to_json(value, &Type::Text)),
            (Leaf::Itself, value) => self.identity(Some(self.collection.source.root), value),
        }
    }

    fn identity(&self, class: Option<ClassId>, value: &Value) -> String {
        match (class, value) {
            (Some(class), Value::Reference(identity)) => {
                plain(&identity_to_json(self.conceptual, class, identity))
            }
            (_, Value::Set(ids)) => {
                let class = class.unwrap_or(self.collection.source.root);
                let each = ids.iter().map(|id| plain(&identity_to_json(self.conceptual, class, id)));
                each.collect::<Vec<_>>().join(", ")
            }
            (_, Value::Int(ordinal)) => ordinal.to_string(),
            (_, Value::Text(text)) => text.clone(),
            (_, Value::Uuid(uuid)) => uuid.to_string(),
            (_, Value::Null) => String::new(),
            (_, _other) => "…".to_owned(),
        }
    }
}

pub(super) fn plain(json: &Json) -> String {
    match json {
        Json::String(text) => text.clone(),
        Json::Object(members) => members.values().map(plain).collect::<Vec<_>>().join(" / "),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) => json.to_string(),
    }
}

/// The one value in objects of one member each.
fn innermost(json: &Json) -> String {
    match json {
        Json::Object(members) if members.len() == 1 => {
            members.values().next().map(innermost).unwrap_or_default()
        }
        Json::Array(items) if items.len() == 1 => items.first().map(innermost).unwrap_or_default(),
        Json::String(text) => text.clone(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => json.to_string(),
    }
}
