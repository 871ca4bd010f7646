use crate::{decided, example, model, propose};
use askloom_design::method::qodm::{Kind, Schema};
use askloom_design::method::{Method, Paper, Proposal};
use askloom_model::Id as _;
use askloom_model::{Contents, Leaf, Origin, Path, PositionId, Role};

fn schema(proposal: &Proposal) -> &Schema {
    let Paper::Qodm(schema) = &proposal.paper else { panic!("another paper") };
    schema
}

fn kinds(proposal: &Proposal) -> Vec<(&str, Kind)> {
    schema(proposal).entities.iter().map(|entity| (entity.name.as_str(), entity.kind)).collect()
}

/// Section VI: Q2 and Q3 are aggregation entities, Q1 is an index entity, in the order of their processing.
#[test]
fn elastic_inbox() {
    let proposal = propose(Method::Qodm, &example("inbox"));
    assert_eq!(kinds(&proposal), [("Q2", Kind::Aggregation), ("Q3", Kind::Aggregation), ("Q1", Kind::Index)]);
    assert_eq!(decided(&proposal, "Q1")[0], "<{Mailbox, Label}, {Message}>");
    let text = schema(&proposal).text();
    let q1 = text.split("// ").find(|part| part.starts_with("Q1")).unwrap();
    assert_eq!(
        q1.trim_end(),
        "Q1: index entity of <{Mailbox, Label}, {Message}>\n\
         {\n  \"MailboxID\": <mailboxID>,\n  \"LabelID\": <labelID>,\n  \"messages\": [\n    <messageID>,\n    ...\n  ]\n}"
    );
    let own = proposal.design.collections.iter().filter(|(_, c)| c.origin == Origin::Method);
    let roles: Vec<_> = own.map(|(_, c)| (c.name.as_str(), c.role)).collect();
    assert_eq!(roles, [("Q2", Role::Copy), ("Q3", Role::Copy), ("Q1", Role::Index)]);
}

/// The objects of the index entity can come from the aggregation entity that has them under the mailbox, which is given:
/// that is no dearer than to get each by its id.
#[test]
fn what_an_index_entity_names_comes_from_an_aggregation_entity() {
    let inbox = example("inbox");
    let proposal = propose(Method::Qodm, &inbox);
    let ask = inbox.workload.asks.iter().find(|ask| ask.header.name == "Q1").unwrap();
    let query = askloom_plan::ask::query(&inbox.conceptual, ask).unwrap();
    let plan = askloom_plan::planner::plan(
        &askloom_target::embedded::costing(),
        &inbox.conceptual,
        &proposal.design,
        &query,
    )
    .unwrap();
    let name = |id| proposal.design.collections[id].name.as_str();
    assert_eq!(name(plan.access.collection), "Q1");
    let costing = askloom_target::embedded::costing();
    let plans = askloom_plan::planner::plans(&costing, &inbox.conceptual, &proposal.design, &query);
    let fetched = plans.iter().find(|one| {
        let from: Vec<&str> = one.fetches.iter().map(|fetch| name(fetch.collection)).collect();
        one.access.collection == plan.access.collection && from == ["Q3"]
    });
    assert!(fetched.unwrap().estimate.cost <= plan.estimate.cost * 1.000_001);
}

/// Section III: a comment is wanted with its user and with its blog, and is kept with both.
#[test]
fn users_blogs_and_comments() {
    let proposal = propose(Method::Qodm, &example("blog"));
    let names = [("UserWithComments", Kind::Aggregation), ("BlogWithComments", Kind::Aggregation)];
    assert_eq!(kinds(&proposal), names);
    for entity in &schema(&proposal).entities {
        assert!(entity.fields.iter().any(|field| field.name == "comments"), "{entity:?}");
    }
}

/// Section V: with a third question about all three classes, these are in entities already, so it is an index entity.
#[test]
fn a_question_about_what_is_there_already() {
    let file = format!("{}/../../examples/blog/blog.loom", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(file).unwrap();
    let third = "\nask everything: {User} -> {Blog via owner, Comment via author}\n";
    let proposal = propose(Method::Qodm, &model(&format!("{text}{third}")));
    assert_eq!(kinds(&proposal)[2], ("Everything", Kind::Index));
}

#[test]
fn a_part_is_its_owner_and_a_subclass_its_parent() {
    let text = "entity Order { id n: int, part lines: Line[*] }
        value Line { sku: text, count: int }
        entity Party { id k: int, name: text }
        entity Person extends Party { born: date, ref orders: Order[*] }
        query byLine: SELECT n FROM Order JOIN lines AS l WHERE l.sku = :sku
        query young: SELECT p.born, o.n FROM Person AS p JOIN orders AS o WHERE k = :k";
    let proposal = propose(Method::Qodm, &model(text));
    assert_eq!(decided(&proposal, "byLine")[0], "<{Order}, {Order}>");
    assert_eq!(decided(&proposal, "young")[0], "<{Party}, {Party, Order}>");
    let (_, first) = proposal.design.collections.iter().next().unwrap();
    assert_eq!(first.name, "ByLine");
    assert!(matches!(&first.contents, Contents::Nested(nodes) if nodes.whole.len() == 1));
}

/// What lies beyond a reference is named by its id, once, however much is asked of it; what lies in a part is in the
/// aggregate that is named already.
#[test]
fn an_index_entity_holds_the_ids_beyond_references() {
    let text = "entity Country { id code: text, name: text }
        entity Person { id k: int, name: text, part home: Address, ref born: Country? }
        value Address { street: text, ref country: Country? }
        query first: SELECT name FROM Person WHERE k = :k
        query second: SELECT name FROM Country WHERE code = :code
        query third: SELECT home.street, home.country.code, home.country.name, born.name FROM Person WHERE k = :k";
    let model = model(text);
    let proposal = propose(Method::Qodm, &model);
    assert_eq!(kinds(&proposal)[2], ("Third", Kind::Index));
    let entity = &schema(&proposal).entities[2];
    let names: Vec<&str> = entity.fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["PersonID", "home.country", "born"]);
    let (_, third) = proposal.design.collections.iter().find(|(_, c)| c.name == "Third").unwrap();
    let end = |class: &str, name: &str| {
        let is_it =
            |end: &askloom_model::End| end.name == name && model.conceptual.classes[end.class].name == class;
        model.conceptual.ends.iter().find(|(_, end)| is_it(end)).map(|(id, _)| id).unwrap()
    };
    let position = PositionId::from_index(0);
    let country = Leaf::Reference(end("Address", "country"));
    let born = Leaf::Reference(end("Person", "born"));
    let held = [
        Path { position, hops: vec![end("Person", "home")], leaf: country },
        Path { position, hops: Vec::new(), leaf: born },
    ];
    assert_eq!(third.fields(), held);
}
