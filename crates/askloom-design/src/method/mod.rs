//! The methods that make a design of a model.

pub mod kvmod;
