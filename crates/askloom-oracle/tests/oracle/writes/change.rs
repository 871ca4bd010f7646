//! UPDATE, DELETE, ADD and REMOVE in SQL. The instances and elements are noted first (`matched`, `elements`), as the
//! set is fixed on the state before.

use super::arguments::Arguments;
use super::blueprint::Integrity;
use super::engine::{Engine, Refusals};
use super::rules::of_extent;
use super::statement::{Assigned, Assignment, ListMember, Operand, Selection, Statement};

const MATCHED: &str = "SELECT rid FROM matched";
const ELEMENTS: &str = "SELECT rid FROM elements";

impl Engine<'_> {
    pub(super) fn apply(&mut self, statement: &Statement, arguments: &Arguments) -> Result<u64, Refusals> {
        match statement {
            Statement::Insert(extent) => self.insert(*extent, arguments),
            Statement::Upsert(extent) => self.upsert(*extent, arguments),
            Statement::Store(extent) => self.store(*extent, arguments),
            Statement::Update { from, set } => {
                let count = self.select(from);
                refused_or(count, self.assign(from.extent.class, MATCHED, set, arguments))
            }
            Statement::UpdateElements { from, list, set } => {
                let count = self.select_elements(from, *list, None);
                let class = &self.blueprint.classes[from.extent.class];
                match list {
                    ListMember::Values(number) => {
                        let table = format!("{}_{}", class.name, class.lists[*number].name);
                        self.set_columns(&table, ELEMENTS, set);
                        Ok(count)
                    }
                    ListMember::Parts(number) => {
                        let refusals = self.assign(class.parts[*number].class, ELEMENTS, set, arguments);
                        refused_or(count, refusals)
                    }
                }
            }
            Statement::Delete { from } => {
                let count = self.select(from);
                let table = &self.blueprint.classes[from.extent.class].name;
                self.delete(&format!("DELETE FROM {table} WHERE rid IN ({MATCHED})"), count);
                Ok(count)
            }
            Statement::Add { from, list, value } => self.add(from, *list, value, arguments),
            Statement::Remove { from, list, at } => Ok(self.remove(from, *list, at.as_ref())),
            Statement::Connect { from, end, to } => {
                let count = self.select(from);
                Ok(self.connect(*end, MATCHED, to).min(count))
            }
            Statement::Disconnect { from, end, other } => {
                let count = self.select(from);
                self.disconnect(*end, MATCHED, other.as_deref());
                Ok(count)
            }
        }
    }

    /// Notes the instances that match; how many there are.
    fn select(&mut self, from: &Selection) -> u64 {
        let table = &self.blueprint.classes[from.extent.class].name;
        self.batch("DELETE FROM matched");
        self.run(&format!(
            "INSERT INTO matched SELECT p0.rid FROM {table} AS p0 WHERE {}{}",
            from.condition,
            of_extent("p0", from.extent)
        ))
    }

    /// Notes the elements that match; how many instances have one.
    fn select_elements(&mut self, from: &Selection, list: ListMember, at: Option<&Operand>) -> u64 {
        let owner = &self.blueprint.classes[from.extent.class].name;
        let table = self.list_table(from.extent.class, list);
        let rank = at.map(|at| {
            format!(" AND (SELECT COUNT(*) FROM {table} AS b WHERE b.o = e.o AND b.ord < e.ord) = {}", at.sql)
        });
        self.batch("DELETE FROM elements");
        self.run(&format!(
            "INSERT INTO elements SELECT e.rid, e.o FROM {owner} AS p0 JOIN {table} AS e ON e.o = p0.rid \
             WHERE ({}){}{}",
            from.condition,
            of_extent("p0", from.extent),
            rank.unwrap_or_default()
        ));
        self.count("SELECT COUNT(DISTINCT o) FROM elements")
    }

    fn list_table(&self, class: usize, list: ListMember) -> String {
        let row = &self.blueprint.classes[class];
        match list {
            ListMember::Values(number) => format!("{}_{}", row.name, row.lists[number].name),
            ListMember::Parts(number) => self.blueprint.classes[row.parts[number].class].name.clone(),
        }
    }

    fn remove(&mut self, from: &Selection, list: ListMember, at: Option<&Operand>) -> u64 {
        let count = self.select_elements(from, list, at);
        let table = self.list_table(from.extent.class, list);
        let behind = format!(
            "SELECT COUNT(*) FROM {table} AS b JOIN elements AS e ON b.o = e.o JOIN {table} AS x ON x.rid = e.rid \
             WHERE b.ord > x.ord AND b.rid NOT IN ({ELEMENTS})"
        );
        self.note_if("removed from the middle", &behind);
        let elements = self.count("SELECT COUNT(*) FROM elements");
        self.delete(&format!("DELETE FROM {table} WHERE rid IN ({ELEMENTS})"), elements);
        count
    }

    /// Deletes rows, and notes what foreign keys do to others.
    fn delete(&mut self, sql: &str, expected: u64) {
        let blueprint = self.blueprint;
        let entities: Vec<String> =
            blueprint.classes.iter().map(|class| format!("(SELECT COUNT(*) FROM {})", class.name)).collect();
        let entities = format!("SELECT {}", entities.join(" + "));
        let cleared: Vec<String> = blueprint
            .references()
            .filter(|(_, _, reference)| reference.integrity == Integrity::Clear && !reference.size.is_many())
            .map(|(class, number, _)| {
                let table = &blueprint.classes[class].name;
                let column = &blueprint.reference_columns(class, number, "")[0];
                format!("(SELECT COUNT(*) FROM {table} WHERE {column} IS NULL)")
            })
            .chain(std::iter::once("0".to_owned()))
            .collect();
        let cleared = format!("SELECT {}", cleared.join(" + "));
        let before = (self.count(&entities), self.count(&cleared));
        self.run(sql);
        if self.count(&entities) + expected < before.0 {
            self.notes.insert("cascade");
        }
        if self.count(&cleared) > before.1 {
            self.notes.insert("clear");
        }
    }

    /// Notes something if a query counts any.
    fn note_if(&mut self, what: &'static str, query: &str) {
        if self.count(query) > 0 {
            self.notes.insert(what);
        }
    }

    fn add(
        &mut self,
        from: &Selection,
        list: ListMember,
        value: &Operand,
        arguments: &Arguments,
    ) -> Result<u64, Refusals> {
        let count = self.select(from);
        let class = &self.blueprint.classes[from.extent.class];
        match list {
            ListMember::Values(number) => {
                let (owner, list) = (&class.name, &class.lists[number].name);
                let gap = format!(
                    "SELECT COUNT(*) FROM {owner} AS p WHERE p.rid IN ({MATCHED}) \
                     AND p.n_{list} > (SELECT COUNT(*) FROM {owner}_{list} AS e WHERE e.o = p.rid)"
                );
                self.note_if("added behind a gap", &gap);
                self.run(&format!(
                    "INSERT INTO {owner}_{list} (o, ord, v) SELECT rid, n_{list}, {} FROM {owner} \
                     WHERE rid IN ({MATCHED})",
                    value.sql
                ));
                self.run(&format!("UPDATE {owner} SET n_{list} = n_{list} + 1 WHERE rid IN ({MATCHED})"));
                Ok(count)
            }
            ListMember::Parts(number) => {
                let parameter = value.parameter.as_ref().unwrap();
                let fields = arguments.get(parameter).as_object().unwrap();
                let owners = self.numbers(MATCHED);
                let mut refusals = Refusals::new();
                for owner in owners {
                    refusals.extend(
                        self.append_part(from.extent.class, number, owner, fields)
                            .err()
                            .into_iter()
                            .flatten(),
                    );
                }
                refused_or(count, refusals)
            }
        }
    }

    /// Sets members of the rows of a class that a query numbers.
    fn assign(&mut self, class: usize, rows: &str, set: &[Assignment], arguments: &Arguments) -> Refusals {
        let direct: Vec<&Assignment> = set.iter().filter(|assignment| assignment.via.is_none()).collect();
        let mut refusals = self.assign_directly(class, rows, &direct, arguments);
        for (number, part) in self.blueprint.classes[class].parts.iter().enumerate() {
            let inside: Vec<&Assignment> =
                set.iter().filter(|assignment| assignment.via == Some(number)).collect();
            let table = &self.blueprint.classes[part.class].name;
            let rows = format!("SELECT rid FROM {table} WHERE o IN ({rows})");
            refusals.extend(self.assign_directly(part.class, &rows, &inside, arguments));
        }
        refusals
    }

    fn assign_directly(
        &mut self,
        class: usize,
        rows: &str,
        set: &[&Assignment],
        arguments: &Arguments,
    ) -> Refusals {
        let mut refusals = Refusals::new();
        let table = self.blueprint.classes[class].name.clone();
        self.set_columns(&table, rows, set.iter().copied());
        for assignment in set {
            match &assignment.to {
                Assigned::Column { .. } | Assigned::NewUuid { .. } => {}
                Assigned::Link { end, to } => {
                    self.connect(*end, rows, to);
                }
                Assigned::Part { part, parameter, .. } => {
                    for owner in self.numbers(rows) {
                        let done = self.set_part(class, *part, owner, arguments.get(parameter));
                        refusals.extend(done.err().into_iter().flatten());
                    }
                }
            }
        }
        refusals
    }

    /// All columns at once, so that every expression sees the row as it was.
    fn set_columns<'s>(&mut self, table: &str, rows: &str, set: impl IntoIterator<Item = &'s Assignment>) {
        let mut columns = Vec::new();
        for assignment in set {
            match &assignment.to {
                Assigned::Column { column, expression } => columns.push(format!("{column} = {expression}")),
                Assigned::NewUuid { column } => {
                    let uuid = self.uuids.next().unwrap();
                    columns.push(format!("{column} = '{uuid}'"));
                }
                Assigned::Link { .. } | Assigned::Part { .. } => {}
            }
        }
        for arithmetic in columns.iter().filter(|column| column.contains(" + ") || column.contains(" - ")) {
            let sum = arithmetic.split_once(" = ").map_or("", |(_, sum)| sum);
            let null = format!("SELECT 1 FROM {table} WHERE rid IN ({rows}) AND ({sum}) IS NULL LIMIT 1");
            if self.number(&null) == Ok(Some(1)) {
                self.notes.insert("arithmetic on null");
            }
        }
        if !columns.is_empty() {
            self.run(&format!("UPDATE {table} SET {} WHERE rid IN ({rows})", columns.join(", ")));
        }
    }
}

fn refused_or(count: u64, refusals: Refusals) -> Result<u64, Refusals> {
    if refusals.is_empty() { Ok(count) } else { Err(refusals) }
}
