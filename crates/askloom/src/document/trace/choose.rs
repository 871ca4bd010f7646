//! Parameters for a statement that find something in the sample.

use super::super::sample::{Made, NOW};
use crate::statement::{Statement, expected};
use askloom_embedded::KeyspaceRecords;
use askloom_engine::execute::{self, Arguments};
use askloom_model::{
    ClassId, Column, ColumnValue, Comparison, Conceptual, Condition, Element, Geo, Header, Identity, InSet,
    Member, Operand, ParameterType, Path, Position, PositionId, Query, Record, RelationshipKind, Table, Type,
    Value, Write, WriteStep,
};

/// Calls that are tried until one finds something.
const TRIES: usize = 12;

/// What a parameter has to be for a row to be found by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    /// The value of the row.
    Same,
    /// As little as there is.
    Least,
    /// As much as there is.
    Most,
    /// A word of it.
    Word,
}

/// A parameter, and the values of the data that it is compared with.
#[derive(Debug)]
struct Wanted {
    parameter: usize,
    path: Path,
    wish: Wish,
}

/// Where a statement looks, and what for.
struct Search<'s> {
    positions: &'s Table<PositionId, Position>,
    condition: Option<&'s Condition>,
}

pub(super) struct Chooser<'c> {
    pub(super) made: &'c Made,
    pub(super) conceptual: &'c Conceptual,
}

impl Chooser<'_> {
    /// Several, those first that come from one row of the data.
    pub(super) fn arguments(&self, statement: Statement<'_>) -> Vec<Arguments> {
        match statement {
            Statement::Query(query) => self.of_query(query, statement),
            Statement::Ask(ask) => match askloom_plan::ask::query(self.conceptual, ask) {
                Some(query) => self.of_query(&query, statement),
                None => Vec::new(),
            },
            Statement::Write(write) => self.of_write(write, statement),
        }
    }

    fn of_query(&self, query: &Query, statement: Statement<'_>) -> Vec<Arguments> {
        let names: Vec<&str> = query.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        let search = Search { positions: &query.positions, condition: query.condition.as_ref() };
        let mut all = self.found(&search, &names, &query.header);
        for arguments in &mut all {
            self.fill(statement, arguments);
        }
        all
    }

    fn of_write(&self, write: &Write, statement: Statement<'_>) -> Vec<Arguments> {
        let names: Vec<&str> = write.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        let mut all = vec![Arguments::new()];
        for step in &write.steps {
            let found = match search(step) {
                Some(search) => self.found(&search, &names, &write.header),
                None => self.inserted(step),
            };
            // What an earlier statement of the write has chosen stays.
            all = all
                .iter()
                .flat_map(|before| {
                    found.iter().map(|new| {
                        let mut both = new.clone();
                        both.extend(before.clone());
                        both
                    })
                })
                .take(TRIES)
                .collect();
        }
        for arguments in &mut all {
            self.fill(statement, arguments);
        }
        all
    }

    /// The fields of a new instance: values that no other has, with links to what is there; or, where links are part of
    /// what tells instances apart, with links that no other has.
    fn inserted(&self, step: &WriteStep) -> Vec<Arguments> {
        let Some(class) = step.fields_of() else { return Vec::new() };
        let of_class = |record: &&Record| record.class == class;
        let Some(spare) = self.made.spare.iter().find(of_class) else { return vec![Arguments::new()] };
        let stored = self.made.records.iter().filter(of_class);
        stored.chain([spare]).map(|linked| self.fields(step, spare, linked)).collect()
    }

    /// INSERT and UPSERT are shown as they are priced, with empty lists, and STORE with full ones.
    fn fields(&self, step: &WriteStep, record: &Record, linked: &Record) -> Arguments {
        let lists = matches!(step, WriteStep::Store { .. });
        let mut arguments = Arguments::new();
        for member in self.conceptual.all_members(record.class) {
            let value = match member {
                Member::Attribute(_) => record.get(member),
                // Parts with an identity have one owner.
                Member::End(end)
                    if matches!(self.conceptual.ends[end].kind, RelationshipKind::Composition) && lists =>
                {
                    record.get(member)
                }
                Member::End(_) => linked.get(member),
            };
            let shown = lists || !self.conceptual.is_many(member);
            if shown && self.conceptual.insertable(member).is_some() && *value != Value::Null {
                arguments.insert(self.conceptual.member_name(member).to_owned(), value.clone());
            }
        }
        arguments
    }

    /// Parameters by which rows of the data are found, a set of them for each row.
    fn found(&self, search: &Search<'_>, names: &[&str], header: &Header) -> Vec<Arguments> {
        let mut wanted = Vec::new();
        if let Some(condition) = search.condition {
            wishes(condition, &mut wanted);
        }
        let rows = self.rows(search, &wanted, header);
        let set = |row: &Vec<Value>| {
            let mut arguments = Arguments::new();
            for (at, one) in wanted.iter().enumerate() {
                let column = rows.iter().filter_map(|row| row.get(at)).filter(|value| **value != Value::Null);
                let value = match one.wish {
                    Wish::Same => row.get(at).cloned(),
                    Wish::Least => column.min().cloned(),
                    Wish::Most => column.max().cloned(),
                    Wish::Word => row.get(at).map(word),
                };
                let name = names.get(one.parameter).map(|name| (*name).to_owned());
                if let Some((name, value)) = name.zip(value.filter(|value| *value != Value::Null)) {
                    arguments.entry(name).or_insert(value);
                }
            }
            arguments
        };
        let mut all: Vec<Arguments> = rows.iter().take(TRIES).map(set).collect();
        // Nothing in the data fits what is fixed: the call finds nothing, and that can be shown too.
        if all.is_empty() {
            all.push(Arguments::new());
        }
        all
    }

    /// The values at the paths, of all rows that the fixed part of the condition keeps.
    fn rows(&self, search: &Search<'_>, wanted: &[Wanted], header: &Header) -> Vec<Vec<Value>> {
        let column =
            |one: &Wanted| Column { name: String::new(), value: ColumnValue::Path(one.path.clone()) };
        let query = Query {
            header: header.clone(),
            fresh: false,
            latency_ms: None,
            positions: search.positions.clone(),
            columns: wanted.iter().map(column).collect(),
            condition: search.condition.and_then(fixed),
            group_by: Vec::new(),
            order_by: Vec::new(),
            per_group: None,
            limit: None,
            parameters: Vec::new(),
            identity: Vec::new(),
            stated: Vec::new(),
        };
        let Made { schema, keyspace, .. } = self.made;
        let Some(plan) = askloom_plan::planner::plan(
            &askloom_target::embedded::costing(),
            self.conceptual,
            &schema.design,
            &query,
        ) else {
            return Vec::new();
        };
        let answer =
            execute::run(&KeyspaceRecords { schema, keyspace }, &query, &plan, &Arguments::new(), NOW, None);
        let rows = answer.map(|answer| answer.rows).unwrap_or_default();
        rows.into_iter().map(|row| row.into_iter().map(one_of).collect()).collect()
    }

    /// Gives every parameter a value of its type, and those that are wanted as lists as lists.
    fn fill(&self, statement: Statement<'_>, arguments: &mut Arguments) {
        for one in expected(self.conceptual, statement) {
            match (arguments.remove(&one.name), one.is_optional()) {
                (Some(value), _) => {
                    arguments.insert(one.name, fitted(&one.ty, value));
                }
                (None, true) => {}
                (None, false) => {
                    if let Some(value) = self.any(&one.ty) {
                        arguments.insert(one.name, value);
                    }
                }
            }
        }
    }

    /// Some value of a type.
    fn any(&self, ty: &ParameterType) -> Option<Value> {
        match ty {
            ParameterType::Basic(ty) => any_basic(ty),
            ParameterType::Identity(class) => self.any_identity(*class).map(Value::Reference),
            ParameterType::Whole(class) => {
                let all = self.made.records.iter().chain(&self.made.spare);
                let found = all.filter_map(|record| inside(self.conceptual, record, *class)).next();
                found.map(|record| Value::Record(Box::new(record.clone())))
            }
            ParameterType::List(of) => self.any(of).map(alone),
        }
    }

    /// The last of its class: the first ones have been met already.
    fn any_identity(&self, class: ClassId) -> Option<Identity> {
        let mut all = self.made.records.iter().rev();
        all.find_map(|record| inside(self.conceptual, record, class)?.identity(self.conceptual))
    }
}

