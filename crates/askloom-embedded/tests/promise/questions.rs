//! Random queries as text.

use crate::paths::{At, Bound, Found, Kind, Paths};
use crate::random::Random;
use askloom_model::{ClassId, Conceptual, Member};
use std::fmt::Write;

/// What the condition of a query is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Where {
    /// Anything, or nothing.
    Any,
    /// It reads by a key, and asks for more than that.
    Anchored,
}

/// The text of a query.
pub(crate) fn query(conceptual: &Conceptual, name: &str, condition: Where, random: &Random) -> String {
    let entities: Vec<ClassId> =
        conceptual.classes.ids().filter(|&class| conceptual.classes[class].kind.is_entity()).collect();
    // Roots more often: of parts and of subclasses there are fewer.
    let roots = entities.iter().filter(|&&class| conceptual.aggregate_root(class) == Some(class));
    let weighted: Vec<ClassId> = entities.iter().chain(roots.clone()).chain(roots).copied().collect();
    let main = *random.pick(&weighted);
    let mut paths = Paths::new(conceptual, main);
    let joins = joins(&mut paths, &random.fork("joins"));
    let shape = random.fork("shape");
    let (columns, group, order) = match shape.below(10) {
        0 | 1 => grouped(&paths, &random.fork("columns")),
        2 | 3 => whole(&paths, &random.fork("columns")),
        _rows => rows(&paths, &random.fork("columns")),
    };
    let conditions = *shape.weighted(&[(18, 0), (6, 1), (3, 2), (1, 3)]);
    let mut text =
        format!("query {name}:\n  SELECT {}\n  FROM {}\n", columns.join(", "), paths.scope[0].name);
    text.push_str(&joins);
    if conditions > 0 || condition == Where::Anchored {
        let random = random.fork("condition");
        let condition = match condition {
            Where::Any => paths.condition(conditions, &random),
            Where::Anchored => paths.anchored(&random),
        };
        writeln!(text, "  WHERE {condition}").unwrap();
    }
    if !group.is_empty() {
        writeln!(text, "  GROUP BY {}", group.join(", ")).unwrap();
    }
    if !order.is_empty() {
        writeln!(text, "  ORDER BY {}", order.join(", ")).unwrap();
    }
    if let Some(per_group) = per_group(&paths, &columns, &random.fork("per group")) {
        writeln!(text, "  {per_group}").unwrap();
    }
    match shape.below(12) {
        0..=2 => writeln!(text, "  LIMIT {}", 1 + shape.below(4)).unwrap(),
        3 => writeln!(text, "  LIMIT :most").unwrap(),
        4 | 5 => writeln!(text, "  PAGE {}", 1 + shape.below(3)).unwrap(),
        _all => {}
    }
    text
}

fn joins(paths: &mut Paths<'_>, random: &Random) -> String {
    let mut text = String::new();
    for n in 0..*random.weighted(&[(5, 0), (5, 1), (3, 2), (1, 3)]) {
        let random = random.fork(&n.to_string());
        let left = if random.percent(60) { "LEFT JOIN" } else { "JOIN" };
        let steps = 1 + usize::from(random.percent(20));
        let mut path = None;
        for _ in 0..steps {
            let from = match &path {
                None => random.pick(&paths.scope).clone(),
                Some(path) => Bound::clone(path),
            };
            path = step(paths, &from, &random).or(path);
        }
        let Some(Bound { name, at }) = path else { continue };
        writeln!(text, "  {left} {name} AS j{n}").unwrap();
        paths.scope.push(Bound { name: format!("j{n}"), at });
    }
    text
}

/// One step further: an end, or a list.
fn step(paths: &Paths<'_>, from: &Bound, random: &Random) -> Option<Bound> {
    let At::Class(class) = from.at else { return None };
    let joinable = |member: &Member| match *member {
        Member::Attribute(id) => paths.conceptual.attributes[id].list,
        Member::End(_) => true,
    };
    let members: Vec<Member> = paths.conceptual.all_members(class).filter(joinable).collect();
    if members.is_empty() {
        return None;
    }
    let member = *random.pick(&members);
    let name = format!("{}.{}", from.name, paths.conceptual.member_name(member));
    let at = match member {
        Member::Attribute(id) => At::Element(paths.conceptual.attributes[id].ty.clone()),
        Member::End(id) => At::Class(paths.conceptual.ends[id].target),
    };
    Some(Bound { name, at })
}

type Clauses = (Vec<String>, Vec<String>, Vec<String>);

fn rows(paths: &Paths<'_>, random: &Random) -> Clauses {
    let mut columns: Vec<String> =
        (0..1 + random.below(3)).map(|c| format!("{} AS c{c}", paths.single(random).text)).collect();
    if let Some(list) = paths.list(random).filter(|_| random.percent(25)) {
        columns.push(format!("{list} AS l"));
    }
    if random.percent(15) {
        let bound = random.pick(&paths.scope);
        if let (At::Class(_), true) = (&bound.at, bound.name != paths.scope[0].name) {
            columns.push(format!("{}.* AS w", bound.name));
        }
    }
    (columns, Vec::new(), order(paths, random))
}

