//! One case: a random model and a sequence of writes, each done by both sides.

use super::arguments::Arguments;
use super::blueprint::{Blueprint, ClassKind};
use super::coverage::Coverage;
use super::draw_arguments::Care;
use super::engine::{Engine, Verdict};
use super::facts::{Facts, of_oracle};
use super::statement::RandomWrite;
use super::unsaid::Unsaid;
use crate::fixture::{model, write_error, write_parameters};
use askloom_model::Model;
use askloom_oracle::{Inputs, Outcome, Random, State, WriteError};
use jiff::Timestamp;
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::fmt::Write;
use uuid::Uuid;

/// How many writes a model declares, and how often one is run.
const DECLARED: usize = 16;
const RUNS: usize = 48;
/// How many writes of the beginning make instances.
const SEEDS: usize = 14;

pub(super) struct Case {
    seed: u64,
    pub(super) blueprint: Blueprint,
    pub(super) writes: Vec<RandomWrite>,
    text: String,
    model: Model,
}

/// One write with its arguments, and what is made for it.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) write: usize,
    pub(super) arguments: Arguments,
    now: i64,
    uuids: Vec<Uuid>,
}

/// Both sides, which have seen the same writes.
pub(super) struct Sides<'a> {
    case: &'a Case,
    pub(super) engine: Engine<'a>,
    state: State,
    facts: Facts,
}

/// What both sides agree on.
#[derive(Debug)]
pub(super) struct Agreed {
    pub(super) found: Result<Outcome, WriteError>,
    pub(super) changed: bool,
    /// What happened on the side of SQL.
    pub(super) notes: BTreeSet<&'static str>,
}

#[derive(Debug)]
pub(super) enum Compared {
    Agreed(Agreed),
    Unsaid(Unsaid),
}

#[derive(Debug)]
pub(super) struct Mismatch(String);

impl Case {
    pub(super) fn random(seed: u64, random: &mut Random) -> Self {
        let blueprint = Blueprint::random(random);
        let mut writes = Vec::new();
        for extent in blueprint.extents() {
            let kind = blueprint.classes[extent.class].kind;
            if matches!(kind, ClassKind::Root | ClassKind::ImmutableRoot) {
                writes.push(RandomWrite::insert(&blueprint, extent, &format!("w{}", writes.len())));
            }
        }
        while writes.len() < DECLARED {
            writes.push(RandomWrite::random(&blueprint, &format!("w{}", writes.len()), random));
        }
        let mut text = blueprint.text();
        for write in &writes {
            writeln!(text, "{}", write.text).unwrap();
        }
        let model = model(&text);
        Self { seed, blueprint, writes, text, model }
    }

    /// A write whose turn it is: at first those that make instances.
    fn draw(&self, number: usize, sides: &Sides<'_>, random: &mut Random) -> Run {
        let inserts = self.writes.iter().take_while(|write| write.is_plain_insert()).count();
        // In the order of the classes, so that there is something to refer to.
        let (write, care) = match number < SEEDS {
            true => (number * inserts / SEEDS, Care::Careful),
            // What has been made is enough: mostly other writes come then.
            false => {
                let first = if random.chance(0.1) { 0 } else { inserts };
                (first + random.below((self.writes.len() - first) as u64) as usize, Care::Careless)
            }
        };
        let arguments =
            Arguments::random(&self.blueprint, &sides.engine.database, &self.writes[write], care, random);
        let uuid = |n: u128| Uuid::from_u128(0x7000_8000_0000_0000_0000 + number as u128 * 16 + n);
        Run { write, arguments, now: number as i64 * 1_000, uuids: (0..16).map(uuid).collect() }
    }

    /// Runs the case; the shortest sequence that shows a difference, if there is one.
    pub(super) fn run(&self, random: &mut Random, coverage: &mut Coverage) -> Result<(), String> {
        let mut sides = Sides::new(self);
        let mut runs = Vec::new();
        for number in 0..RUNS {
            runs.push(self.draw(number, &sides, random));
            match sides.execute(&runs[number]) {
                Ok(Compared::Agreed(agreed)) => {
                    coverage.write(&self.blueprint, &self.writes[runs[number].write], &agreed);
                }
                Ok(Compared::Unsaid(unsaid)) => {
                    coverage.unsaid(unsaid);
                    break;
                }
                Err(mismatch) => return Err(self.report(runs, mismatch)),
            }
        }
        coverage.cases += 1;
        Ok(())
    }

