//! Canonical text: what it looks like, and what holds whatever the input.

mod corpus;
mod fixtures;
mod mutation;
mod properties;
