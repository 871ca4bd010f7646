//! The method that asks what a design costs: collections and plans chosen together, for the store that it is for.
//!
//! - [`candidate`]: collections that could serve;
//! - [`choice`]: what each plan costs over them and what each of them costs to keep, as a programme;
//! - [`programme`], [`solve`]: the programme as data, and its cheapest choice.
//!
//! "Optimal" is over the candidates and plans that were looked at.

mod candidate;
mod choice;
pub mod programme;
mod report;
pub mod solve;

use super::{Decision, Method, Options, Paper, Proposal};
use crate::cost::Costing;
use crate::{simple, upkeep};
use askloom_model::{Collection, CollectionId, Design, Model, Origin, Role, Table};
use candidate::Pool;
use choice::Choice;
pub use report::{Report, Worth, total};
use std::collections::BTreeSet;

/// The cheapest design that was found, at least as cheap as those of the other methods.
#[must_use]
pub fn propose(model: &Model, costing: &Costing<'_>, options: &Options) -> Proposal {
    let others: Vec<(Method, Proposal)> = Method::PUBLISHED
        .into_iter()
        .map(|method| (method, super::design(method, model, costing, options)))
        .collect();
    let mut best: Option<Chosen> = None;
    for masters in masters(model, &others) {
        let chosen = choose(model, costing, options, masters, &others);
        if best.as_ref().is_none_or(|best| chosen.report.cost < best.report.cost) {
            best = Some(chosen);
        }
    }
    match best {
        Some(best) => Proposal {
            design: best.design,
            decisions: best.decisions,
            paper: Paper::Cost(Box::new(best.report)),
        },
        // Without any class there is nothing to choose.
        None => Proposal {
            design: Design { method: "cost".to_owned(), collections: Table::default() },
            decisions: Vec::new(),
            paper: Paper::Cost(Box::default()),
        },
    }
}

struct Chosen {
    design: Design,
    decisions: Vec<Decision>,
    report: Report,
}

/// The masters of the other methods, each way to cut them once, with what every design of the model needs.
fn masters(model: &Model, others: &[(Method, Proposal)]) -> Vec<Design> {
    let mut all: Vec<Design> = Vec::new();
    for (_, proposal) in others {
        let mut design = Design { method: "cost".to_owned(), collections: Table::default() };
        let own = proposal.design.collections.iter().filter(|(_, one)| one.role == Role::Master);
        for (_, master) in own {
            let name = model.conceptual.classes[master.source.root].name.clone();
            design.collections.push(Collection { name, origin: Origin::Method, ..master.clone() });
        }
        let mut bare = model.clone();
        bare.workload.queries.clear();
        bare.workload.asks.clear();
        simple::masters(&bare, Origin::Method, &mut design);
        upkeep::add_indexes(&bare, &mut design);
        let cuts = |design: &Design| -> Vec<_> {
            design.collections.iter().map(|(_, one)| one.contents.clone()).collect()
        };
        if all.iter().all(|other| cuts(other) != cuts(&design)) {
            all.push(design);
        }
    }
    all
}

fn choose(
    model: &Model,
    costing: &Costing<'_>,
    options: &Options,
    masters: Design,
    others: &[(Method, Proposal)],
) -> Chosen {
    let designs: Vec<Design> = others.iter().map(|(_, proposal)| proposal.design.clone()).collect();
    let pool = Pool::new(model, costing, &masters, &designs);
    let choice = Choice::new(model, costing, &pool);
    let starts: Vec<BTreeSet<CollectionId>> =
        designs.iter().map(|design| choice.with_needs(&within(&pool, design))).chain([all(&pool)]).collect();
    let priced = starts.iter().filter_map(|start| {
        let values = choice.values(start).filter(|values| choice.programme.meets(values))?;
        Some((choice.programme.cost(&values), values))
    });
    let start = priced.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, values)| values);
    let start = start.unwrap_or_else(|| vec![0.0; choice.programme.variables.len()]);
    let answer = solve::solve(&choice.programme, &start, options.time_limit);
    let kept = choice.used(&choice.kept(&answer.values));
    let design = design(&pool, &kept);
    let report = Report::new(model, costing, &pool, &choice, &answer, &kept, others);
    let decisions = report.decisions(costing);
    Chosen { design, decisions, report }
}

/// The collections of the pool that a design has.
fn within(pool: &Pool, design: &Design) -> BTreeSet<CollectionId> {
    let copies = design.collections.iter().filter(|(_, one)| one.role != Role::Master);
    let optional: BTreeSet<CollectionId> = pool.optional().collect();
    copies.filter_map(|(_, one)| pool.known(one)).filter(|id| optional.contains(id)).collect()
}

fn all(pool: &Pool) -> BTreeSet<CollectionId> {
    let ours = |id: &CollectionId| pool.design.collections[*id].keeper == askloom_model::Keeper::Ours;
    pool.optional().filter(ours).collect()
}

/// What every design needs, and what was chosen.
fn design(pool: &Pool, kept: &BTreeSet<CollectionId>) -> Design {
    let mut design = Design { method: "cost".to_owned(), collections: Table::default() };
    for (id, collection) in pool.design.collections.iter() {
        let needed = askloom_model::Id::index(id) < pool.first;
        if needed || kept.contains(&id) {
            design.collections.push(collection.clone());
        }
    }
    design
}
