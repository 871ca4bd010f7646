//! Aggregates as the records of a master's block, and back.

use super::build::main;
use super::{Column, Holds, Layout, Shape, Source, Table};
use crate::program::Expires;
use crate::tree::{Tree, TreeOf, class_named, is_many, tree, value_from_json};
use askloom_model::{
    AccessPath, AccessStep, ClassId, Conceptual, Identity, Member, Record, Value, ValueError,
};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// The block of an aggregate: what the system keeps about it, its fields, and the entries of their own.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    pub identity: Identity,
    pub version: u64,
    /// What else the system keeps, as bytes.
    pub system: Vec<u8>,
    pub fields: Fields,
    /// By where they belong.
    pub entries: BTreeMap<AccessPath, Value>,
    /// What the record carries of others, a value for each path of the design; nothing where the aggregate is gone.
    pub carried: Vec<Value>,
    /// When it does, if it expires. Of one that was read from a store, the system's part says it.
    pub expires: Option<Expires>,
}

/// The members of the root that are in its own record. None where only the system's part is left.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fields {
    pub root: Option<Record>,
}

impl Block {
    /// From the entries of an aggregate by the rules of its master: what belongs to the root or is one of its members
    /// becomes fields.
    #[must_use]
    pub fn new(
        identity: Identity,
        version: u64,
        system: Vec<u8>,
        conceptual: &Conceptual,
        class: ClassId,
        pieces: BTreeMap<AccessPath, Value>,
    ) -> Self {
        let mut root: Option<Record> = None;
        let mut entries = BTreeMap::new();
        let mut members = Vec::new();
        for (path, value) in pieces {
            match (path.0.as_slice(), value) {
                ([], Value::Record(record)) => root = Some(*record),
                ([AccessStep::Field(name)], value) => members.push((name.clone(), value)),
                (_, value) => {
                    entries.insert(path, value);
                }
            }
        }
        if !members.is_empty() {
            let record = root.get_or_insert_with(|| Record::new(class));
            for (name, value) in members {
                let found = conceptual.all_members(record.class).find(|&m| conceptual.member_name(m) == name);
                if let Some(member) = found {
                    record.set(member, value);
                }
            }
        }
        let fields = Fields { root };
        Self { identity, version, system, fields, entries, carried: Vec::new(), expires: None }
    }

    /// All entries of the aggregate: the root with its members, then the others. Joining them gives the aggregate.
    #[must_use]
    pub fn pieces(&self) -> BTreeMap<AccessPath, Value> {
        let mut pieces = self.entries.clone();
        if let Some(root) = &self.fields.root {
            pieces.insert(AccessPath::default(), Value::Record(Box::new(root.clone())));
        }
        pieces
    }
}

impl Layout {
    /// The cells of the record of a block: its key, its members, and what it carries.
    #[must_use]
    pub fn block_cells(&self, table: &Table, block: &Block) -> Vec<Value> {
        let root = self.design.collections[table.collection].source.root;
        let bucket = |column: &Column| {
            let (component, unit) = column.time_bucket(&self.conceptual, root)?;
            Some(unit.of_value(block.identity.get(component)?))
        };
        let cell = |column: &Column| match &column.source {
            Source::Position { part: Some(part), .. } => {
                block.identity.get(*part).cloned().unwrap_or(Value::Null)
            }
            Source::Member(member) => {
                block.fields.root.as_ref().map_or(Value::Null, |root| root.get(*member).clone())
            }
            Source::Path { .. } => bucket(column).unwrap_or(Value::Null),
            Source::Position { .. } | Source::Node | Source::Whole(_) => Value::Null,
        };
        let mut cells: Vec<Value> = table.columns.iter().map(cell).collect();
        if let Shape::Master { carried, .. } = &table.shape {
            table.put(carried, &block.carried, &mut cells);
        }
        cells
    }

    /// What the record of a block carries of others, from its cells. Without a root the aggregate is gone.
    pub fn carried(&self, table: &Table, cells: &[Value], fields: &Fields) -> Result<Vec<Value>, ValueError> {
        match &table.shape {
            Shape::Master { carried, .. } if fields.root.is_some() => table.take(carried, cells),
            Shape::Master { .. } | Shape::Rows(_) | Shape::Nodes(_) => Ok(Vec::new()),
        }
    }

    /// The name of a class.
    #[must_use]
    pub fn name_of(&self, class: ClassId) -> &str {
        &self.conceptual.classes[class].name
    }

