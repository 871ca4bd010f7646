//! What the cases were about. Too few of anything fails the run: statements of a form, those of them that change
//! something, features, refusals. A long run asks for every pair of statement and refusal, unless it is impossible, with
//! the reason said here.

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

/// What writes are about, and of how many writes at least one is.
const FEATURES: [(&str, u64); 40] = [
    ("int", 100),
    ("long", 100),
    ("text", 100),
    ("bool", 200),
    ("enum(x, y, z)", 200),
    ("double", 200),
    ("decimal", 200),
    ("timestamp", 200),
    ("uuid", 200),
    ("condition on some", 25),
    ("condition along a path", 50),
    ("subclass", 20),
    ("part entity", 20),
    ("composite key", 20),
    ("reference in a key", 50),
    ("derived end", 50),
    ("one-to-one", 50),
    ("set", 50),
    ("symmetric", 500),
    ("symmetric links of a replaced part", 20_000),
    ("taken over", 100),
    ("one partner for several", 500),
    ("both ends at once", 4_000),
    ("cascade", 200),
    ("clear", 2_000),
    ("list of values", 50),
    ("list of parts", 50),
    ("single part", 200),
    ("through a single part", 200),
    ("several matched", 100),
    ("none matched", 20),
    ("arithmetic", 50),
    ("arithmetic on null", 1_000),
    ("made value", 300),
    ("removed from the middle", 1_000),
    ("added behind a gap", 2_000),
    ("compound", 20),
    ("compound undone", 200),
    ("apart", 100),
    ("apart stopped", 400),
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

/// Refusals that take several coincidences, which a few thousand cases need not have: of elements with a part entity in
/// them, and of a new part that takes over a partner of an immutable reference.
fn is_rare(form: Form, refusal: &str) -> bool {
    matches!(
        (form, refusal),
        (Form::UpdateElements, "AlreadyExists" | "Immutable" | "RequiredEnd" | "UpperBound" | "Refused")
            | (Form::Add, "Immutable" | "RequiredEnd")
    )
}

/// How much a run of so many cases has to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Demand {
    EveryRefusal,
    /// Every refusal of every statement.
    EveryPair,
}

#[derive(Debug, Default)]
pub(super) struct Coverage {
    pub(super) cases: u64,
    writes: u64,
    changed: u64,
    forms: BTreeMap<Form, u64>,
    /// Of writes of one statement: how many there were, and how many changed something.
    changed_by: BTreeMap<Form, (u64, u64)>,
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
        if let [statement] = &write.statements[..] {
            let (all, changed) = self.changed_by.entry(statement.form()).or_default();
            *all += 1;
            *changed += u64::from(agreed.changed);
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
        writeln!(
            text,
            "\n{:?}\n{:?}\n{:?}\nnot compared: {:?}",
            self.forms, self.changed_by, self.features, self.unsaid
        )
        .unwrap();
        text
    }

    fn refused(&self, form: Form, refusal: &str) -> u64 {
        self.refusals.get(&(form, refusal.to_owned())).copied().unwrap_or(0)
    }

    /// What is too rare.
    pub(super) fn complaints(&self, demand: Demand) -> Vec<String> {
        let mut complaints = Vec::new();
        if self.changed * 3 < self.writes {
            complaints.push(format!("only {} of {} writes change something", self.changed, self.writes));
        }
        for form in FORMS {
            let count = self.forms.get(&form).copied().unwrap_or(0);
            if count * 25 < self.writes {
                complaints.push(format!("{form:?}: {count} of {} writes", self.writes));
            }
            let (all, changed) = self.changed_by.get(&form).copied().unwrap_or_default();
            if changed * 20 < all || changed == 0 {
                complaints.push(format!("{form:?} changes something in {changed} of {all} writes"));
            }
        }
        for (feature, one_of) in FEATURES {
            let count = self.features.get(feature).copied().unwrap_or(0);
            if count < self.writes / one_of {
                complaints.push(format!("{feature}: {count} of {} writes", self.writes));
            }
        }
        self.refusal_complaints(demand, &mut complaints);
        // A case ends where the language leaves something open.
        if self.unsaid.values().sum::<u64>() * 10 > self.cases {
            complaints.push(format!("too many cases end early: {:?}", self.unsaid));
        }
        complaints
    }

    fn refusal_complaints(&self, demand: Demand, complaints: &mut Vec<String>) {
        for refusal in REFUSALS {
            let all: u64 = FORMS.iter().map(|&form| self.refused(form, refusal)).sum();
            if all * 2_000 < self.writes {
                complaints.push(format!("{refusal}: {all} of {} writes", self.writes));
            }
            for form in FORMS {
                let count = self.refused(form, refusal);
                match impossible(form, refusal) {
                    None if count == 0 && demand == Demand::EveryPair && !is_rare(form, refusal) => {
                        complaints.push(format!("{form:?} is never refused by {refusal}"));
                    }
                    Some(reason) if count > 0 => {
                        complaints.push(format!("{form:?} is refused by {refusal}, although {reason}"));
                    }
                    None | Some(_) => {}
                }
            }
        }
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
