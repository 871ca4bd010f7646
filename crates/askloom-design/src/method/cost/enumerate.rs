//! Every plan of a query over what may be kept, and what each of them needs to be kept.

use super::pool::Pool;
use crate::cost::Costing;
use crate::method::around::{Around, Statement};
use crate::plan;
use crate::plan::write::parts::{self, Parts};
use askloom_model::{
    ClassId, CollectionId, Conceptual, Contents, Design, EndId, Keeper, Member, Model, Plan, Query, Role,
    Table, Write,
};
use std::collections::{BTreeSet, HashMap};

/// Something that is chosen or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Pick {
    Keep(CollectionId),
    /// A master that can be cut in several ways, and which of them.
    Cut(usize, usize),
}

/// A plan of a statement.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Alternative {
    /// What it costs each time.
    pub(super) cost: f64,
    /// The picks that it needs.
    pub(super) reads: BTreeSet<usize>,
}

/// What a write costs, part by part.
pub(super) struct WriteParts {
    /// As masters are usually cut.
    pub(super) usual: Parts,
    /// As one of them is cut in another way.
    pub(super) others: Vec<OtherCut>,
}

pub(super) struct OtherCut {
    pub(super) cut: usize,
    pub(super) way: usize,
    pub(super) parts: Parts,
}

/// Of so many ways back, every choice of those that are there is looked at; of more, all, none, and all but each.
const WAYS_BACK: usize = 3;
/// So many choices of cuts are looked at; of more, those in which one master is cut in another way than usual.
const CUTS: usize = 32;

/// A pool to plan over.
pub(super) struct Over<'o> {
    pub(super) model: &'o Model,
    pub(super) costing: &'o Costing<'o>,
    pub(super) pool: &'o Pool,
    around: Around<'o>,
    pub(super) picks: Vec<Pick>,
    at: HashMap<Pick, usize>,
}

/// The collections around a statement.
struct Near {
    design: Design,
    /// Where they are in the pool.
    ids: Vec<CollectionId>,
}

impl<'o> Over<'o> {
    pub(super) fn new(model: &'o Model, costing: &'o Costing<'o>, pool: &'o Pool) -> Self {
        let keep = pool.optional().map(Pick::Keep);
        let cuts = pool.cuts.iter().enumerate();
        let cuts = cuts.flat_map(|(cut, one)| (0..one.ways.len()).map(move |way| Pick::Cut(cut, way)));
        let picks: Vec<Pick> = keep.chain(cuts).collect();
        let at = picks.iter().enumerate().map(|(at, &pick)| (pick, at)).collect();
        Self { model, costing, pool, around: Around::new(&model.conceptual, &pool.design), picks, at }
    }

    pub(super) fn pick(&self, pick: Pick) -> Option<usize> {
        self.at.get(&pick).copied()
    }

    /// The plans of a query that no other one does with less and for less, and how many there were. If none is as quick as
    /// the query wants, all that there are.
    pub(super) fn query(&self, query: &Query) -> (Vec<Alternative>, usize) {
        let roots = self.around.roots_of_query(query);
        let conceptual = &self.model.conceptual;
        let mut homes = BTreeSet::new();
        add_homes(conceptual, query, &mut homes);
        let of_use = |id: &CollectionId| {
            let one = &self.pool.design.collections[*id];
            one.role == Role::Master || one.indexed().is_some() || homes.contains(&one.source.root)
        };
        let ids: Vec<CollectionId> = self.around.ids(&roots).into_iter().filter(of_use).collect();
        let near = self.apart(ids);
        let (mut all, made) = self.all(query, &near);
        let quick = |one: &Alternative| is_quick(self.costing, query, one.cost);
        if all.iter().any(quick) {
            all.retain(quick);
        }
        (undominated(all), made)
    }

    /// The plans of a query that no other one does with less and for less, those that find something first included, and
    /// how many there were.
    fn all(&self, query: &Query, near: &[Vec<CollectionId>]) -> (Vec<Alternative>, usize) {
        let planned = |query: &Query, plans: &dyn Fn(&Design) -> Vec<Plan>| {
            let (mut all, mut made) = (Vec::new(), 0);
            for ids in near {
                made += self.plans(query, ids, plans, &mut all);
            }
            (undominated(all), made)
        };
        let (costing, conceptual) = (self.costing, &self.model.conceptual);
        let (mut all, mut made) =
            planned(query, &|design| plan::direct_plans(costing, conceptual, design, query));
        for split in plan::splits(conceptual, query) {
            let (then, plans) =
                planned(&split.then, &|design| plan::plans_after(costing, conceptual, design, &split));
            let (first, before) = self.all(&split.first, near);
            made += plans + before;
            let both = |one: &Alternative, other: &Alternative| Alternative {
                cost: one.cost + other.cost,
                reads: one.reads.union(&other.reads).copied().collect(),
            };
            let free = all.iter().filter(|one| one.reads.is_empty()).map(|one| one.cost);
            let most = free.fold(f64::INFINITY, f64::min);
            for one in &first {
                // Both come cheapest first.
                let worth = then.iter().take_while(|other| one.cost + other.cost < most);
                all.extend(worth.map(|other| both(one, other)));
            }
        }
        (undominated(all), made)
    }

