//! Where packages, running servers and locks are kept.

use crate::cache;
use crate::repository::Outcome;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

pub(super) struct Place {
    root: PathBuf,
}

impl Place {
    pub(super) fn of_user() -> Outcome<Self> {
        Ok(Self { root: cache::folder()?.join("servers") })
    }

    #[cfg(test)]
    pub(super) fn at(root: PathBuf) -> Self {
        Self { root }
    }

    pub(super) fn packages(&self) -> PathBuf {
        self.root.join("packages")
    }

    /// What belongs to one running server: its state, its data, its logs.
    pub(super) fn run(&self, server: &str) -> PathBuf {
        self.root.join("run").join(server)
    }

    /// Held until it is dropped, or until this process ends in whatever way: the system sees to that.
    pub(super) fn lock(&self, name: &str) -> Outcome<File> {
        let file = self.lock_file(name)?;
        file.lock().map_err(|error| format!("cannot lock {name}: {error}"))?;
        Ok(file)
    }

    /// The file that a lock of this name is taken on.
    pub(super) fn lock_file(&self, name: &str) -> Outcome<File> {
        let folder = self.root.join("locks");
        create(&folder)?;
        let path = folder.join(format!("{name}.lock"));
        let opened = File::options().create(true).truncate(false).write(true).open(&path);
        opened.map_err(|error| format!("{}: {error}", path.display()))
    }
}

pub(super) fn create(folder: &Path) -> Outcome {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

/// It need not be there; if it is, it must go.
pub(super) fn remove(folder: &Path) -> Outcome {
    if !folder.exists() {
        return Ok(());
    }
    fs::remove_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

pub(super) fn write(path: &Path, text: &str) -> Outcome {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
pub(super) fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("askloom-servers-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}
