//! What a path can start at, and where it leads.

use super::{Resolver, first_position};
use crate::syntax::ast::{Ident, PathText};
use askloom_model::{
    ClassId, Code, Diagnostic, EndId, Hop, Leaf, Member, Path, Position, PositionId, Span, Table,
};
use std::collections::{HashMap, HashSet};

/// The positions of a statement and the names under which they are known.
#[derive(Debug)]
pub(super) struct Scope<'a> {
    pub(super) main: ClassId,
    pub(super) positions: Table<PositionId, Position>,
    aliases: HashMap<&'a str, (Ident<'a>, PositionId)>,
    joined: HashMap<(PositionId, Member), PositionId>,
    /// Aliases of joins that were said to be wrong.
    broken: HashSet<&'a str>,
}

/// Nobody joins more; what does is made by a machine to do harm.
const MAX_POSITIONS: usize = 1024;

/// Where a path may cross a to-many hop without a JOIN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Crossing {
    /// In WHERE it means "some".
    Some,
    /// Anywhere else it needs a JOIN.
    NeedsJoin,
    /// A collection holds one row an instance.
    Never,
}

impl<'a> Scope<'a> {
    pub(super) fn new(main: ClassId) -> Self {
        let positions = super::main_position(main);
        Self { main, positions, aliases: HashMap::new(), joined: HashMap::new(), broken: HashSet::new() }
    }

    /// Makes a position known under a name. The earlier alias, if the name is taken.
    pub(super) fn introduce(&mut self, alias: Ident<'a>, position: PositionId) -> Option<Ident<'a>> {
        if let Some((before, _)) = self.aliases.get(alias.text) {
            return Some(*before);
        }
        self.positions[position].alias = Some(alias.text.to_owned());
        self.aliases.insert(alias.text, (alias, position));
        None
    }

    /// The joined position that hangs on `parent` by this step.
    fn joined(&self, parent: PositionId, step: Member) -> Option<PositionId> {
        self.joined.get(&(parent, step)).copied()
    }

    /// The same, made if there is none.
    pub(super) fn join(
        &mut self,
        parent: PositionId,
        step: Member,
        class: Option<ClassId>,
        outer: bool,
    ) -> PositionId {
        if let Some(position) = self.joined(parent, step) {
            // Outer only if every path through it is.
            self.positions[position].outer &= outer;
            return position;
        }
        let hop = Some(Hop { parent, step });
        let position = self.positions.push(Position { class, from: hop, outer, alias: None });
        self.joined.insert((parent, step), position);
        position
    }

    /// Remembers an alias whose join could not be understood.
    pub(super) fn break_alias(&mut self, alias: Ident<'a>) {
        self.broken.insert(alias.text);
    }

    /// Every position on the way to one that is joined inner is inner, too.
    fn pass(&mut self, position: PositionId, outer: bool) {
        let mut current = Some(position);
        while let Some(position) = current {
            self.positions[position].outer &= outer;
            current = self.positions[position].from.map(|hop| hop.parent);
        }
    }

    pub(super) fn alias(&self, name: &str) -> Option<PositionId> {
        self.aliases.get(name).map(|(_, position)| *position)
    }

    /// All aliases, in the order of the text.
    fn alias_names(&self) -> Vec<&'a str> {
        let mut aliases: Vec<_> = self.aliases.values().map(|(alias, _)| *alias).collect();
        aliases.sort_by_key(|alias| alias.span);
        aliases.into_iter().map(|alias| alias.text).collect()
    }

    fn alias_in_any_case(&self, name: &str) -> Option<(&'a str, PositionId)> {
        let found = self.alias_names().into_iter().find(|alias| alias.eq_ignore_ascii_case(name))?;
        Some((found, self.alias(found)?))
    }
}

/// Where the first name of a path led, and how many names it took.
struct Start {
    position: PositionId,
    taken: usize,
}

