//! Which items of the sample a statement touches. Nothing is guessed: each statement is carried out by its plan on the
//! sample's own store, with parameters from its data, and what is read and put is what is told.

mod choose;
mod witness;

use super::Subject;
use super::plans::{PlanDocument, StepDocument};
use super::sample::{Made, NOW, Sample, plain};
use crate::statement::{Statement, expected};
use askloom_embedded::KeyspaceRecords;
use askloom_embedded::keyspace::write as keyed;
use askloom_engine::execute::{self, Arguments};
use askloom_engine::write::{self, Inputs};
use askloom_model::{
    CollectionId, Conceptual, ParameterType, Query, Value, Write, identity_to_json, to_json,
};
use askloom_plan::cost::Costing;
use askloom_plan::planner;
use choose::Chooser;
use serde::Serialize;
use std::collections::BTreeSet;
use uuid::Uuid;
use witness::Witness;

/// A call of a statement on the sample.
#[derive(Debug, Clone, Serialize)]
pub(super) struct SampleCall {
    parameters: Vec<Given>,
    /// Why it is not known what it touches.
    unknown: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
struct Given {
    name: String,
    value: String,
}

/// What a step reads or writes.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Touches {
    /// By their places in the sample.
    items: Vec<usize>,
    /// Those that are in the store, and not shown.
    beyond: usize,
    /// Those that were not there before.
    made: usize,
    /// Other steps that do the same with the same collection: what each of them touches is not told apart.
    with: Vec<usize>,
}

/// What a call was seen to do.
#[derive(Debug, Default)]
struct Seen {
    read: BTreeSet<Vec<u8>>,
    /// Put or deleted.
    put: BTreeSet<Vec<u8>>,
    /// What is new, with its value.
    new: Vec<(Vec<u8>, Vec<u8>)>,
    /// Whether it found or wrote anything.
    found: bool,
}

impl Seen {
    /// How much there is to see.
    fn worth(&self) -> (bool, usize) {
        (self.found, self.put.len() + self.new.len())
    }
}

/// How a step uses its collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Reads,
    Puts,
    Both,
}

/// Fills in what each plan touches.
pub(super) fn trace(subject: &Subject<'_>, made: &Made, samples: &[Sample], plans: &mut [PlanDocument]) {
    let statements = Statement::all(&subject.model.workload);
    for (statement, document) in statements.zip(plans).filter(|(_, document)| document.missing.is_none()) {
        let call = Call { subject, made, statement };
        match call.seen() {
            Ok((arguments, seen)) => {
                document.sample = Some(SampleCall { parameters: call.given(&arguments), unknown: None });
                let follows = call.follows_plan();
                call.mark(&mut document.steps, samples, &seen, follows);
            }
            Err(why) => document.sample = Some(SampleCall { parameters: Vec::new(), unknown: Some(why) }),
        }
    }
}

struct Call<'c> {
    subject: &'c Subject<'c>,
    made: &'c Made,
    statement: Statement<'c>,
}

