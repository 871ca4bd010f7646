//! Apache HBase.

mod capability;
mod emit;
mod key;
mod limit;
mod profile;
mod read;
mod record;
mod schema;
#[cfg(test)]
mod tests;
mod value;
mod write;

pub use capability::CAPABILITY;
pub use emit::HBase;
pub use key::{Key, LONGEST, Part, Slot, row_key, split};
pub use profile::PROFILE;
pub use read::{Limit, Request, Rows, Scan, request};
pub use record::{Row, record};
pub use schema::{HColumn, HTable, tables};
pub use value::{Cell, Packing};
pub use write::{Bound, Check, Mutation, Repeated, mutations};
