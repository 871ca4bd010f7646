//! From an aggregate to its entries.

use super::matching::{Matches, Open, enter, start};
use askloom_model::{AccessPath, AccessStep, ClassId, Conceptual, Element, Member, Record, Rule, Value};
use std::collections::BTreeMap;
use std::fmt;

/// The entries of one aggregate: atoms and parts of records, lists and sets, by where they belong.
pub type Entries = BTreeMap<AccessPath, Value>;

/// A value that no rule takes. Rules that are [`legal`](super::legal) leave none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Untaken(pub AccessPath);

impl fmt::Display for Untaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no representation rule takes `{}`", self.0)
    }
}

impl std::error::Error for Untaken {}

/// The entries of an aggregate by the rules.
pub fn split(conceptual: &Conceptual, rules: &[Rule], aggregate: &Record) -> Result<Entries, Untaken> {
    let start = start(conceptual, rules, aggregate.class);
    let declared = conceptual.lineage(aggregate.class).last().copied().unwrap_or(aggregate.class);
    let mut splitter = Splitter { conceptual, rules, path: AccessPath::default(), entries: Entries::new() };
    let rest = splitter.record(aggregate, declared, &start.open, start.cover)?;
    splitter.put(rest);
    Ok(splitter.entries)
}

/// Goes down an aggregate. Every function returns what is left for the entry that it was called for: the one of
/// `cover`, the first rule with a match at or above.
struct Splitter<'s> {
    conceptual: &'s Conceptual,
    rules: &'s [Rule],
    path: AccessPath,
    entries: Entries,
}

impl Splitter<'_> {
    /// Makes an entry of what there is, here.
    fn put(&mut self, value: Option<Value>) {
        if let Some(value) = value {
            self.entries.insert(self.path.clone(), value);
        }
    }

    fn record(
        &mut self,
        record: &Record,
        declared: ClassId,
        open: &[Open],
        cover: Option<usize>,
    ) -> Result<Option<Value>, Untaken> {
        if open.is_empty() && cover.is_some() {
            return Ok(Some(Value::Record(Box::new(record.clone()))));
        }
        let mut piece = Record::new(record.class);
        piece.surrogate = record.surrogate;
        let mut is_empty = true;
        for (&member, value) in record.fields.iter().filter(|(_, value)| !value.is_absent()) {
            is_empty = false;
            if let Some(rest) = self.member(member, value, open, cover)? {
                piece.fields.insert(member, rest);
            }
        }
        let is_implied = !is_empty && record.class == declared && record.surrogate.is_none();
        if piece.fields.is_empty() && is_implied {
            return Ok(None);
        }
        let piece = Some(Value::Record(Box::new(piece)));
        if cover.is_some() {
            return Ok(piece);
        }
        self.put(piece);
        Ok(None)
    }

    fn member(
        &mut self,
        member: Member,
        value: &Value,
        open: &[Open],
        cover: Option<usize>,
    ) -> Result<Option<Value>, Untaken> {
        let name = self.conceptual.member_name(member);
        let is_many = matches!(value, Value::List(_) | Value::Set(_));
        let matches = enter(self.rules, open, cover, name, is_many);
        if matches.is_nothing() && cover.is_some() {
            return Ok(Some(value.clone()));
        }
        self.path.0.push(AccessStep::Field(name.to_owned()));
        let mut rest = self.whole(member, value, &matches, matches.field.or(cover))?;
        if matches.field.is_some() {
            self.put(rest.take());
        }
        self.path.0.pop();
        Ok(rest)
    }

    fn whole(
        &mut self,
        member: Member,
        value: &Value,
        matches: &Matches,
        cover: Option<usize>,
    ) -> Result<Option<Value>, Untaken> {
        if let Value::List(elements) = value {
            let mut left = Vec::new();
            for Element { ordinal, value } in elements {
                self.path.0.push(AccessStep::Element(*ordinal));
                let rest = self.one(member, value, matches, matches.element.or(cover))?;
                if matches.element.is_some() {
                    self.put(rest);
                } else {
                    left.extend(rest.map(|value| Element { ordinal: *ordinal, value }));
                }
                self.path.0.pop();
            }
            return Ok((!left.is_empty()).then_some(Value::List(left)));
        }
        if let Value::Set(ids) = value
            && (matches.element.is_some() || matches.atoms)
        {
            for id in ids {
                self.path.0.push(AccessStep::Link(id.clone()));
                self.put(Some(Value::Reference(id.clone())));
                self.path.0.pop();
            }
            return Ok(None);
        }
        self.one(member, value, matches, cover)
    }

    /// One value: a part, or an atom. A set that is not taken apart is one too.
    fn one(
        &mut self,
        member: Member,
        value: &Value,
        matches: &Matches,
        cover: Option<usize>,
    ) -> Result<Option<Value>, Untaken> {
        if let (Value::Record(record), Member::End(end)) = (value, member) {
            let declared = self.conceptual.ends[end].target;
            return self.record(record, declared, &matches.below, cover);
        }
        if matches.atoms {
            self.put(Some(value.clone()));
            return Ok(None);
        }
        match cover {
            Some(_) => Ok(Some(value.clone())),
            None => Err(Untaken(self.path.clone())),
        }
    }
}
