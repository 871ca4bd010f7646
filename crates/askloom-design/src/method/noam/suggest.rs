//! What queries want of other aggregates. NoAM has no copies; whether one is worth its upkeep is a person's decision.

use super::{AGGREGATES, listed};
use crate::method::{Decision, complete};
use askloom_model::{
    ColumnValue, Conceptual, EndId, Leaf, Member, Model, PositionId, Query, RelationshipKind,
};
use askloom_plan::planner;
use std::collections::{BTreeMap, BTreeSet};

/// More fields than these are no longer a few.
const FEW: usize = 3;

/// For each link to one other instance of which a query needs a few fields: that they are looked up each time.
pub(super) fn decisions(model: &Model) -> Vec<Decision> {
    complete::questions(model).iter().flat_map(|query| suggested(model, query)).collect()
}

fn suggested(model: &Model, query: &Query) -> Vec<Decision> {
    let conceptual = &model.conceptual;
    let whole: BTreeSet<EndId> = query
        .columns
        .iter()
        .filter_map(|column| match column.value {
            ColumnValue::Whole(position) => link(conceptual, query, position, &[]),
            ColumnValue::Path(_) | ColumnValue::Aggregate(_) => None,
        })
        .collect();
    let mut wanted: BTreeMap<EndId, Vec<String>> = BTreeMap::new();
    for path in planner::needed_paths(query) {
        let Some(end) = link(conceptual, query, path.position, &path.hops) else { continue };
        let member = match path.leaf {
            Leaf::Attribute(id) => Member::Attribute(id),
            Leaf::Reference(id) => Member::End(id),
            Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => continue,
        };
        // The reference says the id already.
        if conceptual.classes[conceptual.ends[end].target].identifier.contains(&member) {
            continue;
        }
        let names = wanted.entry(end).or_default();
        let name = format!("`{}`", conceptual.member_name(member));
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let few = wanted.into_iter().filter(|(end, names)| names.len() <= FEW && !whole.contains(end));
    few.map(|(end, names)| {
        let row = &conceptual.ends[end];
        let says = format!(
            "always needs {} across `{}`: a copy in {} would save looking up {}, and every write of {} would have to \
             bring it after",
            listed(&names),
            row.name,
            conceptual.classes[row.class].name,
            conceptual.classes[row.target].name,
            listed(&names),
        );
        Decision::new(&query.header.name, says, AGGREGATES)
    })
    .collect()
}

/// The last stored reference to one on the way to a position and along hops from it, if what follows it stays in the
/// aggregate there.
fn link(conceptual: &Conceptual, query: &Query, position: PositionId, hops: &[EndId]) -> Option<EndId> {
    let mut steps: Vec<Member> = hops.iter().rev().map(|&hop| Member::End(hop)).collect();
    let mut current = position;
    // Parents come before what hangs on them.
    while let Some(hop) = query.positions[current].from.filter(|hop| hop.parent < current) {
        steps.push(hop.step);
        current = hop.parent;
    }
    let outside = steps.into_iter().find_map(|step| match step {
        Member::End(end) if conceptual.ends[end].kind != RelationshipKind::Composition => Some(end),
        Member::End(_) | Member::Attribute(_) => None,
    })?;
    let row = &conceptual.ends[outside];
    (row.stored && !row.cardinality.is_many()).then_some(outside)
}
