//! The solver against brute force, and the sums of a choice against the planner, on random small workloads.

use super::choice::Choice;
use super::presolve::Rules;
use super::report::{paid, total};
use super::study::Study;
use super::wishes::Wishes;
use crate::method::{Options, Progress};
use askloom_model::{Design, Model};
use askloom_plan::cost::Costing;
use fastrand::Rng;
use std::fmt::Write;
use std::path::Path;

/// Workloads that brute force goes through.
const WORKLOADS: usize = 500;
/// Of more picks than this, not every choice is gone through.
const MOST: usize = 13;
/// Differences of costs below this share are rounding.
const ROUNDING: f64 = 1e-6;

/// Up to three entities, some with parts, of which each but the first refers to the one before or to a part of it, and a
/// few statements.
fn workload(random: &mut Rng) -> String {
    let mut text = String::new();
    let entities = random.usize(1..4);
    let parts: Vec<bool> = (0..entities).map(|_| random.usize(0..4) == 0).collect();
    for n in 0..entities {
        let count = 10u64.pow(random.u32(1..6));
        let size = 10 * random.usize(1..200);
        let list = if random.bool() {
            format!(", tags: text[*] @avg({})", random.usize(1..20))
        } else {
            String::new()
        };
        let mut refers =
            if n > 0 { format!(", ref before: E{} inverse after{n}", n - 1) } else { String::new() };
        if n > 0 && parts[n - 1] {
            let _ = write!(refers, ", ref part: P{}", n - 1);
        }
        if parts[n] {
            let _ = write!(refers, ", part parts: P{n}[*] @avg({}) inverse owner", random.usize(1..6));
            let _ = writeln!(text, "entity P{n} {{ id p{n}: int, d: text @size({size} B) }}");
        }
        let _ = writeln!(
            text,
            "@count({count}) entity E{n} {{ id k{n}: int, a: int @distinct({}), b: text @size({size} B), c: timestamp{list}{refers} }}",
            1 + random.u64(0..count.min(500))
        );
    }
    for n in 0..random.usize(1..4) {
        let entity = random.usize(0..entities);
        let joins = if entity > 0 && random.bool() { " JOIN before AS p" } else { "" };
        let column = match joins.is_empty() {
            true if entity > 0 && parts[entity - 1] => "e.part.d",
            true => "e.c",
            false => "p.b",
        };
        let columns = if random.usize(0..4) == 0 { "e".to_owned() } else { format!("e.a, {column}") };
        let condition = match random.usize(0..5) {
            0 => format!(" WHERE e.k{entity} = :k"),
            1 => " WHERE e.a = :a".to_owned(),
            2 => " WHERE e.a = :a AND e.c > :c".to_owned(),
            3 if !joins.is_empty() => " WHERE p.a = :a".to_owned(),
            _other => " WHERE e.c > :c".to_owned(),
        };
        let order = random.choice(["", "", " ORDER BY e.c LIMIT 10", " ORDER BY e.c PAGE 10"]).unwrap();
        let rate = random.usize(1..1_000);
        let quick = quick(random);
        let _ = writeln!(
            text,
            "@rate({rate}/s) {quick}query q{n}: SELECT {columns} FROM E{entity} AS e{joins}{condition}{order}"
        );
    }
    for n in 0..random.usize(0..4) {
        let entity = random.usize(0..entities);
        let change = match random.usize(0..5) {
            0 => format!("INSERT E{entity}"),
            1 => format!("DELETE E{entity} WHERE k{entity} = :k"),
            2 => format!("UPDATE E{entity} SET b = :b WHERE k{entity} = :k"),
            3 => format!("UPDATE E{entity} SET a = :a WHERE k{entity} = :k"),
            _other => format!("UPDATE E{entity} SET c = :c, a = 3 WHERE a = :old"),
        };
        let quick = quick(random);
        let _ = writeln!(text, "@rate({}/s) {quick}write w{n}: {change}", random.usize(1..1_000));
    }
    text
}

/// How long a statement may take, or nothing.
fn quick(random: &mut Rng) -> String {
    match random.usize(0..3) {
        0 => {
            format!("@latency({} ms) ", random.choice(["0.05", "0.5", "3", "12", "40", "90", "300"]).unwrap())
        }
        _other => String::new(),
    }
}

fn model(text: &str) -> Model {
    let world = askloom_lang::Memory::default().with("m.loom", text.to_owned());
    let checked = askloom_lang::check(&world, Path::new("m.loom"));
    assert_eq!(checked.errors, 0, "{text}\n{:?}", checked.diagnostics);
    let mut model = checked.model;
    askloom_plan::ask::name_ways_back(&mut model);
    model
}

