//! Random queries that want nothing but the identity of what a reference names: as what is joined, and as a path that ends
//! in its id.

use crate::random::Random;
use askloom_model::{ClassId, Conceptual, End, Member, RelationshipKind};
use std::fmt::Write;

/// A query along a to-one reference of an entity, if there is one.
pub(crate) fn query(conceptual: &Conceptual, name: &str, random: &Random) -> Option<String> {
    let is_entity = |class: ClassId| conceptual.classes[class].kind.is_entity();
    let reference = |end: &End| {
        let kept = end.stored && end.kind != RelationshipKind::Composition && !end.cardinality.is_many();
        kept && is_entity(end.class) && is_entity(end.target)
    };
    let all: Vec<&End> = conceptual.ends.iter().map(|(_, end)| end).filter(|end| reference(end)).collect();
    // What leads back from a required one more often: only then the far side may be left out.
    let relied = |end: &&&End| end.inverse.is_some() && end.cardinality.min > 0;
    let back: Vec<&End> = all.iter().filter(relied).copied().collect();
    let end = match (all.is_empty(), back.is_empty() || random.percent(40)) {
        (true, _) => return None,
        (false, true) => *random.pick(&all),
        (false, false) => *random.pick(&back),
    };
    let class = |id: ClassId| conceptual.classes[id].name.clone();
    let (from, to) = (class(end.class), class(end.target));
    let inverse = end.inverse.map(|id| conceptual.ends[id].name.clone());
    let left = if random.percent(25) { "LEFT JOIN" } else { "JOIN" };
    let (source, near, far) = match (random.below(5), inverse) {
        (0 | 1, Some(inverse)) => (format!("{to}\n  {left} {to}.{inverse} AS j0"), "j0".to_owned(), to),
        (2, _) => (format!("{from}\n  {left} {from}.{} AS j0", end.name), from, "j0".to_owned()),
        (_, _) => (from.clone(), from.clone(), format!("{from}.{}", end.name)),
    };
    let ids = ids(conceptual, end.target, &far, 0);
    let mut text = format!("query {name}:\n");
    let own = own(conceptual, end.class, &near, random);
    if random.fork("grouped").percent(18) {
        let by = random.pick(&ids);
        writeln!(text, "  SELECT {by} AS g, COUNT(*) AS n\n  FROM {source}").unwrap();
        condition(&ids, &own, &random.fork("where"), &mut text);
        writeln!(text, "  GROUP BY {by}").unwrap();
        return Some(text);
    }
    let mut columns = vec![format!("{own} AS c0")];
    if random.percent(60) {
        columns.push(format!("{} AS c1", random.pick(&ids)));
    }
    writeln!(text, "  SELECT {}\n  FROM {source}", columns.join(", ")).unwrap();
    condition(&ids, &own, &random.fork("where"), &mut text);
    let descending = if random.one_in(2) { " DESC" } else { "" };
    let is_attribute = !conceptual.classes[end.target].identifier.is_empty();
    match random.below(4) {
        0 | 1 if is_attribute => {
            let terms: Vec<String> = ids.iter().map(|id| format!("{id}{descending}")).collect();
            writeln!(text, "  ORDER BY {}", terms.join(", ")).unwrap();
        }
        _unordered => {}
    }
    match random.below(6) {
        0 => writeln!(text, "  LIMIT 3").unwrap(),
        1 | 2 => writeln!(text, "  PAGE 2").unwrap(),
        _all => {}
    }
    Some(text)
}

/// The components of the id of what a path leads to, each as a path; the path itself if Askloom makes the id.
fn ids(conceptual: &Conceptual, class: ClassId, path: &str, depth: usize) -> Vec<String> {
    let identifier = &conceptual.classes[class].identifier;
    if identifier.is_empty() || depth > 4 {
        return vec![path.to_owned()];
    }
    let part = |&member: &Member| {
        let path = format!("{path}.{}", conceptual.member_name(member));
        match member {
            Member::Attribute(_) => vec![path],
            Member::End(end) => ids(conceptual, conceptual.ends[end].target, &path, depth + 1),
        }
    };
    identifier.iter().flat_map(part).collect()
}

/// Something of the instance that refers.
fn own(conceptual: &Conceptual, class: ClassId, near: &str, random: &Random) -> String {
    let plain = conceptual.all_members(class).filter_map(|member| match member {
        Member::Attribute(id) if !conceptual.attributes[id].list => Some(conceptual.member_name(member)),
        Member::Attribute(_) | Member::End(_) => None,
    });
    let plain: Vec<&str> = plain.collect();
    if plain.is_empty() { near.to_owned() } else { format!("{near}.{}", random.pick(&plain)) }
}

/// All components of the id, one of them, one of several values, or none; at times with something else.
fn condition(ids: &[String], own: &str, random: &Random, text: &mut String) {
    let mut terms: Vec<String> = match random.below(8) {
        0..=3 => ids.iter().enumerate().map(|(n, id)| format!("{id} = :p{n}")).collect(),
        4 => ids.iter().take(1).map(|id| format!("{id} IN :p0")).collect(),
        5 => ids.iter().take(1).map(|id| format!("{id} = :p0")).collect(),
        _none => Vec::new(),
    };
    if random.percent(15) {
        terms.push(format!("{own} IS NOT NULL"));
    }
    if !terms.is_empty() {
        writeln!(text, "  WHERE {}", terms.join(" AND ")).unwrap();
    }
}
