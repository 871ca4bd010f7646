//! Plans of writes as steps: what is read first, then what changes together.

use super::bind::Given;
use super::missing::missing;
use super::read::{block_columns, slots, sort_columns};
use super::{
    Action, Batch, Change, ChangeKind, Each, EachChange, Expires, Note, Preconditions, Program, Step, Term,
    ValueFrom,
};
use super::{expiry, merge};
use crate::layout::{Column, Field, Layout, Shape, Source, Table, identifier_parts};
use askloom_model::{
    Assigned, Assignment, ClassId, CollectionId, Conceptual, CopyCause, Default, Id, Identity, KeyValue,
    Leaf, Member, Path, Role, Value, Write, WriteAction, WritePlan, WriteStep, WriteStepPlan, bucket,
    identity_types,
};
use std::collections::HashMap;

/// What a write does by its plan. Arguments are by the names of its parameters; the fields of an INSERT are some. Of a form
/// that has no text yet, its name.
#[must_use]
pub fn write(
    layout: &Layout,
    write: &Write,
    plan: &WritePlan,
    arguments: Option<&HashMap<String, Value>>,
) -> Program {
    let missing = missing(&layout.conceptual, write, arguments);
    let (name, parameters) = (write.header.name.clone(), write.parameters.clone());
    if missing.is_some() {
        return Program { name, parameters, steps: Vec::new(), retrieval: None, client: Vec::new(), missing };
    }
    let values: Option<Vec<Option<Value>>> = arguments.map(|arguments| {
        write.parameters.iter().map(|parameter| arguments.get(&parameter.name).cloned()).collect()
    });
    let given = Given { layout, parameters: &write.parameters, arguments: values.as_deref() };
    let mut steps = Vec::new();
    let mut changes = Vec::new();
    for (step, planned) in write.steps.iter().zip(&plan.steps) {
        let writing = Writing { given, step, plan: planned, named: arguments };
        writing.reads(&mut steps);
        writing.changes(&mut changes);
    }
    let changes = merge::merged(changes);
    // A put that fails if something is there is right as well, and costs more than the plan says.
    let blind = plan.steps.iter().any(|step| step.blind && step.action == WriteAction::Insert);
    let note = Note::Commit { level: plan.level, blind };
    let batch = Batch { changes, level: plan.level, preconditions: Preconditions::default() };
    steps.push(Step { note, each: Each::Once, action: Action::Change(batch) });
    Program { name, parameters, steps, retrieval: None, client: Vec::new(), missing: None }
}

pub(super) struct Writing<'w> {
    pub(super) given: Given<'w>,
    pub(super) step: &'w WriteStep,
    pub(super) plan: &'w WriteStepPlan,
    pub(super) named: Option<&'w HashMap<String, Value>>,
}

