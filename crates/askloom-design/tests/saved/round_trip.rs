//! What is written is read back as the same design.

use crate::{EXAMPLES, example, parse, without_spans};
use askloom_design::saved::{fingerprint, from_json, to_json};
use askloom_design::simple;
use askloom_model::{
    Collection, Comparison, Condition, Constant, Contents, Design, Id, InSet, Keeper, KeyField, Leaf, Member,
    Model, Nodes, Operand, Origin, Path, PositionId, Role, Source, Type,
};
use proptest::prelude::*;

fn round_trip(model: &Model, design: &Design) -> String {
    let text = to_json(model, design);
    let back = from_json(model, &text).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"));
    assert_eq!(back, without_spans(design.clone()), "{text}");
    assert_eq!(to_json(model, &back), text);
    assert_eq!(fingerprint(model, &back), fingerprint(model, design));
    text
}

/// The designs of the examples are kept, so that a change of the form is seen.
#[test]
fn designs_of_all_examples() {
    for name in EXAMPLES {
        let model = example(name);
        let text = round_trip(&model, &simple::design(&model));
        assert!(text.ends_with("}\n"));
        let path = crate::root().join(format!("crates/askloom-design/tests/saved/designs/{name}.design"));
        if std::env::var_os("ASKLOOM_BLESS").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), text, "{}", path.display());
    }
}

#[test]
fn reasons_and_method_leave_the_fingerprint_alone_and_keys_do_not() {
    let model = example("game");
    let design = simple::design(&model);
    let before = fingerprint(&model, &design);
    assert_eq!(before.len(), 32);
    let mut other = design.clone();
    other.method = "noam".to_owned();
    for id in other.collections.ids() {
        other.collections[id].reasons.clear();
    }
    assert_eq!(fingerprint(&model, &other), before);
    let copy = other.collections.iter().find(|(_, c)| !c.entry_key.is_empty()).map(|(id, _)| id).unwrap();
    other.collections[copy].entry_key[0].descending ^= true;
    assert_ne!(fingerprint(&model, &other), before);
    let other = parse(&[("game.loom", &renamed())]);
    assert_ne!(fingerprint(&other, &simple::design(&other)), before);
}

fn renamed() -> String {
    let text = std::fs::read_to_string(crate::root().join("examples/game/game.loom")).unwrap();
    text.replace("comments: text?", "remarks: text?")
}

const MODEL: &str = "\
abstract entity Base {
  id k: int
  `odd name`: text?
  tags: text[*]
  moods: enum(low, mid, high)[*]
}
entity Left extends Base { `a.b/c`: int?, ref to: Right?, part bits: Bit[*] }
entity Right extends Base { `a.b/c`: text?, ref many: Left[*] inverse back: Right[*], part bit: Bit? }
value Bit { x: decimal?, y: double?, on: date?, at: timestamp?, when: time?, u: uuid?, b: bool?, e: enum(p, q) }
";

/// Choices in place of a generator: proptest shrinks them.
struct Choices<'c> {
    model: &'c Model,
    left: std::slice::Iter<'c, u16>,
}