    /// The name of the class, for an instance of a subclass.
    #[must_use]
    pub fn class_name(&self, table: &Table, block: &Block) -> Option<&str> {
        let declared = self.design.collections[table.collection].source.root;
        let class = block.fields.root.as_ref()?.class;
        (class != declared).then(|| self.conceptual.classes[class].name.as_str())
    }

    /// The root of an aggregate from its cells.
    pub fn root(
        &self,
        table: &Table,
        cells: &[Value],
        class: Option<&str>,
    ) -> Result<(Identity, Record), ValueError> {
        let declared = self.design.collections[table.collection].source.root;
        let class = match class {
            Some(name) => class_named(&self.conceptual, declared, name)?,
            None => declared,
        };
        let mut record = Record::new(class);
        for (column, cell) in table.columns.iter().zip(cells) {
            match &column.source {
                Source::Member(member) => record.set(*member, self.member_value(column, cell)),
                Source::Path { .. } | Source::Position { .. } | Source::Node | Source::Whole(_) => {}
            }
        }
        let identity: Identity =
            table.identity_columns().into_iter().filter_map(|at| cells.get(at).cloned()).collect();
        self.set_identifier(&mut record, &identity);
        Ok((identity, record))
    }

    fn member_value(&self, column: &Column, cell: &Value) -> Value {
        let refers = match column.source {
            Source::Member(Member::End(end)) => {
                matches!(TreeOf::member(&self.conceptual, Member::End(end)), TreeOf::Identity(_))
            }
            Source::Member(Member::Attribute(_))
            | Source::Path { .. }
            | Source::Position { .. }
            | Source::Node
            | Source::Whole(_) => false,
        };
        match (&column.holds, cell) {
            (Holds::Scalar(_), Value::Null) => Value::Null,
            (Holds::Scalar(_), Value::Reference(parts)) => Value::Reference(parts.clone()),
            (Holds::Scalar(_), single) if refers => Value::Reference(vec![single.clone()]),
            (_, cell) => cell.clone(),
        }
    }

    fn set_identifier(&self, record: &mut Record, identity: &Identity) {
        let class = &self.conceptual.classes[record.class];
        if class.surrogate {
            if let [Value::Uuid(id)] = identity.as_slice() {
                record.surrogate = Some(*id);
            }
            return;
        }
        let mut rest = identity.iter();
        for &member in &class.identifier {
            let value = match member {
                Member::Attribute(_) => rest.next().cloned(),
                Member::End(id) => {
                    let target = self.conceptual.ends[id].target;
                    let length = askloom_model::identity_types(&self.conceptual, target).len();
                    Some(Value::Reference(rest.by_ref().take(length).cloned().collect()))
                }
            };
            if let Some(value) = value {
                record.set(member, value);
            }
        }
    }

    /// The value of an entry of its own as a tree.
    #[must_use]
    pub fn entry_tree(&self, table: &Table, path: &AccessPath, value: &Value) -> Tree {
        match self.at(table, path) {
            Some((of, _)) => tree(&self.conceptual, &of, value),
            None => Tree::Nothing,
        }
    }

    /// The value of an entry of its own from the JSON of data files.
    pub fn entry_value(&self, table: &Table, path: &AccessPath, json: &Json) -> Result<Value, ValueError> {
        let (of, many) = self.at(table, path).ok_or_else(|| ValueError(format!("there is no `{path}`")))?;
        value_from_json(&self.conceptual, &of, many, json)
    }

    /// What is at a path of an aggregate, and whether there are several.
    pub fn at(&self, table: &Table, path: &AccessPath) -> Option<(TreeOf, bool)> {
        let root = self.design.collections[table.collection].source.positions[main()].class;
        let mut classes = vec![root?];
        let mut found = None;
        for step in &path.0 {
            match step {
                AccessStep::Field(name) => {
                    let member = self.member_named(&classes, name)?;
                    let of = TreeOf::member(&self.conceptual, member);
                    classes = match of {
                        TreeOf::Instance(class) | TreeOf::Identity(class) => vec![class],
                        TreeOf::Basic(_) => Vec::new(),
                    };
                    found = Some((of, is_many(&self.conceptual, member)));
                }
                AccessStep::Element(_) | AccessStep::Link(_) => {
                    found = found.map(|(of, _)| (of, false));
                }
            }
        }
        found
    }

    fn member_named(&self, classes: &[ClassId], name: &str) -> Option<Member> {
        let members = classes.iter().flat_map(|&class| super::build::every_member(&self.conceptual, class));
        members.into_iter().find(|&member| self.conceptual.member_name(member) == name)
    }
}
