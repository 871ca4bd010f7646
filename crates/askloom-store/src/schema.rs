//! A model and its design, ready to run: names found, collections numbered.

use askloom_model::{ClassId, CollectionId, Design, EndId, Home, Id, Member, Model, Role};
use askloom_target::embedded::Names;
use std::collections::HashMap;
use std::sync::OnceLock;

#[derive(Debug)]
pub struct Schema {
    pub model: Model,
    pub design: Design,
    classes: HashMap<String, ClassId>,
    members: HashMap<ClassId, HashMap<String, Member>>,
    /// Worked out for a class when it is first asked for.
    homes: HashMap<ClassId, OnceLock<Vec<Home>>>,
    expires: bool,
}

impl Schema {
    #[must_use]
    pub fn new(mut model: Model, design: Design) -> Self {
        askloom_design::ask::name_ways_back(&mut model);
        let conceptual = &model.conceptual;
        let classes = conceptual.classes.iter().map(|(id, class)| (class.name.clone(), id)).collect();
        let members = conceptual.classes.ids().map(|class| {
            let members = conceptual.all_members(class);
            (class, members.map(|member| (conceptual.member_name(member).to_owned(), member)).collect())
        });
        let members = members.collect();
        let homes = conceptual.classes.ids().map(|class| (class, OnceLock::new())).collect();
        let expires = conceptual.classes.iter().any(|(_, class)| class.ttl_ms.is_some());
        Self { model, design, classes, members, homes, expires }
    }

    /// Whether any class has a time to live.
    #[must_use]
    pub fn expires(&self) -> bool {
        self.expires
    }

    /// In which aggregates the instances of a class are.
    #[must_use]
    pub fn homes(&self, class: ClassId) -> &[Home] {
        let homes = self.homes.get(&class);
        homes.map_or(&[], |homes| homes.get_or_init(|| self.model.conceptual.homes(class)))
    }

    /// The number of a collection in the keyspace.
    #[must_use]
    pub fn number(&self, collection: CollectionId) -> u32 {
        // Zero is the store's own.
        u32::try_from(collection.index() + 1).unwrap_or(u32::MAX)
    }

    /// The master of the aggregate that instances of this class live in.
    #[must_use]
    pub fn master_of(&self, class: ClassId) -> Option<(ClassId, CollectionId)> {
        let root = self.model.conceptual.aggregate_root(class)?;
        Some((root, self.design.master(root)?))
    }

    /// All copies.
    pub fn copies(&self) -> impl Iterator<Item = CollectionId> + '_ {
        self.design.collections.iter().filter(|(_, c)| c.role != Role::Master).map(|(id, _)| id)
    }

    #[must_use]
    pub fn end_name(&self, end: EndId) -> String {
        self.model.conceptual.ends[end].name.clone()
    }
}

impl Names for Schema {
    fn class(&self, name: &str) -> Option<ClassId> {
        self.classes.get(name).copied()
    }

    fn member(&self, class: ClassId, name: &str) -> Option<Member> {
        self.members.get(&class)?.get(name).copied()
    }
}
