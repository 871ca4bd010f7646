//! Random arguments. A write of the beginning is careful, so that there is something to change; later ones are careless,
//! so that every rule is broken now and then.

use super::arguments::Arguments;
use super::blueprint::{Attribute, Blueprint, ClassKind, Extent, KeyMember, Reference, Size};
use super::scalar::Scalar;
use super::statement::{RandomWrite, Statement, Wanted};
use askloom_oracle::Random;
use rusqlite::Connection;
use rusqlite::types::Value as Sql;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Care {
    Careful,
    Careless,
}

impl Arguments {
    /// Values for a write, mostly of instances that exist.
    pub(super) fn random(
        blueprint: &Blueprint,
        database: &Connection,
        write: &RandomWrite,
        care: Care,
        random: &mut Random,
    ) -> Self {
        let mut draw = ArgumentDraw { blueprint, database, care, focus: BTreeMap::new(), random };
        let mut json = Map::new();
        for statement in &write.statements {
            if let Statement::Insert(extent) | Statement::Upsert(extent) | Statement::Store(extent) =
                statement
            {
                draw.fields(*extent, &mut json);
            }
        }
        for parameter in &write.parameters {
            if !draw.slips(0.005) {
                json.insert(parameter.name.clone(), draw.parameter(parameter.wanted));
            }
        }
        if draw.slips(0.005) {
            json.insert("unheard".to_owned(), json!(1));
        }
        Self { json }
    }
}

struct ArgumentDraw<'a> {
    blueprint: &'a Blueprint,
    database: &'a Connection,
    care: Care,
    /// The instance of each class that a write is about.
    focus: BTreeMap<usize, Option<Vec<Json>>>,
    random: &'a mut Random,
}

