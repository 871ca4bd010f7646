//! Reads as find.
//!
//! Conditions are on `_id` and its parts alone. None of these is a list, of which `{ $gte: 5, $lte: 10 }` would find
//! `[1, 20]` without `$elemMatch`.

use super::bson::{Bson, Document};
use super::schema::{MongoCollection, MongoField};
use super::value::Encoder;
use crate::layout::{Layout, Place};
use crate::program::{Bounds, How, Range, Read, Term, text_after};
use askloom_model::{Id, Value};

/// A find, as data.
#[derive(Debug, Clone, PartialEq)]
pub struct Find {
    pub collection: String,
    pub filter: Document,
    /// By which fields, and whether each descends.
    pub sort: Vec<(String, bool)>,
    pub limit: Option<Bson>,
}

/// The find of a read.
#[must_use]
pub fn find(layout: &Layout<'_>, collections: &[MongoCollection], read: &Read) -> Option<Find> {
    let of = collections.get(read.table.index())?;
    let finding = Finding { of, encoder: Encoder { conceptual: layout.conceptual, faithful: of.faithful } };
    let mut find = Find { collection: of.name.clone(), filter: Vec::new(), sort: Vec::new(), limit: None };
    match &read.how {
        How::All => {}
        How::Record(terms) => find.filter = finding.equal(terms, Nulls::Are).unwrap_or_else(nothing),
        How::Block(terms) => {
            find.filter = finding.equal(terms, Nulls::EqualNothing).unwrap_or_else(nothing);
            find.sort = of.order();
        }
        How::Range(range) => finding.range(range, &mut find),
    }
    Some(find)
}

/// What null means where a key is to equal it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nulls {
    /// A value like any other: the record is known.
    Are,
    /// As in a condition of the language.
    EqualNothing,
}

/// Met by no document.
fn nothing() -> Document {
    let none = vec![("$in".to_owned(), Bson::Array(Vec::new()))];
    vec![("_id".to_owned(), Bson::Document(none))]
}

struct Finding<'f> {
    of: &'f MongoCollection,
    encoder: Encoder<'f>,
}

impl Finding<'_> {
    /// Nothing if no document can have it.
    fn equal(&self, terms: &[Term], nulls: Nulls) -> Option<Document> {
        if nulls == Nulls::EqualNothing && terms.iter().any(|term| term.value == Some(Value::Null)) {
            return None;
        }
        if let Some(id) = id(self.of, self.encoder, terms, Missing::None) {
            return Some(vec![("_id".to_owned(), id)]);
        }
        let condition =
            |term: &Term| Some((self.of.path(field(self.of, term)?), value(self.of, self.encoder, term)));
        Some(merged(terms.iter().filter_map(condition).collect()))
    }

    fn range(&self, range: &Range, find: &mut Find) {
        let terms: Vec<Term> = range.block.iter().chain(&range.equal).cloned().collect();
        let bounds = range.bounds.as_ref().map_or(Some(None), |bounds| self.bounds(bounds).map(Some));
        find.filter = match (self.equal(&terms, Nulls::EqualNothing), bounds) {
            (Some(filter), Some(bounds)) => merged(filter.into_iter().chain(bounds).collect()),
            (_, _) => nothing(),
        };
        find.sort = self.of.order();
        if range.backwards {
            find.sort.iter_mut().for_each(|(_, descending)| *descending = !*descending);
        }
        match range.limit.as_ref().map(|limit| (&limit.value, &limit.name)) {
            // `limit(0)` is no limit, and a negative one is something else.
            Some((Some(Value::Int(..=0)), _)) => find.filter = nothing(),
            Some((Some(Value::Int(rows)), _)) => find.limit = count(*rows),
            Some((_, name)) => find.limit = Some(Bson::slot(name)),
            None => {}
        }
    }

    /// Nothing if no value can be between. A comparison finds values of its own type alone, so that null is in no range.
    fn bounds(&self, bounds: &Bounds) -> Option<(String, Bson)> {
        let field = self.of.fields.get(bounds.column)?;
        let mut conditions = Vec::new();
        let side = |term: &Term| match &term.value {
            Some(Value::Null) => None,
            Some(known) => Some(self.encoder.field(field, known)),
            None => Some(Bson::slot(&term.name)),
        };
        if let Some(prefix) = &bounds.prefix {
            conditions.push(("$gte".to_owned(), side(prefix)?));
            let after = match &prefix.value {
                Some(Value::Text(text)) => text_after(text).map(Bson::Text),
                Some(_) => return None,
                None => Some(Bson::Slot(format!("{} with its last letter's next", prefix.name))),
            };
            conditions.extend(after.map(|after| ("$lt".to_owned(), after)));
        }
        if let Some((term, inclusive)) = &bounds.low {
            conditions.push((if *inclusive { "$gte" } else { "$gt" }.to_owned(), side(term)?));
        }
        if let Some((term, inclusive)) = &bounds.high {
            conditions.push((if *inclusive { "$lte" } else { "$lt" }.to_owned(), side(term)?));
        }
        Some((self.of.path(field), Bson::Document(conditions)))
    }
}

/// A number of rows. The shell has doubles for it; past these there is no end.
fn count(rows: i64) -> Option<Bson> {
    const LARGEST: i64 = 1 << 53;
    (rows < LARGEST).then(|| i32::try_from(rows).map_or(Bson::Long(rows), Bson::Int))
}

/// Conditions of one document. Of two with one name, the shell would take the last.
fn merged(conditions: Document) -> Document {
    let mut names = std::collections::HashSet::new();
    if conditions.iter().all(|(name, _)| names.insert(name.clone())) {
        return conditions;
    }
    let each = conditions.into_iter().map(|condition| Bson::Document(vec![condition]));
    vec![("$and".to_owned(), Bson::Array(each.collect()))]
}

pub(super) fn field<'c>(of: &'c MongoCollection, term: &Term) -> Option<&'c MongoField> {
    term.column.and_then(|index| of.fields.get(index))
}

/// A term as a value of its field.
pub(super) fn value(of: &MongoCollection, encoder: Encoder<'_>, term: &Term) -> Bson {
    match (&term.value, field(of, term)) {
        (Some(known), Some(field)) => encoder.field(field, known),
        (_, _) => Bson::slot(&term.name),
    }
}

/// What stands for a part of a key that no term gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    None,
    Slot,
}

/// The whole `_id`, in the order of its parts, which counts. Nothing if a part is missing or given twice.
pub(super) fn id(
    of: &MongoCollection,
    encoder: Encoder<'_>,
    terms: &[Term],
    missing: Missing,
) -> Option<Bson> {
    let mut parts = Vec::new();
    let keys = of.fields.iter().enumerate().filter(|(_, field)| field.place != Place::Value);
    for (index, field) in keys {
        let mut own = terms.iter().filter(|term| term.column == Some(index));
        let part = match (own.next(), own.next(), missing) {
            (Some(term), None, _) | (Some(term), Some(_), Missing::Slot) => value(of, encoder, term),
            (None, _, Missing::Slot) => Bson::slot(&field.of.name),
            (_, _, Missing::None) => return None,
        };
        parts.push((field.name.clone(), part));
    }
    if of.is_lone() { parts.pop().map(|(_, part)| part) } else { Some(Bson::Document(parts)) }
}
