//! Algorithm 1: the fields of a query's collection; algorithm 2: those of several in one.

use super::merge::Group;
use super::{Logical, LogicalCollection, LogicalField};
use askloom_model::{
    Cardinality, ClassId, ColumnValue, Conceptual, Condition, EndId, Hop, Id, Leaf, Member, OrderBy, Path,
    Position, PositionId, Query, Table,
};

/// A collection under construction.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) name: String,
    pub(super) queries: Vec<String>,
    pub(super) root: ClassId,
    pub(super) positions: Table<PositionId, Position>,
    pub(super) fields: Vec<Field>,
}

#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) path: Path,
    /// With the alias of its position.
    pub(super) name: String,
    /// Without.
    pub(super) bare: String,
    pub(super) sorted: bool,
    pub(super) searched: bool,
}

/// What a path means, whatever its positions are called: the steps from the root, and what is there.
pub(super) type Meaning = (Vec<Member>, Leaf);

impl Draft {
    /// Fields are those of SELECT, then of WHERE, then of GROUP BY and ORDER BY, each once.
    pub(super) fn new(conceptual: &Conceptual, query: &Query) -> Self {
        let mut draft = Self {
            name: query.header.name.clone(),
            queries: vec![query.header.name.clone()],
            root: query.positions[PositionId::from_index(0)].class.unwrap_or_else(|| ClassId::from_index(0)),
            positions: askloom_plan::positions::as_linked(conceptual, &query.positions),
            fields: Vec::new(),
        };
        for column in &query.columns {
            match &column.value {
                ColumnValue::Path(path) => draft.add(conceptual, path),
                ColumnValue::Aggregate(aggregate) => {
                    aggregate.of.iter().for_each(|path| draft.add(conceptual, path));
                }
                ColumnValue::Whole(position) => {
                    let class = query.positions[*position].class;
                    let fields =
                        class.map(|class| askloom_plan::positions::own_fields(conceptual, *position, class));
                    fields.into_iter().flatten().for_each(|path| draft.add(conceptual, &path));
                }
            }
        }
        for path in query.condition.iter().flat_map(Condition::paths) {
            draft.add(conceptual, path);
            draft.mark(path, |field| field.searched = true);
        }
        query.group_by.iter().chain(query.per_group_paths()).for_each(|path| draft.add(conceptual, path));
        for term in &query.order_by {
            if let OrderBy::Path(path) = &term.by {
                draft.add(conceptual, path);
                draft.mark(path, |field| field.sorted = true);
            }
        }
        draft
    }

    /// The identity of a position is the key of every row, and no field.
    fn add(&mut self, conceptual: &Conceptual, path: &Path) {
        let class = self.positions[path.position].class;
        let is_entity = class.is_some_and(|class| conceptual.classes[class].kind.is_entity());
        let is_identity = path.leaf == Leaf::Itself && path.hops.is_empty() && is_entity;
        if is_identity || self.fields.iter().any(|field| field.path == *path) {
            return;
        }
        let bare = askloom_plan::naming::leaf_name(conceptual, path.leaf);
        let mut steps = position_name(conceptual, &self.positions, path.position);
        steps.extend(path.hops.iter().map(|&hop| conceptual.ends[hop].name.clone()));
        steps.push(bare.clone());
        let name = steps.join(".");
        self.fields.push(Field { path: path.clone(), name, bare, sorted: false, searched: false });
    }

    fn mark(&mut self, path: &Path, set: impl Fn(&mut Field)) {
        self.fields.iter_mut().filter(|field| field.path == *path).for_each(set);
    }

    pub(super) fn names(&self, which: impl Fn(&Field) -> bool) -> Vec<&str> {
        self.fields.iter().filter(|field| which(field)).map(|field| field.name.as_str()).collect()
    }

    /// The steps from the root to a position.
    pub(super) fn steps(&self, position: PositionId) -> Vec<Member> {
        match self.positions[position].from {
            None => Vec::new(),
            Some(hop) => {
                let mut steps = self.steps(hop.parent);
                steps.push(hop.step);
                steps
            }
        }
    }

    pub(super) fn meaning(&self, path: &Path) -> Meaning {
        let mut steps = self.steps(path.position);
        steps.extend(path.hops.iter().map(|&hop| Member::End(hop)));
        (steps, path.leaf)
    }

    /// The collections of a group as one: all fields, all flags. Positions that not all of them have are joined outer
    /// and come last.
    pub(super) fn merged(conceptual: &Conceptual, drafts: &[Self], group: &Group) -> Self {
        let members: Vec<&Self> = group.iter().filter_map(|&at| drafts.get(at)).collect();
        let [first, others @ ..] = members.as_slice() else { return Self::nothing() };
        if others.is_empty() {
            return (*first).clone();
        }
        let mut places = Places::default();
        for draft in &members {
            places.take_in(draft);
        }
        let positions = places.positions(conceptual, members.len());
        let mut merged = Self {
            name: members.iter().map(|draft| draft.name.as_str()).collect::<Vec<_>>().join("_"),
            queries: members.iter().flat_map(|draft| draft.queries.clone()).collect(),
            root: first.root,
            positions,
            fields: Vec::new(),
        };
        for draft in members {
            for field in &draft.fields {
                merged.take_in(draft, field);
            }
        }
        merged
    }

