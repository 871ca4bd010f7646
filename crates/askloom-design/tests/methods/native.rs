//! Copies that a store keeps by itself.

use crate::{EXAMPLES, example, model};
use askloom_design::limits::Limit;
use askloom_design::method::{self, Method, Options};
use askloom_design::{native, saved};
use askloom_model::{Collection, Design, Guarantee, Keeper, KeyField, Leaf, Model, Path, Reading};
use askloom_plan::cost::Costing;
use askloom_plan::planner;

fn on_dynamodb(model: &Model, method: Method) -> (Costing<'static>, Design) {
    let costing = Costing::from(askloom_target::target("dynamodb").unwrap());
    (costing, method::design(method, model, &costing, &Options::default()).design)
}

fn kept(design: &Design) -> Vec<&str> {
    let kept = design.collections.iter().filter(|(_, collection)| collection.keeper == Keeper::Store);
    kept.map(|(_, collection)| collection.name.as_str()).collect()
}

#[test]
fn what_is_added_for_queries_is_an_index_of_the_store_and_what_writes_go_by_is_ours() {
    let mut all = 0;
    for name in EXAMPLES {
        let model = example(name);
        for method in Method::ALL {
            let (costing, design) = on_dynamodb(&model, method);
            all += kept(&design).len();
            let is_kept = |id| design.collections[id].keeper == Keeper::Store;
            for (_, collection) in design.collections.iter().filter(|(id, _)| is_kept(*id)) {
                let by = collection.indexed().map(|path| path.leaf);
                let unique =
                    matches!(by, Some(Leaf::Attribute(id)) if model.conceptual.attributes[id].unique);
                assert!(!unique && !matches!(by, Some(Leaf::Reference(_))), "{name}: {}", collection.name);
            }
            for query in &model.workload.queries {
                let Ok(plan) = planner::answer(&costing, &model, &design, query) else { continue };
                let lags = plan.collections().any(is_kept);
                assert!(!lags || (plan.priced.reads == Guarantee::Lagging && !query.fresh), "{name}");
            }
            let read = saved::from_json(&model, &saved::to_json(&model, &design)).unwrap();
            assert_eq!(kept(&read), kept(&design), "{name}");
        }
    }
    assert!(all > 20, "{all} indexes");
}

#[test]
fn a_fresh_query_never_reads_one_and_no_store_without_indexes_is_given_any() {
    let lazy = model(
        "@count(100_000)\nentity User { id key: uuid, mail: text, age: int }\n\
         @rate(10/s)\nquery byMail: SELECT key, age FROM User WHERE mail = :mail\n",
    );
    let (costing, design) = on_dynamodb(&lazy, Method::Noam);
    assert_eq!(kept(&design), ["ByMailIndex"]);
    let mut fresh = lazy.clone();
    fresh.workload.queries[0].fresh = true;
    let reads = planner::answer(&costing, &fresh, &design, &fresh.workload.queries[0]).unwrap();
    assert!(reads.collections().all(|id| design.collections[id].keeper == Keeper::Ours));
    let embedded =
        method::design(Method::Noam, &lazy, &askloom_target::embedded::costing(), &Options::default()).design;
    assert_eq!(kept(&embedded), Vec::<&str>::new());
}

/// Two orders of the same rows, by a value that is beyond a reference: no index of a master can have it.
const TWO_ORDERS: &str = "\
    @count(1000)\nentity Customer { id name: text, country: text @distinct(50) }\n\
    @count(100_000)\nentity Order {\n  id number: long\n  ref customer: Customer\n  total: decimal\n  day: date\n}\n\
    @rate(10/s)\nquery newest: SELECT number FROM Order WHERE customer.country = :country ORDER BY day DESC\n\
    @rate(10/s)\nquery largest: SELECT number FROM Order WHERE customer.country = :country ORDER BY total DESC LIMIT 10\n\
    @rate(1/s)\nwrite moves: UPDATE Customer SET country = :country WHERE name = :name\n\
    @rate(1/s)\nwrite costs: UPDATE Order SET total = :total WHERE number = :number\n";

/// NewestIndex once more, sorted by the total.
fn with_another_order(model: &Model, design: &mut Design) {
    let newest = design.collections.iter().find(|(_, one)| one.name == "NewestIndex").unwrap().1.clone();
    let total = model.conceptual.attributes.iter().find(|(_, row)| row.name == "total").unwrap().0;
    let path = Path { leaf: Leaf::Attribute(total), ..newest.entry_key[0].path.clone() };
    let entry_key = vec![KeyField { path, descending: true }];
    design.collections.push(Collection { name: "LargestIndex".to_owned(), entry_key, ..newest });
}

