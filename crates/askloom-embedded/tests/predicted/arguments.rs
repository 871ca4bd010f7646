//! Arguments for statements, drawn from the data.
//!
//! A parameter that is compared with a field takes one of the field's values, each as likely as any other, or as `@skew`
//! of the query says: that is what an estimate supposes. Parameters that are an identifier together are of one instance.

use crate::measured::Measured;
use crate::random::Random;
use crate::sample::now;
use askloom_engine::execute::Arguments;
use askloom_model::{
    ClassId, Comparison, Condition, Element, EndId, InSet, Leaf, Limit, Member, Model, Operand, Parameter,
    ParameterType, Path, Position, PositionId, Query, Record, Table, Type, Value, Write, WriteStep,
    identity_types,
};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// As many rows as a plan assumes for a parameter of LIMIT.
const ROWS: i64 = 20;
/// As many values as a plan assumes for a list.
const LIST: usize = 10;
/// A tenth of the earth, as a plan assumes.
const KILOMETRES: i64 = 4_000;

/// How a parameter is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum As {
    Equal,
    Low,
    High,
    Prefix,
    Words,
    Distance,
    Other,
}

/// A parameter and the path it is compared with.
struct Use<'q> {
    parameter: usize,
    path: &'q Path,
    /// What stands at the position of the path.
    class: Option<ClassId>,
    /// Which statement of a write this is.
    step: usize,
    compared: As,
}

/// What arguments are for.
struct Asked<'q> {
    uses: Vec<Use<'q>>,
    parameters: &'q [Parameter],
    /// Parameters that are numbers of rows.
    limits: Vec<usize>,
    skew: f64,
}

pub(crate) struct Draw<'d> {
    pub(crate) model: &'d Model,
    pub(crate) data: &'d Measured,
}

