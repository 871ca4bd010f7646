//! Where fetched programs are kept: outside the checkout, so that a clean checkout does not fetch again.

use crate::repository::Outcome;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn folder() -> Outcome<PathBuf> {
    let variable = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")));
    folder
        .map(|folder| folder.join("askloom"))
        .ok_or_else(|| "neither XDG_CACHE_HOME nor HOME is set".to_owned())
}

#[cfg(unix)]
pub(crate) fn executable(path: &Path) -> Outcome {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(path, mode).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(not(unix))]
pub(crate) fn executable(path: &Path) -> Outcome {
    Err(format!("{}: what is fetched runs on Linux only", path.display()))
}
