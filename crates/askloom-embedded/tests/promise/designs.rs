//! Random designs: masters, and on top of them copies and indexes that no method would choose.

use crate::random::Random;
use askloom_design::method::kvmod::merge::Threshold;
use askloom_design::method::{self, Method, Options};
use askloom_design::simple;
use askloom_model::{
    Collection, Conceptual, Condition, Contents, Design, Hop, Id, InSet, Keeper, KeyField, Leaf, Member,
    Model, Nodes, Operand, OrderBy, Origin, Path, PositionId, Query, RelationshipKind, Role, Rule, RuleStep,
    Source, Span, Table,
};
use askloom_plan::partition::{Strategy, legal};
use askloom_plan::planner::{self, conjuncts, is_single, needed_paths};
use askloom_plan::{nested_is_exact, upkeep};

/// A design for the workload. Copies are also made of `sources`, which are queries that nobody asks.
pub(crate) fn design(model: &Model, sources: &[Query], dropped: &[String], random: &Random) -> Design {
    let shape = random.fork("shape");
    if shape.percent(20) && sources.is_empty() {
        return simple::design(model);
    }
    if (shape.percent(40) && sources.is_empty()) || !model.given.is_empty() {
        return by_method(model, dropped, &shape);
    }
    let mut design = Design { method: "random".to_owned(), collections: Table::default() };
    simple::masters(model, Origin::Method, &mut design);
    partitioned(&model.conceptual, &mut design, &random.fork("partitions"));
    carried(model, sources, dropped, &mut design, &random.fork("carried"));
    let mut add = |collection: Collection| {
        if !dropped.contains(&collection.name) {
            design.collections.push(collection);
        }
    };
    for query in model.workload.queries.iter().chain(sources) {
        let name = &query.header.name;
        // Rows without positions of which only the identity is wanted are as good.
        let reduced = planner::reduced(&model.conceptual, query);
        let reduced = reduced.filter(|_| random.fork(&format!("{name}/reduced")).percent(60));
        let query = reduced.as_ref().unwrap_or(query);
        for n in 0..*random.fork(name).weighted(&[(2, 0), (5, 1), (2, 2)]) {
            let random = random.fork(&format!("{name}/{n}"));
            if let Some(mut copy) = copy(&model.conceptual, query, &random) {
                copy.name = format!("{name}Copy{n}");
                add(copy);
            }
        }
        if random.fork(name).percent(10) {
            add(simple::view(model, query));
        }
    }
    for (end, row) in model.conceptual.ends.iter() {
        if random.fork(&format!("index {}", row.name)).percent(20)
            && let Some(index) = reverse_index(&model.conceptual, end)
        {
            add(index);
        }
    }
    if shape.percent(70) {
        upkeep::add_indexes(model, &mut design);
    }
    design
}

/// What a method makes of the model.
fn by_method(model: &Model, dropped: &[String], random: &Random) -> Design {
    let method = match model.given.is_empty() {
        _ if random.fork("by cost").one_in(3) => Method::Cost,
        true => *random.pick(&[Method::Noam, Method::Qodm, Method::Qodm, Method::Kvmod, Method::Kvmod]),
        false => Method::Given,
    };
    let threshold = Threshold::percent(*random.pick(&[50, 80, 100])).unwrap();
    let options = Options { threshold, ..Options::default() };
    let made = method::design(method, model, &askloom_target::embedded::costing(), &options).design;
    let mut design = Design { method: made.method.clone(), collections: Table::default() };
    for (_, collection) in made.collections.iter() {
        if collection.role == Role::Master || !dropped.contains(&collection.name) {
            design.collections.push(collection.clone());
        }
    }
    design
}

/// Splits some masters into entries by random rules.
fn partitioned(conceptual: &Conceptual, design: &mut Design, random: &Random) {
    for id in design.collections.ids().collect::<Vec<_>>() {
        let collection = &mut design.collections[id];
        let random = random.fork(&collection.name);
        if random.one_in(2) {
            continue;
        }
        let root = collection.source.root;
        let names: Vec<&str> =
            conceptual.all_members(root).map(|member| conceptual.member_name(member)).collect();
        let mut rules: Vec<Rule> = Vec::new();
        for _ in 0..random.below(3) {
            let name = (*random.pick(&names)).to_owned();
            let mut steps = vec![RuleStep::Field { name, each: random.one_in(2) }];
            if random.one_in(3) {
                steps.push(RuleStep::AnyField { each: random.one_in(2) });
            }
            rules.push(Rule { class: Some(root), steps, span: Span::default() });
        }
        rules.push(random.pick(&Strategy::ALL).rule(Some(root)));
        if legal(conceptual, root, &rules).is_ok() {
            collection.contents = Contents::Aggregate(rules);
        }
    }
}

