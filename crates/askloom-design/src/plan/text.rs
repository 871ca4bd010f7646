//! Paths, conditions and clauses as people write them.

use askloom_model::{
    Aggregate, AggregateFunction, Collection, Comparison, Conceptual, Condition, Constant, InSet, Leaf,
    Operand, OrderBy, OrderTerm, Parameter, Path, Position, PositionId, Table, Type,
};

/// What names mean in a statement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words<'w> {
    pub(super) conceptual: &'w Conceptual,
    pub(super) positions: &'w Table<PositionId, Position>,
    pub(super) parameters: &'w [Parameter],
}

/// A path of a collection as it would stand in a query.
pub(crate) fn path_text(conceptual: &Conceptual, collection: &Collection, path: &Path) -> String {
    Words { conceptual, positions: &collection.source.positions, parameters: &[] }.path(path)
}

impl Words<'_> {
    /// `firstPlayer.score`
    pub(super) fn path(&self, path: &Path) -> String {
        let mut names: Vec<String> = self.position(path.position).into_iter().collect();
        names.extend(path.hops.iter().map(|&hop| self.conceptual.ends[hop].name.clone()));
        match path.leaf {
            Leaf::Attribute(id) => names.push(self.conceptual.attributes[id].name.clone()),
            Leaf::Reference(id) => names.push(self.conceptual.ends[id].name.clone()),
            Leaf::Itself if names.is_empty() => names.push(self.class(path.position)),
            Leaf::Itself => {}
            Leaf::Bucket(_) => names.push("bucket".to_owned()),
        }
        names.join(".")
    }

    /// The name of a joined position: its alias, or how it is reached. None for the main one.
    pub(super) fn position(&self, position: PositionId) -> Option<String> {
        let row = &self.positions[position];
        let hop = row.from?;
        if let Some(alias) = &row.alias {
            return Some(alias.clone());
        }
        let member = self.conceptual.member_name(hop.step);
        Some(match self.position(hop.parent) {
            Some(parent) => format!("{parent}.{member}"),
            None => member.to_owned(),
        })
    }

    fn class(&self, position: PositionId) -> String {
        let class = self.positions[position].class;
        class.map_or_else(|| "element".to_owned(), |class| self.conceptual.classes[class].name.clone())
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
            Some(parameter) => format!(":{}", parameter.name),
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
        let both = |left: &Operand, word: &str, right: &Operand| {
            let ty = self.type_of(&[left, right]);
            format!("{} {word} {}", self.operand(left, ty), self.operand(right, ty))
        };
        let range = |value: &Operand, word: &str, low: &Operand, high: &Operand| {
            let ty = self.type_of(&[value]);
            format!("{} AND {}", both(value, word, low), self.operand(high, ty))
        };
        match condition {
            Condition::And(terms) => self.joined(terms, " AND "),
            Condition::Or(terms) => self.joined(terms, " OR "),
            Condition::Not(inner) => {
                if let Condition::IsNull { value } = &**inner {
                    format!("{} IS NOT NULL", self.operand(value, None))
                } else {
                    format!("NOT {}", self.term(inner))
                }
            }
            Condition::Compare { left, op, right } => both(left, sign(*op), right),
            Condition::Between { value, low, high } => range(value, "BETWEEN", low, high),
            Condition::InBox { value, low, high } => range(value, "IN BOX", low, high),
            Condition::In { value, set } => {
                format!("{} IN {}", self.operand(value, None), self.set(value, set))
            }
            Condition::StartsWith { value, prefix } => both(value, "STARTS WITH", prefix),
            Condition::IsNull { value } => format!("{} IS NULL", self.operand(value, None)),
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
