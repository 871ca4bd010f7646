//! Random conditions, as Askloom says them and as SQL does.

use super::blueprint::{Blueprint, Extent, KeyMember, Storage};
use super::rules::of_extent;
use super::scalar::Scalar;
use super::statement::{Wanted, WriteMaker};

/// Where the paths of a condition start: an instance, or an element of a list.
#[derive(Debug, Clone)]
pub(super) struct Start {
    pub(super) at: Stop,
    /// The alias of its row.
    pub(super) alias: String,
    /// What paths of the language start with.
    pub(super) prefix: String,
    /// The list whose name stands for an element of it, and not for the whole.
    pub(super) element: Option<String>,
}

/// What a path has reached.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stop {
    Instance(Extent),
    /// A value in a list.
    Element(Scalar),
}

/// One step of a path.
#[derive(Debug, Clone)]
struct Hop {
    name: String,
    many: bool,
    table: String,
    /// A condition in SQL over the aliases `{p}` and `{c}`.
    link: String,
    to: Stop,
}

/// What a path ends with.
#[derive(Debug, Clone)]
enum Leaf {
    Value { name: String, column: String, scalar: Scalar },
    Reference { name: String, columns: Vec<String>, target: Extent },
}

/// The same condition in both languages.
#[derive(Debug, Clone)]
pub(super) struct Condition {
    pub(super) loom: String,
    pub(super) sql: String,
}

