//! What is left to the client of a query.

use super::{Action, Client, How, Read, Step};
use crate::layout::{Layout, Shape};
use askloom_model::{
    Collection, ColumnValue, Conceptual, Contents, IndexKeys, Keeper, Leaf, Limit, Path, Plan, Position,
    PositionId, Query, Reading, Table,
};

/// What is left to do: what the plan says, and what comes of reading several times or whole aggregates.
pub(super) fn client(layout: &Layout, query: &Query, plan: &Plan, steps: &[Step]) -> Vec<Client> {
    let table = layout.table(plan.access.collection);
    let rows = table.is_some_and(|table| matches!(table.shape, Shape::Rows(_)));
    let groups = !plan.group_by.is_empty()
        || plan.columns.iter().any(|c| matches!(c.value, ColumnValue::Aggregate(_)));
    let limited = steps.iter().any(|step| match &step.action {
        Action::Read(Read { how: How::Range(range), .. }) => range.limit.is_some(),
        Action::Read(_) | Action::Change(_) => false,
    });
    let paged = matches!(query.limit, Some(Limit::Page(_)));
    let mut client = Vec::new();
    if steps.len() > 1 || !plan.joins.is_empty() || (!rows && query.positions.len() > 1) {
        client.push(Client::Join);
    }
    let filters = plan.all().any(|plan| plan.filter.is_some())
        || is_narrower(layout, &query.positions, plan)
        || gives_what_is_gone(layout, &query.positions, plan);
    if filters {
        client.push(Client::Filter);
    }
    if groups {
        client.push(Client::Group);
    }
    if plan.sort.is_some() && is_many(plan) {
        client.push(Client::Sort);
    }
    // Each of several ranges gives as many as are wanted in all.
    let several = matches!(plan.access.how, Reading::Each { .. });
    if query.limit.is_some() && is_many(plan) && (!limited || paged || several) {
        client.push(Client::Limit);
    }
    if !rows || gives_records(layout, plan, steps) {
        client.push(Client::Project);
    }
    client
}

/// Whether an index of the store's own gives the records that it leads to, all of them: columns that it does not hold
/// are read with it.
fn gives_records(layout: &Layout, plan: &Plan, steps: &[Step]) -> bool {
    let collection = &layout.design.collections[plan.access.collection];
    let position = plan.access.positions.first().copied().flatten();
    let held = |path: &Path| {
        Some(path.position) == position
            && collection.held().any(|own| own.hops == path.hops && own.leaf == path.leaf)
    };
    let lacks = |value: &ColumnValue| match value {
        ColumnValue::Path(path) => !held(path),
        ColumnValue::Whole(_) => true,
        ColumnValue::Aggregate(_) => false,
    };
    let alone = collection.keeper == Keeper::Store && steps.len() == 1;
    alone
        && plan.members_of_records(&layout.conceptual).is_none()
        && plan.columns.iter().any(|column| lacks(&column.value))
}

/// Whether rows of a copy are of more classes than are asked for.
pub(super) fn is_narrower(layout: &Layout, positions: &Table<PositionId, Position>, plan: &Plan) -> bool {
    let held = layout.design.collections[plan.access.collection].source.positions.iter();
    let mut pairs = held.zip(&plan.access.positions);
    pairs.any(|((_, own), asked)| asked.is_some_and(|asked| own.class != positions[asked].class))
}

/// Whether what is read tells itself that it is gone: aggregates that can expire, or that an index finds by a part of
/// their id, which those that were deleted have still.
fn gives_what_is_gone(layout: &Layout, positions: &Table<PositionId, Position>, plan: &Plan) -> bool {
    let conceptual = &layout.conceptual;
    let collection = &layout.design.collections[plan.access.collection];
    if keeps_the_deleted(layout, plan) {
        return true;
    }
    if leads(conceptual, collection, plan) || matches!(collection.contents, Contents::Aggregate(_)) {
        let mut classes = positions.iter().filter_map(|(_, row)| row.class);
        if classes.any(|class| conceptual.can_expire(class)) {
            return true;
        }
    }
    let is_id = |leaf: Leaf| match leaf {
        Leaf::Attribute(id) => conceptual.attributes[id].id,
        Leaf::Reference(id) => conceptual.ends[id].id,
        Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => false,
    };
    let stored = plan.priced.index_keys.and_then(|keys| keys.stored_for(conceptual, collection));
    let unordered = stored.is_some_and(|keys| IndexKeys::Stored(keys).gives_no_order());
    let mut keys = collection.block_key.iter().chain(&collection.entry_key);
    unordered && keys.any(|field| is_id(field.path.leaf))
}

/// Whether a range of aggregates is read among which deleted ones have left their versions. What is immutable is never
/// deleted.
pub(super) fn keeps_the_deleted(layout: &Layout, plan: &Plan) -> bool {
    let collection = &layout.design.collections[plan.access.collection];
    let range = matches!(plan.access.how.innermost(), Reading::Range { .. });
    collection.is_clustered() && range && !layout.conceptual.is_immutable(collection.source.root)
}

/// Whether the rows of a plan are found by an index that gives the records of their master.
pub(super) fn leads(conceptual: &Conceptual, collection: &Collection, plan: &Plan) -> bool {
    let keys = plan.priced.index_keys;
    keys.is_some_and(|keys| keys.stored_for(conceptual, collection).is_some())
}

/// One aggregate is in any order.
fn is_many(plan: &Plan) -> bool {
    !matches!(plan.access.how, Reading::GetBlock { .. }) || !plan.joins.is_empty()
}
