//! Runs statements on any store: queries and writes are evaluated over a [`source`] that may lack something, and a
//! [`driver`] fetches what it lacks and applies what was worked out.
//!
//! - [`source`]: typed records of one state of a store, or the word that something is missing;
//! - [`execute`]: a query's program, evaluated chunk by chunk;
//! - [`write`]: what a write changes, with every copy kept right;
//! - [`driver`]: the seam of a store, and the engine on top of it;
//! - [`intents`]: the protocol for stores where only one block is atomic.
//!
//! Pure but for drivers, and in no store's bytes.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a value has eighteen kinds, and each place here is about the few that nest or refer"
)]

mod changes;
pub mod driver;
pub mod execute;
pub mod expiry;
mod instances;
pub mod intents;
mod key_range;
pub mod place;
mod run_error;
mod schema;
pub mod source;
mod stop;
mod system;
pub mod write;

pub use changes::{BlockAfter, Changes, RecordKey, RowContent, Rows, SortValue};
pub use instances::{Aggregate, Changed, Held, Instances, Overlay, PlannedInstances, Reader, Stored, Visit};
pub use key_range::{FieldBounds, KeyRange};
pub use run_error::RunError;
pub use schema::Schema;
pub use stop::Stop;
pub use system::System;
