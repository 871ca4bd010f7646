//! The tables of a design, before they are in any store's words: which columns the records of a collection have, which
//! of them are its key, and how the entries of the executor and these records become each other.
//!
//! A column has one plain value, or a tree of them. An id of several parts has a column for each. What two parts of a
//! definition both hold (a key that is the id, a value that is in the key) is one column.

mod asked;
mod build;
mod master;
mod row;
mod shared_table;

pub use asked::Asked;
pub use build::{identifier_parts, named_identity};
pub use master::{Block, Fields};
pub use row::Entry;
pub use shared_table::Shared;

use crate::program::Term;
use crate::tree::TreeOf;
use askloom_model::{
    Capability, ClassId, Collection, CollectionId, Conceptual, Design, Id, Identity, Leaf, Member, Path,
    PositionId, Role, TimeBucket, Type,
};
use std::sync::Arc;

/// All tables of a design. It owns what it was built from, so that a prepared program can outlive its caller and be
/// shared between tasks.
#[derive(Debug)]
pub struct Layout {
    pub conceptual: Arc<Conceptual>,
    pub design: Arc<Design>,
    tables: Vec<Table>,
    asked: Vec<Asked>,
}

/// The records of one collection.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub collection: CollectionId,
    pub name: String,
    pub role: Role,
    /// Those of the key first: of the block, then those that sort, then those that complete the id of the row.
    pub columns: Vec<Column>,
    pub shape: Shape,
    /// Of a master that lies in one table with others.
    pub shared: Option<Shared>,
}

/// What a record is.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// A block is an aggregate: its columns, the system's, and records of their own for entries further inside.
    Master {
        /// Whether the rules put anything but members of the root into entries of their own.
        entries: bool,
        /// The columns of each field of the block key.
        block: Vec<Field>,
        /// The columns of each field of the entry key: aggregates of one partition are in their order.
        sort: Vec<Field>,
        /// The columns of each value of others that the records carry.
        carried: Vec<Field>,
    },
    /// A record is a row of the collection's definition.
    Rows(Parts),
    /// A record is a node at one position; the block has the whole tree.
    Nodes(Parts),
}

/// Which columns hold which part of an entry, as indices.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parts {
    /// For each field of the block key.
    pub block: Vec<Field>,
    /// For each field of the entry key.
    pub sort: Vec<Field>,
    /// For each position, what identifies it.
    pub row: Vec<Field>,
    /// For each path that is held besides.
    pub values: Vec<Field>,
    /// For each position whose aggregate is held as a whole.
    pub whole: Vec<(PositionId, usize)>,
}

/// The columns of one value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Field {
    pub columns: Vec<usize>,
    /// Whether the value is an id, with a column for each part.
    pub identity: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// As a query would say it: `firstPlayer.username`. Stores rename it as they must.
    pub name: String,
    pub place: Place,
    pub source: Source,
    pub holds: Holds,
    /// Whether it can be null.
    pub optional: bool,
}

/// What a column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Where the block is.
    Block,
    /// Where the record is in its block.
    Sort {
        descending: bool,
    },
    /// Completes the key: with it no two rows are the same.
    Row,
    Value,
}

/// Where the value of a column comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A path of the definition; of an id that is there, one part.
    Path { path: Path, part: Option<usize> },
    /// What identifies a position, or one part of it.
    Position { position: PositionId, part: Option<usize> },
    /// Which node of a tree the record is.
    Node,
    /// The aggregate at a position.
    Whole(PositionId),
    /// A member of the aggregate's root.
    Member(Member),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holds {
    Scalar(Type),
    /// Which element of a list.
    Ordinal,
    /// What tells a value object apart that is no part of the row above it: bytes in key order.
    Locator,
    Tree {
        of: TreeOf,
        many: bool,
    },
}

impl Holds {
    /// The type of a plain value. Nothing for a tree.
    #[must_use]
    pub fn scalar(&self) -> Option<&Type> {
        match self {
            Self::Scalar(ty) => Some(ty),
            Self::Ordinal => Some(&Type::Long),
            Self::Locator => Some(&Type::Blob),
            Self::Tree { .. } => None,
        }
    }
}

impl Column {
    /// Of a column that holds a bucket of time: the component of the identity that it is computed from, and the unit.
    #[must_use]
    pub fn time_bucket(&self, conceptual: &Conceptual, root: ClassId) -> Option<(usize, TimeBucket)> {
        let Source::Path { path, .. } = &self.source else { return None };
        let Leaf::TimeBucket(id, unit) = path.leaf else { return None };
        let (component, _) = conceptual.component(root, Leaf::Attribute(id))?;
        Some((component, unit))
    }

    #[must_use]
    pub fn is_key(&self) -> bool {
        match self.place {
            Place::Block | Place::Sort { .. } | Place::Row => true,
            Place::Value => false,
        }
    }

    /// Whether this one of a master has what a column of a copy has.
    pub fn keeps(&self, copied: &Self) -> bool {
        let same = match (&self.source, &copied.source) {
            (Source::Position { part: stored, .. }, Source::Position { position, part }) => {
                stored == part && *position == PositionId::from_index(0)
            }
            (Source::Member(member), Source::Path { path, .. }) => Some(*member) == member_of(path.leaf),
            (_, _) => false,
        };
        same && self.holds == copied.holds
    }
}

