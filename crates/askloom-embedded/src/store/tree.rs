//! The keyspace itself: a copy-on-write B-tree of redb in one file. The only place that knows redb's tables.
//!
//! A group that the log holds is committed to the tree in memory; a *checkpoint* commits durably, with all
//! that came before, the position and the log's next epoch. Checkpoints use quick repair: redb then opens
//! after a crash without a walk over the file.

use super::Error;
use super::batch::Change;
use super::disk::{Medium, Shared};
use redb::{
    Database, Durability, ReadOnlyTable, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction,
};

pub(super) type Table = ReadOnlyTable<&'static [u8], &'static [u8]>;

const DATA: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("data");
const STATE: TableDefinition<'_, &str, u64> = TableDefinition::new("state");
const EPOCH: &str = "epoch";
const POSITION: &str = "position";
const CAPACITY: &str = "log capacity";

#[derive(Debug)]
pub(super) struct Tree {
    database: Database,
}

/// What the last checkpoint said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    /// The records of the log that the tree does not hold yet.
    pub(super) epoch: u64,
    pub(super) position: u64,
    /// How long the log is at least: a shorter one has lost something.
    pub(super) capacity: u64,
}

impl Tree {
    /// Opens what is there; an empty medium becomes an empty tree.
    pub(super) fn open(medium: Medium, cache: usize) -> Result<(Self, Mark), Error> {
        let database = Database::builder().set_cache_size(cache).create_with_backend(Shared(medium))?;
        let tree = Self { database };
        let mark = tree.mark()?;
        Ok((tree, mark))
    }

    /// A tree that was just made has no tables yet; both come with its first checkpoint.
    fn mark(&self) -> Result<Mark, Error> {
        let transaction = self.database.begin_read()?;
        let state = match transaction.open_table(STATE) {
            Ok(state) => state,
            Err(redb::TableError::TableDoesNotExist(_)) => {
                return Ok(Mark { epoch: 0, position: 0, capacity: 0 });
            }
            Err(error) => return Err(error.into()),
        };
        let number = |name| Ok::<_, Error>(ReadableTable::get(&state, name)?.map(|found| found.value()));
        match (number(EPOCH)?, number(POSITION)?, number(CAPACITY)?) {
            (Some(epoch), Some(position), Some(capacity)) => Ok(Mark { epoch, position, capacity }),
            (_, _, _) => Err(Error::corrupted("the tree does not say how much of the log it holds")),
        }
    }

    /// The state as it is now, for readers.
    pub(super) fn view(&self) -> Result<Table, Error> {
        Ok(self.database.begin_read()?.open_table(DATA)?)
    }

    /// Opens a group: one at a time, and only the committer does.
    pub(super) fn begin(&self) -> Result<Group, Error> {
        Ok(Group { transaction: self.database.begin_write()? })
    }
}

/// Changes on their way into the tree. Dropped without a commit, they never were.
pub(super) struct Group {
    transaction: WriteTransaction,
}

/// The keyspace as the group has it so far.
pub(super) type Draft<'g> = redb::Table<'g, &'static [u8], &'static [u8]>;

impl Group {
    pub(super) fn draft(&self) -> Result<Draft<'_>, Error> {
        Ok(self.transaction.open_table(DATA)?)
    }

    /// For readers now, on the medium with the next checkpoint: until then the log answers for it.
    pub(super) fn commit_to_memory(mut self) -> Result<(), Error> {
        self.transaction.set_durability(Durability::None)?;
        Ok(self.transaction.commit()?)
    }

    /// On the medium when it returns, together with everything before.
    pub(super) fn checkpoint(mut self, mark: Mark) -> Result<(), Error> {
        let mut state = self.transaction.open_table(STATE)?;
        state.insert(EPOCH, mark.epoch)?;
        state.insert(POSITION, mark.position)?;
        state.insert(CAPACITY, mark.capacity)?;
        drop(state);
        self.transaction.set_quick_repair(true);
        Ok(self.transaction.commit()?)
    }
}

pub(super) fn apply(draft: &mut Draft<'_>, change: &Change) -> Result<(), Error> {
    match change {
        Change::Put { key, value } => drop(draft.insert(key.as_slice(), value.as_slice())?),
        Change::Delete { key } => drop(draft.remove(key.as_slice())?),
    }
    Ok(())
}
