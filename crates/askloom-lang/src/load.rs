//! The files of a model: the root and everything it imports, each read once.

use crate::syntax::{NodeKind, Tree, parse};
use crate::{Dialect, ReadError, Sources, World};
use askloom_model::{Code, Diagnostic, Diagnostics, FileId, Span};
use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

/// An import, as it stands in some file.
struct Import {
    path: String,
    span: Span,
}

pub(crate) struct Loader<'w> {
    world: &'w dyn World,
    folder: PathBuf,
    pub(crate) sources: Sources,
    pub(crate) diagnostics: Diagnostics,
    /// Files that are no text: shown, not parsed.
    pub(crate) unparsed: HashSet<FileId>,
    /// Files by their path below the folder: read, or being read.
    state: HashMap<PathBuf, State>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Done,
}

impl<'w> Loader<'w> {
    pub(crate) fn new(world: &'w dyn World, root: &Path, limit: usize) -> Self {
        Self {
            world,
            folder: root.parent().map(Path::to_path_buf).unwrap_or_default(),
            sources: Sources::default(),
            diagnostics: Diagnostics::with_limit(limit),
            unparsed: HashSet::new(),
            state: HashMap::new(),
        }
    }

    pub(crate) fn load(&mut self, root: &Path) {
        let name = root.file_name().map(PathBuf::from).unwrap_or_default();
        self.file(root, name, None);
    }

    /// Depth first, with a stack of its own: imports may nest as deep as there are files.
    fn file(&mut self, path: &Path, key: PathBuf, imported: Option<Span>) {
        let mut stack = vec![Step::Open { path: path.to_path_buf(), key, imported }];
        while let Some(step) = stack.pop() {
            match step {
                Step::Close { key } => {
                    self.state.insert(key, State::Done);
                }
                Step::Open { path, key, imported } => {
                    match self.state.get(&key) {
                        Some(State::Done) => continue,
                        Some(State::Open) => {
                            self.cycle(imported.unwrap_or_default(), &key);
                            continue;
                        }
                        None => {}
                    }
                    self.state.insert(key.clone(), State::Open);
                    let imports = self.read(&path, imported);
                    stack.push(Step::Close { key: key.clone() });
                    let steps: Vec<Step> =
                        imports.into_iter().filter_map(|import| self.resolve_import(&key, &import)).collect();
                    stack.extend(steps.into_iter().rev());
                }
            }
        }
    }

    fn cycle(&mut self, span: Span, key: &Path) {
        let message = format!("`{}` is imported in a circle", key.display());
        self.diagnostics.push(
            Diagnostic::new(Code::ImportCycle, span, message)
                .hint("put what both files need into a third one"),
        );
    }

