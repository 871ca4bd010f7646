//! Arguments for statements, drawn from the data.
//!
//! A parameter that is compared with a field takes one of the field's values, each as likely as any other, or as `@skew`
//! of the query says: that is what an estimate supposes. Parameters that are an identifier together are of one instance.

use crate::measured::Measured;
use crate::random::Random;
use askloom_model::{
    ClassId, Comparison, Condition, Element, EndId, InSet, Leaf, Limit, Member, Model, Operand, Parameter,
    ParameterType, Path, PositionId, Query, Type, Value, identity_types,
};
use askloom_store::execute::Arguments;
use std::collections::BTreeMap;

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
    compared: As,
}

pub(crate) struct Draw<'d> {
    pub(crate) model: &'d Model,
    pub(crate) data: &'d Measured,
}

impl Draw<'_> {
    /// Arguments of a query. Nothing if the data has no value for one of them.
    pub(crate) fn query(&self, query: &Query, random: &Random) -> Option<Arguments> {
        let uses = uses(query);
        let skew = query.header.skew.unwrap_or(0.0);
        let mut drawn: BTreeMap<usize, Value> = BTreeMap::new();
        self.identities(query, &uses, random, &mut drawn);
        for (index, parameter) in query.parameters.iter().enumerate() {
            if !drawn.contains_key(&index) {
                let random = random.fork(&parameter.name);
                let value = self.value(query, &uses, index, parameter, skew, &random)?;
                drawn.insert(index, value);
            }
        }
        order_bounds(&uses, &mut drawn);
        let named = drawn.into_iter().map(|(index, value)| (query.parameters[index].name.clone(), value));
        Some(named.collect())
    }

    /// Parameters that are equal to all members of an identifier are those of one instance.
    fn identities(&self, query: &Query, uses: &[Use<'_>], random: &Random, drawn: &mut BTreeMap<usize, Value>) {
        let mut at: BTreeMap<(PositionId, Vec<EndId>), Vec<(Member, usize)>> = BTreeMap::new();
        for one in uses.iter().filter(|one| one.compared == As::Equal) {
            let member = match one.path.leaf {
                Leaf::Attribute(id) => Member::Attribute(id),
                Leaf::Reference(id) => Member::End(id),
                Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => continue,
            };
            let place = (one.path.position, one.path.hops.clone());
            at.entry(place).or_default().push((member, one.parameter));
        }
        let conceptual = &self.model.conceptual;
        for ((position, hops), members) in at {
            let last = hops.last().map(|&hop| conceptual.ends[hop].target);
            let Some(class) = last.or(query.positions[position].class) else { continue };
            let identifier = &conceptual.classes[class].identifier;
            let all = identifier.iter().all(|member| members.iter().any(|(known, _)| known == member));
            let ids = self.data.ids(class);
            if identifier.len() < 2 || !all || ids.is_empty() {
                continue;
            }
            let mut rest = random.fork("identity").pick(ids).as_slice();
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
        query: &Query,
        uses: &[Use<'_>],
        index: usize,
        parameter: &Parameter,
        skew: f64,
        random: &Random,
    ) -> Option<Value> {
        let limits = match &query.limit {
            Some(Limit::Rows(operand) | Limit::Page(operand)) => vec![operand],
            None => Vec::new(),
        };
        let per_group = query.per_group.as_ref().map(|per_group| &per_group.rows);
        if limits.into_iter().chain(per_group).any(|operand| *operand == Operand::Parameter(index)) {
            return Some(Value::Int(ROWS));
        }
        let Some(one) = uses.iter().find(|one| one.parameter == index) else {
            return self.any(&parameter.ty, random);
        };
        if one.compared == As::Distance {
            return Some(Value::Int(KILOMETRES));
        }
        let values = self.values(query, one.path);
        if values.is_empty() {
            return self.any(&parameter.ty, random);
        }
        let pick = |random: &Random| values[zipf(values.len(), skew, random)].clone();
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
    fn values(&self, query: &Query, path: &Path) -> Vec<Value> {
        let conceptual = &self.model.conceptual;
        let ids = |class: ClassId| self.data.ids(class).iter().cloned().map(Value::Reference).collect();
        match path.leaf {
            Leaf::Attribute(id) => self.data.values(Member::Attribute(id)),
            Leaf::Reference(id) if conceptual.ends[id].stored => self.data.values(Member::End(id)),
            Leaf::Reference(id) => ids(conceptual.ends[id].target),
            Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => {
                let last = path.hops.last().map(|&hop| conceptual.ends[hop].target);
                last.or(query.positions[path.position].class).map(ids).unwrap_or_default()
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
                known.or(match ty {
                    Type::Int | Type::Long => Some(Value::Int(ROWS)),
                    Type::Text => Some(Value::Text("a".to_owned())),
                    Type::Bool => Some(Value::Bool(true)),
                    _rare => None,
                })
            }
            ParameterType::List(of) => {
                let values = (0..LIST).map(|n| self.any(of, &random.fork(&n.to_string())));
                let values: Option<Vec<Value>> = values.collect();
                let element = |(ordinal, value)| Element { ordinal, value };
                values.map(|values| Value::List((0..).zip(values).map(element).collect()))
            }
            ParameterType::Whole(_) => None,
        }
    }
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

fn uses(query: &Query) -> Vec<Use<'_>> {
    let mut found = Vec::new();
    if let Some(condition) = &query.condition {
        collect(condition, &mut found);
    }
    found
}

fn collect<'q>(condition: &'q Condition, found: &mut Vec<Use<'q>>) {
    let mut note = |value: &'q Operand, other: &'q Operand, compared: As| {
        if let (Operand::Path(path), Operand::Parameter(parameter)) = (value, other) {
            found.push(Use { parameter: *parameter, path, compared });
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
            InSet::Parameter(parameter) => {
                found.push(Use { parameter: *parameter, path, compared: As::Other });
            }
            InSet::List(items) => {
                let given = items.iter().filter_map(|item| match item {
                    Operand::Parameter(parameter) => Some(*parameter),
                    Operand::Path(_) | Operand::Constant(_) => None,
                });
                found.extend(given.map(|parameter| Use { parameter, path, compared: As::Other }));
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
