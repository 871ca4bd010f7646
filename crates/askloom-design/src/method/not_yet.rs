//! Declared collections that no method designs yet: they are refused by name, so that none is left out in silence.

use askloom_model::{Code, DeclaredCollection, Diagnostic, Model};

/// An error for each collection of a model that cannot be designed yet; empty for a model that can be designed.
#[must_use]
pub fn not_designed_yet(model: &Model) -> Vec<Diagnostic> {
    model.declared.iter().map(refusal).collect()
}

fn refusal(collection: &DeclaredCollection) -> Diagnostic {
    let what = if collection.master {
        "is declared as a master"
    } else if collection.classes.len() > 1 {
        "holds several classes in one partition"
    } else {
        "has a bucket of time in its key"
    };
    let message = format!("the collection `{}` {what}, which cannot be designed yet", collection.name);
    Diagnostic::new(Code::NotDesignedYet, collection.span, message)
        .hint("`askloom check` accepts it; to design, take it out or declare it by `key`, `sort` and `keep` of one class")
}
