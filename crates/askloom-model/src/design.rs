//! What is stored where: collections of blocks of entries, as NoAM says, with what all methods need besides.
//!
//! A collection is defined by the conceptual rows it holds: a tree of positions, a condition without parameters,
//! and the fields. How to fill it, how to keep it right under every write, and whether a plan over it is
//! complete, all follow from that definition.

use crate::{ClassId, Condition, EndId, Leaf, Member, Occurrence, Path, Position, PositionId, Rule, Table};
use serde::Serialize;

crate::ids::ids! {
    CollectionId,
}

/// A set of collections that answers a workload and keeps its data.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Design {
    /// The method that made it.
    pub method: String,
    pub collections: Table<CollectionId, Collection>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Collection {
    pub name: String,
    pub role: Role,
    pub origin: Origin,
    pub keeper: Keeper,
    /// Of a master that shares the table and the partitions of another one: the root class of that one, to which its
    /// block key refers. A class and not a number, so that it stays true while collections come and go.
    pub partition_of: Option<ClassId>,
    pub source: Source,
    /// Where a block is: any fields for a copy. For a master the identity of the root, or the part of it that makes a
    /// partition, with buckets of time.
    pub block_key: Vec<KeyField>,
    /// Where an entry is in its block. The row's identity always follows, so that no two rows collide. For a master the
    /// rest of the identity: where an aggregate is in its partition.
    pub entry_key: Vec<KeyField>,
    pub contents: Contents,
    /// Why it is there, one sentence each.
    pub reasons: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The source of truth for a root class and its subclasses.
    Master,
    /// Rows that are kept beside their masters.
    Copy,
    /// A copy of identities alone.
    Index,
    /// Values of others that the records of a master carry: a copy with one row for each aggregate, which lies in the
    /// aggregate's own record. It is keyed by the identity, and whoever reads the aggregate reads it, too.
    Carried,
}

impl Role {
    /// Whether the rows of a collection are records of their own.
    #[must_use]
    pub fn is_table_of_rows(self) -> bool {
        match self {
            Self::Copy | Self::Index => true,
            Self::Master | Self::Carried => false,
        }
    }
}

/// Whose idea a collection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The method makes it.
    Method,
    /// The method's own collections cannot answer or keep everything; this one makes them.
    Added,
}

/// Who keeps a collection right beside its masters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Keeper {
    /// Every write, with what it changes.
    #[default]
    Ours,
    /// The store, as one of its own indexes. Only queries go by it: it may lag.
    Store,
}

/// Which conceptual rows a collection holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Source {
    pub root: ClassId,
    pub positions: Table<PositionId, Position>,
    pub condition: Option<Condition>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KeyField {
    pub path: Path,
    pub descending: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Contents {
    /// The whole aggregate, nested, split into entries by these rules.
    Aggregate(Vec<Rule>),
    /// Rows, one entry each, with the values of these paths beside those of the keys.
    Fields(Vec<Path>),
    /// Nodes, one entry each: what stands at one position, with what stands above it. Siblings are not multiplied.
    /// The rows come back by joining nodes along the tree.
    Nested(Nodes),
}

/// What the nodes of a nested copy hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Nodes {
    /// A node holds the values of those that start at its position.
    pub fields: Vec<Path>,
    /// A node at one of these holds the whole aggregate that stands there.
    pub whole: Vec<PositionId>,
}

impl Design {
    /// The master of a class: of the root of its aggregate.
    #[must_use]
    pub fn master(&self, root: ClassId) -> Option<CollectionId> {
        let is_master =
            |collection: &Collection| collection.role == Role::Master && collection.source.root == root;
        self.collections.iter().find(|(_, collection)| is_master(collection)).map(|(id, _)| id)
    }

    /// The master whose table and partitions a master lies in, if those are another one's.
    #[must_use]
    pub fn partition_of(&self, id: CollectionId) -> Option<CollectionId> {
        self.master(self.collections[id].partition_of?)
    }

    /// The master whose table has the store's own indexes of a class: that of the partitions, where classes share one.
    #[must_use]
    pub fn indexed_with(&self, root: ClassId, shares_tables: bool) -> Option<CollectionId> {
        let master = self.master(root)?;
        Some(self.partition_of(master).filter(|_| shares_tables).unwrap_or(master))
    }

    /// The masters that lie in the same partitions as one, that one included; of any other collection itself.
    pub fn in_partitions_of(&self, id: CollectionId) -> impl Iterator<Item = CollectionId> {
        let home = |id: CollectionId| self.partition_of(id).unwrap_or(id);
        let own = home(id);
        self.collections.ids().filter(move |&other| home(other) == own)
    }

    /// What the records of a master carry of others, by the root class of the master.
    #[must_use]
    pub fn carried(&self, root: ClassId) -> Option<CollectionId> {
        let is_it =
            |collection: &Collection| collection.role == Role::Carried && collection.source.root == root;
        self.collections.iter().find(|(_, collection)| is_it(collection)).map(|(id, _)| id)
    }

    /// The collection in whose records the entries of another one lie: for what a master carries the master.
    #[must_use]
    pub fn stored_in(&self, id: CollectionId) -> CollectionId {
        let collection = &self.collections[id];
        match collection.role {
            Role::Carried => self.master(collection.source.root).unwrap_or(id),
            Role::Master | Role::Copy | Role::Index => id,
        }
    }

