//! What the cases were about. A table of statement and refusal is counted: a pair that never occurs fails the run,
//! unless it is impossible, with the reason said here. So do features that are too rare, and writes that mostly
//! change nothing.

use super::blueprint::{Blueprint, ClassKind, KeyMember, Storage};
use super::case::Agreed;

use super::statement::{Assigned, LinkEnd, ListMember, RandomWrite, Statement};
use super::unsaid::Unsaid;
use askloom_oracle::{Outcome, WriteError};
use std::collections::BTreeMap;
use std::fmt::Write;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    Insert,
    Upsert,
    Store,
    Update,
    UpdateElements,
    Delete,
    Add,
    Remove,
    Connect,
    Disconnect,
}

const FORMS: [Form; 10] = [
    Form::Insert,
    Form::Upsert,
    Form::Store,
    Form::Update,
    Form::UpdateElements,
    Form::Delete,
    Form::Add,
    Form::Remove,
    Form::Connect,
    Form::Disconnect,
];

const REFUSALS: [&str; 13] = [
    "MissingParameter",
    "WrongType",
    "AlreadyExists",
    "Required",
    "OutOfRange",
    "TooMany",
    "NotUnique",
    "Immutable",
    "ImmutableEntity",
    "RequiredEnd",
    "UpperBound",
    "Refused",
    "NoSuchTarget",
];

/// What at least every five-hundredth write has.
const FEATURES: [&str; 28] = [
    "condition on some",
    "condition along a path",
    "subclass",
    "part entity",
    "composite key",
    "reference in a key",
    "derived end",
    "one-to-one",
    "set",
    "symmetric",
    "taken over",
    "cascade",
    "clear",
    "list of values",
    "list of parts",
    "single part",
    "through a single part",
    "several matched",
    "none matched",
    "arithmetic",
    "arithmetic on null",
    "made value",
    "removed from the middle",
    "added behind a gap",
    "compound",
    "compound undone",
    "apart",
    "apart stopped",
];

/// Why a statement is never refused for a reason.
fn impossible(form: Form, refusal: &str) -> Option<&'static str> {
    use Form::{Add, Connect, Delete, Disconnect, Insert, Remove, Store, Update, UpdateElements, Upsert};
    match (refusal, form) {
        ("AlreadyExists", Delete | Remove | Connect | Disconnect) => Some("it makes nothing"),
        ("Required", Delete | Remove | Connect | Disconnect) => Some("it sets no attribute"),
        ("OutOfRange", Update | UpdateElements) => None,
        ("OutOfRange", _) => Some("it calculates nothing: what is given fits its type, or is of a wrong one"),
        ("TooMany", Insert | Upsert | Store) => None,
        ("TooMany", _) => Some("`@max` is a bound for lists that INSERT, UPSERT and STORE are given"),
        ("NotUnique", Delete | Remove | Disconnect) => Some("it gives no value"),
        ("Immutable", Delete | Remove | Disconnect) => Some("a reference that is cleared is not immutable"),
        ("Immutable", Connect) => {
            Some("an immutable reference is connected by nothing, so it is never taken over")
        }
        ("ImmutableEntity", Upsert) => None,
        ("ImmutableEntity", _) => Some("AL0540 forbids the statement"),
        ("RequiredEnd", Delete | Remove) => {
            Some("who loses a link together with the instance at its end may be without")
        }
        ("RequiredEnd", Disconnect) => Some("AL0506 forbids the statement"),
        ("UpperBound", Delete | Remove | Disconnect) => Some("it adds nothing"),
        ("Refused", Insert | Add | Connect | Disconnect) => Some("it ends nothing"),
        ("NoSuchTarget", Delete | Remove | Disconnect) => Some("it refers to nothing"),
        ("MissingParameter" | "WrongType" | "AlreadyExists" | "Required" | "NotUnique" | "Immutable", _)
        | ("RequiredEnd" | "UpperBound" | "Refused" | "NoSuchTarget", _) => None,
        (other, _) => unreachable!("{other} is not a column of the table"),
    }
}

#[derive(Debug, Default)]
pub(super) struct Coverage {
    pub(super) cases: u64,
    writes: u64,
    changed: u64,
    forms: BTreeMap<Form, u64>,
    refusals: BTreeMap<(Form, String), u64>,
    features: BTreeMap<&'static str, u64>,
    unsaid: BTreeMap<Unsaid, u64>,
}

impl Coverage {
    pub(super) fn unsaid(&mut self, unsaid: Unsaid) {
        *self.unsaid.entry(unsaid).or_default() += 1;
    }

    pub(super) fn write(&mut self, blueprint: &Blueprint, write: &RandomWrite, agreed: &Agreed) {
        self.writes += 1;
        self.changed += u64::from(agreed.changed);
        let mut features: Vec<&'static str> = write.features.iter().chain(&agreed.notes).copied().collect();
        for statement in &write.statements {
            *self.forms.entry(statement.form()).or_default() += 1;
            features.extend(statement.features(blueprint));
        }
        features.extend(outcome_features(write, &agreed.found));
        features.sort_unstable();
        features.dedup();
        for feature in features {
            *self.features.entry(feature).or_default() += 1;
        }
        let refusal = match &agreed.found {
            Ok(outcome) => outcome.stopped.as_ref().map(|stopped| (stopped.step, &stopped.why)),
            // Which of several statements is refused, the answer does not say.
            Err(why) => (write.statements.len() == 1).then_some((0, why)),
        };
        if let Some((step, why)) = refusal {
            let name = format!("{why:?}");
            let name = name.split([' ', '{']).next().unwrap_or_default().to_owned();
            *self.refusals.entry((write.statements[step].form(), name)).or_default() += 1;
        }
    }

