//! What the protocol can be told to do wrong. Each fault is one that a person could make, and the simulator must find
//! every one of them: a test that finds nothing in a broken protocol says nothing about a whole one.

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// Keys are put without being listed first.
    AnnouncementSkipped,
    /// The key under which a row was before is left.
    OldKeyKept,
    /// A row is put whether the swap of its anchor was won or not.
    AnchorNotSwapped,
    /// The masters are read before the anchor.
    MastersBeforeAnchor,
    /// The last swap of an anchor forgets keys that others have listed meanwhile.
    AnchorOverwritten,
    /// Masters are not read again after the puts.
    RereadSkipped,
    /// The hint is put when the master has changed already.
    HintAfterSwap,
    /// The hint is taken away before the rows are refreshed.
    HintDroppedFirst,
    /// Nothing is owed: a crash leaves a hint that says nothing.
    NothingOwed,
    /// What is owed is given up before the rows are refreshed.
    OwedDroppedFirst,
    /// What the master referred to before is forgotten.
    PreviousForgotten,
    /// The way back is put when the target has been read already.
    ReferrerAfterRead,
    /// The way back is stamped as if the write was done already.
    ReferrerStampedAhead,
    /// A hint is taken away without a fence.
    FenceSkipped,
    /// A write whose reply was lost is done again without a look.
    RetriedBlindly,
    /// The instance goes without being closed to new references first.
    ClosingSkipped,
    /// Those that may come to refer to it are not touched before an instance goes.
    TouchSkipped,
    /// A sweep leaves an instance closed whose deletion crashed.
    ClosedForEver,
    /// n starts again when an instance is inserted again.
    CountedAnew,
    /// Whoever has to go with an instance may change until it does.
    FollowersUnlocked,
    /// What referred to an instance that has gone is left as it is.
    NotFollowed,
    /// What has gone may come back before everyone who referred to it has been seen to.
    ComesBackEarly,
    /// Those that may come to have what only one may have are not touched.
    ClaimUntouched,
}