impl Writing<'_> {
    pub(super) fn layout(&self) -> &Layout {
        self.given.layout
    }

    pub(super) fn conceptual(&self) -> &Conceptual {
        &self.given.layout.conceptual
    }

    fn changes(&self, changes: &mut Vec<Change>) {
        let Some(table) = self.layout().table(self.plan.master.collection) else { return };
        let own = changes.len();
        let links_only = matches!(self.plan.action, WriteAction::Connect(_) | WriteAction::Disconnect(_));
        // A link that another aggregate holds changes nothing here.
        if !links_only || self.other_ends().is_empty() {
            for kind in self.master(table) {
                changes.push(self.change(table, kind, EachChange::Once));
            }
        }
        // Where unique values are taken, the entries of an index are what takes them.
        let taken = self.plan.reservations.iter().filter_map(|reservation| reservation.index);
        let written = self.plan.copies.iter().filter(|copy| copy.cause == CopyCause::Written);
        let mut copies: Vec<CollectionId> = written.map(|copy| copy.collection).collect();
        copies.extend(taken);
        copies.sort_unstable();
        copies.dedup();
        for copy in copies {
            let Some(table) = self.layout().table(copy) else { continue };
            match table.role {
                Role::Carried => self.carried(table, own, changes),
                Role::Master | Role::Copy | Role::Index => self.copy(table, changes),
            }
        }
        self.cascades(changes);
    }

    pub(super) fn change(&self, table: &Table, kind: ChangeKind, each: EachChange) -> Change {
        let expires = self.expires(table, &kind);
        let taken = self.plan.reservations.iter().any(|taken| taken.index == Some(table.collection));
        let unique = taken && matches!(kind, ChangeKind::PutRow(_));
        Change { table: table.collection, class: self.plan.class, kind, each, unique, expires }
    }

    /// Parts that expire are in an aggregate that stays.
    fn expires(&self, table: &Table, kind: &ChangeKind) -> Option<Expires> {
        let of = |class| {
            let at = expiry::slot();
            let ttl = self.conceptual().ttl(class)?;
            Some(Expires { at, after_ms: ttl.from.is_none().then_some(ttl.ms) })
        };
        match kind {
            ChangeKind::Create(_) | ChangeKind::Replace(_) => of(self.plan.class),
            ChangeKind::PutEntry { .. } => of(self.root(table)),
            ChangeKind::Set { .. }
            | ChangeKind::Bury { .. }
            | ChangeKind::DropEntry { .. }
            | ChangeKind::PutRow(_)
            | ChangeKind::DropRow(_) => None,
        }
    }

    fn master(&self, table: &Table) -> Vec<ChangeKind> {
        let key = || self.key(table);
        let is_root = self.conceptual().aggregate_root(self.plan.class) == Some(self.root(table))
            && self.conceptual().classes[self.plan.class].owner.is_none();
        match self.plan.action {
            WriteAction::Insert if is_root => vec![ChangeKind::Create(self.cells(table))],
            WriteAction::Store if is_root => vec![ChangeKind::Replace(self.cells(table))],
            WriteAction::Upsert if is_root => {
                let mut cells = self.cells(table);
                cells.retain(|term| self.is_given(table, term));
                vec![ChangeKind::Replace(cells)]
            }
            WriteAction::Delete if is_root => vec![ChangeKind::Bury { key: key() }],
            WriteAction::Update => vec![ChangeKind::Set { key: key(), set: self.set(table) }],
            // A part of the aggregate's record, as the list is.
            WriteAction::UpdateElements(member) => {
                let own = self.conceptual().classes[self.plan.class].owner.is_none();
                let members = if own { vec![member] } else { self.holding(table) };
                vec![ChangeKind::Set { key: key(), set: self.members(table, &members) }]
            }
            WriteAction::Add(member) => self.element(table, member, true),
            WriteAction::Remove(member) => self.element(table, member, false),
            WriteAction::Connect(end) => self.link(table, end, true),
            WriteAction::Disconnect(end) => self.link(table, end, false),
            // A part is written with its owner.
            WriteAction::Insert | WriteAction::Upsert | WriteAction::Store | WriteAction::Delete => {
                let parts = self.holding(table);
                vec![ChangeKind::Set { key: key(), set: self.members(table, &parts) }]
            }
        }
    }

    /// Whether an UPSERT says what it becomes: of an aggregate that is there, lists and links to many stay.
    fn is_given(&self, table: &Table, term: &Term) -> bool {
        let column = term.column.and_then(|index| table.columns.get(index));
        column.is_none_or(|column| match column.source {
            Source::Member(member) => self.is_upserted(member) && self.is_own(member),
            Source::Path { .. } | Source::Position { .. } | Source::Node | Source::Whole(_) => true,
        })
    }

    fn is_upserted(&self, member: Member) -> bool {
        self.conceptual().insertable(member).is_some() && !self.conceptual().is_many(member)
    }

    /// Whether instances of the written class have a member: a table has those of all subclasses.
    pub(super) fn is_own(&self, member: Member) -> bool {
        self.conceptual().all_members(self.plan.class).any(|own| own == member)
    }

    pub(super) fn root(&self, table: &Table) -> askloom_model::ClassId {
        self.layout().design.collections[table.collection].source.root
    }

    /// The members of the root that lead to the written class.
    pub(super) fn holding(&self, table: &Table) -> Vec<Member> {
        let occurrences = self.conceptual().occurrences(self.plan.class);
        let here = occurrences.iter().filter(|occurrence| occurrence.root == self.root(table));
        here.filter_map(|occurrence| occurrence.hops.first()).map(|&end| Member::End(end)).collect()
    }

    /// The key of the aggregate: what the condition says of it, else what was found.
    pub(super) fn key(&self, table: &Table) -> Vec<Term> {
        let slots = slots(table, |column| table.names_block(column), ValueFrom::After);
        let found = finding_key(&self.plan.find.access.how);
        let by_key = self.plan.find.access.collection == table.collection;
        let Some(operands) = found.filter(|_| by_key) else { return self.known(table, slots) };
        if !matches!(table.shape, Shape::Master { .. }) {
            return slots;
        }
        let whole = [Field { columns: table.identity_columns(), identity: true }];
        let fields: Vec<Field> = block_columns(table).into_iter().chain(sort_columns(table)).collect();
        let fields: &[Field] = if operands.len() == 1 && fields.len() > 1 { &whole } else { &fields };
        let pairs = operands.iter().zip(fields);
        let terms = pairs.flat_map(|(is, field)| self.given.key_terms(table, &field.columns, is)).collect();
        self.given.with_time_buckets(table, terms)
    }

    fn set(&self, table: &Table) -> Vec<Term> {
        let mut terms: Vec<Term> = Vec::new();
        for assignment in assignments(self.step) {
            // What is inside a part changes with the member of the root that it is in.
            let first = assignment.hops.first().map_or(assignment.member, |&end| Member::End(end));
            let deep =
                !assignment.hops.is_empty() || self.conceptual().classes[self.plan.class].owner.is_some();
            let members = if deep && assignment.hops.is_empty() { self.holding(table) } else { vec![first] };
            for mut term in self.members(table, &members) {
                if !deep {
                    let column = term.column.into_iter().collect::<Vec<_>>();
                    if let Some(new) = self.assigned(table, &column, assignment) {
                        term = new;
                    }
                }
                if terms.iter().all(|other| other.column != term.column) {
                    terms.push(term);
                }
            }
        }
        terms
    }

    fn assigned(&self, table: &Table, columns: &[usize], assignment: &Assignment) -> Option<Term> {
        match &assignment.value {
            Assigned::To(operand) => self.given.terms(table, columns, operand).pop(),
            Assigned::Plus { .. } | Assigned::Now | Assigned::NewUuid => None,
        }
    }

    /// A slot for each of some members.
    pub(super) fn members(&self, table: &Table, members: &[Member]) -> Vec<Term> {
        let wanted = |column: &Column| match &column.source {
            Source::Member(member) => members.contains(member),
            Source::Path { .. } | Source::Position { .. } | Source::Node | Source::Whole(_) => false,
        };
        slots(table, wanted, ValueFrom::After)
    }

    /// A term for each column of a record; known where a parameter or a default gives it.
    pub(super) fn cells(&self, table: &Table) -> Vec<Term> {
        self.known(table, slots(table, |_| true, ValueFrom::After))
    }

    /// Fills in what a parameter of the column's name, or an assignment, says.
    pub(super) fn known(&self, table: &Table, terms: Vec<Term>) -> Vec<Term> {
        let mut terms: Vec<Term> = terms.into_iter().map(|term| self.one_known(table, term)).collect();
        let identity = identity(self.conceptual(), self.root(table), table, &terms);
        for term in &mut terms {
            let column = term.column.and_then(|index| table.columns.get(index));
            if let Some((of, identity)) = column.and_then(bucket_of).zip(identity.as_ref()) {
                term.value = Some(bucket(self.conceptual(), self.root(table), identity, of));
            }
            let time_bucket =
                column.and_then(|column| column.time_bucket(self.conceptual(), self.root(table)));
            if let Some(((component, unit), identity)) = time_bucket.zip(identity.as_ref()) {
                term.value = identity.get(component).map(|at| unit.of_value(at));
            }
        }
        terms
    }

    fn one_known(&self, table: &Table, term: Term) -> Term {
        let Some(column) = term.column.and_then(|index| table.columns.get(index)) else { return term };
        let Some((member, part)) = own_member(self.conceptual(), self.root(table), column) else {
            return term;
        };
        let columns: Vec<usize> = term.column.into_iter().collect();
        let set = assignments(self.step).iter().find(|a| a.hops.is_empty() && a.member == member);
        if let Some(new) = set.and_then(|assignment| self.assigned(table, &columns, assignment)) {
            return new;
        }
        match self.step {
            WriteStep::Insert { .. } => {}
            WriteStep::Store { .. } => {}
            WriteStep::Upsert { .. } if self.is_upserted(member) => {}
            WriteStep::Upsert { .. }
            | WriteStep::UpdateElements { .. }
            | WriteStep::Update { .. }
            | WriteStep::Delete { .. }
            | WriteStep::Add { .. }
            | WriteStep::Remove { .. }
            | WriteStep::Connect { .. }
            | WriteStep::Disconnect { .. } => return term,
        }
        if !self.is_own(member) {
            return Term { value: Some(Value::Null), ..term };
        }
        let given = self.named.and_then(|named| named.get(self.conceptual().member_name(member)));
        let value = match given {
            Some(Value::Reference(parts)) => parts.get(part).cloned(),
            Some(value) => Some(value.clone()),
            None => self.named.and_then(|_| default_of(self.conceptual(), member)),
        };
        let value = value.map(|value| super::bind::fitted(&column.holds, value));
        Term { value, ..term }
    }
}

