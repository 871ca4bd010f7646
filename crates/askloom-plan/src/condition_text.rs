//! The text of a condition in the language. Explanations and saved designs print conditions here, and nowhere else.

use crate::planner::is_single;
use askloom_model::{
    ClassId, Comparison, Conceptual, Condition, Constant, Id, InSet, Leaf, Member, Operand, Path, Position,
    PositionId, Table, Type,
};

/// Where NOT stands if a predicate about single values is negated. Both forms mean the same there; over many values
/// they differ, and the condition itself says which of the two it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NegationStyle {
    /// `note IS NOT NULL`, as people write it.
    BeforeOperator,
    /// `NOT note IS NULL`. Saved designs keep this form, since a design is refused if its text changes.
    BeforeCondition,
}

/// Prints conditions over the positions of a query or a collection.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "it holds functions")]
pub struct ConditionPrinter<'c> {
    pub conceptual: &'c Conceptual,
    pub positions: &'c Table<PositionId, Position>,
    /// Writes a path. A query has other paths than a saved design.
    pub path: &'c dyn Fn(&Path) -> String,
    /// Writes the parameter at an index.
    pub parameter: &'c dyn Fn(usize) -> String,
    pub negation: NegationStyle,
}

/// How a predicate is written: `x IN …` or `x NOT IN …`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Negated,
}

impl ConditionPrinter<'_> {
    /// The condition. Several terms of an AND or OR get no parentheses around all of them.
    #[must_use]
    pub fn text(&self, condition: &Condition) -> String {
        match condition {
            Condition::And(terms) => self.joined(terms, " AND "),
            Condition::Or(terms) => self.joined(terms, " OR "),
            Condition::Not(inner) if inner.has_negated_form() && self.negates_operator(inner) => {
                self.predicate(inner, Form::Negated)
            }
            Condition::Not(inner) => format!("NOT {}", self.term(inner)),
            Condition::Negated(inner) if inner.has_negated_form() => self.predicate(inner, Form::Negated),
            // The language has no other form for it. Of a condition made of others, NOT means the same.
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

    /// Whether NOT around this predicate is printed before its operator.
    fn negates_operator(&self, predicate: &Condition) -> bool {
        match self.negation {
            NegationStyle::BeforeOperator => {
                predicate.paths().into_iter().all(|path| is_single(self.conceptual, path))
            }
            NegationStyle::BeforeCondition => false,
        }
    }

    fn joined(&self, terms: &[Condition], word: &str) -> String {
        terms.iter().map(|term| self.term(term)).collect::<Vec<_>>().join(word)
    }

    fn term(&self, condition: &Condition) -> String {
        let text = self.text(condition);
        if matches!(condition, Condition::And(_) | Condition::Or(_)) { format!("({text})") } else { text }
    }

    /// A predicate in one of its forms. A condition that is made of others has only the plain form.
    fn predicate(&self, predicate: &Condition, form: Form) -> String {
        let not = match form {
            Form::Plain => "",
            Form::Negated => "NOT ",
        };
        let two = |value: &Operand, word: &str, other: &Operand| {
            let [value, other] = self.operands([value, other]);
            format!("{value} {not}{word} {other}")
        };
        match predicate {
            Condition::And(_) | Condition::Or(_) | Condition::Not(_) | Condition::Negated(_) => {
                self.text(predicate)
            }
            Condition::Compare { left, op, right } => {
                let [left, right] = self.operands([left, right]);
                format!("{left} {} {right}", sign(*op))
            }
            Condition::Between { value, low, high } => {
                let [value, low, high] = self.operands([value, low, high]);
                format!("{value} {not}BETWEEN {low} AND {high}")
            }
            Condition::InBox { value, low, high } => {
                let [value, low, high] = self.operands([value, low, high]);
                format!("{value} {not}IN BOX ({low}, {high})")
            }
            Condition::In { value, set } => {
                format!("{} {not}IN {}", self.operand(value), self.set(value, set))
            }
            Condition::StartsWith { value, prefix } => two(value, "STARTS WITH", prefix),
            Condition::IsNull { value } => format!("{} IS {not}NULL", self.operand(value)),
            Condition::Matches { value, words } => two(value, "MATCHES", words),
            Condition::Under { value, of } => two(value, "UNDER", of),
            Condition::Above { value, of } => two(value, "ABOVE", of),
            Condition::Within { value, km, of } => {
                let [value, km, of] = self.operands([value, km, of]);
                format!("{value} {not}WITHIN {km} KM OF {of}")
            }
        }
    }

    fn set(&self, value: &Operand, set: &InSet) -> String {
        match set {
            InSet::List(items) => {
                let values = self.enum_values(&[value]);
                let items: Vec<String> = items.iter().map(|item| self.operand_of(item, values)).collect();
                format!("({})", items.join(", "))
            }
            InSet::Parameter(index) => (self.parameter)(*index),
        }
    }

    /// One operand that stands by itself.
    #[must_use]
    pub fn operand(&self, operand: &Operand) -> String {
        self.operand_of(operand, None)
    }

    /// Operands of one predicate. An enum constant among them is a value of the enum that a path among them leads to.
    fn operands<const N: usize>(&self, operands: [&Operand; N]) -> [String; N] {
        let values = self.enum_values(&operands);
        operands.map(|operand| self.operand_of(operand, values))
    }

    fn operand_of(&self, operand: &Operand, values: Option<&[String]>) -> String {
        match operand {
            Operand::Path(path) => (self.path)(path),
            Operand::Constant(constant) => constant_text(constant, values),
            Operand::Parameter(index) => (self.parameter)(*index),
        }
    }

    fn enum_values(&self, operands: &[&Operand]) -> Option<&[String]> {
        enum_values(self.conceptual, self.positions, operands)
    }
}

/// The values of the enum that the paths among the operands of a predicate lead to.
#[must_use]
pub fn enum_values<'c>(
    conceptual: &'c Conceptual,
    positions: &Table<PositionId, Position>,
    operands: &[&Operand],
) -> Option<&'c [String]> {
    operands.iter().find_map(|operand| match operand {
        Operand::Path(path) => enum_at(conceptual, positions, path),
        Operand::Constant(_) | Operand::Parameter(_) => None,
    })
}

