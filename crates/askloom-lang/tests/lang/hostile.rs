//! Bad input gets a diagnostic: never a panic, a hang or an endless allocation.

use crate::project::{check_text, codes, summary};
use askloom_lang::{Dialect, MAX_FILE_BYTES, Memory, ReadError, World, check, format};
use std::fmt::Write;
use std::path::Path;

fn check_bytes(name: &str, bytes: &[u8]) -> Vec<&'static str> {
    codes(&check(&Memory::default().with(name, bytes), Path::new(name)))
}

#[test]
fn an_empty_file_declares_nothing() {
    for text in ["", " \n\t\n", "\u{feff}", "// only a comment", "\r\n\r\n"] {
        assert_eq!(codes(&check_text("m.loom", text)), ["AL0012"], "{text:?}");
    }
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_mean_nothing() {
    let text =
        "\u{feff}entity A {\r\n  id a: int,\r\n  b: text\r\n}\r\n\r\nquery q: SELECT b\r\n  FROM A\r\n";
    let checked = check_text("m.loom", text);
    assert_eq!(summary(&checked), "clean");
    assert_eq!(checked.model.workload.queries.len(), 1);
}

#[test]
fn characters_without_meaning_are_said_once_each_run() {
    assert_eq!(check_bytes("m.loom", b"entity A { id a: int }\0\0\0\n"), ["AL0005"]);
    assert_eq!(check_bytes("m.loom", "entity A { id a: int } €€\n".as_bytes()), ["AL0005"]);
    assert_eq!(check_bytes("m.loom", b"\0"), ["AL0005"]);
}

#[test]
fn text_that_is_not_utf8_is_said_where_it_starts() {
    let checked =
        check(&Memory::default().with("m.loom", b"entity A {\n \xff\xfe }".as_slice()), Path::new("m.loom"));
    assert_eq!(codes(&checked).first(), Some(&"AL0001"));
    assert_eq!(checked.sources.start(checked.diagnostics[0].span()).line, 2);
    assert_eq!(codes(&checked).len(), 1, "{}", summary(&checked));
}

/// Claims a size without having the bytes.
struct Huge;

impl World for Huge {
    fn read(&self, _: &Path) -> Result<Vec<u8>, ReadError> {
        Err(ReadError::TooLarge { bytes: MAX_FILE_BYTES + 1 })
    }
}

#[test]
fn a_file_of_100_mb_is_refused() {
    assert_eq!(codes(&check(&Huge, Path::new("m.loom"))), ["AL0002"]);
    let world = Memory::default().with("m.loom", vec![b' '; 100 * 1024 * 1024]);
    assert_eq!(codes(&check(&world, Path::new("m.loom"))), ["AL0002"]);
}

#[test]
fn a_missing_file_and_an_unknown_language_are_said() {
    assert_eq!(codes(&check(&Memory::default(), Path::new("m.loom"))), ["AL0003"]);
    assert_eq!(codes(&check(&Memory::default().with("m.txt", ""), Path::new("m.txt"))), ["AL0004"]);
    assert_eq!(codes(&check(&Memory::default().with("m", ""), Path::new("m"))), ["AL0004"]);
}

const GAME: &str = "entity Game { id gameId: int, score: int }\n";

#[test]
fn ten_thousand_parentheses_are_too_deep() {
    for (open, close) in [("(", ")"), ("NOT ", ""), ("(NOT (", "))")] {
        let (open, close) = (open.repeat(10_000), close.repeat(10_000));
        let text = format!("{GAME}query q: SELECT * FROM Game WHERE {open}score = 1{close}\n");
        let checked = check_text("m.loom", &text);
        assert_eq!(codes(&checked), ["AL0008"], "{}", summary(&checked));
        assert_eq!(format(&text, Dialect::Loom).text.matches("score = 1").count(), 1);
    }
    // As deep as is allowed.
    let text =
        format!("{GAME}query q: SELECT * FROM Game WHERE {}score = 1{}\n", "(".repeat(255), ")".repeat(255));
    assert_eq!(summary(&check_text("m.loom", &text)), "clean");
}

#[test]
fn a_million_errors_are_counted_and_cut_off() {
    let mut text = GAME.to_owned();
    for n in 0..500_000 {
        writeln!(text, "query q{n}: SELECT nothing, nowhere FROM Game").unwrap();
    }
    let checked = check_text("m.loom", &text);
    assert_eq!(checked.errors, 1_000_000);
    assert_eq!(checked.diagnostics.len(), 1001);
    assert_eq!(codes(&checked).last(), Some(&"AL0009"));
    assert!(checked.diagnostics.last().unwrap().message.contains("999000"));
}

#[test]
fn no_number_of_notes_hides_an_error() {
    let mut text = String::new();
    for n in 0..1500 {
        writeln!(text, "entity E{n} {{ a: int }}").unwrap();
    }
    let notes = check_text("m.loom", &text);
    assert_eq!((notes.errors, notes.diagnostics.len()), (0, 1001));
    assert_eq!(notes.diagnostics.last().unwrap().severity, askloom_model::Severity::Note);
    text.push_str("query q: SELECT b FROM E1\n");
    assert!(codes(&check_text("m.loom", &text)).contains(&"AL0401"));
}

#[test]
fn text_without_any_sense_is_given_up() {
    for piece in ["@", "\n x", "{", "query q: ", "entity A {\n", "(", "write w {\n@"] {
        let text = piece.repeat(2_000_000 / piece.len());
        let checked = check_text("m.loom", &text);
        assert!(checked.errors > 0 && checked.errors <= 400_000, "{piece:?}: {}", checked.errors);
        assert_eq!(format(&text, Dialect::Loom).text.matches('@').count(), text.matches('@').count());
    }
}

#[test]
#[ignore = "slow"]
fn long_lists_cost_no_more_than_their_length() {
    let many = |item: &str| vec![item; 50_000].join(", ");
    let terms = vec!["a = ?"; 20_000].join(" AND ");
    for condition in [format!("a IN ({})", many("?")), format!("a IN ({})", many("7")), terms] {
        let text = format!("entity A {{ id a: int }}\nquery q: SELECT a FROM A WHERE {condition}\n");
        assert_eq!(summary(&check_text("m.loom", &text)), "clean");
    }
    let mut asks = "entity E0 { id e: int }\n".to_owned();
    for n in 1..2000 {
        writeln!(asks, "entity E{n} {{ id e: int, ref r: E{} }}\nask q{n}: {{E0}} -> {{E{n}}}", n - 1)
            .unwrap();
    }
    assert_eq!(check_text("m.loom", &asks).errors, 1999 - 16);
    let entries: String = (0..20_000).map(|n| format!("  unknown{n} 1\n")).collect();
    let queries: String = (0..20_000).map(|n| format!("query known{n}: SELECT e FROM E0\n")).collect();
    let workload = format!("entity E0 {{ id e: int }}\n{queries}workload w {{\n{entries}}}\n");
    assert_eq!(check_text("m.loom", &workload).errors, 20_000);
}

#[test]
fn imports_stay_in_the_folder_and_do_not_go_in_circles() {
    let world = Memory::default()
        .with(
            "m.loom",
            "import \"a.loom\"\nimport \"../out.loom\"\nimport '/etc/passwd'\nentity M { id m: int }",
        )
        .with("a.loom", "import \"m.loom\"\nimport \"a.loom\"\nimport \"sub/b.loom\"\nentity A { id a: int }")
        .with("sub/b.loom", "import \"../c.loom\"\nentity B { id b: int }")
        .with("c.loom", "entity C { id c: int }");
    let checked = check(&world, Path::new("m.loom"));
    let mut found = codes(&checked);
    found.sort_unstable();
    assert_eq!(found, ["AL0010", "AL0010", "AL0011", "AL0011"], "{}", summary(&checked));
    assert_eq!(checked.model.conceptual.classes.len(), 4);
    let deep = Memory::default().with("dir/m.loom", "import \"../dir/a.loom\"").with("dir/a.loom", GAME);
    assert_eq!(codes(&check(&deep, Path::new("dir/m.loom"))), ["AL0011"]);
}

#[test]
fn a_file_imported_twice_is_read_once() {
    let world = Memory::default()
        .with("m.loom", "import \"a.loom\"\nimport \"b.loom\"\nimport \"a.loom\"")
        .with("a.loom", "import \"b.loom\"\nentity A { id a: int, ref b: B }")
        .with("b.loom", "entity B { id b: int }");
    let checked = check(&world, Path::new("m.loom"));
    assert_eq!(summary(&checked), "clean");
    assert_eq!(checked.model.conceptual.classes.len(), 2);
}

#[test]
fn long_chains_of_classes_end() {
    let mut parents = "entity E0 { id e: int }\n".to_owned();
    let mut parts = "entity R { id r: int, part p: V0 }\n".to_owned();
    for n in 0..20_000 {
        writeln!(parents, "entity E{} extends E{n} {{ a{n}: int }}", n + 1).unwrap();
        writeln!(parts, "value V{n} {{ a: int, part p: V{}, part q: V{} }}", n + 1, n + 1).unwrap();
    }
    parts.push_str("value V20000 { a: int }\nrepresent R { /R/*/*\n /R/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/* }\n");
    assert!(codes(&check_text("m.loom", &parents)).contains(&"AL0008"));
    assert!(codes(&check_text("m.loom", &parts)).contains(&"AL0008"));
}

#[test]
fn lists_without_end_are_refused() {
    let list = |n: usize, item: &dyn Fn(usize) -> String| (0..n).map(item).collect::<Vec<_>>().join(", ");
    let members = format!("entity A {{ id a: int, {} }}", list(5000, &|n| format!("m{n}: int")));
    assert_eq!(codes(&check_text("m.loom", &members)), ["AL0014"]);
    let values = format!("entity A {{ id a: int, e: enum({}) }}", list(5000, &|n| format!("v{n}")));
    assert_eq!(codes(&check_text("m.loom", &values)), ["AL0014"]);
    let joins = format!(
        "entity A {{ id a: int, ref n: A }}\nquery q: SELECT * FROM A JOIN {}",
        list(2000, &|n| format!("A.n{}", ".n".repeat(n)))
    );
    assert!(codes(&check_text("m.loom", &joins)).contains(&"AL0014"));
}

#[test]
fn unfinished_text_of_every_length_is_survived() {
    let shop = crate::project::read("examples/shop/shop.loom");
    let airline = crate::project::read("examples/airline/airline.pidm");
    for (name, text) in [("m.loom", shop), ("m.pidm", airline)] {
        for cut in (0..text.len()).step_by(7).filter(|&cut| text.is_char_boundary(cut)) {
            let checked = check_text(name, &text[..cut]);
            assert!(checked.diagnostics.len() <= 1001);
        }
    }
}
