//! The choice by cost.

use crate::{EXAMPLES, example};
use askloom_design::limits;
use askloom_design::method::cost::total;
use askloom_design::method::{Method, Options, Paper, Progress, Stage, design};
use askloom_model::{Keeper, Leaf, Plan};
use askloom_plan::cost::Costing;
use askloom_plan::planner;
use std::sync::{Arc, Mutex};

/// Differences of costs below this share are rounding.
const ROUNDING: f64 = 1e-6;

#[test]
fn it_is_never_dearer_than_the_other_methods_and_costs_what_it_says() {
    for name in EXAMPLES {
        let model = example(name);
        for target in askloom_target::targets() {
            let costing = Costing::from(target);
            let place = format!("{name} on {}", target.capability.target);
            let proposal = design(Method::Cost, &model, &costing, &Options::default());
            let Paper::Cost(report) = &proposal.paper else { panic!("{place}") };
            let cost = total(&model, &costing, &proposal.design);
            assert!((cost - report.cost).abs() <= ROUNDING * cost, "{place}: {cost} is not {}", report.cost);
            for (method, other) in &report.others {
                assert!(cost <= other * (1.0 + ROUNDING), "{place}: {cost} is more than {other} by {method}");
            }
            assert!(report.cost - report.bound <= ROUNDING * cost, "{place}: not proven");
        }
    }
}

fn of(text: &str) -> askloom_model::Model {
    let world = askloom_lang::Memory::default().with("m.loom", text);
    let checked = askloom_lang::check(&world, std::path::Path::new("m.loom"));
    assert_eq!(checked.errors, 0, "{:?}", checked.diagnostics);
    checked.model
}

fn chosen(text: &str, target: &str) -> (askloom_model::Design, Box<askloom_design::method::cost::Report>) {
    let model = of(text);
    let target = askloom_target::targets().iter().find(|one| one.capability.target == target).unwrap();
    let proposal = design(Method::Cost, &model, &Costing::from(target), &Options::default());
    let Paper::Cost(report) = proposal.paper else { panic!() };
    (proposal.design, report)
}

/// A list by a key with three values: each partition key would have to serve a third of all.
#[test]
fn a_partition_key_serves_no_more_than_the_store_says() {
    let model = |rate: u32| {
        format!(
            "@count(1_000_000) entity Job {{ id k: int, state: enum(new, busy, done), at: timestamp, note: text @size(100 B) }}\n\
             @rate({rate}/s) query next: SELECT k, at FROM Job WHERE state = :state ORDER BY at LIMIT 5\n\
             @rate(1/s) write add: INSERT Job\n"
        )
    };
    let (design, report) = chosen(&model(100), "dynamodb");
    assert!(design.collections.len() > 1 && report.looked_at.too_hot == 0, "{report:?}");
    let (_, report) = chosen(&model(30_000), "dynamodb");
    assert!(report.looked_at.too_hot > 0, "{report:?}");
    let (_, report) = chosen(&model(30_000), "cassandra");
    assert_eq!(report.looked_at.too_hot, 0);
}

/// A query that may take ten milliseconds is not answered by what takes longer, though that would be cheaper in all.
#[test]
fn a_query_is_as_quick_as_it_must_be() {
    let model = |latency: &str| {
        format!(
            "@count(300_000) entity Job {{ id k: int, state: int @distinct(1_000), note: text @size(100 B) }}\n\
             @rate(1/day) {latency} query of: SELECT k FROM Job WHERE state = :state\n\
             @rate(500/s) write move: UPDATE Job SET state = :state WHERE k = :k\n"
        )
    };
    // Costs of one are times, those of the other are not.
    for store in ["embedded", "dynamodb"] {
        let (design, _) = chosen(&model(""), store);
        assert_eq!(
            design.collections.len(),
            1,
            "going through everything once a day is cheaper than an index"
        );
        let (design, report) = chosen(&model("@latency(10 ms)"), store);
        assert!(design.collections.len() > 1 && report.slow.is_empty(), "{report:?}");
        let (_, report) = chosen(&model("@latency(0.0001 ms)"), store);
        assert_eq!(report.slow.len(), 1, "{report:?}");
    }
}

