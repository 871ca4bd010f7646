//! Which steps a plan takes, in execution order.
//!
//! What an entry does not hold is looked up when it is first needed: for a condition before rows are dropped, for a
//! column after the limit.

use super::same::{Same, is_given};
use super::ttl_safety::{is_lasting_whole, looked_at};
use super::{cover, fetch, lookup, paths};
use askloom_model::{
    Capability, Collection, ColumnValue, Conceptual, Contents, Derivation, Design, EndId, Fetch, Follow, Id,
    Joining, Leaf, Limit, Member, OrderBy, Path, Plan, PositionId, Query, StepOf,
};
use std::collections::HashSet;

/// The steps of a plan whose access, joins and fetches are settled; look-ups go by indexes where there are any. `None` if
/// something has to be looked up that has no master.
pub(super) fn steps(
    capability: &Capability,
    conceptual: &Conceptual,
    design: &Design,
    query: &Query,
    plan: &Plan,
) -> Option<Vec<StepOf>> {
    let collection = &design.collections[plan.access.collection];
    let mut held = cover::given_paths(conceptual, collection, &plan.access.positions);
    for fetch in plan.fetches.iter().filter(|fetch| fetch::is_carried(design, fetch)) {
        held.extend(cover::given_paths(conceptual, &design.collections[fetch.collection], &fetch.positions));
    }
    let mut order = StepOrder {
        conceptual,
        design,
        query,
        plan,
        collection,
        held,
        loaded: HashSet::new(),
        fetched: HashSet::new(),
        steps: Vec::new(),
    };
    order.access(capability)?;
    order.joins()?;
    order.filter()?;
    order.arrange()?;
    order.per_group()?;
    order.limit();
    order.columns()?;
    Some(order.steps)
}

struct StepOrder<'s> {
    conceptual: &'s Conceptual,
    design: &'s Design,
    query: &'s Query,
    plan: &'s Plan,
    /// What is read first.
    collection: &'s Collection,
    /// The values that the first rows hold.
    held: Vec<Path>,
    /// Positions, with hops beyond them, whose instances are there.
    loaded: HashSet<(PositionId, Vec<EndId>)>,
    /// Entries of copies that have been read by the identities of rows: of which fetch, and at which position if the
    /// copy is nested.
    fetched: HashSet<(usize, Option<PositionId>)>,
    steps: Vec<StepOf>,
}

