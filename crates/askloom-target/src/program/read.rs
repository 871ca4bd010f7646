//! Plans of queries as steps.

use super::bind::{Given, fitted, from, time_bucket};
use super::client::{client, is_narrower, keeps_the_deleted, leads};
use super::words::set_name;
use super::{
    Action, Bounds, Each, FetchedRows, FirstRows, How, IdentityIn, LoopOf, Note, Program, Range, Read,
    Retrieval, Start, Step, StepIndex, Term, ValueFrom, ValueLoop, Way, Ways,
};
use crate::layout::{Column, Field, Layout, Shape, Table};
use askloom_model::{
    ClassId, CollectionId, Conceptual, Condition, Contents, EndId, Fetch, Follow, Found, HomePlace, Id,
    Inclusive, Joining, KeyRange, KeySet, KeyValue, Leaf, Limit, Member, Operand, Path, Plan, Position,
    PositionId, Query, Reading, RelationshipKind, StepOf, Value,
};

/// What a query does by its plan. Arguments are in the order of its parameters.
#[must_use]
pub fn query(layout: &Layout, query: &Query, plan: &Plan, arguments: Option<&[Option<Value>]>) -> Program {
    let query = plan.query(query);
    let parameters = plan.parameters(query);
    let given = Given { layout, parameters, arguments };
    let mut steps = Vec::new();
    let rows = read_rows(given, &query.positions, plan, Start::Query, &mut steps);
    let client = client(layout, query, plan, &steps);
    let retrieval = Some(Box::new(rows.retrieval(query, plan)));
    let name = query.header.name.clone();
    Program { name, parameters: parameters.to_vec(), steps, retrieval, client, missing: None }
}

/// Appends the reads of a plan, and says what comes from which. The first rows are there for a reason.
pub(super) fn read_rows(
    given: Given<'_>,
    positions: &askloom_model::Table<PositionId, Position>,
    plan: &Plan,
    start: Start,
    steps: &mut Vec<Step>,
) -> ReadRows {
    let parameters = plan.first.as_ref().map_or(given.parameters, |found| &found.parameters);
    let given = Given { parameters, ..given };
    let mut reads = Reads { given, plan, positions, start, steps, rows: ReadRows::default() };
    reads.all();
    reads.rows
}

/// What comes from which of the steps that a plan has become.
#[derive(Default)]
pub(super) struct ReadRows {
    key_lookup: Option<Box<Retrieval>>,
    first: Vec<StepIndex>,
    fetches: Vec<FetchedRows>,
    ways: Ways,
}

impl ReadRows {
    fn retrieval(self, query: &Query, plan: &Plan) -> Retrieval {
        let how = &plan.access.how;
        let repeats = matches!(how, Reading::Each { .. });
        let limited = match how.innermost() {
            Reading::Range { limited, .. } => *limited,
            Reading::GetBlock { .. } | Reading::Scan | Reading::Each { .. } => false,
        };
        let access = FirstRows {
            collection: plan.access.collection,
            positions: plan.access.positions.clone(),
            steps: self.first,
            in_order: limited || plan.sort.is_none(),
            repeats,
        };
        Retrieval {
            query: query.clone(),
            key_lookup: self.key_lookup,
            access,
            joins: plan.joins.iter().map(|join| join.position).collect(),
            fetches: self.fetches,
            ways: self.ways,
            filter: plan.filter.clone(),
            sorts: plan.sort.is_some(),
        }
    }
}

struct Reads<'r> {
    given: Given<'r>,
    plan: &'r Plan,
    positions: &'r askloom_model::Table<PositionId, Position>,
    /// What the first rows are for.
    start: Start,
    steps: &'r mut Vec<Step>,
    rows: ReadRows,
}

/// A field of the key, and what an IN has chosen for it: a value, or a name for each of them.
type Chosen = Vec<(usize, String, Option<Value>)>;

