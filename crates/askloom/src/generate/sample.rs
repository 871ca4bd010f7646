//! Made-up records for the tables of a store.

use crate::document::sample::Made;
use crate::error::Error;
use askloom_embedded::KeyspaceRecords;
use askloom_engine::source::{BlockState, Records, Source, carried_by, every};
use askloom_engine::{RunError, Stop};
use askloom_model::{CollectionId, Design, Identity, Model, Role};
use askloom_plan::program::{How, Read};
use askloom_target::generate::Sample;
use std::sync::Arc;

/// A few instances of each class, with every copy of them.
pub(super) fn records(model: &Model, design: &Design) -> Result<Vec<Sample>, Error> {
    // What expires would have done so long ago if it had been made at the clock of other samples.
    let expires = model.conceptual.classes.ids().any(|class| model.conceptual.ttl(class).is_some());
    let made =
        if expires { Made::at(model, design, jiff::Timestamp::now()) } else { Made::new(model, design) };
    let source = KeyspaceRecords { schema: &made.schema, keyspace: &made.keyspace };
    let mut all = Vec::new();
    for table in design.collections.ids() {
        table_records(&source, table, &mut all)
            .map_err(|stop| Error::Input(RunError::from(stop).to_string()))?;
    }
    Ok(all)
}

fn table_records(source: &dyn Source, table: CollectionId, all: &mut Vec<Sample>) -> Result<(), Stop> {
    // What a master carries is in its records.
    if source.schema().design.collections[table].role == Role::Carried {
        return Ok(());
    }
    every(source, &Read::new(table, How::All), |records| {
        match records {
            Records::Entries(entries) => {
                let collection = &source.schema().design.collections[table];
                let cells = |entry| source.schema().table(table).cells(collection, entry);
                all.extend(entries.iter().map(|entry| Sample::Row { table, cells: cells(entry) }));
            }
            Records::Aggregates(found) => {
                for (identity, stored) in found.iter() {
                    all.extend(block(source, table, identity, &BlockState::Live(Arc::clone(stored)))?);
                }
            }
        }
        Ok(true)
    })
}

fn block(
    source: &dyn Source,
    table: CollectionId,
    identity: &Identity,
    state: &BlockState,
) -> Result<Option<Sample>, Stop> {
    let Some(mut block) = state.block(source.schema(), table, identity)? else { return Ok(None) };
    block.carried = carried_by(source, table, identity)?;
    Ok(Some(Sample::Block { table, block: Box::new(block) }))
}
