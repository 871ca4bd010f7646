//! Indexes of masters on MongoDB: what is printed, and that they find on a server what copies would.

use crate::data::{aggregates, filled, inputs, model, schema, stored};
use crate::harness::{Count, What, holds};
use crate::mongodb::Mongosh;
use crate::mongodb_text::designed;
use askloom_design::method::Method;
use askloom_engine::driver::MemoryDriver;
use askloom_engine::{Schema, write};
use askloom_model::{Keeper, Model, Value};
use askloom_oracle::generate::{Generator, Options as Generated, few};
use askloom_plan::cost::Costing;
use askloom_plan::layout::Layout;
use askloom_plan::lower::Lowering;
use askloom_plan::program::{Bounds, How, Range, Read, Term};
use askloom_target::generate::{Options, Source};
use askloom_target::mongodb::{MongoCollection, collections, find};
use askloom_target::target;
use std::collections::HashMap;
use std::sync::Arc;

/// Keys of every type that an index may have, which can be null, and an id of two parts; instances of a subclass.
pub(crate) const ITEMS: &str = "\
@count(300)
entity Maker { id name: text }

@count(20_000)
entity Item {
  id shelf: text @distinct(40)
  id place: int
  title: text? @distinct(5000)
  state: enum(zoo, free, sold)
  price: decimal? @distinct(500)
  made: date?
  opens: time?
  seen: timestamp(9)?
  serial: uuid?
  old: bool
  ref maker: Maker?
  tags: text[*] @avg(3)
  body: text @size(2 KB)
}

@count(2_000)
entity Book extends Item { pages: int? }

@rate(100/s) query ofMaker: SELECT * FROM Item WHERE maker = :maker ORDER BY price DESC, made DESC LIMIT 5
@rate(100/s) query cheap: SELECT title, tags FROM Item WHERE state = 'free' AND price < 100 ORDER BY price
@rate(100/s) query onShelf: SELECT place, title FROM Item WHERE shelf = :shelf ORDER BY place DESC
@rate(50/s) query open: SELECT shelf, title FROM Item WHERE opens >= :low AND opens < :high
@rate(50/s) query last: SELECT title FROM Item ORDER BY seen DESC LIMIT 10
@rate(50/s) query young: SELECT title FROM Item WHERE old = false AND state = :state ORDER BY title
@rate(50/s) query named: SELECT body, tags FROM Item WHERE title STARTS WITH :t
@rate(50/s) query made: SELECT title, maker.name FROM Item WHERE made = :day
@rate(50/s) query numbered: SELECT serial, price FROM Item WHERE old = :old ORDER BY serial
@rate(5/s) write add: INSERT Item
@rate(5/s) write print: INSERT Book
@rate(5/s) write sell: UPDATE Item SET state = 'sold', price = :price WHERE shelf = :shelf AND place = :place
@rate(5/s) write rename: UPDATE Item SET title = :title WHERE maker = :maker
@rate(5/s) write gone: DELETE Item WHERE shelf = :shelf AND place = :place
";

fn items() -> Arc<Schema> {
    let model = model(ITEMS);
    let design = designed(&model, Method::Cost);
    let own = design.collections.iter().filter(|(_, one)| one.keeper == Keeper::Store).count();
    assert!(own >= 8 && design.collections.len() == own + 2, "{design:#?}");
    schema(model, design, target("mongodb").unwrap())
}

/// Some of them, of which every third was deleted.
pub(crate) fn some_deleted(schema: &Schema) -> MemoryDriver {
    let more = few(&schema.model, 60, 3, 40);
    let generator = Generator::new(&more, Generated { seed: 7, nasty: true, ..Generated::default() });
    let memory = stored(schema, generator.records().map(|(_, record)| record));
    let gone = schema.model.workload.writes.iter().find(|write| write.header.name == "gone").unwrap();
    let item = schema.model.conceptual.classes.iter().find(|(_, row)| row.name == "Item").unwrap().0;
    let all = aggregates(schema, &memory);
    let items = all.iter().filter(|record| schema.model.conceptual.is_kind_of(record.class, item));
    let mut deleted = 0;
    for record in items.step_by(3) {
        let id = record.identity(&schema.model.conceptual).unwrap();
        let given = ["shelf", "place"].into_iter().map(str::to_owned).zip(id).collect();
        let worked_out =
            memory.look(schema, |source| write::statement(source, gone, &given, &inputs(Vec::new())));
        memory.apply(schema, &worked_out.unwrap().0);
        deleted += 1;
    }
    assert!(deleted > 5, "{deleted}");
    memory
}

