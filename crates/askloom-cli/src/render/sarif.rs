//! SARIF 2.1.0, which code-scanning services read.

use super::Report;
use super::place::Range;
use askloom::model::{Code, Diagnostic, FileId, Fix, Label, Severity, Span};
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(super) fn render(reports: &[Report]) -> String {
    let codes: BTreeSet<Code> = reports
        .iter()
        .flat_map(|report| report.checked.diagnostics.iter().map(|diagnostic| diagnostic.code))
        .collect();
    let codes: Vec<Code> = codes.into_iter().collect();
    let results: Vec<Value> = reports
        .iter()
        .flat_map(|report| {
            report.checked.diagnostics.iter().map(|diagnostic| result(report, diagnostic, &codes))
        })
        .collect();
    let rules: Vec<Value> = codes.iter().map(|&code| rule(code)).collect();
    super::pretty(&json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {
                "driver": { "name": "askloom", "version": env!("CARGO_PKG_VERSION"), "rules": rules },
            },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    }))
}

fn rule(code: Code) -> Value {
    json!({
        "id": code.number(),
        "name": format!("{code:?}"),
        "shortDescription": { "text": code.title() },
        "help": { "text": format!("askloom explain {code}") },
        "defaultConfiguration": { "level": code.severity().name() },
    })
}

fn result(report: &Report, diagnostic: &Diagnostic, codes: &[Code]) -> Value {
    let mut result = json!({
        "ruleId": diagnostic.code.number(),
        "ruleIndex": codes.binary_search(&diagnostic.code).unwrap_or_default(),
        "level": level(diagnostic.severity),
        "message": { "text": message(diagnostic) },
        "locations": [location(report, diagnostic.span())],
    });
    let related: Vec<Value> =
        diagnostic.labels.iter().skip(1).enumerate().map(|(id, label)| related(report, label, id)).collect();
    if let Some(object) = result.as_object_mut() {
        if !related.is_empty() {
            object.insert("relatedLocations".to_owned(), related.into());
        }
        if let Some(fix) = &diagnostic.fix {
            object.insert("fixes".to_owned(), json!([fixed(report, fix)]));
        }
    }
    result
}

/// SARIF's own words happen to be ours, but they are two vocabularies.
fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn message(diagnostic: &Diagnostic) -> String {
    match &diagnostic.hint {
        Some(hint) => format!("{}\n{hint}", diagnostic.message),
        None => diagnostic.message.clone(),
    }
}

fn related(report: &Report, label: &Label, id: usize) -> Value {
    let mut location = location(report, label.span);
    if let Some(object) = location.as_object_mut() {
        object.insert("id".to_owned(), id.into());
        object.insert("message".to_owned(), json!({ "text": label.text }));
    }
    location
}

fn fixed(report: &Report, fix: &Fix) -> Value {
    let files: BTreeSet<FileId> = fix.edits.iter().map(|edit| edit.span.file).collect();
    let change = |file: &FileId| {
        let edits = fix.edits.iter().filter(|edit| edit.span.file == *file);
        let replacements: Vec<Value> = edits
            .map(|edit| {
                json!({
                    "deletedRegion": region(report.range(edit.span)),
                    "insertedContent": { "text": edit.text },
                })
            })
            .collect();
        json!({ "artifactLocation": artifact(report, *file), "replacements": replacements })
    };
    json!({
        "description": { "text": fix.title },
        "artifactChanges": files.iter().map(change).collect::<Vec<Value>>(),
    })
}

fn location(report: &Report, span: Span) -> Value {
    json!({
        "physicalLocation": {
            "artifactLocation": artifact(report, span.file),
            "region": region(report.range(span)),
        },
    })
}

fn region(range: Range) -> Value {
    json!({
        "startLine": range.start.line,
        "startColumn": range.start.column,
        "endLine": range.end.line,
        "endColumn": range.end.column,
    })
}

fn artifact(report: &Report, file: FileId) -> Value {
    json!({ "uri": uri(&report.slashed(file)) })
}

/// A path as a URI reference: what a URI cannot hold is percent-encoded.
fn uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    fn run() -> Value {
        let text = render(&[sample::report()]);
        serde_json::from_str::<Value>(&text).unwrap()["runs"][0].clone()
    }

    #[test]
    fn rules_are_those_that_occur_and_results_point_at_them() {
        let run = run();
        let ids: Vec<&str> = run["tool"]["driver"]["rules"]
            .as_array()
            .unwrap()
            .iter()
            .map(|rule| rule["id"].as_str().unwrap())
            .collect();
        assert_eq!(ids, ["AL0109", "AL0201", "AL0208"]);
        for result in run["results"].as_array().unwrap() {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(ids[index], result["ruleId"]);
        }
    }

    #[test]
    fn places_and_fixes() {
        let result = &run()["results"][0];
        let region = json!({ "startLine": 4, "startColumn": 13, "endLine": 4, "endColumn": 17 });
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "shop/shop.loom");
        assert_eq!(place["region"], region);
        assert_eq!(result["relatedLocations"][0]["message"]["text"], "this one is");
        let replacement = &result["fixes"][0]["artifactChanges"][0]["replacements"][0];
        assert_eq!(replacement["deletedRegion"], region);
        assert_eq!(replacement["insertedContent"]["text"], "Item");
    }

    #[test]
    fn a_uri_holds_only_what_it_may() {
        assert_eq!(uri("a b/é.loom"), "a%20b/%C3%A9.loom");
        assert_eq!(uri("/tmp/x.loom"), "file:///tmp/x.loom");
    }
}
