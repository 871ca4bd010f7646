//! Which rules match where, step by step from the root. The same for aggregates and for their classes.

use askloom_model::{ClassId, Conceptual, Rule, RuleStep};

/// A rule whose first steps match, and more are to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Open {
    rule: usize,
    taken: usize,
}

/// How things stand at the root.
#[derive(Debug)]
pub struct Start {
    pub open: Vec<Open>,
    /// The first rule that is about the whole aggregate.
    pub cover: Option<usize>,
}

/// The rules about an aggregate of this class: those that name it or an ancestor, and those that name none.
pub fn start(conceptual: &Conceptual, rules: &[Rule], class: ClassId) -> Start {
    let mut open = Vec::new();
    for (index, rule) in rules.iter().enumerate() {
        if !rule.class.is_none_or(|of| conceptual.is_kind_of(class, of)) {
            continue;
        }
        if rule.steps.is_empty() {
            return Start { open, cover: Some(index) };
        }
        open.push(Open { rule: index, taken: 0 });
    }
    Start { open, cover: None }
}

/// What matches at a member, of the rules that come before the one that covers the whole record.
#[derive(Debug, Default)]
pub struct Matches {
    /// The first rule for the member as a whole.
    pub field: Option<usize>,
    /// The first rule for each of its elements.
    pub element: Option<usize>,
    /// Whether a rule takes each atom.
    pub atoms: bool,
    /// What goes on inside the part, or inside each of the parts.
    pub below: Vec<Open>,
}

impl Matches {
    pub fn is_nothing(&self) -> bool {
        self.field.is_none() && self.element.is_none() && !self.atoms && self.below.is_empty()
    }
}

/// Takes one more step of every open rule. Open rules are in their order, so that the first to match is the first.
pub fn enter(rules: &[Rule], open: &[Open], cover: Option<usize>, name: &str, is_many: bool) -> Matches {
    let mut matches = Matches::default();
    for &Open { rule, taken } in open.iter().take_while(|open| cover.is_none_or(|cover| open.rule < cover)) {
        let Some((step, later)) = rules.get(rule).and_then(|rule| rule.steps.get(taken..)?.split_first())
        else {
            continue;
        };
        let is_last = later.is_empty();
        let each = match step {
            RuleStep::Field { name: field, each } if field == name => *each,
            RuleStep::Field { .. } => continue,
            RuleStep::AnyField { each } => *each,
            RuleStep::EachAtom if is_last => {
                matches.atoms = true;
                matches.below.push(Open { rule, taken });
                continue;
            }
            // The language refuses it.
            RuleStep::EachAtom => continue,
        };
        match (each, is_many, is_last) {
            (false, _, true) => {
                matches.field = Some(rule);
                break;
            }
            (true, true, true) => {
                matches.element = Some(rule);
                break;
            }
            (false, false, false) | (true, true, false) => {
                matches.below.push(Open { rule, taken: taken + 1 });
            }
            // A whole list is one field; only its elements can be entered. And only a list has elements.
            (false, true, false) | (true, false, _) => {}
        }
    }
    matches
}