/// Lets the records of some masters carry values of others: what queries show of them, and what nobody asks for.
fn carried(model: &Model, sources: &[Query], dropped: &[String], design: &mut Design, random: &Random) {
    let conceptual = &model.conceptual;
    let main = PositionId::from_index(0);
    for id in design.collections.ids().collect::<Vec<_>>() {
        let root = design.collections[id].source.root;
        let name = format!("{}Carried", design.collections[id].name);
        let random = random.fork(&name);
        if dropped.contains(&name) || design.carried(root).is_some() || random.one_in(2) {
            continue;
        }
        let asked = model.workload.queries.iter().chain(sources);
        let asked = asked.filter(|query| query.positions[main].class == Some(root)).flat_map(needed_paths);
        let near = conceptual.all_members(root).filter_map(|member| match member {
            Member::End(end) => {
                let target = conceptual.ends[end].target;
                let attributes = conceptual.all_members(target).filter_map(|member| match member {
                    Member::Attribute(id) => Some(Leaf::Attribute(id)),
                    Member::End(_) => None,
                });
                let attributes: Vec<Leaf> = attributes.collect();
                let random = random.fork(&conceptual.ends[end].name);
                let leaf = (!attributes.is_empty()).then(|| *random.pick(&attributes))?;
                Some(Path { position: main, hops: vec![end], leaf })
            }
            Member::Attribute(_) => None,
        });
        let mut fields: Vec<Path> = Vec::new();
        for path in asked.chain(near) {
            let of_others = path.hops.iter().any(|&hop| {
                conceptual.ends[conceptual.stored_end(hop)].kind != RelationshipKind::Composition
            });
            let fits = path.position == main && of_others && is_held(conceptual, &path);
            if fits && !fields.contains(&path) && random.percent(70) {
                fields.push(path);
            }
        }
        if fields.is_empty() {
            continue;
        }
        let itself = Path { position: main, hops: Vec::new(), leaf: Leaf::Itself };
        design.collections.push(Collection {
            name,
            role: Role::Carried,
            origin: Origin::Method,
            keeper: Keeper::Ours,
            partition_of: None,
            source: Source { root, positions: askloom_plan::positions::only_main(root), condition: None },
            block_key: vec![KeyField { path: itself, descending: false }],
            entry_key: Vec::new(),
            contents: Contents::Fields(fields),
            reasons: vec!["A random load.".to_owned()],
        });
    }
}

