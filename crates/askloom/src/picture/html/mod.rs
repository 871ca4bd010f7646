//! A design as one page that needs nothing else: the document itself, and a script inside that draws it.

use crate::document::Document;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page. The same document gives the same page.
pub fn html(document: &Document) -> String {
    let json = embedded(&serde_json::to_string(document).unwrap_or_default());
    let title = format!("{} on {}", document.model, document.title);
    let values = [
        ("style-source", policy_source(&inner(STYLE))),
        ("script-source", policy_source(&inner(SCRIPT))),
        ("title", escaped(&title)),
        ("version", escaped(document.askloom)),
        ("method", escaped(&document.method)),
        ("sentence", escaped(&document.sentence)),
        ("css", inner(STYLE)),
        ("js", inner(SCRIPT)),
        ("document", json),
    ];
    filled(PAGE, &values)
}

/// The hash of a text as a policy writes it: a browser runs only the script whose hash the policy names.
fn policy_source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

/// What stands between the tags, which is what a browser hashes.
fn inner(text: &str) -> String {
    format!("\n{text}")
}

/// The template with its `{{names}}` replaced, in one pass: what is put in is never searched for names.
fn filled(template: &str, values: &[(&str, String)]) -> String {
    let mut parts = template.split("{{");
    let mut page = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("}}").unwrap_or(("", part));
        if let Some((_, value)) = values.iter().find(|(known, _)| *known == name) {
            page.push_str(value);
        }
        page.push_str(rest);
    }
    page
}

/// JSON that cannot end the element it stands in: in a string `<` may as well be an escape, and elsewhere JSON
/// has none.
fn embedded(json: &str) -> String {
    json.replace('<', "\\u003c")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_is_not_searched() {
        let values = [("a", "{{b}}".to_owned()), ("b", "no".to_owned())];
        assert_eq!(filled("<{{a}}|{{b}}>", &values), "<{{b}}|no>");
    }

    #[test]
    fn a_document_cannot_end_its_element() {
        let json = embedded(r#"{"text":"</script><!--<script>"}"#);
        assert!(!json.contains('<'));
        let back: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(back["text"], "</script><!--<script>");
    }

    #[test]
    fn every_name_of_the_template_is_known() {
        let names = [
            "style-source",
            "script-source",
            "title",
            "version",
            "method",
            "sentence",
            "css",
            "js",
            "document",
        ];
        let used = PAGE.split("{{").skip(1).filter_map(|part| part.split_once("}}")).map(|(name, _)| name);
        for name in used {
            assert!(names.contains(&name), "{name}");
        }
    }
}
