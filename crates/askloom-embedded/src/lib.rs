//! The embedded store: a folder that needs no server, survives a kill at any instant, and keeps every copy right.
//!
//! - [`codec`]: keys and values as bytes;
//! - [`store`]: an ordered keyspace of bytes on disk, with checked batches;
//! - [`keyspace`]: records of a design on such a keyspace;
//! - [`database`]: a model and its design on a store: queries, writes, filling, verifying, sweeping;
//! - [`bulk`]: data in and out;
//! - [`one_block`]: the protocol for stores where one block is atomic, simulated on a keyspace.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a value has eighteen kinds, and each place here is about the few that nest or refer"
)]

mod block;
pub mod bulk;
pub mod codec;
pub mod database;
mod driver;
pub mod keyspace;
pub mod one_block;
mod schema;
pub mod store;

pub use keyspace::{Block, Keyspace, KeyspaceRecords, Layered, Memory, Puts, Reads, Recorded, Visit};
pub use schema::KeyedSchema;