    /// Leaves out whatever is not needed for a difference.
    fn report(&self, mut runs: Vec<Run>, mut mismatch: Mismatch) -> String {
        let mut index = runs.len() - 1;
        while index > 0 {
            index -= 1;
            let mut fewer = runs.clone();
            fewer.remove(index);
            if let Some(still) = self.replay(&fewer) {
                (runs, mismatch) = (fewer, still);
            }
        }
        let mut text = format!("seed {}\n{}\n", self.seed, self.text);
        for run in &runs {
            writeln!(text, "{} {}", self.writes[run.write].text, Json::Object(run.arguments.json.clone()))
                .unwrap();
        }
        text + &mismatch.0
    }

    fn replay(&self, runs: &[Run]) -> Option<Mismatch> {
        let mut sides = Sides::new(self);
        let (last, before) = runs.split_last()?;
        before
            .iter()
            .all(|run| matches!(sides.execute(run), Ok(Compared::Agreed(_))))
            .then(|| sides.execute(last).err())
            .flatten()
    }
}

impl<'a> Sides<'a> {
    fn new(case: &'a Case) -> Self {
        Self { case, engine: Engine::new(&case.blueprint), state: State::new(), facts: Facts::new() }
    }

    /// Does a write on both sides and compares the answers and all there is.
    fn execute(&mut self, run: &Run) -> Result<Compared, Mismatch> {
        let made = run.uuids.iter().map(Uuid::to_string).collect();
        let verdict = self.engine.write(&self.case.writes[run.write], &run.arguments, run.now, made);
        if let Verdict::Unsaid(unsaid) = verdict {
            return Ok(Compared::Unsaid(unsaid));
        }
        let found = self.by_oracle(run);
        let facts = of_oracle(&self.case.model.conceptual, &self.state);
        let expected = self.engine.facts();
        if !self.agree(&found, &verdict) || facts != expected {
            return Err(self.mismatch(&found, &verdict, &facts, &expected));
        }
        let changed = facts != self.facts;
        self.facts = facts;
        Ok(Compared::Agreed(Agreed { found, changed, notes: std::mem::take(&mut self.engine.notes) }))
    }

    fn by_oracle(&mut self, run: &Run) -> Result<Outcome, WriteError> {
        let model = &self.case.model;
        let write = &model.workload.writes[run.write];
        let given = write_parameters(model, write, &Json::Object(run.arguments.json.clone()));
        let inputs = Inputs { now: Timestamp::from_millisecond(run.now).unwrap(), uuids: run.uuids.clone() };
        self.state.write(model, write, &given, &inputs)
    }

    fn agree(&self, found: &Result<Outcome, WriteError>, verdict: &Verdict) -> bool {
        match (found, verdict) {
            (Err(error), Verdict::Refused(refusals)) => refusals.contains(&self.named(error)),
            (Ok(outcome), Verdict::Done { matched, stopped }) => {
                outcome.matched == *matched
                    && match (&outcome.stopped, stopped) {
                        (None, None) => true,
                        (Some(at), Some((step, refusals))) => {
                            at.step == *step && refusals.contains(&self.named(&at.why))
                        }
                        (None, Some(_)) | (Some(_), None) => false,
                    }
            }
            (Err(_), Verdict::Done { .. }) | (Ok(_), Verdict::Refused(_)) | (_, Verdict::Unsaid(_)) => false,
        }
    }

    fn named(&self, error: &WriteError) -> String {
        write_error(&self.case.model.conceptual, error).trim_start_matches("error ").to_owned()
    }

    fn mismatch(
        &self,
        found: &Result<Outcome, WriteError>,
        verdict: &Verdict,
        facts: &Facts,
        expected: &Facts,
    ) -> Mismatch {
        let mut text = "\nthe state before:\n".to_owned();
        self.facts.iter().for_each(|fact| writeln!(text, "  {fact}").unwrap());
        let found = match found {
            Ok(outcome) => format!("{outcome:?}"),
            Err(error) => self.named(error),
        };
        writeln!(text, "\nthe oracle answers {found}\nSQL answers {verdict:?}").unwrap();
        for (side, own, other) in [("oracle", facts, expected), ("SQL", expected, facts)] {
            own.difference(other).for_each(|fact| writeln!(text, "only by the {side}: {fact}").unwrap());
        }
        writeln!(text, "\nstatements of SQL:\n{}", self.engine.log.join("\n")).unwrap();
        Mismatch(text)
    }
}
