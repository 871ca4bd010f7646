//! Where a query can go from a thing, and how SQL says so.

use super::schema::{Ref, Schema};

/// What something is, and so where its columns are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Entity(usize),
    Part(usize, usize),
    Element(usize, usize),
}

/// A step from one thing to others.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    pub(super) name: String,
    pub(super) to: Kind,
    pub(super) many: bool,
    /// SQL that links two aliases: `{p}` and `{c}`.
    pub(super) link: String,
    pub(super) feature: &'static str,
}

impl Schema {
    pub(super) fn table(&self, kind: Kind) -> String {
        match kind {
            Kind::Entity(entity) => format!("E{entity}"),
            Kind::Part(entity, part) => {
                format!("E{entity}_{}", self.entities[entity].parts[part].name)
            }
            Kind::Element(entity, list) => {
                format!("E{entity}_{}", self.entities[entity].lists[list].name)
            }
        }
    }

    /// Every step that leads on from a thing.
    pub(super) fn steps(&self, kind: Kind) -> Vec<Step> {
        let mut steps = Vec::new();
        match kind {
            Kind::Element(..) => {}
            Kind::Part(entity, part) => {
                let to = self.entities[entity].parts[part].to.as_ref();
                steps.extend(to.map(|to| self.reference(to)));
            }
            Kind::Entity(entity) => {
                let row = &self.entities[entity];
                let inside = self.equal(entity, "{c}.o_", "{p}.");
                for (index, list) in row.lists.iter().enumerate() {
                    let to = Kind::Element(entity, index);
                    let link = inside.clone();
                    steps.push(Step { name: list.name.clone(), to, many: true, link, feature: "list" });
                }
                for (index, part) in row.parts.iter().enumerate() {
                    let to = Kind::Part(entity, index);
                    let (link, many) = (inside.clone(), part.many);
                    steps.push(Step { name: part.name.clone(), to, many, link, feature: "part" });
                }
                steps.extend(row.refs.iter().map(|reference| {
                    if reference.many {
                        self.set(entity, reference, false)
                    } else {
                        self.reference(reference)
                    }
                }));
                steps.extend(self.derived(entity));
            }
        }
        steps
    }

    pub(super) fn equal(&self, entity: usize, left: &str, right: &str) -> String {
        let (left, right) = (self.key_columns(entity, left), self.key_columns(entity, right));
        let pairs: Vec<String> = left.iter().zip(&right).map(|(l, r)| format!("{l} = {r}")).collect();
        pairs.join(" AND ")
    }

    fn reference(&self, to: &Ref) -> Step {
        let link = self.equal_named(to, "{p}", "{c}");
        let one_to_one = to.inverse.as_ref().is_some_and(|(_, one)| *one);
        let feature = if one_to_one { "one-to-one" } else { "to-one" };
        Step { name: to.name.clone(), to: Kind::Entity(to.target), many: false, link, feature }
    }

    /// A to-one reference of one alias leads to another.
    fn equal_named(&self, to: &Ref, holder: &str, target: &str) -> String {
        self.equal(to.target, &format!("{holder}.{}_", to.name), &format!("{target}."))
    }

    fn set(&self, holder: usize, to: &Ref, backwards: bool) -> Step {
        let (from, into) = if backwards { ("{c}.", "{p}.") } else { ("{p}.", "{c}.") };
        let link = format!(
            "EXISTS (SELECT 1 FROM E{holder}_{} AS s WHERE {} AND {})",
            to.name,
            self.equal(holder, "s.o_", from),
            self.equal(to.target, "s.t_", into)
        );
        let (name, target, feature) = match (&to.inverse, backwards) {
            (Some((name, _)), true) => (name.clone(), holder, "derived end"),
            _forwards => (to.name.clone(), to.target, "set"),
        };
        Step { name, to: Kind::Entity(target), many: true, link, feature }
    }

    fn derived(&self, entity: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        for (holder, row) in self.entities.iter().enumerate() {
            for to in row.refs.iter().filter(|to| to.target == entity) {
                let Some((name, one)) = &to.inverse else { continue };
                if to.many {
                    steps.push(self.set(holder, to, true));
                    continue;
                }
                let link = self.equal_named(to, "{c}", "{p}");
                let feature = if *one { "one-to-one" } else { "derived end" };
                steps.push(Step { name: name.clone(), to: Kind::Entity(holder), many: !one, link, feature });
            }
        }
        steps
    }
}

pub(super) fn linked(link: &str, parent: &str, child: &str) -> String {
    link.replace("{p}", parent).replace("{c}", child)
}
