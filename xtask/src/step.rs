//! A list of things to run, each named and timed. The first failure decides the outcome; steps that cost
//! little still run after it, because their answers are worth having together.

use crate::repository::{Outcome, cargo};
use std::process::Command;
use std::time::Instant;

pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) cost: Cost,
    pub(crate) work: Work,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cost {
    Seconds,
    Minutes,
}

pub(crate) enum Work {
    Cargo(Vec<&'static str>),
    Task(fn() -> Outcome),
}

pub(crate) fn run_all(steps: &[Step]) -> Outcome {
    let start = Instant::now();
    let mut failed = Vec::new();
    for step in steps {
        if !failed.is_empty() && step.cost == Cost::Minutes {
            eprintln!("── {}: skipped", step.name);
        } else if let Err(message) = run(step) {
            eprintln!("── {}: {message}", step.name);
            failed.push(step.name);
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    if failed.is_empty() {
        eprintln!("── all {} steps passed in {seconds:.1} s", steps.len());
        return Ok(());
    }
    Err(format!("failed: {} ({seconds:.1} s)", failed.join(", ")))
}

fn run(step: &Step) -> Outcome {
    let start = Instant::now();
    match &step.work {
        Work::Cargo(args) => {
            eprintln!("── {}: cargo {}", step.name, args.join(" "));
            finish(cargo().args(args), start)?;
        }
        Work::Task(task) => {
            eprintln!("── {}", step.name);
            task()?;
        }
    }
    eprintln!("── {}: {:.1} s", step.name, start.elapsed().as_secs_f64());
    Ok(())
}

fn finish(command: &mut Command, start: Instant) -> Outcome {
    let status = command.status().map_err(|error| format!("cannot run cargo: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("failed after {:.1} s", start.elapsed().as_secs_f64()))
    }
}
