//! Queries over a source that has nothing at first, and gets some of what it lacks at a time.

use askloom_engine::execute::{Answer, Arguments, Continuation, PreparedQuery, Progress};
use askloom_engine::source::{Fetched, Source};
use askloom_engine::{RunError, Stop};

/// The answer when of all that is lacking a part comes with each fetch, in another order than it was asked for.
pub(crate) fn run(
    prepared: &PreparedQuery,
    source: &dyn Source,
    arguments: &Arguments,
    now: jiff::Timestamp,
    after: Option<&Continuation>,
) -> Result<Answer, RunError> {
    let mut evaluation = prepared.start(source.schema(), arguments, now, after)?;
    let mut fetched = Fetched::new(source.schema());
    let mut turn = 0_usize;
    loop {
        match evaluation.step(&fetched) {
            Ok(Progress::More) => fetched.forget(),
            Ok(Progress::Done) => break,
            Err(Stop::Missing) => fetch_some(&mut fetched, source, &mut turn)?,
            Err(Stop::Failed(error)) => return Err(error),
        }
    }
    loop {
        match evaluation.answer(&fetched) {
            Ok(answer) => return Ok(answer),
            Err(Stop::Missing) => fetch_some(&mut fetched, source, &mut turn)?,
            Err(Stop::Failed(error)) => return Err(error),
        }
    }
}

fn fetch_some(fetched: &mut Fetched<'_>, source: &dyn Source, turn: &mut usize) -> Result<(), RunError> {
    *turn += 1;
    let mut wanted = fetched.take_wanted();
    assert!(!wanted.is_empty(), "something is missing, and nothing is wanted");
    let turned = *turn % wanted.len();
    wanted.rotate_left(turned);
    // Every third time all of it comes.
    let some = if turn.is_multiple_of(3) { wanted.len() } else { wanted.len().div_ceil(2) };
    for one in wanted.into_iter().take(some) {
        fetched.fetch(one, source)?;
    }
    Ok(())
}
