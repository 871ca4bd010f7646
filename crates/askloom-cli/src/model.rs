//! The model that a command is about, checked, and its design.

use crate::exit::Failure;
use crate::render::{self, Report};
use crate::screen::Screen;
use crate::world::Disk;
use askloom_design::simple;
use askloom_model::{Design, Model};
use std::path::Path;

/// A model without errors, and the design that its data is stored by.
#[derive(Debug)]
pub(crate) struct Designed {
    pub(crate) model: Model,
    pub(crate) design: Design,
}

impl Designed {
    /// Reads a model. What is wrong with it is printed as `askloom check` does.
    pub(crate) fn read(file: &Path, screen: &mut Screen) -> Result<Self, Failure> {
        let model = read(file, screen)?;
        let design = simple::design(&model);
        Ok(Self { model, design })
    }
}

/// Reads a model that must have no errors.
pub(crate) fn read(file: &Path, screen: &mut Screen) -> Result<Model, Failure> {
    let mut report = Report { root: file.to_owned(), checked: askloom_lang::check(&Disk::of(file), file) };
    if report.checked.errors == 0 {
        return Ok(report.checked.model);
    }
    report.checked.diagnostics.retain(|diagnostic| diagnostic.severity == askloom_model::Severity::Error);
    let style = screen.style();
    screen.complain(render::human(&report, style).trim_end());
    let errors = render::amount(report.checked.errors, "error");
    Err(Failure::Input(format!("{} has {errors}; `askloom check` tells more", file.display())))
}
