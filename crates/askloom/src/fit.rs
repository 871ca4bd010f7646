//! Text in columns of a terminal: what counts is how wide it looks, not how many characters or bytes it has.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Of what is printed for people.
pub(crate) const WIDTH: usize = 80;

pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// Filled up with spaces on the right.
pub(crate) fn left(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Words in lines of at most that many columns. A word that is longer than a line goes on in the next one: nothing
/// reaches over the edge.
pub(crate) fn lines(words: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words.split(' ') {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _full => lines.extend(pieces(word, columns)),
        }
    }
    for line in &mut lines {
        line.truncate(line.trim_end().len());
    }
    lines
}

/// A word in pieces of at most that many columns.
fn pieces(word: &str, columns: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for c in word.chars() {
        let wide = c.width().unwrap_or(0);
        match pieces.last_mut() {
            Some(piece) if piece.is_empty() || width(piece) + wide <= columns => piece.push(c),
            _full => pieces.push(c.to_string()),
        }
    }
    pieces
}

/// No more than that many columns, with a mark where something is left out.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let first = pieces(text, columns.saturating_sub(1)).into_iter().next().unwrap_or_default();
    format!("{first}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_asked_for() {
        let emoji = "🎲".repeat(30);
        for text in
            ["a bc def ghij klmno", "aaaaaaaaaaaaaaaaaaaaaaaaa b", "日本語のとても長い名前", emoji.as_str()]
        {
            for columns in 2..30 {
                let made = lines(text, columns);
                assert!(made.iter().all(|line| width(line) <= columns), "{columns}: {made:?}");
                let letters = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
                assert_eq!(letters(&made.concat()), letters(text));
            }
        }
    }

    #[test]
    fn spaces_within_a_line_stay() {
        assert_eq!(lines("is 'a  b' here", 20), ["is 'a  b' here"]);
    }

    #[test]
    fn columns_are_what_is_seen() {
        assert_eq!(left("🎲", 4), "🎲  ");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("abc", 3), "abc");
    }
}
