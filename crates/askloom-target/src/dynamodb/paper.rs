//! Values as the papers print them: a reference says what it refers to, as in `Player:mary`.
//!
//! Atzeni and others, "Data Modeling in the NoSQL World", figure 7: a table for a collection, an item for a block, an
//! attribute for an entry, named by its access path.
//!
//! Li, Ma and Chen, "QODM", figure 10: an index entity of two keys is a table with the first as its hash key, the second
//! as its range key, and the ids that it leads to in a string set.

use super::item::Item;
use super::key::Order;
use super::schema::{DynamoTable, Key, KeyKind, scalar};
use super::value::{Dynamo, nested};
use askloom_model::{ClassId, Conceptual, Identity, Role, Value, identity_to_json};
use askloom_plan::layout::{Column, Layout, Place, Shape, Source, Table};
use askloom_plan::tree::{TreeOf, tree};
use serde_json::Value as Json;

/// The value of a member of the root.
pub(super) fn attribute(layout: &Layout, column: &Column, value: &Value) -> Option<Dynamo> {
    let made = match &column.source {
        Source::Member(member) => {
            inside(&layout.conceptual, &TreeOf::member(&layout.conceptual, *member), value)
        }
        Source::Path { .. } | Source::Position { .. } | Source::Node | Source::Whole(_) => {
            nested(&column.tree(&layout.conceptual, value))
        }
    };
    (made != Dynamo::Null).then_some(made)
}

pub(super) fn inside(conceptual: &Conceptual, of: &TreeOf, value: &Value) -> Dynamo {
    match (value, of) {
        (Value::Reference(id), TreeOf::Identity(class)) => Dynamo::S(reference(conceptual, *class, id)),
        (Value::Set(ids), TreeOf::Identity(class)) if !ids.is_empty() => {
            Dynamo::Ss(ids.iter().map(|id| reference(conceptual, *class, id)).collect())
        }
        (Value::List(elements), of) => {
            Dynamo::L(elements.iter().map(|element| inside(conceptual, of, &element.value)).collect())
        }
        (Value::Record(record), _) => {
            let field = |(member, value): (&askloom_model::Member, &Value)| {
                let of = TreeOf::member(conceptual, *member);
                (conceptual.member_name(*member).to_owned(), inside(conceptual, &of, value))
            };
            let fields = record.fields.iter().map(field);
            Dynamo::M(fields.filter(|(_, field)| *field != Dynamo::Null).collect())
        }
        (value, of) => nested(&tree(conceptual, of, value)),
    }
}

fn reference(conceptual: &Conceptual, class: ClassId, id: &Identity) -> String {
    let name = &conceptual.classes[class].name;
    match identity_to_json(conceptual, class, id) {
        Json::String(text) => format!("{name}:{text}"),
        other => format!("{name}:{other}"),
    }
}

/// Makes an index entity of two keys the table of the figure.
pub(super) fn group(layout: &Layout, own: &Table, table: &mut DynamoTable) -> Option<()> {
    let Shape::Rows(parts) = &own.shape else { return None };
    let ([first, second], Role::Index) = (parts.block.as_slice(), own.role) else { return None };
    let [hash] = first.columns.as_slice() else { return None };
    let range = second.columns.last()?;
    let set = own.columns.iter().rposition(|column| column.place == Place::Row)?;
    let key = |index: usize, order: Order| {
        let column = own.columns.get(index)?;
        let kind = KeyKind::Plain(scalar(column.holds.scalar()?, order));
        let name = format!("{}ID", class_name(layout, own, column)?);
        Some(Key { name, kind, columns: vec![index], order, start: String::new(), ends_in_item: false })
    };
    table.partition = key(*hash, Order::Free)?;
    table.sort = Some(key(*range, Order::Kept)?);
    for (index, attribute) in table.attributes.iter_mut().enumerate() {
        attribute.in_key = index != set;
        if index == set {
            attribute.name = format!("{}s", class_name(layout, own, &attribute.of)?);
        }
    }
    table.set = Some(set);
    Some(())
}

/// The class whose id a column holds.
fn class_name<'l>(layout: &'l Layout, own: &Table, column: &Column) -> Option<&'l str> {
    let Source::Position { position, .. } = column.source else { return None };
    let class = layout.design.collections[own.collection].source.positions[position].class?;
    Some(&layout.conceptual.classes[class].name)
}

/// Rows of one key become one item, with a set of what they lead to.
pub(super) fn grouped(rows: Vec<Item>) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for mut row in rows {
        let Some((name, Dynamo::S(id))) = row.pop() else { continue };
        let same = items.iter_mut().find(|item| item.starts_with(&row));
        match same.and_then(|item| item.last_mut()) {
            Some((_, Dynamo::Ss(ids))) => ids.push(id),
            _new => {
                row.push((name, Dynamo::Ss(vec![id])));
                items.push(row);
            }
        }
    }
    items
}
