//! Random paths and conditions over the classes of a model, as text.

use crate::random::Random;
use crate::values::literal;
use askloom_model::{AttributeId, ClassId, Conceptual, EndId, Member, RelationshipKind, Type};

/// Something a path can start at: the main entity, or a joined position.
#[derive(Debug, Clone)]
pub(crate) struct Bound {
    pub(crate) name: String,
    pub(crate) at: At,
}

#[derive(Debug, Clone)]
pub(crate) enum At {
    Class(ClassId),
    /// An element of a list of plain values.
    Element(Type),
}

/// What a path leads to.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Value(Type),
    Id,
}

#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) text: String,
    pub(crate) kind: Kind,
    /// A self-reference with `@tree`, or an instance of its class.
    pub(crate) tree: bool,
}

pub(crate) struct Paths<'p> {
    pub(crate) conceptual: &'p Conceptual,
    pub(crate) scope: Vec<Bound>,
    /// How many parameters have names already.
    pub(crate) parameters: std::cell::Cell<usize>,
}

impl<'p> Paths<'p> {
    pub(crate) fn new(conceptual: &'p Conceptual, main: ClassId) -> Self {
        let name = conceptual.classes[main].name.clone();
        Self {
            conceptual,
            scope: vec![Bound { name, at: At::Class(main) }],
            parameters: std::cell::Cell::new(0),
        }
    }

    pub(crate) fn ends(&self, class: ClassId, keep: impl Fn(EndId) -> bool) -> Vec<EndId> {
        let end = |member| match member {
            Member::End(end) => Some(end),
            Member::Attribute(_) => None,
        };
        self.conceptual.all_members(class).filter_map(end).filter(|&end| keep(end)).collect()
    }

    fn attributes(&self, class: ClassId, keep: impl Fn(AttributeId) -> bool) -> Vec<AttributeId> {
        let attribute = |member| match member {
            Member::Attribute(id) => Some(id),
            Member::End(_) => None,
        };
        self.conceptual.all_members(class).filter_map(attribute).filter(|&id| keep(id)).collect()
    }

    /// Somewhere along `hops` ends from a bound name.
    fn walk(&self, hops: usize, many: bool, random: &Random) -> (String, At) {
        let start = random.pick(&self.scope);
        let (mut text, mut at) = (start.name.clone(), start.at.clone());
        for _ in 0..hops {
            let At::Class(class) = at else { break };
            let ends = self.ends(class, |end| many || !self.conceptual.ends[end].cardinality.is_many());
            if ends.is_empty() {
                break;
            }
            let end = &self.conceptual.ends[*random.pick(&ends)];
            text = format!("{text}.{}", end.name);
            at = At::Class(end.target);
        }
        (text, at)
    }

    /// A path with one value in each row.
    pub(crate) fn single(&self, random: &Random) -> Found {
        let hops = *random.weighted(&[(6, 0), (3, 1), (1, 2)]);
        let (text, at) = self.walk(hops, false, random);
        self.leaf(text, at, false, random)
    }

    /// A path that may have many values, for WHERE.
    pub(crate) fn any(&self, random: &Random) -> Found {
        if random.percent(66) {
            return self.single(random);
        }
        let (text, at) = self.walk(random.below(3), true, random);
        self.leaf(text, at, true, random)
    }

    fn leaf(&self, text: String, at: At, many: bool, random: &Random) -> Found {
        let class = match at {
            At::Element(ty) => return Found { text, kind: Kind::Value(ty), tree: false },
            At::Class(class) => class,
        };
        let row = &self.conceptual.classes[class];
        let references = self.ends(class, |end| {
            let end = &self.conceptual.ends[end];
            end.kind != RelationshipKind::Composition && (many || !end.cardinality.is_many())
        });
        if !references.is_empty() && random.percent(15) {
            let end = &self.conceptual.ends[*random.pick(&references)];
            let text = format!("{text}.{}", end.name);
            return Found { text, kind: Kind::Id, tree: end.tree };
        }
        let is_tree = self.conceptual.ends.iter().any(|(_, end)| end.tree && end.target == class);
        if row.kind.is_entity() && random.percent(if is_tree { 30 } else { 4 }) {
            return Found { text, kind: Kind::Id, tree: is_tree };
        }
        let attributes = self.attributes(class, |id| many || !self.conceptual.attributes[id].list);
        if attributes.is_empty() {
            return match row.kind.is_entity() {
                true => Found { text, kind: Kind::Id, tree: is_tree },
                // A value object of lists alone: its owner has something.
                false => self.main(random),
            };
        }
        let attribute = &self.conceptual.attributes[*random.pick(&attributes)];
        Found {
            text: format!("{text}.{}", attribute.name),
            kind: Kind::Value(attribute.ty.clone()),
            tree: false,
        }
    }

