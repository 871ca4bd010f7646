//! Plans of queries as steps.

use super::bind::{Given, fitted};
use super::client::{client, is_narrower, keeps_the_deleted, leads};
use super::{Action, Bounds, How, Program, Range, Read, Step, Term};
use crate::layout::{Column, Field, Layout, Shape, Table};
use askloom_model::{
    BucketsBetween, ClassId, CollectionId, Conceptual, Contents, Fetch, Found, HomePlace, InSet, Inclusive,
    Joining, KeyRange, KeySet, KeyValue, Leaf, Limit, Member, Operand, Plan, Position, PositionId, Query,
    Reading, StepOf, Value,
};

/// What a query does by its plan. Arguments are in the order of its parameters.
#[must_use]
pub fn query(layout: &Layout, query: &Query, plan: &Plan, arguments: Option<&[Option<Value>]>) -> Program {
    let query = plan.query(query);
    let given = Given { layout, parameters: plan.parameters(query), arguments };
    let mut reads = Reads { given, plan, positions: &query.positions, start: None, steps: Vec::new() };
    reads.all();
    let steps = reads.steps;
    let client = client(layout, query, plan, &steps);
    Program { name: query.header.name.clone(), steps, client, missing: None }
}

/// The reads of a plan that is a part of a statement, and why the rows are read that it starts with.
#[must_use]
pub(super) fn finding(
    given: Given<'_>,
    positions: &askloom_model::Table<PositionId, Position>,
    plan: &Plan,
    start: Option<&str>,
) -> Vec<Step> {
    let parameters = plan.first.as_ref().map_or(given.parameters, |found| &found.parameters);
    let given = Given { parameters, ..given };
    let mut reads = Reads { given, plan, positions, start, steps: Vec::new() };
    reads.all();
    reads.steps
}

