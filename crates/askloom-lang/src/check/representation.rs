//! Representation rules: every atom of the aggregate is taken by exactly one rule, the first in order that
//! matches at or above it. Rules that take nothing, name nothing or leave something out are said.
//!
//! The walk goes down the classes with the rules that still match, and stops where one rule is sure to take
//! all that is below. It remembers (class, rules) pairs, so that shared value objects cost once.

use super::Context;
use askloom_model::{
    ClassId, ClassKind, Code, Conceptual, Diagnostic, Member, Model, RelationshipKind, Representation, Rule,
    RuleStep,
};
use std::collections::{HashMap, HashSet};

/// The direct subclasses of each class.
type Subclasses = HashMap<ClassId, Vec<ClassId>>;

pub(super) fn check(context: &mut Context<'_>) {
    let model = context.model;
    let mut found = Vec::new();
    let subclasses = model.conceptual.subclasses();
    for representation in &model.representations {
        match representation.class {
            Some(class) => check_class(model, &subclasses, representation, class, &mut found),
            None => check_all(model, &subclasses, representation, &mut found),
        }
    }
    found.into_iter().for_each(|diagnostic| context.diagnostics.push(diagnostic));
}

/// `represent *`: each root class by itself, with the rules that are about it.
fn check_all(
    model: &Model,
    subclasses: &Subclasses,
    representation: &Representation,
    found: &mut Vec<Diagnostic>,
) {
    let conceptual = &model.conceptual;
    let mut reached = HashSet::new();
    let mut missing = None;
    // A rule names no field if it does in none of the classes that it is about.
    let mut unknown: HashSet<usize> = HashSet::new();
    let mut known: HashSet<usize> = HashSet::new();
    for class in conceptual.classes.ids().filter(|&class| conceptual.aggregate_root(class) == Some(class)) {
        let walk = Walk::over(conceptual, subclasses, representation, class);
        reached.extend(walk.reached.iter().copied());
        known.extend(walk.matched.iter().copied());
        let any = representation.rules.iter().any(|rule| applies(conceptual, rule, class));
        // A class that no rule mentions keeps its own representation.
        if any && missing.is_none() {
            missing = walk.missing.map(|missing| (class, missing));
        }
        unknown.extend(walk.unknown);
    }
    if let Some((class, missing)) = missing {
        found.push(misses(conceptual, representation, class, &missing));
    }
    for (index, rule) in representation.rules.iter().enumerate() {
        if unknown.contains(&index) && !known.contains(&index) && names_a_field(rule) {
            found.push(Diagnostic::new(
                Code::RuleUnknownField,
                rule.span,
                "no class has the fields that this rule names",
            ));
        } else if !reached.contains(&index) {
            found.push(never_reached(rule));
        }
    }
}

fn names_a_field(rule: &Rule) -> bool {
    rule.steps.iter().any(|step| matches!(step, RuleStep::Field { .. }))
}

fn check_class(
    model: &Model,
    subclasses: &Subclasses,
    representation: &Representation,
    class: ClassId,
    found: &mut Vec<Diagnostic>,
) {
    let conceptual = &model.conceptual;
    let name = &conceptual.classes[class].name;
    match conceptual.aggregate_root(class) {
        Some(root) if root == class => {}
        Some(root) => {
            let message = format!("`{name}` lives in the aggregate `{}`", conceptual.classes[root].name);
            let diagnostic = Diagnostic::new(Code::RepresentNotRoot, representation.span, message);
            return found
                .push(diagnostic.hint(format!("represent `{}` instead", conceptual.classes[root].name)));
        }
        // A circle of parts is said elsewhere.
        None if conceptual.classes[class].kind.is_entity() => return,
        None => {
            let message = format!("`{name}` is a value object: its owner has a representation");
            return found.push(Diagnostic::new(Code::RepresentNotRoot, representation.span, message));
        }
    }
    let mut foreign = false;
    for rule in representation.rules.iter().filter(|rule| !applies(conceptual, rule, class)) {
        foreign = true;
        let message = format!("this rule is not about `{name}`");
        found.push(
            Diagnostic::new(Code::RuleOtherClass, rule.span, message)
                .hint("give the other class a `represent` of its own"),
        );
    }
    let walk = Walk::over(conceptual, subclasses, representation, class);
    let silent = foreign || !walk.unknown.is_empty();
    for (index, rule) in representation.rules.iter().enumerate() {
        if walk.unknown.contains(&index) {
            let message = format!("`{name}` has no such field");
            found.push(
                Diagnostic::new(Code::RuleUnknownField, rule.span, message)
                    .hint(field_hint(conceptual, rule, class)),
            );
        } else if applies(conceptual, rule, class) && !walk.reached.contains(&index) {
            found.push(never_reached(rule));
        }
    }
    // What a misspelt rule was to take is missing only because of it.
    if let Some(missing) = walk.missing.filter(|_| !silent) {
        found.push(misses(conceptual, representation, class, &missing));
    }
}

