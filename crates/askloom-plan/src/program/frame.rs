//! The values that a program is carried out with, and its reads with these in their slots.

use super::each::{LoopOf, ValueLoop};
use super::fit::{FittedBound, Side, fitted, fitted_bound};
use super::{Bounds, How, InstantFrom, Range, Read, Term, ValueFrom};
use crate::layout::{Holds, Table};
use crate::ordered_bytes::encode;
use askloom_model::{BucketsBetween, Constant, InSet, Operand, Type, Value};
use std::collections::BTreeSet;

/// What slots are filled from.
#[derive(Debug, Clone, Copy, Default)]
pub struct Frame<'f> {
    /// In the order of the program's parameters.
    pub parameters: &'f [Value],
    /// What loops have chosen: a field of the key, and the values of its columns.
    pub loops: &'f [(usize, Vec<Value>)],
    /// The parts of the identity that the step is repeated for.
    pub identity: &'f [Value],
}

impl Frame<'_> {
    fn parameter(&self, index: usize, part: Option<usize>) -> Option<&Value> {
        match (self.parameters.get(index)?, part) {
            (Value::Reference(parts), Some(part)) => parts.get(part),
            (single, Some(0) | None) => Some(single),
            (_, Some(_)) => None,
        }
    }

    fn chosen(&self, field: usize, part: Option<usize>) -> Option<&Value> {
        let (_, parts) = self.loops.iter().find(|(own, _)| *own == field)?;
        parts.get(part.unwrap_or(0))
    }

    fn instant(&self, of: InstantFrom) -> Option<&Value> {
        let value = match of {
            InstantFrom::Parameter { index, part } => self.parameter(index, part),
            InstantFrom::Loop { field, part } => self.chosen(field, part),
            InstantFrom::Identity { part } => self.identity.get(part),
        };
        match value? {
            Value::Reference(parts) => parts.first(),
            single => Some(single),
        }
    }
}

impl Read {
    /// The read with every slot filled. `None` if no record can match: a value that no record has in that column, or
    /// null, which equals nothing.
    #[must_use]
    pub fn filled(&self, table: &Table, frame: &Frame<'_>) -> Option<Self> {
        let terms = |terms: &[Term]| -> Option<Vec<Term>> {
            terms.iter().map(|term| term.filled(table, frame)).collect()
        };
        let how = match &self.how {
            How::Block(key) => How::Block(terms(key)?),
            How::Record(key) => How::Record(terms(key)?),
            How::All => How::All,
            How::Range(range) => How::Range(Box::new(Range {
                block: terms(&range.block)?,
                equal: terms(&range.equal)?,
                bounds: match &range.bounds {
                    Some(bounds) => Some(bounds.filled(table, frame)?),
                    None => None,
                },
                backwards: range.backwards,
                limit: range.limit.as_ref().map(|limit| limit.filled_count(frame)),
            })),
        };
        agrees(&how).then(|| Self { table: self.table, how, pushdown: None, members: self.members.clone() })
    }

    /// The reads of a step that is repeated for values, one for each combination of them.
    #[must_use]
    pub fn for_each(&self, table: &Table, loops: &[ValueLoop], parameters: &[Value]) -> Vec<Self> {
        let mut chosen = Vec::with_capacity(loops.len());
        let mut found = Vec::new();
        self.combine(table, loops, parameters, &mut chosen, &mut found);
        found
    }

    fn combine(
        &self,
        table: &Table,
        loops: &[ValueLoop],
        parameters: &[Value],
        chosen: &mut Vec<(usize, Vec<Value>)>,
        found: &mut Vec<Self>,
    ) {
        let Some((first, rest)) = loops.split_first() else {
            let frame = Frame { parameters, loops: chosen, identity: &[] };
            return found.extend(self.filled(table, &frame));
        };
        for values in self.choices(table, first, parameters) {
            chosen.push((first.field, values));
            self.combine(table, rest, parameters, chosen, found);
            chosen.pop();
        }
    }

    /// The values of a loop that the columns of its field can have, each once.
    fn choices(&self, table: &Table, one: &ValueLoop, parameters: &[Value]) -> Vec<Vec<Value>> {
        let raw = match &one.of {
            LoopOf::Buckets(of) => {
                return (0..*of).map(|bucket| vec![Value::Int(i64::from(bucket))]).collect();
            }
            LoopOf::TimeBuckets { between, latest_first } => {
                let mut buckets = time_buckets(between, parameters);
                if *latest_first {
                    buckets.reverse();
                }
                return buckets.into_iter().map(|bucket| vec![bucket]).collect();
            }
            LoopOf::Set(set) => values_of(set, parameters),
        };
        let types: Vec<&Holds> = self.loop_columns(table, one.field);
        let fit = |value: &Value| -> Option<Vec<Value>> {
            let parts = match value {
                Value::Reference(parts) => parts.as_slice(),
                single => std::slice::from_ref(single),
            };
            let pairs = parts.iter().zip(&types).map(|(part, holds)| fit(part, holds));
            if parts.len() == types.len() { pairs.collect() } else { None }
        };
        let different: BTreeSet<Vec<Value>> = raw.iter().filter_map(fit).collect();
        different.into_iter().collect()
    }

