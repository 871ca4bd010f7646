//! How copies are brought after: which rows hold the written instance, what has to be read to rebuild them, and which
//! entries change.

use super::step::{Change, Changes, Step};
use super::{Writing, lookup};
use crate::cost::{Asked, selectivity};
use crate::plan::conjuncts;
use crate::upkeep::{self, Place};
use askloom_model::{
    BackStep, Collection, CollectionId, Comparison, Conceptual, Condition, Constant, Contents, CopyLevel,
    CopyWrite, Design, Id, Joining, Leaf, Member, Operand, Path, RelationshipKind, SupportOf, SupportRead,
    Work, WriteAction,
};

/// Whether a copy holds anything that the step changes.
pub(super) fn touches(conceptual: &Conceptual, design: &Design, id: CollectionId, step: &Step) -> bool {
    match &step.changes {
        Changes::Made | Changes::Replaced | Changes::Ended => true,
        Changes::Fields(changes) => {
            let used = used_members(conceptual, &design.collections[id]);
            let whole = matches!(design.collections[id].contents, Contents::Aggregate(_));
            whole || changes.iter().filter_map(last).any(|member| used.contains(&stored(conceptual, member)))
        }
    }
}

fn last(change: &Change) -> Option<Member> {
    change.path.last().copied()
}

/// A link is the same from both of its ends.
fn stored(conceptual: &Conceptual, member: Member) -> Member {
    match member {
        Member::End(end) => Member::End(conceptual.stored_end(end)),
        Member::Attribute(_) => member,
    }
}

/// Every member that the rows of a collection are made of or depend on.
fn used_members(conceptual: &Conceptual, collection: &Collection) -> Vec<Member> {
    let mut paths: Vec<Path> = collection.held().cloned().collect();
    if let Some(condition) = &collection.source.condition {
        crate::plan::condition_paths(condition, &mut paths);
    }
    let steps = collection.source.positions.iter().filter_map(|(_, position)| Some(position.from?.step));
    let members = steps.chain(paths.iter().flat_map(members_of));
    members.map(|member| stored(conceptual, member)).collect()
}

fn members_of(path: &Path) -> Vec<Member> {
    let leaf = match path.leaf {
        Leaf::Attribute(id) => Some(Member::Attribute(id)),
        Leaf::Reference(id) => Some(Member::End(id)),
        Leaf::Itself => None,
    };
    path.hops.iter().map(|&hop| Member::End(hop)).chain(leaf).collect()
}

/// Whether a step stays in its aggregate.
pub(super) fn is_inside(conceptual: &Conceptual, step: Member) -> bool {
    match step {
        Member::Attribute(_) => true,
        Member::End(end) => conceptual.ends[end].kind == RelationshipKind::Composition,
    }
}

/// Where aggregates of a root stand in the rows of a collection: the steps there from the rows' own root.
pub(super) fn entry_points(
    conceptual: &Conceptual,
    collection: &Collection,
    root: askloom_model::ClassId,
) -> Vec<Vec<Member>> {
    let mut points: Vec<Vec<Member>> = Vec::new();
    for place in upkeep::places(conceptual, collection) {
        if place.class.and_then(|class| conceptual.aggregate_root(class)) != Some(root) {
            continue;
        }
        let mut steps = place.steps;
        while steps.last().is_some_and(|&step| is_inside(conceptual, step)) {
            steps.pop();
        }
        if !points.contains(&steps) {
            points.push(steps);
        }
    }
    points
}

/// Rows of a copy before and after.
struct Shares {
    before: f64,
    after: f64,
    /// Whether what stays may be under another key.
    moves: bool,
}

