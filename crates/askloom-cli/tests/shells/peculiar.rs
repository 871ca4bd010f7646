//! Texts and names that a shell could take for something of its own.

use crate::data::{model, schema, stored};
use crate::harness::{Count, Shell, What, holds, one_design};
use askloom_design::method::{self, Method, Options};
use askloom_model::{Design, Model, Record};
use askloom_plan::cost::Costing;
use serde_json::json;

/// The models here have no writes.
const READS: What = What { nasty: true, writes: false };

/// What opens, ends, quotes, escapes or fills something in one shell or another.
const TEXTS: [&str; 24] = [
    "$where",
    "{tag}",
    "}",
    "{",
    ";",
    "--",
    "/*",
    "$$",
    "$(x)",
    "${x}",
    "`",
    "#{x}",
    ":name",
    "?",
    "@a:{b}|-~*",
    "\\",
    "\\'",
    "\\\"",
    "'; DROP TABLE Note; --",
    "' || '1' == '1",
    "\"\n",
    "\r\n.exit",
    "\t",
    "null",
];

const NOTES: &str = "
@count(20_000)
entity Note {
  id name: text
  body: text
  unique key: text
  labels: text[*]
  part pages: Page[*]
  ref next: Note?
}
value Page { title: text, number: int }
@count(20_000)
entity Link {
  id left: text
  id right: text
  why: text
}
@rate(100/s)
query named: SELECT body, labels, next.body AS after FROM Note WHERE name = :name
@rate(100/s)
query saying: SELECT name FROM Note WHERE body = :body ORDER BY name
@rate(100/s)
query opened: SELECT name, body FROM Note WHERE key = :key
@rate(100/s)
query starting: SELECT name, body FROM Note WHERE body STARTS WITH :start ORDER BY body LIMIT 5
@rate(100/s)
query labelled: SELECT name FROM Note WHERE labels = :label
@rate(100/s)
query titled: SELECT name FROM Note JOIN pages AS page WHERE page.title = :title
@rate(100/s)
query before: SELECT name, body FROM Note WHERE next = :next
@rate(100/s)
query some: SELECT name FROM Note WHERE name IN :names
@rate(100/s)
query from: SELECT right, why FROM Link WHERE left = :left AND right >= :right ORDER BY right
@rate(100/s)
query because: SELECT left, right FROM Link WHERE why = :why AND right > :right
";

fn notes(model: &Model) -> Vec<Record> {
    let class = |name: &str| model.conceptual.classes.iter().find(|(_, row)| row.name == name).unwrap().0;
    let text = |at: usize| TEXTS[at % TEXTS.len()];
    let note = |at: usize| {
        json!({
            "name": text(at), "body": text(at + 1), "key": text(at + 2), "labels": [text(at + 3), text(at + 4)],
            "pages": [{"title": text(at + 5), "number": at}], "next": text(at + 1),
        })
    };
    let link = |at: usize| json!({"left": text(at), "right": text(at + 7), "why": text(at + 11)});
    let all = |name, one: &dyn Fn(usize) -> serde_json::Value| -> Vec<Record> {
        let record = |at| Record::from_json(&model.conceptual, class(name), &one(at)).unwrap();
        (0..TEXTS.len()).map(record).collect()
    };
    [all("Note", &note), all("Link", &link)].concat()
}

/// Each text as an id, a value, an element, a reference and a parameter.
pub(crate) fn texts(shell: &mut dyn Shell, method: Method) {
    let model = model(NOTES);
    let mut count = Count::default();
    let target = askloom_target::target(shell.target()).unwrap();
    let schema = schema(model.clone(), designed(shell, &model, method), target);
    let memory = stored(&schema, notes(&model).into_iter());
    holds(shell, "texts".to_owned(), &schema, memory, TEXTS.len(), READS, &mut count);
    println!("{}: {count:?}", shell.target());
    assert!(count.records >= 2 * TEXTS.len() && count.queries == 10 * TEXTS.len(), "{count:?}");
    // Every question but the last finds what it asks for.
    assert!(
        count.rows >= 9 * TEXTS.len() && (count.direct >= TEXTS.len() || method == Method::Kvmod),
        "{count:?}"
    );
}

/// Words of the stores' languages, names of their own members and of ours, long ones, and ones that differ little.
const NAMES: &str = "
@count(20_000)
entity Order {
  id n: text
  system: text
  class: text @distinct(50)
  value: int
  entry: text
  token: text
  `primary`: text?
  `order`: int
  `group`: text[*]
  version: int
  key: text
  _id: text
  pk: text
  _: int
  expires: timestamp
  a_b: text @distinct(20)
  aB: text @distinct(20)
  AB: text
  größe: int
  名前: text
  part `from`: Select[*]
  ref `select`: Stats inverse `table`
  ref самыйДлинныйИзВсехИмёнКоторыеВообщеМожноСебеПредставитьЗдесь: Token?
  anAttributeWhoseNameIsSixtyLettersLongSoThatItFitsNowhereAtAll: text
}
value Select { `where`: text, `index`: int, data: text }
@count(500)
entity Stats { id `limit`: text, count: int, `user`: text }
@count(500)
entity Token { id `values`: text, `select`: text, rev: text, ttl: int }
@count(500)
entity AnEntityWhoseNameIsSixtyLettersLongSoThatItFitsNowhereAtAll { id id: text, hash: text }
@count(500)
entity Größe { id ñ: text, `set`: text }
@rate(100/s)
query `all`: SELECT n, value, `order` FROM Order WHERE class = :class AND value >= :value ORDER BY value LIMIT 5
@rate(100/s)
query a_b: SELECT n, aB, AB, größe FROM Order WHERE a_b = :a_b AND 名前 >= :名前
@rate(100/s)
query aB: SELECT n, a_b FROM Order WHERE aB = :aB ORDER BY `order` DESC
@rate(100/s)
query `keys`: SELECT n, `select`.`user` AS `user` FROM Order WHERE `select` = :`select`
@rate(100/s)
query whose: SELECT anAttributeWhoseNameIsSixtyLettersLongSoThatItFitsNowhereAtAll FROM Order
  WHERE самыйДлинныйИзВсехИмёнКоторыеВообщеМожноСебеПредставитьЗдесь.rev = :rev
@rate(100/s)
query size: SELECT ñ FROM Größe WHERE `set` = :`set`
@rate(100/s)
query hashed: SELECT id FROM AnEntityWhoseNameIsSixtyLettersLongSoThatItFitsNowhereAtAll WHERE hash = :hash
";

pub(crate) fn names(shell: &mut dyn Shell) {
    let model = model(NAMES);
    let mut count = Count::default();
    for method in Method::ALL {
        let design = designed(shell, &model, method);
        one_design(shell, format!("names_{}", method.name()), &model, design, READS, &mut count);
    }
    println!("{}: {count:?}", shell.target());
    assert!(count.designs == Method::ALL.len() && count.queries > 50 && count.rows > 20, "{count:?}");
}

fn designed(shell: &dyn Shell, model: &Model, method: Method) -> Design {
    let target = askloom_target::target(shell.target()).unwrap();
    method::design(method, model, &Costing::from(target), &Options::default()).design
}
