//! Rows become batches, and one batch is written while the next is made.

use super::alone::Alone;
use super::awaited;
use super::incoming::{Incoming, Refusal};
use super::marks::{self, Aside, Mark};
use super::way::{Direct, Way, way};
use crate::block::encode_aggregate;
use crate::database::Database;
use crate::keyspace::encode;
use crate::keyspace::write::load;
use crate::store::{Batch, MAX_KEY, MAX_VALUE, Outcome, Snapshot};
use crate::{KeyedSchema, Keyspace, KeyspaceRecords, Layered, Puts};
use askloom_engine::place::records;
use askloom_engine::write::{
    Inputs, Maker, Phase, entries_of, note_parts, update_some_copies, uuids_needed_by,
};
use askloom_engine::{Changes, Overlay, Reader, Rows, RunError, Stored, System};
use askloom_model::{ClassId, Conceptual, Design, EndId, Identity, Member, Record, Table, Value};
use askloom_plan::ordered_bytes::{encode, prefix_end};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use uuid::Uuid;

/// What a batch holds at most, in bytes: enough to share a sync, little enough to stay in the committer's log.
const BATCH_BYTES: usize = 3 << 20;

/// And at most so many keys.
const BATCH_KEYS: usize = 40_000;

/// What became of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    Loaded,
    Rejected(Refusal),
    /// Its checked reference leads nowhere yet.
    Waits(Refusal),
}

type Answer = Pin<Box<dyn Future<Output = Result<Outcome, crate::store::Error>> + Send>>;

/// Loads rows into a database that nobody else writes to meanwhile.
pub struct Loader<'d> {
    database: &'d mut Database,
    /// The design without what is filled afterwards.
    schema: KeyedSchema,
    ways: HashMap<ClassId, Arc<Way>>,
    /// References whose targets copies rely on.
    relied_on: BTreeSet<EndId>,
    now: jiff::Timestamp,
    snapshot: Snapshot,
    /// What is being written, and on top of it what will be next.
    flight: Arc<Puts>,
    answer: Option<Answer>,
    pending: Puts,
    bytes: usize,
    dry: bool,
}

impl fmt::Debug for Loader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loader").field("pending", &self.pending.len()).finish_non_exhaustive()
    }
}

impl<'d> Loader<'d> {
    /// Begins a load at a clock, which is what `now()` gives and when instances are created unless rows say otherwise.
    pub fn new(database: &'d mut Database, now: jiff::Timestamp) -> Result<Self, RunError> {
        let later = put_off(database)?;
        Ok(Self::with(database, now, &later, false))
    }

    /// Looks at rows as if to load them, and writes nothing. What it would write is kept in memory.
    pub fn rehearsal(database: &'d mut Database, now: jiff::Timestamp) -> Self {
        Self::with(database, now, &BTreeSet::new(), true)
    }

    fn with(database: &'d mut Database, now: jiff::Timestamp, later: &BTreeSet<String>, dry: bool) -> Self {
        let schema = without(database, later);
        let relied_on = awaited::ends(&schema);
        let snapshot = database.store().snapshot();
        Self {
            database,
            schema,
            ways: HashMap::new(),
            relied_on,
            now,
            snapshot,
            flight: Arc::default(),
            answer: None,
            pending: Puts::new(),
            bytes: 0,
            dry,
        }
    }

    #[must_use]
    pub fn conceptual(&self) -> &Conceptual {
        &self.schema.model.conceptual
    }

    /// How far a file had come when it was loaded last.
    pub fn mark(&self, file: &str) -> Result<Option<Mark>, RunError> {
        marks::read(&self.snapshot, file)
    }

    /// Forgets how far a file has come, so that it is loaded from its beginning.
    pub fn restart(&mut self, file: &str) -> Result<(), RunError> {
        marks::forget(&self.snapshot, &mut self.pending, file)
    }

    /// Takes a row. It is written with those after it; [`Self::advance`] says where that may be.
    pub fn row(&mut self, incoming: Incoming) -> Result<Fate, RunError> {
        let way = self.way(incoming.record.class);
        let result = match &*way {
            Way::Careful => self.careful(&incoming),
            Way::Direct(direct) => match self.direct(direct, &incoming) {
                Ok(Some(puts)) => Ok(puts),
                Ok(None) => self.careful(&incoming),
                Err(error) => Err(error),
            },
        };
        let puts = match result.and_then(within_limits) {
            Ok(puts) => puts,
            Err(error) => {
                let waits = matches!(error, RunError::NoSuchTarget { .. });
                let refusal = Refusal::by(error)?;
                return Ok(if waits { Fate::Waits(refusal) } else { Fate::Rejected(refusal) });
            }
        };
        for (key, value) in puts {
            self.bytes += key.len() + value.as_ref().map_or(0, Vec::len);
            self.pending.insert(key, value);
        }
        Ok(Fate::Loaded)
    }

