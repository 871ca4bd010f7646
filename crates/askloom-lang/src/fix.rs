//! Applies the fixes that diagnostics carry.
//!
//! Fixes are applied together, the model is checked again, and what brought an error that was not there is
//! taken back: by halves, so that one bad fix among many costs few checks.

use crate::{ReadError, Sources, World, check_up_to};
use askloom_model::{Applicability, Code, Edit, Fix, Span};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// A fix can bring the next one to light; nobody writes what needs more rounds than this.
const MAX_ROUNDS: usize = 100;
/// How often a model is checked again to find a bad fix, in all.
const MAX_TRIALS: usize = 200;
/// Fixes are found among this many diagnostics at a time.
const MAX_DIAGNOSTICS: usize = 100_000;

/// What [`fix`] did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FixOutcome {
    /// New text of every file that changed, by path as in `Sources`.
    pub files: Vec<(PathBuf, String)>,
    /// How many fixes were applied, in all files.
    pub applied: usize,
}

/// Applies fixes until none is left: those that are [`Applicability::Safe`], or `Suggested` ones too.
/// A fix that would bring a new error is left out.
#[must_use]
pub fn fix(world: &dyn World, root: &Path, up_to: Applicability) -> FixOutcome {
    let mut fixing = Fixing { world, root, changed: BTreeMap::new(), applied: 0, trials: 0 };
    for _ in 0..MAX_ROUNDS {
        if !fixing.round(up_to) {
            break;
        }
    }
    FixOutcome { files: fixing.changed.into_iter().collect(), applied: fixing.applied }
}

struct Fixing<'w> {
    world: &'w dyn World,
    root: &'w Path,
    changed: BTreeMap<PathBuf, String>,
    applied: usize,
    trials: usize,
}

/// The world with some files replaced.
struct Overlay<'w> {
    world: &'w dyn World,
    changed: &'w BTreeMap<PathBuf, String>,
}

impl World for Overlay<'_> {
    fn read(&self, path: &Path) -> Result<Vec<u8>, ReadError> {
        match self.changed.get(path) {
            Some(text) => Ok(text.clone().into_bytes()),
            None => self.world.read(path),
        }
    }
}

type ErrorCounts = HashMap<Code, usize>;

impl Fixing<'_> {
    fn check(&self, changed: &BTreeMap<PathBuf, String>) -> crate::Checked {
        check_up_to(&Overlay { world: self.world, changed }, self.root, MAX_DIAGNOSTICS)
    }

    /// One round of fixes. True if some were applied, so that another round may find more.
    fn round(&mut self, up_to: Applicability) -> bool {
        let checked = self.check(&self.changed);
        let wanted =
            |fix: &&Fix| fix.applicability == Applicability::Safe || up_to == Applicability::Suggested;
        let fixes =
            checked.diagnostics.iter().filter_map(|diagnostic| diagnostic.fix.as_ref()).filter(wanted);
        let fixes = without_overlap(fixes);
        if fixes.is_empty() {
            return false;
        }
        let before = error_counts(&checked);
        let good = self.good(&checked.sources, &[], &fixes, &before);
        if good.is_empty() {
            return false;
        }
        self.applied += good.len();
        let changed = self.with(&checked.sources, &good);
        self.changed = changed;
        true
    }

    /// Those of the fixes that bring no new error on top of the ones accepted already.
    fn good<'f>(
        &mut self,
        sources: &Sources,
        accepted: &[&'f Fix],
        fixes: &[&'f Fix],
        before: &ErrorCounts,
    ) -> Vec<&'f Fix> {
        if fixes.is_empty() || self.trials >= MAX_TRIALS {
            return Vec::new();
        }
        self.trials += 1;
        let together = [accepted, fixes].concat();
        let after = error_counts(&self.check(&self.with(sources, &together)));
        let brings_none = after.iter().all(|(code, count)| before.get(code).is_some_and(|old| count <= old));
        if brings_none {
            return fixes.to_vec();
        }
        if fixes.len() == 1 {
            return Vec::new();
        }
        let (left, right) = fixes.split_at(fixes.len() / 2);
        let mut good = self.good(sources, accepted, left, before);
        let accepted = [accepted, &good].concat();
        good.extend(self.good(sources, &accepted, right, before));
        good
    }

    fn with(&self, sources: &Sources, fixes: &[&Fix]) -> BTreeMap<PathBuf, String> {
        let mut changed = self.changed.clone();
        for (file, source) in sources.iter() {
            let mut edits: Vec<&Edit> =
                fixes.iter().flat_map(|fix| &fix.edits).filter(|edit| edit.span.file == file).collect();
            if !edits.is_empty() {
                edits.sort_by_key(|edit| edit.span);
                changed.insert(source.path.clone(), apply(&source.text, &edits));
            }
        }
        changed
    }
}

fn error_counts(checked: &crate::Checked) -> ErrorCounts {
    let mut counts = HashMap::new();
    for diagnostic in checked.diagnostics.iter().filter(|diagnostic| diagnostic.is_error()) {
        *counts.entry(diagnostic.code).or_default() += 1;
    }
    counts
}

/// Fixes in the order of the text, leaving out those that touch what an earlier one changes.
fn without_overlap<'f>(fixes: impl Iterator<Item = &'f Fix>) -> Vec<&'f Fix> {
    let mut taken: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut kept = Vec::new();
    for fix in fixes {
        if fix.edits.iter().any(|edit| overlaps(&taken, edit.span)) {
            continue;
        }
        taken.extend(fix.edits.iter().map(|edit| ((edit.span.file.0, edit.span.start), edit.span.end)));
        kept.push(fix);
    }
    kept
}

/// Also true where the two only touch: which of two insertions comes first is not ours to guess.
fn overlaps(taken: &BTreeMap<(u32, u32), u32>, span: Span) -> bool {
    let file = span.file.0;
    let before = taken.range(..=(file, span.end)).next_back();
    before.is_some_and(|(&(of, _), &end)| of == file && end >= span.start)
}

fn apply(text: &str, edits: &[&Edit]) -> String {
    let mut fixed = String::with_capacity(text.len() + 16 * edits.len());
    let mut at = 0;
    for edit in edits {
        fixed.push_str(text.get(at..edit.span.start as usize).unwrap_or_default());
        fixed.push_str(&edit.text);
        at = edit.span.end as usize;
    }
    fixed.push_str(text.get(at..).unwrap_or_default());
    fixed
}
