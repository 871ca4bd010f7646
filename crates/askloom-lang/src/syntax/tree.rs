//! The lossless tree: tokens in one array, nodes in another, in preorder.
//!
//! A node is its kind, its range of tokens and the end of its subtree; children are found by stepping from
//! one subtree's end to the next. Two flat arrays are built in one pass, cost 16 and 8 bytes a row, and drop
//! in no time; no node is ever allocated for itself.

use super::{Keyword, Token, TokenKind};
use crate::Dialect;
use askloom_model::{FileId, Span};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum NodeKind {
    File,
    /// Tokens that fit nowhere.
    Broken,
    Annotation,
    AnnotationArgument,
    Name,
    Import,
    Class,
    Attribute,
    Relationship,
    TypeName,
    Cardinality,
    DefaultValue,
    Inverse,
    OnDelete,
    Query,
    Ask,
    AskClass,
    Write,
    WritesAny,
    Collection,
    Represent,
    Invariant,
    Workload,
    WorkloadEntry,
    RepresentRule,
    RuleStep,
    CollectionKey,
    CollectionSort,
    CollectionKeep,
    CollectionAs,
    CollectionMaster,
    /// `day(at)`
    Bucket,
    SelectClause,
    Column,
    Aggregate,
    FromClause,
    JoinClause,
    JoinItem,
    WhereClause,
    GroupByClause,
    OrderByClause,
    OrderTerm,
    PerGroupClause,
    LimitClause,
    PageClause,
    Insert,
    Upsert,
    Store,
    Update,
    Assignment,
    Delete,
    Add,
    Remove,
    Connect,
    Disconnect,
    Path,
    Star,
    Literal,
    Call,
    Parameter,
    Positional,
    Or,
    And,
    Not,
    Paren,
    Compare,
    Between,
    In,
    InList,
    StartsWith,
    IsNull,
    Matches,
    Under,
    Above,
    Within,
    InBox,
    /// A start that turned out to be nothing; gone once the tree is built.
    Abandoned,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NodeId(u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TokenId(pub(crate) u32);

#[derive(Debug, Clone, Copy)]
struct Node {
    kind: NodeKind,
    first_token: u32,
    end_token: u32,
    end_node: u32,
}

/// A child of a node, in the order of the text.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Element {
    Node(NodeId),
    /// Never trivia.
    Token(TokenId),
}

#[derive(Debug)]
pub(crate) struct Tree<'a> {
    pub(crate) text: &'a str,
    pub(crate) file: FileId,
    pub(crate) dialect: Dialect,
    tokens: Vec<Token>,
    nodes: Vec<Node>,
}

impl<'a> Tree<'a> {
    pub(crate) fn root(&self) -> NodeId {
        NodeId(0)
    }

    fn node(&self, id: NodeId) -> Node {
        const NOTHING: Node = Node { kind: NodeKind::Broken, first_token: 0, end_token: 0, end_node: 0 };
        self.nodes.get(id.0 as usize).copied().unwrap_or(NOTHING)
    }

    pub(crate) fn kind(&self, id: NodeId) -> NodeKind {
        self.node(id).kind
    }

