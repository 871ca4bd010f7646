//! A design by two rules: one aggregate collection for each root class, and one view for each query that those
//! cannot answer by key. What keeping the views right needs besides, the indexes from a referred instance back to
//! those that refer to it, is added.

use crate::plan::{self, conjuncts, is_single, needed_paths};
use crate::upkeep::unused;
use crate::{declared, partition, upkeep};
use askloom_model::{
    ClassId, Collection, Comparison, Conceptual, Condition, Contents, Design, Id, Joining, Keeper, KeyField,
    Leaf, Member, Model, Operand, OrderBy, Origin, Path, Position, PositionId, Query, Reading,
    RelationshipKind, Representation, Role, Rule, Source, Table,
};

/// The design.
#[must_use]
pub fn design(model: &Model) -> Design {
    let mut design = Design { method: "simple".to_owned(), collections: Table::default() };
    masters(model, Origin::Method, &mut design);
    for query in &model.workload.queries {
        let by_key = plan::plan(&model.conceptual, &design, query).is_some_and(|plan| is_by_key(&plan));
        if !by_key {
            design.collections.push(view(model, query));
        }
    }
    upkeep::add_indexes(model, &mut design);
    design
}

fn is_by_key(plan: &askloom_model::Plan) -> bool {
    plan.all().all(|plan| {
        let access = match plan.access.how {
            Reading::GetBlock { .. } | Reading::Range { .. } | Reading::Each { .. } => true,
            Reading::Scan => false,
        };
        let joins = plan.joins.iter().all(|join| match join.how {
            // The index of part ids is added below, whatever the queries are.
            Joining::Inside
            | Joining::LookUp { .. }
            | Joining::PartByIndex { .. }
            | Joining::PartByScan { .. } => true,
            Joining::Back { .. } | Joining::BackByScan { .. } => false,
        });
        access && joins
    })
}

/// One collection of whole aggregates for each root class that has none yet.
pub fn masters(model: &Model, origin: Origin, design: &mut Design) {
    let conceptual = &model.conceptual;
    for class in conceptual.classes.ids().filter(|&class| conceptual.aggregate_root(class) == Some(class)) {
        if design.master(class).is_none() {
            let declared = declared::master_of(model, class);
            let name = declared.map_or(&conceptual.classes[class].name, |declared| &declared.name);
            let name = unused(design, name.clone());
            design.collections.push(master(model, class, name, origin));
        }
    }
}

/// The source of truth for a root class, with the key that the model declares for it, split by the representation that
/// the model gives.
pub(crate) fn master(model: &Model, class: ClassId, name: String, origin: Origin) -> Collection {
    let main = PositionId::from_index(0);
    let key = |leaf| KeyField { path: Path { position: main, hops: Vec::new(), leaf }, descending: false };
    let rules =
        in_force(model, class).unwrap_or_else(|| vec![partition::Strategy::PerAggregate.rule(Some(class))]);
    let master = Collection {
        name: name.clone(),
        role: Role::Master,
        origin,
        keeper: Keeper::Ours,
        source: Source { root: class, positions: only_main(class), condition: None },
        block_key: identity_leaves(&model.conceptual, class).into_iter().map(key).collect(),
        entry_key: Vec::new(),
        contents: Contents::Aggregate(rules),
        reasons: vec!["Every root class has one collection that is the source of truth.".to_owned()],
    };
    match declared::master_of(model, class) {
        Some(declared) => declared::keyed(declared, name, master),
        None => master,
    }
}

/// What identifies an instance: the members of its identifier, or what Askloom makes.
pub(crate) fn identity_leaves(conceptual: &Conceptual, class: ClassId) -> Vec<Leaf> {
    let leaf = |&member: &Member| match member {
        Member::Attribute(id) => Leaf::Attribute(id),
        Member::End(id) => Leaf::Reference(id),
    };
    match conceptual.classes[class].identifier.as_slice() {
        [] => vec![Leaf::Itself],
        members => members.iter().map(leaf).collect(),
    }
}