/// The member of the root that a column is of, and which part of its id.
fn own_member(
    conceptual: &Conceptual,
    root: askloom_model::ClassId,
    column: &Column,
) -> Option<(Member, usize)> {
    match &column.source {
        Source::Member(member) => Some((*member, 0)),
        Source::Path { path, part } if path.hops.is_empty() && path.position.index() == 0 => {
            match path.leaf {
                Leaf::Attribute(id) => Some((Member::Attribute(id), 0)),
                Leaf::Reference(id) => Some((Member::End(id), part.unwrap_or(0))),
                Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => None,
            }
        }
        Source::Position { position, part: Some(part) } if position.index() == 0 => {
            identifier_parts(conceptual, root).get(*part).copied()
        }
        Source::Path { .. } | Source::Position { .. } | Source::Node | Source::Whole(_) => None,
    }
}

/// How many buckets there are, if a column says which the root is in.
fn bucket_of(column: &Column) -> Option<u32> {
    match &column.source {
        Source::Path { path: Path { position, leaf: Leaf::Bucket(of), .. }, .. } if position.index() == 0 => {
            Some(*of)
        }
        Source::Path { .. }
        | Source::Position { .. }
        | Source::Member(_)
        | Source::Node
        | Source::Whole(_) => None,
    }
}