    /// A row that waits is known to the store from the next batch on.
    pub fn put_aside(&mut self, aside: &Aside) {
        marks::put_aside(&mut self.pending, aside);
    }

    /// A row that waited does not any more.
    pub fn take_back(&mut self, aside: &Aside) {
        marks::take_back(&mut self.pending, aside);
    }

    /// Some rows of a file that wait, from an offset on. Rows of the last batches are among them after
    /// [`Self::flush`] alone.
    pub fn aside(&self, file: &str, from: u64, most: usize) -> Result<Vec<Aside>, RunError> {
        let below = Layered { base: &self.snapshot, puts: &self.flight };
        marks::aside(&Layered { base: &below, puts: &self.pending }, file, from, most)
    }

    /// A file has come so far. If enough has gathered, it is written together with the mark.
    pub fn advance(&mut self, file: &str, mark: &Mark) -> Result<(), RunError> {
        if self.bytes >= BATCH_BYTES || self.pending.len() >= BATCH_KEYS {
            self.write(file, mark)?;
        }
        Ok(())
    }

    /// Writes all there is, with a file's mark, and waits for it.
    pub fn flush(&mut self, file: &str, mark: &Mark) -> Result<(), RunError> {
        self.write(file, mark)?;
        self.settle()
    }

    fn write(&mut self, file: &str, mark: &Mark) -> Result<(), RunError> {
        if self.dry {
            return Ok(());
        }
        self.settle()?;
        marks::put(&mut self.pending, file, mark)?;
        self.flight = Arc::new(std::mem::take(&mut self.pending));
        self.bytes = 0;
        let mut batch = Batch::new();
        for (key, value) in self.flight.iter() {
            batch = match value {
                Some(value) => batch.put(key.clone(), value.clone()),
                None => batch.delete(key.clone()),
            };
        }
        let mut answer: Answer = Box::pin(self.database.store().submit(batch));
        // The first poll queues it; from then on the committer works beside this thread.
        if let Poll::Ready(outcome) = answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return self.written(outcome);
        }
        self.answer = Some(answer);
        Ok(())
    }

    /// Waits until what is being written is written.
    fn settle(&mut self) -> Result<(), RunError> {
        match self.answer.take() {
            Some(answer) => {
                let outcome = block_on(answer);
                self.written(outcome)
            }
            None => Ok(()),
        }
    }

    fn written(&mut self, outcome: Result<Outcome, crate::store::Error>) -> Result<(), RunError> {
        match outcome? {
            Outcome::Committed { .. } => {
                self.snapshot = self.database.store().snapshot();
                self.flight = Arc::default();
                Ok(())
            }
            Outcome::Conflict(_) => Err(RunError::Conflict),
        }
    }

    /// Fills the copies that were left aside. Everything must have been flushed before.
    pub fn finish(mut self, progress: &mut crate::database::Progress<'_>) -> Result<u64, RunError> {
        self.settle()?;
        if self.dry {
            return Ok(0);
        }
        self.database.fill(progress)
    }

    /// References of a loaded record that lead to nothing, by their fields.
    pub fn dangling(&self, record: &Record) -> Result<Vec<String>, RunError> {
        let below = Layered { base: &self.snapshot, puts: &self.flight };
        let state = Layered { base: &below, puts: &self.pending };
        let records = KeyspaceRecords { schema: &self.schema, keyspace: &state };
        super::dangling::dangling(&Reader::new(&records), record, self.now)
    }

    fn way(&mut self, class: ClassId) -> Arc<Way> {
        let schema = &self.schema;
        Arc::clone(self.ways.entry(class).or_insert_with(|| Arc::new(way(schema, class))))
    }

    fn inputs(&self, record: &Record, makes_uuids: bool) -> Result<Inputs, RunError> {
        let count = if makes_uuids { uuids_needed_by(&self.schema.model, record)? } else { 0 };
        Ok(Inputs { now: self.now, uuids: (0..count).map(|_| Uuid::now_v7()).collect(), id: None })
    }

    /// As the write path does it, on the state with all rows before this one.
    fn careful(&self, incoming: &Incoming) -> Result<Puts, RunError> {
        let inputs = self.inputs(&incoming.record, true)?;
        let below = Layered { base: &self.snapshot, puts: &self.flight };
        let state = Layered { base: &below, puts: &self.pending };
        let mut puts = Puts::new();
        let phase = self.look_ahead(&state, &incoming.record, &mut puts)?;
        let (change, identity) = load(&self.schema, &state, incoming.record.clone(), phase, &inputs)?;
        puts.extend(change.puts);
        if !incoming.past.is_empty()
            && let Some((_, master)) = self.schema.master_of(incoming.record.class)
            && let Some(Some(entry)) = puts.get_mut(&self.schema.master_key(master).system(&identity))
        {
            let mut system = System::decode(entry)?;
            incoming.past.note(&mut system);
            *entry = system.encode();
        }
        Ok(puts)
    }

    /// All that is put for a new aggregate. Nothing if the write path has to judge what is met.
    fn direct(&self, direct: &Direct, incoming: &Incoming) -> Result<Option<Puts>, RunError> {
        let conceptual = &self.schema.model.conceptual;
        let inputs = self.inputs(&incoming.record, direct.makes_uuids)?;
        let record = Maker::of(conceptual, &inputs).complete(incoming.record.clone())?;
        let Some(identity) = record.identity(conceptual) else { return Ok(None) };
        let below = Layered { base: &self.snapshot, puts: &self.flight };
        let state = Layered { base: &below, puts: &self.pending };
        let keys = self.schema.master_key(direct.master);
        let system_key = keys.system(&identity);
        let mut system = System { created: self.now.as_microsecond(), ..System::default() };
        if let Some(former) = state.get(&system_key)? {
            let former = System::decode(&former)?;
            if former.deleted.is_none() {
                return if direct.expires { Ok(None) } else { Err(RunError::AlreadyExists) };
            }
            // Versions and what is known of past writes go on where a former one of that id has ended.
            system = System { version: former.version, epoch: former.epoch, writes: former.writes, ..system };
        }
        if direct.parts_collide && parts_collide(conceptual, &record) {
            return Ok(None);
        }
        let mut stored = Stored { record, system };
        note_parts(conceptual, &mut stored, self.now);
        incoming.past.note(&mut stored.system);
        let mut written = stored.system.clone();
        written.next_version(self.now);
        let mut puts = Puts::new();
        puts.insert(system_key, Some(written.encode()));
        for (path, entry) in encode_aggregate(&self.schema, direct.root, &stored.record)? {
            puts.insert(keys.entry(&identity, &path), Some(entry));
        }
        let aggregate = (direct.root, identity);
        let stored = Arc::new(stored);
        if !self.own(direct, &aggregate, &stored, &state, &mut puts)? {
            return Ok(None);
        }
        if !direct.joined.is_empty() {
            let phase = self.look_ahead(&state, &stored.record, &mut puts)?;
            let records = KeyspaceRecords { schema: &self.schema, keyspace: &state };
            let reader = Reader::new(&records);
            let mut overlay = Overlay::new(&reader);
            overlay.changed.insert(aggregate, Some(stored));
            let mut changes = Changes::default();
            update_some_copies(&reader, &overlay, direct.joined.iter().copied(), phase, &mut changes)?;
            puts.extend(encode::puts(&records, &changes)?);
        }
        Ok(Some(puts))
    }

    /// Whether an earlier row refers to this one. What this one refers to and is not there yet is noted.
    fn look_ahead(&self, state: &dyn Keyspace, record: &Record, puts: &mut Puts) -> Result<Phase, RunError> {
        if self.relied_on.is_empty() {
            return Ok(Phase::Running);
        }
        let phase = awaited::phase(&self.schema.model.conceptual, state, record, puts)?;
        let records = KeyspaceRecords { schema: &self.schema, keyspace: state };
        awaited::note(&Reader::new(&records), &self.relied_on, record, self.now, puts)?;
        Ok(phase)
    }

    /// The entries of copies that are made of the aggregate alone. False if something is met that may have expired.
    fn own(
        &self,
        direct: &Direct,
        aggregate: &(ClassId, Identity),
        stored: &Arc<Stored>,
        state: &dyn Keyspace,
        puts: &mut Puts,
    ) -> Result<bool, RunError> {
        let alone = Alone { schema: &self.schema, aggregate, stored: Arc::clone(stored) };
        let mut row = Vec::new();
        encode(&Value::Reference(aggregate.1.clone()), &mut row);
        for (copy, reserved) in &direct.own {
            let mut rows = Rows::new();
            entries_of(&alone, *copy, aggregate, &mut rows)?;
            for (key, content) in &rows {
                let key = encode::row_key(&self.schema, *copy, key);
                if let Some(reserved) = reserved {
                    let value = key.get(4..key.len().saturating_sub(row.len())).unwrap_or_default();
                    if is_taken(state, &reserved.indexes, value)? {
                        return match (&reserved.field, direct.expires) {
                            (_, true) => Ok(false),
                            (Some(field), false) => Err(RunError::NotUnique { field: field.clone() }),
                            (None, false) => Err(RunError::AlreadyExists),
                        };
                    }
                }
                puts.insert(key, Some(encode::row_value(&self.schema, content)));
            }
        }
        Ok(true)
    }
}

