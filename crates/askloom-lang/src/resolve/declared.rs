//! Collections that say more than which rows they hold: that they are masters, that time is cut into buckets, that
//! several classes share a partition.

use super::operands::{Statement, ValueType};
use super::parameters::Parameters;
use super::scope::{Crossing, Scope};
use super::{Place, Resolver};
use crate::syntax::ast::Ident;
use crate::syntax::{Keyword, NodeId, NodeKind, TokenKind, Tree};
use askloom_model::{
    ClassId, Code, DeclaredClass, DeclaredCollection, DeclaredField, DeclaredKeep, Diagnostic, EndId, Leaf,
    Member, RelationshipKind, Span, TimeBucket, Type,
};

/// Whether a collection is more than rows under a key.
pub(super) fn is_declared(tree: &Tree<'_>, node: NodeId) -> bool {
    let buckets = |key: NodeId| tree.child(key, NodeKind::Bucket).is_some();
    tree.child(node, NodeKind::CollectionMaster).is_some()
        || tree.children_of(node, NodeKind::CollectionKey).any(buckets)
        || tree.children_of(node, NodeKind::Path).nth(1).is_some()
}

impl<'t, 'a> Resolver<'t, 'a, '_> {
    pub(super) fn declared_collection(&mut self, place: Place, name: Ident<'a>) {
        let tree = self.tree(place);
        let node = place.node;
        let Some(classes) = self.declared_classes(tree, node) else { return };
        let scopes: Vec<Statement<'t, 'a>> = classes.iter().map(|one| statement(tree, one.class)).collect();
        let (Some(first), Some(one)) = (classes.first().copied(), scopes.first()) else { return };
        let key = self.declared_key(one, first.class, tree.child(node, NodeKind::CollectionKey), name);
        let known = key.as_deref().unwrap_or_default();
        let sort = self.declared_sort(&scopes, &classes, known, tree.child(node, NodeKind::CollectionSort));
        let keep = self.declared_keep(&scopes, &classes, tree.child(node, NodeKind::CollectionKeep));
        let mut whole = statement(tree, first.class);
        let condition = self.where_clause(&mut whole, node);
        let clause = tree.child(node, NodeKind::WhereClause).map(|clause| tree.span(clause));
        let (Some(key), Some(sort), Some(keep), Ok(condition), false) =
            (key, sort, keep, condition, tree.is_broken(node))
        else {
            return;
        };
        let physical_name = tree.child(node, NodeKind::CollectionAs).and_then(|node| tree.own_text(node));
        let collection = DeclaredCollection {
            name: name.text.to_owned(),
            physical_name: physical_name.map(|(name, _)| name.into_owned()),
            master: tree.child(node, NodeKind::CollectionMaster).is_some(),
            classes,
            positions: whole.scope.positions,
            key,
            sort,
            keep,
            condition,
            span: name.span,
        };
        if let (true, Some(span)) = (collection.classes.len() > 1, clause) {
            let message = "a `where` is about one class, and this collection holds several";
            return self.say(
                Diagnostic::new(Code::BadPartition, span, message)
                    .hint("drop it, or declare a collection each"),
            );
        }
        if collection.master && self.check_master(&collection, clause).is_none() {
            return;
        }
        self.model.declared.push(collection);
    }

    /// The classes, each but the first with the reference by which it belongs to it.
    fn declared_classes(&mut self, tree: &'t Tree<'a>, node: NodeId) -> Option<Vec<DeclaredClass>> {
        let mut classes: Vec<DeclaredClass> = Vec::new();
        for path in tree.children_of(node, NodeKind::Path) {
            let text = tree.path(path);
            self.only_a_name(&text)?;
            let class = self.class(*text.segments.first()?)?;
            if !self.model.conceptual.classes[class].kind.is_entity() {
                let message = "a collection holds instances of entities";
                self.say(Diagnostic::new(Code::CollectionPath, text.span, message));
                return None;
            }
            if classes.iter().any(|known| known.class == class) {
                let message = format!("`{}` stands twice in this collection", text.joined("."));
                self.say(Diagnostic::new(Code::BadPartition, text.span, message));
                return None;
            }
            let by = match classes.first() {
                None => None,
                Some(first) => Some(self.belonging(class, first.class, text.span)?),
            };
            classes.push(DeclaredClass { class, by });
        }
        Some(classes)
    }

    /// The only required reference of a class to the first class of a collection.
    fn belonging(&mut self, class: ClassId, first: ClassId, span: Span) -> Option<EndId> {
        let conceptual = &self.model.conceptual;
        let leads = |member: Member| match member {
            Member::End(id) => {
                let end = &conceptual.ends[id];
                let reference = end.stored && end.kind != RelationshipKind::Composition;
                let fits =
                    reference && !end.cardinality.is_many() && conceptual.is_kind_of(first, end.target);
                fits.then_some(id)
            }
            Member::Attribute(_) => None,
        };
        let ends: Vec<EndId> = conceptual.all_members(class).filter_map(leads).collect();
        let required = |end: &EndId| conceptual.ends[*end].cardinality.min > 0;
        let identifier = &conceptual.classes[class].identifier;
        let of_id: Vec<EndId> =
            ends.iter().copied().filter(|&end| identifier.contains(&Member::End(end))).collect();
        let required: Vec<EndId> = ends.iter().copied().filter(required).collect();
        if let ([only], _) | (_, [only]) = (of_id.as_slice(), required.as_slice()) {
            return Some(*only);
        }
        let (name, owner) = (&conceptual.classes[class].name, &conceptual.classes[first].name);
        let (message, hint) = match ends.as_slice() {
            [only] => {
                let field = &conceptual.ends[*only].name;
                let message = format!("`{name}.{field}` is optional: without it a `{name}` has no partition");
                (message, "make the reference required: drop `?`".to_owned())
            }
            [] => {
                let message = format!("`{name}` does not refer to `{owner}`, whose partitions these are");
                (message, format!("give `{name}` a reference to one `{owner}`"))
            }
            [_, _, ..] => {
                let message = format!("`{name}` refers to `{owner}` in several ways");
                (message, "declare a collection each: nothing says which reference is meant".to_owned())
            }
        };
        self.say(Diagnostic::new(Code::BadPartition, span, message).hint(hint));
        None
    }

    fn declared_key(
        &mut self,
        st: &Statement<'t, 'a>,
        class: ClassId,
        node: Option<NodeId>,
        name: Ident<'a>,
    ) -> Option<Vec<DeclaredField>> {
        let Some(node) = node else {
            let message = format!("the collection `{}` has no key", name.text);
            let diagnostic = Diagnostic::new(Code::CollectionWithoutKey, name.span, message);
            self.say(diagnostic.hint("`key sensor, day(at);` names what makes a partition"));
            return None;
        };
        let fields: Vec<_> =
            st.tree.children(node).map(|field| self.declared_field(st, class, field)).collect();
        fields.into_iter().collect()
    }

    /// A path, or a bucket of one.
    fn declared_field(
        &mut self,
        st: &Statement<'t, 'a>,
        class: ClassId,
        node: NodeId,
    ) -> Option<DeclaredField> {
        let field = |path, bucket| DeclaredField { class, path, bucket, descending: false };
        if st.tree.kind(node) != NodeKind::Bucket {
            return self.collection_path(st, node).map(|path| field(path, None));
        }
        let word = st.tree.word(node)?;
        let inner = st.tree.child(node, NodeKind::Path)?;
        let path = self.collection_path(st, inner)?;
        let Some(bucket) = TimeBucket::ALL.into_iter().find(|bucket| bucket.name() == word.text) else {
            let message = format!("no bucket is called `{}`", word.text);
            self.say(
                Diagnostic::new(Code::BadBucket, word.span, message)
                    .hint("a timestamp is cut by `hour(…)`, `day(…)` or `month(…)`, in UTC"),
            );
            return None;
        };
        let ty = self.value_type(&st.scope, &path);
        if !matches!(ty, ValueType::Basic(Type::Timestamp(_))) {
            let message = format!("`{}` cuts a timestamp, and this is {}", bucket.name(), self.describe(&ty));
            self.say(
                Diagnostic::new(Code::BadBucket, st.tree.span(inner), message)
                    .hint("a date needs no bucket: it stands in the key as it is"),
            );
            return None;
        }
        Some(field(path, Some(bucket)))
    }

    /// The class that a path starts from: the first that has a member of its first name.
    fn start_of<'s>(
        &self,
        scopes: &'s [Statement<'t, 'a>],
        classes: &[DeclaredClass],
        tree: &Tree<'a>,
        path: NodeId,
    ) -> Option<(&'s Statement<'t, 'a>, ClassId)> {
        let first = tree.path(path).segments.first().map(|name| name.text)?;
        let mut all = scopes.iter().zip(classes).map(|(st, one)| (st, one.class));
        let has = all.clone().find(|(_, class)| self.member_exactly(*class, first).is_some());
        has.or_else(|| all.next())
    }

    /// The classes that a field orders: those that it identifies, but for one whose key has it already, within whose
    /// partitions it is always the same. If it identifies none, the first class that has such a member.
    fn ordered_by<'s>(
        &self,
        scopes: &'s [Statement<'t, 'a>],
        classes: &[DeclaredClass],
        key: &[DeclaredField],
        tree: &Tree<'a>,
        path: NodeId,
    ) -> Vec<(&'s Statement<'t, 'a>, ClassId)> {
        let text = tree.path(path);
        let [name] = text.segments.as_slice() else {
            return self.start_of(scopes, classes, tree, path).into_iter().collect();
        };
        let leaf = |member: Member| match member {
            Member::Attribute(id) => Leaf::Attribute(id),
            Member::End(id) => Leaf::Reference(id),
        };
        let is_key = |class: ClassId, member: Member| {
            key.iter().any(|field| {
                field.class == class && field.bucket.is_none() && field.path.leaf == leaf(member)
            })
        };
        let identifies = |class: ClassId| {
            let identifier = &self.model.conceptual.classes[class].identifier;
            let member = self.member_exactly(class, name.text);
            member.is_some_and(|member| identifier.contains(&member) && !is_key(class, member))
        };
        let all = scopes.iter().zip(classes).map(|(st, one)| (st, one.class));
        let ordered: Vec<_> = all.filter(|(_, class)| identifies(*class)).collect();
        match ordered.as_slice() {
            [] => self.start_of(scopes, classes, tree, path).into_iter().collect(),
            [_, ..] => ordered,
        }
    }

    fn declared_sort(
        &mut self,
        scopes: &[Statement<'t, 'a>],
        classes: &[DeclaredClass],
        key: &[DeclaredField],
        node: Option<NodeId>,
    ) -> Option<Vec<DeclaredField>> {
        let Some(node) = node else { return Some(Vec::new()) };
        let mut fields = Vec::new();
        let tree = scopes.first()?.tree;
        for term in tree.children_of(node, NodeKind::OrderTerm) {
            let path = tree.child(term, NodeKind::Path)?;
            let descending = tree.has_keyword(term, Keyword::Desc);
            for (st, class) in self.ordered_by(scopes, classes, key, tree, path) {
                let path = self.collection_path(st, path);
                fields.push(path.map(|path| DeclaredField { class, path, bucket: None, descending }));
            }
        }
        fields.into_iter().collect()
    }

    fn declared_keep(
        &mut self,
        scopes: &[Statement<'t, 'a>],
        classes: &[DeclaredClass],
        node: Option<NodeId>,
    ) -> Option<DeclaredKeep> {
        let Some(node) = node else { return Some(DeclaredKeep::Fields(Vec::new())) };
        let tree = scopes.first()?.tree;
        if tree.own_token(node, TokenKind::Star).is_some() {
            return Some(DeclaredKeep::All);
        }
        let mut fields = Vec::new();
        for path in tree.children_of(node, NodeKind::Path) {
            let (st, class) = self.start_of(scopes, classes, tree, path)?;
            let path = self.path(&st.scope, &tree.path(path), Crossing::Never);
            fields.push(path.map(|path| DeclaredField { class, path, bucket: None, descending: false }));
        }
        fields.into_iter().collect::<Option<_>>().map(DeclaredKeep::Fields)
    }

    /// A master holds every instance of its classes, by their ids.
    fn check_master(&mut self, collection: &DeclaredCollection, clause: Option<Span>) -> Option<()> {
        let problem = self.master_problem(collection, clause);
        match problem {
            None => Some(()),
            Some(diagnostic) => {
                self.say(diagnostic);
                None
            }
        }
    }

    fn master_problem(&self, collection: &DeclaredCollection, clause: Option<Span>) -> Option<Diagnostic> {
        let conceptual = &self.model.conceptual;
        let says = |span: Span, message: String, hint: &str| {
            Some(Diagnostic::new(Code::BadMaster, span, message).hint(hint))
        };
        if let Some(span) = clause {
            let message = "a master holds every instance: it has no `where`".to_owned();
            return says(span, message, "drop `where`, or drop `master` and let it be a copy");
        }
        for one in &collection.classes {
            let row = &conceptual.classes[one.class];
            let name = &row.name;
            if conceptual.aggregate_root(one.class) != Some(one.class) {
                let message = format!("`{name}` is stored with the class that owns it or that it extends");
                return says(collection.span, message, "declare the master of the root of its aggregate");
            }
            if row.surrogate {
                let message = format!("`{name}` has a surrogate, which no key can name");
                return says(collection.span, message, "mark the members that identify it with `id`");
            }
            let other = self
                .model
                .declared
                .iter()
                .find(|other| other.master && other.classes.iter().any(|known| known.class == one.class));
            if let Some(other) = other {
                let message = format!("`{name}` has two masters: `{}` and `{}`", other.name, collection.name);
                let diagnostic = Diagnostic::new(Code::BadMaster, collection.span, message);
                return Some(diagnostic.also(other.span, "the first one").hint("a class has one master"));
            }
        }
        self.key_problem(collection).or_else(|| self.carried_problem(collection))
    }

    /// Key and order are the ids of the classes, and buckets of what is in them.
    fn key_problem(&self, collection: &DeclaredCollection) -> Option<Diagnostic> {
        let conceptual = &self.model.conceptual;
        let member = |field: &DeclaredField| match field.path.leaf {
            Leaf::Attribute(id) if field.path.hops.is_empty() => Some(Member::Attribute(id)),
            Leaf::Reference(id) if field.path.hops.is_empty() => Some(Member::End(id)),
            Leaf::Attribute(_)
            | Leaf::Reference(_)
            | Leaf::Itself
            | Leaf::Bucket(_)
            | Leaf::TimeBucket(..) => None,
        };
        for one in &collection.classes {
            let row = &conceptual.classes[one.class];
            if let Some(by) = one.by.filter(|by| !row.identifier.contains(&Member::End(*by))) {
                let field = &conceptual.ends[by].name;
                let message =
                    format!("the id of `{}` does not say its partition: `{field}` is not in it", row.name);
                return Some(
                    Diagnostic::new(Code::BadMaster, collection.span, message)
                        .also(row.span, "identified here")
                        .hint(format!("mark `{field}` with `id`, or declare a collection each")),
                );
            }
            // The partition says which instance of the first class it is.
            let given = one.by.map(Member::End);
            let identifier: Vec<Member> =
                row.identifier.iter().copied().filter(|&member| Some(member) != given).collect();
            let fields: Vec<&DeclaredField> = collection
                .key
                .iter()
                .chain(&collection.sort)
                .filter(|field| field.class == one.class)
                .collect();
            let plain: Vec<Option<Member>> =
                fields.iter().filter(|field| field.bucket.is_none()).map(|field| member(field)).collect();
            let strange =
                fields.iter().any(|field| member(field).is_none_or(|one| !identifier.contains(&one)));
            let missing = identifier
                .iter()
                .find(|&&member| plain.iter().filter(|known| **known == Some(member)).count() != 1);
            if strange || missing.is_some() {
                let names: Vec<&str> =
                    identifier.iter().map(|&member| conceptual.member_name(member)).collect();
                let (name, names) = (&row.name, names.join(", "));
                let partition = one.by.map(|end| &conceptual.ends[end].name);
                let (message, hint) = match partition {
                    None => (
                        format!("key and sort of a master are the id of `{name}`, each member once: {names}"),
                        "beside the id only buckets of its timestamps can stand in the key, as `day(at)`",
                    ),
                    Some(field) if names.is_empty() => (
                        format!("`sort` has no field of `{name}`, whose id is `{field}` alone"),
                        "leave fields of this class out of `sort`",
                    ),
                    Some(field) => (
                        format!(
                            "`sort` has the rest of the id of `{name}` behind `{field}`, each member once: {names}"
                        ),
                        "name the members of the id in `sort`, and no others of this class",
                    ),
                };
                return Some(
                    Diagnostic::new(Code::BadMaster, collection.span, message)
                        .also(row.span, "identified here")
                        .hint(hint),
                );
            }
        }
        None
    }

    /// A master holds its own aggregates in any case: `keep` names what it carries of others.
    fn carried_problem(&self, collection: &DeclaredCollection) -> Option<Diagnostic> {
        let conceptual = &self.model.conceptual;
        let says = |message: String| {
            Some(
                Diagnostic::new(Code::BadMaster, collection.span, message)
                    .hint("a master keeps what it carries of others, as `restaurant.name`; drop the rest"),
            )
        };
        let DeclaredKeep::Fields(fields) = &collection.keep else {
            return says("a master holds its instances whole: `keep *` says nothing".to_owned());
        };
        let reference = |end: &EndId| conceptual.ends[*end].kind != RelationshipKind::Composition;
        let own = |field: &&DeclaredField| !field.path.hops.iter().any(reference);
        let field = fields.iter().find(own)?;
        let name = match field.path.leaf {
            Leaf::Attribute(id) => &conceptual.attributes[id].name,
            Leaf::Reference(id) => &conceptual.ends[id].name,
            Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => &conceptual.classes[field.class].name,
        };
        says(format!("`{name}` is in the master already: it holds its instances whole"))
    }
}

fn statement<'t, 'a>(tree: &'t Tree<'a>, class: ClassId) -> Statement<'t, 'a> {
    Statement {
        tree,
        scope: Scope::new(class),
        parameters: Parameters::none(),
        crossing: Crossing::Never,
        stated: None,
    }
}
