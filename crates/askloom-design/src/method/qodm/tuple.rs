//! What is given and what is got, as classes: from tuple queries, and from queries.

use super::Decision;
use askloom_model::{
    ClassId, ColumnValue, Conceptual, Condition, Id, Leaf, Member, Model, OrderBy, Path, Position,
    PositionId, Query, RelationshipKind, Span, Table,
};
use askloom_plan::ask;
use askloom_plan::planner::conjuncts;

/// The paper's two-tuple, with the tree that joins its classes.
#[derive(Debug, Clone)]
pub(super) struct Tuple {
    pub(super) name: String,
    /// Classes in what is given, each by its owner.
    pub(super) keys: Vec<ClassId>,
    /// Classes in what is got.
    pub(super) results: Vec<ClassId>,
    pub(super) root: ClassId,
    pub(super) positions: Table<PositionId, Position>,
    /// What has to hold besides the joins: the links that close a circle.
    pub(super) condition: Option<Condition>,
    /// The positions whose ids are given, as written.
    pub(super) given: Vec<PositionId>,
    /// The positions whose instances are held.
    pub(super) held: Vec<PositionId>,
    /// Values beyond references that no join names.
    pub(super) beyond: Vec<Path>,
}

impl Tuple {
    /// All classes, each once.
    pub(super) fn classes(&self) -> Vec<ClassId> {
        let mut classes = Vec::new();
        for &class in self.keys.iter().chain(&self.results) {
            if !classes.contains(&class) {
                classes.push(class);
            }
        }
        classes
    }

    /// The classes of which an aggregation entity of this tuple holds something.
    pub(super) fn held_classes(&self, conceptual: &Conceptual) -> Vec<ClassId> {
        let here = self.held.iter().filter_map(|&position| self.positions[position].class);
        let beyond = self.beyond.iter().filter_map(|path| path.hops.last());
        let classes = here.chain(beyond.map(|&hop| conceptual.ends[hop].target));
        classes.filter_map(|class| conceptual.aggregate_root(class)).collect()
    }

    /// The ids of the aggregates in which the values beyond references are, each once.
    pub(super) fn ids_beyond(&self, conceptual: &Conceptual) -> Vec<Path> {
        let mut ids = Vec::new();
        for path in &self.beyond {
            let last =
                path.hops.iter().rposition(|&hop| conceptual.ends[hop].kind != RelationshipKind::Composition);
            let split = last.and_then(|last| Some((path.hops.get(..last)?, *path.hops.get(last)?)));
            let id = split.map(|(before, reference)| Path {
                position: path.position,
                hops: before.to_vec(),
                leaf: Leaf::Reference(reference),
            });
            push(&mut ids, id);
        }
        ids
    }

    /// As the paper writes it.
    pub(super) fn text(&self, conceptual: &Conceptual) -> String {
        let set = |classes: &[ClassId]| {
            let names: Vec<&str> =
                classes.iter().map(|&class| conceptual.classes[class].name.as_str()).collect();
            format!("{{{}}}", names.join(", "))
        };
        format!("<{}, {}>", set(&self.keys), set(&self.results))
    }

    /// Whether one entity can stand for both.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let shape = |tuple: &Self| -> Vec<_> {
            tuple
                .positions
                .iter()
                .map(|(_, position)| (position.class, position.from, position.outer))
                .collect()
        };
        self.keys == other.keys
            && self.results == other.results
            && self.root == other.root
            && self.given == other.given
            && self.held == other.held
            && self.beyond == other.beyond
            && self.condition == other.condition
            && shape(self) == shape(other)
    }
}

/// The tuples of a model, in the order of the text.
pub(super) fn of(model: &Model, decisions: &mut Vec<Decision>) -> Vec<Tuple> {
    let conceptual = &model.conceptual;
    let place = |span: Span| (span.file, span.start);
    let mut found: Vec<(_, Tuple)> = Vec::new();
    for query in &model.workload.queries {
        found.push((place(query.header.span), of_query(conceptual, query)));
    }
    for ask in &model.workload.asks {
        match ask::query(conceptual, ask) {
            Some(query) => found.push((place(ask.header.span), of_query(conceptual, &query))),
            None => {
                let says = "its links close a circle between two value objects: no entity is made of it";
                decisions.push(Decision::new(&ask.header.name, says, super::ASKLOOM));
            }
        }
    }
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, tuple)| tuple).collect()
}

