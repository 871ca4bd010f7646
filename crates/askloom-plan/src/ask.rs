//! Tuple queries as queries over positions: the classes are joined along the links, the first key class first.
//!
//! A link can be walked from its target to its holder although nobody has named that way. [`name_ways_back`] gives a
//! model the ends that this needs; they are members of no class, so that nobody else sees them.

use askloom_model::{
    Ask, AskLink, Cardinality, ClassId, Column, ColumnValue, Comparison, Conceptual, Condition, End, EndId,
    Hop, Integrity, Leaf, Member, MemberStatistics, Model, Operand, OrderBy, OrderTerm, Parameter,
    ParameterType, Path, Position, PositionId, Query, RelationshipKind, Span, Table,
};

/// Adds an end for every stored end that some `ask` may have to walk back and that has no inverse. Nothing changes if
/// they are there already; ids of other ends stay.
pub fn name_ways_back(model: &mut Model) {
    let links: Vec<EndId> =
        model.workload.asks.iter().flat_map(|ask| &ask.links).map(|link| link.end).collect();
    for end in links {
        if model.conceptual.ends[end].inverse.is_none() {
            let back = way_back(&model.conceptual, end);
            let back = model.conceptual.ends.push(back);
            model.conceptual.ends[end].inverse = Some(back);
        }
    }
}

fn way_back(conceptual: &Conceptual, end: EndId) -> End {
    let row = &conceptual.ends[end];
    let kind = match row.kind {
        // The whole, seen from its part, is not a part of it.
        RelationshipKind::Composition | RelationshipKind::Association => RelationshipKind::Association,
        RelationshipKind::Aggregation => RelationshipKind::Aggregation,
    };
    End {
        class: row.target,
        // No name of the language has a point in it.
        name: format!("{}.{}", conceptual.classes[row.class].name, row.name),
        target: row.class,
        kind,
        cardinality: Cardinality::MANY,
        inverse: Some(end),
        stored: false,
        declared: false,
        id: false,
        unique: false,
        immutable: false,
        integrity: Integrity::Trusted,
        tree: false,
        statistics: MemberStatistics::default(),
        span: row.span,
        declaration: row.declaration,
    }
}

/// The query that an `ask` means, but for tuples that are linked in several ways: they come several times, one behind
/// the other. Its parameters are the ids of the key classes, called like them. `None` if a link has no way back yet,
/// or if the links close a circle between two value objects, which have no id to compare.
#[must_use]
pub fn query(conceptual: &Conceptual, ask: &Ask) -> Option<Query> {
    let mut tuple = Tuple { conceptual, positions: Table::default(), placed: Vec::new() };
    tuple.place(first(ask)?, None);
    let mut terms = tuple.join(ask)?;
    let mut parameters: Vec<Parameter> = Vec::new();
    for &class in &ask.keys {
        let name = conceptual.classes[class].name.clone();
        if parameters.iter().all(|parameter| parameter.name != name) {
            let given = Operand::Parameter(parameters.len());
            terms.push(equal(Operand::Path(tuple.itself(class)?), given));
            let ty = ParameterType::Identity(class);
            parameters.push(Parameter { name, ty, span: Span::default() });
        }
    }
    let mut columns = Vec::with_capacity(ask.results.len());
    let mut order_by = Vec::with_capacity(ask.results.len());
    for &class in &ask.results {
        let name = conceptual.classes[class].name.clone();
        columns.push(Column { name, value: ColumnValue::Whole(tuple.position(class)?) });
        order_by.push(OrderTerm { by: OrderBy::Path(tuple.itself(class)?), descending: false });
    }
    Some(Query {
        header: ask.header.clone(),
        fresh: ask.fresh,
        latency_ms: ask.latency_ms,
        positions: tuple.positions,
        columns,
        condition: (!terms.is_empty()).then_some(Condition::And(terms)),
        group_by: Vec::new(),
        order_by,
        per_group: None,
        limit: None,
        parameters,
        identity: Vec::new(),
        stated: Vec::new(),
    })
}

/// The ends that an `ask` walks from the target to those that refer to it.
#[must_use]
pub fn walked_back(conceptual: &Conceptual, ask: &Ask) -> Vec<EndId> {
    let ways = ways(conceptual, ask).unwrap_or_default().into_iter();
    ways.filter(|(_, way)| *way == Way::Back).map(|(link, _)| link.end).collect()
}

/// How a link is used when the classes are placed one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// From the instance that holds it.
    Forwards,
    /// From its target.
    Back,
    /// Both classes are placed already.
    Closes,
}

