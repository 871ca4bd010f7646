//! Writes a file all at once: a reader, or a crash, meets the old text or the new one.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Puts `text` in the place of the file at `path`, which keeps its permissions. A link stays a link, and
/// what it leads to is replaced.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    let path = match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        other => other?,
    };
    let temporary = beside(&path);
    let written = write(&temporary, &path, text).and_then(|()| fs::rename(&temporary, &path));
    if written.is_err() {
        // The first error is the one to tell; a leftover is all that this one could leave.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn write(temporary: &Path, path: &Path, text: &str) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(temporary)?;
    file.write_all(text.as_bytes())?;
    if let Ok(metadata) = fs::metadata(path) {
        // Renaming over a file would pass by its own protection, so it is asked first.
        if metadata.permissions().readonly() {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        file.set_permissions(metadata.permissions())?;
    }
    file.sync_all()
}

/// A name in the same folder, because a rename cannot cross file systems.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}
