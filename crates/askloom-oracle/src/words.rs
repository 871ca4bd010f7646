//! Words in texts: what MATCHES means.

use std::collections::BTreeSet;

/// Whether every word of `wanted` occurs as a word of `text`. A word is a longest run of letters and digits of
/// any script, in lower case as Unicode has it; nothing is stemmed or left out.
pub(crate) fn matches(text: &str, wanted: &str) -> bool {
    words(wanted).is_subset(&words(text))
}

fn words(text: &str) -> BTreeSet<String> {
    let runs = text.split(|c: char| !c.is_alphanumeric());
    runs.filter(|run| !run.is_empty()).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn every_word_in_any_case() {
        assert!(matches("Fresh bread, every MORNING.", "morning bread"));
        assert!(!matches("Fresh bread", "bread cake"));
        assert!(!matches("breadcrumbs", "bread"));
        assert!(matches("ÉCLAIR", "éclair"));
        assert!(matches("anything", "  ,"));
    }
}
