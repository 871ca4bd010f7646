//! Operands of a statement as terms for columns.

use super::{InstantFrom, Term, ValueFrom};
use crate::layout::{Holds, Layout, Table};
use askloom_model::{
    BucketsBetween, InSet, KeySet, KeyValue, Leaf, Operand, Parameter, TimeBucket, Value, typed,
};

/// More buckets of time than these are printed as one statement that is repeated.
const MOST_BUCKETS: usize = 100;

/// The parameters of a statement, and their values if they are given.
#[derive(Clone, Copy)]
pub(super) struct Given<'g> {
    pub(super) layout: &'g Layout,
    pub(super) parameters: &'g [Parameter],
    /// One for each parameter; a missing one is nothing.
    pub(super) arguments: Option<&'g [Option<Value>]>,
}

impl Given<'_> {
    /// The terms of one operand for some columns: one each, or the parts of an id.
    pub(super) fn terms(&self, table: &Table, columns: &[usize], operand: &Operand) -> Vec<Term> {
        let value = self.value(operand);
        let name = self.name(table, columns, operand);
        let from = from(operand);
        self.spread(table, columns, (&name, from), value.as_ref())
    }

    /// The terms of what a field of a key is equal to. An identity may be given component by component.
    pub(super) fn key_terms(&self, table: &Table, columns: &[usize], is: &KeyValue) -> Vec<Term> {
        match is {
            KeyValue::Is(operand) => self.terms(table, columns, operand),
            KeyValue::Identity(components) => {
                let conceptual = &self.layout.conceptual;
                let mut left = columns;
                let mut terms = Vec::new();
                for component in components {
                    let length = match component.path.leaf {
                        Leaf::Attribute(_) | Leaf::Bucket(_) | Leaf::TimeBucket(..) => 1,
                        Leaf::Reference(end) => conceptual.identity_length(conceptual.ends[end].target),
                        Leaf::Itself => left.len(),
                    };
                    let (own, rest) = left.split_at(length.min(left.len()));
                    terms.extend(self.terms(table, own, &component.is));
                    left = rest;
                }
                terms
            }
            KeyValue::TimeBucket { unit, of } => {
                let name = self.name(table, columns, of).into();
                let at = Term { name, from: from(of), value: self.value(of), column: None };
                columns.iter().map(|&column| time_bucket(*unit, &at, column)).collect()
            }
            // Whoever knows what was chosen for the other field fills it in.
            KeyValue::TimeBucketOfField { unit, .. } => {
                self.spread(table, columns, (unit.name(), ValueFrom::Statement), None)
            }
        }
    }

    /// The terms of a master's key by those of the components of its identity: with those of the buckets of time that
    /// follow from them, in the order of the columns.
    pub(super) fn with_time_buckets(&self, table: &Table, mut terms: Vec<Term>) -> Vec<Term> {
        let root = self.layout.design.collections[table.collection].source.root;
        let components = table.identity_columns();
        for (at, column) in table.columns.iter().enumerate().filter(|(_, column)| column.is_key()) {
            let Some((component, unit)) = column.time_bucket(&self.layout.conceptual, root) else { continue };
            let of = components.get(component);
            let known =
                terms.iter().find(|term| term.column.as_ref() == of).map(|of| time_bucket(unit, of, at));
            terms.retain(|term| term.column != Some(at));
            terms.extend(known);
        }
        terms.sort_by_key(|term| term.column);
        terms
    }

    /// A value for some columns.
    pub(super) fn spread(
        &self,
        table: &Table,
        columns: &[usize],
        (name, from): (&str, ValueFrom),
        value: Option<&Value>,
    ) -> Vec<Term> {
        let several = columns.len() > 1;
        let one = |(part, &column): (usize, &usize)| {
            let own = table.columns.get(column);
            let last = own.map(|c| c.name.rsplit('.').next().unwrap_or_default()).unwrap_or_default();
            let name = if several { format!("{name}.{last}") } else { name.to_owned() };
            let value = value.map(|value| match value {
                Value::Reference(parts) => parts.get(part).cloned().unwrap_or(Value::Null),
                single => single.clone(),
            });
            let value = value.map(|value| own.map_or(value.clone(), |own| fitted(&own.holds, value)));
            let from = if several { part_of(from, part) } else { from };
            Term { name: name.into(), from, value, column: Some(column) }
        };
        columns.iter().enumerate().map(one).collect()
    }

    pub(super) fn value(&self, operand: &Operand) -> Option<Value> {
        match operand {
            Operand::Constant(constant) => Value::of_constant(constant).ok(),
            Operand::Parameter(index) => self.arguments?.get(*index)?.clone(),
            Operand::Path(_) => None,
        }
    }

    /// The name of a parameter; nothing for what is not one.
    pub(super) fn parameter_name(&self, operand: &Operand) -> &str {
        match operand {
            Operand::Parameter(index) => self.parameters.get(*index).map_or("", |parameter| &parameter.name),
            Operand::Constant(_) | Operand::Path(_) => "",
        }
    }

    pub(super) fn name(&self, table: &Table, columns: &[usize], operand: &Operand) -> String {
        match operand {
            Operand::Parameter(_) => self.parameter_name(operand).to_owned(),
            Operand::Constant(_) | Operand::Path(_) => {
                let column = columns.first().and_then(|&index| table.columns.get(index));
                column.map_or_else(String::new, |column| column.name.clone())
            }
        }
    }

    /// The values of a set, if they are known.
    pub(super) fn choices(&self, set: &KeySet) -> Option<Vec<Value>> {
        match set {
            KeySet::In(set) => self.listed(set),
            KeySet::Buckets(BucketsBetween { unit, low, high }) => {
                let (Value::Timestamp(low), Value::Timestamp(high)) = (self.value(low)?, self.value(high)?)
                else {
                    return Some(Vec::new());
                };
                let buckets: Vec<Value> =
                    unit.between(low, high).map(Value::Text).take(MOST_BUCKETS + 1).collect();
                (buckets.len() <= MOST_BUCKETS).then_some(buckets)
            }
        }
    }

    fn listed(&self, set: &InSet) -> Option<Vec<Value>> {
        let mut values = match set {
            InSet::List(items) => items.iter().map(|item| self.value(item)).collect::<Option<Vec<_>>>()?,
            InSet::Parameter(index) => match self.arguments?.get(*index)?.clone()? {
                Value::List(elements) => elements.into_iter().map(|element| element.value).collect(),
                single => vec![single],
            },
        };
        values.sort();
        values.dedup();
        Some(values)
    }

    /// A number of rows.
    pub(super) fn count(&self, operand: &Operand, more: i64) -> Term {
        let value = self.value(operand).map(|value| match value {
            Value::Int(rows) => Value::Int(rows.saturating_add(more)),
            other => other,
        });
        let name = match operand {
            Operand::Parameter(index) => {
                self.parameters.get(*index).map_or_else(String::new, |parameter| parameter.name.clone())
            }
            Operand::Constant(_) | Operand::Path(_) => "rows".to_owned(),
        };
        let name = if more == 0 { name } else { format!("{name}+{more}") };
        let parameter = match operand {
            Operand::Parameter(index) => Some(*index),
            Operand::Constant(_) | Operand::Path(_) => None,
        };
        Term { name: name.into(), from: ValueFrom::Rows { parameter, more }, value, column: None }
    }
}

