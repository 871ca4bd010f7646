//! Whose folder it is: a lock that one handle holds, and a marker that says what is inside.
//!
//! The marker is written before the files, saying that they are being made, and again when the store has been
//! opened for the first time. So a crash in between is told apart both from a foreign folder and from a store
//! that lost a file.

use super::Error;
use super::disk::{LOG, TREE};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const LOCK: &str = "lock";
const MARKER: &str = "askloom";
const NEW_MARKER: &str = "askloom.new";

/// Counts up when an older program could not read what this one writes.
const FORMAT: u32 = 1;
const TITLE: &str = "askloom embedded store";
const MAKING: &str = "being made";

/// The folder is ours as long as this lives. The operating system lets go of it when the process ends,
/// however it ends; the file stays and means nothing.
#[derive(Debug)]
pub(super) struct Claim {
    lock: File,
    folder: PathBuf,
    is_new: bool,
}

impl Drop for Claim {
    /// Closing the file is not enough: a child process that is just being started may hold a copy of it.
    fn drop(&mut self) {
        let _ = self.lock.unlock();
    }
}

impl Claim {
    /// The store has been opened and holds what it needs: from now on a missing file is a loss.
    pub(super) fn finish(&mut self) -> Result<(), Error> {
        if self.is_new {
            mark(&self.folder, &format!("{TITLE}\nformat {FORMAT}\n"))?;
            self.is_new = false;
        }
        Ok(())
    }
}

/// Claims `folder`. One that is absent or empty gets empty files, which [`Claim::finish`] makes a store.
pub(super) fn claim(folder: &Path) -> Result<Claim, Error> {
    if folder.exists() && !folder.is_dir() {
        return Err(Error::not_a_store(folder, "it is not a folder"));
    }
    create(folder)?;
    // Before the lock, which would leave a file in a folder that is somebody else's.
    if let State::Foreign(why) = read(folder)? {
        return Err(Error::not_a_store(folder, &why));
    }
    let mut claim = lock(folder)?;
    // Again under the lock: another handle may have made the store in between.
    match read(folder)? {
        State::Foreign(why) => return Err(Error::not_a_store(folder, &why)),
        State::Nothing | State::Unfinished => {
            make(folder)?;
            claim.is_new = true;
        }
        State::Store => whole(folder)?,
    }
    Ok(claim)
}

/// A new folder is an entry of the one above it, and that has to stay too.
fn create(folder: &Path) -> Result<(), Error> {
    let folder = std::path::absolute(folder)?;
    let created: Vec<&Path> = folder.ancestors().take_while(|ancestor| !ancestor.exists()).collect();
    fs::create_dir_all(&folder)?;
    created.into_iter().filter_map(Path::parent).try_for_each(sync)
}

enum State {
    Nothing,
    Unfinished,
    Store,
    Foreign(String),
}

fn read(folder: &Path) -> Result<State, Error> {
    let text = match fs::read(folder.join(MARKER)) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return without_marker(folder),
        Err(error) => return Err(error.into()),
    };
    let mut lines = text.lines();
    if lines.next() != Some(TITLE) {
        return Ok(State::Foreign(format!("its file `{MARKER}` is something else")));
    }
    let format = lines.next().and_then(|line| line.strip_prefix("format ")?.parse::<u32>().ok());
    Ok(match (format, lines.next()) {
        (Some(FORMAT), None) => State::Store,
        (Some(FORMAT), Some(MAKING)) => State::Unfinished,
        (Some(FORMAT), Some(_)) | (None, _) => State::Foreign(format!("its file `{MARKER}` cannot be read")),
        (Some(other), _) => State::Foreign(format!("it has format {other}, this program knows {FORMAT}")),
    })
}

/// Only what precedes the first marker may be there.
fn without_marker(folder: &Path) -> Result<State, Error> {
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        if name != LOCK && name != NEW_MARKER {
            return Ok(State::Foreign(format!(
                "it holds `{}` and no file `{MARKER}`",
                name.to_string_lossy()
            )));
        }
    }
    Ok(State::Nothing)
}

fn lock(folder: &Path) -> Result<Claim, Error> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(folder.join(LOCK))?;
    match file.try_lock() {
        Ok(()) => Ok(Claim { lock: file, folder: folder.to_owned(), is_new: false }),
        Err(TryLockError::WouldBlock) => Err(Error::in_use(folder)),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

fn make(folder: &Path) -> Result<(), Error> {
    mark(folder, &format!("{TITLE}\nformat {FORMAT}\n{MAKING}\n"))?;
    for name in [TREE, LOG] {
        File::create(folder.join(name))?;
    }
    Ok(())
}

/// A rename is all or nothing; the sync of the folder makes it stay, and the names of the files made before.
fn mark(folder: &Path, text: &str) -> Result<(), Error> {
    let path = folder.join(NEW_MARKER);
    let mut file = File::create(&path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&path, folder.join(MARKER))?;
    sync(folder)
}

#[cfg(unix)]
fn sync(folder: &Path) -> Result<(), Error> {
    Ok(File::open(folder)?.sync_all()?)
}

/// Elsewhere a folder cannot be opened to be synced.
#[cfg(not(unix))]
fn sync(_: &Path) -> Result<(), Error> {
    Ok(())
}

fn whole(folder: &Path) -> Result<(), Error> {
    // redb would take an empty file for a new one.
    let is_there =
        |name: &&str| folder.join(name).metadata().is_ok_and(|file| file.is_file() && file.len() > 0);
    let lost = [TREE, LOG].into_iter().find(|name| !is_there(name));
    lost.map_or(Ok(()), |name| Err(Error::corrupted(format!("`{}` has lost its `{name}`", folder.display()))))
}