impl Choices<'_> {
    fn below(&mut self, limit: usize) -> usize {
        usize::from(self.left.next().copied().unwrap_or(0)) % limit.max(1)
    }

    fn members(&self, class: askloom_model::ClassId) -> Vec<Member> {
        let conceptual = &self.model.conceptual;
        let mut members: Vec<Member> = conceptual.all_members(class).collect();
        // What only a subclass has can be reached, too.
        for sub in conceptual.classes.ids().filter(|&sub| conceptual.is_kind_of(sub, class)) {
            members.extend(&conceptual.classes[sub].members);
        }
        members
    }

    fn design(&mut self) -> Design {
        let mut design = Design { method: "simple".to_owned(), ..Design::default() };
        simple::masters(self.model, Origin::Method, &mut design);
        for number in 0..1 + self.below(3) {
            let collection = self.collection(number);
            design.collections.push(collection);
        }
        design
    }

    fn collection(&mut self, number: usize) -> Collection {
        let conceptual = &self.model.conceptual;
        let entities: Vec<_> =
            conceptual.classes.iter().filter(|(_, class)| class.kind.is_entity()).map(|(id, _)| id).collect();
        let root = entities[self.below(entities.len())];
        let mut positions = askloom_model::Table::default();
        positions.push(askloom_model::Position { class: Some(root), from: None, outer: false, alias: None });
        for _ in 0..self.below(4) {
            let parent = PositionId::from_index(self.below(positions.len()));
            let Some(class) = positions[parent].class else { continue };
            let members = self.members(class);
            let step = members[self.below(members.len())];
            let class = match step {
                Member::End(end) => Some(conceptual.ends[end].target),
                Member::Attribute(_) => None,
            };
            let from = Some(askloom_model::Hop { parent, step });
            let alias = (self.below(2) == 0).then(|| format!("j{}", positions.len()));
            positions.push(askloom_model::Position { class, from, outer: self.below(2) == 0, alias });
        }
        let mut paths: Vec<Path> = Vec::new();
        for _ in 0..12 {
            let path = self.path(&positions);
            if askloom_plan::planner::is_single(conceptual, &path)
                && is_ordered(self.model, &path)
                && !paths.contains(&path)
            {
                paths.push(path);
            }
        }
        let keys = |choices: &mut Self| -> Vec<KeyField> {
            let count = choices.below(3).min(paths.len());
            let mut fields: Vec<KeyField> = Vec::new();
            for _ in 0..count {
                let path = paths[choices.below(paths.len())].clone();
                let descending = choices.below(2) == 0;
                if fields.iter().all(|field| field.path != path) {
                    fields.push(KeyField { path, descending });
                }
            }
            fields
        };
        let (mut block_key, entry_key) = (keys(self), keys(self));
        if self.below(4) == 3 {
            let leaf = Leaf::Bucket(1 + self.below(256) as u32);
            let path = Path { position: PositionId::from_index(0), hops: Vec::new(), leaf };
            block_key.push(KeyField { path, descending: false });
        }
        let condition = (self.below(3) > 0).then(|| self.condition(&positions, 0));
        let aggregates = positions.iter().filter(|(_, position)| {
            position.class.is_some_and(|class| self.model.conceptual.is_aggregate(class))
        });
        let aggregates: Vec<PositionId> = aggregates.map(|(id, _)| id).collect();
        let contents = match self.below(3) {
            2 => Contents::Nested(Nodes { fields: paths, whole: aggregates }),
            _ => Contents::Fields(paths),
        };
        Collection {
            origin: if self.below(2) == 0 { Origin::Method } else { Origin::Added },
            keeper: Keeper::Ours,
            partition_of: None,
            name: format!("C{number}"),
            role: if self.below(4) == 0 { Role::Index } else { Role::Copy },
            source: Source { root, positions, condition },
            block_key,
            entry_key,
            contents,
            reasons: vec!["\"made\" up\n".to_owned()],
        }
    }

    fn path(&mut self, positions: &askloom_model::Table<PositionId, askloom_model::Position>) -> Path {
        let conceptual = &self.model.conceptual;
        let position = PositionId::from_index(self.below(positions.len()));
        let mut class = positions[position].class;
        let mut hops = Vec::new();
        while let Some(at) = class.filter(|_| self.below(3) == 2) {
            let ends: Vec<_> = self
                .members(at)
                .into_iter()
                .filter_map(|member| match member {
                    Member::End(end) => Some(end),
                    Member::Attribute(_) => None,
                })
                .collect();
            if ends.is_empty() {
                break;
            }
            let end = ends[self.below(ends.len())];
            hops.push(end);
            class = Some(conceptual.ends[end].target);
        }
        let leaf = match class.filter(|_| self.below(5) > 0) {
            Some(class) => {
                let members = self.members(class);
                match members[self.below(members.len())] {
                    Member::Attribute(id) => Leaf::Attribute(id),
                    Member::End(id) => Leaf::Reference(id),
                }
            }
            None => Leaf::Itself,
        };
        Path { position, hops, leaf }
    }

    fn constant(&mut self, path: &Path) -> Operand {
        let ty = match path.leaf {
            Leaf::Attribute(id) => self.model.conceptual.attributes[id].ty.clone(),
            Leaf::Reference(_) | Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => Type::Text,
        };
        let constant = match ty {
            Type::Int | Type::Long => Constant::Int([i64::MIN, -1, 0, 7, i64::MAX][self.below(5)]),
            Type::Decimal => {
                Constant::Decimal(["0", "-1.5", "12345678901234567890.25"][self.below(3)].to_owned())
            }
            Type::Double => Constant::Double([0.1, 1e300, -2.0, 5e-324][self.below(4)]),
            Type::Bool => Constant::Bool(self.below(2) == 0),
            Type::Date => Constant::Date(jiff::civil::date(2026, 1, 2)),
            Type::Time => Constant::Time(jiff::civil::time(1, 2, 3, 4_000_000)),
            Type::Timestamp(_) => Constant::Timestamp("2026-01-02T03:04:05.006Z".parse().unwrap()),
            Type::Uuid => Constant::Uuid("019a7c2e-4b00-7000-8000-000000000001".parse().unwrap()),
            Type::Enum(values) => Constant::Enum(u32::try_from(self.below(values.len())).unwrap()),
            Type::Text | Type::Blob | Type::Geo | Type::Json => match self.below(4) {
                0 => Constant::Null,
                1 => Constant::Text("it's \"so\"\\ \u{1}".to_owned()),
                _ => Constant::Text("a".to_owned()),
            },
        };
        Operand::Constant(constant)
    }

    fn condition(
        &mut self,
        positions: &askloom_model::Table<PositionId, askloom_model::Position>,
        depth: usize,
    ) -> Condition {
        let path = self.path(positions);
        let value = Operand::Path(path.clone());
        let kinds = if depth > 2 { 10 } else { 14 };
        match self.below(kinds) {
            0 | 1 => {
                let ops =
                    [Comparison::Equal, Comparison::NotEqual, Comparison::Less, Comparison::GreaterOrEqual];
                let (op, right) = (ops[self.below(4)], self.constant(&path));
                if self.below(2) == 0 {
                    Condition::Compare { left: right, op, right: value }
                } else {
                    Condition::Compare { left: value, op, right }
                }
            }
            2 => Condition::Between { low: self.constant(&path), high: self.constant(&path), value },
            3 => {
                let items = (0..self.below(4)).map(|_| self.constant(&path)).collect();
                Condition::In { value, set: InSet::List(items) }
            }
            4 => Condition::StartsWith { value, prefix: self.constant(&path) },
            5 => Condition::IsNull { value },
            6 => Condition::Matches { value, words: self.constant(&path) },
            7 => Condition::Under { value, of: self.constant(&path) },
            8 => Condition::Within { value, km: self.constant(&path), of: self.constant(&path) },
            9 => Condition::InBox { value, low: self.constant(&path), high: self.constant(&path) },
            10 => Condition::Not(Box::new(self.condition(positions, depth + 1))),
            11 => match self.condition(positions, 3) {
                predicate if predicate.has_negated_form() => Condition::Negated(Box::new(predicate)),
                comparison => Condition::Not(Box::new(comparison)),
            },
            12 => {
                Condition::And((0..2 + self.below(2)).map(|_| self.condition(positions, depth + 1)).collect())
            }
            _or => {
                Condition::Or((0..2 + self.below(2)).map(|_| self.condition(positions, depth + 1)).collect())
            }
        }
    }
}

fn is_ordered(model: &Model, path: &Path) -> bool {
    match path.leaf {
        Leaf::Attribute(id) => model.conceptual.attributes[id].ty.is_ordered(),
        Leaf::Reference(id) => model.conceptual.ends[id].kind != askloom_model::RelationshipKind::Composition,
        Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_designs(choices in prop::collection::vec(any::<u16>(), 0..160)) {
        thread_local! {
            static PARSED: Model = parse(&[("m.loom", MODEL)]);
        }
        PARSED.with(|model| {
            let design = Choices { model, left: choices.iter() }.design();
            round_trip(model, &design);
        });
    }
}
