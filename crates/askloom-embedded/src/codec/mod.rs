//! Keys and values of the embedded store as bytes.

mod block;
mod entry;
mod key;

pub use block::{BlockEntry, MasterKey};
pub use entry::{Names, decode_entry, encode_entry};
pub use key::{EntryKey, block_prefix, entry_key, split_entry};
