//! Statements, and the collections that each can have to do with: a large model costs what its statements cost, not its
//! classes times its statements.

use askloom_model::{
    ClassId, CollectionId, Conceptual, Design, EndId, Header, Id, Leaf, Member, Model, Position, PositionId,
    Query, Role, Table, Write, WriteStep,
};
use askloom_plan::cost::Costing;
use askloom_plan::{planner, upkeep};
use std::collections::{BTreeSet, HashMap};

pub(super) enum Statement<'m> {
    Query(Box<Query>),
    Write(&'m Write),
}

impl Statement<'_> {
    pub(super) fn header(&self) -> &Header {
        match self {
            Self::Query(query) => &query.header,
            Self::Write(write) => &write.header,
        }
    }

    /// What it costs over a design; a query starts with one of these collections.
    pub(super) fn cost(
        &self,
        model: &Model,
        costing: &Costing<'_>,
        design: &Design,
        from: &[CollectionId],
    ) -> Option<f64> {
        match self {
            Self::Query(query) => planner::plan_from(costing, &model.conceptual, design, query, from)
                .map(|plan| plan.estimate.cost),
            Self::Write(write) => {
                planner::write::plan(costing, model, design, write).ok().map(|plan| plan.estimate.cost)
            }
        }
    }
}

/// Which collections have to do with which aggregates.
pub(super) struct Around<'a> {
    conceptual: &'a Conceptual,
    design: &'a Design,
    /// By root, the collections whose rows depend on its aggregates.
    about: HashMap<ClassId, Vec<CollectionId>>,
    /// By collection, those roots.
    roots: Vec<Vec<ClassId>>,
    /// By root, those that refer to its aggregates by checked references.
    referring: HashMap<ClassId, Vec<ClassId>>,
}

impl<'a> Around<'a> {
    pub(super) fn new(conceptual: &'a Conceptual, design: &'a Design) -> Self {
        let mut around =
            Self { conceptual, design, about: HashMap::new(), roots: Vec::new(), referring: HashMap::new() };
        let mut homes: HashMap<ClassId, Vec<ClassId>> = HashMap::new();
        for (id, collection) in design.collections.iter() {
            let mut roots = match collection.role {
                // A scan of one is priced for all in its table.
                Role::Master => {
                    let all = design.in_partitions_of(id);
                    all.map(|master| design.collections[master].source.root).collect()
                }
                Role::Copy | Role::Index | Role::Carried => {
                    let classes =
                        upkeep::places(conceptual, collection).into_iter().filter_map(|place| place.class);
                    let mut roots = Vec::new();
                    for class in classes {
                        let homes = homes.entry(class).or_insert_with(|| {
                            conceptual.homes(class).iter().map(|home| home.root).collect()
                        });
                        roots.extend(homes.iter().copied());
                    }
                    roots
                }
            };
            roots.sort_unstable();
            roots.dedup();
            for &root in &roots {
                around.about.entry(root).or_default().push(id);
            }
            around.roots.push(roots);
        }
        for (_, end) in conceptual.ends.iter().filter(|(_, end)| end.stored && end.is_checked()) {
            let ends = conceptual.aggregate_root(end.target).zip(conceptual.aggregate_root(end.class));
            if let Some((target, holder)) = ends {
                around.referring.entry(target).or_default().push(holder);
            }
        }
        around
    }

    /// The collections about these roots, and what is needed to keep them.
    pub(super) fn design(&self, roots: &BTreeSet<ClassId>) -> Design {
        let mut collections = Table::default();
        for id in self.ids(roots) {
            collections.push(self.design.collections[id].clone());
        }
        Design { method: self.design.method.clone(), collections }
    }

    /// Where these are in the design.
    pub(super) fn ids(&self, roots: &BTreeSet<ClassId>) -> BTreeSet<CollectionId> {
        let about = |root: &ClassId| self.about.get(root).into_iter().flatten().copied();
        let mut ids: BTreeSet<CollectionId> = roots.iter().flat_map(about).collect();
        let further: BTreeSet<ClassId> =
            ids.iter().filter_map(|id| self.roots.get(id.index())).flatten().copied().collect();
        let needed = |id: &CollectionId| {
            let collection = &self.design.collections[*id];
            let own = further.contains(&collection.source.root);
            let always = match collection.role {
                Role::Master | Role::Carried => true,
                Role::Copy | Role::Index => collection.indexed().is_some(),
            };
            own && always
        };
        ids.extend(further.iter().flat_map(about).filter(needed));
        ids
    }

