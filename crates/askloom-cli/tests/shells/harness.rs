//! The same for every shell: all examples by all methods.

use crate::bound::EXPIRES;
use crate::data::{EXAMPLES, aggregates, arguments, at_once, example, filled, now, schema};
use crate::samples::{Contents, samples_of, table_of};
use crate::spoken::Spoken;
use crate::writes::Held;
use askloom_design::method::{self, Method, Options as MethodOptions};
use askloom_engine::Schema;
use askloom_engine::driver::{Driver, Engine, MemoryDriver, NoClock};
use askloom_engine::execute::{Arguments, PreparedQuery};
use askloom_model::{
    CollectionId, ColumnValue, Contents as CollectionContents, Design, Id, Identity, Leaf, Member, Model,
    Path, Plan, Query, Record, Rule, RuleStep, Span, Value,
};
use askloom_oracle::State;
use askloom_plan::cost::Costing;
use askloom_plan::layout::{Entry, Layout, Table};
use askloom_plan::lower::values;
use askloom_plan::program::{self, Action, How, Program, Read};
use askloom_plan::{ask, planner};
use askloom_target::Target;
use askloom_target::generate::{Language, Options, Sample, Source, Statement};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A real shell of a real server. A driver speaks through it.
pub(crate) trait Shell: Send {
    /// The target, as in `--target`.
    fn target(&self) -> &'static str;

    /// A place of its own for one design: nothing is left there of another one. Gives the options to print with.
    fn clear(&mut self, name: &str) -> Options;

    /// Runs a file as it was printed.
    fn run(&mut self, text: &str) -> Result<(), String>;

    /// Runs one read as it is printed, and gives the records that it finds, in their order.
    fn read(&mut self, layout: &Layout, read: &Read) -> Result<Vec<Sample>, String>;
}

/// What has been checked.
#[derive(Debug, Default)]
pub(crate) struct Count {
    pub(crate) designs: usize,
    pub(crate) records: usize,
    pub(crate) queries: usize,
    /// Of those, how many were one statement whose rows were the answer as it stood.
    pub(crate) direct: usize,
    pub(crate) statements: usize,
    pub(crate) rows: usize,
    /// Writes that changed something.
    pub(crate) writes: usize,
    pub(crate) kinds: BTreeSet<&'static str>,
    /// Programs that do not change all that the write changes.
    pub(crate) incomplete: Vec<String>,
    /// Writes for which no parameters were found that change something, in one design or another.
    pub(crate) unwritten: BTreeSet<String>,
}

/// How a design is tried.
#[derive(Debug, Clone, Copy)]
pub(crate) struct What {
    /// With values that break things.
    pub(crate) nasty: bool,
    pub(crate) writes: bool,
}

/// Tables, and what has been done to them.
type After<'a> = (&'a BTreeSet<CollectionId>, &'a dyn Fn() -> String);

/// Of the aggregates that were read.
pub(crate) type Versions = BTreeMap<(CollectionId, Identity), u64>;

/// Parameters that each query is asked with.
const ASKED: usize = 3;

pub(crate) fn every_example(shell: &mut dyn Shell) {
    let mut count = Count::default();
    for (number, name) in EXAMPLES.into_iter().enumerate() {
        let model = example(name);
        for (at, method) in Method::ALL.into_iter().enumerate() {
            // Values that break things, and plain ones.
            let nasty = method != Method::Qodm;
            let start = std::time::Instant::now();
            // Writes take longest: those of each example by two or three methods, and each method with three examples.
            let writes = (number + at).is_multiple_of(2);
            one(shell, name, &model, method, What { nasty, writes }, &mut count);
            println!("{} {name} {}: {:.1?}", shell.target(), method.name(), start.elapsed());
        }
    }
    for name in ["inbox", "shop"] {
        elements(shell, name, &mut count);
    }
    println!("{}: {count:?}", shell.target());
    assert!(count.incomplete.is_empty(), "{}", count.incomplete.join("\n"));
    assert!(count.unwritten.is_empty(), "no parameters: {:?}", count.unwritten);
    assert!(count.writes > 150 && count.kinds.len() == 8, "{count:?}");
    assert!(count.queries > 100 && count.rows > 100 && count.direct > 2, "{count:?}");
}

