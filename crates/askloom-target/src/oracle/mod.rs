//! Oracle NoSQL Database, by its key-value API: what is printed here has never been run.

mod capability;
mod emit;
mod key;
mod limit;
mod paper;
mod profile;
mod read;
mod schema;
#[cfg(test)]
mod tests;
mod value;
mod write;

pub use capability::CAPABILITY;
pub use emit::Oracle;
pub use key::{Component, Key, component};
pub use profile::PROFILE;
pub use read::{Bound, KeyRange, Request, request};
pub use schema::{Pairs, Root, definitions, pairs};
pub use write::{Held, Operation, Repeated, sample, transactions};
