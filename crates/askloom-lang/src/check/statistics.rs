//! Statistics that contradict each other or what they describe.

use super::Context;
use askloom_model::{Attribute, Cardinality, Code, Diagnostic, MemberStatistics, Span, Type};

pub(super) fn check(context: &mut Context<'_>) {
    let conceptual = &context.model.conceptual;
    let attributes = conceptual.attributes.iter().map(|(_, a)| (&a.statistics, a.span, None));
    let ends = conceptual.ends.iter().map(|(_, e)| (&e.statistics, e.span, Some(e.cardinality)));
    let mut found = Vec::new();
    for (_, attribute) in conceptual.attributes.iter() {
        let count = conceptual.classes[attribute.class].statistics.count;
        found.extend(distinct(attribute, count));
    }
    for (_, attribute) in conceptual.attributes.iter() {
        let may = attribute.optional && !attribute.list;
        found.extend(nulls(&attribute.statistics, attribute.span, may));
    }
    for (_, end) in conceptual.ends.iter() {
        found.extend(nulls(&end.statistics, end.span, end.cardinality == Cardinality::OPTIONAL));
    }
    for (statistics, span, cardinality) in attributes.chain(ends) {
        found.extend(contradictions(statistics, span, cardinality));
    }
    for diagnostic in found {
        context.diagnostics.push(diagnostic);
    }
}

/// A share of nulls where there are none.
fn nulls(statistics: &MemberStatistics, span: Span, may_be_null: bool) -> Option<Diagnostic> {
    let share = statistics.null_share().filter(|_| !may_be_null)?;
    let message = format!("this is never null, and `@freq` says that {:.0} % are", share * 100.0);
    Some(
        Diagnostic::new(Code::StatisticOutOfRange, span, message)
            .hint("drop the share of nulls, or make the member optional with `?`"),
    )
}

/// More different values than there can be.
fn distinct(attribute: &Attribute, count: Option<u64>) -> Option<Diagnostic> {
    let distinct = attribute.statistics.distinct?;
    let says = |message: String| Some(Diagnostic::new(Code::StatisticOutOfRange, attribute.span, message));
    if let Type::Enum(values) = &attribute.ty
        && distinct > values.len() as u64
    {
        return says(format!("this enum has {} values, not {distinct}", values.len()));
    }
    match count {
        Some(count) if distinct > count && !attribute.list => {
            says(format!("{count} instances cannot have {distinct} different values"))
        }
        Some(_) | None => None,
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
    let outside = match (statistics.avg, cardinality) {
        (Some(avg), Some(c)) if c.max.is_some_and(|max| avg > f64::from(max)) || avg < f64::from(c.min) => {
            Some(says(format!("an average of {avg} is outside the cardinality")))
        }
        _fits => None,
    };
    average.into_iter().chain(beyond).chain(outside)
}
