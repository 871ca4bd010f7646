//! In which aggregates the instances of a class can be.

use crate::{ClassId, Conceptual, Member, RelationshipKind};
use std::collections::BTreeSet;

/// A kind of aggregate in which instances of a class live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Home {
    /// The root class of the aggregates.
    pub root: ClassId,
    pub place: HomePlace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HomePlace {
    /// The aggregate is the instance.
    Root,
    /// Somewhere inside.
    Inside,
}

impl Conceptual {
    /// Where the instances of a class and of its subclasses are. Most classes have one home; a subclass can be a part
    /// where its parent is none, and a part of a value object is wherever that can be.
    #[must_use]
    pub fn homes(&self, class: ClassId) -> Vec<Home> {
        let kinds = self.classes.ids().filter(|&kind| self.is_kind_of(kind, class));
        let mut homes = BTreeSet::new();
        for kind in kinds {
            let lineage = self.lineage(kind);
            let entity = self.classes[kind].kind.is_entity();
            if entity && lineage.iter().all(|&class| self.classes[class].owner.is_none()) {
                homes.extend(lineage.last().map(|&root| Home { root, place: HomePlace::Root }));
            } else {
                let holds = |root: &ClassId| self.nested_in(*root).contains(&kind);
                homes.extend(
                    self.roots().filter(holds).map(|root| Home { root, place: HomePlace::Inside }),
                );
            }
        }
        homes.into_iter().collect()
    }

    /// The classes whose instances are aggregates of their own, without their subclasses.
    fn roots(&self) -> impl Iterator<Item = ClassId> + '_ {
        self.classes.ids().filter(|&class| self.aggregate_root(class) == Some(class))
    }

    /// Every class of which there can be instances inside an aggregate of this root.
    #[must_use]
    pub fn nested_in(&self, root: ClassId) -> BTreeSet<ClassId> {
        let mut nested = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut open = vec![root];
        while let Some(class) = open.pop() {
            // An instance may be of a subclass, and has the members of all ancestors.
            let kinds: Vec<ClassId> = self.classes.ids().filter(|&c| self.is_kind_of(c, class)).collect();
            for kind in kinds.into_iter().filter(|&kind| seen.insert(kind)) {
                for member in self.all_members(kind) {
                    let Member::End(end) = member else { continue };
                    let end = &self.ends[end];
                    if end.kind == RelationshipKind::Composition && end.stored {
                        nested.extend(self.classes.ids().filter(|&c| self.is_kind_of(c, end.target)));
                        open.push(end.target);
                    }
                }
            }
        }
        nested
    }
}
