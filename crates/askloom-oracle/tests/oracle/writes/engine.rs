//! Writes on SQLite: savepoints make a compound write all or nothing and `@apart` as far as it goes; the rules are
//! asked at the end of each statement.

use super::arguments::Arguments;
use super::blueprint::{Blueprint, Extent};
use super::rules::{Rules, of_extent};
use super::statement::{LinkEnd, RandomWrite, Statement};
use super::unsaid::Unsaid;
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, OptionalExtension};
use std::collections::{BTreeMap, BTreeSet};

/// The names of the rules that a statement breaks. The language says that one of them is named, and not which.
pub(super) type Refusals = BTreeSet<String>;

/// What a write answers.
#[derive(Debug)]
pub(super) enum Verdict {
    Done {
        matched: Vec<u64>,
        stopped: Option<(usize, Refusals)>,
    },
    Refused(Refusals),
    /// Nobody says what it means, so the case ends.
    Unsaid(Unsaid),
}

pub(super) struct Engine<'a> {
    pub(super) blueprint: &'a Blueprint,
    pub(super) database: Connection,
    rules: Rules,
    /// Values by the names that statements use for them.
    pub(super) values: BTreeMap<String, Sql>,
    pub(super) now: i64,
    /// The uuids that are made for a write, in the order in which they are needed.
    pub(super) uuids: std::vec::IntoIter<String>,
    /// Whether the last statement means something that nobody says.
    pub(super) unsaid: Option<Unsaid>,
    /// Links that the aggregate which is being put has, with the number of the row that holds them.
    pub(super) given_links: Vec<(LinkEnd, i64, Vec<Sql>)>,
    /// The last key that a row got because its own was taken.
    pub(super) elsewhere: i64,
    /// What happened that coverage asks for.
    pub(super) notes: BTreeSet<&'static str>,
    /// What was executed since the last write began.
    pub(super) log: Vec<String>,
}

impl<'a> Engine<'a> {
    pub(super) fn new(blueprint: &'a Blueprint) -> Self {
        let database = Connection::open_in_memory().unwrap();
        database.execute_batch("PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = ON;").unwrap();
        let tables = blueprint.tables();
        database.execute_batch(&tables).unwrap_or_else(|error| panic!("{error}\n{tables}"));
        database.set_prepared_statement_cache_capacity(2_000);
        Self {
            blueprint,
            database,
            rules: blueprint.rules(),
            values: BTreeMap::new(),
            now: 0,
            uuids: Vec::new().into_iter(),
            unsaid: None,
            given_links: Vec::new(),
            elsewhere: 0,
            notes: BTreeSet::new(),
            log: Vec::new(),
        }
    }

    /// Applies a write at a time, with the uuids that are made for it.
    pub(super) fn write(
        &mut self,
        write: &RandomWrite,
        arguments: &Arguments,
        now: i64,
        uuids: Vec<String>,
    ) -> Verdict {
        (self.now, self.uuids) = (now, uuids.into_iter());
        (self.log, self.notes) = (Vec::new(), BTreeSet::new());
        let declared = arguments.unfit_parameters(self.blueprint, write);
        let fields: Vec<Refusals> = write
            .statements
            .iter()
            .map(|statement| arguments.unfit_fields(self.blueprint, statement))
            .collect();
        let unfit: Refusals = declared.iter().chain(fields.iter().flatten()).cloned().collect();
        if !declared.is_empty() || (write.apart && !unfit.is_empty()) {
            return Verdict::Refused(unfit);
        }
        self.values = arguments.values(self.blueprint, write);
        self.values.insert("now".to_owned(), Sql::Integer(now));
        self.batch("SAVEPOINT whole");
        let mut matched = Vec::new();
        for (index, statement) in write.statements.iter().enumerate() {
            let done = match fields[index].is_empty() {
                true => self.statement(statement, arguments),
                false => Err(fields[index].clone()),
            };
            let refusals = match done {
                Ok(0) if write.compound => Refusals::from([format!("StepMatchedNothing {index}")]),
                Ok(count) => {
                    matched.push(count);
                    continue;
                }
                Err(refusals) => refusals,
            };
            if let Some(unsaid) = self.unsaid.take() {
                return Verdict::Unsaid(unsaid);
            }
            if write.apart {
                self.batch("RELEASE whole");
                return Verdict::Done { matched, stopped: Some((index, refusals)) };
            }
            self.batch("ROLLBACK TO whole; RELEASE whole");
            return Verdict::Refused(refusals.union(&unfit).cloned().collect());
        }
        self.batch("RELEASE whole");
        Verdict::Done { matched, stopped: None }
    }