/// Whether any of the indexes has an entry for a value in bytes.
fn is_taken(state: &dyn Keyspace, indexes: &[u32], value: &[u8]) -> Result<bool, RunError> {
    for number in indexes {
        let mut prefix = number.to_be_bytes().to_vec();
        prefix.extend_from_slice(value);
        let mut found = false;
        state.scan(&prefix, prefix_end(&prefix).as_deref(), false, &mut |_, _| {
            found = true;
            Ok(false)
        })?;
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether two parts of one record have the same id or unique value.
fn parts_collide(conceptual: &Conceptual, record: &Record) -> bool {
    let mut ids: HashSet<(ClassId, Identity)> = HashSet::new();
    let mut values: HashSet<(Member, &Value)> = HashSet::new();
    for (_, part) in records(record) {
        let top = conceptual.lineage(part.class).last().copied().unwrap_or(part.class);
        if let Some(identity) = part.identity(conceptual)
            && !ids.insert((top, identity))
        {
            return true;
        }
        for (&member, value) in &part.fields {
            let unique = match member {
                Member::Attribute(id) => conceptual.attributes[id].unique,
                Member::End(id) => conceptual.ends[id].unique,
            };
            if unique && !values.insert((member, value)) {
                return true;
            }
        }
    }
    false
}

/// Refuses what the store could not take, before it spoils a batch.
fn within_limits(puts: Puts) -> Result<Puts, RunError> {
    for (key, value) in &puts {
        if key.len() > MAX_KEY {
            let message = format!("a key has {} bytes, and may have {MAX_KEY}", key.len());
            return Err(RunError::TooLarge(message));
        }
        let length = value.as_ref().map_or(0, Vec::len);
        if length > MAX_VALUE {
            return Err(RunError::TooLarge(format!("a value has {length} bytes, and may have {MAX_VALUE}")));
        }
    }
    Ok(puts)
}

/// The design without some copies, by the numbers that the store has for it.
fn without(database: &Database, later: &BTreeSet<String>) -> KeyedSchema {
    let schema = database.schema();
    let mut collections = Table::default();
    let mut numbers = HashMap::new();
    for (id, collection) in schema.design.collections.iter() {
        if !later.contains(&collection.name) {
            numbers.insert(collection.name.clone(), schema.number(id));
            collections.push(collection.clone());
        }
    }
    let filling = database.filling().filter(|name| !later.contains(*name)).map(str::to_owned).collect();
    let design = Design { method: schema.design.method.clone(), collections };
    KeyedSchema::numbered(schema.model.clone(), design, &numbers, &filling)
}

/// Takes the copies that join several aggregates out of use, where nothing is in them yet. Their names.
fn put_off(database: &mut Database) -> Result<BTreeSet<String>, RunError> {
    let schema = database.schema();
    let conceptual = &schema.model.conceptual;
    let snapshot = database.store().snapshot();
    let is_empty = |number: u32| -> Result<bool, RunError> { Ok(!is_taken(&snapshot, &[number], &[])?) };
    let mut masters_are_empty = true;
    for (_, master) in schema.masters() {
        masters_are_empty &= is_empty(schema.number(master))?;
    }
    let filling: BTreeSet<String> = database.filling().map(str::to_owned).collect();
    let mut later = BTreeSet::new();
    for id in schema.copies() {
        let collection = &schema.design.collections[id];
        let joins = !super::way::is_own(conceptual, collection);
        if !joins || !database.is_catalogued() || !is_empty(schema.number(id))? {
            continue;
        }
        let is_filling = filling.contains(&collection.name) && !database.has_mark(id)?;
        if is_filling || masters_are_empty {
            later.insert(collection.name.clone());
        }
    }
    drop(snapshot);
    database.put_off(later.iter().cloned())?;
    Ok(later)
}

/// Waits for a future on this thread.
fn block_on<T>(mut future: Pin<Box<dyn Future<Output = T> + Send>>) -> T {
    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(result) => return result,
            Poll::Pending => std::thread::park(),
        }
    }
}
