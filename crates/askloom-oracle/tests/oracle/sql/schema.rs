//! Random models that SQL has tables for, and random data for both.

use askloom_oracle::Random;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;
use std::fmt::Write;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ty {
    Int,
    Text,
    Bool,
}

#[derive(Debug)]
pub(super) struct Schema {
    pub(super) entities: Vec<Entity>,
}

/// `id k: int`, and if it is composite `id j: text` as well.
#[derive(Debug)]
pub(super) struct Entity {
    pub(super) name: String,
    pub(super) composite: bool,
    pub(super) fields: Vec<Field>,
    pub(super) lists: Vec<Field>,
    pub(super) parts: Vec<Part>,
    pub(super) refs: Vec<Ref>,
    /// Whether there is a subclass with a field `extra: int?`.
    pub(super) subclass: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) ty: Ty,
    pub(super) optional: bool,
}

#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) many: bool,
    pub(super) fields: Vec<Field>,
    pub(super) to: Option<Ref>,
}

#[derive(Debug, Clone)]
pub(super) struct Ref {
    pub(super) name: String,
    pub(super) target: usize,
    pub(super) many: bool,
    /// The name of the other end, and whether it is to-one.
    pub(super) inverse: Option<(String, bool)>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    k: i64,
    j: Option<String>,
}

const TEXTS: [&str; 8] = ["", "a", "ab", "b", "B", "é", "😀", "it's"];

impl Schema {
    pub(super) fn random(random: &mut Random) -> Self {
        let count = 2 + random.below(2) as usize;
        let mut entities: Vec<Entity> = (0..count)
            .map(|n| Entity {
                name: format!("E{n}"),
                composite: random.chance(0.25),
                fields: fields(random, 2, 4),
                lists: (0..random.below(2))
                    .map(|l| Field { name: format!("l{l}"), ..field(random) })
                    .collect(),
                parts: Vec::new(),
                refs: Vec::new(),
                subclass: random.chance(0.3),
            })
            .collect();
        for (n, entity) in entities.iter_mut().enumerate() {
            entity.parts = (0..random.below(3))
                .map(|p| Part {
                    name: format!("p{p}"),
                    many: random.chance(0.7),
                    fields: fields(random, 1, 2),
                    to: random.chance(0.5).then(|| Ref {
                        name: "to".to_owned(),
                        target: random.below(count as u64) as usize,
                        many: false,
                        inverse: None,
                    }),
                })
                .collect();
            entity.refs = (0..1 + random.below(3))
                .map(|r| {
                    let many = random.chance(0.35);
                    let one_to_one = !many && random.chance(0.3);
                    let inverse = random.chance(0.7).then(|| (format!("i{n}_{r}"), one_to_one));
                    Ref { name: format!("r{r}"), target: random.below(count as u64) as usize, many, inverse }
                })
                .collect();
        }
        Self { entities }
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let mut values = String::new();
        for entity in &self.entities {
            let name = &entity.name;
            writeln!(text, "entity {name} {{\n  id k: int").unwrap();
            if entity.composite {
                writeln!(text, "  id j: text").unwrap();
            }
            for field in &entity.fields {
                writeln!(text, "  {}", declared(field)).unwrap();
            }
            for list in &entity.lists {
                writeln!(text, "  {}: {}[*]", list.name, word(list.ty)).unwrap();
            }
            for part in &entity.parts {
                let (class, many) = (format!("V{name}{}", part.name), if part.many { "[*]" } else { "?" });
                writeln!(text, "  part {}: {class}{many}", part.name).unwrap();
                let mut members: Vec<String> = part.fields.iter().map(declared).collect();
                members.extend(part.to.iter().map(|to| format!("ref {}: E{}?", to.name, to.target)));
                writeln!(values, "value {class} {{ {} }}", members.join(", ")).unwrap();
            }
            for reference in &entity.refs {
                let many = if reference.many { "[*]" } else { "?" };
                let inverse = match &reference.inverse {
                    None => String::new(),
                    Some((inverse, false)) => format!(" inverse {inverse}"),
                    Some((inverse, true)) => format!(" inverse {inverse}: {name}?"),
                };
                writeln!(text, "  ref {}: E{}{many}{inverse}", reference.name, reference.target).unwrap();
            }
            writeln!(text, "}}").unwrap();
            if entity.subclass {
                writeln!(text, "entity S{name} extends {name} {{ extra: int? }}").unwrap();
            }
        }
        text + &values
    }

    /// The columns of the id of an entity, with a prefix.
    pub(super) fn key_columns(&self, entity: usize, prefix: &str) -> Vec<String> {
        let composite = self.entities[entity].composite;
        let names = if composite { vec!["k", "j"] } else { vec!["k"] };
        names.iter().map(|name| format!("{prefix}{name}")).collect()
    }

