//! Random writes: their text, and what SQL has to know to do the same.

use super::blueprint::{Blueprint, ClassKind, Extent, Inverse, Size};
use super::condition::{Condition, Start, Stop};
use super::scalar::Scalar;
use askloom_oracle::Random;
use std::collections::BTreeSet;

#[derive(Debug)]
pub(super) struct RandomWrite {
    pub(super) text: String,
    pub(super) compound: bool,
    pub(super) apart: bool,
    pub(super) statements: Vec<Statement>,
    pub(super) parameters: Vec<Parameter>,
    pub(super) features: BTreeSet<&'static str>,
}

#[derive(Debug, Clone)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) wanted: Wanted,
}

/// What a parameter stands for, so that fitting values are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Wanted {
    Value(Scalar),
    /// A column of the identifier.
    Key {
        class: usize,
        column: usize,
    },
    /// A reference in the identifier.
    KeyReference {
        class: usize,
        reference: usize,
    },
    Identity(Extent),
    /// A part.
    Whole(usize),
    /// A place in a list.
    Rank,
}

#[derive(Debug)]
pub(super) enum Statement {
    Insert(Extent),
    Upsert(Extent),
    Store(Extent),
    Update { from: Selection, set: Vec<Assignment> },
    UpdateElements { from: Selection, list: ListMember, set: Vec<Assignment> },
    Delete { from: Selection },
    Add { from: Selection, list: ListMember, value: Operand },
    Remove { from: Selection, list: ListMember, at: Option<Operand> },
    Connect { from: Selection, end: LinkEnd, to: String },
    Disconnect { from: Selection, end: LinkEnd, other: Option<String> },
}

/// The instances that a statement is about; the condition is in SQL, over the alias `p0` and, for an element, `e`.
#[derive(Debug)]
pub(super) struct Selection {
    pub(super) extent: Extent,
    pub(super) condition: String,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ListMember {
    /// The number of a list of values.
    Values(usize),
    /// The number of a part.
    Parts(usize),
}

/// An end of a relationship: the class that stores its links, and the number of the reference there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LinkEnd {
    pub(super) holder: usize,
    pub(super) reference: usize,
    pub(super) derived: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Operand {
    /// A parameter or a literal of SQL.
    pub(super) sql: String,
    pub(super) parameter: Option<String>,
}

#[derive(Debug)]
pub(super) struct Assignment {
    /// The part, one at most in its owner, through which the assignment goes.
    pub(super) via: Option<usize>,
    pub(super) to: Assigned,
}

#[derive(Debug)]
pub(super) enum Assigned {
    /// A column and an expression over the columns of its row.
    Column {
        column: String,
        expression: String,
    },
    /// The same with a uuid that is made for the statement.
    NewUuid {
        column: String,
    },
    Link {
        end: LinkEnd,
        to: String,
    },
    /// The number of a part, and its class.
    Part {
        part: usize,
        class: usize,
        parameter: String,
    },
}

/// Makes the statements of one write.
pub(super) struct WriteMaker<'a> {
    pub(super) blueprint: &'a Blueprint,
    pub(super) random: &'a mut Random,
    pub(super) parameters: Vec<Parameter>,
    pub(super) aliases: usize,
    pub(super) features: BTreeSet<&'static str>,
}

impl Wanted {
    /// The instances that a parameter is the identifier of.
    pub(super) fn identity(self, blueprint: &Blueprint) -> Option<Extent> {
        match self {
            Self::Identity(extent) => Some(extent),
            Self::KeyReference { class, reference } => {
                Some(blueprint.classes[class].references[reference].target)
            }
            Self::Value(_) | Self::Key { .. } | Self::Whole(_) | Self::Rank => None,
        }
    }
}

impl RandomWrite {
    /// A write that makes instances of a class, so that there is something to change.
    pub(super) fn insert(blueprint: &Blueprint, extent: Extent, name: &str) -> Self {
        Self {
            text: format!("write {name}: INSERT {}", blueprint.extent_name(extent)),
            compound: false,
            apart: false,
            statements: vec![Statement::Insert(extent)],
            parameters: Vec::new(),
            features: BTreeSet::new(),
        }
    }

    pub(super) fn is_plain_insert(&self) -> bool {
        !self.compound && matches!(self.statements[..], [Statement::Insert(_)])
    }