fn search(step: &WriteStep) -> Option<Search<'_>> {
    match step {
        WriteStep::Insert { .. } | WriteStep::Upsert { .. } | WriteStep::Store { .. } => None,
        WriteStep::Update { condition, positions, .. }
        | WriteStep::UpdateElements { condition, positions, .. }
        | WriteStep::Delete { condition, positions, .. }
        | WriteStep::Add { condition, positions, .. }
        | WriteStep::Remove { condition, positions, .. }
        | WriteStep::Connect { condition, positions, .. }
        | WriteStep::Disconnect { condition, positions, .. } => {
            Some(Search { positions, condition: condition.as_ref() })
        }
    }
}

/// What each parameter of a condition is compared with. What is denied is wished by nobody.
fn wishes(condition: &Condition, wanted: &mut Vec<Wanted>) {
    let mut wish = |path: &Operand, operand: &Operand, wish: Wish| {
        if let (Operand::Path(path), Operand::Parameter(parameter)) = (path, operand) {
            wanted.push(Wanted { parameter: *parameter, path: path.clone(), wish });
        }
    };
    match condition {
        Condition::And(all) | Condition::Or(all) => all.iter().for_each(|one| wishes(one, wanted)),
        Condition::Not(_) | Condition::Negated(_) | Condition::IsNull { .. } => {}
        Condition::Compare { left, op, right } => {
            wish(left, right, compared(*op, Wish::Least, Wish::Most));
            wish(right, left, compared(*op, Wish::Most, Wish::Least));
        }
        Condition::Between { value, low, high } | Condition::InBox { value, low, high } => {
            wish(value, low, Wish::Least);
            wish(value, high, Wish::Most);
        }
        Condition::In { value, set: InSet::List(items) } => {
            items.iter().for_each(|item| wish(value, item, Wish::Same));
        }
        Condition::In { value, set: InSet::Parameter(parameter) } => {
            wish(value, &Operand::Parameter(*parameter), Wish::Same);
        }
        Condition::StartsWith { value, prefix } => wish(value, prefix, Wish::Word),
        Condition::Matches { value, words } => wish(value, words, Wish::Word),
        Condition::Under { value, of }
        | Condition::Above { value, of }
        | Condition::Within { value, of, .. } => {
            wish(value, of, Wish::Same);
        }
    }
}

