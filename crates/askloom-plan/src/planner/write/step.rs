//! A statement of a write in one form: what it finds, what it changes.

use crate::effects::Effects;
use askloom_model::{
    Assigned, Assignment, ClassId, Column, ColumnValue, Comparison, Conceptual, Condition, Constant, EndId,
    Header, Id, Leaf, Member, Model, Operand, Parameter, ParameterType, Path, Position, PositionId, Query,
    Span, Table, Write, WriteAction, WriteStep,
};

pub(super) struct Step {
    pub(super) action: WriteAction,
    pub(super) class: ClassId,
    /// Finds the aggregates.
    pub(super) find: Query,
    pub(super) changes: Changes,
    /// What it can do, to tell which copies it disturbs.
    pub(super) effects: Effects,
}

/// What a statement changes of an instance.
pub(super) enum Changes {
    /// It is made, by a program with all that belongs to it. A statement may give it lists, too, but is priced with empty
    /// ones: most lists grow by ADD.
    Made(Lists),
    /// Anything may be another.
    Replaced,
    /// It is ended.
    Ended,
    Fields(Vec<Change>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lists {
    Full,
    Empty,
}

/// A field that gets another value.
pub(super) struct Change {
    /// From the instance, through to-one parts.
    pub(super) path: Vec<Member>,
    /// The value, where the statement says it.
    pub(super) to: Option<Constant>,
}

impl Step {
    pub(super) fn of_write(model: &Model, write: &Write, step: &WriteStep) -> Self {
        let found = |class, condition: &Option<Condition>, positions: &Table<PositionId, Position>| {
            found(model, write, class, condition.as_ref(), positions)
        };
        let one = |member: Member| Changes::Fields(vec![Change { path: vec![member], to: None }]);
        let effects = Effects::of_step(&model.conceptual, write, step);
        match step {
            WriteStep::Insert { class } => {
                let changes = Changes::Made(Lists::Empty);
                Self { changes, effects, ..Self::create(model, *class) }.named(write)
            }
            WriteStep::Upsert { class } => {
                // What is immutable is made, or is there and stays as it is.
                let changes = match model.conceptual.classes[*class].immutable {
                    true => Changes::Made(Lists::Empty),
                    false => Changes::Fields(given(&model.conceptual, *class)),
                };
                Self { action: WriteAction::Upsert, changes, effects, ..Self::store(model, *class) }
                    .named(write)
            }
            WriteStep::Store { class } => Self::store(model, *class).named(write),
            WriteStep::UpdateElements { class, list, set, condition, positions } => {
                let changes = Changes::Fields(set.iter().map(|one| element_change(*list, one)).collect());
                let find = found(*class, condition, positions);
                Self { action: WriteAction::UpdateElements(*list), class: *class, find, changes, effects }
            }
            WriteStep::Update { class, set, condition, positions } => {
                let changes = Changes::Fields(set.iter().map(change).collect());
                let find = found(*class, condition, positions);
                Self { action: WriteAction::Update, class: *class, find, changes, effects }
            }
            WriteStep::Delete { class, condition, positions } => {
                let find = found(*class, condition, positions);
                let changes = Changes::Ended;
                Self { action: WriteAction::Delete, class: *class, find, changes, effects }
            }
            WriteStep::Add { class, list, condition, positions, .. } => {
                let find = found(*class, condition, positions);
                let changes = one(*list);
                Self { action: WriteAction::Add(*list), class: *class, find, changes, effects }
            }
            WriteStep::Remove { class, list, condition, positions, .. } => {
                let find = found(*class, condition, positions);
                let changes = one(*list);
                Self { action: WriteAction::Remove(*list), class: *class, find, changes, effects }
            }
            WriteStep::Connect { class, end, condition, positions, .. } => {
                let find = found(*class, condition, positions);
                let changes = one(Member::End(*end));
                Self { action: WriteAction::Connect(*end), class: *class, find, changes, effects }
            }
            WriteStep::Disconnect { class, end, condition, positions, .. } => {
                let find = found(*class, condition, positions);
                let changes = one(Member::End(*end));
                Self { action: WriteAction::Disconnect(*end), class: *class, find, changes, effects }
            }
        }
    }

    /// What an UPSERT is priced by: its instance is there, and lists stay. It may make one, with lists, too. `None`: all
    /// that the statement can do.
    pub(super) fn usual_effects(&self, conceptual: &Conceptual) -> Option<Effects> {
        match (self.action, &self.changes) {
            (WriteAction::Upsert, Changes::Fields(changes)) => {
                let members = changes.iter().filter_map(|change| change.path.first().copied());
                Some(Effects::of_members(conceptual, members))
            }
            (_, _) => None,
        }
    }

    /// Whether instances of a class that the statement puts anywhere are only now made.
    pub(super) fn makes(&self, conceptual: &Conceptual, class: ClassId) -> bool {
        match (self.action, &self.changes) {
            (_, Changes::Made(_)) => true,
            (WriteAction::Add(Member::End(list)), _) => {
                let added = conceptual.inside(conceptual.ends[list].target);
                added.iter().any(|&part| conceptual.is_kind_of(part, class))
            }
            (_, Changes::Replaced | Changes::Ended | Changes::Fields(_)) => false,
        }
    }

    pub(super) fn create(model: &Model, class: ClassId) -> Self {
        let find = by_id(&model.conceptual, class);
        let effects = Effects::of_create(&model.conceptual, class);
        Self { action: WriteAction::Insert, class, find, changes: Changes::Made(Lists::Full), effects }
    }

    pub(super) fn store(model: &Model, class: ClassId) -> Self {
        let find = by_id(&model.conceptual, class);
        let effects = Effects::of_store(&model.conceptual, class);
        Self { action: WriteAction::Store, class, find, changes: Changes::Replaced, effects }
    }

    pub(super) fn delete(model: &Model, class: ClassId) -> Self {
        let find = by_id(&model.conceptual, class);
        let effects = Effects::of_delete(&model.conceptual, class);
        Self { action: WriteAction::Delete, class, find, changes: Changes::Ended, effects }
    }

    /// By the id of the aggregate that holds the link.
    pub(super) fn relink(model: &Model, end: EndId) -> Self {
        let conceptual = &model.conceptual;
        let class = conceptual.ends[end].class;
        let find = by_id(conceptual, conceptual.aggregate_root(class).unwrap_or(class));
        let changes = Changes::Fields(vec![Change { path: vec![Member::End(end)], to: None }]);
        let effects = Effects::of_relink(conceptual, end);
        Self { action: WriteAction::Connect(end), class, find, changes, effects }
    }

    fn named(mut self, write: &Write) -> Self {
        self.find.header.clone_from(&write.header);
        self
    }
}

/// The fields that UPSERT may set: lists stay, and an id is what it is found by.
fn given(conceptual: &Conceptual, class: ClassId) -> Vec<Change> {
    let identifier = &conceptual.classes[class].identifier;
    let settable = conceptual.all_members(class).filter(|&member| {
        let single = conceptual.insertable(member).is_some() && !conceptual.is_many(member);
        single && !identifier.contains(&member)
    });
    settable.map(|member| Change { path: vec![member], to: None }).collect()
}

fn change(assignment: &Assignment) -> Change {
    let mut path: Vec<Member> = assignment.hops.iter().map(|&hop| Member::End(hop)).collect();
    path.push(assignment.member);
    let to = match &assignment.value {
        Assigned::To(Operand::Constant(constant)) => Some(constant.clone()),
        Assigned::To(_) | Assigned::Plus { .. } | Assigned::Now | Assigned::NewUuid => None,
    };
    Change { path, to }
}

/// A change inside elements. What it sets says nothing about those that do not match.
fn element_change(list: Member, assignment: &Assignment) -> Change {
    let Change { path, .. } = change(assignment);
    let itself = assignment.member == list && assignment.hops.is_empty();
    let path = if itself { path } else { std::iter::once(list).chain(path).collect() };
    Change { path, to: None }
}

/// The instances that a WHERE matches.
fn found(
    model: &Model,
    write: &Write,
    class: ClassId,
    condition: Option<&Condition>,
    positions: &Table<PositionId, Position>,
) -> Query {
    let parameters = write.parameters.clone();
    let mut query = finding(&model.conceptual, class, positions.clone(), condition.cloned(), parameters);
    query.header.clone_from(&write.header);
    query
}

/// The parts of parts that lead from the root of an aggregate to a class.
pub fn way_to(conceptual: &Conceptual, class: ClassId) -> Vec<EndId> {
    let mut way = Vec::new();
    let mut current = class;
    while let Some(owner) = conceptual.lineage(current).iter().find_map(|&c| conceptual.classes[c].owner) {
        if way.contains(&owner) {
            break;
        }
        way.insert(0, owner);
        current = conceptual.ends[owner].class;
    }
    way
}

/// The instance with an id that is given.
fn by_id(conceptual: &Conceptual, class: ClassId) -> Query {
    let main = PositionId::from_index(0);
    let leaf = |member: &Member| match *member {
        Member::Attribute(id) => Leaf::Attribute(id),
        Member::End(id) => Leaf::Reference(id),
    };
    let identifier = &conceptual.classes[class].identifier;
    let mut fields: Vec<(String, Leaf)> =
        identifier.iter().map(|member| (conceptual.member_name(*member).to_owned(), leaf(member))).collect();
    if fields.is_empty() {
        fields.push(("id".to_owned(), Leaf::Itself));
    }
    let terms = fields.iter().enumerate().map(|(index, (_, leaf))| Condition::Compare {
        left: Operand::Path(Path { position: main, hops: Vec::new(), leaf: *leaf }),
        op: Comparison::Equal,
        right: Operand::Parameter(index),
    });
    let condition = Condition::And(terms.collect());
    let ty = ParameterType::Identity(class);
    let parameters = fields
        .into_iter()
        .map(|(name, _)| Parameter { name, ty: ty.clone(), span: Span::default() })
        .collect();
    finding(conceptual, class, crate::positions::only_main(class), Some(condition), parameters)
}

/// The query that finds what a statement is about, whole, as it will be changed.
#[must_use]
pub fn finding(
    conceptual: &Conceptual,
    class: ClassId,
    positions: Table<PositionId, Position>,
    condition: Option<Condition>,
    parameters: Vec<Parameter>,
) -> Query {
    let name = conceptual.classes[class].name.clone();
    let whole = Column { name: name.clone(), value: ColumnValue::Whole(PositionId::from_index(0)) };
    Query {
        header: Header { name, span: conceptual.classes[class].span, ..Header::default() },
        // What is written is based on what is read.
        fresh: true,
        latency_ms: None,
        positions,
        columns: vec![whole],
        condition,
        group_by: Vec::new(),
        order_by: Vec::new(),
        per_group: None,
        limit: None,
        parameters,
        identity: Vec::new(),
        stated: Vec::new(),
    }
}
