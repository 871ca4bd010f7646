//! What the rows of a copy read, aggregate by aggregate.
//!
//! A row is made of instances in one or several aggregates. Where the rows of a copy enter an aggregate, they read some
//! of its members, and that it exists. A write has to look at a copy only where it disturbs what is read there.

use crate::effects::Effects;
use crate::upkeep::{self, stored_references};
use askloom_model::{
    ClassId, Collection, Conceptual, Condition, Contents, EndId, Id, Member, RelationshipKind, Role, fault,
};
use std::collections::BTreeSet;

/// What rows read in the aggregates that they enter at one point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// From the root of the rows to the point. The last step leads into the aggregate; none for the root itself.
    pub steps: Vec<Member>,
    /// What stands there.
    pub class: ClassId,
    pub members: Members,
    pub existence: Existence,
    /// Stored ends by which instances on the way refer to what is before them, if rows of others that refer there are none
    /// of their business: they are the same before and after, and need not be worked out.
    pub alone_by: Vec<EndId>,
}

/// The members that are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Members {
    All,
    Some(BTreeSet<Member>),
}

/// Whether rows come and go with the instance at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existence {
    Read,
    /// The reference that leads there is relied on: whoever refers to an instance while it is made or ended is written
    /// by the same write, and its rows are found from there.
    ReliedOn,
}

impl Dependency {
    /// Whether writes can change what is read here.
    #[must_use]
    pub fn is_disturbed(&self, conceptual: &Conceptual, effects: &Effects) -> bool {
        self.comes_or_goes(conceptual, effects) || self.is_changed(conceptual, effects)
    }

    /// Whether writes can change a member that is read here.
    fn is_changed(&self, conceptual: &Conceptual, effects: &Effects) -> bool {
        match &self.members {
            Members::All => {
                let kinds = std::iter::once(self.class).chain(conceptual.descendants(self.class));
                let mut held = kinds.flat_map(|kind| conceptual.inside(kind));
                held.any(|class| {
                    let members = conceptual.all_members(class);
                    members.into_iter().any(|member| effects.changes(conceptual, member))
                })
            }
            Members::Some(members) => members.iter().any(|&member| effects.changes(conceptual, member)),
        }
    }

    fn comes_or_goes(&self, conceptual: &Conceptual, effects: &Effects) -> bool {
        match self.existence {
            Existence::Read => effects.comes_or_goes(conceptual, self.class),
            Existence::ReliedOn => false,
        }
    }
}

/// Every point where rows of a copy enter an aggregate, the root first.
#[must_use]
pub fn dependencies(conceptual: &Conceptual, collection: &Collection) -> Vec<Dependency> {
    let mut found: Vec<Dependency> = Vec::new();
    for place in upkeep::places(conceptual, collection) {
        let Some(class) = place.apart(conceptual) else { continue };
        let steps = entry(conceptual, &place.steps);
        // A part that rows come to by its owner is in the owner's aggregate.
        if steps.len() < place.steps.len() || found.iter().any(|known| known.steps == steps) {
            continue;
        }
        let existence = existence(conceptual, &steps);
        let on_the_way = (1..=steps.len()).filter_map(|length| steps.get(..length));
        let alone_by = on_the_way.filter_map(|way| alone_by(conceptual, collection, way)).collect();
        let members = Members::Some(BTreeSet::new());
        found.push(Dependency { steps, class, members, existence, alone_by });
    }
    for (steps, member) in read(conceptual, collection) {
        let at = found.iter_mut().find(|known| known.steps == steps);
        if let Some(Members::Some(members)) = at.map(|known| &mut known.members) {
            members.insert(member);
        }
    }
    for steps in whole(conceptual, collection) {
        if let Some(known) = found.iter_mut().find(|known| known.steps == steps) {
            known.members = Members::All;
        }
    }
    found
}

