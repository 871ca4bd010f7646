//! Masters of several classes in one partition, as the model declares them: all methods design with them, and what
//! belongs to one instance comes from its partition.

use crate::model;
use askloom_design::limits;
use askloom_design::method::{Method, Options, design, not_designed_yet};
use askloom_design::saved::{from_json, to_json};
use askloom_model::{
    AccessPath, Collection, CollectionId, Design, Id, Keeper, Leaf, Model, Reading, Record, Role, Value,
};
use askloom_plan::cost::Costing;
use askloom_plan::layout::{Block, Layout};
use askloom_plan::planner;
use askloom_target::dynamodb::{self, Dynamo};
use askloom_target::generate::{Options as GenerateOptions, Sample};
use std::collections::BTreeMap;

const SHOP: &str = "@count(1_000)
entity Restaurant { id rid: int, name: text }
@count(10_000)
entity Customer { id customerId: int, name: text }
@count(1_000_000)
entity Purchase { id ref customer: Customer, id number: long, name: text, ref restaurant: Restaurant }
@count(10_000)
entity Profile { id ref customer: Customer, motto: text }
collection CustomerPurchases of Customer, Purchase, Profile {
  master;
  key customerId;
  sort number desc;
  keep restaurant.name;
}
@rate(100/s)
query customer: SELECT name FROM Customer WHERE customerId = :id
@rate(100/s)
query latest: SELECT number, restaurant.name FROM Purchase WHERE customer = :id ORDER BY number DESC LIMIT 10
@rate(100/s)
query purchase: SELECT name FROM Purchase WHERE customer = :id AND number = :number
@rate(10/s)
query profile: SELECT motto FROM Profile WHERE customer = :id
@rate(10/s)
write buy: INSERT Purchase
@rate(1/s)
write join: INSERT Customer
";

const STORES: [&str; 3] = ["embedded", "dynamodb", "cassandra"];

fn costing(target: &str) -> Costing<'static> {
    Costing::from(askloom_target::target(target).unwrap())
}

fn made(method: Method, model: &Model, target: &str) -> Design {
    design(method, model, &costing(target), &Options::default()).design
}

fn master<'d>(model: &Model, design: &'d Design, class: &str) -> (CollectionId, &'d Collection) {
    let mut all = design.collections.iter().filter(|(_, one)| one.role == Role::Master);
    all.find(|(_, one)| model.conceptual.classes[one.source.root].name == class).unwrap()
}

#[test]
fn all_methods_keep_shared_masters() {
    let model = model(SHOP);
    assert!(not_designed_yet(&model).is_empty());
    for target in STORES {
        for method in Method::ALL {
            let design = made(method, &model, target);
            let (first, customers) = master(&model, &design, "Customer");
            assert_eq!((customers.name.as_str(), customers.partition_of), ("CustomerPurchases", None));
            for (class, sorted) in [("Purchase", 1), ("Profile", 0)] {
                let (id, own) = master(&model, &design, class);
                assert_eq!(design.partition_of(id), Some(first), "{method:?} on {target}");
                // A published method may call a collection of its own as the class.
                assert!(own.name.starts_with(class), "{method:?}: {}", own.name);
                assert!(
                    matches!(own.block_key[..], [ref key] if matches!(key.path.leaf, Leaf::Reference(_)))
                );
                assert_eq!(own.entry_key.len(), sorted);
            }
            let (_, carried) = design
                .collections
                .iter()
                .find(|(_, one)| one.role == Role::Carried)
                .unwrap_or_else(|| panic!("{method:?} on {target}"));
            assert_eq!(model.conceptual.classes[carried.source.root].name, "Purchase");
        }
    }
}

