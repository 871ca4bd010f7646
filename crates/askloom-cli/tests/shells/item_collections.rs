//! Several classes in one partition: each is read, asked for and written beside the others.

use crate::harness::{Count, Shell, What, one_design};
use askloom_design::method::{self, Method, Options};
use askloom_lang::Memory;
use askloom_model::Model;
use askloom_plan::cost::Costing;
use std::path::Path;

/// Classes with a field in common, one whose order is behind that of another, one without any, and one with entries of
/// its own; a descending order and one that ascends.
const MODEL: &str = "\
@count(9)\nentity Customer { id town: text, id number: int, name: text, status: enum(new, old)? }\n\
@count(90)\nentity Purchase {\n  id ref customer: Customer\n  id at: timestamp\n  name: text\n  total: decimal?\n\
  status: enum(new, old)?\n  tags: text[*] @avg(2)\n}\n\
@count(9)\nentity Profile { id ref of: Customer, motto: text }\n\
@count(40)\nentity Visit { id place: text, id ref guest: Customer, note: text? }\n\
represent Purchase as tags {\n  /Purchase/*/tags[*]\n  /Purchase/*\n}\n\
collection Customers of Customer, Purchase, Profile, Visit {\n  master;\n  key town, number;\n  sort at desc, place;\n}\n\
query customer: SELECT name FROM Customer WHERE town = :town AND number = :number\n\
query latest: SELECT at, total, tags FROM Purchase WHERE customer = :c ORDER BY at DESC LIMIT 2\n\
query since: SELECT at, name FROM Purchase WHERE customer = :c AND at > :from ORDER BY at\n\
query before: SELECT at FROM Purchase WHERE customer = :c AND at < :until ORDER BY at DESC\n\
query purchase: SELECT name, customer.name FROM Purchase WHERE customer = :c AND at = :at\n\
query profile: SELECT motto FROM Profile WHERE of = :c\n\
query visits: SELECT place, note FROM Visit WHERE guest = :c AND place >= :from ORDER BY place\n\
query visited: SELECT place FROM Visit WHERE guest = :c ORDER BY place DESC\n\
query everybody: SELECT name FROM Customer\n\
query everything: SELECT name, total FROM Purchase\n\
@rate(50/s)\nquery byName: SELECT at FROM Purchase WHERE name = :name\n\
@rate(50/s)\nquery named: SELECT number FROM Customer WHERE name = :name\n\
write join: INSERT Customer\n\
write rename: UPDATE Customer SET name = :name WHERE town = :town AND number = :number\n\
write leave: DELETE Customer WHERE town = :town AND number = :number\n\
write buy: INSERT Purchase\n\
write tag: ADD :tag TO Purchase.tags WHERE customer = :c AND at = :at\n\
write pay: UPDATE Purchase SET total = :total WHERE customer = :c AND at = :at\n\
write drop: DELETE Purchase WHERE customer = :c AND at = :at\n\
write say: UPSERT Profile\n\
write visit: INSERT Visit\n\
write forget: DELETE Visit WHERE guest = :c AND place = :place\n";

fn model() -> Model {
    let checked = askloom_lang::check(&Memory::default().with("m.loom", MODEL), Path::new("m.loom"));
    assert_eq!(checked.errors, 0, "{:?}", checked.diagnostics);
    let mut model = checked.model;
    askloom_plan::ask::name_ways_back(&mut model);
    model
}

pub(crate) fn partitions(shell: &mut dyn Shell) {
    let model = model();
    let target = askloom_target::target(shell.target()).unwrap();
    let mut count = Count::default();
    for method in [Method::Given, Method::Cost] {
        let design = method::design(method, &model, &Costing::from(target), &Options::default()).design;
        let what = What { nasty: true, writes: true };
        one_design(shell, format!("classes_{}", method.name()), &model, design, what, &mut count);
    }
    println!("{}: {count:?}", shell.target());
    assert!(count.incomplete.is_empty(), "{}", count.incomplete.join("\n"));
    assert!(count.queries > 50 && count.rows > 50 && count.writes > 20, "{count:?}");
}
