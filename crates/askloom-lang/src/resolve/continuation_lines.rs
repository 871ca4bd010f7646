//! Annotations of a member that were carried over to the next line, where they describe the next member.

use super::annotations::{Known, Target, known};
use super::{Place, Resolver};
use crate::syntax::{Element, NodeId, NodeKind, TokenId, TokenKind, Tree};
use askloom_model::{Code, Diagnostic, Edit, Span};

/// An annotation node and what it is.
type Annotation = (NodeId, Known);

impl<'t, 'a> Resolver<'t, 'a, '_> {
    /// The annotations that start a line, do not describe what follows, and would describe the member before. One error
    /// says so for all of them, and its fix moves them to the line of that member.
    pub(super) fn continuation(&mut self, place: Place, target: Target) -> Vec<NodeId> {
        self.moved(place, target).unwrap_or_default()
    }

    fn moved(&mut self, place: Place, target: Target) -> Option<Vec<NodeId>> {
        let tree = self.tree(place);
        let lines = lines_before(tree, place.node);
        // What stands behind the last wrong one may well be meant for what follows. How they are spread over lines does not
        // matter, as the formatter puts them on one.
        let run: Vec<Annotation> = lines.iter().flatten().copied().collect();
        let last = run.iter().rposition(|(_, known)| !known.describes(target))?;
        let run = run.get(..=last)?;
        let before = tree.member_before(place.node)?;
        let own = Behind::of(tree, before, *self.described.get(&(place.tree, before))?);
        let mut seen = own.annotations;
        for (_, known) in run {
            if !known.describes(own.target) || seen.iter().any(|other| other.is_same(*known)) {
                return None;
            }
            seen.push(*known);
        }
        let nodes: Vec<NodeId> = run.iter().map(|(node, _)| *node).collect();
        self.say_moved(tree, before, &nodes, target, edits(tree, before, &lines, &nodes));
        Some(nodes)
    }

    fn say_moved(
        &mut self,
        tree: &Tree<'a>,
        before: NodeId,
        nodes: &[NodeId],
        target: Target,
        edits: Vec<Edit>,
    ) {
        let (Some(&first), Some(&last)) = (nodes.first(), nodes.last()) else { return };
        let names: Vec<String> = nodes
            .iter()
            .filter_map(|&node| tree.name(node))
            .map(|name| format!("`@{}`", name.text))
            .collect();
        let (starts, it, describe) = match nodes.len() {
            1 => ("starts", "it", "describes"),
            _several => ("start", "they", "describe"),
        };
        let follows = target.describe();
        let message =
            format!("{} {starts} a line, so {it} {describe} what follows: {follows}", names.join(", "));
        let mut diagnostic =
            Diagnostic::new(Code::MisplacedAnnotation, tree.span(first).to(tree.span(last)), message);
        let mut title = "move this to the end of the line before".to_owned();
        if let Some(name) = tree.name(before) {
            diagnostic =
                diagnostic.also(name.span, format!("on this line {it} would describe `{}`", name.text));
            title = format!("move this to the end of the line of `{}`", name.text);
        }
        self.say(diagnostic.fix(title, edits));
    }
}

/// What an annotation at the end of a member's line describes: the member, or the other end if `inverse` stands last.
struct Behind {
    target: Target,
    /// Those that it has already.
    annotations: Vec<Known>,
}

impl Behind {
    fn of(tree: &Tree<'_>, member: NodeId, target: Target) -> Self {
        // An annotation of the member may stand before `inverse`, but what is appended comes behind it.
        let last = tree.children(member).last().filter(|&child| tree.kind(child) == NodeKind::Inverse);
        let Some(inverse) = last else {
            return Self { target, annotations: annotations(tree, member) };
        };
        let many = match tree.child(inverse, NodeKind::Cardinality) {
            Some(cardinality) => tree.own_token(cardinality, TokenKind::Question).is_none(),
            None => tree.child(inverse, NodeKind::TypeName).is_none(),
        };
        let target = if many { Target::ToMany } else { Target::ToOne };
        Self { target, annotations: annotations(tree, inverse) }
    }
}

fn annotations(tree: &Tree<'_>, node: NodeId) -> Vec<Known> {
    let nodes = tree.children_of(node, NodeKind::Annotation);
    nodes.filter_map(|node| known(tree.name(node)?.text)).collect()
}

/// The annotations before a member that stand on lines of their own, line by line. None if one of them is unknown.
fn lines_before(tree: &Tree<'_>, member: NodeId) -> Vec<Vec<Annotation>> {
    let mut lines: Vec<Vec<Annotation>> = Vec::new();
    for element in tree.elements(member) {
        let first = match element {
            Element::Node(node) => TokenId(tree.token_range(node).start),
            Element::Token(token) => token,
        };
        let starts_line = tree.token(first).starts_line;
        let annotation = match element {
            Element::Node(node) if tree.kind(node) == NodeKind::Annotation => node,
            Element::Node(_) | Element::Token(_) => {
                if !starts_line {
                    // The last line is the member's own.
                    lines.pop();
                }
                return lines;
            }
        };
        let Some(known) = tree.name(annotation).and_then(|name| known(name.text)) else { return Vec::new() };
        if starts_line {
            lines.push(Vec::new());
        }
        // What follows a brace or a comma starts no line.
        let Some(line) = lines.last_mut() else { return Vec::new() };
        line.push((annotation, known));
    }
    Vec::new()
}

/// The annotations behind the member before, and gone from where they stood.
fn edits(tree: &Tree<'_>, before: NodeId, lines: &[Vec<Annotation>], moved: &[NodeId]) -> Vec<Edit> {
    let text = moved.iter().map(|&node| format!(" {}", tree.text(node))).collect();
    let mut edits = vec![Edit { span: tree.span(before).after(), text }];
    for line in lines {
        let gone: Vec<NodeId> =
            line.iter().map(|(node, _)| *node).filter(|node| moved.contains(node)).collect();
        let (Some(&first), Some(&last)) = (gone.first(), gone.last()) else { continue };
        let span = match line.get(gone.len()) {
            Some((stays, _)) => Span { end: tree.span(*stays).start, ..tree.span(first) },
            None => line_of(tree, tree.span(first).to(tree.span(last))),
        };
        edits.push(Edit { span, text: String::new() });
    }
    edits
}

/// The whole line if nothing else stands on it, as a comment may.
fn line_of(tree: &Tree<'_>, span: Span) -> Span {
    let blank = |letter: char| letter == ' ' || letter == '\t';
    let (Some(above), Some(behind)) =
        (tree.text.get(..span.start as usize), tree.text.get(span.end as usize..))
    else {
        return span;
    };
    let indent = above.len() - above.trim_end_matches(blank).len();
    let rest = behind.trim_start_matches(blank);
    let end = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n'));
    let taken = |rest: &str| u32::try_from(behind.len() - rest.len()).unwrap_or(0);
    let indent = u32::try_from(indent).unwrap_or(0);
    match end {
        Some(next) => Span::new(tree.file, span.start - indent, span.end + taken(next)),
        None => Span::new(tree.file, span.start, span.end + taken(rest)),
    }
}
