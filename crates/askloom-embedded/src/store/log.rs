//! What has been committed since the tree was last made durable: one record a group, appended and synced.
//!
//! The file has one length and is written from its start again each time the tree catches up: a sync of blocks
//! that exist already is several times cheaper than one that makes a file longer. Which records count is said by
//! their epoch: the tree holds the current one, durably, so that a checkpoint empties the log by itself.
//! Reading stops at the first record that is torn or of another epoch.
//!
//! ```text
//! record  = checksum u32 | length u32 | epoch u64 | position u64 | change …      all little-endian
//! change  = key length u32 | value length u32, or all ones for a delete | key | value
//! ```

use super::Error;
use super::batch::Change;
use super::disk::Medium;
use super::tree::Mark;

const HEADER: usize = 24;
const DELETE: u32 = u32::MAX;
const MOST_KEPT: usize = 8 << 20;

#[derive(Debug)]
pub(super) struct Log {
    medium: Medium,
    capacity: u64,
    epoch: u64,
    /// Where the next record goes.
    end: u64,
}

/// The changes of one group, in the form they have in the log.
#[derive(Debug, Default)]
pub(super) struct Record(Vec<u8>);

impl Record {
    pub(super) fn clear(&mut self) {
        self.0.clear();
        // One large group does not cost its memory for ever.
        self.0.shrink_to(MOST_KEPT);
    }

    pub(super) fn push(&mut self, change: &Change) {
        if self.0.is_empty() {
            self.0.resize(HEADER, 0);
        }
        let (key, value) = match change {
            Change::Put { key, value } => (key, Some(value)),
            Change::Delete { key } => (key, None),
        };
        self.0.extend(length(key).to_le_bytes());
        self.0.extend(value.map_or(DELETE, |value| length(value)).to_le_bytes());
        self.0.extend(key);
        self.0.extend(value.map_or(&[][..], Vec::as_slice));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn seal(&mut self, epoch: u64, position: u64) -> &[u8] {
        let payload = u32::try_from(self.0.len().saturating_sub(HEADER)).unwrap_or(u32::MAX);
        let header = [&payload.to_le_bytes()[..], &epoch.to_le_bytes(), &position.to_le_bytes()].concat();
        if let Some(place) = self.0.get_mut(4..HEADER) {
            place.copy_from_slice(&header);
        }
        let checksum = crc32fast::hash(self.0.get(4..).unwrap_or_default());
        if let Some(place) = self.0.get_mut(..4) {
            place.copy_from_slice(&checksum.to_le_bytes());
        }
        &self.0
    }
}

impl Log {
    /// A log without records, in the epoch of `mark`, which the tree holds already.
    pub(super) fn start(medium: Medium, mark: Mark) -> Result<Self, Error> {
        if medium.len()? > mark.capacity {
            medium.set_len(mark.capacity)?;
        }
        Ok(Self { medium, capacity: mark.capacity, epoch: mark.epoch, end: 0 })
    }

    pub(super) fn has_room(&self, record: &Record) -> bool {
        self.end + record.0.len() as u64 <= self.capacity
    }

    pub(super) fn is_empty(&self) -> bool {
        self.end == 0
    }

    /// What the tree has to say when it holds all records.
    pub(super) fn next_mark(&self, position: u64) -> Mark {
        Mark { epoch: self.epoch + 1, position, capacity: self.capacity }
    }

    pub(super) fn append(&mut self, record: &mut Record, position: u64) -> Result<(), Error> {
        let bytes = record.seal(self.epoch, position);
        self.medium.write(self.end, bytes)?;
        self.end += bytes.len() as u64;
        Ok(())
    }

    pub(super) fn sync(&self) -> Result<(), Error> {
        Ok(self.medium.sync_data()?)
    }

    /// The tree holds all records and the next epoch: start over.
    pub(super) fn restart(&mut self) {
        self.epoch += 1;
        self.end = 0;
    }
}

/// Makes the file at least as long as `capacity`, with blocks for all of it, before anything says it is so long.
pub(super) fn reserve(medium: &Medium, capacity: usize) -> Result<u64, Error> {
    static ZEROS: [u8; 64 << 10] = [0; 64 << 10];
    // At least a header, so that the file is never empty.
    let capacity = capacity.max(HEADER) as u64;
    let mut length = medium.len()?;
    if length >= capacity {
        return Ok(capacity);
    }
    medium.set_len(capacity)?;
    while length < capacity {
        let step = usize::try_from(capacity - length).map_or(ZEROS.len(), |rest| rest.min(ZEROS.len()));
        medium.write(length, ZEROS.get(..step).unwrap_or_default())?;
        length += step as u64;
    }
    medium.sync_data()?;
    Ok(capacity)
}

/// One group as it was found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) position: u64,
    pub(super) changes: Vec<Change>,
}

