//! What holds whatever is written: random writes, beside a shadow that knows nothing but sets of links, lists of
//! ordinals and unique values.

use crate::fixture::{class, model, parameters};
use askloom_model::{Model, Parameter, Value, Write};
use askloom_oracle::{Inputs, Random, Row, State, WriteError, uuids_needed};
use jiff::Timestamp;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

const MODEL: &str = "
entity Game {
  id g: int
  unique code: text?
  n: int = 0
  tags: text[*]
  ref host: Player? inverse hosted
  ref judges: Player[0..2] inverse judged: Game[0..2]
  part rounds: Round[*]
}
value Round { m: int }
entity Player {
  id p: int
  ref friends: Player[*] inverse friends
  ref seat: Seat? inverse taken: Player?
}
entity Seat { id s: int, label: text = 'x' }

query host: SELECT g, host.p FROM Game WHERE host.p IS NOT NULL ORDER BY g
query hosted: SELECT x.g, p FROM Player JOIN hosted AS x ORDER BY x.g
query judges: SELECT g, j.p FROM Game JOIN judges AS j ORDER BY g, j.p
query judged: SELECT x.g, p FROM Player JOIN judged AS x ORDER BY x.g, p
query seat: SELECT p, seat.s FROM Player WHERE seat.s IS NOT NULL ORDER BY p
query taken: SELECT taken.p, s FROM Seat WHERE taken.p IS NOT NULL ORDER BY taken.p
query friends: SELECT p, f.p AS q FROM Player JOIN friends AS f ORDER BY p, f.p
query codes: SELECT code FROM Game WHERE code IS NOT NULL
query rounds: SELECT g, r.m FROM Game LEFT JOIN rounds AS r, tags AS t ORDER BY r.m DESC
query roundPages: SELECT g, r.m FROM Game LEFT JOIN rounds AS r, tags AS t ORDER BY r.m DESC PAGE 3

write newGame: INSERT Game
write saveGame: UPSERT Game
write newPlayer: INSERT Player
write newSeat: INSERT Seat
write dropGame: DELETE Game WHERE g = :g
write dropPlayer: DELETE Player WHERE p = :p
write dropSeat: DELETE Seat WHERE s = :s
write setHost: UPDATE Game SET host = :p WHERE g = :g
write setHosted: CONNECT Player.hosted TO :g WHERE p = :p
write noHosted: DISCONNECT Player.hosted FROM :g WHERE p = :p
write judge: CONNECT Game.judges TO :p WHERE g = :g
write judgeFrom: CONNECT Player.judged TO :g WHERE p = :p
write unjudge: DISCONNECT Game.judges FROM :p WHERE g = :g
write unjudgeAll: DISCONNECT Player.judged WHERE p = :p
write sit: CONNECT Player.seat TO :s WHERE p = :p
write seat2: CONNECT Seat.taken TO :p WHERE s = :s
write rise: DISCONNECT Seat.taken WHERE s = :s
write befriend: CONNECT Player.friends TO :f WHERE p = :p
write unfriend: DISCONNECT Player.friends FROM :f WHERE p = :p
write code: UPDATE Game SET code = :code WHERE g = :g
write codes2: UPDATE Game SET code = :code WHERE n = :n
write add: ADD :round TO Game.rounds WHERE g = :g
write addAll: ADD :tag TO Game.tags WHERE n >= 0
write remove: REMOVE FROM Game.rounds WHERE rounds.m = :m
write removeAt: REMOVE FROM Game.rounds AT :at WHERE g = :g
write untag: REMOVE FROM Game.tags AT :at WHERE g = :g
write both { ADD :round TO Game.rounds WHERE g = :g; UPDATE Game SET n = n + :d WHERE g = :g }
";

type Links = BTreeSet<(i64, i64)>;

/// The relationships as sets of links, kept by the rules of the language and nothing else.
#[derive(Debug, Default, Clone, PartialEq)]
struct Shadow {
    hosts: BTreeMap<i64, i64>,
    judges: Links,
    seats: BTreeMap<i64, i64>,
    friends: Links,
}

