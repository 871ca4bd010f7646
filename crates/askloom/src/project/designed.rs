//! A model that was checked, and its design.

use crate::error::{Error, ModelRefusal, RefusedModel};
use askloom_design::method::{self, Decision, Method, Options, Proposal};
use askloom_lang::{Checked, Sources};
use askloom_model::{Design, Model, Severity};
use askloom_plan::ask;
use askloom_plan::cost::Costing;
use std::path::Path;

/// A model without errors, and the design that its data is stored by.
#[derive(Debug)]
pub struct Designed {
    pub model: Model,
    pub sources: Sources,
    pub design: Design,
    /// Why it is so; nothing of what was saved.
    pub decisions: Vec<Decision>,
    pub origin: Origin,
}

/// The store that data is in.
pub const EMBEDDED: &str = askloom_target::embedded::CAPABILITY.target;

/// How a model is designed for when nobody says how.
pub const DEFAULT_METHOD: Method = Method::Cost;

/// Where a design comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A file beside the model, which somebody has reviewed: data must lie as it says.
    Saved,
    /// Made from the model just now. What was applied to a store before may be another one, and is as good.
    Made,
}

/// A model without errors whose ways back have names, ready to be designed.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) model: Model,
    sources: Sources,
}

impl Designed {
    pub(super) fn named(checked: Checked) -> Named {
        let Checked { mut model, sources, .. } = checked;
        ask::name_ways_back(&mut model);
        Named { model, sources }
    }

    /// A design by a method, of a model that [`designable`] has let through.
    #[must_use]
    pub fn by(checked: Checked, method: Method, costing: &Costing<'_>, options: &Options) -> Self {
        Self::named(checked).by(method, costing, options)
    }
}

impl Named {
    /// With the saved design.
    pub(super) fn with(self, design: Design) -> Designed {
        let Self { model, sources } = self;
        Designed { model, sources, design, decisions: Vec::new(), origin: Origin::Saved }
    }

    pub(super) fn by(self, method: Method, costing: &Costing<'_>, options: &Options) -> Designed {
        let Self { model, sources } = self;
        let Proposal { design, decisions, .. } = method::design(method, &model, costing, options);
        Designed { model, sources, design, decisions, origin: Origin::Made }
    }
}

/// Lets a model through that has no errors and that can be designed. `file` is what messages call it.
pub fn designable(file: &Path, mut checked: Checked) -> Result<Checked, Error> {
    let not_yet = method::not_designed_yet(&checked.model);
    let reason = match (checked.errors, not_yet.is_empty()) {
        (0, true) => return Ok(checked),
        (0, false) => {
            checked.errors = not_yet.len();
            checked.diagnostics = not_yet;
            ModelRefusal::NotDesignedYet
        }
        (_some, _) => {
            checked.diagnostics.retain(|diagnostic| diagnostic.severity == Severity::Error);
            ModelRefusal::Errors
        }
    };
    Err(Error::Model(Box::new(RefusedModel { file: file.to_owned(), checked, reason })))
}
