//! The model that a command is about, checked, and its design.

use crate::exit::{Failure, words};
use crate::progress::Watch;
use crate::render::{self, Report};
use crate::screen::Screen;
use crate::world::Disk;
use askloom_design::cost::Costing;
use askloom_design::method::{self, Decision, Method, Options, Proposal};
use askloom_design::{ask, saved};
use askloom_lang::{Checked, Sources};
use askloom_model::{Design, Diagnostic, Model};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A model without errors, and the design that its data is stored by.
#[derive(Debug)]
pub(crate) struct Designed {
    pub(crate) model: Model,
    pub(crate) sources: Sources,
    pub(crate) design: Design,
    /// Why it is so; nothing of what was saved.
    pub(crate) decisions: Vec<Decision>,
    pub(crate) origin: Origin,
}

/// The store that data is in.
pub(crate) const EMBEDDED: &str = askloom_target::embedded::CAPABILITY.target;

/// How a model is designed for when nobody says how.
pub(crate) const DEFAULT: Method = Method::Cost;

/// Where a design comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A file beside the model, which somebody has reviewed: data must lie as it says.
    Saved,
    /// Made from the model just now. What was applied to a store before may be another one, and is as good.
    Made,
}

impl Designed {
    /// Reads a model, and the design for the embedded store that is saved beside it if there is one. What is wrong with
    /// the model is printed as `askloom check` does.
    pub(crate) fn read(file: &Path, screen: &mut Screen) -> Result<Self, Failure> {
        Self::on(EMBEDDED, &Costing::default(), None, file, screen)
    }

    /// The design for a store: of a method, else the saved one, else of the method that is taken when nobody says.
    pub(crate) fn on(
        target: &str,
        costing: &Costing<'_>,
        method: Option<Method>,
        file: &Path,
        screen: &mut Screen,
    ) -> Result<Self, Failure> {
        let Checked { mut model, sources, .. } = checked(file, screen)?;
        ask::name_ways_back(&mut model);
        let saved = if method.is_none() { saved_design(file, target, &model, screen)? } else { None };
        if let Some(design) = saved {
            return Ok(Self { model, sources, design, decisions: Vec::new(), origin: Origin::Saved });
        }
        let watch = Watch::new(screen.is_quiet());
        let options = Options { progress: watch.progress(), ..Options::default() };
        let Proposal { design, decisions, .. } =
            method::design(method.unwrap_or(DEFAULT), &model, costing, &options);
        drop(watch);
        Ok(Self { model, sources, design, decisions, origin: Origin::Made })
    }
}

/// The design for a store that is saved beside the model; nothing if there is none.
pub(crate) fn saved_design(
    file: &Path,
    target: &str,
    model: &Model,
    screen: &mut Screen,
) -> Result<Option<Design>, Failure> {
    let path = saved_path(file, target);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(Failure::Input(format!("cannot read {}: {}", path.display(), words(&error))));
        }
    };
    saved::from_json(model, &text).map(Some).map_err(|found| misfit(&path, &text, &found, screen))
}

/// Where the design of a model for a store is saved.
pub(crate) fn saved_path(model: &Path, target: &str) -> PathBuf {
    model.with_extension(format!("{target}.design"))
}

pub(crate) fn misfit(path: &Path, text: &str, found: &[Diagnostic], screen: &mut Screen) -> Failure {
    for diagnostic in found {
        let before = text.get(..diagnostic.span().start as usize).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let place = format!("{}:{line}:{column}", path.display());
        let hint = diagnostic.hint.as_ref().map(|hint| format!("\n  = help: {hint}")).unwrap_or_default();
        screen.complain(&format!("error[{}]: {}\n  --> {place}{hint}", diagnostic.code, diagnostic.message));
    }
    let why = "cannot be used; `askloom design --save` writes a new one";
    Failure::Input(format!("the saved design {} {why}", path.display()))
}

/// Reads a model that must have no errors and that can be designed, with the text that it came from.
pub(crate) fn checked(file: &Path, screen: &mut Screen) -> Result<Checked, Failure> {
    let mut report = Report { root: file.to_owned(), checked: askloom_lang::check(&Disk::of(file), file) };
    let not_yet = method::not_designed_yet(&report.checked.model);
    if report.checked.errors == 0 && not_yet.is_empty() {
        return Ok(report.checked);
    }
    if report.checked.errors == 0 {
        report.checked.errors = not_yet.len();
        report.checked.diagnostics = not_yet;
        let style = screen.style();
        screen.complain(render::human(&report, style).trim_end());
        return Err(Failure::Input(format!("{} cannot be designed yet", file.display())));
    }
    report.checked.diagnostics.retain(|diagnostic| diagnostic.severity == askloom_model::Severity::Error);
    let style = screen.style();
    screen.complain(render::human(&report, style).trim_end());
    let errors = render::amount(report.checked.errors, "error");
    Err(Failure::Input(format!("{} has {errors}; `askloom check` tells more", file.display())))
}
