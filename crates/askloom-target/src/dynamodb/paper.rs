//! Values as the papers print them: a reference says what it refers to, as in `Player:mary`.
//!
//! Atzeni and others, "Data Modeling in the NoSQL World", figure 7: a table for a collection, an item for a block, an
//! attribute for an entry, named by its access path.

use super::value::{Dynamo, nested};
use crate::layout::{Column, Layout, Source};
use crate::tree::{TreeOf, tree};
use askloom_model::{ClassId, Conceptual, Identity, Value, identity_to_json};
use serde_json::Value as Json;

/// The value of a member of the root.
pub(super) fn attribute(layout: &Layout<'_>, column: &Column, value: &Value) -> Option<Dynamo> {
    let made = match &column.source {
        Source::Member(member) => {
            inside(layout.conceptual, &TreeOf::member(layout.conceptual, *member), value)
        }
        Source::Path { .. } | Source::Position { .. } | Source::Node | Source::Whole(_) => {
            nested(&column.tree(layout.conceptual, value))
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
