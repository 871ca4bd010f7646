//! Which files there are to load, and which entity each is of.

use super::{Listener, LoadEvent};
use crate::data_format::DataFormat;
use crate::error::Error;
use askloom_model::{ClassId, ClassKind, Conceptual, EndId, Member, RelationshipKind};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A file of rows of one entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFile {
    pub path: PathBuf,
    pub class: ClassId,
    pub format: DataFormat,
}

/// All files that are meant, those that others refer to first.
pub fn find(
    conceptual: &Conceptual,
    data: &[PathBuf],
    format: Option<DataFormat>,
    tell: &mut Listener<'_>,
) -> Result<Vec<DataFile>, Error> {
    let mut found = Vec::new();
    for path in data {
        if path.is_dir() {
            folder(conceptual, path, None, format, &mut found, tell)?;
        } else {
            found.push(file(conceptual, path, None, format)?);
        }
    }
    if found.is_empty() {
        return Err(Error::Call("there are no data files here: .jsonl, .ndjson, .json or .csv".to_owned()));
    }
    let mut ranks = HashMap::new();
    for data in &found {
        ranks.insert(data.class, rank(conceptual, data.class, conceptual.classes.len()));
    }
    // Files of one folder are in the order of their names already.
    found.sort_by_key(|data| ranks.get(&data.class).copied().unwrap_or(0));
    Ok(found)
}

fn folder(
    conceptual: &Conceptual,
    path: &Path,
    class: Option<ClassId>,
    format: Option<DataFormat>,
    found: &mut Vec<DataFile>,
    tell: &mut Listener<'_>,
) -> Result<(), Error> {
    let cannot = |error: &std::io::Error| Error::reading(path, error);
    let mut entries = Vec::new();
    for entry in fs::read_dir(path).map_err(|error| cannot(&error))? {
        entries.push(entry.map_err(|error| cannot(&error))?.path());
    }
    entries.sort();
    for entry in entries {
        let hidden = entry.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if hidden {
            continue;
        }
        if entry.is_dir() {
            match (class, entity(conceptual, &stem(&entry))) {
                (None, Some(class)) => folder(conceptual, &entry, Some(class), format, found, tell)?,
                (_, _) => tell(LoadEvent::NoEntity(&entry)),
            }
        } else if extension(&entry).is_some() {
            found.push(file(conceptual, &entry, class, format)?);
        } else {
            tell(LoadEvent::NoData(&entry));
        }
    }
    Ok(())
}

fn file(
    conceptual: &Conceptual,
    path: &Path,
    class: Option<ClassId>,
    format: Option<DataFormat>,
) -> Result<DataFile, Error> {
    let Some(format) = format.or_else(|| extension(path)) else {
        let message = format!("{} ends in neither .jsonl nor .csv; --format says what it is", path.display());
        return Err(Error::Call(message));
    };
    let class = class.or_else(|| entity(conceptual, &stem(path)));
    let class = class.or_else(|| path.parent().and_then(|folder| entity(conceptual, &stem(folder))));
    let Some(class) = class else {
        let names: Vec<&str> = roots(conceptual).map(|(_, name)| name).collect();
        return Err(Error::Call(format!(
            "{} is named after no entity; there are {}",
            path.display(),
            names.join(", ")
        )));
    };
    Ok(DataFile { path: path.to_owned(), class, format })
}

/// What the end of a name says.
fn extension(path: &Path) -> Option<DataFormat> {
    let extension = path.extension()?.to_string_lossy().to_lowercase();
    match extension.as_str() {
        "jsonl" | "ndjson" | "json" => Some(DataFormat::Jsonl),
        "csv" => Some(DataFormat::Csv),
        _other => None,
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Entities that are no parts of others.
fn roots(conceptual: &Conceptual) -> impl Iterator<Item = (ClassId, &str)> {
    conceptual.classes.iter().filter_map(|(id, class)| {
        let lineage = conceptual.lineage(id);
        let part = lineage.iter().any(|&class| conceptual.classes[class].owner.is_some());
        (class.kind != ClassKind::Value && !part).then_some((id, class.name.as_str()))
    })
}

/// The entity that a name stands for: itself, in another case, or in the plural.
fn entity(conceptual: &Conceptual, name: &str) -> Option<ClassId> {
    let exact = roots(conceptual).find(|(_, known)| *known == name);
    let name = name.to_lowercase();
    let is_it = |known: &str| {
        let known = known.to_lowercase();
        let ies = known.strip_suffix('y').map(|stem| format!("{stem}ies"));
        known == name
            || format!("{known}s") == name
            || format!("{known}es") == name
            || ies.as_ref() == Some(&name)
    };
    exact.or_else(|| roots(conceptual).find(|(_, known)| is_it(known))).map(|(id, _)| id)
}

/// How many references whose targets have to exist lead away from a class, one behind the other.
fn rank(conceptual: &Conceptual, class: ClassId, most: usize) -> usize {
    if most == 0 {
        return 0;
    }
    let targets = conceptual.all_members(class).filter_map(|member| match member {
        Member::End(id) if needs_target(conceptual, id) => {
            conceptual.aggregate_root(conceptual.ends[id].target)
        }
        Member::End(_) | Member::Attribute(_) => None,
    });
    targets
        .filter(|&target| target != class)
        .map(|target| 1 + rank(conceptual, target, most / 2))
        .max()
        .unwrap_or(0)
}

fn needs_target(conceptual: &Conceptual, id: EndId) -> bool {
    let end = &conceptual.ends[id];
    let reference = end.stored && end.kind != RelationshipKind::Composition;
    reference && (end.is_checked() || conceptual.is_relied_on(id))
}