    /// What an index of the store's own is of: another copy of the same rows in the same blocks that holds all it needs,
    /// else the master.
    #[must_use]
    pub fn host(&self, id: CollectionId) -> Option<CollectionId> {
        let index = &self.collections[id];
        self.sibling(id).or_else(|| self.master(index.source.root))
    }

    /// Another copy, kept with every write, that has the same rows in the same blocks and holds as much.
    #[must_use]
    pub fn sibling(&self, id: CollectionId) -> Option<CollectionId> {
        let index = &self.collections[id];
        let is_it = |(other, collection): &(CollectionId, &Collection)| {
            *other != id && collection.is_sibling_of(index)
        };
        self.collections.iter().find(is_it).map(|(other, _)| other)
    }

    /// The index of a member at one place of an aggregate, kept with every write, so that writes can go by it.
    #[must_use]
    pub fn index(&self, occurrence: &Occurrence, leaf: Leaf) -> Option<CollectionId> {
        let is_it = |collection: &Collection| {
            collection.keeper == Keeper::Ours
                && collection.source.root == occurrence.root
                && collection.indexed().is_some_and(|path| path.leaf == leaf && path.hops == occurrence.hops)
        };
        self.collections.iter().find(|(_, collection)| is_it(collection)).map(|(id, _)| id)
    }

    /// An index from the target of a stored end back to those that refer to it, kept with every write.
    #[must_use]
    pub fn reverse_index(&self, end: EndId) -> Option<CollectionId> {
        let is_index =
            |collection: &Collection| collection.keeper == Keeper::Ours && collection.reverses() == Some(end);
        self.collections.iter().find(|(_, collection)| is_index(collection)).map(|(id, _)| id)
    }
}

/// No statement has more positions.
const MAX_POSITIONS: usize = 256;

impl Collection {
    /// Whether it is a copy, kept with every write, that has the rows of another one in the same blocks and holds as much.
    #[must_use]
    pub fn is_sibling_of(&self, index: &Self) -> bool {
        let flat = |one: &Self| one.role.is_table_of_rows() && matches!(one.contents, Contents::Fields(_));
        self.keeper == Keeper::Ours
            && flat(self)
            && flat(index)
            && self.source == index.source
            && self.block_key == index.block_key
            && index.held().all(|path| self.held().any(|own| own == path))
    }

    /// Whether it holds the same under the same keys, kept by the same, whatever either is called.
    #[must_use]
    pub fn is_same_as(&self, other: &Self) -> bool {
        self.source == other.source
            && self.block_key == other.block_key
            && self.entry_key == other.entry_key
            && self.contents == other.contents
            && self.keeper == other.keeper
            && self.partition_of == other.partition_of
    }

    /// The path that this collection leads back from, if it is an index and nothing else: its rows are aggregates by
    /// what they hold at the path, one for each distinct value of a path that has several. An aggregate that holds
    /// nothing there has no row.
    #[must_use]
    pub fn indexed(&self) -> Option<&Path> {
        let [key] = self.block_key.as_slice() else { return None };
        let plain = self.role == Role::Index && self.source.condition.is_none() && self.entry_key.is_empty();
        // Nothing leads back from a bucket.
        let leads_back = !matches!(key.path.leaf, Leaf::Bucket(_) | Leaf::TimeBucket(..));
        (plain && leads_back && self.source.positions.len() == 1).then_some(&key.path)
    }

    /// The end that this collection leads back from, if it is an index of references.
    #[must_use]
    pub fn reverses(&self) -> Option<EndId> {
        match self.indexed()?.leaf {
            Leaf::Reference(end) => Some(end),
            Leaf::Attribute(_) | Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => None,
        }
    }

    /// The positions from the root to one, both included.
    #[must_use]
    pub fn chain(&self, position: PositionId) -> Vec<PositionId> {
        let mut chain = vec![position];
        let mut current = position;
        while let Some(hop) = self.source.positions[current].from.filter(|_| chain.len() <= MAX_POSITIONS) {
            chain.push(hop.parent);
            current = hop.parent;
        }
        chain.reverse();
        chain
    }

    /// The positions whose aggregates are held as wholes.
    #[must_use]
    pub fn whole(&self) -> &[PositionId] {
        match &self.contents {
            Contents::Aggregate(_) | Contents::Fields(_) => &[],
            Contents::Nested(nodes) => &nodes.whole,
        }
    }

    /// The paths whose values entries hold beside those of the keys. An aggregate is held as it is.
    #[must_use]
    pub fn fields(&self) -> &[Path] {
        match &self.contents {
            Contents::Aggregate(_) => &[],
            Contents::Fields(fields) | Contents::Nested(Nodes { fields, .. }) => fields,
        }
    }

    /// Every path whose value can be read from an entry.
    pub fn held(&self) -> impl Iterator<Item = &Path> {
        let keys = self.block_key.iter().chain(&self.entry_key).map(|field| &field.path);
        keys.chain(self.fields())
    }

    /// Every member that the rows of a collection are made of or depend on.
    pub fn members(&self) -> impl Iterator<Item = Member> {
        let steps = self.source.positions.iter().filter_map(|(_, position)| Some(position.from?.step));
        let conditions = self.source.condition.iter().flat_map(|condition| condition.paths());
        steps.chain(self.held().chain(conditions).flat_map(Path::members))
    }
}
