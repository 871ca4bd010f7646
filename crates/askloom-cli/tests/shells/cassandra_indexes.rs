//! Indexes of masters on Cassandra: what is printed, and that they find on a server what copies would.

use crate::cassandra::Cqlsh;
use crate::data::{filled, model, schema};
use crate::harness::{Count, What, holds};
use crate::mongodb_indexes::{ITEMS, some_deleted};
use askloom_design::method::{self, Method, Options as MethodOptions};
use askloom_model::{
    Collection, Contents, Design, Id, Keeper, KeyField, Leaf, Model, Path, PositionId, Reading, Role, Rule,
    RuleStep, Span, Table, Value,
};
use askloom_plan::cost::Costing;
use askloom_plan::layout::Layout;
use askloom_plan::lower::{Arguments, Lowering};
use askloom_plan::planner;
use askloom_target::generate::{Generated, Options, Source};
use askloom_target::target;
use std::collections::HashMap;

/// What is written often and asked for seldom: there an index pays.
fn seldom_asked() -> Model {
    let text = ITEMS.replace("@rate(100/s) query", "@rate(1/s) query");
    let text = text.replace("@rate(50/s) query", "@rate(1/s) query");
    model(&text.replace("@rate(5/s) write", "@rate(50/s) write"))
}

fn designed(model: &Model) -> Design {
    let costing = Costing::from(target("cassandra").unwrap());
    let design = method::design(Method::Cost, model, &costing, &MethodOptions::default()).design;
    let own = design.collections.iter().filter(|(_, one)| one.keeper == Keeper::Store);
    let keys: Vec<usize> = own.map(|(_, one)| one.block_key.len()).collect();
    assert!(keys.contains(&0) && keys.iter().filter(|&&keys| keys == 1).count() >= 3, "{design:#?}");
    design
}

/// Of every type that an index may have, with what equals a value and what is within a range.
const EVERY: [(&str, bool); 11] = [
    ("shelf", false),
    ("place", true),
    ("title", false),
    ("state", false),
    ("price", true),
    ("made", true),
    ("opens", true),
    ("seen", true),
    ("serial", false),
    ("old", false),
    ("maker", false),
];

/// Each field is asked for by its own index.
fn every_index() -> (Model, Design) {
    let (entities, _) = ITEMS.split_once("@rate").unwrap();
    let (_, writes) = ITEMS.split_once("@rate(5/s) write").unwrap();
    let mut text = format!("{entities}\n@rate(5/s) write{writes}");
    for (name, ordered) in EVERY {
        text += &format!("query {name}Is: SELECT title, tags FROM Item WHERE {name} = :{name}\n");
        if ordered {
            let within = format!("{name} >= :low AND {name} < :high ORDER BY {name} DESC LIMIT 20");
            text += &format!("query {name}Within: SELECT body, {name} FROM Item WHERE {within}\n");
        }
    }
    let model = model(&text);
    let conceptual = &model.conceptual;
    let capability = target("cassandra").unwrap().capability;
    let mut design = designed(&seldom_asked());
    let template = design.collections.iter().find(|(_, one)| one.keeper == Keeper::Store).unwrap().1.clone();
    let masters = design.collections.iter().filter(|(_, one)| one.role == Role::Master);
    let masters: Vec<Collection> = masters.map(|(_, one)| one.clone()).collect();
    design.collections = Table::default();
    for master in masters {
        design.collections.push(master);
    }
    for (name, ordered) in EVERY {
        let attribute = conceptual.attributes.iter().find(|(_, row)| row.name == name);
        let end = conceptual.ends.iter().find(|(_, row)| row.name == name);
        let leaf = attribute.map_or_else(|| Leaf::Reference(end.unwrap().0), |(id, _)| Leaf::Attribute(id));
        let path = Path { position: PositionId::from_index(0), hops: Vec::new(), leaf };
        let key = vec![KeyField { path, descending: false }];
        let by = Collection { name: format!("{name}Is"), block_key: key.clone(), ..template.clone() };
        let by = Collection { entry_key: Vec::new(), ..by };
        let within =
            Collection { name: format!("{name}Within"), block_key: Vec::new(), entry_key: key, ..by.clone() };
        for index in [Some(by), Some(within).filter(|_| ordered)].into_iter().flatten() {
            assert!(capability.leads_to_records(conceptual, &index), "{index:#?}");
            design.collections.push(index);
        }
    }
    (model, design)
}

