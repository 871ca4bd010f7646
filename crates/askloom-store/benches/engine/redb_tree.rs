//! redb: a copy-on-write B-tree in one file, durable in three ways:
//! by itself (after a kill it walks the whole file), by itself with quick repair (two syncs and the
//! allocator's state in every commit), and behind a log of ours (one sync of the log; the tree itself is
//! made durable, with quick repair, each time the log is full).

use crate::candidate::{CACHE, Candidate, Change, Outcome, Snapshot};
use redb::{Database, Durability, ReadOnlyTable, ReadableDatabase, ReadableTable, TableDefinition};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

const DATA: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("data");

/// How much log there may be before the tree is made durable: what a reopen has to replay.
const LOG_LIMIT: usize = 16 << 20;

pub(crate) struct Plain(Database);
pub(crate) struct Quick(Database);
pub(crate) struct Logged {
    database: Database,
    log: Mutex<Log>,
}

struct Log {
    file: File,
    bytes: usize,
}

pub(crate) struct RedbSnapshot(ReadOnlyTable<&'static [u8], &'static [u8]>);

impl Candidate for Plain {
    const NAME: &'static str = "redb";
    type Snapshot = RedbSnapshot;

    fn open(folder: &Path) -> Outcome<Self> {
        Ok(Self(open(folder)?))
    }

    fn commit(&self, changes: Vec<Change>) -> Outcome {
        write(&self.0, &changes, Commit::Durable)
    }

    fn snapshot(&self) -> Outcome<RedbSnapshot> {
        snapshot(&self.0)
    }
}

impl Candidate for Quick {
    const NAME: &'static str = "redb quick repair";
    type Snapshot = RedbSnapshot;

    fn open(folder: &Path) -> Outcome<Self> {
        Ok(Self(open(folder)?))
    }

    fn commit(&self, changes: Vec<Change>) -> Outcome {
        write(&self.0, &changes, Commit::QuickRepair)
    }

    fn snapshot(&self) -> Outcome<RedbSnapshot> {
        snapshot(&self.0)
    }
}

impl Candidate for Logged {
    const NAME: &'static str = "redb behind a log";
    type Snapshot = RedbSnapshot;

    /// Replays the log as a real one would: the time of a reopen has to contain it.
    fn open(folder: &Path) -> Outcome<Self> {
        let database = open(folder)?;
        let path = folder.join("log");
        let changes = decode(&std::fs::read(&path).unwrap_or_default());
        write(&database, &changes, Commit::QuickRepair)?;
        let file = OpenOptions::new().create(true).append(true).open(&path)?;
        file.set_len(0)?;
        Ok(Self { database, log: Mutex::new(Log { file, bytes: 0 }) })
    }

    fn commit(&self, changes: Vec<Change>) -> Outcome {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let record = encode(&changes);
        log.file.write_all(&record)?;
        log.file.sync_data()?;
        log.bytes += record.len();
        if log.bytes < LOG_LIMIT {
            return write(&self.database, &changes, Commit::InMemory);
        }
        write(&self.database, &changes, Commit::QuickRepair)?;
        log.bytes = 0;
        Ok(log.file.set_len(0)?)
    }

    fn snapshot(&self) -> Outcome<RedbSnapshot> {
        snapshot(&self.database)
    }
}

impl Snapshot for RedbSnapshot {
    fn get(&self, key: &[u8]) -> Outcome<Option<usize>> {
        Ok(ReadableTable::get(&self.0, key)?.map(|value| value.value().len()))
    }

    fn range(&self, start: &[u8], limit: usize) -> Outcome<usize> {
        let mut read = 0;
        for entry in ReadableTable::range::<&[u8]>(&self.0, start..)?.take(limit) {
            let (key, value) = entry?;
            read += usize::from(!key.value().is_empty() && !value.value().is_empty());
        }
        Ok(read)
    }
}

fn open(folder: &Path) -> Outcome<Database> {
    std::fs::create_dir_all(folder)?;
    let database = Database::builder().set_cache_size(CACHE).create(folder.join("data.redb"))?;
    let transaction = database.begin_write()?;
    transaction.open_table(DATA)?;
    transaction.commit()?;
    Ok(database)
}

enum Commit {
    Durable,
    QuickRepair,
    InMemory,
}

fn write(database: &Database, changes: &[Change], commit: Commit) -> Outcome {
    let mut transaction = database.begin_write()?;
    match commit {
        Commit::Durable => {}
        Commit::QuickRepair => transaction.set_quick_repair(true),
        Commit::InMemory => transaction.set_durability(Durability::None)?,
    }
    let mut table = transaction.open_table(DATA)?;
    for (key, value) in changes {
        match value {
            Some(value) => drop(table.insert(key.as_slice(), value.as_slice())?),
            None => drop(table.remove(key.as_slice())?),
        }
    }
    drop(table);
    Ok(transaction.commit()?)
}

fn snapshot(database: &Database) -> Outcome<RedbSnapshot> {
    Ok(RedbSnapshot(database.begin_read()?.open_table(DATA)?))
}

fn encode(changes: &[Change]) -> Vec<u8> {
    let mut record = Vec::new();
    for (key, value) in changes {
        for part in [Some(key), value.as_ref()] {
            let length = part.map_or(u32::MAX, |bytes| u32::try_from(bytes.len()).unwrap_or(0));
            record.extend(length.to_le_bytes());
            record.extend(part.map_or(&[][..], Vec::as_slice));
        }
    }
    record
}

fn decode(mut log: &[u8]) -> Vec<Change> {
    let mut changes = Vec::new();
    while let (Some(key), value) = (part(&mut log).flatten(), part(&mut log)) {
        let Some(value) = value else { break };
        changes.push((key, value));
    }
    changes
}

/// One length and as many bytes; `None` inside where a value is a delete, outside where the log ends.
fn part(log: &mut &[u8]) -> Option<Option<Vec<u8>>> {
    let (length, rest) = log.split_first_chunk()?;
    let length = u32::from_le_bytes(*length);
    *log = rest;
    if length == u32::MAX {
        return Some(None);
    }
    let (bytes, rest) = log.split_at_checked(usize::try_from(length).ok()?)?;
    *log = rest;
    Some(Some(bytes.to_vec()))
}