    /// What the columns hold that a loop over a field gives values for, in the order of the parts of such a value: the key
    /// of a master may have them in another.
    fn loop_columns<'t>(&self, table: &'t Table, field: usize) -> Vec<&'t Holds> {
        let terms: Vec<&Term> = match &self.how {
            How::Block(terms) | How::Record(terms) => terms.iter().collect(),
            How::Range(range) => range.block.iter().chain(&range.equal).collect(),
            How::All => Vec::new(),
        };
        let of_loop = |term: &Term| match term.from {
            ValueFrom::Loop { field: own, part } => (own == field).then_some((part, term.column?)),
            ValueFrom::Statement
            | ValueFrom::Parameter { .. }
            | ValueFrom::Identity { .. }
            | ValueFrom::TimeBucket { .. }
            | ValueFrom::Rows { .. }
            | ValueFrom::Before
            | ValueFrom::After
            | ValueFrom::Other => None,
        };
        let mut columns: Vec<(Option<usize>, usize)> = terms.into_iter().filter_map(of_loop).collect();
        columns.sort_unstable();
        columns.into_iter().filter_map(|(_, column)| Some(&table.columns.get(column)?.holds)).collect()
    }
}

impl ValueLoop {
    /// Whether there are more buckets of time between the instants of the loop than so many.
    #[must_use]
    pub fn has_more_buckets(&self, than: usize, parameters: &[Value]) -> bool {
        match &self.of {
            LoopOf::TimeBuckets { between: BucketsBetween { unit, low, high }, .. } => {
                match (operand(low, parameters), operand(high, parameters)) {
                    (Value::Timestamp(low), Value::Timestamp(high)) => {
                        unit.between(low, high).nth(than).is_some()
                    }
                    _no_instants => false,
                }
            }
            LoopOf::Set(_) | LoopOf::Buckets(_) => false,
        }
    }

    /// For each bucket that is between the instants of the loop, in its order, a loop that has only this one. The
    /// buckets are those of a whole collection, oldest first.
    #[must_use]
    pub fn one_by_one(&self, buckets: &[String], parameters: &[Value]) -> Vec<Self> {
        let LoopOf::TimeBuckets { between: BucketsBetween { unit, low, high }, latest_first } = &self.of
        else {
            return vec![self.clone()];
        };
        let (Value::Timestamp(low), Value::Timestamp(high)) =
            (operand(low, parameters), operand(high, parameters))
        else {
            return Vec::new();
        };
        let there = buckets.iter().filter(|bucket| unit.may_be_between(bucket, low, high));
        let only = |bucket: &String| {
            let bucket = Operand::Constant(Constant::Text(bucket.clone()));
            Self { field: self.field, of: LoopOf::Set(InSet::List(vec![bucket])) }
        };
        match latest_first {
            true => there.rev().map(only).collect(),
            false => there.map(only).collect(),
        }
    }
}

/// The values of a set, before they are fitted to a column.
fn values_of(set: &InSet, parameters: &[Value]) -> Vec<Value> {
    match set {
        InSet::List(items) => items.iter().map(|item| operand(item, parameters)).collect(),
        InSet::Parameter(index) => match parameters.get(*index) {
            Some(Value::List(elements)) => elements.iter().map(|element| element.value.clone()).collect(),
            Some(single) => vec![single.clone()],
            None => Vec::new(),
        },
    }
}

/// The buckets between two instants, oldest first. Between what are no instants there are none.
fn time_buckets(BucketsBetween { unit, low, high }: &BucketsBetween, parameters: &[Value]) -> Vec<Value> {
    match (operand(low, parameters), operand(high, parameters)) {
        (Value::Timestamp(low), Value::Timestamp(high)) => unit.between(low, high).map(Value::Text).collect(),
        _no_instants => Vec::new(),
    }
}

fn operand(operand: &Operand, parameters: &[Value]) -> Value {
    match operand {
        Operand::Constant(constant) => Value::of_constant(constant).unwrap_or(Value::Null),
        Operand::Parameter(index) => parameters.get(*index).cloned().unwrap_or(Value::Null),
        Operand::Path(_) => Value::Null,
    }
}

/// A value as one of a column. `None` if the column cannot have it.
fn fit(value: &Value, holds: &Holds) -> Option<Value> {
    match holds {
        Holds::Scalar(ty) => fitted(value, ty),
        Holds::Ordinal => fitted(value, &Type::Long),
        Holds::Locator => Some(locator(value)),
        Holds::Tree { .. } => Some(value.clone()),
    }
}

