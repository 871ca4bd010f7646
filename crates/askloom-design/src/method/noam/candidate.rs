//! Ways to cut the aggregates of a class.

use super::cluster::clusters;
use super::listed;
use super::usage::Use;
use crate::simple;
use askloom_model::{ClassId, Conceptual, Member, Model, Rule, RuleStep, Span};
use askloom_plan::cost::Sizes;
use askloom_plan::partition::{self, Strategy, elements_apart};
use std::collections::BTreeSet;

/// No more candidates are priced for one class.
const MOST: usize = 24;
/// Of so many lists, every choice of those that are taken apart is a candidate: of more, the largest, and all.
const LISTS: usize = 3;
/// A field that is less of its aggregate than this share is not worth an entry of its own.
const SMALL: f64 = 0.05;

/// A partition, and what to call it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidate {
    /// By what it does, if nobody has given it a name.
    label: Option<String>,
    /// The names that the model gives it.
    given: Vec<String>,
    pub(super) rules: Vec<Rule>,
}

impl Candidate {
    fn new(label: String, rules: Vec<Rule>) -> Self {
        Self { label: Some(label), given: Vec::new(), rules }
    }

    pub(super) fn name(&self) -> String {
        let given = listed(&self.given);
        match &self.label {
            Some(label) if given.is_empty() => label.clone(),
            Some(label) => format!("{given} ({label})"),
            None => given,
        }
    }
}

/// A top-level field of the class or of a subclass.
struct Field<'f> {
    name: &'f str,
    bytes: f64,
    /// Whether it is a list that usually has several elements.
    several: bool,
    id: bool,
}

pub(super) struct Candidates<'c> {
    pub(super) model: &'c Model,
    pub(super) sizes: Sizes<'c>,
}

impl Candidates<'_> {
    /// The candidates for a class, all of them legal, the first of them one entry for everything.
    pub(super) fn of(&self, class: ClassId, uses: &[(f64, &Use)]) -> Vec<Candidate> {
        let conceptual = &self.model.conceptual;
        let fields = self.fields(class);
        let mut found: Vec<Candidate> = Vec::new();
        let one = |strategy: Strategy| {
            Candidate::new(strategy.abbreviation().to_owned(), vec![strategy.rule(Some(class))])
        };
        push(&mut found, one(Strategy::PerAggregate));
        for given in simple::representations(self.model, class) {
            let Some(rules) = given.rules else { continue };
            let rules = rules.into_iter().map(|rule| own(class, rule)).collect();
            let given = vec![format!("`{}`", given.name)];
            push(&mut found, Candidate { label: None, given, rules });
        }
        push(&mut found, one(Strategy::PerTopLevelField));
        push(&mut found, one(Strategy::PerAtomicValue));
        for candidate in lists(class, &fields) {
            push(&mut found, candidate);
        }
        for candidate in together(class, &fields, uses) {
            push(&mut found, candidate);
        }
        found.retain(|candidate| partition::legal(conceptual, class, &candidate.rules).is_ok());
        found.truncate(MOST);
        found
    }

    fn fields(&self, class: ClassId) -> Vec<Field<'_>> {
        let conceptual = &self.model.conceptual;
        let classes = std::iter::once(class).chain(conceptual.descendants(class));
        let mut fields: Vec<Field<'_>> = Vec::new();
        for &member in classes.flat_map(|class| &conceptual.classes[class].members) {
            let name = conceptual.member_name(member);
            if is_stored(conceptual, member) && fields.iter().all(|field| field.name != name) {
                fields.push(Field {
                    name,
                    bytes: self.sizes.member_bytes(member),
                    several: self.sizes.statistics.fan_out(member) > 1.0,
                    id: conceptual.classes[class].identifier.contains(&member),
                });
            }
        }
        fields
    }
}

fn is_stored(conceptual: &Conceptual, member: Member) -> bool {
    match member {
        Member::Attribute(_) => true,
        Member::End(id) => conceptual.ends[id].stored,
    }
}

/// A rule for every class as one for this class: what they say of it is the same.
fn own(class: ClassId, rule: Rule) -> Rule {
    Rule { class: rule.class.or(Some(class)), span: Span::default(), ..rule }
}

