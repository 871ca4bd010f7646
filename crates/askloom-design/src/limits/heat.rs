//! Blocks that are asked for, or written, more often than a store can serve one block.
//!
//! Keys are taken to be asked for evenly: what a collection has to serve is shared by its blocks. So what is found is too
//! hot even then; a collection with few blocks is where that happens.

use crate::cost::{Costing, Sizes};
use crate::method::questions;
use crate::plan;
use askloom_model::{CollectionId, Design, Fact, Header, Heat, Model, Plan, StepOf, WriteEstimate};

/// A collection whose blocks are too hot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hot {
    pub collection: CollectionId,
    /// Units a second of one block.
    pub reads: f64,
    pub writes: f64,
    pub most: Fact<Heat>,
}

impl Hot {
    /// In words.
    #[must_use]
    pub fn text(&self) -> String {
        let Self { reads, writes, most, .. } = self;
        let mut parts = Vec::new();
        if *reads > f64::from(most.value.reads) {
            parts.push(format!("{reads:.0} of {} reads", most.value.reads));
        }
        if *writes > f64::from(most.value.writes) {
            parts.push(format!("{writes:.0} of {} writes", most.value.writes));
        }
        format!("one partition key would have to serve {} a second", parts.join(" and "))
    }
}

/// The collections of a design whose blocks are too hot for the store.
#[must_use]
pub fn hot(model: &Model, costing: &Costing<'_>, design: &Design) -> Vec<Hot> {
    let Some(most) = costing.capability.limits.heat else { return Vec::new() };
    let mut loads: Vec<(f64, f64)> = vec![(0.0, 0.0); design.collections.len()];
    let mut add = |id: CollectionId, reads: f64, writes: f64| {
        let slot = loads.get_mut(askloom_model::Id::index(id));
        slot.into_iter().for_each(|load| *load = (load.0 + reads, load.1 + writes));
    };
    let rate = |header: &Header| header.rate.unwrap_or(1.0);
    for query in &questions(model) {
        let Some(plan) = plan::plan_for(costing, &model.conceptual, design, query) else { continue };
        for plan in plan.all() {
            add(plan.access.collection, rate(&query.header) * read(plan, &most.value), 0.0);
        }
    }
    for write in &model.workload.writes {
        let Ok(plan) = plan::write::plan(costing, model, design, write) else { continue };
        let rate = rate(&write.header);
        for step in &plan.steps {
            for find in step.find.all() {
                add(find.access.collection, rate * read(find, &most.value), 0.0);
            }
            add(step.master.collection, 0.0, rate * written(&step.master.estimate, &most.value));
            for copy in &step.copies {
                add(copy.collection, 0.0, rate * written(&copy.estimate, &most.value));
            }
        }
    }
    let statistics = costing.statistics(&model.conceptual);
    let sizes = Sizes { statistics: &statistics, design };
    let found = design.collections.ids().zip(loads).map(|(collection, (reads, writes))| {
        let blocks = sizes.blocks(collection).max(1.0);
        Hot { collection, reads: reads / blocks, writes: writes / blocks, most }
    });
    let (reads, writes) = (f64::from(most.value.reads), f64::from(most.value.writes));
    found.filter(|hot| hot.reads > reads || hot.writes > writes).collect()
}

/// The units that the first step of a plan reads.
fn read(plan: &Plan, heat: &Heat) -> f64 {
    let access = plan.priced.steps.iter().find(|step| step.of == StepOf::Access);
    access.map_or(0.0, |step| {
        (step.estimate.bytes / f64::from(heat.read_bytes)).ceil().max(step.estimate.requests)
    })
}

fn written(estimate: &WriteEstimate, heat: &Heat) -> f64 {
    let each = (estimate.written / estimate.puts.max(1.0) / f64::from(heat.write_bytes)).ceil().max(1.0);
    estimate.puts * each + estimate.deletes
}