/// What is no more than its values is held by rows in order, and by an index of the store; what is more, as nodes.
#[test]
fn whole_instances_are_answered_with_one_request() {
    let model = |more: &str| {
        format!(
            "@count(1_000_000) entity Note {{ id k: uuid, of: text @distinct(1000), at: timestamp, text: text{more} }}\n\
             @rate(500/s) query all: SELECT * FROM Note WHERE of = :of ORDER BY at DESC LIMIT 10\n\
             @rate(50/s) write add: INSERT Note\n"
        )
    };
    for (more, store) in [("", "dynamodb"), ("", "cassandra"), (", tags: text[*]", "cassandra")] {
        let text = model(more);
        let (design, _) = chosen(&text, store);
        let (model, costing) = (of(&text), Costing::from(askloom_target::target(store).unwrap()));
        let plan = planner::plan(&costing, &model.conceptual, &design, &model.workload.queries[0]).unwrap();
        let own = &design.collections[plan.access.collection];
        assert_eq!(plan.steps.iter().filter(|step| step.estimate.requests > 0.0).count(), 1, "{store}");
        assert_eq!(own.keeper == Keeper::Store, store == "dynamodb", "{design:#?}");
        assert_eq!(own.whole().is_empty(), more.is_empty());
        // Nodes have no order.
        assert_eq!(plan.sort.is_none(), more.is_empty());
    }
}

#[test]
fn one_of_a_list_of_values_is_found_by_each_of_them() {
    let text = "@count(1_000_000) entity P { id k: text, a: text @distinct(500000), body: text @size(300 B) }\n\
         @rate(1/s) query q: SELECT k, body FROM P WHERE a IN :xs\n@rate(1/s) write ins: INSERT P\n";
    for store in ["cassandra", "dynamodb", "mongodb", "embedded"] {
        let (design, _) = chosen(text, store);
        let (model, costing) = (of(text), Costing::from(askloom_target::target(store).unwrap()));
        let plan = planner::plan(&costing, &model.conceptual, &design, &model.workload.queries[0]).unwrap();
        assert!(!askloom_design::method::scans(&plan) && plan.estimate.rows < 100.0, "{store}: {plan:?}");
    }
}

/// What nothing that must be there could make cheaper.
#[test]
fn nothing_that_is_pinned_or_forbidden_makes_it_cheaper() {
    // Rows of a subclass; an index beside a way back that holds as much; a local index, which needs its copy.
    let subclass = "@count(20_000) entity A { id k: text, f1: int, f3: text }\n\
         @count(500) entity S extends A { x: int }\n\
         @rate(10/s) query q: SELECT k, f1 FROM S WHERE f3 = :p\n@rate(1/s) write w: INSERT S\n";
    let counted = "@count(10_000) entity B { id b: text }\n@count(10_000) entity C { id c: text, ref rB: B }\n\
         @rate(1000/s) query q: SELECT COUNT(*) FROM C WHERE rB = :p\n";
    let ordered = "@count(10_000) entity A { id a: text, f0: int, f1: text }\n\
         @count(10_000) entity B { id b: text, f0: decimal, f2: timestamp, ref rA: A }\n\
         @rate(1/s) query q: SELECT rA.f1, f0 FROM B WHERE f2 BETWEEN :p AND :o ORDER BY rA.f0 DESC\n\
         @rate(1/s) write ins: INSERT B\n@rate(1/s) write upd: UPDATE A SET f0 = :f0 WHERE a = :a\n";
    let cases = [
        (subclass, "cassandra", "QView"),
        (subclass, "mongodb", "QView"),
        (counted, "dynamodb", "QIndex"),
        (ordered, "dynamodb", "QLocal"),
    ];
    for (text, store, pin) in cases {
        let (model, costing) = (of(text), Costing::from(askloom_target::target(store).unwrap()));
        let mut options = Options::default();
        let plain = total(&model, &costing, &design(Method::Cost, &model, &costing, &options).design);
        options.wishes.pin.push(pin.to_owned());
        let pinned = design(Method::Cost, &model, &costing, &options);
        let Paper::Cost(report) = &pinned.paper else { panic!() };
        assert_eq!(report.unmet, None, "{pin} on {store}");
        let pinned = total(&model, &costing, &pinned.design);
        assert!(plain <= pinned * (1.0 + ROUNDING), "{pin} on {store}: {plain} is more than {pinned}");
    }
}

