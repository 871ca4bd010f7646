//! Words in texts: longest runs of letters and digits of any script, in lower case.

use std::collections::HashSet;

/// Whether every word that is wanted is a word of the text.
pub(super) fn matches(text: &str, wanted: &str) -> bool {
    let there: HashSet<String> = words(text).collect();
    words(wanted).all(|word| there.contains(&word))
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty()).map(str::to_lowercase)
}
