//! What a query and a write mean.
//!
//! The oracle is the definition that every design, plan and store is measured against: conceptual data in
//! memory, and the meaning of a statement written down as directly as it can be. Joins are nested loops, the
//! other end of a relationship is found by looking at every record, a write works on a copy and checks the
//! whole of it afterwards. It has no index, plans nothing, and shares no code with what does.
//!
//! ```text
//! State ── query(&Query) ──► rows      positions → WHERE → GROUP BY → ORDER BY → PER → LIMIT → columns
//!       ── page(&Query) ───► a page and a continuation
//!       ── ask(&Ask) ──────► tuples
//!       ── write(&Write) ──► Outcome, or a WriteError and nothing has changed
//!       ── store, delete ──► whole aggregates, as `load` and the mapper write them
//! ```
//!
//! The clock and every made value (uuids) are inputs, so an answer depends on nothing else.
//!
//! [`generate`] makes data that follows the statistics of a model.

mod address;
mod ask;
mod breach;
mod condition;
mod error;
pub mod generate;
mod group;
mod identity;
mod limit;
mod node;
mod number;
mod order;
mod page;
mod parameters;
mod path;
mod query;
mod random;
mod rows;
mod state;
mod tree;
mod ttl;
mod view;
mod words;
mod write;

pub use breach::Breach;
pub use error::QueryError;
pub use identity::NodeIdentity;
pub use page::{Continuation, Page};
pub use parameters::Parameters;
pub use query::{IdentifiedRow, Row};
pub use random::Random;
pub use state::{Instance, State};
pub use write::{Inputs, Outcome, Stopped, WriteError, uuids_needed};
