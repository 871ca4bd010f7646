//! Which records of a collection a read means, by their keys.

use crate::source::{Ask, Cursor, From};
use crate::{RecordKey, RunError, Schema, SortValue};
use askloom_model::{Collection, CollectionId, Value, fault};
use askloom_plan::layout::{Field, Holds, Shape, Table};
use askloom_plan::ordered_bytes::decode;
use askloom_plan::program::{Bounds, How, Read, Term};
use std::cmp::Ordering;

/// The records of one block, or of all, that start with the same values; then a range of the next value that sorts.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyRange {
    /// The values of the block key; of all blocks, nothing.
    pub block: Vec<Value>,
    /// The values of the first fields that sort.
    pub equal: Vec<SortValue>,
    pub bounds: Option<FieldBounds>,
    pub backwards: bool,
}

/// A range of the values of one field. Null is in no range: a comparison with it is never true.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldBounds {
    pub descending: bool,
    /// Each with whether the bound itself is in the range.
    pub low: Option<(Value, bool)>,
    pub high: Option<(Value, bool)>,
    /// A text that all start with, instead of the two.
    pub prefix: Option<String>,
}

impl KeyRange {
    /// The range of a read whose slots are filled.
    pub fn of(schema: &Schema, read: &Read) -> Result<Self, RunError> {
        let keys = Keys::new(schema, read.table);
        match &read.how {
            How::All => Ok(Self { block: Vec::new(), equal: Vec::new(), bounds: None, backwards: false }),
            How::Block(terms) => {
                let block = keys.fields(keys.block, terms)?;
                Ok(Self { block, equal: Vec::new(), bounds: None, backwards: false })
            }
            How::Record(_) => Err(RunError::Corrupted(format!(
                "a record of {} is asked for by its columns, and not by the identities that are its key",
                keys.collection.name
            ))),
            How::Range(range) => {
                let terms: Vec<Term> = range.block.iter().chain(&range.equal).cloned().collect();
                let block = keys.fields(keys.block, &terms)?;
                let equal = keys.table.sort_fields(&range.equal);
                let fields = keys.sort.iter().zip(&keys.collection.entry_key).take(equal);
                let equals = fields.map(|(field, key)| {
                    Ok(SortValue { value: keys.field(field, &terms)?, descending: key.descending })
                });
                let bounds = range.bounds.as_ref().map(|bounds| keys.bounds(bounds, equal)).transpose()?;
                Ok(Self {
                    block,
                    equal: equals.collect::<Result<_, RunError>>()?,
                    bounds,
                    backwards: range.backwards,
                })
            }
        }
    }

    /// Whether a record with this key is meant.
    #[must_use]
    pub fn contains(&self, key: &RecordKey) -> bool {
        let within = |bounds: &FieldBounds| {
            key.sort.get(self.equal.len()).is_some_and(|sorted| bounds.contains(&sorted.value))
        };
        key.block.starts_with(&self.block)
            && key.sort.starts_with(&self.equal)
            && self.bounds.as_ref().is_none_or(within)
    }
}

impl FieldBounds {
    fn contains(&self, value: &Value) -> bool {
        if value.is_null() && !fault!(NullInRange) {
            return false;
        }
        if let (Some(prefix), Value::Text(text)) = (&self.prefix, value) {
            return text.starts_with(prefix.as_str());
        }
        let above = |(low, inclusive): &(Value, bool)| if *inclusive { value >= low } else { value > low };
        let below = |(high, inclusive): &(Value, bool)| if *inclusive { value <= high } else { value < high };
        self.low.as_ref().is_none_or(above) && self.high.as_ref().is_none_or(below)
    }
}

impl KeyRange {
    /// Whether one key comes before another, or is the same, in the order of the read.
    pub fn comes(&self, key: &RecordKey, before: &RecordKey) -> bool {
        if self.backwards { key >= before } else { key <= before }
    }

    /// Whether a page that starts there can have the record.
    pub fn starts(&self, from: From<'_>, key: &RecordKey) -> bool {
        match from {
            From::Start | From::Cursor(Cursor::Aggregate(_)) => true,
            From::Cursor(Cursor::Entry(last)) => last != key && self.comes(last, key),
            From::Row { sort, row } => {
                let equal = self.equal.len();
                let own: Vec<&SortValue> = key.sort.iter().skip(equal).collect();
                let sought = sort
                    .iter()
                    .zip(&own)
                    .map(|(value, own)| SortValue { value: value.clone(), descending: own.descending });
                let sought: Vec<SortValue> = sought.collect();
                let own: Vec<SortValue> = own.into_iter().cloned().collect();
                let order = own.cmp(&sought).then_with(|| key.row.as_slice().cmp(row));
                if self.backwards { order.is_le() } else { order.is_ge() }
            }
        }
    }

