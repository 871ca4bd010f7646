//! Markdown for a terminal: headings stand out, code is indented, text keeps to 80 columns.
//!
//! It knows what the project's own pages use: headings, paragraphs, lists, tables and fenced code. What it
//! does not know passes through as text.

use clap::builder::styling::{AnsiColor, Style};

const WIDTH: usize = 80;

/// What the lines before this one have begun.
#[derive(Debug, PartialEq, Eq)]
enum Block {
    Text,
    Code,
}

pub(crate) fn render(markdown: &str, color: bool) -> String {
    let mut page = Page { text: String::new(), paragraph: String::new(), color };
    let mut block = Block::Text;
    for line in markdown.lines() {
        block = match block {
            Block::Code => page.code_line(line),
            Block::Text => page.text_line(line),
        };
    }
    page.end_paragraph();
    page.text
}

struct Page {
    text: String,
    /// Lines of a paragraph or list item that are still to be filled.
    paragraph: String,
    color: bool,
}

impl Page {
    fn code_line(&mut self, line: &str) -> Block {
        if line.trim_start().starts_with("```") {
            return Block::Text;
        }
        let line = format!("    {line}");
        self.line(line.trim_end());
        Block::Code
    }

    fn text_line(&mut self, line: &str) -> Block {
        if line.trim_start().starts_with("```") {
            self.end_paragraph();
            return Block::Code;
        }
        if line.trim().is_empty() {
            self.end_paragraph();
            self.line("");
        } else if line.starts_with('#') {
            self.end_paragraph();
            self.heading(line.trim_start_matches('#').trim());
        } else if line.starts_with('|') {
            self.end_paragraph();
            self.line(line);
        } else {
            if line.starts_with("- ") || line.starts_with("* ") {
                self.end_paragraph();
            }
            self.paragraph.push_str(line);
            self.paragraph.push(' ');
        }
        Block::Text
    }

    fn heading(&mut self, heading: &str) {
        let bold = if self.color { Style::new().bold() } else { Style::new() };
        self.line(&format!("{bold}{heading}{bold:#}"));
    }

    fn end_paragraph(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        let indent = if paragraph.starts_with("- ") || paragraph.starts_with("* ") { "  " } else { "" };
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.trim().is_empty() && line.chars().count() + 1 + word.chars().count() > WIDTH {
                self.prose(&line);
                line = indent.to_owned();
            }
            if !line.trim().is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        if !line.trim().is_empty() {
            self.prose(&line);
        }
    }

    /// A filled line. Back-quotes stay where there is no colour to show that something is code.
    fn prose(&mut self, line: &str) {
        if !self.color {
            return self.line(line);
        }
        let cyan = AnsiColor::Cyan.on_default();
        let parts: Vec<String> = line
            .split('`')
            .enumerate()
            .map(
                |(index, part)| {
                    if index % 2 == 1 { format!("{cyan}{part}{cyan:#}") } else { part.to_owned() }
                },
            )
            .collect();
        // An odd quote is no pair: a span of code that goes on in the next line stays as it is.
        let whole = parts.len() % 2 == 1;
        self.line(if whole { parts.concat() } else { line.to_owned() }.as_str());
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
# AL0001: a title

Some text that is long enough to be filled again, because a paragraph of a page
may be written in lines of any length.

- an item
  of two lines
- another

```loom
entity A {

}
```
";

    #[test]
    fn plain() {
        let expected = "\
AL0001: a title

Some text that is long enough to be filled again, because a paragraph of a page
may be written in lines of any length.

- an item of two lines
- another

    entity A {

    }
";
        assert_eq!(render(PAGE, false), expected);
    }

    #[test]
    fn coloured() {
        assert_eq!(render("# T\na `b` c", true), "\u{1b}[1mT\u{1b}[0m\na \u{1b}[36mb\u{1b}[0m c\n");
    }

    #[test]
    fn long_words_and_lists_keep_their_place() {
        let word = "x".repeat(100);
        assert_eq!(render(&format!("- a {word} b"), false), format!("- a\n  {word}\n  b\n"));
    }
}
