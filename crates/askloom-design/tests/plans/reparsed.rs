//! What is printed as a condition, the language reads as the same condition: those of the examples, those of the steps
//! of their plans, and random ones.

use crate::examples::{EXAMPLES, designed, example, root};
use askloom_lang::{Memory, check};
use askloom_model::{
    ClassId, Comparison, Conceptual, Condition, Constant, InSet, Leaf, Member, Model, Operand, Parameter,
    ParameterType, Path, Precision, Query, Span, Type,
};
use askloom_plan::planner::{self, condition_text, is_single};
use proptest::prelude::*;

/// A condition with the names of its parameters in place of their numbers, which depend on the rest of the statement.
fn named(condition: &Condition, parameters: &[Parameter]) -> String {
    let text = format!("{condition:?}");
    parameters.iter().enumerate().fold(text, |text, (index, parameter)| {
        text.replace(&format!("Parameter({index})"), &format!("Parameter(:{})", parameter.name))
    })
}

/// The condition of the query of this name in a model.
fn condition_of(world: &Memory, main: &str, name: &str) -> String {
    let checked = check(world, std::path::Path::new(main));
    let errors: Vec<_> = checked.diagnostics.iter().filter(|d| d.is_error()).map(|d| &d.message).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let query = checked.model.workload.queries.iter().find(|query| query.header.name == name).unwrap();
    named(query.condition.as_ref().unwrap(), &query.parameters)
}

/// The text of an example, in which a query gets other conditions.
struct Text {
    main: String,
    text: String,
    others: Memory,
}

impl Text {
    fn of(name: &str) -> Self {
        let folder = root().join("examples").join(name);
        let main = format!("{name}.loom");
        let text = std::fs::read_to_string(folder.join(&main)).unwrap();
        let parts = std::fs::read_to_string(folder.join("parts.loom"));
        let others =
            parts.map_or_else(|_| Memory::default(), |parts| Memory::default().with("parts.loom", parts));
        Self { main, text, others }
    }

    /// What the query means with this condition in place of its own.
    fn with(&self, query: &Query, condition: &str) -> String {
        let Span { start, end, .. } = query.header.declaration;
        let (start, end) = (start as usize, end as usize);
        let statement = &self.text[start..end];
        let at = statement.find("WHERE ").unwrap() + "WHERE ".len();
        let clauses = ["GROUP BY", "ORDER BY", "LIMIT", "PAGE"];
        let rest = clauses.iter().filter_map(|clause| statement[at..].find(clause)).min();
        let rest = rest.map_or("", |rest| &statement[at + rest..]);
        let text =
            format!("{}{}{condition}\n{rest}{}", &self.text[..start], &statement[..at], &self.text[end..]);
        condition_of(&self.others.clone().with(&self.main, text), &self.main, &query.header.name)
    }
}

/// The conditions in the words of a plan's step.
fn in_words(words: &str) -> Option<&str> {
    let text = match words.split_once(' ')? {
        ("keep", condition) => condition,
        ("get" | "read" | "search", rest) => rest.split_once(" by ")?.1,
        _other_step => return None,
    };
    let ends = [" in each ", ", in order of ", ", as far as the limit"];
    let end = ends.iter().filter_map(|end| text.find(end)).min();
    Some(&text[..end.unwrap_or(text.len())])
}

