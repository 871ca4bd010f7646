//! Copies that MongoDB keeps by itself: indexes of the documents of a master.
//!
//! Such an index has no documents of its own. Its fields are those of the master, kept as they are kept there, and who
//! reads by it finds the master's documents. Those of deleted aggregates, which have an `_id` and a version alone, are
//! in it, too, so that a read that asks for nothing else of them asks for the class.

use super::bson::{Bson, Document};
use super::capability::CAPABILITY;
use super::schema::{MongoCollection, MongoField};
use super::value::Encoder;
use askloom_model::{Collection, CollectionId, Comparison, IndexTerm, Value, typed};
use askloom_plan::layout::{Column, Holds, Layout, Source, member_of};

/// What an index is of.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexOf {
    pub host: CollectionId,
    /// Its own name: that of the collection is the master's.
    pub name: String,
    /// True of every document in it.
    pub condition: Document,
}

/// Makes indexes of the collections that the store is to keep.
pub(super) fn link(layout: &Layout, all: &mut [MongoCollection]) {
    layout.link(&CAPABILITY, all, |copy, host, own| index(layout, copy, host, own));
}

fn index(
    layout: &Layout,
    copy: &Collection,
    host: &MongoCollection,
    own: &MongoCollection,
) -> Option<MongoCollection> {
    let field = |field: &MongoField| {
        let stored = host.fields.iter().find(|stored| stored.of.keeps(&field.of))?;
        let of = Column { place: field.place, optional: field.of.optional, ..stored.of.clone() };
        Some(MongoField { place: field.place, of, ..stored.clone() })
    };
    let fields: Vec<MongoField> = own.fields.iter().map(field).collect::<Option<_>>()?;
    let terms = copy.source.condition.as_ref().map_or(Some(Vec::new()), |all| all.index_terms())?;
    let encoder = Encoder { conceptual: &layout.conceptual, faithful: host.faithful };
    let condition = terms.iter().map(|term| compared(encoder, host, term)).collect::<Option<_>>()?;
    let index = IndexOf { host: host.collection, name: own.name.clone(), condition };
    Some(MongoCollection {
        collection: own.collection,
        name: host.name.clone(),
        fields,
        system: None,
        faithful: host.faithful,
        index: Some(index),
    })
}

/// A term of a condition, on the documents of the master.
fn compared(encoder: Encoder<'_>, host: &MongoCollection, term: &IndexTerm<'_>) -> Option<(String, Bson)> {
    let member = member_of(term.path.leaf)?;
    let field = host.fields.iter().find(|field| field.of.source == Source::Member(member))?;
    let Holds::Scalar(ty) = &field.of.holds else { return None };
    let value = typed::basic(&Value::of_constant(term.constant).ok()?, ty)?;
    let value = encoder.field(field, &value);
    let operator = match term.op {
        Comparison::Equal => return Some((field.path.clone(), value)),
        Comparison::Less => "$lt",
        Comparison::LessOrEqual => "$lte",
        Comparison::Greater => "$gt",
        Comparison::GreaterOrEqual => "$gte",
        Comparison::NotEqual => return None,
    };
    Some((field.path.clone(), Bson::Document(vec![(operator.to_owned(), value)])))
}
