//! From the definition of a collection to its columns.

use super::{Column, Field, Holds, Parts, Place, Shape, Source, Table};
use crate::positions::each_value;
use crate::tree::{TreeOf, is_many};
use askloom_model::{
    ClassId, Collection, CollectionId, Conceptual, Contents, Hop, Id, KeyField, Leaf, Member, Path, Position,
    PositionId, Rule, RuleStep, Type, identity_types,
};
use std::collections::HashSet;

/// The table of a collection; of a master with what its records carry of others.
pub(super) fn table(
    conceptual: &Conceptual,
    id: CollectionId,
    collection: &Collection,
    carried: &[Path],
) -> Table {
    let mut build = Build { conceptual, collection, columns: Vec::new() };
    let shape = match &collection.contents {
        Contents::Aggregate(rules) => build.master(rules, carried),
        Contents::Fields(fields) => Shape::Rows(build.rows(fields)),
        Contents::Nested(nodes) => Shape::Nodes(build.nodes(&nodes.fields, &nodes.whole)),
    };
    let mut columns = build.columns;
    make_unique(&mut columns);
    Table {
        collection: id,
        name: collection.name.clone(),
        role: collection.role,
        columns,
        shape,
        shared: None,
    }
}

/// Names that are the same get a number.
fn make_unique(columns: &mut [Column]) {
    let mut taken = HashSet::new();
    for column in columns {
        let mut number = 2_usize;
        let wanted = column.name.clone();
        while !taken.insert(column.name.clone()) {
            column.name = format!("{wanted}_{number}");
            number += 1;
        }
    }
}

struct Build<'b> {
    conceptual: &'b Conceptual,
    collection: &'b Collection,
    columns: Vec<Column>,
}

