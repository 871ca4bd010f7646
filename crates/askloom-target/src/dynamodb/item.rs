//! Records as items, and back.

use super::expiry;
use super::key::{item_path, item_text};
use super::paper;
use super::schema::{DynamoTable, Entries, KeyKind, System};
use super::value::{
    Dynamo, attribute, emptied, item_back, item_key_value, key_back, key_value, leaf_back, nested,
};
use crate::generate::Sample;
use askloom_model::{
    AccessPath, ClassId, Conceptual, Element, Id, Identity, Record, Type, Value, ValueError, identity_types,
};
use askloom_plan::layout::{Block, Fields, Holds, Layout, Table};
use askloom_plan::tree::{CLASS, ELEMENTS, ID, ORDINALS, TreeOf, class_named, is_many};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// The attributes of an item, the key first.
pub type Item = Vec<(String, Dynamo)>;

/// The items of a record; none if its key is not one.
#[must_use]
pub fn items(layout: &Layout, tables: &[DynamoTable], sample: &Sample) -> Vec<(String, Item)> {
    let (Sample::Row { table: id, .. } | Sample::Block { table: id, .. }) = sample;
    let (Some(table), Some(own)) = (tables.get(id.index()), layout.table(*id)) else { return Vec::new() };
    // An index holds what its table has.
    if table.index.is_some() {
        return Vec::new();
    }
    let items = match (sample, &table.system) {
        (Sample::Row { cells, .. }, _) => row_item(layout, table, cells).into_iter().collect(),
        (Sample::Block { block, .. }, Some(system)) => block_items(layout, table, own, system, block),
        (Sample::Block { .. }, None) => Vec::new(),
    };
    items.into_iter().map(|item| (table.name.clone(), item)).collect()
}

fn row_item(layout: &Layout, table: &DynamoTable, cells: &[Value]) -> Option<Item> {
    let mut item = keys(table, cells)?;
    let outside = table.outside().filter_map(|(index, column)| {
        let cell = cells.get(index)?;
        let value = match table.faithful {
            true => paper::attribute(layout, &column.of, cell),
            false => attribute(layout, column, cell),
        };
        Some((column.name.clone(), value?))
    });
    item.extend(outside);
    Some(item)
}

fn keys(table: &DynamoTable, cells: &[Value]) -> Option<Item> {
    let one = |key: &super::schema::Key| {
        let own: Vec<&Value> = key.columns.iter().filter_map(|&index| cells.get(index)).collect();
        Some((key.name.clone(), key_value(table, key, &own)?))
    };
    table.keys().map(one).collect()
}

fn block_items(
    layout: &Layout,
    table: &DynamoTable,
    own: &Table,
    system: &System,
    block: &Block,
) -> Vec<Item> {
    let cells = layout.block_cells(own, block);
    let (Some(mut item), Some(key)) = (row_item(layout, table, &cells), keys(table, &cells)) else {
        return Vec::new();
    };
    let expires = expiry::of_block(system, block);
    item.extend(expires.clone());
    if !table.faithful {
        item.push((system.version.clone(), Dynamo::N(block.version.to_string())));
        item.push((system.rest.clone(), Dynamo::B(block.system.clone())));
        if block.fields.root.is_some() {
            let name = layout.class_name(own, block).map_or_else(|| root_name(layout, table), str::to_owned);
            item.push((system.class.clone(), Dynamo::S(name)));
        }
    }
    let held = |(path, value): (&AccessPath, &Value)| {
        let made = match layout.at(own, path).filter(|_| table.faithful) {
            Some((of, _)) => paper::inside(&layout.conceptual, &of, value),
            None => nested(&layout.entry_tree(own, path, value)),
        };
        (path.clone(), made)
    };
    let entries = block.entries.iter().map(held);
    match &system.entries {
        Entries::Inside => vec![item],
        Entries::Attributes => {
            item.extend(entries.map(|(path, value)| (entry_name(table, &path), value)));
            vec![item]
        }
        Entries::Items { value: name } => {
            let one = |(path, value): (AccessPath, Dynamo)| {
                let mut item: Item = key.iter().take(1).cloned().collect();
                item.extend(table.sort.iter().filter_map(|sort| {
                    let own: Vec<&Value> = sort.columns.iter().filter_map(|&at| cells.get(at)).collect();
                    Some((sort.name.clone(), item_key_value(table, sort, &own, &item_text(&path))?))
                }));
                item.push((name.clone(), value));
                item.extend(expires.clone());
                item
            };
            std::iter::once(item).chain(entries.map(one)).collect()
        }
    }
}

