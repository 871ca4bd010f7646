//! What the build script put into the program: the pages of the diagnostics, the example models.

use askloom::model::Code;
use std::borrow::Cow;
use std::path::Path;

const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));
const EXAMPLES: &[Example] = include!(concat!(env!("OUT_DIR"), "/examples.rs"));

/// A model to start from, with everything that lies beside it.
#[derive(Debug)]
pub(crate) struct Example {
    pub(crate) name: &'static str,
    /// Paths within the example's folder, with `/`.
    pub(crate) files: &'static [(&'static str, &'static [u8])],
}

impl Example {
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        EXAMPLES.iter().find(|example| example.name == name)
    }

    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        EXAMPLES.iter().map(|example| example.name)
    }

    /// The model: the file that is called like the example, else the first in a language of ours.
    pub(crate) fn model(&self) -> Option<&'static str> {
        let models = || {
            let names = self.files.iter().map(|(name, _)| *name);
            names.filter(|name| askloom::lang::Dialect::of_path(Path::new(name)).is_some())
        };
        let own = models().find(|name| Path::new(name).file_stem().is_some_and(|stem| stem == self.name));
        own.or_else(|| models().next())
    }

    pub(crate) fn text(&self, file: &str) -> Option<&'static str> {
        let (_, bytes) = self.files.iter().find(|(name, _)| *name == file)?;
        std::str::from_utf8(bytes).ok()
    }
}

/// The page of a diagnostic, in Markdown.
pub(crate) fn page(code: Code) -> Cow<'static, str> {
    let written = PAGES.iter().find(|(number, _)| *number == code.number());
    written.map_or_else(
        || format!("# {code}: {}\n\nSeverity: {}.\n", code.title(), code.severity().name()).into(),
        |(_, page)| Cow::Borrowed(*page),
    )
}