fn field_hint(conceptual: &Conceptual, rule: &Rule, class: ClassId) -> String {
    let names = conceptual.all_members(class).map(|member| conceptual.member_name(member));
    let written = rule.steps.iter().find_map(|step| match step {
        RuleStep::Field { name, .. } => Some(name.as_str()),
        RuleStep::AnyField { .. } | RuleStep::EachAtom => None,
    });
    match written.and_then(|written| crate::suggest::closest(written, names)) {
        Some(near) => format!("did you mean `{}`?", near.name),
        None => "a step names a stored field; `[*]` is for each element of a list".to_owned(),
    }
}

fn never_reached(rule: &Rule) -> Diagnostic {
    Diagnostic::new(Code::RuleNeverReached, rule.span, "this rule takes nothing")
        .hint("the rules above it take all that it matches: put the special ones first")
}

fn misses(
    conceptual: &Conceptual,
    representation: &Representation,
    root: ClassId,
    missing: &Missing,
) -> Diagnostic {
    let Missing { class, path } = missing;
    let message = format!("no rule takes `{path}` of `{}`", conceptual.classes[*class].name);
    Diagnostic::new(Code::RuleMissesField, representation.span, message)
        .hint(format!("end with `/{}/*` for the remaining data", conceptual.classes[root].name))
}

/// Whether the rule is about some aggregates of the class: all of them, or those of a subclass.
fn applies(conceptual: &Conceptual, rule: &Rule, class: ClassId) -> bool {
    rule.class.is_none_or(|of| conceptual.is_kind_of(of, class))
}

/// A rule that still matches, and how many of its steps are taken.
type Active = (usize, usize);

struct Missing {
    class: ClassId,
    path: String,
}

struct Walk<'m> {
    conceptual: &'m Conceptual,
    rules: &'m [Rule],
    subclasses: &'m Subclasses,
    /// Rules that take some atom.
    reached: HashSet<usize>,
    /// Rules that match no field at all.
    unknown: HashSet<usize>,
    /// The first atom that no rule takes, and the class of the aggregates that have it.
    missing: Option<Missing>,
    seen: HashSet<(ClassId, Vec<Active>, Option<usize>)>,
    matched: HashSet<usize>,
    /// The class of the aggregates that the walk is about at the moment.
    aggregate: ClassId,
}

impl<'m> Walk<'m> {
    fn over(
        conceptual: &'m Conceptual,
        subclasses: &'m Subclasses,
        representation: &'m Representation,
        class: ClassId,
    ) -> Self {
        let mut walk = Self {
            conceptual,
            rules: &representation.rules,
            subclasses,
            reached: HashSet::new(),
            unknown: HashSet::new(),
            missing: None,
            seen: HashSet::new(),
            matched: HashSet::new(),
            aggregate: class,
        };
        for (judge, classes) in walk.judged_alike(class) {
            walk.aggregates(judge, &classes);
        }
        walk.unknown = (0..walk.rules.len())
            .filter(|&rule| walk.rules.get(rule).is_some_and(|rule| applies(conceptual, rule, class)))
            .filter(|&rule| !walk.matched.contains(&rule) && !walk.steps(rule).is_empty())
            .collect();
        walk
    }

    /// The classes that an aggregate can be of, together if the same rules are about them: those about the nearest
    /// class upwards that some rule names, by which they go. Together, since a wide hierarchy costs once then.
    fn judged_alike(&self, root: ClassId) -> Vec<(ClassId, Vec<ClassId>)> {
        let named: HashSet<ClassId> = self.rules.iter().filter_map(|rule| rule.class).collect();
        let mut groups: Vec<(ClassId, Vec<ClassId>)> = vec![(root, Vec::new())];
        let mut open = vec![(root, 0)];
        while let Some((class, mut group)) = open.pop() {
            if class != root && named.contains(&class) {
                group = groups.len();
                groups.push((class, Vec::new()));
            }
            let below = self.subclasses.get(&class).map(Vec::as_slice).unwrap_or_default();
            open.extend(below.iter().rev().map(|&below| (below, group)));
            // Without any subclass there are no aggregates, which is said elsewhere; its own fields are fields.
            let is_abstract = self.conceptual.classes[class].kind == ClassKind::AbstractEntity;
            if (!is_abstract || (class == root && below.is_empty()))
                && let Some((_, classes)) = groups.get_mut(group)
            {
                classes.push(class);
            }
        }
        groups
    }