/// Some positions of a query with random keys and fields.
fn copy(conceptual: &Conceptual, query: &Query, random: &Random) -> Option<Collection> {
    let (positions, mapped) = subset(query, random);
    let map = |path: &Path| {
        let position = (*mapped.get(path.position.index())?)?;
        Some(Path { position, ..path.clone() })
    };
    let needed: Vec<Path> = needed_paths(query).iter().filter_map(map).collect();
    let usable: Vec<&Path> = needed.iter().filter(|path| is_held(conceptual, path)).collect();
    let keys: Vec<&Path> =
        usable.iter().copied().filter(|p| is_single(conceptual, p) && is_key(conceptual, p)).collect();
    let equal: Vec<Path> = equalities(query).iter().filter_map(map).collect();
    let ordered: Vec<(Path, bool)> = orders(query).iter().filter_map(|(p, d)| Some((map(p)?, *d))).collect();
    let mut block_key: Vec<KeyField> = Vec::new();
    let mut entry_key: Vec<KeyField> = Vec::new();
    for &path in &keys {
        let share = if equal.contains(path) { 75 } else { 8 };
        if random.percent(share) && block_key.iter().all(|field| field.path != *path) {
            block_key.push(KeyField { path: path.clone(), descending: false });
        }
    }
    let class = query.positions[PositionId::from_index(0)].class?;
    let buckets = random.fork("buckets");
    if buckets.one_in(6) && conceptual.classes[class].kind.is_entity() {
        let leaf = Leaf::Bucket(*buckets.pick(&[1, 2, 3, 16]));
        let path = Path { position: PositionId::from_index(0), hops: Vec::new(), leaf };
        block_key.push(KeyField { path, descending: false });
    }
    // A row for each value of a list.
    let each = random.fork("each value");
    if positions.len() == 1 && each.one_in(2) {
        let several =
            needed.iter().filter(|path| is_many_inside(conceptual, path) && is_key(conceptual, path));
        if let Some(path) = several.collect::<Vec<_>>().first() {
            let at = each.below(block_key.len() + 1);
            block_key.insert(at, KeyField { path: (*path).clone(), descending: false });
        }
    }
    let turned = random.one_in(4);
    for (path, descending) in &ordered {
        let taken = block_key.iter().chain(&entry_key).any(|field| field.path == *path);
        if !taken && keys.contains(&path) && random.percent(85) {
            let flip = turned != random.percent(7);
            entry_key.push(KeyField { path: path.clone(), descending: *descending != flip });
        }
    }
    for &path in &keys {
        let taken = block_key.iter().chain(&entry_key).any(|field| field.path == *path);
        if !taken && random.percent(12) {
            let at = random.below(entry_key.len() + 1);
            entry_key.insert(at, KeyField { path: path.clone(), descending: random.one_in(2) });
        }
    }
    let taken: Vec<Path> = block_key.iter().chain(&entry_key).map(|field| field.path.clone()).collect();
    let mut fields: Vec<Path> =
        usable.into_iter().filter(|path| !taken.contains(path) && random.percent(75)).cloned().collect();
    spell_out(conceptual, &positions, &taken, &mut fields, &random.fork("spelled out"));
    let condition = condition(query, &mapped, random);
    // An index of one path holds nothing for those that have nothing there: that is another kind of collection.
    let indexes = positions.len() == 1 && condition.is_none() && block_key.len() == 1 && entry_key.is_empty();
    let identities = fields.is_empty() && !indexes && random.one_in(2);
    let flat = Collection {
        name: String::new(),
        role: if identities { Role::Index } else { Role::Copy },
        origin: Origin::Method,
        keeper: Keeper::Ours,
        partition_of: None,
        source: Source { root: class, positions, condition },
        block_key,
        entry_key,
        contents: Contents::Fields(fields),
        reasons: vec!["A random copy.".to_owned()],
    };
    let nested = if random.one_in(4) { nested(conceptual, &flat, random) } else { None };
    Some(nested.unwrap_or(flat))
}

/// Whether a path has several values, all of them inside the instance that it starts from.
fn is_many_inside(conceptual: &Conceptual, path: &Path) -> bool {
    let part = |&hop: &askloom_model::EndId| {
        conceptual.ends[hop].stored && conceptual.ends[hop].kind == RelationshipKind::Composition
    };
    let held = match path.leaf {
        Leaf::Reference(end) => {
            let row = &conceptual.ends[end];
            row.stored && row.kind != RelationshipKind::Composition && row.inverse != Some(end)
        }
        Leaf::Attribute(_) | Leaf::Itself => true,
        Leaf::Bucket(_) | Leaf::TimeBucket(..) => false,
    };
    held && !is_single(conceptual, path) && path.hops.iter().all(part)
}

/// All values of instances that are no more than these, at some positions.
fn spell_out(
    conceptual: &Conceptual,
    positions: &Table<PositionId, askloom_model::Position>,
    taken: &[Path],
    fields: &mut Vec<Path>,
    random: &Random,
) {
    for (position, row) in positions.iter() {
        let leaves = row.class.and_then(|class| conceptual.plain_members(class)).unwrap_or_default();
        if !random.one_in(3) {
            continue;
        }
        for leaf in leaves {
            let path = Path { position, hops: Vec::new(), leaf };
            if !taken.contains(&path) && !fields.contains(&path) {
                fields.push(path);
            }
        }
    }
}