    pub(crate) fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let end = self.node(id).end_node;
        let mut next = id.0 + 1;
        std::iter::from_fn(move || {
            let child = NodeId(next);
            (next < end).then(|| {
                next = self.node(child).end_node.max(next + 1);
                child
            })
        })
    }

    /// The node and everything below it, in preorder.
    pub(crate) fn subtree(&self, id: NodeId) -> impl Iterator<Item = NodeId> + use<> {
        (id.0..self.node(id).end_node).map(NodeId)
    }

    pub(crate) fn child(&self, id: NodeId, kind: NodeKind) -> Option<NodeId> {
        self.children(id).find(|&child| self.kind(child) == kind)
    }

    pub(crate) fn children_of(&self, id: NodeId, kind: NodeKind) -> impl Iterator<Item = NodeId> + '_ {
        self.children(id).filter(move |&child| self.kind(child) == kind)
    }

    /// The attribute or relationship that ends where this member starts.
    pub(crate) fn member_before(&self, member: NodeId) -> Option<NodeId> {
        let is_member = |id: NodeId| matches!(self.kind(id), NodeKind::Attribute | NodeKind::Relationship);
        if !is_member(member) {
            return None;
        }
        let above = (0..member.0).rev().map(NodeId);
        let mut above = above.take_while(|&id| self.kind(id) != NodeKind::Class);
        above.find(|&id| is_member(id)).filter(|&id| self.node(id).end_node == member.0)
    }

    /// Child nodes and the node's own tokens, interleaved; trivia left out.
    pub(crate) fn elements(&self, id: NodeId) -> impl Iterator<Item = Element> + '_ {
        let node = self.node(id);
        let mut token = node.first_token;
        let mut children = self.children(id).peekable();
        std::iter::from_fn(move || {
            loop {
                if let Some(&child) = children.peek()
                    && self.node(child).first_token <= token
                {
                    children.next();
                    token = token.max(self.node(child).end_token);
                    return Some(Element::Node(child));
                }
                if token >= node.end_token {
                    return None;
                }
                let id = TokenId(token);
                token += 1;
                if !self.token(id).kind.is_trivia() {
                    return Some(Element::Token(id));
                }
            }
        })
    }

    /// The node's own tokens, those of its children left out.
    pub(crate) fn own_tokens(&self, id: NodeId) -> impl Iterator<Item = TokenId> + '_ {
        self.elements(id).filter_map(|element| match element {
            Element::Token(token) => Some(token),
            Element::Node(_) => None,
        })
    }

    pub(crate) fn own_token(&self, id: NodeId, kind: TokenKind) -> Option<TokenId> {
        self.own_tokens(id).find(|&token| self.token(token).kind == kind)
    }

    pub(crate) fn has_keyword(&self, id: NodeId, keyword: Keyword) -> bool {
        self.own_keyword(id, keyword).is_some()
    }

    pub(crate) fn own_keyword(&self, id: NodeId, keyword: Keyword) -> Option<TokenId> {
        self.own_tokens(id).find(|&token| self.token(token).keyword == Some(keyword))
    }

    pub(crate) fn token(&self, id: TokenId) -> Token {
        const NOTHING: Token = Token { start: 0, kind: TokenKind::End, keyword: None, starts_line: false };
        self.tokens.get(id.0 as usize).copied().unwrap_or(NOTHING)
    }

    /// All tokens of a node, trivia between them included.
    pub(crate) fn tokens(&self, id: NodeId) -> impl Iterator<Item = TokenId> + use<> {
        let node = self.node(id);
        (node.first_token..node.end_token).map(TokenId)
    }

    /// The same as a range of indices.
    pub(crate) fn token_range(&self, id: NodeId) -> std::ops::Range<u32> {
        let node = self.node(id);
        node.first_token..node.end_token
    }

    pub(crate) fn token_count(&self) -> u32 {
        u32::try_from(self.tokens.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn token_span(&self, id: TokenId) -> Span {
        let start = self.token(id).start;
        let end = self.tokens.get(id.0 as usize + 1).map_or(start, |next| next.start);
        Span::new(self.file, start, end)
    }

    pub(crate) fn token_text(&self, id: TokenId) -> &'a str {
        let span = self.token_span(id);
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    pub(crate) fn span(&self, id: NodeId) -> Span {
        let node = self.node(id);
        if node.first_token >= node.end_token {
            let at = self.token(TokenId(node.first_token)).start;
            return Span::new(self.file, at, at);
        }
        self.token_span(TokenId(node.first_token)).to(self.token_span(TokenId(node.end_token - 1)))
    }

    pub(crate) fn text(&self, id: NodeId) -> &'a str {
        let span = self.span(id);
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// Whether anything in the node could not be parsed.
    pub(crate) fn is_broken(&self, id: NodeId) -> bool {
        self.subtree(id).any(|node| self.kind(node) == NodeKind::Broken)
    }
}

/// Builds a tree in one pass.
#[derive(Debug)]
pub(crate) struct TreeBuilder {
    nodes: Vec<Node>,
    abandoned: bool,
}

/// A node that has been started and must be finished or abandoned.
#[derive(Debug)]
#[must_use]
pub(crate) struct Started(usize);

impl TreeBuilder {
    pub(crate) fn new(tokens: usize) -> Self {
        Self { nodes: Vec::with_capacity(tokens / 2), abandoned: false }
    }

    pub(crate) fn start(&mut self, first_token: u32) -> Started {
        self.nodes.push(Node { kind: NodeKind::Abandoned, first_token, end_token: first_token, end_node: 0 });
        Started(self.nodes.len() - 1)
    }

    pub(crate) fn finish(&mut self, started: &Started, kind: NodeKind, end_token: u32) {
        let end_node = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        if let Some(node) = self.nodes.get_mut(started.0) {
            node.kind = kind;
            node.end_token = end_token.max(node.first_token);
            node.end_node = end_node;
        }
    }

    pub(crate) fn abandon(&mut self, started: &Started) {
        self.abandoned = true;
        self.finish(started, NodeKind::Abandoned, 0);
    }

    /// Leaves out abandoned nodes: their children move up to their parent.
    pub(crate) fn build(self, text: &str, file: FileId, dialect: Dialect, tokens: Vec<Token>) -> Tree<'_> {
        let nodes = if self.abandoned { compact(&self.nodes) } else { self.nodes };
        Tree { text, file, dialect, tokens, nodes }
    }
}

fn compact(nodes: &[Node]) -> Vec<Node> {
    let mut kept_before = Vec::with_capacity(nodes.len() + 1);
    let mut kept = 0_u32;
    for node in nodes {
        kept_before.push(kept);
        kept += u32::from(node.kind != NodeKind::Abandoned);
    }
    kept_before.push(kept);
    nodes
        .iter()
        .filter(|node| node.kind != NodeKind::Abandoned)
        .map(|node| Node {
            end_node: kept_before.get(node.end_node as usize).copied().unwrap_or(kept),
            ..*node
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Millions of them are made: what they cost is part of the design.
    #[test]
    fn nodes_and_tokens_are_small() {
        assert_eq!(size_of::<Node>(), 16);
        assert_eq!(size_of::<Token>(), 8);
    }
}
