//! One JSON object per run. The field names are part of the program's interface.

use super::Report;
use super::place::{Place, Range};
use super::summary::Counts;
use askloom::model::{Applicability, Diagnostic, Edit, Fix, Label};
use serde::Serialize;

#[derive(Serialize)]
struct Run<'a> {
    askloom: &'static str,
    diagnostics: Vec<Item<'a>>,
    summary: Counts,
}

#[derive(Serialize)]
struct Item<'a> {
    code: &'static str,
    severity: &'static str,
    message: &'a str,
    file: String,
    span: Range,
    /// The places that explain it, the first of which is `span` itself.
    labels: Vec<LabelItem<'a>>,
    hint: Option<&'a str>,
    fix: Option<FixItem<'a>>,
}

#[derive(Serialize)]
struct LabelItem<'a> {
    file: String,
    span: Range,
    text: &'a str,
}

#[derive(Serialize)]
struct FixItem<'a> {
    title: &'a str,
    applicability: &'static str,
    edits: Vec<EditItem<'a>>,
}

#[derive(Serialize)]
struct EditItem<'a> {
    file: String,
    start: Place,
    end: Place,
    text: &'a str,
}

pub(super) fn render(reports: &[Report]) -> String {
    let items = reports
        .iter()
        .flat_map(|report| report.checked.diagnostics.iter().map(|diagnostic| item(report, diagnostic)));
    let run = Run {
        askloom: env!("CARGO_PKG_VERSION"),
        diagnostics: items.collect(),
        summary: Counts::of_all(reports),
    };
    super::pretty(&run)
}

fn item<'a>(report: &Report, diagnostic: &'a Diagnostic) -> Item<'a> {
    let span = diagnostic.span();
    Item {
        code: diagnostic.code.number(),
        severity: diagnostic.severity.name(),
        message: &diagnostic.message,
        file: report.slashed(span.file),
        span: report.range(span),
        labels: diagnostic.labels.iter().map(|label| label_item(report, label)).collect(),
        hint: diagnostic.hint.as_deref(),
        fix: diagnostic.fix.as_ref().map(|fix| fix_item(report, fix)),
    }
}

fn label_item<'a>(report: &Report, label: &'a Label) -> LabelItem<'a> {
    LabelItem { file: report.slashed(label.span.file), span: report.range(label.span), text: &label.text }
}

fn fix_item<'a>(report: &Report, fix: &'a Fix) -> FixItem<'a> {
    FixItem {
        title: &fix.title,
        applicability: match fix.applicability {
            Applicability::Safe => "safe",
            Applicability::Suggested => "suggested",
        },
        edits: fix.edits.iter().map(|edit| edit_item(report, edit)).collect(),
    }
}

fn edit_item<'a>(report: &Report, edit: &'a Edit) -> EditItem<'a> {
    let Range { start, end } = report.range(edit.span);
    EditItem { file: report.slashed(edit.span.file), start, end, text: &edit.text }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use serde_json::{Value, json};

    fn rendered() -> Value {
        serde_json::from_str(&render(&[sample::report(), sample::clean()])).unwrap()
    }

    #[test]
    fn a_diagnostic_with_all_its_parts() {
        let start = json!({ "line": 4, "column": 13, "offset": 64 });
        let end = json!({ "line": 4, "column": 17, "offset": 68 });
        let span = json!({ "start": start, "end": end });
        let other = json!({
            "start": { "line": 1, "column": 8, "offset": 7 },
            "end": { "line": 1, "column": 12, "offset": 11 },
        });
        assert_eq!(
            rendered()["diagnostics"][0],
            json!({
                "code": "AL0201",
                "severity": "error",
                "message": "no entity is called `Itme`",
                "file": "shop/shop.loom",
                "span": span,
                "labels": [
                    { "file": "shop/shop.loom", "span": span, "text": "not declared" },
                    { "file": "shop/stock.loom", "span": other, "text": "this one is" },
                ],
                "hint": null,
                "fix": {
                    "title": "write `Item`",
                    "applicability": "safe",
                    "edits": [{ "file": "shop/shop.loom", "start": start, "end": end, "text": "Item" }],
                },
            })
        );
    }

    #[test]
    fn the_summary_is_of_the_whole_run() {
        assert_eq!(
            rendered()["summary"],
            json!({
                "models": 2, "errors": 1, "warnings": 1, "notes": 1, "fixable": 1, "fixable_unsafely": 1,
            })
        );
    }
}