/// The values of the enum at the end of a path: an attribute, an element of a list, or the identifier of an instance.
fn enum_at<'c>(
    conceptual: &'c Conceptual,
    positions: &Table<PositionId, Position>,
    path: &Path,
) -> Option<&'c [String]> {
    let of = match path.leaf {
        Leaf::Attribute(id) => Member::Attribute(id),
        Leaf::Reference(id) => Member::End(id),
        Leaf::Itself => match path.hops.last() {
            Some(&end) => Member::End(end),
            None => {
                let position =
                    (path.position.index() < positions.len()).then(|| &positions[path.position])?;
                match position.class {
                    Some(class) => return enum_of_identifier(conceptual, class),
                    None => position.from?.step,
                }
            }
        },
        Leaf::Bucket(_) | Leaf::TimeBucket(..) => return None,
    };
    match of {
        Member::Attribute(id) => match &conceptual.attributes[id].ty {
            Type::Enum(values) => Some(values),
            _another_type => None,
        },
        Member::End(id) => enum_of_identifier(conceptual, conceptual.ends[id].target),
    }
}

/// A literal stands for an instance if one attribute identifies it.
fn enum_of_identifier(conceptual: &Conceptual, class: ClassId) -> Option<&[String]> {
    match conceptual.classes[class].identifier.as_slice() {
        [Member::Attribute(id)] => match &conceptual.attributes[*id].ty {
            Type::Enum(values) => Some(values),
            _another_type => None,
        },
        _several_or_none => None,
    }
}

/// The sign of a comparison.
#[must_use]
pub fn sign(op: Comparison) -> &'static str {
    match op {
        Comparison::Equal => "=",
        Comparison::NotEqual => "!=",
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
    }
}

fn constant_text(constant: &Constant, values: Option<&[String]>) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    match constant {
        Constant::Null => "null".to_owned(),
        Constant::Bool(value) => value.to_string(),
        Constant::Int(value) => value.to_string(),
        Constant::Decimal(digits) => digits.clone(),
        Constant::Double(value) => value.to_string(),
        Constant::Text(text) => quoted(text),
        Constant::Enum(index) => {
            let index = usize::try_from(*index).ok();
            let value = index.and_then(|index| values?.get(index));
            value.map_or_else(|| index.unwrap_or_default().to_string(), |value| quoted(value))
        }
        Constant::Date(date) => quoted(&date.to_string()),
        Constant::Time(time) => quoted(&time.to_string()),
        Constant::Timestamp(timestamp) => quoted(&timestamp.to_string()),
        Constant::Uuid(uuid) => quoted(&uuid.to_string()),
    }
}
