//! The tables of a model. A row is numbered (`rid`), so that what lies inside it finds it by one column (`o`) and dies
//! with it. References hold keys, as they may lead nowhere; checked ones are foreign keys, whose actions are those of
//! `on delete`. They are deferred, so that a statement is judged as a whole and all that it breaks can be listed.
//!
//! | member | is stored as |
//! | --- | --- |
//! | attribute | a column |
//! | list of values | a table with an ordinal |
//! | part | a row of its class, with its owner and, in a list, an ordinal |
//! | to-one reference | columns with the key of the target |
//! | to-many reference | a table of pairs: number of the holder, key of the target |
//! | symmetric reference | a table of pairs of keys, each link in both directions, whether or not both ends exist |
//!
//! The table `counters` has the next ordinal of each list, by the place of the list in its aggregate.
//!
//! A table `before_…` is a copy of a class as it was before a statement: some rules are about what was there.
//!
//! A row knows its `path`, by which facts are compared: keys and ordinals never change, so neither does a path.

use super::blueprint::{Blueprint, Class, Integrity, Preset, Reference, Storage};
use super::scalar::Scalar;
use std::fmt::Write;

impl Blueprint {
    pub(super) fn tables(&self) -> String {
        let mut sql = "CREATE TEMP TABLE matched (place INTEGER PRIMARY KEY, rid INTEGER);\n\
                       CREATE TEMP TABLE elements (place INTEGER PRIMARY KEY, rid INTEGER, o INTEGER);\n\
                       CREATE TABLE counters (list TEXT PRIMARY KEY, n INTEGER NOT NULL);\n"
            .to_owned();
        for (number, class) in self.classes.iter().enumerate() {
            self.class_table(&mut sql, number, class);
            for list in &class.lists {
                let (name, list) = (&class.name, &list.name);
                let owner = owner_column(name);
                writeln!(
                    sql,
                    "CREATE TABLE {name}_{list} (rid INTEGER PRIMARY KEY, {owner}, ord INTEGER, v);"
                )
                .unwrap();
            }
        }
        for (class, _, reference) in self.references() {
            match reference.storage() {
                Storage::SymmetricPairs => self.symmetric_table(&mut sql, class, reference),
                Storage::Pairs => self.set_table(&mut sql, class, reference),
                Storage::Columns => {}
            }
        }
        sql
    }

    fn class_table(&self, sql: &mut String, number: usize, class: &Class) {
        let mut columns = vec![
            "rid INTEGER PRIMARY KEY AUTOINCREMENT".to_owned(),
            "path TEXT".to_owned(),
            "cls INTEGER".to_owned(),
        ];
        match class.owner {
            None => columns.push("created INTEGER".to_owned()),
            Some((owner, _)) => {
                columns.push(owner_column(&self.classes[owner].name));
                columns.push("ord INTEGER".to_owned());
            }
        }
        for attribute in &class.attributes {
            let default = match &attribute.preset {
                Some(Preset::Constant(value)) => format!(" DEFAULT {}", attribute.scalar.sql_literal(value)),
                Some(Preset::Now | Preset::NewUuid) | None => String::new(),
            };
            columns.push(format!("{}{default}", attribute.name));
        }
        let own: Vec<String> =
            class.key.iter().filter_map(|member| member.plain().map(|(name, _)| name.to_owned())).collect();
        columns.extend(own);
        let mut constraints = Vec::new();
        for (n, reference) in class.references.iter().enumerate() {
            if !reference.size.is_many() {
                let own = self.reference_columns(number, n, "");
                columns.extend(own.clone());
                constraints.extend(self.foreign_key(&own, reference));
            }
        }
        let key = self.key_columns(number, "").join(", ");
        if class.is_entity() {
            constraints.push(format!("UNIQUE ({key})"));
        }
        columns.extend(constraints);
        let name = &class.name;
        writeln!(sql, "CREATE TABLE {name} ({});", columns.join(", ")).unwrap();
        writeln!(sql, "CREATE TABLE before_{name} AS SELECT * FROM {name};").unwrap();
    }