impl<'a> Resolver<'_, 'a, '_> {
    /// An alias introduced before, else the main entity, else a member of it.
    fn path_start(&mut self, scope: &Scope<'a>, first: Ident<'a>) -> Start {
        let main = first_position();
        if let Some(position) = scope.alias(first.text) {
            return Start { position, taken: 1 };
        }
        if self.class_name(scope.main) == first.text {
            return Start { position: main, taken: 1 };
        }
        if self.member_exactly(scope.main, first.text).is_some() {
            return Start { position: main, taken: 0 };
        }
        if let Some((alias, position)) = scope.alias_in_any_case(first.text) {
            self.wrong_case(first, alias);
            return Start { position, taken: 1 };
        }
        if self.class_name(scope.main).eq_ignore_ascii_case(first.text) {
            let declared = self.class_name(scope.main).to_owned();
            self.wrong_case(first, &declared);
            return Start { position: main, taken: 1 };
        }
        Start { position: main, taken: 0 }
    }

    /// A path to a value. `None` if it leads nowhere, which has then been said.
    pub(super) fn path(
        &mut self,
        scope: &Scope<'a>,
        text: &PathText<'a>,
        crossing: Crossing,
    ) -> Option<Path> {
        if text.star {
            let message = "`.*` stands only in SELECT";
            self.say(Diagnostic::new(Code::PathThroughAttribute, text.span, message));
            return None;
        }
        let first = *text.segments.first()?;
        if scope.broken.contains(first.text) {
            return None;
        }
        let start = self.path_start(scope, first);
        let mut walk =
            Walk { position: start.position, hops: Vec::new(), class: scope.positions[start.position].class };
        let rest = text.segments.get(start.taken..).unwrap_or_default();
        let Some((last, before)) = rest.split_last() else {
            return Some(Path { position: walk.position, hops: Vec::new(), leaf: Leaf::Itself });
        };
        for segment in before {
            self.hop(scope, &mut walk, *segment, crossing)?;
        }
        self.leaf(scope, walk, *last)
    }

    fn member_of(&mut self, scope: &Scope<'a>, walk: &Walk, name: Ident<'a>) -> Option<Member> {
        let Some(class) = walk.class else {
            self.through_attribute(name);
            return None;
        };
        if let Some(member) = self.member_exactly(class, name.text) {
            return Some(member);
        }
        if let Some(member) = self.member_in_any_case(class, name) {
            return Some(member);
        }
        let at_main = walk.hops.is_empty() && walk.position == first_position();
        let aliases = if at_main { scope.alias_names() } else { Vec::new() };
        self.unknown_member(class, name, &aliases);
        None
    }

    fn through_attribute(&mut self, name: Ident<'a>) {
        let message = format!("nothing is inside a plain value: `{}` leads nowhere", name.text);
        self.say(
            Diagnostic::new(Code::PathThroughAttribute, name.span, message)
                .hint("only relationships can be followed; a JSON attribute is opaque"),
        );
    }

    fn hop(&mut self, scope: &Scope<'a>, walk: &mut Walk, name: Ident<'a>, crossing: Crossing) -> Option<()> {
        let member = self.member_of(scope, walk, name)?;
        if walk.hops.is_empty()
            && let Some(position) = scope.joined(walk.position, member)
        {
            walk.position = position;
            walk.class = scope.positions[position].class;
            return Some(());
        }
        let Member::End(end) = member else {
            walk.class = None;
            return Some(());
        };
        if self.model.conceptual.ends[end].cardinality.is_many() {
            self.crossing(crossing, name, end)?;
        }
        walk.hops.push(end);
        walk.class = Some(self.model.conceptual.ends[end].target);
        Some(())
    }

