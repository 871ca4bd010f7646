//! The statistics of a model, measured on its data.

use askloom_model::{
    AttributeId, ClassId, Condition, Constant, EndId, Identity, InSet, Leaf, Member, MemberStatistics, Model,
    Operand, Record, RelationshipKind, Type, Value,
};
use std::collections::{BTreeMap, HashMap};

/// What the data holds: how many instances, and which values how often.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    ids: BTreeMap<ClassId, Vec<Identity>>,
    records: BTreeMap<ClassId, Vec<Record>>,
    counts: BTreeMap<ClassId, u64>,
    members: HashMap<Member, Held>,
}

/// What instances hold at a member.
#[derive(Debug, Default)]
struct Held {
    /// Instances of the class that has the member.
    holders: u64,
    nulls: u64,
    /// Values of lists and sets together, and of the longest.
    elements: u64,
    longest: u64,
    values: HashMap<Value, u64>,
}

impl Measured {
    pub(crate) fn of(model: &Model, records: &[Record]) -> Self {
        let mut measured = Self::default();
        records.iter().for_each(|record| measured.record(model, record));
        measured.links_back(model);
        measured
    }

    fn record(&mut self, model: &Model, record: &Record) {
        let conceptual = &model.conceptual;
        self.records.entry(record.class).or_default().push(record.clone());
        for class in conceptual.lineage(record.class) {
            *self.counts.entry(class).or_default() += 1;
            if let Some(identity) = record.identity(conceptual) {
                self.ids.entry(class).or_default().push(identity);
            }
        }
        for member in conceptual.all_members(record.class) {
            let stored = match member {
                Member::Attribute(_) => true,
                Member::End(id) => conceptual.ends[id].stored,
            };
            if !stored {
                continue;
            }
            let value = record.get(member);
            let inner: Vec<&Value> = match value {
                Value::List(elements) => elements.iter().map(|element| &element.value).collect(),
                single => vec![single],
            };
            self.members.entry(member).or_default().take(value);
            for value in inner {
                if let Value::Record(part) = value {
                    self.record(model, part);
                }
            }
        }
    }

    /// Links as they are seen from the ends that do not store them.
    fn links_back(&mut self, model: &Model) {
        for (id, end) in model.conceptual.ends.iter().filter(|(_, end)| !end.stored) {
            let Some(inverse) = end.inverse else { continue };
            let holders = self.counts.get(&end.class).copied().unwrap_or(0);
            let links = self.members.get(&Member::End(inverse));
            let (elements, longest) = links.map_or((0, 0), |held| {
                (held.values.values().sum(), held.values.values().copied().max().unwrap_or(0))
            });
            let linked = links.map_or(0, |held| held.values.len() as u64);
            let nulls = holders.saturating_sub(linked);
            let held = Held { holders, nulls, elements, longest, values: HashMap::new() };
            self.members.insert(Member::End(id), held);
        }
    }

    pub(crate) fn ids(&self, class: ClassId) -> &[Identity] {
        self.ids.get(&class).map(Vec::as_slice).unwrap_or_default()
    }

    /// The records of that very class, parts too.
    pub(crate) fn records(&self, class: ClassId) -> &[Record] {
        self.records.get(&class).map(Vec::as_slice).unwrap_or_default()
    }

    /// The values at a member, the most frequent first.
    pub(crate) fn values(&self, member: Member) -> Vec<Value> {
        let Some(held) = self.members.get(&member) else { return Vec::new() };
        let mut values: Vec<(&Value, u64)> =
            held.values.iter().map(|(value, count)| (value, *count)).collect();
        values.sort_by(|(one, a), (other, b)| b.cmp(a).then_with(|| one.cmp(other)));
        values.into_iter().map(|(value, _)| value.clone()).collect()
    }

