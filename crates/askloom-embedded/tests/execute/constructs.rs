//! Random data under models that are each about one construct; after every write every query, by every plan over
//! several designs. `ASKLOOM_EXECUTE_CASES` and `ASKLOOM_EXECUTE_SEED` choose how many and from where.

use crate::data;
use crate::mirror::{Mirror, designs, parse};
use askloom_model::{ClassId, Model};
use askloom_oracle::{Inputs, Parameters, Random, State};
use jiff::{SignedDuration, Timestamp};

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

pub(crate) fn roots(model: &Model) -> Vec<ClassId> {
    let conceptual = &model.conceptual;
    conceptual.classes.ids().filter(|&class| conceptual.aggregate_root(class) == Some(class)).collect()
}

/// One random write; what the oracle refuses changes nothing.
pub(crate) fn step(model: &Model, state: &mut State, now: Timestamp, random: &mut Random) {
    let class = *data::pick(random, &roots(model));
    if data::one_in(random, 6) {
        let identity = data::identity(&model.conceptual, class, random);
        let _ = state.delete(model, class, &identity, now);
        return;
    }
    let record = data::record(&model.conceptual, class, random);
    let uuids = (0..8).map(|_| uuid::Uuid::from_u128(u128::from(random.next_u64()))).collect();
    let inputs = Inputs { now, uuids };
    if state.create(model, &record, &inputs).is_err() {
        let _ = state.replace(model, &record, &inputs);
    }
}

pub(crate) fn arguments(model: &Model, query: &askloom_model::Query, random: &mut Random) -> Parameters {
    let argument = |p: &askloom_model::Parameter| {
        let counts = matches!(&query.limit, Some(askloom_model::Limit::Rows(askloom_model::Operand::Parameter(at)) | askloom_model::Limit::Page(askloom_model::Operand::Parameter(at))) if query.parameters[*at].name == p.name);
        let value = if counts {
            askloom_model::Value::Int(1 + i64::try_from(random.below(4)).unwrap())
        } else {
            data::argument(&model.conceptual, &p.ty, random)
        };
        (p.name.clone(), value)
    };
    query.parameters.iter().map(argument).collect()
}

fn case(text: &str, seed: u64) -> (usize, usize) {
    let model = parse(text);
    let mut random = Random::of(seed, &[7]);
    let mut mirrors: Vec<Mirror> =
        designs(&model).into_iter().map(|design| Mirror::new(&model, design)).collect();
    let mut state = State::new();
    let mut now: Timestamp = "2026-06-01T00:00:00Z".parse().unwrap();
    let (mut compared, mut rows) = (0, 0);
    for _ in 0..14 {
        now += SignedDuration::from_secs(i64::try_from(random.below(3)).unwrap());
        step(&model, &mut state, now, &mut random);
        for mirror in &mut mirrors {
            mirror.follow(&state, now);
        }
        // Some time after the write things may have expired that nobody has deleted.
        let later = now + SignedDuration::from_secs(i64::try_from(random.below(6)).unwrap());
        for query in &model.workload.queries {
            let given = arguments(&model, query, &mut random);
            rows += state.query(&model, query, &given, later).map_or(0, |rows| rows.len());
            for mirror in &mirrors {
                compared += mirror.compare(&state, query, &given, later);
            }
        }
        for ask in &model.workload.asks {
            let keys: Vec<_> =
                ask.keys.iter().map(|&class| data::identity(&model.conceptual, class, &mut random)).collect();
            rows += state.ask(&model, ask, &keys, later).unwrap().len();
            for mirror in &mirrors {
                compared += mirror.compare_ask(&state, ask, &keys, later);
            }
        }
    }
    // What has expired stays where it is until it is swept.
    if model.conceptual.classes.iter().all(|(_, class)| class.ttl.is_none()) {
        for mirror in &mirrors {
            mirror.check_keys(&state, now);
        }
    }
    (compared, rows)
}

fn run(name: &str, text: &str, cases: u64) {
    let cases = number("ASKLOOM_EXECUTE_CASES", cases);
    let first = number("ASKLOOM_EXECUTE_SEED", 1);
    let (mut compared, mut rows) = (0, 0);
    for seed in first..first + cases {
        let outcome = std::panic::catch_unwind(|| case(text, seed));
        let (plans, found) = outcome.unwrap_or_else(|_| panic!("{name}: seed {seed}"));
        compared += plans;
        rows += found;
    }
    println!("{name}: {cases} cases from seed {first}, {compared} answers of plans, {rows} rows");
    assert!(rows > 0 || cases < 3, "{name}: no query returned a row");
}

