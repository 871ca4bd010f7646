//! Every query by the oracle and by every plan.

use crate::case::{Case, Failure};
use crate::coverage::Coverage;
use crate::data::{Known, Maker};
use crate::piecewise;
use crate::random::Random;
use crate::{clustered, words};
use askloom_embedded::KeyspaceRecords;
use askloom_engine::RunError;
use askloom_engine::execute::{self, Arguments, PreparedQuery};
use askloom_model::{
    ClassId, Column, ColumnValue, Constant, Identity, Limit, Operand, OrderBy, Path, Plan, Query, Role, Value,
};
use askloom_oracle::{Parameters, QueryError};
use askloom_plan::planner;
use std::collections::BTreeMap;

/// An answer, or why there is none: in terms that both sides have.
#[derive(Debug, Clone, PartialEq)]
enum Answer {
    Rows(Vec<Vec<Value>>),
    BadLimit,
    OutOfRange,
    Failed(String),
    NotYet(&'static str),
    /// The first pages.
    Beginning(Vec<Vec<Value>>),
}

/// Each page costs as much as the whole list: of a long one the beginning has to do.
const MANY_ROWS: usize = 40;

impl Answer {
    fn agrees(&self, given: &Self) -> bool {
        match (self, given) {
            (Self::Rows(all), Self::Beginning(rows)) => all.starts_with(rows) && all.len() > rows.len(),
            (meant, given) => meant == given,
        }
    }
}

impl Case {
    pub(crate) fn compare(
        &self,
        known: &Known,
        shapes: &[usize],
        random: &Random,
        coverage: &mut Coverage,
    ) -> Result<(), Failure> {
        let model = &self.schema.model;
        let maker = Maker { conceptual: &model.conceptual, known };
        for (n, query) in model.workload.queries.iter().enumerate() {
            let random = random.fork(&query.header.name);
            let arguments: Parameters = query
                .parameters
                .iter()
                .map(|p| {
                    let random = random.fork(&p.name);
                    let value = match p.name == "most" {
                        true => Value::Int(random.below(4) as i64 + i64::from(!random.one_in(8))),
                        false => maker.argument(&p.ty, &random),
                    };
                    (p.name.clone(), value)
                })
                .collect();
            let meant = match self.oracle.query(model, query, &arguments, self.now) {
                Ok(rows) => Answer::Rows(rows),
                Err(QueryError::BadLimit) => Answer::BadLimit,
                Err(QueryError::OutOfRange) => Answer::OutOfRange,
                Err(error) => Answer::Failed(error.to_string()),
            };
            let rows = if let Answer::Rows(rows) = &meant { rows.len() } else { 0 };
            coverage.answered(rows);
            shapes.iter().for_each(|&shape| coverage.after(n, shape));
            if let Answer::Rows(rows) = &meant {
                self.look_at_negations(query, &arguments, rows, coverage);
            }
            if random.one_in(4) {
                self.look_closer(query, &arguments, rows, coverage);
                self.look_into_groups(query, &arguments, coverage);
            }
            if self.plans[n].is_empty() {
                return Err(self.fail("plan", format!("{} has no plan", query.header.name)));
            }
            for (at, plan) in self.plans[n].iter().enumerate() {
                let given = self.given(query, plan, &arguments);
                if let Answer::NotYet(what) = given {
                    coverage.not_yet(what);
                    continue;
                }
                coverage.executed(n, at);
                if rows > 0 && plan.reduced.is_some() {
                    coverage.gate("join eliminated");
                } else if rows > 0 && !plan.relies_on.is_empty() {
                    coverage.gate("id path is the reference");
                }
                if rows > 0 {
                    let collection = &self.schema.design.collections[plan.access.collection];
                    clustered::count(collection, plan, coverage);
                    let collections = &self.schema.design.collections;
                    if plan.fetches.iter().any(|fetch| collections[fetch.collection].role == Role::Carried) {
                        coverage.gate("carried value of a master");
                    }
                }
                if !meant.agrees(&given) {
                    return Err(self.differs(query, plan, &arguments, &meant, &given));
                }
            }
        }
        self.compare_asks(&maker, random, coverage)
    }

