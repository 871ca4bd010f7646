//! The designs of every method on every example: made-up data and writes, each answer compared with what it means.

use crate::case::Case;
use crate::coverage::Coverage;
use crate::random::Random;
use askloom_design::method::{self, Method, Options};
use askloom_lang::{Memory, check};
use askloom_model::Model;
use std::path::Path;

const EXAMPLES: [&str; 6] = ["game", "noam-game", "airline", "inbox", "blog", "shop"];

/// Loads, stores, deletes and statements for each.
const STEPS: usize = 10;

fn example(name: &str) -> Model {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let mut world = Memory::default();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "loom") {
            world = world.with(path.file_name().unwrap(), std::fs::read(&path).unwrap());
        }
    }
    let checked = check(&world, Path::new(&format!("{name}.loom")));
    assert_eq!(checked.errors, 0, "{name}");
    let mut model = checked.model;
    askloom_plan::ask::name_ways_back(&mut model);
    model
}

#[test]
fn every_method_on_every_example() {
    for name in EXAMPLES {
        keeps_the_promise(name, &example(name));
    }
}

/// By every method, with some random histories.
fn keeps_the_promise(name: &str, model: &Model) {
    for method in Method::ALL {
        let made = method::design(method, model, &askloom_target::embedded::costing(), &Options::default());
        for seed in 0..10 {
            let case = Case::of(model.clone(), made.design.clone());
            let steps: Vec<usize> = (0..STEPS).collect();
            let random = Random::new(seed).fork(name);
            if let Err(failure) = case.run(&steps, &random, &mut Coverage::default()) {
                panic!("{name} by {}, seed {seed}: {}: {}", method.name(), failure.kind, failure.text);
            }
        }
    }
}

fn model(text: &str) -> Model {
    let checked = check(&Memory::default().with("m.loom", text), Path::new("m.loom"));
    assert_eq!(checked.errors, 0, "{:?}", checked.diagnostics);
    let mut model = checked.model;
    askloom_plan::ask::name_ways_back(&mut model);
    model
}

/// A tuple query with two classes at one link has two positions that are reached in the same way.
#[test]
fn two_subclasses_at_one_link() {
    let text = "@count(100) entity Owner { id k: int, ref shelves: Shelf[*] @avg(50) }
        @count(5_000) entity Shelf { id k: int, ref things: Thing[*] @avg(1) }
        abstract entity Thing { id k: int }
        entity Book extends Thing { pages: int }
        entity Disc extends Thing { minutes: int }
        ask all: {Owner} -> {Shelf, Book, Disc}
        ask books: {Shelf} -> {Book}
        ask discs: {Book, Shelf} -> {Disc}";
    keeps_the_promise("two subclasses", &model(text));
}

/// What a value object refers to leads back to it, and it is in an aggregate of its own.
#[test]
fn back_to_a_value_object() {
    let text = "@count(4) entity Thing { id k: int }
        @count(4) entity Box { id k: int, part labels: Label[0..3] }
        @count(4) entity Shelf { id k: int }
        value Label { ref of: Thing[*], ref near: Shelf[*] }
        ask shelves: {Thing} -> {Shelf}";
    keeps_the_promise("back to a value object", &model(text));
}

/// A reference may hold the id of an instance that is of a class above what it refers to: then it leads nowhere, and
/// nothing leads back from there.
#[test]
fn back_from_a_class_above() {
    let text = "@count(4) entity Thing { id k: int }
        @count(4) entity Part extends Thing { ref of: Part? inverse parts }
        ask parts: {Thing} -> {Part}";
    keeps_the_promise("back from a class above", &model(text));
}

/// What a collection is declared to keep and cannot hold as one value is looked up.
#[test]
fn many_references_kept_in_a_declared_collection() {
    let text = "entity Thing { id k: text }
        entity Shelf { id no: int, room: text, blurb: text @size(100 KB), ref things: Thing[*] inverse on }
        query found: SELECT no FROM Shelf WHERE room = :room AND things = :thing
        collection Rooms of Shelf { key room; keep things; }
        collection FoundIndex of Shelf { key no; keep room; }";
    keeps_the_promise("many references", &model(text));
}

/// An index of a subclass is no way back to the others.
#[test]
fn an_index_of_a_subclass() {
    let text = "entity City { id name: text, land: text }
        entity Base { id k: int, ref to: City }
        entity Sub extends Base { more: int? }
        query ofCity: SELECT k FROM Sub WHERE to = :city
        query ofLand: SELECT k, to.name FROM Base WHERE to.land = :land
        write move: UPDATE City SET land = :land WHERE name = :name";
    keeps_the_promise("an index of a subclass", &model(text));
}

/// A value object that is reached from what it refers to stands in the rows without its owner.
#[test]
fn a_value_object_between_two_entities() {
    let text = "entity Country { id code: text, name: text }
        entity Firm { id no: int, part seat: Address }
        value Address { street: text, ref country: Country?, ref agent: Agent? }
        entity Agent { id name: text }
        ask agents: {Country} -> {Agent}
        ask countries: {Agent} -> {Country, Firm}
        write move: UPDATE Firm SET seat.country = :country, seat.agent = :agent WHERE no = :no";
    keeps_the_promise("a value object between", &model(text));
}

