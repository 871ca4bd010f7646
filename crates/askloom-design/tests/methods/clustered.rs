//! Masters that the model splits into a partition part and a sort part: all methods design with them, and lists come
//! from the one table.

use crate::model;
use askloom_design::limits;
use askloom_design::method::{Method, Options, design, not_designed_yet};
use askloom_model::{Collection, Design, KeySet, Leaf, Model, Plan, Reading, Role, TimeBucket};
use askloom_plan::cost::Costing;
use askloom_plan::planner;

const CHAT: &str = "@count(10_000)
entity Room { id name: text }
@count(1_000_000)
immutable entity Message { id ref room: Room, id sentAt: timestamp, body: text }
collection Messages of Message { master; key room; sort sentAt desc; }
@rate(100/s)
query latest: SELECT sentAt, body FROM Message WHERE room = :room ORDER BY sentAt DESC LIMIT 50
@rate(100/s)
query history: SELECT sentAt, body FROM Message WHERE room = :room ORDER BY sentAt DESC PAGE 50
@rate(10/s)
query since: SELECT sentAt, body FROM Message WHERE room = :room AND sentAt >= :from ORDER BY sentAt
@rate(10/s)
query one: SELECT body FROM Message WHERE room = :room AND sentAt = :sentAt
@rate(10/s)
write post: INSERT Message
";

const TELEMETRY: &str = "@count(10_000)
entity Sensor { id name: text }
@count(1_000_000) @ttl(90 days)
immutable entity Reading { id ref sensor: Sensor, id at: timestamp, value: double }
collection Readings of Reading { master; key sensor, day(at); sort at desc; }
@rate(100/s)
query window: SELECT at, value FROM Reading WHERE sensor = :sensor AND at BETWEEN :from AND :until
  ORDER BY at DESC
@rate(100/s)
query lately: SELECT at, value FROM Reading WHERE sensor = :sensor AND at > :from AND at <= :until
  ORDER BY at DESC LIMIT 1
@rate(100/s)
write note: INSERT Reading
";

const MENU: &str = "@count(1_000)
entity Restaurant { id rid: int, name: text }
@count(100_000)
entity MenuItem { id ref restaurant: Restaurant, id sku: text, price: decimal }
collection MenuItems of MenuItem { master; key restaurant; sort sku; }
@rate(100/s)
query item: SELECT price FROM MenuItem WHERE restaurant = :restaurant AND sku = :sku
@rate(100/s)
query menu: SELECT sku, price FROM MenuItem WHERE restaurant = :restaurant ORDER BY sku
@rate(10/s)
write setPrice: UPDATE MenuItem SET price = :price WHERE restaurant = :restaurant AND sku = :sku
@rate(1/s)
write addItem: INSERT MenuItem
";

const STORES: [&str; 3] = ["embedded", "dynamodb", "cassandra"];

fn costing(target: &str) -> Costing<'static> {
    Costing::from(askloom_target::target(target).unwrap())
}

fn made(method: Method, model: &Model, target: &str) -> Design {
    design(method, model, &costing(target), &Options::default()).design
}

fn named<'d>(design: &'d Design, name: &str) -> &'d Collection {
    let mut all = design.collections.iter().map(|(_, collection)| collection);
    all.find(|collection| collection.name == name).unwrap_or_else(|| panic!("no {name} in {design:?}"))
}

fn plan_of(model: &Model, design: &Design, target: &str, query: &str) -> Plan {
    let query = model.workload.queries.iter().find(|one| one.header.name == query).unwrap();
    planner::plan(&costing(target), &model.conceptual, design, query).unwrap()
}

/// Every method keeps the master as it is declared, on every store.
fn is_kept_by_all(text: &str, name: &str, keys: (usize, usize)) {
    let model = model(text);
    assert!(not_designed_yet(&model).is_empty());
    for target in STORES {
        for method in Method::ALL {
            let design = made(method, &model, target);
            let master = named(&design, name);
            assert_eq!(master.role, Role::Master);
            assert_eq!((master.block_key.len(), master.entry_key.len()), keys, "{method:?} on {target}");
            let root = master.source.root;
            let masters = design.collections.iter().filter(|(_, one)| one.source.root == root);
            assert_eq!(masters.filter(|(_, one)| one.role == Role::Master).count(), 1);
        }
    }
}

#[test]
fn all_methods_keep_declared_masters() {
    is_kept_by_all(CHAT, "Messages", (1, 1));
    is_kept_by_all(TELEMETRY, "Readings", (2, 1));
    is_kept_by_all(MENU, "MenuItems", (1, 1));
}