impl Build<'_> {
    fn master(&mut self, rules: &[Rule], carried: &[Path]) -> Shape {
        let root = self.collection.source.root;
        if self.conceptual.is_keyed_by_identity(self.collection) {
            self.identity(main(), root, Place::Block, "", false);
        }
        let parts = self.keys();
        let identifier = &self.conceptual.classes[root].identifier;
        for member in every_member(self.conceptual, root) {
            if !identifier.contains(&member) && is_stored(self.conceptual, member) {
                let column = self.member(member);
                self.columns.push(column);
            }
        }
        let carried = carried.iter().map(|path| self.path(path, Place::Value)).collect();
        let entries = rules.iter().any(is_deeper);
        Shape::Master { entries, block: parts.block, sort: parts.sort, carried }
    }

    fn member(&self, member: Member) -> Column {
        let many = is_many(self.conceptual, member);
        let holds = match TreeOf::member(self.conceptual, member) {
            TreeOf::Basic(ty) if !many => Holds::Scalar(ty),
            of @ (TreeOf::Basic(_) | TreeOf::Instance(_)) => Holds::Tree { of, many },
            TreeOf::Identity(class) if !many => match identity_types(self.conceptual, class).as_slice() {
                [only] => Holds::Scalar(only.clone()),
                _several => Holds::Tree { of: TreeOf::Identity(class), many },
            },
            of @ TreeOf::Identity(_) => Holds::Tree { of, many },
        };
        Column {
            name: self.conceptual.member_name(member).to_owned(),
            place: Place::Value,
            source: Source::Member(member),
            holds,
            optional: true,
        }
    }

    fn rows(&mut self, fields: &[Path]) -> Parts {
        let mut parts = self.keys();
        for position in self.collection.source.positions.ids() {
            parts.row.push(self.position(position, Place::Row));
        }
        parts.values = fields.iter().map(|path| self.path(path, Place::Value)).collect();
        parts
    }

    fn nodes(&mut self, fields: &[Path], whole: &[PositionId]) -> Parts {
        let mut parts = self.keys();
        self.columns.push(Column {
            name: "node".to_owned(),
            place: Place::Row,
            source: Source::Node,
            holds: Holds::Scalar(Type::Text),
            optional: false,
        });
        for position in self.collection.source.positions.ids() {
            let columns = self.position(position, Place::Value);
            self.may_be_null(&columns);
            parts.row.push(columns);
        }
        for path in fields {
            let columns = self.path(path, Place::Value);
            self.may_be_null(&columns);
            parts.values.push(columns);
        }
        for &position in whole {
            parts.whole.push((position, self.columns.len()));
            let class = self.collection.source.positions[position].class;
            let of = TreeOf::Instance(class.unwrap_or(self.collection.source.root));
            let name = self.place_name(position, "itself");
            let holds = Holds::Tree { of, many: false };
            let source = Source::Whole(position);
            self.columns.push(Column { name, place: Place::Value, source, holds, optional: true });
        }
        parts
    }

    /// A node has the values of its own position alone.
    fn may_be_null(&mut self, field: &Field) {
        for &index in &field.columns {
            if let Some(column) = self.columns.get_mut(index).filter(|column| !column.is_key()) {
                column.optional = true;
            }
        }
    }

    fn keys(&mut self) -> Parts {
        let mut parts = Parts::default();
        for field in &self.collection.block_key {
            parts.block.push(self.path(&field.path, Place::Block));
        }
        for KeyField { path, descending } in &self.collection.entry_key {
            parts.sort.push(self.path(path, Place::Sort { descending: *descending }));
        }
        parts
    }

    /// The columns of a path, those that are there already included.
    fn path(&mut self, path: &Path, place: Place) -> Field {
        let name = self.path_name(path);
        let optional = self.is_optional(path);
        let position = &self.collection.source.positions[path.position];
        match path.leaf {
            Leaf::Attribute(id) => {
                let attribute = &self.conceptual.attributes[id];
                // The key of an index has one value of a list.
                let many = attribute.list && place == Place::Value;
                let ty = attribute.ty.clone();
                let holds =
                    if many { Holds::Tree { of: TreeOf::Basic(ty), many } } else { Holds::Scalar(ty) };
                plain(self.column(
                    Source::Path { path: path.clone(), part: None },
                    holds,
                    place,
                    name,
                    optional,
                ))
            }
            Leaf::Reference(end) => {
                let target = self.conceptual.ends[end].target;
                self.parts(path, target, place, &name, optional)
            }
            Leaf::Bucket(_) => {
                let source = Source::Path { path: path.clone(), part: None };
                plain(self.column(source, Holds::Scalar(Type::Int), place, name, optional))
            }
            Leaf::TimeBucket(..) => {
                let source = Source::Path { path: path.clone(), part: None };
                plain(self.column(source, Holds::Scalar(Type::Text), place, name, optional))
            }
            Leaf::Itself => match (position.from.map(|hop| hop.step), path.hops.last()) {
                (_, Some(&hop)) => self.parts(path, self.conceptual.ends[hop].target, place, &name, optional),
                (Some(Member::Attribute(id)), None) => {
                    let holds = Holds::Scalar(self.conceptual.attributes[id].ty.clone());
                    let source = Source::Path { path: path.clone(), part: None };
                    plain(self.column(source, holds, place, name, optional))
                }
                (Some(Member::End(_)) | None, None) => self.position(path.position, place),
            },
        }
    }

    /// A column for each part of an id that a path leads to.
    fn parts(&mut self, path: &Path, class: ClassId, place: Place, name: &str, optional: bool) -> Field {
        let types = named_identity(self.conceptual, class);
        let single = types.len() == 1;
        let mut columns = Vec::with_capacity(types.len());
        for (index, (part, ty)) in types.into_iter().enumerate() {
            let name = if single { name.to_owned() } else { format!("{name}.{part}") };
            let source = Source::Path { path: path.clone(), part: Some(index) };
            columns.push(self.column(source, Holds::Scalar(ty), place, name, optional));
        }
        Field { columns, identity: true }
    }

    /// The columns that identify what stands at a position.
    fn position(&mut self, position: PositionId, place: Place) -> Field {
        let row = &self.collection.source.positions[position];
        let optional = is_outer(&self.collection.source.positions, position);
        let source = Source::Position { position, part: None };
        match (row.class, row.from) {
            (Some(class), _) if self.conceptual.classes[class].kind.is_entity() => {
                let above = self.place_name(position, "");
                self.identity(position, class, place, &above, optional)
            }
            (_, Some(Hop { step, .. })) if holds_inside(self.conceptual, step) => {
                let name = self.place_name(position, "index");
                plain(self.column(source, Holds::Ordinal, place, name, optional))
            }
            (_, _) => {
                let name = self.place_name(position, "place");
                plain(self.column(source, Holds::Locator, place, name, optional))
            }
        }
    }

    fn identity(
        &mut self,
        position: PositionId,
        class: ClassId,
        place: Place,
        above: &str,
        optional: bool,
    ) -> Field {
        let parts = named_identity(self.conceptual, class).into_iter().enumerate();
        let columns = parts.map(|(index, (name, ty))| {
            let name = if above.is_empty() { name } else { format!("{above}.{name}") };
            let source = Source::Position { position, part: Some(index) };
            self.column(source, Holds::Scalar(ty), place, name, optional)
        });
        Field { columns: columns.collect(), identity: true }
    }

    /// The column of a source: the one that is there, or a new one.
    fn column(&mut self, source: Source, holds: Holds, place: Place, name: String, optional: bool) -> usize {
        let source = self.plainest(source);
        let same = |column: &Column| column.source == source && column.holds == holds;
        if let Some(index) = self.columns.iter().position(same) {
            return index;
        }
        self.columns.push(Column { name, place, source, holds, optional });
        self.columns.len() - 1
    }

    /// A member of the identifier is a part of what identifies the position.
    fn plainest(&self, source: Source) -> Source {
        let Source::Path { path, part } = &source else { return source };
        let class = self.collection.source.positions[path.position].class;
        let Some(class) = class.filter(|_| path.hops.is_empty()) else { return source };
        let member = match path.leaf {
            Leaf::Attribute(id) => Member::Attribute(id),
            Leaf::Reference(id) => Member::End(id),
            Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => return source,
        };
        let own = (member, part.unwrap_or(0));
        let found = identifier_parts(self.conceptual, class).iter().position(|part| *part == own);
        if let Some(part) = found {
            return Source::Position { position: path.position, part: Some(part) };
        }
        source
    }

    fn is_optional(&self, path: &Path) -> bool {
        let optional = match path.leaf {
            Leaf::Attribute(id) => self.conceptual.attributes[id].optional,
            Leaf::Reference(id) => self.conceptual.ends[id].cardinality.min == 0,
            Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => false,
        };
        // What a reference names may not be there, and a subclass may have what its parent does not.
        let position = &self.collection.source.positions[path.position];
        let owned = match path.leaf {
            Leaf::Attribute(id) => Some(self.conceptual.attributes[id].class),
            Leaf::Reference(id) => Some(self.conceptual.ends[id].class),
            Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => None,
        };
        let always = owned
            .is_none_or(|owner| position.class.is_some_and(|class| self.conceptual.is_kind_of(class, owner)));
        let each = each_value(self.conceptual, self.collection);
        let each = each.and_then(|at| self.collection.block_key.get(at));
        let indexed = each.is_some_and(|field| field.path == *path);
        let outer = is_outer(&self.collection.source.positions, path.position);
        !indexed && (optional || outer || !path.hops.is_empty() || !always)
    }

    fn place_name(&self, position: PositionId, last: &str) -> String {
        let mut steps = steps(self.conceptual, &self.collection.source.positions, position);
        if !last.is_empty() {
            steps.push(last.to_owned());
        }
        steps.join(".")
    }

    fn path_name(&self, path: &Path) -> String {
        let conceptual = self.conceptual;
        let mut steps = steps(conceptual, &self.collection.source.positions, path.position);
        steps.extend(path.hops.iter().map(|&hop| conceptual.ends[hop].name.clone()));
        match path.leaf {
            Leaf::Attribute(id) => steps.push(conceptual.attributes[id].name.clone()),
            Leaf::Reference(id) => steps.push(conceptual.ends[id].name.clone()),
            Leaf::Itself if steps.is_empty() => steps.push("id".to_owned()),
            Leaf::Itself => {}
            Leaf::Bucket(_) => steps.push("bucket".to_owned()),
            Leaf::TimeBucket(_, unit) => steps.push(unit.name().to_owned()),
        }
        steps.join(".")
    }
}