/// At times the first rows of each group, if the rows are no groups themselves.
fn per_group(paths: &Paths<'_>, columns: &[String], random: &Random) -> Option<String> {
    let grouped = columns.iter().any(|column| column.contains('(') || column.contains(" AS g"));
    if grouped || !random.percent(20) {
        return None;
    }
    let mut by: Vec<String> = Vec::new();
    for _ in 0..*random.weighted(&[(4, 1), (1, 2)]) {
        let Some(found) = paths.grouping(random) else { continue };
        if !by.contains(&found.text) {
            by.push(found.text);
        }
    }
    let rows = if random.one_in(6) { ":most".to_owned() } else { (1 + random.below(2)).to_string() };
    (!by.is_empty()).then(|| format!("LIMIT {rows} PER {}", by.join(", ")))
}

fn whole(paths: &Paths<'_>, random: &Random) -> Clauses {
    (vec!["*".to_owned()], Vec::new(), order(paths, random))
}

fn order(paths: &Paths<'_>, random: &Random) -> Vec<String> {
    let random = random.fork("order");
    let mut terms: Vec<String> = Vec::new();
    for _ in 0..*random.weighted(&[(4, 0), (4, 1), (2, 2), (1, 3)]) {
        let Some(found) = paths.ordered(&random) else { continue };
        let direction = if random.one_in(2) { " DESC" } else { "" };
        if terms.iter().all(|term| !term.starts_with(&found.text)) {
            terms.push(format!("{}{direction}", found.text));
        }
    }
    terms
}

fn grouped(paths: &Paths<'_>, random: &Random) -> Clauses {
    let mut group: Vec<String> = Vec::new();
    for _ in 0..random.below(3) {
        let Some(found) = paths.ordered(random) else { continue };
        if !group.contains(&found.text) {
            group.push(found.text);
        }
    }
    let mut columns: Vec<String> =
        group.iter().enumerate().map(|(n, path)| format!("{path} AS g{n}")).collect();
    let mut aggregates = Vec::new();
    for _ in 0..1 + random.below(3) {
        aggregates.push(aggregate(paths, random));
    }
    columns.extend(aggregates.iter().enumerate().map(|(n, text)| format!("{text} AS x{n}")));
    let mut order = Vec::new();
    for term in group.iter().chain(&aggregates) {
        if random.percent(30) {
            order.push(format!("{term}{}", if random.one_in(2) { " DESC" } else { "" }));
        }
    }
    (columns, group, order)
}

fn aggregate(paths: &Paths<'_>, random: &Random) -> String {
    let distinct = if random.percent(30) { "DISTINCT " } else { "" };
    let is_number = |found: &Found| matches!(&found.kind, Kind::Value(ty) if ty.is_number());
    let number = (0..4).map(|_| paths.single(random)).find(is_number);
    match (random.below(8), number) {
        (0, _) => "COUNT(*)".to_owned(),
        (1 | 2, Some(found)) => format!("SUM({})", found.text),
        (3, Some(found)) => format!("AVG({})", found.text),
        (4 | 5, _) => match paths.ordered(random) {
            Some(found) => format!("{}({})", random.pick(&["MIN", "MAX"]), found.text),
            None => "COUNT(*)".to_owned(),
        },
        (_, _) => match paths.ordered(random) {
            Some(found) => format!("COUNT({distinct}{})", found.text),
            None => "COUNT(*)".to_owned(),
        },
    }
}

/// The text of a tuple query: one class for another, and at times more that are linked with these.
pub(crate) fn ask(conceptual: &Conceptual, name: &str, random: &Random) -> String {
    let entities: Vec<ClassId> =
        conceptual.classes.ids().filter(|&class| conceptual.classes[class].kind.is_entity()).collect();
    let (key, result) = (*random.pick(&entities), *random.pick(&entities));
    let random = random.fork("wide");
    let class = |class: ClassId| conceptual.classes[class].name.clone();
    let (mut keys, mut results) = (vec![(key, class(key))], vec![(result, class(result))]);
    for n in 0..*random.weighted(&[(4, 0), (3, 1), (3, 2), (2, 3)]) {
        let random = random.fork(&n.to_string());
        let from_key = random.percent(60);
        let placed = if from_key { &keys } else { &results };
        let (before, _) = *random.pick(placed);
        let is_new = |class: ClassId| keys.iter().chain(&results).all(|(known, _)| *known != class);
        let linked: Vec<(ClassId, String)> =
            linked(conceptual, before).into_iter().filter(|(class, _)| is_new(*class)).collect();
        if linked.is_empty() {
            continue;
        }
        let (other, end) = random.pick(&linked);
        // Without `via` it is joined along every link with those before it, should that be a circle.
        let text = if random.percent(60) { format!("{} via {end}", class(*other)) } else { class(*other) };
        // A class is linked with one that is written before it.
        match from_key && random.one_in(2) {
            true => keys.push((*other, text)),
            false => results.push((*other, text)),
        }
    }
    let texts = |classes: &[(ClassId, String)]| {
        classes.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(", ")
    };
    format!("ask {name}: {{{}}} -> {{{}}}\n", texts(&keys), texts(&results))
}