fn targets() -> Vec<&'static askloom_target::Target> {
    askloom_target::targets().iter().collect()
}

/// Whether all that is chosen has what it needs.
fn is_closed(choice: &Choice, chosen: &[bool]) -> bool {
    let mut closed = chosen.to_vec();
    choice.close(&mut closed);
    closed == chosen
}

/// The cheapest of all choices.
fn brute(choice: &Choice, rules: &Rules) -> Option<f64> {
    let count = choice.picks.len();
    let mut least: Option<f64> = None;
    for mask in 0..1u32 << count {
        let chosen: Vec<bool> = (0..count).map(|at| mask >> at & 1 == 1).collect();
        if !choice.meets(rules, &chosen) || !is_closed(choice, &chosen) {
            continue;
        }
        if let Some(cost) = choice.cost_at(&chosen, &rules.rates) {
            least = Some(least.map_or(cost, |least| least.min(cost)));
        }
    }
    least
}

/// Some picks, with what they need.
fn some(choice: &Choice, random: &mut Rng) -> Vec<bool> {
    let share = random.f64();
    let mut chosen: Vec<bool> = choice.picks.iter().map(|_| random.f64() < share).collect();
    for group in &choice.groups {
        let own = *random.choice(group).unwrap();
        group.iter().for_each(|&pick| chosen[pick] = pick == own);
    }
    choice.close(&mut chosen);
    chosen
}

/// Lets writes take about as long as they take by some choice: what they may take changes what is chosen.
fn tighten(choice: &mut Choice, random: &mut Rng) {
    for at in 0..choice.waits.len() {
        let chosen = some(choice, random);
        let takes = choice.takes(choice.waits[at].statement, &chosen, &choice.events(&chosen));
        choice.waits[at].most = takes * (0.9 + 0.2 * random.f64());
    }
}

/// Something that must be so, or nothing.
fn wishes(random: &mut Rng, study: &Study<'_>) -> Wishes {
    let mut wishes = Wishes::default();
    let picks = study.choice.picks.len();
    match random.usize(0..6) {
        0 => {
            let all: f64 = study.choice.bytes.iter().sum();
            wishes.storage = Some(study.choice.stored + all * random.f64());
        }
        1 => wishes.max_collections = Some(study.pool.first + random.usize(0..3)),
        2 if picks > 0 => wishes.pin.push(study.name(random.usize(0..picks))),
        3 if picks > 0 => wishes.forbid.push(study.name(random.usize(0..picks))),
        _other => {}
    }
    // Ways to cut have no names of their own.
    wishes.pin.retain(|name| !name.contains("_cut_"));
    wishes.forbid.retain(|name| !name.contains("_cut_"));
    wishes
}

#[test]
fn the_optimum_is_that_of_brute_force() {
    let targets = targets();
    let (mut compared, mut unmet, mut bound) = (0, 0, 0);
    for seed in 0.. {
        if compared >= WORKLOADS {
            break;
        }
        let mut random = Rng::with_seed(seed);
        let model = model(&workload(&mut random));
        let costing = Costing::from(*random.choice(&targets).unwrap());
        let mut study = Study::new(&model, &costing, &Options::default());
        if study.choice.picks.len() > MOST {
            continue;
        }
        tighten(&mut study.choice, &mut random);
        let wishes = wishes(&mut random, &study);
        compared += 1;
        let rules = match study.rules(&wishes) {
            Ok(rules) => rules,
            Err(_) => {
                unmet += 1;
                continue;
            }
        };
        let least = brute(&study.choice, &rules);
        let patient = Choice { waits: Vec::new(), ..study.choice.clone() };
        bound += usize::from(!study.choice.waits.is_empty() && brute(&patient, &rules) != least);
        let decided = study.choice.decide(&rules, &[], None, &Progress::default());
        let place = format!("seed {seed}, {wishes:?}");
        match (least, decided) {
            (Some(least), Some(decided)) => {
                let off = ROUNDING * least.abs();
                assert!((decided.cost - least).abs() <= off, "{place}: {} is not {least}", decided.cost);
                assert!(decided.bound <= least + off, "{place}: {} is no bound of {least}", decided.bound);
                assert!(decided.bound >= least - 2.0 * off, "{place}: {} is not proven", decided.bound);
            }
            (None, None) => unmet += 1,
            (least, decided) => panic!("{place}: {least:?} against {decided:?}"),
        }
    }
    assert!(unmet < WORKLOADS / 4, "{unmet} of them cannot be met");
    // Bounds that change the choice are among them.
    assert!(bound > WORKLOADS / 50, "{bound} are dearer as writes must be quick");
}

