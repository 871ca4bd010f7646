//! The embedded store: an ordered keyspace of bytes.

mod codec;
mod decimal;
mod layout;

pub use codec::{DecodeError, Names, decode, decode_record, encode, encode_descending, encode_record};
pub use layout::{EntryKey, block_prefix, entry_key, master_entry, master_prefix, prefix_end, split_entry};
