//! What a filter says about single columns.

use super::bind::{Given, fitted, from};
use super::{Bounds, Kept, Known, Term};
use crate::layout::{Field, Holds, Shape, Table};
use askloom_model::{ColumnValue, Comparison, Condition, Id, Operand, OrderBy, Path, Plan};

/// What is true of every row that the plan keeps, as far as a column can tell.
pub(super) fn kept(given: Given<'_>, plan: &Plan) -> Option<Kept> {
    let id = plan.access.collection;
    let table = given.layout.table(id)?;
    let columns = Columns { given, plan, table };
    let mut kept = Kept::default();
    if let Some(filter) = &plan.filter {
        columns.known(filter, &mut kept.known);
    }
    // Rows that several others are joined to are sorted afterwards, and so are groups.
    let grouped = !plan.group_by.is_empty()
        || plan.columns.iter().any(|column| matches!(column.value, ColumnValue::Aggregate(_)));
    let sort = plan.sort.iter().filter(|_| plan.joins.is_empty() && !grouped).flatten();
    let order: Option<Vec<(usize, bool)>> = sort
        .map(|term| match &term.by {
            OrderBy::Path(path) => Some((columns.of(path)?, term.descending)),
            _other => None,
        })
        .collect();
    kept.order = order.unwrap_or_default();
    (kept != Kept::default()).then_some(kept)
}

struct Columns<'c> {
    given: Given<'c>,
    plan: &'c Plan,
    table: &'c Table,
}

impl Columns<'_> {
    /// The column of a path of the query, if it is a plain value. The id of what a reference names may be the reference.
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

    fn known(&self, condition: &Condition, known: &mut Vec<Known>) {
        match condition {
            Condition::And(all) => all.iter().for_each(|one| self.known(one, known)),
            Condition::Compare { left: Operand::Path(path), op, right } => {
                known.extend(self.compared(path, *op, right));
            }
            Condition::Compare { left, op, right: Operand::Path(path) } => {
                known.extend(self.compared(path, op.turned(), left));
            }
            Condition::Between { value: Operand::Path(path), low, high } => {
                known.extend(self.bounds(path, |bounds, term| {
                    bounds.low = Some((term(low)?, true));
                    bounds.high = Some((term(high)?, true));
                    Some(())
                }))
            }
            Condition::StartsWith { value: Operand::Path(path), prefix } => {
                known.extend(self.bounds(path, |bounds, term| {
                    bounds.prefix = Some(term(prefix)?);
                    Some(())
                }));
            }
            // Of these a single column does not tell.
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

    fn compared(&self, path: &Path, op: Comparison, right: &Operand) -> Option<Known> {
        let side = |inclusive: bool, low: bool| {
            self.bounds(path, |bounds, term| {
                let side = if low { &mut bounds.low } else { &mut bounds.high };
                *side = Some((term(right)?, inclusive));
                Some(())
            })
        };
        match op {
            Comparison::Equal => Some(Known::Equal(self.term(self.of(path)?, right)?)),
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
    ) -> Option<Known> {
        let column = self.of(path)?;
        let mut bounds = Bounds { column, low: None, high: None, prefix: None };
        fill(&mut bounds, &|operand| self.term(column, operand))?;
        Some(Known::Between(Box::new(bounds)))
    }

    /// A value of the column. What fits none is left to the client, as is null.
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
