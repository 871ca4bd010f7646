//! Random arguments of a write, as JSON and as SQL binds them.

use super::blueprint::{Attribute, Blueprint, ClassKind, Extent, KeyMember, Size};
use super::scalar::Scalar;
use super::statement::{RandomWrite, Statement, Wanted};
use askloom_oracle::Random;
use rusqlite::Connection;
use rusqlite::types::Value as Sql;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
pub(super) struct Arguments {
    pub(super) json: Map<String, Json>,
}

impl Arguments {
    /// Values for a write, mostly of instances that exist.
    pub(super) fn random(
        blueprint: &Blueprint,
        database: &Connection,
        write: &RandomWrite,
        random: &mut Random,
    ) -> Self {
        let mut draw = ArgumentDraw { blueprint, database, random };
        let mut json = Map::new();
        for statement in &write.statements {
            if let Statement::Insert(extent) | Statement::Upsert(extent) | Statement::Store(extent) =
                statement
            {
                draw.fields(*extent, &mut json);
            }
        }
        for parameter in &write.parameters {
            if !draw.random.chance(0.005) {
                json.insert(parameter.name.clone(), draw.parameter(parameter.wanted));
            }
        }
        if draw.random.chance(0.005) {
            json.insert("unheard".to_owned(), json!(1));
        }
        Self { json }
    }

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
                Wanted::Identity(extent) => {
                    let names = blueprint.key_columns(extent.class, &format!("{name}__"));
                    values.extend(names.into_iter().zip(blueprint.identity(extent.class, json)));
                }
                Wanted::Whole(_) => {}
            }
        }
        values
    }
}

struct ArgumentDraw<'a> {
    blueprint: &'a Blueprint,
    database: &'a Connection,
    random: &'a mut Random,
}

