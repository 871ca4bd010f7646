//! Attributes and relationships of a class, as declared.

use super::annotations::{Found, Target};
use super::inverses::Clause;
use super::{Place, Resolver, units};
use crate::syntax::ast::{Ident, LiteralText};
use crate::syntax::{Keyword, NodeId, NodeKind, TokenKind, Tree};
use askloom_model::{
    Attribute, Cardinality, ClassId, ClassKind, Code, Constant, Default as DefaultValue, Diagnostic, End, Id,
    Integrity, Member, MemberStatistics, OnDelete, RelationshipKind, Type,
};

/// No store takes a record with more fields than this.
const MAX_MEMBERS: usize = 4096;

impl<'t, 'a> Resolver<'t, 'a, '_> {
    pub(super) fn declare_members(&mut self) {
        for (index, place) in self.places.classes.clone().into_iter().enumerate() {
            let class = ClassId::from_index(index);
            let tree = self.tree(place);
            for node in tree.children(place.node) {
                if self.model.conceptual.classes[class].members.len() >= MAX_MEMBERS {
                    self.members_beyond(class, place, node);
                    break;
                }
                match tree.kind(node) {
                    NodeKind::Attribute => self.attribute(class, Place { node, ..place }),
                    NodeKind::Relationship => self.relationship(class, Place { node, ..place }),
                    _not_a_member => {}
                }
            }
        }
    }

    /// Says that a class has too many members, and remembers the names of the rest.
    fn members_beyond(&mut self, class: ClassId, place: Place, from: NodeId) {
        let span = self.model.conceptual.classes[class].span;
        self.too_many(span, "members in a class", MAX_MEMBERS);
        let tree = self.tree(place);
        for node in tree.children(place.node).filter(|&node| node >= from) {
            if let Some(name) = tree.name(node) {
                self.names.break_member(class, name.text);
            }
        }
    }

    fn attribute(&mut self, class: ClassId, place: Place) {
        let tree = self.tree(place);
        let Some(name) = tree.name(place.node) else { return };
        let type_node = tree.child(place.node, NodeKind::TypeName);
        let ty = match type_node {
            Some(node) => self.type_of(tree, node, name.span),
            // `id clientId` in a dialect.
            None => Some(Type::Text),
        };
        let cardinality = self.cardinality(tree, place.node);
        let list = cardinality.is_some_and(Cardinality::is_many);
        let optional = cardinality == Some(Cardinality::OPTIONAL);
        let target = if list { Target::ListAttribute } else { Target::Attribute };
        self.described.insert((place.tree, place.node), target);
        let found = self.annotations(place, target);
        let Some(ty) = ty else { return self.names.break_member(class, name.text) };
        let id = tree.has_keyword(place.node, Keyword::Id);
        let unique_type =
            type_node.and_then(|node| tree.word(node)).is_some_and(|w| w.text.eq_ignore_ascii_case("unique"));
        let unique = !id && (unique_type || tree.has_keyword(place.node, Keyword::Unique));
        let default = self.default_value(tree, place.node, &ty, list);
        let attribute = Attribute {
            class,
            name: name.text.to_owned(),
            optional,
            list,
            id,
            unique,
            immutable: tree.has_keyword(place.node, Keyword::Immutable),
            default,
            statistics: self.member_statistics(tree, &found, Some(&ty)),
            highly_updated: found.highly_updated,
            ty,
            span: name.span,
        };
        self.check_attribute(&attribute, tree, place.node, cardinality);
        let member = Member::Attribute(self.model.conceptual.attributes.push(attribute));
        self.add_member(class, name, member);
    }

    /// Puts a member under its name, unless the name is taken.
    pub(super) fn add_member(&mut self, class: ClassId, name: Ident<'a>, member: Member) {
        if let Some(before) = self.names.own_member(class, name.text) {
            let owner = self.model.conceptual.classes[class].name.clone();
            let message = format!("`{owner}` already has a member `{}`", name.text);
            let before = self.member_span(before);
            self.say(
                Diagnostic::new(Code::DuplicateMember, name.span, message)
                    .here("again here")
                    .also(before, "first declared here"),
            );
            return;
        }
        self.names.insert_member(class, name.text, member);
        self.model.conceptual.classes[class].members.push(member);
    }

    fn check_attribute(
        &mut self,
        attribute: &Attribute,
        tree: &Tree<'a>,
        node: NodeId,
        cardinality: Option<Cardinality>,
    ) {
        let span = attribute.span;
        let name = &attribute.name;
        let in_value = self.model.conceptual.classes[attribute.class].kind == ClassKind::Value;
        if attribute.id {
            self.check_identifier(attribute, in_value);
        } else if name.eq_ignore_ascii_case("id")
            && !in_value
            && tree.child(node, NodeKind::TypeName).is_some()
        {
            self.say(
                Diagnostic::new(
                    Code::FieldCalledId,
                    span,
                    format!("`{name}` is a field here, not the identifier"),
                )
                .hint("`id id: uuid` makes it the identifier")
                .suggest(
                    "make it the identifier",
                    vec![askloom_model::Edit { span: span.before(), text: "id ".to_owned() }],
                ),
            );
        }
        if let Some(checked) = tree.own_keyword(node, Keyword::Checked) {
            let message = "`checked` is for references";
            self.say(Diagnostic::new(Code::BadModifier, tree.token_span(checked), message));
        }
        if attribute.unique && (attribute.list || !attribute.ty.is_ordered() || in_value) {
            let message = format!("`{name}` cannot be unique");
            self.say(
                Diagnostic::new(Code::BadModifier, span, message)
                    .hint("`unique` is for one comparable value of an entity"),
            );
        }
        let odd = cardinality.is_some_and(|c| c.is_many() && c != Cardinality::MANY)
            || cardinality == Some(Cardinality::ONE);
        if odd {
            let message = "a list of values is written `[*]`";
            self.say(
                Diagnostic::new(Code::BadCardinality, span, message).hint("`@max(n)` says how many at most"),
            );
        }
    }

    fn check_identifier(&mut self, attribute: &Attribute, in_value: bool) {
        let name = &attribute.name;
        if in_value {
            return self.identifier_in_value(name, attribute.span);
        }
        let problem = if attribute.optional {
            "optional"
        } else if attribute.list {
            "a list"
        } else if !attribute.ty.is_ordered() {
            "of a type without order"
        } else {
            return;
        };
        let message = format!("the identifier `{name}` is {problem}");
        self.say(
            Diagnostic::new(Code::BadIdentifier, attribute.span, message)
                .hint("every instance has exactly one value for each part of its identifier"),
        );
    }

    fn identifier_in_value(&mut self, name: &str, span: askloom_model::Span) {
        let message = format!("`{name}` identifies nothing: a value object has no identity of its own");
        self.say(
            Diagnostic::new(Code::IdentifierInValue, span, message)
                .hint("drop `id`, or declare an `entity`; a part can be an entity too"),
        );
    }

    fn default_value(
        &mut self,
        tree: &'t Tree<'a>,
        node: NodeId,
        ty: &Type,
        list: bool,
    ) -> Option<DefaultValue> {
        let default = tree.child(node, NodeKind::DefaultValue)?;
        let value = tree.children(default).next()?;
        let span = tree.span(value);
        if list {
            self.say(Diagnostic::new(Code::BadDefault, span, "a list has no default: it starts empty"));
            return None;
        }
        let constant = match tree.kind(value) {
            NodeKind::Literal => tree.literal(value).map(|literal| self.try_constant(tree, &literal, ty)),
            NodeKind::Path => tree.word(value).map(|word| enum_word(word, ty)),
            NodeKind::Call => return self.call_default(tree, value, ty),
            _parameter_or_other => None,
        };
        match constant {
            Some(Ok(Constant::Null)) => {
                let message = "a default of null says nothing: make the attribute optional with `?`";
                self.say(Diagnostic::new(Code::BadDefault, span, message));
                None
            }
            Some(Ok(constant)) => Some(DefaultValue::Constant(constant)),
            Some(Err(message)) => {
                self.say(Diagnostic::new(Code::BadDefault, span, message));
                None
            }
            None => {
                let message = format!("a default is a literal of type {ty}, `now()` or `uuid()`");
                self.say(Diagnostic::new(Code::BadDefault, span, message));
                None
            }
        }
    }

    fn call_default(&mut self, tree: &Tree<'a>, node: NodeId, ty: &Type) -> Option<DefaultValue> {
        let word = tree.word(node)?;
        match (word.text.to_ascii_lowercase().as_str(), ty) {
            ("now", Type::Timestamp(_) | Type::Date | Type::Time) => return Some(DefaultValue::Now),
            ("uuid", Type::Uuid) => return Some(DefaultValue::NewUuid),
            _other => {}
        }
        let message = format!("`{}()` is no default for {ty}", word.text);
        self.say(
            Diagnostic::new(Code::BadDefault, tree.span(node), message)
                .hint("`now()` is for timestamp, date and time, `uuid()` for uuid"),
        );
        None
    }

    pub(super) fn cardinality(&mut self, tree: &Tree<'a>, node: NodeId) -> Option<Cardinality> {
        let mut nodes = tree.children_of(node, NodeKind::Cardinality);
        let first = nodes.next()?;
        if let Some(second) = nodes.next() {
            self.say(
                Diagnostic::new(Code::BadCardinality, tree.span(second), "a list is never null: it is empty")
                    .replace(tree.span(second), ""),
            );
        }
        if tree.own_token(first, TokenKind::Question).is_some() {
            return Some(Cardinality::OPTIONAL);
        }
        let bounds = self.bounds(tree, first)?;
        let cardinality = match bounds.as_slice() {
            [None] => Cardinality::MANY,
            [Some(n)] => Cardinality { min: *n, max: Some(*n) },
            [Some(min), max] => Cardinality { min: *min, max: *max },
            _unparsed => return None,
        };
        if cardinality.max.is_some_and(|max| max == 0 || max < cardinality.min) {
            self.say(
                Diagnostic::new(
                    Code::BadCardinality,
                    tree.span(first),
                    "nothing can satisfy this cardinality",
                )
                .hint("write `[min..max]` with max at least 1, or `[*]`"),
            );
            return Some(Cardinality::MANY);
        }
        Some(cardinality)
    }

    /// `None` is `*`.
    fn bounds(&mut self, tree: &Tree<'a>, node: NodeId) -> Option<Vec<Option<u32>>> {
        let mut bounds = Vec::new();
        for token in tree.own_tokens(node) {
            match tree.token(token).kind {
                TokenKind::Star => bounds.push(None),
                TokenKind::Number => {
                    let number = units::whole(tree.token_text(token)).and_then(|n| u32::try_from(n).ok());
                    if number.is_none() {
                        let message = "a bound is a whole number of at most 32 bits";
                        self.say(Diagnostic::new(Code::BadNumber, tree.token_span(token), message));
                        return None;
                    }
                    bounds.push(number);
                }
                _bracket => {}
            }
        }
        Some(bounds)
    }

    fn relationship(&mut self, class: ClassId, place: Place) {
        let tree = self.tree(place);
        let node = place.node;
        let (Some(name), Some(target)) =
            (tree.name(node), tree.child(node, NodeKind::TypeName).and_then(|node| tree.word(node)))
        else {
            return;
        };
        let cardinality = self.cardinality(tree, node).unwrap_or(Cardinality::ONE);
        let Some(target_class) = self.class(target) else { return self.names.break_member(class, name.text) };
        let kind = if tree.has_keyword(node, Keyword::Part) {
            RelationshipKind::Composition
        } else if tree.has_keyword(node, Keyword::Has) {
            RelationshipKind::Aggregation
        } else {
            RelationshipKind::Association
        };
        let end = End {
            class,
            name: name.text.to_owned(),
            target: target_class,
            kind,
            cardinality,
            inverse: None,
            stored: true,
            declared: true,
            id: tree.has_keyword(node, Keyword::Id),
            unique: tree.has_keyword(node, Keyword::Unique),
            immutable: tree.has_keyword(node, Keyword::Immutable),
            integrity: integrity(tree, node),
            tree: false,
            statistics: MemberStatistics::default(),
            span: name.span,
            declaration: tree.span(node),
        };
        self.check_end(&end, target, tree, node);
        let described = if end.cardinality.is_many() { Target::ToMany } else { Target::ToOne };
        self.described.insert((place.tree, node), described);
        let id = self.model.conceptual.ends.push(end);
        self.end_statistics.push((id, place));
        self.add_member(class, name, Member::End(id));
        if let Some(inverse) = tree.child(node, NodeKind::Inverse) {
            self.inverses.push(Clause { end: id, place: Place { node: inverse, ..place } });
        }
    }

    fn check_end(&mut self, end: &End, target: Ident<'a>, tree: &Tree<'a>, node: NodeId) {
        let to_entity = self.model.conceptual.classes[end.target].kind.is_entity();
        let in_value = self.model.conceptual.classes[end.class].kind == ClassKind::Value;
        let keyword = end.kind.keyword();
        if !to_entity && end.kind != RelationshipKind::Composition {
            let message = format!("`{}` is a value object: nothing can refer to it", target.text);
            let words = tree
                .own_tokens(node)
                .find(|&token| matches!(tree.token(token).keyword, Some(Keyword::Ref | Keyword::Has)));
            let diagnostic = Diagnostic::new(Code::ReferenceToValue, target.span, message)
                .hint("a value object is a `part` of what it belongs to");
            self.say(match words {
                Some(token) => diagnostic.replace(tree.token_span(token), "part"),
                None => diagnostic,
            });
        }
        if end.id && in_value {
            self.identifier_in_value(&end.name, end.span);
        } else if end.id && (end.cardinality != Cardinality::ONE || end.kind == RelationshipKind::Composition)
        {
            let message = format!("`{}` cannot be part of an identifier", end.name);
            self.say(
                Diagnostic::new(Code::BadIdentifier, end.span, message)
                    .hint("only a required to-one reference can: `id ref mailbox: Mailbox`"),
            );
        }
        if end.unique && (end.cardinality.is_many() || end.kind == RelationshipKind::Composition || in_value)
        {
            let message = format!("`unique` does not apply to `{keyword} {}`", end.name);
            self.say(
                Diagnostic::new(Code::BadModifier, end.span, message)
                    .hint("it is for to-one references of an entity"),
            );
        }
        self.check_loose(end, tree, node);
        self.check_on_delete(end, tree, node);
    }

    fn check_loose(&mut self, end: &End, tree: &Tree<'a>, node: NodeId) {
        let Some(loose) = tree.own_keyword(node, Keyword::Loose) else { return };
        let span = tree.token_span(loose);
        let message = if end.kind == RelationshipKind::Composition {
            "a part cannot be loose: it lives and dies with its owner"
        } else if tree.own_keyword(node, Keyword::Checked).is_some() {
            "a reference is `checked` or `loose`, not both"
        } else {
            return;
        };
        self.say(Diagnostic::new(Code::BadModifier, span, message).replace(span, ""));
    }

    fn check_on_delete(&mut self, end: &End, tree: &Tree<'a>, node: NodeId) {
        let checked = tree.own_keyword(node, Keyword::Checked);
        let clause = tree.child(node, NodeKind::OnDelete);
        if let Some(checked) = checked
            && end.kind == RelationshipKind::Composition
        {
            let message = "a part cannot be checked: it lives and dies with its owner";
            self.say(
                Diagnostic::new(Code::BadModifier, tree.token_span(checked), message)
                    .replace(tree.token_span(checked), ""),
            );
            return;
        }
        match (checked, clause) {
            (Some(checked), None) => {
                let message = "a checked reference says what deleting its target does";
                let end_of =
                    tree.child(node, NodeKind::Cardinality).or_else(|| tree.child(node, NodeKind::TypeName));
                let place = end_of.map_or(tree.span(node), |node| tree.span(node)).after();
                self.say(
                    Diagnostic::new(Code::BadOnDelete, tree.token_span(checked), message)
                        .hint("`on delete refuse`, `on delete cascade` or `on delete clear`")
                        .replace(place, " on delete refuse"),
                );
            }
            (None, Some(clause)) => {
                let message = "`on delete` needs `checked` before the reference";
                self.say(Diagnostic::new(Code::BadOnDelete, tree.span(clause), message));
            }
            (Some(_), Some(clause))
                if end.on_delete() == Some(OnDelete::Clear) && end.cardinality.min > 0 =>
            {
                let message = format!("`{}` is required: deleting its target cannot clear it", end.name);
                self.say(
                    Diagnostic::new(Code::BadOnDelete, tree.span(clause), message)
                        .hint("make it optional with `?`, or use `refuse` or `cascade`"),
                );
            }
            (Some(_), Some(_)) | (None, None) => {}
        }
    }

    /// Annotations of relationships, once it is known which ends are to-many.
    pub(super) fn end_statistics(&mut self) {
        for (id, place) in std::mem::take(&mut self.end_statistics) {
            let many = self.model.conceptual.ends[id].cardinality.is_many();
            let found = self.annotations(place, if many { Target::ToMany } else { Target::ToOne });
            let statistics = self.member_statistics(self.tree(place), &found, None);
            let end = &mut self.model.conceptual.ends[id];
            // A declared end can be described here and behind the other end's `inverse`.
            let before = std::mem::take(&mut end.statistics);
            end.statistics = MemberStatistics {
                avg: statistics.avg.or(before.avg),
                max: statistics.max.or(before.max),
                distinct: statistics.distinct.or(before.distinct),
                size_bytes: None,
                skew: statistics.skew.or(before.skew),
                frequencies: if statistics.frequencies.is_empty() {
                    before.frequencies
                } else {
                    statistics.frequencies
                },
            };
            if let Some(span) = found.tree {
                end.tree = end.class == end.target;
                if end.tree {
                    self.trees_of.insert(end.class);
                } else {
                    let message = "`@tree` is for a reference of a class to itself";
                    self.say(Diagnostic::new(Code::MisplacedAnnotation, span, message));
                }
            }
        }
    }

    fn member_statistics(
        &mut self,
        tree: &'t Tree<'a>,
        found: &Found<'a>,
        ty: Option<&Type>,
    ) -> MemberStatistics {
        let mut frequencies = Vec::new();
        for (value, share) in &found.frequencies {
            if value.text.eq_ignore_ascii_case("null") && value.kind == TokenKind::Word {
                frequencies.push((Constant::Null, *share));
                continue;
            }
            let Some(ty) = ty else {
                let message = "a reference has a share of nulls only: `@freq(null 40%)`";
                self.say(Diagnostic::new(Code::BadArgument, value.span, message));
                continue;
            };
            let word = Ident { text: value.text, span: value.span };
            let constant = match value.kind {
                TokenKind::Word | TokenKind::QuotedWord => match value.text {
                    "true" => Ok(Constant::Bool(true)),
                    "false" => Ok(Constant::Bool(false)),
                    _other => enum_word(word, ty),
                },
                TokenKind::Number => self.try_constant(
                    tree,
                    &LiteralText::Number { negative: value.negative, digits: value.text },
                    ty,
                ),
                _text => {
                    let text = LiteralText::Text(crate::syntax::ast::unquote(value.text));
                    self.try_constant(tree, &text, ty)
                }
            };
            match constant {
                Ok(constant) => frequencies.push((constant, *share)),
                Err(message) => self.say(Diagnostic::new(Code::BadArgument, value.span, message)),
            }
        }
        MemberStatistics {
            avg: found.avg,
            max: found.max,
            distinct: found.distinct,
            size_bytes: found.size_bytes,
            skew: found.skew,
            frequencies,
        }
    }
}

fn integrity(tree: &Tree<'_>, node: NodeId) -> Integrity {
    match on_delete(tree, node) {
        Some(on_delete) => Integrity::Checked(on_delete),
        None if tree.has_keyword(node, Keyword::Loose) => Integrity::Loose,
        None => Integrity::Trusted,
    }
}

fn on_delete(tree: &Tree<'_>, node: NodeId) -> Option<OnDelete> {
    let clause = tree.child(node, NodeKind::OnDelete)?;
    let has = |keyword| tree.has_keyword(clause, keyword);
    if has(Keyword::Refuse) {
        Some(OnDelete::Refuse)
    } else if has(Keyword::Cascade) {
        Some(OnDelete::Cascade)
    } else if has(Keyword::Clear) {
        Some(OnDelete::Clear)
    } else {
        None
    }
}

/// A bare word as a value: only an enum has such.
fn enum_word(word: Ident<'_>, ty: &Type) -> Result<Constant, String> {
    match ty {
        Type::Enum(values) => super::constants::enum_value(word.text, values),
        ty => Err(format!("`{}` is not a literal of type {ty}", word.text)),
    }
}
