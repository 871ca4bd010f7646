//! Redis: one node, one node with its search module, and a cluster.

mod capability;
mod command;
mod emit;
mod limit;
mod paper;
mod profile;
mod read;
mod record;
mod schema;
mod value;
mod write;

#[cfg(test)]
mod tests;

pub use capability::{CAPABILITY, CLUSTER_CAPABILITY, SEARCH_CAPABILITY};
pub use command::{Arg, Command, Piece};
pub use emit::{FUNCTIONS, Redis};
pub use profile::{CLUSTER_PROFILE, PROFILE, SEARCH_PROFILE};
pub use read::command as read_command;
pub use record::Hash;
pub use schema::{Flavour, Index, Kind, Number, RedisColumn, RedisTable, Shadow, tables};
pub use write::{Call, Repeated, calls, sample};