pub(crate) fn leaf_name(conceptual: &Conceptual, leaf: Leaf) -> String {
    match leaf {
        Leaf::Attribute(id) => conceptual.attributes[id].name.clone(),
        Leaf::Reference(id) => conceptual.ends[id].name.clone(),
        Leaf::Itself => "id".to_owned(),
        Leaf::Bucket(_) => "bucket".to_owned(),
        Leaf::TimeBucket(id, unit) => format!("{}({})", unit.name(), conceptual.attributes[id].name),
    }
}

/// What a row can hold of an instance itself: its values, its lists of values, and what it refers to.
pub(crate) fn own_fields(conceptual: &Conceptual, position: PositionId, class: ClassId) -> Vec<Path> {
    let members = conceptual.all_members(class).filter_map(|member| match member {
        Member::Attribute(id) => Some(Leaf::Attribute(id)),
        Member::End(id) if conceptual.ends[id].stored => Some(Leaf::Reference(id)),
        Member::End(_) => None,
    });
    let path = |leaf| Path { position, hops: Vec::new(), leaf };
    members.map(path).filter(|path| is_held(conceptual, path)).collect()
}

/// The representation of a class if the model has exactly one.
fn in_force(model: &Model, class: ClassId) -> Option<Vec<Rule>> {
    match representations(model, class).as_slice() {
        [only] => only.rules.clone(),
        [] | [_, ..] => None,
    }
}

/// A representation that the model gives for a class.
pub(crate) struct Represented<'m> {
    pub(crate) name: &'m str,
    /// Rules that would lose something are no representation; the check of the model says so.
    pub(crate) rules: Option<Vec<Rule>>,
}

/// The representations of a class: its own, or, if it has none of its own, those for every class.
pub(crate) fn representations(model: &Model, class: ClassId) -> Vec<Represented<'_>> {
    let conceptual = &model.conceptual;
    let is_about = |rule: &Rule| rule.class.is_none_or(|of| conceptual.is_kind_of(of, class));
    let (own, general): (Vec<_>, Vec<_>) = model
        .representations
        .iter()
        .filter(|representation| representation.class.is_none_or(|of| of == class))
        .filter(|representation| representation.rules.iter().any(is_about))
        .partition(|representation| representation.class.is_some());
    let given = |representation: &'_ Representation| {
        let rules: Vec<Rule> = representation.rules.iter().filter(|rule| is_about(rule)).cloned().collect();
        partition::legal(conceptual, class, &rules).is_ok().then_some(rules)
    };
    let candidates = if own.is_empty() { general } else { own };
    candidates.into_iter().map(|found| Represented { name: &found.name, rules: given(found) }).collect()
}

pub(crate) fn only_main(class: ClassId) -> Table<PositionId, Position> {
    let mut positions = Table::default();
    positions.push(Position { class: Some(class), from: None, outer: false, alias: None });
    positions
}

/// Positions with the classes that their links lead to: a tuple query may ask for less, and then filters.
pub(crate) fn as_linked(
    conceptual: &Conceptual,
    positions: &Table<PositionId, Position>,
) -> Table<PositionId, Position> {
    let mut positions = positions.clone();
    for id in positions.ids() {
        if let Some(Member::End(end)) = positions[id].from.map(|hop| hop.step) {
            positions[id].class = Some(conceptual.ends[end].target);
        }
    }
    positions
}

/// The view that answers a query with one request: equality fields make the block, then order or range fields,
/// then the identity.
#[must_use]
pub fn view(model: &Model, query: &Query) -> Collection {
    let conceptual = &model.conceptual;
    let main = PositionId::from_index(0);
    let reduced = plan::reduced(conceptual, query);
    let query = reduced.as_ref().unwrap_or(query);
    let Given { block_key, range, fixed } = given(conceptual, query);
    let entry_key = entry_key(conceptual, query, &block_key, range);
    let taken: Vec<Path> = block_key.iter().chain(&entry_key).map(|field| field.path.clone()).collect();
    let fields = view_fields(conceptual, query, &taken);
    Collection {
        name: format!("{}View", capitalised(&query.header.name)),
        role: Role::Copy,
        origin: Origin::Method,
        keeper: Keeper::Ours,
        source: Source {
            root: query.positions[main].class.unwrap_or_else(|| ClassId::from_index(0)),
            positions: as_linked(conceptual, &query.positions),
            condition: all_of(fixed),
        },
        block_key,
        entry_key,
        contents: Contents::Fields(fields),
        reasons: vec![format!("The query {} cannot be answered by the key of a master.", query.header.name)],
    }
}