/// What a choice says that it costs is what the planner finds over its design.
#[test]
fn sums_are_those_of_the_planner() {
    let (mut compared, mut timed) = (0, 0);
    for seed in 0..300 {
        let mut random = Rng::with_seed(seed);
        let text = workload(&mut random);
        let model = model(&text);
        let target = *random.choice(&targets()).unwrap();
        let costing = Costing::from(target);
        let study = Study::new(&model, &costing, &Options::default());
        for _ in 0..4 {
            let chosen = some(&study.choice, &mut random);
            let rates: Vec<f64> = study.choice.statements.iter().map(|one| one.rate).collect();
            let patient = Choice { waits: Vec::new(), ..study.choice.clone() };
            if !patient.meets(&Rules::default(), &chosen) {
                continue;
            }
            compared += 1;
            let Some(cost) = study.choice.cost_at(&chosen, &rates) else { continue };
            let design = study.design(&chosen);
            timed += late_as_planned(&study, &chosen, &design);
            statements_cost_as_planned(&study, &chosen, &design, &format!("seed {seed}\n{text}"));
            let planned = total(&model, &costing, &design);
            let kept: Vec<&str> = design.collections.iter().map(|(_, one)| one.name.as_str()).collect();
            assert!(
                (cost - planned).abs() <= ROUNDING * planned,
                "seed {seed} on {}: {cost} is not {planned} over {kept:?}\n{text}",
                target.capability.target
            );
        }
    }
    assert!(compared > 600 && timed > 100, "{compared} {timed}");
}

/// What a choice says that each statement costs is what its plan over the design costs.
fn statements_cost_as_planned(study: &Study<'_>, chosen: &[bool], design: &Design, place: &str) {
    let mut rates = vec![0.0; study.choice.statements.len()];
    let stored = study.choice.cost_at(chosen, &rates).unwrap();
    for (at, paid) in paid(study.model, study.costing, design).into_iter().enumerate() {
        let rate = study.choice.statements[at].rate;
        assert_eq!(study.choice.statements[at].name, paid.statement);
        rates[at] = rate;
        let cost = study.choice.cost_at(chosen, &rates).unwrap();
        rates[at] = 0.0;
        let planned = stored + paid.cost;
        assert!(
            (cost - planned).abs() <= 1e-9 * planned,
            "{} costs {cost}, not {planned}, {place}",
            paid.statement
        );
    }
}

/// How long writes take by a choice is what the planner says of its design. Gives how many were compared.
fn late_as_planned(study: &Study<'_>, chosen: &[bool], design: &Design) -> usize {
    let happens = study.choice.events(chosen);
    for wait in &study.choice.waits {
        let name = &study.choice.statements[wait.statement].name;
        let write = study.model.workload.writes.iter().find(|write| write.header.name == *name).unwrap();
        let plan = askloom_plan::planner::write::plan(study.costing, study.model, design, write).unwrap();
        let planned = askloom_plan::planner::write::lasts(study.costing, design, &plan).unwrap();
        let takes = study.choice.takes(wait.statement, chosen, &happens);
        assert!((takes - planned).abs() <= ROUNDING * planned, "{name}: {takes} is not {planned}");
    }
    study.choice.waits.len()
}

/// Whatever must be so, for the other methods' designs as well.
#[test]
fn nothing_of_the_other_methods_is_cheaper() {
    let (mut compared, mut taken) = (0, 0);
    for seed in 1_000..1_200 {
        let mut random = Rng::with_seed(seed);
        let text = workload(&mut random);
        let model = model(&text);
        let target = *random.choice(&targets()).unwrap();
        let costing = Costing::from(target);
        let study = Study::new(&model, &costing, &Options::default());
        let wishes = wishes(&mut random, &study);
        let Ok((design, report)) = study.best(&wishes) else { continue };
        let place = format!("seed {seed} on {}, {wishes:?}\n{text}", target.capability.target);
        let cost = total(&model, &costing, &design);
        assert!((cost - report.cost).abs() <= ROUNDING * cost, "{cost} is not {}, {place}", report.cost);
        for (method, other) in &report.others {
            compared += 1;
            assert!(cost <= other * (1.0 + ROUNDING), "{cost} is more than {other} by {method}, {place}");
        }
        taken += usize::from(report.taken.is_some());
    }
    assert!(compared > 300, "{compared}");
    // What the others have is among the candidates.
    assert!(taken < 5, "{taken} designs are another method's");
}
