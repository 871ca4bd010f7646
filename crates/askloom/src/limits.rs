//! What of a design is larger than its store takes.

use askloom_design::limits::all_broken;
use askloom_model::{Design, Diagnostic, Model};
use askloom_plan::cost::Statistics;
use askloom_target::Target;

/// A diagnostic for each. Those that make the design useless on the store are errors.
#[must_use]
pub fn too_large(model: &Model, design: &Design, target: &Target) -> Vec<Diagnostic> {
    let statistics = Statistics::new(&model.conceptual);
    let broken = all_broken(target.capability, &statistics, design);
    broken.iter().map(|one| one.diagnostic(target.capability, &model.conceptual, design)).collect()
}
