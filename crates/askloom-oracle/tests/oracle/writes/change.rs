//! UPDATE, DELETE, ADD and REMOVE in SQL. The instances and elements are noted first (`matched`, `elements`), as the
//! set is fixed on the state before.

use super::arguments::Arguments;
use super::blueprint::Integrity;
use super::engine::{Engine, Refusals};
use super::rules::of_extent;
use super::statement::{Assigned, Assignment, ListMember, Operand, Selection, Statement};

/// In the order of identifiers.
const MATCHED: &str = "SELECT rid FROM matched ORDER BY place";
const ELEMENTS: &str = "SELECT rid FROM elements ORDER BY place";

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
                        let uuid = match set[0].to {
                            Assigned::NewUuid { .. } => self.uuids.next(),
                            Assigned::Column { .. } | Assigned::Link { .. } | Assigned::Part { .. } => None,
                        };
                        self.set_columns(&table, ELEMENTS, &[(&set[0], uuid)], None);
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
            "INSERT INTO matched (rid) SELECT p0.rid FROM {table} AS p0 WHERE ({}){} ORDER BY {}",
            from.condition,
            of_extent("p0", from.extent),
            self.blueprint.key_columns(from.extent.class, "p0.").join(", ")
        ))
    }

    /// Notes the elements that match; how many instances have one.
    fn select_elements(&mut self, from: &Selection, list: ListMember, at: Option<&Operand>) -> u64 {
        let owner = &self.blueprint.classes[from.extent.class].name;
        let table = self.list_table(from.extent.class, list);
        let rank = at.map(|at| {
            format!(" AND (SELECT COUNT(*) FROM {table} AS b WHERE b.o = e.o AND b.ord < e.ord) = {}", at.sql)
        });
        let mut order = self.blueprint.key_columns(from.extent.class, "p0.");
        if let ListMember::Parts(number) = list {
            let part = &self.blueprint.classes[from.extent.class].parts[number];
            order.extend(self.blueprint.key_columns(part.class, "e."));
        }
        self.batch("DELETE FROM elements");
        self.run(&format!(
            "INSERT INTO elements (rid, o) SELECT e.rid, e.o FROM {owner} AS p0 JOIN {table} AS e ON e.o = p0.rid \
             WHERE ({}){}{} ORDER BY {}, e.ord",
            from.condition,
            of_extent("p0", from.extent),
            rank.unwrap_or_default(),
            order.join(", ")
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
        let rows: Vec<String> =
            blueprint.classes.iter().map(|class| format!("(SELECT COUNT(*) FROM {})", class.name)).collect();
        let rows = format!("SELECT {}", rows.join(" + "));
        // How many links by references that are cleared there are, and how many instances that hold them.
        let clearing = blueprint.references().filter(|(_, _, row)| row.integrity == Integrity::Clear);
        let clearing: Vec<(String, String)> = clearing
            .map(|(class, number, reference)| {
                let holder = &blueprint.classes[class].name;
                let links = match reference.size.is_many() {
                    true => format!("SELECT COUNT(*) FROM {holder}_{}", reference.name),
                    false => {
                        let column = &blueprint.reference_columns(class, number, "")[0];
                        format!("SELECT COUNT({column}) FROM {holder}")
                    }
                };
                (format!("SELECT COUNT(*) FROM {holder}"), links)
            })
            .collect();
        let held = |engine: &mut Self| -> Vec<(u64, u64)> {
            clearing.iter().map(|(holders, links)| (engine.count(holders), engine.count(links))).collect()
        };
        let (rows_before, held_before) = (self.count(&rows), held(self));
        self.run(sql);
        if self.count(&rows) + expected < rows_before {
            self.notes.insert("cascade");
        }
        let cleared = |(before, after): (&(u64, u64), &(u64, u64))| before.0 == after.0 && before.1 > after.1;
        if held_before.iter().zip(&held(self)).any(cleared) {
            self.notes.insert("clear");
        }
    }

    /// Notes an element whose ordinal is not how many there are before it.
    pub(super) fn note_gap(&mut self, list: &str, owner: i64, ordinal: Option<i64>) {
        let before = self.count(&format!("SELECT COUNT(*) FROM {list} WHERE o = {owner}"));
        if ordinal.and_then(|ordinal| u64::try_from(ordinal).ok()).is_some_and(|ordinal| ordinal > before) {
            self.notes.insert("added behind a gap");
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
                let list = &class.lists[number].name;
                let table = format!("{}_{list}", class.name);
                for owner in self.numbers(MATCHED) {
                    let ordinal = self.next_ordinal(from.extent.class, owner, list);
                    self.note_gap(&table, owner, Some(ordinal));
                    self.run(&format!(
                        "INSERT INTO {table} (o, ord, v) VALUES ({owner}, {ordinal}, {})",
                        value.sql
                    ));
                }
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

    /// Sets members of the rows of a class that a query numbers: first all values, which are computed on the state before,
    /// then links and parts, row by row in the order of identifiers, those of a row in the order of the text.
    fn assign(&mut self, class: usize, rows: &str, set: &[Assignment], arguments: &Arguments) -> Refusals {
        let blueprint = self.blueprint;
        let own = blueprint.classes[class].name.clone();
        let uuids: Vec<Option<String>> = set
            .iter()
            .map(|assignment| match assignment.to {
                Assigned::NewUuid { .. } => self.uuids.next(),
                Assigned::Column { .. } | Assigned::Link { .. } | Assigned::Part { .. } => None,
            })
            .collect();
        let made: Vec<(&Assignment, Option<String>)> = set.iter().zip(uuids).collect();
        self.set_columns(&own, rows, &made, None);
        for (number, part) in blueprint.classes[class].parts.iter().enumerate() {
            let table = &blueprint.classes[part.class].name;
            let inside = format!("SELECT rid FROM {table} WHERE o IN ({rows})");
            self.set_columns(table, &inside, &made, Some(number));
        }
        let mut refusals = Refusals::new();
        for row in self.numbers(rows) {
            for assignment in set {
                let (holder, rows) = match assignment.via {
                    None => (class, format!("SELECT rid FROM {own} WHERE rid = {row}")),
                    Some(number) => {
                        let part = blueprint.classes[class].parts[number].class;
                        let table = &blueprint.classes[part].name;
                        (part, format!("SELECT rid FROM {table} WHERE o = {row}"))
                    }
                };
                match &assignment.to {
                    Assigned::Column { .. } | Assigned::NewUuid { .. } => {}
                    Assigned::Link { end, to } => {
                        refusals.extend(self.missing_target(*end, &rows, to));
                        self.connect(*end, &rows, to);
                    }
                    Assigned::Part { part, parameter, .. } => {
                        for owner in self.numbers(&rows) {
                            let done = self.set_part(holder, *part, owner, arguments.get(parameter));
                            refusals.extend(done.err().into_iter().flatten());
                        }
                    }
                }
            }
        }
        refusals
    }

    /// All columns at once, so that every expression sees the row as it was.
    fn set_columns(
        &mut self,
        table: &str,
        rows: &str,
        set: &[(&Assignment, Option<String>)],
        via: Option<usize>,
    ) {
        let mut columns = Vec::new();
        for (assignment, uuid) in set.iter().filter(|(assignment, _)| assignment.via == via) {
            match (&assignment.to, uuid) {
                (Assigned::Column { column, expression }, _) => {
                    columns.push(format!("{column} = {expression}"));
                }
                (Assigned::NewUuid { column }, Some(uuid)) => columns.push(format!("{column} = '{uuid}'")),
                (Assigned::NewUuid { .. } | Assigned::Link { .. } | Assigned::Part { .. }, _) => {}
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