impl WriteMaker<'_> {
    pub(super) fn condition(&mut self, start: &Start, depth: u32) -> Condition {
        if depth > 0 && self.random.chance(0.5) {
            let word = if self.random.chance(0.5) { "AND" } else { "OR" };
            let (a, b) = (self.condition(start, depth - 1), self.condition(start, depth - 1));
            return a.joined(word, &b);
        }
        if self.random.chance(0.15) {
            let Condition { loom, sql } = self.condition(start, 0);
            return Condition { loom: format!("NOT ({loom})"), sql: format!("NOT ({sql})") };
        }
        self.atom(start)
    }

    /// The identifier equals parameters.
    pub(super) fn by_key(&mut self, extent: Extent) -> Condition {
        let blueprint = self.blueprint;
        let mut terms: Vec<Condition> = Vec::new();
        let columns = blueprint.key_columns(extent.class, "");
        for member in &blueprint.classes[extent.class].key {
            terms.push(match member {
                KeyMember::Plain(name, _) => {
                    let column = columns.iter().position(|column| column == name).unwrap();
                    let parameter = self.parameter(Wanted::Key { class: extent.class, column });
                    Condition {
                        loom: format!("{name} = :{parameter}"),
                        sql: format!("p0.{name} = :{parameter}"),
                    }
                }
                KeyMember::Reference(number) => {
                    let reference = &blueprint.classes[extent.class].references[*number];
                    let wanted = Wanted::KeyReference { class: extent.class, reference: *number };
                    let parameter = self.parameter(wanted);
                    let columns = blueprint.reference_columns(extent.class, *number, "p0.");
                    let given = blueprint.key_columns(reference.target.class, &format!(":{parameter}__"));
                    Condition {
                        loom: format!("{} = :{parameter}", reference.name),
                        sql: Blueprint::same(&columns, &given),
                    }
                }
            });
        }
        let first = terms.remove(0);
        terms.iter().fold(first, |all, term| Condition {
            loom: format!("{} AND {}", all.loom, term.loom),
            sql: format!("{} AND {}", all.sql, term.sql),
        })
    }

    fn atom(&mut self, start: &Start) -> Condition {
        let (hops, leaf) = self.path(start);
        let names: Vec<&str> = std::iter::once(start.prefix.as_str())
            .chain(hops.iter().map(|hop| hop.name.as_str()))
            .chain(std::iter::once(leaf.name()))
            .filter(|name| !name.is_empty())
            .collect();
        if hops.iter().any(|hop| hop.many) {
            self.features.insert("condition on some");
        } else if !hops.is_empty() {
            self.features.insert("condition along a path");
        }
        let predicate = self.predicate(&leaf);
        let sql = self.along(&start.alias, &hops, &leaf, &predicate.sql);
        Condition { loom: predicate.loom.replace("{x}", &names.join(".")), sql }
    }

    /// Up to two hops and a value or reference.
    fn path(&mut self, start: &Start) -> (Vec<Hop>, Leaf) {
        let mut hops = Vec::new();
        let mut at = start.at;
        while let Stop::Instance(extent) = at
            && hops.len() < 2
            && self.random.chance(0.4)
            && let Some(hop) = self.hop(extent)
            && (start.element.as_ref() != Some(&hop.name) || !hops.is_empty())
        {
            at = hop.to;
            hops.push(hop);
        }
        let leaf = match at {
            Stop::Element(scalar) => Leaf::Value { name: String::new(), column: "v".to_owned(), scalar },
            Stop::Instance(extent) => self.leaf(extent),
        };
        (hops, leaf)
    }

    fn leaf(&mut self, extent: Extent) -> Leaf {
        let class = &self.blueprint.classes[extent.class];
        let value =
            |name: &str, scalar| Leaf::Value { name: name.to_owned(), column: name.to_owned(), scalar };
        let mut leaves: Vec<Leaf> = class
            .attributes
            .iter()
            .filter(|attribute| extent.sub || !attribute.sub)
            .map(|attribute| value(&attribute.name, attribute.scalar))
            .collect();
        leaves
            .extend(class.key.iter().filter_map(KeyMember::plain).map(|(name, scalar)| value(name, scalar)));
        for (number, reference) in class.references.iter().enumerate() {
            if !reference.size.is_many() && (extent.sub || !reference.sub) {
                leaves.push(Leaf::Reference {
                    name: reference.name.clone(),
                    columns: self.blueprint.reference_columns(extent.class, number, ""),
                    target: reference.target,
                });
            }
        }
        match self.random.pick(&leaves) {
            Some(leaf) => leaf.clone(),
            None => unreachable!("every class has an attribute of its own or a key"),
        }
    }

    fn hop(&mut self, extent: Extent) -> Option<Hop> {
        let hops = self.blueprint.hops(extent);
        self.random.pick(&hops).cloned()
    }

    /// The predicate `{x}` or `{0}`, `{1}`, … at the end of a path: one value along to-one hops, else of some.
    fn along(&mut self, alias: &str, hops: &[Hop], leaf: &Leaf, predicate: &str) -> String {
        let Some((hop, rest)) = hops.split_first().filter(|_| hops.iter().any(|hop| hop.many)) else {
            let mut sql = predicate.to_owned();
            for (n, column) in leaf.columns().iter().enumerate() {
                let value = self.single(alias, hops, column);
                sql = sql.replace(&format!("{{{n}}}"), &value);
            }
            return sql;
        };
        let inner = self.alias();
        let link = hop.link.replace("{p}", alias).replace("{c}", &inner);
        let rest = self.along(&inner, rest, leaf, predicate);
        format!("EXISTS (SELECT 1 FROM {} AS {inner} WHERE {link} AND {rest})", hop.table)
    }

    /// A column at the end of to-one hops; null if one leads nowhere.
    fn single(&mut self, alias: &str, hops: &[Hop], column: &str) -> String {
        let Some((hop, rest)) = hops.split_first() else { return format!("{alias}.{column}") };
        let inner = self.alias();
        let link = hop.link.replace("{p}", alias).replace("{c}", &inner);
        let value = self.single(&inner, rest, column);
        format!("(SELECT {value} FROM {} AS {inner} WHERE {link})", hop.table)
    }

    fn alias(&mut self) -> String {
        self.aliases += 1;
        format!("x{}", self.aliases)
    }

    fn predicate(&mut self, leaf: &Leaf) -> Condition {
        let test = |loom: &str, sql: &str| Condition { loom: loom.to_owned(), sql: sql.to_owned() };
        match leaf {
            Leaf::Reference { target, columns, .. } => {
                if self.random.chance(0.3) {
                    return test("{x} IS NULL", "{0} IS NULL");
                }
                if self.random.chance(0.15) {
                    return test("{x} IS NOT NULL", "{0} IS NOT NULL");
                }
                let parameter = self.parameter(Wanted::Identity(*target));
                let given = self.blueprint.key_columns(target.class, &format!(":{parameter}__"));
                let own: Vec<String> = (0..columns.len()).map(|n| format!("{{{n}}}")).collect();
                test(&format!("{{x}} = :{parameter}"), &Blueprint::same(&own, &given))
            }
            Leaf::Value { scalar: Scalar::Bool, .. } if self.random.chance(0.4) => test("{x}", "{0}"),
            Leaf::Value { scalar, .. } => self.comparison(*scalar),
        }
    }

    fn comparison(&mut self, scalar: Scalar) -> Condition {
        let choice = self.random.below(14);
        if choice < 2 {
            let word = if choice == 0 { "IS NULL" } else { "IS NOT NULL" };
            return Condition { loom: format!("{{x}} {word}"), sql: format!("{{0}} {word}") };
        }
        let (a, a_sql) = self.compared(scalar);
        let ordered = scalar != Scalar::Bool;
        let (loom, sql) = match choice {
            2 | 3 => {
                let (b, b_sql) = self.compared(scalar);
                let word = if choice == 2 { "IN" } else { "NOT IN" };
                (format!("{{x}} {word} ({a}, {b})"), format!("{{0}} {word} ({a_sql}, {b_sql})"))
            }
            4 | 5 if scalar == Scalar::Text => {
                (format!("{{x}} STARTS WITH {a}"), format!("substr({{0}}, 1, length({a_sql})) = {a_sql}"))
            }
            4 if ordered => {
                let (b, b_sql) = self.compared(scalar);
                (format!("{{x}} BETWEEN {a} AND {b}"), format!("{{0}} BETWEEN {a_sql} AND {b_sql}"))
            }
            5..=8 if ordered => {
                let operator = *self.random.pick(&["<", "<=", ">", ">="]).unwrap();
                (format!("{{x}} {operator} {a}"), format!("{{0}} {operator} {a_sql}"))
            }
            9 => (format!("{{x}} != {a}"), format!("{{0}} != {a_sql}")),
            _equal => (format!("{{x}} = {a}"), format!("{{0}} = {a_sql}")),
        };
        Condition { loom, sql }
    }

    /// A parameter or a literal, in both languages.
    fn compared(&mut self, scalar: Scalar) -> (String, String) {
        if self.random.chance(0.2) {
            let value = scalar.value(self.random);
            return (scalar.literal(&value), scalar.sql_literal(&value));
        }
        let parameter = self.parameter(Wanted::Value(scalar));
        (format!(":{parameter}"), format!(":{parameter}"))
    }
}