/// A design in which each element of a list is an entry of its own.
fn elements(shell: &mut dyn Shell, name: &str, count: &mut Count) {
    let model = example(name);
    let target = askloom_target::target(shell.target()).unwrap();
    let design = elements_apart(&model, target);
    let start = std::time::Instant::now();
    let what = What { nasty: true, writes: true };
    one_design(shell, format!("{name}_elements"), &model, design, what, count);
    println!("{} {name} elements: {:.1?}", shell.target(), start.elapsed());
}

fn elements_apart(model: &Model, target: &Target) -> Design {
    let costing = Costing::from(target);
    let mut design = method::design(Method::Noam, model, &costing, &MethodOptions::default()).design;
    for id in design.collections.ids().collect::<Vec<_>>() {
        let collection = &mut design.collections[id];
        if let CollectionContents::Aggregate(rules) = &mut collection.contents {
            let conceptual = &model.conceptual;
            let lists = conceptual.all_members(collection.source.root).filter(|&member| match member {
                Member::Attribute(id) => conceptual.attributes[id].list,
                Member::End(id) => conceptual.ends[id].stored && conceptual.ends[id].cardinality.is_many(),
            });
            let rule = |steps| Rule { class: Some(collection.source.root), steps, span: Span::default() };
            *rules = lists
                .map(|list| conceptual.member_name(list).to_owned())
                .map(|name| rule(vec![RuleStep::Field { name, each: true }]))
                .chain([rule(Vec::new())])
                .collect();
        }
    }
    design
}

/// Without a shell: all that a write changes is in its program, for every store.
#[test]
#[ignore = "slow"]
fn every_write_is_in_its_program() {
    let mut count = Count::default();
    for target in ["mongodb", "cassandra"].map(|name| askloom_target::target(name).unwrap()) {
        for name in EXAMPLES {
            let model = example(name);
            let designs = Method::ALL.map(|method| {
                let costing = Costing::from(target);
                (method.name(), method::design(method, &model, &costing, &MethodOptions::default()).design)
            });
            for (method, design) in designs.into_iter().chain([("elements", elements_apart(&model, target))])
            {
                let costing = Costing::from(target);
                let schema = schema(model.clone(), design, target);
                let layout = Layout::new(&schema.model.conceptual, &schema.design);
                let mut held = Held::new(&schema, filled(&schema, true));
                let place = format!("{} {name} {}", target.capability.target, method);
                let trial = Trial { schema: &schema, layout: &layout, target, costing, place };
                trial.writes(&mut None, &mut held, true, &Options::default(), &mut count);
            }
        }
    }
    println!("{} writes, {:?}, without parameters {:?}", count.writes, count.kinds, count.unwritten);
    assert!(count.incomplete.is_empty(), "{}", count.incomplete.join("\n"));
}

fn one(shell: &mut dyn Shell, name: &str, model: &Model, method: Method, what: What, count: &mut Count) {
    let target = askloom_target::target(shell.target()).unwrap();
    let made = method::design(method, model, &Costing::from(target), &MethodOptions::default());
    let place = format!("{}_{}", name.replace('-', "_"), method.name());
    one_design(shell, place, model, made.design, what, count);
}

/// Puts made-up records in, reads them back, asks all queries and does the writes.
pub(crate) fn one_design(
    shell: &mut dyn Shell,
    place: String,
    model: &Model,
    design: Design,
    what: What,
    count: &mut Count,
) {
    let target = askloom_target::target(shell.target()).unwrap();
    let schema = schema(model.clone(), design, target);
    let memory = filled(&schema, what.nasty);
    holds(shell, place, &schema, memory, ASKED, what, count);
}

/// Puts these records in, reads them back, asks each query so many times and does the writes.
pub(crate) fn holds(
    shell: &mut dyn Shell,
    place: String,
    schema: &Arc<Schema>,
    memory: MemoryDriver,
    asked: usize,
    what: What,
    count: &mut Count,
) {
    let target = askloom_target::target(shell.target()).unwrap();
    let costing = Costing::from(target);
    let questions = method::questions(&schema.model);
    let layout = Layout::new(&schema.model.conceptual, &schema.design).asked_by(&questions);
    let held = samples_of(schema, &memory);
    let options = shell.clear(&place);
    let trial = Trial { schema, layout: &layout, target, costing, place };
    trial.put(shell, &held, options.clone());
    let _ = trial.comes_back(shell, &Contents::of_memory(schema, &memory), None);
    trial.queries(shell, &aggregates(schema, &memory), asked, count);
    count.designs += 1;
    count.records += held.len();
    if what.writes {
        trial.writes(&mut Some(shell), &mut Held::new(schema, memory), what.nasty, &options, count);
    }
}

