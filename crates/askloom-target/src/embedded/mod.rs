//! The embedded store: an ordered keyspace of bytes.

mod block;
mod codec;
mod decimal;
mod layout;

pub use block::{BlockEntry, master_entry, master_prefix, split_master, system_entry};
pub use codec::{
    DecodeError, Names, decode, decode_entry, decode_record, encode, encode_descending, encode_entry,
    encode_record,
};
pub use layout::{EntryKey, block_prefix, entry_key, prefix_end, split_entry};