/// The attribute of an entry: its path, behind a `/` that no other attribute has.
pub(super) fn entry_name(table: &DynamoTable, path: &AccessPath) -> String {
    if table.faithful { path.to_string() } else { format!("/{path}") }
}

/// The class of most of a master's aggregates.
pub(super) fn root_name(layout: &Layout, table: &DynamoTable) -> String {
    let root = layout.design.collections[table.collection].source.root;
    layout.conceptual.classes[root].name.clone()
}

/// The records of some items of one table. What is left of a deleted row is none.
pub fn samples(layout: &Layout, table: &DynamoTable, items: &[Item]) -> Result<Vec<Sample>, ValueError> {
    let Some(own) = layout.table(table.collection) else { return Ok(Vec::new()) };
    let Some(system) = &table.system else {
        let gone = |item: &&Item| {
            table.stamps.as_ref().is_some_and(|stamps| item.iter().any(|(name, _)| *name == stamps.gone))
        };
        let rows = items.iter().filter(|item| !gone(item));
        return rows
            .map(|item| Ok(Sample::Row { table: table.collection, cells: cells(layout, table, item)? }))
            .collect();
    };
    let mut blocks: Vec<Block> = Vec::new();
    let is_own = |item: &&Item| {
        let key = table.sort.as_ref().and_then(|sort| find(item, &sort.name));
        key.is_none_or(|key| table.is_own_key(key))
    };
    for item in items.iter().filter(is_own) {
        let cells = cells(layout, table, item)?;
        let class = find(item, &system.class).and_then(text);
        let (identity, root) = layout.root(own, &cells, class)?;
        if blocks.last().is_none_or(|block| block.identity != identity) {
            let fields = Fields { root: None };
            let (system, entries) = (Vec::new(), BTreeMap::new());
            let there = Fields { root: class.map(|_| root.clone()) };
            let carried = layout.carried(own, &cells, &there)?;
            blocks.push(Block { identity, version: 0, system, fields, entries, carried, expires: None });
        }
        if let Some(block) = blocks.last_mut() {
            piece(layout, table, own, system, item, class.map(|_| root), block)?;
        }
    }
    Ok(blocks
        .into_iter()
        .map(|block| Sample::Block { table: table.collection, block: Box::new(block) })
        .collect())
}

/// Puts what an item holds into its aggregate.
fn piece(
    layout: &Layout,
    table: &DynamoTable,
    own: &Table,
    system: &System,
    item: &Item,
    root: Option<Record>,
    block: &mut Block,
) -> Result<(), ValueError> {
    let sort = table.sort.as_ref().and_then(|sort| Some((sort, find(item, &sort.name)?)));
    let which = sort.and_then(|(sort, value)| item_back(table, sort, value));
    let path = which.map_or_else(|| Ok(AccessPath::default()), |which| item_path(&which))?;
    if let (false, Entries::Items { value }) = (path.0.is_empty(), &system.entries) {
        let value = find(item, value).ok_or_else(|| ValueError(format!("`{path}` holds nothing")))?;
        block.entries.insert(path.clone(), entry(layout, own, &path, value)?);
        return Ok(());
    }
    if let Some(Dynamo::N(digits)) = find(item, &system.version) {
        block.version = digits.parse().map_err(|_| ValueError(format!("`{digits}` is no version")))?;
    }
    if let Some(Dynamo::B(bytes)) = find(item, &system.rest) {
        block.system.clone_from(bytes);
    }
    block.fields.root = root;
    if system.entries == Entries::Attributes {
        for (name, value) in item {
            let Some(text) = name.strip_prefix('/') else { continue };
            let path: AccessPath = text.parse().map_err(|error| ValueError(format!("{error}")))?;
            block.entries.insert(path.clone(), entry(layout, own, &path, value)?);
        }
    }
    Ok(())
}

fn find<'i>(item: &'i Item, name: &str) -> Option<&'i Dynamo> {
    item.iter().find(|(own, _)| own == name).map(|(_, value)| value)
}

fn text(value: &Dynamo) -> Option<&str> {
    if let Dynamo::S(text) = value { Some(text) } else { None }
}

