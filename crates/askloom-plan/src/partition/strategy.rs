//! The rule sets that have a name in the papers, and the mixes of the guidelines.

use askloom_model::{ClassId, Rule, RuleStep, Span};

/// How data is represented that no special rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// Entry per aggregate object, EAO: `/C/*`.
    PerAggregate,
    /// Entry per top-level field, ETF: `/C/*/*`.
    PerTopLevelField,
    /// Entry per atomic value, EAV: `/C/*/**`.
    PerAtomicValue,
}

impl Strategy {
    pub const ALL: [Self; 3] = [Self::PerAggregate, Self::PerTopLevelField, Self::PerAtomicValue];

    /// As the papers call it.
    #[must_use]
    pub fn abbreviation(self) -> &'static str {
        match self {
            Self::PerAggregate => "EAO",
            Self::PerTopLevelField => "ETF",
            Self::PerAtomicValue => "EAV",
        }
    }

    /// The rule; without a class, for every class.
    #[must_use]
    pub fn rule(self, class: Option<ClassId>) -> Rule {
        let steps = match self {
            Self::PerAggregate => Vec::new(),
            Self::PerTopLevelField => vec![RuleStep::AnyField { each: false }],
            Self::PerAtomicValue => vec![RuleStep::EachAtom],
        };
        Rule { class, steps, span: Span::default() }
    }
}

/// An entry for each element of these lists, and the rest by a strategy.
#[must_use]
pub fn elements_apart(class: Option<ClassId>, lists: &[&str], rest: Strategy) -> Vec<Rule> {
    let each = |&name: &&str| Rule {
        class,
        steps: vec![RuleStep::Field { name: name.to_owned(), each: true }],
        span: Span::default(),
    };
    lists.iter().map(each).chain([rest.rule(class)]).collect()
}