/// The same with elements of lists in rows of their own, so that members are static columns.
fn with_entries(mut design: Design) -> Design {
    for id in design.collections.ids().collect::<Vec<_>>() {
        let collection = &mut design.collections[id];
        let rule = |steps| Rule { class: Some(collection.source.root), steps, span: Span::default() };
        let tags = rule(vec![RuleStep::Field { name: "tags".to_owned(), each: true }]);
        if let Contents::Aggregate(rules) = &mut collection.contents
            && collection.name == "Item"
        {
            *rules = vec![tags, rule(Vec::new())];
        }
    }
    design
}

#[test]
#[ignore = "slow"]
fn an_index_of_cassandra_finds_what_a_copy_would() {
    finds(&mut Cqlsh::start(), 8);
}

/// Each query is asked so many times of each design.
pub(crate) fn finds(shell: &mut Cqlsh, asked: usize) {
    let (model, design) = every_index();
    for query in &model.workload.queries {
        let costing = Costing::from(target("cassandra").unwrap());
        let plan = planner::answer(&costing, &model, &design, query).unwrap();
        assert!(!matches!(plan.access.how, Reading::Scan), "{}: {:?}", query.header.name, plan.access);
    }
    let mut count = Count::default();
    for (name, design) in [("items", design.clone()), ("items_static", with_entries(design))] {
        let schema = schema(model.clone(), design, target("cassandra").unwrap());
        let what = What { nasty: true, writes: false };
        holds(shell, format!("{name}_deleted"), &schema, some_deleted(&schema), asked, what, &mut count);
        let what = What { nasty: true, writes: true };
        holds(shell, format!("{name}_written"), &schema, filled(&schema, true), asked, what, &mut count);
    }
    println!("{count:?}");
    assert!(count.incomplete.is_empty(), "{}", count.incomplete.join("\n"));
    assert!(count.rows > 200 && count.writes > 8, "{count:?}");
}

/// All that is printed of a model by its cheapest design.
fn printed(model: &Model, design: &Design, arguments: &HashMap<String, Arguments>) -> Generated {
    let layout = Layout::new(&model.conceptual, design);
    let costing = Costing::from(target("cassandra").unwrap());
    let lowering = Lowering { model, design, layout: &layout, costing: &costing, arguments };
    let statements = lowering.statements(&|_| String::new()).unwrap();
    let source = Source { layout: &layout, statements, sample: Vec::new(), options: Options::default() };
    target("cassandra").unwrap().language.unwrap().generate(&source)
}

fn text(made: &Generated) -> String {
    made.files.iter().map(askloom_target::generate::File::text).collect()
}

#[test]
fn a_query_by_one_column_is_one_select_from_the_master() {
    let model = seldom_asked();
    let made = printed(&model, &designed(&model), &HashMap::new());
    let text = text(&made);
    let lines = [
        "CREATE INDEX IF NOT EXISTS item_by_made_index ON item (made) USING 'sai';",
        "CONSISTENCY QUORUM;\nSELECT shelf, place, title, made, maker, class FROM item WHERE made = :day;",
    ];
    for line in lines {
        assert!(text.contains(line), "{line}\n{text}");
    }
    // What was deleted has its id still.
    let shelf = "SELECT shelf, place, title, class FROM item WHERE shelf = :shelf;\n-- then, on the client: filter, sort";
    assert!(text.contains(shelf), "{text}");
    // Where elements of lists have rows, one of each partition is enough for what all of them have.
    let apart = self::text(&printed(&model, &with_entries(designed(&model)), &HashMap::new()));
    let one = "SELECT DISTINCT shelf, place, title, made, maker, class FROM item WHERE made = :day;";
    assert!(
        apart.contains(one) && !apart.contains("SELECT DISTINCT shelf, place, title, state, price, tags"),
        "{apart}"
    );
    // The index is written with the row.
    assert!(!text.contains("INSERT INTO item"), "{text}");
    assert!(made.notes.iter().any(|note| note.contains("8192 bytes")), "{:?}", made.notes);
}

#[test]
fn what_an_index_would_leave_out_is_refused() {
    let model = seldom_asked();
    let design = designed(&model);
    let refused = |statement: &str, bytes: usize| {
        let given = HashMap::from([("maker".to_owned(), Value::Text("x".repeat(bytes)))]);
        printed(&model, &design, &HashMap::from([(statement.to_owned(), given)])).refused
    };
    for statement in ["ofMaker", "add"] {
        assert_eq!(refused(statement, 8192), Vec::<String>::new());
        let [only] = refused(statement, 8193).try_into().unwrap();
        let wanted = "`maker`, which an index finds, has 8193 bytes, and Cassandra takes 8192 at most";
        assert!(only.contains(wanted), "{only}");
    }
}