fn steps(
    conceptual: &Conceptual,
    positions: &askloom_model::Table<PositionId, Position>,
    position: PositionId,
) -> Vec<String> {
    match positions[position].from {
        None => Vec::new(),
        Some(Hop { parent, step }) => {
            let mut steps = steps(conceptual, positions, parent);
            steps.push(conceptual.member_name(step).to_owned());
            steps
        }
    }
}

/// One column with one value.
fn plain(column: usize) -> Field {
    Field { columns: vec![column], identity: false }
}

/// The first position of every tree.
pub(super) fn main() -> PositionId {
    PositionId::from_index(0)
}

/// The names and types of the parts of an id.
pub fn named_identity(conceptual: &Conceptual, class: ClassId) -> Vec<(String, Type)> {
    let types = identity_types(conceptual, class);
    let mut names = Vec::new();
    identity_names(conceptual, class, "", 0, &mut names);
    names.into_iter().zip(types).collect()
}

/// The member that each part of an id comes from, and which part of what the member refers to it is.
pub fn identifier_parts(conceptual: &Conceptual, class: ClassId) -> Vec<(Member, usize)> {
    let identifier = &conceptual.classes[class].identifier;
    let parts = |&member: &Member| {
        let length = match member {
            Member::Attribute(_) => 1,
            Member::End(id) => identity_types(conceptual, conceptual.ends[id].target).len(),
        };
        (0..length).map(move |part| (member, part))
    };
    identifier.iter().flat_map(parts).collect()
}

