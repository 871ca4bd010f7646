//! From an instance at a place of a copy to the roots of its rows.

use super::bind::Standing;
use super::{Candidates, Upkeep, aggregate_of};
use crate::execute::{Inner, Scene, stored_ids};
use crate::stop::each;
use crate::{Instances, Stop};
use askloom_model::{ClassId, EndId, Member, PositionId, RelationshipKind, Value, fault};
use askloom_plan::delta::{Delta, Up};
use std::collections::BTreeMap;

/// Instances, each once, by what tells it apart from all others.
type There = BTreeMap<Value, Inner>;

impl Upkeep<'_> {
    /// The rows in which some instances at a place stand, in either state.
    pub(super) fn candidates(&self, delta: &Delta, there: &Standing) -> Result<Candidates, Stop> {
        let mut found = Candidates::default();
        let climbed = [
            self.climb(delta, self.before, &there.before, Side::Before, &mut found),
            self.climb(delta, self.after, &there.after, Side::After, &mut found),
        ];
        for climbed in climbed {
            climbed?;
        }
        Ok(found)
    }

    fn climb(
        &self,
        delta: &Delta,
        state: &dyn Instances,
        there: &BTreeMap<Vec<Value>, Inner>,
        side: Side,
        found: &mut Candidates,
    ) -> Result<(), Stop> {
        let scene = self.scene(state, None);
        let mut at: There = BTreeMap::new();
        for (keys, entry) in there {
            for (&position, key) in delta.inside_positions().iter().zip(keys) {
                found.restriction.bind(position).keys.insert(key.clone());
            }
            at.insert(scene.lone_key(entry), entry.clone());
        }
        let climbing = Climbing { upkeep: self, scene: &scene, side };
        let mut left = delta.chain.as_slice();
        if delta.hops.is_empty() {
            left = left.get(..left.len() - delta.inside).unwrap_or_default();
        } else {
            at = climbing.off_path(delta, at)?;
            climbing.bind(delta.bound(), &at, found);
        }
        while let [.., above, position] = left {
            at = climbing.to_parents(*position, *above, at, found)?;
            left = left.get(..left.len() - 1).unwrap_or_default();
        }
        for (key, root) in at {
            if let Some(aggregate) = aggregate_of(self.conceptual(), &root) {
                found.roots.entry(key).or_default().insert(aggregate);
            }
        }
        Ok(())
    }
}

/// Which of the two states is walked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

struct Climbing<'c> {
    upkeep: &'c Upkeep<'c>,
    scene: &'c Scene<'c>,
    side: Side,
}

impl Climbing<'_> {
    /// Back along the hops of a path, to the instances at its position.
    fn off_path(&self, delta: &Delta, mut at: There) -> Result<There, Stop> {
        let conceptual = self.upkeep.conceptual();
        let positions = &self.upkeep.collection.source.positions;
        for (hop, up) in delta.hops.iter().rev().zip(&delta.up) {
            at = self.step(*up, conceptual.ends[*hop].class, at, |_, _| {})?;
        }
        // The position may be about a subclass of what has the path's first member.
        if let Some(class) = positions[delta.bound()].class {
            at.retain(|_, inner| self.scene.is_a(inner, class));
        }
        Ok(at)
    }

    /// From the instances at a position to those at the position above.
    fn to_parents(
        &self,
        position: PositionId,
        above: PositionId,
        at: There,
        found: &mut Candidates,
    ) -> Result<There, Stop> {
        let conceptual = self.upkeep.conceptual();
        let positions = &self.upkeep.collection.source.positions;
        let (Some(hop), Some(class)) = (positions[position].from, positions[above].class) else {
            return Ok(at);
        };
        let up = Up::along(conceptual, hop.step);
        let bound = found.restriction.bind(position);
        let parents = self.step(up, class, at, |child, parent| {
            if let (Some(aggregate), Some(id)) =
                (aggregate_of(conceptual, child), parent.identity(conceptual))
            {
                bound.holders.entry(id).or_default().insert(aggregate);
            }
        })?;
        self.bind(above, &parents, found);
        Ok(parents)
    }

    fn bind(&self, position: PositionId, at: &There, found: &mut Candidates) {
        let from = self.upkeep.collection.source.positions[position].from;
        let bound = found.restriction.bind(position);
        bound.keys.extend(at.iter().map(|(lone, inner)| match from {
            Some(hop) if self.is_part(hop.step) => self.scene.part_key(inner),
            Some(_) | None => lone.clone(),
        }));
    }

    fn is_part(&self, step: Member) -> bool {
        match step {
            Member::Attribute(_) => false,
            Member::End(end) => {
                let row = &self.upkeep.conceptual().ends[end];
                row.stored && row.kind == RelationshipKind::Composition
            }
        }
    }

    fn step(
        &self,
        up: Up,
        class: ClassId,
        at: There,
        mut met: impl FnMut(&Inner, &Inner),
    ) -> Result<There, Stop> {
        let mut parents = BTreeMap::new();
        each(at.values(), |child| {
            for parent in self.parents(up, child)? {
                if self.scene.is_a(&parent, class) {
                    met(child, &parent);
                    parents.insert(self.scene.lone_key(&parent), parent);
                }
            }
            Ok(())
        })?;
        Ok(parents)
    }

    fn parents(&self, up: Up, child: &Inner) -> Result<Vec<Inner>, Stop> {
        match up {
            Up::Element => Ok(vec![child.clone()]),
            Up::Owner(end) => {
                let owner = child.above().filter(|(_, member)| *member == Member::End(end));
                Ok(owner.into_iter().map(|(owner, _)| owner).collect())
            }
            Up::Parts(end) => Ok(child.parts_at(Member::End(end))),
            Up::Referrers(end) => self.referrers(end, child),
            Up::Referred(end) => self.referred(end, child),
            Up::Partners(end) => {
                let mut partners = self.referrers(end, child)?;
                partners.extend(self.referred(end, child)?);
                Ok(partners)
            }
        }
    }

    /// Those that hold an instance in a stored end.
    fn referrers(&self, end: EndId, child: &Inner) -> Result<Vec<Inner>, Stop> {
        if fault!(SupportReadSkipped) {
            return Ok(Vec::new());
        }
        let mut found = self.scene.holders(child, end)?;
        if fault!(SelfReferenceOnce) {
            let conceptual = self.upkeep.conceptual();
            found.retain(|holder| aggregate_of(conceptual, holder) != aggregate_of(conceptual, child));
        }
        Ok(found)
    }

    /// Those that an instance refers to by a stored end.
    fn referred(&self, end: EndId, child: &Inner) -> Result<Vec<Inner>, Stop> {
        let skipped = match self.side {
            Side::Before => fault!(BeforeNotConsulted),
            Side::After => fault!(AfterNotConsulted),
        };
        if skipped {
            return Ok(Vec::new());
        }
        let target = self.upkeep.conceptual().ends[end].target;
        let ids = child.record().map(|record| stored_ids(record, end)).unwrap_or_default();
        let found = each(ids, |id| self.scene.instance(target, &id))?;
        Ok(found.into_iter().flatten().collect())
    }
}
