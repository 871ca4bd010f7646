//! Apache Cassandra.

mod capability;
mod emit;
mod index;
mod limit;
mod profile;
mod read;
mod schema;
mod shared_table;
mod value;
mod write;

pub use capability::CAPABILITY;
pub use emit::Cassandra;
pub use index::IndexOf;
pub use profile::PROFILE;
pub use read::{Bound, Condition, Select, select};
pub use schema::{CqlColumn, CqlTable, Kind, System, tables};
pub use value::Cql;
pub use write::{Mutation, Repeated, mutations};
