//! Reads as requests: GetItem, Query, Scan, and BatchGetItem for look-ups.
//!
//! A Query has one condition on the sort key. A sort key of several columns is compared as a whole, so that ranges are of
//! keys: from the first one that can be in the range to the last, both included, since BETWEEN includes both.

use super::key;
use super::schema::{Attribute, DynamoTable, Key, KeyKind, Scalar, descends};
use super::value::{Dynamo, item_key_value, native, ordered, part};
use askloom_model::{Id, Type, Value};
use askloom_plan::layout::Layout;
use askloom_plan::ordered_bytes::prefix_end;
use askloom_plan::program::{Bounds, How, Range, Read, Term};
use bigdecimal::BigDecimal;

/// A request that reads, as data. All are consistent, but for those of an index.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// One item.
    Get { table: String, key: Cells },
    /// Items of one partition.
    Query {
        table: String,
        index: Option<Box<Indexed>>,
        partition: (String, Bound),
        sort: Option<(String, Test)>,
        backwards: bool,
        limit: Option<Bound>,
    },
    /// Several items, each key once, at most 100; what comes back as unprocessed is asked for again.
    BatchGet { table: String, keys: Vec<Cells> },
    /// All items, or all of one class.
    Scan { table: String, index: Option<Box<Indexed>>, only: Option<(String, Test)> },
    /// No key can be in the range, and DynamoDB refuses one that ends before it starts.
    Nothing { table: String },
}

/// The index that is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Indexed {
    pub name: String,
    /// Whether it can be read consistently.
    pub local: bool,
}

/// Attributes by name.
pub type Cells = Vec<(String, Bound)>;

/// What a sort key must be.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    AtLeast(Bound),
    AtMost(Bound),
    Above(Bound),
    Below(Bound),
    Between(Bound, Bound),
    Starts(Bound),
}

/// A value, or a slot until it is known.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    Slot {
        /// As it is printed: `:gameId`, or `rounds#:ordinal`.
        text: String,
        /// The type that it will have: `S`.
        tag: &'static str,
    },
    Value(Dynamo),
}

/// The request of a read.
#[must_use]
pub fn request(layout: &Layout, tables: &[DynamoTable], read: &Read) -> Option<Request> {
    let _whole = layout.table(read.table)?;
    let table = tables.get(read.table.index())?;
    let (name, index) = names(table);
    Some(match &read.how {
        How::All => Request::Scan { table: name, index, only: table.own_items() },
        // A block whose key is the whole key is one item.
        How::Block(terms) if table.set.is_some() || is_one_item(table) => match record(table, terms) {
            Some(key) => Request::Get { table: name, key },
            None => Request::Nothing { table: name },
        },
        How::Block(terms) if table.sort.as_ref().is_some_and(|sort| sort.ends_in_item) => {
            self::range(table, &items_of(table, terms)).unwrap_or(Request::Nothing { table: name })
        }
        How::Block(terms) => match (block(table, terms), &table.sort, &index) {
            (None, _, _) => Request::Nothing { table: name },
            (Some(partition), None, None) => Request::Get { table: name, key: vec![partition] },
            (Some(partition), _, _) => {
                Request::Query { table: name, index, partition, sort: None, backwards: false, limit: None }
            }
        },
        How::Record(terms) => match record(table, terms) {
            Some(key) => Request::Get { table: name, key },
            None => Request::Nothing { table: name },
        },
        How::Range(range) => self::range(table, range).unwrap_or(Request::Nothing { table: name }),
    })
}

/// Whether an aggregate is the one item that has its partition and sort key.
fn is_one_item(table: &DynamoTable) -> bool {
    let sorted = table.sort.as_ref().is_some_and(|sort| sort.kind != KeyKind::Item && !sort.ends_in_item);
    table.system.is_some() && sorted
}

/// All items of an aggregate that shares its partition with others.
fn items_of(table: &DynamoTable, terms: &[Term]) -> Range {
    let of = |key: &Key| -> Vec<Term> {
        key.columns.iter().filter_map(|&column| term(terms, column).cloned()).collect()
    };
    Range {
        block: of(&table.partition),
        equal: table.sort.as_ref().map(of).unwrap_or_default(),
        bounds: None,
        backwards: false,
        limit: None,
    }
}

/// The table that is asked, and which of its indexes.
fn names(table: &DynamoTable) -> (String, Option<Box<Indexed>>) {
    match &table.index {
        Some(index) => {
            (index.table.clone(), Some(Box::new(Indexed { name: table.name.clone(), local: index.local })))
        }
        None => (table.name.clone(), None),
    }
}

