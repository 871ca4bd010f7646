//! What a query contains and a plan does, by name: the rows and columns of the table of coverage.

use crate::designs::is_derived;
use askloom_model::{
    AggregateFunction, ClassKind, Column, ColumnValue, Conceptual, Condition, Contents, Design, EndId,
    Joining, Leaf, Limit, Member, OrderBy, Plan, Query, Reading, RelationshipKind,
};
use askloom_plan::planner::needed_paths;

pub(crate) const CONSTRUCTS: [&str; 40] = [
    "to-one reference",
    "reference set",
    "derived to-many",
    "derived to-one",
    "symmetric",
    "self-reference",
    "several references to one class",
    "to-one part",
    "list of parts",
    "part entity",
    "nested part",
    "plain list",
    "subclass",
    "abstract class",
    "composite id",
    "reference in id",
    "surrogate",
    "ttl",
    "LEFT JOIN",
    "implicit path",
    "path across many",
    "comparison",
    "IN",
    "BETWEEN",
    "STARTS WITH",
    "IS NULL",
    "NOT",
    "OR",
    "MATCHES",
    "place",
    "tree",
    "GROUP BY",
    "aggregate",
    "DISTINCT",
    "ORDER BY",
    "mixed directions",
    "whole instance",
    "path with path",
    "list column",
    "first per group",
];

pub(crate) const OPERATORS: [&str; 23] = [
    "found first",
    "get block",
    "each of a set",
    "join nodes",
    "read block",
    "equal fields",
    "range",
    "prefix",
    "backwards",
    "as far as LIMIT",
    "scan master",
    "scan copy",
    "inside",
    "look up",
    "back by index",
    "back by scan",
    "filter",
    "sort",
    "no sort",
    "group",
    "limit",
    "page",
    "fetch",
];

fn named(names: &[&str], name: &str) -> usize {
    names.iter().position(|known| *known == name).unwrap_or_else(|| panic!("`{name}` is not in the table"))
}

pub(crate) fn construct(name: &str) -> usize {
    named(&CONSTRUCTS, name)
}

/// What is in a query, each once.
pub(crate) fn constructs(conceptual: &Conceptual, query: &Query) -> Vec<usize> {
    let mut found: Vec<&str> = Vec::new();
    for (_, position) in query.positions.iter() {
        if let Some(hop) = position.from {
            step(conceptual, hop.step, &mut found);
            if position.outer {
                found.push("LEFT JOIN");
            }
        }
        if let Some(class) = position.class {
            let row = &conceptual.classes[class];
            let family = conceptual.classes.iter().any(|(_, other)| other.parent == Some(class));
            if family || row.parent.is_some() {
                found.push("subclass");
            }
            if row.kind == ClassKind::AbstractEntity {
                found.push("abstract class");
            }
            let root = conceptual.aggregate_root(class).unwrap_or(class);
            if conceptual.classes[root].ttl.is_some() {
                found.push("ttl");
            }
            if row.surrogate && row.kind.is_entity() {
                found.push("surrogate");
            }
            if row.identifier.len() > 1 {
                found.push("composite id");
            }
            if row.identifier.iter().any(|member| matches!(member, Member::End(_))) {
                found.push("reference in id");
            }
        }
    }
    let mut paths = needed_paths(query);
    if let Some(condition) = &query.condition {
        paths.extend(condition.paths().into_iter().cloned());
        of_condition(condition, &mut found);
    }
    for path in &paths {
        if !path.hops.is_empty() {
            found.push("implicit path");
        }
        if path.hops.iter().any(|&hop| conceptual.ends[hop].cardinality.is_many()) {
            found.push("path across many");
        }
        for &hop in &path.hops {
            step(conceptual, Member::End(hop), &mut found);
        }
        match path.leaf {
            Leaf::Reference(end) => step(conceptual, Member::End(end), &mut found),
            Leaf::Attribute(id) if conceptual.attributes[id].list => found.push("plain list"),
            Leaf::Attribute(_) | Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => {}
        }
    }
    clauses(query, &mut found);
    let is_list = |column: &Column| match &column.value {
        ColumnValue::Path(path) => match path.leaf {
            Leaf::Attribute(id) => conceptual.attributes[id].list,
            Leaf::Reference(end) => conceptual.ends[end].cardinality.is_many(),
            Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => false,
        },
        ColumnValue::Whole(_) | ColumnValue::Aggregate(_) => false,
    };
    if query.columns.iter().any(is_list) {
        found.push("list column");
    }
    let mut indices: Vec<usize> = found.into_iter().map(construct).collect();
    indices.sort_unstable();
    indices.dedup();
    indices
}

fn clauses(query: &Query, found: &mut Vec<&str>) {
    if !query.group_by.is_empty() {
        found.push("GROUP BY");
    }
    if query.per_group.is_some() {
        found.push("first per group");
    }
    for column in &query.columns {
        match &column.value {
            ColumnValue::Whole(_) => found.push("whole instance"),
            ColumnValue::Path(_) => {}
            ColumnValue::Aggregate(aggregate) => {
                found.push("aggregate");
                if aggregate.distinct && aggregate.function == AggregateFunction::Count {
                    found.push("DISTINCT");
                }
            }
        }
    }
    if !query.order_by.is_empty() {
        found.push("ORDER BY");
    }
    let mixed = query.order_by.windows(2).any(|pair| pair[0].descending != pair[1].descending);
    if mixed {
        found.push("mixed directions");
    }
    if query.order_by.iter().any(|term| matches!(term.by, OrderBy::Aggregate(_))) {
        found.push("aggregate");
    }
}

