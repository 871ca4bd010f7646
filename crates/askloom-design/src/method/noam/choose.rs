//! The cheapest partition of each class, and what is nearly as cheap.

use super::candidate::{Candidate, Candidates};
use super::load::Loads;
use super::{CASE_STUDY, OURS, PARTITIONING, texts};
use crate::method::Decision;
use crate::simple;
use askloom_model::{ClassId, CollectionId, Contents, Design, Model, Role, Rule};
use askloom_plan::cost::{Costing, Sizes};
use std::collections::BTreeSet;

/// The unit of what is paid for by the request.
const DOLLARS: &str = "$/M";

/// What costs less than this much more than the cheapest may be cheaper in truth: statistics are no better.
const CLOSE: f64 = 1.1;

/// Ways to cut the aggregates of a class.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::method) struct Cuts {
    pub(in crate::method) class: ClassId,
    pub(in crate::method) rules: Vec<Vec<Rule>>,
    /// How many were looked at.
    pub(in crate::method) made: usize,
}

/// So many ways to cut a class are handed on: those that cost least in all.
const WAYS: usize = 4;

/// For each class that the model leaves open, the ways to cut it of which no other one is cheaper for every statement,
/// the cheapest in all first.
pub(in crate::method) fn cuts(model: &Model, costing: &Costing<'_>, masters: &Design) -> Vec<Cuts> {
    let own = masters.collections.iter().filter(|(_, collection)| collection.role == Role::Master);
    let open = own.filter(|(id, collection)| in_force(model, masters, *id, collection.source.root).is_none());
    let open: BTreeSet<ClassId> = open.map(|(_, collection)| collection.source.root).collect();
    let statistics = costing.statistics(&model.conceptual);
    let candidates = Candidates { model, sizes: Sizes { statistics: &statistics, design: masters } };
    let mut loads = Loads::new(model, costing, masters, &open);
    let mut all = Vec::new();
    for class in open {
        let uses: Vec<_> =
            loads.of(class).filter_map(|load| Some((load.rate, load.uses.get(&class)?))).collect();
        if uses.is_empty() {
            continue;
        }
        let candidates = candidates.of(class, &uses);
        let priced: Vec<(Vec<f64>, Vec<Rule>)> = candidates
            .iter()
            .map(|candidate| (loads.prices(class, &candidate.rules), candidate.rules.clone()))
            .collect();
        let mut left = undominated(priced);
        left.truncate(WAYS);
        if let Some((_, rules)) = left.first() {
            loads.settle(class, rules);
        }
        let rules = left.into_iter().map(|(_, rules)| rules).collect();
        all.push(Cuts { class, rules, made: candidates.len() });
    }
    all
}

/// Those that no other one is at least as cheap as for every statement, the cheapest in all first.
fn undominated(mut priced: Vec<(Vec<f64>, Vec<Rule>)>) -> Vec<(Vec<f64>, Vec<Rule>)> {
    let total = |prices: &[f64]| prices.iter().sum::<f64>();
    priced.sort_by(|(a, _), (b, _)| total(a).total_cmp(&total(b)));
    let mut left: Vec<(Vec<f64>, Vec<Rule>)> = Vec::new();
    for one in priced.into_iter().filter(|(prices, _)| total(prices).is_finite()) {
        let as_cheap = |other: &(Vec<f64>, Vec<Rule>)| other.0.iter().zip(&one.0).all(|(a, b)| a <= b);
        if !left.iter().any(as_cheap) {
            left.push(one);
        }
    }
    left
}

/// Cuts the masters of a design. Classes are decided one after the other, each with those before it as decided and
/// those behind it in one entry: what statements cost is a sum over the aggregates that they use, so that a second
/// round would change nothing but where a plan goes another way.
pub(super) fn choose(model: &Model, costing: &Costing<'_>, design: &mut Design) -> Vec<Decision> {
    let given = design.clone();
    let masters = given.collections.iter().filter(|(_, collection)| collection.role == Role::Master);
    let masters: Vec<(CollectionId, ClassId)> =
        masters.map(|(id, collection)| (id, collection.source.root)).collect();
    let mut decisions = Vec::new();
    let mut open: BTreeSet<ClassId> = BTreeSet::new();
    for &(id, class) in &masters {
        match in_force(model, &given, id, class) {
            Some(decision) => decisions.push(decision),
            None => drop(open.insert(class)),
        }
    }
    let statistics = costing.statistics(&model.conceptual);
    let sizes = Sizes { statistics: &statistics, design: &given };
    let candidates = Candidates { model, sizes };
    let mut loads = Loads::new(model, costing, &given, &open);
    decisions.extend(unrated(loads.unrated));
    for &(id, class) in masters.iter().filter(|(_, class)| open.contains(class)) {
        let name = &model.conceptual.classes[class].name;
        if loads.of(class).next().is_none() {
            let says = "no statement depends on how it is cut: one entry holds it (EAO)";
            decisions.push(Decision::new(name, says, PARTITIONING));
            continue;
        }
        let uses: Vec<_> =
            loads.of(class).filter_map(|load| Some((load.rate, load.uses.get(&class)?))).collect();
        let candidates = candidates.of(class, &uses);
        let priced = price(&mut loads, class, &candidates);
        decisions.extend(said(model, costing, class, &priced, candidates.len()));
        if let Some(best) = priced.first() {
            loads.settle(class, &best.of.rules);
            design.collections[id].contents = Contents::Aggregate(best.of.rules.clone());
        }
    }
    decisions
}