/// What identifies the root of a row, if all of it is known.
fn identity(conceptual: &Conceptual, root: ClassId, table: &Table, terms: &[Term]) -> Option<Identity> {
    let mut parts: Vec<(usize, Value)> = Vec::new();
    for term in terms {
        let Some(column) = term.column.and_then(|index| table.columns.get(index)) else { continue };
        if let Source::Position { position, part: Some(part) } = column.source
            && position.index() == 0
        {
            parts.push((part, term.value.clone()?));
        }
    }
    parts.sort_by_key(|(part, _)| *part);
    let all = identity_types(conceptual, root).len();
    (parts.len() == all).then(|| parts.into_iter().map(|(_, value)| value).collect())
}

fn default_of(conceptual: &Conceptual, member: Member) -> Option<Value> {
    let Member::Attribute(id) = member else { return Some(Value::Null) };
    let attribute = &conceptual.attributes[id];
    match &attribute.default {
        Some(Default::Constant(constant)) => Value::of_constant(constant).ok(),
        // Whoever runs the statement makes these.
        Some(Default::Now | Default::NewUuid) => None,
        None if attribute.list => Some(Value::List(Vec::new())),
        None => Some(Value::Null),
    }
}

fn finding_key(how: &askloom_model::Reading) -> Option<&[KeyValue]> {
    match how {
        askloom_model::Reading::GetBlock { key } => Some(key),
        askloom_model::Reading::Range { .. }
        | askloom_model::Reading::Each { .. }
        | askloom_model::Reading::Scan => None,
    }
}

pub(super) fn assignments(step: &WriteStep) -> &[Assignment] {
    match step {
        WriteStep::Update { set, .. } => set,
        // These name members of elements, and no caller has them in mind.
        WriteStep::UpdateElements { .. }
        | WriteStep::Store { .. }
        | WriteStep::Insert { .. }
        | WriteStep::Upsert { .. }
        | WriteStep::Delete { .. }
        | WriteStep::Add { .. }
        | WriteStep::Remove { .. }
        | WriteStep::Connect { .. }
        | WriteStep::Disconnect { .. } => &[],
    }
}
