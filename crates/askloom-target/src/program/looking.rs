//! What a write reads first.

use super::read::{finding, slots};
use super::write::{Writing, assignments};
use super::{Action, How, Read, Step, Term};
use crate::layout::Table;
use askloom_model::{
    Assigned, CheckOf, CollectionId, CopyWrite, EndId, Joining, Member, Operand, Position, PositionId,
    SupportOf, Value, WriteAction, WriteStep,
};

impl Writing<'_> {
    pub(super) fn reads(&self, steps: &mut Vec<Step>) {
        if let Some(positions) = positions(self.step) {
            let start = Some("what is written, with its version");
            for step in finding(self.given, positions, &self.plan.find, start) {
                push(steps, step);
            }
        } else if !matches!(self.plan.action, WriteAction::Insert) {
            let why = match self.plan.blind {
                // Reading it first and testing it is right as well, and costs more than the plan says.
                true => {
                    "what is there already, with its version; a blind put, without this, is not generated yet"
                }
                false => "what is there already, with its version",
            };
            self.look(steps, self.plan.master.collection, why, None);
        }
        for reservation in &self.plan.reservations {
            let name = reservation.path.last().map_or("it", |&member| self.conceptual().member_name(member));
            match reservation.index {
                Some(index) => {
                    self.look(steps, index, &format!("nobody else has this `{name}`"), None);
                }
                None => self.everything(
                    steps,
                    self.plan.master.collection,
                    &format!("nobody else has this `{name}`"),
                ),
            }
        }
        for check in &self.plan.checks {
            let name = &self.conceptual().ends[check.end].name;
            match check.what {
                CheckOf::TargetLives { master } => {
                    self.target(steps, check.end, master, &format!("what `{name}` refers to is there"));
                }
                CheckOf::Referrers { index: Some(index) } => {
                    self.back(steps, check.end, index, &format!("who refers to it by `{name}`"));
                }
                CheckOf::Referrers { index: None } => {
                    if let Some(master) = self.layout().design.master(self.conceptual().ends[check.end].class)
                    {
                        self.everything(steps, master, &format!("who refers to it by `{name}`"));
                    }
                }
            }
        }
        for copy in &self.plan.copies {
            self.support(steps, copy);
        }
    }

    fn support(&self, steps: &mut Vec<Step>, copy: &CopyWrite) {
        let name = &self.layout().design.collections[copy.collection].name;
        for read in copy.support.iter().filter(|read| !read.shared) {
            match &read.of {
                SupportOf::Back(back) => {
                    let end = &self.conceptual().ends[back.end];
                    let why = format!("which rows of {name} hold it: who refers to it by `{}`", end.name);
                    match back.index {
                        Some(index) => self.back(steps, back.end, index, &why),
                        None => {
                            if let Some(master) = self.layout().design.master(end.class) {
                                self.everything(steps, master, &why);
                            }
                        }
                    }
                }
                SupportOf::Rebuild { how, .. } => {
                    let why = format!("what else is in rows of {name}");
                    match *how {
                        Joining::Inside => {}
                        Joining::LookUp { master } => self.look(steps, master, &why, Some("row")),
                        Joining::Back { index, master } => {
                            self.look(steps, index, &why, Some("row"));
                            self.look(steps, master, &why, Some("id found"));
                        }
                        Joining::BackByScan { master } => self.everything(steps, master, &why),
                    }
                }
            }
        }
    }

    fn look(&self, steps: &mut Vec<Step>, table: CollectionId, why: &str, each: Option<&str>) {
        let Some(of) = self.layout().table(table) else { return };
        let terms = slots(of, |column| of.names_block(column), "");
        let terms = if self.is_about_it(of) { self.known(of, terms) } else { terms };
        self.look_by(steps, table, why, each, terms);
    }

    /// Whether the rows of a table are instances of the written class.
    fn is_about_it(&self, table: &Table) -> bool {
        let (class, root) = (self.plan.class, self.root(table));
        self.conceptual().is_kind_of(class, root) || self.conceptual().is_kind_of(root, class)
    }

    /// An index by what is written.
    fn back(&self, steps: &mut Vec<Step>, end: EndId, index: CollectionId, why: &str) {
        let (Some(of), Some(master)) =
            (self.layout().table(index), self.layout().table(self.plan.master.collection))
        else {
            return;
        };
        let mut terms = slots(of, |column| of.names_block(column), "");
        let key = match self.step {
            WriteStep::Insert { .. } | WriteStep::Upsert { .. } | WriteStep::Store { .. } => {
                self.known(master, slots(master, |column| master.names_block(column), ""))
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
        self.look_by(steps, index, why, None, terms);
    }

    /// The aggregate that a reference is about to hold.
    fn target(&self, steps: &mut Vec<Step>, end: EndId, table: CollectionId, why: &str) {
        let Some(of) = self.layout().table(table) else { return };
        let columns = of.identity_columns();
        let name = &self.conceptual().ends[end].name;
        let terms = match self.referred(end) {
            Some(operand) => self.given.terms(of, &columns, operand),
            None => {
                let value = self.named.map(|named| named.get(name).cloned().unwrap_or(Value::Null));
                if value == Some(Value::Null) {
                    return;
                }
                self.given.spread(of, &columns, name, value.as_ref())
            }
        };
        let terms = self.given.with_time_buckets(of, terms);
        self.look_by(steps, table, why, None, terms);
    }

    fn referred(&self, end: EndId) -> Option<&Operand> {
        let set = assignments(self.step).iter().find(|assignment| assignment.member == Member::End(end));
        match (set.map(|assignment| &assignment.value), self.step) {
            (Some(Assigned::To(operand)), _) => Some(operand),
            (_, WriteStep::Connect { to, .. }) => Some(to),
            (_, _) => None,
        }
    }

    fn look_by(
        &self,
        steps: &mut Vec<Step>,
        table: CollectionId,
        why: &str,
        each: Option<&str>,
        terms: Vec<Term>,
    ) {
        let action = Action::Read(Read::new(table, How::Block(terms)));
        push(steps, Step { why: why.to_owned(), each: each.map(str::to_owned), action });
    }

    fn everything(&self, steps: &mut Vec<Step>, table: CollectionId, why: &str) {
        let action = Action::Read(Read::new(table, How::All));
        push(steps, Step { why: format!("{why}: no index leads there"), each: None, action });
    }
}

fn push(steps: &mut Vec<Step>, step: Step) {
    if steps.iter().all(|other| other.action != step.action || other.each != step.each) {
        steps.push(step);
    }
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
