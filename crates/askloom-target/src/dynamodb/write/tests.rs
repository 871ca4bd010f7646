//! Writes as requests.

use super::*;
use crate::dynamodb::schema::{Key, KeyKind};
use askloom_model::CollectionId;

fn master() -> DynamoTable {
    let key = |name: &str, kind: KeyKind| Key {
        name: name.to_owned(),
        kind,
        columns: Vec::new(),
        order: Order::Kept,
        start: String::new(),
        ends_in_item: false,
    };
    let named = str::to_owned;
    let entries = Entries::Items { value: named("value") };
    let system =
        System { version: named("n"), rest: named("system"), class: named("class"), entries, expires: None };
    DynamoTable {
        collection: CollectionId::from_index(0),
        name: named("Game"),
        partition: key("block", KeyKind::Constant),
        sort: Some(key("item", KeyKind::Item)),
        attributes: Vec::new(),
        system: Some(system),
        stamps: None,
        index: None,
        faithful: false,
        set: None,
        turned: false,
        shared: None,
        goes: None,
    }
}

#[test]
fn an_update_names_an_attribute_once() {
    let table = master();
    let to = |digits: &str| Some(Bound::Value(Dynamo::N(digits.to_owned())));
    let becoming = [("a", to("1")), ("b", to("1")), ("a", to("2")), ("b", None)];
    let becoming = becoming.map(|(name, bound)| (name.to_owned(), bound)).to_vec();
    let write = update(&table, table.system.as_ref().unwrap(), Version::Slot, &[], becoming).unwrap();
    let Write::Update { set, remove, only, .. } = write else { panic!() };
    let names: Vec<&str> = set.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((names, set[1].1.clone(), remove), (vec!["n", "a"], to("2").unwrap(), vec!["b".to_owned()]));
    assert_eq!(only, Some(Only::With("n".to_owned(), slot(VERSION, "N"))));
}

#[test]
fn an_entry_is_an_item_and_a_deleted_aggregate_takes_its_items_along() {
    let table = master();
    let system = table.system.as_ref().unwrap();
    let put =
        put_entry(&table, system, Version::Slot, &[], &EntryPath::element("rou#nds"), slot("round", "M"))
            .unwrap();
    let Write::Put { item, .. } = &put else { panic!() };
    assert_eq!(item[1].1, Bound::Slot { text: "rou$23nds#:ordinal".to_owned(), tag: "S" });
    let batch = Batch {
        changes: Vec::new(),
        level: CopyLevel::Transaction,
        preconditions: askloom_plan::program::Preconditions::default(),
    };
    let gone = bury(&table, system, Version::Slot, &[], None);
    let [(EachChange::Once, Write::Update { remove, .. }), (each, Write::Delete { .. })] = gone.as_slice()
    else {
        panic!("{gone:?}")
    };
    assert_eq!(
        (remove.as_slice(), *each),
        (["class".to_owned()].as_slice(), EachChange::OtherRecords(table.collection))
    );
    // Several items are one transaction, with a token; one is by itself.
    assert!(
        matches!(together(gone, &batch).as_slice(), [(EachChange::Once, Write::Transaction { token, .. })] if *token == slot("w", "S"))
    );
    assert!(matches!(
        together(vec![(EachChange::Once, put)], &batch).as_slice(),
        [(EachChange::Once, Write::Put { .. })]
    ));
}

#[test]
fn records_go_in_by_25_and_in_arguments_that_a_shell_takes() {
    let item = |size: usize| ("Game".to_owned(), vec![("a".to_owned(), Dynamo::S("x".repeat(size)))]);
    let counts = |all: Vec<(String, Item)>| -> Vec<usize> {
        let one = |write: Write| match write {
            Write::Batch { items, .. } => items.len(),
            Write::Put { .. } => 1,
            Write::Update { .. } | Write::Delete { .. } | Write::Transaction { .. } => 0,
        };
        batches(all).into_iter().map(one).collect()
    };
    assert_eq!(counts((0..51).map(|_| item(1)).collect()), [25, 25, 1]);
    assert_eq!(counts((0..4).map(|_| item(20_000)).collect()), [2, 2]);
}
