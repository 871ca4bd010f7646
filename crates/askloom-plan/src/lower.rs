//! The statements of a model over a design, as programs that a target puts into its own language.

use crate::cost::Costing;
use crate::layout::Layout;
use crate::program::{self, Program};
use crate::{ask, planner};
use askloom_model::{Conceptual, Design, Diagnostic, Header, Model, Query, Value};
use std::collections::HashMap;

/// A query or a write of the model as a program.
#[derive(Debug, Clone)]
pub struct Statement {
    pub program: Program,
    /// As the model has it.
    pub text: String,
    pub write: bool,
}

/// The values of a statement's parameters, by name.
pub type Arguments = HashMap<String, Value>;

/// What is needed to put the statements of a model into programs.
#[derive(Debug, Clone, Copy)]
pub struct Lowering<'l> {
    pub model: &'l Model,
    pub design: &'l Design,
    pub layout: &'l Layout,
    pub costing: &'l Costing<'l>,
    /// Of some statements, by their names.
    pub arguments: &'l HashMap<String, Arguments>,
}

impl Lowering<'_> {
    /// Every query, then every write, without those that are [not generated](not_generated) yet. One that has no plan is
    /// told why.
    pub fn statements(&self, text: &dyn Fn(&Header) -> String) -> Result<Vec<Statement>, Box<Diagnostic>> {
        let workload = &self.model.workload;
        let mut all = Vec::new();
        let printed = |query: &&Query| not_generated(&self.model.conceptual, query).is_none();
        for query in workload.queries.iter().filter(printed) {
            all.push(self.query(query, text(&query.header))?);
        }
        for asked in &workload.asks {
            if let Some(query) = ask::query(&self.model.conceptual, asked) {
                all.push(self.query(&query, text(&asked.header))?);
            }
        }
        for write in &workload.writes {
            let plan = planner::write::plan(self.costing, self.model, self.design, write)?;
            let given = self.arguments.get(&write.header.name);
            let program = program::write(self.layout, write, &plan, given);
            all.push(Statement { program, text: text(&write.header), write: true });
        }
        Ok(all)
    }

    fn query(&self, query: &Query, text: String) -> Result<Statement, Box<Diagnostic>> {
        let plan = planner::answer(self.costing, self.model, self.design, query)?;
        let given = self.arguments.get(&query.header.name).map(|given| values(query, given));
        let program = program::query(self.layout, query, &plan, given.as_deref());
        Ok(Statement { program, text, write: false })
    }
}

/// What a query says that the text of no store has yet. A text without it would give another answer.
#[must_use]
pub fn not_generated(conceptual: &Conceptual, query: &Query) -> Option<&'static str> {
    if query.per_group.is_some() {
        return Some("LIMIT … PER");
    }
    query.listed_ends(conceptual).next().map(|_| "a to-many relationship in SELECT")
}

/// One sentence for each query of a model whose text is not generated.
#[must_use]
pub fn notes_of_not_generated(model: &Model) -> Vec<String> {
    let note = |query: &Query| {
        let form = not_generated(&model.conceptual, query)?;
        Some(format!("the text of `{}` is not generated yet: it has {form}", query.header.name))
    };
    model.workload.queries.iter().filter_map(note).collect()
}

/// The values of a query's parameters in their order.
#[must_use]
pub fn values(query: &Query, given: &Arguments) -> Vec<Option<Value>> {
    query.parameters.iter().map(|parameter| given.get(&parameter.name).cloned()).collect()
}
