//! What every diagram shows: collections with their fields, and which copy is made of which master.

use crate::document::{CollectionDocument, Document};
use askloom_model::Role;

/// A collection as a box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) name: String,
    pub(super) role: &'static str,
    pub(super) added: bool,
    pub(super) keys: Vec<String>,
    pub(super) fields: Vec<String>,
}

/// That rows of one are kept right after the other, and for which part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
}

pub(super) struct Diagram {
    pub(super) shapes: Vec<Shape>,
    pub(super) edges: Vec<Edge>,
}

/// More fields than that are counted.
const FIELDS: usize = 12;

impl Diagram {
    /// Masters first, then what is made of them.
    pub(super) fn of(document: &Document) -> Self {
        let shapes: Vec<Shape> = document.collections.iter().map(shape).collect();
        let masters: Vec<(usize, &CollectionDocument)> =
            document.collections.iter().enumerate().filter(|(_, c)| c.role == Role::Master).collect();
        let mut edges = Vec::new();
        for (to, copy) in document.collections.iter().enumerate().filter(|(_, c)| c.role != Role::Master) {
            let from = masters.iter().find(|(_, master)| master.source.aggregate == copy.source.aggregate);
            edges.extend(from.map(|(from, _)| Edge { from: *from, to }));
        }
        Self { shapes, edges }
    }
}

fn shape(collection: &CollectionDocument) -> Shape {
    let down = |order: &str| if order == "desc" { " ↓" } else { "" };
    let block = collection.block_key.iter().map(|key| key.name.clone());
    let entry = collection.entry_key.iter().map(|key| format!("{}{}", key.name, down(key.order)));
    let mut fields: Vec<String> = collection.rules.clone();
    fields.extend(collection.whole.iter().map(|whole| match whole.as_str() {
        "" => format!("all of {}", collection.source.root),
        whole => format!("all of {whole}"),
    }));
    fields.extend(collection.value.iter().map(|field| field.name.clone()));
    let more = fields.len().saturating_sub(FIELDS);
    if more > 0 {
        fields.truncate(FIELDS);
        fields.push(format!("and {more} more"));
    }
    Shape {
        name: collection.name.clone(),
        role: match collection.role {
            Role::Master => "master",
            Role::Copy => "copy",
            Role::Index => "index",
            Role::Carried => "carried",
        },
        added: collection.is_added(),
        keys: block.chain(entry).collect(),
        fields,
    }
}
