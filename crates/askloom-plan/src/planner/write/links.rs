//! What the ends of a relationship without `checked` ask of a write: the end that is not written may hold the link, be
//! allowed only so many of them, or need one.

use super::step::{Changes, Lists};
use super::{Writing, lookup};
use askloom_model::{
    Cardinality, CheckOf, EndId, Joining, Member, ReferenceCheck, RelationshipKind, Work, WriteAction,
};

impl Writing<'_> {
    pub(super) fn links(&self) -> Vec<ReferenceCheck> {
        let conceptual = &self.planner.model.conceptual;
        let mut reads: Vec<ReferenceCheck> = Vec::new();
        if let Changes::Fields(changes) = &self.step.changes {
            for change in changes {
                if let Some(&Member::End(end)) = change.path.last()
                    && !conceptual.ends[end].stored
                    && conceptual.ends[end].kind != RelationshipKind::Composition
                {
                    self.named_by_other_end(end, &mut reads);
                }
            }
        }
        for (end, row) in conceptual.ends.iter() {
            if row.stored && row.kind != RelationshipKind::Composition {
                self.both_ends(end, &mut reads);
            }
        }
        reads
    }

    /// A statement that names a link by the end that does not hold it.
    fn named_by_other_end(&self, derived: EndId, reads: &mut Vec<ReferenceCheck>) {
        let conceptual = &self.planner.model.conceptual;
        let stored = conceptual.stored_end(derived);
        let (gets, replaces) = match self.step.action {
            WriteAction::Connect(_) => (true, false),
            WriteAction::Disconnect(_) => (false, true),
            WriteAction::Insert
            | WriteAction::Upsert
            | WriteAction::Store
            | WriteAction::Update
            | WriteAction::UpdateElements(_)
            | WriteAction::Delete
            | WriteAction::Add(_)
            | WriteAction::Remove(_) => (true, true),
        };
        if gets {
            let (how, work) = self.by_id(conceptual.ends[derived].target, self.matched);
            self.push(stored, (CheckOf::Partner { how }, work), reads);
        }
        if replaces {
            self.hold(stored, self.matched, reads);
        }
    }

    /// What a stored end asks for that the write can set, change or end.
    fn both_ends(&self, end: EndId, reads: &mut Vec<ReferenceCheck>) {
        let conceptual = &self.planner.model.conceptual;
        let row = &conceptual.ends[end];
        let effects = &self.step.effects;
        let Some(inverse) = row.inverse else { return };
        let (sets, changes) = (effects.sets(conceptual, end), effects.changes(conceptual, Member::End(end)));
        let ends = effects.ends(conceptual, row.class);
        let targets = self.targets_of(end);
        if inverse == end {
            if sets {
                self.push(end, self.partner(end, targets), reads);
                if effects.makes(conceptual, row.class) {
                    self.hold(end, self.matched, reads);
                }
            }
            return;
        }
        let other = &conceptual.ends[inverse];
        let is_limited = other.cardinality.max.is_some();
        let is_required = !other.stored && other.cardinality == Cardinality::ONE;
        if sets && is_limited || (changes || ends) && is_required {
            self.hold(end, targets, reads);
        }
        if (changes || ends) && is_required {
            self.push(end, self.partner(end, targets), reads);
        }
    }

    fn push(&self, end: EndId, (what, work): (CheckOf, Work), reads: &mut Vec<ReferenceCheck>) {
        if !reads.iter().any(|read| read.end == end && read.what == what) {
            reads.push(self.check(end, what, work));
        }
    }

    fn partner(&self, end: EndId, targets: f64) -> (CheckOf, Work) {
        let (how, work) = self.by_id(self.planner.model.conceptual.ends[end].target, targets);
        (CheckOf::Partner { how }, work)
    }

    /// Whoever holds the link now.
    fn hold(&self, end: EndId, targets: f64, reads: &mut Vec<ReferenceCheck>) {
        let ways = lookup::every_way_back(&self.planner.model.conceptual, self.planner.design, end);
        let each = self.planner.statistics.referring(end) / (ways.len() as f64).max(1.0);
        for how in ways {
            let work = self.holders(&how, targets, each);
            self.push(end, (CheckOf::Holders { how }, work), reads);
        }
    }

    #[expect(clippy::expect_used, reason = "a design without a master is refused before writes are planned")]
    fn by_id(&self, class: askloom_model::ClassId, gets: f64) -> (Joining, Work) {
        let (conceptual, design) = (&self.planner.model.conceptual, self.planner.design);
        let root = conceptual.aggregate_root(class).expect("links lead to entities");
        let master = design.master(root).expect("every root class has a master");
        let how = lookup::by_id(conceptual, design, master, class);
        let work = lookup::work_of_roots(self.planner.costing, &self.sizes(), &how, gets);
        (how, work)
    }

    /// To how many instances the written ones are linked by an end.
    fn targets_of(&self, end: EndId) -> f64 {
        let conceptual = &self.planner.model.conceptual;
        let without_lists = matches!(self.step.changes, Changes::Made(Lists::Empty));
        if without_lists && conceptual.ends[end].cardinality.is_many() {
            return 0.0;
        }
        self.matched * self.planner.statistics.fan_out(Member::End(end)).max(0.0)
    }
}
