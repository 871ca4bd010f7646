//! The one seam between the language and the outside: where the text of a file comes from.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Reads the files of a model. The language itself opens nothing, so that it runs in a browser, in an
/// editor and in tests alike.
///
/// An implementation has to
/// - read a path as it is given: the root as the user named it, an import joined to the root's folder;
/// - answer [`ReadError::Outside`] when the path leads out of that folder by other means (a link);
/// - look at the size before it reads, and answer [`ReadError::TooLarge`] past [`MAX_FILE_BYTES`];
/// - give the bytes as they are: whether they are UTF-8 is the language's to say.
pub trait World {
    fn read(&self, path: &Path) -> Result<Vec<u8>, ReadError>;
}

/// A model is written by people; what is larger is some other file. Spans are 32 bits wide as well.
pub const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadError {
    /// Missing, a directory, not permitted: in the words of the system.
    Unreadable(String),
    TooLarge {
        bytes: u64,
    },
    Outside,
}

/// Files in memory: for tests, the playground and text that comes from standard input.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    files: HashMap<PathBuf, Vec<u8>>,
}

impl Memory {
    #[must_use]
    pub fn with(mut self, path: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>) -> Self {
        self.files.insert(path.into(), bytes.into());
        self
    }
}

impl World for Memory {
    fn read(&self, path: &Path) -> Result<Vec<u8>, ReadError> {
        let bytes = self.files.get(path).ok_or_else(|| ReadError::Unreadable("no such file".to_owned()))?;
        match bytes.len() as u64 {
            size if size > MAX_FILE_BYTES => Err(ReadError::TooLarge { bytes: size }),
            _ => Ok(bytes.clone()),
        }
    }
}
