//! A load: every file row by row, then what waited for others, then what refers to nothing.

use super::files::DataFile;
use super::{Listener, LoadEvent};
use crate::data_format::DataFormat;
use crate::error::{Error, io_reason};
use askloom_embedded::bulk::{Aside, CsvRows, Fate, Incoming, JsonLines, Loader, Mark, Refusal, Row, Rows};
use askloom_embedded::database::Database;
use askloom_model::{Conceptual, Member, RelationshipKind};
use jiff::Timestamp;
use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

/// How much of a file's beginning it is known again by.
const HEAD: u64 = 64 << 10;

/// Rows that wait are tried again so many at a time.
const TOGETHER: usize = 1000;

/// Read in large pieces: files are read from end to end.
const BUFFER: usize = 1 << 20;

/// One file and how far it has come.
#[derive(Debug)]
struct Job {
    file: DataFile,
    /// What the store knows it by.
    key: String,
    mark: Mark,
    /// What an earlier run has done.
    before: u64,
    rejected: HashSet<u64>,
}

/// A load of files into one store.
pub struct Load<'l, 'd> {
    loader: Loader<'d>,
    strict: bool,
    jobs: Vec<Job>,
    tell: &'l mut Listener<'l>,
}

impl fmt::Debug for Load<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Load").field("strict", &self.strict).field("jobs", &self.jobs).finish_non_exhaustive()
    }
}

/// What a load has done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadSummary {
    pub files: Vec<FileSummary>,
    /// Entries that were put into copies at the end.
    pub filled: u64,
    /// False if a row was rejected that was to stop it.
    pub done: bool,
}

/// What a load has done with one file, earlier runs included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSummary {
    pub file: String,
    pub read: u64,
    /// Rows that an earlier run had read.
    pub before: u64,
    pub loaded: u64,
    pub rejected: u64,
}

impl Job {
    fn name(&self) -> String {
        self.file.path.display().to_string()
    }

    fn failed(&self, error: &io::Error) -> Error {
        Error::reading(&self.file.path, error)
    }

    fn summary(&self) -> FileSummary {
        let Mark { read, loaded, rejected, .. } = self.mark;
        FileSummary { file: self.name(), read, before: self.before, loaded, rejected }
    }

    /// The rows from an offset on.
    fn rows<'m>(
        &self,
        conceptual: &'m Conceptual,
        offset: u64,
        lines: u64,
    ) -> io::Result<Box<dyn Rows + 'm>> {
        let mut file = File::open(&self.file.path)?;
        Ok(match self.file.format {
            DataFormat::Jsonl => {
                file.seek(SeekFrom::Start(offset))?;
                Box::new(JsonLines::new(BufReader::with_capacity(BUFFER, file), offset, lines))
            }
            DataFormat::Csv => {
                let file = BufReader::with_capacity(BUFFER, file);
                Box::new(CsvRows::new(conceptual, self.file.class, file, offset, lines)?)
            }
        })
    }
}

impl<'l, 'd> Load<'l, 'd> {
    /// A load that stops at the first row that it rejects if it is `strict`.
    pub fn new(
        database: &'d mut Database,
        now: Timestamp,
        strict: bool,
        tell: &'l mut Listener<'l>,
    ) -> Result<Self, Error> {
        Ok(Self { loader: Loader::new(database, now)?, strict, jobs: Vec::new(), tell })
    }

    /// The same that looks at every row and writes nothing.
    pub fn rehearsal(
        database: &'d mut Database,
        now: Timestamp,
        strict: bool,
        tell: &'l mut Listener<'l>,
    ) -> Self {
        Self { loader: Loader::rehearsal(database, now), strict, jobs: Vec::new(), tell }
    }

