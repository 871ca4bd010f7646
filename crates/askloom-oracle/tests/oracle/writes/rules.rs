//! What holds at the end of every statement, each rule as a query for what breaks it. SQLite judges NOT NULL, CHECK
//! and UNIQUE row by row, in the middle of a statement, and names the first that fails; a statement of the language is
//! judged at its end, and may break several rules, of which it names one. So the rules are queries, and all of them
//! are asked.

use super::blueprint::{Blueprint, Class, Extent, Inverse, Reference, Size, Storage};
use super::tables::in_range;

/// A rule that a checked reference leads to something.
#[derive(Debug)]
pub(super) struct Existence {
    pub(super) reference: String,
    pub(super) target: Extent,
    /// The keys that links hold and no instance has.
    pub(super) query: String,
}

#[derive(Debug)]
pub(super) struct Rules {
    /// Answers the names of the refusals whose rules are broken.
    pub(super) query: String,
    pub(super) existence: Vec<Existence>,
}

impl Blueprint {
    pub(super) fn rules(&self) -> Rules {
        let mut rules = vec![("".to_owned(), "SELECT 1 WHERE FALSE".to_owned())];
        for (number, class) in self.classes.iter().enumerate() {
            self.attribute_rules(&mut rules, class);
            self.part_rules(&mut rules, number);
        }
        for (class, number, reference) in self.references() {
            self.link_rules(&mut rules, class, number, reference);
            self.other_end_rules(&mut rules, class, number, reference);
        }
        let queries: Vec<String> = rules
            .iter()
            .map(|(refusal, query)| format!("SELECT '{refusal}' WHERE EXISTS ({query})"))
            .collect();
        let query = queries.join(" UNION ALL ");
        let checked = self.references().filter(|(_, _, reference)| reference.integrity.is_checked());
        let existence = checked.map(|(class, number, reference)| self.existence(class, number, reference));
        Rules { query, existence: existence.collect() }
    }

    fn attribute_rules(&self, rules: &mut Vec<(String, String)>, class: &Class) {
        let table = &class.name;
        for attribute in &class.attributes {
            let name = &attribute.name;
            if !attribute.optional {
                let only = if attribute.sub { " AND cls = 1" } else { "" };
                rules.push((
                    format!("Required {name}"),
                    format!("SELECT 1 FROM {table} WHERE {name} IS NULL{only}"),
                ));
            }
            if let Some(range) = in_range(attribute.scalar, name) {
                let outside = format!("SELECT 1 FROM {table} WHERE {name} IS NOT NULL AND NOT ({range})");
                rules.push((format!("OutOfRange {name}"), outside));
            }
            if attribute.immutable {
                rules.push(altered(table, name, std::slice::from_ref(name)));
            }
            if attribute.unique {
                rules.push((format!("NotUnique {name}"), twice(table, std::slice::from_ref(name), 1)));
            }
        }
        for list in &class.lists {
            let (name, table) = (&list.name, format!("{table}_{}", list.name));
            rules.push((format!("Required {name}"), format!("SELECT 1 FROM {table} WHERE v IS NULL")));
            if let Some(range) = in_range(list.scalar, "v") {
                let outside = format!("SELECT 1 FROM {table} WHERE NOT ({range})");
                rules.push((format!("OutOfRange {name}"), outside));
            }
        }
    }

    fn part_rules(&self, rules: &mut Vec<(String, String)>, class: usize) {
        let table = &self.classes[class].name;
        for part in &self.classes[class].parts {
            let (name, inner) = (&part.name, &self.classes[part.class].name);
            match part.size {
                Size::Required => {
                    let none = format!("SELECT 1 FROM {inner} WHERE {inner}.o = {table}.rid");
                    let without = format!("SELECT 1 FROM {table} WHERE NOT EXISTS ({none})");
                    rules.push((format!("RequiredEnd {name}"), without));
                }
                Size::Many { bound: Some(bound), .. } => {
                    rules.push((format!("UpperBound {name}"), twice(inner, &["o".to_owned()], bound)));
                }
                Size::Optional | Size::Many { bound: None, .. } => {}
            }
        }
    }