    /// Tuple queries, which plan for themselves.
    fn compare_asks(
        &self,
        maker: &Maker<'_>,
        random: &Random,
        coverage: &mut Coverage,
    ) -> Result<(), Failure> {
        let model = &self.schema.model;
        for ask in &model.workload.asks {
            let random = random.fork(&ask.header.name);
            let keys: Vec<Identity> = ask.keys.iter().map(|&class| maker.identity(class, &random)).collect();
            let meant = self.oracle.ask(model, ask, &keys, self.now).map_err(|error| error.to_string());
            let name = |class: &ClassId| model.conceptual.classes[*class].name.clone();
            let arguments: Arguments =
                ask.keys.iter().map(name).zip(keys.iter().cloned().map(Value::Reference)).collect();
            let given = match execute::ask(
                &KeyspaceRecords { schema: &self.schema, keyspace: &self.keyspace },
                ask,
                &arguments,
                self.now,
            ) {
                Ok(answer) => Ok(answer.rows),
                Err(RunError::NotYet(what)) => {
                    coverage.not_yet(what);
                    continue;
                }
                Err(error) => Err(error.to_string()),
            };
            if meant != given {
                let text = format!("{} with {keys:?} means {meant:?}, and is {given:?}", ask.header.name);
                return Err(self.fail("ask", text));
            }
        }
        Ok(())
    }

    /// The answer of a plan; of a query with PAGE, all pages one after the other, or the first ones of very many.
    fn given(&self, query: &Query, plan: &Plan, arguments: &Parameters) -> Answer {
        let arguments: Arguments = arguments.clone().into_iter().collect();
        let size = match query.limit {
            Some(Limit::Page(_)) => Some(()),
            Some(Limit::Rows(_)) | None => None,
        };
        let mut rows = Vec::new();
        let mut after = None;
        loop {
            let prepared = PreparedQuery::new(&self.schema, query, plan);
            let records = KeyspaceRecords { schema: &self.schema, keyspace: &self.keyspace };
            let run = prepared.run(&records, &arguments, self.now, after.as_ref());
            let pieces = piecewise::run(&prepared, &records, &arguments, self.now, after.as_ref());
            if pieces != run {
                return Answer::Failed(format!(
                    "{run:?} at once, and {pieces:?} from a source that lacks some"
                ));
            }
            if let Some(driven) = &self.driven {
                let driven = driven.run(&prepared, &arguments, self.now, after.as_ref());
                if driven != run {
                    return Answer::Failed(format!("{run:?} at once, and {driven:?} through a driver"));
                }
            }
            match run {
                Ok(answer) => {
                    let got = answer.rows.len();
                    rows.extend(answer.rows);
                    after = answer.next;
                    if after.is_none() {
                        return Answer::Rows(rows);
                    }
                    if rows.len() > MANY_ROWS {
                        return Answer::Beginning(rows);
                    }
                    if size.is_none() || got == 0 {
                        return Answer::Failed("a continuation where none can be".to_owned());
                    }
                }
                Err(RunError::NotYet(what)) => return Answer::NotYet(what),
                Err(RunError::WrongType { parameter, .. }) if parameter == "limit" => {
                    return Answer::BadLimit;
                }
                Err(RunError::OutOfRange { .. }) => return Answer::OutOfRange,
                Err(error) => return Answer::Failed(error.to_string()),
            }
        }
    }

