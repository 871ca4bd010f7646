//! A store that follows an oracle: after every change it is brought to the same state.

use askloom_design::simple;
use askloom_embedded::KeyspaceRecords;
use askloom_embedded::keyspace::write as keyed;
use askloom_embedded::{KeyedSchema, Memory};
use askloom_engine::RunError;
use askloom_engine::execute::{self, Arguments, Continuation};
use askloom_engine::write::{self, Expect};
use askloom_lang::Memory as Files;
use askloom_model::{
    Ask, ClassId, Collection, Contents, Design, Id, Identity, Integrity, Keeper, KeyField, Leaf, Model,
    Nodes, Origin, Plan, PositionId, Query, Record, RelationshipKind, Role, Source, Table, Value,
};
use askloom_oracle::{Parameters, QueryError, State};
use askloom_plan::{nested_is_exact, planner, upkeep};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::path::Path;

pub(crate) fn parse(text: &str) -> Model {
    let checked = askloom_lang::check(&Files::default().with("m.loom", text), Path::new("m.loom"));
    let errors: Vec<_> =
        checked.diagnostics.iter().filter(|d| d.is_error()).map(|d| d.message.clone()).collect();
    assert!(errors.is_empty(), "the model is wrong: {errors:?}\n{text}");
    checked.model
}

/// The designs that every question is asked under.
pub(crate) fn designs(model: &Model) -> Vec<Design> {
    let mut masters = Design { method: "masters".to_owned(), collections: Table::default() };
    simple::masters(model, Origin::Method, &mut masters);
    // A view for every query, needed or not.
    let mut views = masters.clone();
    views.method = "views".to_owned();
    for query in &model.workload.queries {
        views.collections.push(simple::view(model, query));
    }
    upkeep::add_indexes(model, &mut views);
    let mut nested = masters.clone();
    nested.method = "nested".to_owned();
    for query in &model.workload.queries {
        let mut view = simple::view(model, query);
        let order = std::mem::take(&mut view.entry_key).into_iter().map(|field| field.path);
        if let Contents::Fields(fields) = &view.contents {
            let fields = order.chain(fields.iter().cloned()).collect();
            let aggregates = view.source.positions.iter().filter(|(_, position)| {
                position.class.is_some_and(|class| model.conceptual.is_aggregate(class))
            });
            let whole = aggregates.map(|(id, _)| id).collect();
            view.contents = Contents::Nested(Nodes { fields, whole });
        }
        if nested_is_exact(&model.conceptual, &view) {
            nested.collections.push(view);
        }
    }
    upkeep::add_indexes(model, &mut nested);
    let mut indexes = masters.clone();
    indexes.method = "indexes".to_owned();
    for query in &model.workload.queries {
        let mut paths = Vec::new();
        for conjunct in planner::conjuncts(query.condition.as_ref()) {
            paths.extend(conjunct.condition.paths().into_iter().cloned());
        }
        for path in paths {
            indexes.collections.extend_with(index(model, query, &path));
        }
    }
    upkeep::add_indexes(model, &mut indexes);
    vec![masters, simple::design(model), views, nested, indexes]
}

trait ExtendWith {
    fn extend_with(&mut self, collection: Option<Collection>);
}

impl ExtendWith for Table<askloom_model::CollectionId, Collection> {
    fn extend_with(&mut self, collection: Option<Collection>) {
        let Some(collection) = collection else { return };
        let same = |known: &Collection| {
            known.block_key == collection.block_key && known.source.root == collection.source.root
        };
        if self.iter().all(|(_, known)| !same(known)) {
            self.push(collection);
        }
    }
}

