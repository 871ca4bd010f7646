//! The schema and the statements of a model in a store's own language.

mod sample;
#[cfg(test)]
mod tests;
mod write_inputs;

use crate::error::Error;
use crate::native;
use crate::project::{Designed, SETTINGS_FILE};
use crate::statement::{Statement as Named, arguments_from_json};
use askloom_design::method::questions;
use askloom_model::Model;
use askloom_plan::cost::Costing;
use askloom_plan::layout::Layout;
use askloom_plan::lower::{Arguments, Lowering, notes_of_not_generated};
use askloom_target::Target;
use askloom_target::generate::{Generated, Language, Options, Source, Statement, missing, not_said};
use serde_json::{Map, Value as Json};
use std::collections::HashMap;
use std::path::Path;
use write_inputs::{Completion, Given};

/// How a README says where the files beside it come from.
pub const MADE_BY: &str = "Made by `askloom generate";

/// What is to be generated.
#[derive(Debug, Clone, Default)]
pub struct GenerateOptions {
    /// Values of parameters.
    pub params: Option<Params>,
    /// As the papers print it, their slips included.
    pub faithful: bool,
    /// Goes before the name of every table or key.
    pub prefix: String,
    /// With some made-up records.
    pub sample: bool,
    /// What the project's settings say of the store.
    pub settings: Map<String, Json>,
}

/// Values of parameters as JSON: by statement, then by name.
#[derive(Debug, Clone)]
pub struct Params {
    /// What messages call the text.
    pub file: String,
    pub text: String,
}

/// Everything that a store is given for a design.
pub fn generate(
    designed: &Designed,
    target: &Target,
    costing: &Costing<'_>,
    wanted: &GenerateOptions,
) -> Result<Generated, Error> {
    let language = language(target)?;
    let Designed { model, sources, design, .. } = designed;
    let layout = Layout::new(&model.conceptual, design).asked_by(&questions(model));
    let mut why = not_said(target.capability, &layout);
    if wanted.faithful && layout.tables().iter().any(|table| table.shared.is_some()) {
        why.push("no paper prints several classes in one table".to_owned());
    }
    if !why.is_empty() {
        let title = target.capability.title;
        return Err(Error::Input(format!(
            "{title}: this design cannot be generated:\n  {}",
            why.join("\n  ")
        )));
    }
    let given = wanted.params.as_ref().map_or_else(|| Ok(HashMap::new()), |params| read(model, params))?;
    let arguments: HashMap<String, Arguments> =
        given.iter().map(|(name, given)| (name.clone(), given.arguments.clone())).collect();
    let lowering = Lowering { model, design, layout: &layout, costing, arguments: &arguments };
    let mut statements = lowering.statements(&|header| native::text(sources, header)).map_err(|why| {
        let hint = why.hint.as_ref().map(|hint| format!("\n  {hint}")).unwrap_or_default();
        Error::Input(format!("{}[{}]: {}{hint}", why.severity.name(), why.code, why.message))
    })?;
    let sample = if wanted.sample { sample::records(model, design)? } else { Vec::new() };
    language.settings(&layout, &wanted.settings).map_err(|why| {
        Error::Input(format!("{SETTINGS_FILE}, [target.{}]: {why}", target.capability.target))
    })?;
    let GenerateOptions { prefix, faithful, settings, .. } = wanted.clone();
    let options = Options { prefix, faithful, settings };
    if let Some(params) = &wanted.params {
        let inputs = language.write_inputs(&layout, &options);
        complete(&mut statements, &given, &Completion { layout: &layout, inputs }, &params.file)?;
    }
    let missing = missing(&statements);
    let mut made = language.generate(&Source { layout: &layout, statements, sample, options });
    made.notes.extend(missing);
    made.notes.extend(notes_of_not_generated(model));
    if !made.refused.is_empty() {
        let title = target.capability.title;
        return Err(Error::Input(format!("{title} would refuse this:\n  {}", made.refused.join("\n  "))));
    }
    Ok(made)
}

/// The language of a store. The embedded store has none.
pub fn language(target: &Target) -> Result<&'static dyn Language, Error> {
    target.language.ok_or_else(|| {
        let name = target.capability.target;
        Error::Call(format!(
            "{} has no language of its own: `askloom apply` creates it; --target names another store than {name}",
            target.capability.title
        ))
    })
}

/// Puts the values that the file gives besides parameters into the writes.
fn complete(
    statements: &mut [Statement],
    given: &HashMap<String, Given>,
    completion: &Completion<'_>,
    file: &str,
) -> Result<(), Error> {
    for statement in statements.iter_mut().filter(|statement| statement.write) {
        let name = statement.program.name.clone();
        if let Some(given) = given.get(&name) {
            let wrong = |why| Error::Input(format!("{}: {name}: {why}", file));
            completion.complete(&mut statement.program, given).map_err(wrong)?;
        }
    }
    Ok(())
}

/// The values of a text, each as its statement types it.
fn read(model: &Model, params: &Params) -> Result<HashMap<String, Given>, Error> {
    let wrong = |why: String| Error::Input(format!("{}: {why}", params.file));
    let json: Json = serde_json::from_str(&params.text).map_err(|error| wrong(error.to_string()))?;
    let Some(statements) = json.as_object() else {
        return Err(wrong("it takes an object with a statement's name for each key".to_owned()));
    };
    let mut all = HashMap::new();
    for (name, given) in statements {
        let statement = Named::named(model, name)?;
        let wrong = |why: String| wrong(format!("{name}: {why}"));
        let mut given = given.clone();
        let mut beside = match given.as_object_mut() {
            Some(object) => Given::beside(object, matches!(statement, Named::Write(_))).map_err(wrong)?,
            None => Given::default(),
        };
        beside.arguments = arguments_from_json(model, statement, &given).map_err(wrong)?;
        all.insert(name.clone(), beside);
    }
    Ok(all)
}

/// What a folder of generated files says about itself.
#[must_use]
pub fn readme(made: &Generated, model: &Path, target: &Target) -> String {
    let name = model.file_name().unwrap_or(model.as_os_str()).to_string_lossy();
    let mut text = format!(
        "# {name} on {}\n\n{MADE_BY} {name} --target {}`: make it anew instead of changing it.\n",
        target.capability.title, target.capability.target
    );
    text.push_str("\n| file | run it |\n| --- | --- |\n");
    for file in &made.files {
        let run =
            file.run.as_ref().map_or("read it, fill the slots, paste".to_owned(), |run| format!("`{run}`"));
        text.push_str(&format!("| `{}` | {run} |\n", file.name));
    }
    text.push_str(
        "\nA slot such as `:gameId` stands for a value; `--params FILE` prints statements with values.\n",
    );
    if !made.notes.is_empty() {
        text.push('\n');
        for note in &made.notes {
            text.push_str(&format!("- {note}\n"));
        }
    }
    text
}
