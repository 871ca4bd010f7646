//! A schema whose collections have numbers in the keyspace.

use crate::codec::{MasterKey, Names};
use askloom_engine::Schema;
use askloom_model::{ClassId, CollectionId, Design, Id, Member, Model, Role};
use askloom_target::embedded::costing;
use std::collections::{BTreeSet, HashMap};
use std::ops::Deref;

/// What the keys and values of a design are made with.
#[derive(Debug)]
pub struct KeyedSchema {
    schema: Schema,
    /// By collection.
    numbers: Vec<u32>,
    /// By collection, how the keys of a master are made; nothing for a copy.
    master_keys: Vec<Option<MasterKey>>,
    classes: HashMap<String, ClassId>,
    members: HashMap<ClassId, HashMap<String, Member>>,
}

impl Deref for KeyedSchema {
    type Target = Schema;

    fn deref(&self) -> &Schema {
        &self.schema
    }
}

impl KeyedSchema {
    /// A design on a store of its own, numbered as it stands.
    #[must_use]
    pub fn new(model: Model, design: Design) -> Self {
        // Zero is the store's own.
        let numbers = design.collections.ids().map(|id| first_number() + id.index() as u32).collect();
        Self::with(Schema::new(model, design, costing()), numbers)
    }

    /// A design whose collections have the numbers that a store keeps for their names. Those that are being filled are
    /// kept right and not read.
    #[must_use]
    #[expect(
        clippy::expect_used,
        reason = "an entry under another number would belong to another collection"
    )]
    pub fn numbered(
        model: Model,
        design: Design,
        numbers: &HashMap<String, u32>,
        filling: &BTreeSet<String>,
    ) -> Self {
        let schema = Schema::filling(model, design, filling, costing());
        let number = |name: &String| *numbers.get(name).expect("every collection has a number");
        let numbers = schema.design.collections.iter().map(|(_, collection)| number(&collection.name));
        let numbers = numbers.collect();
        Self::with(schema, numbers)
    }

    fn with(schema: Schema, numbers: Vec<u32>) -> Self {
        let conceptual = &schema.model.conceptual;
        let classes = conceptual.classes.iter().map(|(id, class)| (class.name.clone(), id)).collect();
        let members = conceptual.classes.ids().map(|class| {
            let members = conceptual.all_members(class);
            (class, members.map(|member| (conceptual.member_name(member).to_owned(), member)).collect())
        });
        let members = members.collect();
        let collections = schema.design.collections.iter().zip(&numbers);
        let master_keys = collections.map(|((_, collection), &number)| {
            let master = collection.role == Role::Master;
            master.then(|| MasterKey::new(conceptual, collection, number))
        });
        let master_keys = master_keys.collect();
        Self { schema, numbers, master_keys, classes, members }
    }

    /// How the keys of a master are made.
    #[must_use]
    #[expect(clippy::expect_used, reason = "who asks has found a master")]
    pub fn master_key(&self, master: CollectionId) -> &MasterKey {
        let key = self.master_keys.get(master.index()).and_then(Option::as_ref);
        key.expect("a copy has no keys of aggregates")
    }

    /// The number of a collection in the keyspace.
    #[must_use]
    #[expect(
        clippy::expect_used,
        reason = "an entry under another number would belong to another collection"
    )]
    pub fn number(&self, collection: CollectionId) -> u32 {
        *self.numbers.get(collection.index()).expect("every collection has a number")
    }
}

const fn first_number() -> u32 {
    1
}

impl Names for KeyedSchema {
    fn class(&self, name: &str) -> Option<ClassId> {
        self.classes.get(name).copied()
    }

    fn member(&self, class: ClassId, name: &str) -> Option<Member> {
        self.members.get(&class)?.get(name).copied()
    }
}
