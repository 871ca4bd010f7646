//! What can go wrong, by what a caller can do about it. A lost race is no error: see [`Outcome`](super::Outcome).

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Why the store did not do it.
///
/// **Outcome unknown**: a commit that ends in [`Io`](Error::Io) or [`Corrupted`](Error::Corrupted) may be found
/// written after the store is opened again, completely or not at all. After every other error nothing was
/// written and nothing will be. After an unknown outcome the store takes no more writes: what the medium
/// holds is only known after [`Store::open`](super::Store::open) has read it back.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Error {
    /// Another process, or another handle of this one, has the folder open.
    InUse(String),
    /// The folder holds something else, or a store of a later format.
    NotAStore(String),
    /// A key, a value or a batch is over its limit, or a key is empty. Nothing was written.
    TooLarge(String),
    /// The store was closed or has failed before; the batch was not looked at.
    Closed,
    /// The operating system refused. From a commit: outcome unknown.
    Io(Arc<io::Error>),
    /// The files are not what was written to them. From a commit: outcome unknown.
    Corrupted(String),
}

impl Error {
    pub(super) fn in_use(folder: &Path) -> Self {
        Self::InUse(format!("`{}` is open in another process or handle", folder.display()))
    }

    pub(super) fn not_a_store(folder: &Path, why: &str) -> Self {
        Self::NotAStore(format!("`{}` is not an embedded store: {why}", folder.display()))
    }

    pub(super) fn too_large(what: &str, length: usize, limit: usize) -> Self {
        Self::TooLarge(format!("{what} has {length} bytes; the limit is {limit}"))
    }

    pub(super) fn empty_key() -> Self {
        Self::TooLarge("a key is empty; it needs at least one byte".to_owned())
    }

    pub(super) fn corrupted(why: impl fmt::Display) -> Self {
        Self::Corrupted(why.to_string())
    }

    /// Where the committer went away with a batch in its hands.
    pub(super) fn unanswered() -> Self {
        io::Error::other("the store failed before it answered").into()
    }

    pub fn is_in_use(&self) -> bool {
        matches!(self, Self::InUse(_))
    }

    pub fn is_not_a_store(&self) -> bool {
        matches!(self, Self::NotAStore(_))
    }

    pub fn is_too_large(&self) -> bool {
        matches!(self, Self::TooLarge(_))
    }

    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed)
    }

    pub fn is_io(&self) -> bool {
        matches!(self, Self::Io(_))
    }

    pub fn is_corrupted(&self) -> bool {
        matches!(self, Self::Corrupted(_))
    }

    /// Whether a commit that ended so may be found written after all.
    pub fn is_outcome_unknown(&self) -> bool {
        match self {
            Self::Io(_) | Self::Corrupted(_) => true,
            Self::InUse(_) | Self::NotAStore(_) | Self::TooLarge(_) | Self::Closed => false,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse(text) | Self::NotAStore(text) | Self::TooLarge(text) => f.write_str(text),
            Self::Closed => f.write_str("the store is closed"),
            Self::Io(error) => error.fmt(f),
            Self::Corrupted(text) => write!(f, "the store is corrupted: {text}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::InUse(_) | Self::NotAStore(_) | Self::TooLarge(_) | Self::Closed | Self::Corrupted(_) => {
                None
            }
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        // What redb says of a file that does not begin as its own, or ends too early.
        let broken = matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof);
        if broken { Self::corrupted(error) } else { Self::Io(Arc::new(error)) }
    }
}

impl From<redb::Error> for Error {
    fn from(error: redb::Error) -> Self {
        if let redb::Error::Io(error) = error {
            return error.into();
        }
        if matches!(error, redb::Error::DatabaseClosed) {
            return Self::Closed;
        }
        if matches!(error, redb::Error::PreviousIo) {
            return io::Error::other(error).into();
        }
        // Everything else says that the file is not what this crate writes.
        Self::corrupted(error)
    }
}

/// redb has an error type for each kind of call; all of them become the one above.
macro_rules! through_redb {
    ($($error:ident),*) => {
        $(impl From<redb::$error> for Error {
            fn from(error: redb::$error) -> Self {
                redb::Error::from(error).into()
            }
        })*
    };
}

through_redb!(DatabaseError, TransactionError, TableError, StorageError, CommitError, SetDurabilityError);

impl From<Error> for askloom_engine::RunError {
    fn from(error: Error) -> Self {
        match error {
            Error::TooLarge(what) => Self::TooLarge(what),
            other => Self::Store(other.to_string()),
        }
    }
}