/// The same for each of several rows: what gets one item gets up to a hundred.
#[must_use]
pub fn repeated(request: Request) -> Request {
    match request {
        Request::Get { table, key } => Request::BatchGet { table, keys: vec![key] },
        other @ (Request::Query { .. }
        | Request::BatchGet { .. }
        | Request::Scan { .. }
        | Request::Nothing { .. }) => other,
    }
}

/// The partition key. Nothing if no item can have it.
pub(super) fn block(table: &DynamoTable, terms: &[Term]) -> Option<(String, Bound)> {
    Some((table.partition.name.clone(), key_bound(table, &table.partition, terms)?))
}

/// The whole primary key.
pub(super) fn record(table: &DynamoTable, terms: &[Term]) -> Option<Cells> {
    table.keys().map(|key| Some((key.name.clone(), key_bound(table, key, terms)?))).collect()
}

fn term(terms: &[Term], column: usize) -> Option<&Term> {
    terms.iter().find(|term| term.column == Some(column))
}

/// A key from the terms of its columns: a value if all are known, else a slot that names them.
pub(super) fn key_bound(table: &DynamoTable, key: &Key, terms: &[Term]) -> Option<Bound> {
    item_key_bound(table, key, terms, key::ITSELF)
}

/// The same of one of the items of an aggregate.
pub(super) fn item_key_bound(table: &DynamoTable, key: &Key, terms: &[Term], item: &str) -> Option<Bound> {
    let own: Vec<&Term> = key.columns.iter().map(|&column| term(terms, column)).collect::<Option<_>>()?;
    let values: Option<Vec<&Value>> = own.iter().map(|term| term.literal()).collect();
    match values {
        Some(values) => item_key_value(table, key, &values, item).map(Bound::Value),
        None => {
            let columns = own.iter().zip(&key.columns);
            let parts = columns.map(|(term, &column)| slot_part(table, key, term, column));
            let parts = parts.chain(key.ends_in_item.then(|| item.to_owned()));
            let text = format!("{}{}", key.start, parts.collect::<Vec<_>>().join("#"));
            Some(Bound::Slot { text, tag: key.scalar().name() })
        }
    }
}

/// What is known of a key that has slots.
fn slot_part(table: &DynamoTable, key: &Key, term: &Term, column: usize) -> String {
    let ty = table.attributes.get(column).and_then(|column| column.of.holds.scalar());
    let known = term.literal().zip(ty).filter(|_| key.kind == KeyKind::Joined);
    let known = known.and_then(|(value, ty)| part(value, ty, key.order, false));
    known.unwrap_or_else(|| format!(":{}", term.name))
}

fn range(table: &DynamoTable, range: &Range) -> Option<Request> {
    let partition = block(table, &range.block)?;
    let (name, index) = names(table);
    let sort = match (&table.sort, &index) {
        (Some(sort), _) => sort,
        (None, None) => return Some(Request::Get { table: name, key: vec![partition] }),
        (None, Some(_)) => {
            let query =
                Request::Query { table: name, index, partition, sort: None, backwards: false, limit: None };
            return Some(query);
        }
    };
    let limit = range.limit.as_ref().map(|limit| match &limit.value {
        Some(Value::Int(rows)) => Bound::Value(Dynamo::N(rows.to_string())),
        Some(_) | None => Bound::Slot { text: format!(":{}", limit.name), tag: Scalar::N.name() },
    });
    // What asks for no rows is no request: a limit is at least 1.
    if matches!(&limit, Some(Bound::Value(Dynamo::N(rows))) if rows.starts_with('-') || rows == "0") {
        return None;
    }
    let test = match sort_test(table, sort, range) {
        Found::All => None,
        Found::Some(test) => Some((sort.name.clone(), test)),
        Found::None => return None,
    };
    let backwards = range.backwards != table.turned;
    Some(Request::Query { table: name, index, partition, sort: test, backwards, limit })
}

/// Which sort keys are asked for.
enum Found {
    All,
    Some(Test),
    None,
}

