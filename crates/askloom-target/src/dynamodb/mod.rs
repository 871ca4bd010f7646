//! Amazon DynamoDB.

mod capability;
mod definition;
mod emit;
mod expiry;
mod expression;
mod index;
mod item;
mod json;
mod key;
mod limit;
mod paper;
mod profile;
mod read;
mod schema;
mod settings;
mod shared_table;
mod value;
mod write;

pub use capability::CAPABILITY;
pub use emit::DynamoDb;
pub use index::{IndexOf, Own, Projection};
pub use item::{Item, item_from_json, items, samples, too_large};
pub use key::{Order, item_path, item_text};
pub use profile::{PRICES, PROFILE};
pub use read::{Bound, Cells, Indexed, Request, Test, repeated, request};
pub use schema::{Attribute, DynamoTable, Entries, Key, KeyKind, Scalar, Stamps, System, tables};
pub use settings::{Billing, Settings};
pub use value::Dynamo;
pub use write::{Only, Repeated, Write, puts, writes};
