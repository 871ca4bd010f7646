//! A model and its design on the embedded store: queries and writes, many at once.

mod apply;
mod catalogue;
mod commit;
mod difference;
mod fill;
mod masters;
mod shape;
mod sweep;
mod verify;

pub use apply::{Applied, OpenError, preview};
pub use difference::{Difference, Kind};
pub use fill::Progress;
pub use sweep::Swept;
pub use verify::{Fault, Finding, Report, Verified};

use crate::keyspace::write as keyed;
use crate::store::Store;
use crate::{KeyedSchema, KeyspaceRecords};
use askloom_engine::RunError;
use askloom_engine::execute::{self, Answer, Arguments, Continuation};
use askloom_engine::write::{self, Expect, Inputs, Outcome, Phase};
use askloom_model::{Ask, ClassId, Identity, Plan, Query, Record, Write, WriteOf};
use catalogue::Catalogue;
use std::sync::Mutex;

#[derive(Debug)]
pub struct Database {
    store: Store,
    schema: KeyedSchema,
    catalogue: Catalogue,
    /// Held by a writer whom others have overtaken too often.
    turn: Mutex<()>,
}

impl Database {
    /// A design on a store that nobody else has put anything into, and that keeps nothing about it.
    #[must_use]
    pub fn new(store: Store, schema: KeyedSchema) -> Self {
        Self { store, schema, catalogue: Catalogue::empty(), turn: Mutex::default() }
    }

    #[must_use]
    pub fn schema(&self) -> &KeyedSchema {
        &self.schema
    }

    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The cheapest plan of a query over the design.
    pub fn plan(&self, query: &Query) -> Result<Plan, RunError> {
        self.schema.plan(query)
    }

    /// Runs a query by its cheapest plan on one snapshot.
    pub fn query(
        &self,
        query: &Query,
        arguments: &Arguments,
        now: jiff::Timestamp,
        after: Option<&Continuation>,
    ) -> Result<Answer, RunError> {
        let snapshot = self.store.snapshot();
        let records = KeyspaceRecords { schema: &self.schema, keyspace: &snapshot };
        self.schema.prepared(query)?.run(&records, arguments, now, after)
    }

    /// Runs a tuple query on one snapshot; see [`execute::ask`].
    pub fn ask(&self, ask: &Ask, arguments: &Arguments, now: jiff::Timestamp) -> Result<Answer, RunError> {
        execute::ask(
            &KeyspaceRecords { schema: &self.schema, keyspace: &self.store.snapshot() },
            ask,
            arguments,
            now,
        )
    }

    /// A write of the model, with every copy brought after, all or nothing.
    pub fn write(&self, write: &Write, arguments: &Arguments, inputs: &Inputs) -> Result<Outcome, RunError> {
        self.commit(|state| keyed::statement(&self.schema, state, write, arguments, inputs))
    }

    /// Stores a whole aggregate, if the model declares it.
    pub fn put(&self, record: &Record, expect: Expect, inputs: &Inputs) -> Result<Identity, RunError> {
        let of = match expect {
            Expect::Absent => WriteOf::Create(record.class),
            Expect::Present | Expect::Anything => WriteOf::Store(record.class),
        };
        write::permitted(&self.schema.model, &of)?;
        self.commit(|state| keyed::store(&self.schema, state, record.clone(), expect, inputs))
    }

    /// Stores a new aggregate, whatever writes the model declares.
    pub fn load(&self, record: &Record, inputs: &Inputs) -> Result<Identity, RunError> {
        self.commit(|state| keyed::load(&self.schema, state, record.clone(), Phase::Loading, inputs))
    }

    /// Deletes an aggregate, if the model declares it. False if there was none.
    pub fn delete(&self, class: ClassId, identity: &Identity, inputs: &Inputs) -> Result<bool, RunError> {
        write::permitted(&self.schema.model, &WriteOf::Delete(class))?;
        self.commit(|state| keyed::delete(&self.schema, state, class, identity, inputs))
    }
}
