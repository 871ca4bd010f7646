//! Random models as text: hierarchies of entities and of parts, parts in parts, lists, sets, surrogates, and names
//! that look like paths. Names come from a small pool, so that one rule is about many classes.

use fastrand::Rng;
use std::fmt::Write;

pub(crate) const NAMES: [&str; 7] = ["a", "b", "c", "`a.b`", "`a[0]`", "`#`", "`d e`"];
/// What rules may name: entities that are roots, the first of them the one that is represented.
pub(crate) const ROOTS: [&str; 5] = ["E", "E1", "E2", "E11", "T"];

/// The members of one class, by names that its ancestors do not have.
fn members(text: &mut String, names: &mut Vec<&'static str>, parts: &[&str], random: &mut Rng) {
    for _ in 0..random.usize(0..4) {
        if names.is_empty() {
            return;
        }
        let name = names.swap_remove(random.usize(..names.len()));
        let part = (!parts.is_empty() && random.bool()).then(|| parts[random.usize(..parts.len())]);
        let line = match (part, random.usize(..6)) {
            (Some(part), 0..3) => format!("part {name}: {part}[*]"),
            (Some(part), _) => format!("part {name}: {part}?"),
            (None, 0) => format!("{name}: text"),
            (None, 1) => format!("{name}: int?"),
            (None, 2) => format!("{name}: json[*]"),
            (None, 3) => format!("ref {name}: T?"),
            (None, 4) => format!("ref {name}: T[*]"),
            (None, _) => format!("{name}: text[*]"),
        };
        writeln!(text, "  {line}").unwrap();
    }
}

fn class(
    text: &mut String,
    head: &str,
    first: &str,
    names: &[&'static str],
    parts: &[&str],
    random: &mut Rng,
) -> Vec<&'static str> {
    writeln!(text, "{head} {{{first}").unwrap();
    let mut names = names.to_vec();
    members(text, &mut names, parts, random);
    writeln!(text, "}}").unwrap();
    names
}

pub(crate) fn model(random: &mut Rng) -> String {
    // With a link that is stored here, the end in `E` is derived, and in no aggregate of it.
    let link = ["", ", ref e: E? inverse derived"][random.usize(..2)];
    let mut text = format!("entity T {{ id t: text, id u: int{link} }}\n");
    // Value objects: each may hold those before it.
    let values = ["V0", "V1", "V2"];
    for (n, name) in values.iter().enumerate() {
        let left = class(&mut text, &format!("value {name}"), "", &NAMES, &values[..n], random);
        if random.bool() {
            class(&mut text, &format!("value {name}s extends {name}"), "", &left, &values[..n], random);
        }
    }
    // A part that is an entity; it has one owner, so that it is put into one class, by a name of its own.
    let id = ["", " id k: int"][random.usize(..2)];
    let left = class(&mut text, "entity P", id, &NAMES, &values, random);
    if random.bool() {
        class(&mut text, "entity P1 extends P", "", &left, &values, random);
    }
    let is_abstract = random.u8(..3) == 0;
    let head = if is_abstract { "abstract entity E" } else { "entity E" };
    let id = ["", " id k: text"][random.usize(..2)];
    let own = ["", " part p: P[*]", " part p: P?"][random.usize(..3)];
    let first = if id.is_empty() || own.is_empty() { format!("{id}{own}") } else { format!("{id},{own}") };
    let left = class(&mut text, head, &first, &NAMES, &values, random);
    let left_1 = class(&mut text, "entity E1 extends E", "", &left, &values, random);
    class(&mut text, "entity E2 extends E", "", &left, &values, random);
    class(&mut text, "entity E11 extends E1", "", &left_1, &values, random);
    text
}
