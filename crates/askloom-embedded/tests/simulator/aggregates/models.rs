//! Random models as text, so that a failure can be read, and so that the language is tested on the way.

use crate::random::Random;
use std::fmt::Write;

/// A class while its model is made up.
struct Class {
    name: String,
    attributes: Vec<(String, String)>,
    /// Name, target, to-many.
    ends: Vec<(String, usize, bool)>,
    /// Lists of value objects: name.
    parts: Vec<String>,
    /// The class that it is a part of.
    owner: Option<usize>,
    /// Of its part entities: name, class.
    owned: Vec<(String, usize)>,
}

const TYPES: [&str; 8] = ["int", "text", "bool", "enum(low, mid, high)", "long", "decimal", "date", "double"];

pub(crate) fn model(random: &mut Random) -> String {
    // Half of the models are small and full of checked references, so that deletes have to do with each other.
    let is_tight = random.one_in(2);
    let roots = 2 + if is_tight { 0 } else { random.below(3) };
    let owned = random.below(3);
    let count = roots + owned;
    let mut classes: Vec<Class> = (0..count).map(|n| class(n, random)).collect();
    for part in roots..count {
        // Now and then a part of a part.
        let owner = random.below(part);
        classes[part].owner = Some(owner);
        classes[owner].owned.push((format!("o{part}"), part));
    }
    for class in &mut classes {
        for e in 0..random.below(3) + usize::from(is_tight) {
            let target = random.below(count);
            let many = random.one_in(3);
            class.ends.push((format!("r{e}"), target, many));
        }
    }
    let mut text = String::new();
    let mut derived: Vec<(usize, String, usize)> = Vec::new();
    let is_checked = is_tight || random.one_in(2);
    for (n, class) in classes.iter().enumerate() {
        writeln!(text, "entity {} {{", class.name).unwrap();
        writeln!(text, "  id k: {}", id_type(n)).unwrap();
        for (name, ty) in &class.attributes {
            let plain = name.starts_with('a') && !ty.starts_with("bool") && !ty.starts_with("enum");
            let unique = if plain && random.one_in(12) { "unique " } else { "" };
            writeln!(text, "  {unique}{name}: {ty}").unwrap();
        }
        for (name, target, many) in &class.ends {
            let card = if *many { "[*]" } else { "?" };
            let inverse = if random.one_in(2) {
                let back = format!("{}_{name}", class.name.to_lowercase());
                derived.push((*target, back.clone(), n));
                format!(" inverse {back}")
            } else {
                String::new()
            };
            let action = *random.pick(&["refuse", "cascade", "clear"]);
            let (checked, action) = match is_checked && random.below(3) > 0 {
                true => ("checked ", format!(" on delete {action}")),
                // Writers here delete whom others refer to.
                false => ("loose ", String::new()),
            };
            writeln!(text, "  {checked}ref {name}: {}{card}{inverse}{action}", classes[*target].name)
                .unwrap();
        }
        for (name, part) in &class.owned {
            let card = if random.one_in(4) { "?" } else { "[*]" };
            writeln!(text, "  part {name}: {}{card}", classes[*part].name).unwrap();
        }
        for part in &class.parts {
            writeln!(text, "  part {part}: V{n}[*]").unwrap();
        }
        writeln!(text, "}}\n").unwrap();
        if !class.parts.is_empty() {
            writeln!(text, "value V{n} {{\n  x: int?\n  y: text?\n}}\n").unwrap();
        }
    }
    for n in 0..2 + random.below(3) {
        query(n, &classes, &derived, random, &mut text);
    }
    text
}

fn class(n: usize, random: &mut Random) -> Class {
    let mut attributes = Vec::new();
    for a in 0..1 + random.below(4) {
        let ty = *random.pick(&TYPES);
        let form = match random.below(4) {
            0 => "?",
            1 if a > 0 => "[*]",
            _ => "?",
        };
        // The suffix is told apart by the name, so that queries know what it is.
        let name = if form == "[*]" { format!("l{a}") } else { format!("a{a}") };
        attributes.push((name, format!("{ty}{form}")));
    }
    let parts = if random.one_in(3) { vec!["p".to_owned()] } else { Vec::new() };
    Class { name: format!("E{n}"), attributes, ends: Vec::new(), parts, owner: None, owned: Vec::new() }
}