/// An index of the main entity by what a condition is about, of one value or of many.
fn index(model: &Model, query: &Query, path: &askloom_model::Path) -> Option<Collection> {
    let conceptual = &model.conceptual;
    let keyed = match path.leaf {
        Leaf::Attribute(id) => conceptual.attributes[id].ty.is_ordered(),
        Leaf::Reference(id) => {
            conceptual.ends[id].stored && conceptual.ends[id].kind != RelationshipKind::Composition
        }
        Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => false,
    };
    let main = PositionId::from_index(0);
    if !keyed || path.position != main {
        return None;
    }
    let mut positions = Table::default();
    positions.push(query.positions[main].clone());
    Some(Collection {
        origin: Origin::Method,
        keeper: Keeper::Ours,
        partition_of: None,
        name: format!("{}Index", query.header.name),
        role: Role::Index,
        source: Source { root: query.positions[main].class?, positions, condition: None },
        block_key: vec![KeyField { path: path.clone(), descending: false }],
        entry_key: Vec::new(),
        contents: Contents::Fields(Vec::new()),
        reasons: Vec::new(),
    })
}

/// The model without rules for writes: the oracle has kept them, but what it did at once is written one by one here.
fn lenient(model: &Model) -> Model {
    let mut model = model.clone();
    let ends: Vec<_> = model.conceptual.ends.ids().collect();
    for end in ends {
        let end = &mut model.conceptual.ends[end];
        (end.integrity, end.unique, end.immutable) = (Integrity::Loose, false, false);
        end.cardinality.min = 0;
    }
    let attributes: Vec<_> = model.conceptual.attributes.ids().collect();
    for attribute in attributes {
        let attribute = &mut model.conceptual.attributes[attribute];
        (attribute.unique, attribute.immutable, attribute.optional) = (false, false, true);
        attribute.default = None;
    }
    model
}

pub(crate) struct Mirror {
    pub(crate) schema: KeyedSchema,
    pub(crate) keyspace: Memory,
    known: BTreeMap<(ClassId, Identity), (Record, Timestamp)>,
}

impl Mirror {
    pub(crate) fn new(model: &Model, design: Design) -> Self {
        let schema = KeyedSchema::new(lenient(model), design);
        Self { schema, keyspace: Memory::new(), known: BTreeMap::new() }
    }

    /// Writes what is new or different in the oracle, and deletes what is gone: in whatever order the rules allow, as
    /// one statement may have changed several.
    pub(crate) fn follow(&mut self, state: &State, now: Timestamp) {
        let mut wanted = BTreeMap::new();
        for (top, identity, instance) in state.instances() {
            wanted.insert((top, identity.clone()), (instance.record().clone(), instance.created()));
        }
        let gone = self.known.keys().filter(|key| !wanted.contains_key(key));
        let mut pending: Vec<((ClassId, Identity), Option<Record>)> =
            gone.map(|key| (key.clone(), None)).collect();
        let different = wanted.iter().filter(|(key, value)| self.known.get(key) != Some(value));
        pending.extend(different.map(|(key, (record, _))| (key.clone(), Some(record.clone()))));
        while !pending.is_empty() {
            let before = pending.len();
            let mut last = None;
            pending.retain(|(key, record)| match self.write(key, record.as_ref(), now) {
                Ok(change) => {
                    change.apply(&mut self.keyspace);
                    false
                }
                Err(error) => {
                    last = Some(error);
                    true
                }
            });
            assert!(pending.len() < before, "{last:?} {pending:?}");
        }
        self.known = wanted;
    }

    fn write(
        &self,
        (top, identity): &(ClassId, Identity),
        record: Option<&Record>,
        now: Timestamp,
    ) -> Result<keyed::Change, RunError> {
        let inputs = write::Inputs { now, uuids: Vec::new(), id: None };
        Ok(match record {
            Some(record) => {
                keyed::store(&self.schema, &self.keyspace, record.clone(), Expect::Anything, &inputs)?.0
            }
            None => keyed::delete(&self.schema, &self.keyspace, *top, identity, &inputs)?.0,
        })
    }

    pub(crate) fn plans(&self, query: &Query) -> Vec<Plan> {
        let plans = planner::plans(
            &askloom_target::embedded::costing(),
            &self.schema.model.conceptual,
            &self.schema.design,
            query,
        );
        assert!(!plans.is_empty(), "no plan for {} in {}", query.header.name, self.schema.design.method);
        plans
    }

