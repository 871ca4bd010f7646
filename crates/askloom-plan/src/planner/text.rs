//! Paths, conditions and clauses as people write them.

use super::is_single;
use crate::naming::name;
use askloom_model::{
    Aggregate, AggregateFunction, Collection, Comparison, Conceptual, Condition, Constant, InSet, Leaf,
    Operand, OrderBy, OrderTerm, Parameter, Path, Position, PositionId, Query, Table, Type,
};

/// How a predicate is written: `x IN …` or `x NOT IN …`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Negated,
}

/// What names mean in a statement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words<'w> {
    pub(super) conceptual: &'w Conceptual,
    pub(super) positions: &'w Table<PositionId, Position>,
    pub(super) parameters: &'w [Parameter],
}

/// A path of a collection as it would stand in a query.
pub fn path_text(conceptual: &Conceptual, collection: &Collection, path: &Path) -> String {
    Words { conceptual, positions: &collection.source.positions, parameters: &[] }.path(path)
}

/// The condition of a query as the language writes it.
#[must_use]
pub fn condition_text(conceptual: &Conceptual, query: &Query) -> Option<String> {
    let words = Words { conceptual, positions: &query.positions, parameters: &query.parameters };
    query.condition.as_ref().map(|condition| words.condition(condition))
}

impl Words<'_> {
    /// `firstPlayer.score`
    pub(super) fn path(&self, path: &Path) -> String {
        let mut names: Vec<String> = self.position(path.position).into_iter().collect();
        names.extend(path.hops.iter().map(|&hop| name(&self.conceptual.ends[hop].name)));
        match path.leaf {
            Leaf::Attribute(id) => names.push(name(&self.conceptual.attributes[id].name)),
            Leaf::Reference(id) => names.push(name(&self.conceptual.ends[id].name)),
            Leaf::Itself if names.is_empty() => names.push(self.class(path.position)),
            Leaf::Itself => {}
            Leaf::Bucket(_) | Leaf::TimeBucket(..) => names.push("bucket".to_owned()),
        }
        names.join(".")
    }

    /// The name of a joined position: its alias, or how it is reached. None for the main one.
    pub(super) fn position(&self, position: PositionId) -> Option<String> {
        let row = &self.positions[position];
        let hop = row.from?;
        if let Some(alias) = &row.alias {
            return Some(name(alias));
        }
        let member = name(self.conceptual.member_name(hop.step));
        Some(match self.position(hop.parent) {
            Some(parent) => format!("{parent}.{member}"),
            None => member,
        })
    }

    fn class(&self, position: PositionId) -> String {
        let class = self.positions[position].class;
        class.map_or_else(|| "element".to_owned(), |class| name(&self.conceptual.classes[class].name))
    }

    fn operand(&self, operand: &Operand, ty: Option<&Type>) -> String {
        match operand {
            Operand::Path(path) => self.path(path),
            Operand::Constant(constant) => constant_text(constant, ty),
            Operand::Parameter(index) => self.parameter(*index),
        }
    }

    fn parameter(&self, index: usize) -> String {
        match self.parameters.get(index) {
            Some(parameter) => format!(":{}", name(&parameter.name)),
            None => format!(":{}", index + 1),
        }
    }

    pub(super) fn limit(&self, operand: &Operand) -> String {
        self.operand(operand, None)
    }

    /// The type that constants beside this operand have.
    fn type_of(&self, operands: &[&Operand]) -> Option<&Type> {
        operands.iter().find_map(|operand| match operand {
            Operand::Path(Path { leaf: Leaf::Attribute(id), .. }) => {
                Some(&self.conceptual.attributes[*id].ty)
            }
            Operand::Path(path) if path.leaf == Leaf::Itself => {
                let askloom_model::Member::Attribute(id) = self.positions[path.position].from?.step else {
                    return None;
                };
                Some(&self.conceptual.attributes[id].ty)
            }
            Operand::Path(_) | Operand::Constant(_) | Operand::Parameter(_) => None,
        })
    }

    /// A condition; several terms of an AND need no parentheses.
    pub(super) fn condition(&self, condition: &Condition) -> String {
        match condition {
            Condition::And(terms) => self.joined(terms, " AND "),
            Condition::Or(terms) => self.joined(terms, " OR "),
            // Of single values both forms say the same, and this one reads better.
            Condition::Not(inner) if inner.has_negated_form() && self.is_single(inner) => {
                self.predicate(inner, Form::Negated)
            }
            Condition::Not(inner) => format!("NOT {}", self.term(inner)),
            Condition::Negated(inner) if inner.has_negated_form() => self.predicate(inner, Form::Negated),
            // The language has no form for it; of what is made of others it means the same.
            Condition::Negated(inner) => format!("NOT {}", self.term(inner)),
            Condition::Compare { .. }
            | Condition::Between { .. }
            | Condition::In { .. }
            | Condition::StartsWith { .. }
            | Condition::IsNull { .. }
            | Condition::Matches { .. }
            | Condition::Under { .. }
            | Condition::Above { .. }
            | Condition::Within { .. }
            | Condition::InBox { .. } => self.predicate(condition, Form::Plain),
        }
    }

    /// Whether a condition is about single values.
    fn is_single(&self, condition: &Condition) -> bool {
        condition.paths().into_iter().all(|path| is_single(self.conceptual, path))
    }

    /// A predicate in one of its forms. What is made of other conditions is none, and has only the plain one.
    fn predicate(&self, predicate: &Condition, form: Form) -> String {
        let not = match form {
            Form::Plain => "",
            Form::Negated => "NOT ",
        };
        let both = |left: &Operand, word: &str, right: &Operand| {
            let ty = self.type_of(&[left, right]);
            format!("{} {not}{word} {}", self.operand(left, ty), self.operand(right, ty))
        };
        match predicate {
            Condition::And(_) | Condition::Or(_) | Condition::Not(_) | Condition::Negated(_) => {
                self.condition(predicate)
            }
            Condition::Compare { left, op, right } => {
                let ty = self.type_of(&[left, right]);
                format!("{} {} {}", self.operand(left, ty), sign(*op), self.operand(right, ty))
            }
            Condition::Between { value, low, high } => {
                let high = self.operand(high, self.type_of(&[value]));
                format!("{} AND {high}", both(value, "BETWEEN", low))
            }
            Condition::InBox { value, low, high } => {
                let [value, low, high] = [value, low, high].map(|operand| self.operand(operand, None));
                format!("{value} {not}IN BOX ({low}, {high})")
            }
            Condition::In { value, set } => {
                format!("{} {not}IN {}", self.operand(value, None), self.set(value, set))
            }
            Condition::StartsWith { value, prefix } => both(value, "STARTS WITH", prefix),
            Condition::IsNull { value } => format!("{} IS {not}NULL", self.operand(value, None)),
            Condition::Matches { value, words } => both(value, "MATCHES", words),
            Condition::Under { value, of } => both(value, "UNDER", of),
            Condition::Above { value, of } => both(value, "ABOVE", of),
            Condition::Within { value, km, of } => {
                format!("{} KM OF {}", both(value, "WITHIN", km), self.operand(of, None))
            }
        }
    }

    fn set(&self, value: &Operand, set: &InSet) -> String {
        let ty = self.type_of(&[value]);
        match set {
            InSet::List(items) => {
                let items: Vec<String> = items.iter().map(|item| self.operand(item, ty)).collect();
                format!("({})", items.join(", "))
            }
            InSet::Parameter(index) => self.parameter(*index),
        }
    }

    fn joined(&self, terms: &[Condition], word: &str) -> String {
        terms.iter().map(|term| self.term(term)).collect::<Vec<_>>().join(word)
    }

    fn term(&self, condition: &Condition) -> String {
        let text = self.condition(condition);
        if matches!(condition, Condition::And(_) | Condition::Or(_)) { format!("({text})") } else { text }
    }

    pub(super) fn order(&self, terms: &[OrderTerm]) -> String {
        let term = |term: &OrderTerm| {
            let by = match &term.by {
                OrderBy::Path(path) => self.path(path),
                OrderBy::Aggregate(aggregate) => self.aggregate(aggregate),
            };
            if term.descending { format!("{by} DESC") } else { by }
        };
        terms.iter().map(term).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn aggregate(&self, aggregate: &Aggregate) -> String {
        let function = match aggregate.function {
            AggregateFunction::Count => "COUNT",
            AggregateFunction::Sum => "SUM",
            AggregateFunction::Avg => "AVG",
            AggregateFunction::Min => "MIN",
            AggregateFunction::Max => "MAX",
        };
        let of = aggregate.of.as_ref().map_or_else(|| "*".to_owned(), |path| self.path(path));
        let distinct = if aggregate.distinct { "DISTINCT " } else { "" };
        format!("{function}({distinct}{of})")
    }
}

fn sign(op: Comparison) -> &'static str {
    match op {
        Comparison::Equal => "=",
        Comparison::NotEqual => "!=",
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
    }
}

fn constant_text(constant: &Constant, ty: Option<&Type>) -> String {
    match constant {
        Constant::Null => "NULL".to_owned(),
        Constant::Bool(value) => value.to_string(),
        Constant::Int(value) => value.to_string(),
        Constant::Decimal(digits) => digits.clone(),
        Constant::Double(value) => value.to_string(),
        Constant::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Constant::Enum(index) => {
            let Some(Type::Enum(values)) = ty else { return format!("'{index}'") };
            let name = usize::try_from(*index).ok().and_then(|index| values.get(index));
            name.map_or_else(|| format!("'{index}'"), |name| format!("'{name}'"))
        }
        Constant::Date(date) => format!("'{date}'"),
        Constant::Time(time) => format!("'{time}'"),
        Constant::Timestamp(timestamp) => format!("'{timestamp}'"),
        Constant::Uuid(uuid) => format!("'{uuid}'"),
    }
}
