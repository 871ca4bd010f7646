//! Collections that could serve a query: the view that answers it with one request, and what is less than that.

use crate::method::complete;
use crate::simple;
use askloom_model::{
    ClassId, Collection, Condition, Contents, Id, KeyField, Leaf, Model, Nodes, Operand, Path, Position,
    PositionId, Query, Role, Table,
};
use askloom_plan::nested_is_exact;
use askloom_plan::planner;

/// The view of a query, and views that do a part of what it does; and what leads to its rows, where what they lead to can
/// be found first.
pub(super) fn of_query(model: &Model, query: &Query) -> Vec<Collection> {
    let reduced = planner::reduced(&model.conceptual, query);
    let query = reduced.as_ref().unwrap_or(query);
    let full = view(model, query, &format!("{} is answered by it.", query.header.name));
    let every = unconditioned(&full);
    let mut all = vec![full.clone(), every.clone()];
    for view in [&full, &every] {
        all.extend(shorter(view));
        all.extend(orders(view));
        all.extend(blocks(view));
        all.extend(identity(view));
    }
    all.extend(by_lists(model, query, &full));
    all.extend(by_lists(model, query, &every));
    all.extend(whole(model, query, &full));
    all.extend(whole(model, query, &every));
    let deep: Vec<Collection> = all.iter().flat_map(|view| ids(model, view)).collect();
    all.extend(deep);
    all.extend(complete::indexes_of_lists(model, query));
    all.extend(of_splits(model, query));
    all.retain(|view| !view.source.positions.is_empty());
    all
}

/// For each way to find first what rows lead to: the ids of that, and the rows by such an id.
fn of_splits(model: &Model, query: &Query) -> Vec<Collection> {
    let asked = &query.header.name;
    let mut all = Vec::new();
    for split in planner::splits(&model.conceptual, query) {
        let class = split.first.positions[planner::main()].class;
        let class = class.map_or("", |class| &model.conceptual.classes[class].name);
        let rows =
            view(model, &split.for_one(), &format!("{asked} finds {class} first, then its rows by it."));
        let rows =
            Collection { name: format!("{}By{class}", askloom_plan::naming::capitalised(asked)), ..rows };
        all.extend(ids(model, &rows));
        all.extend([unconditioned(&rows), rows]);
        let first = view(model, &split.first, &format!("{asked} finds {class} by it."));
        let first =
            Collection { name: format!("{class}Of{}", askloom_plan::naming::capitalised(asked)), ..first };
        all.extend(ids(model, &first));
        all.push(first);
        all.extend(of_splits(model, &split.first));
    }
    all
}

/// The rows of a query by what it gives, in its order.
fn view(model: &Model, query: &Query, reason: &str) -> Collection {
    let view = simple::view(model, query);
    let mut fields = view.fields().to_vec();
    for position in planner::needs_whole(query) {
        let class = query.positions[position].class;
        let leaves = class.and_then(|class| model.conceptual.plain_members(class)).unwrap_or_default();
        for path in leaves.into_iter().map(|leaf| Path { position, hops: Vec::new(), leaf }) {
            let key = view.block_key.iter().chain(&view.entry_key).any(|field| field.path == path);
            if !key && !fields.contains(&path) {
                fields.push(path);
            }
        }
    }
    Collection { reasons: vec![reason.to_owned()], contents: Contents::Fields(fields), ..view }
}

/// With the rows that a constant leaves out: others may want them.
fn unconditioned(view: &Collection) -> Collection {
    let source = askloom_model::Source { condition: None, ..view.source.clone() };
    Collection { source, ..view.clone() }
}

/// Without what is beyond references, which a second look-up brings; and without the last positions, which are joined.
fn shorter(view: &Collection) -> Vec<Collection> {
    let mut all = Vec::new();
    if let Contents::Fields(fields) = &view.contents {
        let own: Vec<Path> = fields.iter().filter(|path| path.hops.is_empty()).cloned().collect();
        if own.len() < fields.len() {
            all.push(Collection { contents: Contents::Fields(own), ..view.clone() });
        }
    }
    let mut shorter = view.clone();
    while let Some(less) = without_last(&shorter) {
        all.push(less.clone());
        shorter = less;
    }
    all
}

/// The rows without their last position and the order that it brings, if nothing else in the key and no condition is about
/// it. What it leaves out is joined, and put in order, by the client.
fn without_last(view: &Collection) -> Option<Collection> {
    let count = view.source.positions.len();
    let last = PositionId::from_index(count.checked_sub(1).filter(|&last| last > 0)?);
    let condition = view.source.condition.as_ref();
    let mut entry_key = view.entry_key.clone();
    while entry_key.pop_if(|field| field.path.position == last).is_some() {}
    let keys = view.block_key.iter().chain(&entry_key).map(|field| &field.path);
    let used = keys.chain(condition.map(askloom_model::Condition::paths).unwrap_or_default());
    if used.into_iter().any(|path| path.position == last) {
        return None;
    }
    let positions: Table<PositionId, Position> = {
        let mut positions = Table::default();
        for (_, position) in view.source.positions.iter().take(count - 1) {
            positions.push(position.clone());
        }
        positions
    };
    let Contents::Fields(fields) = &view.contents else { return None };
    let fields = fields.iter().filter(|path| path.position != last).cloned().collect();
    let source = askloom_model::Source { positions, ..view.source.clone() };
    Some(Collection { source, entry_key, contents: Contents::Fields(fields), ..view.clone() })
}

