//! Texts that start with another as a half-open range.

/// The first text behind all that start with one. Nothing if there is none.
#[must_use]
pub fn text_after(text: &str) -> Option<String> {
    let mut letters: Vec<char> = text.chars().collect();
    while let Some(last) = letters.pop() {
        let next = (last as u32 + 1..=char::MAX as u32).find_map(char::from_u32);
        if let Some(next) = next {
            letters.push(next);
            return Some(letters.into_iter().collect());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_text_is_behind_all_that_start_with_one() {
        let cases =
            [("a", Some("b")), ("a\u{d7ff}", Some("a\u{e000}")), ("a\u{10ffff}", Some("b")), ("", None)];
        for (text, after) in cases {
            assert_eq!(text_after(text).as_deref(), after);
        }
        assert_eq!(text_after("\u{10ffff}"), None);
    }
}
