//! The embedded store: an ordered keyspace of bytes.

mod capability;
mod codec;
mod decimal;
mod layout;
mod profile;

pub use capability::CAPABILITY;
pub use codec::{DecodeError, Names, decode, decode_record, encode, encode_descending, encode_record};
pub use layout::{EntryKey, block_prefix, entry_key, master_entry, master_prefix, prefix_end, split_entry};
pub(crate) use profile::CLIENT;
pub use profile::PROFILE;
