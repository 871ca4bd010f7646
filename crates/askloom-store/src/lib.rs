//! Runs a design on a store. So far the byte level of the store that needs no server: [`embedded`].

pub mod embedded;
