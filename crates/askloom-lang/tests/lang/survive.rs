//! What must hold for any bytes whatever. Shared with the fuzz target.

use askloom_lang::{Dialect, Memory, check, fix, format};
use std::path::Path;

/// The first byte chooses the language; the rest is the file.
pub(crate) fn survive(bytes: &[u8]) {
    let Some((&first, text)) = bytes.split_first() else { return };
    let dialect = match first % 3 {
        0 => Dialect::Loom,
        1 => Dialect::Pidm,
        _ => Dialect::Gdm,
    };
    let name = format!("m.{}", dialect.extension());
    let world = Memory::default().with(&name, text);
    let checked = check(&world, Path::new(&name));
    for diagnostic in &checked.diagnostics {
        for label in &diagnostic.labels {
            assert!(label.span.start <= label.span.end, "{diagnostic:?}");
        }
    }
    let _ = fix(&world, Path::new(&name), askloom_model::Applicability::Suggested);
    if let Ok(text) = std::str::from_utf8(text) {
        let once = format(text, dialect);
        let twice = format(&once.text, Dialect::Loom);
        assert_eq!(twice.text, once.text, "formatting again changes it; from\n{text}");
    }
}
