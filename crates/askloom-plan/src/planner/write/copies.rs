//! Which copies a step touches, and how each is brought after.

use super::Writing;
use super::rows::Shares;
use super::step::{Change, Changes, Step};
use super::support::{Rebuilt, Support};
use crate::delta::{self, Delta, deltas};
use crate::effects::Effects;
use crate::upkeep;
use askloom_model::{
    ClassId, Collection, CollectionId, Conceptual, Contents, CopyCause, CopyLevel, CopyWrite, Design, EndId,
    Keeper, Member, PositionId, RelationshipKind, Role, SupportRead, Work,
};
use std::collections::BTreeMap;

/// The deltas of a copy that a step sets off. Below an instance that differs, all of its aggregate is looked at anyway.
pub(super) fn disturbed(conceptual: &Conceptual, collection: &Collection, step: &Step) -> Vec<Delta> {
    let written = written(conceptual, step);
    let here = |one: &Delta| roots(conceptual, one.entry).iter().any(|root| written.contains(root));
    let all = deltas(conceptual, collection).into_iter();
    let mut found: Vec<Delta> =
        all.filter(|one| here(one) && one.is_disturbed(conceptual, collection, &step.effects)).collect();
    let positions: Vec<PositionId> =
        found.iter().filter(|one| one.hops.is_empty()).map(Delta::bound).collect();
    found.retain(|one| {
        let above = one.inside_positions().split_last().map_or(&[][..], |(_, above)| above);
        !above.iter().any(|position| positions.contains(position))
    });
    found
}

/// The deltas of a copy that are set off by what checked references delete or clear along with the written instances.
fn followed(conceptual: &Conceptual, collection: &Collection, effects: &Effects) -> Vec<Delta> {
    let all = deltas(conceptual, collection).into_iter();
    all.filter(|one| one.is_disturbed(conceptual, collection, effects)).collect()
}

/// The roots of the aggregates that a step writes: those that it names, and those in which a link is stored that it
/// names from the other end.
fn written(conceptual: &Conceptual, step: &Step) -> Vec<ClassId> {
    let Some(root) = conceptual.aggregate_root(step.class) else { return Vec::new() };
    let own = conceptual.inside(root);
    let others = step.effects.relinked(conceptual).filter(|class| !own.contains(class));
    std::iter::once(root).chain(others.flat_map(|class| roots(conceptual, class))).collect()
}

/// The copies that a step disturbs, by itself or by what follows from it.
pub(super) fn touched(conceptual: &Conceptual, design: &Design, step: &Step) -> Vec<CollectionId> {
    let copies = design.collections.iter().filter(|(_, collection)| collection.role != Role::Master);
    let effects = step.effects.followed(conceptual);
    let is_touched = |collection: &Collection| {
        !disturbed(conceptual, collection, step).is_empty()
            || !followed(conceptual, collection, &effects).is_empty()
    };
    copies.filter(|(_, collection)| is_touched(collection)).map(|(id, _)| id).collect()
}

/// The references for whose sake a step does not look at copies.
pub(super) fn spared_by(conceptual: &Conceptual, design: &Design, step: &Step) -> Vec<EndId> {
    let Some(root) = conceptual.aggregate_root(step.class) else { return Vec::new() };
    let is_written = |class: ClassId| roots(conceptual, class).contains(&root);
    let copies = design.collections.iter().filter(|(_, collection)| collection.role != Role::Master);
    copies.flat_map(|(_, copy)| delta::spared_by(conceptual, &step.effects, copy, is_written)).collect()
}

pub(super) fn last(change: &Change) -> Option<Member> {
    change.path.last().copied()
}

/// A link is the same from both of its ends.
pub(super) fn stored(conceptual: &Conceptual, member: Member) -> Member {
    match member {
        Member::End(end) => Member::End(conceptual.stored_end(end)),
        Member::Attribute(_) => member,
    }
}

/// Whether a step stays in its aggregate.
pub(super) fn is_inside(conceptual: &Conceptual, step: Member) -> bool {
    match step {
        Member::Attribute(_) => true,
        Member::End(end) => conceptual.ends[end].kind == RelationshipKind::Composition,
    }
}

