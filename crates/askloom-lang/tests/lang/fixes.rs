//! `--fix`: idempotent, and never a new error.

use crate::examples::{check_example, folder};
use crate::project::{codes, files, summary};
use askloom_lang::{Checked, Memory, check, fix};
use askloom_model::{Applicability, Severity};
use std::collections::HashMap;
use std::path::Path;

fn errors(checked: &Checked) -> HashMap<&'static str, usize> {
    let mut counts = HashMap::new();
    for diagnostic in checked.diagnostics.iter().filter(|d| d.is_error()) {
        *counts.entry(diagnostic.code.number()).or_default() += 1;
    }
    counts
}

/// Fixes a model of one file and checks what every fix must keep. The fixed text.
fn fixed(name: &str, text: &str, up_to: Applicability) -> String {
    let path = Path::new(name);
    let world = Memory::default().with(name, text);
    let outcome = fix(&world, path, up_to);
    let fixed = outcome.files.first().map_or(text.to_owned(), |(_, text)| text.clone());
    assert_eq!(outcome.applied == 0, fixed == text, "{text}");
    let (before, after) =
        (errors(&check(&world, path)), errors(&check(&Memory::default().with(name, fixed.as_str()), path)));
    for (code, count) in after {
        assert!(before.get(code).is_some_and(|old| count <= *old), "{code} is new in\n{fixed}\nfrom\n{text}");
    }
    let again = fix(&Memory::default().with(name, fixed.as_str()), path, up_to);
    assert_eq!(again.applied, 0, "not idempotent:\n{fixed}");
    fixed
}

#[test]
fn the_published_airline_becomes_clean() {
    let world = folder("examples/airline");
    let outcome = fix(&world, Path::new("airline.pidm"), Applicability::Safe);
    assert_eq!(outcome.applied, check_example("airline", "pidm").count(Severity::Warning));
    let [(path, text)] = outcome.files.as_slice() else { panic!("one file changes") };
    let checked = check(&Memory::default().with(path, text.as_str()), path);
    assert_eq!(checked.errors + checked.count(Severity::Warning), 0, "{}", summary(&checked));
    assert_eq!(
        codes(&checked).iter().filter(|code| **code != "AL0208").count(),
        checked.count(Severity::Note) - 2
    );
}

#[test]
fn fixes_of_every_page_bring_no_error_and_are_done_at_once() {
    for page in files("docs/diagnostics", "md") {
        let page = std::fs::read_to_string(page).unwrap();
        for (language, text) in crate::pages::fences(&page) {
            let name = format!("model.{language}");
            fixed(&name, &text, Applicability::Safe);
            fixed(&name, &text, Applicability::Suggested);
        }
    }
}

