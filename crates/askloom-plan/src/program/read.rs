//! Plans of queries as steps.

use super::bind::{Given, fitted, from, time_bucket};
use super::client::{client, is_narrower, keeps_the_deleted, leads};
use super::pushdown::pushdown;
use super::words::set_name;
use super::{
    Action, Bounds, Each, FetchedRows, FirstRows, How, LoopOf, Note, Program, Range, Read, Retrieval, Start,
    Step, StepIndex, Term, ValueFrom, ValueLoop, Ways,
};
use crate::layout::{Column, Field, Layout, Shape, Table};
use askloom_model::{
    CollectionId, Conceptual, Contents, EndId, Found, Inclusive, KeyRange, KeySet, KeyValue, Leaf, Limit,
    Operand, Path, Plan, Position, PositionId, Query, Reading, Role, StepOf, Value,
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
    pub(super) key_lookup: Option<Box<Retrieval>>,
    pub(super) first: Vec<StepIndex>,
    pub(super) fetches: Vec<FetchedRows>,
    pub(super) ways: Ways,
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

pub(super) struct Reads<'r> {
    pub(super) given: Given<'r>,
    pub(super) plan: &'r Plan,
    pub(super) positions: &'r askloom_model::Table<PositionId, Position>,
    /// What the first rows are for.
    pub(super) start: Start,
    pub(super) steps: &'r mut Vec<Step>,
    pub(super) rows: ReadRows,
}

/// A field of the key, and what an IN has chosen for it: a value, or a name for each of them.
type Chosen = Vec<(usize, String, Option<Value>)>;

impl Reads<'_> {
    pub(super) fn conceptual(&self) -> &Conceptual {
        &self.given.layout.conceptual
    }

    fn all(&mut self) {
        if let Some(found) = &self.plan.first {
            self.first(found);
        }
        self.access(&self.plan.access.how, &mut Vec::new(), &mut Vec::new());
        self.carried();
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
        self.looked_at();
        self.beyond_plan();
    }

    /// What the first records carry: it comes with them.
    fn carried(&mut self) {
        let Some(&step) = self.rows.first.first() else { return };
        for fetch in &self.plan.fetches {
            if self.given.layout.design.collections[fetch.collection].role == Role::Carried {
                let positions = fetch.positions.clone();
                self.rows.fetches.push(FetchedRows { step, collection: fetch.collection, positions });
            }
        }
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

    /// Whether the rows come with the aggregates that they are of: from a master, or by an index that leads there.
    pub(super) fn brings_aggregates(&self) -> bool {
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
            let pushdown = (!master).then(|| pushdown(self.given, self.plan)).flatten().map(Box::new);
            let read = Read { pushdown, ..Read::new(table, How::All) };
            let start = self.start.clone();
            let note = match self.plan.searched.is_empty() {
                true => Note::Scan(start),
                false => Note::Search(start),
            };
            self.first_rows(note, Each::Once, read);
        }
    }

    fn first_rows(&mut self, note: Note, each: Each, read: Read) {
        let step = self.push(note, each, read);
        self.rows.first.push(step);
    }

    /// A slot for each column that says which block it is.
    pub(super) fn block_slots(&self, table: CollectionId) -> Vec<Term> {
        let layout = self.given.layout;
        layout
            .table(table)
            .map_or_else(Vec::new, |of| identity_slots(layout, of, |column| of.names_block(column)))
    }

    pub(super) fn push(&mut self, note: Note, each: Each, read: Read) -> StepIndex {
        let action = Action::Read(read);
        let there = self.steps.iter().position(|step| step.action == action && step.each == each);
        there.unwrap_or_else(|| {
            self.steps.push(Step { note, each, action });
            self.steps.len() - 1
        })
    }
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
            // The bucket is of a part of the identity, and is called after that.
            let own = components.get(part).and_then(|&column| table.columns.get(column));
            let name = own.map_or(term.name, |own| own.name.as_str().into());
            let at = Term { name, from: ValueFrom::Identity { part }, ..term };
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

/// A reference at the end of hops.
pub(super) fn reference(position: PositionId, hops: &[EndId], end: EndId) -> Path {
    Path { position, hops: hops.to_vec(), leaf: Leaf::Reference(end) }
}
