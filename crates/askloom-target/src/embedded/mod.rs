//! The embedded store: an ordered keyspace of bytes.

mod block;
mod capability;
mod codec;
mod decimal;
mod layout;
mod profile;

pub use block::{BlockEntry, MasterKey};
pub use capability::CAPABILITY;
pub use codec::{
    DecodeError, Names, decode, decode_descending, decode_entry, encode, encode_descending, encode_entry,
};
pub use layout::{EntryKey, block_prefix, entry_key, prefix_end, split_entry};
pub use profile::PROFILE;
pub(crate) use profile::{CLIENT, IN_REQUESTS};
