//! A query under way, chunk by chunk: what a chunk needs and the source lacks is all known before anything of it is
//! fetched, so that a join of a hundred rows is one batch. Memory is one chunk, and the rows that can be in the answer.

use super::access::{QueryExec, Reading};
use super::page::{Continuation, Placed};
use super::{Answer, Fetcher, PreparedQuery, Row, Scene, aggregate, page, per_group, project, sorted};
use crate::instances::Cache;
use crate::source::Source;
use crate::stop::each;
use crate::{PlannedInstances, RunError, Stop};
use askloom_model::{Element, Query, Value, fault};
use askloom_plan::program::Retrieval;
use std::cell::RefCell;

/// More aggregates than these are not kept between two chunks.
const CACHED: usize = 10_000;

pub struct Evaluation<'e> {
    prepared: &'e PreparedQuery,
    /// What finds ids for the next, then the query itself.
    levels: Vec<&'e Retrieval>,
    level: usize,
    /// Those of the statement.
    given: Vec<Value>,
    /// The same, with the ids that the level before has found.
    arguments: Vec<Value>,
    now: jiff::Timestamp,
    after: Option<&'e Continuation>,
    reading: Option<Reading>,
    cut: Option<Cut>,
    cache: RefCell<Cache>,
}

/// The rows of the answer, before their columns are taken.
enum Cut {
    Groups(Vec<Vec<Value>>, Option<Continuation>),
    Rows(Vec<Row>, Option<Continuation>),
}

/// How far an evaluation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    More,
    Done,
}

impl std::fmt::Debug for Evaluation<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Evaluation").field("query", &self.prepared.program.name).finish_non_exhaustive()
    }
}

impl<'e> Evaluation<'e> {
    pub(super) fn new(
        prepared: &'e PreparedQuery,
        given: Vec<Value>,
        now: jiff::Timestamp,
        after: Option<&'e Continuation>,
    ) -> Result<Self, RunError> {
        let main = prepared.retrieval();
        if let Some(after) = after {
            page::check(&main.query, after, aggregate::applies(&main.query))?;
        }
        let mut levels: Vec<&Retrieval> =
            std::iter::successors(Some(main), |level| level.key_lookup.as_deref()).collect();
        levels.reverse();
        let arguments = given.clone();
        let (reading, cut, cache) = (None, None, RefCell::default());
        Ok(Self { prepared, levels, level: 0, given, arguments, now, after, reading, cut, cache })
    }

    /// Evaluates one more chunk. Where something is missing, the same chunk is evaluated again once it is there.
    pub fn step(&mut self, source: &dyn Source) -> Result<Progress, Stop> {
        if self.cache.borrow().len() > CACHED {
            self.cache.borrow_mut().clear();
        }
        let mut reading = self.reading.take();
        let stepped = self.with(source, |exec| {
            let reading = match &mut reading {
                Some(reading) => reading,
                none => none.insert(exec.reading()?),
            };
            exec.chunk(reading)?;
            Ok(reading.is_done())
        });
        self.reading = reading;
        if !stepped? {
            return Ok(Progress::More);
        }
        if self.level + 1 < self.levels.len() {
            self.next_level(source)?;
            return Ok(Progress::More);
        }
        Ok(Progress::Done)
    }

    /// The answer, after the last chunk.
    pub fn answer(&mut self, source: &dyn Source) -> Result<Answer, Stop> {
        if self.cut.is_none() {
            let rows = self.reading.as_mut().map(Reading::take_rows).unwrap_or_default();
            self.cut = Some(self.with(source, |exec| cut(exec, rows))?);
        }
        let cut = self.cut.take();
        let answer = self.with(source, |exec| exec.projected(cut.as_ref()));
        self.cut = cut;
        answer
    }

    /// All of it, from a source that knows everything.
    pub(super) fn run(mut self, source: &dyn Source) -> Result<Answer, RunError> {
        while self.step(source)? == Progress::More {}
        Ok(self.answer(source)?)
    }

    /// The rows themselves.
    pub(super) fn rows(mut self, source: &dyn Source) -> Result<Vec<Row>, Stop> {
        while self.step(source)? == Progress::More {}
        let rows = self.reading.as_mut().map(Reading::take_rows).unwrap_or_default();
        Ok(rows.into_iter().map(|placed| placed.row).collect())
    }

    /// The ids that this level has found are one more argument of the next.
    fn next_level(&mut self, source: &dyn Source) -> Result<(), Stop> {
        let rows = self.reading.as_mut().map(Reading::take_rows).unwrap_or_default();
        let ids = self.with(source, |exec| {
            each(&rows, |placed| Ok(exec.scene.identity(exec.query(), &placed.row)?.into_iter().next()))
        })?;
        let elements = ids.into_iter().flatten().zip(0..).map(|(value, ordinal)| Element { ordinal, value });
        self.arguments.clone_from(&self.given);
        self.arguments.push(Value::List(elements.collect()));
        self.reading = None;
        self.level += 1;
        Ok(())
    }

    #[expect(clippy::expect_used, reason = "the level is counted up to the last")]
    fn with<T>(
        &self,
        source: &dyn Source,
        act: impl FnOnce(&QueryExec<'_>) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let retrieval = *self.levels.get(self.level).expect("there is a level left");
        let program = &self.prepared.program;
        let instances = PlannedInstances::new(source, program, &retrieval.ways, &self.cache);
        let fetcher = Fetcher::new(source, retrieval);
        let scene = Scene {
            instances: &instances,
            positions: &retrieval.query.positions,
            arguments: &self.arguments,
            now: self.now,
            fetcher: Some(&fetcher),
            restriction: None,
        };
        let main = self.level + 1 == self.levels.len();
        let after = self.after.filter(|_| main);
        act(&QueryExec { scene: &scene, source, program, retrieval, after, answers: main })
    }
}

/// Groups, sorts and cuts the rows that were read.
fn cut(exec: &QueryExec<'_>, mut rows: Vec<Placed<Row>>) -> Result<Cut, Stop> {
    let QueryExec { scene, after, retrieval, .. } = *exec;
    let query = &retrieval.query;
    if aggregate::applies(query) {
        let rows = rows.into_iter().map(|placed| placed.row).collect();
        let groups = aggregate::grouped(scene, query, rows)?.into_iter();
        let placed = groups.map(|g| Placed { order: g.order, identity: g.key, row: g.columns });
        let (rows, next) = page::cut(scene, query, sorted(query, placed.collect()), after)?;
        return Ok(Cut::Groups(rows, next));
    }
    if retrieval.sorts {
        rows = sorted(query, rows);
    }
    if fault!(LimitBeforePerGroup) {
        page::limit(scene, query, &mut rows)?;
    }
    let rows = per_group::cut(scene, query, rows)?;
    let (rows, next) = page::cut(scene, query, rows, after)?;
    Ok(Cut::Rows(rows, next))
}

impl QueryExec<'_> {
    fn projected(&self, cut: Option<&Cut>) -> Result<Answer, Stop> {
        let query: &Query = self.query();
        let columns: Vec<String> = query.columns.iter().map(|column| column.name.clone()).collect();
        match cut {
            Some(Cut::Groups(rows, next)) => Ok(Answer { columns, rows: rows.clone(), next: next.clone() }),
            Some(Cut::Rows(rows, next)) => {
                let mut rows = each(rows, |row| project(self.scene, query, row))?;
                if fault!(DuplicatesDropped) {
                    rows.dedup();
                }
                Ok(Answer { columns, rows, next: next.clone() })
            }
            None => Ok(Answer { columns, rows: Vec::new(), next: None }),
        }
    }
}
