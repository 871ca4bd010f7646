//! The page of a design in a real browser. `cargo xtask test` names the browser; `cargo xtask browser` prints one.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the code around the tests fails them by panicking, too"
)]

mod design;
mod devtools;
mod fits;
mod keyboard;
mod lights;
mod pasted;
mod safe;
mod shown;