fn identity_names(
    conceptual: &Conceptual,
    class: ClassId,
    above: &str,
    depth: usize,
    names: &mut Vec<String>,
) {
    let row = &conceptual.classes[class];
    let below = |name: &str| if above.is_empty() { name.to_owned() } else { format!("{above}.{name}") };
    if row.surrogate || depth > askloom_model::MAX_NESTING {
        return names.push(below("id"));
    }
    for member in &row.identifier {
        match *member {
            Member::Attribute(id) => names.push(below(&conceptual.attributes[id].name)),
            Member::End(id) => {
                let end = &conceptual.ends[id];
                identity_names(conceptual, end.target, &below(&end.name), depth + 1, names);
            }
        }
    }
}

fn is_outer(positions: &askloom_model::Table<PositionId, Position>, position: PositionId) -> bool {
    let row = &positions[position];
    row.outer || row.from.is_some_and(|hop| is_outer(positions, hop.parent))
}

/// Whether what a step leads to is inside the aggregate that it starts from.
fn holds_inside(conceptual: &Conceptual, step: Member) -> bool {
    match step {
        Member::Attribute(_) => true,
        Member::End(id) => conceptual.ends[id].stored,
    }
}

/// Derived ends are not part of an aggregate.
pub(super) fn is_stored(conceptual: &Conceptual, member: Member) -> bool {
    match member {
        Member::Attribute(_) => true,
        Member::End(id) => conceptual.ends[id].stored,
    }
}

/// Members of a class and of all that extend it.
pub(super) fn every_member(conceptual: &Conceptual, class: ClassId) -> Vec<Member> {
    let mut members: Vec<Member> = conceptual.all_members(class).collect();
    let mut open = conceptual.classes[class].subclasses.clone();
    while let Some(below) = open.pop() {
        members.extend(conceptual.classes[below].members.iter().copied());
        open.extend(conceptual.classes[below].subclasses.iter().copied());
    }
    members
}

/// Whether a rule makes entries of anything but the root and its members.
fn is_deeper(rule: &Rule) -> bool {
    match rule.steps.as_slice() {
        [] | [RuleStep::Field { each: false, .. } | RuleStep::AnyField { each: false }] => false,
        _deeper => true,
    }
}
