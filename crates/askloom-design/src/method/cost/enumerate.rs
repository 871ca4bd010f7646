//! Every plan of a query over what may be kept, and what each of them needs to be kept.

use super::dominance::{By, Left, undominated, with_pairs};
use super::pool::Pool;
use crate::method::around::{Around, Statement};
use askloom_model::{
    ClassId, CollectionId, Conceptual, Contents, Design, EndId, Id, Keeper, Member, Model, Plan, Query, Role,
    Table, Write,
};
use askloom_plan::cost::Costing;
use askloom_plan::planner;
use askloom_plan::planner::write::parts::{self, FindPart, Parts, StepParts};
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
    /// Milliseconds that it takes, where that matters.
    pub(super) takes: Option<f64>,
    /// The picks that it needs.
    pub(super) reads: BTreeSet<usize>,
}

/// What was found for a query.
#[derive(Debug, Clone, Default)]
pub(super) struct Looked {
    pub(super) alternatives: Vec<Alternative>,
    /// How many plans there were.
    pub(super) made: usize,
    /// Whether not every choice of ways back, of cuts, and of plans for both halves of a path was looked at.
    pub(super) capped: bool,
}

/// What is found first is the same on several ways: what was looked at already.
type Known = Vec<(Query, Looked)>;

/// What a write costs, part by part.
pub(super) struct WriteParts {
    /// As masters are usually cut.
    pub(super) usual: Parts,
    /// As one of them is cut in another way.
    pub(super) others: Vec<OtherCut>,
}

impl WriteParts {
    /// One step of a write whose statements commit apart.
    pub(super) fn of_step(&self, index: usize) -> Self {
        let one = |other: &OtherCut| OtherCut { parts: other.parts.of_step(index), ..*other };
        Self { usual: self.usual.of_step(index), others: self.others.iter().map(one).collect() }
    }
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

/// Whether it matters how long plans take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timed {
    No,
    /// It is added to what else a write does. The cheapest plan is taken all the same.
    Added,
    /// No plan may take longer than something.
    Bounded,
}

impl Timed {
    fn by(self) -> By {
        match self {
            Self::No | Self::Added => By::Cost,
            Self::Bounded => By::CostAndTime,
        }
    }
}

/// A pool to plan over.
pub(super) struct Over<'o> {
    pub(super) model: &'o Model,
    pub(super) costing: &'o Costing<'o>,
    pub(super) pool: &'o Pool,
    around: Around<'o>,
    pub(super) picks: Vec<Pick>,
    at: HashMap<Pick, usize>,
}

/// What can be chosen, and whether there is more of it than that.
struct Choices<T> {
    all: Vec<T>,
    capped: bool,
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

    /// The plans of a query that no other one does with less and for less and, where time counts, in less time.
    fn looked(&self, query: &Query, timed: Timed) -> Looked {
        let roots = self.around.roots_of_query(query);
        let conceptual = &self.model.conceptual;
        let mut homes = BTreeSet::new();
        add_homes(conceptual, query, &mut homes);
        let of_use = |id: &CollectionId| {
            let one = &self.pool.design.collections[*id];
            // Rows of a subclass are in the aggregates of the class above.
            let root = conceptual.aggregate_root(one.source.root).unwrap_or(one.source.root);
            one.role == Role::Master || one.indexed().is_some() || homes.contains(&root)
        };
        let ids: Vec<CollectionId> = self.around.ids(&roots).into_iter().filter(of_use).collect();
        let near = self.apart(ids);
        self.all(query, &near, timed, &mut Vec::new())
    }

    /// The same; if one is as quick as the query wants, only those.
    pub(super) fn query(&self, query: &Query) -> Looked {
        let timed = if query.latency_ms.is_some() { Timed::Bounded } else { Timed::No };
        let mut looked = self.looked(query, timed);
        let most = query.latency_ms.unwrap_or(f64::INFINITY);
        let quick = |one: &Alternative| one.takes.is_none_or(|takes| takes <= most);
        if looked.alternatives.iter().any(quick) {
            looked.alternatives.retain(quick);
        }
        looked
    }

