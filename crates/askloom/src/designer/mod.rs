//! A model with all that designs are made by: proposals of methods, documents of them, what changed since the saved
//! one, cost against storage. Pure: whoever shows it reads and writes the files.

mod changes;
mod comparison;
mod curve;
mod unmet;

pub use comparison::Cheaper;
pub use curve::{Curve, RateRanges};

use crate::document::{Document, Subject};
use crate::error::Error;
use crate::pricing::Pricing;
use crate::project::CostChoice;
use askloom_design::method::cost::{Study, Wishes};
use askloom_design::method::kvmod::merge::Threshold;
use askloom_design::method::{self, Method, Options, Paper, Progress, Proposal};
use askloom_lang::{Checked, Sources};
use askloom_model::{Design, Model, Share};
use askloom_plan::ask;
use askloom_target::Target;

/// What somebody wants designs by.
#[derive(Debug, Clone)]
pub struct DesignerOptions {
    /// The store by its name; without it what the project says.
    pub target: Option<String>,
    pub costs: CostChoice,
    /// One of the model's workloads instead of the rates of its statements.
    pub workload: Option<String>,
    pub method: Method,
    /// For kvmod: how much two collections must share to become one, in percent.
    pub threshold: Option<u32>,
    pub wishes: Wishes,
}

impl Default for DesignerOptions {
    fn default() -> Self {
        Self {
            target: None,
            costs: CostChoice::default(),
            workload: None,
            method: crate::project::DEFAULT_METHOD,
            threshold: None,
            wishes: Wishes::default(),
        }
    }
}

/// A model ready to be designed for a store.
#[derive(Debug)]
pub struct Designer {
    /// What documents call the model.
    pub name: String,
    pub model: Model,
    pub target: &'static Target,
    sources: Sources,
    pricing: Pricing,
    /// The method that was asked for.
    pub method: Method,
    options: Options,
}

impl Designer {
    /// `checked` is a model that [`designable`](crate::project::designable) has let through.
    pub fn new(
        name: String,
        checked: Checked,
        target: &'static Target,
        pricing: Pricing,
        options: DesignerOptions,
    ) -> Result<Self, Error> {
        let Checked { mut model, sources, .. } = checked;
        ask::name_ways_back(&mut model);
        if let Some(name) = &options.workload {
            rated(&mut model, name)?;
        }
        let threshold = options.threshold.and_then(Threshold::percent).unwrap_or(Threshold::PUBLISHED);
        Ok(Self {
            name,
            model,
            target,
            sources,
            pricing,
            method: options.method,
            options: Options { threshold, wishes: options.wishes, ..Options::default() },
        })
    }

    /// What a method makes of the model.
    #[must_use]
    pub fn proposal(&self, method: Method, progress: &Progress) -> Proposal {
        method::design(method, &self.model, &self.pricing.costing(), &self.watched(progress))
    }

    /// The options, with somebody who is told how far it has come.
    fn watched(&self, progress: &Progress) -> Options {
        Options { progress: progress.clone(), ..self.options.clone() }
    }

    /// The design by the method that was asked for, if it is as it was wanted. Its decisions say what is different
    /// from the saved one.
    pub fn asked(
        &self,
        saved: impl FnOnce() -> Result<Option<Design>, Error>,
        progress: &Progress,
    ) -> Result<Proposal, Error> {
        let mut proposal = self.proposal(self.method, progress);
        unmet::met(&proposal.paper)?;
        if self.method == Method::Cost
            && let Some(saved) = saved()?
        {
            // Right behind what the design is.
            let changes = self.since(&saved, &proposal);
            let place = proposal.decisions.len().min(1);
            proposal.decisions.splice(place..place, changes);
        }
        Ok(proposal)
    }

    /// The document of a proposal.
    #[must_use]
    pub fn document(&self, proposal: &Proposal) -> Document {
        self.subject(proposal).document()
    }

    /// The same with sample data and the comparison of all methods: all that a page shows.
    #[must_use]
    pub fn whole_document(&self, proposal: &Proposal, progress: &Progress) -> Document {
        let comparison = Some(self.comparison(progress));
        Document { comparison, ..self.subject(proposal).with_sample() }
    }

    /// The choice by cost as a programme in the LP format.
    pub fn lp(&self, progress: &Progress) -> Result<String, Error> {
        let costing = self.pricing.costing();
        let study = Study::new(&self.model, &costing, &self.watched(progress));
        study.lp(&self.options.wishes).map_err(|unmet| unmet::error(&unmet))
    }

    fn subject<'s>(&'s self, proposal: &'s Proposal) -> Subject<'s> {
        Subject {
            file: &self.name,
            model: &self.model,
            sources: &self.sources,
            design: &proposal.design,
            decisions: &proposal.decisions,
            paper: &proposal.paper,
            target: self.target,
            pricing: &self.pricing,
        }
    }
}

/// A design that was made before, as a proposal that nobody gives reasons for.
#[must_use]
pub fn as_proposal(design: Design) -> Proposal {
    Proposal { design, decisions: Vec::new(), paper: Paper::Given }
}

/// The rates of a workload in place of those of the statements; what it does not name is not done.
fn rated(model: &mut Model, name: &str) -> Result<(), Error> {
    let Some(mix) = model.mixes.iter().find(|mix| mix.name == name) else {
        let known: Vec<&str> = model.mixes.iter().map(|mix| mix.name.as_str()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(Error::Call(format!("there is no workload `{name}`; the model has {known}")));
    };
    let rate = |statement: &str| {
        let entry = mix.entries.iter().find(|entry| entry.statement == statement);
        Some(entry.map_or(0.0, |entry| match entry.share {
            Share::Weight(weight) => weight,
            Share::PerSecond(rate) => rate,
        }))
    };
    let workload = &mut model.workload;
    let queries = workload.queries.iter_mut().map(|query| &mut query.header);
    let asks = workload.asks.iter_mut().map(|ask| &mut ask.header);
    for header in queries.chain(asks).chain(workload.writes.iter_mut().map(|write| &mut write.header)) {
        header.rate = rate(&header.name);
    }
    Ok(())
}
