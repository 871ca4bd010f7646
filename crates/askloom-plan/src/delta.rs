//! Which rows of a copy a changed instance stands in: one delta for each copy and place, derived once.
//!
//! A row of a copy depends on the instances at its positions and on those that its paths go through. Each of these is a
//! *place*. A delta says what the rows read at its place, and how the rows are found from an instance that stands there:
//! up to the root, one step at a time, each position on the way bound to what was come from. Branches that are not on the
//! way are expanded afterwards. So a write costs what it touches, whatever else the root of a row holds.

mod effect;
mod reads;

pub use effect::{spared_by, ways_back};

use askloom_model::{
    ClassId, Collection, Conceptual, EndId, Leaf, Member, Path, Position, PositionId, RelationshipKind,
    Table, fault,
};
use std::collections::BTreeSet;

/// How the rows are found that hold an instance at one place of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    /// The positions from the root of the rows to the last one that is bound.
    pub chain: Vec<PositionId>,
    /// The hops of a path from there to the instance. None if the instance stands at the position itself.
    pub hops: Vec<EndId>,
    /// How many positions at the end of the chain are in the same aggregate as the one before them.
    pub inside: usize,
    /// The class at which rows enter the aggregate.
    pub entry: ClassId,
    /// The class of what stands at the place. None for an element of a list of plain values.
    pub class: Option<ClassId>,
    pub reads: Reads,
    pub existence: Existence,
    /// From the place to the root of the rows.
    pub up: Vec<Up>,
}

/// What rows read of an instance and of the parts around it, in its own aggregate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reads {
    /// All of it.
    Whole,
    /// Values at the ends of ways that stay in the aggregate.
    Ways(BTreeSet<Vec<Member>>),
}

/// Whether rows come and go with the instance at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existence {
    Read,
    /// The reference that leads there is relied on: whoever refers to an instance while it is made or ended is written
    /// by the same write, and its rows are found from there.
    ReliedOn,
}

/// One step from an instance towards the root of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Up {
    /// From an element of a list of plain values to the record that has it.
    Element,
    /// From a part to its owner.
    Owner(EndId),
    /// From an owner to its parts.
    Parts(EndId),
    /// To those that hold the instance in a stored reference: a reverse index leads there.
    Referrers(EndId),
    /// To those that the instance itself refers to.
    Referred(EndId),
    /// To the partners of a symmetric relationship, either of which may hold the link.
    Partners(EndId),
}

impl Up {
    /// The step that goes back along a member.
    #[must_use]
    pub fn along(conceptual: &Conceptual, step: Member) -> Self {
        let Member::End(end) = step else { return Self::Element };
        let row = &conceptual.ends[end];
        let stored = conceptual.stored_end(end);
        match (conceptual.ends[stored].kind, row.stored) {
            (RelationshipKind::Composition, true) => Self::Owner(end),
            (RelationshipKind::Composition, false) => Self::Parts(stored),
            (RelationshipKind::Association | RelationshipKind::Aggregation, true) => {
                if row.inverse == Some(end) { Self::Partners(end) } else { Self::Referrers(end) }
            }
            (RelationshipKind::Association | RelationshipKind::Aggregation, false) => Self::Referred(stored),
        }
    }

    /// The stored reference that has to be known from its target back.
    #[must_use]
    pub fn reversed(self) -> Option<EndId> {
        match self {
            Self::Referrers(end) | Self::Partners(end) => Some(end),
            Self::Element | Self::Owner(_) | Self::Parts(_) | Self::Referred(_) => None,
        }
    }
}

impl Delta {
    /// The position that is bound last.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a chain starts at the root")]
    pub fn bound(&self) -> PositionId {
        *self.chain.last().expect("every chain has the root")
    }

    /// The members from the root to the place.
    #[must_use]
    pub fn steps(&self, positions: &Table<PositionId, Position>) -> Vec<Member> {
        let on_the_way = self.chain.iter().filter_map(|&at| Some(positions[at].from?.step));
        on_the_way.chain(self.hops.iter().map(|&hop| Member::End(hop))).collect()
    }

    /// The positions whose instances are in the changed aggregate, the one where rows enter it first. None for a hop.
    #[must_use]
    pub fn inside_positions(&self) -> &[PositionId] {
        let first = if self.hops.is_empty() { self.chain.len() - 1 - self.inside } else { self.chain.len() };
        self.chain.get(first..).unwrap_or_default()
    }
}

/// The deltas of a copy: the positions first, in their order, then the hops of paths.
#[must_use]
pub fn deltas(conceptual: &Conceptual, collection: &Collection) -> Vec<Delta> {
    let all = Deriving { conceptual, collection, paths: paths(conceptual, collection) };
    let mut found: Vec<Delta> =
        collection.source.positions.ids().map(|position| all.position(position)).collect();
    for path in all.paths.iter().filter(|_| !fault!(PathsForgotten)) {
        all.hops(path, &mut found);
    }
    found
}

