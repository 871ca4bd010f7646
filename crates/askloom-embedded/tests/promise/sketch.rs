//! Random declarations as text, so that a failure can be read, and so that the language is tested on the way.

use crate::random::Random;
use std::fmt::Write;

/// The declarations of a model, in pieces that can be left out one by one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sketch {
    /// `writes any`
    pub(crate) any_write: bool,
    pub(crate) classes: Vec<Declaration>,
}

#[derive(Debug, Clone)]
pub(crate) struct Declaration {
    pub(crate) head: String,
    pub(crate) members: Vec<String>,
}

impl Sketch {
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        if self.any_write {
            text.push_str("writes any\n\n");
        }
        for class in &self.classes {
            writeln!(text, "{} {{", class.head).unwrap();
            for member in &class.members {
                writeln!(text, "  {member}").unwrap();
            }
            writeln!(text, "}}\n").unwrap();
        }
        text
    }
}

/// Every type that a value can have; the common ones more often.
const TYPES: [(usize, &str); 16] = [
    (6, "int"),
    (6, "text"),
    (3, "enum(low, mid, high)"),
    (2, "bool"),
    (2, "long"),
    (2, "decimal"),
    (2, "double"),
    (2, "date"),
    (1, "time"),
    (1, "timestamp"),
    (1, "timestamp(6)"),
    (1, "timestamp(9)"),
    (1, "uuid"),
    (1, "blob"),
    (2, "geo"),
    (1, "json"),
];

const ID_TYPES: [(usize, &str); 12] = [
    (10, "int"),
    (10, "text"),
    (2, "long"),
    (2, "uuid"),
    (1, "enum(low, mid, high)"),
    (1, "decimal"),
    (1, "double"),
    (1, "date"),
    (1, "time"),
    (1, "timestamp"),
    (1, "timestamp(9)"),
    (1, "bool"),
];

/// What is known of all classes before the members of any are made up.
struct Plan {
    /// Names of the roots, then of their subclasses.
    entities: Vec<String>,
    /// For each root, whether it keeps its instances under a made-up id.
    surrogate: Vec<bool>,
    roots: usize,
    /// For each root, whether its instances never change.
    immutable: Vec<bool>,
}

pub(crate) fn sketch(random: &Random) -> Sketch {
    let roots = 2 + random.below(3);
    let mut plan = Plan {
        entities: (0..roots).map(|n| format!("E{n}")).collect(),
        surrogate: (0..roots).map(|n| random.fork(&format!("surrogate{n}")).percent(7)).collect(),
        roots,
        immutable: (0..roots).map(|n| random.fork(&format!("immutable{n}")).percent(14)).collect(),
    };
    let mut family: Vec<(usize, String, String)> = Vec::new();
    for n in 0..roots {
        let random = random.fork(&format!("family{n}"));
        if random.percent(22) {
            family.push((n, format!("S{n}"), format!("E{n}")));
            if random.one_in(3) {
                family.push((n, format!("T{n}"), format!("S{n}")));
            }
        }
    }
    plan.entities.extend(family.iter().map(|(_, name, _)| name.clone()));
    let any_write = random.fork("writes").percent(60);
    let mut sketch = Sketch { any_write, ..Sketch::default() };
    for n in 0..roots {
        let random = random.fork(&format!("root{n}"));
        let extended = family.iter().any(|(root, _, _)| *root == n);
        let is_abstract = if extended && random.percent(40) { "abstract " } else { "" };
        let immutable = plan.immutable[n];
        let (ttl, from) = lifetime(immutable, &random);
        // What is expected to be many is planned for in another way.
        let count = *random.pick(&["", "", "@count(3)\n", "@count(5_000_000)\n"]);
        let mut members = identifier(n, &plan, &random);
        members.extend(attributes("a", 1 + random.below(4), true, &random));
        members.extend(from);
        members.extend(references(&format!("e{n}"), &format!("E{n}"), &plan, true, immutable, &random));
        let stays = if immutable { "immutable " } else { "" };
        let head = format!("{count}{ttl}{stays}{is_abstract}entity E{n}");
        sketch.classes.push(Declaration { head, members });
        parts(&format!("{n}"), &plan, immutable, &random, &mut sketch);
    }
    for (n, name, parent) in &family {
        let random = random.fork(name);
        let below = name.to_lowercase();
        let mut members = attributes(&below, 1 + random.below(2), true, &random);
        if random.one_in(2) {
            members.extend(references(&below, name, &plan, true, plan.immutable[*n], &random));
        }
        let stays = if plan.immutable[*n] && random.one_in(2) { "immutable " } else { "" };
        sketch.classes.push(Declaration { head: format!("{stays}entity {name} extends {parent}"), members });
        if random.one_in(3) {
            parts(&format!("{}{n}", &below[..1]), &plan, plan.immutable[*n], &random, &mut sketch);
        }
    }
    sketch
}