#[test]
#[ignore = "slow"]
fn an_index_of_mongodb_finds_what_a_copy_would() {
    let mut shell = Mongosh::start("indexes");
    let schema = items();
    let mut count = Count::default();
    let asked = What { nasty: true, writes: false };
    holds(&mut shell, "items_deleted".to_owned(), &schema, some_deleted(&schema), 8, asked, &mut count);
    // What is inserted anew where something was deleted is another test's.
    let written = What { nasty: true, writes: true };
    holds(&mut shell, "items_written".to_owned(), &schema, filled(&schema, true), 3, written, &mut count);
    println!("{count:?}");
    assert!(count.incomplete.is_empty(), "{}", count.incomplete.join("\n"));
    assert!(count.rows > 100 && count.writes > 4, "{count:?}");
}

/// All that is printed of a model by its cheapest design.
fn printed(model: &Model) -> String {
    let design = designed(model, Method::Cost);
    let layout = Layout::new(&model.conceptual, &design);
    let costing = Costing::from(target("mongodb").unwrap());
    let arguments = HashMap::new();
    let lowering =
        Lowering { model, design: &design, layout: &layout, costing: &costing, arguments: &arguments };
    let statements = lowering.statements(&|_| String::new()).unwrap();
    let source = Source { layout: &layout, statements, sample: Vec::new(), options: Options::default() };
    let files = target("mongodb").unwrap().language.unwrap().generate(&source).files;
    files.iter().map(askloom_target::generate::File::text).collect()
}

#[test]
fn a_query_by_fields_is_one_find_on_the_master() {
    let text = printed(&model(ITEMS));
    let lines = [
        "db.Item.createIndex({ made: 1, '_id.shelf': 1, '_id.place': 1 }, { name: 'MadeIndex' });",
        "db.Item.find({ maker: :maker }).sort({ price: -1, made: -1, '_id.shelf': -1, '_id.place': -1 }).limit(5)",
        // What was deleted still has its id.
        "db.Item.find({ class: { $exists: true } }, { title: 1, seen: 1, class: 1 }).sort({ seen: -1,",
        "db.Item.find({ '_id.shelf': :shelf, class: { $exists: true } }, { title: 1, class: 1 })",
    ];
    for line in lines {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(text.contains("partialFilterExpression"), "{text}");
    assert!(!text.contains("withTransaction"), "{text}");
}

/// As the papers print it, the name of the class is before the id; so it is in what an index is asked for.
#[test]
fn a_range_of_references_has_the_name_that_they_are_stored_with() {
    let schema = items();
    let layout = Layout::new(&schema.model.conceptual, &schema.design);
    let options = Options { faithful: true, ..Options::default() };
    let all = collections(&layout, &options);
    let by_maker = |of: &&MongoCollection| of.index.is_some() && of.fields[0].path == "maker";
    let table = all.iter().find(by_maker).unwrap().collection;
    let term = |text: &str| Term::known(Value::Text(text.to_owned()), 0);
    let printed = |bounds: Bounds| {
        let (block, equal) = (Vec::new(), Vec::new());
        let range = Range { block, equal, bounds: Some(bounds), backwards: false, limit: None };
        find(&layout, &all, &Read::new(table, How::Range(Box::new(range)))).unwrap().text()
    };
    let between =
        Bounds { column: 0, low: Some((term("a"), true)), high: Some((term("b"), false)), prefix: None };
    let text = printed(between);
    assert!(text.contains("find({ maker: { $gte: 'Maker:a', $lt: 'Maker:b' } })"), "{text}");
    let text = printed(Bounds { column: 0, low: None, high: None, prefix: Some(term("a")) });
    assert!(text.contains("find({ maker: { $gte: 'Maker:a', $lt: 'Maker:b' } })"), "{text}");
}

#[test]
fn what_an_index_leads_to_is_not_read_again_to_see_whether_it_lives() {
    let text = "@ttl(30 days) @count(100_000) entity Cart { id k: uuid, owner: text, total: int }\n\
                @rate(9/s) query of: SELECT total FROM Cart WHERE owner = :owner\n\
                @rate(9/s) write add: INSERT Cart\n";
    let text = printed(&model(text));
    let of = text.split("query of").nth(1).unwrap();
    assert_eq!(of.matches("find").count(), 1, "{of}");
    assert!(of.contains("db.Cart.find({ owner: :owner })"), "{of}");
    // What has expired is found until the store has taken it away.
    assert!(of.contains("on the client: filter"), "{of}");
}
