//! The reads of a write: the aggregates that it changes, the checks of its rules, and the rows of copies to bring after.

use super::read::{identity_slots, read_rows, slots};
use super::write::{Writing, assignments};
use super::{Action, Each, How, Note, Read, Start, Step, StepIndex, Term, ValueFrom};
use crate::layout::{Shape, Table};
use askloom_model::{
    Assigned, Assignment, CheckOf, CollectionId, CopyWrite, EndId, Joining, Member, Operand, Position,
    PositionId, ReferenceCheck, SupportOf, Value, WriteAction, WriteStep,
};

impl Writing<'_> {
    pub(super) fn reads(&self, steps: &mut Vec<Step>) {
        if let Some(positions) = positions(self.step) {
            read_rows(self.given, positions, &self.plan.find, Start::Written, steps);
        } else if !matches!(self.plan.action, WriteAction::Insert) {
            let blind = self.plan.blind;
            self.look(steps, self.plan.master.collection, Note::Existing { blind }, Each::Once);
        }
        for reservation in &self.plan.reservations {
            let member = reservation.path.last().copied();
            let note = Note::Unique { member, scan: reservation.index.is_none() };
            match reservation.index {
                Some(index) => self.look(steps, index, note, Each::Once),
                None => everything(steps, self.plan.master.collection, note),
            }
        }
        for check in &self.plan.checks {
            self.check(steps, check);
        }
        for copy in &self.plan.copies {
            self.support(steps, copy);
        }
    }

    /// Reads the other end of a link.
    fn check(&self, steps: &mut Vec<Step>, check: &ReferenceCheck) {
        let end = check.end;
        let note = |scan| match check.what {
            CheckOf::TargetLives { .. } => Note::CheckedTarget(end),
            CheckOf::Referrers { .. } => Note::CheckedReferrers { end, scan },
            CheckOf::Partner { .. } => Note::Partner(end),
            CheckOf::Holders { .. } => Note::LinkHolders { end, scan },
        };
        match *check.what.how() {
            Joining::Inside => {}
            Joining::LookUp { master } => {
                self.target(steps, end, master, note(false));
            }
            Joining::PartByIndex { index, master } => {
                if let Some(found) = self.target(steps, end, index, note(false)) {
                    self.look(steps, master, note(false), Each::Found(found));
                }
            }
            Joining::Back { index, master } => {
                let found = match self.is_linked_to_it(check) {
                    true => self.back(steps, end, index, note(false)),
                    false => self.target(steps, end, index, note(false)),
                };
                if let Some(found) = found {
                    self.look(steps, master, note(false), Each::Found(found));
                }
            }
            Joining::PartByScan { master } | Joining::BackByScan { master } => {
                everything(steps, master, note(true));
            }
        }
    }

    /// Whether those that are looked for hold links to the written instance itself, not to what it is linked to.
    fn is_linked_to_it(&self, check: &ReferenceCheck) -> bool {
        let ends = &self.conceptual().ends;
        let by_other_end = self.other_ends().contains(&check.end);
        let symmetric = ends[check.end].inverse == Some(check.end);
        by_other_end || symmetric || matches!(check.what, CheckOf::Referrers { .. })
    }

    fn support(&self, steps: &mut Vec<Step>, copy: &CopyWrite) {
        let of = copy.collection;
        for read in copy.support.iter().filter(|read| !read.shared) {
            match &read.of {
                SupportOf::Back(back) => {
                    let end = back.end;
                    let note = Note::RowsHolding { copy: of, end, scan: back.index.is_none() };
                    match back.index {
                        Some(index) if back.first => {
                            self.back(steps, end, index, note);
                        }
                        Some(index) => self.look(steps, index, note, Each::FoundOfCopy(of)),
                        None => everything(steps, back.master, note),
                    }
                }
                SupportOf::Rebuild { how, .. } => {
                    let note = |scan| Note::RestOfRows { copy: of, scan };
                    match *how {
                        Joining::Inside => {}
                        Joining::LookUp { master } => {
                            self.look(steps, master, note(false), Each::RowsOfCopy(of));
                        }
                        Joining::PartByIndex { index, master } | Joining::Back { index, master } => {
                            self.look(steps, index, note(false), Each::RowsOfCopy(of));
                            self.look(steps, master, note(false), Each::FoundOfCopy(of));
                        }
                        Joining::PartByScan { master } | Joining::BackByScan { master } => {
                            everything(steps, master, note(true));
                        }
                    }
                }
            }
        }
    }

    fn look(&self, steps: &mut Vec<Step>, table: CollectionId, note: Note, each: Each) {
        let Some(of) = self.layout().table(table) else { return };
        let (terms, may_be_it) = match each {
            Each::Once | Each::Values(_) => {
                (slots(of, |column| of.names_block(column), ValueFrom::After), true)
            }
            Each::Rows(_) | Each::RowsOfCopy(_) => {
                (identity_slots(self.layout(), of, |column| of.names_block(column)), true)
            }
            // What is found is another instance, if of the same class.
            Each::Found(_) | Each::FoundOfCopy(_) => {
                (identity_slots(self.layout(), of, |column| of.names_block(column)), false)
            }
        };
        let terms = if may_be_it && self.is_about_it(of) { self.known(of, terms) } else { terms };
        look_by(steps, table, note, each, terms);
    }

    /// Whether a table holds instances of the written class.
    fn is_about_it(&self, table: &Table) -> bool {
        let (class, root) = (self.plan.class, self.root(table));
        self.conceptual().is_kind_of(class, root) || self.conceptual().is_kind_of(root, class)
    }

    /// Reads an index of references by the id of the written aggregate.
    fn back(&self, steps: &mut Vec<Step>, end: EndId, index: CollectionId, note: Note) -> Option<StepIndex> {
        let (of, master) = (self.layout().table(index)?, self.layout().table(self.plan.master.collection)?);
        let mut terms = slots(of, |column| of.names_block(column), ValueFrom::After);
        let key = match self.step {
            WriteStep::Insert { .. } | WriteStep::Upsert { .. } | WriteStep::Store { .. } => {
                self.known(master, slots(master, |column| master.names_block(column), ValueFrom::After))
            }
            WriteStep::Update { .. }
            | WriteStep::UpdateElements { .. }
            | WriteStep::Delete { .. }
            | WriteStep::Add { .. }
            | WriteStep::Remove { .. }
            | WriteStep::Connect { .. }
            | WriteStep::Disconnect { .. } => self.key(master),
        };
        // The key of a master may have the components of the identity in another order.
        let term = |at: &usize| key.iter().find(|term| term.column == Some(*at)).cloned();
        let key: Vec<Term> = master.identity_columns().iter().filter_map(term).collect();
        let class = self.plan.class;
        let is_whole = self.conceptual().classes[class].owner.is_none()
            && self.conceptual().is_kind_of(class, self.conceptual().ends[end].target)
            && key.len() == terms.len();
        for (term, known) in terms.iter_mut().zip(key).filter(|_| is_whole) {
            *term = Term { column: term.column, ..known };
        }
        Some(look_by(steps, index, note, Each::Once, terms))
    }

    /// Reads the aggregate that a reference is set to, or the entries of an index by its id.
    fn target(
        &self,
        steps: &mut Vec<Step>,
        end: EndId,
        table: CollectionId,
        note: Note,
    ) -> Option<StepIndex> {
        let of = self.layout().table(table)?;
        let columns = match of.shape {
            Shape::Master { .. } => of.identity_columns(),
            Shape::Rows(_) | Shape::Nodes(_) => {
                let block = of.columns.iter().enumerate().filter(|(_, column)| of.names_block(column));
                block.map(|(at, _)| at).collect()
            }
        };
        let name = &self.conceptual().ends[end].name;
        let terms = match self.referred(end) {
            Some(operand) => self.given.terms(of, &columns, operand),
            None => {
                // Only a new instance is given its references by their names.
                let is_own = positions(self.step).is_none() && self.is_own(Member::End(end));
                let named = self.named.filter(|_| is_own);
                let value = named.map(|named| named.get(name).cloned().unwrap_or(Value::Null));
                if value == Some(Value::Null) {
                    return None;
                }
                self.given.spread(of, &columns, (name, ValueFrom::After), value.as_ref())
            }
        };
        let terms = self.given.with_time_buckets(of, terms);
        Some(look_by(steps, table, note, Each::Once, terms))
    }

    fn referred(&self, end: EndId) -> Option<&Operand> {
        let sets = |assignment: &&Assignment| match assignment.member {
            Member::End(set) => self.conceptual().stored_end(set) == end,
            Member::Attribute(_) => false,
        };
        let set = assignments(self.step).iter().find(sets);
        match (set.map(|assignment| &assignment.value), self.step) {
            (Some(Assigned::To(operand)), _) => Some(operand),
            (_, WriteStep::Connect { to, .. }) => Some(to),
            (_, WriteStep::Disconnect { from, .. }) => from.as_ref(),
            (_, _) => None,
        }
    }
}