fn sort_test(table: &DynamoTable, sort: &Key, range: &Range) -> Found {
    let in_sort = |term: &&Term| term.column.is_some_and(|column| sort.columns.contains(&column));
    let equal: Vec<&Term> = range.equal.iter().filter(in_sort).collect();
    let bounds = range.bounds.as_ref().filter(|bounds| sort.columns.contains(&bounds.column));
    if equal.is_empty() && bounds.is_none() {
        return table.own_items().map_or(Found::All, |(_, test)| Found::Some(test));
    }
    let column = sort.columns.get(equal.len()).and_then(|&index| table.attributes.get(index));
    let ends = bounds.into_iter().flat_map(|bounds| {
        let sides = bounds.low.iter().chain(&bounds.high).map(|(term, _)| term);
        sides.chain(&bounds.prefix)
    });
    if equal.iter().copied().chain(ends).any(|term| term.value.is_none()) {
        return slots(table, sort, &equal, bounds);
    }
    let last = equal.len() + 1 == sort.columns.len() && !sort.ends_in_item;
    let found = match (sort.kind, column) {
        (KeyKind::Bytes, column) => bytes(table, sort, &equal, column, bounds, last),
        (KeyKind::Joined, column) => joined(table, sort, &equal, column, bounds, last),
        (KeyKind::Plain(_), _) => plain(table, sort, &equal, bounds),
        (KeyKind::Constant | KeyKind::Item, _) => return Found::All,
    };
    found.unwrap_or(Found::None)
}

/// From one key to another, both included.
fn between(from: Option<Dynamo>, to: Option<Dynamo>) -> Found {
    match (from, to) {
        (None, None) => Found::All,
        (Some(from), None) => Found::Some(Test::AtLeast(Bound::Value(from))),
        (None, Some(to)) => Found::Some(Test::AtMost(Bound::Value(to))),
        (Some(from), Some(to)) => {
            let empty = match (&from, &to) {
                (Dynamo::S(from), Dynamo::S(to)) => from > to,
                (Dynamo::B(from), Dynamo::B(to)) => from > to,
                (Dynamo::N(from), Dynamo::N(to)) => {
                    let [from, to] =
                        [from, to].map(|digits| digits.parse::<BigDecimal>().unwrap_or_default());
                    from > to
                }
                _another => true,
            };
            if empty { Found::None } else { Found::Some(Test::Between(Bound::Value(from), Bound::Value(to))) }
        }
    }
}

/// Ranges of ordered bytes.
fn bytes(
    table: &DynamoTable,
    sort: &Key,
    equal: &[&Term],
    column: Option<&Attribute>,
    bounds: Option<&Bounds>,
    last: bool,
) -> Option<Found> {
    /// Null is the smallest; nothing starts with these.
    const AFTER_NULL: u8 = 0x01;
    const BEFORE_NULL: u8 = 0xfe;
    let mut start = sort.start.clone().into_bytes();
    for (term, &index) in equal.iter().zip(&sort.columns) {
        start.extend(ordered(term.literal()?, table.attributes.get(index)?));
    }
    let (Some(column), Some(bounds)) = (column, bounds) else {
        return Some(Found::Some(Test::Starts(Bound::Value(Dynamo::B(start)))));
    };
    if let Some(prefix) = &bounds.prefix {
        // The two bytes that end a text.
        const END: usize = 2;
        if is_null(prefix) {
            return None;
        }
        let mut text = ordered(prefix.literal()?, column);
        text.truncate(text.len().saturating_sub(END));
        start.extend(text);
        return Some(Found::Some(Test::Starts(Bound::Value(Dynamo::B(start)))));
    }
    let down = descends(&column.of);
    let key = |term: &Term| Some([start.as_slice(), &ordered(term.literal()?, column)].concat());
    let (first, second) = if down { (&bounds.high, &bounds.low) } else { (&bounds.low, &bounds.high) };
    let from = match first {
        Some((term, true)) => key(term)?,
        Some((term, false)) if last => [key(term)?, vec![0]].concat(),
        Some((term, false)) => prefix_end(&key(term)?)?,
        None if down => start.clone(),
        None => [start.as_slice(), &[AFTER_NULL]].concat(),
    };
    let to = match second {
        Some((term, true)) if last => key(term)?,
        Some((term, true)) => prefix_end(&key(term)?)?,
        Some((term, false)) if last => key::bytes_before(&key(term)?)?,
        Some((term, false)) => key(term)?,
        None if down => [start.as_slice(), &[BEFORE_NULL]].concat(),
        None => [start.as_slice(), &[0xff]].concat(),
    };
    let nulls = [&bounds.low, &bounds.high].into_iter().flatten().any(|(term, _)| is_null(term));
    Some(if nulls {
        Found::None
    } else {
        between(Some(from).filter(|from| !from.is_empty()).map(Dynamo::B), Some(Dynamo::B(to)))
    })
}

fn is_null(term: &Term) -> bool {
    term.value.as_ref().is_some_and(Value::is_null)
}