    /// The plans of a query that no other one does with less and for less, those that find something first included.
    fn all(&self, query: &Query, near: &[Vec<CollectionId>], timed: Timed, known: &mut Known) -> Looked {
        if let Some((_, looked)) = known.iter().find(|(asked, _)| asked == query) {
            return Looked { made: 0, ..looked.clone() };
        }
        let planned = |query: &Query, plans: &dyn Fn(&Design) -> Vec<Plan>| {
            let mut looked = Looked::default();
            for ids in near {
                self.plans(query, ids, timed, plans, &mut looked);
            }
            looked.alternatives = undominated(looked.alternatives, timed.by());
            looked
        };
        let (costing, conceptual) = (self.costing, &self.model.conceptual);
        let forms = planner::forms(conceptual, query);
        let mut all = Looked::default();
        for form in &forms {
            let direct = planned(form, &|design| planner::direct_plans(costing, conceptual, design, form));
            all.alternatives.extend(direct.alternatives);
            all.made += direct.made;
            all.capped |= direct.capped;
        }
        if forms.len() > 1 {
            all.alternatives = undominated(all.alternatives, timed.by());
        }
        for split in forms.iter().flat_map(|form| planner::splits(conceptual, form)) {
            let then =
                planned(&split.then, &|design| planner::plans_after(costing, conceptual, design, &split));
            let first = self.all(&split.first, near, timed, known);
            let Left { alternatives, capped } =
                with_pairs(&all.alternatives, &first.alternatives, &then.alternatives, timed.by());
            all.alternatives = alternatives;
            all.made += then.made + first.made;
            all.capped |= then.capped || first.capped || capped;
        }
        known.push((query.clone(), all.clone()));
        all
    }

    /// Collections that can be in one design: indexes of the store's own, and the copies beside which they would be
    /// something else. Other orders of copies are with these.
    fn apart(&self, ids: Vec<CollectionId>) -> Vec<Vec<CollectionId>> {
        let is_native = |id: &CollectionId| self.pool.design.collections[*id].keeper == Keeper::Store;
        let natives: Vec<CollectionId> = ids.iter().copied().filter(is_native).collect();
        if natives.is_empty() {
            return vec![ids];
        }
        let siblings: BTreeSet<CollectionId> =
            natives.iter().flat_map(|&native| self.pool.siblings(native)).collect();
        let is_local = |id: &CollectionId| self.pool.local.contains_key(id);
        if siblings.is_empty() && !natives.iter().any(is_local) {
            return vec![ids];
        }
        let ours = ids.iter().copied().filter(|id| !is_native(id) || is_local(id)).collect();
        vec![ours, ids.into_iter().filter(|id| !siblings.contains(id) && !is_local(id)).collect()]
    }

    /// The plans over some collections, with ways back and without, however masters are cut.
    fn plans(
        &self,
        query: &Query,
        ids: &[CollectionId],
        timed: Timed,
        plans: &dyn Fn(&Design) -> Vec<Plan>,
        looked: &mut Looked,
    ) {
        let hidden = self.hidden(query, ids);
        looked.capped |= hidden.capped;
        for hidden in hidden.all {
            let left = ids.iter().copied().filter(|id| !hidden.contains(id)).collect();
            let mut add = |cuts: &[(usize, usize)]| {
                let near = self.near(&left, cuts);
                let plans = plans(&near.design);
                looked.made += plans.len();
                let alternatives = plans.iter().map(|plan| self.alternative(plan, &near, cuts, timed));
                looked.alternatives.extend(alternatives);
                let read = plans.iter().flat_map(|plan| self.read(plan, &near));
                read.filter_map(|own| near.ids.get(own.index()).copied()).collect::<BTreeSet<_>>()
            };
            // How a master is cut that no plan reads makes no difference.
            let usual = self.usual(&left);
            let read = add(&usual);
            let cuts = self.other_cuts(&usual, &read);
            for cuts in &cuts.all {
                add(cuts);
            }
            looked.capped |= cuts.capped;
        }
    }