    /// One statement, undone if it breaks a rule.
    fn statement(&mut self, statement: &Statement, arguments: &Arguments) -> Result<u64, Refusals> {
        self.batch("SAVEPOINT statement");
        for class in self.blueprint.classes.iter().filter(|class| class.is_entity()) {
            let name = &class.name;
            for sql in [
                format!("DELETE FROM before_{name}"),
                format!("INSERT INTO before_{name} SELECT * FROM {name}"),
            ] {
                self.database.prepare_cached(&sql).unwrap().execute([]).unwrap();
            }
        }
        let named = self.named_targets(statement, arguments);
        let done = self.apply(statement, arguments);
        if named.iter().any(|(target, key)| !self.exists(*target, key)) {
            self.unsaid = Some(Unsaid::ReferenceToWhatItEnds);
        }
        if self.unsaid.is_some() {
            return Err(Refusals::new());
        }
        let (refusals, missing) = match done {
            Ok(0) => (Refusals::new(), Vec::new()),
            Ok(_) | Err(_) => self.judge(),
        };
        if done.is_ok() && refusals.is_empty() && missing.is_empty() {
            self.batch("RELEASE statement");
            return done;
        }
        self.batch("ROLLBACK TO statement; RELEASE statement");
        let mut refusals: Refusals = refusals.into_iter().chain(done.err().into_iter().flatten()).collect();
        for (reference, target, key) in missing {
            let refusal = if self.exists(target, &key) { "Refused" } else { "NoSuchTarget" };
            refusals.insert(format!("{refusal} {reference}"));
        }
        Err(refusals)
    }

    /// The rules that are broken, and the keys to which checked references lead in vain.
    fn judge(&mut self) -> (Refusals, Vec<(String, Extent, Vec<Sql>)>) {
        let mut statement = self.database.prepare_cached(&self.rules.query).unwrap();
        let refusals = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        let mut missing = Vec::new();
        for rule in &self.rules.existence {
            let mut statement = self.database.prepare_cached(&rule.query).unwrap();
            let columns = statement.column_count();
            let mut rows = statement.query([]).unwrap();
            while let Some(row) = rows.next().unwrap() {
                let key = (0..columns).map(|column| row.get(column).unwrap()).collect();
                missing.push((rule.reference.clone(), rule.target, key));
            }
        }
        (refusals, missing)
    }

    pub(super) fn exists(&self, target: Extent, key: &[Sql]) -> bool {
        let columns = self.blueprint.key_columns(target.class, "t.");
        let parameters: Vec<String> = (1..=key.len()).map(|n| format!("?{n}")).collect();
        let sql = format!(
            "SELECT 1 FROM {} AS t WHERE {}{}",
            self.blueprint.classes[target.class].name,
            Blueprint::same(&columns, &parameters),
            of_extent("t", target)
        );
        let mut statement = self.database.prepare_cached(&sql).unwrap();
        statement.exists(rusqlite::params_from_iter(key)).unwrap()
    }

    pub(super) fn batch(&mut self, sql: &str) {
        self.database.execute_batch(sql).unwrap_or_else(|error| panic!("{error}\n{sql}"));
    }

    /// Executes a statement with the values it names; how many rows it changed.
    pub(super) fn run(&mut self, sql: &str) -> u64 {
        self.try_run(sql).unwrap_or_else(|error| panic!("{error}\n{sql}\n{:?}", self.values))
    }

    pub(super) fn try_run(&mut self, sql: &str) -> rusqlite::Result<u64> {
        self.log.push(sql.to_owned());
        let mut statement = self.database.prepare_cached(sql)?;
        bind(&mut statement, &self.values, sql)?;
        statement.raw_execute().map(|rows| rows as u64)
    }

    /// The only value of the only row, if there is one.
    pub(super) fn number(&mut self, sql: &str) -> rusqlite::Result<Option<i64>> {
        self.log.push(sql.to_owned());
        let mut statement = self.database.prepare_cached(sql)?;
        bind(&mut statement, &self.values, sql)?;
        statement.raw_query().next()?.map(|row| row.get(0)).transpose()
    }

    /// The numbers of a table that is fixed for a statement.
    pub(super) fn numbers(&mut self, sql: &str) -> Vec<i64> {
        let mut statement = self.database.prepare_cached(sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    pub(super) fn count(&mut self, sql: &str) -> u64 {
        let mut statement = self.database.prepare_cached(sql).unwrap();
        let count: Option<i64> = statement.query_row([], |row| row.get(0)).optional().unwrap();
        u64::try_from(count.unwrap_or(0)).unwrap()
    }
}

fn bind(
    statement: &mut rusqlite::CachedStatement<'_>,
    values: &BTreeMap<String, Sql>,
    sql: &str,
) -> rusqlite::Result<()> {
    for index in 1..=statement.parameter_count() {
        let name = statement.parameter_name(index).unwrap().trim_start_matches(':').to_owned();
        let value = values.get(&name).unwrap_or_else(|| panic!("no value for {name}\n{sql}"));
        statement.raw_bind_parameter(index, value)?;
    }
    Ok(())
}
