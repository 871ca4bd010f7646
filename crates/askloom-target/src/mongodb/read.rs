//! Reads as find.
//!
//! Conditions are on `_id` and its parts, and by an index of a master on its single values. None of these is a list, of which `{ $gte: 5, $lte: 10 }` would find
//! `[1, 20]` without `$elemMatch`.

use super::bson::{Bson, Document};
use super::schema::{MongoCollection, MongoField};
use super::value::Encoder;
use askloom_model::{Id, Member, Value};
use askloom_plan::layout::{Layout, Place, Source};
use askloom_plan::program::{Bounds, How, Range, Read, Term, text_after};

/// A find, as data.
#[derive(Debug, Clone, PartialEq)]
pub struct Find {
    pub collection: String,
    pub filter: Document,
    /// The fields that are wanted, beside `_id`. None if all are.
    pub projection: Vec<String>,
    /// By which fields, and whether each descends.
    pub sort: Vec<(String, bool)>,
    pub limit: Option<Bson>,
}

/// The find of a read.
#[must_use]
pub fn find(layout: &Layout, collections: &[MongoCollection], read: &Read) -> Option<Find> {
    let of = collections.get(read.table.index())?;
    let host = of.index.as_ref().and_then(|index| collections.get(index.host.index()));
    let encoder = Encoder { conceptual: &layout.conceptual, faithful: of.faithful };
    let finding = Finding { of, host, encoder };
    let mut find = Find {
        collection: of.name.clone(),
        filter: Vec::new(),
        projection: finding.projection(layout, read.members.as_deref()),
        sort: Vec::new(),
        limit: None,
    };
    match &read.how {
        How::All => find.filter = finding.in_it(Vec::new()),
        How::Record(terms) => {
            find.filter =
                finding.equal(terms, Nulls::Are).map_or_else(nothing, |filter| finding.in_it(filter));
        }
        How::Block(terms) => {
            let filter = finding.equal(terms, Nulls::EqualNothing);
            find.filter = filter.map_or_else(nothing, |filter| finding.in_it(filter));
            // Of an aggregate there is one document.
            if !of.is_master() {
                find.sort = of.order();
            }
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
    /// What it is an index of.
    host: Option<&'f MongoCollection>,
    encoder: Encoder<'f>,
}

impl Finding<'_> {
    /// Nothing if no document can have it.
    fn equal(&self, terms: &[Term], nulls: Nulls) -> Option<Document> {
        if nulls == Nulls::EqualNothing && terms.iter().any(|term| term.value == Some(Value::Null)) {
            return None;
        }
        let own = Some(terms).filter(|_| self.host.is_none());
        if let Some(id) = own.and_then(|terms| id(self.of, self.encoder, terms, Missing::None)) {
            return Some(vec![("_id".to_owned(), id)]);
        }
        let condition =
            |term: &Term| Some((field(self.of, term)?.path.clone(), value(self.of, self.encoder, term)));
        Some(terms.iter().filter_map(condition).collect())
    }

    /// Conditions, and what is true of every row: of an index, its own, and that the aggregate is there, which has no
    /// value but its id if it was deleted.
    fn in_it(&self, mut conditions: Document) -> Document {
        for own in self.of.index.iter().flat_map(|index| &index.condition) {
            if !conditions.contains(own) {
                conditions.push(own.clone());
            }
        }
        let of_id = |(name, _): &(String, Bson)| name.split('.').next() == Some("_id");
        let class = self.host.and_then(|host| Some(&host.system.as_ref()?.class));
        if let Some(class) = class.filter(|_| conditions.iter().all(of_id)) {
            let there = vec![("$exists".to_owned(), Bson::Bool(true))];
            conditions.push((class.clone(), Bson::Document(there)));
        }
        merged(conditions)
    }

    /// The fields of the index, and those of some members of its host. None if that is all there is.
    fn projection(&self, layout: &Layout, members: Option<&[Member]>) -> Vec<String> {
        let Some((host, members)) = self.host.zip(members) else { return Vec::new() };
        let wanted = |field: &&MongoField| match field.of.source {
            Source::Member(member) => {
                members.contains(&member) || self.of.fields.iter().any(|own| own.path == field.path)
            }
            Source::Position { .. } | Source::Path { .. } | Source::Node | Source::Whole(_) => false,
        };
        let fields: Vec<&MongoField> = host.fields.iter().filter(wanted).collect();
        if fields.len() == host.fields.iter().filter(|field| !field.is_key()).count() {
            return Vec::new();
        }
        // Where there are subclasses, it says which one it is of.
        let root = layout.design.collections[host.collection].source.root;
        let several = !layout.conceptual.classes[root].subclasses.is_empty();
        let class = host.system.as_ref().map(|system| system.class.clone()).filter(|_| several);
        fields.iter().map(|field| field.path.clone()).chain(class).collect()
    }

    fn range(&self, range: &Range, find: &mut Find) {
        let terms: Vec<Term> = range.block.iter().chain(&range.equal).cloned().collect();
        let bounds = range.bounds.as_ref().map_or(Some(None), |bounds| self.bounds(bounds).map(Some));
        find.filter = match (self.equal(&terms, Nulls::EqualNothing), bounds) {
            (Some(filter), Some(bounds)) => self.in_it(filter.into_iter().chain(bounds).collect()),
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
            Some(_) | None => Some(value(self.of, self.encoder, term)),
        };
        if let Some(prefix) = &bounds.prefix {
            let from = side(prefix)?;
            let after = match (&prefix.value, &from) {
                (Some(_), Bson::Text(text)) => text_after(text).map(Bson::Text),
                (Some(_), _) => return None,
                (None, _) => Some(Bson::Slot(format!("{} with its last letter's next", prefix.name))),
            };
            conditions.push(("$gte".to_owned(), from));
            conditions.extend(after.map(|after| ("$lt".to_owned(), after)));
        }
        if let Some((term, inclusive)) = &bounds.low {
            conditions.push((if *inclusive { "$gte" } else { "$gt" }.to_owned(), side(term)?));
        }
        if let Some((term, inclusive)) = &bounds.high {
            conditions.push((if *inclusive { "$lte" } else { "$lt" }.to_owned(), side(term)?));
        }
        Some((field.path.clone(), Bson::Document(conditions)))
    }
}

/// A number of rows. The shell has doubles for it; past these there is no end.
fn count(rows: i64) -> Option<Bson> {
    const LARGEST: i64 = 1 << 53;
    (rows < LARGEST).then(|| i32::try_from(rows).map_or(Bson::Long(rows), Bson::Int))
}

/// Conditions of one document. Of two with one name, the shell would take the last.
pub(super) fn merged(conditions: Document) -> Document {
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
        // The papers' references name their class, those of a master that an index is of as well.
        (Some(known), Some(field)) if of.faithful && of.index.is_some() && is_reference(field) => {
            encoder.field(field, &Value::Reference(vec![known.clone()]))
        }
        (Some(known), Some(field)) => encoder.field(field, known),
        (_, _) => Bson::slot(&term.name),
    }
}

fn is_reference(field: &MongoField) -> bool {
    matches!(field.of.source, Source::Member(Member::End(_)))
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