    /// Adds a file. It goes on where an earlier load came to, unless it is to `restart`.
    pub fn add(&mut self, file: DataFile, restart: bool) -> Result<(), Error> {
        let name = file.path.display().to_string();
        let cannot = |error: io::Error| Error::reading(&file.path, &error);
        let key = file.path.canonicalize().map_err(cannot)?.display().to_string();
        let size = file.path.metadata().map_err(cannot)?.len();
        let known = if restart { None } else { self.loader.mark(&key)? };
        if restart {
            self.loader.restart(&key)?;
        }
        let mark = match known {
            Some(mark) => {
                let head = head(&file, mark.head_length).map_err(cannot)?;
                if head != mark.head || size < mark.offset {
                    return Err(Error::Input(format!(
                        "{name} is another file than the one that was loaded up to line {}; --restart loads it \
                         from its beginning",
                        mark.line
                    )));
                }
                mark
            }
            None => {
                let head_length = size.min(HEAD);
                let head = head(&file, head_length).map_err(cannot)?;
                Mark { head_length, head, ..Mark::default() }
            }
        };
        if mark.offset > 0 {
            (self.tell)(LoadEvent::Resumes { file: &name, line: mark.line });
        }
        (self.tell)(LoadEvent::Expects(size - mark.offset));
        self.jobs.push(Job { file, key, before: mark.read, mark, rejected: HashSet::new() });
        Ok(())
    }

    /// Loads all files, and fills what was left for the end.
    pub fn run(mut self, conceptual: &Conceptual) -> Result<LoadSummary, Error> {
        let mut jobs = std::mem::take(&mut self.jobs);
        let done = self.load(conceptual, &mut jobs)?;
        let filled = self.loader.finish(&mut |_, _| {})?;
        let files = jobs.iter().map(Job::summary).collect();
        Ok(LoadSummary { files, filled, done })
    }

    /// False if a row was rejected that was to stop it.
    fn load(&mut self, conceptual: &Conceptual, jobs: &mut [Job]) -> Result<bool, Error> {
        for index in 0..jobs.len() {
            let Some(done) = jobs.get_mut(..=index) else { break };
            if let Some(job) = done.last_mut()
                && !self.file(conceptual, job)?
            {
                return Ok(false);
            }
            // At once, so that rows of the files to come find theirs.
            while self.retry_all(conceptual, done)? {}
        }
        let settled = self.settle(conceptual, jobs)?;
        for job in jobs.iter().filter(|job| job.mark.read > job.before) {
            self.dangling(conceptual, job)?;
        }
        Ok(settled)
    }

    fn file(&mut self, conceptual: &Conceptual, job: &mut Job) -> Result<bool, Error> {
        let mut rows =
            job.rows(conceptual, job.mark.offset, job.mark.line).map_err(|error| job.failed(&error))?;
        let name = job.name();
        loop {
            let row = match rows.next() {
                Ok(Some(row)) => row,
                Ok(None) => break,
                Err(error) => {
                    // What was read before is good; what comes after cannot be told apart.
                    self.loader.flush(&job.key, &job.mark)?;
                    let line = job.mark.line + 1;
                    return Err(Error::Input(format!("{name}:{line}: {}", io_reason(&error))));
                }
            };
            (self.tell)(LoadEvent::Reads { file: &name, bytes: row.end - row.start });
            let Row { line, last_line, start, end, content } = row;
            let fate = self.take(conceptual, job, content)?;
            if let (Fate::Rejected(refusal), true) = (&fate, self.strict) {
                self.reject(job, line, refusal);
                self.loader.flush(&job.key, &job.mark)?;
                return Ok(false);
            }
            job.mark.read += 1;
            match fate {
                Fate::Loaded => job.mark.loaded += 1,
                Fate::Rejected(refusal) => {
                    self.reject(job, line, &refusal);
                    job.mark.rejected += 1;
                }
                Fate::Waits(_) => self.loader.put_aside(&Aside { file: job.key.clone(), start, line }),
            }
            (job.mark.offset, job.mark.line) = (end, last_line);
            self.loader.advance(&job.key, &job.mark)?;
        }
        self.loader.flush(&job.key, &job.mark)?;
        Ok(true)
    }

    fn take(
        &mut self,
        conceptual: &Conceptual,
        job: &Job,
        content: Result<serde_json::Value, Refusal>,
    ) -> Result<Fate, Error> {
        let incoming = content.and_then(|json| Incoming::read(conceptual, job.file.class, json));
        match incoming {
            Ok(incoming) => Ok(self.loader.row(incoming)?),
            Err(refusal) => Ok(Fate::Rejected(refusal)),
        }
    }

