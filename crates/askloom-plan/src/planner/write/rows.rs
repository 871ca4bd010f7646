//! How many entries of a copy a write puts and deletes.

use super::Writing;
use super::copies::{is_inside, is_many, last, stored};
use super::step::{Change, Changes, Lists};
use crate::cost::{Asked, selectivity};
use crate::planner::conjuncts;
use askloom_model::{
    ClassId, Collection, Comparison, Conceptual, Condition, Constant, Id, Member, Operand, Path,
    RelationshipKind, WriteAction,
};

/// Rows of a copy before and after.
pub(super) struct Shares {
    pub(super) before: f64,
    pub(super) after: f64,
    /// Whether what stays may be under another key.
    pub(super) moves: bool,
}

impl Writing<'_> {
    /// How many entries hold the written instances there, whatever the collection's condition says of them.
    pub(super) fn rows_at(&self, collection: &Collection, point: &[Member], root: ClassId) -> f64 {
        let conceptual = &self.planner.model.conceptual;
        let sizes = self.sizes();
        if let (Changes::Made(lists), None) = (&self.step.changes, point.last()) {
            return self.rows_of_new(collection, *lists) * self.matched;
        }
        // Nobody refers to what is only now made.
        if let Some(&Member::End(end)) = point.last() {
            let row = &conceptual.ends[end];
            let is_whole = matches!(self.step.changes, Changes::Made(_));
            let refers = row.stored && (is_whole || row.kind != RelationshipKind::Composition);
            if refers && self.step.makes(conceptual, row.target) {
                return 0.0;
            }
        }
        let all = sizes.rows_without_condition(collection) * sizes.keys_of_row(collection);
        let of_one = all / self.planner.statistics.count(root).max(1.0);
        of_one * self.matched / self.grain(collection)
    }

    /// The entries of an instance that is only now made: nobody refers to it yet, and its lists may be empty.
    fn rows_of_new(&self, collection: &Collection, lists: Lists) -> f64 {
        let conceptual = &self.planner.model.conceptual;
        let reached = |step: Member, own: bool| {
            let derived = match step {
                Member::Attribute(_) => false,
                Member::End(id) => !conceptual.ends[id].stored,
            };
            let nothing = own && (derived || (is_many(conceptual, step) && lists == Lists::Empty));
            if nothing { 0.0 } else { self.planner.statistics.fan_out(step) }
        };
        let mut own: Vec<bool> = Vec::new();
        let mut rows = 1.0;
        for (_, position) in collection.source.positions.iter() {
            let Some(hop) = position.from else {
                own.push(true);
                continue;
            };
            let of_new = own.get(hop.parent.index()).copied().unwrap_or(false);
            let found: f64 = reached(hop.step, of_new);
            rows *= if position.outer { found.max(1.0) } else { found };
            own.push(of_new && is_inside(conceptual, hop.step));
        }
        let keys = collection.block_key.iter().map(|field| {
            let mut own = true;
            let mut empty = false;
            for step in field.path.members() {
                empty |= own && reached(step, true) <= 0.0;
                own &= is_inside(conceptual, step);
            }
            if empty { 0.0 } else { self.planner.statistics.values(&field.path) }
        });
        rows * keys.product::<f64>()
    }

    /// One element of a list, or one link, is one of so many of a row's root.
    fn grain(&self, collection: &Collection) -> f64 {
        let conceptual = &self.planner.model.conceptual;
        let member = match self.step.action {
            WriteAction::Add(member) | WriteAction::Remove(member) => member,
            WriteAction::Connect(end) | WriteAction::Disconnect(end) => Member::End(end),
            WriteAction::UpdateElements(member) => member,
            WriteAction::Insert
            | WriteAction::Upsert
            | WriteAction::Store
            | WriteAction::Update
            | WriteAction::Delete => return 1.0,
        };
        let joined = collection.source.positions.iter().filter_map(|(_, position)| Some(position.from?.step));
        let keys = collection.block_key.iter().flat_map(|field| field.path.members());
        let mut grains = joined.chain(keys).map(|step| stored(conceptual, step));
        if grains.any(|step| step == stored(conceptual, member)) {
            self.planner.statistics.fan_out(member).max(1.0) / self.elements_changed()
        } else {
            1.0
        }
    }

    /// Which share of the rows is in the copy before and after, by its condition, the statement's own and the values
    /// that it sets.
    pub(super) fn shares(&self, collection: &Collection, point: &[Member]) -> Shares {
        let asked = Asked { positions: &collection.source.positions, skew: 0.0, stated: None };
        let (mut before, mut after) = (1.0, 1.0);
        for conjunct in conjuncts(collection.source.condition.as_ref()) {
            let usual = selectivity(&self.planner.statistics, asked, conjunct.condition);
            before *= self.known_before(conjunct.condition).unwrap_or(usual);
            after *= self.known_after(conjunct.condition).unwrap_or(usual);
        }
        let standing = standing(&self.planner.model.conceptual, collection, point);
        match (&self.step.changes, standing) {
            // A row with nothing there gives way to one with something.
            (Changes::Made(_) | Changes::Ended, Standing::OneOrNothing) => {
                Shares { before: after, after, moves: true }
            }
            (Changes::Made(_), _) => Shares { before: 0.0, after, moves: false },
            (Changes::Ended, Standing::Row) => Shares { before, after: 0.0, moves: false },
            (Changes::Ended, Standing::Value) => Shares { before, after: before, moves: false },
            (Changes::Replaced, _) => Shares { before, after, moves: true },
            (Changes::Fields(changes), _) => self.moved(collection, changes, before, after),
        }
    }

    fn moved(&self, collection: &Collection, changes: &[Change], before: f64, after: f64) -> Shares {
        let conceptual = &self.planner.model.conceptual;
        let keys: Vec<Member> = collection
            .block_key
            .iter()
            .chain(&collection.entry_key)
            .flat_map(|field| field.path.members())
            .chain(collection.source.positions.iter().filter_map(|(_, position)| Some(position.from?.step)))
            .map(|member| stored(conceptual, member))
            .collect();
        let moves = changes.iter().filter_map(last).any(|member| keys.contains(&stored(conceptual, member)));
        let many = |member: Member| is_many(conceptual, member);
        match self.step.action {
            WriteAction::Add(member) if moves && many(member) => Shares { before: 0.0, after, moves: false },
            WriteAction::Remove(member) if moves && many(member) => {
                Shares { before, after: 0.0, moves: false }
            }
            WriteAction::Connect(end) if moves && many(Member::End(end)) => {
                Shares { before: 0.0, after, moves: false }
            }
            WriteAction::Disconnect(_) if moves => Shares { before, after: 0.0, moves: false },
            WriteAction::Insert
            | WriteAction::Upsert
            | WriteAction::Store
            | WriteAction::Update
            | WriteAction::UpdateElements(_)
            | WriteAction::Delete
            | WriteAction::Add(_)
            | WriteAction::Remove(_)
            | WriteAction::Connect(_)
            | WriteAction::Disconnect(_) => Shares { before, after, moves },
        }
    }

    /// What the statement's WHERE says of a condition on the instance itself: it held, or it did not.
    fn known_before(&self, condition: &Condition) -> Option<f64> {
        let guards = conjuncts(self.step.find.condition.as_ref());
        if guards.iter().any(|guard| guard.condition == condition) && is_own(condition) {
            return Some(1.0);
        }
        let (path, wanted) = own_constant(condition)?;
        guards.into_iter().find_map(|conjunct| {
            let (asked, constant) = own_constant(conjunct.condition)?;
            (asked == path).then_some(if constant == wanted { 1.0 } else { 0.0 })
        })
    }

    /// What the values that are set say of it.
    fn known_after(&self, condition: &Condition) -> Option<f64> {
        let (path, wanted) = own_constant(condition)?;
        let Changes::Fields(changes) = &self.step.changes else { return None };
        let change = changes.iter().find(|change| change.path.iter().copied().eq(path.members()))?;
        change.to.as_ref().map(|constant| if constant == wanted { 1.0 } else { 0.0 })
    }
}