struct World {
    model: Model,
    state: State,
    shadow: Shadow,
    /// What each ordinal of each list of each aggregate has been.
    ordinals: BTreeMap<(i64, &'static str, u64), (Value, bool)>,
    now: Timestamp,
}

impl World {
    fn new() -> Self {
        Self {
            model: model(MODEL),
            state: State::new(),
            shadow: Shadow::default(),
            ordinals: BTreeMap::new(),
            now: Timestamp::UNIX_EPOCH,
        }
    }

    fn write(&mut self, name: &str, given: &Json) -> Result<u64, WriteError> {
        let write =
            self.model.workload.writes.iter().find(|write| write.header.name == name).unwrap().clone();
        let given = parameters(&self.model.conceptual, &declared(&self.model, &write), given);
        assert_eq!(uuids_needed(&self.model, &write, &given), Ok(0));
        let outcome = self.state.write(&self.model, &write, &given, &Inputs::at(self.now))?;
        Ok(outcome.matched[0])
    }

    fn rows(&self, name: &str) -> Vec<Row> {
        let query = self.model.workload.queries.iter().find(|query| query.header.name == name).unwrap();
        self.state.query(&self.model, query, &BTreeMap::new(), self.now).unwrap()
    }

    fn links(&self, name: &str) -> Links {
        let rows = self.rows(name);
        let pair = |row: &Row| (int(&row[0]), int(&row[1]));
        let links: Links = rows.iter().map(pair).collect();
        assert_eq!(links.len(), rows.len(), "{name} has a link twice");
        links
    }