/// A value for each column.
fn cells(layout: &Layout, table: &DynamoTable, item: &Item) -> Result<Vec<Value>, ValueError> {
    let mut cells = vec![Value::Null; table.attributes.len()];
    for key in table.keys().filter(|key| key.kind != KeyKind::Item) {
        let value = find(item, &key.name).and_then(|value| key_back(table, key, value));
        let value = value.ok_or_else(|| ValueError(format!("`{}` is no key of {}", key.name, table.name)))?;
        for (&index, value) in key.columns.iter().zip(value) {
            if let Some(cell) = cells.get_mut(index) {
                *cell = value;
            }
        }
    }
    for (index, column) in table.outside() {
        let (Some(cell), Some(value)) = (cells.get_mut(index), find(item, &column.name)) else { continue };
        let value = &if column.filled { emptied(value) } else { value.clone() };
        *cell = match &column.of.holds {
            Holds::Tree { of, many } => back(&layout.conceptual, of, *many, value)?,
            Holds::Scalar(_) | Holds::Ordinal | Holds::Locator => {
                let ty = column.of.holds.scalar().unwrap_or(&Type::Text);
                plain(value, ty)?
            }
        };
    }
    Ok(cells)
}

fn plain(value: &Dynamo, ty: &Type) -> Result<Value, ValueError> {
    leaf_back(value, ty).ok_or_else(|| ValueError(format!("{value:?} is no {ty}")))
}

fn entry(layout: &Layout, own: &Table, path: &AccessPath, value: &Dynamo) -> Result<Value, ValueError> {
    let (of, many) = layout.at(own, path).ok_or_else(|| ValueError(format!("there is no `{path}`")))?;
    back(&layout.conceptual, &of, many, value)
}

/// A nested value.
fn back(conceptual: &Conceptual, of: &TreeOf, many: bool, value: &Dynamo) -> Result<Value, ValueError> {
    if *value == Dynamo::Null {
        return Ok(Value::Null);
    }
    if !many {
        return one(conceptual, of, value);
    }
    let (items, ordinals) = elements(value)?;
    if let TreeOf::Identity(class) = of {
        let ids: Result<BTreeSet<Identity>, ValueError> =
            items.iter().map(|item| identity(conceptual, *class, item)).collect();
        return ids.map(Value::Set);
    }
    let mut elements = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let ordinal = ordinals.get(index).copied().unwrap_or(index as u64);
        elements.push(Element { ordinal, value: one(conceptual, of, item)? });
    }
    Ok(Value::List(elements))
}

fn elements(value: &Dynamo) -> Result<(Vec<Dynamo>, Vec<u64>), ValueError> {
    match value {
        Dynamo::L(items) => Ok((items.clone(), Vec::new())),
        Dynamo::Ss(texts) => Ok((texts.iter().cloned().map(Dynamo::S).collect(), Vec::new())),
        Dynamo::Ns(digits) => Ok((digits.iter().cloned().map(Dynamo::N).collect(), Vec::new())),
        Dynamo::M(fields) => match (find(fields, ELEMENTS), find(fields, ORDINALS)) {
            (Some(Dynamo::L(items)), Some(Dynamo::L(ordinals))) => {
                let ordinal = |digits: &Dynamo| match digits {
                    Dynamo::N(digits) => digits.parse().ok(),
                    _other => None,
                };
                Ok((items.clone(), ordinals.iter().filter_map(ordinal).collect()))
            }
            (_, _) => Err(ValueError("this is no list".to_owned())),
        },
        Dynamo::S(_) | Dynamo::N(_) | Dynamo::B(_) | Dynamo::Bool(_) | Dynamo::Null => {
            Err(ValueError("this is no list".to_owned()))
        }
    }
}

fn one(conceptual: &Conceptual, of: &TreeOf, value: &Dynamo) -> Result<Value, ValueError> {
    match of {
        TreeOf::Basic(ty) => plain(value, ty),
        TreeOf::Identity(class) => identity(conceptual, *class, value).map(Value::Reference),
        TreeOf::Instance(class) => record(conceptual, *class, value).map(|r| Value::Record(Box::new(r))),
    }
}

fn identity(conceptual: &Conceptual, class: ClassId, value: &Dynamo) -> Result<Identity, ValueError> {
    let types = identity_types(conceptual, class);
    match (types.as_slice(), value) {
        ([ty], value) => Ok(vec![plain(value, ty)?]),
        (types, Dynamo::L(parts)) if types.len() == parts.len() => {
            parts.iter().zip(types).map(|(part, ty)| plain(part, ty)).collect()
        }
        (_, _) => Err(ValueError(format!("this is no id of {}", conceptual.classes[class].name))),
    }
}