/// What an instance at a place is to a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// There is a row for each.
    Row,
    /// An outer join to one: the row names it, or says that there is none.
    OneOrNothing,
    /// The end of a path: its values are in the row, or nothing is.
    Value,
}

fn standing(conceptual: &Conceptual, collection: &Collection, point: &[Member]) -> Standing {
    let mut ways: Vec<Vec<Member>> = Vec::new();
    for (_, position) in collection.source.positions.iter() {
        let way = match position.from {
            None => Vec::new(),
            Some(hop) => {
                let mut way = ways.get(hop.parent.index()).cloned().unwrap_or_default();
                way.push(hop.step);
                way
            }
        };
        if way == point {
            let many = way.iter().any(|&step| is_many(conceptual, step));
            return if position.outer && !many { Standing::OneOrNothing } else { Standing::Row };
        }
        ways.push(way);
    }
    Standing::Value
}

/// Whether a condition is about the main instance alone.
fn is_own(condition: &Condition) -> bool {
    let paths = condition.paths();
    paths.iter().all(|path| path.position.index() == 0)
}

/// `field = constant`, of the main instance.
fn own_constant(condition: &Condition) -> Option<(&Path, &Constant)> {
    let Condition::Compare { left, op: Comparison::Equal, right } = condition else { return None };
    match (left, right) {
        (Operand::Path(path), Operand::Constant(constant))
        | (Operand::Constant(constant), Operand::Path(path))
            if path.position.index() == 0 =>
        {
            Some((path, constant))
        }
        (_, _) => None,
    }
}