/// The stored references that upkeep of a copy has to walk from the target back, for what these writes can do.
#[must_use]
pub fn ways_back(conceptual: &Conceptual, effects: &Effects, collection: &Collection) -> BTreeSet<EndId> {
    let mut wanted = BTreeSet::new();
    if collection.role == Role::Master {
        return wanted;
    }
    let all = dependencies(conceptual, collection);
    let disturbed: Vec<(&Dependency, bool)> = all
        .iter()
        .filter_map(|one| {
            let changed = one.is_changed(conceptual, effects);
            (changed || one.comes_or_goes(conceptual, effects)).then_some((one, changed))
        })
        .collect();
    for (one, _) in &disturbed {
        wanted.extend(stored_references(conceptual, &one.steps));
    }
    // Rows of a root are worked out anew: those who refer are found from there.
    for (from, stored) in derived(conceptual, collection) {
        let relied_on = is_relied_on(conceptual, stored);
        let only_made_or_ended = |one: &Dependency, changed: bool| one.steps == from && !changed && relied_on;
        let alone = |one: &Dependency| one.alone_by.contains(&stored);
        if disturbed.iter().any(|&(one, changed)| !only_made_or_ended(one, changed) && !alone(one)) {
            wanted.insert(stored);
        }
    }
    wanted
}

