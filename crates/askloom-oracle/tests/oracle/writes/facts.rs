//! The whole state as a set of facts, one for each value, element, reference and link, from both sides.

use super::blueprint::{Blueprint, Class, Storage};
use super::engine::Engine;
use super::scalar::hundredths;
use askloom_model::{Conceptual, Identity, Member, Record, Value};
use askloom_oracle::State;
use rusqlite::types::Value as Sql;
use std::collections::BTreeSet;

pub(super) type Facts = BTreeSet<String>;

pub(super) fn shown(value: &Sql) -> String {
    match value {
        Sql::Null => "null".to_owned(),
        Sql::Integer(number) => number.to_string(),
        Sql::Real(number) => format!("{:?}", number + 0.0),
        Sql::Text(text) => format!("{text:?}"),
        Sql::Blob(bytes) => format!("{bytes:?}"),
    }
}

impl Engine<'_> {
    pub(super) fn facts(&self) -> Facts {
        let mut facts = Facts::new();
        for query in self.blueprint.fact_queries() {
            let mut statement =
                self.database.prepare_cached(&query).unwrap_or_else(|error| panic!("{error}\n{query}"));
            let columns = statement.column_count();
            let mut rows = statement.query([]).unwrap();
            while let Some(row) = rows.next().unwrap() {
                let about: String = row.get(0).unwrap();
                let values: Vec<String> =
                    (1..columns).map(|column| shown(&row.get(column).unwrap())).collect();
                facts.insert(format!("{about} {}", values.join(",")));
            }
        }
        facts
    }
}

impl Blueprint {
    /// Queries whose first column says what a fact is about, and the others what it is.
    fn fact_queries(&self) -> Vec<String> {
        let mut queries = Vec::new();
        for (number, class) in self.classes.iter().enumerate() {
            let table = &class.name;
            queries.push(match class.owner {
                None => format!("SELECT path || ' created', cls, created FROM {table}"),
                Some((owner, part)) => self.held(class, owner, part),
            });
            for attribute in &class.attributes {
                let name = &attribute.name;
                queries.push(format!(
                    "SELECT path || '.{name} =', {name} FROM {table} WHERE {name} IS NOT NULL"
                ));
            }
            for list in &class.lists {
                let list = &list.name;
                queries.push(format!(
                    "SELECT p.path || '.{list}[' || e.ord || '] =', e.v FROM {table}_{list} AS e \
                     JOIN {table} AS p ON p.rid = e.o"
                ));
            }
            for reference in 0..class.references.len() {
                queries.push(self.links_query(number, reference));
            }
        }
        queries
    }

    /// Which part is where.
    fn held(&self, class: &Class, owner: usize, part: usize) -> String {
        let (table, holder) = (&class.name, &self.classes[owner]);
        format!(
            "SELECT o.path || '.{}' || coalesce('[' || e.ord || ']', '') || ' is', e.path FROM {table} AS e \
             JOIN {} AS o ON o.rid = e.o",
            holder.parts[part].name, holder.name
        )
    }

    fn links_query(&self, class: usize, number: usize) -> String {
        let (table, reference) = (&self.classes[class].name, &self.classes[class].references[number]);
        let name = &reference.name;
        let links = format!("{table}_{name}");
        match reference.storage() {
            Storage::SymmetricPairs => {
                let own = Self::same(&self.key_columns(class, "l.a_"), &self.key_columns(class, "p."));
                let other = self.key_columns(class, "l.b_").join(", ");
                format!("SELECT p.path || '.{name} to', {other} FROM {links} AS l JOIN {table} AS p ON {own}")
            }
            Storage::Pairs => {
                let other = self.key_columns(reference.target.class, "l.t_").join(", ");
                format!(
                    "SELECT p.path || '.{name} to', {other} FROM {links} AS l JOIN {table} AS p ON p.rid = l.o"
                )
            }
            Storage::Columns => {
                let columns = self.reference_columns(class, number, "");
                format!(
                    "SELECT path || '.{name} to', {} FROM {table} WHERE {} IS NOT NULL",
                    columns.join(", "),
                    columns[0]
                )
            }
        }
    }
}

/// The facts of the oracle's state.
pub(super) fn of_oracle(conceptual: &Conceptual, state: &State) -> Facts {
    let reader = RecordReader { conceptual };
    let mut facts = Facts::new();
    for (top, identity, instance) in state.instances() {
        let path = format!("{}({})", conceptual.classes[top].name, identity_shown(identity));
        let sub = u8::from(instance.record().class != top);
        facts.insert(format!("{path} created {sub},{}", instance.created().as_millisecond()));
        reader.record(instance.record(), &path, &mut facts);
    }
    facts
}

/// Reads the records of the oracle's state.
struct RecordReader<'a> {
    conceptual: &'a Conceptual,
}

impl RecordReader<'_> {
    fn record(&self, record: &Record, path: &str, facts: &mut Facts) {
        let class = &self.conceptual.classes[record.class];
        for (&member, value) in &record.fields {
            let about = format!("{path}.{}", self.conceptual.member_name(member));
            match value {
                Value::List(elements) => {
                    for element in elements {
                        let about = format!("{about}[{}]", element.ordinal);
                        self.value(member, &element.value, &about, facts);
                    }
                }
                // What identifies is in the path.
                _key if class.identifier.contains(&member) && matches!(member, Member::Attribute(_)) => {}
                single => self.value(member, single, &about, facts),
            }
        }
    }

    fn value(&self, member: Member, value: &Value, about: &str, facts: &mut Facts) {
        match value {
            Value::Record(part) => {
                let path = match (part.identity(self.conceptual), member) {
                    (Some(identity), Member::End(end)) => {
                        let class = &self.conceptual.classes[self.conceptual.ends[end].target].name;
                        format!("{class}({})", identity_shown(&identity))
                    }
                    (_, _) => about.to_owned(),
                };
                facts.insert(format!("{about} is {path:?}"));
                self.record(part, &path, facts);
            }
            Value::Reference(identity) => {
                facts.insert(format!("{about} to {}", identity_shown(identity)));
            }
            Value::Set(ids) => {
                facts.extend(ids.iter().map(|identity| format!("{about} to {}", identity_shown(identity))));
            }
            plain => {
                facts.insert(format!("{about} = {}", plain_shown(plain)));
            }
        }
    }
}

fn identity_shown(identity: &Identity) -> String {
    identity.iter().map(plain_shown).collect::<Vec<_>>().join(",")
}

fn plain_shown(value: &Value) -> String {
    match value {
        Value::Bool(value) => u8::from(*value).to_string(),
        Value::Int(value) => value.to_string(),
        Value::Decimal(value) => hundredths(value.to_string().parse().unwrap()).to_string(),
        Value::Double(value) => format!("{value:?}"),
        Value::Text(text) => format!("{text:?}"),
        Value::Enum(value) => value.to_string(),
        Value::Timestamp(at) => at.as_millisecond().to_string(),
        Value::Uuid(uuid) => format!("{:?}", uuid.to_string()),
        other => panic!("{other:?}"),
    }
}
