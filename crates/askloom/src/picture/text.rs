//! A design in 80 columns.

use crate::document::{
    Cell, CollectionDocument, ComparedStatement, Comparison, Document, MONTH, Money, Note, PlanDocument,
};
use crate::{fit, human, words};
use askloom_model::Words;
use std::fmt::Write;

const WIDTH: usize = fit::WIDTH;
/// Of the names that begin a line.
const NAME: usize = 12;
/// Reasons of this many decisions are shown; `--format json` has all.
const DECISIONS: usize = 12;

/// The whole design: collections, statements, why, what to watch, what was assumed.
pub fn design(document: &Document) -> String {
    let mut text = String::new();
    wrapped(&document.sentence, 0, &mut text);
    let storage = human::bytes(document.total.storage);
    let amplification = human::short(document.total.write_amplification);
    let kept = document.words.kept;
    wrapped(
        &format!(
            "by {}: {}, {storage} {kept}, {amplification} bytes put for a byte of data",
            document.method,
            price(document)
        ),
        0,
        &mut text,
    );
    if let Some(optimal) = &document.optimal {
        wrapped(&optimal.sentence(), 0, &mut text);
    }
    text.push('\n');
    for collection in &document.collections {
        one(collection, &document.words, &mut text);
    }
    statements(document, &mut text);
    why(document, &mut text);
    let watch: Vec<String> = document.watch.iter().map(|note| note.text.clone()).collect();
    section("WATCH", &watch, &mut text);
    if !document.assumed.is_empty() {
        section("ASSUMED", &[assumed(&document.assumed)], &mut text);
    }
    costs_by(document, &mut text);
    text
}

/// What costs are by, where that is more than what is known of the store.
fn costs_by(document: &Document, text: &mut String) {
    if let Some(words) = &document.costs_by {
        text.push('\n');
        wrapped(words, 0, text);
    }
}

/// All assumptions in one sentence; statements of which no rate is known are named together.
fn assumed(notes: &[Note]) -> String {
    let (unrated, others): (Vec<&Note>, Vec<&Note>) = notes.iter().partition(|note| note.unrated.is_some());
    let mut parts: Vec<String> = others.iter().map(|note| note.text.clone()).collect();
    let names: Vec<&str> = unrated.iter().filter_map(|note| note.unrated.as_deref()).collect();
    if !names.is_empty() {
        parts.push(format!("{} once a second", names.join(", ")));
    }
    parts.join(", ")
}

/// What the workload costs, in what its users pay.
fn price(document: &Document) -> String {
    match document.money {
        Some(Money { requests, storage }) => {
            let (requests, storage) = (human::count(requests), human::count(storage));
            format!("${requests} a month for requests and ${storage} for storage")
        }
        None => format!("{} {} a second", human::short(document.total.cost), document.unit),
    }
}

fn one(collection: &CollectionDocument, called: &Words, text: &mut String) {
    let mut lines = collection.text.lines();
    let heading = lines.next().unwrap_or_default();
    let added = if collection.is_added() { ", added" } else { "" };
    let heading = match heading.strip_suffix(')') {
        Some(open) => format!("{open}{added})"),
        None if added.is_empty() => heading.to_owned(),
        None => format!("{heading} (added)"),
    };
    let entries = format!("{} {}", human::count(collection.estimate.entries), called.records);
    let size = format!("{entries}  {:>8}", human::bytes(collection.estimate.bytes));
    let room = WIDTH.saturating_sub(fit::width(&size));
    if fit::width(&heading) < room {
        let _ = writeln!(text, "{}{size}", fit::left(&heading, room));
    } else {
        let _ = writeln!(text, "{}\n{size:>WIDTH$}", fit::lines(&heading, WIDTH).join("\n"));
    }
    for line in lines {
        let _ = writeln!(text, "{line}");
    }
    let list = |label: &str, names: &[String], text: &mut String| {
        if !names.is_empty() {
            words::line(label, &names.join(", "), called, text);
        }
    };
    list("serves", &collection.serves, text);
    list("kept by", &collection.kept_right_by, text);
}

fn statements(document: &Document, text: &mut String) {
    // A long unit would touch the column before it.
    let unit = if fit::width(&document.unit) < 8 { document.unit.as_str() } else { "COST" };
    let _ = writeln!(
        text,
        "\n{:<NAME$} {:>8}  {:<34}{:>6}{:>8}{:>8}",
        "STATEMENT",
        "RATE/s",
        "HOW",
        "CALLS",
        unit,
        if document.money.is_some() { "$/MONTH" } else { "SHARE" }
    );
    for plan in &document.plans {
        let rate = plan.rate.map_or_else(|| "?".to_owned(), human::short);
        let how = match &plan.missing {
            Some(missing) => format!("no plan: {missing}"),
            None => how(plan),
        };
        let how = fit::lines(&how, 33);
        let first = how.first().cloned().unwrap_or_default();
        let share = match document.money {
            Some(_) => a_month(plan.rate.unwrap_or(1.0) * plan.cost * MONTH),
            None => format!("{:.0}%", plan.share * 100.0),
        };
        let numbers = format!("{:>6}{:>8}{share:>8}", human::short(plan.requests()), human::short(plan.cost));
        let name = named(&plan.statement, NAME, text);
        let _ = writeln!(text, "{name} {rate:>8}  {}{numbers}", fit::left(&first, 34));
        for line in how.iter().skip(1) {
            let _ = writeln!(text, "{:indent$}{line}", "", indent = NAME + 11);
        }
    }
}