/// With less of an order: what is left out is sorted, or filtered, by the client.
fn orders(view: &Collection) -> Vec<Collection> {
    let with = |entry_key: Vec<KeyField>| {
        let dropped = view.entry_key.iter().filter(|field| !entry_key.contains(field));
        let mut fields = view.fields().to_vec();
        for field in dropped.filter(|field| !fields.contains(&field.path)).collect::<Vec<_>>() {
            fields.push(field.path.clone());
        }
        Collection { entry_key, contents: Contents::Fields(fields), ..view.clone() }
    };
    let mut all = Vec::new();
    if !view.entry_key.is_empty() && !view.block_key.is_empty() {
        all.push(with(Vec::new()));
    }
    if view.entry_key.len() > 1 {
        all.extend(view.entry_key.iter().take(1).map(|first| with(vec![first.clone()])));
        all.push(with(view.entry_key.iter().skip(1).cloned().collect()));
    }
    all
}

/// With one value in the block key alone: the others come first in the entry key.
fn blocks(view: &Collection) -> Vec<Collection> {
    if view.block_key.len() < 2 {
        return Vec::new();
    }
    let one = |at: usize| {
        let mut entry_key: Vec<KeyField> = Vec::new();
        for (other, field) in view.block_key.iter().enumerate() {
            if other != at {
                entry_key.push(field.clone());
            }
        }
        entry_key.extend(view.entry_key.iter().cloned());
        let block_key = view.block_key.get(at).cloned().into_iter().collect();
        Collection { block_key, entry_key, ..view.clone() }
    };
    (0..view.block_key.len()).map(one).collect()
}

/// By the identity of the row's root: who has found it elsewhere gets the rest here.
fn identity(view: &Collection) -> Option<Collection> {
    let itself = Path { position: PositionId::from_index(0), hops: Vec::new(), leaf: Leaf::Itself };
    let mut fields = view.fields().to_vec();
    for field in view.block_key.iter().chain(&view.entry_key) {
        if !fields.contains(&field.path) {
            fields.push(field.path.clone());
        }
    }
    (!fields.is_empty()).then(|| Collection {
        block_key: vec![KeyField { path: itself, descending: false }],
        entry_key: Vec::new(),
        contents: Contents::Fields(fields),
        ..view.clone()
    })
}

/// With what is one of a list in the block key: a block is read for each value.
fn by_lists(model: &Model, query: &Query, view: &Collection) -> Option<Collection> {
    let conceptual = &model.conceptual;
    let listed = planner::conjuncts(query.condition.as_ref()).into_iter().filter_map(|conjunct| {
        let Condition::In { value: Operand::Path(path), .. } = conjunct.condition else { return None };
        let key = askloom_plan::positions::is_key(conceptual, path) && planner::is_single(conceptual, path);
        key.then(|| path.clone())
    });
    let known = |path: &Path| view.block_key.iter().any(|field| field.path == *path);
    let listed = listed.map(|path| conceptual.same_identity(&path));
    let listed: Vec<Path> = listed.filter(|path| !known(path)).collect();
    if listed.is_empty() {
        return None;
    }
    let entry_key = view.entry_key.iter().filter(|field| !listed.contains(&field.path)).cloned().collect();
    let fields = view.fields().iter().filter(|path| !listed.contains(path)).cloned().collect();
    let mut block_key = view.block_key.clone();
    block_key.extend(listed.into_iter().map(|path| KeyField { path, descending: false }));
    Some(Collection { block_key, entry_key, contents: Contents::Fields(fields), ..view.clone() })
}

/// With the aggregates that the query asks for as a whole: as nodes, which have no order.
fn whole(model: &Model, query: &Query, view: &Collection) -> Option<Collection> {
    let whole = planner::needs_whole(query);
    let conceptual = &model.conceptual;
    let classes: Option<Vec<ClassId>> = whole.iter().map(|&at| query.positions[at].class).collect();
    let classes = classes?;
    // What is no more than its values a row can hold, in order.
    let plain = classes.iter().all(|&class| conceptual.plain_members(class).is_some());
    if plain || !classes.iter().all(|&class| conceptual.is_aggregate(class)) {
        return None;
    }
    let sorted = view.entry_key.iter().map(|field| &field.path);
    let inside = |path: &&Path| whole.contains(&path.position) && path.hops.is_empty();
    let fields = sorted.chain(view.fields()).filter(|path| !inside(path)).cloned().collect();
    let nodes = Collection {
        name: renamed(&view.name, "Wholes"),
        entry_key: Vec::new(),
        contents: Contents::Nested(Nodes { fields, whole }),
        ..view.clone()
    };
    nested_is_exact(conceptual, &nodes).then_some(nodes)
}

/// Ids alone: what is asked for is looked up.
fn ids(model: &Model, view: &Collection) -> Option<Collection> {
    let name = renamed(&view.name, "Ids");
    let index =
        Collection { name, role: Role::Index, contents: Contents::Fields(Vec::new()), ..view.clone() };
    let index = complete::as_index(model, index);
    (!view.fields().is_empty()).then_some(index)
}

/// The name of a view with another ending, which says what it is instead.
pub(super) fn renamed(name: &str, ending: &str) -> String {
    let bare = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let bare = ["View", "Ids"].into_iter().find_map(|old| bare.strip_suffix(old)).unwrap_or(bare);
    format!("{bare}{ending}")
}
