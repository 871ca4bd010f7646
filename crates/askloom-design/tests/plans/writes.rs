//! What plans of writes say about copies.

use crate::examples::{designed, example, model, write as statement};
use askloom_design::method::{Method, Options, design};
use askloom_model::{CopyWrite, Design, Model, SupportOf, WriteOf, WritePlan};
use askloom_plan::planner::write;

fn planned(model: &Model, design: &Design, name: &str) -> WritePlan {
    write::plan(&askloom_target::embedded::costing(), model, design, statement(model, name)).unwrap()
}

fn copy<'p>(design: &Design, plan: &'p WritePlan, name: &str) -> Option<&'p CopyWrite> {
    let mut copies = plan.steps.iter().flat_map(|step| &step.copies);
    copies.find(|copy| design.collections[copy.collection].name == name)
}

#[test]
fn only_copies_that_hold_what_changes_are_brought_after() {
    let (model, design) = designed(example("game"));
    let plan = planned(&model, &design, "addRound");
    assert!(plan.steps[0].copies.is_empty(), "no view holds rounds: {:?}", plan.steps[0].copies);
    assert!(copy(&design, &plan, "LobbyView").is_some(), "its second statement sets the status");
    assert!(copy(&design, &planned(&model, &design, "setScore"), "LobbyView").is_some());
}

/// A copy of something whole holds what is inside its parts.
#[test]
fn what_changes_inside_a_part_is_brought_to_copies_of_the_whole() {
    let text = "entity Firm { id no: int, part seat: Seat }
value Seat { street: text, part gate: Gate }
value Gate { code: int }
entity Person { id name: text, room: int, ref firm: Firm }
query staff: SELECT name, f.* FROM Person JOIN firm AS f WHERE room = :room
write move: UPDATE Firm SET seat.street = :street WHERE no = :no
write lock: UPDATE Firm SET seat.gate.code = :code WHERE no = :no";
    let model = model(text);
    let made = design(Method::Qodm, &model, &askloom_target::embedded::costing(), &Options::default());
    let holds = made.design.collections.iter().find(|(_, one)| !one.whole().is_empty()).unwrap().1;
    for name in ["move", "lock"] {
        assert!(copy(&made.design, &planned(&model, &made.design, name), &holds.name).is_some(), "{name}");
    }
}

/// Nobody refers to what is new: its insert looks at no copy, and says why.
#[test]
fn a_write_says_for_whose_sake_it_does_not_look() {
    let with = |word: &str| {
        let (model, design) = designed(model(&format!(
            "entity Team {{ id name: text, city: text }}
entity Player {{ id no: int, nick: text, {word} team: Team inverse players }}
query byNick: SELECT no, t.city FROM Player JOIN team AS t WHERE nick = :nick
query squad: SELECT name, p.nick FROM Team LEFT JOIN players AS p WHERE name = :name
write found: INSERT Team
write rename: UPDATE Player SET nick = :nick WHERE no = :no"
        )));
        ["found", "rename"].map(|name| {
            let plan = planned(&model, &design, name);
            write::print(&model, &design, Some(statement(&model, name)), &plan)
        })
    };
    let [found, rename] = with("ref");
    assert!(found.contains("relies on Player.team: trusted"), "{found}");
    assert!(!rename.contains("relies on"), "{rename}");
    let [found, rename] = with("loose ref");
    assert!(!found.contains("relies on") && !rename.contains("relies on"), "{found}{rename}");
}

#[test]
fn a_row_that_leaves_a_view_is_deleted_and_none_is_put() {
    let (model, design) = designed(example("game"));
    let plan = planned(&model, &design, "joinGame");
    let lobby = copy(&design, &plan, "LobbyView").unwrap();
    assert_eq!((lobby.estimate.puts, lobby.estimate.deletes), (0.0, 1.0), "from waiting to playing");
    assert_eq!(plan.steps[0].matched, 1.0, "who joins expects the game to wait");
}

