//! Which deltas of a copy the writes of a model can set off, and which references they follow back.

use super::{Delta, Existence, Reads, Up, deltas, is_relied_on, stays};
use crate::effects::Effects;
use askloom_model::{ClassId, Collection, Conceptual, Contents, EndId, Member, PositionId, Role};
use std::collections::BTreeSet;

impl Delta {
    /// Whether writes can change what is read here.
    #[must_use]
    pub fn is_disturbed(&self, conceptual: &Conceptual, collection: &Collection, effects: &Effects) -> bool {
        self.comes_or_goes(conceptual, collection, effects) || self.is_changed(conceptual, effects)
    }

    /// Whether writes can change a value that is read here.
    #[must_use]
    pub fn is_changed(&self, conceptual: &Conceptual, effects: &Effects) -> bool {
        match &self.reads {
            Reads::Whole => {
                let class = self.class.unwrap_or(self.entry);
                let kinds = std::iter::once(class).chain(conceptual.descendants(class));
                let mut held = kinds.flat_map(|kind| conceptual.inside(kind));
                held.any(|class| {
                    let members = conceptual.all_members(class);
                    members.into_iter().any(|member| effects.changes(conceptual, member))
                })
            }
            Reads::Ways(ways) => ways.iter().flatten().any(|&member| effects.changes(conceptual, member)),
        }
    }

    /// Whether writes can make or end what stands here, while rows look at that. What is inside an aggregate comes and
    /// goes with the list or part that it is in.
    fn comes_or_goes(&self, conceptual: &Conceptual, collection: &Collection, effects: &Effects) -> bool {
        if self.inside > 0 {
            let step = collection.source.positions[self.bound()].from.map(|hop| hop.step);
            return step.is_some_and(|step| effects.changes(conceptual, step));
        }
        match self.existence {
            Existence::Read => effects.comes_or_goes(conceptual, self.entry),
            Existence::ReliedOn => false,
        }
    }
}

/// Where rows go from an instance to those that refer to it.
struct Derived {
    position: PositionId,
    /// Hops of a path from the position to the instance.
    hops: Vec<EndId>,
    stored: EndId,
    joins: Option<PositionId>,
}

/// The stored references that upkeep of a copy has to walk from the target back, for what these writes can do.
#[must_use]
pub fn ways_back(conceptual: &Conceptual, effects: &Effects, collection: &Collection) -> BTreeSet<EndId> {
    let mut wanted = BTreeSet::new();
    if collection.role == Role::Master {
        return wanted;
    }
    let derived = derived(conceptual, collection);
    for delta in deltas(conceptual, collection) {
        if !delta.is_disturbed(conceptual, collection, effects) {
            continue;
        }
        wanted.extend(delta.up.iter().copied().filter_map(Up::reversed));
        let changed = delta.is_changed(conceptual, effects);
        let needed = derived.iter().filter(|one| one.is_read(conceptual, collection, &delta, changed));
        wanted.extend(needed.map(|one| one.stored));
    }
    wanted
}

impl Derived {
    /// Whether rows that a delta finds are worked out with all that refer here.
    fn is_read(
        &self,
        conceptual: &Conceptual,
        collection: &Collection,
        delta: &Delta,
        changed: bool,
    ) -> bool {
        if self.joins.is_some_and(|position| delta.chain.contains(&position)) {
            return self.is_probed(collection);
        }
        // Nobody refers to what is only made or ended.
        let own = delta.inside == 0 && delta.bound() == self.position && delta.hops == self.hops;
        !(own && !changed && is_relied_on(conceptual, self.stored))
    }

    /// Whether it matters if there are others at a position that is bound: for the row that an outer join has for
    /// nobody, and for a node that several rows share.
    fn is_probed(&self, collection: &Collection) -> bool {
        let outer = self.joins.is_some_and(|position| collection.source.positions[position].outer);
        outer || matches!(collection.contents, Contents::Nested(_))
    }
}

fn derived(conceptual: &Conceptual, collection: &Collection) -> Vec<Derived> {
    let mut found = Vec::new();
    let held_by_others = |step: Member| match step {
        Member::End(end) if !stays(conceptual, step) => {
            let row = &conceptual.ends[end];
            (!row.stored || row.inverse == Some(end)).then(|| conceptual.stored_end(end))
        }
        Member::End(_) | Member::Attribute(_) => None,
    };
    for (id, position) in collection.source.positions.iter() {
        let Some(hop) = position.from else { continue };
        if let Some(stored) = held_by_others(hop.step) {
            found.push(Derived { position: hop.parent, hops: Vec::new(), stored, joins: Some(id) });
        }
    }
    for path in super::paths(conceptual, collection) {
        let members: Vec<Member> = path.members().collect();
        for (at, &member) in members.iter().enumerate() {
            if let Some(stored) = held_by_others(member) {
                let hops = path.hops.get(..at).unwrap_or(&path.hops).to_vec();
                found.push(Derived { position: path.position, hops, stored, joins: None });
            }
        }
    }
    found
}

/// The references for whose sake a write of an aggregate does not look at a copy: what it makes or ends, nobody refers to.
#[must_use]
pub fn spared_by(
    conceptual: &Conceptual,
    effects: &Effects,
    collection: &Collection,
    is_written: impl Fn(ClassId) -> bool,
) -> BTreeSet<EndId> {
    let all = deltas(conceptual, collection);
    let written = || all.iter().filter(|one| one.inside == 0 && is_written(one.entry));
    let comes_or_goes =
        |one: &Delta| effects.comes_or_goes(conceptual, one.entry) && !one.is_changed(conceptual, effects);
    let unlooked = written().filter(|one| one.existence == Existence::ReliedOn && comes_or_goes(one));
    let mut spared: BTreeSet<EndId> =
        unlooked.filter_map(|one| one.up.first().copied().and_then(Up::reversed)).collect();
    let read = |one: &&Delta| one.existence == Existence::Read && comes_or_goes(one);
    for from in derived(conceptual, collection) {
        let is_its = |one: &Delta| one.bound() == from.position && one.hops == from.hops;
        if is_relied_on(conceptual, from.stored) && written().filter(read).any(is_its) {
            spared.insert(from.stored);
        }
    }
    spared
}
