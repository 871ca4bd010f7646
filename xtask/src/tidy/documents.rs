use crate::index;
use crate::repository::{Outcome, read, root};
use askloom_model::Code;
use std::path::{Path, PathBuf};

/// Every code has a page that starts with it, and every page a code.
pub(super) fn pages(files: &[PathBuf]) -> Outcome<Vec<String>> {
    let mut messages = Vec::new();
    for &code in Code::ALL {
        let path = PathBuf::from(format!("docs/diagnostics/{code}.md"));
        if !files.contains(&path) {
            messages.push(format!("{} is missing: {}", path.display(), code.title()));
        } else if !read(&path)?.starts_with(&format!("# {code}")) {
            messages.push(format!("{} does not start with `# {code}`", path.display()));
        }
    }
    let orphans = files.iter().filter(|path| path.starts_with("docs/diagnostics") && is_orphan(path));
    messages.extend(orphans.map(|path| format!("{} belongs to no code", path.display())));
    Ok(messages)
}

fn is_orphan(path: &Path) -> bool {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    stem.starts_with("AL") && !Code::ALL.iter().any(|code| code.number() == stem)
}

/// The generated list of diagnostics is the one that would be generated now.
pub(super) fn index(_: &[PathBuf]) -> Outcome<Vec<String>> {
    let current = read(Path::new(index::PATH)).is_ok_and(|text| text == index::text());
    Ok(if current { Vec::new() } else { vec![format!("{} is stale: cargo xtask bless", index::PATH)] })
}

/// A link from one document to another leads somewhere.
pub(super) fn links(files: &[PathBuf]) -> Outcome<Vec<String>> {
    let mut messages = Vec::new();
    for path in files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "md")) {
        let folder = root().join(path.parent().unwrap_or(Path::new("")));
        for target in targets(&read(path)?) {
            if !folder.join(&target).exists() {
                messages.push(format!("{}: the link to {target} leads nowhere", path.display()));
            }
        }
    }
    Ok(messages)
}

/// The files that a Markdown text links to: not the web, not places within itself, not code.
fn targets(markdown: &str) -> Vec<String> {
    let prose = markdown.split("```").step_by(2);
    let links = prose.flat_map(|part| part.split("](").skip(1)).filter_map(|rest| rest.split_once(')'));
    let files = links.map(|(link, _)| link.split('#').next().unwrap_or_default());
    files.filter(|file| !file.is_empty() && !file.contains("://")).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_are_followed() {
        let text = "[a](b.md#c) [d](#e) [f](https://g.h)\n```\n[i](j.md)\n```\n[k](l/m.md)";
        assert_eq!(targets(text), ["b.md", "l/m.md"]);
    }
}