/// Ranges of joined texts.
fn joined(
    table: &DynamoTable,
    sort: &Key,
    equal: &[&Term],
    column: Option<&Attribute>,
    bounds: Option<&Bounds>,
    last: bool,
) -> Option<Found> {
    let mut start = sort.start.clone();
    for (at, (term, &index)) in equal.iter().zip(&sort.columns).enumerate() {
        let ends = at + 1 == sort.columns.len() && !sort.ends_in_item;
        start.push_str(&part(
            term.literal()?,
            table.attributes.get(index)?.of.holds.scalar()?,
            sort.order,
            ends,
        )?);
        if ends {
            let key = Bound::Value(Dynamo::S(start));
            return Some(Found::Some(Test::Between(key.clone(), key)));
        }
        start.push(key::JOIN);
    }
    let starts = |text: String| match text.as_str() {
        "" => Found::All,
        _some => Found::Some(Test::Starts(Bound::Value(Dynamo::S(text)))),
    };
    let (Some(column), Some(bounds)) = (column, bounds) else { return Some(starts(start)) };
    let ty = column.of.holds.scalar()?;
    let one = |value: &Value| Some(format!("{start}{}", part(value, ty, sort.order, last)?));
    if let Some(prefix) = &bounds.prefix {
        return one(prefix.literal()?).map(starts);
    }
    let from = match &bounds.low {
        Some((term, true)) => Some(one(term.literal()?)?),
        Some((term, false)) if last => Some(format!("{}\0", one(term.literal()?)?)),
        Some((term, false)) => Some(format!("{}{}", one(term.literal()?)?, key::BEHIND)),
        None => Some(start.clone()).filter(|start| !start.is_empty()),
    };
    let to = match &bounds.high {
        Some((term, true)) if last => Some(one(term.literal()?)?),
        Some((term, true)) => Some(format!("{}{}", one(term.literal()?)?, key::BEHIND)),
        Some((term, false)) if last => Some(key::text_before(&one(term.literal()?)?)?),
        Some((term, false)) => Some(one(term.literal()?)?),
        None => start.strip_suffix(key::JOIN).map(|start| format!("{start}{}", key::BEHIND)),
    };
    // No text is less than the empty one, and none may be asked for.
    if to.as_ref().is_some_and(String::is_empty) {
        return None;
    }
    Some(between(from.filter(|from| !from.is_empty()).map(Dynamo::S), to.map(Dynamo::S)))
}

/// Ranges of one column by itself.
fn plain(table: &DynamoTable, sort: &Key, equal: &[&Term], bounds: Option<&Bounds>) -> Option<Found> {
    let ty = table.attributes.get(*sort.columns.first()?)?.of.holds.scalar()?;
    let one = |term: &Term| native(term.literal()?, ty, sort.order);
    if let Some(term) = equal.first() {
        let key = Bound::Value(one(term)?);
        return Some(Found::Some(Test::Between(key.clone(), key)));
    }
    let Some(bounds) = bounds else { return Some(Found::All) };
    if let Some(prefix) = &bounds.prefix {
        let Value::Text(text) = prefix.literal()? else { return None };
        return Some(match text.as_str() {
            "" => Found::All,
            _some => Found::Some(Test::Starts(Bound::Value(one(prefix)?))),
        });
    }
    match (&bounds.low, &bounds.high) {
        // By themselves they can be said as they are.
        (Some((low, false)), None) => Some(Found::Some(Test::Above(Bound::Value(one(low)?)))),
        (None, Some((high, false))) => Some(Found::Some(Test::Below(Bound::Value(one(high)?)))),
        (low, high) => {
            let from = match low {
                Some((term, true)) => Some(one(term)?),
                Some((term, false)) => Some(after(one(term)?, ty)?),
                None => None,
            };
            let to = match high {
                Some((term, true)) => Some(one(term)?),
                Some((term, false)) => Some(before(one(term)?, ty)?),
                None => None,
            };
            Some(between(from, to))
        }
    }
}

/// The first key behind one.
fn after(key: Dynamo, ty: &Type) -> Option<Dynamo> {
    match (key, ty) {
        (Dynamo::S(text), Type::Timestamp(precision)) => {
            key::instant_beside(&text, *precision, 1).map(Dynamo::S)
        }
        (Dynamo::S(text), _) => Some(Dynamo::S(format!("{text}\0"))),
        (Dynamo::N(digits), ty) => moved(&digits, ty, 1).map(Dynamo::N),
        _another => None,
    }
}

