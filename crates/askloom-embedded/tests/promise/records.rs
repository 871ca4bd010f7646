//! Every record of a store's tables, through JSON, and back: nothing may differ.

use askloom_embedded::{KeyedSchema, KeyspaceRecords, Memory};
use askloom_engine::RunError;
use askloom_engine::source::{BlockState, Records, Source, carried_by, every};
use askloom_model::{AccessPath, CollectionId, Contents, Identity, Role, Value};
use askloom_plan::layout::{Block, Entry, Fields, Layout};
use askloom_plan::program::{How, Read};
use std::collections::BTreeSet;

/// The error says what differs.
pub(crate) fn check(schema: &KeyedSchema, keyspace: &Memory) -> Result<(), String> {
    let source = KeyspaceRecords { schema, keyspace };
    for (id, collection) in schema.design.collections.iter() {
        match &collection.contents {
            Contents::Aggregate(_) => blocks(&source, id, &identities(schema, keyspace, id))?,
            // What a master carries is in its blocks.
            Contents::Fields(_) if collection.role == Role::Carried => {}
            Contents::Fields(_) | Contents::Nested(_) => rows(&source, id)?,
        }
    }
    Ok(())
}

fn blocks(
    source: &KeyspaceRecords<'_>,
    master: CollectionId,
    identities: &BTreeSet<Identity>,
) -> Result<(), String> {
    let schema = source.schema;
    let root = schema.design.collections[master].source.root;
    for identity in identities {
        let state = source.block(root, identity).map_err(|stop| RunError::from(stop).to_string())?;
        let told = |why: RunError| format!("{why}: {state:?}");
        let mut block = state.block(schema, master, identity).map_err(told)?.ok_or("no block")?;
        block.carried =
            carried_by(source, master, identity).map_err(|stop| RunError::from(stop).to_string())?;
        let stored =
            through_json(schema.layout(), master, &block).map_err(|why| format!("{why}: {block:?}"))?;
        let back = BlockState::of_block(schema, master, &stored).map_err(told)?;
        if (&stored.identity, &back, &stored.carried) != (identity, &state, &block.carried) {
            return Err(format!(
                "{identity:?} was {state:?} and came back as {back:?} of {:?}",
                stored.identity
            ));
        }
    }
    Ok(())
}

/// Of all blocks that have any key: those of the deleted, too.
fn identities(schema: &KeyedSchema, keyspace: &Memory, master: CollectionId) -> BTreeSet<Identity> {
    let number = schema.number(master).to_be_bytes();
    let own = keyspace.keys().filter(|key| key.starts_with(&number));
    own.map(|key| schema.master_key(master).split(key).unwrap().0).collect()
}

fn rows(source: &KeyspaceRecords<'_>, copy: CollectionId) -> Result<(), String> {
    let (schema, collection) = (source.schema, &source.schema.design.collections[copy]);
    let table = schema.table(copy);
    let mut entries: Vec<Entry> = Vec::new();
    let read = every(source, &Read::new(copy, How::All), |records| {
        if let Records::Entries(found) = records {
            entries.extend(found.iter().cloned());
        }
        Ok(true)
    });
    read.map_err(|stop| RunError::from(stop).to_string())?;
    for entry in entries {
        let cells = cells_through_json(schema.layout(), copy, &table.cells(collection, &entry));
        let back = cells.and_then(|cells| table.entry(collection, &cells).map_err(|error| error.0));
        if back.as_ref() != Ok(&entry) {
            return Err(format!("{entry:?} came back as {back:?}"));
        }
    }
    Ok(())
}

fn through_json(layout: &Layout, id: CollectionId, block: &Block) -> Result<Block, String> {
    let table = layout.table(id).ok_or("no table")?;
    let cells = cells_through_json(layout, id, &layout.block_cells(table, block))?;
    let class = layout.class_name(table, block).map(str::to_owned);
    let (identity, root) = layout.root(table, &cells, class.as_deref()).map_err(|error| error.0)?;
    let mut entries = std::collections::BTreeMap::new();
    for (path, value) in &block.entries {
        let json = layout.entry_tree(table, path, value).to_json();
        let path: AccessPath = path.to_string().parse().map_err(|error| format!("{error}"))?;
        let value = layout.entry_value(table, &path, &json).map_err(|error| error.0)?;
        entries.insert(path, value);
    }
    let root = block.fields.root.as_ref().map(|_| root);
    let system = block.system.clone();
    let (version, expires, fields) = (block.version, block.expires.clone(), Fields { root });
    let carried = layout.carried(table, &cells, &fields).map_err(|error| error.0)?;
    Ok(Block { identity, version, system, fields, entries, carried, expires })
}

fn cells_through_json(
    layout: &Layout,
    id: askloom_model::CollectionId,
    cells: &[Value],
) -> Result<Vec<Value>, String> {
    let table = layout.table(id).ok_or("no table")?;
    let pairs = table.columns.iter().zip(cells);
    let through = |(column, cell): (&askloom_plan::layout::Column, &Value)| {
        let json = column.tree(&layout.conceptual, cell).to_json();
        if column.is_key() && !column.optional && json.is_null() {
            return Err(format!("the key `{}` of {} is null", column.name, table.name));
        }
        column.from_json(&layout.conceptual, &json).map_err(|error| format!("{}: {}", column.name, error.0))
    };
    pairs.map(through).collect()
}