    /// Something of the main entity.
    fn main(&self, random: &Random) -> Found {
        let Bound { name, at: At::Class(class) } = &self.scope[0] else {
            unreachable!("the main entity is a class")
        };
        let attributes = self.attributes(*class, |id| !self.conceptual.attributes[id].list);
        match attributes.is_empty() {
            true => Found { text: name.clone(), kind: Kind::Id, tree: false },
            false => {
                let attribute = &self.conceptual.attributes[*random.pick(&attributes)];
                let text = format!("{name}.{}", attribute.name);
                Found { text, kind: Kind::Value(attribute.ty.clone()), tree: false }
            }
        }
    }

    /// A list or a set of something that is bound, or of what a to-one step leads to from there.
    pub(crate) fn list(&self, random: &Random) -> Option<String> {
        let (text, at) = self.walk(*random.weighted(&[(4, 0), (1, 1)]), false, random);
        let At::Class(class) = at else { return None };
        let is_many = |member: &Member| match *member {
            Member::Attribute(id) => self.conceptual.attributes[id].list,
            Member::End(id) => self.conceptual.ends[id].cardinality.is_many(),
        };
        let lists: Vec<Member> = self.conceptual.all_members(class).filter(is_many).collect();
        let name = |member: &Member| format!("{text}.{}", self.conceptual.member_name(*member));
        (!lists.is_empty()).then(|| name(random.pick(&lists)))
    }

    /// A path whose values can make groups: one with an order, or an id.
    pub(crate) fn grouping(&self, random: &Random) -> Option<Found> {
        let groups = |found: &Found| match &found.kind {
            Kind::Value(ty) => ty.is_ordered(),
            Kind::Id => true,
        };
        (0..6).map(|_| self.single(random)).find(groups)
    }

    /// A path of a type that has an order.
    pub(crate) fn ordered(&self, random: &Random) -> Option<Found> {
        let is_ordered = |found: &Found| match &found.kind {
            Kind::Value(ty) => ty.is_ordered(),
            Kind::Id => false,
        };
        (0..6).map(|_| self.single(random)).find(is_ordered)
    }

    pub(crate) fn parameter(&self) -> String {
        self.parameters.set(self.parameters.get() + 1);
        format!(":p{}", self.parameters.get() - 1)
    }

    /// A literal or a parameter of the type.
    fn operand(&self, kind: &Kind, random: &Random) -> String {
        match kind {
            Kind::Value(ty) if random.percent(27) => literal(ty, random).unwrap_or_else(|| self.parameter()),
            Kind::Value(_) | Kind::Id => self.parameter(),
        }
    }

    /// A whole condition of about so many terms.
    pub(crate) fn condition(&self, terms: usize, random: &Random) -> String {
        let one = |n: usize| self.term(&random.fork(&format!("term{n}")));
        if terms > 1 && random.percent(45) {
            return self.anchored(random);
        }
        match terms {
            0 | 1 => one(0),
            _several if random.percent(70) => (0..terms).map(one).collect::<Vec<_>>().join(" AND "),
            _several if random.percent(50) => {
                let either = (0..terms).map(one).collect::<Vec<_>>().join(" OR ");
                format!("({either})")
            }
            _several => {
                let rest = (1..terms).map(one).collect::<Vec<_>>().join(" AND ");
                format!("{} AND NOT ({rest})", one(0))
            }
        }
    }

    /// What a key can find, and what it cannot.
    pub(crate) fn anchored(&self, random: &Random) -> String {
        let other = random.fork("other");
        let second = match random.below(5) {
            0 | 1 => self.rare(random),
            2 => self.anchor(&other),
            _any => self.term(&other),
        };
        format!("{} AND {second}", self.anchor(random))
    }

    /// A predicate that reads by a key: the id of the main entity, a range or a prefix.
    fn anchor(&self, random: &Random) -> String {
        let Bound { name, at: At::Class(class) } = &self.scope[0] else { return self.predicate(random) };
        let identifier = &self.conceptual.classes[*class].identifier;
        let equal = |member: &Member| {
            format!("{name}.{} = {}", self.conceptual.member_name(*member), self.parameter())
        };
        let is_text = |found: &Found| matches!(found.kind, Kind::Value(Type::Text));
        if let Some(found) = (0..8).map(|_| self.single(random)).find(is_text).filter(|_| random.one_in(3)) {
            return format!("{} STARTS WITH {}", found.text, self.parameter());
        }
        match (random.below(5), self.ordered(random)) {
            (4, Some(found)) => format!("{} IN {}", found.text, self.parameter()),
            (0, _) if !identifier.is_empty() => {
                identifier.iter().map(equal).collect::<Vec<_>>().join(" AND ")
            }
            (_, Some(Found { text, kind: Kind::Value(Type::Text), .. })) => {
                format!("{text} STARTS WITH {}", self.parameter())
            }
            (1, Some(Found { text, kind: Kind::Value(Type::Int | Type::Long | Type::Date), .. })) => {
                format!("{text} >= {}", self.parameter())
            }
            (_, Some(found)) => format!("{} = {}", found.text, self.parameter()),
            (_, None) => self.predicate(random),
        }
    }

