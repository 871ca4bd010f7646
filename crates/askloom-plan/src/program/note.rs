//! Why a step is there.

use askloom_model::{CollectionId, CopyLevel, EndId, Member};

/// The reason of a step, as data: [`words`](super::words) has the sentences.
#[derive(Debug, Clone, PartialEq)]
pub enum Note {
    /// The rows that the statement is about.
    Start(Start),
    /// The same, where only reading everything finds them.
    Scan(Start),
    /// The same, where the store searches for them.
    Search(Start),
    /// Instances that tell whether something has expired.
    Expiry,
    /// Instances that tell of which class they are.
    Class,
    /// The instance that a reference names.
    Target(Member),
    /// The instance above another one in a tree.
    Ancestor(EndId),
    /// The aggregate that a row is of.
    Aggregate,
    /// The ids of those that a derived end leads to.
    ReferrerIds(Member),
    /// Those instances.
    Referrers(Member),
    /// Those instances, by reading everything.
    ReferrersByScan(Member),
    /// The owner of a part, by an index. What the part is for.
    Owner(Box<Note>),
    /// The same, by reading everything.
    OwnerByScan(Box<Note>),
    /// What a copy holds of a row that the rows so far do not.
    Fetch,
    /// What is there before the write puts its own. A blind put would not need it.
    Existing { blind: bool },
    /// Whoever has a unique value already.
    Unique { member: Option<Member>, scan: bool },
    /// The target of a checked reference.
    CheckedTarget(EndId),
    /// Those that refer to what is deleted.
    CheckedReferrers { end: EndId, scan: bool },
    /// The instance at the other end of a link.
    Partner(EndId),
    /// Those that hold a link to the same instance.
    LinkHolders { end: EndId, scan: bool },
    /// Which rows of a copy hold what is written.
    RowsHolding { copy: CollectionId, end: EndId, scan: bool },
    /// What else stands in these rows.
    RestOfRows { copy: CollectionId, scan: bool },
    /// The changes, and what makes them one. Some of them may be blind puts.
    Commit { level: CopyLevel, blind: bool },
}

/// What the first rows of a program are for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// They are the rows of the query.
    Query,
    /// Their ids are a list that the query goes by.
    KeyLookup { list: String },
    /// They are what the write changes.
    Written,
}