impl Reads<'_> {
    fn conceptual(&self) -> &Conceptual {
        &self.given.layout.conceptual
    }

    fn all(&mut self) {
        if let Some(found) = &self.plan.first {
            self.first(found);
        }
        self.access(&self.plan.access.how, &mut Vec::new(), &mut Vec::new());
        for step in &self.plan.steps {
            match &step.of {
                StepOf::Access
                | StepOf::Filter
                | StepOf::Group
                | StepOf::Sort
                | StepOf::PerGroup
                | StepOf::Limit => {}
                StepOf::Join(index) => {
                    if let Some(join) = self.plan.joins.get(*index)
                        && let Some(hop) = self.positions[join.position].from
                    {
                        let parent = Path { position: hop.parent, hops: Vec::new(), leaf: Leaf::Itself };
                        self.joining(&join.how, &parent, hop.step);
                    }
                }
                StepOf::Fetch { index, .. } => {
                    if let Some(fetch) = self.plan.fetches.get(*index) {
                        self.fetch(fetch);
                    }
                }
                StepOf::Follow(follow) => {
                    self.follow(follow);
                }
            }
        }
        if self.conceptual().classes.iter().any(|(_, class)| class.ttl.is_some()) {
            self.living();
        }
        self.classes();
        self.beyond_plan();
    }

    /// What is found before the rows are: each statement says for which list.
    fn first(&mut self, found: &Found) {
        let given = Given { parameters: &found.query.parameters, ..self.given };
        let list = found.list().map_or_else(String::new, |list| list.name.clone());
        let start = Start::KeyLookup { list };
        let query = found.plan.query(&found.query);
        let rows = read_rows(given, &query.positions, &found.plan, start, self.steps);
        self.rows.key_lookup = Some(Box::new(rows.retrieval(query, &found.plan)));
    }

    /// What has expired is told from what lives by the masters: of the rows, and of what a copy took its values from.
    fn living(&mut self) {
        let main = self.plan.access.positions.first().copied().flatten();
        let brought = main.filter(|_| self.brings_aggregates());
        let positions: Vec<PositionId> = self.positions.ids().filter(|id| Some(*id) != brought).collect();
        for position in positions {
            self.load(position, &Note::Expiry);
        }
        for path in self.plan.paths() {
            for (at, &end) in path.hops.iter().enumerate() {
                let before = path.hops.get(..at).unwrap_or_default();
                self.lead(path.position, before, end, &Note::Expiry);
            }
        }
    }

    /// What stands at a position, by its own identity or, inside an aggregate, by what stands above it.
    fn load(&mut self, position: PositionId, note: &Note) {
        let row = &self.positions[position];
        let entity = row.class.filter(|class| self.conceptual().classes[*class].kind.is_entity());
        let is_root = |class: &ClassId| {
            self.conceptual().homes(*class).iter().all(|home| home.place == HomePlace::Root)
        };
        match (entity, row.from) {
            (Some(class), None) => self.instances(class, note, IdentityIn::Position(position)),
            (Some(class), Some(_)) if is_root(&class) => {
                self.instances(class, note, IdentityIn::Position(position));
            }
            (_, Some(hop)) => {
                self.load(hop.parent, note);
                if let Member::End(end) = hop.step {
                    self.lead(hop.parent, &[], end, note);
                }
            }
            (None, None) => {}
        }
    }

    /// Rows of a copy may be of more classes than are asked for: the instances say of which they are.
    fn classes(&mut self) {
        if is_narrower(self.given.layout, self.positions, self.plan) {
            let positions: Vec<PositionId> = self.positions.ids().collect();
            positions.into_iter().for_each(|position| self.load(position, &Note::Class));
        }
    }

    /// Where one end leads from what hops lead to. A part is in its owner, and the owner around it.
    fn lead(&mut self, position: PositionId, before: &[EndId], end: EndId, note: &Note) {
        let row = &self.conceptual().ends[end];
        let stored = self.conceptual().stored_end(end);
        if self.conceptual().ends[stored].kind == RelationshipKind::Composition {
            return;
        }
        let (target, holds, symmetric) = (row.target, row.stored, row.inverse == Some(end));
        if holds {
            self.instances(target, note, IdentityIn::Path(reference(position, before, end)));
        }
        if !holds || symmetric {
            self.refer(position, before, end);
        }
    }

    /// Finds those that a derived end leads to, unless the plan does already.
    fn refer(&mut self, position: PositionId, before: &[EndId], end: EndId) {
        let stored = self.conceptual().stored_end(end);
        if self.rows.ways.referrers.iter().any(|(known, _, _)| *known == stored) {
            return;
        }
        let from = match before.split_last() {
            Some((&last, before)) => reference(position, before, last),
            None => Path { position, hops: Vec::new(), leaf: Leaf::Itself },
        };
        self.referrers(Member::End(end), &from, true);
    }

    /// What paths and conditions need that no step of the plan is about: those that derived ends of a path lead to, the
    /// owners of parts that are referred to, and what is above or below in a tree.
    fn beyond_plan(&mut self) {
        for path in self.plan.paths() {
            if self.is_given(path) && !self.is_nested_value(path) {
                continue;
            }
            let joined = self.plan.joins.iter().any(|join| join.position == path.position);
            if !joined && !self.brings_aggregates() {
                self.load(path.position, &Note::Aggregate);
            }
            for (at, &end) in path.hops.iter().enumerate() {
                let before = path.hops.get(..at).unwrap_or_default();
                let target = self.conceptual().ends[end].target;
                let inside =
                    self.conceptual().homes(target).iter().any(|home| home.place == HomePlace::Inside);
                if !self.conceptual().ends[end].stored || self.is_symmetric(end) || inside {
                    self.lead(path.position, before, end, &Note::Target(Member::End(end)));
                }
            }
            if let Leaf::Reference(end) = path.leaf
                && (!self.conceptual().ends[end].stored || self.is_symmetric(end))
            {
                self.lead(path.position, &path.hops, end, &Note::Target(Member::End(end)));
            }
        }
        let filter = self.plan.filter.as_ref();
        for path in filter.map(trees).unwrap_or_default() {
            self.climb(path);
        }
    }

    /// Whether a path ends in value objects, which only their aggregate has.
    fn is_nested_value(&self, path: &Path) -> bool {
        let conceptual = self.conceptual();
        match path.leaf {
            Leaf::Itself if path.hops.is_empty() => {
                let class = self.positions[path.position].class;
                class.is_some_and(|class| !conceptual.classes[class].kind.is_entity())
            }
            Leaf::Reference(end) => conceptual.ends[end].kind == RelationshipKind::Composition,
            Leaf::Itself | Leaf::Attribute(_) | Leaf::Bucket(_) | Leaf::TimeBucket(..) => false,
        }
    }

    fn is_symmetric(&self, end: EndId) -> bool {
        self.conceptual().ends[end].inverse == Some(end)
    }

    /// Whether the value of a path comes with the rows, or follows from values that do.
    fn is_given(&self, path: &Path) -> bool {
        let at_hand = |path: &Path| self.is_held(path) || self.is_known_id(path);
        let derived = || {
            let ways = self.conceptual().derivations(path);
            ways.iter().any(|way| way.paths().iter().all(&at_hand))
        };
        at_hand(path) || derived()
    }

    /// Whether an entry of the rows, or one with their identity, has the value of a path.
    fn is_held(&self, path: &Path) -> bool {
        let expires = self.conceptual().classes.iter().any(|(_, class)| class.ttl.is_some());
        let held = |collection: CollectionId, positions: &[Option<PositionId>]| {
            let collection = &self.given.layout.design.collections[collection];
            let same = |own: &Path| {
                positions.get(own.position.index()).copied().flatten() == Some(path.position)
                    && own.hops == path.hops
                    && own.leaf == path.leaf
            };
            !matches!(collection.contents, Contents::Aggregate(_)) && collection.held().any(same)
        };
        let access = &self.plan.access;
        !expires
            && (held(access.collection, &access.positions)
                || self.plan.fetches.iter().any(|fetch| held(fetch.collection, &fetch.positions)))
    }

    /// Whether a path is the identity of what stands at its position, or a part of it.
    fn is_known_id(&self, path: &Path) -> bool {
        let conceptual = self.conceptual();
        let class = self.positions[path.position].class.filter(|_| path.hops.is_empty());
        let Some(class) = class.filter(|class| conceptual.classes[*class].kind.is_entity()) else {
            return false;
        };
        let identifier = &conceptual.classes[class].identifier;
        match path.leaf {
            Leaf::Itself => true,
            Leaf::Attribute(id) => identifier.contains(&Member::Attribute(id)),
            Leaf::Reference(id) => identifier.contains(&Member::End(id)),
            Leaf::Bucket(_) | Leaf::TimeBucket(..) => false,
        }
    }

    /// A walk towards the root of a tree: each instance names the one above it, or an index leads there.
    fn climb(&mut self, path: &Path) {
        let conceptual = self.conceptual();
        let class = match (path.leaf, path.hops.last()) {
            (Leaf::Reference(end), _) => Some(conceptual.ends[end].target),
            (Leaf::Itself, Some(&hop)) => Some(conceptual.ends[hop].target),
            (Leaf::Itself, None) => self.positions[path.position].class,
            (Leaf::Attribute(_) | Leaf::Bucket(_) | Leaf::TimeBucket(..), _) => None,
        };
        let Some(class) = class else { return };
        let end = conceptual.all_members(class).find_map(|member| match member {
            Member::End(end) if conceptual.ends[end].tree => Some(end),
            Member::End(_) | Member::Attribute(_) => None,
        });
        let Some(end) = end else { return };
        self.instances(class, &Note::Ancestor(end), IdentityIn::Path(path.clone()));
        let many = self.conceptual().ends[end].cardinality.is_many();
        let stored = self.conceptual().ends[end].stored;
        // Of a to-many tree the child is asked: for who holds it, or for whom it holds.
        if (many && stored) || (!many && !stored) || self.is_symmetric(end) {
            let known = self.conceptual().stored_end(end);
            if self.rows.ways.referrers.iter().all(|(own, _, _)| *own != known) {
                self.referrers(Member::End(end), path, true);
            }
        }
    }

    /// Whether the rows come with the aggregates that they are of: from a master, or by an index that leads there.
    fn brings_aggregates(&self) -> bool {
        let collection = &self.given.layout.design.collections[self.plan.access.collection];
        matches!(collection.contents, Contents::Aggregate(_))
            || leads(self.conceptual(), collection, self.plan)
    }

    fn access(&mut self, how: &Reading, chosen: &mut Chosen, loops: &mut Vec<ValueLoop>) {
        let id = self.plan.access.collection;
        let each = if loops.is_empty() { Each::Once } else { Each::Values(loops.clone()) };
        match how {
            Reading::Each { field, set, of } => self.every(*field, set, of, chosen, loops),
            Reading::Scan => self.scan(),
            Reading::GetBlock { key } => {
                let Some(table) = self.given.layout.table(id) else { return };
                let terms = self.id_terms(table, key, chosen);
                self.first_rows(Note::Start(self.start.clone()), each, Read::new(id, How::Block(terms)));
            }
            Reading::Range { key, equal, range, backwards, limited } => {
                let Some(table) = self.given.layout.table(id) else { return };
                if matches!(table.shape, Shape::Master { .. }) && !table.is_clustered() {
                    let terms = self.key_terms(table, &block_columns(table), key, 0, chosen);
                    let read = Read::new(id, How::Block(terms));
                    return self.first_rows(Note::Start(self.start.clone()), each, read);
                }
                let block = self.key_terms(table, &block_columns(table), key, 0, chosen);
                let sorted = sort_columns(table);
                let equal_terms = self.key_terms(table, &sorted, equal, key.len(), chosen);
                let bounds = range.as_ref().and_then(|range| {
                    let column = *sorted.get(equal.len())?.columns.first()?;
                    Some(self.bounds(table, column, range))
                });
                let limit = if *limited { self.limit() } else { None };
                let range = Range { block, equal: equal_terms, bounds, backwards: *backwards, limit };
                let members = self.plan.members_of_records(self.conceptual());
                let read = Read { members, ..Read::new(id, How::Range(Box::new(range))) };
                self.first_rows(Note::Start(self.start.clone()), each, read);
            }
        }
    }

    /// Only if every row that is read is one of the answer.
    fn limit(&self) -> Option<Term> {
        let mut classes = self.positions.iter().filter_map(|(_, row)| row.class);
        let goes = classes.any(|class| self.conceptual().can_expire(class));
        let narrower = is_narrower(self.given.layout, self.positions, self.plan);
        // Of a partition of masters the store counts records, and those of the deleted too.
        let table = self.given.layout.table(self.plan.access.collection);
        let counted = table.is_none_or(|table| !table.is_clustered() || table.is_packed());
        let goes = goes || !counted || keeps_the_deleted(self.given.layout, self.plan);
        if goes || narrower || self.plan.filter.is_some() || !self.plan.joins.is_empty() {
            return None;
        }
        match self.plan.limit.as_ref()? {
            Limit::Rows(operand) => Some(self.given.count(operand, 0)),
            Limit::Page(operand) => Some(self.given.count(operand, 1)),
        }
    }

    /// A statement for each value that is known; else one that is repeated.
    fn every(
        &mut self,
        field: usize,
        set: &KeySet,
        of: &Reading,
        chosen: &mut Chosen,
        loops: &mut Vec<ValueLoop>,
    ) {
        let bucket = self.bucket(field).filter(|_| self.given.arguments.is_none());
        let latest_first = self.goes_back(of);
        if let Some(mut values) = self.given.choices(set).filter(|_| bucket.is_none()) {
            if let (KeySet::Buckets(_), true) = (set, latest_first) {
                values.reverse();
            }
            for value in values {
                chosen.push((field, "value".to_owned(), Some(value)));
                self.access(of, chosen, loops);
                chosen.pop();
            }
            return;
        }
        let (name, of_loop) = match (set, bucket) {
            (KeySet::In(_), Some(of)) => ("bucket", LoopOf::Buckets(of)),
            (KeySet::In(set), None) => (set_name(self.given.parameters, set), LoopOf::Set(set.clone())),
            (KeySet::Buckets(between), _) => {
                (between.unit.name(), LoopOf::TimeBuckets { between: between.clone(), latest_first })
            }
        };
        chosen.push((field, name.to_owned(), None));
        loops.push(ValueLoop { field, of: of_loop });
        self.access(of, chosen, loops);
        loops.pop();
        chosen.pop();
    }

    /// Whether the buckets of time that a range is read in are read from the last to the first.
    fn goes_back(&self, of: &Reading) -> bool {
        let collection = &self.given.layout.design.collections[self.plan.access.collection];
        let descends = collection.entry_key.first().is_some_and(|field| field.descending);
        match of.innermost() {
            Reading::Range { backwards, .. } => self.plan.sort.is_none() && descends != *backwards,
            Reading::GetBlock { .. } | Reading::Scan | Reading::Each { .. } => false,
        }
    }

    /// How many buckets there are, if a field of the key says which.
    fn bucket(&self, field: usize) -> Option<u32> {
        let collection = &self.given.layout.design.collections[self.plan.access.collection];
        match collection.block_key.get(field)?.path.leaf {
            Leaf::Bucket(of) => Some(of),
            Leaf::Attribute(_) | Leaf::Reference(_) | Leaf::Itself | Leaf::TimeBucket(..) => None,
        }
    }

    /// Terms for all columns of the key of one aggregate.
    fn id_terms(&self, table: &Table, key: &[KeyValue], chosen: &Chosen) -> Vec<Term> {
        let fields: Vec<Field> = block_columns(table).into_iter().chain(sort_columns(table)).collect();
        let terms = self.key_terms(table, &fields, key, 0, chosen);
        self.given.with_time_buckets(table, terms)
    }

    /// Terms for the fields of a key, each of which has one column or several.
    fn key_terms(
        &self,
        table: &Table,
        fields: &[Field],
        operands: &[KeyValue],
        first: usize,
        chosen: &Chosen,
    ) -> Vec<Term> {
        // One operand for the several fields of a master's key is the whole id.
        let whole: Vec<Field>;
        let fields = match operands {
            [_only] if fields.len() > 1 && first == 0 && matches!(table.shape, Shape::Master { .. }) => {
                whole = vec![Field { columns: table.identity_columns(), identity: true }];
                &whole
            }
            _ => fields,
        };
        let mut terms = Vec::new();
        for (at, (operand, field)) in operands.iter().zip(fields).enumerate() {
            let columns = &field.columns;
            match chosen.iter().find(|(place, _, _)| *place == first + at) {
                Some((field, name, value)) => {
                    let from = match value {
                        Some(_) => ValueFrom::Statement,
                        None => ValueFrom::Loop { field: *field, part: None },
                    };
                    terms.extend(self.given.spread(table, columns, (name, from), value.as_ref()));
                }
                None => terms.extend(self.given.key_terms(table, columns, operand)),
            }
        }
        terms
    }

    fn bounds(&self, table: &Table, column: usize, range: &KeyRange) -> Bounds {
        let term = |operand: &Operand| {
            let name = self.given.name(table, &[column], operand);
            let holds = table.columns.get(column).map(|column| &column.holds);
            let value = self.given.value(operand);
            let value = value.map(|value| holds.map_or(value.clone(), |holds| fitted(holds, value)));
            Term { name: name.into(), from: from(operand), value, column: Some(column) }
        };
        let side = |side: &Option<(Operand, Inclusive)>| {
            side.as_ref().map(|(operand, inclusive)| (term(operand), *inclusive == Inclusive::Yes))
        };
        Bounds {
            column,
            low: side(&range.low),
            high: side(&range.high),
            prefix: range.prefix.as_ref().map(term),
        }
    }

    /// Everything; of a master, every place where instances of the class can be.
    fn scan(&mut self) {
        let layout = self.given.layout;
        let id = self.plan.access.collection;
        let master = layout.table(id).is_some_and(|table| matches!(table.shape, Shape::Master { .. }));
        let class = self.positions.iter().next().and_then(|(_, row)| row.class);
        let mut tables = vec![id];
        if let Some(class) = class.filter(|_| master) {
            let homes = self.conceptual().homes(class);
            tables = homes.iter().filter_map(|home| layout.design.master(home.root)).collect();
            tables.sort();
            tables.dedup();
        }
        for table in tables {
            let kept = (!master).then(|| super::kept::kept(self.given, self.plan)).flatten().map(Box::new);
            let read = Read { kept, ..Read::new(table, How::All) };
            let start = self.start.clone();
            let note = match self.plan.searched.is_empty() {
                true => Note::Scan(start),
                false => Note::Search(start),
            };
            self.first_rows(note, Each::Once, read);
        }
    }

    /// A look-up of what an entry does not hold: of the instance at a position, or further along a path.
    fn follow(&mut self, follow: &Follow) {
        let position = follow.position;
        match follow.hops.split_last() {
            Some((&last, before)) => {
                let from = match before.split_last() {
                    Some((&end, before)) => reference(position, before, end),
                    None => Path { position, hops: Vec::new(), leaf: Leaf::Itself },
                };
                self.joining(&follow.how, &from, Member::End(last));
            }
            None => self.instance_at(&follow.how, position),
        }
    }

    /// The instance that stands at a position.
    fn instance_at(&mut self, how: &Joining, position: PositionId) {
        let note = match self.positions[position].from {
            Some(hop) => Note::Target(hop.step),
            None => Note::Aggregate,
        };
        match how {
            Joining::Inside => {}
            Joining::LookUp { .. }
            | Joining::PartByIndex { .. }
            | Joining::PartByScan { .. }
            | Joining::Back { .. } => self.load(position, &note),
            Joining::BackByScan { master } => {
                self.push(note, Each::Once, Read::new(*master, How::All));
            }
        }
    }

    /// What a step leads to from where a path ends.
    fn joining(&mut self, how: &Joining, from: &Path, step: Member) {
        match how {
            Joining::Inside => {}
            Joining::LookUp { master }
            | Joining::PartByIndex { master, .. }
            | Joining::PartByScan { master } => match step {
                Member::End(end) => {
                    let row = &self.conceptual().ends[end];
                    let class = if row.stored { row.target } else { row.class };
                    let to = IdentityIn::Path(self.beyond(from, end));
                    self.instances(class, &Note::Target(step), to);
                }
                Member::Attribute(_) => {
                    self.block(*master, Note::Aggregate, self.identity_of(from));
                }
            },
            Joining::Back { .. } => self.referrers(step, from, true),
            Joining::BackByScan { .. } => self.referrers(step, from, false),
        }
    }

    /// Those that a derived end leads to, wherever instances of their class are: by an index from the target if there is
    /// one and the plan goes by it, else by reading everything.
    fn referrers(&mut self, step: Member, from: &Path, by_index: bool) {
        let Member::End(end) = step else { return };
        let layout = self.given.layout;
        let end = layout.conceptual.stored_end(end);
        for occurrence in layout.conceptual.occurrences(layout.conceptual.ends[end].class) {
            let Some(master) = layout.design.master(occurrence.root) else { continue };
            let index = layout.design.index(&occurrence, Leaf::Reference(end)).filter(|_| by_index);
            let way = match index {
                Some(index) => {
                    let found = self.block(index, Note::ReferrerIds(step), self.identity_of(from));
                    self.found(master, Note::Referrers(step), found);
                    Way::Indexes(vec![found])
                }
                None => {
                    self.push(Note::ReferrersByScan(step), Each::Once, Read::new(master, How::All));
                    Way::Scan
                }
            };
            self.rows.ways.refer(end, occurrence.root, way);
        }
    }

    /// The reference at the end of a path that goes one end further.
    fn beyond(&self, from: &Path, end: EndId) -> Path {
        let mut hops = from.hops.clone();
        if let Leaf::Reference(last) = from.leaf {
            hops.push(last);
        }
        reference(from.position, &hops, end)
    }

    fn identity_of(&self, path: &Path) -> IdentityIn {
        match path.leaf {
            Leaf::Itself if path.hops.is_empty() => IdentityIn::Position(path.position),
            Leaf::Itself
            | Leaf::Attribute(_)
            | Leaf::Reference(_)
            | Leaf::Bucket(_)
            | Leaf::TimeBucket(..) => IdentityIn::Path(path.clone()),
        }
    }

    /// The instances of a class by their ids: in aggregates of their own, or inside others, which an index leads to.
    fn instances(&mut self, class: ClassId, note: &Note, identity: IdentityIn) {
        let layout = self.given.layout;
        for home in layout.conceptual.homes(class) {
            let Some(master) = layout.design.master(home.root) else { continue };
            match home.place {
                HomePlace::Root => {
                    self.block(master, note.clone(), identity.clone());
                }
                HomePlace::Inside => {
                    let indexes = part_indexes(layout, class, home.root);
                    if indexes.is_empty() {
                        let read = Read::new(master, How::All);
                        self.push(Note::OwnerByScan(Box::new(note.clone())), Each::Once, read);
                        self.rows.ways.own(class, home.root, Way::Scan);
                    }
                    for index in indexes {
                        let owner = Note::Owner(Box::new(note.clone()));
                        let found = self.block(index, owner, identity.clone());
                        self.found(master, note.clone(), found);
                        self.rows.ways.own(class, home.root, Way::Indexes(vec![found]));
                    }
                }
            }
        }
    }

    /// A block by an identity that rows have. Where it is read for another one already, both are what it is read for.
    fn block(&mut self, table: CollectionId, note: Note, identity: IdentityIn) -> StepIndex {
        let action = Action::Read(Read::new(table, How::Block(self.block_slots(table))));
        for (at, step) in self.steps.iter_mut().enumerate() {
            if let Each::Rows(places) = &mut step.each
                && step.action == action
            {
                if !places.contains(&identity) {
                    places.push(identity);
                }
                return at;
            }
        }
        self.steps.push(Step { note, each: Each::Rows(vec![identity]), action });
        self.steps.len() - 1
    }

    /// A block by the identities that an earlier step gives.
    fn found(&mut self, table: CollectionId, note: Note, by: StepIndex) {
        let terms = self.block_slots(table);
        self.push(note, Each::Found(by), Read::new(table, How::Block(terms)));
    }

    fn fetch(&mut self, fetch: &Fetch) {
        let layout = self.given.layout;
        let Some(table) = layout.table(fetch.collection) else { return };
        let terms = identity_slots(layout, table, Column::is_key);
        let read = Read::new(fetch.collection, How::Record(terms));
        let step = self.push(Note::Fetch, Each::Rows(vec![IdentityIn::Row]), read);
        let positions = fetch.positions.clone();
        self.rows.fetches.push(FetchedRows { step, collection: fetch.collection, positions });
    }

    fn first_rows(&mut self, note: Note, each: Each, read: Read) {
        let step = self.push(note, each, read);
        self.rows.first.push(step);
    }

    /// A slot for each column that says which block it is.
    fn block_slots(&self, table: CollectionId) -> Vec<Term> {
        let layout = self.given.layout;
        layout
            .table(table)
            .map_or_else(Vec::new, |of| identity_slots(layout, of, |column| of.names_block(column)))
    }

    fn push(&mut self, note: Note, each: Each, read: Read) -> StepIndex {
        let action = Action::Read(read);
        let there = self.steps.iter().position(|step| step.action == action && step.each == each);
        there.unwrap_or_else(|| {
            self.steps.push(Step { note, each, action });
            self.steps.len() - 1
        })
    }
}

