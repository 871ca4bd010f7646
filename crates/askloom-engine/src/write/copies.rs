//! Brings every copy after the aggregates it is made of.
//!
//! For each copy that reads something of an aggregate which the write changes, the roots of the rows that may hold it are
//! found by walking the copy's places backwards, in the state before and in the state after. For each of these roots the rows before and the
//! rows after are worked out, and the difference is written. More roots than necessary do no harm: their rows do not
//! differ. One too few would leave a wrong row, so every doubt is settled by taking more.

use super::Phase;
use super::disturbed::{Alone, Narrowed, disturbs, parts};
use crate::execute::{Row, Scene};
use crate::stop::each;
use crate::{
    Aggregate, Changes, Instances, Overlay, Reader, RecordKey, RowContent, Rows, Schema, SortValue, Stop,
};
use askloom_model::{
    ClassId, Collection, CollectionId, Conceptual, Contents, EndId, HomePlace, Id, Identity, Member, Nodes,
    Record, RelationshipKind, Value, fault,
};
use askloom_plan::dependency::{Dependency, Existence};
use askloom_plan::upkeep::places;
use std::collections::BTreeSet;

pub(super) fn update_copies(
    reader: &Reader<'_>,
    overlay: &Overlay<'_>,
    phase: Phase,
    changes: &mut Changes,
) -> Result<(), Stop> {
    update_some_copies(reader, overlay, reader.schema().copies(), phase, changes)
}

/// The same for some copies alone.
pub fn update_some_copies(
    reader: &Reader<'_>,
    overlay: &Overlay<'_>,
    copies: impl Iterator<Item = CollectionId>,
    phase: Phase,
    changes: &mut Changes,
) -> Result<(), Stop> {
    let schema = reader.schema();
    let changed: Vec<&Aggregate> = overlay.changed.keys().collect();
    each(copies, |id| {
        let collection = &schema.design.collections[id];
        let upkeep = Upkeep { schema, collection, before: reader, after: overlay };
        let mut old = Rows::new();
        let mut new = Rows::new();
        for Disturbed { roots, alone } in upkeep.disturbed(id, &changed, phase)? {
            let alone = &alone;
            let narrowed =
                |state| Narrowed { state, before: reader, after: overlay, changed: &changed, alone, phase };
            each(&roots, |root| {
                upkeep.entries(&narrowed(reader), root, None, &mut old)?;
                upkeep.entries(&narrowed(overlay), root, None, &mut new)
            })?;
        }
        let stale = fault!(OldKeyKept) || (fault!(IndexStale) && collection.indexed().is_some());
        let gone: Vec<RecordKey> =
            old.keys().filter(|key| !stale && !new.contains_key(*key)).cloned().collect();
        let is_kept = |key: &RecordKey, content: &RowContent| {
            old.get(key).is_some_and(|old| old == content || fault!(ValueNotRewritten))
        };
        new.retain(|key, content| !is_kept(key, content));
        if gone.is_empty() && new.is_empty() {
            return Ok(());
        }
        let rows = changes.rows.entry(id).or_default();
        rows.extend(gone.into_iter().map(|key| (key, None)));
        rows.extend(new.into_iter().map(|(key, content)| (key, Some(content))));
        Ok(())
    })?;
    Ok(())
}

/// The entries that a copy has for the rows whose root is in an aggregate.
pub fn entries_of(
    state: &dyn Instances,
    id: CollectionId,
    aggregate: &Aggregate,
    out: &mut Rows,
) -> Result<(), Stop> {
    let schema = state.schema();
    let collection = &schema.design.collections[id];
    Upkeep { schema, collection, before: state, after: state }.entries(state, aggregate, None, out)
}

/// The same for those rows alone whose root is the entity with this id.
pub fn entries_of_root(
    state: &dyn Instances,
    id: CollectionId,
    aggregate: &Aggregate,
    root: &Identity,
    out: &mut Rows,
) -> Result<(), Stop> {
    let schema = state.schema();
    let collection = &schema.design.collections[id];
    let upkeep = Upkeep { schema, collection, before: state, after: state };
    upkeep.entries(state, aggregate, Some(root), out)
}

