//! All methods on one workload.

use super::Designer;
use crate::document::{Cell, Compared, ComparedStatement, Comparison, Document, LeftOut, PlanDocument};
use crate::human;
use askloom_design::method::{Method, Progress};

/// What costs at most this much more is as cheap: estimates are no closer than that.
const AS_CHEAP: f64 = 1.001;

/// A design is worth naming if it costs less than this part of another: below it is noise of the sums.
const WORTH_NAMING: f64 = 0.999;

/// A method and what it makes of the model.
type Made = (Method, Document);

impl Designer {
    /// The methods that have something to say about this model.
    fn methods(&self) -> impl Iterator<Item = Method> {
        let declares_none = self.model.given.is_empty();
        Method::ALL.into_iter().filter(move |method| *method != Method::Given || !declares_none)
    }

    /// What each method makes of the model, beside each other.
    #[must_use]
    pub fn comparison(&self, progress: &Progress) -> Comparison {
        let mut made: Vec<Made> = Vec::new();
        for method in self.methods() {
            let proposal = self.proposal(method, progress);
            made.push((method, self.subject(&proposal).document()));
        }
        let left = Method::ALL.into_iter().filter(|method| made.iter().all(|(other, _)| other != method));
        Comparison {
            methods: made.iter().map(|one| compared(one, &made)).collect(),
            left_out: left.map(left_out).collect(),
            statements: statements(&made),
        }
    }
}

/// A method whose design costs less than another design.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cheaper {
    pub method: Method,
    /// What it costs, as a part of what the other costs.
    pub part: f64,
}

impl Designer {
    /// The methods whose designs would cost less than a design.
    #[must_use]
    pub fn cheaper_than(&self, other: &Document, progress: &Progress) -> Vec<Cheaper> {
        let mut cheaper = Vec::new();
        for method in self.methods() {
            // A method that makes no design of this model is not cheaper.
            let cost = self.document(&self.proposal(method, progress)).total.cost;
            if cost < other.total.cost * WORTH_NAMING {
                cheaper.push(Cheaper { method, part: cost / other.total.cost });
            }
        }
        cheaper
    }
}

fn left_out(method: Method) -> LeftOut {
    let why = "as the model declares no collection".to_owned();
    LeftOut { method: method.name().to_owned(), why }
}

fn compared((method, document): &Made, all: &[Made]) -> Compared {
    Compared {
        method: method.name().to_owned(),
        sentence: sentence(*method, document, all),
        total: document.total,
        collections: document.collections.len(),
        added: document.collections.iter().filter(|collection| collection.is_added()).count(),
    }
}

/// Where a method wins or loses.
fn sentence(method: Method, document: &Document, all: &[Made]) -> String {
    let cheapest = all.iter().min_by(|(_, a), (_, b)| a.total.cost.total_cmp(&b.total.cost));
    let cost = match cheapest {
        Some((best, of)) if *best != method => against(document.total.cost, of.total.cost, *best),
        Some(_) | None => "cheapest here".to_owned(),
    };
    let dearest = document.plans.iter().max_by(|a, b| a.share.total_cmp(&b.share));
    let most = dearest.map(|plan| format!("; {:.0} % of it is {}", plan.share * 100.0, plan.statement));
    let misfits = document.misfits.first().map(|first| format!("; {first}"));
    format!("{}: {cost}{}{}", method.sentence(), most.unwrap_or_default(), misfits.unwrap_or_default())
}

fn against(cost: f64, least: f64, best: Method) -> String {
    let times = cost / least.max(f64::MIN_POSITIVE);
    if cost <= least * AS_CHEAP {
        format!("as cheap as {}", best.name())
    } else if times < 1.01 {
        format!("less than 1 % dearer than {}", best.name())
    } else {
        format!("{} times the cheapest", human::short(times))
    }
}

/// What each statement takes by each method.
fn statements(made: &[Made]) -> Vec<ComparedStatement> {
    let Some((_, first)) = made.first() else { return Vec::new() };
    let one = |(index, plan): (usize, &PlanDocument)| {
        let cells =
            made.iter().filter_map(|(method, document)| Some(cell(*method, document.plans.get(index)?)));
        ComparedStatement { statement: plan.statement.clone(), rate: plan.rate, cells: cells.collect() }
    };
    first.plans.iter().enumerate().map(one).collect()
}

fn cell(method: Method, plan: &PlanDocument) -> Cell {
    Cell {
        method: method.name().to_owned(),
        cost: plan.cost,
        requests: plan.requests(),
        rows: plan.rows(),
        bytes: plan.bytes(),
        scans: plan.scans,
        missing: plan.missing.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_are_told_as_ties() {
        assert_eq!(against(100.0, 100.0, Method::Noam), "as cheap as noam");
        assert_eq!(against(0.0, 0.0, Method::Noam), "as cheap as noam");
        assert_eq!(against(100.5, 100.0, Method::Qodm), "less than 1 % dearer than qodm");
        assert_eq!(against(250.0, 100.0, Method::Qodm), "2.50 times the cheapest");
    }
}
