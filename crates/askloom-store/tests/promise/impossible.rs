//! Pairs that no case can meet, each with the reason.

/// Why the two never meet. Nothing if they can.
pub(crate) fn reason(first: &str, second: &str) -> Option<&'static str> {
    let pair = |a: &str, b: &str| (first, second) == (a, b);
    let _ = pair;
    None
}