/// The paths of those whose place in a tree a condition is about.
fn trees(condition: &Condition) -> Vec<&Path> {
    match condition {
        Condition::And(all) | Condition::Or(all) => all.iter().flat_map(trees).collect(),
        Condition::Not(inner) | Condition::Negated(inner) => trees(inner),
        Condition::Under { value: Operand::Path(path), .. }
        | Condition::Above { value: Operand::Path(path), .. } => vec![path],
        Condition::Under { .. }
        | Condition::Above { .. }
        | Condition::Compare { .. }
        | Condition::Between { .. }
        | Condition::In { .. }
        | Condition::StartsWith { .. }
        | Condition::IsNull { .. }
        | Condition::Matches { .. }
        | Condition::Within { .. }
        | Condition::InBox { .. } => Vec::new(),
    }
}

/// A reference at the end of hops.
fn reference(position: PositionId, hops: &[EndId], end: EndId) -> Path {
    Path { position, hops: hops.to_vec(), leaf: Leaf::Reference(end) }
}

/// The indexes that lead from a part's id to the aggregates that have it inside.
fn part_indexes(layout: &Layout, class: ClassId, root: ClassId) -> Vec<CollectionId> {
    let conceptual = &layout.conceptual;
    let is_it = |collection: &askloom_model::Collection| {
        let Some(path) = collection.indexed().filter(|_| collection.source.root == root) else {
            return false;
        };
        let Some(&last) = path.hops.last() else { return false };
        let target = conceptual.ends[last].target;
        let related = conceptual.is_kind_of(class, target) || conceptual.is_kind_of(target, class);
        let by_id = match path.leaf {
            Leaf::Itself => true,
            Leaf::Attribute(id) => conceptual.attributes[id].id,
            Leaf::Reference(_) | Leaf::Bucket(_) | Leaf::TimeBucket(..) => false,
        };
        related && by_id
    };
    layout.design.collections.iter().filter(|(_, collection)| is_it(collection)).map(|(id, _)| id).collect()
}