#[test]
fn each_class_of_a_partition_is_read_by_itself() {
    let model = model(SHOP);
    for target in STORES {
        let design = made(Method::Cost, &model, target);
        let plan = |name: &str| {
            let query = model.workload.queries.iter().find(|one| one.header.name == name).unwrap();
            planner::plan(&costing(target), &model.conceptual, &design, query).unwrap()
        };
        for name in ["customer", "purchase", "profile"] {
            let plan = plan(name);
            let one = matches!(plan.access.how, Reading::GetBlock { .. } | Reading::Range { .. });
            assert!(one && plan.joins.is_empty() && plan.estimate.rows <= 1.0, "{name}: {plan:?}");
        }
        let latest = plan("latest");
        assert_eq!(design.collections[latest.access.collection].name, "Purchase");
        assert!(matches!(latest.access.how, Reading::Range { limited: true, .. }), "{latest:?}");
        let kept = |one: &Collection| one.role.is_table_of_rows() && one.keeper == Keeper::Ours;
        let others = design.collections.iter().filter(|(_, one)| kept(one));
        assert_eq!(others.count(), 0, "no view, no index on {target}: {design:?}");
    }
}

#[test]
fn the_tables_of_a_partition_are_one() {
    let model = model(SHOP);
    let design = made(Method::Given, &model, "dynamodb");
    let layout = Layout::new(&model.conceptual, &design);
    let table = |class: &str| layout.table(master(&model, &design, class).0).unwrap();
    let first = master(&model, &design, "Customer").0;
    for (class, kind) in [("Customer", ""), ("Purchase", "Purchase"), ("Profile", "Profile")] {
        let shared = table(class).shared.as_ref().unwrap();
        assert_eq!((shared.first, shared.kind.as_str(), table(class).named_by()), (first, kind, first));
        assert_eq!(table(class).block().count(), 1, "the partition leads the columns of each");
    }
    assert_eq!(table("Restaurant").shared, None);
}

#[test]
fn shared_masters_are_saved_and_read_back() {
    let model = model(SHOP);
    let design = made(Method::Cost, &model, "dynamodb");
    let saved = to_json(&model, &design);
    assert_eq!(saved.matches("\"partition_of\": \"Customer\"").count(), 2, "{saved}");
    assert_eq!(from_json(&model, &saved).unwrap(), design);
    let says = |to: &str, message: &str| {
        let changed = saved.replacen("\"partition_of\": \"Customer\"", to, 1);
        let errors = from_json(&model, &changed).unwrap_err();
        assert!(errors.iter().any(|error| error.message.contains(message)), "{errors:?}");
    };
    says("\"partition_of\": \"Client\"", "no class `Client`");
    says("\"partition_of\": 7", "a text is expected");
    says("\"partition_of\": \"Restaurant\"", "one required reference to Restaurant");
}

#[test]
fn what_cannot_share_partitions_yet_is_refused_by_name() {
    let head = "entity Customer { id name: text, id since: timestamp }
entity Order { id ref customer: Customer, id n: int }\n";
    for (declared, said) in [
        ("collection Orders of Customer, Order { key name, since; sort n; keep n; }", "is not their master"),
        ("collection Orders of Customer, Order { master; key name; sort since, n; }", "not the whole id"),
        ("collection Orders of Customer, Order { master; key since, name; sort n; }", "not the whole id"),
        (
            "collection Orders of Customer, Order { master; key name, since, day(since); sort n; }",
            "not the whole id",
        ),
    ] {
        let refused = not_designed_yet(&model(&format!("{head}{declared}")));
        assert_eq!(refused.len(), 1, "{declared}");
        assert!(refused[0].message.contains(said), "{}", refused[0].message);
    }
}

#[test]
fn a_master_has_a_name_that_no_declared_collection_has() {
    let text = format!("{SHOP}collection Purchase of Restaurant {{ master; key rid; }}\n");
    let model = model(&text);
    let design = made(Method::Given, &model, "embedded");
    assert_eq!(master(&model, &design, "Restaurant").1.name, "Purchase");
    assert_eq!(master(&model, &design, "Purchase").1.name, "CustomerPurchasesPurchase");
}

