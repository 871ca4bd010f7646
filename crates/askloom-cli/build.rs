//! Puts the pages of the diagnostics and the example models into the program.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let workspace = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("../..");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    fs::write(out.join("pages.rs"), pages(&workspace.join("docs/diagnostics"))?)?;
    fs::write(out.join("examples.rs"), examples(&workspace.join("examples"))?)?;
    Ok(())
}

/// `&[("AL0001", "text of the page"), …]`
fn pages(folder: &Path) -> Outcome<String> {
    let mut table = String::from("&[\n");
    for page in listed(folder)? {
        let stem = page.file_stem().unwrap_or_default().to_string_lossy();
        if stem.starts_with("AL") {
            writeln!(table, "({stem:?}, include_str!({page:?})),")?;
        }
    }
    Ok(table + "]\n")
}

/// `&[Example { name: "game", files: &[("game.loom", b"text"), …] }, …]`
fn examples(folder: &Path) -> Outcome<String> {
    let mut table = String::from("&[\n");
    for example in listed(folder)?.iter().filter(|path| path.is_dir()) {
        let name = example.file_name().unwrap_or_default().to_string_lossy();
        writeln!(table, "Example {{ name: {name:?}, files: &[")?;
        files(example, example, &mut table)?;
        writeln!(table, "] }},")?;
    }
    Ok(table + "]\n")
}

fn files(example: &Path, folder: &Path, table: &mut String) -> Outcome<()> {
    for path in listed(folder)? {
        if path.is_dir() {
            files(example, &path, table)?;
        } else {
            let name = path.strip_prefix(example)?.to_string_lossy().replace('\\', "/");
            writeln!(table, "({name:?}, include_bytes!({path:?})),")?;
        }
    }
    Ok(())
}

/// What a folder holds, in the order of the names. A folder that is missing holds nothing.
fn listed(folder: &Path) -> Outcome<Vec<PathBuf>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries: Result<Vec<_>, _> = fs::read_dir(folder)?.collect();
    let mut paths: Vec<PathBuf> = entries?.iter().map(fs::DirEntry::path).collect();
    paths.retain(|path| !path.file_name().unwrap_or_default().to_string_lossy().starts_with('.'));
    paths.sort();
    Ok(paths)
}