/// What keeps a copy of its own takes longer than an index that the store keeps with the record.
#[test]
fn a_write_is_as_quick_as_it_must_be() {
    let model = |latency: &str| {
        format!(
            "@count(1_000_000) entity User {{ id k: uuid, mail: text, name: text }}\n\
             @rate(500/s) query of: SELECT k, name FROM User WHERE mail = :mail\n\
             @rate(50/s) {latency} write add: INSERT User\n"
        )
    };
    let takes = |design: &askloom_model::Design, text: &str, store: &str| {
        let (model, costing) = (of(text), Costing::from(askloom_target::target(store).unwrap()));
        let plan = planner::write::plan(&costing, &model, design, &model.workload.writes[0]).unwrap();
        planner::write::lasts(&costing, design, &plan).unwrap()
    };
    for (store, most, least) in [("cassandra", 60.0, 30.0), ("hbase", 5.0, 0.001)] {
        let (design, report) = chosen(&model(""), store);
        let unbound = takes(&design, &model(""), store);
        assert!(unbound > most, "{store}: {unbound} {report:?}");
        let quick = model(&format!("@latency({most} ms)"));
        let (design, report) = chosen(&quick, store);
        let bound = takes(&design, &quick, store);
        assert!(bound <= most && report.slow.is_empty(), "{store}: {bound}");
        assert!(report.cost - report.bound <= ROUNDING * report.cost, "{store}: not proven");
        // Nothing is as quick as that, so that it is as if nothing had been said.
        let (design, report) = chosen(&model(&format!("@latency({least} ms)")), store);
        assert_eq!(report.slow.len(), 1, "{store}: {report:?}");
        assert!((takes(&design, &quick, store) - unbound).abs() < 1e-9, "{store}");
    }
}

#[test]
fn the_quick_plan_of_a_design_is_taken() {
    // Ten small requests are cheaper than one page of everything, and take longer.
    let text = "@count(2_000) entity Job { id k: int, state: int @distinct(100), note: text @size(100 B) }\n\
         @rate(1/s) @latency(30 ms) query of: SELECT note FROM Job WHERE state IN :states\n\
         collection ByState of Job { key state; keep note; }\n";
    let model = of(text);
    let costing = Costing::from(askloom_target::target("dynamodb").unwrap());
    let made = design(Method::Given, &model, &costing, &Options::default()).design;
    let query = &model.workload.queries[0];
    let plans = planner::plans(&costing, &model.conceptual, &made, query);
    let takes = |plan: &Plan| costing.milliseconds(&plan.estimate).unwrap();
    let quickest = plans.iter().map(takes).reduce(f64::min).unwrap();
    let slowest = plans.iter().map(takes).reduce(f64::max).unwrap();
    assert!(quickest <= 30.0 && slowest > 30.0, "{quickest} {slowest}");
    let taken = planner::plan(&costing, &model.conceptual, &made, query).unwrap();
    assert!(takes(&taken) <= 30.0);
    let cheapest = plans.iter().map(|plan| plan.estimate.cost).reduce(f64::min).unwrap();
    assert!(taken.estimate.cost > cheapest);
}

#[test]
fn who_waits_is_told_how_far_it_has_come() {
    let told: Arc<Mutex<Vec<Stage>>> = Arc::default();
    let listening = Arc::clone(&told);
    let progress = Progress::new(move |stage| listening.lock().unwrap().push(stage));
    let options = Options { progress, ..Options::default() };
    let model = example("game");
    let _design = design(Method::Cost, &model, &askloom_target::embedded::costing(), &options);
    let told = told.lock().unwrap();
    assert_eq!(told.first(), Some(&Stage::Candidates));
    assert_eq!(told.last(), Some(&Stage::Worth));
    let statements = model.workload.queries.len() + model.workload.asks.len() + model.workload.writes.len();
    assert!(told.contains(&Stage::Plans { done: 0, of: statements }));
    assert!(told.contains(&Stage::Plans { done: statements, of: statements }));
    let solved = |stage: &Stage| matches!(stage, Stage::Parts { done, of } if done == of);
    assert!(told.iter().any(solved), "{told:?}");
}

