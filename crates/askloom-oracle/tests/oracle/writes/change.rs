//! UPDATE, DELETE, ADD and REMOVE in SQL. The instances and elements are noted first (`matched`, `elements`), as the
//! set is fixed on the state before.

use super::arguments::Arguments;
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
                self.assign(from.extent.class, MATCHED, set, arguments)?;
                Ok(count)
            }
            Statement::UpdateElements { from, list, set } => {
                let count = self.select_elements(from, *list, None);
                let class = &self.blueprint.classes[from.extent.class];
                match list {
                    ListMember::Values(number) => {
                        let table = format!("{}_{}", class.name, class.lists[*number].name);
                        self.set_columns(&table, ELEMENTS, set);
                    }
                    ListMember::Parts(number) => {
                        self.assign(class.parts[*number].class, ELEMENTS, set, arguments)?;
                    }
                }
                Ok(count)
            }
            Statement::Delete { from } => {
                let count = self.select(from);
                let table = &self.blueprint.classes[from.extent.class].name;
                self.run(&format!("DELETE FROM {table} WHERE rid IN ({MATCHED})"));
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
        self.run(&format!("DELETE FROM {table} WHERE rid IN ({ELEMENTS})"));
        count
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
                if refusals.is_empty() { Ok(count) } else { Err(refusals) }
            }
        }
    }

    /// Sets members of the rows of a class that a query numbers.
    fn assign(
        &mut self,
        class: usize,
        rows: &str,
        set: &[Assignment],
        arguments: &Arguments,
    ) -> Result<(), Refusals> {
        let direct: Vec<&Assignment> = set.iter().filter(|assignment| assignment.via.is_none()).collect();
        self.assign_directly(class, rows, &direct, arguments)?;
        for (number, part) in self.blueprint.classes[class].parts.iter().enumerate() {
            let inside: Vec<&Assignment> =
                set.iter().filter(|assignment| assignment.via == Some(number)).collect();
            let table = &self.blueprint.classes[part.class].name;
            let rows = format!("SELECT rid FROM {table} WHERE o IN ({rows})");
            self.assign_directly(part.class, &rows, &inside, arguments)?;
        }
        Ok(())
    }

    fn assign_directly(
        &mut self,
        class: usize,
        rows: &str,
        set: &[&Assignment],
        arguments: &Arguments,
    ) -> Result<(), Refusals> {
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
                        self.replace_part(class, *part, owner, arguments.get(parameter))?;
                    }
                }
            }
        }
        Ok(())
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
        if !columns.is_empty() {
            self.run(&format!("UPDATE {table} SET {} WHERE rid IN ({rows})", columns.join(", ")));
        }
    }
}
