//! Blocks that are asked for, or written, more often than a store can serve one block.
//!
//! Keys are taken to be asked for evenly: what a collection has to serve is shared by its blocks. So what is found is too
//! hot even then; a collection with few blocks is where that happens.

use crate::method::questions;
use askloom_model::{
    Capability, CollectionId, Design, Estimate, Fact, Header, Heat, Id, Model, Plan, StepOf, WritePlan,
};
use askloom_plan::cost::{Costing, Sizes};
use askloom_plan::planner::{self, is_behind};

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
    let mut loads = Loads::new(costing.capability, design, most.value);
    for query in &questions(model) {
        let Some(plan) = planner::plan(costing, &model.conceptual, design, query) else { continue };
        loads.read(&plan, rate(&query.header));
    }
    for write in &model.workload.writes {
        let Ok(plan) = planner::write::plan(costing, model, design, write) else { continue };
        plan.steps.iter().for_each(|step| loads.read(&step.find, rate(&write.header)));
        loads.write(&plan, rate(&write.header));
    }
    let statistics = costing.statistics(&model.conceptual);
    let sizes = Sizes { statistics: &statistics, design };
    let loads = loads.reads.into_iter().zip(loads.writes);
    let mut loads: Vec<(f64, f64)> = loads.collect();
    // Partitions of several classes have what is asked of all of them.
    let shared = design.collections.ids().filter(|_| costing.capability.shares_tables);
    for (other, first) in shared.filter_map(|id| Some((id, design.partition_of(id)?))) {
        let (reads, writes) = loads.get_mut(other.index()).map(std::mem::take).unwrap_or_default();
        if let Some(load) = loads.get_mut(first.index()) {
            *load = (load.0 + reads, load.1 + writes);
        }
    }
    let found = design.collections.ids().zip(loads).map(|(collection, (reads, writes))| {
        let blocks = sizes.partitions(collection).max(1.0);
        Hot { collection, reads: reads / blocks, writes: writes / blocks, most }
    });
    let (reads, writes) = (f64::from(most.value.reads), f64::from(most.value.writes));
    found.filter(|hot| hot.reads > reads || hot.writes > writes).collect()
}

/// The units a second that are written to each collection of a design, in all its blocks.
pub(crate) fn written(model: &Model, costing: &Costing<'_>, design: &Design) -> Vec<f64> {
    let Some(most) = costing.capability.limits.heat else { return Vec::new() };
    let mut loads = Loads::new(costing.capability, design, most.value);
    for write in &model.workload.writes {
        if let Ok(plan) = planner::write::plan(costing, model, design, write) {
            loads.write(&plan, rate(&write.header));
        }
    }
    loads.writes
}

fn rate(header: &Header) -> f64 {
    header.rate.unwrap_or(1.0)
}

/// Units a second, by collection.
struct Loads<'l> {
    capability: &'l Capability,
    design: &'l Design,
    heat: Heat,
    reads: Vec<f64>,
    writes: Vec<f64>,
}

impl<'l> Loads<'l> {
    fn new(capability: &'l Capability, design: &'l Design, heat: Heat) -> Self {
        let nothing = vec![0.0; design.collections.len()];
        Self { capability, design, heat, reads: nothing.clone(), writes: nothing }
    }

    fn read(&mut self, plan: &Plan, rate: f64) {
        for plan in plan.all() {
            let units = rate * self.units_read(plan);
            let slot = self.reads.get_mut(Id::index(plan.access.collection));
            slot.into_iter().for_each(|load| *load += units);
        }
    }

    /// The units that the first step of a plan reads.
    fn units_read(&self, plan: &Plan) -> f64 {
        let access = plan.steps.iter().find(|step| step.of == StepOf::Access);
        let units = access.map_or(0.0, |step| {
            (step.estimate.bytes / f64::from(self.heat.read_bytes)).ceil().max(step.estimate.requests)
        });
        match is_behind(self.capability, self.design, plan.access.collection) {
            true => units * self.heat.lagging,
            false => units,
        }
    }

    fn write(&mut self, plan: &WritePlan, rate: f64) {
        for step in &plan.steps {
            self.written(step.master.collection, rate, &step.master.estimate);
            for copy in &step.copies {
                self.written(copy.collection, rate, &copy.estimate);
            }
        }
    }

    fn written(&mut self, id: CollectionId, rate: f64, estimate: &Estimate) {
        let bytes = f64::from(self.heat.write_bytes);
        let each = (estimate.written / estimate.puts.max(1.0) / bytes).ceil().max(1.0);
        let units = rate * (estimate.puts * each + estimate.deletes);
        self.writes.get_mut(Id::index(id)).into_iter().for_each(|load| *load += units);
    }
}