/// What a view holds beside its key: all that the query needs and that does not follow from the rest.
fn view_fields(conceptual: &Conceptual, query: &Query, taken: &[Path]) -> Vec<Path> {
    let itself = |path: &Path| path.leaf == Leaf::Itself && path.hops.is_empty();
    let identity = query.identity.iter().filter(|path| !itself(path)).cloned();
    let mut fields: Vec<Path> = needed_paths(query)
        .into_iter()
        .filter(|path| is_held_at(conceptual, &query.positions, path))
        .collect();
    for path in identity.filter(|path| is_held(conceptual, path)) {
        let components = conceptual.identity_components(&path).unwrap_or_default();
        let follows = !components.is_empty() && components.iter().all(|part| fields.contains(part));
        if !follows && !fields.contains(&path) {
            fields.push(path);
        }
    }
    fields.retain(|path| {
        let parts = conceptual.identity_parts(path);
        !taken.contains(path) && !parts.iter().any(|part| taken.contains(&part.of))
    });
    fields
}

/// What the condition of a query gives a view.
#[derive(Default)]
struct Given {
    /// What has one value.
    block_key: Vec<KeyField>,
    /// The first of what is within bounds.
    range: Option<Path>,
    /// What is the same whatever the parameters are: other rows need not be there.
    fixed: Vec<Condition>,
}

fn given(conceptual: &Conceptual, query: &Query) -> Given {
    let mut given = Given::default();
    let is_single_key = |path: &&Path| is_key(conceptual, path) && is_single(conceptual, path);
    for conjunct in conjuncts(query.condition.as_ref()) {
        let condition = conjunct.condition;
        if let Some(path) = equality(condition).filter(is_single_key) {
            push_key(&mut given.block_key, &conceptual.same_identity(path), false);
        }
        given.range = given.range.or_else(|| range(condition).filter(is_single_key).cloned());
        if is_fixed(conceptual, condition) {
            given.fixed.push(condition.clone());
        }
    }
    given
}

/// Whether a view can keep to the rows of a condition.
fn is_fixed(conceptual: &Conceptual, condition: &Condition) -> bool {
    let held = |path: &Path| is_single(conceptual, path) && is_held(conceptual, path);
    !has_parameter(condition) && !is_about_tree(condition) && condition.paths().into_iter().all(held)
}

/// What is within bounds, then what the query is ordered by.
fn entry_key(
    conceptual: &Conceptual,
    query: &Query,
    block_key: &[KeyField],
    range: Option<Path>,
) -> Vec<KeyField> {
    let mut key: Vec<KeyField> = Vec::new();
    if let Some(path) = range {
        let by = OrderBy::Path(path.clone());
        let descending = query.order_by.iter().any(|term| term.descending && term.by == by);
        push_key(&mut key, &path, descending);
    }
    for term in &query.order_by {
        if let OrderBy::Path(path) = &term.by
            && is_key(conceptual, path)
        {
            let path = conceptual.same_identity(path);
            if block_key.iter().all(|field| field.path != path) {
                push_key(&mut key, &path, false);
            }
        }
    }
    key
}

/// Several conditions as one.
pub(crate) fn all_of(mut conditions: Vec<Condition>) -> Option<Condition> {
    match conditions.len() {
        0 | 1 => conditions.pop(),
        _several => Some(Condition::And(conditions)),
    }
}

pub(crate) fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn push_key(key: &mut Vec<KeyField>, path: &Path, descending: bool) {
    if key.iter().all(|field| field.path != *path) {
        key.push(KeyField { path: path.clone(), descending });
    }
}

/// Whether values of the path have an order, so that they can stand in a key.
pub(crate) fn is_key(conceptual: &Conceptual, path: &Path) -> bool {
    match path.leaf {
        Leaf::Attribute(id) => conceptual.attributes[id].ty.is_ordered(),
        Leaf::Reference(id) => conceptual.ends[id].kind != RelationshipKind::Composition,
        Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => true,
    }
}