impl Writing<'_> {
    /// Every copy that has to be brought after; those that reserve values are brought by that.
    pub(super) fn copies(&self, reserved: &[CollectionId]) -> Vec<CopyWrite> {
        let (conceptual, design) = (&self.planner.model.conceptual, self.planner.design);
        let Some(root) = conceptual.aggregate_root(self.step.class) else { return Vec::new() };
        upkeep::upkeep(conceptual, design, root)
            .into_iter()
            .map(|upkeep| upkeep.collection)
            .filter(|id| !reserved.contains(id) && touches(conceptual, design, *id, self.step))
            .map(|id| self.copy(id, root))
            .collect()
    }

    fn copy(&self, id: CollectionId, root: askloom_model::ClassId) -> CopyWrite {
        let conceptual = &self.planner.model.conceptual;
        let collection = &self.planner.design.collections[id];
        let level = self.planner.level(id);
        let sizes = self.sizes();
        let mut support: Vec<(SupportOf, Work)> = Vec::new();
        let mut rows = 0.0;
        for point in entry_points(conceptual, collection, root) {
            let roots = self.walk_back(&point, &mut support);
            let held = self.rows_at(collection, &point, root);
            if held > 0.0 {
                self.rebuild(collection, &point, roots, &mut support);
            }
            rows += held;
        }
        let shares = self.shares(collection);
        let (before, after) = (rows * shares.before, rows * shares.after);
        let deletes = if shares.moves { before } else { (before - after).max(0.0) };
        let entry = sizes.entry_bytes(id);
        let mut work = Work {
            puts: after,
            deletes,
            written: after * entry,
            dropped: deletes * entry,
            ..Work::default()
        };
        if level == CopyLevel::Intents {
            // Each row is announced in its anchor, put, and settled there.
            let changed = after.max(before);
            work.puts += 2.0 * changed;
            work.write_requests = 3.0 * changed;
        }
        let mut estimate = self.priced(work);
        let costing = self.planner.costing;
        let support = support.into_iter().map(|(of, work)| {
            estimate += self.priced(work);
            SupportRead { of, estimate: lookup::estimate(costing, &work) }
        });
        let support = support.collect();
        CopyWrite { collection: id, level, support, estimate }
    }

    /// From the written instances to the roots of the rows that hold them. How many those are.
    fn walk_back(&self, point: &[Member], support: &mut Vec<(SupportOf, Work)>) -> f64 {
        let conceptual = &self.planner.model.conceptual;
        let mut there = self.matched;
        for &step in point.iter().rev().filter(|&&step| !is_inside(conceptual, step)) {
            let Member::End(end) = step else { continue };
            let row = &conceptual.ends[end];
            if !row.stored {
                // The instance itself stores the link.
                there *=
                    row.inverse.map_or(1.0, |stored| self.planner.statistics.fan_out(Member::End(stored)));
                continue;
            }
            let each = self.planner.statistics.referring(end);
            let index = self.planner.design.reverse_index(end);
            let holder =
                conceptual.aggregate_root(row.class).and_then(|root| self.planner.design.master(root));
            let sizes = self.sizes();
            let work = match (index, holder) {
                (Some(index), _) => lookup::found(self.planner.costing, &sizes, index, there, each),
                (None, Some(master)) => lookup::scan(self.planner.costing, &sizes, master),
                (None, None) => Work::default(),
            };
            support.push((SupportOf::Back(BackStep { end, index }), work));
            there *= each;
        }
        there
    }

    /// How many entries hold the written instances there, whatever the collection's condition says of them.
    fn rows_at(&self, collection: &Collection, point: &[Member], root: askloom_model::ClassId) -> f64 {
        let conceptual = &self.planner.model.conceptual;
        let sizes = self.sizes();
        if let (Changes::Made, Some(&Member::End(end))) = (&self.step.changes, point.last())
            && conceptual.ends[end].stored
        {
            // Nobody refers to what is only now made.
            return 0.0;
        }
        let all = sizes.rows_without_condition(collection) * sizes.keys_of_row(collection);
        let of_one = all / self.planner.statistics.count(root).max(1.0);
        of_one * self.matched / self.grain(collection)
    }

    /// One element of a list, or one link, is one of so many of a row's root.
    fn grain(&self, collection: &Collection) -> f64 {
        let conceptual = &self.planner.model.conceptual;
        let member = match self.step.action {
            WriteAction::Add(member) | WriteAction::Remove(member) => member,
            WriteAction::Connect(end) | WriteAction::Disconnect(end) => Member::End(end),
            WriteAction::Insert
            | WriteAction::Upsert
            | WriteAction::Store
            | WriteAction::Update
            | WriteAction::Delete => return 1.0,
        };
        let joined = collection.source.positions.iter().filter_map(|(_, position)| Some(position.from?.step));
        let keys = collection.block_key.iter().flat_map(|field| members_of(&field.path));
        let mut grains = joined.chain(keys).map(|step| stored(conceptual, step));
        if grains.any(|step| step == stored(conceptual, member)) {
            self.planner.statistics.fan_out(member).max(1.0)
        } else {
            1.0
        }
    }

    /// Reads what else stands in the rows.
    fn rebuild(
        &self,
        collection: &Collection,
        point: &[Member],
        roots: f64,
        support: &mut Vec<(SupportOf, Work)>,
    ) {
        let (conceptual, design) = (&self.planner.model.conceptual, self.planner.design);
        let sizes = self.sizes();
        let costing = self.planner.costing;
        let root = conceptual.aggregate_root(collection.source.root);
        if let (false, Some(master)) = (point.is_empty(), root.and_then(|root| design.master(root))) {
            let how = Joining::LookUp { master };
            let work = lookup::get(costing, &sizes, &how, roots);
            support.push((SupportOf::Rebuild { steps: Vec::new(), how }, work));
        }
        let places = upkeep::places(conceptual, collection);
        for Place { steps, .. } in
            places.iter().filter(|place| !place.steps.is_empty() && place.steps != point)
        {
            let Some((&step, before)) = steps.split_last() else { continue };
            let there: f64 = before.iter().map(|&step| self.planner.statistics.fan_out(step)).product();
            let Some(how) = lookup::joining(&self.planner.statistics, design, step) else { continue };
            let of = SupportOf::Rebuild { steps: steps.clone(), how: how.clone() };
            if how != Joining::Inside && support.iter().all(|(known, _)| *known != of) {
                let work = lookup::work(costing, &sizes, &how, step, roots * there);
                support.push((of, work));
            }
        }
    }

    /// Which share of the rows is in the copy before and after, by its condition, the statement's own and the values
    /// that it sets.
    fn shares(&self, collection: &Collection) -> Shares {
        let asked = Asked { positions: &collection.source.positions, skew: 0.0 };
        let (mut before, mut after) = (1.0, 1.0);
        for conjunct in conjuncts(collection.source.condition.as_ref()) {
            let usual = selectivity(&self.planner.statistics, asked, conjunct.condition);
            before *= self.known_before(conjunct.condition).unwrap_or(usual);
            after *= self.known_after(conjunct.condition).unwrap_or(usual);
        }
        match &self.step.changes {
            Changes::Made => Shares { before: 0.0, after, moves: false },
            Changes::Ended => Shares { before, after: 0.0, moves: false },
            Changes::Replaced => Shares { before, after, moves: true },
            Changes::Fields(changes) => self.moved(collection, changes, before, after),
        }
    }

    fn moved(&self, collection: &Collection, changes: &[Change], before: f64, after: f64) -> Shares {
        let conceptual = &self.planner.model.conceptual;
        let keys: Vec<Member> = collection
            .block_key
            .iter()
            .chain(&collection.entry_key)
            .flat_map(|field| members_of(&field.path))
            .chain(collection.source.positions.iter().filter_map(|(_, position)| Some(position.from?.step)))
            .map(|member| stored(conceptual, member))
            .collect();
        let moves = changes.iter().filter_map(last).any(|member| keys.contains(&stored(conceptual, member)));
        let many = |member: Member| match member {
            Member::Attribute(id) => conceptual.attributes[id].list,
            Member::End(id) => conceptual.ends[id].cardinality.is_many(),
        };
        match self.step.action {
            WriteAction::Add(member) if moves && many(member) => Shares { before: 0.0, after, moves: false },
            WriteAction::Remove(member) if moves && many(member) => {
                Shares { before, after: 0.0, moves: false }
            }
            WriteAction::Connect(end) if moves && many(Member::End(end)) => {
                Shares { before: 0.0, after, moves: false }
            }
            WriteAction::Disconnect(_) if moves => Shares { before, after: 0.0, moves: false },
            WriteAction::Insert
            | WriteAction::Upsert
            | WriteAction::Store
            | WriteAction::Update
            | WriteAction::Delete
            | WriteAction::Add(_)
            | WriteAction::Remove(_)
            | WriteAction::Connect(_)
            | WriteAction::Disconnect(_) => Shares { before, after, moves },
        }
    }

    /// What the statement's WHERE says of a condition on the instance itself: it held, or it did not.
    fn known_before(&self, condition: &Condition) -> Option<f64> {
        let (path, wanted) = own_constant(condition)?;
        conjuncts(self.step.find.condition.as_ref()).into_iter().find_map(|conjunct| {
            let (asked, constant) = own_constant(conjunct.condition)?;
            (asked == path).then_some(if constant == wanted { 1.0 } else { 0.0 })
        })
    }

    /// What the values that are set say of it.
    fn known_after(&self, condition: &Condition) -> Option<f64> {
        let (path, wanted) = own_constant(condition)?;
        let Changes::Fields(changes) = &self.step.changes else { return None };
        let change = changes.iter().find(|change| change.path == members_of(path))?;
        change.to.as_ref().map(|constant| if constant == wanted { 1.0 } else { 0.0 })
    }
}

/// `field = constant`, of the main instance.
fn own_constant(condition: &Condition) -> Option<(&Path, &Constant)> {
    let Condition::Compare { left, op: Comparison::Equal, right } = condition else { return None };
    match (left, right) {
        (Operand::Path(path), Operand::Constant(constant))
        | (Operand::Constant(constant), Operand::Path(path))
            if path.position.index() == 0 =>
        {
            Some((path, constant))
        }
        (_, _) => None,
    }
}
