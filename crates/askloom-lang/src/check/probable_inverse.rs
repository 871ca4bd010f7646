//! Two classes that refer to each other once each, without `inverse`, are most often one relationship seen
//! from two sides. As two relationships, a write to one leaves the other as it was.

use super::Context;
use crate::Dialect;
use askloom_model::{ClassId, Code, Diagnostic, Edit, End, EndId, RelationshipKind, Severity};
use std::collections::HashMap;

pub(super) fn check(context: &mut Context<'_>) {
    let conceptual = &context.model.conceptual;
    let mut between: HashMap<(ClassId, ClassId), Vec<EndId>> = HashMap::new();
    for (id, end) in conceptual.ends.iter() {
        let entity = |class| conceptual.classes[class].kind.is_entity();
        if end.class != end.target && entity(end.class) && entity(end.target) {
            between.entry((end.class, end.target)).or_default().push(id);
        }
    }
    let mut pairs: Vec<(EndId, EndId)> = Vec::new();
    for (&(from, to), ends) in &between {
        let Some(back) = between.get(&(to, from)) else { continue };
        if let ([there], [here]) = (ends.as_slice(), back.as_slice())
            && there < here
        {
            pairs.push((*there, *here));
        }
    }
    pairs.sort_unstable();
    for (first, second) in pairs {
        let (a, b) = (&conceptual.ends[first], &conceptual.ends[second]);
        if is_free_reference(a) && is_free_reference(b) {
            let diagnostic = probable(context, a, b);
            context.diagnostics.push(diagnostic);
        }
    }
}

fn is_free_reference(end: &End) -> bool {
    end.inverse.is_none() && end.kind != RelationshipKind::Composition
}

fn probable(context: &Context<'_>, a: &End, b: &End) -> Diagnostic {
    let classes = &context.model.conceptual.classes;
    let message = format!(
        "`{}.{}` and `{}.{}` are probably one relationship",
        classes[a.class].name, a.name, classes[b.class].name, b.name
    );
    // The to-one end carries the link, so that is where `inverse` reads best.
    let (carrier, other) = if a.cardinality.is_many() && !b.cardinality.is_many() { (b, a) } else { (a, b) };
    let diagnostic = Diagnostic::new(Code::ProbableInverse, a.span, message)
        .here("without `inverse` these are two")
        .also(b.span, "the other one");
    let dialect = context.sources.get(a.span.file).map(|file| file.dialect);
    if dialect != Some(Dialect::Loom) {
        // The dialects cannot say it.
        return diagnostic
            .severity(Severity::Note)
            .hint("`askloom fmt` makes a .loom file, where `inverse` joins them");
    }
    diagnostic.hint("`inverse` makes a write to either end change both").suggest(
        format!("add `inverse {}`", other.name),
        vec![Edit { span: carrier.declaration.after(), text: format!(" inverse {}", other.name) }],
    )
}