pub(crate) struct Trial<'t> {
    pub(crate) schema: &'t Arc<Schema>,
    pub(crate) layout: &'t Layout,
    pub(crate) target: &'static Target,
    pub(crate) costing: Costing<'t>,
    pub(crate) place: String,
}

impl Trial<'_> {
    pub(crate) fn language(&self) -> &'static dyn Language {
        self.target.language.unwrap()
    }

    pub(crate) fn put(&self, shell: &mut dyn Shell, held: &[Sample], options: Options) {
        // With a write, what writes need is printed, too.
        let program = Program {
            name: "nothing".to_owned(),
            parameters: Vec::new(),
            steps: Vec::new(),
            retrieval: None,
            client: Vec::new(),
            missing: None,
        };
        let statements = vec![Statement { program, text: String::new(), write: true }];
        let source = Source { layout: self.layout, statements, sample: kept(held), options };
        let made = self.language().generate(&source);
        for file in made.files.iter().filter(|file| file.run.is_some()) {
            shell.run(&file.text()).unwrap_or_else(|why| panic!("{}, {}: {why}", self.place, file.name));
        }
    }

    /// All records of each table, or of some, are those that were put in.
    pub(crate) fn comes_back(
        &self,
        shell: &mut dyn Shell,
        held: &Contents,
        of: Option<After<'_>>,
    ) -> Versions {
        let mut versions = Versions::new();
        let wanted = |table: &&Table| of.is_none_or(|(some, _)| some.contains(&table.collection));
        let told = || of.map_or_else(String::new, |(_, told)| told());
        for table in self.layout.tables().iter().filter(wanted) {
            let read = Read::new(table.collection, How::All);
            let found = shell.read(self.layout, &read);
            let mut found = found.unwrap_or_else(|why| panic!("{}, {}: {why}", self.place, table.name));
            found.retain(|record| table_of(record) == table.collection);
            let found = Contents::of_samples(self.schema, &found);
            let found = found.unwrap_or_else(|why| panic!("{}, {}: {why}", self.place, table.name));
            if let Some(different) = found.difference(held, table.collection) {
                panic!("{}, {}: {different} {}", self.place, table.name, told());
            }
            versions.extend(found.versions);
        }
        versions
    }

    fn queries(&self, shell: &mut dyn Shell, stored: &[Record], asked: usize, count: &mut Count) {
        let model = &self.schema.model;
        let state = State::of_stored(&model.conceptual, stored.iter().map(|record| (record.clone(), now())));
        let asks = model.workload.asks.iter();
        let tuples: Vec<Query> = asks.filter_map(|one| ask::query(&model.conceptual, one)).collect();
        let plain = model.workload.queries.len();
        for (index, query) in model.workload.queries.iter().chain(&tuples).enumerate() {
            let Ok(plan) = planner::answer(&self.costing, model, &self.schema.design, query) else {
                continue;
            };
            for n in 0..if query.parameters.is_empty() { 1 } else { asked } {
                let given = arguments(&model.conceptual, query, stored, n);
                let parameters = given.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
                let mut expected = state.query(model, query, &parameters, now()).unwrap();
                if index >= plain {
                    expected.dedup();
                }
                count.queries += 1;
                count.rows += expected.len();
                self.answers(shell, query, &plan, &given, &expected, index >= plain, count);
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "all of it is one question")]
    pub(crate) fn answers(
        &self,
        shell: &mut dyn Shell,
        query: &Query,
        plan: &Plan,
        given: &Arguments,
        expected: &[Vec<Value>],
        tuples: bool,
        count: &mut Count,
    ) {
        let told = || format!("{}, {} with {given:?}", self.place, query.header.name);
        let program = program::query(self.layout, query, plan, Some(&values(query, given)));
        if program.is_direct()
            && let Some(rows) = self.direct(shell, query, plan, &program)
        {
            assert_eq!(rows, expected, "{}: as the shell gives them", told());
            count.direct += 1;
        }
        let spoken = Spoken::new(self.schema, self.layout, &program, shell);
        let spoken = Arc::new(spoken.unwrap_or_else(|why| panic!("{}: {why}", told())));
        let driver = Arc::clone(&spoken) as Arc<dyn Driver + '_>;
        let engine = Engine::new(driver, Arc::clone(self.schema), Box::new(NoClock));
        let prepared = PreparedQuery::new(self.schema, query, plan);
        let answer = at_once(engine.run(&prepared, given, now(), None));
        let mut answer = answer.unwrap_or_else(|why| panic!("{}: {why}\n{program:#?}", told()));
        // Linked twice is linked.
        if tuples {
            answer.rows.dedup();
        }
        let paged = answer.next.is_some();
        let expected = if paged { &expected[..answer.rows.len()] } else { expected };
        assert_eq!(answer.rows, expected, "{}", told());
        count.statements += spoken.statements();
    }

    /// The rows that one statement gives, in its order. Nothing if a column is in no column of the table.
    fn direct(
        &self,
        shell: &mut dyn Shell,
        query: &Query,
        plan: &Plan,
        program: &Program,
    ) -> Option<Vec<Vec<Value>>> {
        let Action::Read(read) = &program.steps.first()?.action else { return None };
        let table = self.layout.table(read.table)?;
        let collection = &self.schema.design.collections[read.table];
        let held: Vec<Option<Path>> = collection.held().map(|path| in_query(path, plan)).collect();
        let mut columns = Vec::new();
        for column in &query.columns {
            let ColumnValue::Path(path) = &column.value else { return None };
            let at = held.iter().position(|held| held.as_ref() == Some(path)).map(Cell::Held);
            columns.push(at.or_else(|| self.identity(plan, query, path))?);
        }
        let found = shell.read(self.layout, read).unwrap_or_else(|why| panic!("{}: {why}", self.place));
        let own = found.into_iter().filter(|record| table_of(record) == read.table);
        let row = |record: Sample| {
            let Sample::Row { cells, .. } = record else { return Vec::new() };
            let Ok(Entry::Row { mut block, sort, values, row, .. }) = table.entry(collection, &cells) else {
                return Vec::new();
            };
            block.extend(sort);
            block.extend(values);
            let value = |cell: &Cell| match *cell {
                Cell::Held(at) => block[at].clone(),
                Cell::Identity { position, part } => match &row[position] {
                    Value::Reference(parts) => parts[part].clone(),
                    other => other.clone(),
                },
            };
            columns.iter().map(value).collect()
        };
        Some(own.map(row).collect())
    }

    /// Where the identity of a row has a member of an instance, if that is identified by attributes alone.
    fn identity(&self, plan: &Plan, query: &Query, path: &Path) -> Option<Cell> {
        let conceptual = &self.schema.model.conceptual;
        let class = query.positions[path.position].class?;
        let identifier = &conceptual.classes[class].identifier;
        let plain = identifier.iter().all(|member| matches!(member, Member::Attribute(_)));
        let Leaf::Attribute(attribute) = path.leaf else { return None };
        let part = identifier.iter().position(|member| *member == Member::Attribute(attribute))?;
        let position = plan.access.positions.iter().position(|at| *at == Some(path.position))?;
        (plain && path.hops.is_empty()).then_some(Cell::Identity { position, part })
    }
}

/// Where a row has the value of a column.
enum Cell {
    /// Among its fields.
    Held(usize),
    /// In what identifies an instance.
    Identity { position: usize, part: usize },
}

/// With another time to expire at: no server takes anything away while it is looked at, whenever that is.
fn kept(held: &[Sample]) -> Vec<Sample> {
    let mut all = held.to_vec();
    for record in &mut all {
        if let Sample::Block { block, .. } = record
            && let Some(expires) = &mut block.expires
        {
            expires.at.value = Some(Value::Int(EXPIRES));
        }
    }
    all
}

/// A path of a collection as one of the query.
fn in_query(path: &Path, plan: &Plan) -> Option<Path> {
    let position = plan.access.positions.get(path.position.index()).copied()??;
    Some(Path { position, ..path.clone() })
}
