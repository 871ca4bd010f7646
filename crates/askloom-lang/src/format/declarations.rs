//! Declarations: those of one line or of clauses, and those with a block.

use super::atom::{Gap, Item, Lines, Style, Unit};
use super::builder::Builder;
use super::ends::{ends_before, ends_statement};
use crate::positional::positional;
use crate::syntax::{Element, NodeId, NodeKind, TokenId, TokenKind};
use std::ops::Range;

const CLASS: Style = Style { may_be_one_line: true, separator: ",", ends: false, always: false };
const WRITE: Style = Style { may_be_one_line: true, separator: ";", ends: true, always: false };
const COLLECTION: Style = Style { may_be_one_line: true, separator: ";", ends: true, always: true };
const WORKLOAD: Style = Style { may_be_one_line: true, separator: ",", ends: false, always: false };
const REPRESENT: Style = Style { may_be_one_line: false, separator: "", ends: false, always: false };

impl<'a> Builder<'_, 'a> {
    pub(super) fn declaration(&mut self, node: NodeId) -> Item<'a> {
        let block = self.tree.own_token(node, TokenKind::LeftBrace).is_some();
        match self.tree.kind(node) {
            NodeKind::Class => self.block(node, CLASS),
            NodeKind::Write if block => self.statements(node),
            NodeKind::Collection => {
                self.given = true;
                let item = self.block(node, COLLECTION);
                self.given = false;
                item
            }
            NodeKind::Workload => self.block(node, WORKLOAD),
            NodeKind::Represent => self.block(node, REPRESENT),
            NodeKind::Query | NodeKind::Write => {
                self.positional = Some(positional(self.tree, node));
                let item = self.line(node, Lines::Keep);
                self.positional = None;
                item
            }
            NodeKind::Import | NodeKind::Ask | NodeKind::Invariant | NodeKind::WritesAny => {
                self.line(node, Lines::Join)
            }
            _broken => self.as_it_is(node),
        }
    }

    /// A declaration as it stands, with the semicolon behind it, which may be what ends it.
    pub(super) fn as_it_is(&mut self, node: NodeId) -> Item<'a> {
        let range = self.tree.token_range(node);
        let mut behind =
            (range.end..self.tree.token_count()).map(|index| (index, self.tree.token(TokenId(index))));
        let end = match behind.find(|(_, token)| !token.kind.is_trivia()) {
            Some((index, token)) if token.kind == TokenKind::Semicolon => index + 1,
            _other => range.end,
        };
        Item::Line(self.verbatim(range.start..end))
    }

    fn line(&mut self, node: NodeId, lines: Lines) -> Item<'a> {
        if !self.is_sound(node) {
            return self.as_it_is(node);
        }
        let tokens = self.tree.token_range(node);
        self.annotated(node);
        if self.last() == Some(TokenKind::Semicolon) && ends_before(self.tree, tokens.end) {
            self.take_back();
        }
        Item::Line(self.unit(lines))
    }

    fn statements(&mut self, node: NodeId) -> Item<'a> {
        self.positional = Some(positional(self.tree, node));
        let item = self.block(node, WRITE);
        self.positional = None;
        item
    }

    fn block(&mut self, node: NodeId, style: Style) -> Item<'a> {
        if !self.is_sound_block(node) {
            return self.as_it_is(node);
        }
        let mut elements = self.tree.elements(node);
        let head = self.head(node, &mut elements);
        let mut members = Members::default();
        for element in elements {
            self.add_to_block(&mut members, element);
        }
        let mut members = members.units;
        keep_needed_separators(&mut members, style);
        match self.closing() {
            Some(close) => Item::Block { head, members, close, style },
            None => self.as_it_is(node),
        }
    }

    fn add_to_block(&mut self, members: &mut Members<'a>, element: Element) {
        match element {
            // Something is missing behind the last member.
            Element::Node(node) if self.tree.token_range(node).is_empty() => {
                members.group.iter_mut().for_each(|group| group.only = None);
            }
            Element::Node(node) => {
                let only = (!self.is_kind(node, NodeKind::Broken)).then_some(node);
                self.add_member(members, self.tree.token_range(node), only);
            }
            Element::Token(token) if !self.is_sound_token(token) => {
                self.add_member(members, token.0..token.0 + 1, None);
            }
            Element::Token(token) if self.tree.token(token).kind == TokenKind::RightBrace => {
                self.end_group(members);
                self.push(token, "}", Gap::Space);
            }
            Element::Token(_separator) => {
                members.group.iter_mut().for_each(|group| group.separated = true);
            }
        }
    }

    /// Members on a line belong together if nothing separates them, and if both are broken in any case.
    fn add_member(&mut self, members: &mut Members<'a>, range: Range<u32>, only: Option<NodeId>) {
        let only = only.filter(|&node| self.is_sound(node));
        let on_line = !self.tree.token(TokenId(range.start)).starts_line;
        let joins = |group: &Group| on_line && (!group.separated || (group.only.is_none() && only.is_none()));
        match members.group.take_if(|group| joins(group)) {
            Some(group) => {
                let range = group.range.start..range.end;
                members.group = Some(Group { range, only: None, separated: false });
            }
            None => {
                self.end_group(members);
                members.group = Some(Group { range, only, separated: false });
            }
        }
    }

    fn end_group(&mut self, members: &mut Members<'a>) {
        let Some(group) = members.group.take() else { return };
        let unit = match group.only {
            Some(node) => self.member(node),
            None => self.verbatim(group.range),
        };
        members.units.push(Unit { separated: group.separated, ..unit });
    }

    /// Everything up to the brace.
    fn head(&mut self, node: NodeId, elements: &mut impl Iterator<Item = Element>) -> Unit<'a> {
        let mut leading = true;
        for element in elements {
            if let Element::Token(token) = element
                && self.tree.token(token).kind == TokenKind::LeftBrace
            {
                self.push(token, "{", Gap::Space);
                break;
            }
            self.after_annotations(node, element, &mut leading);
        }
        self.unit(Lines::Join)
    }

    /// Whether the block itself is whole; the members of some may be broken.
    fn is_sound_block(&self, node: NodeId) -> bool {
        if !matches!(self.tree.kind(node), NodeKind::Class | NodeKind::Write) {
            return self.is_sound(node);
        }
        let brace = |kind| self.tree.own_token(node, kind);
        let (Some(open), Some(_)) = (brace(TokenKind::LeftBrace), brace(TokenKind::RightBrace)) else {
            return false;
        };
        let mut head = self.tree.token_range(node).start..open.0;
        let in_head = |child: &NodeId| self.tree.token_range(*child).start <= open.0;
        head.all(|index| self.is_sound_token(TokenId(index)))
            && self.tree.children(node).take_while(in_head).all(|child| !self.tree.is_broken(child))
    }
}

/// Members on one line without a separator. Several are an error, and not for the formatter to mend; nor are
/// characters that mean nothing.
struct Group {
    range: Range<u32>,
    /// The only one, if it can be formatted.
    only: Option<NodeId>,
    separated: bool,
}

/// The members of a block, and those that may still belong together.
#[derive(Default)]
struct Members<'a> {
    units: Vec<Unit<'a>>,
    group: Option<Group>,
}

/// Line ends separate members, except beside a broken one, which might be read on into the next, and before a
/// statement that does not look like the start of one.
fn keep_needed_separators(members: &mut [Unit<'_>], style: Style) {
    let mut next_needs = false;
    for unit in members.iter_mut().rev() {
        unit.separated &= next_needs || unit.verbatim.is_some();
        let hidden = style == WRITE && !ends_statement(&unit.atoms, 0);
        next_needs = hidden || unit.verbatim.is_some();
    }
}
