//! Redis, one node, without its search module.

mod capability;
mod profile;

pub use capability::CAPABILITY;
pub use profile::PROFILE;
