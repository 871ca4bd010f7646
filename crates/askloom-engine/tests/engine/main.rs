//! The engine on drivers: what becomes of attempts that get lost, and how much of a store it holds at once.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "the code around the tests fails them by panicking, too"
)]

mod held;
mod lost;
mod paged;

use askloom_lang::{Memory, check};
use askloom_model::Model;
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

fn parse(text: &str) -> Model {
    let checked = check(&Memory::default().with("m.loom", text), Path::new("m.loom"));
    assert_eq!(checked.errors, 0, "{:?}", checked.diagnostics);
    checked.model
}

/// What a future gives that never waits.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => panic!("there is nothing to wait for"),
    }
}
