//! The entries that a copy has for rows.

use super::nested::Placed;
use crate::execute::{Restriction, Row, Scene, main_position};
use crate::stop::each;
use crate::{Aggregate, Instances, RecordKey, RowContent, Rows, Schema, SortValue, Stop};
use askloom_model::{
    Collection, CollectionId, Contents, Identity, KeyField, Nodes, PositionId, Value, fault,
};
use askloom_plan::positions::each_value;

/// The entries that a copy has for the rows whose root is in an aggregate.
pub fn entries_of(
    state: &dyn Instances,
    id: CollectionId,
    aggregate: &Aggregate,
    out: &mut Rows,
) -> Result<(), Stop> {
    let schema = state.schema();
    Entries::new(schema, &schema.design.collections[id]).of(state, aggregate, None, out)
}

/// The same for those rows only whose root is the entity with this id.
pub fn entries_of_root(
    state: &dyn Instances,
    id: CollectionId,
    aggregate: &Aggregate,
    root: &Identity,
    out: &mut Rows,
) -> Result<(), Stop> {
    let schema = state.schema();
    Entries::new(schema, &schema.design.collections[id]).of(state, aggregate, Some(root), out)
}

/// What the rows of a copy are worked out in.
pub(super) fn scene<'s>(
    collection: &'s Collection,
    instances: &'s dyn Instances,
    restriction: Option<&'s Restriction>,
) -> Scene<'s> {
    let positions = &collection.source.positions;
    Scene { instances, positions, arguments: &[], now: jiff::Timestamp::MIN, fetcher: None, restriction }
}

pub(super) struct Entries<'e> {
    pub(super) collection: &'e Collection,
    /// The field of the block key by which a row has an entry for each value.
    each_value: Option<usize>,
}

impl<'e> Entries<'e> {
    pub(super) fn new(schema: &Schema, collection: &'e Collection) -> Self {
        Self { collection, each_value: each_value(&schema.model.conceptual, collection) }
    }
}

impl Entries<'_> {
    fn of(
        &self,
        state: &dyn Instances,
        aggregate: &Aggregate,
        only: Option<&Identity>,
        out: &mut Rows,
    ) -> Result<(), Stop> {
        let Some(stored) = state.aggregate(aggregate.0, &aggregate.1)? else { return Ok(()) };
        let scene = scene(self.collection, state, None);
        let mut rows = scene.root(stored);
        if let Some(root) = only {
            let root = Value::Reference(root.clone());
            rows.retain(|row| *row.key(main_position()) == root);
        }
        for position in self.collection.source.positions.ids().skip(1) {
            let mut joined = Vec::new();
            each(rows, |row| scene.expand(row, position, &mut joined))?;
            rows = joined;
        }
        let rows = self.kept(&scene, rows)?;
        if let Contents::Nested(nodes) = &self.collection.contents {
            let rows = self.placed(&scene, rows)?;
            each(&rows, |row| self.nodes(&scene, row, nodes, &|_| true, out))?;
            return Ok(());
        }
        each(&rows, |row| self.entry(&scene, row, out))?;
        Ok(())
    }

    /// The rows for which the copy's condition holds.
    pub(super) fn kept(&self, scene: &Scene<'_>, rows: Vec<Row>) -> Result<Vec<Row>, Stop> {
        let kept = each(rows, |row| Ok(self.holds(scene, &row)?.then_some(row)))?;
        Ok(kept.into_iter().flatten().collect())
    }

    pub(super) fn holds(&self, scene: &Scene<'_>, row: &Row) -> Result<bool, Stop> {
        match &self.collection.source.condition {
            Some(condition) => Ok(fault!(CopyConditionIgnored) || scene.truth(condition, row)? == Some(true)),
            None => Ok(true),
        }
    }

    /// The entry of a row of a flat copy, or those of an index.
    pub(super) fn entry(&self, scene: &Scene<'_>, row: &Row, out: &mut Rows) -> Result<(), Stop> {
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
        let identity: Vec<Value> = row.keys().cloned().collect();
        if let Some(at) = self.each_value {
            let (before, several) = self.collection.block_key.split_at(at);
            let Some((several, behind)) = several.split_first() else { return Ok(()) };
            let single = |field: &KeyField| scene.single(&field.path, row);
            let before: Vec<Value> = each(before, single)?;
            let behind: Vec<Value> = each(behind, single)?;
            for held in scene.every(&several.path, row)? {
                let block = [before.as_slice(), &[held], &behind].concat();
                let key = RecordKey { block, sort: sort.clone(), row: identity.clone() };
                out.insert(key, content.clone());
                if fault!(IndexOfFirst) {
                    break;
                }
            }
            return Ok(());
        }
        let block = self.block(scene, row)?;
        out.insert(RecordKey { block, sort, row: identity }, content);
        Ok(())
    }

    pub(super) fn block(&self, scene: &Scene<'_>, row: &Row) -> Result<Vec<Value>, Stop> {
        let fields = self.collection.block_key.iter();
        fields.map(|field| scene.single(&field.path, row)).collect()
    }

    /// The nodes of a row at some positions: each under its position and the identities from the root to it.
    pub(super) fn nodes(
        &self,
        scene: &Scene<'_>,
        Placed { block, row }: &Placed,
        nodes: &Nodes,
        wanted: &dyn Fn(PositionId) -> bool,
        out: &mut Rows,
    ) -> Result<(), Stop> {
        for (position, node) in self.collection.source.positions.ids().zip(row.keys()) {
            // An outer position with nothing there has no node.
            if node.is_null() || !wanted(position) {
                continue;
            }
            let chain = self.collection.chain(position);
            let chain: Vec<Value> = chain.iter().map(|p| row.key(*p).clone()).collect();
            let mut content = RowContent::default();
            for path in nodes.fields.iter().filter(|path| path.position == position) {
                content.values.push(scene.selected(path, row)?);
            }
            if nodes.whole.contains(&position) {
                content.whole = Some(scene.whole(position, row)?);
            }
            out.insert(RecordKey::node(block.clone(), position, chain), content);
        }
        Ok(())
    }
}
