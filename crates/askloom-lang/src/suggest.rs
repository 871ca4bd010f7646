//! "Did you mean": the nearest name by edit distance.

/// The only name that is near enough, or the nearest of several.
pub(crate) fn closest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    // A third of the letters may be wrong; in a word of one or two letters anything would be near.
    let furthest = length / 3;
    if furthest == 0 {
        return None;
    }
    let near = names.into_iter().filter(|name| name.chars().count().abs_diff(length) <= furthest);
    near.map(|name| (strsim::osa_distance(word, name), name))
        .filter(|(distance, _)| *distance <= furthest)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        assert_eq!(closest("codeICAO", ["codeCAO", "city", "country"]), Some("codeCAO"));
        assert_eq!(closest("usrename", ["username", "score"]), Some("username"));
        assert_eq!(closest("x", ["y", "z"]), None);
        assert_eq!(closest("balance", ["score", "username"]), None);
    }
}
