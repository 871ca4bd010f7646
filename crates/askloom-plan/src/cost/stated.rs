//! What a query says about how many rows it keeps, `@selects` and `@rows`, as shares of its comparisons.

use super::{Asked, Statistics, selectivity};
use askloom_model::{Comparison, Condition, Kept, Operand, Query};

/// The comparisons of a query whose shares the model gives, or which follow from what it gives.
#[derive(Debug, Clone, Default)]
pub struct StatedShares(Vec<(Condition, f64)>);

impl StatedShares {
    /// Rows on a comparison are counted of what the equalities select, those on an equality of everything. What is said
    /// of the whole query goes to the comparisons that say nothing, to equalities only if there is no other.
    #[must_use]
    pub fn of(statistics: &Statistics<'_>, query: &Query) -> Self {
        let mut shares = Self::default();
        if query.stated.is_empty() {
            return shares;
        }
        let terms = terms(query.condition.as_ref());
        let all = rows_without_condition(statistics, query);
        let share = |kept: Kept, of: f64| match kept {
            Kept::Share(share) => share,
            Kept::Rows(rows) => (rows / of.max(1.0)).clamp(0.0, 1.0),
        };
        let stated = |equal: bool| {
            query.stated.iter().filter_map(move |one| Some((one.condition.as_ref()?, one.kept, equal)))
        };
        for (condition, kept, _) in stated(true).filter(|(condition, _, _)| is_equality(condition)) {
            shares.0.push((condition.clone(), share(kept, all)));
        }
        let skew = query.header.skew.unwrap_or(0.0);
        let equal = |shares: &Self| -> f64 {
            let asked = Asked { positions: &query.positions, skew, stated: Some(shares) };
            let equalities = terms.iter().filter(|term| is_equality(term));
            equalities.map(|term| selectivity(statistics, asked, term)).product()
        };
        let selected = all * equal(&shares);
        for (condition, kept, _) in stated(false).filter(|(condition, _, _)| !is_equality(condition)) {
            shares.0.push((condition.clone(), share(kept, selected)));
        }
        if let Some(whole) = query.stated.iter().find(|one| one.condition.is_none()) {
            let free = |equality: bool| -> Vec<&Condition> {
                let unsaid = terms.iter().filter(|term| shares.share(term).is_none());
                unsaid.filter(|term| is_equality(term) == equality).copied().collect()
            };
            let said: f64 = terms.iter().filter_map(|term| shares.share(term)).product();
            let (rest, taken) = match free(false) {
                none if none.is_empty() => (free(true), said),
                others => {
                    let asked = Asked { positions: &query.positions, skew, stated: Some(&shares) };
                    let equal = free(true).into_iter().map(|term| selectivity(statistics, asked, term));
                    (others, said * equal.product::<f64>())
                }
            };
            let left = (share(whole.kept, all) / taken.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
            let each = left.powf(1.0 / rest.len().max(1) as f64);
            let rest: Vec<Condition> = rest.into_iter().cloned().collect();
            shares.0.extend(rest.into_iter().map(|term| (term, each)));
        }
        shares
    }

    /// The share of a comparison, if it is known.
    pub(super) fn share(&self, condition: &Condition) -> Option<f64> {
        if let Some(share) = self.exactly(condition) {
            return Some(share);
        }
        // Two bounds of a key are read as one range.
        let Condition::Between { value, low, high } = condition else { return None };
        let bound = |op, right: &Operand| {
            self.exactly(&Condition::Compare { left: value.clone(), op, right: right.clone() })
        };
        match (bound(Comparison::GreaterOrEqual, low), bound(Comparison::LessOrEqual, high)) {
            (None, None) => None,
            (low, high) => Some(low.unwrap_or(1.0) * high.unwrap_or(1.0)),
        }
    }

    fn exactly(&self, condition: &Condition) -> Option<f64> {
        let turned = if let Condition::Compare { left, op, right } = condition {
            Some(Condition::Compare { left: right.clone(), op: op.turned(), right: left.clone() })
        } else {
            None
        };
        let is_it = |known: &Condition| known == condition || turned.as_ref() == Some(known);
        self.0.iter().find(|(known, _)| is_it(known)).map(|(_, share)| *share)
    }
}

fn terms(condition: Option<&Condition>) -> Vec<&Condition> {
    match condition {
        None => Vec::new(),
        Some(Condition::And(terms)) => terms.iter().flat_map(|term| self::terms(Some(term))).collect(),
        Some(term) => vec![term],
    }
}

fn is_equality(condition: &Condition) -> bool {
    matches!(condition, Condition::Compare { op: Comparison::Equal, .. } | Condition::In { .. })
}

fn rows_without_condition(statistics: &Statistics<'_>, query: &Query) -> f64 {
    let main = query.positions.iter().next().and_then(|(_, position)| position.class);
    let joined = query.positions.iter().filter_map(|(_, position)| {
        let fan_out = statistics.fan_out(position.from?.step);
        Some(if position.outer { fan_out.max(1.0) } else { fan_out })
    });
    main.map_or(1.0, |class| statistics.count(class)) * joined.product::<f64>()
}
