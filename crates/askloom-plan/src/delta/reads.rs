//! What the rows of a copy read of the instance at a place, in its own aggregate.

use super::{Deriving, Reads, stays};
use askloom_model::{Contents, EndId, Id, Member, PositionId};

impl Reads {
    pub(super) fn extend(&mut self, more: impl Iterator<Item = Vec<Member>>) {
        match self {
            Self::Whole => {}
            Self::Ways(ways) => ways.extend(more),
        }
    }
}

impl Deriving<'_> {
    /// What rows read of the instance at a position. A part that stands at a position of its own is read there.
    pub(super) fn reads_at(&self, position: PositionId) -> Reads {
        let collection = self.collection;
        let is_root = position.index() == 0;
        let whole = collection.whole().contains(&position)
            || is_root && matches!(collection.contents, Contents::Aggregate(_));
        if whole {
            return Reads::Whole;
        }
        let here = self.paths.iter().filter(|path| path.position == position);
        let along_paths = here.filter_map(|path| self.local(&path.members().collect::<Vec<_>>()));
        let joined = collection.source.positions.iter().filter_map(|(_, child)| {
            let hop = child.from.filter(|hop| hop.parent == position)?;
            if stays(self.conceptual, hop.step) { None } else { self.local(&[hop.step]) }
        });
        let link = self.step(position).and_then(|step| self.link_from(step));
        Reads::Ways(along_paths.chain(joined).chain(link).collect())
    }

    /// The part of a way that stays in the aggregate, with the reference by which it leaves it.
    pub(super) fn local(&self, way: &[Member]) -> Option<Vec<Member>> {
        let inside = way.iter().take_while(|&&member| self.stays_below(member)).count();
        let leaves_by = way.get(inside).filter(|&&member| self.is_held_here(member));
        let local: Vec<Member> = way.iter().take(inside).chain(leaves_by).copied().collect();
        (!local.is_empty()).then_some(local)
    }

    /// Parts and owners; a list of plain values is the end of a way.
    fn stays_below(&self, member: Member) -> bool {
        match member {
            Member::Attribute(_) => false,
            Member::End(_) => stays(self.conceptual, member),
        }
    }

    fn is_held_here(&self, member: Member) -> bool {
        match member {
            Member::Attribute(_) => true,
            Member::End(end) => self.conceptual.ends[end].stored,
        }
    }

    /// The reference by which the instance that a step leads to holds the link to where the step comes from.
    pub(super) fn link_from(&self, step: Member) -> Option<Vec<Member>> {
        let Member::End(end) = step else { return None };
        let held = !stays(self.conceptual, step) && self.is_held_by_others(end);
        held.then(|| vec![Member::End(self.conceptual.stored_end(end))])
    }

    /// Whether those at an end hold its links, or may: it is derived or symmetric.
    pub(super) fn is_held_by_others(&self, end: EndId) -> bool {
        let row = &self.conceptual.ends[end];
        !row.stored || row.inverse == Some(end)
    }
}