    /// Which of the ways back that a query could take are not there.
    fn hidden(&self, query: &Query, ids: &[CollectionId]) -> Choices<BTreeSet<CollectionId>> {
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
            return Choices { all: (0..1usize << back.len()).map(chosen).collect(), capped: false };
        }
        let mut all = vec![BTreeSet::new(), back.iter().copied().collect()];
        all.extend(back.iter().map(|&id| BTreeSet::from([id])));
        Choices { all, capped: true }
    }

    /// Each master that can be cut in several ways, as it usually is.
    fn usual(&self, ids: &[CollectionId]) -> Vec<(usize, usize)> {
        let near = self.pool.cuts.iter().enumerate().filter(|(_, cut)| ids.contains(&cut.master));
        near.map(|(at, _)| (at, 0)).collect()
    }

    /// All choices of how these masters are cut, but the usual one.
    fn other_cuts(
        &self,
        usual: &[(usize, usize)],
        masters: &BTreeSet<CollectionId>,
    ) -> Choices<Vec<(usize, usize)>> {
        let ways = |at: usize| {
            let cut = self.pool.cuts.get(at).filter(|cut| masters.contains(&cut.master));
            cut.map_or(1, |cut| cut.ways.len())
        };
        let choices = usual.iter().fold(1usize, |choices, (at, _)| choices.saturating_mul(ways(*at)));
        if choices > CUTS {
            let mut all = Vec::new();
            for (place, &(at, _)) in usual.iter().enumerate() {
                for way in 1..ways(at) {
                    let mut other = usual.to_vec();
                    other.get_mut(place).into_iter().for_each(|slot| *slot = (at, way));
                    all.push(other);
                }
            }
            return Choices { all, capped: true };
        }
        let mut all = vec![Vec::new()];
        for &(at, _) in usual {
            all = all
                .into_iter()
                .flat_map(|chosen: Vec<(usize, usize)>| {
                    (0..ways(at)).map(move |way| chosen.iter().copied().chain([(at, way)]).collect())
                })
                .collect();
        }
        all.retain(|chosen| chosen != usual);
        Choices { all, capped: false }
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

    /// What a plan reads; with the master whose partitions an index without an order leads to, as it costs more to read
    /// one of many rows.
    fn read<'p>(&self, plan: &'p Plan, near: &'p Near) -> impl Iterator<Item = CollectionId> + 'p {
        let collection = &near.design.collections[plan.access.collection];
        let leads = self.costing.capability.gives_no_order(&self.model.conceptual, collection);
        let host = near.design.master(collection.source.root).filter(|_| leads);
        plan.read_after().chain(host)
    }

    fn alternative(&self, plan: &Plan, near: &Near, cuts: &[(usize, usize)], timed: Timed) -> Alternative {
        let mut reads = BTreeSet::new();
        for own in self.read(plan, near) {
            let Some(&id) = near.ids.get(Id::index(own)) else { continue };
            reads.extend(self.pick(Pick::Keep(id)));
            let cut = cuts.iter().find(|(at, _)| self.pool.cuts.get(*at).is_some_and(|cut| cut.master == id));
            reads.extend(cut.and_then(|&(at, way)| self.pick(Pick::Cut(at, way))));
        }
        let estimate = plan.estimate_after();
        let takes = self.costing.milliseconds(&estimate).filter(|_| timed != Timed::No);
        Alternative { cost: estimate.cost, takes, reads }
    }

    /// For each step of a write that has to find what it is about, how.
    pub(super) fn finds(&self, parts: &WriteParts, timed: Timed) -> Vec<Option<Looked>> {
        let find = |step: &StepParts| match &step.find {
            FindPart::Query(query) => Some(self.looked(query, timed)),
            FindPart::Nothing(_) | FindPart::Blind { .. } => None,
        };
        parts.usual.steps.iter().map(find).collect()
    }

    /// A write part by part: as masters are usually cut, and as each of them is cut in another way.
    pub(super) fn write(&self, write: &Write) -> Option<WriteParts> {
        let roots = self.around.roots(&Statement::Write(write));
        let ids: Vec<CollectionId> = self.around.ids(&roots).into_iter().collect();
        let priced = |cuts: &[(usize, usize)]| {
            let near = self.near(&ids, cuts);
            let mut parts = parts::parts(self.costing, self.model, &near.design, write)?;
            let known = |id: CollectionId| near.ids.get(Id::index(id)).copied().unwrap_or(id);
            for copy in parts.steps.iter_mut().flat_map(|step| &mut step.copies) {
                copy.collection = known(copy.collection);
            }
            for step in &mut parts.steps {
                match &mut step.find {
                    FindPart::Blind { unless, .. } => unless.iter_mut().for_each(|id| *id = known(*id)),
                    FindPart::Query(_) | FindPart::Nothing(_) => {}
                }
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
    for form in planner::forms(conceptual, query) {
        let class = form.positions[planner::main()].class;
        let own = class.map(|class| conceptual.homes(class)).unwrap_or_default();
        homes.extend(own.iter().map(|home| home.root));
        for split in planner::splits(conceptual, &form) {
            add_homes(conceptual, &split.first, homes);
        }
    }
}

/// The stored references that a query goes along from the target back.
fn walked_back(conceptual: &Conceptual, query: &Query) -> BTreeSet<EndId> {
    let steps = query.positions.iter().filter_map(|(_, position)| match position.from?.step {
        Member::End(end) => Some(end),
        Member::Attribute(_) => None,
    });
    let hops = planner::needed_paths(query).into_iter().flat_map(|path| path.hops);
    let ends = steps.chain(hops).chain(query.listed_ends(conceptual)).filter(|&end| {
        let row = &conceptual.ends[end];
        !row.stored || row.inverse == Some(end)
    });
    ends.map(|end| conceptual.stored_end(end)).collect()
}
