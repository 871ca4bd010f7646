//! From a row to a record, and what a row may say of it besides: under `"#"`, when it was created and which ordinals
//! its elements have, so that what was exported is loaded as it was.
//!
//! ```text
//! "#": { "created": "2026-11-10T18:02:11.25Z", "ordinals": { "rounds": [0, 2] }, "next": { "rounds": 7 },
//!        "born": { "variants[1]": "2026-11-10T18:02:11Z" } }
//! ```

use askloom_engine::place::{Place, records};
use askloom_engine::{RunError, System};
use askloom_model::{ClassId, Conceptual, FieldError, Record, Value};
use jiff::Timestamp;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::fmt;

/// Why a row is not loaded: each thing that is wrong, with its field where there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal(pub Vec<FieldError>);

impl Refusal {
    pub(super) fn of(message: impl Into<String>) -> Self {
        Self::at("", message)
    }

    pub(super) fn at(path: &str, message: impl Into<String>) -> Self {
        Self(vec![FieldError { path: path.to_owned(), message: message.into() }])
    }

    /// What the write path says of a row; the error itself if it is about the store.
    pub(super) fn by(error: RunError) -> Result<Self, RunError> {
        let field = match &error {
            RunError::NotUnique { field }
            | RunError::OutOfRange { field }
            | RunError::TooMany { field, .. }
            | RunError::UpperBound { field }
            | RunError::Required { field }
            | RunError::RequiredLink { field }
            | RunError::Immutable { field }
            | RunError::NoSuchTarget { field }
            | RunError::Refused { field } => field.rsplit('.').next().unwrap_or(field).to_owned(),
            RunError::AlreadyExists
            | RunError::NotFound
            | RunError::NotARoot { .. }
            | RunError::ImmutableEntity { .. }
            | RunError::WrongType { .. }
            | RunError::TooLarge(_)
            | RunError::NotYet(_) => String::new(),
            RunError::MissingParameter(_)
            | RunError::BadContinuation
            | RunError::UnknownParameter(_)
            | RunError::MissingUuid
            | RunError::Undeclared { .. }
            | RunError::MatchedNothing { .. }
            | RunError::AlreadyWritten
            | RunError::Unknown(_)
            | RunError::Conflict
            | RunError::Corrupted(_)
            | RunError::Store(_) => return Err(error),
        };
        Ok(Self::at(&field, error.to_string()))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{error}")?;
        }
        Ok(())
    }
}

/// A record that is to be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incoming {
    pub record: Record,
    pub(super) past: Past,
}

/// What a row says of its record's past.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Past {
    pub(super) created: Option<Timestamp>,
    next: BTreeMap<String, u64>,
    born: BTreeMap<String, Timestamp>,
}

/// The member of a row that is about the record and not in it.
pub(super) const ABOUT: &str = "#";

impl Incoming {
    /// The record that a row of a file of `class` stands for.
    pub fn read(conceptual: &Conceptual, class: ClassId, mut row: Json) -> Result<Self, Refusal> {
        let about = row.as_object_mut().and_then(|object| object.remove(ABOUT));
        let mut record = Record::from_json(conceptual, class, &row).map_err(Refusal)?;
        let past = match about {
            None | Some(Json::Null) => Past::default(),
            Some(about) => past(conceptual, &mut record, &about)?,
        };
        Ok(Self { record, past })
    }

    /// A record of which nothing else is known.
    #[must_use]
    pub fn new(record: Record) -> Self {
        Self { record, past: Past::default() }
    }
}

fn past(conceptual: &Conceptual, record: &mut Record, about: &Json) -> Result<Past, Refusal> {
    let wrong = |field: &str, message: &str| Refusal::at(&format!("{ABOUT}.{field}"), message);
    let Some(about) = about.as_object() else { return Err(Refusal::at(ABOUT, "is an object")) };
    let mut past = Past::default();
    for (name, json) in about {
        match name.as_str() {
            "created" => {
                let time = time(json).ok_or_else(|| wrong("created", "is not a time"))?;
                past.created = Some(time);
            }
            "next" => {
                past.next = map(json, Json::as_u64).ok_or_else(|| wrong("next", "gives numbers to lists"))?
            }
            "born" => past.born = map(json, time).ok_or_else(|| wrong("born", "gives times to parts"))?,
            "ordinals" => {
                let ordinals =
                    map(json, numbers).ok_or_else(|| wrong("ordinals", "gives numbers to lists"))?;
                let mut left = ordinals.clone();
                renumber(conceptual, record, &Place::default(), &mut left)
                    .map_err(|path| wrong("ordinals", &format!("do not fit the list `{path}`")))?;
                if let Some(path) = left.keys().next() {
                    return Err(wrong("ordinals", &format!("there is no list `{path}`")));
                }
            }
            other => return Err(wrong(other, "means nothing here")),
        }
    }
    Ok(past)
}