impl Call<'_> {
    /// The first parameters with which it does most, and what that is: a write that leaves all as it was, or a query that
    /// finds nothing, shows little.
    fn seen(&self) -> Result<(Arguments, Seen), String> {
        let chooser = Chooser { made: self.made, conceptual: self.conceptual() };
        let mut best: Option<(Arguments, Seen)> = None;
        let mut refused = None;
        for arguments in chooser.arguments(self.statement) {
            match self.run(&arguments) {
                Ok(seen) if best.as_ref().is_none_or(|(_, known)| seen.worth() > known.worth()) => {
                    best = Some((arguments, seen));
                }
                Ok(_) => {}
                Err(why) => refused = refused.or(Some(why)),
            }
        }
        let why = refused.unwrap_or_else(|| "the made-up data has no fitting parameters".to_owned());
        best.ok_or(why)
    }

    fn conceptual(&self) -> &Conceptual {
        &self.made.schema.model.conceptual
    }

    fn run(&self, arguments: &Arguments) -> Result<Seen, String> {
        match self.statement {
            Statement::Query(query) => self.read(query, arguments),
            Statement::Ask(ask) => {
                let query = askloom_plan::ask::query(self.conceptual(), ask);
                self.read(&query.ok_or("it cannot be run")?, arguments)
            }
            Statement::Write(write) => self.write(write, arguments),
        }
    }

    fn read(&self, query: &Query, arguments: &Arguments) -> Result<Seen, String> {
        let Subject { model, design, .. } = self.subject;
        let plan =
            planner::answer(&self.subject.costing(), model, design, query).map_err(|why| why.message)?;
        let witness = Witness::new(&self.made.keyspace);
        let answer = execute::run(
            &KeyspaceRecords { schema: &self.made.schema, keyspace: &witness },
            query,
            &plan,
            arguments,
            NOW,
            None,
        );
        let answer = answer.map_err(|error| error.to_string())?;
        Ok(Seen { read: witness.into_seen(), found: !answer.rows.is_empty(), ..Seen::default() })
    }

    fn write(&self, write: &Write, arguments: &Arguments) -> Result<Seen, String> {
        let Made { schema, keyspace, .. } = self.made;
        let needed =
            write::uuids_needed(&schema.model, write, arguments).map_err(|error| error.to_string())?;
        let uuids = (1..).map(Uuid::from_u128).take(needed).collect();
        let witness = Witness::new(keyspace);
        let inputs = Inputs { now: NOW, uuids, id: None };
        let done = keyed::statement(schema, &witness, write, arguments, &inputs);
        let (change, outcome) = done.map_err(|error| error.to_string())?;
        let mut seen = Seen { read: witness.into_seen(), ..Seen::default() };
        seen.found = outcome.matched.iter().any(|&matched| matched > 0);
        for (key, value) in change.puts {
            match value {
                Some(value) if !keyspace.contains_key(&key) => seen.new.push((key, value)),
                Some(_) | None => {
                    seen.put.insert(key);
                }
            }
        }
        Ok(seen)
    }

    /// Whether instances are found as the plan says: writes are carried out by the embedded store's plans, and those
    /// of another store may start elsewhere.
    fn follows_plan(&self) -> bool {
        let Statement::Write(write) = self.statement else { return true };
        let Subject { model, design, .. } = self.subject;
        let starts = |costing: &Costing<'_>| -> Option<Vec<CollectionId>> {
            let found = planner::write::plan(costing, model, design, write).ok()?;
            let finds = found.steps.iter().flat_map(|step| step.find.all());
            Some(finds.map(|find| find.access.collection).collect())
        };
        starts(&self.subject.costing()) == starts(&askloom_target::embedded::costing())
    }

    /// The parameters in words, in the order in which the statement has them.
    fn given(&self, arguments: &Arguments) -> Vec<Given> {
        let conceptual = self.conceptual();
        let all = expected(conceptual, self.statement).into_iter();
        let given = all.filter_map(|one| {
            let value = text(conceptual, &one.ty, arguments.get(&one.name)?);
            Some(Given { name: one.name, value })
        });
        given.collect()
    }

    fn mark(&self, steps: &mut [StepDocument], samples: &[Sample], seen: &Seen, follows: bool) {
        let uses: Vec<Option<(CollectionId, Use)>> = steps.iter().map(|step| self.uses(step)).collect();
        for (at, (step, used)) in steps.iter_mut().zip(&uses).enumerate() {
            let Some((collection, how)) = *used else { continue };
            if how == Use::Reads && !follows {
                continue;
            }
            let same = |(other, used): (usize, &Option<(CollectionId, Use)>)| {
                (other != at && *used == Some((collection, how))).then_some(other)
            };
            let with = uses.iter().enumerate().filter_map(same).collect();
            step.touches = self.touches(collection, how, samples, seen, with);
        }
    }

    fn uses(&self, step: &StepDocument) -> Option<(CollectionId, Use)> {
        let name = step.collection.as_ref()?;
        let mut all = self.subject.design.collections.iter();
        let (id, _) = all.find(|(_, collection)| collection.name == *name)?;
        let how = match step.op {
            "put" | "copy" => Use::Puts,
            "reserve" => Use::Both,
            _reading => Use::Reads,
        };
        Some((id, how))
    }

    fn touches(
        &self,
        id: CollectionId,
        how: Use,
        samples: &[Sample],
        seen: &Seen,
        with: Vec<usize>,
    ) -> Option<Touches> {
        let prefix = self.made.prefix(id);
        let mut keys: BTreeSet<&Vec<u8>> = BTreeSet::new();
        if how != Use::Puts {
            keys.extend(seen.read.iter().filter(|key| key.starts_with(&prefix)));
        }
        let mut made = 0;
        if how != Use::Reads {
            keys.extend(seen.put.iter().filter(|key| key.starts_with(&prefix)));
            let new = seen.new.iter().filter(|(key, _)| key.starts_with(&prefix));
            made = new.filter(|(key, value)| self.made.is_item(id, key, value)).count();
        }
        let shown = &samples.get(askloom_model::Id::index(id))?.stored;
        let items: Vec<usize> =
            (0..).zip(shown).filter(|(_, key)| keys.contains(key)).map(|(at, _)| at).collect();
        let is_item = |key: &&Vec<u8>| {
            self.made.keyspace.get(*key).is_some_and(|value| self.made.is_item(id, key, value))
        };
        let beyond = keys.into_iter().filter(is_item).count().saturating_sub(items.len());
        Some(Touches { items, beyond, made, with })
    }
}

/// The value of a parameter, for people.
fn text(conceptual: &Conceptual, ty: &ParameterType, value: &Value) -> String {
    match (ty, value) {
        (_, Value::Null) => "none".to_owned(),
        (ParameterType::List(of), Value::List(elements)) => {
            elements.iter().map(|element| text(conceptual, of, &element.value)).collect::<Vec<_>>().join(", ")
        }
        (ParameterType::Identity(class), Value::Reference(identity)) => {
            plain(&identity_to_json(conceptual, *class, identity))
        }
        (ParameterType::Whole(class), Value::Record(record)) => {
            record.to_json(conceptual, *class).to_string()
        }
        (ParameterType::Basic(ty), value) => plain(&to_json(value, ty)),
        (_, _other) => "…".to_owned(),
    }
}