fn of_query(conceptual: &Conceptual, query: &Query) -> Tuple {
    let main = PositionId::from_index(0);
    let mut tuple = Tuple {
        name: query.header.name.clone(),
        keys: Vec::new(),
        results: Vec::new(),
        root: query.positions[main].class.unwrap_or_else(|| ClassId::from_index(0)),
        positions: askloom_plan::positions::as_linked(conceptual, &query.positions),
        condition: fixed(query),
        given: Vec::new(),
        held: Vec::new(),
        beyond: Vec::new(),
    };
    for conjunct in conjuncts(query.condition.as_ref())
        .iter()
        .filter(|c| askloom_plan::conditions::has_parameter(c.condition) || !is_link(c.condition))
    {
        let given = conjunct.condition.paths();
        for path in &given {
            let class = represented(conceptual, query, path);
            push(&mut tuple.keys, class);
            if stays_inside(conceptual, path) {
                push(&mut tuple.given, Some(aggregate_at(conceptual, query, path.position)));
            }
        }
    }
    for path in got(query) {
        push(&mut tuple.results, represented(conceptual, query, &path));
        match stays_inside(conceptual, &path) {
            true => push(&mut tuple.held, Some(aggregate_at(conceptual, query, path.position))),
            false if askloom_plan::positions::is_held(conceptual, &path) => {
                push(&mut tuple.beyond, Some(path))
            }
            false => {}
        }
    }
    // An aggregation entity is of all the classes of its tuple.
    for position in tuple.given.clone() {
        push(&mut tuple.held, Some(position));
    }
    tuple.held.sort_unstable();
    tuple
}

fn push<T: PartialEq>(list: &mut Vec<T>, item: Option<T>) {
    list.extend(item.filter(|item| !list.contains(item)));
}

/// What is selected, ordered and grouped by, also by `LIMIT … PER`; a whole instance as itself.
fn got(query: &Query) -> Vec<Path> {
    let itself = |position| Path { position, hops: Vec::new(), leaf: Leaf::Itself };
    let columns = query.columns.iter().filter_map(|column| match &column.value {
        ColumnValue::Path(path) => Some(path.clone()),
        ColumnValue::Whole(position) => Some(itself(*position)),
        ColumnValue::Aggregate(aggregate) => aggregate.of.clone(),
    });
    let ordered = query.order_by.iter().filter_map(|term| match &term.by {
        OrderBy::Path(path) => Some(path.clone()),
        OrderBy::Aggregate(aggregate) => aggregate.of.clone(),
    });
    let grouped = query.group_by.iter().chain(query.per_group_paths()).cloned();
    columns.chain(ordered).chain(grouped).collect()
}

/// Whether a condition says that two instances are linked.
fn is_link(condition: &Condition) -> bool {
    use askloom_model::{Comparison, Operand};
    matches!(
        condition,
        Condition::Compare { left: Operand::Path(_), op: Comparison::Equal, right: Operand::Path(right) }
            if right.leaf == Leaf::Itself
    )
}

/// The links that close a circle: they fix the rows, whatever is given.
fn fixed(query: &Query) -> Option<Condition> {
    let links = conjuncts(query.condition.as_ref());
    let links = links.iter().map(|conjunct| conjunct.condition).filter(|c| is_link(c));
    askloom_plan::conditions::all_of(links.cloned().collect())
}

/// The class that stands for what is at the end of a path: the one that owns it, or that it extends.
fn represented(conceptual: &Conceptual, query: &Query, path: &Path) -> Option<ClassId> {
    let mut classes: Vec<ClassId> = Vec::new();
    let mut position = Some(path.position);
    while let Some(at) = position {
        classes.extend(query.positions[at].class);
        position = query.positions[at].from.map(|hop| hop.parent);
    }
    classes.reverse();
    classes.extend(path.hops.iter().map(|&hop| conceptual.ends[hop].target));
    classes.into_iter().rev().find_map(|class| conceptual.aggregate_root(class))
}

/// The position of the aggregate that a position lies in.
fn aggregate_at(conceptual: &Conceptual, query: &Query, position: PositionId) -> PositionId {
    let mut at = position;
    loop {
        let row = &query.positions[at];
        let is_aggregate = row.class.is_some_and(|class| conceptual.is_aggregate(class));
        match row.from {
            Some(hop) if !is_aggregate && is_part(conceptual, hop.step) => at = hop.parent,
            Some(_) | None => return at,
        }
    }
}

/// Whether what a path leads to is in the aggregate that stands at its position.
fn stays_inside(conceptual: &Conceptual, path: &Path) -> bool {
    path.hops.iter().all(|&hop| is_part(conceptual, Member::End(hop)))
}

/// Whether a step stays in the aggregate.
fn is_part(conceptual: &Conceptual, step: Member) -> bool {
    match step {
        Member::Attribute(_) => true,
        Member::End(end) => conceptual.ends[end].kind == RelationshipKind::Composition,
    }
}
