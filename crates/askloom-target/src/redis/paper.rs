//! What KVMod's generator prints for Redis, its slips included: `PREFIX1`, a collection's name and SCHEMA in one word,
//! commas, a semicolon, types that the search module does not have, and a transaction that reads what it writes.
//!
//! Dourhri, Hanine, Ouahmane, "KVMod—A Novel Approach to Design Key-Value NoSQL Databases", figures 10 and 11 and the
//! section on the transformation of the logical model.

use super::emit::Redis;
use super::schema::Flavour;
use crate::generate::{Block, File, Generated, Source};
use askloom_model::{Origin, Role, Type};
use askloom_plan::layout::{Column, Holds, Layout, Table};
use std::fmt::Write;

pub(super) fn generate(source: &Source<'_>) -> Generated {
    let layout = source.layout;
    let own: Vec<&Table> = layout.tables().iter().filter(|table| is_own(layout, table)).collect();
    if !prints(layout) {
        let options = crate::generate::Options { faithful: false, ..source.options.clone() };
        let plain =
            Source { layout, statements: source.statements.clone(), sample: source.sample.clone(), options };
        let mut made = crate::generate::Language::generate(&Redis(Flavour::Search), &plain);
        made.notes
            .push("No paper prints this design on Redis: --faithful is about --method kvmod.".to_owned());
        return made;
    }
    let file = |name: &str, blocks: Vec<Block>| File { name: name.to_owned(), run: None, blocks };
    let schema = own.iter().map(|table| definition(layout, table, &source.options.prefix)).collect();
    let inserts = own.iter().map(|table| insert(table, &source.options.prefix)).collect();
    Generated {
        refused: Vec::new(),
        files: vec![file("schema.redis", schema), file("statements.redis", inserts)],
        notes: vec![
            "As the paper prints it: no server takes it. Without --faithful it is mended.".to_owned(),
        ],
    }
}

/// Whether the paper prints something of this design.
pub(super) fn prints(layout: &Layout) -> bool {
    layout.tables().iter().any(|table| is_own(layout, table))
}

/// Whether the method made it: what was added to answer and keep everything is in no figure.
fn is_own(layout: &Layout, table: &Table) -> bool {
    let collection = &layout.design.collections[table.collection];
    layout.design.method == "kvmod" && collection.origin == Origin::Method && table.role == Role::Copy
}

/// The prefix is the name of the database: `airflights_Airport`.
fn definition(layout: &Layout, table: &Table, prefix: &str) -> Block {
    let asked = layout.asked(table.collection);
    let sorted = |index: usize| asked.orders.iter().flatten().any(|(column, _)| *column == index);
    let name = format!("{prefix}{}", table.name);
    let mut text = format!("FT.CREATE {name} ON HASH PREFIX1 {name}:SCHEMA\n");
    for (index, column) in table.columns.iter().enumerate().filter(|(_, column)| is_shown(column)) {
        let sortable = if sorted(index) { " SORTABLE" } else { "" };
        let _ = writeln!(text, "    {} {}{sortable},", short(table, column), type_of(column));
    }
    text.push_str("  ;\n");
    Block { of: table.name.clone(), text, whole: false }
}

/// The last step of its path, as the figures have it, if no other ends so.
fn short<'t>(table: &'t Table, column: &'t Column) -> &'t str {
    let last = |column: &'t Column| column.name.rsplit('.').next().unwrap_or_default();
    let own = last(column);
    let others = table.columns.iter().filter(|other| is_shown(other) && last(other) == own).count();
    if others > 1 { &column.name } else { own }
}

fn is_shown(column: &Column) -> bool {
    matches!(column.holds, Holds::Scalar(_))
}

fn type_of(column: &Column) -> &'static str {
    match column.holds.scalar() {
        Some(Type::Int | Type::Long) => "INTEGER",
        Some(Type::Decimal | Type::Double) => "REAL",
        Some(Type::Bool) => "BOOLEAN",
        Some(Type::Date) => "DATE",
        Some(Type::Time) => "TIME",
        Some(Type::Timestamp(_)) => "TIMESTAMP",
        Some(Type::Geo) => "GEO",
        Some(Type::Text | Type::Enum(_) | Type::Uuid | Type::Blob | Type::Json) | None => "TEXT",
    }
}

/// A new hash with a key that counts: what is read in MULTI comes only with EXEC, so that every key would be the same.
fn insert(table: &Table, prefix: &str) -> Block {
    let name = format!("{prefix}{}", table.name);
    let fields: Vec<String> = table
        .columns
        .iter()
        .filter(|column| is_shown(column))
        .map(|column| format!("{} :{}", short(table, column), short(table, column)))
        .collect();
    let text = format!(
        "MULTI\nx = GET K_{name}\nHSET {name} : K_{name} {}\nx = x + 1\nSet K_{name} = $x\nEXEC\n",
        fields.join(" ")
    );
    Block { of: table.name.clone(), text, whole: false }
}
