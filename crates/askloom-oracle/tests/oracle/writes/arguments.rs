//! The arguments of a write, as JSON and as SQL binds them.

use super::blueprint::Blueprint;
use super::scalar::Scalar;
use super::statement::{RandomWrite, Wanted};
use rusqlite::types::Value as Sql;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
pub(super) struct Arguments {
    pub(super) json: Map<String, Json>,
}

impl Arguments {
    pub(super) fn get(&self, name: &str) -> &Json {
        self.json.get(name).unwrap_or(&Json::Null)
    }

    /// Single values and identifiers by the names that statements in SQL have for them.
    pub(super) fn values(&self, blueprint: &Blueprint, write: &RandomWrite) -> BTreeMap<String, Sql> {
        let mut values = BTreeMap::new();
        for parameter in &write.parameters {
            let (name, json) = (&parameter.name, self.get(&parameter.name));
            match parameter.wanted {
                Wanted::Value(scalar) => {
                    values.insert(name.clone(), scalar.sql(json));
                }
                Wanted::Key { class, column } => {
                    values.insert(name.clone(), blueprint.key_scalars(class)[column].sql(json));
                }
                Wanted::Rank => {
                    values.insert(name.clone(), Scalar::Long.sql(json));
                }
                Wanted::Identity(_) | Wanted::KeyReference { .. } => {
                    let class = parameter.wanted.identity(blueprint).unwrap().class;
                    let names = blueprint.key_columns(class, &format!("{name}__"));
                    values.extend(names.into_iter().zip(blueprint.identity(class, json)));
                }
                Wanted::Whole(_) => {}
            }
        }
        values
    }
}
