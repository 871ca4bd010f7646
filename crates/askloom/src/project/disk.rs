//! The files of a model on a real file system.

use crate::error::io_reason;
use askloom_lang::{MAX_FILE_BYTES, ReadError, World};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Reads one model: its root file as the user named it, imports from below the folder of that file.
#[derive(Debug)]
pub struct Disk {
    root: PathBuf,
    /// Without links, so that what leads out of it can be told.
    folder: io::Result<PathBuf>,
}

impl Disk {
    pub fn of(root: &Path) -> Self {
        let folder = match root.parent() {
            Some(parent) if parent != Path::new("") => fs::canonicalize(parent),
            Some(_) | None => fs::canonicalize("."),
        };
        Self { root: root.to_owned(), folder }
    }

    /// Where a file of the model is. `path` is as in `Sources`.
    pub fn locate(&self, path: &Path) -> Result<PathBuf, ReadError> {
        if path == self.root {
            return Ok(self.root.clone());
        }
        let folder = self.folder.as_ref().map_err(unreadable)?;
        let place = fs::canonicalize(path).map_err(|error| unreadable(&error))?;
        if place.starts_with(folder) { Ok(place) } else { Err(ReadError::Outside) }
    }
}

impl World for Disk {
    fn read(&self, path: &Path) -> Result<Vec<u8>, ReadError> {
        read_bounded(&self.locate(path)?)
    }
}

fn read_bounded(path: &Path) -> Result<Vec<u8>, ReadError> {
    // Looked at before it is opened: opening a pipe waits for somebody to write into it.
    let metadata = fs::metadata(path).map_err(|error| unreadable(&error))?;
    if metadata.is_dir() {
        return Err(ReadError::Unreadable("it is a directory".to_owned()));
    }
    if !metadata.is_file() {
        return Err(ReadError::Unreadable("it is not a regular file".to_owned()));
    }
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    if metadata.len() > MAX_FILE_BYTES {
        return Err(ReadError::TooLarge { bytes: metadata.len() });
    }
    drain(file)
}

/// Everything from a stream that does not say its size beforehand: a pipe, a device, a growing file.
pub fn drain(stream: impl Read) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    stream.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    match bytes.len() as u64 {
        size if size > MAX_FILE_BYTES => Err(ReadError::TooLarge { bytes: size }),
        _ => Ok(bytes),
    }
}

/// Why a file was not read, as the end of a sentence that names it.
pub fn read_reason(error: &ReadError) -> String {
    match error {
        ReadError::Unreadable(words) => words.clone(),
        ReadError::TooLarge { bytes } => {
            format!("{} MB is more than a model can be", bytes.div_ceil(1024 * 1024))
        }
        ReadError::Outside => "it is outside the model's folder".to_owned(),
    }
}

fn unreadable(error: &io::Error) -> ReadError {
    ReadError::Unreadable(io_reason(error))
}