/// What is paid a month, with every digit where there is room.
fn a_month(dollars: f64) -> String {
    let text = human::count(dollars);
    if fit::width(&text) < 8 { text } else { human::short(dollars) }
}

/// The name that begins a line, filled up. One that is too long has lines of its own before it.
fn named(name: &str, room: usize, text: &mut String) -> String {
    if fit::width(name) <= room {
        return fit::left(name, room);
    }
    let _ = writeln!(text, "{}", fit::lines(name, WIDTH).join("\n"));
    " ".repeat(room)
}

/// What a statement does in a few words: where it starts, and how many steps follow.
fn how(plan: &PlanDocument) -> String {
    let copies = match plan.copies.len() {
        0 => String::new(),
        1 => ", 1 copy after it".to_owned(),
        some => format!(", {some} copies after it"),
    };
    let further = plan.steps.iter().filter(|step| step.collection.is_some()).count();
    let then = match (plan.is_write(), further) {
        (false, 2) => ", then 1 more".to_owned(),
        (false, some) if some > 2 => format!(", then {} more", some - 1),
        (_, _) => String::new(),
    };
    format!("{}{then}{copies}", plan.how)
}

fn why(document: &Document, text: &mut String) {
    if document.decisions.is_empty() {
        return;
    }
    text.push_str("\nWHY\n");
    for decision in document.decisions.iter().take(DECISIONS) {
        let words = format!("{}: {} [{}]", decision.about, decision.says, decision.source);
        wrapped(&words, 2, text);
    }
    let more = document.decisions.len().saturating_sub(DECISIONS);
    if more > 0 {
        wrapped(&format!("and {more} more: --format json has all"), 2, text);
    }
}

fn section(title: &str, items: &[String], text: &mut String) {
    if items.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{title}");
    for item in items {
        wrapped(item, 2, text);
    }
}

/// All methods beside each other.
pub fn comparison(document: &Document, comparison: &Comparison) -> String {
    let mut text = String::new();
    let names: Vec<&str> = comparison.methods.iter().map(|method| method.method.as_str()).collect();
    wrapped(
        &format!(
            "{} on {}: {}, calls and {} of one call each",
            document.model,
            document.title,
            names.join(", "),
            document.unit
        ),
        0,
        &mut text,
    );
    text.push('\n');
    let column = COLUMN.min(WIDTH.saturating_sub(LABEL) / names.len().max(1));
    let room = WIDTH.saturating_sub(names.len() * column).max(NAME);
    let heading: String = names.iter().map(|name| format!("{name:>column$}")).collect();
    let _ = writeln!(text, "{:<room$}{heading}", "STATEMENT");
    for statement in &comparison.statements {
        // A space parts the name from the first number.
        let name = named(&statement.statement, room - 1, &mut text);
        let _ = writeln!(text, "{name} {}", cells(statement, column));
    }
    totals(document, comparison, (room, column), &mut text);
    text.push_str("\n* cheapest   ! goes through everything\n\n");
    for method in &comparison.methods {
        wrapped(&format!("{}: {}", method.method, method.sentence), 0, &mut text);
    }
    for left in &comparison.left_out {
        wrapped(&format!("{}: left out, {}", left.method, left.why), 0, &mut text);
    }
    costs_by(document, &mut text);
    text
}

/// What a statement takes by each method.
fn cells(statement: &ComparedStatement, column: usize) -> String {
    let possible = statement.cells.iter().filter(|cell| !cell.missing);
    let least = possible.map(|cell| cell.cost).fold(f64::INFINITY, f64::min);
    let cell = |cell: &Cell| {
        if cell.missing {
            return format!("{:>column$}", "no plan");
        }
        let mark = if cell.scans {
            "!"
        } else if cell.cost <= least * 1.0001 {
            "*"
        } else {
            " "
        };
        let numbers = format!("{} {}{mark}", human::short(cell.requests), human::short(cell.cost));
        format!("{numbers:>column$}")
    };
    statement.cells.iter().map(cell).collect()
}

const COLUMN: usize = 14;
/// The longest name of a sum, and a space.
const LABEL: usize = 17;

fn totals(document: &Document, comparison: &Comparison, (room, column): (usize, usize), text: &mut String) {
    type Number = fn(&crate::document::Compared) -> String;
    let unit = format!("{} a second", document.unit);
    let cost: (&str, Number) = match document.money {
        Some(_) => ("$ a month", |method| human::short(method.total.cost * MONTH)),
        None => (&unit, |method| human::short(method.total.cost)),
    };
    let rows: [(&str, Number); 8] = [
        ("calls a second", |method| human::short(method.total.requests)),
        ("entries a second", |method| human::short(method.total.rows)),
        ("bytes a second", |method| human::bytes(method.total.bytes)),
        cost,
        ("stored", |method| human::bytes(method.total.storage)),
        ("put for a byte", |method| human::short(method.total.write_amplification)),
        ("collections", |method| method.collections.to_string()),
        ("of them added", |method| method.added.to_string()),
    ];
    text.push('\n');
    for (name, number) in rows {
        let cells: String = comparison
            .methods
            .iter()
            .map(|method| format!("{:>column$} ", number(method)).trim_end().to_owned())
            .collect::<Vec<_>>()
            .concat();
        let _ = writeln!(text, "{name:<room$}{cells}");
    }
}

/// Words in lines, the first at an indent and the others further in.
fn wrapped(words: &str, indent: usize, text: &mut String) {
    for (index, line) in fit::lines(words, WIDTH - indent - 4).iter().enumerate() {
        let indent = if index == 0 { indent } else { indent + 4 };
        let _ = writeln!(text, "{:indent$}{line}", "");
    }
}