#[test]
fn another_order_of_the_same_rows_is_a_local_index() {
    let model = model(TWO_ORDERS);
    let (costing, mut design) = on_dynamodb(&model, Method::Noam);
    with_another_order(&model, &mut design);
    native::hand_over(&model, &costing, &mut design);
    assert_eq!(kept(&design), ["LargestIndex"]);
    let named = |name: &str| design.collections.iter().find(|(_, one)| one.name == name).unwrap().0;
    let (host, index) = (named("NewestIndex"), named("LargestIndex"));
    assert_eq!(design.host(index), Some(host));
    assert_eq!(design.collections[host].fields().len(), 1, "what the index sorts by");
    let read = saved::from_json(&model, &saved::to_json(&model, &design)).unwrap();
    assert_eq!(read.host(index), Some(host));
    for query in &model.workload.queries {
        let plan = planner::answer(&costing, &model, &design, query).unwrap();
        assert_eq!(
            plan.priced.reads,
            Guarantee::Lagging,
            "both follow later: nothing bounds the orders of a customer"
        );
    }
    // Every write that moves the index moves its host.
    for write in &model.workload.writes {
        let plan = planner::write::plan(&costing, &model, &design, write).unwrap();
        let copies: Vec<_> =
            plan.steps.iter().flat_map(|step| &step.copies).map(|copy| copy.collection).collect();
        assert!(copies.contains(&host) && copies.contains(&index), "{}", write.header.name);
    }
}

fn on_mongodb(model: &Model) -> (Costing<'static>, Design) {
    let costing = Costing::from(askloom_target::target("mongodb").unwrap());
    (costing, method::design(Method::Cost, model, &costing, &Options::default()).design)
}

#[test]
fn an_index_of_stored_fields_leads_to_the_record_in_one_request() {
    let users = model(
        "@count(1_000_000) entity User { id userId: uuid, email: text, country: text @distinct(100), name: text, \
         bio: text @size(2 KB), joined: timestamp, tags: text[*] }\n\
         @rate(100/s) @fresh query byEmail: SELECT * FROM User WHERE email = :email\n\
         @rate(50/s) query newest: SELECT userId, name FROM User WHERE country = :c ORDER BY joined DESC LIMIT 20\n\
         @rate(20/s) write add: INSERT User\n\
         @rate(5/s) write rename: UPDATE User SET name = :n WHERE userId = :u\n",
    );
    let (costing, design) = on_mongodb(&users);
    assert_eq!(kept(&design), ["ByEmailIndex", "NewestIndex"]);
    assert_eq!(design.collections.len(), 3);
    for query in &users.workload.queries {
        let plan = planner::answer(&costing, &users, &design, query).unwrap();
        assert_eq!((plan.estimate.requests, plan.sort.is_none() || query.order_by.is_empty()), (1.0, true));
    }
    // Of the newest, what is asked for is sent, and not the whole of each.
    let newest = planner::answer(&costing, &users, &design, &users.workload.queries[1]).unwrap();
    assert!(newest.estimate.bytes < 20.0 * 200.0, "{:?}", newest.estimate);
    let rename = planner::write::plan(&costing, &users, &design, &users.workload.writes[1]).unwrap();
    assert!(rename.steps.iter().all(|step| step.copies.is_empty()));
    let read = saved::from_json(&users, &saved::to_json(&users, &design)).unwrap();
    assert_eq!(kept(&read), kept(&design));
}

