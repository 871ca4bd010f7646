//! The sentences of notes and loops, as printed statements have them in comments.

use super::each::{Each, EachChange, Holder, LinkCause, LoopOf, ValueLoop};
use super::note::{Note, Start};
use crate::layout::Layout;
use askloom_model::{BucketsBetween, CollectionId, CopyLevel, InSet, Member, Operand, Parameter, Value};

/// What names are looked up in.
#[derive(Debug, Clone, Copy)]
pub struct Words<'w> {
    pub layout: &'w Layout,
    pub parameters: &'w [Parameter],
}

impl Words<'_> {
    /// Why a step is there.
    #[must_use]
    pub fn note(&self, note: &Note) -> String {
        match note {
            Note::Start(start) => start_text(start, "read the matching rows"),
            Note::Scan(start) => match start {
                Start::Query => "scan: no key leads to the rows".to_owned(),
                Start::KeyLookup { .. } | Start::Written => {
                    format!("{}: scan, since no key leads there", start_text(start, ""))
                }
            },
            Note::Search(start) => match start {
                Start::Query => "search for the matching rows".to_owned(),
                Start::KeyLookup { .. } | Start::Written => start_text(start, ""),
            },
            Note::Expiry => "read the aggregate to see whether it has expired".to_owned(),
            Note::Class => "read the aggregate to see its class".to_owned(),
            Note::Target(member) => format!("look up `{}`", self.member(*member)),
            Note::Ancestor(end) => {
                format!("climb the tree by `{}`, one step after the other", self.member(Member::End(*end)))
            }
            Note::Aggregate => "read the aggregate itself".to_owned(),
            Note::ReferrerIds(member) => format!("find the ids in `{}`", self.member(*member)),
            Note::Referrers(member) => format!("look up each of `{}`", self.member(*member)),
            Note::ReferrersByScan(member) => {
                format!("scan for `{}`: no index leads back", self.member(*member))
            }
            Note::Owner(of) => format!("{}: find the owner first", self.note(of)),
            Note::OwnerByScan(of) => format!("{}: scan, since no index leads to the owner", self.note(of)),
            Note::Fetch => "read the fields that the rows lack".to_owned(),
            Note::Existing { blind } => {
                format!("read the current aggregate, with its version{}", not_blind(*blind))
            }
            Note::Unique { member, scan } => {
                let name = member.map_or("value", |member| self.member(member));
                format!("check that no other instance has this `{name}`{}", scanned(*scan))
            }
            Note::CheckedTarget(end) => format!("check that `{}` exists", self.member(Member::End(*end))),
            Note::CheckedReferrers { end, scan } => {
                format!("find referrers by `{}`{}", self.member(Member::End(*end)), scanned(*scan))
            }
            Note::Partner(end) => {
                format!("read the other end of `{}`", self.member(Member::End(*end)))
            }
            Note::LinkHolders { end, scan } => {
                format!("find who holds the link `{}`{}", self.member(Member::End(*end)), scanned(*scan))
            }
            Note::RowsHolding { copy, end, scan } => format!(
                "find the rows of {} that hold it: referrers by `{}`{}",
                self.collection(*copy),
                self.member(Member::End(*end)),
                scanned(*scan)
            ),
            Note::RestOfRows { copy, scan } => {
                format!("read the rest of each row of {}{}", self.collection(*copy), scanned(*scan))
            }
            Note::Commit { level, blind } => {
                let how = match level {
                    CopyLevel::AtomicUnit => "write all of it atomically",
                    CopyLevel::Transaction => "write all of it in one transaction",
                    CopyLevel::Intents => {
                        "write the aggregate first, then its copies: readers may see old copies"
                    }
                };
                format!("{how}{}", not_blind(*blind))
            }
        }
    }

    /// What a step is repeated for. `None` if it is carried out once.
    #[must_use]
    pub fn each(&self, each: &Each) -> Option<String> {
        match each {
            Each::Once => None,
            Each::Values(loops) => {
                Some(loops.iter().map(|one| self.values(one)).collect::<Vec<_>>().join(" and "))
            }
            Each::Rows(_) | Each::RowsOfCopy(_) => Some("row".to_owned()),
            Each::Found(_) | Each::FoundOfCopy(_) => Some("id found".to_owned()),
        }
    }

    fn values(&self, one: &ValueLoop) -> String {
        match &one.of {
            LoopOf::Buckets(of) => format!(":bucket from 0 to {}", of.saturating_sub(1)),
            LoopOf::Set(set) => format!("value of :{}", set_name(self.parameters, set)),
            LoopOf::TimeBuckets { between, latest_first } => self.time_buckets(between, *latest_first),
        }
    }

    /// Which buckets of time are read: `:day from that of :from to that of :until`.
    fn time_buckets(&self, between: &BucketsBetween, latest_first: bool) -> String {
        let BucketsBetween { unit, low, high } = between;
        let (low, high, to) = if latest_first { (high, low, "back to") } else { (low, high, "to") };
        let side = |operand: &Operand| match operand {
            Operand::Parameter(index) => {
                let name = self.parameters.get(*index).map_or("", |parameter| &parameter.name);
                format!("that of :{name}")
            }
            Operand::Constant(constant) => {
                let at = Value::of_constant(constant).unwrap_or(Value::Null);
                match unit.of_value(&at) {
                    Value::Text(bucket) => bucket,
                    _no_instant => "none".to_owned(),
                }
            }
            Operand::Path(_) => "none".to_owned(),
        };
        format!(":{} from {} {to} {}", unit.name(), side(low), side(high))
    }

    /// What a change is repeated for. `None` if it is made once.
    #[must_use]
    pub fn change(&self, each: EachChange) -> Option<String> {
        Some(match each {
            EachChange::Once => return None,
            EachChange::OldRow => "old row".to_owned(),
            EachChange::RowIfHeld => "new row, if it meets the condition".to_owned(),
            EachChange::OldRows(copy) => format!("old row in {}", self.collection(copy)),
            EachChange::NewRows(copy) if self.layout.design.stored_in(copy) != copy => {
                format!("record of {} that carries it", self.collection(self.layout.design.stored_in(copy)))
            }
            EachChange::NewRows(copy) => format!("new row in {}", self.collection(copy)),
            EachChange::Holder(holder) => self.holder(holder),
            EachChange::OldRowsOfHolder(copy, holder) => {
                format!("old row in {} of each {}", self.collection(copy), self.holder(holder))
            }
            EachChange::NewRowsOfHolder(copy, holder) => {
                format!("new row in {} of each {}", self.collection(copy), self.holder(holder))
            }
            EachChange::OtherRecords(table) => format!("other item of it in {}", self.collection(table)),
        })
    }

    fn holder(&self, holder: Holder) -> String {
        let end = &self.layout.conceptual.ends[holder.end];
        let class = &self.layout.conceptual.classes[end.class].name;
        match holder.because {
            LinkCause::TargetDeleted => format!("{class} that refers to it by `{}`", end.name),
            LinkCause::TakenOver => format!("{class} that had the link `{}` before", end.name),
            LinkCause::OtherEnd => format!("{class} that holds the link as `{}`", end.name),
            LinkCause::Mirrored => format!("{class} at the other end of `{}`", end.name),
        }
    }

    fn member(&self, member: Member) -> &str {
        self.layout.conceptual.member_name(member)
    }

    fn collection(&self, id: CollectionId) -> &str {
        &self.layout.design.collections[id].name
    }
}

/// What the values of a set are called.
pub(super) fn set_name<'n>(parameters: &'n [Parameter], set: &InSet) -> &'n str {
    match set {
        InSet::Parameter(index) => parameters.get(*index).map_or("value", |parameter| &parameter.name),
        InSet::List(_) => "value",
    }
}

fn start_text(start: &Start, query: &str) -> String {
    match start {
        Start::Query => query.to_owned(),
        Start::KeyLookup { list } => format!("find the ids for :{list}"),
        Start::Written => "read what is written, with its version".to_owned(),
    }
}

fn scanned(scan: bool) -> &'static str {
    if scan { ": scan, since no index leads there" } else { "" }
}

/// A statement with a condition is right where a blind put is planned, and costs more than the plan says.
fn not_blind(blind: bool) -> &'static str {
    if blind { "; a blind put is not generated yet" } else { "" }
}
