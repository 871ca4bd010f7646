//! Which instances at a place of a copy differ between two states.

use super::{Phase, Upkeep};
use crate::execute::{Inner, Node, Scene, stored_ids};
use crate::stop::each;
use crate::{Aggregate, Instances, Stop};
use askloom_model::{Member, PositionId, RelationshipKind, Value, fault};
use askloom_plan::delta::{Delta, Existence, Reads};
use std::collections::{BTreeMap, BTreeSet};

/// Instances at a place, in each state: what tells each apart from where rows enter its aggregate, and the instance there.
#[derive(Debug, Default)]
pub(super) struct Standing {
    pub(super) before: BTreeMap<Vec<Value>, Inner>,
    pub(super) after: BTreeMap<Vec<Value>, Inner>,
}

/// What is known to differ at the positions that have been looked at. Below it, all rows are looked at anyway.
#[derive(Debug, Default)]
pub(super) struct Differing {
    at: BTreeMap<PositionId, BTreeSet<Vec<Value>>>,
    pub(super) is_cut_short: bool,
}

/// What stands at a place, and where rows enter its aggregate.
struct Instance {
    node: Node,
    entry: Inner,
}

impl Upkeep<'_> {
    /// The instances at a place that differ, of the changed aggregates.
    pub(super) fn differing(
        &self,
        delta: &Delta,
        changed: &[&Aggregate],
        known: &mut Differing,
    ) -> Result<Standing, Stop> {
        let mut before = self.instances(delta, self.before, changed)?;
        let mut after = self.instances(delta, self.after, changed)?;
        let keys: BTreeSet<Vec<Value>> = before.keys().chain(after.keys()).cloned().collect();
        let mut found = Standing::default();
        let mut differ = BTreeSet::new();
        for key in keys {
            let (old, new) = (before.remove(&key), after.remove(&key));
            if self.is_below_known(delta, &key, known) {
                differ.insert(key);
                continue;
            }
            let looked_at = match (&old, &new) {
                (Some(old), Some(new)) if self.reads_same(delta, &old.node, &new.node) => continue,
                (Some(_), Some(_)) => true,
                (Some(_), None) | (None, Some(_)) => self.is_existence_read(delta),
                (None, None) => false,
            };
            differ.insert(key.clone());
            if looked_at {
                found.before.extend(old.map(|old| (key.clone(), old.entry)));
                found.after.extend(new.map(|new| (key, new.entry)));
            }
        }
        if delta.hops.is_empty() {
            known.at.insert(delta.bound(), differ);
        }
        Ok(found)
    }

    /// All instances at a place, of one aggregate.
    pub(super) fn standing(&self, delta: &Delta, changed: &[&Aggregate]) -> Result<Standing, Stop> {
        let entries = |found: BTreeMap<Vec<Value>, Instance>| {
            found.into_iter().map(|(key, instance)| (key, instance.entry)).collect()
        };
        Ok(Standing {
            before: entries(self.instances(delta, self.before, changed)?),
            after: entries(self.instances(delta, self.after, changed)?),
        })
    }

    /// Whether the owner of a part is known to differ: then all rows below it are looked at, or none needs to be.
    fn is_below_known(&self, delta: &Delta, key: &[Value], known: &Differing) -> bool {
        let [.., owner, _] = delta.inside_positions() else { return false };
        let above = key.split_last().map(|(_, above)| above);
        above.is_some_and(|above| known.at.get(owner).is_some_and(|differ| differ.contains(above)))
    }

    /// A row of a load may be what others refer to already.
    fn is_existence_read(&self, delta: &Delta) -> bool {
        match (delta.existence, self.phase) {
            (Existence::Read, _) | (_, Phase::Loading) => true,
            (Existence::ReliedOn, Phase::Running) => delta.inside > 0,
        }
    }

    fn instances(
        &self,
        delta: &Delta,
        state: &dyn Instances,
        changed: &[&Aggregate],
    ) -> Result<BTreeMap<Vec<Value>, Instance>, Stop> {
        let homes = self.schema.homes(delta.entry);
        let scene = self.scene(state, None);
        let mut found = BTreeMap::new();
        let here = changed.iter().filter(|(of, _)| homes.iter().any(|home| home.root == *of));
        each(here, |(root, id)| {
            if let Some(stored) = state.aggregate(*root, id)? {
                for entry in scene.instances_in(stored, delta.entry) {
                    self.below(&scene, delta, entry, &mut found)?;
                }
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Goes from where rows enter an aggregate to the place inside it.
    fn below(
        &self,
        scene: &Scene<'_>,
        delta: &Delta,
        entry: Inner,
        found: &mut BTreeMap<Vec<Value>, Instance>,
    ) -> Result<(), Stop> {
        let mut there = vec![(vec![scene.lone_key(&entry)], Node::Record(entry.clone()))];
        for &position in delta.inside_positions().iter().skip(1) {
            let mut next = Vec::new();
            for (keys, node) in there {
                scene.each_at(position, &node, &mut |key, child| {
                    let mut keys = keys.clone();
                    keys.push(key);
                    next.push((keys, child));
                    Ok(true)
                })?;
            }
            there = next;
        }
        let instances = there.into_iter();
        found.extend(instances.map(|(keys, node)| (keys, Instance { node, entry: entry.clone() })));
        Ok(())
    }

    /// Whether rows read the same of two states of what stands at a place.
    fn reads_same(&self, delta: &Delta, before: &Node, after: &Node) -> bool {
        match (before, after) {
            (Node::Record(before), Node::Record(after)) => match &delta.reads {
                Reads::Whole => before.record() == after.record(),
                Reads::Ways(ways) => {
                    let class = |inner: &Inner| inner.record().map(|record| record.class);
                    class(before) == class(after)
                        && ways.iter().all(|way| self.values(before, way) == self.values(after, way))
                }
            },
            (Node::Element(before), Node::Element(after)) => before == after,
            (Node::Nothing, Node::Nothing) => true,
            (Node::Record(_) | Node::Element(_) | Node::Nothing, _) => false,
        }
    }

    /// The values at the end of a way that stays in an aggregate. Behind parts that lead elsewhere: what tells them apart.
    fn values(&self, inner: &Inner, way: &[Member]) -> Vec<Value> {
        let conceptual = self.conceptual();
        let mut there = vec![inner.clone()];
        for &member in way {
            let Member::End(end) = member else { return read(&there, member) };
            let stored = conceptual.stored_end(end);
            if conceptual.ends[stored].kind != RelationshipKind::Composition {
                let overlooked = fault!(ChangeOverlooked);
                return if overlooked { Vec::new() } else { read(&there, member) };
            }
            there = if conceptual.ends[end].stored {
                there.iter().flat_map(|inner| inner.parts_at(member)).collect()
            } else {
                there.iter().filter_map(|inner| inner.above()).map(|(owner, _)| owner).collect()
            };
        }
        let told_apart = |inner: &Inner| {
            let record = inner.record()?;
            // Whoever leads to an entity in its aggregate names it, and says nothing else of it.
            let identity = record.identity(conceptual).map(Value::Reference);
            Some(identity.unwrap_or_else(|| Value::Record(Box::new(record.clone()))))
        };
        there.iter().filter_map(told_apart).collect()
    }
}

fn read(there: &[Inner], member: Member) -> Vec<Value> {
    let records = there.iter().filter_map(Inner::record);
    match member {
        Member::Attribute(_) => records.map(|record| record.get(member).clone()).collect(),
        Member::End(end) => {
            records.flat_map(|record| stored_ids(record, end)).map(Value::Reference).collect()
        }
    }
}
