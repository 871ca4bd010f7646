//! Looking names up: exactly, else in any case with a warning, else a guess at what was meant.

use super::Resolver;
use crate::suggest::{Near, closest, did_you_mean, spelled};
use crate::syntax::ast::{Ident, PathText};
use crate::syntax::{NodeId, Tree};
use askloom_model::{ClassId, Code, Diagnostic, Id, Member, Span};
use std::collections::{HashMap, HashSet};

#[derive(Debug, Default)]
pub(super) struct Names<'a> {
    pub(super) classes: HashMap<&'a str, ClassId>,
    members: Vec<Members<'a>>,
    /// Members that were said to be wrong: whoever names one has named something real.
    broken: HashSet<(ClassId, &'a str)>,
    /// Made when first needed: names in lower case, and who bears them.
    folded_classes: Option<HashMap<String, Vec<ClassId>>>,
    folded_members: HashMap<ClassId, HashMap<String, Vec<Member>>>,
}

/// The own members of one class by name. Most classes have a dozen: looking through those is faster than any
/// table, and stays where the class is in memory.
#[derive(Debug)]
enum Members<'a> {
    Few(Vec<(&'a str, Member)>),
    Many(HashMap<&'a str, Member>),
}

const FEW: usize = 16;

impl<'a> Members<'a> {
    fn get(&self, name: &str) -> Option<Member> {
        match self {
            Self::Few(members) => members.iter().find(|(n, _)| *n == name).map(|(_, member)| *member),
            Self::Many(members) => members.get(name).copied(),
        }
    }

    fn insert(&mut self, name: &'a str, member: Member) {
        match self {
            Self::Few(members) if members.len() >= FEW => {
                let mut many: HashMap<&'a str, Member> = members.drain(..).collect();
                many.insert(name, member);
                *self = Self::Many(many);
            }
            Self::Few(members) => members.push((name, member)),
            Self::Many(members) => {
                members.insert(name, member);
            }
        }
    }
}

impl<'a> Names<'a> {
    pub(super) fn insert_member(&mut self, class: ClassId, name: &'a str, member: Member) {
        while self.members.len() <= class.index() {
            self.members.push(Members::Few(Vec::new()));
        }
        if let Some(members) = self.members.get_mut(class.index()) {
            members.insert(name, member);
        }
    }

    /// Remembers a member that is declared, though it cannot be understood.
    pub(super) fn break_member(&mut self, class: ClassId, name: &'a str) {
        self.broken.insert((class, name));
    }

    /// Forgets names in lower case: new members have come.
    pub(super) fn forget_folded(&mut self) {
        self.folded_members.clear();
    }

    pub(super) fn own_member(&self, class: ClassId, name: &str) -> Option<Member> {
        self.members.get(class.index())?.get(name)
    }
}

/// Names of one kind of declaration, to find a second one.
#[derive(Debug, Default)]
pub(super) struct Declared<'a> {
    names: HashMap<&'a str, Span>,
    /// In the order of the text.
    order: Vec<&'a str>,
    /// Made when first needed: the first name that is the same but for case.
    folded: Option<HashMap<String, &'a str>>,
}

impl<'a> Declared<'a> {
    /// Where the name was declared before, if it was.
    pub(super) fn declare(&mut self, name: Ident<'a>) -> Option<Span> {
        match self.names.entry(name.text) {
            std::collections::hash_map::Entry::Occupied(before) => Some(*before.get()),
            std::collections::hash_map::Entry::Vacant(free) => {
                free.insert(name.span);
                self.order.push(name.text);
                None
            }
        }
    }

    /// The declared name, exactly or in another case.
    pub(super) fn find(&mut self, name: &str) -> Option<&'a str> {
        if let Some((exact, _)) = self.names.get_key_value(name) {
            return Some(exact);
        }
        let order = &self.order;
        let folded = self
            .folded
            .get_or_insert_with(|| order.iter().rev().map(|name| (name.to_lowercase(), *name)).collect());
        folded.get(&name.to_lowercase()).copied()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.order.iter().copied()
    }
}

impl<'a> Resolver<'_, 'a, '_> {
    /// The name of a class where nothing but a name can stand.
    pub(super) fn class_at(&mut self, tree: &Tree<'a>, node: NodeId) -> Option<(ClassId, Ident<'a>)> {
        let text = tree.path_in(node)?;
        self.only_a_name(&text)?;
        let name = *text.segments.first()?;
        Some((self.class(name)?, name))
    }

    /// Refuses a path where one name is due.
    pub(super) fn only_a_name(&mut self, text: &PathText<'a>) -> Option<()> {
        if text.segments.len() == 1 && !text.star {
            return Some(());
        }
        let message = format!("`{}` is a path, and here stands the name of an entity", text.joined("."));
        self.say(Diagnostic::new(Code::UnknownClass, text.span, message).hint("name the entity alone"));
        None
    }

    /// Says that a name is declared twice. True if it is.
    pub(super) fn declared_before(&mut self, name: Ident<'a>, before: Option<Span>) -> bool {
        let Some(before) = before else { return false };
        self.say(
            Diagnostic::new(
                Code::DuplicateDeclaration,
                name.span,
                format!("`{}` is declared twice", name.text),
            )
            .here("again here")
            .also(before, "first declared here"),
        );
        true
    }

