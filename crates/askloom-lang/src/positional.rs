//! Names for `?`, `"?"` and `"?1"`: after the attribute they are compared with, `_from` and `_to` in ranges,
//! `_2` on a clash. This follows from the text alone, so that `fmt` can write the names out.

use crate::syntax::{NodeId, NodeKind, TokenKind, Tree};
use std::collections::{HashMap, HashSet};

/// The name of each positional parameter of a statement.
#[derive(Debug, Clone, Default)]
pub(crate) struct Positional {
    names: HashMap<NodeId, String>,
}

impl Positional {
    pub(crate) fn name(&self, node: NodeId) -> &str {
        self.names.get(&node).map_or("value", String::as_str)
    }
}

/// Names all positional parameters below a declaration.
pub(crate) fn positional(tree: &Tree<'_>, declaration: NodeId) -> Positional {
    let mut nodes =
        tree.subtree(declaration).filter(|&node| tree.kind(node) == NodeKind::Positional).peekable();
    if nodes.peek().is_none() {
        return Positional::default();
    }
    let mut naming = Naming {
        tree,
        taken: named(tree, declaration),
        suffixes: HashMap::new(),
        numbered: HashMap::new(),
        names: HashMap::new(),
    };
    for node in tree.subtree(declaration) {
        naming.visit(node);
    }
    Positional { names: naming.names }
}

fn named(tree: &Tree<'_>, declaration: NodeId) -> HashSet<String> {
    let parameters = tree.subtree(declaration).filter(|&node| tree.kind(node) == NodeKind::Parameter);
    parameters.filter_map(|node| tree.parameter_name(node)).map(str::to_owned).collect()
}

struct Naming<'t, 'a> {
    tree: &'t Tree<'a>,
    taken: HashSet<String>,
    /// The next suffix to try for a name, so that many of one name do not try them all again.
    suffixes: HashMap<String, u32>,
    /// `?1` twice is one parameter.
    numbered: HashMap<&'a str, String>,
    names: HashMap<NodeId, String>,
}

impl Naming<'_, '_> {
    /// Gives names to the positional children of a node that knows what they are about.
    fn visit(&mut self, node: NodeId) {
        let tree = self.tree;
        let subject = || tree.child(node, NodeKind::Path).and_then(|path| last_name(tree, path));
        match tree.kind(node) {
            NodeKind::Compare => self.comparison(node),
            NodeKind::Between => self.range(node),
            NodeKind::InBox => {
                let subject = subject();
                if let Some(list) = tree.child(node, NodeKind::InList) {
                    self.pair(list, &subject.unwrap_or_else(|| "value".to_owned()));
                }
            }
            NodeKind::In => {
                let subject = subject().unwrap_or_else(|| "value".to_owned());
                self.all(node, &subject);
                if let Some(list) = tree.child(node, NodeKind::InList) {
                    self.all(list, &subject);
                }
            }
            NodeKind::Within => {
                let mut names = ["km", "point"].into_iter();
                for child in positional_children(tree, node) {
                    self.give(child, names.next().unwrap_or("value"));
                }
            }
            NodeKind::StartsWith | NodeKind::Matches | NodeKind::Under | NodeKind::Above => {
                self.all(node, &subject().unwrap_or_else(|| "value".to_owned()));
            }
            NodeKind::Assignment | NodeKind::Add | NodeKind::Connect | NodeKind::Disconnect => {
                self.all(node, &subject().unwrap_or_else(|| "value".to_owned()));
            }
            NodeKind::Remove => self.all(node, "at"),
            NodeKind::PerGroupClause | NodeKind::LimitClause => self.all(node, "limit"),
            NodeKind::PageClause => self.all(node, "page"),
            _has_no_parameters => {}
        }
    }

    fn comparison(&mut self, node: NodeId) {
        let tree = self.tree;
        let path_first = tree.children(node).next().is_some_and(|child| tree.kind(child) == NodeKind::Path);
        let operator = tree.own_tokens(node).map(|token| tree.token(token).kind).next();
        let suffix = match (operator, path_first) {
            (Some(TokenKind::Greater | TokenKind::GreaterOrEqual), true) => "_from",
            (Some(TokenKind::Less | TokenKind::LessOrEqual), false) => "_from",
            (Some(TokenKind::Less | TokenKind::LessOrEqual), true) => "_to",
            (Some(TokenKind::Greater | TokenKind::GreaterOrEqual), false) => "_to",
            _equality => "",
        };
        let subject = tree.child(node, NodeKind::Path).and_then(|path| last_name(tree, path));
        self.all(node, &format!("{}{suffix}", subject.as_deref().unwrap_or("value")));
    }

    /// `x BETWEEN ? AND ?`
    fn range(&mut self, node: NodeId) {
        let subject = self.tree.child(node, NodeKind::Path).and_then(|path| last_name(self.tree, path));
        self.pair(node, subject.as_deref().unwrap_or("value"));
    }

    /// The first value is `_from`, the second `_to`, whichever of them is positional.
    fn pair(&mut self, node: NodeId, subject: &str) {
        let skip = usize::from(self.tree.kind(node) == NodeKind::Between);
        let values: Vec<NodeId> = self.tree.children(node).skip(skip).collect();
        for (value, suffix) in values.into_iter().zip(["_from", "_to"]) {
            if self.tree.kind(value) == NodeKind::Positional {
                self.give(value, &format!("{subject}{suffix}"));
            }
        }
    }

    fn all(&mut self, node: NodeId, name: &str) {
        for child in positional_children(self.tree, node) {
            self.give(child, name);
        }
    }

    fn give(&mut self, node: NodeId, base: &str) {
        let number = self.tree.text(node).trim_matches('"').trim_start_matches('?');
        if let Some(name) = self.numbered.get(number).filter(|_| !number.is_empty()) {
            let name = name.clone();
            self.names.insert(node, name);
            return;
        }
        let next = self.suffixes.entry(base.to_owned()).or_insert(1);
        let name = loop {
            let name = if *next == 1 { base.to_owned() } else { format!("{base}_{next}") };
            *next += 1;
            if self.taken.insert(name.clone()) {
                break name;
            }
        };
        if !number.is_empty() {
            self.numbered.insert(number, name.clone());
        }
        self.names.insert(node, name);
    }
}

fn positional_children(tree: &Tree<'_>, node: NodeId) -> Vec<NodeId> {
    tree.children_of(node, NodeKind::Positional).collect()
}

fn last_name(tree: &Tree<'_>, path: NodeId) -> Option<String> {
    tree.path(path).segments.last().map(|name| name.text.to_owned())
}