impl ArgumentDraw<'_> {
    fn parameter(&mut self, wanted: Wanted) -> Json {
        if self.random.chance(0.06) {
            return Json::Null;
        }
        match wanted {
            Wanted::Value(scalar) if self.random.chance(0.006) => scalar.misfit(),
            Wanted::Value(scalar) => scalar.value(self.random),
            Wanted::Key { class, column } => {
                self.identity_parts(Extent { class, sub: false }, 0.85)[column].clone()
            }
            Wanted::Identity(_) if self.random.chance(0.006) => json!("?"),
            Wanted::Identity(extent) => self.identity(extent, 0.8),
            Wanted::Whole(_) if self.random.chance(0.006) => json!([]),
            Wanted::Whole(class) => Json::Object(self.record(class)),
            Wanted::Rank => json!(self.random.between(-1, 3)),
        }
    }

    fn identity(&mut self, extent: Extent, existing: f64) -> Json {
        let mut parts = self.identity_parts(extent, existing);
        if parts.len() == 1 { parts.remove(0) } else { Json::Array(parts) }
    }

    /// The identifier of an instance that exists, with that probability if there is one.
    fn identity_parts(&mut self, extent: Extent, existing: f64) -> Vec<Json> {
        if self.random.chance(existing)
            && let keys = self.keys(extent)
            && let Some(key) = self.random.pick(&keys)
        {
            return key.clone();
        }
        let scalars = self.blueprint.key_scalars(extent.class);
        let few = if scalars.len() > 1 { 2 } else { 5 };
        scalars.iter().map(|&scalar| self.key_value(scalar, few)).collect()
    }

    fn key_value(&mut self, scalar: Scalar, most: i64) -> Json {
        match scalar {
            Scalar::Text => json!(self.random.pick(&["x", "y"]).unwrap()),
            _number => json!(self.random.between(0, most)),
        }
    }

    fn keys(&self, extent: Extent) -> Vec<Vec<Json>> {
        let columns = self.blueprint.key_columns(extent.class, "");
        let only = if extent.sub { " WHERE cls = 1" } else { "" };
        let table = &self.blueprint.classes[extent.class].name;
        let sql = format!("SELECT {0} FROM {table}{only} ORDER BY {0}", columns.join(", "));
        let mut statement = self.database.prepare_cached(&sql).unwrap();
        let rows = statement.query_map([], |row| (0..columns.len()).map(|column| row.get(column)).collect());
        let rows: Vec<Vec<Sql>> = rows.unwrap().map(Result::unwrap).collect();
        rows.into_iter().map(|row| row.into_iter().map(to_json).collect()).collect()
    }

    /// The parameters of an INSERT, UPSERT or STORE.
    fn fields(&mut self, extent: Extent, fields: &mut Map<String, Json>) {
        let class = &self.blueprint.classes[extent.class];
        let keys = self.keys(Extent { sub: false, ..extent });
        let existing = self.random.pick(&keys).cloned().filter(|_| self.random.chance(0.5));
        let few = if class.key.len() > 1 { 2 } else { 5 };
        let columns = self.blueprint.key_columns(extent.class, "");
        for member in &class.key {
            if let KeyMember::Plain(name, scalar) = member {
                let known = existing.as_ref().and_then(|key| {
                    columns.iter().position(|column| column == name).map(|column| key[column].clone())
                });
                let value = match self.random.below(200) {
                    0 => Json::Null,
                    1 => continue,
                    _any => known.unwrap_or_else(|| self.key_value(*scalar, few)),
                };
                fields.insert(name.clone(), value);
            }
        }
        self.members(extent, fields, 0.01);
        if class.kind == ClassKind::ImmutableRoot && self.random.chance(0.6) {
            self.as_it_is(extent, fields, existing.as_deref());
        }
    }

    /// Replaces single values by those that an instance has, so that UPSERT of an immutable entity finds it the same.
    fn as_it_is(&mut self, extent: Extent, fields: &mut Map<String, Json>, key: Option<&[Json]>) {
        let (Some(key), class) = (key, &self.blueprint.classes[extent.class]) else { return };
        let columns = self.blueprint.key_columns(extent.class, "");
        let scalars = self.blueprint.key_scalars(extent.class);
        let same: Vec<String> = columns
            .iter()
            .zip(&scalars)
            .zip(key)
            .map(|((column, scalar), value)| format!("{column} = {}", scalar.sql_literal(value)))
            .collect();
        let same = same.join(" AND ");
        for attribute in &class.attributes {
            let sql = format!("SELECT {} FROM {} WHERE {same}", attribute.name, class.name);
            let value: Option<Sql> = self.database.query_row(&sql, [], |row| row.get(0)).ok();
            match value {
                Some(Sql::Null) => drop(fields.remove(&attribute.name)),
                Some(value) => drop(fields.insert(attribute.name.clone(), attribute.scalar.json(&value))),
                None => {}
            }
        }
        for (number, reference) in class.references.iter().enumerate() {
            if !reference.size.is_many() {
                let columns = self.blueprint.reference_columns(extent.class, number, "");
                let sql = format!("SELECT {} FROM {} WHERE {same}", columns.join(", "), class.name);
                let values: Option<Vec<Sql>> = self
                    .database
                    .query_row(&sql, [], |row| (0..columns.len()).map(|column| row.get(column)).collect())
                    .ok();
                if let Some(values) = values.filter(|values| values[0] != Sql::Null) {
                    let mut parts: Vec<Json> = values.into_iter().map(to_json).collect();
                    let id = if parts.len() == 1 { parts.remove(0) } else { Json::Array(parts) };
                    fields.insert(reference.name.clone(), id);
                }
            }
        }
        for list in &class.lists {
            let sql = format!(
                "SELECT v FROM {0}_{1} WHERE o = (SELECT rid FROM {0} WHERE {same}) ORDER BY ord",
                class.name, list.name
            );
            let mut statement = self.database.prepare(&sql).unwrap();
            let values = statement.query_map([], |row| row.get(0)).unwrap();
            let values: Vec<Json> = values.map(|value| list.scalar.json(&value.unwrap())).collect();
            fields.insert(list.name.clone(), Json::Array(values));
        }
    }

    fn members(&mut self, extent: Extent, fields: &mut Map<String, Json>, careless: f64) {
        let class = &self.blueprint.classes[extent.class];
        for attribute in class.attributes.iter().filter(|attribute| extent.sub || !attribute.sub) {
            if let Some(value) = self.attribute(attribute, careless) {
                fields.insert(attribute.name.clone(), value);
            }
        }
        for list in class.lists.iter().filter(|list| extent.sub || !list.sub) {
            if self.random.chance(0.5) {
                let values = (0..self.random.below(4)).map(|_| list.scalar.value(self.random)).collect();
                fields.insert(list.name.clone(), Json::Array(values));
            }
        }
        for part in &class.parts {
            let wanted = match part.size {
                Size::Required => !self.random.chance(careless),
                Size::Optional | Size::Many { .. } => self.random.chance(0.5),
            };
            if !wanted {
                continue;
            }
            let value = match part.size {
                Size::Many { .. } => {
                    (0..self.random.below(4)).map(|_| Json::Object(self.record(part.class))).collect()
                }
                Size::Required | Size::Optional if self.random.chance(careless * 3.0) => Json::Null,
                Size::Required | Size::Optional => Json::Object(self.record(part.class)),
            };
            fields.insert(part.name.clone(), value);
        }
        for reference in class.references.iter().filter(|reference| extent.sub || !reference.sub) {
            let wanted = match reference.size {
                Size::Required => !self.random.chance(careless),
                Size::Optional | Size::Many { .. } => self.random.chance(0.5),
            };
            if !wanted {
                continue;
            }
            let value = match reference.size {
                Size::Many { .. } => {
                    (0..self.random.below(4)).map(|_| self.identity(reference.target, 0.9)).collect()
                }
                Size::Required | Size::Optional if self.random.chance(careless * 2.0) => Json::Null,
                Size::Required | Size::Optional => self.identity(reference.target, 0.9),
            };
            fields.insert(reference.name.clone(), value);
        }
    }

    fn attribute(&mut self, attribute: &Attribute, careless: f64) -> Option<Json> {
        let needed = !attribute.optional && attribute.preset.is_none();
        let wanted = if needed { !self.random.chance(careless) } else { self.random.chance(0.6) };
        if !wanted {
            return None;
        }
        let null = if attribute.optional { 0.1 } else { careless };
        Some(match self.random.chance(null) {
            true => Json::Null,
            false if self.random.chance(careless / 2.0) => attribute.scalar.misfit(),
            false => attribute.scalar.value(self.random),
        })
    }

    /// A part.
    fn record(&mut self, class: usize) -> Map<String, Json> {
        let mut fields = Map::new();
        // The key of a part entity is one number.
        for (name, _) in self.blueprint.classes[class].key.iter().filter_map(KeyMember::plain) {
            let value = match self.random.chance(0.3) {
                true => self.identity(Extent { class, sub: false }, 0.7),
                false => json!(self.random.between(0, 15)),
            };
            fields.insert(name.to_owned(), value);
        }
        self.members(Extent { class, sub: false }, &mut fields, 0.006);
        fields
    }
}

fn to_json(value: Sql) -> Json {
    match value {
        Sql::Integer(number) => json!(number),
        Sql::Text(text) => json!(text),
        Sql::Null | Sql::Real(_) | Sql::Blob(_) => Json::Null,
    }
}
