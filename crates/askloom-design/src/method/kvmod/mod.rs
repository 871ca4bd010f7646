//! KVMod: a collection for each query, and those that share most of their fields made one.

pub mod merge;