impl Draw<'_> {
    /// Arguments of a query. Nothing if the data has no value for one of them.
    pub(crate) fn query(&self, query: &Query, random: &Random) -> Option<Arguments> {
        let mut uses = Vec::new();
        note_uses(query.condition.as_ref(), &query.positions, 0, &mut uses);
        let limit = query.limit.as_ref().map(|limit| match limit {
            Limit::Rows(operand) | Limit::Page(operand) => operand,
        });
        let limits = limit.into_iter().chain(query.per_group.as_ref().map(|per_group| &per_group.rows));
        let limits = limits.filter_map(|operand| match operand {
            Operand::Parameter(index) => Some(*index),
            Operand::Constant(_) | Operand::Path(_) => None,
        });
        let skew = query.header.skew.unwrap_or(0.0);
        self.arguments(&Asked { uses, parameters: &query.parameters, limits: limits.collect(), skew }, random)
    }

    /// Arguments of a write. What is inserted is like something that is there, with another id and empty lists. An UPSERT
    /// finds its instance, as plans suppose: one that does not costs less.
    pub(crate) fn write(&self, write: &Write, random: &Random) -> Option<Arguments> {
        let mut uses = Vec::new();
        for (n, step) in write.steps.iter().enumerate() {
            match step {
                WriteStep::Insert { .. } | WriteStep::Upsert { .. } | WriteStep::Store { .. } => {}
                WriteStep::Update { condition, positions, .. }
                | WriteStep::UpdateElements { condition, positions, .. }
                | WriteStep::Delete { condition, positions, .. }
                | WriteStep::Add { condition, positions, .. }
                | WriteStep::Remove { condition, positions, .. }
                | WriteStep::Connect { condition, positions, .. }
                | WriteStep::Disconnect { condition, positions, .. } => {
                    note_uses(condition.as_ref(), positions, n, &mut uses);
                }
            }
        }
        let skew = write.header.skew.unwrap_or(0.0);
        let asked = Asked { uses, parameters: &write.parameters, limits: Vec::new(), skew };
        let mut arguments = self.arguments(&asked, random)?;
        self.members_of_one(write, &asked, random, &mut arguments);
        for step in &write.steps {
            // Lists are short: the first element is the one that is there.
            if let WriteStep::Remove { at: Some(Operand::Parameter(index)), .. } = step {
                arguments.insert(write.parameters[*index].name.clone(), Value::Int(0));
            }
        }
        let conceptual = &self.model.conceptual;
        for step in &write.steps {
            let Some(class) = step.fields_of() else { continue };
            let finds = matches!(step, WriteStep::Upsert { .. }) && !conceptual.is_immutable(class);
            let record =
                if finds { self.changed_record(class, random) } else { self.new_record(class, random) };
            let record = record?;
            for member in conceptual.all_members(class) {
                let given = conceptual
                    .insertable(member)
                    .is_some_and(|(ty, _)| !matches!(ty, ParameterType::List(_)));
                let value = record.get(member);
                if given && !value.is_null() {
                    let name = conceptual.member_name(member).to_owned();
                    arguments.entry(name).or_insert_with(|| value.clone());
                }
            }
        }
        Some(arguments)
    }

    /// Whoever names an instance by its id says of its other members what it has: parameters that are compared with
    /// members of one instance are all of that one.
    fn members_of_one(&self, write: &Write, asked: &Asked<'_>, random: &Random, arguments: &mut Arguments) {
        let conceptual = &self.model.conceptual;
        for (step, statement) in write.steps.iter().enumerate() {
            let main =
                |one: &&Use<'_>| one.step == step && one.compared == As::Equal && one.path.hops.is_empty();
            let uses: Vec<&Use<'_>> = asked.uses.iter().filter(main).collect();
            let Some(class) = uses.first().and_then(|one| one.class) else { continue };
            let member = |one: &Use<'_>| match one.path.leaf {
                Leaf::Attribute(id) => Some(Member::Attribute(id)),
                Leaf::Reference(id) => Some(Member::End(id)),
                // An element of the list that the statement is about.
                Leaf::Itself => match statement {
                    WriteStep::Remove { list, .. } => Some(*list),
                    _other => None,
                },
                Leaf::Bucket(_) | Leaf::TimeBucket(..) => None,
            };
            let identifier = &conceptual.classes[class].identifier;
            let named = !identifier.is_empty()
                && identifier.iter().all(|id| uses.iter().any(|one| member(one) == Some(*id)));
            let records = self.data.records(class);
            if !named || uses.len() <= identifier.len() || records.is_empty() {
                continue;
            }
            let record = random.fork("one").pick(records);
            for one in uses.iter().filter(|one| one.class.is_none_or(|of| of == class)) {
                let value = match member(one).map(|member| record.get(member)) {
                    Some(Value::List(elements)) => elements.first().map(|element| element.value.clone()),
                    Some(Value::Null | Value::Set(_)) | None => None,
                    Some(single) => Some(single.clone()),
                };
                let name = asked.parameters[one.parameter].name.clone();
                arguments.extend(value.map(|value| (name, value)));
            }
        }
    }

    /// Something that is there, with values of another one.
    fn changed_record(&self, class: ClassId, random: &Random) -> Option<Record> {
        let known = self.data.records(class);
        if known.is_empty() {
            return None;
        }
        let conceptual = &self.model.conceptual;
        let mut record = random.fork("record").pick(known).clone();
        let other = random.fork("other").pick(known);
        for member in conceptual.all_members(class).collect::<Vec<_>>() {
            let stays = match member {
                Member::Attribute(id) => {
                    let attribute = &conceptual.attributes[id];
                    attribute.id || attribute.unique || attribute.immutable
                }
                Member::End(id) => {
                    let end = &conceptual.ends[id];
                    end.id || end.unique || end.immutable
                }
            };
            if !stays {
                record.set(member, other.get(member).clone());
            }
        }
        Some(record)
    }

    fn new_record(&self, class: ClassId, random: &Random) -> Option<Record> {
        let like = self.data.records(class);
        if like.is_empty() {
            return None;
        }
        let mut record = random.fork("record").pick(like).clone();
        let conceptual = &self.model.conceptual;
        let number = 1_000_000 + random.fork("number").below(1_000_000);
        for member in conceptual.all_members(class).collect::<Vec<_>>() {
            let Member::Attribute(id) = member else { continue };
            let attribute = &conceptual.attributes[id];
            if attribute.id || attribute.unique {
                record.set(member, new_value(&attribute.ty, number)?);
            }
        }
        // An id of references alone is another pair of them, and a link that only one may have is to somebody else.
        for member in conceptual.all_members(class).collect::<Vec<_>>() {
            let Member::End(end) = member else { continue };
            let row = &conceptual.ends[end];
            let ids = self.data.ids(row.target);
            let alone = row.stored
                && row
                    .inverse
                    .is_some_and(|inverse| inverse != end && !conceptual.ends[inverse].cardinality.is_many());
            let single = matches!(record.get(member), Value::Reference(_));
            if (conceptual.classes[class].identifier.contains(&member) || alone && single) && !ids.is_empty()
            {
                let random = random.fork(conceptual.member_name(member));
                record.set(member, Value::Reference(random.pick(ids).clone()));
            }
        }
        Some(record)
    }

    fn arguments(&self, asked: &Asked<'_>, random: &Random) -> Option<Arguments> {
        let mut drawn: BTreeMap<usize, Value> = BTreeMap::new();
        self.identities(asked, random, &mut drawn);
        for (index, parameter) in asked.parameters.iter().enumerate() {
            if let Entry::Vacant(open) = drawn.entry(index) {
                open.insert(self.value(asked, index, parameter, &random.fork(&parameter.name))?);
            }
        }
        order_bounds(&asked.uses, &mut drawn);
        let named = drawn.into_iter().map(|(index, value)| (asked.parameters[index].name.clone(), value));
        Some(named.collect())
    }

    /// Parameters that are equal to all members of an identifier are those of one instance.
    fn identities(&self, asked: &Asked<'_>, random: &Random, drawn: &mut BTreeMap<usize, Value>) {
        type Place = (usize, PositionId, Vec<EndId>);
        let conceptual = &self.model.conceptual;
        let mut at: BTreeMap<Place, (ClassId, Vec<(Member, usize)>)> = BTreeMap::new();
        for one in asked.uses.iter().filter(|one| one.compared == As::Equal) {
            let member = match one.path.leaf {
                Leaf::Attribute(id) => Member::Attribute(id),
                Leaf::Reference(id) => Member::End(id),
                Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => continue,
            };
            let last = one.path.hops.last().map(|&hop| conceptual.ends[hop].target);
            let Some(class) = last.or(one.class) else { continue };
            let place = (one.step, one.path.position, one.path.hops.clone());
            at.entry(place).or_insert((class, Vec::new())).1.push((member, one.parameter));
        }
        for (class, members) in at.into_values() {
            let identifier = &conceptual.classes[class].identifier;
            let all = identifier.iter().all(|member| members.iter().any(|(known, _)| known == member));
            let ids = self.data.ids(class);
            if identifier.len() < 2 || !all || ids.is_empty() {
                continue;
            }
            let random = random.fork("identity");
            let mut rest = random.pick(ids).as_slice();
            for member in identifier {
                let (value, left) = match *member {
                    Member::Attribute(_) => (rest[0].clone(), &rest[1..]),
                    Member::End(end) => {
                        let length = identity_types(conceptual, conceptual.ends[end].target).len();
                        (Value::Reference(rest[..length].to_vec()), &rest[length..])
                    }
                };
                rest = left;
                for (_, parameter) in members.iter().filter(|(known, _)| known == member) {
                    drawn.insert(*parameter, value.clone());
                }
            }
        }
    }

    fn value(
        &self,
        asked: &Asked<'_>,
        index: usize,
        parameter: &Parameter,
        random: &Random,
    ) -> Option<Value> {
        if asked.limits.contains(&index) {
            return Some(Value::Int(ROWS));
        }
        let Some(one) = asked.uses.iter().find(|one| one.parameter == index) else {
            return self.any(&parameter.ty, random);
        };
        if one.compared == As::Distance {
            return Some(Value::Int(KILOMETRES));
        }
        let values = self.values(one);
        if values.is_empty() {
            return self.any(&parameter.ty, random);
        }
        let pick = |random: &Random| values[zipf(values.len(), asked.skew, random)].clone();
        if let ParameterType::List(_) = parameter.ty {
            let element = |n: usize| Element { ordinal: n as u64, value: pick(&random.fork(&n.to_string())) };
            return Some(Value::List((0..LIST).map(element).collect()));
        }
        let text = |value: Value, cut: fn(&str) -> String| match value {
            Value::Text(text) => Value::Text(cut(&text)),
            other => other,
        };
        Some(match one.compared {
            As::Prefix => text(pick(random), |text| text.chars().take(1).collect()),
            As::Words => text(pick(random), |text| text.split(' ').next().unwrap_or_default().to_owned()),
            As::Equal | As::Low | As::High | As::Other | As::Distance => pick(random),
        })
    }

    /// The values of a path, the most frequent first.
    fn values(&self, one: &Use<'_>) -> Vec<Value> {
        let conceptual = &self.model.conceptual;
        let ids = |class: ClassId| self.data.ids(class).iter().cloned().map(Value::Reference).collect();
        match one.path.leaf {
            Leaf::Attribute(id) => self.data.values(Member::Attribute(id)),
            Leaf::Reference(id) if conceptual.ends[id].stored => self.data.values(Member::End(id)),
            Leaf::Reference(id) => ids(conceptual.ends[id].target),
            Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => {
                let last = one.path.hops.last().map(|&hop| conceptual.ends[hop].target);
                last.or(one.class).map(ids).unwrap_or_default()
            }
        }
    }

    fn any(&self, ty: &ParameterType, random: &Random) -> Option<Value> {
        match ty {
            ParameterType::Identity(class) => {
                let ids = self.data.ids(*class);
                (!ids.is_empty()).then(|| Value::Reference(random.pick(ids).clone()))
            }
            ParameterType::Basic(ty) => {
                let conceptual = &self.model.conceptual;
                let mut same = conceptual.attributes.iter().filter(|(_, attribute)| attribute.ty == *ty);
                let known = same.find_map(|(id, _)| {
                    let values = self.data.values(Member::Attribute(id));
                    (!values.is_empty()).then(|| random.pick(&values).clone())
                });
                known.or_else(|| new_value(ty, 7))
            }
            ParameterType::List(of) => {
                let values = (0..LIST).map(|n| self.any(of, &random.fork(&n.to_string())));
                let values: Option<Vec<Value>> = values.collect();
                let element = |(ordinal, value)| Element { ordinal, value };
                values.map(|values| Value::List((0..).zip(values).map(element).collect()))
            }
            ParameterType::Whole(class) => {
                let record = self.new_record(*class, random)?;
                Some(Value::Record(Box::new(record)))
            }
        }
    }
}

