//! The statements of a model in the words of a store.

use askloom_design::method::questions;
use askloom_lang::Sources;
use askloom_model::{Design, Header, Model, Span};
use askloom_plan::cost::Costing;
use askloom_plan::layout::Layout;
use askloom_plan::lower::Lowering;
use askloom_target::Target;
use askloom_target::generate::{Options, Source, not_said};
use std::collections::HashMap;

/// What stands behind the name of a statement in the model.
pub fn text(sources: &Sources, header: &Header) -> String {
    let behind = Span { start: header.span.end, ..header.declaration };
    sources.text(behind).trim().trim_start_matches(':').trim_start().to_owned()
}

/// For each statement of the model, its statements on the store. Nothing for a store without a language of its own, and
/// if a statement has no plan: that is told elsewhere.
pub fn statements(
    model: &Model,
    design: &Design,
    target: &Target,
    costing: &Costing<'_>,
    sources: &Sources,
) -> HashMap<String, String> {
    let Some(language) = target.language else { return HashMap::new() };
    let layout = Layout::new(&model.conceptual, design).asked_by(&questions(model));
    if !not_said(target.capability, &layout).is_empty() {
        return HashMap::new();
    }
    let arguments = HashMap::new();
    let lowering = Lowering { model, design, layout: &layout, costing, arguments: &arguments };
    let Ok(statements) = lowering.statements(&|header| text(sources, header)) else { return HashMap::new() };
    let source = Source { layout: &layout, statements, sample: Vec::new(), options: Options::default() };
    let files = language.generate(&source).files;
    // What is run as it stands defines; what is read and pasted from is about statements.
    let blocks = files.into_iter().filter(|file| file.run.is_none()).flat_map(|file| file.blocks);
    let mut found: HashMap<String, String> = HashMap::new();
    for block in blocks {
        let text = found.entry(block.of).or_default();
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(block.text.trim_end());
        text.push('\n');
    }
    found
}
