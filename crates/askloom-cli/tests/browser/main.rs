//! The page of a design in a real browser. `cargo xtask test` names the browser; `cargo xtask browser` prints one.

mod design;
mod devtools;
mod fits;
mod keyboard;
mod lights;
mod safe;
mod shown;