/// `above` for what lies above the parameter, `below` for what lies below it.
fn compared(op: Comparison, above: Wish, below: Wish) -> Wish {
    match op {
        Comparison::Equal | Comparison::NotEqual => Wish::Same,
        Comparison::Less | Comparison::LessOrEqual => below,
        Comparison::Greater | Comparison::GreaterOrEqual => above,
    }
}

/// The part of a condition that no parameter changes.
fn fixed(condition: &Condition) -> Option<Condition> {
    if let Condition::And(all) = condition {
        let kept: Vec<Condition> = all.iter().filter_map(fixed).collect();
        return (!kept.is_empty()).then_some(Condition::And(kept));
    }
    (!mentions_parameter(condition)).then(|| condition.clone())
}

fn mentions_parameter(condition: &Condition) -> bool {
    let is = |operand: &Operand| matches!(operand, Operand::Parameter(_));
    match condition {
        Condition::And(all) | Condition::Or(all) => all.iter().any(mentions_parameter),
        Condition::Not(one) | Condition::Negated(one) => mentions_parameter(one),
        Condition::Compare { left, right, .. } => is(left) || is(right),
        Condition::Between { value, low, high } | Condition::InBox { value, low, high } => {
            is(value) || is(low) || is(high)
        }
        Condition::In { set: InSet::Parameter(_), .. } => true,
        Condition::In { value, set: InSet::List(items) } => is(value) || items.iter().any(is),
        Condition::StartsWith { value, prefix: other }
        | Condition::Matches { value, words: other }
        | Condition::Under { value, of: other }
        | Condition::Above { value, of: other } => is(value) || is(other),
        Condition::IsNull { value } => is(value),
        Condition::Within { value, km, of } => is(value) || is(km) || is(of),
    }
}

/// A value out of several.
fn one_of(value: Value) -> Value {
    if let Value::List(elements) = value {
        return elements.into_iter().next().map_or(Value::Null, |element| element.value);
    }
    if let Value::Set(ids) = value {
        return ids.into_iter().next().map_or(Value::Null, Value::Reference);
    }
    value
}

fn word(value: &Value) -> Value {
    let Value::Text(text) = value else { return value.clone() };
    Value::Text(text.split_whitespace().next().unwrap_or_default().to_owned())
}

/// A list of one.
fn alone(value: Value) -> Value {
    Value::List(vec![Element { ordinal: 0, value }])
}

fn fitted(ty: &ParameterType, value: Value) -> Value {
    match (ty, value) {
        (ParameterType::List(_), list @ Value::List(_)) => list,
        (ParameterType::List(_), value) => alone(value),
        (_, value) => value,
    }
}

fn any_basic(ty: &Type) -> Option<Value> {
    let day = jiff::civil::date(2026, 1, 2);
    Some(match ty {
        Type::Int | Type::Long | Type::Decimal | Type::Double => {
            return askloom_model::typed::basic(&Value::Int(7), ty);
        }
        Type::Bool => Value::Bool(true),
        Type::Text => Value::Text("new".to_owned()),
        Type::Enum(values) => Value::Enum(u32::try_from(values.len().checked_sub(1)?).ok()?),
        Type::Date => Value::Date(day),
        Type::Time => Value::Time(jiff::civil::time(12, 0, 0, 0)),
        Type::Timestamp(_) => Value::Timestamp(day.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp()),
        Type::Uuid => Value::Uuid(uuid::Uuid::from_u128(7)),
        Type::Blob => Value::Blob(vec![7]),
        Type::Geo => Value::Geo(Geo::new(52.5, 13.4).ok()?),
        Type::Json => Value::Json(serde_json::json!({"new": true})),
    })
}

/// The first record of a class, in depth.
fn inside<'r>(conceptual: &Conceptual, record: &'r Record, class: ClassId) -> Option<&'r Record> {
    if conceptual.is_kind_of(record.class, class) {
        return Some(record);
    }
    let part = |value: &'r Value| {
        let Value::Record(part) = value else { return None };
        inside(conceptual, part, class)
    };
    record.fields.values().find_map(|value| {
        let Value::List(elements) = value else { return part(value) };
        elements.iter().find_map(|element| part(&element.value))
    })
}
