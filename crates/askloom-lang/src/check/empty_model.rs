//! A file that declares nothing is most often the wrong file.

use super::Context;
use askloom_model::{Code, Diagnostic, FileId, Span};

pub(super) fn check(context: &mut Context<'_>) {
    let model = context.model;
    let nothing = model.conceptual.classes.is_empty()
        && model.workload.queries.is_empty()
        && model.workload.asks.is_empty()
        && model.workload.writes.is_empty();
    if nothing && context.diagnostics.errors() == 0 {
        let span = Span::new(FileId(0), 0, 0);
        context.diagnostics.push(
            Diagnostic::new(Code::EmptyModel, span, "this model declares nothing")
                .hint("`askloom new DIR` makes a model to start from"),
        );
    }
}