#[test]
fn messages_of_a_room_come_from_the_one_table() {
    let model = model(CHAT);
    for target in STORES {
        let design = made(Method::Cost, &model, target);
        let others = design.collections.iter().filter(|(_, one)| one.role != Role::Master).count();
        assert_eq!(others, 0, "no view, no index on {target}: {design:?}");
        let latest = plan_of(&model, &design, target, "latest");
        let limited = matches!(latest.access.how, Reading::Range { limited: true, backwards: false, .. });
        assert!(limited && latest.sort.is_none() && latest.filter.is_none(), "{latest:?}");
        assert!(latest.estimate.rows <= 50.0, "{:?}", latest.estimate);
        let history = plan_of(&model, &design, target, "history");
        assert!(matches!(history.access.how, Reading::Range { .. }) && history.sort.is_none(), "{history:?}");
        let since = plan_of(&model, &design, target, "since");
        let ranged = matches!(&since.access.how, Reading::Range { range: Some(_), backwards: true, .. });
        assert!(ranged && since.sort.is_none() && since.filter.is_none(), "{since:?}");
        let one = plan_of(&model, &design, target, "one");
        assert!(matches!(one.access.how, Reading::GetBlock { .. }), "{one:?}");
    }
}

#[test]
fn readings_between_two_times_are_read_day_by_day() {
    let model = model(TELEMETRY);
    for target in STORES {
        let design = made(Method::Given, &model, target);
        for query in ["window", "lately"] {
            let plan = plan_of(&model, &design, target, query);
            let Reading::Each { set: KeySet::Buckets(days), of, .. } = &plan.access.how else {
                panic!("{query} on {target}: {plan:?}")
            };
            assert_eq!(days.unit, TimeBucket::Day);
            assert!(matches!(**of, Reading::Range { range: Some(_), .. }));
            // Day follows day in the answer's order.
            assert!(plan.sort.is_none() && plan.filter.is_none(), "{plan:?}");
        }
        let lately = plan_of(&model, &design, target, "lately");
        let window = plan_of(&model, &design, target, "window");
        assert!(lately.estimate.partitions < window.estimate.partitions, "it stops with the first row");
    }
}

#[test]
fn without_both_bounds_days_are_not_known() {
    let text = format!(
        "{TELEMETRY}query newest: SELECT at FROM Reading WHERE sensor = :sensor ORDER BY at DESC LIMIT 1\n"
    );
    let model = model(&text);
    let mut design = made(Method::Given, &model, "cassandra");
    let plan = plan_of(&model, &design, "cassandra", "newest");
    assert_ne!(named(&design, "Readings").name, design.collections[plan.access.collection].name);
    let masters: Vec<Collection> = design.collections.iter().map(|(_, one)| one.clone()).collect();
    design.collections.truncate(0);
    for master in masters.into_iter().filter(|one| one.role == Role::Master) {
        design.collections.push(master);
    }
    let plan = plan_of(&model, &design, "cassandra", "newest");
    assert_eq!(plan.access.how, Reading::Scan);
    let query = model.workload.queries.iter().find(|one| one.header.name == "newest").unwrap();
    let printed = planner::print(&model, &design, query, &plan);
    for said in ["scan Readings: without both bounds of", "at its days are not known"] {
        assert!(printed.contains(said), "{printed}");
    }
}

#[test]
fn items_of_a_menu_are_one_record_each() {
    let model = model(MENU);
    for target in ["dynamodb", "cassandra"] {
        let design = made(Method::Cost, &model, target);
        let others = design.collections.iter().filter(|(_, one)| one.role != Role::Master).count();
        assert_eq!(others, 0, "{design:?}");
        let item = plan_of(&model, &design, target, "item");
        assert!(matches!(item.access.how, Reading::GetBlock { .. }) && item.estimate.rows <= 1.0, "{item:?}");
        let menu = plan_of(&model, &design, target, "menu");
        assert!(matches!(menu.access.how, Reading::Range { .. }) && menu.sort.is_none(), "{menu:?}");
        assert!((menu.estimate.rows - 100.0).abs() < 1.0, "{:?}", menu.estimate);
    }
}

#[test]
fn a_partition_that_grows_past_what_the_store_should_have_is_said() {
    let text =
        CHAT.replace("@count(1_000_000)", "@count(1_000_000_000)").replace("@count(10_000)", "@count(10)");
    let (large, small) = (model(&text), model(CHAT));
    let broken = |model: &Model| {
        let target = askloom_target::target("cassandra").unwrap();
        let design = made(Method::Given, model, "cassandra");
        let costing = costing("cassandra");
        let statistics = costing.statistics(&model.conceptual);
        limits::all_broken(target.capability, &statistics, &design).len()
    };
    assert_eq!((broken(&large), broken(&small)), (1, 0));
}

#[test]
fn what_cannot_be_designed_yet_is_refused_by_name() {
    let several = "entity Customer { id name: text }
entity Order { id ref customer: Customer, id n: int }
collection Orders of Customer, Order { key name; sort n; keep n; }";
    let refused = not_designed_yet(&model(several));
    assert_eq!(refused.len(), 1);
    assert!(refused[0].message.contains("several classes"), "{}", refused[0].message);
    let bucket =
        named(&made(Method::Given, &model(TELEMETRY), "embedded"), "Readings").block_key[1].path.leaf;
    assert!(matches!(bucket, Leaf::TimeBucket(_, TimeBucket::Day)));
}
