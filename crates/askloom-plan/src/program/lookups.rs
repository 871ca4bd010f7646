//! Look-ups of a plan as steps: what references name, who refers back, owners of parts, entries with a row's identity.

use super::read::{Reads, identity_slots, reference};
use super::{Action, Each, FetchedRows, How, IdentityIn, Note, Read, Step, StepIndex, Way};
use crate::layout::{Column, Layout};
use askloom_model::{
    ClassId, CollectionId, EndId, Fetch, Follow, HomePlace, Joining, Leaf, Member, Path, PositionId,
};

/// How the aggregates are found that a part is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owners {
    /// By an index of the part's ids, if there is one.
    ByIndex,
    /// By reading all.
    ByScan,
    /// As a step of the plan does, else by an index.
    AsPlanned,
}

impl Reads<'_> {
    /// A look-up of what an entry does not hold: of the instance at a position, or further along a path.
    pub(super) fn follow(&mut self, follow: &Follow) {
        let position = follow.position;
        match follow.hops.split_last() {
            Some((&last, before)) => {
                let from = match before.split_last() {
                    Some((&end, before)) => reference(position, before, end),
                    None => Path { position, hops: Vec::new(), leaf: Leaf::Itself },
                };
                self.joining(&follow.how, &from, Member::End(last));
            }
            None => self.instance_at(&follow.how, position),
        }
    }

    /// The instance that stands at a position.
    fn instance_at(&mut self, how: &Joining, position: PositionId) {
        let note = match self.positions[position].from {
            Some(hop) => Note::Target(hop.step),
            None => Note::Aggregate,
        };
        match how {
            Joining::Inside => {}
            Joining::LookUp { .. } | Joining::PartByIndex { .. } | Joining::Back { .. } => {
                self.load(position, &note, Owners::ByIndex);
            }
            Joining::PartByScan { .. } => self.load(position, &note, Owners::ByScan),
            Joining::BackByScan { master } => match self.positions[position].from {
                // A part that refers back has no block of its own: it is among those that refer to what stands above.
                Some(hop) if !self.is_root_at(position) => {
                    self.load(hop.parent, &note, Owners::AsPlanned);
                    let from = Path { position: hop.parent, hops: Vec::new(), leaf: Leaf::Itself };
                    self.referrers(hop.step, &from, false);
                }
                Some(_) | None => {
                    self.push(note, Each::Once, Read::new(*master, How::All));
                }
            },
        }
    }

    /// What a step leads to from where a path ends.
    pub(super) fn joining(&mut self, how: &Joining, from: &Path, step: Member) {
        match how {
            Joining::Inside => {}
            Joining::LookUp { master }
            | Joining::PartByIndex { master, .. }
            | Joining::PartByScan { master } => match step {
                Member::End(end) => {
                    let row = &self.conceptual().ends[end];
                    let class = if row.stored { row.target } else { row.class };
                    let to = IdentityIn::Path(self.beyond(from, end));
                    let owners = match how {
                        Joining::PartByScan { .. } => Owners::ByScan,
                        Joining::Inside
                        | Joining::LookUp { .. }
                        | Joining::PartByIndex { .. }
                        | Joining::Back { .. }
                        | Joining::BackByScan { .. } => Owners::ByIndex,
                    };
                    self.instances(class, &Note::Target(step), to, owners);
                }
                Member::Attribute(_) => {
                    self.block(*master, Note::Aggregate, self.identity_of(from));
                }
            },
            Joining::Back { .. } => self.either_side(step, from, true),
            Joining::BackByScan { .. } => self.either_side(step, from, false),
        }
    }

    /// Those that refer back. Of a symmetric relationship either side may hold the link, and both lead to an id.
    fn either_side(&mut self, step: Member, from: &Path, by_index: bool) {
        self.referrers(step, from, by_index);
        if let Member::End(end) = step
            && self.conceptual().ends[end].stored
        {
            let to = IdentityIn::Path(self.beyond(from, end));
            let target = self.conceptual().ends[end].target;
            self.instances(target, &Note::Target(step), to, Owners::AsPlanned);
        }
    }

    /// Those that a derived end leads to, wherever instances of their class are: by an index from the target if there is
    /// one and the plan goes by it, else by reading everything.
    pub(super) fn referrers(&mut self, step: Member, from: &Path, by_index: bool) {
        let Member::End(end) = step else { return };
        let layout = self.given.layout;
        let end = layout.conceptual.stored_end(end);
        for occurrence in layout.conceptual.occurrences(layout.conceptual.ends[end].class) {
            let Some(master) = layout.design.master(occurrence.root) else { continue };
            let index = layout.design.index(&occurrence, Leaf::Reference(end)).filter(|_| by_index);
            let way = match index {
                Some(index) => {
                    let found = self.block(index, Note::ReferrerIds(step), self.identity_of(from));
                    self.found(master, Note::Referrers(step), found);
                    Way::Indexes(vec![found])
                }
                None => {
                    self.push(Note::ReferrersByScan(step), Each::Once, Read::new(master, How::All));
                    Way::Scan
                }
            };
            self.rows.ways.refer(end, occurrence.root, way);
        }
    }

    /// The reference at the end of a path that goes one end further.
    fn beyond(&self, from: &Path, end: EndId) -> Path {
        let mut hops = from.hops.clone();
        if let Leaf::Reference(last) = from.leaf {
            hops.push(last);
        }
        reference(from.position, &hops, end)
    }

    pub(super) fn identity_of(&self, path: &Path) -> IdentityIn {
        match path.leaf {
            Leaf::Itself if path.hops.is_empty() => IdentityIn::Position(path.position),
            Leaf::Itself
            | Leaf::Attribute(_)
            | Leaf::Reference(_)
            | Leaf::Bucket(_)
            | Leaf::TimeBucket(..) => IdentityIn::Path(path.clone()),
        }
    }

    /// The instances of a class by their ids: in aggregates of their own, or inside others, which an index leads to.
    pub(super) fn instances(&mut self, class: ClassId, note: &Note, identity: IdentityIn, by: Owners) {
        let layout = self.given.layout;
        for home in layout.conceptual.homes(class) {
            let Some(master) = layout.design.master(home.root) else { continue };
            match home.place {
                HomePlace::Root => {
                    self.block(master, note.clone(), identity.clone());
                }
                HomePlace::Inside => {
                    let known = self
                        .rows
                        .ways
                        .owners
                        .iter()
                        .find(|(part, root, _)| (*part, *root) == (class, home.root));
                    let scanned = known.is_some_and(|(_, _, way)| *way == Way::Scan);
                    let mut indexes = part_indexes(layout, class, home.root);
                    match by {
                        Owners::ByScan => indexes.clear(),
                        Owners::AsPlanned if scanned => continue,
                        Owners::ByIndex | Owners::AsPlanned => {}
                    }
                    if indexes.is_empty() {
                        let read = Read::new(master, How::All);
                        self.push(Note::OwnerByScan(Box::new(note.clone())), Each::Once, read);
                        self.rows.ways.own(class, home.root, Way::Scan);
                    }
                    for index in indexes {
                        let owner = Note::Owner(Box::new(note.clone()));
                        let found = self.block(index, owner, identity.clone());
                        self.found(master, note.clone(), found);
                        self.rows.ways.own(class, home.root, Way::Indexes(vec![found]));
                    }
                }
            }
        }
    }

    /// A block by an identity that rows have. Where it is read for another one already, both are what it is read for.
    pub(super) fn block(&mut self, table: CollectionId, note: Note, identity: IdentityIn) -> StepIndex {
        let action = Action::Read(Read::new(table, How::Block(self.block_slots(table))));
        for (at, step) in self.steps.iter_mut().enumerate() {
            if let Each::Rows(places) = &mut step.each
                && step.action == action
            {
                if !places.contains(&identity) {
                    places.push(identity);
                }
                return at;
            }
        }
        self.steps.push(Step { note, each: Each::Rows(vec![identity]), action });
        self.steps.len() - 1
    }

    /// A block by the identities that an earlier step gives.
    pub(super) fn found(&mut self, table: CollectionId, note: Note, by: StepIndex) {
        let terms = self.block_slots(table);
        self.push(note, Each::Found(by), Read::new(table, How::Block(terms)));
    }

    pub(super) fn fetch(&mut self, fetch: &Fetch) {
        let layout = self.given.layout;
        let Some(table) = layout.table(fetch.collection) else { return };
        let terms = identity_slots(layout, table, Column::is_key);
        let read = Read::new(fetch.collection, How::Record(terms));
        let step = self.push(Note::Fetch, Each::Rows(vec![IdentityIn::Row]), read);
        let positions = fetch.positions.clone();
        self.rows.fetches.push(FetchedRows { step, collection: fetch.collection, positions });
    }
}

/// The indexes that lead from a part's id to the aggregates that have it inside.
fn part_indexes(layout: &Layout, class: ClassId, root: ClassId) -> Vec<CollectionId> {
    let conceptual = &layout.conceptual;
    let is_it = |collection: &askloom_model::Collection| {
        let Some(path) = collection.indexed().filter(|_| collection.source.root == root) else {
            return false;
        };
        let Some(&last) = path.hops.last() else { return false };
        let target = conceptual.ends[last].target;
        let related = conceptual.is_kind_of(class, target) || conceptual.is_kind_of(target, class);
        let by_id = match path.leaf {
            Leaf::Itself => true,
            Leaf::Attribute(id) => conceptual.attributes[id].id,
            Leaf::Reference(_) | Leaf::Bucket(_) | Leaf::TimeBucket(..) => false,
        };
        related && by_id
    };
    layout.design.collections.iter().filter(|(_, collection)| is_it(collection)).map(|(id, _)| id).collect()
}
