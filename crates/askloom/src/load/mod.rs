//! Loads files of data into a store.

mod files;
mod job;

pub use files::{DataFile, find};
pub use job::{FileSummary, Load, LoadSummary};

use askloom_embedded::bulk::Refusal;
use std::path::Path;

/// What a load tells while it goes on.
#[derive(Debug, Clone, Copy)]
pub enum LoadEvent<'e> {
    /// A folder is of no entity.
    NoEntity(&'e Path),
    /// A file's name does not end as one of data does.
    NoData(&'e Path),
    /// An earlier load came to this line of the file.
    Resumes { file: &'e str, line: u64 },
    /// So many bytes more are to be read.
    Expects(u64),
    /// A row of so many bytes was read.
    Reads { file: &'e str, bytes: u64 },
    /// A row cannot be loaded.
    Rejects { file: &'e str, line: u64, why: &'e Refusal },
    /// A field of a row that was loaded refers to nothing.
    Dangles { file: &'e str, line: u64, field: &'e str },
}

/// Who is told.
pub type Listener<'l> = dyn FnMut(LoadEvent<'_>) + 'l;