#[test]
fn a_run_gives_what_the_last_one_gave() {
    for name in EXAMPLES {
        let model = example(name);
        let once = design(Method::Cost, &model, &askloom_target::embedded::costing(), &Options::default());
        let again = design(Method::Cost, &model, &askloom_target::embedded::costing(), &Options::default());
        assert_eq!(once.design, again.design, "{name}");
    }
}

#[test]
fn what_the_model_declares_is_kept() {
    let (design, _) = chosen(
        "@count(1_000) entity Job { id k: int, state: int }\n\
         @rate(1/s) query one: SELECT * FROM Job WHERE k = :k\n\
         @rate(900/s) write move: UPDATE Job SET state = :state WHERE k = :k\n\
         collection Old of Job { key state; }\n",
        "embedded",
    );
    assert!(design.collections.iter().any(|(_, one)| one.name == "Old"), "{design:?}");
}

#[test]
fn another_order_of_a_copy_is_left_to_the_store() {
    let text = "@count(1_000) entity Thread { id t: int, owner: int @distinct(100) }\n\
         @count(100_000) entity Message { id m: int, ref thread: Thread, sent: timestamp, size: int }\n\
         @rate(900/s) query newest: SELECT m, sent FROM Message WHERE thread.owner = :owner ORDER BY sent DESC LIMIT 10\n\
         @rate(900/s) query largest: SELECT m, size FROM Message WHERE thread.owner = :owner ORDER BY size DESC LIMIT 10\n\
         @rate(50/s) write send: INSERT Message\n";
    let (design, report) = chosen(text, "dynamodb");
    let local = design
        .collections
        .ids()
        .find(|&id| design.collections[id].keeper == Keeper::Store && design.sibling(id).is_some());
    let local = local.unwrap_or_else(|| panic!("{design:?}"));
    assert!(report.cost - report.bound <= ROUNDING * report.cost, "not proven");
    // Two tables would both be written in a transaction.
    let mut tables = design.clone();
    tables.collections[local].keeper = Keeper::Ours;
    let costing = Costing::from(askloom_target::target("dynamodb").unwrap());
    assert!(total(&of(text), &costing, &design) < total(&of(text), &costing, &tables));
}

/// What a design costs by its plans, and what was proven of it, are one number.
fn agree(text: &str, target: &str) {
    let model = of(text);
    let target = askloom_target::targets().iter().find(|one| one.capability.target == target).unwrap();
    let costing = Costing::from(target);
    let made = design(Method::Cost, &model, &costing, &Options::default());
    let Paper::Cost(report) = &made.paper else { panic!("not by cost") };
    for query in &model.workload.queries {
        let plan = planner::plan(&costing, &model.conceptual, &made.design, query);
        assert!(plan.is_some(), "{} has no plan", query.header.name);
    }
    let total = total(&model, &costing, &made.design);
    assert!((total - report.cost).abs() <= ROUNDING * total, "{total} and {}", report.cost);
    assert!(report.is_proven());
}

#[test]
fn a_fresh_query_goes_by_no_way_back_that_may_lag() {
    let text = "@count(100) entity E0 { id id0: long }\n\
         @count(10_000) entity E1 { id id1: long, ref r0: E0 inverse i1_0 @avg(100) }\n\
         @rate(3/s) @fresh query q: SELECT id1, j1.id1 AS other FROM E1 JOIN r0 AS j0 JOIN j0.i1_0 AS j1 \
         WHERE id1 = :x";
    for target in ["cassandra", "hbase", "oracle-nosql", "redis-cluster", "embedded", "mongodb", "dynamodb"] {
        agree(text, target);
    }
}

#[test]
fn an_index_of_the_stores_own_may_be_the_cheapest_to_go_through() {
    let text = "@count(100_000) entity E0 { id id0: text, f0: decimal @distinct(20) }\n\
         @rate(100_000/s) query q1: SELECT id0 FROM E0 WHERE f0 = :x1";
    agree(text, "dynamodb");
}