/// The workload says how often a guarded write happens; what it names is there, and the guard holds. Conditions that
/// name nothing select.
#[test]
fn what_a_write_names_is_there_and_its_guard_holds() {
    let (model, design) = designed(model(
        "@count(1_000) entity Order {
  id n: int, unique code: text, part lines: Line[*] @avg(3)
  status: enum(open, sent, paid) = open @freq(open 1%)
}
entity Line { id k: int, state: enum(new, packed) = new @freq(new 10%), note: text? }
write one: UPDATE Order SET status = 'sent' WHERE n = :n AND status = 'open'
write some: UPDATE Order SET status = 'sent' WHERE n IN (:a, :b) AND status = 'open'
write coded: UPDATE Order SET status = 'sent' WHERE code = :code AND status = 'open'
write part: UPDATE Line SET note = :note WHERE k = :k AND state = 'new'
write ended: DELETE Order WHERE n = :n AND status = 'paid'
write all: UPDATE Order SET status = 'sent' WHERE status = 'open'",
    ));
    let found = |name: &str| planned(&model, &design, name).steps[0].matched;
    let found = ["one", "some", "coded", "part", "ended", "all"].map(found);
    assert_eq!(found, [1.0, 2.0, 1.0, 1.0, 1.0, 10.0]);
    let written = planned(&model, &design, "coded").steps[0].master.estimate.puts;
    assert_eq!(written, planned(&model, &design, "one").steps[0].master.estimate.puts);
}

/// Whatever form the guard has: a copy of what it asks for holds what is written.
#[test]
fn a_guard_says_what_a_copy_held_before() {
    let (model, design) = designed(model(
        "@count(1_000) entity Job { id n: int, tries: int @distinct(100), owner: text }
query failing: SELECT n FROM Job WHERE tries > 3 AND owner = :owner
write reset: UPDATE Job SET tries = 0 WHERE n = :n AND tries > 3",
    ));
    let plan = planned(&model, &design, "reset");
    let failing = copy(&design, &plan, "FailingView").unwrap();
    assert_eq!(failing.estimate.deletes, 1.0, "{:?}", failing.estimate);
}

#[test]
fn those_that_refer_are_found_by_the_index() {
    let (model, design) = designed(example("game"));
    let plan = planned(&model, &design, "setScore");
    let lobby = copy(&design, &plan, "LobbyView").unwrap();
    let backs: Vec<_> = lobby
        .support
        .iter()
        .filter_map(|support| match &support.of {
            SupportOf::Back(back) => Some(back.index.map(|index| design.collections[index].name.clone())),
            SupportOf::Rebuild { .. } => None,
        })
        .collect();
    assert_eq!(backs, [Some("GameByFirstPlayer".to_owned())]);
    // 500,000 games of 100,000 players, of which one in a thousand waits.
    assert!((lobby.estimate.puts - 0.005).abs() < 1e-9, "{:?}", lobby.estimate);
}

#[test]
fn one_more_link_is_one_more_entry() {
    let (model, design) = designed(example("airline"));
    let plan = planned(&model, &design, "book");
    let by_flight = copy(&design, &plan, "PassengerByFlights").unwrap();
    assert_eq!((by_flight.estimate.puts, by_flight.estimate.deletes), (1.0, 0.0));
    let plan = planned(&model, &design, "cancelBooking");
    let by_flight = copy(&design, &plan, "PassengerByFlights").unwrap();
    assert_eq!((by_flight.estimate.puts, by_flight.estimate.deletes), (0.0, 1.0));
}

#[test]
fn a_round_of_its_own_is_written_alone() {
    let text = "value Round { moves: text @size(500 B) }
entity Game { id gameId: uuid, part rounds: Round[*] @avg(12) }
write add: ADD :round TO Game.rounds WHERE gameId = :gameId";
    let apart = format!("{text}\nrepresent Game {{\n  /Game/*/rounds[*]\n  /Game/*\n}}");
    let written = |text: &str| {
        let (model, design) = designed(model(text));
        planned(&model, &design, "add").steps[0].master.estimate
    };
    assert_eq!(written(text).puts, 2.0, "the aggregate and its version");
    assert_eq!(written(&apart).puts, 2.0, "the round and the version");
    assert!(written(&apart).written < 600.0 && written(text).written > 6_000.0);
}