fn first(ask: &Ask) -> Option<ClassId> {
    ask.keys.first().or(ask.results.first()).copied()
}

/// The links in an order in which each has a class that is placed before. A part hangs on its owner, and any other class
/// on the one that was placed first: what is asked together is then found under what is given first. `None` if the
/// classes are not all linked.
fn ways<'a>(conceptual: &Conceptual, ask: &'a Ask) -> Option<Vec<(&'a AskLink, Way)>> {
    let mut placed = vec![first(ask)?];
    let mut open: Vec<&AskLink> = ask.links.iter().collect();
    let mut ways = Vec::with_capacity(open.len());
    while !open.is_empty() {
        let rank = |link: &AskLink| {
            let at = |class: ClassId| placed.iter().position(|&known| known == class);
            let hangs_on = at(holder(link)).into_iter().chain(at(target(link))).min()?;
            Some((conceptual.ends[link.end].kind != RelationshipKind::Composition, hangs_on))
        };
        let ranked = open.iter().enumerate().filter_map(|(index, link)| Some((rank(link)?, index)));
        let (_, index) = ranked.min()?;
        let link = open.remove(index);
        let way = match (placed.contains(&holder(link)), placed.contains(&target(link))) {
            (true, true) => Way::Closes,
            (true, false) => Way::Forwards,
            (false, _) => Way::Back,
        };
        for class in [holder(link), target(link)] {
            if !placed.contains(&class) {
                placed.push(class);
            }
        }
        ways.push((link, way));
    }
    Some(ways)
}

/// The classes of an `ask` as positions.
struct Tuple<'t> {
    conceptual: &'t Conceptual,
    positions: Table<PositionId, Position>,
    placed: Vec<(ClassId, PositionId)>,
}

impl Tuple<'_> {
    fn position(&self, class: ClassId) -> Option<PositionId> {
        self.placed.iter().find(|(placed, _)| *placed == class).map(|(_, position)| *position)
    }

    fn itself(&self, class: ClassId) -> Option<Path> {
        Some(Path { position: self.position(class)?, hops: Vec::new(), leaf: Leaf::Itself })
    }

    fn place(&mut self, class: ClassId, from: Option<Hop>) {
        let position = self.positions.push(Position { class: Some(class), from, outer: false, alias: None });
        self.placed.push((class, position));
    }

    /// Places all classes, each by one link; what the other links say is the condition.
    fn join(&mut self, ask: &Ask) -> Option<Vec<Condition>> {
        let mut circles = Vec::new();
        for (link, way) in ways(self.conceptual, ask)? {
            match way {
                Way::Forwards => {
                    let hop = Hop { parent: self.position(holder(link))?, step: Member::End(link.end) };
                    self.place(target(link), Some(hop));
                }
                Way::Back => {
                    let back = self.conceptual.ends[link.end].inverse?;
                    let hop = Hop { parent: self.position(target(link))?, step: Member::End(back) };
                    self.place(holder(link), Some(hop));
                }
                Way::Closes => circles.push(self.closes(link)?),
            }
        }
        Some(circles)
    }

    /// That two instances which are there already are linked. A value object has no id, but its owner has.
    fn closes(&self, link: &AskLink) -> Option<Condition> {
        let is_entity = |class: ClassId| self.conceptual.classes[class].kind.is_entity();
        let (holder, target) = (holder(link), target(link));
        let (from, end, to) = if is_entity(target) {
            (holder, link.end, target)
        } else if is_entity(holder) {
            (target, self.conceptual.ends[link.end].inverse?, holder)
        } else {
            return None;
        };
        // A stored id may name an instance that is not of the class that the reference is about: then it names nothing.
        let every = self.conceptual.is_kind_of(to, self.conceptual.ends[end].target);
        let (hops, leaf) = if every { (Vec::new(), Leaf::Reference(end)) } else { (vec![end], Leaf::Itself) };
        let held = Path { position: self.position(from)?, hops, leaf };
        Some(equal(Operand::Path(held), Operand::Path(self.itself(to)?)))
    }
}

fn equal(left: Operand, right: Operand) -> Condition {
    Condition::Compare { left, op: Comparison::Equal, right }
}

/// The class at whose instances the link is stored.
fn holder(link: &AskLink) -> ClassId {
    if link.reversed { link.to } else { link.from }
}

fn target(link: &AskLink) -> ClassId {
    if link.reversed { link.from } else { link.to }
}
