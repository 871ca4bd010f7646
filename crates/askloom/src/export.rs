//! Writes what a store holds into files, of one state of the store.

use crate::data_format::DataFormat;
use crate::error::{Error, io_reason};
use askloom_embedded::bulk::{CsvWriter, Export, Exported};
use askloom_engine::RunError;
use askloom_model::ClassId;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// The entity that a person names: a root, or a subclass of one.
pub fn named(export: &Export<'_>, name: &str) -> Result<ClassId, Error> {
    let conceptual = export.conceptual();
    let roots: Vec<ClassId> = export.roots().collect();
    let is_root = |class: ClassId| roots.iter().any(|&root| conceptual.is_kind_of(class, root));
    let found = conceptual.classes.iter().find(|(id, class)| class.name == name && is_root(*id));
    found.map(|(id, _)| id).ok_or_else(|| {
        let names: Vec<&str> = roots.iter().map(|&root| conceptual.classes[root].name.as_str()).collect();
        Error::Call(format!(
            "no entity with a file of its own is called `{name}`; there are {}",
            names.join(", ")
        ))
    })
}

/// Writes a file beside its place, then puts it there: what is there is never half of it.
pub fn write(export: &Export<'_>, class: ClassId, format: DataFormat, path: &Path) -> Result<u64, Error> {
    let part = path.with_extension("part");
    let failed = |error: io::Error| Error::writing(&part, &error);
    let out = BufWriter::new(File::create(&part).map_err(failed)?);
    let count = match format {
        DataFormat::Jsonl => json_lines(export, class, out),
        DataFormat::Csv => csv(export, class, out),
    }?;
    fs::rename(&part, path).map_err(|error| Error::writing(path, &error))?;
    Ok(count)
}

fn json_lines(export: &Export<'_>, class: ClassId, mut out: BufWriter<File>) -> Result<u64, RunError> {
    let count = each(export, class, &mut |exported| {
        let mut line = exported.json_line(export.conceptual(), class);
        line.push('\n');
        out.write_all(line.as_bytes())
    })?;
    out.flush().map_err(|error| written(&error))?;
    Ok(count)
}

fn csv(export: &Export<'_>, class: ClassId, out: BufWriter<File>) -> Result<u64, RunError> {
    let writer = CsvWriter::new(export.conceptual(), class);
    let mut out = csv::Writer::from_writer(out);
    let io = |error: csv::Error| io::Error::other(error.to_string());
    out.write_record(writer.header()).map_err(|error| written(&io(error)))?;
    let count = each(export, class, &mut |exported| out.write_record(writer.row(exported)).map_err(io))?;
    out.flush().map_err(|error| written(&error))?;
    Ok(count)
}

/// Every instance of a class, which may be a subclass of a root.
fn each(
    export: &Export<'_>,
    class: ClassId,
    give: &mut dyn FnMut(&Exported) -> io::Result<()>,
) -> Result<u64, RunError> {
    let conceptual = export.conceptual();
    let root = conceptual.aggregate_root(class).unwrap_or(class);
    let mut count = 0;
    export.each(root, &mut |exported| {
        if conceptual.is_kind_of(exported.record.class, class) {
            give(exported).map_err(|error| written(&error))?;
            count += 1;
        }
        Ok(())
    })?;
    Ok(count)
}

fn written(error: &io::Error) -> RunError {
    RunError::Store(format!("cannot write the export: {}", io_reason(error)))
}
