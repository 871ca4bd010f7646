//! Diagnostics for people, in the manner of rustc.

use super::Report;
use super::excerpt::{Excerpt, excerpts};
use crate::screen::Style;
use annotate_snippets::{
    Annotation, AnnotationKind, Element, Group, Level, Origin, Patch, Renderer, Snippet,
};
use askloom::model::{Applicability, Diagnostic, Edit, Fix, Label, Severity};

/// All diagnostics of a model, each followed by an empty line.
pub(crate) fn diagnostics(report: &Report, style: Style) -> String {
    let renderer = if style.color { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.term_width(style.width);
    let mut text = String::new();
    for diagnostic in &report.checked.diagnostics {
        text.push_str(&renderer.render(&groups(report, diagnostic)));
        text.push_str("\n\n");
    }
    text
}

fn groups<'a>(report: &'a Report, diagnostic: &'a Diagnostic) -> Vec<Group<'a>> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level.primary_title(diagnostic.message.as_str()).id(diagnostic.code.number());
    let mut first = Group::with_title(title).elements(places(report, &diagnostic.labels));
    if let Some(hint) = &diagnostic.hint {
        first = first.element(Level::HELP.message(hint.as_str()));
    }
    std::iter::once(first).chain(diagnostic.fix.iter().map(|fix| suggestion(report, fix))).collect()
}

/// The labels, gathered into as few pieces of text as show them well.
fn places<'a>(report: &'a Report, labels: &'a [Label]) -> Vec<Element<'a>> {
    let spans: Vec<_> = labels.iter().map(|label| label.span).collect();
    excerpts(&report.checked.sources, &spans).iter().map(|excerpt| place(report, labels, excerpt)).collect()
}

fn place<'a>(report: &'a Report, labels: &'a [Label], excerpt: &Excerpt<'a>) -> Element<'a> {
    let path = report.path(excerpt.file).display().to_string();
    let Some(text) = excerpt.text else {
        let origin = Origin::path(path);
        return match excerpt.start {
            Some(start) => origin.line(start.line).char_column(start.column).into(),
            None => origin.into(),
        };
    };
    let annotations = excerpt.members.iter().filter_map(|&index| {
        let label = labels.get(index)?;
        Some(annotation(index, label, excerpt))
    });
    Snippet::source(text).path(path).line_start(excerpt.first_line).annotations(annotations).into()
}

fn annotation<'a>(index: usize, label: &'a Label, excerpt: &Excerpt<'a>) -> Annotation<'a> {
    let kind = if index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
    let annotation = kind.span(excerpt.range(label.span));
    if label.text.is_empty() { annotation } else { annotation.label(label.text.as_str()) }
}

fn suggestion<'a>(report: &'a Report, fix: &'a Fix) -> Group<'a> {
    let title = match fix.applicability {
        Applicability::Safe => fix.title.clone(),
        Applicability::Suggested => format!("{} (with --unsafe-fixes)", fix.title),
    };
    let group = Group::with_title(Level::HELP.secondary_title(title));
    match patched(report, fix) {
        Some(snippet) => group.element(snippet),
        None => group,
    }
}