    pub(super) fn tables(&self) -> String {
        let mut sql = String::new();
        for (n, entity) in self.entities.iter().enumerate() {
            let name = &entity.name;
            let mut columns = vec!["cls".to_owned(), "extra".to_owned()];
            columns.extend(self.key_columns(n, ""));
            columns.extend(entity.fields.iter().map(|field| field.name.clone()));
            for reference in entity.refs.iter().filter(|reference| !reference.many) {
                columns.extend(self.key_columns(reference.target, &format!("{}_", reference.name)));
            }
            writeln!(sql, "CREATE TABLE {name} ({});", columns.join(", ")).unwrap();
            let owner = self.key_columns(n, "o_").join(", ");
            for list in &entity.lists {
                writeln!(sql, "CREATE TABLE {name}_{} ({owner}, ord, v);", list.name).unwrap();
            }
            for part in &entity.parts {
                let mut columns: Vec<String> = part.fields.iter().map(|field| field.name.clone()).collect();
                if let Some(to) = &part.to {
                    columns.extend(self.key_columns(to.target, "to_"));
                }
                writeln!(sql, "CREATE TABLE {name}_{} ({owner}, ord, {});", part.name, columns.join(", "))
                    .unwrap();
            }
            for reference in entity.refs.iter().filter(|reference| reference.many) {
                let target = self.key_columns(reference.target, "t_").join(", ");
                writeln!(sql, "CREATE TABLE {name}_{} ({owner}, {target});", reference.name).unwrap();
            }
        }
        sql
    }
}

fn fields(random: &mut Random, least: u64, most: u64) -> Vec<Field> {
    let count = least + random.below(most - least + 1);
    (0..count).map(|n| Field { name: format!("a{n}"), ..field(random) }).collect()
}

fn field(random: &mut Random) -> Field {
    let ty = *random.pick(&[Ty::Int, Ty::Int, Ty::Text, Ty::Text, Ty::Bool]).unwrap();
    Field { name: String::new(), ty, optional: random.chance(0.6) }
}

fn declared(field: &Field) -> String {
    format!("{}: {}{}", field.name, word(field.ty), if field.optional { "?" } else { "" })
}

fn word(ty: Ty) -> &'static str {
    match ty {
        Ty::Int => "int",
        Ty::Text => "text",
        Ty::Bool => "bool",
    }
}

/// A value that is not null, from so few that there are duplicates.
pub(super) fn value(random: &mut Random, ty: Ty) -> Json {
    match ty {
        Ty::Int => json!(random.between(-2, 3)),
        Ty::Text => json!(random.pick(&TEXTS).unwrap()),
        Ty::Bool => json!(random.chance(0.5)),
    }
}

/// A value as SQL writes it.
pub(super) fn sql_literal(value: &Json) -> String {
    match value {
        Json::Null => "NULL".to_owned(),
        Json::Bool(value) => u8::from(*value).to_string(),
        Json::String(text) => format!("'{}'", text.replace('\'', "''")),
        other => other.to_string(),
    }
}

/// One instance: what is in it by name, as JSON has it.
#[derive(Debug)]
pub(super) struct Instance {
    entity: usize,
    sub: bool,
    key: Key,
    members: Map<String, Json>,
}

impl Key {
    fn json(&self) -> Json {
        match &self.j {
            Some(j) => json!([self.k, j]),
            None => json!(self.k),
        }
    }

    fn sql(json: &Json) -> String {
        match json {
            Json::Array(parts) => parts.iter().map(sql_literal).collect::<Vec<_>>().join(", "),
            single => sql_literal(single),
        }
    }
}

impl Schema {
    fn key(&self, random: &mut Random, entity: usize) -> Key {
        let j = self.entities[entity].composite.then(|| (*random.pick(&["x", "", "y"]).unwrap()).to_owned());
        Key { k: random.between(0, if j.is_some() { 3 } else { 9 }), j }
    }

    /// Mostly the id of something that exists.
    fn target(&self, random: &mut Random, entity: usize, existing: &[Vec<Key>]) -> Key {
        match random.pick(&existing[entity]) {
            Some(key) if random.chance(0.75) => key.clone(),
            _other => self.key(random, entity),
        }
    }

    pub(super) fn data(&self, random: &mut Random) -> Vec<Instance> {
        let keys: Vec<BTreeSet<Key>> = (0..self.entities.len())
            .map(|entity| (0..4 + random.below(8)).map(|_| self.key(random, entity)).collect())
            .collect();
        let existing: Vec<Vec<Key>> = keys.iter().map(|keys| keys.iter().cloned().collect()).collect();
        let mut taken: BTreeSet<(usize, usize, String)> = BTreeSet::new();
        let mut data = Vec::new();
        for (entity, keys) in keys.iter().enumerate() {
            for key in keys {
                let sub = self.entities[entity].subclass && random.chance(0.4);
                let members = self.members(random, entity, sub, &existing, &mut taken);
                data.push(Instance { entity, sub, key: key.clone(), members });
            }
        }
        data
    }

