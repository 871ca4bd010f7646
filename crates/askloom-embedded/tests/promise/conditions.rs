//! Conditions as such: that their text means what they mean, and which forms the cases have.

use crate::case::{Case, Spec, parse};
use crate::coverage::Coverage;
use askloom_model::{Conceptual, Condition, Model, Query, Value};
use askloom_oracle::Parameters;
use askloom_plan::planner;

/// The condition of each query, printed, must be read as the same condition.
pub(crate) fn check(spec: &Spec, model: &Model, coverage: &mut Coverage) -> Result<(), String> {
    if spec.statements.iter().any(|text| has_bare_bool(text)) {
        coverage.gate("bare bool");
    }
    let printed = |text: &String| {
        let (before, condition) = text.split_once("\n  WHERE ")?;
        let (_, after) = condition.split_once('\n')?;
        let name = text.strip_prefix("query ")?.split(':').next()?;
        let query = model.workload.queries.iter().find(|query| query.header.name == name)?;
        let condition = planner::condition_text(&model.conceptual, query)?;
        Some(format!("{before}\n  WHERE {condition}\n{after}"))
    };
    let texts: Vec<String> = spec.statements.iter().filter_map(printed).collect();
    let (again, refused) = parse(&spec.sketch.text(), &texts)?;
    if !refused.is_empty() && !texts.is_empty() {
        return Err(format!("printed conditions are refused: {refused:?}\n{}", texts.join("\n")));
    }
    for query in &again.workload.queries {
        let same = model.workload.queries.iter().find(|same| same.header.name == query.header.name);
        let meant = same.and_then(|same| same.condition.as_ref());
        if meant != query.condition.as_ref() {
            return Err(format!(
                "{} is read as\n{:?}\nand not as\n{meant:?}",
                texts.join("\n"),
                query.condition
            ));
        }
    }
    Ok(())
}

/// Whether a path stands alone in a condition.
fn has_bare_bool(statement: &str) -> bool {
    let spaced = statement.replace(['(', ')'], " ");
    let words: Vec<&str> = spaced.split_whitespace().skip_while(|word| *word != "WHERE").collect();
    words.windows(2).enumerate().any(|(at, pair)| {
        let joins = ["WHERE", "AND", "OR", "NOT"].contains(&pair[0]);
        let ends = ["AND", "OR", "GROUP", "ORDER", "LIMIT", "PAGE"];
        let last = words.get(at + 2).is_none_or(|next| ends.contains(next));
        joins && last && pair[1].contains('.') && pair[1].starts_with(char::is_alphabetic)
    })
}

impl Case {
    /// Counts queries whose answer would be another one if the one negation over many values were the other.
    pub(crate) fn look_at_negations(
        &self,
        query: &Query,
        arguments: &Parameters,
        rows: &[Vec<Value>],
        coverage: &mut Coverage,
    ) {
        let model = &self.schema.model;
        let Some(condition) = &query.condition else { return };
        for (gate, from) in [
            ("some element does not, unlike none does", Negation::Element),
            ("no element does, unlike some does not", Negation::Whole),
        ] {
            let Some(condition) = turned(&model.conceptual, condition, from) else { continue };
            let other = Query { condition: Some(condition), ..query.clone() };
            if self.oracle.query(model, &other, arguments, self.now).is_ok_and(|other| other != rows) {
                coverage.gate(gate);
            }
        }
    }
}

/// What a NOT is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Negation {
    /// `x NOT IN …`
    Element,
    /// `NOT x IN …`
    Whole,
}

/// The condition with negations over many values of the one kind turned into the other. Nothing if it has none.
fn turned(conceptual: &Conceptual, condition: &Condition, from: Negation) -> Option<Condition> {
    let any = |terms: &[Condition]| {
        let others: Vec<_> = terms.iter().map(|term| turned(conceptual, term, from)).collect();
        let changed = others.iter().any(Option::is_some);
        let terms = others.into_iter().zip(terms).map(|(other, term)| other.unwrap_or_else(|| term.clone()));
        changed.then(|| terms.collect::<Vec<_>>())
    };
    let many = |inner: &Condition| inner.paths().iter().any(|path| !planner::is_single(conceptual, path));
    match condition {
        Condition::And(terms) => any(terms).map(Condition::And),
        Condition::Or(terms) => any(terms).map(Condition::Or),
        Condition::Negated(inner) if from == Negation::Element => Some(Condition::Not(inner.clone())),
        Condition::Not(inner) if from == Negation::Whole && inner.has_negated_form() && many(inner) => {
            Some(Condition::Negated(inner.clone()))
        }
        Condition::Not(inner) => turned(conceptual, inner, from).map(|inner| Condition::Not(Box::new(inner))),
        _predicate => None,
    }
}
