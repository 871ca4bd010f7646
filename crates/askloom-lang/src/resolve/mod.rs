//! Trees to a model: names become ids, and everything that a name, a type or a place makes wrong is said.
//!
//! The order matters. Classes come first, so that members can name them; members before inverses; the
//! hierarchy before statements, so that a path sees inherited members; statements before workloads, which
//! name them. Rules that look at the whole model (circles, coverage, probable slips) are in `check`.

mod annotations;
mod arguments;
mod asks;
mod assignments;
mod classes;
mod collections;
mod conditions;
mod constants;
mod continuation_lines;
mod declared;
mod hierarchy;
mod immutable;
mod inverses;
mod lifetimes;
mod links;
mod lists;
mod members;
mod names;
mod negation;
mod operands;
mod parameters;
mod per_group;
mod queries;
mod rules;
mod scope;
mod selectivities;
mod types;
mod units;
mod writes;

use crate::syntax::ast::Ident;
use crate::syntax::{NodeId, NodeKind, Tree};
use askloom_model::{AskLink, ClassId, Code, Diagnostic, Diagnostics, EndId, Id, Member, Model, Span, Table};
use names::Names;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Everything the later passes need to point at the text again.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// For each class: where its declaration stands.
    pub(crate) classes: Vec<Place>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) tree: usize,
    pub(crate) node: NodeId,
}

pub(crate) fn resolve(trees: &[Tree<'_>], diagnostics: &mut Diagnostics) -> Model {
    let mut resolver = Resolver {
        trees,
        model: Model::default(),
        names: Names::default(),
        places: Places::default(),
        inverses: Vec::new(),
        end_statistics: Vec::new(),
        described: HashMap::new(),
        lifetimes: Vec::new(),
        statements: names::Declared::default(),
        trees_of: HashSet::new(),
        neighbours: None,
        diagnostics,
    };
    resolver.run();
    resolver.model
}

struct Resolver<'t, 'a, 'd> {
    trees: &'t [Tree<'a>],
    model: Model,
    names: Names<'a>,
    places: Places,
    /// `inverse` clauses, to be linked once all members exist.
    inverses: Vec<inverses::Clause>,
    /// Annotations of ends, read once cardinalities of inverses are known.
    end_statistics: Vec<(EndId, Place)>,
    /// What kind of thing a member is to annotations, by its tree and node.
    described: HashMap<(usize, NodeId), annotations::Target>,
    /// `@ttl`s, understood once members are known.
    lifetimes: Vec<(ClassId, annotations::Lifetime<'a>)>,
    statements: names::Declared<'a>,
    /// Classes with a `@tree`, once members are known.
    trees_of: HashSet<ClassId>,
    /// Links between classes, made when a tuple query first needs a path.
    neighbours: Option<Rc<HashMap<ClassId, Vec<AskLink>>>>,
    diagnostics: &'d mut Diagnostics,
}

impl<'t, 'a> Resolver<'t, 'a, '_> {
    fn run(&mut self) {
        self.declare_classes();
        self.hierarchy();
        self.declare_members();
        self.link_inverses();
        self.model.conceptual.connect();
        self.inherited_names();
        self.owners();
        self.identifiers();
        self.end_statistics();
        self.immutable_entities();
        self.lifetimes();
        self.each(NodeKind::Query, Self::query);
        self.each(NodeKind::Ask, Self::ask);
        self.each(NodeKind::Write, Self::write);
        self.rules();
        debug_assert!(self.nothing_is_lost(), "a statement was dropped without a word");
    }

    /// Without an error, every statement of the text is in the model.
    fn nothing_is_lost(&mut self) -> bool {
        let mut declared = 0;
        for kind in [NodeKind::Query, NodeKind::Ask, NodeKind::Write] {
            self.each(kind, |_, _| declared += 1);
        }
        let workload = &self.model.workload;
        let resolved = workload.queries.len() + workload.asks.len() + workload.writes.len();
        self.diagnostics.errors() > 0 || declared == resolved
    }

    fn tree(&self, place: Place) -> &'t Tree<'a> {
        // A place is only ever made while walking the trees.
        #[expect(clippy::indexing_slicing, reason = "places come from this very list")]
        &self.trees[place.tree]
    }

    /// Every declaration of one kind, in the order of the files.
    fn each(&mut self, kind: NodeKind, mut visit: impl FnMut(&mut Self, Place)) {
        let trees: &'t [Tree<'a>] = self.trees;
        for (index, tree) in trees.iter().enumerate() {
            for node in tree.children_of(tree.root(), kind) {
                visit(self, Place { tree: index, node });
            }
        }
    }

    fn say(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn too_many(&mut self, span: Span, what: &str, most: usize) {
        self.say(Diagnostic::new(Code::TooMany, span, format!("more than {most} {what}")));
    }

    fn class_name(&self, class: ClassId) -> &str {
        &self.model.conceptual.classes[class].name
    }

    fn member_span(&self, member: Member) -> Span {
        self.model.conceptual.member_span(member)
    }
}

/// A table of positions with only the main entity in it.
fn main_position(class: ClassId) -> Table<askloom_model::PositionId, askloom_model::Position> {
    let mut positions = Table::default();
    positions.push(askloom_model::Position { class: Some(class), from: None, outer: false, alias: None });
    positions
}

fn first_position() -> askloom_model::PositionId {
    askloom_model::PositionId::from_index(0)
}

/// A name and its place; empty if there is none.
fn owned(ident: Option<Ident<'_>>) -> (String, Span) {
    ident.map_or_else(|| (String::new(), Span::default()), |ident| (ident.text.to_owned(), ident.span))
}