/// A slot for each part of the identity that a step is repeated for, and for the buckets of time of such parts.
pub(super) fn identity_slots(layout: &Layout, table: &Table, wanted: impl Fn(&Column) -> bool) -> Vec<Term> {
    let terms = slots(table, wanted, ValueFrom::Statement).into_iter().enumerate();
    let components = table.identity_columns();
    let root = layout.design.collections[table.collection].source.root;
    let slot = |(at, term): (usize, Term)| {
        let column = term.column.and_then(|column| table.columns.get(column));
        let bucket = column.and_then(|column| column.time_bucket(&layout.conceptual, root));
        if let (Shape::Master { .. }, Some((part, unit)), Some(column)) = (&table.shape, bucket, term.column)
        {
            let at = Term { from: ValueFrom::Identity { part }, ..term };
            return time_bucket(unit, &at, column);
        }
        // The columns of a master's key may be in another order than the parts of the identity.
        let part = match table.shape {
            Shape::Master { .. } => components.iter().position(|column| term.column == Some(*column)),
            Shape::Rows(_) | Shape::Nodes(_) => Some(at),
        };
        Term { from: ValueFrom::Identity { part: part.unwrap_or(at) }, ..term }
    };
    terms.map(slot).collect()
}

/// A slot for each of some columns, by their names.
pub(super) fn slots(table: &Table, wanted: impl Fn(&Column) -> bool, from: ValueFrom) -> Vec<Term> {
    let before = match from {
        ValueFrom::Before => "old.",
        ValueFrom::Other => "other.",
        ValueFrom::Statement
        | ValueFrom::Parameter { .. }
        | ValueFrom::Loop { .. }
        | ValueFrom::Identity { .. }
        | ValueFrom::TimeBucket { .. }
        | ValueFrom::Rows { .. }
        | ValueFrom::After => "",
    };
    let columns = table.columns.iter().enumerate().filter(|(_, column)| wanted(column));
    let slot = |(index, column): (usize, &Column)| Term {
        name: format!("{before}{}", column.name).into(),
        from,
        value: None,
        column: Some(index),
    };
    columns.map(slot).collect()
}

/// The columns of each field of the block key.
pub(super) fn block_columns(table: &Table) -> Vec<Field> {
    match &table.shape {
        Shape::Rows(parts) | Shape::Nodes(parts) => parts.block.clone(),
        Shape::Master { block, .. } => block.clone(),
    }
}

pub(super) fn sort_columns(table: &Table) -> Vec<Field> {
    match &table.shape {
        Shape::Rows(parts) | Shape::Nodes(parts) => parts.sort.clone(),
        Shape::Master { sort, .. } => sort.clone(),
    }
}