/// Of two with the same rules, one candidate with both names.
fn push(found: &mut Vec<Candidate>, candidate: Candidate) {
    match found.iter_mut().find(|known| known.rules == candidate.rules) {
        Some(known) => {
            known.given.extend(candidate.given);
            known.label = known.label.take().or(candidate.label);
        }
        None => found.push(candidate),
    }
}

/// One entry for each element of one, some or all of the large lists.
fn lists(class: ClassId, fields: &[Field<'_>]) -> Vec<Candidate> {
    let mut lists: Vec<&Field<'_>> = fields.iter().filter(|field| field.several).collect();
    lists.sort_by(|a, b| b.bytes.total_cmp(&a.bytes));
    let all: Vec<&str> = lists.iter().map(|list| list.name).collect();
    let large = all.get(..all.len().min(LISTS)).unwrap_or_default();
    let mut found = Vec::new();
    let mut apart = |names: &[&str], rest: Strategy| {
        let shown: Vec<String> = names.iter().map(|name| format!("{name}[*]")).collect();
        let name = match rest {
            Strategy::PerAggregate => format!("{} apart", listed(&shown)),
            Strategy::PerTopLevelField | Strategy::PerAtomicValue => {
                format!("{} apart, the rest by {}", listed(&shown), rest.abbreviation())
            }
        };
        found.push(Candidate::new(name, elements_apart(Some(class), names, rest)));
    };
    for choice in 1..1usize << large.len() {
        let chosen = large.iter().enumerate().filter(|(place, _)| choice >> place & 1 == 1);
        let chosen: Vec<&str> = chosen.map(|(_, name)| *name).collect();
        apart(&chosen, Strategy::PerAggregate);
    }
    if all.len() > large.len() {
        apart(&all, Strategy::PerAggregate);
    }
    if !all.is_empty() {
        apart(&all, Strategy::PerTopLevelField);
    }
    found
}

/// What clusters of fields propose. The language of rules knows one entry of several fields, that of the remaining
/// data: so either a cluster is there and what is large besides is apart, or the fields of the cluster are apart.
fn together(class: ClassId, fields: &[Field<'_>], uses: &[(f64, &Use)]) -> Vec<Candidate> {
    let names: BTreeSet<&str> = fields.iter().filter(|field| !field.id).map(|field| field.name).collect();
    let written = |name: &str| uses.iter().any(|(_, used)| used.written.contains(name));
    let by_element = |name: &str| uses.iter().any(|(_, used)| used.elements.contains(name));
    let all: f64 = fields.iter().map(|field| field.bytes).sum();
    let apart = |fields: Vec<&Field<'_>>| {
        let each = |field: &Field<'_>| field.several && by_element(field.name);
        let shown: Vec<String> = fields
            .iter()
            .map(|field| if each(field) { format!("{}[*]", field.name) } else { field.name.to_owned() })
            .collect();
        let rule = |field: &&Field<'_>| Rule {
            class: Some(class),
            steps: vec![RuleStep::Field { name: field.name.to_owned(), each: each(field) }],
            span: Span::default(),
        };
        let rest = Strategy::PerAggregate.rule(Some(class));
        let rules = fields.iter().map(rule).chain([rest]).collect();
        (!fields.is_empty()).then(|| Candidate::new(format!("{} apart", listed(&shown)), rules))
    };
    let mut found = Vec::new();
    for cluster in clusters(&names, uses) {
        // A block is read as a whole: entries pay where they are written.
        if !cluster.iter().any(|name| written(name)) {
            continue;
        }
        let own = fields.iter().filter(|field| !field.id && cluster.contains(field.name));
        let lists = fields
            .iter()
            .filter(|field| !cluster.contains(field.name) && field.several && by_element(field.name));
        found.extend(apart(own.clone().collect()));
        found.extend(apart(own.chain(lists).collect()));
        let large = fields
            .iter()
            .filter(|field| !field.id && !cluster.contains(field.name) && field.bytes >= SMALL * all);
        found.extend(apart(large.collect()));
    }
    found
}