    /// Reads a file and gives its imports.
    fn read(&mut self, path: &Path, imported: Option<Span>) -> Vec<Import> {
        let Some(dialect) = Dialect::of_path(path) else {
            self.unreadable(
                path,
                imported,
                Code::UnknownExtension,
                "is neither .loom, .pidm nor .gdm".to_owned(),
            );
            return Vec::new();
        };
        let bytes = match self.world.read(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                let (code, why) = match error {
                    ReadError::Unreadable(why) => (Code::CannotRead, format!("cannot be read: {why}")),
                    ReadError::TooLarge { bytes } => (
                        Code::FileTooLarge,
                        format!("has {bytes} bytes; a model has at most {}", crate::MAX_FILE_BYTES),
                    ),
                    ReadError::Outside => (Code::ImportOutside, "leads out of the model's folder".to_owned()),
                };
                self.unreadable(path, imported, code, why);
                return Vec::new();
            }
        };
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                let file = self.sources.add(path.to_path_buf(), text, dialect);
                self.not_utf8(file, at);
                self.unparsed.insert(file);
                return Vec::new();
            }
        };
        let file = self.sources.add(path.to_path_buf(), text, dialect);
        self.imports(file)
    }

    fn not_utf8(&mut self, file: FileId, at: usize) {
        // Up to the first bad byte the text is unchanged; there stands a replacement character now.
        let at = u32::try_from(at).unwrap_or(0);
        let span = Span::new(file, at, at + 3);
        self.diagnostics.push(
            Diagnostic::new(Code::NotUtf8, span, format!("the file is not UTF-8: byte {at} has no meaning"))
                .hint("save it as UTF-8"),
        );
    }

    fn unreadable(&mut self, path: &Path, imported: Option<Span>, code: Code, why: String) {
        // Without an import to point at, the file itself is the place, empty as it is.
        let span = imported.unwrap_or_else(|| {
            let file = self.sources.add(path.to_path_buf(), String::new(), Dialect::Loom);
            Span::new(file, 0, 0)
        });
        self.diagnostics.push(Diagnostic::new(code, span, format!("`{}` {why}", path.display())));
    }

    /// A look at the imports alone. Trees borrow the text, so they are made once all files are here; what
    /// is said about this one is said then.
    fn imports(&self, file: FileId) -> Vec<Import> {
        let Some(source) = self.sources.get(file) else { return Vec::new() };
        // Most files have none, and then need not be parsed twice.
        if !contains_import(&source.text) {
            return Vec::new();
        }
        let mut silent = Diagnostics::with_limit(0);
        let tree = parse(&source.text, file, source.dialect, &mut silent);
        let nodes = tree.children_of(tree.root(), NodeKind::Import);
        nodes
            .filter_map(|node| tree.own_text(node))
            .map(|(path, span)| Import { path: path.into_owned(), span })
            .collect()
    }

    fn resolve_import(&mut self, importer: &Path, import: &Import) -> Option<Step> {
        let beside = importer.parent().unwrap_or(Path::new(""));
        match inside(beside, Path::new(&import.path)) {
            Some(key) => Some(Step::Open { path: self.folder.join(&key), key, imported: Some(import.span) }),
            None => {
                let message = format!("`{}` lies outside the model's folder", import.path);
                self.diagnostics.push(
                    Diagnostic::new(Code::ImportOutside, import.span, message)
                        .hint("a model is one folder: copy the file into it"),
                );
                None
            }
        }
    }
}

/// Parses every file that was read. The trees borrow from the sources.
pub(crate) fn parse_all<'s>(
    sources: &'s Sources,
    unparsed: &HashSet<FileId>,
    diagnostics: &mut Diagnostics,
) -> Vec<Tree<'s>> {
    let texts = sources.iter().filter(|(file, _)| !unparsed.contains(file));
    texts.map(|(file, source)| parse(&source.text, file, source.dialect, diagnostics)).collect()
}

enum Step {
    Open { path: PathBuf, key: PathBuf, imported: Option<Span> },
    Close { key: PathBuf },
}

fn contains_import(text: &str) -> bool {
    let mut words = text.match_indices(['i', 'I']);
    words.any(|(at, _)| text.get(at..at + 6).is_some_and(|word| word.eq_ignore_ascii_case("import")))
}

/// The path below the model's folder, without `.` and `..`; nothing if it leads out of it.
fn inside(beside: &Path, path: &Path) -> Option<PathBuf> {
    let mut key = PathBuf::new();
    for component in beside.components().chain(path.components()) {
        match component {
            Component::Normal(name) => key.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !key.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(key)
}

#[cfg(test)]
mod tests {
    use super::inside;
    use std::path::Path;

    #[test]
    fn paths_stay_inside_the_folder() {
        let resolve = |beside: &str, path: &str| inside(Path::new(beside), Path::new(path));
        assert_eq!(resolve("", "a.loom").as_deref(), Some(Path::new("a.loom")));
        assert_eq!(resolve("sub", "../a.loom").as_deref(), Some(Path::new("a.loom")));
        assert_eq!(resolve("", "sub/../a.loom").as_deref(), Some(Path::new("a.loom")));
        assert_eq!(resolve("", "../a.loom"), None);
        assert_eq!(resolve("sub", "../../a.loom"), None);
        assert_eq!(resolve("", "/etc/passwd"), None);
    }
}