    pub(super) fn class(&mut self, name: Ident<'a>) -> Option<ClassId> {
        if let Some(&class) = self.names.classes.get(name.text) {
            return Some(class);
        }
        let candidates = self.folded_classes().get(&name.text.to_lowercase()).cloned().unwrap_or_default();
        match candidates.as_slice() {
            [] => {
                self.unknown_class(name);
                None
            }
            [class] => {
                let declared = self.class_name(*class).to_owned();
                self.wrong_case(name, &declared);
                Some(*class)
            }
            several => {
                let spans =
                    several.iter().map(|&c| self.model.conceptual.classes[c].span).collect::<Vec<_>>();
                self.ambiguous(name, &spans);
                None
            }
        }
    }

    fn folded_classes(&mut self) -> &HashMap<String, Vec<ClassId>> {
        let classes = &self.names.classes;
        self.names.folded_classes.get_or_insert_with(|| {
            let mut folded: HashMap<String, Vec<ClassId>> = HashMap::new();
            for (name, &class) in classes {
                folded.entry(name.to_lowercase()).or_default().push(class);
            }
            folded.values_mut().for_each(|classes| classes.sort_unstable());
            folded
        })
    }

    fn unknown_class(&mut self, name: Ident<'a>) {
        let message = format!("no entity or value object is called `{}`", name.text);
        let diagnostic = Diagnostic::new(Code::UnknownClass, name.span, message);
        if self.diagnostics.is_full() {
            return self.say(diagnostic);
        }
        let classes = self.model.conceptual.classes.iter().map(|(_, class)| class.name.as_str());
        let diagnostic = match closest(name.text, classes) {
            Some(near) => did_you_mean(diagnostic, name.span, near),
            None => diagnostic.hint("declare it, or import the file that does"),
        };
        self.say(diagnostic);
    }

    pub(super) fn wrong_case(&mut self, name: Ident<'_>, declared: &str) {
        self.say(
            Diagnostic::new(
                Code::WrongCase,
                name.span,
                format!("`{}` is declared as `{declared}`", name.text),
            )
            .replace(name.span, spelled(declared)),
        );
    }

    pub(super) fn ambiguous(&mut self, name: Ident<'_>, candidates: &[Span]) {
        let message = format!("`{}` fits several names that differ in case", name.text);
        let mut diagnostic = Diagnostic::new(Code::AmbiguousName, name.span, message)
            .hint("write one of them exactly as it is declared");
        for &span in candidates.iter().take(4) {
            diagnostic = diagnostic.also(span, "this one?");
        }
        self.say(diagnostic);
    }

    /// A member of a class or of its ancestors, by its exact name.
    pub(super) fn member_exactly(&self, class: ClassId, name: &str) -> Option<Member> {
        let lookup = |class| self.names.own_member(class, name);
        lookup(class).or_else(|| {
            self.model.conceptual.classes[class].parent?;
            self.model.conceptual.lineage(class).into_iter().skip(1).find_map(lookup)
        })
    }

    /// A member in another case, with a warning; or nothing, with nothing said.
    pub(super) fn member_in_any_case(&mut self, class: ClassId, name: Ident<'a>) -> Option<Member> {
        if self.is_broken_member(class, name.text) {
            return None;
        }
        let folded = name.text.to_lowercase();
        let mut candidates = Vec::new();
        for class in self.model.conceptual.lineage(class) {
            candidates.extend(self.folded_members(class).get(&folded).into_iter().flatten().copied());
        }
        match candidates.as_slice() {
            [] => None,
            [member] => {
                let declared = self.model.conceptual.member_name(*member).to_owned();
                self.wrong_case(name, &declared);
                Some(*member)
            }
            [first, ..] => {
                let spans = candidates.iter().map(|&m| self.member_span(m)).collect::<Vec<_>>();
                self.ambiguous(name, &spans);
                Some(*first)
            }
        }
    }

    fn folded_members(&mut self, class: ClassId) -> &HashMap<String, Vec<Member>> {
        let conceptual = &self.model.conceptual;
        self.names.folded_members.entry(class).or_insert_with(|| {
            let mut folded: HashMap<String, Vec<Member>> = HashMap::new();
            for &member in &conceptual.classes[class].members {
                folded.entry(conceptual.member_name(member).to_lowercase()).or_default().push(member);
            }
            folded
        })
    }

    fn is_broken_member(&self, class: ClassId, name: &str) -> bool {
        let lineage = self.model.conceptual.lineage(class);
        lineage.into_iter().any(|class| self.names.broken.contains(&(class, name)))
    }

    /// Says that a class has no such member, with the nearest one as a fix.
    pub(super) fn unknown_member(&mut self, class: ClassId, name: Ident<'a>, more: &[&str]) {
        if self.is_broken_member(class, name.text) {
            return;
        }
        let class_name = self.class_name(class).to_owned();
        let message = format!("`{class_name}` has no member `{}`", name.text);
        let diagnostic = Diagnostic::new(Code::UnknownName, name.span, message);
        if self.diagnostics.is_full() {
            return self.say(diagnostic);
        }
        let conceptual = &self.model.conceptual;
        let members = conceptual.all_members(class).map(|member| conceptual.member_name(member));
        let near = closest(name.text, members.chain(more.iter().copied()));
        let broken = conceptual.lineage(class).into_iter().any(|class| {
            let place = self.places.classes.get(class.index()).copied();
            place.is_some_and(|place| self.tree(place).is_broken(place.node))
        });
        let place = conceptual.classes[class].span;
        let diagnostic = match near {
            // In a class that could not be read as a whole, the name may well be there.
            Some(near) if broken => did_you_mean(diagnostic, name.span, Near { sure: false, ..near }),
            Some(near) => did_you_mean(diagnostic, name.span, near),
            None => diagnostic.also(place, format!("`{class_name}` is declared here")),
        };
        self.say(diagnostic);
    }
}