/// Where the value of an operand comes from.
pub(super) fn from(operand: &Operand) -> ValueFrom {
    match operand {
        Operand::Parameter(index) => ValueFrom::Parameter { index: *index, part: None },
        Operand::Constant(_) | Operand::Path(_) => ValueFrom::Statement,
    }
}

/// One part of an identity that comes from there.
fn part_of(from: ValueFrom, part: usize) -> ValueFrom {
    match from {
        ValueFrom::Parameter { index, .. } => ValueFrom::Parameter { index, part: Some(part) },
        ValueFrom::Loop { field, .. } => ValueFrom::Loop { field, part: Some(part) },
        ValueFrom::Identity { .. } => ValueFrom::Identity { part },
        ValueFrom::Statement
        | ValueFrom::TimeBucket { .. }
        | ValueFrom::Rows { .. }
        | ValueFrom::Before
        | ValueFrom::After
        | ValueFrom::Other => from,
    }
}

/// The bucket that an instant is in, for a column.
pub(super) fn time_bucket(unit: TimeBucket, at: &Term, column: usize) -> Term {
    let value = at.value.as_ref().map(|value| unit.of_value(value));
    let of = match at.from {
        ValueFrom::Parameter { index, part } => Some(InstantFrom::Parameter { index, part }),
        ValueFrom::Loop { field, part } => Some(InstantFrom::Loop { field, part }),
        ValueFrom::Identity { part } => Some(InstantFrom::Identity { part }),
        ValueFrom::Statement
        | ValueFrom::TimeBucket { .. }
        | ValueFrom::Rows { .. }
        | ValueFrom::Before
        | ValueFrom::After
        | ValueFrom::Other => None,
    };
    let from = of.map_or(at.from, |of| ValueFrom::TimeBucket { unit, of });
    Term { name: format!("{}.{}", at.name, unit.name()).into(), from, value, column: Some(column) }
}

/// A value as one of a column: numbers in the column's own type. What fits no column stays, and equals nothing there.
pub(super) fn fitted(holds: &Holds, value: Value) -> Value {
    match holds {
        Holds::Scalar(ty) => typed::basic(&value, ty).unwrap_or(value),
        Holds::Ordinal | Holds::Locator | Holds::Tree { .. } => value,
    }
}