struct Reads<'r> {
    given: Given<'r>,
    plan: &'r Plan,
    positions: &'r askloom_model::Table<PositionId, Position>,
    /// Why the first rows are read, if they are not just where a query starts.
    start: Option<&'r str>,
    steps: Vec<Step>,
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
        self.access(&self.plan.access.how, &mut Vec::new(), None);
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
                        let hop = self.positions[join.position].from;
                        self.joining(&join.how, hop.map(|hop| hop.step));
                    }
                }
                StepOf::Fetch(index) => {
                    if let Some(fetch) = self.plan.fetches.get(*index) {
                        self.fetch(fetch);
                    }
                }
                StepOf::Follow(follow) => {
                    let last = follow.hops.last().map(|&end| Member::End(end));
                    let own = self.positions[follow.position].from.map(|hop| hop.step);
                    self.joining(&follow.how, last.or(own));
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
        let list = found.list().map_or("", |list| &list.name);
        let start = format!("what gives :{list}");
        self.steps.extend(finding(given, &found.query.positions, &found.plan, Some(&start)));
    }

    /// What has expired is told from what lives by the masters: of the rows, and of what a copy took its values from.
    fn living(&mut self) {
        let main = self.plan.access.positions.first().copied().flatten();
        let brought = main.filter(|_| self.brings_aggregates());
        let rows = self.positions.iter().filter(|(id, _)| Some(*id) != brought);
        let mut classes: Vec<ClassId> = rows.filter_map(|(_, row)| row.class).collect();
        let ends = self.plan.paths().into_iter().flat_map(|path| path.hops.iter());
        classes.extend(ends.map(|&end| self.conceptual().ends[end].target));
        // A value object is in its aggregate, and lives as long.
        classes.retain(|&class| self.conceptual().classes[class].kind.is_entity());
        for class in classes {
            self.instances(class, "what has expired is told by the aggregate itself");
        }
    }

    /// Whether the rows come with the aggregates that they are of: from a master, or by an index that leads there.
    fn brings_aggregates(&self) -> bool {
        let collection = &self.given.layout.design.collections[self.plan.access.collection];
        matches!(collection.contents, Contents::Aggregate(_))
            || leads(self.conceptual(), collection, self.plan)
    }

    fn access(&mut self, how: &Reading, chosen: &mut Chosen, each: Option<String>) {
        let id = self.plan.access.collection;
        match how {
            Reading::Each { field, set, of } => self.every(*field, set, of, chosen, each),
            Reading::Scan => self.scan(),
            Reading::GetBlock { key } => {
                let Some(table) = self.given.layout.table(id) else { return };
                let terms = self.id_terms(table, key, chosen);
                self.push(
                    self.start.unwrap_or("where the rows start"),
                    each,
                    Read::new(id, How::Block(terms)),
                );
            }
            Reading::Range { key, equal, range, backwards, limited } => {
                let Some(table) = self.given.layout.table(id) else { return };
                if matches!(table.shape, Shape::Master { .. }) && !table.is_clustered() {
                    let terms = self.key_terms(table, &block_columns(table), key, 0, chosen);
                    return self.push(
                        self.start.unwrap_or("where the rows start"),
                        each,
                        Read::new(id, How::Block(terms)),
                    );
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
                self.push(self.start.unwrap_or("where the rows start"), each, read);
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
    fn every(&mut self, field: usize, set: &KeySet, of: &Reading, chosen: &mut Chosen, each: Option<String>) {
        let bucket = self.bucket(field).filter(|_| self.given.arguments.is_none());
        let Some(values) = self.given.choices(set).filter(|_| bucket.is_none()) else {
            let name = match set {
                KeySet::In(InSet::Parameter(index)) => {
                    self.given.parameters.get(*index).map(|p| p.name.clone())
                }
                KeySet::In(InSet::List(_)) => bucket.map(|_| "bucket".to_owned()),
                KeySet::Buckets(between) => Some(between.unit.name().to_owned()),
            };
            let name = name.unwrap_or_else(|| "value".to_owned());
            let repeated = match (set, bucket) {
                (KeySet::Buckets(between), _) => self.time_buckets(between, self.newest_first(of)),
                (KeySet::In(_), Some(of)) => format!(":bucket from 0 to {}", of.saturating_sub(1)),
                (KeySet::In(_), None) => format!("value of :{name}"),
            };
            chosen.push((field, name, None));
            let each = Some(each.map_or_else(|| repeated.clone(), |each| format!("{each} and {repeated}")));
            self.access(of, chosen, each);
            chosen.pop();
            return;
        };
        let turned = matches!(set, KeySet::Buckets(_)) && self.newest_first(of);
        let values: Vec<Value> = if turned { values.into_iter().rev().collect() } else { values };
        for value in values {
            chosen.push((field, "value".to_owned(), Some(value)));
            self.access(of, chosen, each.clone());
            chosen.pop();
        }
    }

    /// Whether buckets are read from the last to the first, as the answer has what is in them.
    fn newest_first(&self, of: &Reading) -> bool {
        let Reading::Range { backwards, .. } = of.innermost() else { return false };
        let collection = &self.given.layout.design.collections[self.plan.access.collection];
        let descends = collection.entry_key.first().is_some_and(|field| field.descending);
        self.plan.sort.is_none() && descends != *backwards
    }

    /// Which buckets of time are read: `:day from that of :from to that of :until`.
    fn time_buckets(&self, between: &BucketsBetween, newest_first: bool) -> String {
        let BucketsBetween { unit, low, high } = between;
        let (low, high) = if newest_first { (high, low) } else { (low, high) };
        let side = |operand: &Operand| match self.given.value(operand) {
            Some(value) => match unit.of_value(&value) {
                Value::Text(bucket) => bucket,
                _no_instant => "none".to_owned(),
            },
            None => format!("that of :{}", self.given.parameter_name(operand)),
        };
        let to = if newest_first { "back to" } else { "to" };
        format!(":{} from {} {to} {}", unit.name(), side(low), side(high))
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
        // One operand for a key of several fields is the whole id.
        let whole: Vec<Field>;
        let fields = match operands {
            [_only] if fields.len() > 1 && first == 0 => {
                whole = vec![Field { columns: table.identity_columns(), identity: true }];
                &whole
            }
            _ => fields,
        };
        let mut terms = Vec::new();
        for (at, (operand, field)) in operands.iter().zip(fields).enumerate() {
            let columns = &field.columns;
            match chosen.iter().find(|(place, _, _)| *place == first + at) {
                Some((_, name, value)) => {
                    terms.extend(self.given.spread(table, columns, name, value.as_ref()));
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
            Term { name, value, column: Some(column) }
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
            let why = match self.plan.priced.searched.is_empty() {
                true => "no key leads there: everything is read",
                false => "where the rows start: the store searches for them",
            };
            self.push(self.start.unwrap_or(why), None, read);
        }
    }

    fn joining(&mut self, how: &Joining, step: Option<Member>) {
        let name = step.map_or("it", |member| self.conceptual().member_name(member)).to_owned();
        match how {
            Joining::Inside => {}
            Joining::LookUp { master } => {
                let target = match step {
                    Some(Member::End(end)) => {
                        let row = &self.conceptual().ends[end];
                        Some(if row.stored { row.target } else { row.class })
                    }
                    Some(Member::Attribute(_)) | None => None,
                };
                match target {
                    Some(class) => {
                        self.instances(class, &format!("what `{name}` refers to"));
                        self.block(*master, &format!("what `{name}` refers to"), "row");
                    }
                    None => self.block(*master, "the aggregate itself", "row"),
                }
            }
            Joining::Back { index, master } => {
                self.block(*index, &format!("who is in `{name}`"), "row");
                self.block(*master, &format!("those in `{name}`"), "id found");
            }
            Joining::BackByScan { master } => {
                let read = Read::new(*master, How::All);
                self.push(&format!("who is in `{name}`: no index leads back"), None, read);
            }
        }
    }

    /// The instances of a class by their ids: in aggregates of their own, or inside others, which an index leads to.
    fn instances(&mut self, class: ClassId, why: &str) {
        let layout = self.given.layout;
        for home in layout.conceptual.homes(class) {
            let Some(master) = layout.design.master(home.root) else { continue };
            match home.place {
                HomePlace::Root => self.block(master, why, "row"),
                HomePlace::Inside => {
                    let indexes = part_indexes(layout, class, home.root);
                    if indexes.is_empty() {
                        let read = Read::new(master, How::All);
                        self.push(&format!("{why}, inside another: no index leads there"), None, read);
                    }
                    for index in indexes {
                        self.block(index, &format!("whose part it is: {why}"), "row");
                        self.block(master, why, "id found");
                    }
                }
            }
        }
    }

    fn block(&mut self, table: CollectionId, why: &str, each: &str) {
        let Some(of) = self.given.layout.table(table) else { return };
        let terms = slots(of, |column| of.names_block(column), "");
        self.push(why, Some(each.to_owned()), Read::new(table, How::Block(terms)));
    }

    fn fetch(&mut self, fetch: &Fetch) {
        let Some(table) = self.given.layout.table(fetch.collection) else { return };
        let terms = slots(table, Column::is_key, "");
        let read = Read::new(fetch.collection, How::Record(terms));
        self.push("what the rows do not hold", Some("row".to_owned()), read);
    }

    fn push(&mut self, why: &str, each: Option<String>, read: Read) {
        let action = Action::Read(read);
        let there = self.steps.iter().any(|step| step.action == action && step.each == each);
        if !there {
            self.steps.push(Step { why: why.to_owned(), each, action });
        }
    }
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

/// A slot for each of some columns, by their names.
pub(super) fn slots(table: &Table, wanted: impl Fn(&Column) -> bool, before: &str) -> Vec<Term> {
    let columns = table.columns.iter().enumerate().filter(|(_, column)| wanted(column));
    let slot = |(index, column): (usize, &Column)| Term {
        name: format!("{before}{}", column.name),
        value: None,
        column: Some(index),
    };
    columns.map(slot).collect()
}

/// A read of a block whose key is found by another step.
#[must_use]
pub fn support(layout: &Layout, table: CollectionId, why: &str, each: &str) -> Option<Step> {
    let of = layout.table(table)?;
    let terms = slots(of, |column| of.names_block(column), "");
    let action = Action::Read(Read::new(table, How::Block(terms)));
    Some(Step { why: why.to_owned(), each: Some(each.to_owned()), action })
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
