//! Plans of queries as steps.

use super::bind::{Given, fitted, from};
use super::client::{client, is_narrower, leads};
use super::words::set_name;
use super::{
    Action, Bounds, Each, How, IdentityIn, LoopOf, Note, Program, Range, Read, Start, Step, StepIndex, Term,
    ValueFrom, ValueLoop,
};
use crate::layout::{Column, Field, Layout, Place, Shape, Table};
use askloom_model::{
    ClassId, CollectionId, Conceptual, Contents, EndId, Fetch, Follow, Found, HomePlace, InSet, Inclusive,
    Joining, KeyRange, KeyValue, Leaf, Limit, Member, Operand, Path, Plan, Position, PositionId, Query,
    Reading, StepOf, Value,
};

/// What a query does by its plan. Arguments are in the order of its parameters.
#[must_use]
pub fn query(layout: &Layout, query: &Query, plan: &Plan, arguments: Option<&[Option<Value>]>) -> Program {
    let query = plan.query(query);
    let parameters = plan.parameters(query);
    let given = Given { layout, parameters, arguments };
    let start = Start::Query;
    let mut steps = Vec::new();
    Reads { given, plan, positions: &query.positions, start, steps: &mut steps }.all();
    let client = client(layout, query, plan, &steps);
    let name = query.header.name.clone();
    Program { name, parameters: parameters.to_vec(), steps, client, missing: None }
}

/// Appends the reads of a plan that is a part of a statement, and what the rows are for that it starts with.
pub(super) fn finding(
    given: Given<'_>,
    positions: &askloom_model::Table<PositionId, Position>,
    plan: &Plan,
    start: Start,
    steps: &mut Vec<Step>,
) {
    let parameters = plan.first.as_ref().map_or(given.parameters, |found| &found.parameters);
    let given = Given { parameters, ..given };
    Reads { given, plan, positions, start, steps }.all();
}

