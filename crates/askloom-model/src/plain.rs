//! Entities that are no more than their values.

use crate::{ClassId, Conceptual, Home, HomePlace, Leaf, Member, Path, PositionId, RelationshipKind};

impl Conceptual {
    /// The members of an entity that is no more than single values of its own, each of which a row of a copy can hold:
    /// whoever has them all has the instance. Nothing if it is more: a subclass or what has some, something with lists or
    /// parts, or where anything expires, which is told by more than values.
    #[must_use]
    pub fn plain_members(&self, class: ClassId) -> Option<Vec<Leaf>> {
        let row = &self.classes[class];
        if !row.kind.is_entity() || row.identifier.is_empty() || !row.subclasses.is_empty() {
            return None;
        }
        let mut leaves = Vec::new();
        for member in self.all_members(class) {
            match member {
                Member::Attribute(id) if self.attributes[id].list => return None,
                Member::Attribute(id) => leaves.push(Leaf::Attribute(id)),
                Member::End(id) => {
                    let end = &self.ends[id];
                    let part = end.kind == RelationshipKind::Composition;
                    match end.stored {
                        true if part || end.cardinality.is_many() || end.inverse == Some(id) => return None,
                        true => leaves.push(Leaf::Reference(id)),
                        false => {}
                    }
                }
            }
        }
        let lives = self.classes.iter().all(|(_, class)| class.ttl.is_none());
        let alone = [Home { root: class, place: HomePlace::Root }];
        (lives && self.lineage(class) == [class] && self.homes(class) == alone).then_some(leaves)
    }

    /// Whether these values are all that there is of an instance of a class at a position.
    #[must_use]
    pub fn is_spelled_out(&self, class: ClassId, position: PositionId, values: &[Path]) -> bool {
        // Most rows hold less than that, which is seen at once.
        let enough = self.all_members(class).filter(|member| matches!(member, Member::Attribute(_)));
        if enough.count() > values.len() {
            return false;
        }
        let has = |leaf: Leaf| values.iter().any(|path| *path == Path { position, hops: Vec::new(), leaf });
        self.plain_members(class).is_some_and(|leaves| leaves.into_iter().all(has))
    }
}
