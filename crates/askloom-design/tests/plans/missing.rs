//! Statements without a plan, and what is said of them.

use crate::examples::{designed, example, model, query, write as statement};
use askloom_design::simple;
use askloom_model::{Capability, Code, Design, Fact};
use askloom_plan::cost::Costing;
use askloom_plan::planner::{self, Missing, write};

fn without_scans() -> Capability {
    Capability { title: "Storeless", scan: Fact::new(false, ""), ..askloom_target::embedded::CAPABILITY }
}

#[test]
fn a_store_without_scans_needs_a_key() {
    let model = example("game");
    let mut design = Design::default();
    simple::masters(&model, askloom_model::Origin::Method, &mut design);
    let capability = without_scans();
    let costing = Costing::new(&capability, &askloom_target::embedded::PROFILE);
    let lobby = query(&model, "lobby");
    let said = planner::answer(&costing, &model, &design, lobby).unwrap_err();
    assert_eq!(said.code, Code::NoPlan);
    assert_eq!(said.message, "`lobby` has no plan on Storeless with this design");
    assert_eq!(
        said.hint.as_deref(),
        Some("Storeless cannot read all of `Game`: add a collection whose key the query gives")
    );
    assert_eq!(said.span(), lobby.header.span);
    assert!(planner::answer(&costing, &model, &design, query(&model, "continueGame")).is_ok());
    let design = simple::design(&model);
    assert!(planner::answer(&costing, &model, &design, lobby).is_ok(), "its view has the key");
}

#[test]
fn a_class_without_a_master_is_named() {
    let model = example("game");
    let lobby = query(&model, "lobby");
    let nothing = Design::default();
    let missing = planner::missing(&askloom_target::embedded::costing(), &model, &nothing, lobby);
    let game = lobby.positions[planner::main()].class.unwrap();
    assert_eq!(missing, [Missing::Master(game)]);
    let said = planner::answer(&askloom_target::embedded::costing(), &model, &nothing, lobby).unwrap_err();
    assert_eq!(said.hint.as_deref(), Some("give `Game` a collection that is its source"));
}

#[test]
fn a_fresh_query_never_reads_a_copy_that_may_lag() {
    let text = "entity Player { id name: text, score: int }
entity Game { id gameId: uuid, status: enum(open, over), ref host: Player }
query lobby: SELECT gameId, host.score FROM Game WHERE status = 'open'";
    let fresh = text.replace("query lobby", "@fresh query lobby");
    let cassandra = Costing::from(askloom_target::target("cassandra").unwrap());
    let reads = |text: &str, costing: &Costing<'_>| {
        let (model, design) = designed(model(text));
        let plan = planner::answer(costing, &model, &design, query(&model, "lobby")).unwrap();
        (design.collections[plan.access.collection].name.clone(), plan.priced.reads)
    };
    use askloom_model::Guarantee::{Committed, Lagging, Snapshot};
    assert_eq!(reads(text, &cassandra), ("LobbyView".to_owned(), Lagging));
    assert_eq!(reads(&fresh, &cassandra), ("Game".to_owned(), Committed));
    assert_eq!(reads(&fresh, &askloom_target::embedded::costing()), ("LobbyView".to_owned(), Snapshot));
}

#[test]
fn a_write_of_several_aggregates_needs_a_transaction() {
    let (model, design) = designed(model(
        "entity Player { id name: text, score: int }
entity Game { id gameId: uuid, status: text }
write finish {
  UPDATE Game SET status = :status WHERE gameId = :gameId
  UPDATE Player SET score = :score WHERE name = :name
}",
    ));
    let finish = statement(&model, "finish");
    let cassandra = Costing::from(askloom_target::target("cassandra").unwrap());
    let said = write::plan(&cassandra, &model, &design, finish).unwrap_err();
    assert_eq!(said.code, Code::NotTogether);
    assert_eq!(said.message, "`finish` changes Player and Game at once");
    assert_eq!(said.span(), finish.header.span);
    assert!(said.hint.as_deref().unwrap_or_default().contains("`@apart`"), "{:?}", said.hint);
    for name in ["embedded", "redis", "mongodb", "dynamodb"] {
        let costing = Costing::from(askloom_target::target(name).unwrap());
        assert!(write::plan(&costing, &model, &design, finish).is_ok(), "{name}");
    }
}

#[test]
fn aggregates_of_one_class_need_a_transaction_too() {
    let (model, design) = designed(model(
        "entity Account { id a: int, balance: int, log: text[*] }
write move {
  UPDATE Account SET balance = balance - :n WHERE a = :from
  UPDATE Account SET balance = balance + :n WHERE a = :to
}
write note {
  UPDATE Account SET balance = balance - :n WHERE a = :a
  ADD :entry TO Account.log WHERE a = :a
}",
    ));
    let cassandra = Costing::from(askloom_target::target("cassandra").unwrap());
    let said = write::plan(&cassandra, &model, &design, statement(&model, "move")).unwrap_err();
    assert_eq!(said.message, "`move` changes several aggregates of Account at once");
    assert!(write::plan(&cassandra, &model, &design, statement(&model, "note")).is_ok());
}

#[test]
fn what_commits_apart_needs_no_transaction() {
    let text = "entity Player { id name: text, score: int }
entity Game { id gameId: uuid, status: text }
@apart write finish {
  UPDATE Game SET status = :status WHERE gameId = :gameId
  UPDATE Player SET score = :score WHERE name = :name
}";
    let (model, design) = designed(model(text));
    let finish = statement(&model, "finish");
    let cassandra = Costing::from(askloom_target::target("cassandra").unwrap());
    let apart = write::plan(&cassandra, &model, &design, finish).unwrap();
    assert_eq!(apart.level, askloom_model::CopyLevel::AtomicUnit);
    assert!(write::print(&model, &design, Some(finish), &apart).contains("each statement by itself"));
    let mut together = finish.clone();
    together.apart = false;
    let embedded = askloom_target::embedded::costing();
    let one = write::plan(&embedded, &model, &design, &together).unwrap().estimate;
    let two = write::plan(&embedded, &model, &design, finish).unwrap().estimate;
    assert_eq!(two.requests, one.requests + 1.0, "each statement is sent by itself");
}