    /// A predicate on words, a place or a tree, if there is any; or one that compares two paths.
    fn rare(&self, random: &Random) -> String {
        for n in 0..12 {
            let random = random.fork(&format!("rare{n}"));
            let found = self.any(&random);
            match &found.kind {
                Kind::Id if found.tree => return format!("{} UNDER {}", found.text, self.parameter()),
                Kind::Value(Type::Geo) => {
                    return format!("{} WITHIN {} KM OF {}", found.text, self.parameter(), self.parameter());
                }
                Kind::Value(Type::Text) if random.percent(30) => {
                    return format!("{} MATCHES {}", found.text, self.parameter());
                }
                Kind::Value(ty) if ty.is_ordered() && random.percent(30) => {
                    if let Some(other) = self.another(ty, &found.text, &random) {
                        return format!("{} <= {other}", found.text);
                    }
                }
                Kind::Id | Kind::Value(_) => {}
            }
        }
        self.predicate(random)
    }

    fn term(&self, random: &Random) -> String {
        let term = self.predicate(random);
        match random.below(14) {
            0 => format!("NOT {term}"),
            _ if random.fork("none").percent(5) => format!("NOT {term}"),
            1 => format!("({term} OR {})", self.predicate(&random.fork("or"))),
            2 => format!("NOT ({term} OR {})", self.predicate(&random.fork("or"))),
            _plain => term,
        }
    }

    fn predicate(&self, random: &Random) -> String {
        let found = self.any(random);
        let path = &found.text;
        // What a negated form means differs from NOT around it where there are many values.
        let not = if random.fork("negated").percent(45) { "NOT " } else { "" };
        if random.percent(9) {
            let not = if random.one_in(2) { "NOT " } else { "" };
            return format!("{path} IS {not}NULL");
        }
        if found.tree && random.percent(60) {
            let below = *random.pick(&["UNDER", "ABOVE"]);
            return format!("{path} {not}{below} {}", self.parameter());
        }
        let operand = |random: &Random| self.operand(&found.kind, random);
        match &found.kind {
            Kind::Id => match random.below(5) {
                0 => format!("{path} != {}", self.parameter()),
                1 => format!("{path} {not}IN {}", self.parameter()),
                _equal => format!("{path} = {}", self.parameter()),
            },
            Kind::Value(Type::Json) => format!("{path} IS NOT NULL"),
            Kind::Value(Type::Blob) => format!("{path} = {}", self.parameter()),
            Kind::Value(Type::Geo) => match random.below(3) {
                0 => format!("{path} {not}IN BOX ({}, {})", self.parameter(), self.parameter()),
                1 => format!("{path} {not}WITHIN {} KM OF {}", self.parameter(), self.parameter()),
                _null => format!("{path} IS NOT NULL"),
            },
            Kind::Value(Type::Text) if random.percent(32) => match random.one_in(2) {
                true => format!("{path} {not}MATCHES {}", operand(random)),
                false => format!("{path} {not}STARTS WITH {}", operand(random)),
            },
            Kind::Value(Type::Bool) if random.fork("bare").percent(50) => path.clone(),
            Kind::Value(Type::Bool) => format!("{path} = {}", operand(random)),
            Kind::Value(ty) => match random.below(16) {
                0 | 1 => format!("{path} {not}BETWEEN {} AND {}", operand(random), operand(random)),
                2 => format!("{path} {not}IN {}", self.parameter()),
                3 => {
                    let items: Vec<String> = (0..1 + random.below(3)).map(|_| operand(random)).collect();
                    format!("{path} {not}IN ({})", items.join(", "))
                }
                4 => match self.another(ty, path, random) {
                    Some(other) => format!("{path} {} {other}", random.pick(&["=", "<", ">=", "!="])),
                    None => format!("{path} = {}", operand(random)),
                },
                5..=8 => format!("{path} {} {}", random.pick(&["<", "<=", ">", ">=", "!="]), operand(random)),
                9 => {
                    let other = operand(random);
                    format!("{other} {} {path}", random.pick(&["<", "=", ">="]))
                }
                _equal => format!("{path} = {}", operand(random)),
            },
        }
    }

    /// Another single path of the same type.
    fn another(&self, ty: &Type, path: &str, random: &Random) -> Option<String> {
        let same = |found: &Found| match &found.kind {
            Kind::Value(other) => ty.comparable_with(other) && found.text != path,
            Kind::Id => false,
        };
        (0..5).map(|_| self.single(random)).find(same).map(|found| found.text)
    }
}