    fn take_in(&mut self, from: &Self, field: &Field) {
        let meaning = from.meaning(&field.path);
        let known = self.fields.iter().position(|known| self.meaning(&known.path) == meaning);
        if let Some(known) = known.and_then(|at| self.fields.get_mut(at)) {
            known.sorted |= field.sorted;
            known.searched |= field.searched;
            return;
        }
        let steps = from.steps(field.path.position);
        let Some(position) = self.positions.ids().find(|&position| self.steps(position) == steps) else {
            return;
        };
        let taken = self.fields.iter().filter(|known| known.name == field.name).count();
        let name = if taken == 0 { field.name.clone() } else { format!("{}{}", field.name, taken + 1) };
        self.fields.push(Field { path: Path { position, ..field.path.clone() }, name, ..field.clone() });
    }

    fn nothing() -> Self {
        Self {
            name: String::new(),
            queries: Vec::new(),
            root: ClassId::from_index(0),
            positions: Table::default(),
            fields: Vec::new(),
        }
    }

    /// As the paper prints it.
    pub(super) fn logical(&self, conceptual: &Conceptual) -> LogicalCollection {
        let field = |field: &Field| LogicalField {
            name: field.name.clone(),
            ty: type_name(conceptual, field.path.leaf),
            sorted: field.sorted,
            searched: field.searched,
        };
        LogicalCollection {
            name: self.name.clone(),
            key: format!("{}_id", self.name),
            fields: self.fields.iter().map(field).collect(),
            queries: self.queries.clone(),
        }
    }
}

impl Logical {
    /// A collection by its name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&LogicalCollection> {
        self.collections.iter().find(|collection| collection.name == name)
    }
}

/// The positions of several collections: the way to each, and how many have it.
#[derive(Default)]
struct Places {
    found: Vec<(Vec<Member>, Position, usize)>,
}

impl Places {
    fn take_in(&mut self, draft: &Draft) {
        for (id, position) in draft.positions.iter() {
            let steps = draft.steps(id);
            match self.found.iter_mut().find(|(known, _, _)| *known == steps) {
                Some((_, known, count)) => {
                    known.outer |= position.outer;
                    *count += 1;
                }
                None => self.found.push((steps, position.clone(), 1)),
            }
        }
    }

    fn positions(mut self, conceptual: &Conceptual, members: usize) -> Table<PositionId, Position> {
        self.found.sort_by_key(|(_, _, count)| *count < members);
        let mut placed: Vec<Vec<Member>> = Vec::new();
        let mut positions = Table::default();
        for (steps, position, count) in self.found {
            let parent = steps.split_last().and_then(|(&step, above)| {
                let parent = placed.iter().position(|known| known == above)?;
                Some(Hop { parent: PositionId::from_index(parent), step })
            });
            let outer = position.outer || count < members;
            debug_assert!(count == members || parent.is_none_or(|hop| is_one(conceptual, hop.step)));
            positions.push(Position { from: parent, outer, ..position });
            placed.push(steps);
        }
        positions
    }
}

/// Whether a step leads to exactly one.
pub(super) fn is_one(conceptual: &Conceptual, step: Member) -> bool {
    match step {
        Member::End(end) => conceptual.ends[end].cardinality == Cardinality::ONE,
        Member::Attribute(_) => false,
    }
}

/// A position as a query would call it; the main entity by no name.
fn position_name(
    conceptual: &Conceptual,
    positions: &Table<PositionId, Position>,
    position: PositionId,
) -> Vec<String> {
    let Position { from, alias, .. } = &positions[position];
    match (from, alias) {
        (None, _) => Vec::new(),
        (Some(_), Some(alias)) => vec![alias.clone()],
        (Some(hop), None) => {
            let mut steps = position_name(conceptual, positions, hop.parent);
            steps.push(conceptual.member_name(hop.step).to_owned());
            steps
        }
    }
}

fn type_name(conceptual: &Conceptual, leaf: Leaf) -> String {
    let reference = |end: EndId| format!("id of {}", conceptual.classes[conceptual.ends[end].target].name);
    match leaf {
        Leaf::Attribute(id) => conceptual.attributes[id].ty.to_string(),
        Leaf::Reference(end) => reference(end),
        Leaf::Itself => "id".to_owned(),
        Leaf::Bucket(_) | Leaf::TimeBucket(..) => "bucket".to_owned(),
    }
}
