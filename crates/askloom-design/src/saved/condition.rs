//! Conditions as a small tree of names, which is read, and as text, which is for people.

use super::path::Paths;
use askloom_model::{Comparison, Condition, Constant, InSet, Operand, Type};
use askloom_plan::condition_text::{ConditionPrinter, NegationStyle, enum_values, sign};
use serde_json::{Value as Json, json};

const COMPARISONS: [Comparison; 6] = [
    Comparison::Equal,
    Comparison::NotEqual,
    Comparison::Less,
    Comparison::LessOrEqual,
    Comparison::Greater,
    Comparison::GreaterOrEqual,
];

/// The operands of a condition that is not made of others, with its word; nothing for `IN` and what is.
fn plain(condition: &Condition) -> Option<(&'static str, Vec<&Operand>)> {
    match condition {
        Condition::Between { value, low, high } => Some(("between", vec![value, low, high])),
        Condition::StartsWith { value, prefix } => Some(("starts_with", vec![value, prefix])),
        Condition::Matches { value, words } => Some(("matches", vec![value, words])),
        Condition::Under { value, of } => Some(("under", vec![value, of])),
        Condition::Above { value, of } => Some(("above", vec![value, of])),
        Condition::Within { value, km, of } => Some(("within", vec![value, km, of])),
        Condition::InBox { value, low, high } => Some(("in_box", vec![value, low, high])),
        Condition::And(_)
        | Condition::Or(_)
        | Condition::Not(_)
        | Condition::Negated(_)
        | Condition::Compare { .. }
        | Condition::In { .. }
        | Condition::IsNull { .. } => None,
    }
}

