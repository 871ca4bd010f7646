//! The collections of a method exactly as its paper has them.

use askloom_design::method::{Paper, kvmod, noam};
use std::fmt::Write;

/// In the paper's own form.
pub fn paper(paper: &Paper) -> String {
    match paper {
        Paper::Noam(blocks) => noam_text(blocks),
        Paper::Qodm(schema) => schema.text(),
        Paper::Kvmod(logical) => kvmod_text(logical),
        Paper::Cost(_) => "The collections are chosen by their costs: no paper is about them.\n".to_owned(),
        Paper::Given => "The collections are the model's own: no paper is about them.\n".to_owned(),
    }
}

/// A collection of blocks, its key, and an entry for each match of a rule.
fn noam_text(blocks: &noam::Blocks) -> String {
    let mut text = String::new();
    for collection in &blocks.collections {
        let _ =
            writeln!(text, "collection {}: a block for each {}", collection.name, collection.key.join(", "));
        for rule in &collection.rules {
            let _ = writeln!(text, "  {rule}");
        }
    }
    text
}

/// Figure 8: the key, then each field with its type; an arrow where a query orders by it.
fn kvmod_text(logical: &kvmod::Logical) -> String {
    let mut text = String::new();
    for collection in &logical.collections {
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = writeln!(text, "{}", collection.name);
        let names = collection.fields.iter().map(|field| field.name.chars().count());
        let width = names.chain([collection.key.chars().count()]).max().unwrap_or(0) + 2;
        let _ = writeln!(text, "  {:width$}{:12}K", collection.key, "numerical");
        for field in &collection.fields {
            let mark = if field.sorted { "↗" } else { "" };
            let line = format!("  {:width$}{:12}{mark}", field.name, field.ty);
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    text
}