    fn foreign_key(&self, columns: &[String], reference: &Reference) -> Option<String> {
        let action = match (reference.integrity, reference.size.is_many()) {
            (Integrity::Trusted | Integrity::Loose, _) => return None,
            (Integrity::Refuse, _) | (Integrity::Cascade, true) => "NO ACTION",
            (Integrity::Cascade, false) | (Integrity::Clear, true) => "CASCADE",
            (Integrity::Clear, false) => "SET NULL",
        };
        Some(format!(
            "FOREIGN KEY ({}) REFERENCES {} ({}) ON DELETE {action} DEFERRABLE INITIALLY DEFERRED",
            columns.join(", "),
            self.classes[reference.target.class].name,
            self.key_columns(reference.target.class, "").join(", ")
        ))
    }

    fn set_table(&self, sql: &mut String, class: usize, reference: &Reference) {
        let holder = &self.classes[class].name;
        let table = format!("{holder}_{}", reference.name);
        let target = self.key_columns(reference.target.class, "t_");
        let columns = target.join(", ");
        let foreign_key =
            self.foreign_key(&target, reference).map(|text| format!(", {text}")).unwrap_or_default();
        writeln!(
            sql,
            "CREATE TABLE {table} ({}, {columns}, UNIQUE (o, {columns}){foreign_key});",
            owner_column(holder)
        )
        .unwrap();
        if reference.integrity == Integrity::Cascade {
            let gone = Self::same(&target, &self.key_columns(reference.target.class, "OLD."));
            let body = format!("DELETE FROM {holder} WHERE rid IN (SELECT o FROM {table} WHERE {gone});");
            self.after_delete(sql, &table, reference.target.class, &body);
        }
    }

    fn symmetric_table(&self, sql: &mut String, class: usize, reference: &Reference) {
        let holder = &self.classes[class].name;
        let table = format!("{holder}_{}", reference.name);
        let (a, b) = (self.key_columns(class, "a_"), self.key_columns(class, "b_"));
        let foreign_key = self.symmetric_foreign_key(&b, class, reference);
        let columns = [a.join(", "), b.join(", ")].join(", ");
        writeln!(sql, "CREATE TABLE {table} ({columns}, UNIQUE ({columns}){foreign_key});").unwrap();
        let key = self.key_columns(class, "x.");
        let exists = |side: &[String]| {
            format!("EXISTS (SELECT 1 FROM {holder} AS x WHERE {})", Self::same(&key, side))
        };
        let mut body = String::new();
        if reference.integrity == Integrity::Cascade {
            let gone = Self::same(&b, &self.key_columns(class, "OLD."));
            write!(
                body,
                "DELETE FROM {holder} WHERE ({}) IN (SELECT {} FROM {table} WHERE {gone}); ",
                self.key_columns(class, "").join(", "),
                a.join(", ")
            )
            .unwrap();
        }
        let either = if reference.integrity == Integrity::Clear { "AND" } else { "OR" };
        write!(body, "DELETE FROM {table} WHERE NOT ({} {either} {});", exists(&a), exists(&b)).unwrap();
        self.after_delete(sql, &table, class, &body);
    }

    fn symmetric_foreign_key(&self, columns: &[String], class: usize, reference: &Reference) -> String {
        match reference.integrity {
            Integrity::Trusted | Integrity::Loose | Integrity::Clear => String::new(),
            Integrity::Refuse | Integrity::Cascade => format!(
                ", FOREIGN KEY ({}) REFERENCES {} ({}) DEFERRABLE INITIALLY DEFERRED",
                columns.join(", "),
                self.classes[class].name,
                self.key_columns(class, "").join(", ")
            ),
        }
    }

    fn after_delete(&self, sql: &mut String, name: &str, class: usize, body: &str) {
        let table = &self.classes[class].name;
        writeln!(sql, "CREATE TRIGGER gone_{name} AFTER DELETE ON {table} BEGIN {body} END;").unwrap();
    }
}

fn owner_column(owner: &str) -> String {
    format!("o INTEGER NOT NULL REFERENCES {owner} (rid) ON DELETE CASCADE")
}

/// A value of the type as SQLite tells it from what does not fit: a sum that a long cannot hold becomes a real, one
/// that a double cannot hold an infinity.
pub(super) fn in_range(scalar: Scalar, column: &str) -> Option<String> {
    match scalar {
        Scalar::Int => Some(format!("{column} BETWEEN -2147483648 AND 2147483647")),
        Scalar::Long => Some(format!("typeof({column}) = 'integer'")),
        Scalar::Double => Some(format!("abs({column}) <= 1.7976931348623157e308")),
        Scalar::Text | Scalar::Bool | Scalar::Enum | Scalar::Decimal | Scalar::Stamp | Scalar::Uuid => None,
    }
}
