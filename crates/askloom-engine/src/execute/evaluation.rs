//! A query under way, chunk by chunk: what a chunk needs and the source lacks is all known before anything of it is
//! fetched, so that a join of a hundred rows is one batch. Memory is one chunk, and the rows that can be in the answer.

use super::access::{Purpose, QueryExec, Reading};
use super::entries::EntryReader;
use super::page::{Continuation, Kept, Placed};
use super::{Answer, Fetcher, PreparedQuery, Row, Scene, aggregate, page, per_group, project, sorted};
use crate::instances::Cache;
use crate::source::Source;
use crate::stop::each;
use crate::{PlannedInstances, RunError, Stop};
use askloom_model::{Element, Query, Value, fault};
use askloom_plan::program::Retrieval;
use std::cell::RefCell;
use std::sync::Arc;

/// More aggregates than these are not kept between two chunks.
const CACHED: usize = 10_000;

pub struct Evaluation<'e> {
    prepared: &'e PreparedQuery,
    /// What finds ids for the next, then the query itself; each with how its first rows are read.
    levels: Vec<(&'e Retrieval, &'e Arc<EntryReader>)>,
    level: usize,
    /// Those of the statement.
    given: Vec<Value>,
    /// The same, with the ids that the level before has found.
    arguments: Vec<Value>,
    now: jiff::Timestamp,
    after: Option<&'e Continuation>,
    purpose: Purpose,
    reading: Option<Reading>,
    cut: Option<Cut>,
    cache: RefCell<Cache>,
}

/// The rows of the answer, before their columns are taken.
struct Cut {
    rows: Vec<Kept>,
    next: Option<Continuation>,
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
        purpose: Purpose,
    ) -> Result<Self, RunError> {
        let main = prepared.retrieval();
        if let Some(after) = after {
            page::check(&main.query, after, aggregate::applies(&main.query))?;
        }
        let mut levels: Vec<_> = prepared.retrievals().zip(&prepared.readers).collect();
        levels.reverse();
        let arguments = given.clone();
        let (reading, cut, cache) = (None, None, RefCell::default());
        Ok(Self { prepared, levels, level: 0, given, arguments, now, after, purpose, reading, cut, cache })
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
            self.next_level();
            return Ok(Progress::More);
        }
        Ok(Progress::Done)
    }

    /// The answer, after the last chunk.
    pub fn answer(&mut self, source: &dyn Source) -> Result<Answer, Stop> {
        let mut cut = match self.cut.take() {
            Some(cut) => cut,
            None => {
                let mut reading = self.reading.take().unwrap_or_default();
                self.with(source, |exec| cut(exec, &mut reading))?
            }
        };
        let projected = self.with(source, |exec| exec.project(&mut cut.rows));
        match projected {
            Ok(()) => Ok(answer(&self.prepared.retrieval().query, cut)),
            Err(stop) => {
                self.cut = Some(cut);
                Err(stop)
            }
        }
    }

    /// All of it, from a source that knows everything.
    pub(super) fn run(mut self, source: &dyn Source) -> Result<Answer, RunError> {
        while self.step(source)? == Progress::More {}
        Ok(self.answer(source)?)
    }

    /// The rows themselves, each with the part that it is about: by the ways of the program nobody has to look for the
    /// owner again.
    pub(super) fn rows(mut self, source: &dyn Source) -> Result<Vec<Row>, Stop> {
        while self.step(source)? == Progress::More {}
        let rows = self.reading.as_mut().map(Reading::take_rows).unwrap_or_default();
        let row = |placed: Placed| match placed.row {
            Kept::Row(row) => Some(*row),
            Kept::Columns(_) => None,
        };
        let rows: Vec<Row> = rows.into_iter().filter_map(row).collect();
        self.with(source, |exec| each(&rows, |row| exec.scene.bring_part(row)))?;
        Ok(rows)
    }

    /// The ids that this level has found are one more argument of the next.
    fn next_level(&mut self) {
        let rows = self.reading.as_mut().map(Reading::take_rows).unwrap_or_default();
        let ids = rows.into_iter().filter_map(|placed| placed.identity.into_iter().next());
        let elements = ids.zip(0..).map(|(value, ordinal)| Element { ordinal, value });
        self.arguments.clone_from(&self.given);
        self.arguments.push(Value::List(elements.collect()));
        self.reading = None;
        self.level += 1;
    }

    #[expect(clippy::expect_used, reason = "the level is counted up to the last")]
    fn with<T>(
        &self,
        source: &dyn Source,
        act: impl FnOnce(&QueryExec<'_>) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let (retrieval, reader) = *self.levels.get(self.level).expect("there is a level left");
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
        let purpose = if main { self.purpose } else { Purpose::Ids };
        act(&QueryExec { scene: &scene, source, program, retrieval, reader, after, purpose })
    }
}

/// Groups, sorts and cuts what was read.
fn cut(exec: &QueryExec<'_>, reading: &mut Reading) -> Result<Cut, Stop> {
    let QueryExec { scene, after, retrieval, .. } = *exec;
    let query = &retrieval.query;
    let mut rows = reading.take_rows();
    if exec.groups() {
        let rows = sorted(query, reading.take_groups().rows(query)?);
        let (rows, next) = page::cut(scene, query, rows, after)?;
        return Ok(Cut { rows, next });
    }
    if retrieval.sorts {
        rows = sorted(query, rows);
    }
    if fault!(LimitBeforePerGroup) {
        page::limit(scene, query, &mut rows)?;
    }
    let rows = per_group::cut(scene, query, rows)?;
    let (rows, next) = page::cut(scene, query, rows, after)?;
    Ok(Cut { rows, next })
}

impl QueryExec<'_> {
    /// Takes the columns of those rows whose columns are not taken yet.
    fn project(&self, rows: &mut [Kept]) -> Result<(), Stop> {
        each(rows, |kept| {
            if let Kept::Row(row) = kept {
                *kept = Kept::Columns(project(self.scene, self.query(), row)?);
            }
            Ok(())
        })?;
        Ok(())
    }
}

fn answer(query: &Query, Cut { rows, next }: Cut) -> Answer {
    let columns = query.columns.iter().map(|column| column.name.clone()).collect();
    let values = |kept| match kept {
        Kept::Columns(values) => Some(values),
        Kept::Row(_) => None,
    };
    let mut rows: Vec<Vec<Value>> = rows.into_iter().filter_map(values).collect();
    if fault!(DuplicatesDropped) {
        rows.dedup();
    }
    Answer { columns, rows, next }
}