struct Reads<'r> {
    given: Given<'r>,
    plan: &'r Plan,
    positions: &'r askloom_model::Table<PositionId, Position>,
    /// What the first rows are for.
    start: Start,
    steps: &'r mut Vec<Step>,
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
        for step in &self.plan.priced.steps {
            match &step.of {
                StepOf::First
                | StepOf::Access
                | StepOf::Filter
                | StepOf::Group
                | StepOf::Sort
                | StepOf::PerGroup
                | StepOf::Limit => {}
                StepOf::Join(index) => {
                    if let Some(join) = self.plan.joins.get(*index) {
                        if let Some(hop) = self.positions[join.position].from {
                            let parent = Path { position: hop.parent, hops: Vec::new(), leaf: Leaf::Itself };
                            self.joining(&join.how, &parent, hop.step);
                        }
                    }
                }
                StepOf::Fetch(index) => {
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
    }

    /// What is found before the rows are: each statement says for which list.
    fn first(&mut self, found: &Found) {
        let given = Given { parameters: &found.query.parameters, ..self.given };
        let list = found.list().map_or_else(String::new, |list| list.name.clone());
        finding(given, &found.query.positions, &found.plan, Start::KeyLookup { list }, self.steps);
    }

    /// What has expired is told from what lives by the masters: of the rows, and of what a copy took its values from.
    fn living(&mut self) {
        let main = self.plan.access.positions.first().copied().flatten();
        let brought = main.filter(|_| self.brings_aggregates());
        let rows = self.positions.iter().filter(|(id, _)| Some(*id) != brought);
        let mut named: Vec<(ClassId, IdentityIn)> =
            rows.filter_map(|(id, row)| Some((row.class?, IdentityIn::Position(id)))).collect();
        for path in self.plan.paths() {
            for (at, &end) in path.hops.iter().enumerate() {
                let reference = reference(path.position, path.hops.get(..at).unwrap_or_default(), end);
                named.push((self.conceptual().ends[end].target, IdentityIn::Path(reference)));
            }
        }
        // A value object is in its aggregate, and lives as long.
        named.retain(|(class, _)| self.conceptual().classes[*class].kind.is_entity());
        for (class, identity) in named {
            self.instances(class, &Note::Expiry, identity);
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
                let block = block_columns(table);
                let terms = self.key_terms(table, &block, key, 0, chosen);
                self.push(Note::Start(self.start.clone()), each, Read::new(id, How::Block(terms)));
            }
            Reading::Range { key, equal, range, backwards, limited } => {
                let Some(table) = self.given.layout.table(id) else { return };
                if matches!(table.shape, Shape::Master { .. }) {
                    let terms = self.key_terms(table, &block_columns(table), key, 0, chosen);
                    let read = Read::new(id, How::Block(terms));
                    return self.push(Note::Start(self.start.clone()), each, read);
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
                self.push(Note::Start(self.start.clone()), each, read);
            }
        }
    }

    /// Only if every row that is read is one of the answer.
    fn limit(&self) -> Option<Term> {
        let mut classes = self.positions.iter().filter_map(|(_, row)| row.class);
        let goes = classes.any(|class| self.conceptual().can_expire(class));
        let narrower = is_narrower(self.given.layout, self.positions, self.plan);
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
        set: &InSet,
        of: &Reading,
        chosen: &mut Chosen,
        loops: &mut Vec<ValueLoop>,
    ) {
        let bucket = self.bucket(field).filter(|_| self.given.arguments.is_none());
        if let Some(values) = self.given.choices(set).filter(|_| bucket.is_none()) {
            for value in values {
                chosen.push((field, "value".to_owned(), Some(value)));
                self.access(of, chosen, loops);
                chosen.pop();
            }
            return;
        }
        let name = bucket.map_or_else(|| set_name(self.given.parameters, set), |_| "bucket").to_owned();
        let of_loop = bucket.map_or_else(|| LoopOf::Set(set.clone()), LoopOf::Buckets);
        chosen.push((field, name, None));
        loops.push(ValueLoop { field, of: of_loop });
        self.access(of, chosen, loops);
        loops.pop();
        chosen.pop();
    }

    /// How many buckets there are, if a field of the key says which.
    fn bucket(&self, field: usize) -> Option<u32> {
        let collection = &self.given.layout.design.collections[self.plan.access.collection];
        match collection.block_key.get(field)?.path.leaf {
            Leaf::Bucket(of) => Some(of),
            Leaf::Attribute(_) | Leaf::Reference(_) | Leaf::Itself => None,
        }
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
        // One operand for a key of several fields is the whole id.
        let whole: Vec<Field>;
        let fields = match operands {
            [_only] if fields.len() > 1 && first == 0 => {
                whole = vec![all(fields)];
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
            let note = match self.plan.priced.searched.is_empty() {
                true => Note::Scan(start),
                false => Note::Search(start),
            };
            self.push(note, Each::Once, read);
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

    /// The instance that stands at a position, by its own identity.
    fn instance_at(&mut self, how: &Joining, position: PositionId) {
        let step = self.positions[position].from.map(|hop| hop.step);
        let itself = IdentityIn::Position(position);
        match (how, step, self.positions[position].class) {
            (Joining::Inside, _, _) => {}
            (Joining::LookUp { master }, Some(Member::End(end)), Some(_)) => {
                let row = &self.conceptual().ends[end];
                let class = if row.stored { row.target } else { row.class };
                let note = Note::Target(Member::End(end));
                self.instances(class, &note, itself.clone());
                self.block(*master, note, itself);
            }
            (Joining::LookUp { master } | Joining::Back { master, .. }, _, _) => {
                self.block(*master, Note::Aggregate, itself);
            }
            (Joining::BackByScan { master }, _, _) => {
                self.push(Note::Aggregate, Each::Once, Read::new(*master, How::All));
            }
        }
    }

    /// What a step leads to from where a path ends.
    fn joining(&mut self, how: &Joining, from: &Path, step: Member) {
        match how {
            Joining::Inside => {}
            Joining::LookUp { master } => match step {
                Member::End(end) => {
                    let row = &self.conceptual().ends[end];
                    let class = if row.stored { row.target } else { row.class };
                    let to = IdentityIn::Path(self.beyond(from, end));
                    self.instances(class, &Note::Target(step), to.clone());
                    self.block(*master, Note::Target(step), to);
                }
                Member::Attribute(_) => {
                    self.block(*master, Note::Aggregate, self.identity_of(from));
                }
            },
            Joining::Back { index, master } => {
                let found = self.block(*index, Note::ReferrerIds(step), self.identity_of(from));
                self.found(*master, Note::Referrers(step), found);
            }
            Joining::BackByScan { master } => {
                let read = Read::new(*master, How::All);
                self.push(Note::ReferrersByScan(step), Each::Once, read);
            }
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
            Leaf::Itself | Leaf::Attribute(_) | Leaf::Reference(_) | Leaf::Bucket(_) => {
                IdentityIn::Path(path.clone())
            }
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
                    }
                    for index in indexes {
                        let owner = Note::Owner(Box::new(note.clone()));
                        let found = self.block(index, owner, identity.clone());
                        self.found(master, note.clone(), found);
                    }
                }
            }
        }
    }

    /// A block by an identity that rows have. Where it is read for another one already, both are what it is read for.
    fn block(&mut self, table: CollectionId, note: Note, identity: IdentityIn) -> StepIndex {
        let terms = self.identity_slots(table, |column| column.place == Place::Block);
        let action = Action::Read(Read::new(table, How::Block(terms)));
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
        let terms = self.identity_slots(table, |column| column.place == Place::Block);
        self.push(note, Each::Found(by), Read::new(table, How::Block(terms)));
    }

    fn fetch(&mut self, fetch: &Fetch) {
        let terms = self.identity_slots(fetch.collection, Column::is_key);
        let read = Read::new(fetch.collection, How::Record(terms));
        self.push(Note::Fetch, Each::Rows(vec![IdentityIn::Row]), read);
    }

    fn identity_slots(&self, table: CollectionId, wanted: impl Fn(&Column) -> bool) -> Vec<Term> {
        self.given.layout.table(table).map_or_else(Vec::new, |of| identity_slots(of, wanted))
    }

    fn push(&mut self, note: Note, each: Each, read: Read) {
        let action = Action::Read(read);
        let there = self.steps.iter().any(|step| step.action == action && step.each == each);
        if !there {
            self.steps.push(Step { note, each, action });
        }
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
            Leaf::Reference(_) | Leaf::Bucket(_) => false,
        };
        related && by_id
    };
    layout.design.collections.iter().filter(|(_, collection)| is_it(collection)).map(|(id, _)| id).collect()
}

/// A slot for each part of the identity that a step is repeated for.
pub(super) fn identity_slots(table: &Table, wanted: impl Fn(&Column) -> bool) -> Vec<Term> {
    let terms = slots(table, wanted, ValueFrom::Statement).into_iter().enumerate();
    terms.map(|(part, term)| Term { from: ValueFrom::Identity { part }, ..term }).collect()
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

/// The columns of each field of the block key. Those of a master are the parts of the id.
fn block_columns(table: &Table) -> Vec<Field> {
    match &table.shape {
        Shape::Rows(parts) | Shape::Nodes(parts) => parts.block.clone(),
        Shape::Master { block, .. } => block.clone(),
    }
}

/// All columns of some fields.
pub(super) fn all(fields: &[Field]) -> Field {
    let columns = fields.iter().flat_map(|field| field.columns.iter().copied()).collect();
    Field { columns, identity: true }
}

fn sort_columns(table: &Table) -> Vec<Field> {
    match &table.shape {
        Shape::Rows(parts) | Shape::Nodes(parts) => parts.sort.clone(),
        Shape::Master { .. } => Vec::new(),
    }
}