    /// Collections that can be in one design: indexes of the store's own, and the copies beside which they would be
    /// something else.
    fn apart(&self, ids: Vec<CollectionId>) -> Vec<Vec<CollectionId>> {
        let is_native = |id: &CollectionId| self.pool.design.collections[*id].keeper == Keeper::Store;
        let natives: Vec<CollectionId> = ids.iter().copied().filter(is_native).collect();
        if natives.is_empty() {
            return vec![ids];
        }
        let siblings: BTreeSet<CollectionId> =
            natives.iter().flat_map(|&native| self.pool.siblings(native)).collect();
        let ours = ids.iter().copied().filter(|id| !is_native(id)).collect();
        vec![ours, ids.into_iter().filter(|id| !siblings.contains(id)).collect()]
    }

    /// The plans over some collections, with ways back and without, however masters are cut.
    fn plans(
        &self,
        query: &Query,
        ids: &[CollectionId],
        plans: &dyn Fn(&Design) -> Vec<Plan>,
        all: &mut Vec<Alternative>,
    ) -> usize {
        let mut made = 0;
        for hidden in self.hidden(query, ids) {
            let left = ids.iter().copied().filter(|id| !hidden.contains(id)).collect();
            for cuts in self.cuts(ids) {
                let near = self.near(&left, &cuts);
                let plans = plans(&near.design);
                made += plans.len();
                all.extend(plans.iter().map(|plan| self.alternative(plan, &near, &cuts)));
            }
        }
        made
    }

    /// Which of the ways back that a query could take are not there.
    fn hidden(&self, query: &Query, ids: &[CollectionId]) -> Vec<BTreeSet<CollectionId>> {
        let walked = walked_back(&self.model.conceptual, query);
        let back = ids.iter().copied().filter(|&id| {
            let way = self.pool.design.collections[id].reverses();
            self.pool.is_optional(id) && way.is_some_and(|end| walked.contains(&end))
        });
        let back: Vec<CollectionId> = back.collect();
        if back.len() <= WAYS_BACK {
            let chosen = |choice: usize| {
                let chosen = back.iter().enumerate().filter(|(at, _)| choice >> at & 1 == 1);
                chosen.map(|(_, &id)| id).collect()
            };
            return (0..1usize << back.len()).map(chosen).collect();
        }
        let mut all = vec![BTreeSet::new(), back.iter().copied().collect()];
        all.extend(back.iter().map(|&id| BTreeSet::from([id])));
        all
    }

    /// For each master that can be cut in several ways, which one, in all choices.
    fn cuts(&self, ids: &[CollectionId]) -> Vec<Vec<(usize, usize)>> {
        let near = self.pool.cuts.iter().enumerate().filter(|(_, cut)| ids.contains(&cut.master));
        let near: Vec<(usize, usize)> = near.map(|(at, cut)| (at, cut.ways.len())).collect();
        let choices: usize = near.iter().map(|(_, ways)| ways).product();
        let usual: Vec<(usize, usize)> = near.iter().map(|(at, _)| (*at, 0)).collect();
        if choices > CUTS {
            let mut all = vec![usual.clone()];
            for (place, &(at, ways)) in near.iter().enumerate() {
                for way in 1..ways {
                    let mut other = usual.clone();
                    other.get_mut(place).into_iter().for_each(|slot| *slot = (at, way));
                    all.push(other);
                }
            }
            return all;
        }
        let mut all = vec![Vec::new()];
        for (at, ways) in near {
            all = all
                .into_iter()
                .flat_map(|chosen: Vec<(usize, usize)>| {
                    (0..ways).map(move |way| chosen.iter().copied().chain([(at, way)]).collect())
                })
                .collect();
        }
        all
    }

    fn near(&self, ids: &Vec<CollectionId>, cuts: &[(usize, usize)]) -> Near {
        let mut collections = Table::default();
        for &id in ids {
            let mut collection = self.pool.design.collections[id].clone();
            for (cut, way) in cuts.iter().filter_map(|&(at, way)| Some((self.pool.cuts.get(at)?, way))) {
                if cut.master == id
                    && let Some(rules) = cut.ways.get(way)
                {
                    collection.contents = Contents::Aggregate(rules.clone());
                }
            }
            collections.push(collection);
        }
        let method = self.pool.design.method.clone();
        Near { design: Design { method, collections }, ids: ids.clone() }
    }

