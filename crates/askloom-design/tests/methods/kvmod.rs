use crate::{decided, example, model, propose};
use askloom_design::method::kvmod::{Logical, LogicalCollection};
use askloom_design::method::{self, Method, Options, Paper, Proposal};
use askloom_model::Origin;
use askloom_plan::cost::Costing;
use askloom_plan::planner;

const Q4: &str = "Q4_passengersDepartingGivenCountry";
const Q5: &str = "Q5_passengersDepartingGivenPeriod";

fn logical(proposal: &Proposal) -> &Logical {
    let Paper::Kvmod(logical) = &proposal.paper else { panic!("another paper") };
    logical
}

fn fields(collection: &LogicalCollection) -> Vec<(&str, &str, bool)> {
    collection.fields.iter().map(|field| (field.name.as_str(), field.ty.as_str(), field.sorted)).collect()
}

/// Figure 8: the collection of the fourth query. Its repeated row comes once.
#[test]
fn the_fourth_query_alone() {
    let mut airline = example("airline");
    airline.workload.queries.retain(|query| query.header.name == Q4);
    let proposal = propose(Method::Kvmod, &airline);
    let collection = logical(&proposal).named(Q4).unwrap();
    assert_eq!(collection.key, format!("{Q4}_id"));
    let figure_8 = [
        ("Origin.city", "text", true),
        ("Destination.city", "text", false),
        ("FL.departureTime", "time", true),
        ("idPassport", "text", false),
        ("firstName", "text", false),
        ("lastName", "text", false),
        ("birthdate", "date", false),
        ("sex", "text", false),
        ("nationality", "text", false),
        ("FL.departureDate", "date", false),
        ("Origin.country", "text", false),
    ];
    assert_eq!(fields(collection), figure_8);
}

/// Q4 and Q5 share 10 of 11 and 10 of 11 fields; nothing else of the nine is merged.
#[test]
fn two_of_the_nine_are_merged() {
    let proposal = propose(Method::Kvmod, &example("airline"));
    let logical = logical(&proposal);
    assert_eq!(logical.collections.len(), 8);
    let name = format!("{Q4}_{Q5}");
    let merged = logical.named(&name).unwrap();
    assert_eq!(merged.fields.len(), 12);
    let sorted: Vec<&str> = merged.fields.iter().filter(|f| f.sorted).map(|f| f.name.as_str()).collect();
    assert_eq!(sorted, ["Origin.city", "FL.departureTime", "Origin.country"]);
    let searched: Vec<&str> = merged.fields.iter().filter(|f| f.searched).map(|f| f.name.as_str()).collect();
    assert_eq!(searched, ["FL.departureDate", "Origin.country"]);
    let says = decided(&proposal, &name);
    assert!(says.iter().any(|says| says.contains("share 10 of 11 and 10 of 11")), "{says:?}");
    // The flight's destination is no part of Q5: it neither adds rows nor takes any away.
    let (_, collection) = proposal.design.collections.iter().find(|(_, c)| c.name == name).unwrap();
    let last = collection.source.positions.iter().last().unwrap().1;
    assert!(last.outer && last.alias.as_deref() == Some("Destination"));
    let own = proposal.design.collections.iter().filter(|(_, c)| c.origin == Origin::Method).count();
    assert_eq!(own, 8);
}

/// By bare names, and without the url, Q3 and Q6 share exactly 80 %. One has passengers' rows, the other flights'.
#[test]
fn a_merge_by_names_that_the_rows_refuse() {
    let file = format!("{}/../../examples/airline/airline.loom", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(file).unwrap();
    let without_url = text.replace("P.lastName, S.url", "P.lastName");
    assert_ne!(text, without_url);
    let proposal = propose(Method::Kvmod, &model(&without_url));
    assert_eq!(logical(&proposal).collections.len(), 8);
    let says = decided(&proposal, "Q3_passengersOfGivenFlight");
    let refused = says.iter().find(|says| says.contains("Q6_sitesAccessedInGivenFlight"));
    assert!(refused.is_some_and(|says| says.contains("rows of Passenger, the other of Flight")), "{says:?}");
    let with_url = propose(Method::Kvmod, &example("airline"));
    assert_eq!(decided(&with_url, "Q3_passengersOfGivenFlight").len(), 1);
}

#[test]
fn what_may_be_missing_is_not_merged_and_what_must_be_there_is() {
    let text = |bound: &str| {
        format!(
            "entity A {{ id k: int, a: int, b: int, c: int, d: int, e: int, ref other: B{bound} }}
             entity B {{ id k: int, x: int }}
             query one: SELECT k, a, b, c, d, e FROM A WHERE a = :a
             query two: SELECT A.k, a, b, c, d, e, o.x FROM A JOIN other AS o WHERE a = :a"
        )
    };
    let must = propose(Method::Kvmod, &model(&text("")));
    assert_eq!(logical(&must).collections.len(), 1);
    let may = propose(Method::Kvmod, &model(&text("?")));
    assert_eq!(logical(&may).collections.len(), 2);
    assert!(decided(&may, "one").iter().any(|says| says.contains("only one has a row for each of `other`")));
}

#[test]
fn a_store_that_searches_needs_no_index_of_a_query() {
    let model = example("airline");
    let target = askloom_target::target("redis-search").unwrap();
    let costing = Costing::from(target);
    let made = method::design(Method::Kvmod, &model, &costing, &Options::default());
    let names: Vec<&str> = made.design.collections.iter().map(|(_, one)| one.name.as_str()).collect();
    assert!(!names.iter().any(|name| name.starts_with('Q') && name.ends_with("Index")), "{names:?}");
    let mut searched = Vec::new();
    for query in &model.workload.queries {
        let plan = planner::plan(&costing, &model.conceptual, &made.design, query).unwrap();
        assert!(!method::scans(&plan), "{}", query.header.name);
        if plan.searched.is_empty() {
            continue;
        }
        // One request, for what matches alone.
        assert_eq!(plan.estimate.requests, 1.0, "{}", query.header.name);
        let embedded =
            planner::plan(&askloom_target::embedded::costing(), &model.conceptual, &made.design, query)
                .unwrap();
        assert!(plan.estimate.rows < embedded.estimate.rows, "{}", query.header.name);
        assert!(planner::print(&model, &made.design, query, &plan).contains("search"));
        searched.push(query.header.name.split('_').next().unwrap());
        // What does not search goes through all of it, unless a key leads to what the rows lead to.
        assert!(embedded.searched.is_empty());
        assert!(method::scans(&embedded) || embedded.first.is_some(), "{}", query.header.name);
    }
    // The sixth gives the key of its collection.
    assert_eq!(searched, ["Q1", "Q2", "Q3", "Q4", "Q5", "Q7", "Q8", "Q9"]);
}
