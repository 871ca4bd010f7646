//! From a model and its workload to a design, and from a design to plans.
//!
//! - [`simple`]: a design by two rules, the starting point of every other method;
//! - [`ask`]: tuple queries as queries;
//! - [`plan`]: all sensible plans of a query over any set of collections;
//! - [`saved`]: a design as text, to be committed and reviewed, and back;
//! - [`native`]: copies that a store keeps by itself;
//! - [`limits`]: what of a design is larger than its store takes;
//! - [`partition`]: an aggregate as entries, by representation rules, and back;
//! - [`effects`]: what the writes of a model can do;
//! - [`dependency`]: what the rows of a copy read, so that a write looks at what it disturbs;
//! - [`upkeep`]: which copies a change of an instance touches, and how their rows are found.
//!
//! Pure functions of values: nothing here knows a store.

pub mod ask;
pub mod cost;
mod declared;
pub mod dependency;
pub mod effects;
pub mod limits;
pub mod lower;
pub mod method;
pub mod native;
mod nested;
pub mod partition;
pub mod plan;
pub mod saved;
pub mod simple;
pub mod upkeep;

pub use declared::why_not_designed;
pub use nested::nested_is_exact;
