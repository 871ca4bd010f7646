//! Packages of the browser unpacked into a folder, and a script that starts it there. A folder gets its name
//! only when it is complete, so that an interrupted fetch leaves nothing that looks finished.

use super::debian::{Lists, Selection, unpack};
use crate::cache::executable;
use crate::repository::Outcome;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;

const PREFIX: &str = "chromium-";
const PARTIAL: &str = "partial-chromium-";
const SCRIPT: &str = "chromium";

/// What was fetched before, newest version last in name and first here.
pub(super) fn complete(cache: &Path) -> Vec<PathBuf> {
    let mut scripts: Vec<PathBuf> =
        folders(cache, PREFIX).into_iter().map(|folder| folder.join(SCRIPT)).collect();
    scripts.retain(|script| script.is_file());
    scripts.reverse();
    scripts
}

pub(super) fn fetch(cache: &Path) -> Outcome<PathBuf> {
    sweep(cache);
    let partial = cache.join(format!("{PARTIAL}{}", process::id()));
    let made = prepare(cache, &partial);
    if made.is_err() {
        let _ = fs::remove_dir_all(&partial);
    }
    made
}

fn prepare(cache: &Path, partial: &Path) -> Outcome<PathBuf> {
    let packages = partial.join("packages");
    create(&packages)?;
    let selection = download(partial, &packages)?;
    let root = partial.join("root");
    for package in entries(&packages) {
        unpack(&package, &root)?;
    }
    let folder = cache.join(format!("{PREFIX}{}", selection.version));
    write(&partial.join("fonts.conf"), &fonts(&folder))?;
    write(&partial.join(SCRIPT), &script(&root))?;
    executable(&partial.join(SCRIPT))?;
    let _ = fs::remove_dir_all(&packages);
    let _ = fs::remove_dir_all(partial.join("archive"));
    finish(partial, &folder)
}

/// By the machine's own lists if they will do, else by fresh ones.
fn download(partial: &Path, packages: &Path) -> Outcome<Selection> {
    let by = |lists: &Lists| {
        let selection = lists.select()?;
        lists.download(&selection, packages)?;
        Ok(selection)
    };
    by(&Lists::System).or_else(|_: String| by(&Lists::fetch(&partial.join("archive"))?))
}

/// Another run may have finished first: then what it made does for both.
fn finish(partial: &Path, folder: &Path) -> Outcome<PathBuf> {
    let script = folder.join(SCRIPT);
    if folder.exists() && !super::starts(&script) {
        fs::remove_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    match fs::rename(partial, folder) {
        Ok(()) => Ok(script),
        Err(_) if script.is_file() => {
            let _ = fs::remove_dir_all(partial);
            Ok(script)
        }
        Err(error) => Err(format!("{}: {error}", folder.display())),
    }
}

/// Removes what runs that are over have left half done.
fn sweep(cache: &Path) {
    for folder in folders(cache, PARTIAL) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let owner = name.strip_prefix(PARTIAL).unwrap_or_default();
        if !Path::new("/proc").join(owner).exists() {
            let _ = fs::remove_dir_all(&folder);
        }
    }
}

/// Starts the browser with its own libraries and fonts, wherever the folder is.
fn script(root: &Path) -> String {
    let libraries: Vec<String> =
        libraries(root).iter().map(|folder| format!("$here/root/{folder}")).collect();
    format!(
        "#!/bin/sh\n\
         here=$(dirname \"$(readlink -f \"$0\")\")\n\
         LD_LIBRARY_PATH=\"{}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}\"\n\
         FONTCONFIG_FILE=\"$here/fonts.conf\"\n\
         export LD_LIBRARY_PATH FONTCONFIG_FILE\n\
         exec \"$here/root/usr/lib/chromium/chromium\" \"$@\"\n",
        libraries.join(":")
    )
}

/// `usr/lib/x86_64-linux-gnu` and such, and the folders in them: a few libraries keep their parts there.
fn libraries(root: &Path) -> Vec<String> {
    let triplets = ["lib", "usr/lib"].iter().flat_map(|place| entries(&root.join(place)));
    let triplets = triplets.filter(|folder| folder.to_string_lossy().contains("-linux-gnu"));
    let all = triplets.flat_map(|folder| [vec![folder.clone()], entries(&folder)].concat());
    let relative = all.filter(|folder| holds_library(folder)).filter_map(|folder| {
        folder.strip_prefix(root).ok().map(|inside| inside.to_string_lossy().into_owned())
    });
    relative.collect()
}

fn holds_library(folder: &Path) -> bool {
    entries(folder).iter().any(|file| file.to_string_lossy().contains(".so"))
}

fn fonts(folder: &Path) -> String {
    let alias = |family: &str, font: &str| {
        format!("<alias><family>{family}</family><prefer><family>{font}</family></prefer></alias>\n")
    };
    format!(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE fontconfig SYSTEM \"fonts.dtd\">\n<fontconfig>\n\
         <dir>{0}/root/usr/share/fonts</dir>\n<cachedir>{0}/fonts</cachedir>\n{1}{2}{3}{4}</fontconfig>\n",
        folder.display(),
        alias("sans-serif", "Liberation Sans"),
        alias("system-ui", "Liberation Sans"),
        alias("serif", "Liberation Serif"),
        alias("monospace", "DejaVu Sans Mono"),
    )
}

fn folders(cache: &Path, prefix: &str) -> Vec<PathBuf> {
    let mut found = entries(cache);
    found.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix)));
    found
}

/// What is in a folder, in order; nothing if there is no such folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = read.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn create(folder: &Path) -> Outcome {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

fn write(path: &Path, text: &str) -> Outcome {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("askloom-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn only_what_is_complete_counts_and_the_newest_is_first() {
        let cache = folder("complete");
        for name in ["chromium-1", "chromium-2", "chromium-3", "partial-chromium-9"] {
            fs::create_dir_all(cache.join(name)).unwrap();
        }
        for name in ["chromium-1", "chromium-2", "partial-chromium-9"] {
            fs::write(cache.join(name).join(SCRIPT), "").unwrap();
        }
        let names = [cache.join("chromium-2/chromium"), cache.join("chromium-1/chromium")];
        assert_eq!(complete(&cache), names);
        fs::remove_dir_all(cache).unwrap();
    }

    #[test]
    fn what_a_run_that_is_over_left_is_removed() {
        let cache = folder("sweep");
        let [over, mine] =
            ["0".to_owned(), process::id().to_string()].map(|id| cache.join(format!("{PARTIAL}{id}")));
        fs::create_dir_all(&over).unwrap();
        fs::create_dir_all(&mine).unwrap();
        sweep(&cache);
        assert!(!over.exists() && mine.exists());
        fs::remove_dir_all(cache).unwrap();
    }

    #[test]
    fn libraries_in_folders_of_their_own_are_found() {
        let root = folder("libraries");
        let deep = root.join("usr/lib/x86_64-linux-gnu/pulseaudio");
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("libpulsecommon-16.1.so"), "").unwrap();
        assert_eq!(libraries(&root), ["usr/lib/x86_64-linux-gnu/pulseaudio"]);
        fs::remove_dir_all(root).unwrap();
    }
}