/// Every path that the rows of a collection are made of. The id of what a reference names is where the reference is.
fn paths(conceptual: &Conceptual, collection: &Collection) -> Vec<Path> {
    let condition = collection.source.condition.iter().flat_map(|condition| condition.paths());
    collection.held().chain(condition).map(|path| conceptual.nearest(path).clone()).collect()
}

struct Deriving<'d> {
    conceptual: &'d Conceptual,
    collection: &'d Collection,
    paths: Vec<Path>,
}

impl Deriving<'_> {
    fn step(&self, position: PositionId) -> Option<Member> {
        self.collection.source.positions[position].from.map(|hop| hop.step)
    }

    #[expect(
        clippy::expect_used,
        reason = "only an element of a list has no class, and it is inside its record"
    )]
    fn position(&self, position: PositionId) -> Delta {
        let positions = &self.collection.source.positions;
        let chain = self.collection.chain(position);
        let steps: Vec<Member> = chain.iter().filter_map(|&at| self.step(at)).collect();
        let inside = steps.iter().rev().take_while(|&&step| stays(self.conceptual, step)).count();
        let entry = chain.get(chain.len() - 1 - inside).copied().unwrap_or(position);
        Delta {
            hops: Vec::new(),
            inside,
            entry: positions[entry].class.expect("rows enter an aggregate at an instance"),
            class: positions[position].class,
            reads: self.reads_at(position),
            existence: self.existence(self.step(entry)),
            up: steps.iter().rev().map(|&step| Up::along(self.conceptual, step)).collect(),
            chain,
        }
    }

    /// The places of a path: wherever one of its hops enters another aggregate.
    fn hops(&self, path: &Path, found: &mut Vec<Delta>) {
        // The ids at a derived end are of those that refer to it; so may be those of a symmetric one.
        let referring = match path.leaf {
            Leaf::Reference(end) => Some(end).filter(|&end| self.is_held_by_others(end)),
            Leaf::Attribute(_) | Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => None,
        };
        let hops: Vec<EndId> = path.hops.iter().copied().chain(referring).collect();
        let members: Vec<Member> = path.members().collect();
        for (at, &hop) in hops.iter().enumerate() {
            if stays(self.conceptual, Member::End(hop)) {
                continue;
            }
            let (way, rest) =
                (hops.get(..=at).unwrap_or_default(), members.get(at + 1..).unwrap_or_default());
            let ways = self.local(rest).into_iter().chain(self.link_from(Member::End(hop)));
            let same = |known: &&mut Delta| known.bound() == path.position && known.hops == way;
            match found.iter_mut().find(same) {
                Some(known) => known.reads.extend(ways),
                None => {
                    let reads = Reads::Ways(ways.collect());
                    found.push(self.hop(path.position, way, reads));
                }
            }
        }
    }

    fn hop(&self, position: PositionId, way: &[EndId], reads: Reads) -> Delta {
        let chain = self.collection.chain(position);
        let steps = chain.iter().filter_map(|&at| self.step(at));
        let steps: Vec<Member> = steps.chain(way.iter().map(|&hop| Member::End(hop))).collect();
        let last = steps.last().copied();
        let entry = match last {
            Some(Member::End(end)) => self.conceptual.ends[end].target,
            Some(Member::Attribute(_)) | None => self.collection.source.root,
        };
        Delta {
            chain,
            hops: way.to_vec(),
            inside: 0,
            entry,
            class: Some(entry),
            reads,
            existence: self.existence(last),
            up: steps.iter().rev().map(|&step| Up::along(self.conceptual, step)).collect(),
        }
    }

    fn existence(&self, entered_by: Option<Member>) -> Existence {
        match entered_by {
            Some(Member::End(end))
                if self.conceptual.ends[end].stored && is_relied_on(self.conceptual, end) =>
            {
                Existence::ReliedOn
            }
            Some(_) | None => Existence::Read,
        }
    }
}

/// Whether a step stays in its aggregate: an element of a list, a part, the owner of a part.
#[must_use]
pub fn stays(conceptual: &Conceptual, step: Member) -> bool {
    match step {
        Member::Attribute(_) => true,
        Member::End(end) => conceptual.ends[conceptual.stored_end(end)].kind == RelationshipKind::Composition,
    }
}

/// Whether nobody refers to an instance while it is made or ended. Of a symmetric relationship either side has the link, so
/// neither is made before the other; and a holder that has expired is stored until it is reclaimed, while its target may
/// be gone already.
#[must_use]
pub fn is_relied_on(conceptual: &Conceptual, stored: EndId) -> bool {
    let end = &conceptual.ends[stored];
    let relied_on = conceptual.is_relied_on(stored) || fault!(LooseReliedOn);
    relied_on
        && end.inverse != Some(stored)
        && end.kind != RelationshipKind::Composition
        && !conceptual.can_expire(end.class)
}
