//! What is known not to work yet: counted and printed, and to be emptied.

use askloom_design::plan::{condition_paths, needed_paths};
use askloom_model::{
    Aggregate, AggregateFunction, ColumnValue, Conceptual, Contents, Id, Leaf, Limit, OrderBy, Path, Plan, PositionId, Query, Reading, RelationshipKind, Type, Write, WriteStep,
};
use askloom_store::Schema;

/// Why a plan is not compared.
pub(crate) fn known(schema: &Schema, query: &Query, plan: &Plan) -> Option<&'static str> {
    let conceptual = &schema.model.conceptual;
    let collection = &schema.design.collections[plan.access.collection];
    let copy = match collection.contents {
        Contents::Aggregate(_) => false,
        Contents::Fields(_) => true,
    };
    let asked = query.positions[PositionId::from_index(0)].class;
    if copy && asked != Some(collection.source.root) {
        return Some("known: a copy of a superclass for a query on a subclass");
    }
    let expires = conceptual.classes.iter().any(|(_, class)| class.ttl_ms.is_some());
    let keyed = match &plan.access.how {
        Reading::Range { equal, range, key, .. } => {
            !key.is_empty() || !equal.is_empty() || range.is_some() || plan.sort.is_none()
        }
        Reading::Scan | Reading::GetBlock { .. } | Reading::Each { .. } => false,
    };
    if copy && expires && keyed && collection.source.positions.len() + needed_paths(query).iter().filter(|p| !p.hops.is_empty()).count() > 1 {
        return Some("known: keys of what has expired");
    }
    let grouped = !query.group_by.is_empty()
        || query.columns.iter().any(|column| matches!(column.value, ColumnValue::Aggregate(_)));
    if grouped && matches!(query.limit, Some(Limit::Page(_))) {
        return Some("known: pages of groups");
    }
    let part = |leaf: &Leaf| match leaf {
        Leaf::Reference(end) => conceptual.ends[*end].kind == RelationshipKind::Composition,
        Leaf::Attribute(_) | Leaf::Itself => false,
    };
    if needed_paths(query).iter().any(|path| part(&path.leaf)) {
        return Some("known: a part as a value");
    }
    let list = |column: &ColumnValue| match column {
        ColumnValue::Path(path) => !is_single_leaf(conceptual, path.leaf),
        ColumnValue::Whole(_) | ColumnValue::Aggregate(_) => false,
    };
    if query.columns.iter().any(|column| list(&column.value)) {
        return Some("known: an empty list that is selected");
    }
    let across = |path: &askloom_model::Path| {
        let many = path.hops.iter().any(|&hop| conceptual.ends[hop].cardinality.is_many());
        many && is_single_leaf(conceptual, path.leaf)
    };
    if needed_paths(query).iter().any(across) {
        return Some("known: null at the end of a path across many");
    }
    if query.columns.iter().any(|column| matches!(&column.value, ColumnValue::Aggregate(a) if sums(conceptual, a)))
        || query.order_by.iter().any(|term| matches!(&term.by, OrderBy::Aggregate(a) if sums(conceptual, a)))
    {
        return Some("known: SUM of decimals, AVG of doubles");
    }
    None
}

fn is_single_leaf(conceptual: &Conceptual, leaf: Leaf) -> bool {
    match leaf {
        Leaf::Attribute(id) => !conceptual.attributes[id].list,
        Leaf::Reference(id) => !conceptual.ends[id].cardinality.is_many(),
        Leaf::Itself => true,
    }
}

fn sums(conceptual: &Conceptual, aggregate: &Aggregate) -> bool {
    let Some(Leaf::Attribute(id)) = aggregate.of.as_ref().map(|path| path.leaf) else {
        return matches!(aggregate.function, AggregateFunction::Sum | AggregateFunction::Avg);
    };
    let ty = &conceptual.attributes[id].ty;
    match aggregate.function {
        AggregateFunction::Sum => matches!(ty, Type::Decimal | Type::Long),
        AggregateFunction::Avg => matches!(ty, Type::Double | Type::Decimal),
        AggregateFunction::Count | AggregateFunction::Min | AggregateFunction::Max => false,
    }
}

/// Why a write is not done.
pub(crate) fn known_write(conceptual: &Conceptual, write: &Write) -> Option<&'static str> {
    write.steps.iter().find_map(|step| {
        let (class, condition) = match step {
            WriteStep::Insert { .. } | WriteStep::Upsert { .. } => return None,
            WriteStep::Update { class, condition, .. }
            | WriteStep::Delete { class, condition, .. }
            | WriteStep::Add { class, condition, .. }
            | WriteStep::Remove { class, condition, .. }
            | WriteStep::Connect { class, condition, .. }
            | WriteStep::Disconnect { class, condition, .. } => (*class, condition),
        };
        if conceptual.lineage(class).iter().any(|&c| conceptual.classes[c].owner.is_some()) {
            return Some("known: a write of a part");
        }
        let mut paths = Vec::new();
        condition.iter().for_each(|condition| condition_paths(condition, &mut paths));
        let across = |path: &Path| {
            let many = path.hops.iter().any(|&hop| conceptual.ends[hop].cardinality.is_many());
            many && is_single_leaf(conceptual, path.leaf)
        };
        let part = |path: &Path| match path.leaf {
            Leaf::Reference(end) => conceptual.ends[end].kind == RelationshipKind::Composition,
            Leaf::Attribute(_) | Leaf::Itself => false,
        };
        paths.iter().any(|path| across(path) || part(path)).then_some("known: a path in a write")
    })
}
