//! The part of a plan's filter and order that a store can evaluate on the columns of one table.

use super::bind::{Given, fitted, from};
use super::{Bounds, Term};
use crate::layout::{Field, Holds, Shape, Table};
use askloom_model::{ColumnValue, Comparison, Condition, Id, Operand, OrderBy, Path, Plan};

/// A filter and an order that a store may evaluate instead of the client. The client evaluates them as well, so that the
/// answer is the same if the store ignores them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Pushdown {
    /// Every record that the client keeps satisfies all of these.
    pub predicates: Vec<ColumnPredicate>,
    /// The columns that the client sorts by, and whether each descends.
    pub order: Vec<(usize, bool)>,
}

/// A predicate on one column.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ColumnPredicate {
    Equal(Term),
    Between(Box<Bounds>),
}

/// The predicates and the order of a plan that only need columns of the table it reads first. `None` if there are none.
pub(super) fn pushdown(given: Given<'_>, plan: &Plan) -> Option<Pushdown> {
    let id = plan.access.collection;
    let table = given.layout.table(id)?;
    let columns = Columns { given, plan, table };
    let mut pushdown = Pushdown::default();
    if let Some(filter) = &plan.filter {
        columns.collect(filter, &mut pushdown.predicates);
    }
    // The client sorts after it joins and groups, so that the store's order would be lost.
    let grouped = !plan.group_by.is_empty()
        || plan.columns.iter().any(|column| matches!(column.value, ColumnValue::Aggregate(_)));
    let sort = plan.sort.iter().filter(|_| plan.joins.is_empty() && !grouped).flatten();
    let order: Option<Vec<(usize, bool)>> = sort
        .map(|term| match &term.by {
            OrderBy::Path(path) => Some((columns.of(path)?, term.descending)),
            _other => None,
        })
        .collect();
    pushdown.order = order.unwrap_or_default();
    (pushdown != Pushdown::default()).then_some(pushdown)
}

struct Columns<'c> {
    given: Given<'c>,
    plan: &'c Plan,
    table: &'c Table,
}

impl Columns<'_> {
    /// The column that holds a path of the query as a plain value. A reference also holds the id of its target.
    fn of(&self, path: &Path) -> Option<usize> {
        let reference = self.given.layout.conceptual.same_identity(path);
        self.held(path).or_else(|| self.held(&reference))
    }

    fn held(&self, path: &Path) -> Option<usize> {
        let Shape::Rows(parts) = &self.table.shape else { return None };
        let collection = &self.given.layout.design.collections[self.table.collection];
        let fields = parts.block.iter().chain(&parts.sort).chain(&parts.values);
        let same = |held: &Path| {
            let position = self.plan.access.positions.get(held.position.index()).copied().flatten();
            position == Some(path.position) && held.hops == path.hops && held.leaf == path.leaf
        };
        let (_, field): (&Path, &Field) = collection.held().zip(fields).find(|(held, _)| same(held))?;
        let [column] = field.columns.as_slice() else { return None };
        let holds = &self.table.columns.get(*column)?.holds;
        (!matches!(holds, Holds::Tree { .. })).then_some(*column)
    }

    /// Adds the conjuncts that a single column decides.
    fn collect(&self, condition: &Condition, predicates: &mut Vec<ColumnPredicate>) {
        match condition {
            Condition::And(all) => all.iter().for_each(|one| self.collect(one, predicates)),
            Condition::Compare { left: Operand::Path(path), op, right } => {
                predicates.extend(self.compared(path, *op, right));
            }
            Condition::Compare { left, op, right: Operand::Path(path) } => {
                predicates.extend(self.compared(path, op.turned(), left));
            }
            Condition::Between { value: Operand::Path(path), low, high } => {
                predicates.extend(self.bounds(path, |bounds, term| {
                    bounds.low = Some((term(low)?, true));
                    bounds.high = Some((term(high)?, true));
                    Some(())
                }))
            }
            Condition::StartsWith { value: Operand::Path(path), prefix } => {
                predicates.extend(self.bounds(path, |bounds, term| {
                    bounds.prefix = Some(term(prefix)?);
                    Some(())
                }));
            }
            // A single column does not decide these.
            Condition::Or(_)
            | Condition::Not(_)
            | Condition::Negated(_)
            | Condition::Compare { .. }
            | Condition::Between { .. }
            | Condition::In { .. }
            | Condition::StartsWith { .. }
            | Condition::IsNull { .. }
            | Condition::Matches { .. }
            | Condition::Under { .. }
            | Condition::Above { .. }
            | Condition::Within { .. }
            | Condition::InBox { .. } => {}
        }
    }

    fn compared(&self, path: &Path, op: Comparison, right: &Operand) -> Option<ColumnPredicate> {
        let side = |inclusive: bool, low: bool| {
            self.bounds(path, |bounds, term| {
                let side = if low { &mut bounds.low } else { &mut bounds.high };
                *side = Some((term(right)?, inclusive));
                Some(())
            })
        };
        match op {
            Comparison::Equal => Some(ColumnPredicate::Equal(self.term(self.of(path)?, right)?)),
            Comparison::NotEqual => None,
            Comparison::Less => side(false, false),
            Comparison::LessOrEqual => side(true, false),
            Comparison::Greater => side(false, true),
            Comparison::GreaterOrEqual => side(true, true),
        }
    }

    fn bounds(
        &self,
        path: &Path,
        fill: impl Fn(&mut Bounds, &dyn Fn(&Operand) -> Option<Term>) -> Option<()>,
    ) -> Option<ColumnPredicate> {
        let column = self.of(path)?;
        let mut bounds = Bounds { column, low: None, high: None, prefix: None };
        fill(&mut bounds, &|operand| self.term(column, operand))?;
        Some(ColumnPredicate::Between(Box::new(bounds)))
    }

    /// The operand as a value of the column. The client compares null, and values that do not fit the column.
    fn term(&self, column: usize, operand: &Operand) -> Option<Term> {
        if matches!(operand, Operand::Path(_)) {
            return None;
        }
        let holds = &self.table.columns.get(column)?.holds;
        let value = self.given.value(operand);
        if let Some(value) = &value {
            let fits = match holds {
                Holds::Scalar(ty) => askloom_model::typed::basic(value, ty).is_some(),
                Holds::Ordinal | Holds::Locator | Holds::Tree { .. } => false,
            };
            if !fits {
                return None;
            }
        }
        let value = value.map(|value| fitted(holds, value));
        let name = self.given.name(self.table, &[column], operand).into();
        Some(Term { name, from: from(operand), value, column: Some(column) })
    }
}