/// A value that nothing has yet.
fn new_value(ty: &Type, number: usize) -> Option<Value> {
    Some(match ty {
        Type::Int | Type::Long => Value::Int(number as i64),
        Type::Text => Value::Text(format!("new {number}")),
        Type::Uuid => Value::Uuid(uuid::Uuid::from_u128(number as u128)),
        Type::Decimal => Value::decimal(&(number as i64).into()).ok()?,
        Type::Double => Value::double(number as f64).ok()?,
        Type::Bool => Value::Bool(true),
        Type::Blob => Value::Blob(number.to_be_bytes().to_vec()),
        Type::Json => Value::Json(serde_json::Value::from(number)),
        Type::Enum(_) => Value::Enum(0),
        Type::Timestamp(_) => Value::Timestamp(now() - jiff::SignedDuration::from_secs(number as i64)),
        Type::Date => {
            Value::Date(jiff::civil::date(1900, 1, 1) + jiff::Span::new().days(number as i64 / 100))
        }
        Type::Time => {
            Value::Time(jiff::civil::time(0, 0, 0, 0) + jiff::Span::new().seconds(number as i64 % 86_400))
        }
        Type::Geo => return None,
    })
}

/// The rank of a value that is asked for by Zipf's law.
fn zipf(n: usize, skew: f64, random: &Random) -> usize {
    if skew <= 0.0 {
        return random.below(n);
    }
    let weights: Vec<f64> = (1..=n).map(|rank| (rank as f64).powf(-skew)).collect();
    let mut at = random.below(1 << 30) as f64 / f64::from(1 << 30) * weights.iter().sum::<f64>();
    for (rank, weight) in weights.iter().enumerate() {
        at -= weight;
        if at < 0.0 {
            return rank;
        }
    }
    n - 1
}

