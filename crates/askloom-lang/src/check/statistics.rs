//! Statistics that contradict each other or what they describe.

use super::Context;
use askloom_model::{Cardinality, Code, Diagnostic, MemberStatistics, Span};

pub(super) fn check(context: &mut Context<'_>) {
    let conceptual = &context.model.conceptual;
    let attributes = conceptual.attributes.iter().map(|(_, a)| (&a.statistics, a.span, None));
    let ends = conceptual.ends.iter().map(|(_, e)| (&e.statistics, e.span, Some(e.cardinality)));
    let mut found = Vec::new();
    for (statistics, span, cardinality) in attributes.chain(ends) {
        found.extend(contradictions(statistics, span, cardinality));
    }
    for diagnostic in found {
        context.diagnostics.push(diagnostic);
    }
}

fn contradictions(
    statistics: &MemberStatistics,
    span: Span,
    cardinality: Option<Cardinality>,
) -> impl Iterator<Item = Diagnostic> {
    let says = |message: String| Diagnostic::new(Code::StatisticOutOfRange, span, message);
    let average = match (statistics.avg, statistics.max) {
        (Some(avg), Some(max)) if avg > max as f64 => {
            Some(says(format!("an average of {avg} is above the maximum of {max}")))
        }
        _fits => None,
    };
    let upper = cardinality.and_then(|c| c.max).map(u64::from);
    let beyond = match (statistics.max, upper) {
        (Some(max), Some(upper)) if max > upper => {
            Some(says(format!("`@max({max})` is above the cardinality's {upper}")))
        }
        _fits => None,
    };
    average.into_iter().chain(beyond)
}