/// The aggregates with the roots of all rows of a copy which a changed aggregate may be part of, before or after.
pub fn roots_of(
    before: &dyn Instances,
    after: &dyn Instances,
    id: CollectionId,
    changed: &Aggregate,
) -> Result<BTreeSet<Aggregate>, Stop> {
    let schema = after.schema();
    let collection = &schema.design.collections[id];
    Upkeep { schema, collection, before, after }.affected(std::iter::once(changed))
}

/// What a write disturbs at one point of a copy.
struct Disturbed {
    /// The aggregates with the roots of the rows.
    roots: BTreeSet<Aggregate>,
    alone: Alone,
}

struct Upkeep<'u> {
    schema: &'u Schema,
    collection: &'u Collection,
    before: &'u dyn Instances,
    after: &'u dyn Instances,
}

impl Upkeep<'_> {
    fn conceptual(&self) -> &Conceptual {
        &self.schema.model.conceptual
    }

    /// The aggregates that hold the roots of all rows which a changed aggregate may be part of.
    fn affected<'c>(
        &self,
        changed: impl Iterator<Item = &'c Aggregate> + Clone,
    ) -> Result<BTreeSet<Aggregate>, Stop> {
        let conceptual = self.conceptual();
        let mut roots = BTreeSet::new();
        for place in places(conceptual, self.collection) {
            // A value object is in the aggregate of the place before, but for one that refers to what is there.
            let Some(class) = place.apart(conceptual) else { continue };
            let homes = self.schema.homes(class);
            let is_home = |(of, _): &&Aggregate| homes.iter().any(|home| home.root == *of);
            let there: BTreeSet<Aggregate> = changed.clone().filter(is_home).cloned().collect();
            if !there.is_empty() {
                roots.extend(self.walk_back(&place.steps, there, |_, _| {})?);
            }
        }
        Ok(roots)
    }

    /// The same of those that are changed where the copy reads something, point by point.
    fn disturbed(
        &self,
        id: CollectionId,
        changed: &[&Aggregate],
        phase: Phase,
    ) -> Result<Vec<Disturbed>, Stop> {
        let mut found = Vec::new();
        for point in self.schema.dependencies(id) {
            let homes = self.schema.homes(point.class);
            let moved = self.moved(point, changed)?;
            let mut there = BTreeSet::new();
            let here = changed.iter().filter(|(of, _)| homes.iter().any(|home| home.root == *of));
            each(here, |&aggregate| {
                let before = self.before.aggregate(aggregate.0, &aggregate.1)?;
                let after = self.after.aggregate(aggregate.0, &aggregate.1)?;
                if disturbs(self.conceptual(), point, before.as_deref(), after.as_deref(), &moved, phase) {
                    there.insert(aggregate.clone());
                }
                Ok(())
            })?;
            if !there.is_empty() {
                let mut alone = Alone::new();
                let roots = self.walk_back(&point.steps, there, |end, there| {
                    if point.alone_by.contains(&end) {
                        alone.insert(end, there.clone());
                    }
                })?;
                found.push(Disturbed { roots, alone });
                if fault!(SecondPlaceForgotten) {
                    break;
                }
            }
        }
        Ok(found)
    }

    /// The parts at a point that are in one aggregate before and in another after: several statements can move one.
    fn moved(&self, point: &Dependency, changed: &[&Aggregate]) -> Result<BTreeSet<Identity>, Stop> {
        let homes = self.schema.homes(point.class);
        let inside = homes.iter().any(|home| home.place == HomePlace::Inside);
        if !inside || changed.len() < 2 || point.existence == Existence::Read {
            return Ok(BTreeSet::new());
        }
        let mut held: [BTreeSet<Identity>; 2] = Default::default();
        for (state, held) in [self.before, self.after].into_iter().zip(&mut held) {
            for aggregate in changed {
                if let Some(stored) = state.aggregate(aggregate.0, &aggregate.1)? {
                    held.extend(parts(self.conceptual(), point.class, &stored.record));
                }
            }
        }
        let [before, after] = held;
        Ok(before.intersection(&after).cloned().collect())
    }

    /// From the aggregates at a place to those at the root. Says at each step by which stored end they were come to.
    fn walk_back(
        &self,
        steps: &[Member],
        mut there: BTreeSet<Aggregate>,
        mut met: impl FnMut(EndId, &BTreeSet<Aggregate>),
    ) -> Result<BTreeSet<Aggregate>, Stop> {
        for &step in steps.iter().rev() {
            if let Member::End(end) = step {
                met(self.conceptual().stored_end(end), &there);
            }
            there = match step {
                Member::Attribute(_) => there,
                Member::End(end) => self.step_back(end, there)?,
            };
        }
        Ok(there)
    }

    fn step_back(&self, end: EndId, there: BTreeSet<Aggregate>) -> Result<BTreeSet<Aggregate>, Stop> {
        let conceptual = self.conceptual();
        let row = &conceptual.ends[end];
        match (row.stored, row.kind) {
            // A part is in its owner's aggregate.
            (true, RelationshipKind::Composition) => Ok(there),
            (true, RelationshipKind::Association | RelationshipKind::Aggregation) => {
                let mut found = self.referring(end, &there)?;
                if row.inverse == Some(end) {
                    // Of a symmetric relationship either side may hold the link.
                    found.extend(self.referred(end, &there)?);
                }
                Ok(found)
            }
            (false, _) => match row.inverse {
                Some(stored) if conceptual.ends[stored].kind == RelationshipKind::Composition => Ok(there),
                Some(stored) => self.referred(stored, &there),
                None => Ok(there),
            },
        }
    }

    /// Those that refer to an instance in these aggregates.
    fn referring(&self, end: EndId, there: &BTreeSet<Aggregate>) -> Result<BTreeSet<Aggregate>, Stop> {
        let target = self.conceptual().ends[end].target;
        let mut found = BTreeSet::new();
        each(there, |aggregate| {
            each(self.instances_in(aggregate, target)?, |id| {
                if !fault!(SupportReadSkipped) {
                    found.extend(self.before.referring(end, &id)?);
                    found.extend(self.after.referring(end, &id)?);
                }
                Ok(())
            })?;
            if fault!(SelfReferenceOnce) {
                found.remove(aggregate);
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Those that these aggregates refer to by the end.
    fn referred(&self, end: EndId, there: &BTreeSet<Aggregate>) -> Result<BTreeSet<Aggregate>, Stop> {
        let target = self.conceptual().ends[end].target;
        let mut found = BTreeSet::new();
        each(there, |(class, id)| {
            let states: &[&dyn Instances] = match (fault!(BeforeNotConsulted), fault!(AfterNotConsulted)) {
                (false, false) => &[self.before, self.after],
                (true, _) => &[self.after],
                (_, true) => &[self.before],
            };
            for state in states {
                let Some(stored) = state.aggregate(*class, id)? else { continue };
                for referred in references(&stored.record, end) {
                    for home in self.schema.homes(target) {
                        match home.place {
                            HomePlace::Root => found.extend([(home.root, referred.clone())]),
                            HomePlace::Inside => found.extend(self.holding(target, &referred)?),
                        }
                    }
                }
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// The aggregates that have a part with this id.
    fn holding(&self, part: ClassId, id: &Identity) -> Result<BTreeSet<Aggregate>, Stop> {
        let mut found = self.before.owners(part, id)?;
        found.extend(self.after.owners(part, id)?);
        Ok(found)
    }

    /// The ids of all instances of a class in an aggregate, before and after.
    fn instances_in(&self, aggregate: &Aggregate, class: ClassId) -> Result<BTreeSet<Identity>, Stop> {
        let conceptual = self.conceptual();
        let mut ids = BTreeSet::new();
        // An instance that is not there yet, or no longer, can be referred to all the same.
        if conceptual.aggregate_root(class) == Some(aggregate.0) && conceptual.classes[class].owner.is_none()
        {
            ids.insert(aggregate.1.clone());
        }
        for state in [self.before, self.after] {
            if let Some(stored) = state.aggregate(aggregate.0, &aggregate.1)? {
                let mut parts = Vec::new();
                crate::execute::collect_parts(conceptual, &stored.record, class, &mut parts);
                ids.extend(parts.into_iter().filter_map(|part| part.identity(conceptual)));
            }
        }
        Ok(ids)
    }

    /// The entries of all rows whose root is in an aggregate, or of one root in it.
    fn entries(
        &self,
        state: &dyn Instances,
        aggregate: &Aggregate,
        only: Option<&Identity>,
        out: &mut Rows,
    ) -> Result<(), Stop> {
        let Some(stored) = state.aggregate(aggregate.0, &aggregate.1)? else { return Ok(()) };
        // A copy holds what has expired, too: whether it has is for each reader's clock to say.
        let scene = Scene {
            instances: state,
            positions: &self.collection.source.positions,
            arguments: &[],
            now: jiff::Timestamp::MIN,
            fetcher: None,
        };
        let mut rows = scene.root(stored);
        if let Some(root) = only {
            let root = Value::Reference(root.clone());
            rows.retain(|row| row.keys.first() == Some(&root));
        }
        for position in self.collection.source.positions.ids().skip(1) {
            let mut joined = Vec::new();
            each(rows, |row| scene.expand(row, position, &mut joined))?;
            rows = joined;
        }
        each(rows, |row| {
            let holds = match &self.collection.source.condition {
                Some(condition) => {
                    fault!(CopyConditionIgnored) || scene.truth(condition, &row)? == Some(true)
                }
                None => true,
            };
            if holds { self.entry(&scene, &row, out) } else { Ok(()) }
        })?;
        Ok(())
    }

    fn entry(&self, scene: &Scene<'_>, row: &Row, out: &mut Rows) -> Result<(), Stop> {
        let mut sort = Vec::with_capacity(self.collection.entry_key.len());
        for field in &self.collection.entry_key {
            sort.push(SortValue { value: scene.single(&field.path, row)?, descending: field.descending });
        }
        let mut content = RowContent::default();
        if let Contents::Fields(paths) = &self.collection.contents {
            for path in paths {
                content.values.push(scene.selected(path, row)?);
            }
        }
        if let Some(path) = self.collection.indexed() {
            for held in scene.every(path, row)? {
                let key = RecordKey { block: vec![held], sort: sort.clone(), row: row.keys.clone() };
                out.insert(key, content.clone());
                if fault!(IndexOfFirst) {
                    break;
                }
            }
            return Ok(());
        }
        let mut block = Vec::with_capacity(self.collection.block_key.len());
        for field in &self.collection.block_key {
            block.push(scene.single(&field.path, row)?);
        }
        if let Contents::Nested(nodes) = &self.collection.contents {
            return self.nodes(&block, nodes, scene, row, out);
        }
        out.insert(RecordKey { block, sort, row: row.keys.clone() }, content);
        Ok(())
    }
}

impl Upkeep<'_> {
    /// The nodes of a row: each under its position and the identities from the root to it.
    fn nodes(
        &self,
        block: &[Value],
        nodes: &Nodes,
        scene: &Scene<'_>,
        row: &Row,
        out: &mut Rows,
    ) -> Result<(), Stop> {
        for (position, node) in self.collection.source.positions.ids().zip(&row.keys) {
            // An outer position with nothing there has no node.
            if node.is_null() {
                continue;
            }
            let chain = self.collection.chain(position);
            let chain: Vec<Value> = chain.iter().filter_map(|p| row.keys.get(p.index())).cloned().collect();
            let mut content = RowContent::default();
            for path in nodes.fields.iter().filter(|path| path.position == position) {
                content.values.push(scene.selected(path, row)?);
            }
            if nodes.whole.contains(&position) {
                content.whole = Some(scene.whole(position, row)?);
            }
            out.insert(RecordKey::node(block.to_vec(), position, chain), content);
        }
        Ok(())
    }
}

/// The ids that a record holds in an end, at any depth.
fn references(record: &Record, end: EndId) -> Vec<Identity> {
    let mut found = Vec::new();
    for (&member, value) in &record.fields {
        match value {
            Value::Reference(id) if member == Member::End(end) => found.push(id.clone()),
            Value::Set(ids) if member == Member::End(end) => found.extend(ids.iter().cloned()),
            Value::Record(inner) => found.extend(references(inner, end)),
            Value::List(elements) => {
                for element in elements {
                    if let Value::Record(inner) = &element.value {
                        found.extend(references(inner, end));
                    }
                }
            }
            _plain => {}
        }
    }
    found
}