/// The lower of two bounds of a path comes first.
fn order_bounds(uses: &[Use<'_>], drawn: &mut BTreeMap<usize, Value>) {
    for low in uses.iter().filter(|one| one.compared == As::Low) {
        let high = uses.iter().find(|one| one.compared == As::High && one.path == low.path);
        let Some(high) = high else { continue };
        let (Some(a), Some(b)) = (drawn.get(&low.parameter), drawn.get(&high.parameter)) else { continue };
        if a > b {
            let (a, b) = (a.clone(), b.clone());
            drawn.insert(low.parameter, b);
            drawn.insert(high.parameter, a);
        }
    }
}

fn note_uses<'q>(
    condition: Option<&'q Condition>,
    positions: &Table<PositionId, Position>,
    step: usize,
    found: &mut Vec<Use<'q>>,
) {
    let mut compared = Vec::new();
    condition.into_iter().for_each(|condition| collect(condition, &mut compared));
    found.extend(compared.into_iter().map(|(parameter, path, compared)| {
        let class = positions[path.position].class;
        Use { parameter, path, class, step, compared }
    }));
}

fn collect<'q>(condition: &'q Condition, found: &mut Vec<(usize, &'q Path, As)>) {
    let mut note = |value: &'q Operand, other: &'q Operand, compared: As| {
        if let (Operand::Path(path), Operand::Parameter(parameter)) = (value, other) {
            found.push((*parameter, path, compared));
        }
    };
    match condition {
        Condition::And(terms) | Condition::Or(terms) => terms.iter().for_each(|term| collect(term, found)),
        Condition::Not(inner) | Condition::Negated(inner) => collect(inner, found),
        Condition::Compare { left, op, right } => {
            let compared = |op: Comparison| match op {
                Comparison::Equal => As::Equal,
                Comparison::NotEqual => As::Other,
                Comparison::Less | Comparison::LessOrEqual => As::High,
                Comparison::Greater | Comparison::GreaterOrEqual => As::Low,
            };
            note(left, right, compared(*op));
            note(right, left, compared(op.turned()));
        }
        Condition::Between { value, low, high } => {
            note(value, low, As::Low);
            note(value, high, As::High);
        }
        Condition::In { value: Operand::Path(path), set } => match set {
            InSet::Parameter(parameter) => found.push((*parameter, path, As::Other)),
            InSet::List(items) => {
                let given = items.iter().filter_map(|item| match item {
                    Operand::Parameter(parameter) => Some(*parameter),
                    Operand::Path(_) | Operand::Constant(_) => None,
                });
                found.extend(given.map(|parameter| (parameter, path, As::Other)));
            }
        },
        Condition::In { .. } | Condition::IsNull { .. } => {}
        Condition::StartsWith { value, prefix } => note(value, prefix, As::Prefix),
        Condition::Matches { value, words } => note(value, words, As::Words),
        Condition::Under { value, of } | Condition::Above { value, of } => note(value, of, As::Other),
        Condition::Within { value, km, of } => {
            note(value, km, As::Distance);
            note(value, of, As::Other);
        }
        Condition::InBox { value, low, high } => {
            note(value, low, As::Low);
            note(value, high, As::High);
        }
    }
}
