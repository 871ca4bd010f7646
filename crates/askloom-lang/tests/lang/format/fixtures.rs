//! Sources and what becomes of them, side by side in `tests/format/*.txt`. `ASKLOOM_BLESS=1` rewrites what
//! is expected.

use super::corpus::Sample;
use crate::project::files;
use askloom_lang::{Dialect, format};
use std::path::{Path, PathBuf};

const OUT: &str = "--- out.loom\n";

pub(super) struct Fixture {
    file: PathBuf,
    /// `in.loom`, `in.pidm` or `in.gdm`.
    name: String,
    source: String,
    expected: String,
}

impl Fixture {
    fn dialect(&self) -> Dialect {
        Dialect::of_path(Path::new(&self.name))
            .unwrap_or_else(|| panic!("{}: {}", self.file.display(), self.name))
    }

    pub(super) fn source(self) -> Sample {
        let dialect = self.dialect();
        Sample { place: self.file.display().to_string(), dialect, text: self.source }
    }
}

/// A file is any number of pairs `--- in.EXTENSION`, `--- out.loom`.
pub(super) fn fixtures() -> Vec<Fixture> {
    let mut fixtures = Vec::new();
    for file in files("crates/askloom-lang/tests/format", "txt") {
        let text = std::fs::read_to_string(&file).unwrap();
        for pair in format!("\n{text}").split("\n--- in.").skip(1) {
            let pair = if pair.ends_with('\n') { pair.to_owned() } else { format!("{pair}\n") };
            let (extension, rest) = pair.split_once('\n').unwrap();
            let (source, expected) = rest.split_once(OUT).unwrap();
            fixtures.push(Fixture {
                file: file.clone(),
                name: format!("in.{extension}"),
                source: source.to_owned(),
                expected: expected.to_owned(),
            });
        }
    }
    fixtures
}

#[test]
fn sources_are_formatted_as_expected() {
    let fixtures = fixtures();
    let bless = std::env::var_os("ASKLOOM_BLESS").is_some();
    let mut failures = Vec::new();
    let mut blessed: Vec<(PathBuf, String)> = Vec::new();
    for fixture in &fixtures {
        let formatted = format(&fixture.source, fixture.dialect()).text;
        if formatted != fixture.expected {
            failures.push(format!(
                "{}:\n{}--- expected\n{}--- formatted\n{formatted}",
                fixture.file.display(),
                fixture.source,
                fixture.expected
            ));
        }
        let pair = format!("--- {}\n{}{OUT}{formatted}", fixture.name, fixture.source);
        match blessed.last_mut() {
            Some((file, text)) if *file == fixture.file => *text += &pair,
            Some(_) | None => blessed.push((fixture.file.clone(), pair)),
        }
    }
    if bless {
        for (file, text) in blessed {
            std::fs::write(file, text).unwrap();
        }
    } else {
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }
}