fn look_by(
    steps: &mut Vec<Step>,
    table: CollectionId,
    note: Note,
    each: Each,
    terms: Vec<Term>,
) -> StepIndex {
    push(steps, Step { note, each, action: Action::Read(Read::new(table, How::Block(terms))) })
}

fn everything(steps: &mut Vec<Step>, table: CollectionId, note: Note) {
    push(steps, Step { note, each: Each::Once, action: Action::Read(Read::new(table, How::All)) });
}

/// Adds a step unless the same read is there already for another copy or check.
fn push(steps: &mut Vec<Step>, step: Step) -> StepIndex {
    let is_same = |other: &Step| other.action == step.action && other.each.is_alike(&step.each);
    steps.iter().position(is_same).unwrap_or_else(|| {
        steps.push(step);
        steps.len() - 1
    })
}

fn positions(step: &WriteStep) -> Option<&askloom_model::Table<PositionId, Position>> {
    match step {
        WriteStep::Insert { .. } | WriteStep::Upsert { .. } | WriteStep::Store { .. } => None,
        WriteStep::Update { positions, .. }
        | WriteStep::UpdateElements { positions, .. }
        | WriteStep::Delete { positions, .. }
        | WriteStep::Add { positions, .. }
        | WriteStep::Remove { positions, .. }
        | WriteStep::Connect { positions, .. }
        | WriteStep::Disconnect { positions, .. } => Some(positions),
    }
}