/// The lines as they would be: for edits that lie together in one file and do not overlap.
fn patched<'a>(report: &'a Report, fix: &'a Fix) -> Option<Snippet<'a, Patch<'a>>> {
    let mut edits: Vec<&Edit> = fix.edits.iter().collect();
    edits.sort_by_key(|edit| edit.span);
    let spans: Vec<_> = edits.iter().map(|edit| edit.span).collect();
    let all = excerpts(&report.checked.sources, &spans);
    let [excerpt] = all.as_slice() else { return None };
    let text = excerpt.text?;
    if spans.iter().zip(spans.iter().skip(1)).any(|(one, next)| one.end > next.start) {
        return None;
    }
    let patches = edits.iter().map(|edit| Patch::new(excerpt.range(edit.span), edit.text.as_str()));
    Some(Snippet::source(text).line_start(excerpt.first_line).patches(patches))
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use askloom::lang::{Dialect, Sources};
    use askloom::model::Code;

    #[test]
    fn places_hints_and_fixes() {
        let expected = "\
error[AL0201]: no entity is called `Itme`
 --> shop/shop.loom:4:13
  |
4 |   ref item: Itme
  |             ^^^^ not declared
  |
 ::: shop/stock.loom:1:8
  |
1 | entity Item {
  |        ---- this one is
  |
help: write `Item`
  |
4 -   ref item: Itme
4 +   ref item: Item
  |

warning[AL0109]: AND binds tighter than OR: 100%, sure?
 --> shop/shop.loom:6:39
  |
6 | query late: SELECT * FROM Order WHERE number = 1 AND paid = true OR number = 2
  |                                       ^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: parentheses say which is meant
help: put parentheses (with --unsafe-fixes)
  |
6 | query late: SELECT * FROM Order WHERE (number = 1 AND paid = true) OR number = 2
  |                                       +                          +

note[AL0208]: `Item` gets
              a surrogate
 --> shop/stock.loom:1:8
  |
1 | entity Item {
  |        ^^^^

";
        assert_eq!(diagnostics(&sample::report(), Style::PLAIN), expected);
    }

    fn one(text: &str, diagnostic: Diagnostic) -> String {
        let mut sources = Sources::default();
        sources.add("shop/shop.loom".into(), text.to_owned(), Dialect::Loom);
        diagnostics(&sample::with(sources, vec![diagnostic]), Style::PLAIN)
    }

    #[test]
    fn a_file_without_text_is_only_named() {
        let diagnostic =
            Diagnostic::new(Code::CannotRead, sample::span(0, 0..0), "cannot read it: no such file");
        assert_eq!(
            one("", diagnostic),
            "error[AL0003]: cannot read it: no such file\n--> shop/shop.loom\n\n"
        );
    }

    #[test]
    fn places_far_apart_do_not_bring_what_lies_between() {
        let text = format!("entity A {{}}\n{}entity A {{}}\n", "\n".repeat(100_000));
        let second = text.len() - 12;
        let diagnostic =
            Diagnostic::new(Code::DuplicateDeclaration, sample::span(0, second..second + 8), "`A` twice")
                .also(sample::span(0, 0..8), "first here");
        let expected = "\
error[AL0203]: `A` twice
      --> shop/shop.loom:100002:1
       |
100002 | entity A {}
       | ^^^^^^^^
       |
      ::: shop/shop.loom:1:1
       |
     1 | entity A {}
       | -------- first here

";
        assert_eq!(one(&text, diagnostic), expected);
    }

    #[test]
    fn a_line_of_a_megabyte_is_named_and_not_shown() {
        let text = "x".repeat(1_000_000);
        let diagnostic = Diagnostic::new(Code::Expected, sample::span(0, 500_000..500_001), "what is this?");
        assert_eq!(one(&text, diagnostic), "error[AL0101]: what is this?\n--> shop/shop.loom:1:500001\n\n");
    }

    /// Spans come from elsewhere: none of them may bring the renderer down.
    #[test]
    fn any_span_of_any_text_is_rendered() {
        for text in ["", "\n", "a\r\n\tb\r\n", "é漢\u{1b}[31m\u{0}\u{202e}\n\n\n𝄞", "a\nb\nc\nd\ne\nf\ng\n"]
        {
            for start in 0..=text.len() + 2 {
                for end in 0..=text.len() + 2 {
                    let span = sample::span(0, start..end);
                    let diagnostic = Diagnostic::new(Code::Expected, span, "here\nand there")
                        .here("label")
                        .also(sample::span(0, end..text.len()), "other")
                        .also(sample::span(7, start..end), "of no file")
                        .replace(span, "new\ntext");
                    assert!(one(text, diagnostic).starts_with("error[AL0101]: here"));
                }
            }
        }
    }
}
