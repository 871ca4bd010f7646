//! The embedded store: an ordered keyspace of bytes.

mod block;
mod capability;
mod entry;
mod layout;
mod profile;

pub use block::{BlockEntry, MasterKey};
pub use capability::CAPABILITY;
pub use entry::{Names, decode_entry, encode_entry};
pub use layout::{EntryKey, block_prefix, entry_key, split_entry};
pub use profile::PROFILE;
pub(crate) use profile::{CLIENT, IN_REQUESTS};

use askloom_plan::cost::Costing;

/// What plans on the embedded store are made for.
#[must_use]
pub fn costing() -> Costing<'static> {
    Costing::new(&CAPABILITY, &PROFILE)
}