/// Calls `apply` with each group of `epoch` in the log.
pub(super) fn replay(
    medium: &Medium,
    epoch: u64,
    mut apply: impl FnMut(Found) -> Result<(), Error>,
) -> Result<(), Error> {
    let (mut at, length) = (0, medium.len()?);
    while at + HEADER as u64 <= length {
        let mut header = [0; HEADER];
        medium.read(at, &mut header)?;
        let Some(header) = Header::read(&header) else { return Ok(()) };
        let end = at + HEADER as u64 + u64::from(header.length);
        if header.epoch != epoch || end > length {
            return Ok(());
        }
        let mut rest = vec![0; usize::try_from(end - at).unwrap_or(0).saturating_sub(4)];
        medium.read(at + 4, &mut rest)?;
        if crc32fast::hash(&rest) != header.checksum {
            return Ok(());
        }
        apply(Found {
            position: header.position,
            changes: changes(rest.get(HEADER - 4..).unwrap_or_default())?,
        })?;
        at = end;
    }
    Ok(())
}

struct Header {
    checksum: u32,
    length: u32,
    epoch: u64,
    position: u64,
}

impl Header {
    fn read(mut bytes: &[u8]) -> Option<Self> {
        let bytes = &mut bytes;
        let (checksum, length) = (number(bytes)?, number(bytes)?);
        let (epoch, rest) = bytes.split_first_chunk()?;
        let (position, _) = rest.split_first_chunk()?;
        let (epoch, position) = (u64::from_le_bytes(*epoch), u64::from_le_bytes(*position));
        Some(Self { checksum, length, epoch, position })
    }
}

/// The checksum was right: what cannot be read now was written by another program.
fn changes(mut bytes: &[u8]) -> Result<Vec<Change>, Error> {
    let mut changes = Vec::new();
    while !bytes.is_empty() {
        let change = change(&mut bytes).ok_or_else(|| Error::corrupted("a record of the log has no end"))?;
        changes.push(change);
    }
    Ok(changes)
}

fn change(bytes: &mut &[u8]) -> Option<Change> {
    let (key, value) = (number(bytes)?, number(bytes)?);
    let key = take(bytes, key)?;
    Some(match value {
        DELETE => Change::Delete { key },
        length => Change::Put { key, value: take(bytes, length)? },
    })
}

fn number(bytes: &mut &[u8]) -> Option<u32> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u32::from_le_bytes(*number))
}

fn take(bytes: &mut &[u8], length: u32) -> Option<Vec<u8>> {
    let (taken, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    *bytes = rest;
    Some(taken.to_vec())
}

/// Keys and values were measured before they came here.
fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(DELETE - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use redb::backends::InMemoryBackend;
    use std::sync::Arc;

    fn change(n: u8) -> Change {
        let key = vec![n; usize::from(n) + 1];
        if n.is_multiple_of(3) { Change::Delete { key } } else { Change::Put { key, value: vec![n; 40] } }
    }

    fn written(epoch: u64, records: u8) -> (Medium, u64) {
        let medium: Medium = Arc::new(InMemoryBackend::new());
        let capacity = reserve(&medium, 4096).unwrap();
        let mut log = Log::start(medium.clone(), Mark { epoch, position: 0, capacity }).unwrap();
        let mut record = Record::default();
        for n in 0..records {
            record.clear();
            (0..=n).for_each(|part| record.push(&change(part)));
            log.append(&mut record, u64::from(n) + 1).unwrap();
        }
        (medium, log.end)
    }

    fn positions(medium: &Medium, epoch: u64) -> Vec<u64> {
        let mut positions = Vec::new();
        replay(medium, epoch, |found| {
            let expected: Vec<Change> = (0..u8::try_from(found.position).unwrap()).map(change).collect();
            assert_eq!(format!("{:?}", found.changes), format!("{expected:?}"));
            positions.push(found.position);
            Ok(())
        })
        .unwrap();
        positions
    }

    #[test]
    fn what_was_appended_is_replayed_in_its_epoch_only() {
        let (medium, _) = written(7, 5);
        assert_eq!(positions(&medium, 7), [1, 2, 3, 4, 5]);
        assert!(positions(&medium, 6).is_empty() && positions(&medium, 8).is_empty());
    }

    /// Whichever byte is wrong: the records before it are there, it and those after it are not.
    #[test]
    fn replay_ends_at_the_first_wrong_byte() {
        let (medium, end) = written(1, 6);
        let ends: Vec<u64> = (0..=6).map(|records| written(1, records).1).collect();
        for at in 0..end {
            let mut byte = [0];
            medium.read(at, &mut byte).unwrap();
            medium.write(at, &[byte[0] ^ 0x10]).unwrap();
            let whole = ends.iter().filter(|end| **end <= at).count() as u64 - 1;
            assert_eq!(positions(&medium, 1), (1..=whole).collect::<Vec<_>>(), "byte {at}");
            medium.write(at, &byte).unwrap();
        }
    }

    #[test]
    fn stale_records_after_the_end_do_not_come_back() {
        let (medium, _) = written(1, 6);
        let capacity = reserve(&medium, 4096).unwrap();
        let mut log = Log::start(medium.clone(), Mark { epoch: 2, position: 6, capacity }).unwrap();
        let mut record = Record::default();
        record.push(&change(0));
        log.append(&mut record, 1).unwrap();
        assert_eq!(positions(&medium, 2), [1]);
    }
}
