//! The methods that make a design of a model: the published ones, each as its paper has it where the paper is right,
//! and sound where it is not.
//!
//! A method proposes collections and says of each decision what it is and where it comes from. What its collections
//! alone cannot answer or keep, [`complete`] adds: masters, indexes. So every design answers every query and keeps
//! every write right, and what is the method's own can be told from what is not by [`Origin`](askloom_model::Origin).

mod around;
mod complete;
pub mod cost;
pub mod given;
pub mod kvmod;
pub mod noam;
mod not_yet;
mod progress;
mod prune;
pub mod qodm;

pub use complete::{questions, scans};
pub use not_yet::not_designed_yet;
pub use progress::{Progress, Stage};
pub use prune::needed;

use crate::native;
use askloom_model::{Design, Model};
use askloom_plan::cost::Costing;
use kvmod::merge::Threshold;
use serde::Serialize;

/// A way to get from a model to a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    Cost,
    Noam,
    Qodm,
    Kvmod,
    Given,
}

impl Method {
    pub const ALL: [Self; 5] = [Self::Cost, Self::Noam, Self::Qodm, Self::Kvmod, Self::Given];
    /// Those of the papers, and what the model declares.
    pub const PUBLISHED: [Self; 4] = [Self::Noam, Self::Qodm, Self::Kvmod, Self::Given];

    /// As it is called on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cost => "cost",
            Self::Noam => "noam",
            Self::Qodm => "qodm",
            Self::Kvmod => "kvmod",
            Self::Given => "given",
        }
    }

    /// What it does, in a sentence.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Cost => "chooses what costs least",
            Self::Noam => "keeps each aggregate in a block of its own and splits it by what is used together",
            Self::Qodm => "keeps together what is asked together, and ids of what is together elsewhere",
            Self::Kvmod => {
                "keeps a collection for each query, and makes one of those that are nearly the same"
            }
            Self::Given => "takes the collections that the model declares",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }
}

/// What a person may settle.
#[derive(Debug, Clone)]
pub struct Options {
    /// How much two collections of KVMod must share to become one.
    pub threshold: Threshold,
    /// What the choice by cost must be like.
    pub wishes: cost::Wishes,
    /// Who is told how far the choice by cost has come.
    pub progress: Progress,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threshold: Threshold::PUBLISHED,
            wishes: cost::Wishes::default(),
            progress: Progress::default(),
        }
    }
}

/// A design, and how it came about.
#[derive(Debug, Clone)]
pub struct Proposal {
    pub design: Design,
    pub decisions: Vec<Decision>,
    /// The collections in the paper's own terms.
    pub paper: Paper,
}

/// What a method settled, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// The class, query or collection that it is about.
    pub about: String,
    pub says: String,
    /// The place in a paper, or `askloom` for what the papers leave open.
    pub source: &'static str,
}

impl Decision {
    pub(crate) fn new(about: impl Into<String>, says: impl Into<String>, source: &'static str) -> Self {
        Self { about: about.into(), says: says.into(), source }
    }
}

/// What the paper of a method would print.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Paper {
    Cost(Box<cost::Report>),
    Noam(noam::Blocks),
    Qodm(qodm::Schema),
    Kvmod(kvmod::Logical),
    Given,
}

/// The design that a method makes of a model. The ends that tuple queries walk back have to be named before, by
/// [`name_ways_back`](askloom_plan::ask::name_ways_back).
#[must_use]
pub fn design(method: Method, model: &Model, costing: &Costing<'_>, options: &Options) -> Proposal {
    let mut proposal = match method {
        // It leaves nothing to be completed, and chooses what the store is to keep.
        Method::Cost => return cost::propose(model, costing, options),
        Method::Noam => noam::propose(model, costing),
        Method::Qodm => qodm::propose(model),
        Method::Kvmod => kvmod::propose(model, options.threshold),
        Method::Given => given::propose(model),
    };
    complete::complete(model, costing, &mut proposal);
    native::hand_over(model, costing, &mut proposal.design);
    proposal
}
