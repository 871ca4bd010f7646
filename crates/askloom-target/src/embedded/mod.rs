//! The embedded store: an ordered keyspace of bytes.

mod capability;
mod profile;

pub use capability::CAPABILITY;
pub use profile::PROFILE;
pub(crate) use profile::{CLIENT, IN_REQUESTS};

use askloom_plan::cost::Costing;

/// What plans on the embedded store are made for.
#[must_use]
pub fn costing() -> Costing<'static> {
    Costing::new(&CAPABILITY, &PROFILE)
}