/// What tells a value object apart is kept as bytes in key order.
fn locator(value: &Value) -> Value {
    match value {
        Value::Blob(_) => value.clone(),
        other => {
            let mut bytes = Vec::new();
            encode(other, &mut bytes);
            Value::Blob(bytes)
        }
    }
}

/// Whether no column has two values: two fields of a key may be one column, such as an id and a part of it.
fn agrees(how: &How) -> bool {
    let (block, equal): (&[Term], &[Term]) = match how {
        How::Block(terms) | How::Record(terms) => (terms, &[]),
        How::Range(range) => (&range.block, &range.equal),
        How::All => (&[], &[]),
    };
    let terms = || block.iter().chain(equal);
    terms().enumerate().all(|(at, term)| {
        let same = terms().skip(at + 1).filter(|other| other.column.is_some() && other.column == term.column);
        same.into_iter().all(|other| other.value == term.value)
    })
}

impl Term {
    fn filled(&self, table: &Table, frame: &Frame<'_>) -> Option<Self> {
        let holds = &table.columns.get(self.column?)?.holds;
        let value = match self.from {
            // Rows may have nothing at an outer position, and their entries say so.
            ValueFrom::Identity { part } => frame.identity.get(part)?.clone(),
            ValueFrom::Loop { field, part } => frame.chosen(field, part)?.clone(),
            ValueFrom::Parameter { index, part } => fit(frame.parameter(index, part)?, holds)?,
            ValueFrom::TimeBucket { unit, of } => fit(&unit.of_value(frame.instant(of)?), holds)?,
            ValueFrom::Statement
            | ValueFrom::Rows { .. }
            | ValueFrom::Before
            | ValueFrom::After
            | ValueFrom::Other => fit(self.value.as_ref()?, holds)?,
        };
        Some(Self { value: Some(value), ..self.clone() })
    }

    /// The number of rows that LIMIT or PAGE asks for.
    fn filled_count(&self, frame: &Frame<'_>) -> Self {
        let value = match self.from {
            ValueFrom::Rows { parameter: Some(index), more } => match frame.parameters.get(index) {
                Some(Value::Int(rows)) => Some(Value::Int(rows.saturating_add(more))),
                Some(_) | None => None,
            },
            ValueFrom::Rows { parameter: None, .. }
            | ValueFrom::Statement
            | ValueFrom::Parameter { .. }
            | ValueFrom::Loop { .. }
            | ValueFrom::Identity { .. }
            | ValueFrom::TimeBucket { .. }
            | ValueFrom::Before
            | ValueFrom::After
            | ValueFrom::Other => self.value.clone(),
        };
        Self { value, ..self.clone() }
    }

    /// The raw value of one side of a range.
    fn raw(&self, frame: &Frame<'_>) -> Option<Value> {
        match self.from {
            ValueFrom::Parameter { index, .. } => frame.parameters.get(index).cloned(),
            ValueFrom::Statement
            | ValueFrom::Loop { .. }
            | ValueFrom::Identity { .. }
            | ValueFrom::TimeBucket { .. }
            | ValueFrom::Rows { .. }
            | ValueFrom::Before
            | ValueFrom::After
            | ValueFrom::Other => self.value.clone(),
        }
    }
}

impl Bounds {
    fn filled(&self, table: &Table, frame: &Frame<'_>) -> Option<Self> {
        let prefix = match &self.prefix {
            Some(term) => match term.raw(frame)? {
                text @ Value::Text(_) => Some(Term { value: Some(text), ..term.clone() }),
                _no_text => return None,
            },
            None => None,
        };
        let holds = &table.columns.get(self.column)?.holds;
        let low = fitted_side(self.low.as_ref(), holds, Side::Low, frame)?;
        let high = fitted_side(self.high.as_ref(), holds, Side::High, frame)?;
        Some(Self { column: self.column, low, high, prefix })
    }
}

/// One side of a range with its value; nothing inside `Some` if every value is on the right side of it.
#[expect(
    clippy::option_option,
    reason = "the outer one says whether anything can match, the inner one is the side"
)]
fn fitted_side(
    side: Option<&(Term, bool)>,
    holds: &Holds,
    which: Side,
    frame: &Frame<'_>,
) -> Option<Option<(Term, bool)>> {
    let Some((term, inclusive)) = side else { return Some(None) };
    let value = term.raw(frame)?;
    let bound = match holds.scalar() {
        Some(ty) => fitted_bound(&value, *inclusive, ty, which),
        None if value.is_null() => FittedBound::Nothing,
        None => FittedBound::At(value, *inclusive),
    };
    match bound {
        FittedBound::Nothing => None,
        FittedBound::Everything => Some(None),
        FittedBound::At(value, inclusive) => {
            Some(Some((Term { value: Some(value), ..term.clone() }, inclusive)))
        }
    }
}
