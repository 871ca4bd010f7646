//! Whether rules represent every aggregate of a class.

use super::matching::{Open, enter, start};
use askloom_model::{ClassId, ClassKind, Conceptual, Member, RelationshipKind, Rule};
use std::collections::HashSet;
use std::fmt;

/// An atom that some aggregates have and no rule takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The members that lead to it, each with the class of the record that has it: the first is that of the
    /// aggregate, which may be a subclass.
    pub steps: Vec<(ClassId, Member)>,
    /// The sentence.
    message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

/// Rules are legal if they take every atom of every aggregate of the class and its subclasses. All those and no
/// others give back what they are given: what is no atom needs no rule.
pub fn legal(conceptual: &Conceptual, root: ClassId, rules: &[Rule]) -> Result<(), Problem> {
    let mut walk = Walk { conceptual, rules, seen: HashSet::new(), steps: Vec::new() };
    for class in instantiable(conceptual, root) {
        let start = start(conceptual, rules, class);
        if start.cover.is_none() && !walk.takes_all(class, &start.open) {
            return Err(problem(conceptual, walk.steps));
        }
    }
    Ok(())
}

/// The classes that an instance of this one may be of.
fn instantiable(conceptual: &Conceptual, class: ClassId) -> impl Iterator<Item = ClassId> + '_ {
    let mut kinds = conceptual.descendants(class);
    kinds.push(class);
    kinds.sort_unstable();
    kinds.into_iter().filter(|&id| conceptual.classes[id].kind != ClassKind::AbstractEntity)
}

fn problem(conceptual: &Conceptual, steps: Vec<(ClassId, Member)>) -> Problem {
    let names: Vec<&str> = steps.iter().map(|&(_, member)| conceptual.member_name(member)).collect();
    let class = steps.first().map_or("", |&(class, _)| &conceptual.classes[class].name);
    let message = format!("no rule takes `{}` of `{class}`", names.join("."));
    Problem { steps, message }
}

/// Goes down the classes as long as no rule covers all that is below.
struct Walk<'w> {
    conceptual: &'w Conceptual,
    rules: &'w [Rule],
    /// Classes and open rules that were found to be well, so that shared value objects cost once.
    seen: HashSet<(ClassId, Vec<Open>)>,
    /// Where it is, and stays when something is not taken.
    steps: Vec<(ClassId, Member)>,
}

impl Walk<'_> {
    /// Whether every atom of a record of exactly this class is taken by one of the open rules.
    fn takes_all(&mut self, class: ClassId, open: &[Open]) -> bool {
        if !self.seen.insert((class, open.to_vec())) {
            return true;
        }
        let members: Vec<Member> = self.conceptual.all_members(class).collect();
        members.into_iter().all(|member| {
            self.steps.push((class, member));
            let taken = self.takes(member, open);
            if taken {
                self.steps.pop();
            }
            taken
        })
    }

    fn takes(&mut self, member: Member, open: &[Open]) -> bool {
        let name = self.conceptual.member_name(member);
        let (is_stored, is_many, part) = match member {
            Member::Attribute(id) => (true, self.conceptual.attributes[id].list, None),
            Member::End(id) => {
                let end = &self.conceptual.ends[id];
                let part = (end.kind == RelationshipKind::Composition).then_some(end.target);
                (end.stored, end.cardinality.is_many(), part)
            }
        };
        let matches = enter(self.rules, open, None, name, is_many);
        if !is_stored || matches.field.is_some() || matches.element.is_some() || matches.atoms {
            return true;
        }
        let Some(part) = part else { return false };
        let classes: Vec<ClassId> = instantiable(self.conceptual, part).collect();
        classes.into_iter().all(|class| self.takes_all(class, &matches.below))
    }
}