impl StepOrder<'_> {
    fn access(&mut self, capability: &Capability) -> Option<()> {
        if let Contents::Aggregate(_) = self.collection.contents {
            self.loaded.insert((super::main(), Vec::new()));
        }
        let leads = capability.stored_keys(self.conceptual, self.collection).is_some();
        let records: &[PositionId] = if leads { &[super::main()] } else { self.collection.whole() };
        for whole in records {
            let Some(&Some(position)) = self.plan.access.positions.get(whole.index()) else { continue };
            let class = self.query.positions[position].class;
            if leads || class.is_none_or(|class| is_lasting_whole(self.conceptual, class)) {
                self.loaded.insert((position, Vec::new()));
            }
        }
        self.steps.push(StepOf::Access);
        if matches!(self.collection.contents, Contents::Aggregate(_)) {
            return Some(());
        }
        let (query, access) = (self.query, &self.plan.access);
        let looked_at = looked_at(self.conceptual, self.collection, &query.positions, &access.positions);
        looked_at.into_iter().try_for_each(|position| self.load(position, &[]))
    }

    fn joins(&mut self) -> Option<()> {
        for (index, join) in self.plan.joins.iter().enumerate() {
            let hop = self.query.positions[join.position].from?;
            self.load(hop.parent, &[])?;
            self.loaded.insert((join.position, Vec::new()));
            self.steps.push(StepOf::Join(index));
        }
        Some(())
    }

    fn filter(&mut self) -> Option<()> {
        if let Some(filter) = &self.plan.filter {
            self.need(filter.paths())?;
            self.steps.push(StepOf::Filter);
        }
        Some(())
    }

    /// Groups, or brings what rows are sorted by and sorts.
    fn arrange(&mut self) -> Option<()> {
        let grouped = paths::aggregates(self.query) || !self.plan.group_by.is_empty();
        if grouped {
            let aggregated = self.plan.columns.iter().filter_map(|column| match &column.value {
                ColumnValue::Aggregate(aggregate) => aggregate.of.as_ref(),
                ColumnValue::Path(_) | ColumnValue::Whole(_) => None,
            });
            self.need(self.plan.group_by.iter().chain(aggregated))?;
            self.steps.push(StepOf::Group);
        }
        self.need(self.query.order_by.iter().filter_map(|term| match &term.by {
            OrderBy::Path(path) => Some(path),
            OrderBy::Aggregate(_) => None,
        }))?;
        let paged = matches!(self.plan.limit, Some(Limit::Page(_)));
        if !grouped && (self.plan.sort.is_some() || paged) {
            self.need(&self.query.identity)?;
        }
        if self.plan.sort.is_some() {
            self.steps.push(StepOf::Sort);
        }
        Some(())
    }

    fn per_group(&mut self) -> Option<()> {
        if let Some(per_group) = &self.plan.per_group {
            self.need(&per_group.by)?;
            self.steps.push(StepOf::PerGroup);
        }
        Some(())
    }

    fn limit(&mut self) {
        if self.plan.limit.is_some() {
            self.steps.push(StepOf::Limit);
        }
    }

    fn columns(&mut self) -> Option<()> {
        for column in &self.plan.columns {
            match &column.value {
                ColumnValue::Path(path) => {
                    self.need([path])?;
                    self.referring(path)?;
                }
                ColumnValue::Whole(position) if self.is_spelled_out(*position) => {}
                ColumnValue::Whole(position) => self.load(*position, &[])?,
                // A group has its values already.
                ColumnValue::Aggregate(_) => {}
            }
        }
        Some(())
    }

    /// Those that refer back: a selected list that its instance does not hold itself.
    fn referring(&mut self, path: &Path) -> Option<()> {
        let Leaf::Reference(end) = path.leaf else { return Some(()) };
        let row = &self.conceptual.ends[end];
        // Of a symmetric relationship either side may hold the link.
        let back = !row.stored || row.inverse == Some(end);
        let hops: Vec<EndId> = path.hops.iter().copied().chain([end]).collect();
        if row.cardinality.is_many() && back && self.loaded.insert((path.position, hops.clone())) {
            let how = lookup::referring(self.conceptual, self.design, end)?;
            self.follow(path.position, hops, how);
        }
        Some(())
    }

    /// Whether the first rows hold all that there is of an instance.
    fn is_spelled_out(&self, position: PositionId) -> bool {
        cover::spells_out(self.conceptual, self.collection, self.query, &self.held, position)
    }

    /// Looks up what these paths need to have values.
    fn need<'n>(&mut self, paths: impl IntoIterator<Item = &'n Path>) -> Option<()> {
        let conceptual = self.conceptual;
        let same = Same { conceptual, positions: &self.query.positions };
        for path in paths {
            let at_hand = |path: &Path| self.held.contains(path) || same.is_of_identity(path);
            if !is_given(conceptual, path, &at_hand) && !self.fetch_some(path) {
                let nearest = conceptual.nearest(path);
                self.load(nearest.position, &nearest.hops)?;
            }
        }
        Some(())
    }

    /// Whether copies give the value, or what it follows from.
    fn fetch_some(&mut self, path: &Path) -> bool {
        let ways = self.conceptual.derivations(path);
        let giver =
            |path: &Path| self.plan.fetches.iter().position(|fetch| fetch::gives(self.design, fetch, path));
        let mut ways = std::iter::once(std::slice::from_ref(path)).chain(ways.iter().map(Derivation::paths));
        let given = ways.find_map(|way| {
            way.iter().map(|path| Some((giver(path)?, path.position))).collect::<Option<Vec<_>>>()
        });
        let Some(given) = given else { return false };
        given.into_iter().for_each(|(index, position)| self.read_entry(index, position));
        true
    }

    /// Reads the entry of a copy by the identity of the row, once.
    fn read_entry(&mut self, index: usize, position: PositionId) {
        let node = match self.design.collections[self.plan.fetch(index).collection].contents {
            Contents::Nested(_) => Some(position),
            Contents::Aggregate(_) | Contents::Fields(_) => None,
        };
        if self.fetched.insert((index, node)) {
            self.steps.push(StepOf::Fetch { index, node });
        }
    }

    /// Brings the instance at a position, or along hops from it, and all on the way there that is not there yet.
    fn load(&mut self, position: PositionId, hops: &[EndId]) -> Option<()> {
        if !self.loaded.insert((position, hops.to_vec())) {
            return Some(());
        }
        let whole = |fetch: &Fetch| fetch::gives_whole(self.design, fetch, position);
        if let Some(index) = self.plan.fetches.iter().position(whole).filter(|_| hops.is_empty()) {
            self.read_entry(index, position);
            return Some(());
        }
        if hops.is_empty() && self.has_own_id(position) {
            let how = self.root(position)?;
            self.follow(position, Vec::new(), how);
            return Some(());
        }
        let step = match hops.split_last() {
            Some((&last, before)) => {
                self.load(position, before)?;
                Some(Member::End(last))
            }
            None => match self.query.positions[position].from {
                Some(hop) => {
                    self.load(hop.parent, &[])?;
                    Some(hop.step)
                }
                None => None,
            },
        };
        let how = match step {
            Some(step) => lookup::joining(self.conceptual, self.design, step)?,
            None => self.root(position)?,
        };
        self.follow(position, hops.to_vec(), how);
        Some(())
    }

    /// Whether rows name an aggregate at a position: it is got by its id, whatever leads to it.
    fn has_own_id(&self, position: PositionId) -> bool {
        let named = self.plan.access.positions.contains(&Some(position));
        let copy = !matches!(self.collection.contents, Contents::Aggregate(_));
        let class = self.query.positions[position].class;
        named && copy && class.is_some_and(|class| self.conceptual.is_aggregate(class))
    }

    /// The aggregate of a row's own instance.
    fn root(&self, position: PositionId) -> Option<Joining> {
        let class = self.query.positions[position].class?;
        let master = self.design.master(self.conceptual.aggregate_root(class)?)?;
        Some(lookup::by_id(self.conceptual, self.design, master, class))
    }

    fn follow(&mut self, position: PositionId, hops: Vec<EndId>, how: Joining) {
        if how != Joining::Inside {
            self.steps.push(StepOf::Follow(Follow { position, hops, how }));
        }
    }
}
