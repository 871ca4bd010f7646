//! What is printed for MongoDB, without a server: the papers' figures, and what must not be printed.

use crate::data::example;
use askloom_design::method::{self, Method, Options as MethodOptions};
use askloom_model::{Contents, Design, Id, Keeper, Model, Record, Rule, Value};
use askloom_plan::cost::Costing;
use askloom_plan::layout::{Block, Fields, Layout};
use askloom_plan::partition::split;
use askloom_plan::program::{Bounds, How, Range, Read, Term, ValueFrom};
use askloom_target::generate::{Options, Sample};
use askloom_target::mongodb::{Bson, Command, collections, decode, find, sample};
use askloom_target::target;
use serde_json::json;
use std::collections::BTreeMap;

pub(crate) fn designed(model: &Model, method: Method) -> Design {
    let costing = Costing::from(target("mongodb").unwrap());
    method::design(method, model, &costing, &MethodOptions::default()).design
}

/// The same with copies that are kept with every write.
pub(crate) fn ours(mut design: Design) -> Design {
    for id in design.collections.ids().collect::<Vec<_>>() {
        design.collections[id].keeper = Keeper::Ours;
    }
    design
}

/// The same with other entries in its masters.
fn with_rules(mut design: Design, rules: &[Rule]) -> Design {
    let ids: Vec<_> = design.collections.ids().collect();
    for id in ids {
        if let Contents::Aggregate(own) = &mut design.collections[id].contents {
            *own = rules.to_vec();
        }
    }
    design
}

/// An aggregate by a representation of the model, as the papers print it.
fn printed(representation: &str, class: &str, json: &serde_json::Value) -> String {
    let model = example("noam-game");
    let rules = &model.representations.iter().find(|one| one.name == representation).unwrap().rules;
    let design = with_rules(designed(&model, Method::Noam), rules);
    let layout = Layout::new(&model.conceptual, &design);
    let class = model.conceptual.classes.iter().find(|(_, row)| row.name == class).unwrap().0;
    let record = Record::from_json(&model.conceptual, class, json).unwrap();
    let table = design.master(class).unwrap();
    let pieces = split(&model.conceptual, rules, &record).unwrap();
    let identity = record.identity(&model.conceptual).unwrap();
    let block = Block::new(identity, 1, Vec::new(), &model.conceptual, class, pieces);
    let language = target("mongodb").unwrap().language.unwrap();
    let options = Options { faithful: true, ..Options::default() };
    language.put(&layout, &options, &Sample::Block { table, block: Box::new(block) })
}

fn mary() -> serde_json::Value {
    json!({
        "username": "mary", "firstName": "Mary", "lastName": "Wilson",
        "games": [{"game": "2345", "opponent": "rick"}, {"game": "2611", "opponent": "ann"}],
    })
}

/// Figure 12 of "Data Modeling in the NoSQL World", and the second way of the lecture.
#[test]
fn an_aggregate_as_one_document_with_its_lists() {
    let expected = "\
db.Player.insertOne({
  _id: 'mary',
  username: 'mary',
  firstName: 'Mary',
  lastName: 'Wilson',
  games: [
    { game: 'Game:2345', opponent: 'Player:rick' },
    { game: 'Game:2611', opponent: 'Player:ann' }
  ]
});
";
    assert_eq!(printed("etf", "Player", &mary()), expected);
    assert_eq!(printed("eao", "Player", &mary()), expected);
}

/// Figure 13, and the first way of the lecture.
#[test]
fn an_aggregate_as_one_document_with_a_field_for_each_entry() {
    let expected = "\
db.Player.insertOne({
  _id: 'mary',
  username: 'mary',
  firstName: 'Mary',
  lastName: 'Wilson',
  'games[0]': { game: 'Game:2345', opponent: 'Player:rick' },
  'games[1]': { game: 'Game:2611', opponent: 'Player:ann' }
});
";
    assert_eq!(printed("elementsEtf", "Player", &mary()), expected);
    assert_eq!(printed("elementsEao", "Player", &mary()), expected);
}

/// Figure 6, the last line.
#[test]
fn a_reference_names_its_class() {
    let game = json!({"id": "2345", "firstPlayer": "mary", "secondPlayer": "rick"});
    let expected = "\
db.Game.insertOne({
  _id: '2345',
  id: '2345',
  firstPlayer: 'Player:mary',
  secondPlayer: 'Player:rick'
});
";
    assert_eq!(printed("eao", "Game", &game), expected);
}

/// The lobby of the game: by status, then by time and game.
struct Lobby {
    model: Model,
    design: Design,
}

impl Lobby {
    fn new() -> Self {
        let model = example("game");
        let design = ours(designed(&model, Method::Noam));
        Self { model, design }
    }

    fn find(&self, change: impl Fn(&mut Range)) -> String {
        let layout = Layout::new(&self.model.conceptual, &self.design);
        let table = layout.tables().iter().find(|table| table.name == "LobbyIndex").unwrap();
        let block = vec![term(0, Some(Value::Enum(0)))];
        let mut range = Range { block, equal: Vec::new(), bounds: None, backwards: false, limit: None };
        change(&mut range);
        let read = Read::new(table.collection, How::Range(Box::new(range)));
        let all = collections(&layout, &Options::default());
        let text = find(&layout, &all, &read).unwrap().text();
        text.replace("db.LobbyIndex.find(", "").replace(".readConcern('majority');", "")
    }
}

fn term(column: usize, value: Option<Value>) -> Term {
    Term { name: "slot".into(), from: ValueFrom::Statement, value, column: Some(column) }
}

