//! Why an evaluation does not go on.

use crate::RunError;

/// Why an evaluation stops: the source lacks something and has taken note of it, or there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    Missing,
    Failed(RunError),
}

impl From<RunError> for Stop {
    fn from(error: RunError) -> Self {
        Self::Failed(error)
    }
}

impl From<askloom_plan::ordered_bytes::DecodeError> for Stop {
    fn from(error: askloom_plan::ordered_bytes::DecodeError) -> Self {
        Self::Failed(error.into())
    }
}

/// Of a source that knows everything, such as a snapshot, nothing is ever missing.
impl From<Stop> for RunError {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Missing => Self::Corrupted("a source that knows everything lacked something".to_owned()),
            Stop::Failed(error) => error,
        }
    }
}

/// Does something with each of several, and goes on where something is missing, so that all that is missing is known
/// at once. A failure behind something that is missing may come of that alone: it shows again when all is there.
pub(crate) fn each<I, T>(
    items: impl IntoIterator<Item = I>,
    mut act: impl FnMut(I) -> Result<T, Stop>,
) -> Result<Vec<T>, Stop> {
    each_kept(items, |item| act(item).map(Some))
}

/// The same, where not every one gives something.
pub(crate) fn each_kept<I, T>(
    items: impl IntoIterator<Item = I>,
    mut act: impl FnMut(I) -> Result<Option<T>, Stop>,
) -> Result<Vec<T>, Stop> {
    let items = items.into_iter();
    let mut done = Vec::with_capacity(items.size_hint().0);
    let mut missing = false;
    for item in items {
        match act(item) {
            Ok(one) => done.extend(one),
            Err(Stop::Missing) => missing = true,
            Err(Stop::Failed(_)) if missing => {}
            Err(failed @ Stop::Failed(_)) => return Err(failed),
        }
    }
    if missing { Err(Stop::Missing) } else { Ok(done) }
}