/// Whether rows of these positions can hold the path. A value object as a whole is not a plain value.
pub(crate) fn is_held_at(
    conceptual: &Conceptual,
    positions: &Table<PositionId, Position>,
    path: &Path,
) -> bool {
    let class = positions[path.position].class.filter(|_| path.leaf == Leaf::Itself && path.hops.is_empty());
    let whole_value = class.is_some_and(|class| !conceptual.classes[class].kind.is_entity());
    !whole_value && is_held(conceptual, path)
}

/// Whether a view can hold the path: one value a row, along to-one hops.
pub(crate) fn is_held(conceptual: &Conceptual, path: &Path) -> bool {
    path.hops.iter().all(|&hop| !conceptual.ends[hop].cardinality.is_many())
        && match path.leaf {
            Leaf::Attribute(_) | Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => true,
            Leaf::Reference(id) => {
                !conceptual.ends[id].cardinality.is_many()
                    && conceptual.ends[id].kind != RelationshipKind::Composition
            }
        }
}

/// The path that a condition gives one value.
pub(crate) fn equality(condition: &Condition) -> Option<&Path> {
    let Condition::Compare { left, op: Comparison::Equal, right } = condition else { return None };
    match (left, right) {
        (Operand::Path(path), Operand::Constant(_) | Operand::Parameter(_))
        | (Operand::Constant(_) | Operand::Parameter(_), Operand::Path(path)) => Some(path),
        (_, _) => None,
    }
}

/// The path that a condition gives a choice of values.
pub(crate) fn membership(condition: &Condition) -> Option<&Path> {
    if let Condition::In { value: Operand::Path(path), .. } = condition { Some(path) } else { None }
}

/// The path that a condition gives bounds.
fn range(condition: &Condition) -> Option<&Path> {
    if let Condition::Compare { left: Operand::Path(path), op, right } = condition {
        let ranges = !matches!(op, Comparison::Equal | Comparison::NotEqual);
        return (ranges && !matches!(right, Operand::Path(_))).then_some(path);
    }
    if let Condition::Between { value: Operand::Path(path), .. }
    | Condition::StartsWith { value: Operand::Path(path), .. } = condition
    {
        return Some(path);
    }
    None
}

/// Whether a condition is about all ancestors of an instance: a copy that depended on it could not be kept.
fn is_about_tree(condition: &Condition) -> bool {
    match condition {
        Condition::And(terms) | Condition::Or(terms) => terms.iter().any(is_about_tree),
        Condition::Not(inner) | Condition::Negated(inner) => is_about_tree(inner),
        Condition::Under { .. } | Condition::Above { .. } => true,
        Condition::Compare { .. }
        | Condition::Between { .. }
        | Condition::In { .. }
        | Condition::StartsWith { .. }
        | Condition::IsNull { .. }
        | Condition::Matches { .. }
        | Condition::Within { .. }
        | Condition::InBox { .. } => false,
    }
}

pub(crate) fn has_parameter(condition: &Condition) -> bool {
    let parameter = |operand: &Operand| matches!(operand, Operand::Parameter(_));
    match condition {
        Condition::And(terms) | Condition::Or(terms) => terms.iter().any(has_parameter),
        Condition::Not(inner) | Condition::Negated(inner) => has_parameter(inner),
        Condition::Compare { left, right, .. } => parameter(left) || parameter(right),
        Condition::Between { value, low, high } | Condition::InBox { value, low, high } => {
            parameter(value) || parameter(low) || parameter(high)
        }
        Condition::In { value, set } => {
            parameter(value)
                || match set {
                    askloom_model::InSet::List(items) => items.iter().any(parameter),
                    askloom_model::InSet::Parameter(_) => true,
                }
        }
        Condition::StartsWith { value, prefix: other }
        | Condition::Matches { value, words: other }
        | Condition::Under { value, of: other }
        | Condition::Above { value, of: other } => parameter(value) || parameter(other),
        Condition::IsNull { value } => parameter(value),
        Condition::Within { value, km, of } => parameter(value) || parameter(km) || parameter(of),
    }
}