    pub(super) fn roots(&self, statement: &Statement<'_>) -> BTreeSet<ClassId> {
        match statement {
            Statement::Query(query) => self.roots_of_query(query),
            Statement::Write(write) => {
                let mut roots = BTreeSet::new();
                write.steps.iter().for_each(|step| self.step(step, &mut roots));
                roots
            }
        }
    }

    pub(super) fn roots_of_query(&self, query: &Query) -> BTreeSet<ClassId> {
        let mut roots = BTreeSet::new();
        self.positions(&query.positions, &mut roots);
        for path in planner::needed_paths(query) {
            self.path(&path.hops, path.leaf, &mut roots);
        }
        roots
    }

    fn positions(&self, positions: &Table<PositionId, Position>, roots: &mut BTreeSet<ClassId>) {
        for (_, position) in positions.iter() {
            match position.from.map(|hop| hop.step) {
                None => {
                    let homes = position.class.map(|class| self.conceptual.homes(class)).unwrap_or_default();
                    roots.extend(homes.iter().map(|home| home.root));
                }
                Some(Member::End(end)) => self.end(end, roots),
                Some(Member::Attribute(_)) => {}
            }
            roots.extend(position.class.and_then(|class| self.conceptual.aggregate_root(class)));
        }
    }

    fn path(&self, hops: &[EndId], leaf: Leaf, roots: &mut BTreeSet<ClassId>) {
        hops.iter().for_each(|&hop| self.end(hop, roots));
        match leaf {
            Leaf::Reference(end) => self.end(end, roots),
            Leaf::Attribute(_) | Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => {}
        }
    }

    fn end(&self, end: EndId, roots: &mut BTreeSet<ClassId>) {
        let row = &self.conceptual.ends[end];
        roots.extend(self.conceptual.aggregate_root(row.target));
        roots.extend(self.conceptual.aggregate_root(row.class));
    }

    fn step(&self, step: &WriteStep, roots: &mut BTreeSet<ClassId>) {
        let (class, found, changed) = match step {
            WriteStep::Insert { class } | WriteStep::Upsert { class } | WriteStep::Store { class } => {
                (*class, None, Vec::new())
            }
            WriteStep::Delete { class, condition, positions } => {
                (*class, Some((condition, positions)), Vec::new())
            }
            WriteStep::Update { class, set, condition, positions } => {
                let changed = set.iter().map(|assignment| assignment.member).collect();
                (*class, Some((condition, positions)), changed)
            }
            WriteStep::UpdateElements { class, list, set, condition, positions } => {
                let inside = set.iter().map(|assignment| assignment.member);
                (*class, Some((condition, positions)), inside.chain([*list]).collect())
            }
            WriteStep::Add { class, list, condition, positions, .. }
            | WriteStep::Remove { class, list, condition, positions, .. } => {
                (*class, Some((condition, positions)), vec![*list])
            }
            WriteStep::Connect { class, end, condition, positions, .. }
            | WriteStep::Disconnect { class, end, condition, positions, .. } => {
                (*class, Some((condition, positions)), vec![Member::End(*end)])
            }
        };
        if let Some(root) = self.conceptual.aggregate_root(class) {
            roots.insert(root);
            roots.extend(self.referring.get(&root).into_iter().flatten());
        }
        for member in self.conceptual.all_members(class).chain(changed.iter().copied()) {
            match member {
                Member::End(end) if self.conceptual.ends[end].is_checked() || changed.contains(&member) => {
                    self.end(end, roots);
                }
                Member::End(_) | Member::Attribute(_) => {}
            }
        }
        let Some((condition, positions)) = found else { return };
        self.positions(positions, roots);
        let mut paths = Vec::new();
        if let Some(condition) = condition {
            paths.extend(condition.paths().into_iter().cloned());
        }
        for path in paths {
            self.path(&path.hops, path.leaf, roots);
        }
    }
}