    /// Ties at a LIMIT and misses of outer joins, which the rows of the answer do not show.
    fn look_closer(&self, query: &Query, arguments: &Parameters, rows: usize, coverage: &mut Coverage) {
        let grouped = !query.group_by.is_empty()
            || query.columns.iter().any(|column| matches!(column.value, ColumnValue::Aggregate(_)));
        let outer = query.positions.iter().any(|(_, position)| position.outer);
        let limited = matches!(query.limit, Some(Limit::Rows(_))) && !query.order_by.is_empty();
        let limited = limited && query.per_group.is_none();
        if grouped || rows == 0 || !(outer || limited) {
            return;
        }
        let columns = query.order_by.iter().filter_map(|term| match &term.by {
            OrderBy::Path(path) => {
                Some(Column { name: String::new(), value: ColumnValue::Path(path.clone()) })
            }
            OrderBy::Aggregate(_) => None,
        });
        let all = Query { columns: columns.collect(), per_group: None, limit: None, ..query.clone() };
        let mut arguments = arguments.clone();
        arguments.retain(|name, _| query.parameters.iter().any(|p| p.name == *name));
        let Ok(found) = self.oracle.identified(&self.schema.model, &all, &arguments, self.now) else {
            return;
        };
        if found.iter().any(|(identity, _)| identity.contains(&None)) {
            coverage.gate("LEFT JOIN miss");
        }
        if let (true, Some((_, last)), Some((_, next))) = (limited, found.get(rows - 1), found.get(rows))
            && last == next
        {
            coverage.gate("tie at the LIMIT cut");
        }
    }

    /// Groups that `LIMIT … PER` cuts, and what is on both sides of a cut.
    fn look_into_groups(&self, query: &Query, arguments: &Parameters, coverage: &mut Coverage) {
        let Some(per_group) = &query.per_group else { return };
        let most = match &per_group.rows {
            Operand::Constant(Constant::Int(rows)) => *rows,
            Operand::Parameter(index) => match arguments.get(&query.parameters[*index].name) {
                Some(Value::Int(rows)) if *rows > 0 => *rows,
                _bad => return,
            },
            Operand::Constant(_) | Operand::Path(_) => return,
        };
        let column = |path: &Path| Column { name: String::new(), value: ColumnValue::Path(path.clone()) };
        let order = query.order_by.iter().filter_map(|term| match &term.by {
            OrderBy::Path(path) => Some(column(path)),
            OrderBy::Aggregate(_) => None,
        });
        let columns = per_group.by.iter().map(column).chain(order).collect();
        let all = Query { columns, per_group: None, limit: None, ..query.clone() };
        let Ok(found) = self.oracle.identified(&self.schema.model, &all, arguments, self.now) else {
            return;
        };
        let mut groups: BTreeMap<&[Value], Vec<&[Value]>> = BTreeMap::new();
        for (_, row) in &found {
            let (group, order) = row.split_at(per_group.by.len());
            groups.entry(group).or_default().push(order);
        }
        for (group, rows) in groups {
            let Some(next) = usize::try_from(most).ok().and_then(|most| rows.get(most)) else { continue };
            coverage.gate("first per group");
            if group.iter().any(Value::is_null) {
                coverage.gate("cut of the null group");
            }
            if !query.order_by.is_empty() && rows.get(usize::try_from(most).unwrap() - 1) == Some(next) {
                coverage.gate("tie at the cut of a group");
            }
        }
    }

    fn differs(
        &self,
        query: &Query,
        plan: &Plan,
        arguments: &Parameters,
        meant: &Answer,
        given: &Answer,
    ) -> Failure {
        let model = &self.schema.model;
        let shown = |answer: &Answer| match answer {
            Answer::Rows(rows) => words::rows(&model.conceptual, rows),
            other => format!("    {other:?}\n"),
        };
        let printed = planner::print(model, &self.schema.design, query, plan);
        let collection = &self.schema.design.collections[plan.access.collection];
        let text = format!(
            "{} with {} means\n{}  but the plan gives\n{}  by\n{printed}  over {}",
            query.header.name,
            words::arguments(&model.conceptual, arguments),
            shown(meant),
            shown(given),
            words::collection(&model.conceptual, collection),
        );
        self.fail("query", text)
    }
}
