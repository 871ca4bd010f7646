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
            NodeKind::Import | NodeKind::Ask | NodeKind::Invariant => self.line(node, Lines::Join),
            _broken => self.as_it_is(node),
        }
    }

    pub(super) fn as_it_is(&mut self, node: NodeId) -> Item<'a> {
        Item::Line(self.verbatim(self.tree.token_range(node)))
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
        let mut members: Vec<Unit<'a>> = Vec::new();
        let mut group: Option<Group> = None;
        for element in elements {
            match element {
                Element::Node(member) => self.add_member(&mut members, &mut group, member),
                Element::Token(token) => {
                    self.end_group(&mut members, &mut group);
                    if self.tree.token(token).kind == TokenKind::RightBrace {
                        self.push(token, "}", Gap::Space);
                    } else {
                        self.leave_out(token);
                        members.last_mut().into_iter().for_each(|last| last.separated = true);
                    }
                }
            }
        }
        keep_needed_separators(&mut members, style);
        match self.closing() {
            Some(close) => Item::Block { head, members, close, style },
            None => self.as_it_is(node),
        }
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

    fn add_member(&mut self, members: &mut Vec<Unit<'a>>, group: &mut Option<Group>, node: NodeId) {
        let range = self.tree.token_range(node);
        let on_line = !self.tree.token(TokenId(range.start)).starts_line;
        if let Some(group) = group.as_mut().filter(|_| on_line) {
            *group = Group { range: group.range.start..range.end, only: None };
        } else {
            self.end_group(members, group);
            *group = Some(Group { range, only: Some(node) });
        }
    }

    fn end_group(&mut self, members: &mut Vec<Unit<'a>>, group: &mut Option<Group>) {
        match group.take() {
            Some(Group { only: Some(node), .. }) => members.push(self.member(node)),
            Some(Group { range, only: None }) => members.push(self.verbatim(range)),
            None => {}
        }
    }

    /// Whether the block itself is whole; its members may be broken.
    fn is_sound_block(&self, node: NodeId) -> bool {
        let members_may_break = matches!(self.tree.kind(node), NodeKind::Class | NodeKind::Write);
        if !members_may_break {
            return self.is_sound(node);
        }
        self.tree.elements(node).all(|element| match element {
            Element::Token(token) => self.is_sound_token(token),
            Element::Node(child) => match self.tree.kind(child) {
                NodeKind::Broken => false,
                NodeKind::Name | NodeKind::Path | NodeKind::Annotation => self.is_sound(child),
                _member => true,
            },
        })
    }
}

/// Members on one line without a separator. Several are an error, and not for the formatter to mend.
struct Group {
    range: Range<u32>,
    only: Option<NodeId>,
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