    fn alternative(&self, plan: &Plan, near: &Near, cuts: &[(usize, usize)]) -> Alternative {
        let mut reads = BTreeSet::new();
        for own in plan.read_after() {
            let Some(&id) = near.ids.get(askloom_model::Id::index(own)) else { continue };
            reads.extend(self.pick(Pick::Keep(id)));
            let cut = cuts.iter().find(|(at, _)| self.pool.cuts.get(*at).is_some_and(|cut| cut.master == id));
            reads.extend(cut.and_then(|&(at, way)| self.pick(Pick::Cut(at, way))));
        }
        Alternative { cost: plan.cost_after(), reads }
    }

    /// A write part by part: as masters are usually cut, and as each of them is cut in another way.
    pub(super) fn write(&self, write: &Write) -> Option<WriteParts> {
        let roots = self.around.roots(&Statement::Write(write));
        let ids: Vec<CollectionId> = self.around.ids(&roots).into_iter().collect();
        let priced = |cuts: &[(usize, usize)]| {
            let near = self.near(&ids, cuts);
            let mut parts = parts::parts(self.costing, self.model, &near.design, write)?;
            for copy in parts.steps.iter_mut().flat_map(|step| &mut step.copies) {
                let known = near.ids.get(askloom_model::Id::index(copy.collection));
                copy.collection = known.copied().unwrap_or(copy.collection);
            }
            Some(parts)
        };
        let usual = priced(&[])?;
        let mut others = Vec::new();
        for (at, cut) in self.pool.cuts.iter().enumerate().filter(|(_, cut)| ids.contains(&cut.master)) {
            for way in 1..cut.ways.len() {
                others.push(OtherCut { cut: at, way, parts: priced(&[(at, way)])? });
            }
        }
        Some(WriteParts { usual, others })
    }
}

/// Where the rows of a query are, and those of what it may find first.
fn add_homes(conceptual: &Conceptual, query: &Query, homes: &mut BTreeSet<ClassId>) {
    let class = query.positions[plan::main()].class;
    let own = class.map(|class| conceptual.homes(class)).unwrap_or_default();
    homes.extend(own.iter().map(|home| home.root));
    for split in plan::splits(conceptual, query) {
        add_homes(conceptual, &split.first, homes);
    }
}

/// Whether what costs so much takes no longer than a query may.
pub(super) fn is_quick(costing: &Costing<'_>, query: &Query, cost: f64) -> bool {
    let takes = query.latency_ms.zip(costing.model.milliseconds(cost));
    takes.is_none_or(|(most, takes)| takes <= most)
}

/// The stored references that a query goes along from the target back.
fn walked_back(conceptual: &Conceptual, query: &Query) -> BTreeSet<EndId> {
    let steps = query.positions.iter().filter_map(|(_, position)| match position.from?.step {
        Member::End(end) => Some(end),
        Member::Attribute(_) => None,
    });
    let hops = plan::needed_paths(query).into_iter().flat_map(|path| path.hops);
    let ends = steps.chain(hops).filter(|&end| {
        let row = &conceptual.ends[end];
        !row.stored || row.inverse == Some(end)
    });
    ends.map(|end| conceptual.stored_end(end)).collect()
}

/// Those that no other does with less and for less.
fn undominated(mut all: Vec<Alternative>) -> Vec<Alternative> {
    all.retain(|one| one.cost.is_finite());
    all.sort_by(|a, b| {
        a.cost.total_cmp(&b.cost).then(a.reads.len().cmp(&b.reads.len())).then_with(|| a.reads.cmp(&b.reads))
    });
    let mut left: Vec<Alternative> = Vec::new();
    let mut sets: Vec<Vec<u64>> = Vec::new();
    for one in all {
        let set = packed(&one.reads);
        if !sets.iter().any(|other| is_within(other, &set)) {
            left.push(one);
            sets.push(set);
        }
    }
    left
}

/// A set of numbers as bits: there are thousands of alternatives to compare with each other.
fn packed(numbers: &BTreeSet<usize>) -> Vec<u64> {
    let mut bits = vec![0; numbers.last().map_or(0, |last| last / 64 + 1)];
    for number in numbers {
        bits.get_mut(number / 64).into_iter().for_each(|word| *word |= 1 << (number % 64));
    }
    bits
}

fn is_within(less: &[u64], more: &[u64]) -> bool {
    less.len() <= more.len() && less.iter().zip(more).all(|(less, more)| less & !more == 0)
}