/// Notes of which the newest are asked for: without an equality, all of them are one block.
fn notes(count: &str, asked: &str, added: &str) -> String {
    format!(
        "@count({count}) entity Note {{ id noteId: uuid, at: timestamp, body: text @size(1 KB) }}\n\
         @rate({asked}/s) query latest: SELECT noteId, at FROM Note ORDER BY at DESC LIMIT 10\n\
         @rate({added}/s) write add: INSERT Note"
    )
}

/// How many buckets the copies of the cheapest design have, and whether its query scans.
fn buckets(text: &str, target: &str) -> (Option<u32>, bool) {
    let model = of(text);
    let costing = Costing::from(askloom_target::target(target).unwrap());
    let made = design(Method::Cost, &model, &costing, &Options::default());
    let keys = made.design.collections.iter().flat_map(|(_, one)| &one.block_key);
    let found = keys.into_iter().find_map(|field| match field.path.leaf {
        Leaf::Bucket(of) => Some(of),
        Leaf::Attribute(_) | Leaf::Reference(_) | Leaf::Itself | Leaf::TimeBucket(..) => None,
    });
    let query = &model.workload.queries[0];
    let plan = planner::plan(&costing, &model.conceptual, &made.design, query).unwrap();
    assert!(limits::hot(&model, &costing, &made.design).is_empty());
    (found, askloom_design::method::scans(&plan))
}

#[test]
fn a_block_that_is_written_too_often_is_cut_into_buckets() {
    assert_eq!(buckets(&notes("1_000_000", "100", "900"), "dynamodb"), (None, false));
    // 2,000 writes a second on keys that take 1,000, with room.
    let text = notes("1_000_000", "100", "2_000");
    assert_eq!(buckets(&text, "dynamodb"), (Some(3), false));
    agree(&text, "dynamodb");
    // Reads are not shared: each goes to all buckets.
    assert_eq!(buckets(&notes("1_000_000", "10_000", "2_000"), "dynamodb"), (None, true));
}

#[test]
fn a_block_that_grows_too_large_is_cut_into_buckets() {
    assert_eq!(buckets(&notes("1_000_000", "50", "20"), "cassandra"), (None, false));
    let text = notes("20_000_000", "50", "20");
    let (found, scans) = buckets(&text, "cassandra");
    assert!(found.is_some_and(|of| (10..20).contains(&of)) && !scans, "{found:?}");
    agree(&text, "cassandra");
}

#[test]
fn an_index_that_leads_to_records_costs_what_the_planner_says_however_these_are_cut() {
    let text = "@count(100_000) entity Post { id postId: uuid, blog: text @distinct(1000), at: timestamp, text: text \
         @size(4 KB), likes: int, notes: text[*] @avg(30) }\n\
         @rate(50/s) query newest: SELECT postId, likes FROM Post WHERE blog = :blog ORDER BY at DESC LIMIT 10\n\
         @rate(20/s) query all: SELECT p FROM Post AS p WHERE blog = :blog\n\
         @rate(90/s) query one: SELECT likes FROM Post WHERE postId = :post\n\
         @rate(900/s) write like: UPDATE Post SET likes = likes + 1 WHERE postId = :post\n\
         @rate(50/s) write note: ADD :note TO Post.notes WHERE postId = :post\n\
         @rate(10/s) write add: INSERT Post";
    agree(text, "mongodb");
    // On Cassandra a partition has more rows if it is cut, and all are read if all is asked for.
    agree(&text.replace("900/s", "9000/s"), "cassandra");
}

/// A reference that is a key and part of the identifier says once how many rows there are: what is found by all of its
/// identifier is one, and the aggregate itself is nearest.
#[test]
fn what_is_found_by_its_identifier_is_got() {
    let model = crate::example("inbox");
    for target in askloom_target::targets() {
        let costing = Costing::from(target);
        let made = design(Method::Cost, &model, &costing, &Options::default());
        let count = model.workload.writes.iter().find(|write| write.header.name == "count").unwrap();
        let plan = planner::write::plan(&costing, &model, &made.design, count).unwrap();
        let found = &made.design.collections[plan.steps[0].find.access.collection];
        assert_eq!(found.name, "Label", "{}", target.capability.target);
    }
}
