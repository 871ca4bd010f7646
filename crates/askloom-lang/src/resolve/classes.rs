//! Entities and value objects: their names, their kind, their annotations.

use super::annotations::Target;
use super::{Place, Resolver, owned};
use crate::syntax::{Keyword, NodeKind};
use askloom_model::{Class, ClassKind, ClassStatistics, Writes};

impl Resolver<'_, '_, '_> {
    pub(super) fn declare_classes(&mut self) {
        self.each(NodeKind::Class, Self::declare_class);
        self.each(NodeKind::WritesAny, |resolver, _| {
            let classes: Vec<_> = resolver.model.conceptual.classes.ids().collect();
            for class in classes {
                resolver.model.conceptual.classes[class].writes = Writes::Any;
            }
        });
    }

    fn declare_class(&mut self, place: Place) {
        let tree = self.tree(place);
        let name = tree.name(place.node);
        let kind = if tree.has_keyword(place.node, Keyword::Value) {
            ClassKind::Value
        } else if tree.has_keyword(place.node, Keyword::Abstract) {
            ClassKind::AbstractEntity
        } else {
            ClassKind::Entity
        };
        let (text, span) = owned(name);
        let mut class = Class {
            name: text,
            kind,
            parent: None,
            members: Vec::new(),
            identifier: Vec::new(),
            surrogate: false,
            owner: None,
            subclasses: Vec::new(),
            held_by: Vec::new(),
            statistics: ClassStatistics::default(),
            ttl: None,
            immutable: tree.has_keyword(place.node, Keyword::Immutable),
            store: None,
            writes: Writes::Declared,
            highly_updated: false,
            span,
        };
        let found =
            self.annotations(place, if kind == ClassKind::Value { Target::Value } else { Target::Entity });
        class.statistics = ClassStatistics { count: found.count, skew: found.skew };
        class.store = found.store;
        if found.any_write {
            class.writes = Writes::Any;
        }
        class.highly_updated = found.highly_updated;
        let id = self.model.conceptual.classes.push(class);
        self.lifetimes.extend(found.ttl.map(|lifetime| (id, lifetime)));
        self.places.classes.push(place);
        let Some(name) = name else { return };
        let before = self.names.classes.get(name.text).map(|&c| self.model.conceptual.classes[c].span);
        if !self.declared_before(name, before) {
            self.names.classes.insert(name.text, id);
        }
    }
}
