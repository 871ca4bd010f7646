//! Many cases, over all cores.

use crate::case::{self, Failure, Spec};
use crate::coverage::Coverage;
use crate::shrink::{report, shrink};
use askloom_model::faults::{self, Fault};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Runs one case; a panic is a failure, too.
pub(crate) fn attempt(spec: &Spec, telling: bool, coverage: &mut Coverage) -> Result<(), Failure> {
    let outcome = catch_unwind(AssertUnwindSafe(|| case::run(spec, telling, coverage)));
    let outcome = outcome.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(Failure { kind: "panic", text: text.unwrap_or_default(), writes: Vec::new() })
    });
    if outcome.is_err() {
        coverage.abandon();
    }
    match outcome {
        // Something that nobody has built yet: counted, and the case is over.
        Err(failure) if failure.kind == "not yet" => {
            coverage.not_yet(&failure.text);
            Ok(())
        }
        outcome => outcome,
    }
}

/// Runs the cases of some seeds, and stops at the first failure.
fn many(first: u64, cases: u64) -> (Coverage, Option<(Spec, Failure)>) {
    let next = AtomicU64::new(first);
    let total = Mutex::new(Coverage::default());
    let failed: Mutex<Option<(Spec, Failure)>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..threads() {
            scope.spawn(|| {
                let mut coverage = Coverage::default();
                let mut told = Instant::now();
                while failed.lock().unwrap().is_none() {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + cases {
                        break;
                    }
                    if told.elapsed() > Duration::from_secs(10) {
                        eprintln!("case {} of {cases}", seed - first);
                        told = Instant::now();
                    }
                    let spec = Spec::new(seed);
                    if let Err(failure) = attempt(&spec, false, &mut coverage) {
                        failed.lock().unwrap().get_or_insert((spec, failure));
                    }
                }
                total.lock().unwrap().add(coverage);
            });
        }
    });
    (total.into_inner().unwrap(), failed.into_inner().unwrap())
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Runs cases and fails with the first failure, made small; with many cases also if they were about too little.
fn promise(default: u64) {
    let cases = number("ASKLOOM_PROMISE_CASES", default);
    let first = number("ASKLOOM_PROMISE_SEED", 1);
    let start = Instant::now();
    std::panic::set_hook(Box::new(|_| {}));
    let (coverage, failed) = many(first, cases);
    let failed = failed.map(|(spec, failure)| shrink(spec, failure));
    let _ = std::panic::take_hook();
    let many_cases = cases >= 2000;
    println!("{}", if many_cases { coverage.print() } else { coverage.summary() });
    println!("{:.0} cases/s from seed {first}", coverage.cases() as f64 / start.elapsed().as_secs_f64());
    if let Some((spec, failure)) = failed {
        panic!("{}", report(&spec, &failure));
    }
    let complaints = coverage.complaints();
    assert!(!many_cases || complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn plans_return_what_queries_mean() {
    promise(300);
}

#[test]
#[ignore = "slow"]
fn everything_is_met() {
    promise(2000);
}

/// Each mistake alone, and how many cases it lived.
fn catch(fault: Fault, first: u64, most: u64) -> Option<u64> {
    faults::switch(Some(fault));
    let caught = (first..first + most)
        .find(|&seed| attempt(&Spec::new(seed), false, &mut Coverage::default()).is_err());
    faults::switch(None);
    caught.map(|seed| seed - first + 1)
}

#[test]
#[ignore = "slow"]
fn mistakes_are_caught() {
    std::panic::set_hook(Box::new(|_| {}));
    let most = number("ASKLOOM_PROMISE_CASES", 2000);
    let first = number("ASKLOOM_PROMISE_SEED", 1);
    let next = AtomicU64::new(0);
    let missed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads() {
            scope.spawn(|| {
                while let Some(&fault) = Fault::ALL.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
                    match catch(fault, first, most) {
                        Some(case) => println!("caught at case {case:>4}: {}", fault.what()),
                        None => {
                            println!("NOT CAUGHT: {}", fault.what());
                            missed.lock().unwrap().push(fault);
                        }
                    }
                }
            });
        }
    });
    let _ = std::panic::take_hook();
    let missed = missed.into_inner().unwrap();
    assert!(missed.is_empty(), "not caught within {most} cases: {missed:?}");
}