fn map<T>(json: &Json, read: impl Fn(&Json) -> Option<T>) -> Option<BTreeMap<String, T>> {
    json.as_object()?.iter().map(|(path, json)| Some((path.clone(), read(json)?))).collect()
}

fn time(json: &Json) -> Option<Timestamp> {
    let time: Timestamp = json.as_str()?.parse().ok()?;
    // The store keeps microseconds.
    (time.as_nanosecond() % 1000 == 0).then_some(time)
}

fn numbers(json: &Json) -> Option<Vec<u64>> {
    json.as_array()?.iter().map(Json::as_u64).collect()
}

/// Gives the elements of lists the ordinals that are said. The path that does not fit is the error.
fn renumber(
    conceptual: &Conceptual,
    record: &mut Record,
    place: &Place,
    ordinals: &mut BTreeMap<String, Vec<u64>>,
) -> Result<(), String> {
    for (&member, value) in &mut record.fields {
        match value {
            Value::Record(part) => renumber(conceptual, part, &place.below(member, None), ordinals)?,
            Value::List(elements) => {
                let path = place.below(member, None).text(conceptual);
                if let Some(said) = ordinals.remove(&path) {
                    let ascending = said.iter().zip(said.iter().skip(1)).all(|(a, b)| a < b);
                    let below_end = said.last().is_none_or(|&last| last < u64::MAX);
                    if said.len() != elements.len() || !ascending || !below_end {
                        return Err(path);
                    }
                    for (element, ordinal) in elements.iter_mut().zip(said) {
                        element.ordinal = ordinal;
                    }
                }
                for element in elements {
                    if let Value::Record(part) = &mut element.value {
                        renumber(conceptual, part, &place.below(member, Some(element.ordinal)), ordinals)?;
                    }
                }
            }
            _plain => {}
        }
    }
    Ok(())
}

impl Past {
    /// Writes what is said of the past into the system entry of a record that was noted as new.
    pub(super) fn note(&self, system: &mut System) {
        for (path, next) in &self.next {
            let counter = system.ordinals.entry(path.clone()).or_default();
            *counter = (*counter).max(*next);
        }
        let Some(created) = self.created else { return };
        system.created = created.as_microsecond();
        for (path, (_, since)) in &mut system.born {
            *since = self.born.get(path).unwrap_or(&created).as_microsecond();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What has to be said of an aggregate's past so that it is loaded as it is: nothing that loading would make up.
pub(super) fn about(conceptual: &Conceptual, record: &Record, system: &System) -> Map<String, Json> {
    let time =
        |micros: i64| Timestamp::from_microsecond(micros).map_or(Json::Null, |at| at.to_string().into());
    let mut about = Map::new();
    about.insert("created".to_owned(), time(system.created));
    let (mut ordinals, mut next) = (Map::new(), Map::new());
    let mut counters = system.ordinals.clone();
    for (place, part) in records(record) {
        for (&member, value) in &part.fields {
            let Value::List(elements) = value else { continue };
            let path = place.below(member, None).text(conceptual);
            let counter = counters.remove(&path).unwrap_or(0);
            if (0..).zip(elements).any(|(ordinal, element)| element.ordinal != ordinal) {
                let said: Vec<u64> = elements.iter().map(|element| element.ordinal).collect();
                ordinals.insert(path.clone(), said.into());
            }
            if counter > elements.last().map_or(0, |element| element.ordinal + 1) {
                next.insert(path, counter.into());
            }
        }
    }
    // Lists that are empty now, and those of parts that are gone.
    next.extend(
        counters.into_iter().filter(|(_, counter)| *counter > 0).map(|(path, next)| (path, next.into())),
    );
    let born = system.born.iter().filter(|(_, (_, since))| *since != system.created);
    let born: Map<String, Json> = born.map(|(path, (_, since))| (path.clone(), time(*since))).collect();
    for (name, map) in [("ordinals", ordinals), ("next", next), ("born", born)] {
        if !map.is_empty() {
            about.insert(name.to_owned(), Json::Object(map));
        }
    }
    about
}