macro_rules! constructs {
    ($($name:ident: $text:expr;)*) => {
        $(
            #[test]
            fn $name() {
                run(stringify!($name), $text, 3);
            }
        )*

        #[test]
        #[ignore = "slow"]
        fn all_of_them_for_longer() {
            $(run(stringify!($name), $text, 60);)*
        }
    };
}

/// What is found first may be at the end of a path of its own.
#[test]
fn a_tree_is_looked_at_from_afar() {
    let text = "
        entity Category { id c: int, ref parent: Category? inverse children @tree }
        entity Thing { id t: text, ref in: Category? }
        entity Box { id b: int, ref holds: Thing? inverse boxes }
        query boxes: SELECT b FROM Box JOIN holds.in AS x WHERE x UNDER :c
        query above: SELECT b FROM Box JOIN holds.in AS x WHERE x ABOVE :c
        query boxed: SELECT t, y.b FROM Thing JOIN boxes AS y WHERE t = :t
    ";
    run("trees from afar", text, 20);
}

constructs! {
    trees: "
        entity Category { id c: int, name: text?, ref parent: Category? inverse children @tree }
        entity Thing { id t: text, ref in: Category?, ref all: Category[*] }
        entity Folder { id f: int, ref below: Folder[*] @tree }
        query under: SELECT c, name FROM Category WHERE Category UNDER :of ORDER BY name
        query above: SELECT c FROM Category WHERE Category ABOVE :of
        query notUnder: SELECT c FROM Category WHERE NOT Category UNDER 1
        query things: SELECT t, in FROM Thing WHERE in UNDER :c
        query joined: SELECT t, x.c FROM Thing JOIN in AS x WHERE x ABOVE :c LIMIT 2
        query some: SELECT t FROM Thing WHERE all UNDER :c
        query none: SELECT t FROM Thing WHERE NOT all UNDER :c
        query folders: SELECT f FROM Folder WHERE Folder UNDER :of OR Folder ABOVE 2
    ";
    places: "
        entity Spot { id s: int, at: geo?, also: geo[*], name: text? }
        query near: SELECT s FROM Spot WHERE at WITHIN :km KM OF :here
        query far: SELECT s, name FROM Spot WHERE NOT at WITHIN :km KM OF :here ORDER BY name DESC
        query some: SELECT s FROM Spot WHERE also WITHIN 20 KM OF :here
        query boxed: SELECT s, at FROM Spot WHERE at IN BOX (:low, :high)
        query listBoxed: SELECT s, also FROM Spot WHERE NOT also IN BOX (:low, :high)
        query nowhere: SELECT s FROM Spot WHERE at IS NULL OR also IN BOX (:low, :low)
    ";
    negations: "
        entity Group { id g: int, ref parent: Group? inverse children @tree }
        entity Shop { id s: int, open: bool?, nick: text?, flags: bool[*], texts: text[*], nums: int[*], ref boss: Shop? inverse reports, ref groups: Group[*], part sites: Site[*] }
        value Site { at: geo?, about: text?, open: bool? }
        query named: SELECT s FROM Shop WHERE reports.nick IS NOT NULL
        query nameless: SELECT s FROM Shop WHERE NOT reports.nick IS NULL
        query numbers: SELECT s, nums FROM Shop WHERE nums NOT BETWEEN :low AND :high
        query noNumbers: SELECT s, nums FROM Shop WHERE NOT nums BETWEEN :low AND :high
        query outside: SELECT s FROM Shop WHERE nums NOT IN :nums AND NOT nums IN :others
        query items: SELECT s FROM Shop WHERE boss.nums NOT IN (1, :n)
        query starts: SELECT s FROM Shop WHERE texts NOT STARTS WITH :text
        query about: SELECT s FROM Shop WHERE sites.about NOT MATCHES :words
        query under: SELECT s FROM Shop WHERE groups NOT UNDER :g OR reports.groups NOT ABOVE :g
        query places: SELECT s FROM Shop WHERE sites.at NOT WITHIN 500 KM OF :here AND sites.at NOT IN BOX (:low, :high)
        query open: SELECT s FROM Shop WHERE open ORDER BY nick
        query closed: SELECT s FROM Shop WHERE NOT open AND (boss.open OR sites.open)
        query flagged: SELECT s FROM Shop WHERE flags AND NOT reports.flags
        query joined: SELECT s, n FROM Shop JOIN nums AS n WHERE n NOT IN :nums AND flags NOT IN (true)
    ";
    words: "
        entity Page { id p: int, title: text?, tags: text[*], part notes: Note[*] }
        value Note { text: text? }
        query found: SELECT p, title FROM Page WHERE title MATCHES :words
        query fresh: SELECT p FROM Page WHERE title MATCHES 'fresh BREAD' ORDER BY title
        query lost: SELECT p FROM Page WHERE NOT title MATCHES :words
        query tagged: SELECT p, tags FROM Page WHERE tags MATCHES :words
        query noted: SELECT p FROM Page WHERE NOT notes.text MATCHES :words
    ";
    sums: "
        entity N { id n: int, i: int?, l: long?, d: decimal?, f: double?, t: text?, b: bool?, at: timestamp?, day: date?, u: uuid?, e: enum(low, mid, high)?, ref to: N? inverse from }
        query all: SELECT COUNT(*) AS n, SUM(i) AS si, SUM(l) AS sl, SUM(d) AS sd, AVG(i) AS ai, AVG(l) AS al, AVG(d) AS ad FROM N
        query floats: SELECT SUM(f) AS sf, AVG(f) AS af FROM N
        query extremes: SELECT MIN(i) AS a, MAX(l) AS b, MIN(d) AS c, MAX(f) AS d2, MIN(t) AS e2, MAX(at) AS g, MIN(day) AS h, MAX(u) AS j, MIN(e) AS k FROM N
        query counts: SELECT COUNT(t) AS a, COUNT(DISTINCT t) AS b, COUNT(DISTINCT to) AS c, COUNT(to) AS d2, COUNT(DISTINCT e) AS f2 FROM N
        query groups: SELECT e, COUNT(*) AS c, SUM(l) AS s FROM N GROUP BY e ORDER BY s DESC, c
        query two: SELECT b, e, AVG(l) AS a FROM N GROUP BY b, e ORDER BY b DESC
        query ties: SELECT t, COUNT(*) AS c FROM N GROUP BY t ORDER BY c DESC LIMIT 3
        query byMax: SELECT to, MAX(l) AS m FROM N GROUP BY to ORDER BY MAX(l), to
        query some: SELECT e, SUM(l) AS s FROM N WHERE i >= :i GROUP BY e ORDER BY SUM(l)
        query joined: SELECT N.e, COUNT(x.n) AS c, SUM(x.l) AS s FROM N LEFT JOIN from AS x GROUP BY N.e ORDER BY c DESC
        query paged: SELECT t, SUM(l) AS s FROM N GROUP BY t ORDER BY s PAGE :size
        query nothing: SELECT COUNT(*) AS n, SUM(i) AS s, MIN(t) AS m FROM N WHERE e = :e AND b = true
        query limited: SELECT COUNT(*) AS n FROM N WHERE e = :e LIMIT 1
    ";
    symmetric: "
        entity Person { id p: int, name: text?, ref friends: Person[*] inverse friends, ref boss: Person? inverse team }
        query friends: SELECT p, f.p AS friend FROM Person JOIN friends AS f
        query ofOne: SELECT f.p AS friend, f.name FROM Person JOIN friends AS f WHERE p = :p ORDER BY f.name DESC
        query with: SELECT p FROM Person WHERE friends = :f
        query without: SELECT p FROM Person WHERE NOT friends = :f
        query named: SELECT p FROM Person WHERE friends.name = :name
        query lonely: SELECT p, f.p AS friend FROM Person LEFT JOIN friends AS f WHERE f IS NULL
        query twice: SELECT p, g.p AS far FROM Person JOIN friends AS f, f.friends AS g ORDER BY far
        query bosses: SELECT p, boss.name, f.boss.p AS theirs FROM Person JOIN friends AS f
        query whole: SELECT * FROM Person WHERE friends IN (1, 2, :x)
    ";
    parts: "
        entity Order { id o: int, at: date?, part lines: Line[*] inverse order, part gift: Gift?, part notes: Note[*] }
        entity Line { id l: int, n: int?, ref of: Thing? inverse lines, part bits: Bit[*] }
        entity Gift { id g: text, text: text? }
        value Note { text: text?, tags: text[*] }
        value Bit { x: int?, ref thing: Thing? }
        entity Thing { id t: int, name: text?, ref best: Line? inverse bestOf, ref all: Line[*] }
        query lines: SELECT l, n FROM Line ORDER BY n DESC
        query line: SELECT * FROM Line WHERE l = :l
        query lineItself: SELECT n FROM Line WHERE Line = :l
        query owners: SELECT l, order, order.at FROM Line WHERE n >= :n
        query ownerJoin: SELECT l, w.o FROM Line JOIN order AS w WHERE w.at IS NOT NULL ORDER BY w.at
        query orderLines: SELECT o, x.l, x.n FROM Order LEFT JOIN lines AS x ORDER BY o, x.n
        query some: SELECT o FROM Order WHERE lines.n = :n
        query someBits: SELECT o FROM Order WHERE lines.bits.x IS NULL
        query someThings: SELECT o FROM Order WHERE lines.of.name IS NULL
        query refs: SELECT t, best, best.n, best.order.o AS owner FROM Thing
        query deep: SELECT t, b.l, b.order AS w FROM Thing JOIN best AS b
        query deeper: SELECT t, w.o FROM Thing JOIN best.order AS w
        query byThing: SELECT t, x.l FROM Thing JOIN lines AS x WHERE x.n = :n
        query manyRefs: SELECT t, x.l FROM Thing JOIN all AS x
        query bits: SELECT l, b.x, b.thing FROM Line JOIN bits AS b
        query bitValue: SELECT l, b FROM Line JOIN bits AS b
        query gifts: SELECT g, text FROM Gift
        query gift: SELECT o, gift, gift.text FROM Order WHERE gift.text = :t
        query notes: SELECT o, n.text FROM Order JOIN notes AS n WHERE n.text STARTS WITH :s
        query tags: SELECT o, t FROM Order JOIN notes AS n, n.tags AS t ORDER BY t DESC
        query tagList: SELECT o, n.tags FROM Order JOIN notes AS n WHERE n.tags = :t
        query best: SELECT l, x.t FROM Line LEFT JOIN bestOf AS x
        query whole: SELECT n.*, x.* FROM Order JOIN notes AS n, lines AS x LIMIT 4
    ";
    classes: "
        abstract entity Being { id b: int, name: text?, ref friend: Being? inverse liked }
        entity Plant extends Being { height: int? }
        entity Animal extends Being { legs: int?, ref eats: Being[*] }
        entity Dog extends Animal { tricks: text[*], ref owner: Human? inverse dogs }
        entity Human extends Animal { unique mail: text? }
        entity Box { id x: int, part toys: Toy[*] inverse box }
        abstract entity Thing { id t: text, size: int? }
        entity Toy extends Thing { ref of: Dog? inverse toys }
        entity Ball extends Toy { colour: enum(red, blue) = red }
        entity Stone extends Thing { weight: decimal? }
        query beings: SELECT b, name FROM Being ORDER BY name
        query animals: SELECT * FROM Animal WHERE legs >= :n
        query dogs: SELECT b, tricks, owner.name FROM Dog
        query one: SELECT * FROM Dog WHERE b = :b
        query anyOne: SELECT * FROM Being WHERE b IN (:b, 1)
        query eaten: SELECT b, e.b AS what FROM Animal JOIN eats AS e ORDER BY what DESC
        query dogsOf: SELECT b, d.b AS dog FROM Human JOIN dogs AS d
        query liked: SELECT b, l.b AS by FROM Human LEFT JOIN liked AS l
        query friends: SELECT b, friend.name FROM Plant WHERE friend = :f
        query toys: SELECT t, size FROM Toy
        query things: SELECT t, size FROM Thing ORDER BY size DESC, t
        query oneThing: SELECT * FROM Thing WHERE t = :t
        query boxes: SELECT t, box.x AS box FROM Toy
        query balls: SELECT t, colour, o.name FROM Ball LEFT JOIN of AS o
        query dogToys: SELECT b, t.t AS toy, t.size FROM Dog JOIN toys AS t
        query byOwner: SELECT b FROM Dog WHERE owner = :o AND legs = :n
    ";
    identifiers: "
        entity Mailbox { id address: text }
        entity Label { id ref mailbox: Mailbox inverse labels, id n: int, name: text? }
        entity Message { id m: int, ref labels: Label[*] inverse messages, ref main: Label? inverse mains, ref note: Note? }
        entity Note { text: text?, ref of: Label? inverse notes }
        entity Key { id d: date, id ref label: Label, id e: enum(x, y), n: int? }
        query label: SELECT * FROM Label WHERE mailbox = :box AND n = :n
        query labels: SELECT mailbox, n, name FROM Label ORDER BY name
        query byId: SELECT name FROM Label WHERE Label = :l
        query ofBox: SELECT n FROM Label WHERE mailbox = 'a'
        query ofBoxId: SELECT n, mailbox.address FROM Label WHERE mailbox.address = :a
        query boxes: SELECT address, l.n FROM Mailbox JOIN labels AS l ORDER BY l.n DESC
        query messages: SELECT m, l.name FROM Message JOIN labels AS l
        query byMain: SELECT m, main FROM Message WHERE main = :l
        query oneOf: SELECT m FROM Message WHERE main IN :ls ORDER BY m DESC
        query labelled: SELECT m FROM Message WHERE labels = :l
        query inBoth: SELECT m FROM Message WHERE labels IN :ls
        query notes: SELECT text, of FROM Note ORDER BY text
        query note: SELECT * FROM Note WHERE Note = :n
        query noted: SELECT m, note.text, note FROM Message WHERE note = :n
        query ofLabel: SELECT n, x.text FROM Label JOIN notes AS x
        query keys: SELECT d, label, e, n FROM Key WHERE label.name = :name
        query key: SELECT n FROM Key WHERE d = :d AND label = :l AND e = 'x'
        query keyOf: SELECT n, label.mailbox FROM Key WHERE Key IN :ks
    ";
    lists: "
        entity N { id n: int, tags: text[*], nums: decimal[*], days: date[*], ref to: N? inverse from }
        query tags: SELECT n, t FROM N JOIN tags AS t
        query tagged: SELECT n, t FROM N JOIN tags AS t WHERE t = :t ORDER BY t DESC
        query two: SELECT n, t, x FROM N JOIN tags AS t LEFT JOIN nums AS x WHERE x > :x ORDER BY x
        query has: SELECT n, tags FROM N WHERE tags = :t
        query other: SELECT n FROM N WHERE tags != :t
        query hasNot: SELECT n FROM N WHERE NOT tags = :t
        query oneOf: SELECT n FROM N WHERE tags IN :ts
        query range: SELECT n, nums FROM N WHERE nums BETWEEN :low AND :high
        query starts: SELECT n FROM N WHERE tags STARTS WITH :s
        query nullTags: SELECT n FROM N WHERE tags IS NULL
        query ofOther: SELECT n, to.tags, to.nums FROM N WHERE to.tags = :t
        query ofMany: SELECT n FROM N WHERE from.tags = :t
        query both: SELECT n FROM N WHERE tags = from.tags
        query counted: SELECT t, COUNT(*) AS c FROM N JOIN tags AS t GROUP BY t ORDER BY c DESC PAGE 2
        query days: SELECT n, d FROM N LEFT JOIN days AS d ORDER BY d, n DESC PAGE :size
    ";
    expiry: "
        @ttl(4 s) entity Visit { id s: int, n: int?, ref user: User? inverse visits, part seen: Page[*] inverse visit }
        entity Page { id url: text, ref by: User? }
        entity User { id u: int, name: text?, ref last: Visit?, ref pin: Pin? }
        entity Board { id b: int, part pins: Pin[*] inverse board }
        @ttl(3 s) entity Pin { id p: int, text: text?, ref of: User? inverse pins }
        @ttl(8 s) entity Base { id b: int, x: int? }
        entity Longer extends Base { y: int = 0 }
        @ttl(2 s) entity Shorter extends Base { z: int = 0 }
        query visits: SELECT s, n FROM Visit ORDER BY n
        query visit: SELECT * FROM Visit WHERE s = :s
        query users: SELECT u, last, last.n FROM User WHERE last.n = :n
        query lastN: SELECT u FROM User WHERE last.n IS NULL
        query ofUser: SELECT u, v.s FROM User LEFT JOIN visits AS v ORDER BY v.n
        query inner: SELECT u, v.s FROM User JOIN visits AS v WHERE v.n >= :n
        query pages: SELECT url, visit FROM Page
        query byUser: SELECT u, p.url FROM User LEFT JOIN visits AS v, v.seen AS p
        query board: SELECT * FROM Board
        query boards: SELECT b, p.text FROM Board LEFT JOIN pins AS p
        query pins: SELECT p, board.b AS on FROM Pin WHERE text = :t
        query pinned: SELECT u, pin, pin.text FROM User
        query pinsOf: SELECT u, p.p FROM User JOIN pins AS p
        query bases: SELECT b, x FROM Base ORDER BY x DESC LIMIT 2
        query count: SELECT COUNT(*) AS n FROM Visit
        query paged: SELECT s FROM Visit PAGE 1
    ";
    keys: "
        entity N { id n: int, a: int?, b: text?, d: decimal?, f: double?, l: long?, e: enum(low, mid, high)?, at: timestamp?, fine: timestamp(9)?, ref to: N? inverse from }
        query inA: SELECT n FROM N WHERE a IN :as ORDER BY b LIMIT 3
        query inList: SELECT n, b FROM N WHERE b IN ('a', 'b', :x, 'a') ORDER BY n DESC
        query ors: SELECT n FROM N WHERE a = 1 OR a = :x OR a IN (2, 3)
        query two: SELECT n FROM N WHERE a IN :as AND b IN :bs ORDER BY d DESC LIMIT 2
        query setAndRange: SELECT n FROM N WHERE e IN :es AND a > :low ORDER BY a
        query ids: SELECT * FROM N WHERE n IN :ns
        query itself: SELECT a FROM N WHERE N IN :ns ORDER BY a
        query refs: SELECT n, to FROM N WHERE to IN :ts ORDER BY n DESC PAGE 2
        query literal: SELECT n FROM N WHERE to = 1
        query mixed: SELECT n FROM N WHERE a = :x AND d = :x
        query mixedRange: SELECT n FROM N WHERE d >= :x AND a <= :x
        query float: SELECT n FROM N WHERE f = :x AND l = :x
        query floatRange: SELECT n FROM N WHERE f < :x AND a < :x
        query refOrId: SELECT n FROM N WHERE to = :x AND n = :x
        query times: SELECT n FROM N WHERE at >= :t AND fine <= :t
        query ordered: SELECT n, a FROM N WHERE e = :e ORDER BY a DESC, b DESC PAGE :size
        query rangeDesc: SELECT n FROM N WHERE a BETWEEN :low AND :high ORDER BY a DESC LIMIT 2
        query prefix: SELECT n, b FROM N WHERE b STARTS WITH :s ORDER BY b DESC PAGE 2
        query halfOpen: SELECT n FROM N WHERE l > :low AND l <= :high AND e != 'low' ORDER BY l LIMIT 2
        query nothing: SELECT n FROM N WHERE a < :x AND a < 3
        query back: SELECT n, x.n AS m FROM N JOIN from AS x WHERE N.a = :a ORDER BY x.n PAGE 3
    ";
    tuples: "
        entity Box { id a: int }
        entity Label { id ref box: Box, id n: int, name: text? }
        entity Message { id m: int, ref box: Box?, ref labels: Label[*], part bits: Bit[*] }
        value Bit { ref of: Thing?, n: int? }
        abstract entity Thing { id t: int, part marks: Mark[*] }
        entity Big extends Thing { x: int? }
        entity Small extends Thing { ref near: Big? }
        entity Mark { id k: text, ref by: Person? }
        entity Person { id p: int, ref friends: Person[*] inverse friends }
        ask inLabel: {Box, Label} -> {Message}
        ask all: {Box} -> {Label, Message}
        ask labels: {Message} -> {Label}
        ask holders: {Thing} -> {Message}
        ask things: {Message} -> {Thing}
        ask bigs: {Message} -> {Big via bits.of}
        ask marks: {Thing} -> {Mark}
        ask owners: {Mark} -> {Thing}
        ask by: {Person} -> {Mark, Thing}
        ask far: {Person} -> {Message}
        ask near: {Big} -> {Small}
        ask itself: {Label} -> {Label}
        ask everything: {Message} -> {Message, Box, Label}
    ";
}
