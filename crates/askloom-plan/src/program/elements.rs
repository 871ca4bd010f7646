//! Elements of lists and links of sets: entries of their own where the rules of a master say so, else a part of the
//! aggregate's record.

use super::bind::from;
use super::write::Writing;
use super::{ChangeKind, EntryPath, Term};
use crate::layout::{Shape, Table};
use askloom_model::{AccessPath, AccessStep, Contents, EndId, Member, Operand, RuleStep, Value, WriteStep};

impl Writing<'_> {
    /// An element of a list: an entry of its own where the rules say so, else the list.
    pub(super) fn element(&self, table: &Table, member: Member, put: bool) -> Vec<ChangeKind> {
        let key = self.key(table);
        let own = self.conceptual().classes[self.plan.class].owner.is_none();
        let column = self.members(table, &[member]).pop();
        let Some(column) = column.filter(|_| self.lies_apart(table, member)) else {
            let members = if own { vec![member] } else { self.holding(table) };
            return vec![ChangeKind::Set { key, set: self.members(table, &members) }];
        };
        let path = EntryPath::element(self.conceptual().member_name(member));
        let version = ChangeKind::Set { key: key.clone(), set: Vec::new() };
        if !put {
            return vec![version, ChangeKind::DropEntry { key, path }];
        }
        let value = match self.step {
            WriteStep::Add { value, .. } => Term {
                name: self.given.name(table, &column.column.into_iter().collect::<Vec<_>>(), value).into(),
                from: from(value),
                value: self.given.value(value),
                column: column.column,
            },
            WriteStep::Insert { .. }
            | WriteStep::Upsert { .. }
            | WriteStep::Store { .. }
            | WriteStep::Update { .. }
            | WriteStep::UpdateElements { .. }
            | WriteStep::Delete { .. }
            | WriteStep::Remove { .. }
            | WriteStep::Connect { .. }
            | WriteStep::Disconnect { .. } => column,
        };
        vec![version, ChangeKind::PutEntry { key, path, value }]
    }

    fn is_apart(&self, table: &Table, member: Member) -> bool {
        let name = self.conceptual().member_name(member);
        match &self.layout().design.collections[table.collection].contents {
            Contents::Aggregate(rules) => rules.iter().any(|rule| match rule.steps.first() {
                Some(RuleStep::Field { name: field, each: true }) => field == name,
                Some(RuleStep::AnyField { each: true }) => true,
                Some(RuleStep::EachAtom) => true,
                Some(RuleStep::Field { each: false, .. } | RuleStep::AnyField { each: false }) | None => {
                    false
                }
            }),
            Contents::Fields(_) | Contents::Nested(_) => false,
        }
    }

    /// A link of a set, or the one that there is.
    pub(super) fn link(&self, table: &Table, end: EndId, put: bool) -> Vec<ChangeKind> {
        let member = Member::End(end);
        let key = self.key(table);
        let own = self.conceptual().classes[self.plan.class].owner.is_none();
        let many = self.conceptual().ends[end].cardinality.is_many();
        let column = self.members(table, &[member]).pop().filter(|_| many && self.lies_apart(table, member));
        let Some(column) = column else {
            let members = if own { vec![member] } else { self.holding(table) };
            return vec![ChangeKind::Set { key, set: self.members(table, &members) }];
        };
        let name = self.conceptual().member_name(member);
        let operand = self.linked();
        let value = operand.and_then(|operand| self.given.value(operand));
        let columns: Vec<usize> = column.column.into_iter().collect();
        let slot = operand.map_or_else(|| column.name.to_string(), |to| self.given.name(table, &columns, to));
        let from = operand.map_or(column.from, from);
        let mut path = EntryPath::link(name, &slot);
        if let Some(Value::Reference(id)) = &value {
            let steps = vec![AccessStep::Field(name.to_owned()), AccessStep::Link(id.clone())];
            path.known = Some(AccessPath(steps));
        }
        let version = ChangeKind::Set { key: key.clone(), set: Vec::new() };
        let entry = match put {
            true => {
                ChangeKind::PutEntry { key, path, value: Term { name: slot.into(), from, value, ..column } }
            }
            false => ChangeKind::DropEntry { key, path },
        };
        vec![version, entry]
    }

    /// What a link leads to.
    fn linked(&self) -> Option<&Operand> {
        match self.step {
            WriteStep::Connect { to, .. } => Some(to),
            WriteStep::Disconnect { from, .. } => from.as_ref(),
            WriteStep::Insert { .. }
            | WriteStep::Upsert { .. }
            | WriteStep::Store { .. }
            | WriteStep::Update { .. }
            | WriteStep::UpdateElements { .. }
            | WriteStep::Delete { .. }
            | WriteStep::Add { .. }
            | WriteStep::Remove { .. } => None,
        }
    }

    fn lies_apart(&self, table: &Table, member: Member) -> bool {
        let own = self.conceptual().classes[self.plan.class].owner.is_none();
        own && matches!(table.shape, Shape::Master { entries: true, .. }) && self.is_apart(table, member)
    }
}
