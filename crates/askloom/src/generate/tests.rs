//! What a write needs, by its data, is what its text on each store has slots for.

use super::*;
use askloom_design::simple;
use askloom_lang::{Memory, check};
use askloom_model::{Conceptual, ParameterType, Type, identity_types, parameter_from_json};
use askloom_plan::planner;
use askloom_plan::program::{self, Needs, Preconditions, Program, Versioned};
use askloom_target::targets;
use serde_json::json;

const EXAMPLES: [&str; 6] = ["airline", "blog", "game", "inbox", "noam-game", "shop"];

/// Those that are looked at as the papers would print them, too.
const PRINTED_BY_PAPERS: [&str; 2] = ["noam-game", "expiring"];

/// Aggregates that expire, counted from the write and from an attribute, with entries and with a copy.
const EXPIRING: &str = "
@ttl(30 days) @count(100_000)
entity Cart { id cartId: uuid, owner: text, total: int, note: text?, part items: Item[*] @avg(3) }
value Item { sku: text, quantity: int }
represent Cart as split {
  /Cart/*/items[*]
  /Cart/*
}
@ttl(2 days from at) @count(100_000)
entity Visit { id number: long, immutable at: timestamp, page: text }
query byOwner: SELECT cartId, total FROM Cart WHERE owner = :owner ORDER BY total
query byPage: SELECT number, at FROM Visit WHERE page = :page
write open: INSERT Cart
write save: UPSERT Cart
write change: UPDATE Cart SET total = :total, note = :note WHERE cartId = :cartId
write add: ADD :item TO Cart.items WHERE cartId = :cartId
write close: DELETE Cart WHERE cartId = :cartId
write visit: INSERT Visit
write revisit: UPSERT Visit
write turn: UPDATE Visit SET page = :page WHERE number = :number
";

fn model(name: &str) -> Model {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let main = format!("{name}.loom");
    let mut world = Memory::default();
    for file in [main.as_str(), "parts.loom"] {
        if let Ok(text) = std::fs::read(folder.join(file)) {
            world = world.with(file, text);
        }
    }
    checked(&world, &main)
}

fn checked(world: &Memory, main: &str) -> Model {
    let checked = check(world, Path::new(main));
    assert_eq!(checked.errors, 0, "{:?}", checked.diagnostics);
    checked.model
}

/// Values for parameters, each another one, so that no two ids are the same by chance.
struct Values<'v> {
    conceptual: &'v Conceptual,
    last: u32,
}

impl Values<'_> {
    fn json(&mut self, ty: &ParameterType) -> Json {
        match ty {
            ParameterType::Basic(ty) => self.basic(ty),
            ParameterType::Identity(class) => match identity_types(self.conceptual, *class).as_slice() {
                [only] => self.basic(only),
                several => several.iter().map(|ty| self.basic(ty)).collect(),
            },
            ParameterType::Whole(class) => {
                let conceptual = self.conceptual;
                let mut fields = Map::new();
                for member in conceptual.all_members(*class) {
                    if let Some((ty, _)) = conceptual.insertable(member) {
                        fields.insert(conceptual.member_name(member).to_owned(), self.json(&ty));
                    }
                }
                Json::Object(fields)
            }
            ParameterType::List(of) => json!([self.json(of)]),
        }
    }

    fn basic(&mut self, ty: &Type) -> Json {
        self.last += 1;
        let number = self.last;
        match ty {
            Type::Text => json!(format!("t{number}")),
            Type::Int | Type::Long | Type::Double => json!(number),
            Type::Decimal => json!(format!("{number}.5")),
            Type::Bool => json!(true),
            Type::Date => json!("2026-01-02"),
            Type::Time => json!("01:02:03"),
            Type::Timestamp(_) => json!(format!("2026-01-02T03:{:02}:{:02}Z", number / 60 % 60, number % 60)),
            Type::Uuid => json!(format!("019a7c2e-4b00-7000-8000-{number:012}")),
            Type::Enum(values) => json!(values.first()),
            Type::Blob => json!("AQI="),
            Type::Geo => json!({ "lat": 1.5, "lon": 2.5 }),
            Type::Json => json!({}),
        }
    }

    /// Values for all that a write takes. One that cannot be made up stays a slot.
    fn of(&mut self, model: &Model, write: Named<'_>) -> Arguments {
        let expected = crate::statement::expected(&model.conceptual, write);
        let value = |expected: &crate::statement::Expected| {
            let json = self.json(&expected.ty);
            let value = parameter_from_json(&model.conceptual, &expected.ty, &json).ok()?;
            Some((expected.name.clone(), value))
        };
        expected.iter().filter_map(value).collect()
    }
}

/// Prints single writes of one design for one store.
struct Printer<'p> {
    layout: &'p Layout,
    target: &'static str,
    language: &'static dyn Language,
    options: Options,
}

impl Printer<'_> {
    /// The text of a write, with its comments.
    fn text(&self, statement: &Statement) -> String {
        let source = Source {
            layout: self.layout,
            statements: vec![statement.clone()],
            sample: Vec::new(),
            options: self.options.clone(),
        };
        let made = self.language.generate(&source);
        let blocks = made.files.into_iter().flat_map(|file| file.blocks);
        blocks.filter(|block| block.of == statement.program.name).map(|block| block.text).collect()
    }

    fn needs(&self, program: &Program) -> Needs {
        program.needs(self.layout, &self.language.write_inputs(self.layout, &self.options))
    }

    /// Asserts that the text has slots for what is needed, and for nothing else.
    fn compare(&self, statement: &Statement, of: &str) -> Needs {
        let needs = self.needs(&statement.program);
        let text = self.text(statement);
        let commands: Vec<&str> = text.lines().filter(|line| !is_comment(line)).collect();
        let has = |slot: &str| {
            // Names of values in DynamoDB's expressions look like slots: a slot is a value.
            let [slot, read] = match self.target {
                "dynamodb" => [format!("\"N\": \":{slot}"), format!("\"N\": \":{slot}")],
                _other => [format!(":{slot}"), format!(".{slot}")],
            };
            commands.iter().any(|line| line.contains(&slot) || line.contains(&read))
        };
        assert_eq!(has("stamp"), needs.stamp, "{of}: the stamp\n{text}");
        assert_eq!(has("expires"), needs.expires, "{of}: the time of expiry\n{text}");
        let all = statement.program.versioned(self.layout);
        let filled = |one: &&Versioned| {
            let mut other = statement.clone();
            let versions = vec![(one.table, one.id.clone(), Some(7))];
            other.program.add_preconditions(&Preconditions { versions, ..Preconditions::default() });
            // A new aggregate takes the version of a former one of the same id, which need not be given.
            !one.new && self.text(&other) != text
        };
        let filled: Vec<Versioned> = all.iter().filter(filled).cloned().collect();
        assert_eq!(filled, needs.versions, "{of}: the versions\n{text}");
        assert!(needs.versions.is_empty() || has("version"), "{of}: no slot of a version\n{text}");
        needs
    }
}

fn is_comment(line: &str) -> bool {
    ["--", "//", "#"].iter().any(|mark| line.trim_start().starts_with(mark))
}

/// How many writes needed each of the three.
#[derive(Debug, Default)]
struct Needed {
    versions: usize,
    stamp: usize,
    expires: usize,
}

/// Looks at every write of a model on a store: before anything is known, with versions, and with everything.
fn look(name: &str, model: &Model, target: &'static Target, faithful: bool, needed: &mut Needed) {
    let Some(language) = target.language else { return };
    let design = simple::design(model);
    let layout = Layout::new(&model.conceptual, &design).asked_by(&questions(model));
    let mut values = Values { conceptual: &model.conceptual, last: 0 };
    let costing = Costing::from(target);
    let options = Options { faithful, ..Options::default() };
    let printer = Printer { layout: &layout, target: target.capability.target, language, options };
    for write in &model.workload.writes {
        let of = format!("{name} on {}, {}", target.capability.target, write.header.name);
        let arguments = values.of(model, Named::Write(write));
        let plan = planner::write::plan(&costing, model, &design, write).expect(&of);
        let program = program::write(&layout, write, &plan, Some(&arguments));
        let statement = Statement { program, text: String::new(), write: true };
        let needs = printer.compare(&statement, &of);
        needed.versions += usize::from(!needs.versions.is_empty());
        needed.stamp += usize::from(needs.stamp);
        needed.expires += usize::from(needs.expires);
        for version in [None, Some(3)] {
            let mut known = statement.clone();
            let all = known.program.versioned(&layout);
            let versions = all.into_iter().map(|of| (of.table, of.id, version)).collect();
            known.program.add_preconditions(&Preconditions { versions, ..Preconditions::default() });
            assert!(printer.compare(&known, &of).versions.is_empty(), "{of}");
            known.program.add_preconditions(&Preconditions { stamp: Some(9), ..Preconditions::default() });
            known.program.expire(jiff::Timestamp::UNIX_EPOCH);
            assert_eq!(printer.compare(&known, &of), Needs::default(), "{of}");
        }
    }
}

/// Looks at all examples on a store, and says which of versions, stamp and expiry some write needs there.
fn needed_on(name: &str) -> [bool; 3] {
    let target = askloom_target::target(name).unwrap();
    let expiring = checked(&Memory::default().with("m.loom", EXPIRING), "m.loom");
    let models = EXAMPLES.iter().map(|name| (*name, model(name))).chain([("expiring", expiring)]);
    let mut needed = Needed::default();
    for (name, model) in models {
        look(name, &model, target, false, &mut needed);
        if PRINTED_BY_PAPERS.contains(&name) {
            look(name, &model, target, true, &mut needed);
        }
    }
    [needed.versions > 0, needed.stamp > 0, needed.expires > 0]
}

#[test]
fn on_redis_versions_are_checked_and_times_of_expiry_are_written() {
    assert_eq!(needed_on("redis"), [true, false, true]);
}

#[test]
fn on_redis_with_search_it_is_the_same() {
    assert_eq!(needed_on("redis-search"), [true, false, true]);
}

#[test]
fn in_a_cluster_of_redis_stamps_are_versions() {
    assert_eq!(needed_on("redis-cluster"), [true, true, true]);
}

#[test]
fn on_mongodb_what_expires_starts_with_a_stamp() {
    assert_eq!(needed_on("mongodb"), [true, true, true]);
}

#[test]
fn on_dynamodb_lagging_rows_have_a_stamp_too() {
    assert_eq!(needed_on("dynamodb"), [true, true, true]);
}

#[test]
fn cassandra_counts_expiry_from_the_write() {
    assert_eq!(needed_on("cassandra"), [true, true, false]);
}

#[test]
fn hbase_counts_expiry_from_the_write() {
    assert_eq!(needed_on("hbase"), [true, true, false]);
}

#[test]
fn oracle_nosql_takes_nothing_besides_parameters() {
    assert_eq!(needed_on("oracle-nosql"), [false, false, false]);
}

#[test]
fn every_store_with_a_language_is_looked_at() {
    let with_language = targets().iter().filter(|target| target.language.is_some());
    let names: Vec<&str> = with_language.map(|target| target.capability.target).collect();
    let looked_at = [
        "redis",
        "redis-search",
        "redis-cluster",
        "mongodb",
        "dynamodb",
        "cassandra",
        "hbase",
        "oracle-nosql",
    ];
    assert_eq!(names, looked_at);
}