    fn reject(&mut self, job: &mut Job, line: u64, refusal: &Refusal) {
        job.rejected.insert(line);
        (self.tell)(LoadEvent::Rejects { file: &job.name(), line, why: refusal });
    }

    /// Tries all rows that wait again.
    fn retry_all(&mut self, conceptual: &Conceptual, jobs: &mut [Job]) -> Result<bool, Error> {
        let mut helped = false;
        for job in jobs {
            helped |= self.retry(conceptual, job, false)?;
        }
        Ok(helped)
    }

    /// Rejects the rows that wait for what has not come.
    fn settle(&mut self, conceptual: &Conceptual, jobs: &mut [Job]) -> Result<bool, Error> {
        let before: u64 = jobs.iter().map(|job| job.mark.rejected).sum();
        for job in jobs.iter_mut() {
            self.retry(conceptual, job, true)?;
        }
        let after: u64 = jobs.iter().map(|job| job.mark.rejected).sum();
        Ok(!self.strict || after == before)
    }

    /// True if a row did not wait any more.
    fn retry(&mut self, conceptual: &Conceptual, job: &mut Job, last: bool) -> Result<bool, Error> {
        let (mut from, mut helped) = (0, false);
        loop {
            let waiting = self.loader.aside(&job.key, from, TOGETHER)?;
            for aside in &waiting {
                from = aside.start + 1;
                let row = job.rows(conceptual, aside.start, aside.line.saturating_sub(1));
                let row = row.and_then(|mut rows| rows.next()).map_err(|error| job.failed(&error))?;
                let Some(row) = row else { continue };
                match self.take(conceptual, job, row.content)? {
                    Fate::Loaded => {
                        job.mark.loaded += 1;
                        helped = true;
                    }
                    Fate::Waits(_) if !last => continue,
                    Fate::Waits(refusal) | Fate::Rejected(refusal) => {
                        self.reject(job, aside.line, &refusal);
                        job.mark.rejected += 1;
                    }
                }
                self.loader.take_back(aside);
                self.loader.advance(&job.key, &job.mark)?;
            }
            if waiting.len() < TOGETHER {
                break;
            }
        }
        if from > 0 {
            self.loader.flush(&job.key, &job.mark)?;
        }
        Ok(helped)
    }

    /// Reads a file a second time, when everything is there, for references that lead nowhere.
    fn dangling(&mut self, conceptual: &Conceptual, job: &Job) -> Result<(), Error> {
        if !refers(conceptual, job) {
            return Ok(());
        }
        let mut rows = job.rows(conceptual, 0, 0).map_err(|error| job.failed(&error))?;
        while let Some(row) = rows.next().map_err(|error| job.failed(&error))? {
            if row.start >= job.mark.offset {
                break;
            }
            let incoming = row.content.and_then(|json| Incoming::read(conceptual, job.file.class, json));
            let Ok(incoming) = incoming else { continue };
            for field in self.loader.dangling(&incoming.record)? {
                if !job.rejected.contains(&row.line) {
                    (self.tell)(LoadEvent::Dangles { file: &job.name(), line: row.line, field: &field });
                }
            }
        }
        Ok(())
    }
}

/// Whether instances of a file's entity, or parts of them, have references.
fn refers(conceptual: &Conceptual, job: &Job) -> bool {
    let mut open = vec![job.file.class];
    let mut seen = HashSet::new();
    while let Some(class) = open.pop() {
        if !seen.insert(class) {
            continue;
        }
        open.extend(conceptual.classes.ids().filter(|&sub| conceptual.classes[sub].parent == Some(class)));
        for member in conceptual.all_members(class) {
            let Member::End(id) = member else { continue };
            let end = &conceptual.ends[id];
            match (end.stored, end.kind) {
                (true, RelationshipKind::Composition) => open.push(end.target),
                (true, RelationshipKind::Association | RelationshipKind::Aggregation) => return true,
                (false, _) => {}
            }
        }
    }
    false
}

/// The checksum of a file's beginning.
fn head(file: &DataFile, length: u64) -> io::Result<u32> {
    let mut bytes = Vec::new();
    File::open(&file.path)?.take(length).read_to_end(&mut bytes)?;
    Ok(crc32fast::hash(&bytes))
}
