//! redb: a copy-on-write B-tree in one file, durable in two ways: as it is (after a kill it walks the whole file),
//! and with quick repair (two syncs and the allocator's state in every commit).

use crate::candidate::{CACHE, Candidate, Change, Outcome, Snapshot};
use redb::{Database, ReadOnlyTable, ReadableDatabase, ReadableTable, TableDefinition};
use std::path::Path;

const DATA: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("data");

pub(crate) struct Plain(Database);
pub(crate) struct Quick(Database);

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
}

fn write(database: &Database, changes: &[Change], commit: Commit) -> Outcome {
    let mut transaction = database.begin_write()?;
    match commit {
        Commit::Durable => {}
        Commit::QuickRepair => transaction.set_quick_repair(true),
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
