//! What is different from the design that is saved, and why.

use super::Designer;
use askloom_design::method::cost::{Paid, paid, shape, told, total};
use askloom_design::method::{Decision, Proposal};
use askloom_design::saved::rule_text;
use askloom_model::{Collection, Contents, Design, Model, Rule};
use askloom_plan::cost::Costing;
use askloom_plan::upkeep::add_indexes;

const SOURCE: &str = "askloom";
/// So many statements are told that are why it changed.
const STATEMENTS: usize = 3;
/// Differences below this share are rounding.
const ROUNDING: f64 = 1e-6;

impl Designer {
    /// Each collection that was not there, that is no longer there, or that is another one now; and what that saves.
    pub(super) fn since(&self, saved: &Design, now: &Proposal) -> Vec<Decision> {
        let costing = self.pricing.costing();
        let changes = Changes { model: &self.model, costing: &costing, saved, now: &now.design };
        let mut all = changes.all();
        if !all.is_empty() {
            all.insert(0, changes.sum());
        }
        all
    }
}

/// A design beside the one that is saved.
struct Changes<'c> {
    model: &'c Model,
    costing: &'c Costing<'c>,
    saved: &'c Design,
    now: &'c Design,
}

impl Changes<'_> {
    fn cost(&self, design: &Design) -> f64 {
        total(self.model, self.costing, design)
    }

    /// What is saved in all, and by which statements.
    fn sum(&self) -> Decision {
        let unit = self.costing.model.unit();
        let (before, after) = (self.cost(self.saved), self.cost(self.now));
        let mut says = format!("{}, now {}", told(before, &unit), told(after, &unit));
        let by =
            moved(&paid(self.model, self.costing, self.saved), &paid(self.model, self.costing, self.now));
        if !by.is_empty() {
            says.push_str(&format!("; {}", by.join(", ")));
        }
        says.push_str("; what follows changed");
        decision("since the saved design", says)
    }

    fn all(&self) -> Vec<Decision> {
        let mut all = Vec::new();
        for (_, one) in self.now.collections.iter() {
            if !self.has(self.saved, one) {
                all.push(decision(&one.name, self.added(one)));
            }
        }
        for (_, one) in self.saved.collections.iter() {
            let mut named = self.now.collections.iter().filter(|(_, other)| other.name == one.name);
            // Told above as what it is now.
            let told = named.any(|(_, other)| !self.has(self.saved, other));
            if !self.has(self.now, one) && !told {
                let says = format!(
                    "is in the saved design, and would not be kept: {}; with it {}",
                    shape(&self.model.conceptual, one),
                    self.more(&self.with(one))
                );
                all.push(decision(&one.name, says));
            }
        }
        all
    }

    /// What was not there before, or not as it is now.
    fn added(&self, one: &Collection) -> String {
        let conceptual = &self.model.conceptual;
        let before = self.saved.collections.iter().find(|(_, other)| other.name == one.name);
        let Some((_, before)) = before else {
            return format!("was not in the saved design: {}", shape(conceptual, one));
        };
        match (&one.contents, &before.contents) {
            (Contents::Aggregate(now), Contents::Aggregate(then)) => {
                let (now, then) = (self.rules(now), self.rules(then));
                let other = self.more(&self.instead(before));
                format!("is cut by {now}, was cut by {then}: as before {other}")
            }
            (_, _) => format!("is {}, was {}", shape(conceptual, one), shape(conceptual, before)),
        }
    }

    fn rules(&self, rules: &[Rule]) -> String {
        let rules = rules.iter().map(|rule| rule_text(&self.model.conceptual, rule));
        rules.collect::<Vec<_>>().join(", ")
    }

    /// Whether a design has the same collection. Rules of a model and of a file are not at the same place.
    fn has(&self, design: &Design, one: &Collection) -> bool {
        design.collections.iter().any(|(_, other)| match (&one.contents, &other.contents) {
            (Contents::Aggregate(own), Contents::Aggregate(rules)) => {
                let as_own = Collection { contents: one.contents.clone(), ..other.clone() };
                as_own.is_same_as(one) && self.rules(own) == self.rules(rules)
            }
            (_, _) => other.is_same_as(one),
        })
    }

    /// How much more another design costs.
    fn more(&self, other: &Design) -> String {
        let (own, other) = (self.cost(self.now), self.cost(other));
        let percent = if own > 0.0 { 100.0 * (other - own) / own } else { 0.0 };
        match percent {
            percent if percent >= 0.05 => format!("the workload would cost {percent:.1} % more"),
            percent if percent > 0.0 => "the workload would cost a little more".to_owned(),
            percent if percent < -ROUNDING => {
                "the workload would cost less, but a limit or an option leaves it out".to_owned()
            }
            _no_more => "the workload would cost as much".to_owned(),
        }
    }

    fn with(&self, one: &Collection) -> Design {
        let mut design = self.now.clone();
        design.collections.push(one.clone());
        add_indexes(self.model, &mut design);
        design
    }

    fn instead(&self, before: &Collection) -> Design {
        let mut design = self.now.clone();
        for id in design.collections.ids().collect::<Vec<_>>() {
            if design.collections[id].name == before.name {
                design.collections[id] = before.clone();
            }
        }
        design
    }
}

/// The statements whose costs differ most, as `lobby costs 3 % more of all`.
fn moved(before: &[Paid], after: &[Paid]) -> Vec<String> {
    let all: f64 = before.iter().map(|one| one.cost).sum();
    let mut moved: Vec<(&str, f64)> = Vec::new();
    for (one, now) in before.iter().zip(after) {
        moved.push((&one.statement, now.cost - one.cost));
    }
    moved.retain(|(_, by)| by.abs() > ROUNDING * all);
    moved.sort_by(|(_, a), (_, b)| b.abs().total_cmp(&a.abs()));
    moved.truncate(STATEMENTS);
    let text = |(statement, by): (&str, f64)| {
        let word = if by > 0.0 { "more" } else { "less" };
        format!("{statement} costs {:.1} % of all {word}", 100.0 * by.abs() / all)
    };
    moved.into_iter().map(text).collect()
}

fn decision(about: &str, says: String) -> Decision {
    Decision { about: about.to_owned(), says, source: SOURCE }
}
