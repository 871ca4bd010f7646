//! Mistakes that can be switched on, to see that the tests catch them.
//!
//! Places that must be right ask [`fault!`](crate::fault) whether to be wrong. Without the feature `faults`, which only
//! tests turn on, that is the constant `false` and costs nothing.

/// A mistake somewhere in the planner, the executor, the upkeep of copies, the rules of writes or the encoding.
#[cfg(feature = "faults")]
macro_rules! declare {
    ($($name:ident: $what:literal,)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Fault {
            $(#[doc = $what] $name,)*
        }

        impl Fault {
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// In words.
            #[must_use]
            pub fn what(self) -> &'static str {
                match self {
                    $(Self::$name => $what,)*
                }
            }
        }
    };
}

#[cfg(feature = "faults")]
declare! {
    OldKeyKept: "the old key of a moved row is not deleted",
    ValueNotRewritten: "an entry whose key stays keeps its old value",
    SupportReadSkipped: "those that refer to a changed instance are not looked for",
    BeforeNotConsulted: "whom an instance referred to before a write is not looked for",
    AfterNotConsulted: "whom an instance refers to after a write is not looked for",
    SelfReferenceOnce: "an instance that refers to itself is not found back",
    SecondPlaceForgotten: "a class that stands at two places of a copy is looked for at the first",
    PathsForgotten: "what a copy's paths go through is not looked for",
    CopyConditionIgnored: "a copy holds rows that its condition leaves out",
    IndexStale: "an index keeps entries of what no longer refers",
    IndexOfFirst: "an index holds the first of several references",
    OrdinalReused: "a new element takes the ordinal of a removed one",
    RemoveByOrdinal: "REMOVE AT takes the position for an ordinal",
    UniqueUnchecked: "unique values are not checked",
    BoundUnchecked: "upper bounds are not checked",
    ImmutableUnchecked: "immutable members may change",
    ImmutableEntityUnchecked: "instances of immutable entities may change",
    ExpiryFromCreation: "a time to live that counts from an attribute counts from creation",
    CascadeOnce: "a cascade stops after its first step",
    ClearForgotten: "links to what is deleted are not cleared",
    LinkNotTaken: "a partner that has one link keeps its former one, too",
    MirrorForgotten: "a symmetric link is put on one side only",
    DefaultForgotten: "defaults are not filled in",
    CompoundGoesOn: "a compound write goes on when a statement matches nothing",
    StatementsApart: "the statements of a compound write do not see each other",
    ApartTogether: "a write that says `@apart` is undone when a statement fails",
    OneElementChanged: "UPDATE of elements changes the first that matches",
    UpsertReplacesLists: "UPSERT replaces the lists of what is there",
    ExpiredKept: "what has expired is still there",
    CreatedKept: "a new instance takes over the age of a former one",
    DescendingNotInverted: "descending fields are stored as ascending ones",
    NulNotEscaped: "the end of a text can be inside it",
    NegativeUnordered: "negative whole numbers sort behind positive ones",
    NegativeDoubleUnordered: "negative doubles sort the other way round",
    TieDirectionIgnored: "a plan leaves out the sort though ties come the other way",
    MixedDirectionsIgnored: "a plan leaves out the sort though directions differ",
    LimitBeforeFilter: "a plan reads no further than LIMIT before it filters",
    InnerForOuter: "a copy with an inner join answers an outer one",
    OuterForInner: "rows that an outer join kept are given to an inner one",
    ConditionAssumed: "a copy that leaves out rows answers a query that wants them",
    TieBreakDropped: "rows that tie come in any order",
    DuplicatesDropped: "a row that looks like the one before is left out",
    NullIsEqual: "null is equal to null",
    NotOfUnknown: "NOT of unknown is true",
    NegatedMeansNone: "a negated predicate of a list is true where no element makes it false",
    NullsCounted: "aggregates do not skip nulls",
    DistinctIgnored: "DISTINCT counts everything",
    NullGroupDropped: "null is no group",
    NullInRange: "a range of a key has nulls in it",
    BoundIncluded: "a range of a key has its bound in it",
    OuterMissDropped: "LEFT JOIN leaves out what has no partner",
    SubclassesLeftOut: "instances of subclasses are not found by their parent",
    NullNotCounted: "LIMIT … PER keeps all rows without a value",
    LimitBeforePerGroup: "LIMIT cuts before LIMIT … PER does",
    PageSkips: "the next page starts in the middle of the last one",
    LooseReliedOn: "a loose reference is taken to lead somewhere",
    ChangeOverlooked: "a copy is left as it is when a link that it reads changes",
    UnsteadyCopy: "a copy that expiry makes incomplete is planned over",
}

#[cfg(feature = "faults")]
mod switch {
    use super::Fault;
    use std::cell::Cell;

    std::thread_local! {
        static ON: Cell<Option<Fault>> = const { Cell::new(None) };
    }

    /// Makes one mistake, or none, on this thread from now on.
    pub fn switch(fault: Option<Fault>) {
        ON.set(fault);
    }

    #[must_use]
    pub fn is_on(fault: Fault) -> bool {
        ON.get() == Some(fault)
    }
}

#[cfg(feature = "faults")]
pub use switch::{is_on, switch};

/// Whether to make a mistake here.
#[cfg(feature = "faults")]
#[macro_export]
macro_rules! fault {
    ($name:ident) => {
        $crate::faults::is_on($crate::faults::Fault::$name)
    };
}

/// Whether to make a mistake here: never, without the feature `faults`.
#[cfg(not(feature = "faults"))]
#[macro_export]
macro_rules! fault {
    ($name:ident) => {
        $crate::faults::never()
    };
}

/// False. A call, so that conditions with it read the same with and without faults; the compiler leaves it out.
#[cfg(not(feature = "faults"))]
#[must_use]
#[inline(always)]
pub const fn never() -> bool {
    false
}