    fn exists(&self, name: &str, id: i64) -> bool {
        let conceptual = &self.model.conceptual;
        self.state.get(conceptual, class(conceptual, name), &vec![Value::Int(id)]).is_some()
    }
}

fn declared(model: &Model, write: &Write) -> Vec<Parameter> {
    let mut declared = write.parameters.clone();
    for step in &write.steps {
        let Some(class) = step.fields_of() else { continue };
        for member in model.conceptual.all_members(class) {
            let Some((ty, _)) = model.conceptual.insertable(member) else { continue };
            let name = model.conceptual.member_name(member).to_owned();
            declared.push(Parameter { name, ty, span: Default::default() });
        }
    }
    declared
}

fn int(value: &Value) -> i64 {
    match value {
        Value::Int(number) => *number,
        other => panic!("{other:?}"),
    }
}

/// A random write and its parameters.
fn random_write(random: &mut Random) -> (&'static str, Json) {
    let id = |random: &mut Random| random.between(1, 4);
    let (g, p, s, f) = (id(random), id(random), id(random), id(random));
    let code = random.pick(&[json!("a"), json!("b"), json!("c"), Json::Null]).unwrap().clone();
    let player = if random.chance(0.8) { json!(p) } else { Json::Null };
    let round = json!({"m": random.between(0, 3)});
    let at = random.between(0, 3);
    let all = [
        ("newGame", json!({"g": g, "code": code, "host": player})),
        ("saveGame", json!({"g": g, "code": code, "host": player})),
        ("newPlayer", json!({"p": p, "seat": s})),
        ("newPlayer", json!({"p": p})),
        ("newGame", json!({"g": g})),
        ("newSeat", json!({"s": s})),
        ("dropGame", json!({"g": g})),
        ("dropPlayer", json!({"p": p})),
        ("dropSeat", json!({"s": s})),
        ("setHost", json!({"g": g, "p": player})),
        ("setHosted", json!({"g": g, "p": p})),
        ("noHosted", json!({"g": g, "p": p})),
        ("judge", json!({"g": g, "p": p})),
        ("judge", json!({"g": 1, "p": p})),
        ("judge", json!({"g": g, "p": 1})),
        ("judgeFrom", json!({"g": g, "p": p})),
        ("unjudge", json!({"g": g, "p": p})),
        ("unjudgeAll", json!({"p": p})),
        ("sit", json!({"p": p, "s": s})),
        ("seat2", json!({"p": p, "s": s})),
        ("rise", json!({"s": s})),
        ("befriend", json!({"p": p, "f": f})),
        ("unfriend", json!({"p": p, "f": f})),
        ("code", json!({"g": g, "code": code})),
        ("codes2", json!({"n": 0, "code": code})),
        ("add", json!({"g": g, "round": round})),
        ("addAll", json!({"tag": "t"})),
        ("remove", json!({"m": random.between(0, 3)})),
        ("removeAt", json!({"g": g, "at": at})),
        ("untag", json!({"g": g, "at": at})),
        ("both", json!({"g": g, "round": round, "d": random.between(-1, 1)})),
    ];
    // Not too many deletes, or nothing would ever be linked.
    match random.pick(&all).unwrap() {
        (name, _) if name.starts_with("drop") && random.chance(0.6) => random_write(random),
        write => write.clone(),
    }
}

/// What a write that succeeded does to the links.
fn follow(shadow: &mut Shadow, before: &World, name: &str, given: &Json) {
    let get = |name: &str| given[name].as_i64();
    let (g, p, s) = (get("g"), get("p"), get("s"));
    let is = |class: &str, id: Option<i64>| id.is_some_and(|id| before.exists(class, id));
    match (name, g, p, s) {
        ("newGame", Some(g), _, _) | ("saveGame", Some(g), _, _) => match get("host") {
            Some(host) => drop(shadow.hosts.insert(g, host)),
            None => drop(shadow.hosts.remove(&g)),
        },
        ("newPlayer", _, Some(p), _) => {
            if let Some(s) = get("seat") {
                seat(shadow, p, s);
            }
        }
        ("dropGame", Some(g), _, _) => {
            shadow.hosts.remove(&g);
            shadow.judges.retain(|(game, _)| *game != g);
        }
        // References to a player who is gone stay; his own are gone with him. A friendship is kept on both sides,
        // so it lasts as long as one of them.
        ("dropPlayer", _, Some(p), _) => {
            shadow.seats.remove(&p);
            let holds = |player: i64| player != p && is("Player", Some(player));
            shadow.friends.retain(|(a, b)| holds(*a) || holds(*b));
        }
        ("setHost", Some(g), Some(p), _) if is("Game", Some(g)) => drop(shadow.hosts.insert(g, p)),
        ("setHost", Some(g), None, _) => drop(shadow.hosts.remove(&g)),
        ("setHosted", Some(g), Some(p), _) if is("Game", Some(g)) && is("Player", Some(p)) => {
            shadow.hosts.insert(g, p);
        }
        ("noHosted", Some(g), Some(p), _) if is("Player", Some(p)) && shadow.hosts.get(&g) == Some(&p) => {
            shadow.hosts.remove(&g);
        }
        ("judge", Some(g), Some(p), _) if is("Game", Some(g)) => drop(shadow.judges.insert((g, p))),
        ("judgeFrom", Some(g), Some(p), _) if is("Game", Some(g)) && is("Player", Some(p)) => {
            shadow.judges.insert((g, p));
        }
        ("unjudge", Some(g), Some(p), _) => drop(shadow.judges.remove(&(g, p))),
        ("unjudgeAll", _, Some(p), _) if is("Player", Some(p)) => {
            shadow.judges.retain(|(_, judge)| *judge != p);
        }
        ("sit", _, Some(p), Some(s)) if is("Player", Some(p)) => seat(shadow, p, s),
        ("seat2", _, Some(p), Some(s)) if is("Player", Some(p)) && is("Seat", Some(s)) => seat(shadow, p, s),
        ("rise", _, _, Some(s)) if is("Seat", Some(s)) => shadow.seats.retain(|_, seat| *seat != s),
        ("befriend", _, Some(p), _) if is("Player", Some(p)) => {
            let f = get("f").unwrap();
            shadow.friends.extend([(p, f), (f, p)]);
        }
        ("unfriend", _, Some(p), _) if is("Player", Some(p)) => {
            let f = get("f").unwrap();
            shadow.friends.remove(&(p, f));
            shadow.friends.remove(&(f, p));
        }
        _nothing_about_links => {}
    }
}

/// Each end holds at most one: the seat is taken from whoever had it.
fn seat(shadow: &mut Shadow, p: i64, s: i64) {
    shadow.seats.retain(|_, seat| *seat != s);
    shadow.seats.insert(p, s);
}

/// Both ends of each relationship show the links whose two instances exist.
fn check_links(world: &World) {
    let both = |links: &Links, a: &str, b: &str| -> Links {
        links.iter().filter(|(x, y)| world.exists(a, *x) && world.exists(b, *y)).copied().collect()
    };
    let pairs = |map: &BTreeMap<i64, i64>| map.iter().map(|(a, b)| (*a, *b)).collect::<Links>();
    let hosts = both(&pairs(&world.shadow.hosts), "Game", "Player");
    assert_eq!(world.links("host"), hosts);
    assert_eq!(world.links("hosted"), hosts);
    let judges = both(&world.shadow.judges, "Game", "Player");
    assert_eq!(world.links("judges"), judges);
    assert_eq!(world.links("judged"), judges);
    let seats = both(&pairs(&world.shadow.seats), "Player", "Seat");
    assert_eq!(world.links("seat"), seats);
    assert_eq!(world.links("taken"), seats);
    assert_eq!(world.links("friends"), both(&world.shadow.friends, "Player", "Player"));
}

/// Ordinals ascend, belong to one element for ever, and never come back.
fn check_ordinals(world: &mut World) {
    let conceptual = &world.model.conceptual;
    let game = class(conceptual, "Game");
    let mut seen = BTreeSet::new();
    for (_, identity, instance) in world.state.instances().filter(|(top, _, _)| *top == game) {
        let id = int(&identity[0]);
        for member in conceptual.all_members(game) {
            let list = match conceptual.member_name(member) {
                "rounds" => "rounds",
                "tags" => "tags",
                _other => continue,
            };
            let elements = instance.record().list(member);
            assert!(elements.windows(2).all(|pair| pair[0].ordinal < pair[1].ordinal));
            for element in elements {
                let key = (id, list, element.ordinal);
                let known = world.ordinals.entry(key).or_insert_with(|| (element.value.clone(), true));
                assert_eq!(known, &(element.value.clone(), true), "{key:?} was another one, or was gone");
                seen.insert(key);
            }
        }
    }
    for (key, (_, alive)) in &mut world.ordinals {
        *alive &= seen.contains(key);
    }
}

fn check_unique(world: &World) {
    let codes = world.rows("codes");
    assert_eq!(codes.iter().collect::<BTreeSet<_>>().len(), codes.len());
}

/// Pages together are the whole list.
fn check_pages(world: &World) {
    let query = world.model.workload.queries.iter().find(|query| query.header.name == "roundPages").unwrap();
    let mut rows = Vec::new();
    let mut after = None;
    loop {
        let page =
            world.state.page(&world.model, query, &BTreeMap::new(), world.now, after.as_ref()).unwrap();
        assert!(page.next.is_none() || page.rows.len() == 3);
        rows.extend(page.rows);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(rows, world.rows("rounds"));
}

#[test]
fn whatever_is_written() {
    let mut kinds: BTreeMap<String, u32> = BTreeMap::new();
    for seed in 0..12 {
        let mut random = Random::of(7, &[seed]);
        let mut world = World::new();
        for step in 0..150 {
            let (name, given) = random_write(&mut random);
            let before = world.state.clone();
            let result = world.write(name, &given);
            match &result {
                Ok(matched) => {
                    let mut shadow = world.shadow.clone();
                    let now = std::mem::replace(&mut world.state, before);
                    follow(&mut shadow, &world, name, &given);
                    world.state = now;
                    world.shadow = shadow;
                    *kinds.entry(format!("matched {}", (*matched).min(2))).or_default() += 1;
                    if name == "dropGame" {
                        // A game of that id that comes later is another one.
                        let g = given["g"].as_i64().unwrap();
                        world.ordinals.retain(|(game, _, _), _| *game != g);
                    }
                }
                Err(error) => {
                    assert_eq!(world.state, before, "an error changes nothing");
                    let kind = format!("{error:?}");
                    *kinds.entry(kind.split(' ').next().unwrap().to_owned()).or_default() += 1;
                }
            }
            let context = format!("seed {seed} step {step}: {name} {given}: {result:?}");
            let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                check_links(&world);
                check_ordinals(&mut world);
                check_unique(&world);
                check_pages(&world);
            }));
            assert!(checked.is_ok(), "{context}");
        }
    }
    for wanted in [
        "matched 0",
        "matched 1",
        "matched 2",
        "AlreadyExists",
        "NotUnique",
        "UpperBound",
        "StepMatchedNothing",
    ] {
        assert!(kinds.get(wanted).is_some_and(|&count| count > 10), "{wanted}: {kinds:?}");
    }
}