/// A time to live, and the attribute that it counts from.
fn lifetime(immutable: bool, random: &Random) -> (&'static str, Option<String>) {
    if !random.percent(11) {
        return ("", None);
    }
    let random = random.fork("lifetime");
    if !random.percent(50) {
        return ("@ttl(2 days)\n", None);
    }
    let modifier = if immutable && random.one_in(2) { "" } else { "immutable " };
    let ty = *random.pick(&["timestamp", "timestamp", "timestamp(9)", "date"]);
    let default = if random.one_in(3) { " = now()" } else { "" };
    ("@ttl(2 days from at)\n", Some(format!("{modifier}at: {ty}{default}")))
}

fn identifier(n: usize, plan: &Plan, random: &Random) -> Vec<String> {
    let random = random.fork("identifier");
    if plan.surrogate[n] {
        return Vec::new();
    }
    // An id that nobody gives makes a write of what never changes blind.
    if plan.immutable[n] && random.fork("made").percent(50) {
        return vec!["id k: uuid = uuid()".to_owned()];
    }
    let ty = *random.weighted(&ID_TYPES);
    let time = random.fork("time");
    let second = match time.percent(40) {
        true => *time.pick(&["timestamp", "timestamp", "timestamp(9)"]),
        false => *random.pick(&["int", "text"]),
    };
    match random.below(20) {
        0 | 1 => vec![format!("id k: {ty}"), format!("id k2: {second}")],
        5 => vec![format!("id k: {ty}"), format!("id k2: {second}"), "id k3: int".to_owned()],
        2 | 3 | 6 if n > 0 => {
            let target = random.below(n);
            let back = if random.one_in(2) { format!(" inverse owned{n}") } else { String::new() };
            let loose = if random.fork("loose").percent(40) { "loose " } else { "" };
            vec![format!("id {loose}ref kr: E{target}{back}"), format!("id k: {second}")]
        }
        4 if n > 0 => vec![format!("id ref kr: E{}", random.below(n))],
        _single => vec![format!("id k: {ty}")],
    }
}

fn attributes(prefix: &str, count: usize, entity: bool, random: &Random) -> Vec<String> {
    let attribute = |n: usize| {
        let name = format!("{prefix}{n}");
        let random = random.fork(&name);
        let ty = *random.weighted(&TYPES);
        let plain = !matches!(ty, "blob" | "geo" | "json");
        let modifier = match random.below(16) {
            0 if entity && plain && ty != "bool" => "unique ",
            1 => "immutable ",
            _none => "",
        };
        let default = match ty {
            "int" | "long" | "decimal" | "double" => Some("1"),
            "text" => Some("'b'"),
            "timestamp" | "timestamp(6)" | "timestamp(9)" | "date" => Some("now()"),
            "uuid" => Some("uuid()"),
            "bool" => Some("true"),
            "enum(low, mid, high)" => Some("mid"),
            _none => None,
        };
        match random.below(10) {
            0..=3 => format!("{modifier}{name}: {ty}?"),
            4 | 5 if modifier != "unique " => {
                let max = if random.fork("max").percent(20) { " @max(2)" } else { "" };
                format!("{name}: {ty}[*]{max}")
            }
            6 if modifier != "unique " && default.is_some() => {
                format!("{modifier}{name}: {ty} = {}", default.unwrap_or_default())
            }
            _required => format!("{modifier}{name}: {ty}"),
        }
    };
    (0..count).map(attribute).collect()
}

