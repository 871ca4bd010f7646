//! Designs as people look at them: text, diagrams, a page. One pure function for each format.

mod diagram;
mod dot;
mod html;
mod mermaid;
mod paper;
mod plot;
mod svg;
mod text;

pub(crate) use dot::dot;
pub(crate) use html::html;
pub(crate) use mermaid::mermaid;
pub(crate) use paper::paper;
pub(crate) use plot::{Axis, Plot};
pub(crate) use svg::svg;
pub(crate) use text::{comparison, design};
