//! From a model and its workload to a design.
//!
//! - [`simple`]: a design by two rules, the starting point of every other method;
//! - [`method`]: the published methods, and the choice by cost;
//! - [`saved`]: a design as text, to be committed and reviewed, and back;
//! - [`native`]: copies that a store keeps by itself;
//! - [`limits`]: what of a design is larger than its store takes.
//!
//! Pure functions of values: nothing here knows a store.

mod declared;
pub mod limits;
pub mod method;
pub mod native;
pub mod saved;
pub mod simple;

pub use declared::why_not_designed;
