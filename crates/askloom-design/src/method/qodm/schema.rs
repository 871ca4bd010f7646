//! The paper's JSON-style schema: entities of fields, whose values are basic, entities, or lists.

use super::tuple::Tuple;
use askloom_model::{ClassId, Conceptual, Leaf, Member, PositionId, RelationshipKind};
use serde::Serialize;

/// Parts of parts are shown this deep; a class can be a part of itself.
const DEEPEST: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Schema {
    pub entities: Vec<Entity>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entity {
    pub name: String,
    pub kind: Kind,
    /// The tuple that it answers, as the paper writes it.
    pub answers: String,
    pub fields: Vec<Field>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Holds everything of its classes.
    Aggregation,
    /// Holds their ids.
    Index,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Field {
    pub name: String,
    pub value: Value,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Value {
    /// What stands for it in the schema.
    Basic(String),
    Entity(Vec<Field>),
    List(Box<Value>),
}

impl Schema {
    /// As the paper's figure 6 has it.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for entity in &self.entities {
            let kind = match entity.kind {
                Kind::Aggregation => "aggregation",
                Kind::Index => "index",
            };
            text.push_str(&format!("// {}: {kind} entity of {}\n", entity.name, entity.answers));
            write(&Value::Entity(entity.fields.clone()), 0, &mut text);
            text.push_str("\n\n");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    }
}

fn write(value: &Value, depth: usize, text: &mut String) {
    let inner = " ".repeat(2 * (depth + 1));
    let outer = " ".repeat(2 * depth);
    match value {
        Value::Basic(name) => text.push_str(&format!("<{name}>")),
        Value::Entity(fields) => {
            text.push_str("{\n");
            for (index, field) in fields.iter().enumerate() {
                text.push_str(&format!("{inner}\"{}\": ", field.name));
                write(&field.value, depth + 1, text);
                text.push_str(if index + 1 < fields.len() { ",\n" } else { "\n" });
            }
            text.push_str(&format!("{outer}}}"));
        }
        Value::List(of) => {
            text.push_str(&format!("[\n{inner}"));
            write(of, depth + 1, text);
            text.push_str(&format!(",\n{inner}...\n{outer}]"));
        }
    }
}

/// The entity of a tuple.
pub(super) fn entity(conceptual: &Conceptual, tuple: &Tuple, kind: Kind) -> Entity {
    let mut fields = Vec::new();
    for (index, &position) in tuple.given.iter().enumerate() {
        let Some(class) = tuple.positions[position].class else { continue };
        match (kind, index) {
            (Kind::Aggregation, 0) => fields.extend(of_class(conceptual, class, 0)),
            (Kind::Aggregation, _) => {
                let value = Value::Entity(of_class(conceptual, class, 0));
                fields.push(Field { name: lower(conceptual, class), value });
            }
            (Kind::Index, _) => fields.push(identity(conceptual, class)),
        }
    }
    for &position in tuple.held.iter().filter(|position| !tuple.given.contains(position)) {
        fields.extend(got(conceptual, tuple, position, kind));
    }
    for id in tuple.ids_beyond(conceptual) {
        let Leaf::Reference(reference) = id.leaf else { continue };
        let names = id.hops.iter().chain([&reference]).map(|&hop| conceptual.ends[hop].name.as_str());
        let class = conceptual.ends[reference].target;
        let value = match kind {
            Kind::Aggregation => Value::Entity(of_class(conceptual, class, 0)),
            Kind::Index => Value::Basic(id_name(conceptual, class)),
        };
        let field = Field { name: names.collect::<Vec<_>>().join("."), value };
        if fields.iter().all(|known| known.name != field.name) {
            fields.push(field);
        }
    }
    let name = askloom_plan::naming::capitalised(&tuple.name);
    Entity { name, kind, answers: tuple.text(conceptual), fields }
}

/// What is got at a position: one, or a list if some step to it from what is given leads to many.
fn got(conceptual: &Conceptual, tuple: &Tuple, position: PositionId, kind: Kind) -> Option<Field> {
    let class = tuple.positions[position].class?;
    let value = match kind {
        Kind::Aggregation => Value::Entity(of_class(conceptual, class, 0)),
        Kind::Index => Value::Basic(id_name(conceptual, class)),
    };
    let many = is_many(conceptual, tuple, position);
    let name = match many {
        true => format!("{}s", lower(conceptual, class)),
        false => lower(conceptual, class),
    };
    let value = if many { Value::List(Box::new(value)) } else { value };
    Some(Field { name, value })
}

/// Whether one of what is given has several of what stands at a position. The way leads up from the position to where
/// it meets the way to what is given, and down again.
fn is_many(conceptual: &Conceptual, tuple: &Tuple, position: PositionId) -> bool {
    let way = |to: PositionId| {
        let mut way = vec![to];
        let mut at = to;
        while let Some(hop) = tuple.positions[at].from {
            at = hop.parent;
            way.push(at);
        }
        way
    };
    let down = way(position);
    let above: Vec<PositionId> = tuple.given.iter().flat_map(|&given| way(given)).collect();
    let steps = down.iter().take_while(|at| !above.contains(at));
    let downwards = steps.clone().any(|&at| match tuple.positions[at].from.map(|hop| hop.step) {
        Some(Member::End(end)) => conceptual.ends[end].cardinality.is_many(),
        Some(Member::Attribute(_)) => true,
        None => false,
    });
    let met = down.iter().find(|at| above.contains(at)).copied();
    let upwards = tuple.given.iter().any(|&given| {
        let up: Vec<PositionId> = way(given).into_iter().take_while(|at| Some(*at) != met).collect();
        up.iter().any(|&at| leads_back_to_many(conceptual, tuple, at))
    });
    tuple.given.is_empty() || downwards || upwards
}

/// Whether several can lead to what stands at a position.
fn leads_back_to_many(conceptual: &Conceptual, tuple: &Tuple, at: PositionId) -> bool {
    match tuple.positions[at].from.map(|hop| hop.step) {
        Some(Member::End(end)) => {
            let inverse = conceptual.ends[end].inverse;
            inverse.is_none_or(|inverse| conceptual.ends[inverse].cardinality.is_many())
        }
        Some(Member::Attribute(_)) | None => false,
    }
}

/// The fields of a class with its parts and those of its subclasses.
fn of_class(conceptual: &Conceptual, class: ClassId, depth: usize) -> Vec<Field> {
    let mut members: Vec<Member> = conceptual.all_members(class).collect();
    let below = conceptual.classes.ids().filter(|&sub| sub != class && conceptual.is_kind_of(sub, class));
    members.extend(below.flat_map(|sub| conceptual.classes[sub].members.clone()));
    let mut fields: Vec<Field> = Vec::new();
    if conceptual.classes[class].surrogate {
        fields.push(identity(conceptual, class));
    }
    for member in members {
        if let Some(value) = of_member(conceptual, member, depth) {
            fields.push(Field { name: conceptual.member_name(member).to_owned(), value });
        }
    }
    fields
}

fn of_member(conceptual: &Conceptual, member: Member, depth: usize) -> Option<Value> {
    let (value, many) = match member {
        Member::Attribute(id) => {
            let attribute = &conceptual.attributes[id];
            (Value::Basic(attribute.name.clone()), attribute.list)
        }
        Member::End(id) => {
            let end = &conceptual.ends[id];
            if !end.stored || depth > DEEPEST {
                return None;
            }
            let value = match end.kind {
                RelationshipKind::Composition => Value::Entity(of_class(conceptual, end.target, depth + 1)),
                RelationshipKind::Association | RelationshipKind::Aggregation => {
                    Value::Basic(id_name(conceptual, end.target))
                }
            };
            (value, end.cardinality.is_many())
        }
    };
    Some(if many { Value::List(Box::new(value)) } else { value })
}

fn identity(conceptual: &Conceptual, class: ClassId) -> Field {
    let name = format!("{}ID", conceptual.classes[class].name);
    Field { name, value: Value::Basic(id_name(conceptual, class)) }
}

fn id_name(conceptual: &Conceptual, class: ClassId) -> String {
    format!("{}ID", lower(conceptual, class))
}

fn lower(conceptual: &Conceptual, class: ClassId) -> String {
    let mut letters = conceptual.classes[class].name.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}