#[test]
fn fixes_say_what_was_meant() {
    let cases = [
        ("entity A { id a: int, b string }", "entity A { id a: int, b: text }"),
        ("entity A { id a: int, date b }", "entity A { id a: int, b: date }"),
        ("entity A { id a: int b: int }", "entity A { id a: int, b: int }"),
        (
            "entity A { id a: int, ref B[*] bs }\nentity B { id b: int }",
            "entity A { id a: int, ref bs: B[*] }\nentity B { id b: int }",
        ),
        ("enttiy A { id a: int }", "entity A { id a: int }"),
        ("/* x\n * y */\nentity A { id a: int }", "// x\n// y\nentity A { id a: int }"),
        (
            "entity A { id a: int, v: V }\nvalue V { x: int }",
            "entity A { id a: int, part v: V }\nvalue V { x: int }",
        ),
        (
            "entity A { id a: int, b: int? }\nquery q: SELECT * FROM A WHERE b = NULL OR a = 1 AND b != NULL",
            "entity A { id a: int, b: int? }\nquery q: SELECT * FROM A WHERE b IS NULL OR (a = 1 AND b IS NOT NULL)",
        ),
        (
            "entity A { id a: int, s: enum(open, shut) }\nquery q: SELECT * FROM A WHERE s = 'opne'",
            "entity A { id a: int, s: enum(open, shut) }\nquery q: SELECT * FROM A WHERE s = 'open'",
        ),
        ("@cuont(5)\nentity A { id a: int }", "@count(5)\nentity A { id a: int }"),
        // What stands behind a comment is not swallowed by it.
        (
            "entity A {\n  id a: int\n  /* points */ score: int\n}",
            "entity A {\n  id a: int\n  // points\n score: int\n}",
        ),
        // A use of what is misspelt where it is declared is not redirected to its neighbour.
        (
            "entity A { id a: int, startDate: date, startTime: tme }\nquery q: SELECT startTime FROM A",
            "entity A { id a: int, startDate: date, startTime: time }\nquery q: SELECT startTime FROM A",
        ),
        // Two fixes that are right alone and wrong together: one is applied.
        (
            "entity A { id a: int, score: int }\nwrite w: UPDATE A SET scoer = 1, scroe = 2 WHERE a = 1",
            "entity A { id a: int, score: int }\nwrite w: UPDATE A SET score = 1, scroe = 2 WHERE a = 1",
        ),
        (
            "entity A { id a: int, `first name`: text }\nquery q: SELECT `First name` FROM A",
            "entity A { id a: int, `first name`: text }\nquery q: SELECT `first name` FROM A",
        ),
    ];
    for (wrong, right) in cases {
        assert_eq!(fixed("m.loom", wrong, Applicability::Safe), right);
    }
}

#[test]
fn a_fix_that_changes_the_meaning_waits_for_a_person() {
    let text = "entity A { id a: int, ref b: B }\nentity B { id b: int, ref as: A[*] }";
    assert_eq!(fixed("m.loom", text, Applicability::Safe), text);
    let joined = "entity A { id a: int, ref b: B inverse as }\nentity B { id b: int, ref as: A[*] }";
    assert_eq!(fixed("m.loom", text, Applicability::Suggested), joined);
    let guess =
        "entity A { id a: int, line1: text, line2: text }\nwrite w: UPDATE A SET line3 = :x WHERE a = 1";
    assert_eq!(fixed("m.loom", guess, Applicability::Safe), guess);
}

#[test]
fn imported_files_are_fixed_too() {
    let world = Memory::default()
        .with("m.loom", "import \"p.loom\"\nentity A { id a: int, part v: v }")
        .with("p.loom", "value V { x int }");
    let outcome = fix(&world, Path::new("m.loom"), Applicability::Safe);
    let files: Vec<_> =
        outcome.files.iter().map(|(path, text)| (path.to_str().unwrap(), text.as_str())).collect();
    assert_eq!(
        files,
        [
            ("m.loom", "import \"p.loom\"\nentity A { id a: int, part v: V }"),
            ("p.loom", "value V { x: int }")
        ]
    );
}

#[test]
fn annotations_that_were_carried_over_go_back_to_their_line() {
    let text = "entity A {\n  id a: int\n  tags: text[*] @avg(3) // why\n    @max(9)\n    // more\n    @skew(1) // here\n  \
                notes: text\n  ref best: A? inverse bestOf,\n\t@max(7)\r\n\n  name: text\n}\n";
    let expected = "entity A {\n  id a: int\n  tags: text[*] @avg(3) @max(9) // why\n    // more\n    @skew(1) // here\n  \
                    notes: text\n  ref best: A? inverse bestOf @max(7),\n\n  name: text\n}\n";
    let world = Memory::default().with("a.loom", text);
    assert_eq!(codes(&check(&world, Path::new("a.loom"))), ["AL0302", "AL0302"]);
    assert_eq!(fixed("a.loom", text, Applicability::Safe), expected);
}

#[test]
fn a_comment_behind_carried_over_annotations_stays() {
    let text = "entity A {\n  id a: int\n  tags: text[*]\n    @avg(3) @max(9) // at most\n  notes: text\n}\n";
    let expected =
        "entity A {\n  id a: int\n  tags: text[*] @avg(3) @max(9)\n    // at most\n  notes: text\n}\n";
    assert_eq!(fixed("a.loom", text, Applicability::Safe), expected);
}
