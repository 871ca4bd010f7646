//! The list of all diagnostics, generated from their definitions.

use askloom_model::Code;

pub(crate) const PATH: &str = "docs/diagnostics/README.md";

const HEAD: &str = "\
# Diagnostics

`askloom explain CODE` prints a page in the terminal. Codes are stable: a number
is never given a second meaning.

<!-- Made by `cargo xtask bless` from crates/askloom-model/src/code.rs. -->
";

/// What the hundreds stand for.
const CHAPTERS: [(&str, &str); 8] = [
    ("AL00", "Files and characters"),
    ("AL01", "Syntax"),
    ("AL02", "Classes and members"),
    ("AL03", "Annotations and statistics"),
    ("AL04", "Queries"),
    ("AL05", "Writes"),
    ("AL06", "Rules"),
    ("AL07", "Designs"),
];

pub(crate) fn text() -> String {
    let mut text = HEAD.to_owned();
    let mut chapter = "";
    for &code in Code::ALL {
        let title = chapter_of(code);
        if title != chapter {
            text.push_str(&format!("\n## {title}\n\n| code | severity | about |\n| --- | --- | --- |\n"));
            chapter = title;
        }
        text.push_str(&format!("| [{code}]({code}.md) | {} | {} |\n", code.severity().name(), code.title()));
    }
    text
}

fn chapter_of(code: Code) -> &'static str {
    let chapter = CHAPTERS.iter().find(|(start, _)| code.number().starts_with(start));
    chapter.map_or("Others", |(_, title)| title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_chapter() {
        for &code in Code::ALL {
            assert_ne!(chapter_of(code), "Others", "{code}");
        }
    }
}