#[test]
fn a_scan_and_a_partition_count_all_classes_of_a_table() {
    let text = format!("{SHOP}query every: SELECT name FROM Customer\n");
    let together = model(&text);
    let declared = text.find("collection ").unwrap()..text.find("@rate(100/s)\nquery customer").unwrap();
    let apart = model(&text.replace(&text[declared], ""));
    let rows = |model: &Model, target: &str| {
        let design = made(Method::Given, model, target);
        let query = model.workload.queries.iter().find(|one| one.header.name == "every").unwrap();
        let plan = planner::plan(&costing(target), &model.conceptual, &design, query).unwrap();
        assert_eq!(plan.access.how, Reading::Scan);
        plan.steps[0].estimate.rows
    };
    // A customer, its purchases and its profile.
    for (target, all) in [("dynamodb", 1_020_000.0), ("cassandra", 1_020_000.0), ("embedded", 10_000.0)] {
        assert_eq!((rows(&together, target), rows(&apart, target)), (all, 10_000.0), "{target}");
    }
    // What lies in a partition together is told once, of the class whose partitions these are.
    let count = "@count(20_000_000)";
    let large = text.replace("@count(1_000_000)", count).replace("@count(10_000)", "@count(10)");
    let broken = |text: &str| {
        let model = model(text);
        let target = askloom_target::target("cassandra").unwrap();
        let costing = costing("cassandra");
        let statistics = costing.statistics(&model.conceptual);
        let design = made(Method::Given, &model, "cassandra");
        let all = limits::all_broken(target.capability, &statistics, &design);
        let names = all.iter().map(|one| design.collections[one.collection].name.clone());
        names.collect::<Vec<_>>()
    };
    assert_eq!(broken(&large), ["CustomerPurchases"]);
}

/// The items of a customer and of a purchase with entries of its own, each read back from all of them.
#[test]
fn items_of_one_partition_come_back_as_their_classes() {
    let text = "entity Customer { id town: text, id number: int, name: text }
entity Purchase { id ref customer: Customer, id at: timestamp, name: text, tags: text[*] }
entity PurchaseNote { id ref customer: Customer, name: text }
collection Together of Customer, Purchase, PurchaseNote { master; key town, number; sort at desc; }
represent Purchase as tags { /Purchase/*/tags[*]
  /Purchase/* }";
    let model = model(text);
    let design = made(Method::Given, &model, "dynamodb");
    let layout = Layout::new(&model.conceptual, &design);
    let tables = dynamodb::tables(&layout, &GenerateOptions::default());
    let customer = [Value::Text("Oslo".to_owned()), Value::Int(7)];
    let at = Value::Timestamp("2026-11-17T09:00:00Z".parse().unwrap());
    let tag: AccessPath = "tags[3]".parse().unwrap();
    let mut all = Vec::new();
    for (class, own, keys) in [
        ("Customer", vec![], vec!["#"]),
        (
            "Purchase",
            vec![at],
            vec!["Purchase#2026-11-17T09:00:00.000Z##", "Purchase#2026-11-17T09:00:00.000Z#tags#000003"],
        ),
        ("PurchaseNote", vec![], vec!["PurchaseNote#"]),
    ] {
        let (table, collection) = master(&model, &design, class);
        let root = collection.source.root;
        let identity: Vec<Value> = customer.iter().cloned().chain(own).collect();
        let mut pieces =
            BTreeMap::from([(AccessPath::default(), Value::Record(Box::new(Record::new(root))))]);
        if class == "Purchase" {
            pieces.insert(tag.clone(), Value::Text("red".to_owned()));
        }
        let block = Block::new(identity, 4, vec![1], &model.conceptual, root, pieces);
        let sample = Sample::Block { table, block: Box::new(block) };
        let items = dynamodb::items(&layout, &tables, &sample);
        let key = |item: &dynamodb::Item| match &item[1] {
            (name, Dynamo::S(text)) if name == "item" => text.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(items.iter().map(|(_, item)| key(item)).collect::<Vec<_>>(), keys);
        assert!(items.iter().all(|(name, item)| name == "Together" && item[0].0 == "town#number"));
        all.push((table, sample, items));
    }
    let items: Vec<dynamodb::Item> =
        all.iter().flat_map(|(_, _, items)| items.iter().map(|(_, item)| item.clone())).collect();
    for (table, sample, _) in &all {
        let back = dynamodb::samples(&layout, &tables[table.index()], &items).unwrap();
        let (Sample::Block { block: expected, .. }, [Sample::Block { block, .. }]) =
            (sample, back.as_slice())
        else {
            panic!("{back:?}")
        };
        assert_eq!((&block.identity, &block.entries), (&expected.identity, &expected.entries));
        assert_eq!((block.version, &block.system), (4, &vec![1]));
    }
}