impl Condition {
    pub(super) fn joined(&self, word: &str, other: &Self) -> Self {
        Self {
            loom: format!("({} {word} {})", self.loom, other.loom),
            sql: format!("({} {word} {})", self.sql, other.sql),
        }
    }
}

impl Leaf {
    fn name(&self) -> &str {
        match self {
            Self::Value { name, .. } | Self::Reference { name, .. } => name,
        }
    }

    fn columns(&self) -> Vec<String> {
        match self {
            Self::Value { column, .. } => vec![column.clone()],
            Self::Reference { columns, .. } => columns.clone(),
        }
    }
}

impl Blueprint {
    /// Every step that a path can take from an instance.
    fn hops(&self, extent: Extent) -> Vec<Hop> {
        let class = &self.classes[extent.class];
        let inside = |name: &str, many, table: String, to| Hop {
            name: name.to_owned(),
            many,
            table,
            link: "{c}.o = {p}.rid".to_owned(),
            to,
        };
        let mut hops: Vec<Hop> = Vec::new();
        for list in class.lists.iter().filter(|list| extent.sub || !list.sub) {
            hops.push(inside(
                &list.name,
                true,
                format!("{}_{}", class.name, list.name),
                Stop::Element(list.scalar),
            ));
        }
        for part in &class.parts {
            let to = Stop::Instance(Extent { class: part.class, sub: false });
            hops.push(inside(&part.name, part.size.is_many(), self.classes[part.class].name.clone(), to));
        }
        for (number, reference) in class.references.iter().enumerate() {
            if extent.sub || !reference.sub {
                let many = reference.size.is_many();
                hops.push(self.link_hop(extent.class, number, &reference.name, many, false));
            }
        }
        for (holder, number, name, size) in self.derived(extent) {
            hops.push(self.link_hop(holder, number, name, size.is_many(), true));
        }
        hops
    }

    fn link_hop(&self, holder: usize, number: usize, name: &str, many: bool, backwards: bool) -> Hop {
        let reference = &self.classes[holder].references[number];
        let (from, to) = if backwards { ("{c}", "{p}") } else { ("{p}", "{c}") };
        let target = self.key_columns(reference.target.class, &format!("{to}."));
        let links = format!("{}_{}", self.classes[holder].name, reference.name);
        let linked = match reference.storage() {
            Storage::SymmetricPairs => {
                let own = Self::same(
                    &self.key_columns(holder, "s.a_"),
                    &self.key_columns(holder, &format!("{from}.")),
                );
                let other = Self::same(&self.key_columns(holder, "s.b_"), &target);
                format!("EXISTS (SELECT 1 FROM {links} AS s WHERE {own} AND {other})")
            }
            Storage::Pairs => {
                let same = Self::same(&self.key_columns(reference.target.class, "s.t_"), &target);
                format!("EXISTS (SELECT 1 FROM {links} AS s WHERE s.o = {from}.rid AND {same})")
            }
            Storage::Columns => {
                Self::same(&self.reference_columns(holder, number, &format!("{from}.")), &target)
            }
        };
        let to = if backwards { Extent { class: holder, sub: reference.sub } } else { reference.target };
        Hop {
            name: name.to_owned(),
            many,
            table: self.classes[to.class].name.clone(),
            link: format!("{linked}{}", of_extent("{c}", to)),
            to: Stop::Instance(to),
        }
    }
}