/// The same as nodes, where that says as much.
fn nested(conceptual: &Conceptual, flat: &Collection, random: &Random) -> Option<Collection> {
    let fields = match &flat.contents {
        Contents::Fields(fields) => fields,
        Contents::Aggregate(_) | Contents::Nested(_) => return None,
    };
    let sorted = flat.entry_key.iter().map(|field| field.path.clone());
    let positions = flat.source.positions.iter();
    let aggregates = positions.filter(|(_, p)| p.class.is_some_and(|class| conceptual.is_aggregate(class)));
    let whole = aggregates.map(|(id, _)| id).filter(|_| random.one_in(3)).collect();
    let nested = Collection {
        role: Role::Copy,
        entry_key: Vec::new(),
        contents: Contents::Nested(Nodes { fields: sorted.chain(fields.iter().cloned()).collect(), whole }),
        ..flat.clone()
    };
    nested_is_exact(conceptual, &nested).then_some(nested)
}

type Mapped = Vec<Option<PositionId>>;

/// Some positions, each with its parent.
fn subset(query: &Query, random: &Random) -> (Table<PositionId, askloom_model::Position>, Mapped) {
    let mut positions = Table::default();
    let mut mapped: Mapped = Vec::new();
    for (id, position) in query.positions.iter() {
        let parent = position.from.map(|hop| mapped[hop.parent.index()]);
        let kept = match (position.from, parent) {
            (None, _) => true,
            (Some(_), Some(Some(_))) => random.percent(80),
            (Some(_), _) => false,
        };
        if !kept {
            mapped.push(None);
            continue;
        }
        let from = position.from.zip(parent.flatten()).map(|(hop, parent)| Hop { parent, step: hop.step });
        // Outer where the query is inner holds more than is asked for, and the other way round too little.
        let outer = id.index() > 0 && (position.outer != random.percent(12));
        mapped.push(Some(positions.push(askloom_model::Position { from, outer, ..position.clone() })));
    }
    (positions, mapped)
}

/// Some of the conjuncts that hold no parameter.
fn condition(query: &Query, mapped: &Mapped, random: &Random) -> Option<Condition> {
    let mut terms = Vec::new();
    for conjunct in conjuncts(query.condition.as_ref()) {
        let paths = conjunct.condition.paths();
        let there = paths.iter().all(|path| mapped[path.position.index()].is_some());
        if there && !has_parameter(conjunct.condition) && random.percent(70) {
            terms.push(remapped(conjunct.condition, mapped));
        }
    }
    match terms.len() {
        0 | 1 => terms.pop(),
        _several => Some(Condition::And(terms)),
    }
}

fn equalities(query: &Query) -> Vec<Path> {
    let path = |condition: &Condition| match condition {
        Condition::Compare { left: Operand::Path(path), op: askloom_model::Comparison::Equal, .. }
        | Condition::Compare { right: Operand::Path(path), op: askloom_model::Comparison::Equal, .. } => {
            Some(path.clone())
        }
        Condition::In { value: Operand::Path(path), .. } => Some(path.clone()),
        _other => None,
    };
    conjuncts(query.condition.as_ref()).iter().filter_map(|conjunct| path(conjunct.condition)).collect()
}

/// Ranges of the condition, then the order.
fn orders(query: &Query) -> Vec<(Path, bool)> {
    let range = |condition: &Condition| match condition {
        Condition::Compare { left: Operand::Path(path), .. }
        | Condition::Between { value: Operand::Path(path), .. }
        | Condition::StartsWith { value: Operand::Path(path), .. } => Some(path.clone()),
        _other => None,
    };
    let order = query.order_by.iter().filter_map(|term| match &term.by {
        OrderBy::Path(path) => Some((path.clone(), term.descending)),
        OrderBy::Aggregate(_) => None,
    });
    let ranges = conjuncts(query.condition.as_ref());
    let ranges = ranges.iter().filter_map(|conjunct| range(conjunct.condition)).map(|path| (path, false));
    let order: Vec<(Path, bool)> = order.collect();
    let ranges = ranges.filter(|(path, _)| order.iter().all(|(other, _)| other != path));
    ranges.chain(order.clone()).collect()
}

/// Whether values of the path have an order.
fn is_key(conceptual: &Conceptual, path: &Path) -> bool {
    match path.leaf {
        Leaf::Attribute(id) => conceptual.attributes[id].ty.is_ordered(),
        Leaf::Reference(id) => conceptual.ends[id].kind != RelationshipKind::Composition,
        Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => false,
    }
}

