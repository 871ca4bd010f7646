//! The built program, run as a user runs it: in a folder of its own, with its exit code and both streams.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the code around the tests fails them by panicking, too"
)]

mod apply;
mod carried;
mod cassandra;
mod check;
mod clustered;
mod data;
mod design;
mod documents;
mod dynamodb;
mod elements;
mod explain;
mod fixes;
mod fmt;
mod generate;
mod generated;
mod hbase;
mod item_collections;
mod limits;
mod mongodb;
mod new;
mod pages;
mod pricing;
mod project;
mod queries;
mod redis;
mod run;
mod streams;
mod tour;
mod verify;
mod whole;
mod words;