    fn link_rules(
        &self,
        rules: &mut Vec<(String, String)>,
        class: usize,
        number: usize,
        reference: &Reference,
    ) {
        let (table, name) = (&self.classes[class].name, &reference.name);
        let links = format!("{table}_{name}");
        match reference.size {
            Size::Required => {
                let column = &self.reference_columns(class, number, "")[0];
                let only = if reference.sub { " AND cls = 1" } else { "" };
                let without = format!("SELECT 1 FROM {table} WHERE {column} IS NULL{only}");
                rules.push((format!("RequiredEnd {name}"), without));
            }
            Size::Many { bound: Some(bound), .. } if reference.storage() == Storage::SymmetricPairs => {
                rules.push((
                    format!("UpperBound {name}"),
                    twice(&links, &self.key_columns(class, "a_"), bound),
                ));
            }
            Size::Many { bound: Some(bound), .. } => {
                rules.push((format!("UpperBound {name}"), twice(&links, &["o".to_owned()], bound)));
            }
            Size::Optional | Size::Many { bound: None, .. } => {}
        }
        if reference.immutable {
            rules.push(altered(table, name, &self.reference_columns(class, number, "")));
        }
        if reference.unique {
            rules.push((
                format!("NotUnique {name}"),
                twice(table, &self.reference_columns(class, number, ""), 1),
            ));
        }
    }

    fn other_end_rules(
        &self,
        rules: &mut Vec<(String, String)>,
        class: usize,
        number: usize,
        reference: &Reference,
    ) {
        let table = &self.classes[class].name;
        let Inverse::Derived { name, size } = &reference.inverse else { return };
        match size {
            Size::Many { bound: Some(bound), .. } if reference.size.is_many() => {
                let target = self.key_columns(reference.target.class, "t_");
                let links = format!("{table}_{}", reference.name);
                rules.push((format!("UpperBound {name}"), twice(&links, &target, *bound)));
            }
            Size::Many { bound: Some(bound), .. } => {
                let columns = self.reference_columns(class, number, "");
                rules.push((format!("UpperBound {name}"), twice(table, &columns, *bound)));
            }
            Size::Required => {
                let target = &self.classes[reference.target.class].name;
                let key = self.key_columns(reference.target.class, "t.");
                let had = Self::same(&self.reference_columns(class, number, "b."), &key);
                let has = Self::same(&self.reference_columns(class, number, "h."), &key);
                // What is new has no link yet, and who had one may lose it together with the instance at the other end.
                rules.push((
                    format!("RequiredEnd {name}"),
                    format!(
                        "SELECT 1 FROM {target} AS t JOIN before_{target} AS old ON old.rid = t.rid \
                         WHERE EXISTS (SELECT 1 FROM before_{table} AS b JOIN {table} AS x ON x.rid = b.rid WHERE {had}) \
                         AND NOT EXISTS (SELECT 1 FROM {table} AS h WHERE {has}){}",
                        of_extent("t", reference.target)
                    ),
                ));
            }
            Size::Optional | Size::Many { bound: None, .. } => {}
        }
    }

    fn existence(&self, class: usize, number: usize, reference: &Reference) -> Existence {
        let table = &self.classes[class].name;
        let links = format!("{table}_{}", reference.name);
        let target = reference.target;
        let (from, key) = match reference.storage() {
            Storage::SymmetricPairs => (&links, self.key_columns(target.class, "l.b_")),
            Storage::Pairs => (&links, self.key_columns(target.class, "l.t_")),
            Storage::Columns => (table, self.reference_columns(class, number, "l.")),
        };
        let same = Self::same(&key, &self.key_columns(target.class, "t."));
        let query = format!(
            "SELECT DISTINCT {} FROM {from} AS l WHERE {} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM {} AS t WHERE {same}{})",
            key.join(", "),
            key[0],
            self.classes[target.class].name,
            of_extent("t", target)
        );
        Existence { reference: reference.name.clone(), target, query }
    }
}

/// An immutable member of a row that is still there has another value.
fn altered(table: &str, name: &str, columns: &[String]) -> (String, String) {
    let differs: Vec<String> = columns.iter().map(|column| format!("x.{column} IS NOT y.{column}")).collect();
    let rows = format!(
        "SELECT 1 FROM {table} AS x JOIN before_{table} AS y ON x.rid = y.rid WHERE {}",
        differs.join(" OR ")
    );
    (format!("Immutable {name}"), rows)
}

/// Rows of which more than so many agree in columns that are not null.
fn twice(table: &str, columns: &[String], most: u64) -> String {
    let (columns, first) = (columns.join(", "), &columns[0]);
    format!("SELECT 1 FROM {table} WHERE {first} IS NOT NULL GROUP BY {columns} HAVING COUNT(*) > {most}")
}

/// The condition that a row is an instance of the subclass, if only those are meant.
pub(super) fn of_extent(alias: &str, extent: Extent) -> String {
    if extent.sub { format!(" AND {alias}.cls = 1") } else { String::new() }
}
