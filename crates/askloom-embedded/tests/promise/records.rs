//! Every keyspace as the records of a store's tables, through JSON, and back: not a byte may differ.

use askloom_embedded::{KeyedSchema, Memory, records};
use askloom_model::{AccessPath, Value};
use askloom_plan::layout::{Block, Fields, Layout};
use askloom_target::generate::Sample;

/// The error says what differs.
pub(crate) fn check(schema: &KeyedSchema, keyspace: &Memory) -> Result<(), String> {
    let layout = Layout::new(&schema.model.conceptual, &schema.design);
    let all = records::from_keyspace(schema, &layout, keyspace).map_err(|error| error.to_string())?;
    let mut back = Memory::new();
    for record in &all {
        let stored = through_json(&layout, record).map_err(|error| format!("{error}\n{record:?}"))?;
        records::into_keyspace(schema, &layout, &stored, &mut back)
            .map_err(|error| format!("{error}\n{record:?}"))?;
    }
    let number = |key: &[u8]| key.get(..4).map(<[u8]>::to_vec);
    let own = |key: &&Vec<u8>| {
        schema
            .design
            .collections
            .ids()
            .any(|id| number(key) == Some(schema.number(id).to_be_bytes().to_vec()))
    };
    for key in keyspace.keys().filter(own) {
        if keyspace.get(key) != back.get(key) {
            let (was, is) = (keyspace.get(key), back.get(key));
            return Err(format!("as a record {key:?} was {was:?} and came back as {is:?}"));
        }
    }
    match back.keys().find(|key| !keyspace.contains_key(*key)) {
        Some(key) => Err(format!("records make a key that was not there: {key:?}")),
        None => Ok(()),
    }
}

fn through_json(layout: &Layout, record: &Sample) -> Result<Sample, String> {
    match record {
        Sample::Row { table, cells } => {
            Ok(Sample::Row { table: *table, cells: cells_through_json(layout, *table, cells)? })
        }
        Sample::Block { table: id, block } => {
            let table = layout.table(*id).ok_or("no table")?;
            let cells = cells_through_json(layout, *id, &layout.block_cells(table, block))?;
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
            let block = Block { identity, version, system, fields, entries, carried, expires };
            Ok(Sample::Block { table: *id, block: Box::new(block) })
        }
    }
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