#[test]
fn what_is_stored_in_another_order_or_elsewhere_is_no_index_of_stored_fields() {
    let all = [
        // An enum is stored as its name, which does not sort as declared.
        ("state: enum(z, a)", "state >= 'z'", 0),
        ("state: enum(z, a)", "state = :x", 1),
        ("weight: double", "weight = :x", 0),
        ("bytes: blob", "bytes = :x", 0),
        ("words: text[*]", "words = :x", 0),
        ("part at: Place", "at.city = :x", 0),
        ("ref place: Town", "place = :x", 0),
        ("ref other: Thing?", "other = :x", 1),
        ("day: date?", "day > :x", 1),
        ("day: date?, old: bool", "day = :x AND old = true", 1),
        // A copy of fewer rows is read for less, and an index cannot say which.
        ("day: date?, name: text?", "day = :x AND name IS NULL", 0),
    ];
    for (member, condition, indexes) in all {
        let text = format!(
            "value Place {{ city: text }}\n@count(100) entity Town {{ id land: text, id name: text }}\n\
             @count(100_000) entity Thing {{ id key: uuid, {member} }}\n\
             @rate(100/s) query q: SELECT key FROM Thing WHERE {condition}\n\
             @rate(50/s) write add: INSERT Thing\n"
        );
        let (_, design) = on_mongodb(&model(&text));
        assert_eq!(kept(&design).len(), indexes, "{member}: {condition}");
    }
    // The identity decides among what is equal else, and must sort, too.
    let by_kind = "@count(100_000) entity Thing { id kind: enum(z, a), id number: int, day: date }\n\
                   @rate(100/s) query q: SELECT number FROM Thing WHERE day = :x\n";
    assert_eq!(kept(&on_mongodb(&model(by_kind)).1), Vec::<&str>::new());
}

/// Asked by one field or two, with an order and without, and written much more often.
const SELDOM: &str = "@count(100_000)\nentity User { id key: uuid, mail: text, age: int @distinct(50000), at: timestamp }\n\
     @rate(1/s) query byMail: SELECT key, age FROM User WHERE mail = :mail\n\
     @rate(1/s) query grown: SELECT mail FROM User WHERE age = :age AND at > :since ORDER BY at DESC LIMIT 3\n\
     @rate(1/min) query old: SELECT mail FROM User WHERE age >= :age ORDER BY at\n\
     @rate(500/s) write add: INSERT User\n";

fn on_cassandra(model: &Model, method: Method) -> (Costing<'static>, Design) {
    let costing = Costing::from(askloom_target::target("cassandra").unwrap());
    (costing, method::design(method, model, &costing, &Options::default()).design)
}

#[test]
fn an_index_of_cassandra_has_one_column_and_gives_no_order() {
    let model = model(SELDOM);
    let (costing, design) = on_cassandra(&model, Method::Cost);
    assert_eq!(kept(&design), ["UserByMailIndex", "UserByAgeIndex"]);
    let plan = |name: &str| {
        let query = model.workload.queries.iter().find(|query| query.header.name == name).unwrap();
        planner::answer(&costing, &model, &design, query).unwrap()
    };
    let (mail, grown, old) = (plan("byMail"), plan("grown"), plan("old"));
    // The row comes with it: one request, and a partition beside that of the index.
    assert_eq!((mail.estimate.requests, mail.joins.len(), mail.fetches.len()), (1.0, 0, 0));
    assert!((mail.estimate.partitions - 1.0 - mail.estimate.rows).abs() < 1e-9, "{:?}", mail.estimate);
    assert_eq!(mail.priced.reads, Guarantee::Committed);
    // All of it is read before the client sorts and limits, also where nobody asks for an order.
    for plan in [&mail, &grown, &old] {
        assert!(plan.sort.is_some(), "{plan:?}");
        let Reading::Range { limited, backwards, .. } = &plan.access.how else { panic!("{plan:?}") };
        assert!(!limited && !backwards);
    }
    assert!(grown.filter.is_some() && old.filter.is_none());
    let read = saved::from_json(&model, &saved::to_json(&model, &design)).unwrap();
    assert_eq!(read, design);
}

#[test]
fn cassandra_gets_no_index_for_what_a_method_adds_nor_one_that_would_hold_more_than_it_takes() {
    let model = model(SELDOM);
    for method in Method::PUBLISHED {
        assert_eq!(kept(&on_cassandra(&model, method).1), Vec::<&str>::new(), "{}", method.name());
    }
    let long = crate::model(&SELDOM.replace("mail: text", "mail: text @size(9 KB)"));
    assert!(!kept(&on_cassandra(&long, Method::Cost).1).contains(&"UserByMailIndex"));
    // One that somebody has in a design all the same is told.
    let (costing, design) = on_cassandra(&model, Method::Cost);
    let statistics = costing.statistics(&long.conceptual);
    let [broken] =
        askloom_design::limits::all_broken(costing.capability, &statistics, &design).try_into().unwrap();
    assert_eq!((broken.limit, broken.most.value, broken.is_error()), (Limit::IndexKey, 8192, true));
    let told =
        "a value of the index has 8.8 KB by the averages of the model, and Cassandra takes 8 KB at most";
    assert_eq!(broken.text(costing.capability), told);
}