/// Whether a copy can hold the path.
fn is_held(conceptual: &Conceptual, path: &Path) -> bool {
    let leaf = match path.leaf {
        Leaf::Attribute(_) => true,
        Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => false,
        Leaf::Reference(id) => {
            let end = &conceptual.ends[id];
            !end.cardinality.is_many() && end.kind != RelationshipKind::Composition
        }
    };
    leaf && path.hops.iter().all(|&hop| !conceptual.ends[hop].cardinality.is_many())
}

fn reverse_index(conceptual: &Conceptual, end: askloom_model::EndId) -> Option<Collection> {
    let row = &conceptual.ends[end];
    let rooted = conceptual.aggregate_root(row.class) == Some(row.class);
    if !row.stored || row.kind == RelationshipKind::Composition || !rooted {
        return None;
    }
    let mut positions = Table::default();
    positions.push(askloom_model::Position { class: Some(row.class), from: None, outer: false, alias: None });
    let path = Path { position: PositionId::from_index(0), hops: Vec::new(), leaf: Leaf::Reference(end) };
    Some(Collection {
        name: format!("{}Back", row.name),
        role: Role::Index,
        origin: Origin::Method,
        keeper: Keeper::Ours,
        partition_of: None,
        source: Source { root: row.class, positions, condition: None },
        block_key: vec![KeyField { path, descending: false }],
        entry_key: Vec::new(),
        contents: Contents::Fields(Vec::new()),
        reasons: vec!["A random index.".to_owned()],
    })
}

fn has_parameter(condition: &Condition) -> bool {
    let mut found = false;
    let _ = rewritten(condition, &mut |operand| {
        found |= matches!(operand, Operand::Parameter(_));
        operand.clone()
    });
    found
}

fn remapped(condition: &Condition, mapped: &Mapped) -> Condition {
    rewritten(condition, &mut |operand| match operand {
        Operand::Path(path) => {
            let position = mapped[path.position.index()].unwrap_or(path.position);
            Operand::Path(Path { position, ..path.clone() })
        }
        Operand::Constant(_) | Operand::Parameter(_) => operand.clone(),
    })
}

/// The condition with every operand replaced.
fn rewritten(condition: &Condition, with: &mut dyn FnMut(&Operand) -> Operand) -> Condition {
    match condition {
        Condition::And(terms) => Condition::And(terms.iter().map(|term| rewritten(term, with)).collect()),
        Condition::Or(terms) => Condition::Or(terms.iter().map(|term| rewritten(term, with)).collect()),
        Condition::Not(inner) => Condition::Not(Box::new(rewritten(inner, with))),
        Condition::Negated(inner) => Condition::Negated(Box::new(rewritten(inner, with))),
        Condition::Compare { left, op, right } => {
            Condition::Compare { left: with(left), op: *op, right: with(right) }
        }
        Condition::Between { value, low, high } => {
            Condition::Between { value: with(value), low: with(low), high: with(high) }
        }
        Condition::InBox { value, low, high } => {
            Condition::InBox { value: with(value), low: with(low), high: with(high) }
        }
        Condition::In { value, set } => Condition::In {
            value: with(value),
            set: match set {
                InSet::List(items) => InSet::List(items.iter().map(with).collect()),
                InSet::Parameter(index) => {
                    with(&Operand::Parameter(*index));
                    InSet::Parameter(*index)
                }
            },
        },
        Condition::StartsWith { value, prefix } => {
            Condition::StartsWith { value: with(value), prefix: with(prefix) }
        }
        Condition::Matches { value, words } => Condition::Matches { value: with(value), words: with(words) },
        Condition::Under { value, of } => Condition::Under { value: with(value), of: with(of) },
        Condition::Above { value, of } => Condition::Above { value: with(value), of: with(of) },
        Condition::IsNull { value } => Condition::IsNull { value: with(value) },
        Condition::Within { value, km, of } => {
            Condition::Within { value: with(value), km: with(km), of: with(of) }
        }
    }
}

/// The stored member that a step of a path is, for counting what a design goes through.
pub(crate) fn is_derived(conceptual: &Conceptual, step: Member) -> bool {
    match step {
        Member::Attribute(_) => false,
        Member::End(end) => !conceptual.ends[end].stored,
    }
}
