//! The choice by cost.

use crate::{EXAMPLES, example};
use askloom_design::cost::Costing;
use askloom_design::method::cost::total;
use askloom_design::method::{Method, Options, Paper, design};

/// Differences of costs below this share are rounding.
const ROUNDING: f64 = 1e-6;

#[test]
fn it_is_never_dearer_than_the_other_methods_and_costs_what_it_says() {
    for name in EXAMPLES {
        let model = example(name);
        for target in askloom_target::targets() {
            let costing = Costing::from(target);
            let place = format!("{name} on {}", target.capability.target);
            let begun = std::time::Instant::now();
            let proposal = design(Method::Cost, &model, &costing, &Options::default());
            let took = begun.elapsed();
            let Paper::Cost(report) = &proposal.paper else { panic!("{place}") };
            let cost = total(&model, &costing, &proposal.design);
            println!(
                "{place}: {took:.2?} {cost:.4} ({:.4}..{:.4}), {:?}, {:?}, kept {}",
                report.bound,
                report.cost,
                report.others,
                report.looked_at,
                report.kept.len()
            );
            assert!((cost - report.cost).abs() <= ROUNDING * cost, "{place}: {cost} is not {}", report.cost);
            for (method, other) in &report.others {
                assert!(cost <= other * (1.0 + ROUNDING), "{place}: {cost} is more than {other} by {method}");
            }
            assert!(report.cost - report.bound <= ROUNDING * cost, "{place}: not proven");
        }
    }
}
