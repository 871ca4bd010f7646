//! What the language promises, tested from the outside.

mod dialects;
mod examples;
mod fixes;
mod fixtures;
mod format;
mod fuzz;
mod hostile;
mod pages;
mod project;
mod survive;
