//! Links in SQL. A relationship is one set of links: columns of the to-one end, else a table of pairs. Whoever can
//! have one link only is first taken from its former partner.

use super::blueprint::{Blueprint, Storage};
use super::engine::Engine;
use super::rules::of_extent;
use super::statement::LinkEnd;
use rusqlite::types::Value as Sql;

impl Engine<'_> {
    /// Links the rows that a query numbers to the instance that a parameter names, or sets the end to null; how many
    /// links have a place to be at.
    pub(super) fn connect(&mut self, end: LinkEnd, rows: &str, to: &str) -> u64 {
        let reference = &self.blueprint.classes[end.holder].references[end.reference];
        let given = self.given(end, to);
        if self.values[given[0].trim_start_matches(':')] == Sql::Null {
            // Null clears a to-one end, and puts nothing into a set.
            if !self.blueprint.end_name(end).1.is_many() {
                self.disconnect(end, rows, None);
            }
            return u64::MAX;
        }
        let single = if end.derived { !reference.size.is_many() } else { reference.is_exclusive() };
        let numbers = if single { self.numbers(rows) } else { Vec::new() };
        if numbers.len() > 1 {
            // One after the other, so that the last one has the partner.
            self.notes.insert("one partner for several");
            let connected = numbers.iter().map(|row| self.connect(end, &format!("SELECT {row} AS rid"), to));
            return connected.max().unwrap_or(0);
        }
        match (reference.storage(), end.derived) {
            (Storage::SymmetricPairs, _) => self.connect_symmetric(end, rows, &given),
            (Storage::Pairs, false) => {
                let links = self.links(end);
                self.run(&format!(
                    "INSERT OR IGNORE INTO {links} SELECT rid, {} FROM ({rows})",
                    given.join(", ")
                ));
            }
            (Storage::Columns, false) => self.connect_stored(end, rows, &given),
            (Storage::Pairs | Storage::Columns, true) => return self.connect_derived(end, rows, &given),
        }
        u64::MAX
    }

    /// The refusal of a checked reference to what does not exist. A later assignment of the statement may replace the
    /// link, and it is refused all the same.
    pub(super) fn missing_target(&mut self, end: LinkEnd, rows: &str, to: &str) -> Option<String> {
        let reference = &self.blueprint.classes[end.holder].references[end.reference];
        let key: Vec<Sql> = self
            .given(end, to)
            .iter()
            .map(|name| self.values[name.trim_start_matches(':')].clone())
            .collect();
        let set = reference.integrity.is_checked() && !end.derived && key[0] != Sql::Null;
        let missing = set && !self.numbers(rows).is_empty() && !self.exists(reference.target, &key);
        missing.then(|| format!("NoSuchTarget {}", reference.name))
    }

    /// Takes the link to one instance from the rows that a query numbers, or all links.
    pub(super) fn disconnect(&mut self, end: LinkEnd, rows: &str, other: Option<&str>) {
        let blueprint = self.blueprint;
        let reference = &blueprint.classes[end.holder].references[end.reference];
        let holder = &blueprint.classes[end.holder].name;
        let target = reference.target.class;
        let given = other.map(|other| self.given(end, other));
        let only = |columns: Vec<String>| match &given {
            Some(given) => format!(" AND {}", Blueprint::same(&columns, given)),
            None => String::new(),
        };
        let links = self.links(end);
        match (reference.storage(), end.derived) {
            (Storage::SymmetricPairs, _) => {
                let key = blueprint.key_columns(end.holder, "").join(", ");
                let own = format!("SELECT {key} FROM {holder} WHERE rid IN ({rows})");
                for (from, to) in [("a_", "b_"), ("b_", "a_")] {
                    let (from, to) = (
                        blueprint.key_columns(end.holder, from).join(", "),
                        blueprint.key_columns(end.holder, to),
                    );
                    self.run(&format!("DELETE FROM {links} WHERE ({from}) IN ({own}){}", only(to)));
                }
            }
            (Storage::Pairs, false) => {
                let only = only(blueprint.key_columns(target, "t_"));
                self.run(&format!("DELETE FROM {links} WHERE o IN ({rows}){only}"));
            }
            (Storage::Columns, false) => {
                let only = only(blueprint.reference_columns(end.holder, end.reference, ""));
                self.clear(end, &format!("rid IN ({rows}){only}"));
            }
            (Storage::Pairs | Storage::Columns, true) => {
                let table = &blueprint.classes[target].name;
                let keys = format!(
                    "SELECT {} FROM {table} WHERE rid IN ({rows})",
                    blueprint.key_columns(target, "").join(", ")
                );
                let only = only(blueprint.key_columns(end.holder, ""));
                if reference.size.is_many() {
                    let own = blueprint.key_columns(target, "t_").join(", ");
                    let holders = format!("SELECT rid FROM {holder} WHERE TRUE{only}");
                    self.run(&format!("DELETE FROM {links} WHERE ({own}) IN ({keys}) AND o IN ({holders})"));
                } else {
                    let own = blueprint.reference_columns(end.holder, end.reference, "").join(", ");
                    self.clear(end, &format!("({own}) IN ({keys}){only}"));
                }
            }
        }
    }

    /// The parameters of an identifier on the other side of an end.
    fn given(&self, end: LinkEnd, parameter: &str) -> Vec<String> {
        self.blueprint.key_columns(self.blueprint.other_side(end).class, &format!(":{parameter}__"))
    }

    fn links(&self, end: LinkEnd) -> String {
        let holder = &self.blueprint.classes[end.holder];
        format!("{}_{}", holder.name, holder.references[end.reference].name)
    }

    /// Sets a to-one reference to null.
    fn clear(&mut self, end: LinkEnd, which: &str) -> u64 {
        let nothing: Vec<String> = self
            .blueprint
            .reference_columns(end.holder, end.reference, "")
            .iter()
            .map(|column| format!("{column} = NULL"))
            .collect();
        let holder = &self.blueprint.classes[end.holder].name;

        let first = &self.blueprint.reference_columns(end.holder, end.reference, "")[0];
        self.run(&format!("UPDATE {holder} SET {} WHERE {first} IS NOT NULL AND {which}", nothing.join(", ")))
    }

    /// Sets a reference to null where another instance takes the partner over.
    pub(super) fn take_over(&mut self, end: LinkEnd, which: &str) {
        if self.clear(end, which) > 0 {
            self.notes.insert("taken over");
        }
    }

    fn connect_stored(&mut self, end: LinkEnd, rows: &str, given: &[String]) {
        let blueprint = self.blueprint;
        let holder = &blueprint.classes[end.holder].name;
        let columns = blueprint.reference_columns(end.holder, end.reference, "");
        let exclusive = blueprint.classes[end.holder].references[end.reference].is_exclusive();
        if exclusive && !self.numbers(rows).is_empty() {
            let taken = Blueprint::same(&columns, given);
            self.take_over(end, &format!("{taken} AND rid NOT IN ({rows})"));
        }
        let set: Vec<String> =
            columns.iter().zip(given).map(|(column, value)| format!("{column} = {value}")).collect();
        self.run(&format!("UPDATE {holder} SET {} WHERE rid IN ({rows})", set.join(", ")));
    }

    /// Links from the end that stores nothing: the instance on the other side holds them, if it exists.
    fn connect_derived(&mut self, end: LinkEnd, rows: &str, given: &[String]) -> u64 {
        let blueprint = self.blueprint;
        let reference = &blueprint.classes[end.holder].references[end.reference];
        let holder = &blueprint.classes[end.holder].name;
        let same = Blueprint::same(&blueprint.key_columns(end.holder, "h."), given);
        let only = of_extent("h", blueprint.other_side(end));
        let found = self.number(&format!("SELECT h.rid FROM {holder} AS h WHERE {same}{only}")).unwrap();
        let Some(found) = found else { return 0 };
        let target = reference.target.class;
        let table = &blueprint.classes[target].name;
        let key = blueprint.key_columns(target, "").join(", ");
        if reference.size.is_many() {
            let links = self.links(end);
            self.run(&format!(
                "INSERT OR IGNORE INTO {links} SELECT {found}, {key} FROM {table} WHERE rid IN ({rows})"
            ));
            return u64::MAX;
        }
        if self.numbers(rows).is_empty() {
            return 0;
        }
        let columns = blueprint.reference_columns(end.holder, end.reference, "");
        if reference.is_exclusive() {
            let taken =
                format!("({}) IN (SELECT {key} FROM {table} WHERE rid IN ({rows}))", columns.join(", "));
            self.take_over(end, &format!("{taken} AND rid != {found}"));
        }
        self.run(&format!(
            "UPDATE {holder} SET ({}) = (SELECT {key} FROM {table} WHERE rid IN ({rows})) WHERE rid = {found}",
            columns.join(", ")
        ));
        u64::MAX
    }

    fn connect_symmetric(&mut self, end: LinkEnd, rows: &str, given: &[String]) {
        let blueprint = self.blueprint;
        let (holder, links) = (&blueprint.classes[end.holder].name, self.links(end));
        let key = blueprint.key_columns(end.holder, "").join(", ");
        let values = given.join(", ");
        self.run(&format!(
            "INSERT OR IGNORE INTO {links} SELECT {key}, {values} FROM {holder} WHERE rid IN ({rows})"
        ));
        self.run(&format!(
            "INSERT OR IGNORE INTO {links} SELECT {values}, {key} FROM {holder} WHERE rid IN ({rows})"
        ));
    }
}
