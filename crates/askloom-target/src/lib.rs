//! A design in the terms of a store. One folder a store, the same files in each.

pub mod embedded;