    fn crossing(&mut self, crossing: Crossing, name: Ident<'a>, end: EndId) -> Option<()> {
        let span = self.model.conceptual.ends[end].span;
        let diagnostic = match crossing {
            Crossing::Some => return Some(()),
            Crossing::NeedsJoin => {
                let message = format!("`{}` leads to many: a path through it needs a JOIN", name.text);
                Diagnostic::new(Code::ManyWithoutJoin, name.span, message)
                    .hint(format!("`JOIN {} AS x` gives one row for each", name.text))
            }
            Crossing::Never => {
                let message =
                    format!("`{}` leads to many: a collection holds one row an instance", name.text);
                Diagnostic::new(Code::CollectionPath, name.span, message)
            }
        };
        self.say(diagnostic.also(span, "declared here"));
        None
    }

    fn leaf(&mut self, scope: &Scope<'a>, walk: Walk, name: Ident<'a>) -> Option<Path> {
        let member = self.member_of(scope, &walk, name)?;
        // One path twice is one position: a joined list is its element.
        if walk.hops.is_empty()
            && self.is_many(member)
            && let Some(position) = scope.joined(walk.position, member)
        {
            return Some(Path { position, hops: Vec::new(), leaf: Leaf::Itself });
        }
        let leaf = match member {
            Member::Attribute(attribute) => Leaf::Attribute(attribute),
            Member::End(end) => Leaf::Reference(end),
        };
        Some(Path { position: walk.position, hops: walk.hops, leaf })
    }

    /// The joined position that a path names, to-one or to-many.
    pub(super) fn joined_position(&self, scope: &Scope<'a>, path: &Path) -> Option<PositionId> {
        match path.leaf {
            Leaf::Itself if path.hops.is_empty() => Some(path.position),
            Leaf::Reference(end) if path.hops.is_empty() => scope.joined(path.position, Member::End(end)),
            Leaf::Itself
            | Leaf::Reference(_)
            | Leaf::Attribute(_)
            | Leaf::Bucket(_)
            | Leaf::TimeBucket(..) => None,
        }
    }

    pub(super) fn is_many(&self, member: Member) -> bool {
        match member {
            Member::Attribute(id) => self.model.conceptual.attributes[id].list,
            Member::End(id) => self.model.conceptual.ends[id].cardinality.is_many(),
        }
    }

    /// A JOIN path: every name on it becomes a position.
    pub(super) fn join_path(
        &mut self,
        scope: &mut Scope<'a>,
        text: &PathText<'a>,
        outer: bool,
    ) -> Option<PositionId> {
        let first = *text.segments.first()?;
        if scope.broken.contains(first.text) {
            return None;
        }
        let start = self.path_start(scope, first);
        let mut position = start.position;
        scope.pass(position, outer);
        for segment in text.segments.get(start.taken..).unwrap_or_default() {
            let walk = Walk { position, hops: Vec::new(), class: scope.positions[position].class };
            let member = self.member_of(scope, &walk, *segment)?;
            let class = match member {
                Member::End(end) => Some(self.model.conceptual.ends[end].target),
                Member::Attribute(id) if self.model.conceptual.attributes[id].list => None,
                Member::Attribute(id) => {
                    let declared = self.model.conceptual.attributes[id].span;
                    self.join_of_attribute(*segment, declared);
                    return None;
                }
            };
            if scope.positions.len() >= MAX_POSITIONS {
                self.too_many(text.span, "positions in one query", MAX_POSITIONS);
                return None;
            }
            position = scope.join(position, member, class, outer);
        }
        if position == first_position() {
            let message = "this is the main entity itself: there is nothing to join";
            self.say(Diagnostic::new(Code::JoinOfAttribute, text.span, message));
            return None;
        }
        Some(position)
    }

    fn join_of_attribute(&mut self, name: Ident<'a>, declared: Span) {
        let message = format!("`{}` is an attribute with one value: there is nothing to join", name.text);
        self.say(
            Diagnostic::new(Code::JoinOfAttribute, name.span, message)
                .also(declared, "declared here")
                .hint("JOIN follows a relationship or a list"),
        );
    }
}

/// How far a path has come.
struct Walk {
    position: PositionId,
    hops: Vec<EndId>,
    class: Option<ClassId>,
}
