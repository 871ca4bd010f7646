//! Values: JSON as in data files, in UTF-8.

use super::schema::Pairs;
use askloom_model::{Type, Value, to_json};
use askloom_plan::layout::{Block, Column, Layout, Table};
use serde_json::{Map, Value as Json};

/// A value of a column as JSON.
pub(super) fn json(layout: &Layout, column: &Column, value: &Value) -> Json {
    column.tree(&layout.conceptual, value).to_json()
}

/// The fields of a record that are in its value, the null ones left out.
pub(super) fn object<'c>(layout: &Layout, cells: impl IntoIterator<Item = (&'c Column, &'c Value)>) -> Json {
    let filled = cells.into_iter().filter(|(_, value)| !value.is_null());
    let fields: Map<String, Json> =
        filled.map(|(column, value)| (column.name.clone(), json(layout, column, value))).collect();
    Json::Object(fields)
}

/// What the system keeps of an aggregate. Without a class the aggregate is deleted.
pub(super) fn system(version: Json, class: Option<&str>, rest: &[u8]) -> Json {
    let mut fields = Map::new();
    fields.insert("n".to_owned(), version);
    if let Some(class) = class {
        fields.insert("class".to_owned(), Json::from(class));
    }
    if !rest.is_empty() {
        fields.insert("system".to_owned(), to_json(&Value::Blob(rest.to_vec()), &Type::Blob));
    }
    Json::Object(fields)
}

/// The name of an aggregate's class.
pub(super) fn class_name(layout: &Layout, pairs: &Pairs, table: &Table, block: Option<&Block>) -> String {
    let root = layout.design.collections[pairs.collection].source.root;
    let own = block.and_then(|block| layout.class_name(table, block));
    own.unwrap_or(&layout.conceptual.classes[root].name).to_owned()
}
