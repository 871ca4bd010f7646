//! How many instances a step of a write is expected to find.

use super::Planner;
use crate::cost::list_length;
use crate::planner::conjuncts::{Conjunct, conjuncts};
use crate::planner::key::{FieldBinding, bound_field};
use crate::planner::same::Same;
use askloom_model::{ClassId, Conceptual, Leaf, Member, Path, Plan, Query};

impl Planner<'_> {
    /// Whoever names an instance expects it to be there, and the rest of the condition to hold, as in `WHERE id = :id AND
    /// status = 'waiting'`: how often a write is done is in its rate. Without a name, the conditions select.
    pub(super) fn matched(&self, query: &Query, find: &Plan) -> f64 {
        self.named(query).unwrap_or_else(|| find.rows_out())
    }

    /// How many instances a condition names, by their ids or by values that no other has.
    fn named(&self, query: &Query) -> Option<f64> {
        let class = query.positions[crate::planner::main()].class?;
        let conjuncts = conjuncts(query.condition.as_ref());
        let names = names(&self.model.conceptual, class);
        let same = Same { conceptual: &self.model.conceptual, positions: &query.positions };
        names.iter().find_map(|name| name.iter().map(|&leaf| self.given(same, &conjuncts, leaf)).product())
    }

    /// How many values a condition gives a member of the main instance.
    fn given(&self, same: Same<'_>, conjuncts: &[Conjunct<'_>], leaf: Leaf) -> Option<f64> {
        let path = Path { position: crate::planner::main(), hops: Vec::new(), leaf };
        Some(match bound_field(same, conjuncts, &path)?.to {
            FieldBinding::Value(_) => 1.0,
            FieldBinding::Set(set) => list_length(&self.statistics, &set),
        })
    }
}

/// What tells an instance from all others: its id as a whole or member by member, each unique value.
fn names(conceptual: &Conceptual, class: ClassId) -> Vec<Vec<Leaf>> {
    let unique = conceptual.all_members(class).filter_map(|member| match member {
        Member::Attribute(id) => conceptual.attributes[id].unique.then_some(Leaf::Attribute(id)),
        Member::End(id) => {
            let end = &conceptual.ends[id];
            (end.unique && end.stored).then_some(Leaf::Reference(id))
        }
    });
    let ids = [vec![Leaf::Itself], crate::positions::identity_leaves(conceptual, class)];
    ids.into_iter().chain(unique.map(|leaf| vec![leaf])).collect()
}