fn record(conceptual: &Conceptual, declared: ClassId, value: &Dynamo) -> Result<Record, ValueError> {
    let Dynamo::M(fields) = value else { return Err(ValueError("this is no map".to_owned())) };
    let class = match find(fields, CLASS).and_then(text) {
        Some(name) => class_named(conceptual, declared, name)?,
        None => declared,
    };
    let mut record = Record::new(class);
    if let Some(id) = find(fields, ID)
        && let Value::Uuid(id) = plain(id, &Type::Uuid)?
    {
        record.surrogate = Some(id);
    }
    for member in conceptual.all_members(class) {
        let Some(value) = find(fields, conceptual.member_name(member)) else { continue };
        let of = TreeOf::member(conceptual, member);
        record.set(member, back(conceptual, &of, is_many(conceptual, member), value)?);
    }
    Ok(record)
}

impl Dynamo {
    /// From the JSON of requests and answers: `{"S": "mary"}`.
    #[must_use]
    pub fn from_json(json: &Json) -> Option<Self> {
        let (tag, value) = json.as_object()?.iter().next()?;
        let texts = |value: &Json| -> Option<Vec<String>> {
            value.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
        };
        Some(match tag.as_str() {
            "S" => Self::S(value.as_str()?.to_owned()),
            "N" => Self::N(value.as_str()?.to_owned()),
            "B" => Self::B(STANDARD.decode(value.as_str()?).ok()?),
            "BOOL" => Self::Bool(value.as_bool()?),
            "NULL" => Self::Null,
            "L" => Self::L(value.as_array()?.iter().map(Self::from_json).collect::<Option<_>>()?),
            "M" => Self::M(item_from_json(value)?),
            "SS" => Self::Ss(texts(value)?),
            "NS" => Self::Ns(texts(value)?),
            _unknown => return None,
        })
    }

    /// How many bytes of an item it takes, as AWS counts them.
    #[must_use]
    pub fn size(&self) -> usize {
        match self {
            Self::S(text) => text.len(),
            // At most: two digits take a byte, and one or two more are for the rest.
            Self::N(digits) => digits.len().div_ceil(2) + 2,
            Self::B(bytes) => bytes.len(),
            Self::Bool(_) | Self::Null => 1,
            Self::L(items) => 3 + items.iter().map(|item| 1 + item.size()).sum::<usize>(),
            Self::M(fields) => {
                3 + fields.iter().map(|(name, field)| 1 + name.len() + field.size()).sum::<usize>()
            }
            Self::Ss(texts) => texts.iter().map(String::len).sum(),
            Self::Ns(numbers) => numbers.iter().map(|digits| digits.len().div_ceil(2) + 2).sum(),
        }
    }
}

/// An item from the JSON of an answer.
#[must_use]
pub fn item_from_json(json: &Json) -> Option<Item> {
    let fields = json.as_object()?.iter();
    fields.map(|(name, value)| Some((name.clone(), Dynamo::from_json(value)?))).collect()
}

/// Why an item cannot be stored: a key or the whole is longer than DynamoDB takes. Nothing if it can.
#[must_use]
pub fn too_large(table: &DynamoTable, item: &Item) -> Option<String> {
    const PARTITION: usize = 2_048;
    const ITEM: usize = 400 << 10;
    let limits = [(Some(&table.partition), PARTITION), (table.sort.as_ref(), super::key::LONGEST)];
    for (key, most) in limits {
        let size = key.and_then(|key| find(item, &key.name)).map_or(0, Dynamo::size);
        if let Some(key) = key.filter(|_| size > most) {
            return Some(format!("`{}` has {size} bytes, and a key of its kind at most {most}", key.name));
        }
    }
    let sizes = item.iter().map(|(name, value)| (name, name.len() + value.size()));
    let size: usize = sizes.clone().map(|(_, size)| size).sum();
    let (largest, _) = sizes.max_by_key(|(_, size)| *size)?;
    let most = format!("most of them in `{largest}`");
    (size > ITEM).then(|| format!("the item has {size} bytes, {most}, and one of DynamoDB at most {ITEM}"))
}