/// The ids in a list have their parts in the order of the entity, the key of its master in another one.
#[test]
fn a_key_in_another_order_than_the_id() {
    let text = "entity Sensor { id s: text }
        entity Reading { id ref sensor: Sensor, id k: int, v: int }
        collection Readings of Reading { master; key k, sensor }
        query some: SELECT v FROM Reading WHERE Reading IN :ids
        write take: INSERT Reading
        write drop: DELETE Reading WHERE Reading IN :ids";
    keeps_the_promise("a key in another order", &model(text));
}

/// What is inside a part of a value that is copied whole.
#[test]
fn a_part_changes_in_what_others_hold_whole() {
    let text = "entity Firm { id no: int, part seat: Seat }
        value Seat { street: text }
        entity Person { id name: text, room: int, ref firm: Firm }
        query staff: SELECT name, f.* FROM Person JOIN firm AS f WHERE room = :room
        write move: UPDATE Firm SET seat.street = :street WHERE no = :no";
    keeps_the_promise("a part in a whole", &model(text));
}

/// A stored id of the right hierarchy and the wrong class names nothing, also where a link only closes a circle.
#[test]
fn a_tuple_query_about_the_class_above_a_loose_reference() {
    let text = "entity Shelf { id no: int, ref by: Person? }
        entity Person { id name: text, loose ref chairs: Chair[*] }
        entity Thing { id no: int, loose ref on: Shelf }
        entity Chair extends Thing { legs: int }
        ask things: {Shelf, Person via by} -> {Thing}
        write put: INSERT Thing
        write sit: INSERT Chair
        write take: CONNECT Person.chairs TO :chair WHERE name = :name";
    keeps_the_promise("above a loose reference", &model(text));
}

/// The same of a part that goes from one owner to another.
#[test]
fn a_part_that_one_write_moves() {
    let text = "entity Order { id no: int, part lines: Line[*] }
        entity Line { id key: int, quantity: int }
        entity Person { id name: text, ref favourite: Line }
        query favourites: SELECT name, favourite.quantity FROM Person
        query by: SELECT name FROM Person JOIN favourite AS f WHERE f.quantity = :quantity
        write add: INSERT Order
        write like: INSERT Person
        write move {
          REMOVE FROM Order.lines WHERE no = :from AND lines.key = :key
          ADD :line TO Order.lines WHERE no = :to
        }";
    keeps_the_promise("a part that moves", &model(text));
}

/// References lead somewhere before a write and after it, and nowhere between two of its statements.
#[test]
fn what_is_deleted_and_made_again_by_one_write() {
    let text = "entity Person { id name: text, room: int, ref boss: Person? }
        entity Key { id no: int, ref of: Person inverse keys }
        query byRoom: SELECT name, boss.room FROM Person WHERE room = :room
        query keys: SELECT no, p.room FROM Key JOIN of AS p WHERE p.room = :room
        query held: SELECT name, k.no FROM Person LEFT JOIN keys AS k WHERE name = :name
        write add: INSERT Person
        write give: INSERT Key
        write again { DELETE Person WHERE name = :name; UPSERT Person }
        write both { INSERT Key; UPSERT Person }
        write end { DELETE Person WHERE name = :name; DELETE Key WHERE of = :of }
        write pass { DELETE Person WHERE name = :name; UPDATE Key SET of = :to WHERE of = :of }";
    keeps_the_promise("made again", &model(text));
}

/// A customer, its purchases and its profile lie in one partition; purchases carry the name of the restaurant.
#[test]
fn classes_that_share_partitions() {
    let text = "writes any
        @count(4) entity Restaurant { id rid: int, name: text }
        @count(4) entity Customer { id town: text, id number: int, name: text }
        @count(40) entity Purchase {
          id ref customer: Customer
          id number: int
          id at: timestamp
          name: text?
          ref restaurant: Restaurant
          part lines: Line[*]
        }
        value Line { sku: text, price: decimal }
        @count(4) entity Profile { id ref of: Customer, motto: text }
        represent Purchase as lines { /Purchase/*/lines[*]
          /Purchase/* }
        collection CustomerPurchases of Customer, Purchase, Profile {
          master; key town, number; sort at desc, number; keep restaurant.name; }
        query one: SELECT motto, of.name FROM Profile WHERE of = :c
        query latest: SELECT at, number, restaurant.name FROM Purchase WHERE customer = :c ORDER BY at DESC LIMIT 3
        query shown: SELECT number, customer.name FROM Purchase WHERE customer = :c AND at >= :from
        query all: SELECT Purchase.* FROM Purchase
        write add: ADD :line TO Purchase.lines WHERE customer = :c
        write move: UPDATE Restaurant SET name = :name WHERE rid = :rid
        write drop: DELETE Customer WHERE town = :town";
    keeps_the_promise("classes that share partitions", &model(text));
}
