//! MongoDB, a replica set.

mod bson;
mod capability;
mod decode;
mod emit;
mod index;
mod limit;
mod names;
mod profile;
mod read;
mod schema;
mod text;
mod value;
mod write;

pub use bson::{Bson, Document};
pub use capability::CAPABILITY;
pub use decode::sample as decode;
pub use emit::MongoDb;
pub use index::IndexOf;
pub use profile::PROFILE;
pub use read::{Find, find};
pub use schema::{Kind, MongoCollection, MongoField, System, collections};
pub use write::{Command, Repeated, commands, sample};
