//! Pairs that no case can meet, each with the reason.

/// Two things that exclude each other. The first may be any of several.
const PAIRS: [(&[&str], &[&str], &str); 9] = [
    (
        &["GROUP BY", "aggregate", "DISTINCT"],
        &["backwards", "as far as LIMIT", "no sort"],
        "groups have an order of their own, which no copy has",
    ),
    (
        &["place", "tree"],
        &["as far as LIMIT"],
        "no copy is made for one place or tree, so that rows are filtered after reading",
    ),
    (&["whole instance"], &["group"], "a whole instance is never grouped by"),
    (&["list column"], &["group"], "a list is never grouped by"),
    (
        &["first per group"],
        &["group", "as far as LIMIT"],
        "single rows are counted for each group, and all have to be read for that",
    ),
    (
        &["join nodes"],
        &["equal fields", "range", "prefix"],
        "a nested copy has no order but that of the tree",
    ),
    (&["fetch"], &["expiry"], "nothing is fetched where something expires"),
    (&["ttl"], &["fetch"], "what has expired is told from what lives by the masters alone"),
    (&["fetch"], &["get block", "scan master"], "a master holds everything, so that nothing is fetched"),
];

/// Why the two never meet. Nothing if they can.
pub(crate) fn reason(first: &str, second: &str) -> Option<&'static str> {
    let meets =
        |(one, other, _): &&(&[&str], &[&str], &'static str)| one.contains(&first) && other.contains(&second);
    PAIRS.iter().find(meets).map(|(_, _, reason)| *reason)
}