/// Those of what never changes are such that no other write would change them.
fn references(
    prefix: &str,
    class: &str,
    plan: &Plan,
    inverses: bool,
    immutable: bool,
    random: &Random,
) -> Vec<String> {
    let random = random.fork("references");
    let mut members = Vec::new();
    for n in 0..random.weighted(&[(2, 0), (4, 1), (4, 2), (1, 3)]).to_owned() {
        let random = random.fork(&n.to_string());
        let name = format!("{prefix}r{n}");
        let loose = if random.fork("loose").percent(40) { "loose " } else { "" };
        if inverses && random.percent(9) && !immutable {
            members.push(format!("{loose}ref {name}: {class}[*] inverse {name}"));
            continue;
        }
        // Often itself, so that instances refer to each other and to themselves.
        let target = if !class.is_empty() && random.percent(20) {
            class
        } else {
            random.pick(&plan.entities).as_str()
        };
        if random.percent(10) && plan.entities[..plan.roots].iter().any(|root| root == class) {
            members.push(format!("{loose}ref {name}: {class}? @tree"));
            continue;
        }
        let cardinality = *random.weighted(&[(9, "?"), (3, ""), (7, "[*]"), (2, "[2..4]"), (2, "[0..2]")]);
        let kind = if random.percent(25) { "has" } else { "ref" };
        let checked = match random.below(20) {
            0 => Some("refuse"),
            1 => Some("cascade"),
            2 if !matches!(cardinality, "" | "[2..4]") => Some("clear"),
            // A class that refers to itself makes cascades of several steps.
            _unchecked if target == class && random.fork("cascade").percent(14) => Some("cascade"),
            _unchecked => None,
        };
        let checked = checked.filter(|action| !immutable || *action == "refuse");
        let modifier = if random.percent(5) { "immutable " } else { "" };
        let inverse = match random.below(8) {
            0..=2 if inverses => format!(" inverse {name}_of"),
            3 if inverses && !immutable => format!(" inverse {name}_of: {class}?"),
            4 if inverses && random.one_in(3) => format!(" inverse {name}_of: {class}[0..3]"),
            _none => String::new(),
        };
        members.push(match checked {
            Some(action) => {
                format!("{modifier}checked {kind} {name}: {target}{cardinality}{inverse} on delete {action}")
            }
            None => format!("{modifier}{loose}{kind} {name}: {target}{cardinality}{inverse}"),
        });
    }
    members
}

/// Value objects and part entities of the class that was declared last.
fn parts(of: &str, plan: &Plan, immutable: bool, random: &Random, sketch: &mut Sketch) {
    let random = random.fork("parts");
    let mut own = Vec::new();
    let mut made = Vec::new();
    if random.percent(40) {
        let form = *random.weighted(&[(4, "[*]"), (2, "?"), (1, ""), (1, "[0..3]")]);
        own.push(format!("part v{of}: V{of}{form}"));
        let mut members = vec!["x: int?".to_owned(), "y: text?".to_owned()];
        members.extend(attributes("z", random.below(3), false, &random));
        if random.percent(25) {
            members.extend(references("v", "", &plan.of_roots(), false, immutable, &random));
        }
        if random.percent(35) {
            let form = *random.weighted(&[(3, "[*]"), (2, "?"), (1, "")]);
            members.push(format!("part w: W{of}{form}"));
            let inner = attributes("u", 1 + random.below(2), false, &random.fork("inner"));
            made.push(Declaration { head: format!("value W{of}"), members: inner });
        }
        made.push(Declaration { head: format!("value V{of}"), members });
    }
    if random.percent(25) {
        let form = *random.weighted(&[(4, "[*]"), (2, "?"), (1, "[0..4]")]);
        let back = if random.one_in(2) { " inverse owner" } else { "" };
        own.push(format!("part p{of}: P{of}{form}{back}"));
        let mut members = match random.below(6) {
            0 => Vec::new(),
            1 => vec!["id pk: int".to_owned(), "id pk2: text".to_owned()],
            2 => vec!["id pk: text".to_owned()],
            _int => vec!["id pk: int".to_owned()],
        };
        members.extend(attributes("pa", 1 + random.below(3), true, &random));
        if random.one_in(2) {
            members.extend(references(&format!("p{of}"), &format!("P{of}"), plan, true, immutable, &random));
        }
        let ttl = if random.percent(5) { "@ttl(1 day)\n" } else { "" };
        made.push(Declaration { head: format!("{ttl}entity P{of}"), members });
        if random.one_in(3) {
            let members = attributes("qa", 1 + random.below(2), true, &random.fork("sub"));
            made.push(Declaration { head: format!("entity Q{of} extends P{of}"), members });
        }
    }
    if let Some(class) = sketch.classes.last_mut() {
        class.members.extend(own);
    }
    sketch.classes.extend(made);
}

impl Plan {
    /// The same without a class that could mean itself.
    fn of_roots(&self) -> Self {
        Self {
            entities: self.entities[..self.roots].to_vec(),
            surrogate: self.surrogate.clone(),
            roots: 0,
            immutable: self.immutable.clone(),
        }
    }
}
