//! The meaning of rules, as directly as it can be said: each atom looks for its rule alone.

use askloom_model::{
    AccessPath, AccessStep, ClassId, Conceptual, Member, Record, RelationshipKind, Rule, RuleStep, Value,
};
use askloom_plan::partition::Entries;
use std::collections::{BTreeMap, BTreeSet};

/// A field on the way to an atom, and whether it is a list or a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) is_many: bool,
}

/// How many access steps the rule's match has, if it has one at or above the atom at the end of these fields.
fn matches(rule: &Rule, fields: &[Field]) -> Option<usize> {
    let all: usize = fields.iter().map(|field| 1 + usize::from(field.is_many)).sum();
    let mut taken = 0;
    for (n, step) in rule.steps.iter().enumerate() {
        let field = fields.get(n)?;
        let is_last = n + 1 == rule.steps.len();
        let (named, each) = match step {
            RuleStep::Field { name, each } => (*name == field.name, *each),
            RuleStep::AnyField { each } => (true, *each),
            RuleStep::EachAtom => return Some(all),
        };
        let fits = if each { field.is_many } else { is_last || !field.is_many };
        if !named || !fits {
            return None;
        }
        taken += 1 + usize::from(each);
    }
    Some(taken)
}

/// The rule that takes the atom, and the length of its match.
pub(crate) fn taker(
    conceptual: &Conceptual,
    rules: &[Rule],
    class: ClassId,
    fields: &[Field],
) -> Option<(usize, usize)> {
    rules.iter().enumerate().find_map(|(index, rule)| {
        let is_about = rule.class.is_none_or(|of| conceptual.is_kind_of(class, of));
        let length = matches(rule, fields).filter(|_| is_about)?;
        Some((index, length))
    })
}

/// An atom of an aggregate.
pub(crate) struct Atom {
    pub(crate) fields: Vec<Field>,
    pub(crate) path: AccessPath,
    pub(crate) value: Value,
}

pub(crate) fn atoms(conceptual: &Conceptual, record: &Record) -> Vec<Atom> {
    let mut found = Vec::new();
    in_record(conceptual, record, &mut Vec::new(), &AccessPath::default(), &mut found);
    found
}

fn in_record(
    conceptual: &Conceptual,
    record: &Record,
    fields: &mut Vec<Field>,
    path: &AccessPath,
    found: &mut Vec<Atom>,
) {
    for (&member, value) in &record.fields {
        let name = conceptual.member_name(member).to_owned();
        let here = below(path, AccessStep::Field(name.clone()));
        fields.push(Field { name, is_many: matches!(value, Value::List(_) | Value::Set(_)) });
        in_value(conceptual, value, fields, &here, found);
        fields.pop();
    }
}

pub(crate) fn in_value(
    conceptual: &Conceptual,
    value: &Value,
    fields: &mut Vec<Field>,
    path: &AccessPath,
    found: &mut Vec<Atom>,
) {
    match value {
        Value::Record(record) => in_record(conceptual, record, fields, path, found),
        Value::List(elements) => {
            for element in elements {
                let here = below(path, AccessStep::Element(element.ordinal));
                in_value(conceptual, &element.value, fields, &here, found);
            }
        }
        Value::Set(ids) => {
            for id in ids {
                let path = below(path, AccessStep::Link(id.clone()));
                found.push(Atom { fields: fields.clone(), path, value: Value::Reference(id.clone()) });
            }
        }
        atom => found.push(Atom { fields: fields.clone(), path: path.clone(), value: atom.clone() }),
    }
}

fn below(path: &AccessPath, step: AccessStep) -> AccessPath {
    AccessPath([&*path.0, &[step]].concat())
}

/// Which atoms are in which entry, by the meaning of the rules.
pub(crate) type Placed = BTreeMap<AccessPath, BTreeMap<AccessPath, Value>>;

pub(crate) fn placed(conceptual: &Conceptual, rules: &[Rule], record: &Record) -> Option<Placed> {
    let mut placed = Placed::new();
    for atom in atoms(conceptual, record) {
        let (_, length) = taker(conceptual, rules, record.class, &atom.fields)?;
        let key = AccessPath(atom.path.0[..length].to_vec());
        placed.entry(key).or_default().insert(atom.path, atom.value);
    }
    Some(placed)
}

/// The same of entries that were made. Atoms are counted, so that none hides another.
pub(crate) fn held(conceptual: &Conceptual, entries: &Entries) -> Placed {
    let mut placed = Placed::new();
    for (key, value) in entries {
        let mut found = Vec::new();
        in_value(conceptual, value, &mut Vec::new(), key, &mut found);
        let count = found.len();
        let atoms: BTreeMap<_, _> = found.into_iter().map(|atom| (atom.path, atom.value)).collect();
        assert_eq!(atoms.len(), count, "an atom is twice in the entry {key}");
        if count > 0 {
            placed.insert(key.clone(), atoms);
        }
    }
    placed
}

/// Every kind of atom that aggregates of exactly this class can have.
pub(crate) fn kinds(conceptual: &Conceptual, class: ClassId) -> Vec<Vec<Field>> {
    let mut found = Vec::new();
    for member in conceptual.all_members(class) {
        let name = conceptual.member_name(member).to_owned();
        match member {
            Member::Attribute(id) => {
                found.push(vec![Field { name, is_many: conceptual.attributes[id].list }]);
            }
            Member::End(id) => {
                let end = &conceptual.ends[id];
                if !end.stored {
                    continue;
                }
                let field = Field { name, is_many: end.cardinality.is_many() };
                if end.kind != RelationshipKind::Composition {
                    found.push(vec![field]);
                    continue;
                }
                for part in crate::records::concrete(conceptual, end.target) {
                    let inner = kinds(conceptual, part).into_iter();
                    found.extend(inner.map(|fields| [std::slice::from_ref(&field), &*fields].concat()));
                }
            }
        }
    }
    found
}

/// What rules do to all aggregates of a class and its subclasses.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) reached: BTreeSet<usize>,
    /// Classes and atoms that no rule takes.
    pub(crate) missed: Vec<(ClassId, Vec<Field>)>,
}

pub(crate) fn taken(conceptual: &Conceptual, rules: &[Rule], root: ClassId) -> Taken {
    let mut taken = Taken::default();
    for class in crate::records::concrete(conceptual, root) {
        for fields in kinds(conceptual, class) {
            match taker(conceptual, rules, class, &fields) {
                Some((rule, _)) => {
                    taken.reached.insert(rule);
                }
                None => taken.missed.push((class, fields)),
            }
        }
    }
    taken
}
