//! Data in and data out, in bulk: many aggregates at the pace of the parser and the medium.
//!
//! ```text
//!  file ──► Rows (JSON lines, CSV) ──► Incoming: a record and what is known of it ──► Loader ──► batches ──► store
//!  store ──► Export: one snapshot, aggregate by aggregate ──► JSON lines, CSV
//! ```
//!
//! **What loading promises.** The keyspace is afterwards what [`Database::put`](crate::database::Database::put) row by
//! row would have made it. Where a row's fate follows from looking at a few keys (its id, its unique values, the ids of
//! its parts), it is encoded at once; where links move others or are checked, the write path itself works it out, on
//! the state with all rows before it. Either way rows gather in a batch, and one batch is written while the next is
//! made. Copies whose rows come from one aggregate are written with it; those that join several are, in a store that
//! holds nothing yet, filled from the masters afterwards. Until then they are marked as being filled, and plans do not
//! read them. In a store that holds something, a row that comes before what it refers to is noted, so that the copies are
//! brought after when that comes.
//!
//! **Going on after an end.** How far each file has come is kept in the store, in the same batch as its rows.
//! A row whose checked reference leads nowhere yet is put aside there and tried again at the end.

mod alone;
mod awaited;
mod csv;
mod dangling;
mod export;
mod incoming;
mod lines;
mod loader;
mod marks;
mod way;

pub use self::csv::CsvRows;
pub use export::{CsvWriter, Export, Exported};
pub use incoming::{Incoming, Refusal};
pub use lines::{JsonLines, MAX_LINE};
pub use loader::{Fate, Loader};
pub use marks::{Aside, Mark};

use serde_json::Value as Json;

/// One row of a file, as JSON, and where it stands.
#[derive(Debug)]
pub struct Row {
    /// Where it begins, from 1, and where it ends.
    pub line: u64,
    pub last_line: u64,
    /// The bytes of the file before it and up to its end.
    pub start: u64,
    pub end: u64,
    /// The row, or why it cannot be read.
    pub content: Result<Json, Refusal>,
}

/// A file that is read row by row.
pub trait Rows {
    /// The next row; nothing at the end.
    fn next(&mut self) -> std::io::Result<Option<Row>>;
}