/// The last key before one.
fn before(key: Dynamo, ty: &Type) -> Option<Dynamo> {
    match (key, ty) {
        (Dynamo::S(text), Type::Timestamp(precision)) => {
            key::instant_beside(&text, *precision, -1).map(Dynamo::S)
        }
        (Dynamo::S(text), _) => key::text_before(&text).filter(|text| !text.is_empty()).map(Dynamo::S),
        (Dynamo::N(digits), ty) => moved(&digits, ty, -1).map(Dynamo::N),
        _another => None,
    }
}

/// The next number in one direction: a whole one, or a decimal that is nearer than the 34 digits of any other, and within
/// the 38 of N.
fn moved(digits: &str, ty: &Type, by: i64) -> Option<String> {
    const NEARER: i64 = 36;
    let number: BigDecimal = digits.parse().ok()?;
    let step = match ty {
        Type::Decimal => {
            let (digits, scale) = number.normalized().into_bigint_and_exponent();
            let length = i64::try_from(digits.magnitude().to_string().len()).ok()?;
            BigDecimal::new(by.into(), scale - length + 1 + NEARER)
        }
        _whole => BigDecimal::from(by),
    };
    Some((number + step).normalized().to_plain_string())
}

/// What can be said of the sort key before the values are known.
fn slots(table: &DynamoTable, sort: &Key, equal: &[&Term], bounds: Option<&Bounds>) -> Found {
    let tag = sort.scalar().name();
    let columns = equal.iter().zip(&sort.columns);
    let mut start: Vec<String> =
        columns.map(|(term, &column)| slot_part(table, sort, term, column)).collect();
    let whole = start.len() == sort.columns.len() && !sort.ends_in_item;
    let slot = |start: &[String], end: Option<(&Term, &str)>| {
        let mut parts = start.to_vec();
        parts.extend(end.map(|(term, said)| match (&term.value, sort.kind) {
            (Some(_), _) => {
                format!("{}{said}", slot_part(table, sort, term, term.column.unwrap_or_default()))
            }
            (None, _) => format!(":{}{said}", term.name),
        }));
        Bound::Slot { text: format!("{}{}", sort.start, parts.join("#")), tag }
    };
    let Some(bounds) = bounds else {
        if whole {
            let key = slot(&start, None);
            return Found::Some(Test::Between(key.clone(), key));
        }
        // The join belongs to what it starts with.
        if sort.kind == KeyKind::Joined {
            start.push(String::new());
        }
        return Found::Some(Test::Starts(slot(&start, None)));
    };
    if let Some(prefix) = &bounds.prefix {
        return Found::Some(Test::Starts(slot(&start, Some((prefix, "")))));
    }
    let free = start.is_empty() && sort.start.is_empty();
    let alone = free && sort.columns.len() == 1 && sort.kind != KeyKind::Bytes && !sort.ends_in_item;
    let side = |side: &Option<(Term, bool)>, said: &str| {
        side.as_ref().map(|(term, inclusive)| {
            let said = if *inclusive || alone { "" } else { said };
            (slot(&start, Some((term, said))), *inclusive)
        })
    };
    let low = side(&bounds.low, " (the next)");
    let high = side(&bounds.high, " (the one before)");
    if !free {
        // The others of the key stay the same from end to end.
        let same = format!("{}{}", sort.start, start.join("#"));
        // Only what ends in a join has a key right behind all those that start with it.
        let joins = sort.kind == KeyKind::Joined;
        let is_open = joins && start.is_empty() && !sort.start.ends_with(key::JOIN);
        if let (true, Some((low, _)), None) = (is_open, &low, &high) {
            return Found::Some(Test::AtLeast(low.clone()));
        }
        let strips = joins && start.is_empty();
        let same = if strips { same.strip_suffix(key::JOIN).unwrap_or(&same) } else { &same };
        let end = |said: &str| Bound::Slot { text: format!("{same}{said}"), tag };
        let (first, last) = if joins { ("#", "$") } else { ("", " (the last)") };
        let first = if is_open { "" } else { first };
        let low = low.map_or_else(|| end(first), |(low, _)| low);
        let high = high.map_or_else(|| end(last), |(high, _)| high);
        return Found::Some(Test::Between(low, high));
    }
    match (low, high) {
        (Some((low, inclusive)), None) => {
            Found::Some(if inclusive || !alone { Test::AtLeast(low) } else { Test::Above(low) })
        }
        (None, Some((high, inclusive))) => {
            Found::Some(if inclusive || !alone { Test::AtMost(high) } else { Test::Below(high) })
        }
        (Some((low, _)), Some((high, _))) => Found::Some(Test::Between(low, high)),
        (None, None) => Found::All,
    }
}

#[cfg(test)]
mod tests;