    fn members(
        &self,
        random: &mut Random,
        entity: usize,
        sub: bool,
        existing: &[Vec<Key>],
        taken: &mut BTreeSet<(usize, usize, String)>,
    ) -> Map<String, Json> {
        let row = &self.entities[entity];
        let mut members = plain(random, &row.fields);
        if sub && random.chance(0.7) {
            members.insert("extra".to_owned(), json!(random.between(-2, 3)));
        }
        for list in &row.lists {
            let values: Vec<Json> = (0..random.below(4)).map(|_| value(random, list.ty)).collect();
            members.insert(list.name.clone(), json!(values));
        }
        for part in &row.parts {
            let one = |random: &mut Random| {
                let mut members = plain(random, &part.fields);
                if let Some(to) = part.to.as_ref().filter(|_| random.chance(0.8)) {
                    members.insert("to".to_owned(), self.target(random, to.target, existing).json());
                }
                Json::Object(members)
            };
            if part.many {
                let parts: Vec<Json> = (0..random.below(4)).map(|_| one(random)).collect();
                members.insert(part.name.clone(), json!(parts));
            } else if random.chance(0.7) {
                members.insert(part.name.clone(), one(random));
            }
        }
        for (r, reference) in row.refs.iter().enumerate() {
            if reference.many {
                let ids: BTreeSet<Key> =
                    (0..random.below(5)).map(|_| self.target(random, reference.target, existing)).collect();
                members.insert(reference.name.clone(), ids.iter().map(Key::json).collect());
            } else if random.chance(0.8) {
                let id = self.target(random, reference.target, existing).json();
                let alone = reference.inverse.as_ref().is_some_and(|(_, one)| *one);
                if !alone || taken.insert((entity, r, id.to_string())) {
                    members.insert(reference.name.clone(), id);
                }
            }
        }
        members
    }

    /// As lines of data files.
    pub(super) fn lines(&self, data: &[Instance]) -> Vec<(String, Json)> {
        data.iter()
            .map(|instance| {
                let mut members = instance.members.clone();
                members.insert("k".to_owned(), json!(instance.key.k));
                if let Some(j) = &instance.key.j {
                    members.insert("j".to_owned(), json!(j));
                }
                let sub = if instance.sub { "S" } else { "" };
                (format!("{sub}{}", self.entities[instance.entity].name), Json::Object(members))
            })
            .collect()
    }

    pub(super) fn inserts(&self, data: &[Instance]) -> String {
        let mut sql = String::new();
        for instance in data {
            let entity = &self.entities[instance.entity];
            let (name, key) = (&entity.name, Key::sql(&instance.key.json()));
            let get = |name: &str| instance.members.get(name).cloned().unwrap_or(Json::Null);
            let mut values =
                vec![u8::from(instance.sub).to_string(), sql_literal(&get("extra")), key.clone()];
            values.extend(entity.fields.iter().map(|field| sql_literal(&get(&field.name))));
            for reference in entity.refs.iter().filter(|reference| !reference.many) {
                values.push(self.reference_sql(reference, &get(&reference.name)));
            }
            writeln!(sql, "INSERT INTO {name} VALUES ({});", values.join(", ")).unwrap();
            let elements = |name: &str| match get(name) {
                Json::Array(elements) => elements,
                Json::Null => Vec::new(),
                single => vec![single],
            };
            for list in &entity.lists {
                for (ordinal, value) in elements(&list.name).iter().enumerate() {
                    let value = sql_literal(value);
                    writeln!(sql, "INSERT INTO {name}_{} VALUES ({key}, {ordinal}, {value});", list.name)
                        .unwrap();
                }
            }
            for part in &entity.parts {
                for (ordinal, element) in elements(&part.name).iter().enumerate() {
                    let get = |name: &str| element.get(name).cloned().unwrap_or(Json::Null);
                    let mut values: Vec<String> =
                        part.fields.iter().map(|field| sql_literal(&get(&field.name))).collect();
                    values.extend(part.to.iter().map(|to| self.reference_sql(to, &get("to"))));
                    let values = values.join(", ");
                    writeln!(sql, "INSERT INTO {name}_{} VALUES ({key}, {ordinal}, {values});", part.name)
                        .unwrap();
                }
            }
            for reference in entity.refs.iter().filter(|reference| reference.many) {
                for id in elements(&reference.name) {
                    let id = Key::sql(&id);
                    writeln!(sql, "INSERT INTO {name}_{} VALUES ({key}, {id});", reference.name).unwrap();
                }
            }
        }
        sql
    }

    fn reference_sql(&self, reference: &Ref, id: &Json) -> String {
        match (id, self.entities[reference.target].composite) {
            (Json::Null, true) => "NULL, NULL".to_owned(),
            (id, _) => Key::sql(id),
        }
    }
}

fn plain(random: &mut Random, fields: &[Field]) -> Map<String, Json> {
    let mut members = Map::new();
    for field in fields {
        if !field.optional || random.chance(0.7) {
            members.insert(field.name.clone(), value(random, field.ty));
        }
    }
    members
}