/// The entities that a stored end leads to from a class or from which one leads to it, each with the name of the end.
fn linked(conceptual: &Conceptual, class: ClassId) -> Vec<(ClassId, String)> {
    let related = |a: ClassId, b: ClassId| conceptual.is_kind_of(a, b);
    let mut found = Vec::new();
    for (_, end) in conceptual.ends.iter().filter(|(_, end)| end.stored) {
        if related(class, end.class) {
            found.push((end.target, end.name.clone()));
        }
        if related(class, end.target) {
            found.push((end.class, end.name.clone()));
        }
    }
    found.retain(|(other, _)| *other != class && conceptual.classes[*other].kind.is_entity());
    found
}

/// A query for what random conditions rarely meet: one that a copy can keep as its own, cut by LIMIT, or a tree.
pub(crate) fn rare(conceptual: &Conceptual, name: &str, random: &Random) -> Option<String> {
    let (class, condition) = match random.below(8) {
        0 => across(conceptual, random)?,
        1 | 2 => tree(conceptual)?,
        3 => number(conceptual, random, |path| format!("{path} BETWEEN 0 AND 2"))?,
        4 => number(conceptual, random, |path| format!("({path} = 1 OR {path} IS NULL)"))?,
        5 | 6 => words(conceptual, "STARTS WITH", random)?,
        _ => words(conceptual, "MATCHES", random)?,
    };
    Some(format!("query {name}:\n  SELECT *\n  FROM {class}\n  WHERE {condition}\n  LIMIT 3\n"))
}

/// About a whole number of an entity.
fn number(
    conceptual: &Conceptual,
    random: &Random,
    condition: impl Fn(&str) -> String,
) -> Option<(String, String)> {
    let whole = |attribute: &askloom_model::Attribute| {
        matches!(attribute.ty, askloom_model::Type::Int | askloom_model::Type::Long)
            && !attribute.list
            && conceptual.classes[attribute.class].kind.is_entity()
    };
    let numbers: Vec<_> = conceptual.attributes.iter().map(|(_, a)| a).filter(|a| whole(a)).collect();
    let attribute = *random.pick(if numbers.is_empty() { return None } else { &numbers });
    let class = conceptual.classes[attribute.class].name.clone();
    let condition = condition(&format!("{class}.{}", attribute.name));
    Some((class, condition))
}

/// About what a to-many step leads to.
fn across(conceptual: &Conceptual, random: &Random) -> Option<(String, String)> {
    let many = conceptual.ends.iter().filter(|(_, end)| end.cardinality.is_many());
    let many: Vec<&askloom_model::End> =
        many.map(|(_, end)| end).filter(|end| conceptual.classes[end.class].kind.is_entity()).collect();
    let end = *random.pick(if many.is_empty() { return None } else { &many });
    let attribute = conceptual.attributes.iter().find(|(_, a)| a.class == end.target && !a.list)?.1;
    let class = conceptual.classes[end.class].name.clone();
    let path = format!("{class}.{}.{}", end.name, attribute.name);
    let none = random.fork("none").one_in(2);
    let condition = if none { format!("NOT {path} IS NULL") } else { format!("{path} IS NOT NULL") };
    Some((class, condition))
}

fn tree(conceptual: &Conceptual) -> Option<(String, String)> {
    let end = conceptual.ends.iter().find(|(_, end)| end.tree)?.1;
    let class = conceptual.classes[end.target].name.clone();
    let condition = format!("{class} UNDER :p0");
    Some((class, condition))
}

fn words(conceptual: &Conceptual, operator: &str, random: &Random) -> Option<(String, String)> {
    let text = |attribute: &askloom_model::Attribute| {
        attribute.ty == askloom_model::Type::Text
            && !attribute.list
            && conceptual.classes[attribute.class].kind.is_entity()
    };
    let texts: Vec<_> = conceptual.attributes.iter().map(|(_, a)| a).filter(|a| text(a)).collect();
    let attribute = *random.pick(if texts.is_empty() { return None } else { &texts });
    let class = conceptual.classes[attribute.class].name.clone();
    let condition = format!("{class}.{} {operator} 'a'", attribute.name);
    Some((class, condition))
}
