//! What a statement does over a design: which tables there are, which access paths lead to the rows, what is read and
//! written, and at what price.
//!
//! - [`layout`]: the tables of a design and their columns;
//! - [`planner`]: all sensible plans of a query over any set of collections, and the plan of a write;
//! - [`cost`]: how much a step reads and writes, and what that costs;
//! - [`program`]: a plan lowered to typed steps, the same to print, to price and to run;
//! - [`lower`]: every statement of a model as such a program;
//! - [`condition_text`]: a condition as the language writes it;
//! - [`partition`]: an aggregate as entries, by representation rules, and back;
//! - [`effects`]: what the writes of a model can do;
//! - [`delta`]: how the rows of a copy are found from an instance that a write changes, and what they read of it;
//! - [`upkeep`]: which copies a change of an instance touches, and how their rows are found;
//! - [`ordered_bytes`]: values as bytes that sort as the values do, for keys that a store compares as bytes.
//!
//! Pure functions of values: nothing here knows a store.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a value has eighteen kinds, and each place here is about a few of them"
)]

pub mod ask;
pub mod condition_text;
pub mod conditions;
pub mod cost;
pub mod delta;
pub mod effects;
pub mod layout;
pub mod lower;
pub mod naming;
mod nested;
pub mod ordered_bytes;
pub mod partition;
pub mod planner;
pub mod positions;
pub mod program;
pub mod tree;
pub mod upkeep;

pub use nested::nested_is_exact;