    fn describe(&self, query: &Query, plan: &Plan) -> String {
        let printed = planner::print(&self.schema.model, &self.schema.design, query, plan);
        let collection = &self.schema.design.collections[plan.access.collection];
        format!(
            "{} in {} from {collection:?} by\n{printed}{plan:?}",
            query.header.name, self.schema.design.method
        )
    }

    /// Asks the query by every plan, and compares with the oracle. How many plans there were.
    pub(crate) fn compare(
        &self,
        state: &State,
        query: &Query,
        parameters: &Parameters,
        now: Timestamp,
    ) -> usize {
        let arguments: Arguments = parameters.clone().into_iter().collect();
        let meant = state.query(&self.schema.model, query, parameters, now);
        let paged = state.page(&self.schema.model, query, parameters, now, None);
        let is_paged = matches!(query.limit, Some(askloom_model::Limit::Page(_)));
        if meant == Err(QueryError::BadLimit) || (is_paged && paged == Err(QueryError::BadLimit)) {
            return 0;
        }
        let plans = self.plans(query);
        for plan in &plans {
            let given = self.whole_list(query, plan, &arguments, now);
            let context = || format!("with {parameters:?} {}", self.describe(query, plan));
            match (&meant, given) {
                (Ok(meant), Ok(given)) => assert_eq!(given, *meant, "{}", context()),
                (Err(QueryError::OutOfRange), Err(RunError::OutOfRange { .. })) => {}
                (meant, given) => panic!("{given:?} instead of {meant:?} {}", context()),
            }
        }
        plans.len()
    }

    /// The same for a tuple query.
    pub(crate) fn compare_ask(&self, state: &State, ask: &Ask, keys: &[Identity], now: Timestamp) -> usize {
        let model = &self.schema.model;
        let names = ask.keys.iter().map(|&class| model.conceptual.classes[class].name.clone());
        let arguments: Arguments = names.zip(keys.iter().cloned().map(Value::Reference)).collect();
        let meant = state.ask(model, ask, keys, now).unwrap();
        let query = askloom_plan::ask::query(&model.conceptual, ask).unwrap();
        let plans = self.plans(&query);
        for plan in &plans {
            let given = execute::tuples(
                &KeyspaceRecords { schema: &self.schema, keyspace: &self.keyspace },
                &query,
                plan,
                &arguments,
                now,
            )
            .unwrap();
            assert_eq!(given.rows, meant, "with {keys:?} {}", self.describe(&query, plan));
        }
        plans.len()
    }

    /// No key is there that should not be, and none is missing: the same as if everything were written once.
    pub(crate) fn check_keys(&self, state: &State, now: Timestamp) {
        /// How the keys of system entries end; a deleted aggregate leaves its own.
        const SYSTEM_END: [u8; 3] = [b'#', 0, 1];
        let mut fresh = Self {
            schema: KeyedSchema::new(self.schema.model.clone(), self.schema.design.clone()),
            keyspace: Memory::new(),
            known: BTreeMap::new(),
        };
        fresh.follow(state, now);
        let entries = |keyspace: &Memory| -> Vec<(Vec<u8>, Vec<u8>)> {
            let kept = keyspace.iter().filter(|(key, _)| !key.ends_with(&SYSTEM_END));
            kept.map(|(key, value)| (key.clone(), value.clone())).collect()
        };
        assert!(entries(&self.keyspace) == entries(&fresh.keyspace), "{}", self.schema.design.method);
    }

    /// The answer; of a paged query all pages, each continuation as text.
    fn whole_list(
        &self,
        query: &Query,
        plan: &Plan,
        arguments: &Arguments,
        now: Timestamp,
    ) -> Result<Vec<Vec<Value>>, RunError> {
        let mut rows = Vec::new();
        let mut after: Option<Continuation> = None;
        loop {
            let page = execute::run(
                &KeyspaceRecords { schema: &self.schema, keyspace: &self.keyspace },
                query,
                plan,
                arguments,
                now,
                after.as_ref(),
            )?;
            assert!(page.next.is_none() || !page.rows.is_empty(), "an empty page has a next one");
            rows.extend(page.rows);
            match page.next {
                None => return Ok(rows),
                Some(next) => after = Some(next.to_string().parse().unwrap()),
            }
        }
    }
}