pub fn member_of(leaf: Leaf) -> Option<Member> {
    match leaf {
        Leaf::Attribute(id) => Some(Member::Attribute(id)),
        Leaf::Reference(id) => Some(Member::End(id)),
        Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => None,
    }
}

impl Layout {
    #[must_use]
    pub fn new(conceptual: &Conceptual, design: &Design) -> Self {
        let tables = design.collections.iter();
        let carried = |collection: &Collection| {
            let carried = design.carried(collection.source.root)?;
            (collection.role == Role::Master).then(|| design.collections[carried].fields())
        };
        let table = |(id, collection)| Table {
            shared: shared_table::shared(conceptual, design, id),
            ..build::table(conceptual, id, collection, carried(collection).unwrap_or_default())
        };
        let tables = tables.map(table).collect();
        let (conceptual, design) = (Arc::new(conceptual.clone()), Arc::new(design.clone()));
        Self { conceptual, design, tables, asked: Vec::new() }
    }

    /// In the order of the design's collections.
    #[must_use]
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    #[must_use]
    pub fn table(&self, collection: CollectionId) -> Option<&Table> {
        self.tables.get(collection.index())
    }

    /// Whether a collection has records of its own. What a master carries is in the records of the master.
    #[must_use]
    pub fn has_records(&self, collection: CollectionId) -> bool {
        self.design.stored_in(collection) == collection
    }

    /// Puts what a store makes of its own index in the place of each copy that leads to the records of a master: made of
    /// the copy, of what there is of the master, and of what there is of the copy.
    pub fn link<T>(
        &self,
        capability: &Capability,
        all: &mut [T],
        index: impl Fn(&Collection, &T, &T) -> Option<T>,
    ) {
        for (id, copy) in self.design.collections.iter() {
            if !capability.leads_to_records(&self.conceptual, copy) {
                continue;
            }
            let host = self.design.master(copy.source.root).and_then(|host| all.get(host.index()));
            let made = host.zip(all.get(id.index())).and_then(|(host, own)| index(copy, host, own));
            if let Some((slot, made)) = all.get_mut(id.index()).zip(made) {
                *slot = made;
            }
        }
    }
}

impl Table {
    /// The columns that say where the block is.
    pub fn block(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| column.place == Place::Block)
    }

    /// The columns that say where a record is in its block.
    pub fn within(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| column.is_key() && column.place != Place::Block)
    }

    pub fn values(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| !column.is_key())
    }

    /// How many of the leading fields that sort have all their columns among some terms.
    #[must_use]
    pub fn sort_fields(&self, terms: &[Term]) -> usize {
        let sort = match &self.shape {
            Shape::Rows(parts) | Shape::Nodes(parts) => &parts.sort,
            Shape::Master { sort, .. } => sort,
        };
        let said = |field: &&Field| {
            field.columns.iter().all(|column| terms.iter().any(|term| term.column == Some(*column)))
        };
        sort.iter().take_while(said).count()
    }

    /// Whether a column is one of those that say which block a record is in: of a master all that make up the id of the
    /// aggregate, whether that is split or not.
    #[must_use]
    pub fn names_block(&self, column: &Column) -> bool {
        match &self.shape {
            Shape::Master { .. } => column.is_key(),
            Shape::Rows(_) | Shape::Nodes(_) => column.place == Place::Block,
        }
    }

    /// Whether blocks of a master share a partition, each at its place in the order.
    #[must_use]
    pub fn is_clustered(&self) -> bool {
        match &self.shape {
            Shape::Master { sort, .. } => !sort.is_empty(),
            Shape::Rows(_) | Shape::Nodes(_) => false,
        }
    }

    /// Whether a column of a master holds a value of others that its records carry.
    #[must_use]
    pub fn carries(&self, column: &Column) -> bool {
        match (&self.shape, &column.source) {
            (Shape::Master { .. }, Source::Path { path, .. }) => {
                column.place == Place::Value && !path.hops.is_empty()
            }
            (_, _) => false,
        }
    }

    /// The columns of a master that hold the components of the identity, in the order of those.
    #[must_use]
    pub fn identity_columns(&self) -> Vec<usize> {
        let part = |column: &Column| match column.source {
            Source::Position { part, .. } => part.filter(|_| column.is_key()),
            Source::Path { .. } | Source::Node | Source::Whole(_) | Source::Member(_) => None,
        };
        let columns = self.columns.iter().enumerate();
        let mut parts: Vec<(usize, usize)> =
            columns.filter_map(|(at, column)| Some((part(column)?, at))).collect();
        parts.sort_unstable();
        parts.into_iter().map(|(_, at)| at).collect()
    }

    /// The identity of the aggregate whose key these terms are. `None` if one of them has no value.
    #[must_use]
    pub fn identity(&self, terms: &[Term]) -> Option<Identity> {
        let value = |column: usize| terms.iter().find(|term| term.column == Some(column))?.value.clone();
        self.identity_columns().into_iter().map(value).collect()
    }

    /// Whether a block has one record and no more.
    #[must_use]
    pub fn is_packed(&self) -> bool {
        match &self.shape {
            Shape::Master { entries, .. } => !entries,
            Shape::Rows(_) | Shape::Nodes(_) => self.within().next().is_none(),
        }
    }
}
