//! Names in tables that several classes share.

use crate::names::NameRule;
use askloom_plan::layout::{Layout, Place, Table};

/// The tables that are one with a table; itself alone if it is not shared.
pub(crate) fn together<'l>(layout: &'l Layout, table: &Table) -> Vec<&'l Table> {
    let home = table.named_by();
    layout.tables().iter().filter(|other| other.named_by() == home).collect()
}

/// The names of the tables themselves; of those that are one the same.
pub(crate) fn table_names(
    rule: &NameRule,
    layout: &Layout,
    wanted: impl Fn(&Table) -> String,
) -> Vec<String> {
    let is_named = |table: &&Table| table.named_by() == table.collection;
    let named: Vec<&Table> = layout.tables().iter().filter(is_named).collect();
    let wanted: Vec<String> = named.iter().map(|table| wanted(table)).collect();
    let names = rule.names(wanted.iter().map(String::as_str));
    let name = |table: &Table| {
        let at = named.iter().position(|other| other.collection == table.named_by());
        at.and_then(|at| names.get(at)).cloned().unwrap_or_default()
    };
    layout.tables().iter().map(name).collect()
}

/// The names of what the system keeps in a table, then those of its columns. In a table that is shared no name means two
/// columns, but for those of the partition, which are named as the first class names them; of the others those that are
/// called alike get the names of their classes before them. What the system keeps is what any of the classes needs.
pub(crate) fn column_names(
    rule: &NameRule,
    layout: &Layout,
    table: &Table,
    system: impl Fn(&Table) -> Vec<&'static str>,
) -> (Vec<String>, Vec<String>) {
    let mut group = together(layout, table);
    group.sort_by_key(|other| other.collection != table.named_by());
    let system = group.iter().map(|table| system(table)).max_by_key(Vec::len).unwrap_or_default();
    let mut wanted: Vec<String> = system.iter().map(|name| (*name).to_owned()).collect();
    let mut own = 0..0;
    for other in &group {
        let is_first = other.collection == table.named_by();
        let start = wanted.len();
        for column in other.columns.iter().filter(|column| is_first || column.place != Place::Block) {
            let mut name = column.name.clone();
            if wanted.get(system.len()..start).is_some_and(|before| before.contains(&name)) {
                name = format!("{}.{name}", class_name(layout, other));
            }
            wanted.push(name);
        }
        if other.collection == table.collection {
            own = start..wanted.len();
        }
    }
    let names = rule.names(wanted.iter().map(String::as_str));
    let is_first = table.collection == table.named_by();
    let partition = table.block().count();
    let block = names.iter().skip(system.len()).take(if is_first { 0 } else { partition });
    let rest = names.iter().skip(own.start).take(own.len());
    let columns = block.chain(rest).cloned().collect();
    (names.iter().take(system.len()).cloned().collect(), columns)
}

fn class_name<'l>(layout: &'l Layout, table: &Table) -> &'l str {
    layout.name_of(layout.design.collections[table.collection].source.root)
}
