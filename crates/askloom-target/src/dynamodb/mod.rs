//! Amazon DynamoDB.

mod capability;
mod profile;

pub use capability::CAPABILITY;
pub use profile::PROFILE;
