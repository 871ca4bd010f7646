//! Where the repository is and what is in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a task answers: nothing, or why it failed.
pub(crate) type Outcome<T = ()> = Result<T, String>;

pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// `cargo`, the same one that runs this.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Every file that git knows or would take, relative to the root.
pub(crate) fn files() -> Outcome<Vec<PathBuf>> {
    let list = output(Command::new("git").args(["ls-files", "-co", "--exclude-standard"]))?;
    let mut paths: Vec<PathBuf> = list.lines().map(PathBuf::from).collect();
    paths.retain(|path| root().join(path).is_file());
    Ok(paths)
}

pub(crate) fn read(path: &Path) -> Outcome<String> {
    fs::read_to_string(root().join(path)).map_err(|error| format!("{}: {error}", path.display()))
}

pub(crate) fn write(path: &Path, text: &str) -> Outcome {
    let path = root().join(path);
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    folder.and_then(|()| fs::write(&path, text)).map_err(|error| format!("{}: {error}", path.display()))
}

/// What a command prints.
pub(crate) fn output(command: &mut Command) -> Outcome<String> {
    let name = format!("{command:?}");
    let output = command.current_dir(root()).output().map_err(|error| format!("{name}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{name} failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
