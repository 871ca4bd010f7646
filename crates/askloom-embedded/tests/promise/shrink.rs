//! Makes a failing case small: fewer writes, statements, copies, declarations; as long as it fails in the same way.

use crate::case::{Failure, Spec, parse};
use crate::coverage::Coverage;
use crate::run::attempt;

/// Tries to leave things out for so many runs at most.
const MOST_RUNS: usize = 800;

struct Shrinking {
    kind: &'static str,
    /// How the message of a panic begins: leaving things out makes panics of other kinds.
    panic: Option<String>,
    runs: usize,
}

/// A smaller case that fails alike, and its failure with the writes in words.
pub(crate) fn shrink(spec: Spec, failure: Failure) -> (Spec, Failure) {
    let panic = (failure.kind == "panic").then(|| beginning(&failure));
    let mut shrinking = Shrinking { kind: failure.kind, panic, runs: 0 };
    let mut spec = spec;
    loop {
        let before = size(&spec);
        shrinking.pieces(&mut spec, |spec| &mut spec.steps);
        shrinking.pieces(&mut spec, |spec| &mut spec.statements);
        shrinking.pieces(&mut spec, |spec| &mut spec.sources);
        shrinking.copies(&mut spec);
        shrinking.pieces(&mut spec, |spec| &mut spec.sketch.classes);
        for class in (0..spec.sketch.classes.len()).rev() {
            shrinking.pieces(&mut spec, |spec| &mut spec.sketch.classes[class].members);
        }
        if size(&spec) == before || shrinking.runs >= MOST_RUNS {
            break;
        }
    }
    let failure = attempt(&spec, true, &mut Coverage::default()).err().unwrap_or(failure);
    (spec, failure)
}

/// Enough of a message to know a failure by: what follows names things that get other names.
fn beginning(failure: &Failure) -> String {
    failure.text.chars().take(24).collect()
}

fn size(spec: &Spec) -> usize {
    let members: usize = spec.sketch.classes.iter().map(|class| class.members.len()).sum();
    spec.steps.len() + spec.statements.len() + spec.sources.len() + spec.sketch.classes.len() + members
}

impl Shrinking {
    fn still_fails(&mut self, spec: &Spec) -> bool {
        self.runs += 1;
        self.runs <= MOST_RUNS
            && parse(&spec.sketch.text(), &[]).is_ok()
            && attempt(spec, false, &mut Coverage::default()).is_err_and(|failure| self.is_alike(&failure))
    }

    fn is_alike(&self, failure: &Failure) -> bool {
        failure.kind == self.kind && self.panic.as_ref().is_none_or(|panic| *panic == beginning(failure))
    }

    /// Leaves out pieces from the last to the first: many at once, then fewer.
    fn pieces<T: Clone>(&mut self, spec: &mut Spec, list: impl Fn(&mut Spec) -> &mut Vec<T>) {
        let mut chunk = list(spec).len().div_ceil(2);
        while chunk > 0 {
            let mut end = list(spec).len();
            while end > 0 {
                let start = end.saturating_sub(chunk);
                let mut smaller = spec.clone();
                list(&mut smaller).drain(start..end);
                if self.still_fails(&smaller) {
                    *spec = smaller;
                }
                end = start;
            }
            chunk /= 2;
        }
    }

    /// Leaves out copies by name.
    fn copies(&mut self, spec: &mut Spec) {
        for source in ["q0", "q1", "q2", "q3", "q4", "q5", "q6", "c0"] {
            for copy in ["Copy0", "Copy1"] {
                let name = format!("{source}{copy}");
                if spec.dropped.contains(&name) {
                    continue;
                }
                let mut smaller = spec.clone();
                smaller.dropped.push(name);
                if self.still_fails(&smaller) {
                    *spec = smaller;
                }
            }
        }
    }
}

/// A failure as it is shown.
pub(crate) fn report(spec: &Spec, failure: &Failure) -> String {
    let mut text = format!("seed {}, made smaller:\n\n{}\n", spec.seed, spec.text());
    for source in &spec.sources {
        text.push_str(&format!("// only for copies\n{source}\n"));
    }
    for write in &failure.writes {
        text.push_str(&format!("- {write}\n"));
    }
    text.push_str(&format!("\n{}: {}\n", failure.kind, failure.text));
    text
}