    /// The table, for people.
    pub(super) fn print(&self) -> String {
        let mut text =
            format!("{} cases, {} writes, {} changed something\n", self.cases, self.writes, self.changed);
        for refusal in REFUSALS {
            write!(text, "{refusal:>17}").unwrap();
            for form in FORMS {
                match impossible(form, refusal) {
                    Some(_) => write!(text, " {:>8}", "-"),
                    None => write!(text, " {:>8}", self.refused(form, refusal)),
                }
                .unwrap();
            }
            text.push('\n');
        }
        write!(text, "{:>17}", "").unwrap();
        FORMS.iter().for_each(|form| write!(text, " {:>8.8}", format!("{form:?}")).unwrap());
        writeln!(text, "\n{:?}\n{:?}\nnot compared: {:?}", self.forms, self.features, self.unsaid).unwrap();
        text
    }

    fn refused(&self, form: Form, refusal: &str) -> u64 {
        self.refusals.get(&(form, refusal.to_owned())).copied().unwrap_or(0)
    }

    /// What is too rare: features, and pairs of statement and refusal that occur less often than so many times.
    pub(super) fn complaints(&self, least: u64) -> Vec<String> {
        let mut complaints = Vec::new();
        if self.changed * 10 < self.writes * 3 {
            complaints.push(format!("only {} of {} writes change something", self.changed, self.writes));
        }
        for feature in FEATURES {
            let count = self.features.get(feature).copied().unwrap_or(0);
            if count * 500 < self.writes {
                complaints.push(format!("{feature}: {count} of {} writes", self.writes));
            }
        }
        for form in FORMS {
            for refusal in REFUSALS {
                let count = self.refused(form, refusal);
                match impossible(form, refusal) {
                    None if count < least => {
                        complaints.push(format!("{form:?} is refused by {refusal} {count} times"))
                    }
                    Some(reason) if count > 0 => {
                        complaints.push(format!("{form:?} is refused by {refusal}, although {reason}"));
                    }
                    None | Some(_) => {}
                }
            }
        }
        let compared = self.unsaid.values().sum::<u64>() * 20 <= self.cases * 2;
        if !compared {
            complaints.push(format!("too many cases end early: {:?}", self.unsaid));
        }
        complaints
    }
}

fn outcome_features(write: &RandomWrite, found: &Result<Outcome, WriteError>) -> Vec<&'static str> {
    let mut features = Vec::new();
    if write.compound {
        features.push(if write.apart { "apart" } else { "compound" });
    }
    match found {
        Ok(outcome) => {
            if outcome.matched.iter().any(|&count| count > 1) {
                features.push("several matched");
            }
            if outcome.matched.contains(&0) {
                features.push("none matched");
            }
            if outcome.stopped.as_ref().is_some_and(|stopped| stopped.step > 0) {
                features.push("apart stopped");
            }
        }
        Err(WriteError::StepMatchedNothing { step }) if *step > 0 => features.push("compound undone"),
        Err(_) => {}
    }
    features
}

impl Statement {
    pub(super) fn form(&self) -> Form {
        match self {
            Self::Insert(_) => Form::Insert,
            Self::Upsert(_) => Form::Upsert,
            Self::Store(_) => Form::Store,
            Self::Update { .. } => Form::Update,
            Self::UpdateElements { .. } => Form::UpdateElements,
            Self::Delete { .. } => Form::Delete,
            Self::Add { .. } => Form::Add,
            Self::Remove { .. } => Form::Remove,
            Self::Connect { .. } => Form::Connect,
            Self::Disconnect { .. } => Form::Disconnect,
        }
    }

    fn features(&self, blueprint: &Blueprint) -> Vec<&'static str> {
        let extent = self.extent();
        let class = &blueprint.classes[extent.class];
        let mut features = Vec::new();
        if extent.sub {
            features.push("subclass");
        }
        if class.kind == ClassKind::PartEntity {
            features.push("part entity");
        }
        if class.key.len() > 1 {
            features.push("composite key");
        }
        if class.key.iter().any(|member| matches!(member, KeyMember::Reference(_))) {
            features.push("reference in a key");
        }
        match self {
            Self::Update { set, .. } | Self::UpdateElements { set, .. } => {
                for assignment in set {
                    if assignment.via.is_some() {
                        features.push("through a single part");
                    }
                    match &assignment.to {
                        Assigned::Link { end, .. } => features.extend(blueprint.end_features(*end)),
                        Assigned::Part { .. } => features.push("single part"),
                        Assigned::NewUuid { .. } => features.push("made value"),
                        Assigned::Column { expression, .. } if expression.contains(['+', '-']) => {
                            features.push("arithmetic");
                        }
                        Assigned::Column { expression, .. } if expression == ":now" => {
                            features.push("made value")
                        }
                        Assigned::Column { .. } => {}
                    }
                }
            }
            Self::Add { list, .. } | Self::Remove { list, .. } => features.push(match list {
                ListMember::Values(_) => "list of values",
                ListMember::Parts(_) => "list of parts",
            }),
            Self::Connect { end, .. } | Self::Disconnect { end, .. } => {
                features.extend(blueprint.end_features(*end))
            }
            Self::Insert(_) | Self::Upsert(_) | Self::Store(_) | Self::Delete { .. } => {}
        }
        features
    }
}

impl Blueprint {
    fn end_features(&self, end: LinkEnd) -> Vec<&'static str> {
        let reference = &self.classes[end.holder].references[end.reference];
        let mut features = Vec::new();
        if end.derived {
            features.push("derived end");
        }
        if reference.is_exclusive() {
            features.push("one-to-one");
        }
        match reference.storage() {
            Storage::Columns => {}
            Storage::Pairs => features.push("set"),
            Storage::SymmetricPairs => features.push("symmetric"),
        }
        features
    }
}
