//! The vocabulary that every other crate of Askloom speaks.
//!
//! - [`Span`], [`Diagnostic`] and [`Code`]: what is said to a person about their text;
//! - [`Conceptual`]: entities, value objects, attributes and relationships;
//! - [`Workload`]: queries and writes, resolved to positions and paths, with rates;
//! - [`Model`]: all of it together, which is what the language produces and the methods read;
//! - [`Design`], [`Plan`] and [`WritePlan`]: what is stored where, and how statements are answered over it;
//! - [`Capability`] and [`Profile`]: what a store can do, and what it costs.
//!
//! Nothing here reads a file, a clock or a network, and nothing here decides anything: these are values.

mod access_path;
mod code;
mod conceptual;
mod constant;
mod design;
mod diagnostic;
mod facts;
pub mod faults;
mod homes;
mod identity_part;
mod ids;
mod index;
mod integrity;
mod join;
mod master_key;
mod plain;
mod plan;
mod profile;
mod reach;
mod rules;
mod span;
mod types;
mod value;
mod workload;
mod write_plan;

pub use access_path::{AccessPath, AccessStep, NoPath};
pub use code::{Code, Severity};
pub use conceptual::*;
pub use constant::Constant;
pub use design::*;
pub use diagnostic::{Applicability, Diagnostic, Diagnostics, Edit, Fix, Label};
pub use facts::Said;
pub use homes::{Home, HomePlace};
pub use identity_part::{Derivation, IdentityPart};
pub use ids::*;
pub use index::IndexTerm;
pub use integrity::{Integrity, OnDelete};
pub use join::{JoinError, join};
pub use master_key::{MasterField, identity_by_key};
pub use plan::*;
pub use profile::*;
pub use reach::Reach;
pub use rules::*;
pub use span::{FileId, Span};
pub use types::{Precision, Type};
pub use value::*;
pub use workload::*;
pub use write_plan::*;

use serde::Serialize;

/// A checked model: what is stored, what is asked, and the rules that designs must respect.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Model {
    pub conceptual: Conceptual,
    pub workload: Workload,
    pub invariants: Vec<Invariant>,
    pub representations: Vec<Representation>,
    /// Collections that exist already and that the model declares.
    pub given: Vec<GivenCollection>,
    /// Collections that say more than which rows they hold: masters, buckets of time, several classes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub declared: Vec<DeclaredCollection>,
    /// Named mixes of statements.
    pub mixes: Vec<Mix>,
}