pub(super) fn is_many(conceptual: &Conceptual, member: Member) -> bool {
    match member {
        Member::Attribute(id) => conceptual.attributes[id].list,
        Member::End(id) => conceptual.ends[id].cardinality.is_many(),
    }
}

/// The roots of the aggregates that instances of a class are in: of a value object there can be several.
pub(super) fn roots(conceptual: &Conceptual, class: ClassId) -> Vec<ClassId> {
    match conceptual.aggregate_root(class) {
        Some(root) => vec![root],
        None => conceptual.homes(class).iter().map(|home| home.root).collect(),
    }
}

/// Where aggregates of a root stand in the rows of a collection: the steps there from the rows' own root.
pub(super) fn entry_points(
    conceptual: &Conceptual,
    collection: &Collection,
    root: ClassId,
) -> Vec<Vec<Member>> {
    let mut points: Vec<Vec<Member>> = Vec::new();
    for place in upkeep::places(conceptual, collection) {
        let Some(class) = place.apart(conceptual) else { continue };
        if !roots(conceptual, class).contains(&root) {
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

impl Writing<'_> {
    /// Every copy that has to be brought after; those that reserve values are brought by that.
    pub(super) fn copies(&self, reserved: &[CollectionId]) -> Vec<CopyWrite> {
        let (conceptual, design) = (&self.planner.model.conceptual, self.planner.design);
        let Some(root) = conceptual.aggregate_root(self.step.class) else { return Vec::new() };
        let mut support = Support::default();
        touched(conceptual, design, self.step)
            .into_iter()
            .filter(|id| !reserved.contains(id))
            .map(|id| self.copy(id, root, &mut support))
            .collect()
    }

    fn copy(&self, id: CollectionId, root: ClassId, support: &mut Support) -> CopyWrite {
        let collection = &self.planner.design.collections[id];
        let level = self.planner.level(id);
        let work = self.copy_work(id, root, level, support);
        let work = match collection.keeper {
            Keeper::Ours => self.together(work),
            // The store writes it by itself, outside of any transaction.
            Keeper::Store => work,
        };
        let reads = support.take().into_iter().map(|read| {
            let estimate = self.price(&read.work);
            SupportRead { of: read.of, shared: read.shared, work: read.work, estimate }
        });
        let cause = match disturbed(&self.planner.model.conceptual, collection, self.step).is_empty() {
            true => CopyCause::Followed,
            false => CopyCause::Written,
        };
        let estimate = self.price(&work);
        CopyWrite { collection: id, cause, level, support: reads.collect(), work, estimate }
    }

    /// How many nodes are put and deleted of a nested copy, where so many roots lead to what is written: the node that
    /// holds it, and those below if they come, go or get other keys.
    fn nodes(&self, collection: &Collection, delta: &Delta, roots: f64, shares: &Shares) -> (f64, f64) {
        let positions = &collection.source.positions;
        let mut there: BTreeMap<PositionId, f64> = BTreeMap::from([(delta.bound(), roots)]);
        for (id, position) in positions.iter() {
            let above = position.from.and_then(|hop| Some((*there.get(&hop.parent)?, hop.step)));
            if let Some((above, step)) = above {
                there.insert(id, above * self.planner.statistics.fan_out(step));
            }
        }
        let with_all_below: f64 = there.values().sum();
        let held = (shares.before * with_all_below, shares.after * with_all_below);
        match &self.step.changes {
            Changes::Made(_) => (held.1.max(roots * shares.after), 0.0),
            Changes::Ended => (0.0, held.0.max(roots * shares.before)),
            Changes::Replaced => (held.1, held.0),
            Changes::Fields(_) if shares.moves => (held.1, held.0),
            Changes::Fields(_) => match (shares.before > 0.0, shares.after > 0.0) {
                (true, true) => (roots * shares.after, 0.0),
                (false, _) => (held.1, 0.0),
                (true, false) => (0.0, held.0),
            },
        }
    }

    /// How many rows hold what follows from the step, at a place of a copy; the reads that find them are noted.
    fn followed_rows(&self, collection: &Collection, delta: &Delta, support: &mut Support) -> f64 {
        let followers = self.followers(delta.entry);
        let point = delta.steps(&collection.source.positions);
        let levels = self.walk_back(&point, followers, support);
        let sizes = self.sizes();
        let all = sizes.rows_without_condition(collection) * sizes.keys_of_row(collection);
        let entries: f64 = roots(&self.planner.model.conceptual, delta.entry)
            .iter()
            .map(|&root| self.planner.statistics.count(root))
            .sum();
        let rows = followers * all / entries.max(1.0);
        let expected = rows > 0.0;
        self.rebuild(&Rebuilt { collection, delta, point: &point, levels: &levels, expected }, support);
        rows
    }

    /// What is put and deleted of one copy; its support reads are noted.
    pub(super) fn copy_work(
        &self,
        id: CollectionId,
        root: ClassId,
        level: CopyLevel,
        support: &mut Support,
    ) -> Work {
        let conceptual = &self.planner.model.conceptual;
        let collection = &self.planner.design.collections[id];
        let (mut puts, mut deletes, mut beside) = (0.0, 0.0, 0.0);
        let carried = collection.role == Role::Carried;
        let usual = self.step.usual_effects(conceptual);
        for delta in disturbed(conceptual, collection, self.step) {
            let is_usual =
                usual.as_ref().is_none_or(|effects| delta.is_disturbed(conceptual, collection, effects));
            let point = delta.steps(&collection.source.positions);
            let levels = self.walk_back(&point, if is_usual { self.matched } else { 0.0 }, support);
            let rows = if is_usual { self.rows_at(collection, &point, root) } else { 0.0 };
            let expected = rows > 0.0;
            let rebuilt = Rebuilt { collection, delta: &delta, point: &point, levels: &levels, expected };
            self.rebuild(&rebuilt, support);
            let shares = self.shares(collection, &point);
            if matches!(collection.contents, Contents::Nested(_)) {
                let roots = if expected { levels.first().copied().unwrap_or_default() } else { 0.0 };
                let (put, deleted) = self.nodes(collection, &delta, roots, &shares);
                puts += put;
                deletes += deleted;
                continue;
            }
            let (before, after) = (rows * shares.before, rows * shares.after);
            // What is carried comes and goes with the aggregate's own record, which is written anyway.
            if carried && point.is_empty() {
                beside += after * self.sizes().carried_bytes(id);
                continue;
            }
            puts += after;
            deletes += if shares.moves { before } else { (before - after).max(0.0) };
        }
        let effects = self.step.effects.followed(conceptual);
        for delta in followed(conceptual, collection, &effects) {
            let rows = self.followed_rows(collection, &delta, support);
            // Rows go with what is deleted along, and may stay without what is cleared.
            puts += if effects.ends(conceptual, delta.entry) { 0.0 } else { rows };
            deletes += rows;
        }
        // The store makes an index of fields out of what it is sent anyway.
        let leads = self.planner.costing.capability.leads_to_records(conceptual, collection);
        let entry = match collection.role {
            _ if leads => 0.0,
            // The record of the aggregate is put again.
            Role::Carried => self.sizes().entry_bytes(self.planner.design.stored_in(id)),
            Role::Master | Role::Copy | Role::Index => self.sizes().entry_bytes(id),
        };
        let (written, dropped) = (beside + puts * entry, deletes * entry);
        let mut work = Work { puts, deletes, written, dropped, ..Work::default() };
        if level == CopyLevel::Intents {
            // By the way that is right for every copy: the row's anchor is read, announces the key, and is settled
            // after the put.
            let changed = puts.max(deletes);
            work.read_steps = f64::from(changed > 0.0);
            work.requests = changed;
            work.rows = changed;
            work.reads = changed;
            work.puts += 2.0 * changed;
            work.write_requests = 3.0 * changed;
        }
        work
    }
}