impl Paths<'_> {
    pub(super) fn condition(&self, condition: &Condition) -> Json {
        let tree = |operand: &Operand, others: &[&Operand]| self.operand(operand, self.enum_of(others));
        if let Some((word, operands)) = plain(condition) {
            let trees: Vec<Json> = operands.iter().map(|operand| tree(operand, &operands)).collect();
            return json!({ word: trees });
        }
        match condition {
            Condition::And(terms) => json!({ "and": self.conditions(terms) }),
            Condition::Or(terms) => json!({ "or": self.conditions(terms) }),
            Condition::Not(inner) => json!({ "not": self.condition(inner) }),
            Condition::Negated(inner) => json!({ "negated": self.condition(inner) }),
            Condition::Compare { left, op, right } => {
                let both = [left, right];
                json!({ "compare": [tree(left, &both), sign(*op), tree(right, &both)] })
            }
            Condition::In { value, set: InSet::List(items) } => {
                let of = [value];
                let items: Vec<Json> = items.iter().map(|item| tree(item, &of)).collect();
                json!({ "in": [tree(value, &of), items] })
            }
            Condition::In { value, set: InSet::Parameter(index) } => {
                json!({ "in": [tree(value, &[value]), { "parameter": index }] })
            }
            Condition::IsNull { value } => json!({ "is_null": tree(value, &[value]) }),
            Condition::Between { .. }
            | Condition::StartsWith { .. }
            | Condition::Matches { .. }
            | Condition::Under { .. }
            | Condition::Above { .. }
            | Condition::Within { .. }
            | Condition::InBox { .. } => Json::Null,
        }
    }

    fn conditions(&self, terms: &[Condition]) -> Vec<Json> {
        terms.iter().map(|term| self.condition(term)).collect()
    }

    fn operand(&self, operand: &Operand, values: Option<&[String]>) -> Json {
        match operand {
            Operand::Path(path) => json!({ "path": self.write(path) }),
            Operand::Parameter(index) => json!({ "parameter": index }),
            Operand::Constant(constant) => match constant {
                Constant::Null => Json::Null,
                Constant::Bool(value) => json!({ "bool": value }),
                Constant::Int(value) => json!({ "int": value }),
                Constant::Decimal(digits) => json!({ "decimal": digits }),
                Constant::Double(value) => json!({ "double": value }),
                Constant::Text(text) => json!({ "text": text }),
                Constant::Enum(index) => match values.and_then(|values| values.get(*index as usize)) {
                    Some(value) => json!({ "enum": value }),
                    None => json!({ "enum": index }),
                },
                Constant::Date(date) => json!({ "date": date.to_string() }),
                Constant::Time(time) => json!({ "time": time.to_string() }),
                Constant::Timestamp(at) => json!({ "timestamp": at.to_string() }),
                Constant::Uuid(uuid) => json!({ "uuid": uuid.to_string() }),
            },
        }
    }

    /// The values of the enum that the paths among these operands lead to.
    fn enum_of(&self, operands: &[&Operand]) -> Option<&[String]> {
        enum_values(self.conceptual, &self.positions, operands)
    }

    /// The condition as the language writes it, but for its paths, which are those of saved designs.
    pub(super) fn condition_text(&self, condition: &Condition) -> String {
        let printer = ConditionPrinter {
            conceptual: self.conceptual,
            positions: &self.positions,
            path: &|path| self.write(path),
            parameter: &|index| format!(":{index}"),
            negation: NegationStyle::BeforeCondition,
        };
        printer.text(condition)
    }

    /// Reads a tree.
    pub(super) fn read_condition(&self, tree: &Json) -> Result<Condition, String> {
        let Some((word, inner)) = only_member(tree) else {
            return Err(format!("a condition is an object of one member, and here is {}", short(tree)));
        };
        let wrong = || format!("`{word}` is not followed by what it needs, but by {}", short(inner));
        let items = inner.as_array().map(Vec::as_slice);
        let terms = || -> Result<Vec<Condition>, String> {
            items.ok_or_else(wrong)?.iter().map(|term| self.read_condition(term)).collect()
        };
        match (word, items) {
            ("and", _) => Ok(Condition::And(terms()?)),
            ("or", _) => Ok(Condition::Or(terms()?)),
            ("not", _) => Ok(Condition::Not(Box::new(self.read_condition(inner)?))),
            ("negated", _) => {
                let predicate = self.read_condition(inner)?;
                if predicate.has_negated_form() {
                    Ok(Condition::Negated(Box::new(predicate)))
                } else {
                    Err(wrong())
                }
            }
            ("is_null", _) => Ok(Condition::IsNull { value: self.read_operand(inner, None)? }),
            ("compare", Some([left, op, right])) => {
                let known = |known: &Comparison| op.as_str() == Some(sign(*known));
                let op = COMPARISONS.into_iter().find(known).ok_or_else(wrong)?;
                let [left, right] = self.read_operands([left, right])?;
                Ok(Condition::Compare { left, op, right })
            }
            ("in", Some([value, Json::Array(list)])) => {
                let value = self.read_operand(value, None)?;
                let values = self.enum_of(&[&value]);
                let list: Result<_, _> = list.iter().map(|item| self.read_operand(item, values)).collect();
                Ok(Condition::In { value, set: InSet::List(list?) })
            }
            ("between", Some([value, low, high])) => {
                let [value, low, high] = self.read_operands([value, low, high])?;
                Ok(Condition::Between { value, low, high })
            }
            ("in_box", Some([value, low, high])) => {
                let [value, low, high] = self.read_operands([value, low, high])?;
                Ok(Condition::InBox { value, low, high })
            }
            ("within", Some([value, km, of])) => {
                let [value, km, of] = self.read_operands([value, km, of])?;
                Ok(Condition::Within { value, km, of })
            }
            ("starts_with", Some([value, prefix])) => {
                let [value, prefix] = self.read_operands([value, prefix])?;
                Ok(Condition::StartsWith { value, prefix })
            }
            ("matches", Some([value, words])) => {
                let [value, words] = self.read_operands([value, words])?;
                Ok(Condition::Matches { value, words })
            }
            ("under", Some([value, of])) => {
                let [value, of] = self.read_operands([value, of])?;
                Ok(Condition::Under { value, of })
            }
            ("above", Some([value, of])) => {
                let [value, of] = self.read_operands([value, of])?;
                Ok(Condition::Above { value, of })
            }
            (
                "compare" | "in" | "between" | "in_box" | "within" | "starts_with" | "matches" | "under"
                | "above",
                _,
            ) => Err(wrong()),
            (_, _) => Err(format!("no condition is called `{word}`")),
        }
    }

    /// Operands beside each other: an enum's value is one of the others' enum.
    fn read_operands<const N: usize>(&self, trees: [&Json; N]) -> Result<[Operand; N], String> {
        let paths: Vec<Operand> = trees
            .iter()
            .filter(|tree| only_member(tree).is_some_and(|(word, _)| word == "path"))
            .map(|tree| self.read_operand(tree, None))
            .collect::<Result<_, _>>()?;
        let values = self.enum_of(&paths.iter().collect::<Vec<_>>());
        let mut read: Vec<Operand> = Vec::with_capacity(N);
        for tree in trees {
            read.push(self.read_operand(tree, values)?);
        }
        read.try_into().map_err(|_| "an operand is missing".to_owned())
    }

    fn read_operand(&self, tree: &Json, values: Option<&[String]>) -> Result<Operand, String> {
        if tree.is_null() {
            return Ok(Operand::Constant(Constant::Null));
        }
        let Some((word, inner)) = only_member(tree) else {
            return Err(format!("an operand is an object of one member, and here is {}", short(tree)));
        };
        let wrong = || format!("{} is no {word}", short(inner));
        let text = inner.as_str();
        let constant = match (word, text) {
            ("path", Some(text)) => return self.read(text).map(Operand::Path),
            ("parameter", _) => return Err("a collection's condition has no parameters".to_owned()),
            ("bool", _) => inner.as_bool().map(Constant::Bool),
            ("int", _) => inner.as_i64().map(Constant::Int),
            ("double", _) => inner.as_number().and_then(|n| n.to_string().parse().ok()).map(Constant::Double),
            ("decimal", Some(text)) => {
                let value = askloom_model::from_text(text, &Type::Decimal);
                value.is_ok().then(|| Constant::Decimal(text.to_owned()))
            }
            ("text", Some(text)) => Some(Constant::Text(text.to_owned())),
            ("enum", Some(text)) => {
                let index = values.unwrap_or_default().iter().position(|value| value == text);
                index.and_then(|index| u32::try_from(index).ok()).map(Constant::Enum)
            }
            ("enum", None) => inner.as_u64().and_then(|index| u32::try_from(index).ok()).map(Constant::Enum),
            ("date", Some(text)) => text.parse().ok().map(Constant::Date),
            ("time", Some(text)) => text.parse().ok().map(Constant::Time),
            ("timestamp", Some(text)) => text.parse().ok().map(Constant::Timestamp),
            ("uuid", Some(text)) => text.parse().ok().map(Constant::Uuid),
            (_, _) => None,
        };
        constant.map(Operand::Constant).ok_or_else(wrong)
    }
}

fn only_member(tree: &Json) -> Option<(&str, &Json)> {
    let object = tree.as_object().filter(|object| object.len() == 1)?;
    object.iter().next().map(|(word, inner)| (word.as_str(), inner))
}

/// The beginning of a value, as messages show it.
pub(super) fn short(json: &Json) -> String {
    const LONGEST: usize = 40;
    let text = json.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("`{}…`", text.get(..cut).unwrap_or_default()),
        None => format!("`{text}`"),
    }
}