#[test]
fn conditions_of_the_examples_and_of_their_plans() {
    let mut seen = 0;
    for name in EXAMPLES {
        let (model, design) = designed(example(name));
        let source = Text::of(name);
        for query in &model.workload.queries {
            let Some(condition) = &query.condition else { continue };
            let printed = condition_text(&model.conceptual, query).unwrap();
            assert_eq!(source.with(query, &printed), named(condition, &query.parameters), "{printed}");
            let plan = planner::answer(&askloom_target::embedded::costing(), &model, &design, query).unwrap();
            // What a plan answers in place of its query, and what it finds first, have positions of their own.
            if plan.reduced.is_some() || plan.first.is_some() {
                continue;
            }
            if let Some(filter) = &plan.filter {
                let printed = Query { condition: Some(filter.clone()), ..query.clone() };
                let text = condition_text(&model.conceptual, &printed).unwrap();
                assert_eq!(source.with(query, &text), named(filter, &query.parameters), "{text}");
            }
            for line in planner::outline(&model, &design, query, &plan) {
                if let Some(text) = in_words(&line.words) {
                    source.with(query, text);
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 20, "{seen} conditions of steps");
}

const CLASSES: &str = "
entity Order {
  id number: int
  note: text?
  `two words`: text?
  `not`: int?
  `null`: text?
  `left`: int?
  paid: bool
  mood: enum(low, high, `so so`)
  tags: text[*]
  moods: enum(low, high)[*]
  total: decimal?
  share: double?
  many: long
  day: date
  hour: time?
  at: timestamp
  key: uuid?
  extra: json?
  ref parent: Order? @tree inverse children
  ref kind: Kind?
  ref `by`: Kind[*]
  part lines: Line[*]
}
entity Kind { id which: enum(small, large), title: text? }
value Line { place: geo?, about: text?, `true`: bool?, ref kind: Kind? }
";

/// FROM with joins, with and without aliases.
const FROM: [&str; 3] = [
    "Order",
    "Order JOIN children AS child, child.lines AS line LEFT JOIN kind AS sort, tags AS tag, moods AS feeling",
    "Order JOIN lines LEFT JOIN parent",
];

fn statement(from: &str, condition: &str) -> Memory {
    let text = format!("{CLASSES}query q: SELECT COUNT(*) FROM {from}{condition}\n");
    Memory::default().with("m.loom", text)
}

/// What a path leads to.
#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Value(Type),
    Identity(ClassId),
    /// A value object, which cannot be compared.
    Whole,
}

/// Makes conditions by choices, which proptest shrinks.
struct Choices<'c> {
    query: &'c Query,
    paths: &'c [(Path, Kind)],
    conceptual: &'c Conceptual,
    left: std::slice::Iter<'c, u16>,
    parameters: Vec<Parameter>,
}

/// Every path of a query with at most two hops behind its position.
fn paths(model: &Model, query: &Query) -> Vec<(Path, Kind)> {
    let conceptual = &model.conceptual;
    let mut all = Vec::new();
    let mut open = Vec::new();
    for (position, row) in query.positions.iter() {
        let kind = match (row.class, row.from.map(|hop| hop.step)) {
            (Some(class), _) => of_class(conceptual, class),
            (None, Some(Member::Attribute(id))) => Kind::Value(conceptual.attributes[id].ty.clone()),
            (None, _) => Kind::Whole,
        };
        // Without an alias, the name of a join is the reference that it follows.
        if row.from.is_none() || row.alias.is_some() {
            all.push((Path { position, hops: Vec::new(), leaf: Leaf::Itself }, kind));
        }
        open.extend(row.class.map(|class| (position, Vec::new(), class)));
    }
    while let Some((position, hops, class)) = open.pop() {
        for member in conceptual.all_members(class) {
            let leaf = match member {
                Member::Attribute(id) => {
                    (Leaf::Attribute(id), Kind::Value(conceptual.attributes[id].ty.clone()))
                }
                Member::End(id) => (Leaf::Reference(id), of_class(conceptual, conceptual.ends[id].target)),
            };
            // The language takes a path along a join for one of the joined position.
            let joined = query
                .positions
                .iter()
                .any(|(_, row)| row.from.is_some_and(|hop| hop.parent == position && hop.step == member));
            if joined && hops.is_empty() {
                continue;
            }
            all.push((Path { position, hops: hops.clone(), leaf: leaf.0 }, leaf.1));
            if let Member::End(end) = member
                && hops.len() < 2
            {
                let hops = hops.iter().copied().chain([end]).collect();
                open.push((position, hops, conceptual.ends[end].target));
            }
        }
    }
    all
}

fn of_class(conceptual: &Conceptual, class: ClassId) -> Kind {
    if conceptual.classes[class].kind.is_entity() { Kind::Identity(class) } else { Kind::Whole }
}

impl Choices<'_> {
    fn below(&mut self, limit: usize) -> usize {
        usize::from(self.left.next().copied().unwrap_or(0)) % limit.max(1)
    }

    fn parameter(&mut self) -> usize {
        // Only its name is printed.
        let ty = ParameterType::Basic(Type::Text);
        let name = format!("p{}", self.parameters.len());
        self.parameters.push(Parameter { name, ty, span: Span::default() });
        self.parameters.len() - 1
    }

    /// A constant, if the kind has literals.
    fn constant(&mut self, kind: &Kind) -> Option<Constant> {
        let ty = match kind {
            Kind::Value(ty) => ty.clone(),
            Kind::Identity(class) => match self.conceptual.classes[*class].identifier.as_slice() {
                [Member::Attribute(id)] => self.conceptual.attributes[*id].ty.clone(),
                _several => return None,
            },
            Kind::Whole => return None,
        };
        Some(match ty {
            Type::Int => Constant::Int([i64::from(i32::MIN), -1, 0, 7][self.below(4)]),
            Type::Long => Constant::Int([i64::MIN, -1, 0, i64::MAX][self.below(4)]),
            Type::Decimal => {
                Constant::Decimal(["0", "-1.5", "12345678901234567890.25"][self.below(3)].to_owned())
            }
            Type::Double => Constant::Double([0.1, 1e300, -2.0, 5e-324][self.below(4)]),
            Type::Bool => Constant::Bool(self.below(2) == 0),
            Type::Date => Constant::Date(jiff::civil::date(2026, 1, 2)),
            Type::Time => Constant::Time(jiff::civil::time(1, 2, 3, 4_000_000)),
            Type::Timestamp(Precision::Millis | Precision::Micros | Precision::Nanos) => {
                Constant::Timestamp("2026-01-02T03:04:05.006Z".parse().unwrap())
            }
            Type::Uuid => Constant::Uuid("019a7c2e-4b00-7000-8000-000000000001".parse().unwrap()),
            Type::Enum(values) => Constant::Enum(u32::try_from(self.below(values.len())).unwrap()),
            Type::Text => Constant::Text(
                ["a", "it's \"so\"\\ -- // `", "", ":p0 AND (", "é\u{1}"][self.below(5)].to_owned(),
            ),
            Type::Blob | Type::Geo | Type::Json => return None,
        })
    }

    /// What stands beside a path of this kind.
    fn operand(&mut self, kind: &Kind) -> Operand {
        let same: Vec<&Path> =
            self.paths.iter().filter(|(_, other)| other == kind).map(|(path, _)| path).collect();
        match self.below(3) {
            0 => Operand::Parameter(self.parameter()),
            1 => match self.constant(kind) {
                Some(constant) => Operand::Constant(constant),
                None => Operand::Parameter(self.parameter()),
            },
            _path => Operand::Path(same[self.below(same.len())].clone()),
        }
    }

    fn predicate(&mut self) -> Condition {
        let (path, kind) = self.paths[self.below(self.paths.len())].clone();
        let value = Operand::Path(path);
        let (ordered, equal) = match &kind {
            Kind::Value(Type::Json | Type::Geo) | Kind::Whole => (false, false),
            Kind::Value(ty) => (ty.is_ordered(), true),
            Kind::Identity(_) => (false, true),
        };
        let is_tree =
            matches!(&kind, Kind::Identity(class) if self.conceptual.classes[*class].name == "Order");
        let is_text = kind == Kind::Value(Type::Text);
        let is_place = kind == Kind::Value(Type::Geo);
        match self.below(10) {
            0 if ordered => {
                let op = [
                    Comparison::Less,
                    Comparison::LessOrEqual,
                    Comparison::Greater,
                    Comparison::GreaterOrEqual,
                ];
                let op = op[self.below(4)];
                Condition::Compare { left: value, op, right: self.operand(&kind) }
            }
            1 if ordered => Condition::Between { value, low: self.operand(&kind), high: self.operand(&kind) },
            2 if equal => Condition::In { value, set: InSet::Parameter(self.parameter()) },
            3 if equal => {
                let items = (0..=self.below(3)).map(|_| self.operand(&kind)).collect();
                Condition::In { value, set: InSet::List(items) }
            }
            4 if equal => {
                let op = [Comparison::Equal, Comparison::NotEqual][self.below(2)];
                match self.operand(&kind) {
                    // Of two paths, the first is what the predicate is about.
                    right @ Operand::Path(_) => Condition::Compare { left: value, op, right },
                    left if self.below(2) == 0 => Condition::Compare { left, op, right: value },
                    right => Condition::Compare { left: value, op, right },
                }
            }
            5 | 6 if is_text => Condition::StartsWith { value, prefix: self.operand(&kind) },
            7 if is_text => Condition::Matches { value, words: self.operand(&kind) },
            5 | 6 if is_tree => Condition::Under { value, of: self.operand(&kind) },
            7 if is_tree => Condition::Above { value, of: self.operand(&kind) },
            0..=3 if is_place => {
                let km = self.operand(&Kind::Value(Type::Double));
                Condition::Within { value, km, of: self.operand(&kind) }
            }
            4..=7 if is_place => {
                Condition::InBox { value, low: self.operand(&kind), high: self.operand(&kind) }
            }
            _any => Condition::IsNull { value },
        }
    }

    fn condition(&mut self, depth: usize) -> Condition {
        match self.below(if depth > 2 { 6 } else { 9 }) {
            0..=2 => self.predicate(),
            3 | 4 => match self.predicate() {
                // The language makes NOT of what it negates about single values.
                many if many.has_negated_form()
                    && !many.paths().iter().all(|path| is_single(self.conceptual, path)) =>
                {
                    Condition::Negated(Box::new(many))
                }
                single => Condition::Not(Box::new(single)),
            },
            5 | 6 => Condition::Not(Box::new(self.condition(depth + 1))),
            7 => Condition::And((0..2 + self.below(2)).map(|_| self.condition(depth + 1)).collect()),
            _or => Condition::Or((0..2 + self.below(2)).map(|_| self.condition(depth + 1)).collect()),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_conditions(from in 0..FROM.len(), choices in prop::collection::vec(any::<u16>(), 1..60)) {
        thread_local! {
            static QUERIES: Vec<(Model, Vec<(Path, Kind)>)> = FROM.iter().map(|from| {
                let checked = check(&statement(from, ""), std::path::Path::new("m.loom"));
                assert_eq!(checked.errors, 0, "{:?}", checked.diagnostics);
                let paths = paths(&checked.model, &checked.model.workload.queries[0]);
                (checked.model, paths)
            }).collect();
        }
        QUERIES.with(|queries| {
            let (model, paths) = &queries[from];
            let (query, conceptual) = (&model.workload.queries[0], &model.conceptual);
            let mut made = Choices { query, paths, conceptual, left: choices.iter(), parameters: Vec::new() };
            let condition = made.condition(0);
            let parameters = made.parameters;
            let query = Query { condition: Some(condition.clone()), parameters, ..made.query.clone() };
            let text = condition_text(conceptual, &query).unwrap();
            let again = condition_of(&statement(FROM[from], &format!(" WHERE {text}")), "m.loom", "q");
            prop_assert_eq!(again, named(&condition, &query.parameters), "{}", text);
            Ok(())
        })?;
    }
}
