//! Declared collections that no method designs yet: they are refused by name, so that none is left out in silence.

use crate::why_not_designed;
use askloom_model::{Code, Conceptual, DeclaredCollection, Diagnostic, Model};

/// An error for each collection of a model that cannot be designed yet; empty for a model that can be designed.
#[must_use]
pub fn not_designed_yet(model: &Model) -> Vec<Diagnostic> {
    model.declared.iter().filter_map(|collection| refusal(&model.conceptual, collection)).collect()
}

fn refusal(conceptual: &Conceptual, collection: &DeclaredCollection) -> Option<Diagnostic> {
    let what = why_not_designed(conceptual, collection)?;
    let message = format!("the collection `{}` {what}, which cannot be designed yet", collection.name);
    let diagnostic = Diagnostic::new(Code::NotDesignedYet, collection.span, message);
    Some(diagnostic.hint(
        "`askloom check` accepts it; to design, declare a `master`, of several classes by the id of the first, or a copy \
         of one class by `key`, `sort` and `keep`",
    ))
}
