//! The examples are models that people start from: clean, canonical, and between them every construct.

use crate::project::{files, read, root, summary};
use askloom_lang::{Checked, Dialect, Memory, check, format};
use askloom_model::{Code, Severity};
use std::path::{Path, PathBuf};

const EXAMPLES: [&str; 6] = ["game", "noam-game", "airline", "inbox", "blog", "shop"];

/// A folder of the repository as a world in memory.
pub(crate) fn folder(path: &str) -> Memory {
    let mut world = Memory::default();
    for extension in ["loom", "pidm", "gdm"] {
        for file in files(path, extension) {
            world = world.with(file.file_name().unwrap(), std::fs::read(&file).unwrap());
        }
    }
    world
}

pub(crate) fn check_example(name: &str, extension: &str) -> Checked {
    check(&folder(&format!("examples/{name}")), &PathBuf::from(format!("{name}.{extension}")))
}

#[test]
fn examples_are_clean() {
    for name in EXAMPLES {
        let checked = check_example(name, "loom");
        assert_eq!(summary(&checked), "clean", "{name}");
    }
}

#[test]
fn there_are_no_other_examples() {
    let entries = std::fs::read_dir(root().join("examples")).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<_> =
        entries.filter(|path| path.is_dir()).map(|p| p.file_name().unwrap().to_owned()).collect();
    folders.sort();
    let mut expected = EXAMPLES;
    expected.sort_unstable();
    assert_eq!(folders, expected);
}

#[test]
fn examples_are_in_canonical_style() {
    for name in EXAMPLES {
        for file in files(&format!("examples/{name}"), "loom") {
            let text = std::fs::read_to_string(&file).unwrap();
            assert_eq!(format(&text, Dialect::Loom).text, text, "{}", file.display());
        }
    }
}

#[test]
fn the_published_airline_has_its_published_slips_and_no_others() {
    let checked = check_example("airline", "pidm");
    assert_eq!(checked.errors, 0, "{}", summary(&checked));
    let mut slips: Vec<&str> = Vec::new();
    for diagnostic in checked.diagnostics.iter().filter(|d| d.severity == Severity::Warning) {
        assert_eq!(diagnostic.code, Code::WrongCase, "{}", diagnostic.message);
        assert!(diagnostic.fix.is_some());
        slips.push(checked.sources.text(diagnostic.span()));
    }
    slips.sort_unstable();
    slips.dedup();
    assert_eq!(slips, ["Destination", "Origin", "firstName", "lastName"]);
    assert_eq!(checked.model.workload.queries.len(), 9);
    assert_eq!(checked.model.conceptual.classes.len(), 6);
}

#[test]
fn a_code_that_the_airport_does_not_have_is_an_error_with_a_fix() {
    let text = read("examples/airline/airline.pidm")
        .replace("SELECT nameAirport,codeCAO,city", "SELECT nameAirport,codeICAO,city");
    let checked = check(&Memory::default().with("a.pidm", text), Path::new("a.pidm"));
    let errors: Vec<_> = checked.diagnostics.iter().filter(|d| d.is_error()).collect();
    assert_eq!(errors.len(), 1, "{}", summary(&checked));
    assert_eq!(errors[0].code, Code::UnknownName);
    assert_eq!(errors[0].fix.as_ref().unwrap().edits[0].text, "codeCAO");
}

/// Keywords, types and annotations of the language, apart from those the shop leaves to other fixtures.
#[test]
fn the_shop_uses_every_construct() {
    let text = format!("{}\n{}", read("examples/shop/shop.loom"), read("examples/shop/parts.loom"));
    let code: String =
        text.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n");
    for piece in [
        "import ",
        "abstract entity",
        "entity ",
        "value ",
        " extends ",
        "query ",
        "ask ",
        " via ",
        "write ",
        "collection ",
        " of ",
        "represent ",
        "invariant ",
        " on ",
        "workload ",
        "id ",
        "unique ",
        "immutable ",
        "checked ref",
        "on delete refuse",
        "on delete cascade",
        "on delete clear",
        "ref ",
        "has ",
        "part ",
        "inverse ",
        "enum(",
        "key ",
        "sort ",
        " desc",
        "keep ",
        "where ",
        "as \"",
        "SELECT *",
        ".*",
        " AS ",
        "FROM ",
        "\n  JOIN ",
        "LEFT JOIN ",
        "WHERE ",
        "GROUP BY ",
        "ORDER BY ",
        " DESC",
        "LIMIT ",
        "PAGE ",
        " AND ",
        " OR ",
        "NOT ",
        "BETWEEN ",
        " IN (",
        " IN :",
        "STARTS WITH ",
        "IS NULL",
        "IS NOT NULL",
        "COUNT(*)",
        "COUNT(DISTINCT ",
        "SUM(",
        "AVG(",
        "MIN(",
        "MAX(",
        "INSERT ",
        "UPSERT ",
        "UPDATE ",
        "SET ",
        "DELETE ",
        "ADD ",
        " TO ",
        "REMOVE FROM ",
        " AT :",
        "DISCONNECT ",
        " CONNECT ",
        " = ",
        " != ",
        " < ",
        " <= ",
        " > ",
        " >= ",
        " + :",
        "now()",
        "uuid()",
        "[*]",
        "?",
        "..",
        "`",
        "@count(",
        "@avg(",
        "@max(",
        "@distinct(",
        "@freq(",
        "@size(",
        "@rate(",
        "@skew(",
        "@latency(",
        "@fresh",
        "@ttl(",
        "@store(",
        "/s)",
        "/min)",
        "/day)",
        "%",
        "text",
        ": int",
        ": long",
        ": decimal",
        ": double",
        ": bool",
        ": date",
        ": time",
        ": timestamp",
        "timestamp(6)",
        ": uuid",
        ": blob",
        ": json",
        "true",
        "null",
        "inverse",
        "->",
        "/*/",
        "[*]\n",
    ] {
        let found = code.contains(piece) || code.to_uppercase().contains(&piece.to_uppercase());
        assert!(found, "the shop has no `{piece}`");
    }
}