/// The references for whose sake a write of an aggregate does not look at a copy: what it makes or ends, nobody refers to.
#[must_use]
pub fn spared_by(
    conceptual: &Conceptual,
    effects: &Effects,
    collection: &Collection,
    is_written: impl Fn(ClassId) -> bool,
) -> BTreeSet<EndId> {
    let all = dependencies(conceptual, collection);
    let written: Vec<&Dependency> = all.iter().filter(|one| is_written(one.class)).collect();
    let unlooked = written.iter().filter(|one| {
        one.existence == Existence::ReliedOn
            && effects.comes_or_goes(conceptual, one.class)
            && !one.is_changed(conceptual, effects)
    });
    let mut spared: BTreeSet<EndId> = unlooked
        .filter_map(|one| match one.steps.last() {
            Some(&Member::End(end)) => Some(end),
            Some(Member::Attribute(_)) | None => None,
        })
        .collect();
    let made_or_ended = |from: &[Member]| {
        written.iter().any(|one| {
            one.steps == from
                && one.comes_or_goes(conceptual, effects)
                && !one.is_changed(conceptual, effects)
        })
    };
    let derived = derived(conceptual, collection).into_iter();
    spared.extend(
        derived
            .filter(|(from, stored)| is_relied_on(conceptual, *stored) && made_or_ended(from))
            .map(|(_, stored)| stored),
    );
    spared
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

fn existence(conceptual: &Conceptual, steps: &[Member]) -> Existence {
    match steps.last() {
        Some(&Member::End(end)) if conceptual.ends[end].stored && is_relied_on(conceptual, end) => {
            Existence::ReliedOn
        }
        Some(_) | None => Existence::Read,
    }
}

/// The reference at the end of a way, if each row has one instance there and rows of others do not depend on it: an inner
/// join from the target to whoever refers, and no other use of the reference. The row that an outer join has for nobody
/// comes and goes with the last of them; so does a node that several rows share.
fn alone_by(conceptual: &Conceptual, collection: &Collection, steps: &[Member]) -> Option<EndId> {
    let &Member::End(end) = steps.last()? else { return None };
    let row = &conceptual.ends[end];
    let stored = row.inverse.filter(|_| !row.stored)?;
    let ways = position_ways(collection);
    let mut there = collection.source.positions.iter().zip(&ways).filter(|(_, way)| *way == steps);
    let inner = there.next().is_some_and(|((_, position), _)| !position.outer);
    let uses = |member: &Member| match *member {
        Member::End(other) => conceptual.stored_end(other) == stored,
        Member::Attribute(_) => false,
    };
    // Ways that begin with this one use it once.
    let once = self::ways(collection).iter().all(|way| {
        let rest = if way.starts_with(steps) { way.get(steps.len()..).unwrap_or_default() } else { way };
        !rest.iter().any(uses)
    });
    let flat = matches!(collection.contents, Contents::Fields(_)) && collection.indexed().is_none();
    (inner && once && flat).then_some(stored)
}

/// The way without its last steps that stay in an aggregate.
fn entry(conceptual: &Conceptual, steps: &[Member]) -> Vec<Member> {
    let stays = steps.iter().rev().take_while(|&&step| stays(conceptual, step)).count();
    steps.get(..steps.len() - stays).unwrap_or_default().to_vec()
}

/// Whether a step stays in its aggregate: an element of a list, a part, the owner of a part.
fn stays(conceptual: &Conceptual, step: Member) -> bool {
    match step {
        Member::Attribute(_) => true,
        Member::End(end) => conceptual.ends[conceptual.stored_end(end)].kind == RelationshipKind::Composition,
    }
}

/// Each member that rows read, by the point where they entered its aggregate.
fn read(conceptual: &Conceptual, collection: &Collection) -> Vec<(Vec<Member>, Member)> {
    let mut found = Vec::new();
    for way in ways(collection) {
        for (at, &member) in way.iter().enumerate() {
            let (before, up_to) = (way.get(..at).unwrap_or_default(), way.get(..=at).unwrap_or_default());
            let Member::End(end) = member else {
                found.push((entry(conceptual, before), member));
                continue;
            };
            let stored = Member::End(conceptual.stored_end(end));
            let row = &conceptual.ends[end];
            if row.stored || stays(conceptual, member) {
                found.push((entry(conceptual, before), stored));
            }
            // Whoever refers holds the link.
            if !row.stored || row.inverse == Some(end) {
                found.push((entry(conceptual, up_to), stored));
            }
        }
    }
    found
}

/// Where rows hold all that there is of an instance.
fn whole(conceptual: &Conceptual, collection: &Collection) -> Vec<Vec<Member>> {
    let ways = position_ways(collection);
    let at = |position: usize| ways.get(position).map(|way| entry(conceptual, way));
    let positions = collection.whole();
    let mut found: Vec<Vec<Member>> = positions.iter().filter_map(|&position| at(position.index())).collect();
    if matches!(collection.contents, Contents::Aggregate(_)) {
        found.push(Vec::new());
    }
    found
}

/// Derived ends that rows go over: where from, and the stored end that has to be walked back.
fn derived(conceptual: &Conceptual, collection: &Collection) -> BTreeSet<(Vec<Member>, EndId)> {
    let mut found = BTreeSet::new();
    for way in ways(collection) {
        for (at, &member) in way.iter().enumerate() {
            let Member::End(end) = member else { continue };
            let row = &conceptual.ends[end];
            let symmetric = row.inverse == Some(end);
            if (!row.stored || symmetric) && !stays(conceptual, member) {
                let before = way.get(..at).unwrap_or_default();
                found.insert((entry(conceptual, before), conceptual.stored_end(end)));
            }
        }
    }
    found
}

/// The members from the root to each position.
fn position_ways(collection: &Collection) -> Vec<Vec<Member>> {
    let mut ways: Vec<Vec<Member>> = Vec::new();
    for (_, position) in collection.source.positions.iter() {
        let way = position.from.map(|hop| {
            let mut way = ways.get(hop.parent.index()).cloned().unwrap_or_default();
            way.push(hop.step);
            way
        });
        ways.push(way.unwrap_or_default());
    }
    ways
}

/// The members from the root to each position and along each path, the last one included.
fn ways(collection: &Collection) -> BTreeSet<Vec<Member>> {
    let positions = position_ways(collection);
    let condition = collection.source.condition.as_ref().map(Condition::paths);
    let paths = collection.held().chain(condition.into_iter().flatten());
    let along = paths.map(|path| {
        let mut way = positions.get(path.position.index()).cloned().unwrap_or_default();
        way.extend(path.members());
        way
    });
    let along: BTreeSet<Vec<Member>> = along.collect();
    along.into_iter().chain(positions).collect()
}
