//! Which top-level fields of which aggregates a statement uses, and how.

use crate::method::around::Statement;
use askloom_model::{
    ClassId, ColumnValue, Conceptual, Condition, Id, Leaf, Member, Path, Position, PositionId, Query,
    RelationshipKind, Table, WriteStep,
};
use askloom_plan::planner;
use askloom_plan::planner::write::way_to;
use std::collections::{BTreeMap, BTreeSet};

/// What a statement does with the aggregates of one root. Fields go by their names: a rule does not know others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Use {
    /// All of it is read or written at once.
    pub(super) whole: bool,
    pub(super) read: BTreeSet<String>,
    pub(super) written: BTreeSet<String>,
    /// Lists of which it writes single elements.
    pub(super) elements: BTreeSet<String>,
}

/// A place in an aggregate: which root, and the field of the root that it is in.
#[derive(Debug, Clone, Copy)]
struct Place {
    root: ClassId,
    top: Option<Member>,
}

pub(super) struct Uses<'u> {
    conceptual: &'u Conceptual,
    of: BTreeMap<ClassId, Use>,
}

impl<'u> Uses<'u> {
    pub(super) fn of(conceptual: &'u Conceptual, statement: &Statement<'_>) -> BTreeMap<ClassId, Use> {
        let mut uses = Self { conceptual, of: BTreeMap::new() };
        match statement {
            Statement::Query(query) => uses.query(query),
            Statement::Write(write) => write.steps.iter().for_each(|step| uses.step(step)),
        }
        uses.of
    }

    fn query(&mut self, query: &Query) {
        let places = self.places(&query.positions);
        for path in planner::needed_paths(query) {
            self.read(&places, &path);
        }
        for column in &query.columns {
            match &column.value {
                ColumnValue::Whole(position) => {
                    if let Some(Some(place)) = places.get(position.index()) {
                        self.whole(*place);
                    }
                }
                ColumnValue::Path(_) | ColumnValue::Aggregate(_) => {}
            }
        }
    }

    /// Where the positions of a tree stand. Going there reads what leads there.
    fn places(&mut self, positions: &Table<PositionId, Position>) -> Vec<Option<Place>> {
        let mut places: Vec<Option<Place>> = Vec::new();
        for (_, position) in positions.iter() {
            let place = match position.from {
                None => position.class.and_then(|class| self.home(class)),
                Some(hop) => places
                    .get(hop.parent.index())
                    .copied()
                    .flatten()
                    .and_then(|place| self.walk(place, hop.step)),
            };
            places.push(place);
        }
        places
    }

    fn home(&self, class: ClassId) -> Option<Place> {
        let root = self.conceptual.aggregate_root(class)?;
        let top = way_to(self.conceptual, class).first().map(|&end| Member::End(end));
        Some(Place { root, top })
    }

    fn walk(&mut self, place: Place, step: Member) -> Option<Place> {
        let inside = Place { top: Some(place.top.unwrap_or(step)), ..place };
        let Member::End(end) = step else { return Some(inside) };
        let row = &self.conceptual.ends[end];
        if row.stored {
            self.note(inside, |used| &mut used.read);
            if row.kind == RelationshipKind::Composition {
                return Some(inside);
            }
        }
        self.home(row.target)
    }

    fn read(&mut self, places: &[Option<Place>], path: &Path) {
        let Some(Some(mut place)) = places.get(path.position.index()).copied() else { return };
        for &hop in &path.hops {
            match self.walk(place, Member::End(hop)) {
                Some(next) => place = next,
                None => return,
            }
        }
        let member = match path.leaf {
            Leaf::Attribute(id) => Member::Attribute(id),
            Leaf::Reference(id) => Member::End(id),
            Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => return,
        };
        self.note(Place { top: Some(place.top.unwrap_or(member)), ..place }, |used| &mut used.read);
    }

    fn note(&mut self, place: Place, how: impl Fn(&mut Use) -> &mut BTreeSet<String>) {
        let used = self.of.entry(place.root).or_default();
        if let Some(top) = place.top {
            how(used).insert(self.conceptual.member_name(top).to_owned());
        }
    }

    fn whole(&mut self, place: Place) {
        match place.top {
            None => self.of.entry(place.root).or_default().whole = true,
            Some(_) => self.note(place, |used| &mut used.read),
        }
    }

    fn step(&mut self, step: &WriteStep) {
        match step {
            WriteStep::Insert { class } | WriteStep::Upsert { class } | WriteStep::Store { class } => {
                if let Some(place) = self.home(*class) {
                    self.whole(place);
                }
            }
            WriteStep::Delete { class, condition, positions } => {
                self.found(condition.as_ref(), positions);
                if let Some(place) = self.home(*class) {
                    self.whole(place);
                }
            }
            WriteStep::Update { class, set, condition, positions } => {
                self.found(condition.as_ref(), positions);
                for assignment in set {
                    let first = assignment.hops.first().map_or(assignment.member, |&hop| Member::End(hop));
                    self.writes(*class, first, false);
                }
            }
            WriteStep::Add { class, list, condition, positions, .. }
            | WriteStep::Remove { class, list, condition, positions, .. }
            | WriteStep::UpdateElements { class, list, condition, positions, .. } => {
                self.found(condition.as_ref(), positions);
                self.writes(*class, *list, true);
            }
            WriteStep::Connect { class, end, condition, positions, .. }
            | WriteStep::Disconnect { class, end, condition, positions, .. } => {
                self.found(condition.as_ref(), positions);
                let stored = self.conceptual.stored_end(*end);
                let holder = if stored == *end { *class } else { self.conceptual.ends[stored].class };
                self.writes(holder, Member::End(stored), true);
            }
        }
    }

    fn found(&mut self, condition: Option<&Condition>, positions: &Table<PositionId, Position>) {
        let places = self.places(positions);
        let mut paths = Vec::new();
        if let Some(condition) = condition {
            paths.extend(condition.paths().into_iter().cloned());
        }
        for path in paths {
            self.read(&places, &path);
        }
    }

    fn writes(&mut self, class: ClassId, member: Member, element: bool) {
        let Some(place) = self.home(class) else { return };
        let element = element || place.top.is_some();
        let place = Place { top: Some(place.top.unwrap_or(member)), ..place };
        self.note(place, |used| &mut used.written);
        if element {
            self.note(place, |used| &mut used.elements);
        }
    }
}
