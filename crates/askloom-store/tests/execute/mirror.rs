//! A store that follows an oracle: after every change it is brought to the same state.

use askloom_design::{plan, simple, upkeep};
use askloom_lang::Memory as Files;
use askloom_model::{ClassId, Design, Identity, Model, Plan, Query, Record, Table};
use askloom_oracle::{Parameters, QueryError, State};
use askloom_store::execute::{self, Arguments, Continuation};
use askloom_store::write::{self, Expect};
use askloom_store::{Memory, RunError, Schema};
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
    simple::masters(model, &mut masters);
    // A view for every query, needed or not.
    let mut views = masters.clone();
    views.method = "views".to_owned();
    for query in &model.workload.queries {
        views.collections.push(simple::view(model, query));
    }
    upkeep::add_indexes(model, &mut views);
    vec![masters, simple::design(model), views]
}

pub(crate) struct Mirror {
    pub(crate) schema: Schema,
    pub(crate) keyspace: Memory,
    known: BTreeMap<(ClassId, Identity), (Record, Timestamp)>,
}

impl Mirror {
    pub(crate) fn new(model: &Model, design: Design) -> Self {
        let schema = Schema::new(model.clone(), design);
        Self { schema, keyspace: Memory::new(), known: BTreeMap::new() }
    }

    /// Writes what is new or different in the oracle, and deletes what is gone.
    pub(crate) fn follow(&mut self, state: &State, now: Timestamp) {
        let mut wanted = BTreeMap::new();
        for (top, identity, instance) in state.instances() {
            wanted.insert((top, identity.clone()), (instance.record().clone(), instance.created()));
        }
        for (key, (record, created)) in &wanted {
            if self.known.get(key).is_some_and(|known| known == &(record.clone(), *created)) {
                continue;
            }
            // Made anew under the same id: the store's own clock says whether the old one had expired.
            let change = write::store(&self.schema, &self.keyspace, record.clone(), now, Expect::Anything);
            assert!(change.unwrap().apply(&mut self.keyspace));
        }
        for (top, identity) in self.known.keys().filter(|key| !wanted.contains_key(key)) {
            let change = write::delete(&self.schema, &self.keyspace, *top, identity).unwrap();
            assert!(change.is_some_and(|change| change.apply(&mut self.keyspace)));
        }
        self.known = wanted;
    }

    pub(crate) fn plans(&self, query: &Query) -> Vec<Plan> {
        let plans = plan::plans(&self.schema.model.conceptual, &self.schema.design, query);
        assert!(!plans.is_empty(), "no plan for {} in {}", query.header.name, self.schema.design.method);
        plans
    }

    fn describe(&self, query: &Query, plan: &Plan) -> String {
        let printed = plan::print(&self.schema.model, &self.schema.design, query, plan);
        let collection = &self.schema.design.collections[plan.access.collection];
        format!("{} in {} from {collection:?} by\n{printed}{plan:?}", query.header.name, self.schema.design.method)
    }

    /// Asks the query by every plan, and compares with the oracle. How many plans there were.
    pub(crate) fn compare(&self, state: &State, query: &Query, parameters: &Parameters, now: Timestamp) -> usize {
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

    /// The answer; of a paged query all pages, each continuation as text.
    fn whole_list(
        &self,
        query: &Query,
        plan: &Plan,
        arguments: &Arguments,
        now: Timestamp,
    ) -> Result<Vec<Vec<askloom_model::Value>>, RunError> {
        let mut rows = Vec::new();
        let mut after: Option<Continuation> = None;
        loop {
            let page = execute::run(&self.schema, &self.keyspace, query, plan, arguments, now, after.as_ref())?;
            assert!(page.next.is_none() || !page.rows.is_empty(), "an empty page has a next one");
            rows.extend(page.rows);
            match page.next {
                None => return Ok(rows),
                Some(next) => after = Some(next.to_string().parse().unwrap()),
            }
        }
    }
}