    /// Aggregates of these classes, about which the rules are that are about `judge`.
    fn aggregates(&mut self, judge: ClassId, classes: &[ClassId]) {
        let lineage = self.conceptual.lineage(judge);
        let is_about = |rule: &Rule| rule.class.is_none_or(|of| lineage.contains(&of));
        let about = self.rules.iter().enumerate().filter(|(_, rule)| is_about(rule));
        let (whole, inside): (Vec<_>, Vec<_>) = about.partition(|(_, rule)| rule.steps.is_empty());
        let covered = whole.first().map(|&(rule, _)| rule);
        let active: Vec<Active> = inside.into_iter().map(|(rule, _)| (rule, 0)).collect();
        let mut above = HashSet::new();
        for &class in classes {
            self.aggregate = class;
            let lineage = self.conceptual.lineage(class).into_iter();
            let new: Vec<ClassId> = lineage.take_while(|&class| above.insert(class)).collect();
            for class in new.into_iter().rev() {
                self.members(&self.conceptual.classes[class].members, &active, covered, "");
            }
        }
    }

    fn steps(&self, rule: usize) -> &'m [RuleStep] {
        self.rules.get(rule).map(|rule| rule.steps.as_slice()).unwrap_or_default()
    }

    /// All members that a part can have: those of its class and of the subclasses that it may be of.
    fn members_of_part(&self, class: ClassId) -> Vec<Member> {
        let mut members: Vec<Member> = self.conceptual.all_members(class).collect();
        let mut open: Vec<ClassId> = self.subclasses.get(&class).cloned().unwrap_or_default();
        while let Some(below) = open.pop() {
            members.extend(self.conceptual.classes[below].members.iter().copied());
            open.extend(self.subclasses.get(&below).into_iter().flatten());
        }
        members
    }

    fn part(&mut self, class: ClassId, active: Vec<Active>, covered: Option<usize>, path: &str) {
        if self.seen.insert((class, active.clone(), covered)) {
            self.members(&self.members_of_part(class), &active, covered, path);
        }
    }

    fn members(&mut self, members: &[Member], active: &[Active], covered: Option<usize>, path: &str) {
        for &member in members {
            let (stored, many, part) = match member {
                Member::Attribute(id) => (true, self.conceptual.attributes[id].list, None),
                Member::End(id) => {
                    let end = &self.conceptual.ends[id];
                    let part =
                        (end.kind == RelationshipKind::Composition && end.declared).then_some(end.target);
                    (end.stored, end.cardinality.is_many(), part)
                }
            };
            if stored {
                self.member(self.conceptual.member_name(member), many, part, active, covered, path);
            }
        }
    }

    fn member(
        &mut self,
        name: &str,
        many: bool,
        part: Option<ClassId>,
        active: &[Active],
        covered: Option<usize>,
        path: &str,
    ) {
        let mut next = Vec::new();
        let mut cover = covered;
        for &(rule, taken) in active {
            let steps = self.steps(rule);
            let Some(step) = steps.get(taken) else { continue };
            let is_last = taken + 1 == steps.len();
            let matches = match step {
                // A whole list is one field; only its elements can be entered.
                RuleStep::Field { name: field, each } => {
                    field == name && (many || !each) && (*each || !many || is_last)
                }
                RuleStep::AnyField { each } => (many || !each) && (*each || !many || is_last),
                RuleStep::EachAtom => true,
            };
            if !matches {
                continue;
            }
            self.matched.insert(rule);
            if is_last {
                cover = Some(cover.map_or(rule, |before| before.min(rule)));
            } else if part.is_some() {
                next.push((rule, taken + 1));
            }
        }
        let here = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        // Rules behind the one that covers can take nothing below; they may still name real fields.
        match part {
            Some(part) if !next.is_empty() || cover.is_none() => self.part(part, next, cover, &here),
            Some(_) | None => self.atom(cover, here),
        }
    }

    fn atom(&mut self, cover: Option<usize>, path: String) {
        match cover {
            Some(rule) => {
                self.reached.insert(rule);
            }
            None => {
                self.missing.get_or_insert(Missing { class: self.aggregate, path });
            }
        }
    }
}