impl ArgumentDraw<'_> {
    /// Whether a mistake is made, of those that are made with that probability.
    fn slips(&mut self, probability: f64) -> bool {
        self.care == Care::Careless && self.random.chance(probability)
    }

    fn parameter(&mut self, wanted: Wanted) -> Json {
        if self.random.chance(0.05) {
            return Json::Null;
        }
        match wanted {
            Wanted::Value(scalar) if self.slips(0.006) => scalar.misfit(),
            Wanted::Value(scalar) => scalar.value(self.random),
            Wanted::Key { class, column } => self.focused(class)[column].clone(),
            Wanted::KeyReference { class, reference } => {
                let columns = self.blueprint.key_columns(class, "");
                let own = self.blueprint.reference_columns(class, reference, "");
                let start = columns.iter().position(|column| *column == own[0]).unwrap();
                whole(self.focused(class)[start..start + own.len()].to_vec())
            }
            Wanted::Identity(_) if self.slips(0.006) => json!("?"),
            Wanted::Identity(extent) => self.identity(extent, 0.88),
            Wanted::Whole(_) if self.slips(0.006) => json!([]),
            Wanted::Whole(class) => Json::Object(self.record(class)),
            Wanted::Rank => json!(self.random.between(-1, 3)),
        }
    }

    /// The key of the instance that a write is about, or at times of another.
    fn focused(&mut self, class: usize) -> Vec<Json> {
        match self.focus(class) {
            Some(key) if self.random.chance(0.9) => key,
            Some(_) | None => self.identity_parts(Extent { class, sub: false }, 0.5),
        }
    }

    fn focus(&mut self, class: usize) -> Option<Vec<Json>> {
        if !self.focus.contains_key(&class) {
            let keys = self.keys(Extent { class, sub: false });
            let focus = self.random.pick(&keys).cloned();
            self.focus.insert(class, focus);
        }
        self.focus[&class].clone()
    }

    fn identity(&mut self, extent: Extent, existing: f64) -> Json {
        whole(self.identity_parts(extent, existing))
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
        scalars.iter().map(|&scalar| self.key_value(scalar, scalars.len())).collect()
    }

    fn key_value(&mut self, scalar: Scalar, columns: usize) -> Json {
        match scalar {
            Scalar::Text => json!(self.random.pick(&["x", "y"]).unwrap()),
            _number => json!(self.random.between(0, if columns > 1 { 2 } else { 6 })),
        }
    }

    fn keys(&self, extent: Extent) -> Vec<Vec<Json>> {
        self.keys_where(extent.class, if extent.sub { "cls = 1" } else { "TRUE" })
    }

    /// The keys of the part entities that the instance which a write is about has.
    fn keys_of_own_parts(&mut self, part: usize) -> Vec<Vec<Json>> {
        let owner = self.blueprint.classes[part].owner.map(|(owner, _)| owner);
        let Some(owner) = owner.filter(|&owner| self.blueprint.classes[owner].is_entity()) else {
            return Vec::new();
        };
        let Some(key) = self.focus(owner) else { return Vec::new() };
        let own = self.key_is(owner, &key);
        let table = &self.blueprint.classes[owner].name;
        self.keys_where(part, &format!("o IN (SELECT rid FROM {table} WHERE {own})"))
    }

    fn key_is(&self, class: usize, key: &[Json]) -> String {
        let columns = self.blueprint.key_columns(class, "");
        let scalars = self.blueprint.key_scalars(class);
        let values = scalars.iter().zip(key).map(|(scalar, value)| scalar.sql_literal(value));
        Blueprint::same(&columns, &values.collect::<Vec<_>>())
    }

    fn keys_where(&self, class: usize, condition: &str) -> Vec<Vec<Json>> {
        let columns = self.blueprint.key_columns(class, "");
        let table = &self.blueprint.classes[class].name;
        let sql = format!("SELECT {0} FROM {table} WHERE {condition} ORDER BY {0}", columns.join(", "));
        let mut statement = self.database.prepare_cached(&sql).unwrap();
        let rows = statement.query_map([], |row| (0..columns.len()).map(|column| row.get(column)).collect());
        let rows: Vec<Vec<Sql>> = rows.unwrap().map(Result::unwrap).collect();
        rows.into_iter().map(|row| row.into_iter().map(key_json).collect()).collect()
    }

    /// The parameters of an INSERT, UPSERT or STORE.
    fn fields(&mut self, extent: Extent, fields: &mut Map<String, Json>) {
        let class = &self.blueprint.classes[extent.class];
        let keys = self.keys(Extent { sub: false, ..extent });
        let existing = self.random.pick(&keys).cloned();
        let existing = existing.filter(|_| self.care == Care::Careless && self.random.chance(0.5));
        if let Some(key) = &existing {
            self.focus.insert(extent.class, Some(key.clone()));
        }
        self.members(extent, fields);
        match &existing {
            Some(key) => self.key_of(extent.class, key, fields),
            None => {
                for _ in 0..8 {
                    self.new_key(extent.class, fields);
                    if !keys.contains(&self.blueprint.key_of_fields(extent.class, fields)) {
                        break;
                    }
                }
            }
        }
        for (name, _) in class.key.iter().filter_map(KeyMember::plain) {
            if self.slips(0.005) {
                fields.insert(name.to_owned(), Json::Null);
            } else if self.slips(0.005) {
                fields.remove(name);
            }
        }
        if class.kind == ClassKind::ImmutableRoot
            && let Some(key) = existing.filter(|_| self.random.chance(0.6))
        {
            self.as_it_is(extent, fields, &key);
        }
    }

    fn new_key(&mut self, class: usize, fields: &mut Map<String, Json>) {
        let row = &self.blueprint.classes[class];
        for member in &row.key {
            let (name, value) = match member {
                KeyMember::Plain(name, scalar) => (name, self.key_value(*scalar, row.key.len())),
                KeyMember::Reference(number) => {
                    let reference = &row.references[*number];
                    (&reference.name, self.target(reference))
                }
            };
            fields.insert(name.clone(), value);
        }
    }

    fn key_of(&mut self, class: usize, key: &[Json], fields: &mut Map<String, Json>) {
        let row = &self.blueprint.classes[class];
        let mut columns = key.iter().cloned();
        for member in &row.key {
            match member {
                KeyMember::Plain(name, _) => fields.insert(name.clone(), columns.next().unwrap()),
                KeyMember::Reference(number) => {
                    let count = self.blueprint.reference_columns(class, *number, "").len();
                    let id = whole(columns.by_ref().take(count).collect());
                    fields.insert(row.references[*number].name.clone(), id)
                }
            };
        }
    }

    /// Replaces single values by those that an instance has, so that UPSERT of an immutable entity finds it the same.
    fn as_it_is(&mut self, extent: Extent, fields: &mut Map<String, Json>, key: &[Json]) {
        let class = &self.blueprint.classes[extent.class];
        let same = self.key_is(extent.class, key);
        let row = |columns: &str, from: &str| -> Vec<Vec<Sql>> {
            let sql = format!("SELECT {columns} FROM {from}");
            let mut statement = self.database.prepare_cached(&sql).unwrap();
            let count = statement.column_count();
            let rows =
                statement.query_map([], |row| (0..count).map(|column| row.get(column)).collect()).unwrap();
            rows.map(Result::unwrap).collect()
        };
        let own = format!("{} WHERE {same}", class.name);
        for attribute in &class.attributes {
            let value = row(&attribute.name, &own)[0][0].clone();
            match value {
                Sql::Null => drop(fields.remove(&attribute.name)),
                value => drop(fields.insert(attribute.name.clone(), attribute.scalar.json(&value))),
            }
        }
        for (number, reference) in class.references.iter().enumerate().filter(|(_, r)| !r.size.is_many()) {
            let columns = self.blueprint.reference_columns(extent.class, number, "");
            let values = row(&columns.join(", "), &own)[0].clone();
            match &values[0] {
                Sql::Null => drop(fields.remove(&reference.name)),
                _there => {
                    fields.insert(reference.name.clone(), whole(values.into_iter().map(key_json).collect()));
                }
            }
        }
        for list in &class.lists {
            let elements =
                format!("{0}_{1} WHERE o = (SELECT rid FROM {own}) ORDER BY ord", class.name, list.name);
            let values = row("v", &elements).iter().map(|row| list.scalar.json(&row[0])).collect();
            fields.insert(list.name.clone(), Json::Array(values));
        }
    }

    fn members(&mut self, extent: Extent, fields: &mut Map<String, Json>) {
        let class = &self.blueprint.classes[extent.class];
        for attribute in class.attributes.iter().filter(|attribute| extent.sub || !attribute.sub) {
            if let Some(value) = self.attribute(attribute) {
                fields.insert(attribute.name.clone(), value);
            }
        }
        for list in class.lists.iter().filter(|list| extent.sub || !list.sub) {
            if self.random.chance(0.6) {
                let count = self.length(list.max);
                let values = (0..count).map(|_| list.scalar.value(self.random)).collect();
                fields.insert(list.name.clone(), Json::Array(values));
            }
        }
        for part in &class.parts {
            if let Some(given) = self.wanted(part.size, 0.6) {
                let value = match given {
                    Given::Null => Json::Null,
                    Given::One => Json::Object(self.record(part.class)),
                    Given::Several(count) => {
                        (0..count).map(|_| Json::Object(self.record(part.class))).collect()
                    }
                };
                fields.insert(part.name.clone(), value);
            }
        }
        for reference in class.references.iter().filter(|reference| extent.sub || !reference.sub) {
            if let Some(given) = self.wanted(reference.size, 0.6)
                && (self.care == Care::Careless || self.can_be_linked(reference))
            {
                let value = match given {
                    Given::Null => Json::Null,
                    Given::One => self.target(reference),
                    Given::Several(count) => (0..count).map(|_| self.target(reference)).collect(),
                };
                fields.insert(reference.name.clone(), value);
            }
        }
    }

    /// What is given for a part or a reference.
    fn wanted(&mut self, size: Size, chance: f64) -> Option<Given> {
        match size {
            Size::Required if self.slips(0.01) => None,
            Size::Optional | Size::Many { .. } if !self.random.chance(chance) => None,
            Size::Required | Size::Optional if self.slips(0.02) => Some(Given::Null),
            Size::Required | Size::Optional => Some(Given::One),
            Size::Many { bound, max } => Some(Given::Several(self.length(bound.or(max)))),
        }
    }

    /// How many elements a list is given, seldom more than it may have.
    fn length(&mut self, most: Option<u64>) -> u64 {
        let count = self.random.below(4);
        match most {
            Some(most) if !self.slips(0.15) => count.min(most),
            Some(_) | None => count,
        }
    }

    fn can_be_linked(&self, reference: &Reference) -> bool {
        !reference.integrity.is_checked()
            || reference.size == Size::Required
            || !self.keys(reference.target).is_empty()
    }

    fn target(&mut self, reference: &Reference) -> Json {
        let existing = match (self.care, reference.integrity.is_checked()) {
            (Care::Careful, true) => 1.0,
            (Care::Careful, false) | (Care::Careless, true) => 0.95,
            (Care::Careless, false) => 0.85,
        };
        self.identity(reference.target, existing)
    }

    fn attribute(&mut self, attribute: &Attribute) -> Option<Json> {
        let needed = !attribute.optional && attribute.preset.is_none();
        let left_out = if needed { self.slips(0.01) } else { self.random.chance(0.35) };
        if left_out {
            return None;
        }
        let null = if attribute.optional { self.random.chance(0.1) } else { self.slips(0.01) };
        if null {
            return Some(Json::Null);
        }
        let rare = attribute.unique && (self.care == Care::Careful || self.random.chance(0.6));
        Some(match rare {
            true => attribute.scalar.rare_value(self.random),
            false if self.slips(0.005) => attribute.scalar.misfit(),
            false => attribute.scalar.value(self.random),
        })
    }

    /// A part.
    fn record(&mut self, class: usize) -> Map<String, Json> {
        let mut fields = Map::new();
        self.members(Extent { class, sub: false }, &mut fields);
        // The key of a part entity is one number.
        for (name, _) in self.blueprint.classes[class].key.iter().filter_map(KeyMember::plain) {
            let own = if self.slips(0.45) { self.keys_of_own_parts(class) } else { Vec::new() };
            let value = match self.random.pick(&own) {
                Some(key) => whole(key.clone()),
                None if self.slips(0.25) => self.identity(Extent { class, sub: false }, 0.7),
                None => json!(self.random.between(0, 40)),
            };
            fields.insert(name.to_owned(), value);
        }
        fields
    }
}

#[derive(Debug)]
enum Given {
    Null,
    One,
    Several(u64),
}

/// An identifier as JSON has it.
fn whole(mut parts: Vec<Json>) -> Json {
    if parts.len() == 1 { parts.remove(0) } else { Json::Array(parts) }
}

fn key_json(value: Sql) -> Json {
    match value {
        Sql::Integer(number) => json!(number),
        Sql::Text(text) => json!(text),
        Sql::Null | Sql::Real(_) | Sql::Blob(_) => Json::Null,
    }
}

impl Blueprint {
    /// The key that the fields of an instance make.
    fn key_of_fields(&self, class: usize, fields: &Map<String, Json>) -> Vec<Json> {
        let row = &self.classes[class];
        let parts = row.key.iter().flat_map(|member| match member {
            KeyMember::Plain(name, _) => vec![fields[name].clone()],
            KeyMember::Reference(number) => match &fields[&row.references[*number].name] {
                Json::Array(parts) => parts.clone(),
                one => vec![one.clone()],
            },
        });
        parts.collect()
    }
}