    /// Sets the statistics of the model to those of the data.
    pub(crate) fn set(&self, model: &mut Model) {
        let constants = constants(model);
        let conceptual = &mut model.conceptual;
        let classes: Vec<ClassId> = conceptual.classes.ids().collect();
        for class in classes {
            if conceptual.classes[class].kind.is_entity() {
                conceptual.classes[class].statistics.count =
                    Some(self.counts.get(&class).copied().unwrap_or(0));
            }
        }
        let attributes: Vec<AttributeId> = conceptual.attributes.ids().collect();
        for id in attributes {
            let attribute = &mut conceptual.attributes[id];
            let nothing = Held::default();
            let held = self.members.get(&Member::Attribute(id)).unwrap_or(&nothing);
            held.set(attribute.list, &mut attribute.statistics);
            let mut known: Vec<Constant> = match &attribute.ty {
                Type::Enum(values) => (0..values.len()).map(|n| Constant::Enum(n as u32)).collect(),
                Type::Bool => vec![Constant::Bool(false), Constant::Bool(true)],
                _many => Vec::new(),
            };
            known.extend(constants.iter().filter(|(of, _)| *of == id).map(|(_, constant)| constant.clone()));
            for constant in known {
                let all = if attribute.list { held.elements } else { held.holders };
                let value = Value::of_constant(&constant).unwrap();
                let share = held.values.get(&value).copied().unwrap_or(0) as f64 / all.max(1) as f64;
                let frequencies = &mut attribute.statistics.frequencies;
                if constant != Constant::Null && frequencies.iter().all(|(known, _)| *known != constant) {
                    frequencies.push((constant, share));
                }
            }
        }
        let ends: Vec<EndId> = conceptual.ends.ids().collect();
        for id in ends {
            let end = &mut conceptual.ends[id];
            let nothing = Held::default();
            let held = self.members.get(&Member::End(id)).unwrap_or(&nothing);
            held.set(end.cardinality.is_many(), &mut end.statistics);
            if end.kind == RelationshipKind::Composition || !end.stored {
                end.statistics.distinct = None;
            }
        }
    }
}

impl Held {
    fn take(&mut self, value: &Value) {
        self.holders += 1;
        let elements: Vec<Value> = match value {
            Value::List(elements) => elements.iter().map(|element| element.value.clone()).collect(),
            Value::Set(ids) => ids.iter().cloned().map(Value::Reference).collect(),
            Value::Null => Vec::new(),
            single => vec![single.clone()],
        };
        self.nulls += u64::from(elements.is_empty());
        self.elements += elements.len() as u64;
        self.longest = self.longest.max(elements.len() as u64);
        for value in elements {
            if !matches!(value, Value::Record(_)) {
                *self.values.entry(value).or_default() += 1;
            }
        }
    }

    fn set(&self, many: bool, statistics: &mut MemberStatistics) {
        statistics.frequencies.clear();
        statistics.distinct = Some(self.values.len() as u64);
        let each = |count: u64| count as f64 / self.holders.max(1) as f64;
        if many {
            statistics.avg = Some(each(self.elements));
            statistics.max = Some(self.longest);
        } else if self.nulls > 0 {
            statistics.frequencies.push((Constant::Null, each(self.nulls)));
        }
    }
}

/// The constants that conditions compare attributes with.
fn constants(model: &Model) -> Vec<(AttributeId, Constant)> {
    let mut found = Vec::new();
    let queries = model.workload.queries.iter().filter_map(|query| query.condition.as_ref());
    queries.for_each(|condition| collect(condition, &mut found));
    found
}

fn collect(condition: &Condition, found: &mut Vec<(AttributeId, Constant)>) {
    match condition {
        Condition::And(terms) | Condition::Or(terms) => terms.iter().for_each(|term| collect(term, found)),
        Condition::Not(inner) | Condition::Negated(inner) => collect(inner, found),
        Condition::Compare { left, right, .. } => {
            note(left, right, found);
            note(right, left, found);
        }
        Condition::In { value, set: InSet::List(items) } => {
            items.iter().for_each(|item| note(value, item, found));
        }
        _other => {}
    }
}

fn note(path: &Operand, constant: &Operand, found: &mut Vec<(AttributeId, Constant)>) {
    if let (Operand::Path(path), Operand::Constant(constant)) = (path, constant)
        && let Leaf::Attribute(id) = path.leaf
    {
        found.push((id, constant.clone()));
    }
}
