//! What `askloom generate` prints, run by the real shells of real servers: the schema is created, records go in and come
//! back the same, and every query's printed reads give the rows that it means. `cargo xtask test` starts the servers.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "the code around the tests fails them by panicking, too"
)]

mod bound;
mod buckets;
mod cassandra;
mod cassandra_indexes;
mod clusters;
mod data;
mod dynamodb;
mod expiry;
mod files;
mod former;
mod given;
mod harness;
mod hbase;
mod item_collections;
mod mongodb;
mod mongodb_indexes;
mod mongodb_text;
mod peculiar;
mod redis;
mod redis_traps;
mod redis_writes;
mod samples;
mod server;
mod spoken;
mod writes;