fn step(conceptual: &Conceptual, member: Member, found: &mut Vec<&str>) {
    let Member::End(id) = member else { return found.push("plain list") };
    let end = &conceptual.ends[id];
    let many = end.cardinality.is_many();
    found.push(match (end.kind, many) {
        (_, true) if is_derived(conceptual, member) => "derived to-many",
        (_, false) if is_derived(conceptual, member) => "derived to-one",
        (RelationshipKind::Composition, true) => "list of parts",
        (RelationshipKind::Composition, false) => "to-one part",
        (_, true) => "reference set",
        (_, false) => "to-one reference",
    });
    if end.inverse == Some(id) {
        found.push("symmetric");
    }
    if conceptual.is_kind_of(end.target, end.class) || conceptual.is_kind_of(end.class, end.target) {
        found.push("self-reference");
    }
    if end.kind == RelationshipKind::Composition && conceptual.classes[end.target].kind.is_entity() {
        found.push("part entity");
    }
    if end.kind == RelationshipKind::Composition && !conceptual.classes[end.class].kind.is_entity() {
        found.push("nested part");
    }
    if twin(conceptual, id) {
        found.push("several references to one class");
    }
}

/// Whether another reference of the class leads to the same class.
fn twin(conceptual: &Conceptual, id: EndId) -> bool {
    let end = &conceptual.ends[id];
    let alike = |(other, row): (EndId, &askloom_model::End)| {
        other != id && row.class == end.class && row.target == end.target && row.stored && end.stored
    };
    conceptual.ends.iter().any(alike)
}

fn of_condition(condition: &Condition, found: &mut Vec<&str>) {
    let is_path = |operand: &askloom_model::Operand| matches!(operand, askloom_model::Operand::Path(_));
    match condition {
        Condition::And(terms) => terms.iter().for_each(|term| of_condition(term, found)),
        Condition::Or(terms) => {
            found.push("OR");
            terms.iter().for_each(|term| of_condition(term, found));
        }
        Condition::Not(inner) | Condition::Negated(inner) => {
            found.push("NOT");
            of_condition(inner, found);
        }
        Condition::Compare { left, right, .. } => {
            found.push("comparison");
            if is_path(left) && is_path(right) {
                found.push("path with path");
            }
        }
        Condition::Between { .. } => found.push("BETWEEN"),
        Condition::In { .. } => found.push("IN"),
        Condition::StartsWith { .. } => found.push("STARTS WITH"),
        Condition::IsNull { .. } => found.push("IS NULL"),
        Condition::Matches { .. } => found.push("MATCHES"),
        Condition::Under { .. } | Condition::Above { .. } => found.push("tree"),
        Condition::Within { .. } | Condition::InBox { .. } => found.push("place"),
    }
}

/// What a plan does, each once.
pub(crate) fn operators(design: &Design, plan: &Plan) -> Vec<usize> {
    let mut found: Vec<&str> = Vec::new();
    let copy = match design.collections[plan.access.collection].contents {
        Contents::Aggregate(_) => false,
        Contents::Nested(_) => {
            found.push("join nodes");
            true
        }
        Contents::Fields(_) => true,
    };
    reading(&plan.access.how, copy, &mut found);
    if plan.first.is_some() {
        found.push("found first");
        // A place or a tree that is looked for first is no filter of the rows: they are read as far as the limit.
        found.retain(|operator| *operator != "as far as LIMIT");
    }
    if !plan.fetches.is_empty() {
        found.push("fetch");
    }
    for join in &plan.joins {
        found.push(match join.how {
            Joining::Inside => "inside",
            Joining::LookUp { .. } | Joining::PartByIndex { .. } | Joining::PartByScan { .. } => "look up",
            Joining::Back { .. } => "back by index",
            Joining::BackByScan { .. } => "back by scan",
        });
    }
    if plan.filter.is_some() {
        found.push("filter");
    }
    let aggregates = plan.columns.iter().any(|column| matches!(column.value, ColumnValue::Aggregate(_)));
    if aggregates || !plan.group_by.is_empty() {
        found.push("group");
    }
    found.push(if plan.sort.is_some() { "sort" } else { "no sort" });
    match plan.limit {
        Some(Limit::Rows(_)) => found.push("limit"),
        Some(Limit::Page(_)) => found.push("page"),
        None => {}
    }
    let mut indices: Vec<usize> = found.into_iter().map(|name| named(&OPERATORS, name)).collect();
    indices.sort_unstable();
    indices.dedup();
    indices
}

fn reading(how: &Reading, copy: bool, found: &mut Vec<&str>) {
    match how {
        Reading::GetBlock { .. } => found.push("get block"),
        Reading::Each { of, .. } => {
            found.push("each of a set");
            reading(of, copy, found);
        }
        Reading::Scan => found.push(if copy { "scan copy" } else { "scan master" }),
        Reading::Range { equal, range, backwards, limited, .. } => {
            found.push("read block");
            if !equal.is_empty() {
                found.push("equal fields");
            }
            match range {
                Some(range) if range.prefix.is_some() => found.push("prefix"),
                Some(_) => found.push("range"),
                None => {}
            }
            if *backwards {
                found.push("backwards");
            }
            if *limited {
                found.push("as far as LIMIT");
            }
        }
    }
}