#[test]
fn elements_are_written_as_far_as_they_match() {
    let text = "value Round { moves: text @size(500 B), kind: text @distinct(6) }
entity Game { id gameId: uuid, part rounds: Round[*] @avg(12) }
represent Game { /Game/*/rounds[*] /Game/* }
write all: UPDATE Game.rounds SET moves = :moves WHERE gameId = :gameId
write some: UPDATE Game.rounds SET moves = :moves WHERE gameId = :gameId AND rounds.kind = :kind
write add: ADD :round TO Game.rounds WHERE gameId = :gameId";
    let (model, design) = designed(model(text));
    let puts = |name: &str| planned(&model, &design, name).steps[0].master.estimate.puts;
    assert_eq!((puts("all"), puts("some"), puts("add")), (13.0, 3.0, 2.0), "with the version");
}

#[test]
fn elements_move_rows_that_are_found_by_what_is_set() {
    let (model, design) = designed(model(
        "value Line { sku: text @distinct(100), n: int }
@count(1_000) entity Order { id o: int, part lines: Line[*] @avg(4) }
query bySku: SELECT o, l.n FROM Order JOIN lines AS l WHERE l.sku = :sku
write more: UPDATE Order.lines SET n = n + 1 WHERE o = :o AND lines.sku = :sku
write swap: UPDATE Order.lines SET sku = :new WHERE o = :o AND lines.sku = :sku",
    ));
    let moved = |name: &str| {
        let plan = planned(&model, &design, name);
        let copies = plan.steps[0].copies.iter().filter(|copy| copy.estimate.puts > 0.0);
        copies.map(|copy| (copy.estimate.puts, copy.estimate.deletes)).collect::<Vec<_>>()
    };
    assert_eq!(moved("more"), [(1.0, 0.0)], "the row is where it was");
    assert_eq!(moved("swap"), [(1.0, 1.0)], "the row has another key");
}

#[test]
fn a_statement_that_stores_costs_what_storing_costs() {
    let (model, design) = designed(model(
        "entity Brand { id slug: text }
entity Game { id gameId: uuid, unique code: text, checked ref brand: Brand on delete refuse, part rounds: Round[*] @avg(12) }
value Round { moves: text @size(500 B) }
query byCode: SELECT gameId FROM Game WHERE code = :code
write save: STORE Game
write add: INSERT Game",
    ));
    let save = planned(&model, &design, "save");
    let all = write::implicit(&askloom_target::embedded::costing(), &model, &design).unwrap();
    let game = model.conceptual.classes.iter().find(|(_, class)| class.name == "Game").unwrap().0;
    let store = all.iter().find(|plan| plan.of == WriteOf::Store(game)).unwrap();
    assert_eq!(save.estimate, store.estimate);
    assert_eq!((save.steps[0].reservations.len(), save.steps[0].checks.len()), (1, 1));
    assert!(save.estimate.written > 6_000.0 && planned(&model, &design, "add").estimate.written < 1_000.0);
}

#[test]
fn checked_references_and_unique_values_are_seen_to() {
    let (model, design) = designed(model(
        "entity Brand { id slug: text }
@count(1_000) entity Product { id sku: text, unique code: text, checked ref brand: Brand on delete refuse }
write add: INSERT Product
write end: DELETE Brand WHERE slug = :slug
write rename: UPDATE Product SET code = :code WHERE sku = :sku",
    ));
    let add = planned(&model, &design, "add");
    assert_eq!((add.steps[0].reservations.len(), add.steps[0].checks.len()), (1, 1));
    assert_eq!(planned(&model, &design, "end").steps[0].checks.len(), 1);
    let rename = planned(&model, &design, "rename");
    assert_eq!((rename.steps[0].reservations.len(), rename.steps[0].checks.len()), (1, 0));
}

#[test]
fn every_aggregate_can_be_made_stored_and_deleted_and_every_link_changed() {
    let (model, design) = designed(example("game"));
    let plans = write::implicit(&askloom_target::embedded::costing(), &model, &design).unwrap();
    assert_eq!(plans.len(), 2 * 3 + 2, "two aggregates, two links");
}

/// A link is the same from either end.
#[test]
fn copies_of_what_is_linked_from_its_other_end_are_brought_after() {
    let (model, design) = designed(model(
        "entity Video { id no: int, title: text }
entity Comment { id key: uuid, body: text, ref video: Video inverse comments }
query ofVideo: SELECT key, body FROM Comment WHERE video = :video
write take: CONNECT Video.comments TO :comment WHERE no = :no",
    ));
    let plan = planned(&model, &design, "take");
    assert!(copy(&design, &plan, "OfVideoView").is_some(), "{:?}", plan.steps[0].copies);
}