    /// Where a page of aggregates starts. A row that is not in the range starts nothing.
    pub fn start_block(&self, schema: &Schema, ask: &Ask<'_>) -> Option<BlockStart> {
        let (identity, inclusive) = match ask.from {
            From::Cursor(Cursor::Aggregate(identity)) => (identity, false),
            From::Row { row: [Value::Reference(identity)], .. } => (identity, true),
            From::Start | From::Cursor(Cursor::Entry(_)) | From::Row { .. } => return None,
        };
        let key = schema.block_key(ask.read.table, identity);
        let within = !inclusive || key.block.starts_with(&self.block) && key.sort.starts_with(&self.equal);
        within.then_some(BlockStart { key, inclusive, backwards: self.backwards })
    }
}

/// The first block of a page, or the one before it.
#[derive(Debug)]
pub struct BlockStart {
    key: RecordKey,
    inclusive: bool,
    backwards: bool,
}

impl BlockStart {
    /// Whether a block comes behind it.
    pub fn has(&self, key: &RecordKey) -> bool {
        match (key.cmp(&self.key), self.backwards) {
            (Ordering::Equal, _) => self.inclusive,
            (Ordering::Greater, backwards) => !backwards,
            (Ordering::Less, backwards) => backwards,
        }
    }
}

/// How the keys of a collection are made of the columns of its table.
struct Keys<'k> {
    collection: &'k Collection,
    table: &'k Table,
    /// The columns of each field of the block key.
    block: &'k [Field],
    /// The columns of each field that sorts.
    sort: &'k [Field],
}

impl<'k> Keys<'k> {
    fn new(schema: &'k Schema, id: CollectionId) -> Self {
        let table = schema.table(id);
        let (block, sort) = match &table.shape {
            Shape::Master { block, sort, .. } => (block, sort),
            Shape::Rows(parts) | Shape::Nodes(parts) => (&parts.block, &parts.sort),
        };
        Self { collection: &schema.design.collections[id], table, block, sort }
    }

    fn fields(&self, fields: &[Field], terms: &[Term]) -> Result<Vec<Value>, RunError> {
        fields.iter().map(|field| self.field(field, terms)).collect()
    }

    /// The value of a field from the terms of its columns.
    fn field(&self, field: &Field, terms: &[Term]) -> Result<Value, RunError> {
        let mut values = Vec::with_capacity(field.columns.len());
        for &column in &field.columns {
            let term = terms.iter().find(|term| term.column == Some(column));
            let value = term.and_then(|term| term.value.as_ref()).ok_or_else(|| self.open_slot())?;
            let holds = self.table.columns.get(column).map(|column| &column.holds);
            values.push(match (holds, value) {
                (Some(Holds::Locator), Value::Blob(bytes)) => decode(&mut bytes.as_slice())?,
                (_, value) => value.clone(),
            });
        }
        if !field.identity {
            return values.pop().ok_or_else(|| self.open_slot());
        }
        let missing = values.iter().any(Value::is_null);
        Ok(if missing { Value::Null } else { Value::Reference(values) })
    }

    fn bounds(&self, bounds: &Bounds, equal: usize) -> Result<FieldBounds, RunError> {
        let descending = self.collection.entry_key.get(equal).is_some_and(|field| field.descending);
        let identity = self.sort.get(equal).is_some_and(|field| field.identity);
        let side = |side: &Option<(Term, bool)>| {
            let Some((term, inclusive)) = side else { return Ok(None) };
            let value = term.value.clone().ok_or_else(|| self.open_slot())?;
            let value = if identity { Value::Reference(vec![value]) } else { value };
            Ok::<_, RunError>(Some((value, *inclusive)))
        };
        let prefix = match bounds.prefix.as_ref().and_then(|term| term.value.as_ref()) {
            Some(Value::Text(text)) => Some(text.clone()),
            Some(_) | None => None,
        };
        Ok(FieldBounds { descending, low: side(&bounds.low)?, high: side(&bounds.high)?, prefix })
    }

    fn open_slot(&self) -> RunError {
        RunError::Corrupted(format!("a read of {} has a slot without a value", self.collection.name))
    }
}
