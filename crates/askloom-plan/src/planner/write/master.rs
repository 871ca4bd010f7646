//! What is written of the aggregates themselves.

use super::step::{Change, Changes, Lists, way_to};
use super::{Writing, lookup};
use crate::cost::{Asked, Block, Cuts, selectivity};
use crate::planner::conjuncts;
use askloom_model::{
    AtomicUnit, ClassId, CollectionId, Condition, CopyLevel, EndId, Id, Leaf, MasterWrite, Member,
    Occurrence, RelationshipKind, Reservation, Work, WriteAction,
};

/// Bytes of the entry that holds an aggregate's version.
const SYSTEM: f64 = 64.0;

impl Writing<'_> {
    /// Entries of the aggregates, and the versions that make writers of one aggregate collide. The request that brings
    /// all of a write counts with its first step.
    pub(super) fn master(&self, collection: CollectionId, first: bool) -> MasterWrite {
        let mut work = self.entries(collection);
        work.write_requests = if first { self.write_requests() } else { 0.0 };
        let apart = match self.planner.costing.capability.atomic.value {
            AtomicUnit::Store | AtomicUnit::Block => true,
            AtomicUnit::Record => self.sizes().block_entries(collection) > 1.0,
        };
        // What never changes needs no version.
        let versioned = !self.planner.model.conceptual.is_immutable(self.step.class);
        if apart && versioned {
            work.puts += 1.0;
            work.written += SYSTEM;
        }
        if self.level == CopyLevel::Intents {
            // A hint before, which goes in the end, and a second swap that drops what was owed.
            work.puts += 2.0;
            work.deletes += 1.0;
            work.written += 2.0 * SYSTEM;
            work.dropped += SYSTEM;
        }
        work.puts *= self.matched;
        work.deletes *= self.matched;
        work.written *= self.matched;
        work.dropped *= self.matched;
        let work = self.together(work);
        MasterWrite { collection, work, estimate: self.price(&work) }
    }

    /// With intents: the hint, the master, the master again, the hint away.
    fn write_requests(&self) -> f64 {
        match self.level {
            CopyLevel::AtomicUnit | CopyLevel::Transaction => 1.0,
            CopyLevel::Intents => 4.0,
        }
    }

    /// The entries of one aggregate that change.
    fn entries(&self, id: CollectionId) -> Work {
        let collection = &self.planner.design.collections[id];
        let sizes = self.sizes();
        match &self.step.changes {
            Changes::Made(Lists::Empty) => {
                let entries = sizes.cuts(collection).entries_of_new();
                Work { puts: entries, written: sizes.single_bytes(self.step.class), ..Work::default() }
            }
            Changes::Made(Lists::Full) | Changes::Replaced => {
                let Block { entries, bytes } = sizes.block(id);
                Work { puts: entries, written: bytes, ..Work::default() }
            }
            Changes::Ended => {
                let Block { entries, bytes } = sizes.block(id);
                Work { deletes: entries, dropped: bytes, ..Work::default() }
            }
            Changes::Fields(changes) => self.changed(&sizes.cuts(collection), changes),
        }
    }

    /// The entries in which something changes; an element that is an entry of its own goes alone.
    fn changed(&self, cuts: &Cuts, changes: &[Change]) -> Work {
        let way = way_to(&self.planner.model.conceptual, self.step.class);
        let way: Vec<Member> = way.into_iter().map(Member::End).collect();
        let ways: Vec<(Vec<Member>, f64)> = changes
            .iter()
            .map(|change| {
                let way = [&*way, &*change.path].concat();
                let things = self.things(&way);
                (self.to_entry(cuts, way), things)
            })
            .collect();
        let touched = cuts.touched(&ways);
        if touched.is_empty() {
            // The link is kept at its other end, in an entry of an aggregate there.
            let bytes = cuts.cuts.iter().map(|cut| cut.bytes).sum::<f64>();
            return Work { puts: 1.0, written: bytes / cuts.entries().max(1.0), ..Work::default() };
        }
        let mut work = Work::default();
        for touched in touched {
            let bytes = touched.entries * touched.cut.bytes_of_one();
            if touched.alone && matches!(self.step.action, WriteAction::Remove(_)) {
                work.deletes += touched.entries;
                work.dropped += bytes;
            } else {
                work.puts += touched.entries;
                work.written += bytes;
            }
        }
        work
    }

    /// The element, if elements are entries of their own: then what changes inside of it writes all of it.
    fn to_entry(&self, cuts: &Cuts, way: Vec<Member>) -> Vec<Member> {
        let WriteAction::UpdateElements(list) = self.step.action else { return way };
        let element = to_list(&way, list);
        if cuts.cuts.iter().any(|cut| cut.way == element) { element.to_vec() } else { way }
    }

    /// How many of what changes at a way an aggregate has: of a list, one element changes.
    fn things(&self, way: &[Member]) -> f64 {
        let of_lists = match self.step.action {
            WriteAction::Add(_)
            | WriteAction::Remove(_)
            | WriteAction::Connect(_)
            | WriteAction::Disconnect(_) => way,
            // Some of the elements; what is inside of them comes once with each.
            WriteAction::UpdateElements(list) => {
                let things = to_list(way, list).iter().map(|&member| self.planner.statistics.fan_out(member));
                return things.product::<f64>() / self.elements_changed();
            }
            WriteAction::Insert
            | WriteAction::Upsert
            | WriteAction::Store
            | WriteAction::Update
            | WriteAction::Delete => way.split_last().map_or(way, |(_, before)| before),
        };
        of_lists.iter().map(|&member| self.planner.statistics.fan_out(member)).product()
    }

    /// How many elements of one list an UPDATE of elements is expected to change: those that its condition selects, at
    /// least one, as whoever names an element expects it to be there.
    pub(super) fn elements_changed(&self) -> f64 {
        let WriteAction::UpdateElements(list) = self.step.action else { return 1.0 };
        let find = &self.step.find;
        let asked = Asked { positions: &find.positions, skew: 0.0, stated: None };
        let of_element =
            |condition: &Condition| condition.paths().iter().any(|path| path.position.index() == 1);
        let terms = conjuncts(find.condition.as_ref());
        let share: f64 = terms
            .iter()
            .filter(|term| of_element(term.condition))
            .map(|term| selectivity(&self.planner.statistics, asked, term.condition))
            .product();
        let all = self.planner.statistics.fan_out(list);
        (all * share).max(1.0).min(all.max(1.0))
    }

    /// Values that no other instance may have, taken or given back by this step.
    pub(super) fn reservations(&self, master: CollectionId) -> Vec<Reservation> {
        let conceptual = &self.planner.model.conceptual;
        let (mut hops, mut taken) = (Vec::new(), Vec::new());
        match &self.step.changes {
            Changes::Made(lists) => {
                self.unique_members(self.step.class, &hops, &mut taken);
                self.parts_inside(self.step.class, *lists, &mut hops, &mut taken);
            }
            Changes::Replaced => {
                self.unique_members(self.step.class, &hops, &mut taken);
                self.parts_inside(self.step.class, Lists::Full, &mut hops, &mut taken);
            }
            Changes::Ended => self.unique_members(self.step.class, &hops, &mut taken),
            Changes::Fields(changes) => changes.iter().for_each(|change| self.changed_in(change, &mut taken)),
        }
        let way = way_to(conceptual, self.step.class);
        let mut reservations: Vec<Reservation> =
            taken.iter().map(|(hops, member)| self.reservation(master, &way, hops, *member)).collect();
        // What was never reserved is not given back.
        reservations.retain(|reservation| reservation.index.is_some() || reservation.work.requests > 0.0);
        reservations
    }

    /// What one change of a field takes or gives back: a unique value, or a part with all that is inside it.
    fn changed_in(&self, change: &Change, taken: &mut Vec<Taken>) {
        let conceptual = &self.planner.model.conceptual;
        let Some((&last, above)) = change.path.split_last() else { return };
        let end = |member: &Member| match member {
            Member::End(end) => Some(*end),
            Member::Attribute(_) => None,
        };
        let mut hops: Vec<EndId> = above.iter().filter_map(end).collect();
        match last {
            Member::End(part) if conceptual.ends[part].kind == RelationshipKind::Composition => {
                if !conceptual.ends[part].stored {
                    return;
                }
                hops.push(part);
                self.part(conceptual.ends[part].target, &hops, taken);
                // An UPSERT leaves lists alone.
                let lists = if self.step.action == WriteAction::Upsert { Lists::Empty } else { Lists::Full };
                self.parts_inside(conceptual.ends[part].target, lists, &mut hops, taken);
            }
            Member::End(_) | Member::Attribute(_) if self.is_unique(last) => taken.push((hops, Some(last))),
            Member::End(_) | Member::Attribute(_) => {}
        }
    }

    fn unique_members(&self, class: ClassId, hops: &[EndId], taken: &mut Vec<Taken>) {
        let members = self.planner.model.conceptual.all_members(class);
        for member in members.filter(|&member| self.is_unique(member)) {
            let one = (hops.to_vec(), Some(member));
            if !taken.contains(&one) {
                taken.push(one);
            }
        }
    }

    /// A part may be of a subclass. The id of a part entity is known to no other aggregate.
    fn part(&self, class: ClassId, hops: &[EndId], taken: &mut Vec<Taken>) {
        let conceptual = &self.planner.model.conceptual;
        if conceptual.classes[class].kind.is_entity() {
            taken.push((hops.to_vec(), None));
        }
        let kinds = std::iter::once(class).chain(conceptual.descendants(class));
        kinds.for_each(|kind| self.unique_members(kind, hops, taken));
    }

    /// The parts that an instance is made or replaced with, at any depth.
    fn parts_inside(&self, class: ClassId, lists: Lists, hops: &mut Vec<EndId>, taken: &mut Vec<Taken>) {
        let conceptual = &self.planner.model.conceptual;
        for member in conceptual.all_members(class) {
            let Member::End(end) = member else { continue };
            let row = &conceptual.ends[end];
            let is_part = row.stored && row.kind == RelationshipKind::Composition;
            let is_empty = lists == Lists::Empty && row.cardinality.is_many();
            if !is_part || hops.contains(&end) || is_empty {
                continue;
            }
            hops.push(end);
            self.part(row.target, hops, taken);
            self.parts_inside(row.target, lists, hops, taken);
            hops.pop();
        }
    }

    fn is_unique(&self, member: Member) -> bool {
        let conceptual = &self.planner.model.conceptual;
        match member {
            Member::Attribute(id) => conceptual.attributes[id].unique,
            Member::End(id) => conceptual.ends[id].unique && conceptual.ends[id].stored,
        }
    }

    /// How many parts one instance is given or gives up: one by ADD and REMOVE, all of them with the whole instance.
    fn in_lists(&self, hops: &[EndId]) -> f64 {
        match self.step.changes {
            Changes::Fields(_) => 1.0,
            Changes::Made(_) | Changes::Replaced | Changes::Ended => {
                hops.iter().map(|&hop| self.planner.statistics.fan_out(Member::End(hop))).product()
            }
        }
    }

    /// Of a member, or of the id of a part.
    fn reservation(
        &self,
        master: CollectionId,
        way: &[EndId],
        list: &[EndId],
        member: Option<Member>,
    ) -> Reservation {
        let root = self.planner.design.collections[master].source.root;
        let leaf = match member {
            Some(Member::Attribute(id)) => Leaf::Attribute(id),
            Some(Member::End(id)) => Leaf::Reference(id),
            None => Leaf::Itself,
        };
        let hops: Vec<EndId> = way.iter().chain(list).copied().collect();
        let occurrence = Occurrence { root, hops };
        let index = self.planner.design.index(&occurrence, leaf);
        let sizes = self.sizes();
        let taken = self.matched * self.in_lists(list);
        let ends =
            matches!(self.step.changes, Changes::Ended) || matches!(self.step.action, WriteAction::Remove(_));
        let mut work = match index {
            Some(_) if ends => Work::default(),
            Some(index) => lookup::found(self.planner.costing, &sizes, index, taken, 1.0),
            None if ends => Work::default(),
            None => lookup::scan(self.planner.costing, &sizes, master),
        };
        if let Some(index) = index {
            let bytes = sizes.entry_bytes(index) * taken;
            let (takes, gives) = match &self.step.changes {
                Changes::Made(_) => (true, false),
                Changes::Replaced => (true, true),
                Changes::Ended => (false, true),
                Changes::Fields(_) => (!ends, ends || !matches!(self.step.action, WriteAction::Add(_))),
            };
            if takes {
                work.puts = taken;
                work.written = bytes;
            }
            if gives {
                work.deletes = taken;
                work.dropped = bytes;
            }
        }
        let path = occurrence.hops.iter().map(|&hop| Member::End(hop)).chain(member).collect();
        let work = self.together(work);
        Reservation { path, index, work, estimate: self.price(&work) }
    }
}

/// What no other instance may have: the parts on the way to it, and the member, or the id of the last part.
type Taken = (Vec<EndId>, Option<Member>);

/// The members of a way as far as a list.
fn to_list(way: &[Member], list: Member) -> &[Member] {
    let to = way.iter().position(|&member| member == list).map_or(way.len(), |at| at + 1);
    way.get(..to).unwrap_or(way)
}
