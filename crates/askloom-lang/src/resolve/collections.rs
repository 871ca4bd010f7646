//! Collections that the model declares: what exists already.

use super::declared::is_declared;
use super::names::Declared;
use super::operands::Statement;
use super::parameters::Parameters;
use super::scope::{Crossing, Scope};
use super::{Place, Resolver};
use crate::syntax::{Keyword, NodeId, NodeKind, TokenKind, Tree};
use askloom_model::{
    Code, Diagnostic, EndId, GivenCollection, Keep, Leaf, Path, RelationshipKind, SortField,
};

impl<'t, 'a> Resolver<'t, 'a, '_> {
    pub(super) fn collection(&mut self, place: Place, declared: &mut Declared<'a>) {
        let tree = self.tree(place);
        let Some(name) = self.declare(place, declared) else { return };
        let Some((class, _)) = self.class_at(tree, place.node) else { return };
        if !self.model.conceptual.classes[class].kind.is_entity() {
            let message = "a collection holds instances of an entity";
            return self.say(Diagnostic::new(Code::CollectionPath, name.span, message));
        }
        self.repeated_members(tree, place.node);
        if is_declared(tree, place.node) {
            return self.declared_collection(place, name);
        }
        let mut st = Statement {
            tree,
            scope: Scope::new(class),
            parameters: Parameters::none(),
            crossing: Crossing::Never,
            stated: None,
        };
        let key = self.key_of(&st, tree.child(place.node, NodeKind::CollectionKey));
        if tree.child(place.node, NodeKind::CollectionKey).is_none() && !tree.is_broken(place.node) {
            let message = format!("the collection `{}` has no key", name.text);
            let diagnostic = Diagnostic::new(Code::CollectionWithoutKey, name.span, message);
            self.say(diagnostic.hint("`key status;` names the fields that are given to read from it"));
        }
        let sort = self.sort_fields(&st, tree.child(place.node, NodeKind::CollectionSort));
        let keep = match tree.child(place.node, NodeKind::CollectionKeep) {
            Some(keep) if tree.own_token(keep, TokenKind::Star).is_some() => Some(Keep::All),
            Some(keep) => self.kept(&st, keep).map(Keep::Fields),
            None => Some(Keep::Fields(Vec::new())),
        };
        let condition = self.where_clause(&mut st, place.node);
        let physical_name =
            tree.child(place.node, NodeKind::CollectionAs).and_then(|node| tree.own_text(node));
        let (Some(key), Some(sort), Some(keep), Ok(condition), false) =
            (key, sort, keep, condition, tree.is_broken(place.node))
        else {
            return;
        };
        self.model.given.push(GivenCollection {
            name: name.text.to_owned(),
            physical_name: physical_name.map(|(name, _)| name.into_owned()),
            class,
            positions: st.scope.positions,
            key,
            sort,
            keep,
            condition,
            span: name.span,
        });
    }

    fn repeated_members(&mut self, tree: &Tree<'a>, node: NodeId) {
        for kind in [
            NodeKind::CollectionMaster,
            NodeKind::CollectionKey,
            NodeKind::CollectionSort,
            NodeKind::CollectionKeep,
            NodeKind::CollectionAs,
            NodeKind::WhereClause,
        ] {
            let mut members = tree.children_of(node, kind);
            if let (Some(first), Some(second)) = (members.next(), members.next()) {
                let message = "this stands twice in the collection";
                let diagnostic = Diagnostic::new(Code::RepeatedEntry, tree.span(second), message);
                self.say(diagnostic.also(tree.span(first), "first here"));
            }
        }
    }

    /// One field of a key may have several values inside its instance: the row is then in the block of each.
    fn key_of(&mut self, st: &Statement<'t, 'a>, node: Option<NodeId>) -> Option<Vec<Path>> {
        let Some(node) = node else { return Some(Vec::new()) };
        let mut several = false;
        let paths: Vec<_> = st
            .tree
            .children_of(node, NodeKind::Path)
            .map(|path| {
                let crossing = if several { Crossing::Never } else { Crossing::Some };
                let found = self.path(&st.scope, &st.tree.path(path), crossing)?;
                if several || !self.is_several_inside(&found) {
                    return self.collection_path(st, path);
                }
                several = true;
                self.ordered(st, path, found)
            })
            .collect();
        paths.into_iter().collect()
    }

    /// Whether a path has several values, all of them in the instance that it starts from.
    fn is_several_inside(&self, path: &Path) -> bool {
        let ends = &self.model.conceptual.ends;
        let is_part = |&hop: &EndId| ends[hop].stored && ends[hop].kind == RelationshipKind::Composition;
        let held = match path.leaf {
            Leaf::Reference(end) => ends[end].stored && ends[end].inverse != Some(end),
            Leaf::Attribute(_) | Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => true,
        };
        let many = path.hops.iter().any(|&hop| ends[hop].cardinality.is_many());
        held && path.hops.iter().all(is_part) && (many || self.is_list(path))
    }

    /// What a collection keeps beside its key may be a list.
    fn kept(&mut self, st: &Statement<'t, 'a>, node: NodeId) -> Option<Vec<Path>> {
        let path = |path: NodeId, resolver: &mut Self| {
            resolver.path(&st.scope, &st.tree.path(path), Crossing::Never)
        };
        let paths: Vec<_> = st.tree.children_of(node, NodeKind::Path).map(|node| path(node, self)).collect();
        paths.into_iter().collect()
    }

    pub(super) fn collection_path(&mut self, st: &Statement<'t, 'a>, node: NodeId) -> Option<Path> {
        let text = st.tree.path(node);
        let path = self.path(&st.scope, &text, Crossing::Never)?;
        let path = self.ordered(st, node, path)?;
        if self.is_list(&path) {
            let message = format!("`{}` is many: a collection holds one row an instance", text.joined("."));
            self.say(Diagnostic::new(Code::CollectionPath, text.span, message));
            return None;
        }
        Some(path)
    }

    /// The path, if its values have an order.
    fn ordered(&mut self, st: &Statement<'t, 'a>, node: NodeId, path: Path) -> Option<Path> {
        let ty = self.value_type(&st.scope, &path);
        if ty.is_ordered() || matches!(ty, super::operands::ValueType::Identity(_)) {
            return Some(path);
        }
        let message = format!("{} has no order: it cannot stand in a key", self.describe(&ty));
        self.say(Diagnostic::new(Code::CollectionPath, st.tree.path(node).span, message));
        None
    }

    fn sort_fields(&mut self, st: &Statement<'t, 'a>, node: Option<NodeId>) -> Option<Vec<SortField>> {
        let Some(node) = node else { return Some(Vec::new()) };
        let tree = st.tree;
        let fields: Vec<_> = tree
            .children_of(node, NodeKind::OrderTerm)
            .map(|term| {
                let path = tree.child(term, NodeKind::Path)?;
                let path = self.collection_path(st, path)?;
                Some(SortField { path, descending: tree.has_keyword(term, Keyword::Desc) })
            })
            .collect();
        fields.into_iter().collect()
    }
}