const NOTHING: &str = "{ _id: { $in: [] } }).sort({ '_id.startedAt': 1, '_id.gameId': 1 })";

#[test]
fn a_range_is_by_the_key_and_in_its_order() {
    let lobby = Lobby::new();
    let all = "{ '_id.status': 'waiting' }).sort({ '_id.startedAt': 1, '_id.gameId': 1 })";
    assert_eq!(lobby.find(|_| {}), all);
    let at = |text: &str| Some(Value::Timestamp(text.parse().unwrap()));
    let found = lobby.find(|range| {
        let low = Some((term(1, at("2024-01-01T00:00:00Z")), true));
        range.bounds = Some(Bounds { column: 1, low, high: Some((term(1, None), false)), prefix: None });
        range.backwards = true;
        range.limit = Some(Term {
            name: "rows".into(),
            from: ValueFrom::Statement,
            value: Some(Value::Int(20)),
            column: None,
        });
    });
    assert_eq!(
        found,
        "{ '_id.status': 'waiting', '_id.startedAt': { $gte: ISODate('2024-01-01T00:00:00Z'), $lt: :slot } })\
         .sort({ '_id.startedAt': -1, '_id.gameId': -1 }).limit(20)"
    );
}

#[test]
fn null_equals_nothing_and_is_in_no_range() {
    let lobby = Lobby::new();
    assert_eq!(lobby.find(|range| range.block = vec![term(0, Some(Value::Null))]), NOTHING);
    let bounded = |low, high, prefix| {
        lobby.find(|range| {
            let bounds = |side: &Option<Term>| side.clone().map(|term| (term, true));
            let (low, high) = (bounds(&low), bounds(&high));
            range.bounds = Some(Bounds { column: 1, low, high, prefix: Option::clone(&prefix) });
        })
    };
    // `$gte: null` would find what is null or missing.
    assert_eq!(bounded(Some(term(1, Some(Value::Null))), None, None), NOTHING);
    assert_eq!(bounded(None, Some(term(1, Some(Value::Null))), None), NOTHING);
    assert_eq!(bounded(None, None, Some(term(1, Some(Value::Null)))), NOTHING);
}

#[test]
fn a_limit_of_nothing_is_no_limit_of_the_store() {
    let lobby = Lobby::new();
    let limited = |rows: i64| {
        lobby.find(|range| {
            range.limit = Some(Term {
                name: "rows".into(),
                from: ValueFrom::Statement,
                value: Some(Value::Int(rows)),
                column: None,
            });
        })
    };
    assert_eq!(limited(0), NOTHING);
    assert_eq!(limited(-5), NOTHING);
    assert!(limited(3_000_000_000).ends_with(".limit(3000000000)"));
    // The shell would round it.
    assert!(!limited(i64::MAX).contains("limit"));
}

#[test]
fn two_conditions_on_one_field_are_both_met() {
    let lobby = Lobby::new();
    let twice = lobby.find(|range| range.equal = vec![term(0, Some(Value::Enum(1)))]);
    let start = "{ $and: [{ '_id.status': 'waiting' }, { '_id.status': 'playing' }] })";
    assert!(twice.starts_with(start), "{twice}");
}

#[test]
fn a_prefix_is_a_half_open_range() {
    let lobby = Lobby::new();
    let starting = |text: &str| {
        let prefix = Some(term(2, Some(Value::Text(text.to_owned()))));
        lobby.find(|range| {
            range.bounds = Some(Bounds { column: 2, low: None, high: None, prefix: prefix.clone() });
        })
    };
    assert!(starting("a.*").contains("'_id.gameId': { $gte: 'a.*', $lt: 'a.+' }"), "{}", starting("a.*"));
    assert!(starting("a\u{d7ff}").contains("$lt: 'a\u{e000}' }"));
    assert!(starting("a\u{10ffff}").contains("$lt: 'b' }"));
    assert!(starting("\u{10ffff}").contains("{ $gte: '\u{10ffff}' }"));
    assert!(starting("").contains("{ $gte: '' }"));
}

/// What was deleted keeps its version, and is not what has nothing in it.
#[test]
fn deleted_is_not_empty() {
    let model = example("game");
    let design = designed(&model, Method::Noam);
    let layout = Layout::new(&model.conceptual, &design);
    let all = collections(&layout, &Options::default());
    let class = model.conceptual.classes.iter().find(|(_, row)| row.name == "Game").unwrap().0;
    let table = design.master(class).unwrap();
    let id = uuid::Uuid::from_u128(1);
    let mut shown = Vec::new();
    for root in [None, Some(Record::new(class))] {
        let fields = Fields { root: root.clone() };
        let identity = vec![Value::Uuid(id)];
        let entries = BTreeMap::new();
        let (system, carried) = (vec![1], Vec::new());
        let block = Block { identity, version: 7, system, fields, entries, carried, expires: None };
        let wanted = Sample::Block { table, block: Box::new(block) };
        let Some(Command::Insert { document, .. }) = sample(&layout, &all, &wanted) else { panic!() };
        let Sample::Block { block, .. } = decode(&layout, &all[table.index()], &document).unwrap() else {
            panic!()
        };
        assert_eq!(
            (block.version, block.system.as_slice(), block.fields.root.is_some()),
            (7, &[1][..], root.is_some())
        );
        shown.push(Bson::Document(document).literal());
    }
    let id = "_id: UUID('00000000-0000-0000-0000-000000000001'), n: Long('7'), system: HexData(0, '01')";
    assert_eq!(shown, [format!("{{ {id} }}"), format!("{{ {id}, class: 'Game', rounds: [] }}")]);
}