    pub(super) fn random(blueprint: &Blueprint, name: &str, random: &mut Random) -> Self {
        let compound = random.chance(0.25);
        let count = if compound { 1 + random.below(3) } else { 1 };
        let mut maker =
            WriteMaker { blueprint, random, parameters: Vec::new(), aliases: 0, features: BTreeSet::new() };
        let made: Vec<(String, Statement)> = (0..count).map(|_| maker.statement()).collect();
        let (texts, statements): (Vec<String>, Vec<Statement>) = made.into_iter().unzip();
        let roots: BTreeSet<usize> =
            statements.iter().map(|statement| blueprint.root_of(statement.extent().class)).collect();
        let apart = compound && roots.len() > 1 && maker.random.chance(0.5);
        let text = match compound {
            true => format!("write {name} {{\n  {}\n}}", texts.join("\n  ")),
            false => format!("write {name}: {}", texts[0]),
        };
        Self {
            text: if apart { format!("@apart\n{text}") } else { text },
            compound,
            apart,
            statements,
            parameters: maker.parameters,
            features: maker.features,
        }
    }
}

impl Statement {
    pub(super) fn extent(&self) -> Extent {
        match self {
            Self::Insert(extent) | Self::Upsert(extent) | Self::Store(extent) => *extent,
            Self::Update { from, .. }
            | Self::UpdateElements { from, .. }
            | Self::Delete { from }
            | Self::Add { from, .. }
            | Self::Remove { from, .. }
            | Self::Connect { from, .. }
            | Self::Disconnect { from, .. } => from.extent,
        }
    }
}

