//! Paths and clauses as people write them.

use crate::condition_text::{ConditionPrinter, NegationStyle};
use crate::naming::name;
use askloom_model::{
    Aggregate, AggregateFunction, Collection, Conceptual, Condition, Leaf, Operand, OrderBy, OrderTerm,
    Parameter, Path, Position, PositionId, Query, Table,
};

/// Words that are no names where an operand stands. A path of several names can start with one of them.
const RESERVED: [&str; 19] = [
    "and",
    "as",
    "by",
    "false",
    "from",
    "group",
    "include",
    "including",
    "join",
    "left",
    "limit",
    "not",
    "null",
    "or",
    "order",
    "orderby",
    "page",
    "true",
    "where",
];

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

    fn parameter(&self, index: usize) -> String {
        match self.parameters.get(index) {
            Some(parameter) => format!(":{}", name(&parameter.name)),
            None => format!(":{}", index + 1),
        }
    }

    pub(super) fn limit(&self, operand: &Operand) -> String {
        self.printed(|printer| printer.operand(operand))
    }

    pub(super) fn condition(&self, condition: &Condition) -> String {
        self.printed(|printer| printer.text(condition))
    }

    /// A path beside an operator, where the language would take some words for keywords or literals.
    fn operand(&self, path: &Path) -> String {
        let text = self.path(path);
        if RESERVED.iter().any(|word| word.eq_ignore_ascii_case(&text)) { format!("`{text}`") } else { text }
    }

    fn printed(&self, print: impl Fn(ConditionPrinter<'_>) -> String) -> String {
        print(ConditionPrinter {
            conceptual: self.conceptual,
            positions: self.positions,
            path: &|path| self.operand(path),
            parameter: &|index| self.parameter(index),
            negation: NegationStyle::BeforeOperator,
        })
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