fn query(
    n: usize,
    classes: &[Class],
    derived: &[(usize, String, usize)],
    random: &mut Random,
    text: &mut String,
) {
    let main = random.below(classes.len());
    let mut scope: Vec<(String, usize)> = vec![(classes[main].name.clone(), main)];
    let mut joins = String::new();
    let mut part_alias: Option<String> = None;
    for j in 0..random.below(3) {
        let (from, at) = scope[random.below(scope.len())].clone();
        let mut steps: Vec<(String, usize)> =
            classes[at].ends.iter().map(|(name, to, _)| (name.clone(), *to)).collect();
        steps.extend(
            derived.iter().filter(|(class, _, _)| *class == at).map(|(_, name, to)| (name.clone(), *to)),
        );
        steps.extend(classes[at].owned.iter().cloned());
        let left = if random.one_in(3) { "LEFT " } else { "" };
        if let Some(part) = classes[at].parts.first().filter(|_| part_alias.is_none() && random.one_in(3)) {
            writeln!(joins, "  {left}JOIN {from}.{part} AS j{j}").unwrap();
            part_alias = Some(format!("j{j}"));
            continue;
        }
        if steps.is_empty() {
            continue;
        }
        let (step, to) = random.pick(&steps).clone();
        writeln!(joins, "  {left}JOIN {from}.{step} AS j{j}").unwrap();
        scope.push((format!("j{j}"), to));
    }
    let single = |random: &mut Random, scope: &[(String, usize)]| -> (String, String) {
        let (alias, class) = scope[random.below(scope.len())].clone();
        let singles: Vec<&(String, String)> =
            classes[class].attributes.iter().filter(|(name, _)| name.starts_with('a')).collect();
        // Through a to-one reference, without a join.
        let hops: Vec<&(String, usize, bool)> =
            classes[class].ends.iter().filter(|(_, _, many)| !many).collect();
        if !hops.is_empty() && random.one_in(4) {
            let (name, to, _) = random.pick(&hops);
            return (format!("{alias}.{name}.k"), id_type(*to));
        }
        if singles.is_empty() || random.one_in(4) {
            return (format!("{alias}.k"), id_type(class));
        }
        let (name, ty) = random.pick(&singles);
        (format!("{alias}.{name}"), ty.clone())
    };
    let mut columns: Vec<String> =
        (0..1 + random.below(3)).map(|c| format!("{} AS c{c}", single(random, &scope).0)).collect();
    if let Some(alias) = &part_alias {
        columns.push(format!("{alias}.x AS cx"));
    }
    let mut conditions: Vec<String> = Vec::new();
    for c in 0..random.below(3) {
        let (path, ty) = single(random, &scope);
        let constant = random.one_in(3);
        let value = if constant { literal(&ty, random) } else { format!(":p{c}") };
        let op = if ty.starts_with("bool") {
            "="
        } else {
            *random.pick(&["=", "=", "=", "<", ">=", "!=", ">", "<="])
        };
        let condition = match random.below(8) {
            0 => format!("{path} IS NULL"),
            1 => format!("NOT {path} {op} {value}"),
            2 => format!("({path} {op} {value} OR {path} IS NULL)"),
            _ => format!("{path} {op} {value}"),
        };
        conditions.push(condition);
    }
    let lists: Vec<String> = scope
        .iter()
        .flat_map(|(alias, class)| classes[*class].attributes.iter().map(move |(name, ty)| (alias, name, ty)))
        .filter(|(_, name, _)| name.starts_with('l'))
        .map(|(alias, name, ty)| {
            format!(
                "{alias}.{name} = {}",
                if ty.starts_with("bool") { "true".to_owned() } else { ":pl".to_owned() }
            )
        })
        .collect();
    if !lists.is_empty() && random.one_in(3) {
        conditions.push(random.pick(&lists).clone());
    }
    let mut order: Vec<String> = Vec::new();
    for _ in 0..random.below(3) {
        let direction = if random.one_in(2) { " DESC" } else { "" };
        order.push(format!("{}{direction}", single(random, &scope).0));
    }
    writeln!(text, "query q{n}:\n  SELECT {}\n  FROM {}", columns.join(", "), classes[main].name).unwrap();
    text.push_str(&joins);
    if !conditions.is_empty() {
        writeln!(text, "  WHERE {}", conditions.join(" AND ")).unwrap();
    }
    if !order.is_empty() {
        writeln!(text, "  ORDER BY {}", order.join(", ")).unwrap();
    }
    if random.one_in(3) {
        writeln!(text, "  LIMIT {}", 1 + random.below(4)).unwrap();
    }
    writeln!(text).unwrap();
}

fn id_type(class: usize) -> String {
    if class.is_multiple_of(2) { "int" } else { "text" }.to_owned()
}

fn literal(ty: &str, random: &mut Random) -> String {
    let ty = ty.trim_end_matches(['?', '*', '[', ']']);
    match ty {
        "int" | "long" | "decimal" | "double" => random.below(4).to_string(),
        "bool" => "true".to_owned(),
        "date" => "'2026-01-02'".to_owned(),
        "text" => "'b'".to_owned(),
        _enum => "'mid'".to_owned(),
    }
}