impl WriteMaker<'_> {
    fn statement(&mut self) -> (String, Statement) {
        loop {
            let extents: Vec<Extent> = self.blueprint.extents();
            let entities = extents.iter().filter(|extent| self.blueprint.classes[extent.class].is_entity());
            let entities: Vec<Extent> = entities.copied().collect();
            let extent = *self.random.pick(&entities).unwrap();
            let noted = self.parameters.len();
            match self.about(extent) {
                Some(made) => return made,
                // What was begun in vain wants no parameters.
                None => self.parameters.truncate(noted),
            }
        }
    }

    fn about(&mut self, extent: Extent) -> Option<(String, Statement)> {
        let kind = self.blueprint.classes[extent.class].kind;
        let root = matches!(kind, ClassKind::Root | ClassKind::ImmutableRoot);
        let name = self.blueprint.extent_name(extent);
        let fixed = self.blueprint.is_immutable(extent.class);
        match self.random.below(30) {
            0 | 1 if root => Some((format!("INSERT {name}"), Statement::Insert(extent))),
            2..=4 if root => Some((format!("UPSERT {name}"), Statement::Upsert(extent))),
            5..=7 if root && !fixed => Some((format!("STORE {name}"), Statement::Store(extent))),
            8..=12 if !fixed => self.update(extent),
            13..=15 if !fixed => self.update_elements(extent),
            16..=18 if root && !fixed => {
                let (text, from) = self.selection(extent);
                Some((format!("DELETE {name}{text}"), Statement::Delete { from }))
            }
            19..=21 if !fixed => self.add(extent),
            22..=24 if !fixed => self.remove(extent),
            25..=27 => self.connect(extent),
            28 | 29 => self.disconnect(extent),
            _not_of_this_class => None,
        }
    }

    /// A new parameter, or at times one that stands for the same elsewhere in the write.
    pub(super) fn parameter(&mut self, wanted: Wanted) -> String {
        let same: Vec<&Parameter> =
            self.parameters.iter().filter(|parameter| parameter.wanted == wanted).collect();
        if self.random.chance(0.25)
            && let Some(parameter) = self.random.pick(&same)
        {
            return parameter.name.clone();
        }
        let name = format!("v{}", self.parameters.len());
        self.parameters.push(Parameter { name: name.clone(), wanted });
        name
    }

    /// Mostly by identifier, so that one instance is meant; at times by anything, or all of them.
    fn selection(&mut self, extent: Extent) -> (String, Selection) {
        let condition = self.owners(extent, None);
        selected(extent, condition)
    }

    fn owners(&mut self, extent: Extent, element: Option<&str>) -> Option<Condition> {
        let at = Stop::Instance(extent);
        let start =
            Start { at, alias: "p0".to_owned(), prefix: String::new(), element: element.map(str::to_owned) };
        match self.random.below(20) {
            0..=8 => Some(self.by_key(extent)),
            9..=11 => {
                let (key, more) = (self.by_key(extent), self.condition(&start, 0));
                Some(Condition {
                    loom: format!("{} AND {}", key.loom, more.loom),
                    sql: format!("{} AND {}", key.sql, more.sql),
                })
            }
            12..=18 => Some(self.condition(&start, 1)),
            _all => None,
        }
    }

    /// Owners and elements: an element mostly has to match, too.
    fn elements(&mut self, extent: Extent, list: ListMember) -> (String, Selection) {
        let class = &self.blueprint.classes[extent.class];
        let (name, at) = match list {
            ListMember::Values(number) => {
                let list = &class.lists[number];
                (&list.name, Stop::Element(list.scalar))
            }
            ListMember::Parts(number) => {
                let part = &class.parts[number];
                (&part.name, Stop::Instance(Extent { class: part.class, sub: false }))
            }
        };
        let start = Start { at, alias: "e".to_owned(), prefix: name.clone(), element: None };
        let owner = self.owners(extent, Some(name));
        let element = self.random.chance(0.6).then(|| self.condition(&start, 0));
        let condition = match (owner, element) {
            (Some(owner), Some(element)) => {
                let word = if self.random.chance(0.85) { "AND" } else { "OR" };
                Some(owner.joined(word, &element))
            }
            (owner, element) => owner.or(element),
        };
        selected(extent, condition)
    }

    fn lists(&self, extent: Extent) -> Vec<ListMember> {
        let class = &self.blueprint.classes[extent.class];
        let visible = |number: &usize| extent.sub || !class.lists[*number].sub;
        let values = (0..class.lists.len()).filter(visible).map(ListMember::Values);
        let many = |number: &usize| class.parts[*number].size.is_many();
        values.chain((0..class.parts.len()).filter(many).map(ListMember::Parts)).collect()
    }

    fn list(&mut self, extent: Extent) -> Option<(ListMember, String)> {
        let list = *self.random.pick(&self.lists(extent))?;
        let name = self.blueprint.list_name(extent.class, list);
        Some((list, format!("{}.{name}", self.blueprint.extent_name(extent))))
    }

    fn add(&mut self, extent: Extent) -> Option<(String, Statement)> {
        let (list, path) = self.list(extent)?;
        let class = &self.blueprint.classes[extent.class];
        let (loom, value) = match list {
            ListMember::Values(number) => self.operand(class.lists[number].scalar),
            ListMember::Parts(number) => {
                let parameter = self.parameter(Wanted::Whole(class.parts[number].class));
                (format!(":{parameter}"), Operand { sql: String::new(), parameter: Some(parameter) })
            }
        };
        let (text, from) = self.selection(extent);
        Some((format!("ADD {loom} TO {path}{text}"), Statement::Add { from, list, value }))
    }

    fn operand(&mut self, scalar: Scalar) -> (String, Operand) {
        if self.random.chance(0.15) {
            let value = scalar.value(self.random);
            let operand = Operand { sql: scalar.sql_literal(&value), parameter: None };
            return (scalar.literal(&value), operand);
        }
        let name = self.parameter(Wanted::Value(scalar));
        (format!(":{name}"), Operand { sql: format!(":{name}"), parameter: Some(name) })
    }

    fn remove(&mut self, extent: Extent) -> Option<(String, Statement)> {
        let (list, path) = self.list(extent)?;
        let at = self.random.chance(0.45).then(|| match self.random.chance(0.2) {
            true => ("0".to_owned(), Operand { sql: "0".to_owned(), parameter: None }),
            false => {
                let name = self.parameter(Wanted::Rank);
                (format!(":{name}"), Operand { sql: format!(":{name}"), parameter: Some(name) })
            }
        });
        let (text, from) = self.elements(extent, list);
        let (rank, at) = match at {
            Some((loom, operand)) => (format!(" AT {loom}"), Some(operand)),
            None => (String::new(), None),
        };
        Some((format!("REMOVE FROM {path}{rank}{text}"), Statement::Remove { from, list, at }))
    }

    fn update(&mut self, extent: Extent) -> Option<(String, Statement)> {
        let set = self.assignments(extent);
        if set.is_empty() {
            return None;
        }
        let (texts, set): (Vec<String>, Vec<Assignment>) = set.into_iter().unzip();
        let (text, from) = self.selection(extent);
        let name = self.blueprint.extent_name(extent);
        Some((format!("UPDATE {name} SET {}{text}", texts.join(", ")), Statement::Update { from, set }))
    }

    fn update_elements(&mut self, extent: Extent) -> Option<(String, Statement)> {
        let (list, path) = self.list(extent)?;
        let class = &self.blueprint.classes[extent.class];
        let set = match list {
            ListMember::Values(number) => {
                let (name, scalar) = (class.lists[number].name.clone(), class.lists[number].scalar);
                let (loom, to) = self.scalar_assignment(&name, "v", scalar);
                vec![(loom, Assignment { via: None, to })]
            }
            ListMember::Parts(number) => {
                self.assignments(Extent { class: class.parts[number].class, sub: false })
            }
        };
        if set.is_empty() {
            return None;
        }
        let (texts, set): (Vec<String>, Vec<Assignment>) = set.into_iter().unzip();
        let (text, from) = self.elements(extent, list);
        Some((
            format!("UPDATE {path} SET {}{text}", texts.join(", ")),
            Statement::UpdateElements { from, list, set },
        ))
    }

    /// What SET does to instances of a class: to some of its members, and to those of its single parts.
    fn assignments(&mut self, extent: Extent) -> Vec<(String, Assignment)> {
        let mut set = Vec::new();
        for (number, part) in self.blueprint.classes[extent.class].parts.iter().enumerate() {
            if part.size.is_many() {
                continue;
            }
            if self.random.chance(0.3) {
                let inner = Extent { class: part.class, sub: false };
                set.extend(self.members(inner, &format!("{}.", part.name), Some(number)));
            } else if self.random.chance(0.5) {
                let parameter = self.parameter(Wanted::Whole(part.class));
                let to = Assigned::Part { part: number, class: part.class, parameter: parameter.clone() };
                set.push((format!("{} = :{parameter}", part.name), Assignment { via: None, to }));
            }
        }
        set.extend(self.members(extent, "", None));
        set
    }

    fn members(&mut self, extent: Extent, prefix: &str, via: Option<usize>) -> Vec<(String, Assignment)> {
        let class = &self.blueprint.classes[extent.class];
        let mut set = Vec::new();
        for attribute in class.attributes.iter().filter(|a| !a.immutable && (extent.sub || !a.sub)) {
            if self.random.chance(0.45) {
                let path = format!("{prefix}{}", attribute.name);
                let (loom, to) = match attribute.optional && self.random.chance(0.08) {
                    true => {
                        let (column, expression) = (attribute.name.clone(), "NULL".to_owned());
                        (format!("{path} = null"), Assigned::Column { column, expression })
                    }
                    false => self.scalar_assignment(&path, &attribute.name, attribute.scalar),
                };
                set.push((loom, Assignment { via, to }));
            }
        }
        let mut set_already = Vec::new();
        for end in self.ends(extent) {
            let (name, size) = self.blueprint.end_name(end);
            if !size.is_many() && self.random.chance(0.35) {
                if set_already.contains(&(end.holder, end.reference)) {
                    self.features.insert("both ends at once");
                }
                set_already.push((end.holder, end.reference));
                let parameter = self.parameter(Wanted::Identity(self.blueprint.other_side(end)));
                let loom = format!("{prefix}{name} = :{parameter}");
                set.push((loom, Assignment { via, to: Assigned::Link { end, to: parameter } }));
            }
        }
        set
    }

    fn scalar_assignment(&mut self, path: &str, column: &str, scalar: Scalar) -> (String, Assigned) {
        self.features.insert(scalar.word());
        let column = column.to_owned();
        if scalar.is_number() && self.random.chance(0.5) {
            let sign = *self.random.pick(&["+", "-"]).unwrap();
            let (loom, amount) = self.operand(scalar);
            // Two signs would make a comment of SQL.
            let expression = format!("{column} {sign} ({})", amount.sql);
            return match loom.starts_with('-') {
                true => self.scalar_assignment(path, &column, scalar),
                false => (format!("{path} = {path} {sign} {loom}"), Assigned::Column { column, expression }),
            };
        }
        match scalar {
            Scalar::Stamp if self.random.chance(0.3) => {
                (format!("{path} = now()"), Assigned::Column { column, expression: ":now".to_owned() })
            }
            Scalar::Uuid if self.random.chance(0.3) => {
                (format!("{path} = uuid()"), Assigned::NewUuid { column })
            }
            _any => {
                let (loom, value) = self.operand(scalar);
                (format!("{path} = {loom}"), Assigned::Column { column, expression: value.sql })
            }
        }
    }

    /// The ends of a class that a statement may change.
    fn ends(&self, extent: Extent) -> Vec<LinkEnd> {
        let blueprint = self.blueprint;
        let own = blueprint.classes[extent.class].references.iter().enumerate();
        let own = own.filter(|(_, reference)| extent.sub || !reference.sub);
        let mut ends: Vec<LinkEnd> =
            own.map(|(reference, _)| LinkEnd { holder: extent.class, reference, derived: false }).collect();
        let derived = blueprint.derived(extent).into_iter();
        ends.extend(derived.map(|(holder, reference, _, _)| LinkEnd { holder, reference, derived: true }));
        ends.retain(|end| {
            let reference = &blueprint.classes[end.holder].references[end.reference];
            !reference.id && !reference.immutable && !blueprint.is_immutable(end.holder)
        });
        ends
    }

    fn connect(&mut self, extent: Extent) -> Option<(String, Statement)> {
        let end = *self.random.pick(&self.ends(extent))?;
        let to = self.parameter(Wanted::Identity(self.blueprint.other_side(end)));
        let path = format!("{}.{}", self.blueprint.extent_name(extent), self.blueprint.end_name(end).0);
        let (text, from) = self.selection(extent);
        Some((format!("CONNECT {path} TO :{to}{text}"), Statement::Connect { from, end, to }))
    }

    fn disconnect(&mut self, extent: Extent) -> Option<(String, Statement)> {
        let mut ends = self.ends(extent);
        // Neither end of what is disconnected may be required.
        ends.retain(|&end| {
            let reference = &self.blueprint.classes[end.holder].references[end.reference];
            reference.size != Size::Required && !reference.is_required_at_target()
        });
        let end = *self.random.pick(&ends)?;
        let other = self.random.chance(0.6).then(|| {
            let wanted = Wanted::Identity(self.blueprint.other_side(end));
            self.parameter(wanted)
        });
        let path = format!("{}.{}", self.blueprint.extent_name(extent), self.blueprint.end_name(end).0);
        let (text, from) = self.selection(extent);
        let one = other.as_ref().map(|other| format!(" FROM :{other}")).unwrap_or_default();
        Some((format!("DISCONNECT {path}{one}{text}"), Statement::Disconnect { from, end, other }))
    }
}

fn selected(extent: Extent, condition: Option<Condition>) -> (String, Selection) {
    match condition {
        Some(Condition { loom, sql }) => (format!(" WHERE {loom}"), Selection { extent, condition: sql }),
        None => (String::new(), Selection { extent, condition: "TRUE".to_owned() }),
    }
}

impl Blueprint {
    pub(super) fn list_name(&self, class: usize, list: ListMember) -> &str {
        match list {
            ListMember::Values(number) => &self.classes[class].lists[number].name,
            ListMember::Parts(number) => &self.classes[class].parts[number].name,
        }
    }

    pub(super) fn end_name(&self, end: LinkEnd) -> (&str, Size) {
        let reference = &self.classes[end.holder].references[end.reference];
        match &reference.inverse {
            Inverse::Derived { name, size } if end.derived => (name, *size),
            Inverse::Derived { .. } | Inverse::None | Inverse::Symmetric => (&reference.name, reference.size),
        }
    }

    /// The instances that an end leads to.
    pub(super) fn other_side(&self, end: LinkEnd) -> Extent {
        let reference = &self.classes[end.holder].references[end.reference];
        match end.derived {
            true => Extent { class: end.holder, sub: reference.sub },
            false => reference.target,
        }
    }
}