/// What the model itself says about a class, if it leaves nothing open.
fn in_force(model: &Model, design: &Design, id: CollectionId, class: ClassId) -> Option<Decision> {
    let given = simple::representations(model, class);
    let [only] = given.as_slice() else { return None };
    let rules = only.rules.as_ref()?;
    let says = format!("the model says how: `{}`, {}", only.name, shown(model, rules));
    Some(Decision::new(&design.collections[id].name, says, PARTITIONING))
}

fn unrated(statements: usize) -> Option<Decision> {
    let says = match statements {
        0 => return None,
        1 => "one statement has no rate: it counts as one a second".to_owned(),
        several => format!("{several} statements have no rate: each counts as one a second"),
    };
    Some(Decision::new("the model", says, OURS))
}

struct PricedCandidate<'c> {
    of: &'c Candidate,
    cost: f64,
}

/// The cheapest first; others only if they are close, but for the first candidate, one entry for all, which everything is
/// compared with.
fn price<'c>(loads: &mut Loads<'_>, class: ClassId, candidates: &'c [Candidate]) -> Vec<PricedCandidate<'c>> {
    let mut least = f64::INFINITY;
    let mut priced: Vec<PricedCandidate<'c>> = Vec::new();
    for of in candidates {
        let Some(cost) = loads.price(class, &of.rules, least * CLOSE) else { continue };
        least = least.min(cost);
        priced.push(PricedCandidate { of, cost });
    }
    let first = candidates.first();
    priced.retain(|one| one.cost <= least * CLOSE || Some(one.of) == first);
    // Stable: of what costs the same, the earlier candidate, which is the simpler one.
    priced.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    priced
}

fn said(
    model: &Model,
    costing: &Costing<'_>,
    class: ClassId,
    priced: &[PricedCandidate<'_>],
    candidates: usize,
) -> Vec<Decision> {
    let name = &model.conceptual.classes[class].name;
    let unit = costing.model.unit();
    let per = if unit == DOLLARS { " a month".to_owned() } else { format!(" {unit} a second") };
    let Some((best, others)) = priced.split_first() else { return Vec::new() };
    let whole = best.of.rules.iter().all(|rule| rule.steps.is_empty());
    let why = if whole {
        "small, or used as a whole (the first guideline)"
    } else {
        "its pieces are written apart (the second and fourth guidelines)"
    };
    let says = format!(
        "{}, {}: {why}; {}{per} is the least of {candidates} candidates",
        best.of.name(),
        shown(model, &best.of.rules),
        amount(&unit, best.cost),
    );
    let mut decisions = vec![Decision::new(name, says, PARTITIONING)];
    let (close, far): (Vec<_>, Vec<_>) = others.iter().partition(|other| other.cost <= best.cost * CLOSE);
    let costs =
        |other: &&PricedCandidate<'_>| format!("{} at {}", other.of.name(), amount(&unit, other.cost));
    if !close.is_empty() {
        let close: Vec<String> = close.iter().map(costs).collect();
        let cost = amount(&unit, best.cost);
        let says = format!(
            "too close to call: measure {} against {} at {cost}{per}",
            close.join("; "),
            best.of.name()
        );
        decisions.push(Decision::new(name, says, CASE_STUDY));
    }
    let far = far.iter().map(|other| format!("in one entry it would cost more: {}{per}", costs(other)));
    decisions.extend(far.map(|says| Decision::new(name, says, PARTITIONING)));
    decisions
}

fn shown(model: &Model, rules: &[Rule]) -> String {
    texts(model, rules).join(" ")
}

/// What a workload costs: dollars a month where there is a bill, else by the second.
fn amount(unit: &str, cost: f64) -> String {
    // A million seconds cost what a million calls cost at one call a second.
    const MONTH: f64 = 30.0 * 24.0 * 3600.0 / 1e6;
    if unit == DOLLARS { format!("${}", digits(cost * MONTH)) } else { digits(cost) }
}

/// Four digits, so that what is close can be told apart.
fn digits(cost: f64) -> String {
    let units = ["", "k", "M", "G", "T", "P"];
    let mut scaled = cost;
    let mut units = units.into_iter();
    let mut unit = units.next().unwrap_or_default();
    while scaled >= 999.95 {
        let Some(next) = units.next() else { break };
        (scaled, unit) = (scaled / 1000.0, next);
    }
    match scaled {
        scaled if scaled >= 99.995 => format!("{scaled:.1}{unit}"),
        scaled if scaled >= 9.9995 => format!("{scaled:.2}{unit}"),
        scaled => format!("{scaled:.3}{unit}"),
    }
}
