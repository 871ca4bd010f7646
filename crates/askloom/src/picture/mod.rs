//! Designs as people look at them: text, diagrams, a page. One pure function for each format.

mod diagram;
mod dot;
mod html;
mod mermaid;
mod paper;
mod plot;
mod svg;
mod text;

pub use dot::dot;
pub use html::html;
pub use mermaid::mermaid;
pub use paper::paper;
pub use plot::{Axis, Plot};
pub use svg::svg;
pub use text::{comparison, design};
