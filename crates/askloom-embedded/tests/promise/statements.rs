//! Random writes as text.

use crate::paths::Paths;
use crate::random::Random;
use crate::values::literal;
use askloom_model::{Cardinality, ClassId, ClassKind, Conceptual, Member, RelationshipKind, Type};

/// The text of a write.
pub(crate) fn write(conceptual: &Conceptual, name: &str, random: &Random) -> Option<String> {
    if random.percent(80) {
        return Some(format!("write {name}: {}\n", statement(conceptual, "", random)?));
    }
    let several: Vec<String> = (0..2 + random.below(2))
        .filter_map(|n| statement(conceptual, &n.to_string(), &random.fork(&format!("step{n}"))))
        .collect();
    let apart = if several.len() > 1 && random.fork("apart").percent(50) { "@apart\n" } else { "" };
    match several.is_empty() {
        true => None,
        false => Some(format!("{apart}write {name} {{\n  {}\n}}\n", several.join("\n  "))),
    }
}

/// The text of a collection that is said to exist already.
pub(crate) fn collection(conceptual: &Conceptual, name: &str, random: &Random) -> Option<String> {
    let is_root = |class: &ClassId| conceptual.aggregate_root(*class) == Some(*class);
    let roots: Vec<ClassId> = conceptual.classes.ids().filter(is_root).collect();
    let class = *random.pick(&roots);
    let own = ordered(conceptual, class);
    let mut fields: Vec<String> = own.clone();
    for member in conceptual.all_members(class) {
        if let Member::End(end) = member
            && let row = &conceptual.ends[end]
            && row.stored
            && row.kind != RelationshipKind::Composition
            && !row.cardinality.is_many()
        {
            fields.push(row.name.clone());
            fields
                .extend(ordered(conceptual, row.target).iter().map(|field| format!("{}.{field}", row.name)));
        }
    }
    if fields.is_empty() {
        return None;
    }
    let some = |label: &str, most: usize| -> Vec<&str> {
        let random = random.fork(label);
        let mut chosen: Vec<&str> =
            (0..1 + random.below(most)).map(|_| random.pick(&fields).as_str()).collect();
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    };
    let by_id: Vec<&str> =
        conceptual.classes[class].identifier.iter().map(|&member| conceptual.member_name(member)).collect();
    let key = if random.one_in(3) && !by_id.is_empty() { by_id } else { some("key", 2) };
    let mut text =
        format!("collection {name} of {} {{ key {};", conceptual.classes[class].name, key.join(", "));
    if random.one_in(2) {
        let sort: Vec<&str> = some("sort", 2).into_iter().filter(|field| !key.contains(field)).collect();
        if !sort.is_empty() {
            let down = if random.one_in(2) { " desc" } else { "" };
            text.push_str(&format!(" sort {}{down};", sort.join(", ")));
        }
    }
    match random.below(3) {
        0 => {}
        1 => text.push_str(" keep *;"),
        _ => text.push_str(&format!(" keep {};", some("keep", 4).join(", "))),
    }
    Some(format!("{text} }}\n"))
}

/// The values of a class that have an order, one each.
fn ordered(conceptual: &Conceptual, class: ClassId) -> Vec<String> {
    let members = conceptual.all_members(class).filter_map(|member| match member {
        Member::Attribute(id) => Some(&conceptual.attributes[id]),
        Member::End(_) => None,
    });
    let ordered = members.filter(|attribute| !attribute.list && attribute.ty.is_ordered());
    ordered.map(|attribute| attribute.name.clone()).collect()
}

/// One statement. Its parameters have the suffix, as those of different statements may have different types.
fn statement(conceptual: &Conceptual, suffix: &str, random: &Random) -> Option<String> {
    let entity = |class: &ClassId| conceptual.classes[*class].kind.is_entity();
    let entities: Vec<ClassId> = conceptual.classes.ids().filter(entity).collect();
    let class = *random.pick(&entities);
    let row = &conceptual.classes[class];
    let name = &row.name;
    let is_part = conceptual.lineage(class).iter().any(|&c| conceptual.classes[c].owner.is_some());
    let made = Made { conceptual, class, suffix, random };
    if conceptual.is_immutable(class) {
        let makes = !is_part && row.kind == ClassKind::Entity;
        return match random.below(10) {
            0..=3 if makes => Some(format!("INSERT {name}")),
            4..=7 if makes && !row.surrogate => Some(format!("UPSERT {name}")),
            _other => made.link(),
        };
    }
    match random.below(24) {
        0..=3 if !is_part && row.kind == ClassKind::Entity => Some(format!("INSERT {name}")),
        4 | 5 if !is_part && row.kind == ClassKind::Entity && !row.surrogate => {
            Some(format!("UPSERT {name}"))
        }
        6 | 7 if !is_part => Some(format!("DELETE {name}{}", made.condition())),
        8..=10 => made.add(),
        11..=13 => made.remove(),
        14..=16 => made.link(),
        20 | 21 if !is_part && row.kind == ClassKind::Entity && !row.surrogate => {
            Some(format!("STORE {name}"))
        }
        22 | 23 => made.update_elements(),
        _update => made.update(),
    }
}

struct Made<'m> {
    conceptual: &'m Conceptual,
    class: ClassId,
    suffix: &'m str,
    random: &'m Random,
}

impl Made<'_> {
    fn name(&self) -> &str {
        &self.conceptual.classes[self.class].name
    }

    /// Mostly by id, so that one instance is meant; at times by anything, or all of them.
    fn condition(&self) -> String {
        let random = self.random.fork("condition");
        let row = &self.conceptual.classes[self.class];
        let mut terms: Vec<String> = Vec::new();
        if random.percent(70) {
            for &member in &row.identifier {
                let name = self.conceptual.member_name(member);
                terms.push(format!("{}.{name} = :{name}{}", self.name(), self.suffix));
            }
        }
        let paths = Paths::new(self.conceptual, self.class);
        if (terms.is_empty() && random.percent(85)) || random.percent(15) {
            // Names of parameters that no field has.
            let text = paths.condition(1, &random.fork("term"));
            terms.push(text.replace(":p", &format!(":w{}", self.suffix)));
        }
        match terms.is_empty() {
            true => String::new(),
            false => format!(" WHERE {}", terms.join(" AND ")),
        }
    }

    fn lists(&self) -> Vec<Member> {
        let is_list = |member: &Member| match *member {
            Member::Attribute(id) => {
                let attribute = &self.conceptual.attributes[id];
                attribute.list && !attribute.immutable
            }
            Member::End(id) => {
                let end = &self.conceptual.ends[id];
                end.kind == RelationshipKind::Composition && end.cardinality.is_many()
            }
        };
        let stays = self.conceptual.is_immutable(self.class);
        self.conceptual.all_members(self.class).filter(|_| !stays).filter(is_list).collect()
    }

    /// Whether a member is of what never changes: a link, where it is stored.
    fn stays(&self, member: Member) -> bool {
        let holder = match member {
            Member::End(id) if !self.conceptual.ends[id].stored => {
                self.conceptual.ends[self.conceptual.stored_end(id)].class
            }
            Member::End(_) | Member::Attribute(_) => self.class,
        };
        self.conceptual.is_immutable(holder)
    }

    fn add(&self) -> Option<String> {
        let lists = self.lists();
        if lists.is_empty() {
            return self.update();
        }
        let list = self.conceptual.member_name(*self.random.pick(&lists));
        Some(format!("ADD :new{} TO {}.{list}{}", self.suffix, self.name(), self.condition()))
    }

    fn remove(&self) -> Option<String> {
        let lists = self.lists();
        if lists.is_empty() {
            return self.update();
        }
        let list = self.conceptual.member_name(*self.random.pick(&lists));
        let at = if self.random.percent(60) { format!(" AT :at{}", self.suffix) } else { String::new() };
        Some(format!("REMOVE FROM {}.{list}{at}{}", self.name(), self.condition()))
    }

    fn link(&self) -> Option<String> {
        let is_reference = |member: &Member| match *member {
            Member::Attribute(_) => false,
            Member::End(id) => {
                let end = &self.conceptual.ends[id];
                let stored = &self.conceptual.ends[self.conceptual.stored_end(id)];
                end.kind != RelationshipKind::Composition
                    && stored.kind != RelationshipKind::Composition
                    && !stored.id
                    && !stored.immutable
            }
        };
        let members = self.conceptual.all_members(self.class).filter(|&member| !self.stays(member));
        let ends: Vec<Member> = members.filter(is_reference).collect();
        if ends.is_empty() {
            return self.update();
        }
        let member = *self.random.pick(&ends);
        let Member::End(id) = member else { return None };
        let end = &self.conceptual.ends[id];
        let name = format!("{}.{}", self.name(), end.name);
        let required = end.cardinality == Cardinality::ONE
            || end.inverse.is_some_and(|other| self.conceptual.ends[other].cardinality == Cardinality::ONE);
        if required || self.random.percent(60) {
            return Some(format!("CONNECT {name} TO :to{}{}", self.suffix, self.condition()));
        }
        let from = if end.cardinality.min > 0 || self.random.one_in(2) {
            format!(" FROM :from{}", self.suffix)
        } else {
            String::new()
        };
        Some(format!("DISCONNECT {name}{from}{}", self.condition()))
    }

    fn update(&self) -> Option<String> {
        let mut set: Vec<String> = Vec::new();
        let mut prefix = String::new();
        let mut class = self.class;
        // Into a to-one part at times.
        let parts: Vec<Member> =
            self.conceptual.all_members(class).filter(|m| self.is_single_part(*m)).collect();
        if let (false, true) = (parts.is_empty(), self.random.percent(30))
            && let Member::End(id) = *self.random.pick(&parts)
        {
            prefix = format!("{}.", self.conceptual.ends[id].name);
            class = self.conceptual.ends[id].target;
        }
        for member in self.conceptual.all_members(class) {
            let random = self.random.fork(self.conceptual.member_name(member));
            if random.percent(40)
                && !self.stays(member)
                && let Some(text) = self.assignment(&prefix, member, &random)
            {
                set.push(text);
            }
        }
        (!set.is_empty())
            .then(|| format!("UPDATE {} SET {}{}", self.name(), set.join(", "), self.condition()))
    }

    /// Sets some members of elements, mostly of those with some value.
    fn update_elements(&self) -> Option<String> {
        let lists = self.lists();
        if lists.is_empty() {
            return self.update();
        }
        let list = *self.random.pick(&lists);
        let name = self.conceptual.member_name(list);
        let (set, compared): (Vec<String>, Vec<String>) = match list {
            Member::Attribute(id) => {
                let attribute = &self.conceptual.attributes[id];
                let parameter = format!(":set_{name}{}", self.suffix);
                let random = self.random.fork("element");
                let value = match attribute.ty.is_number() && random.percent(40) {
                    true => format!("{name} {} {parameter}", random.pick(&["+", "-"])),
                    false => parameter,
                };
                let compared = attribute.ty.is_ordered().then(|| name.to_owned());
                (vec![format!("{name} = {value}")], compared.into_iter().collect())
            }
            Member::End(id) => {
                let element = self.conceptual.ends[id].target;
                let chosen = self.conceptual.all_members(element).filter_map(|member| {
                    let random = self.random.fork(self.conceptual.member_name(member));
                    random.percent(60).then(|| self.assignment("", member, &random)).flatten()
                });
                let compared = ordered(self.conceptual, element).into_iter();
                (chosen.collect(), compared.map(|field| format!("{name}.{field}")).collect())
            }
        };
        if set.is_empty() {
            return None;
        }
        let mut condition = self.condition();
        let random = self.random.fork("elements");
        if !compared.is_empty() && random.percent(40) {
            let word = if condition.is_empty() { "WHERE" } else { "AND" };
            let field = random.pick(&compared);
            condition.push_str(&format!(
                " {word} {field} {} :el{}",
                random.pick(&["=", "!=", ">"]),
                self.suffix
            ));
        }
        Some(format!("UPDATE {}.{name} SET {}{condition}", self.name(), set.join(", ")))
    }

    fn is_single_part(&self, member: Member) -> bool {
        match member {
            Member::Attribute(_) => false,
            Member::End(id) => {
                let end = &self.conceptual.ends[id];
                end.kind == RelationshipKind::Composition && !end.cardinality.is_many()
            }
        }
    }

    fn assignment(&self, prefix: &str, member: Member, random: &Random) -> Option<String> {
        let name = format!("{prefix}{}", self.conceptual.member_name(member));
        let parameter = format!(":set_{}{}", self.conceptual.member_name(member), self.suffix);
        match member {
            Member::Attribute(id) => {
                let attribute = &self.conceptual.attributes[id];
                if attribute.id || attribute.immutable || attribute.list {
                    return None;
                }
                Some(match &attribute.ty {
                    ty if ty.is_number() && random.percent(40) => {
                        format!("{name} = {name} {} {parameter}", random.pick(&["+", "-"]))
                    }
                    Type::Timestamp(_) | Type::Date if random.percent(30) => format!("{name} = now()"),
                    Type::Uuid if random.percent(40) => format!("{name} = uuid()"),
                    _any if attribute.optional && random.percent(15) => format!("{name} = null"),
                    ty if random.percent(20) => {
                        format!("{name} = {}", literal(ty, random).unwrap_or(parameter))
                    }
                    _any => format!("{name} = {parameter}"),
                })
            }
            Member::End(id) => {
                let end = &self.conceptual.ends[id];
                let stored = &self.conceptual.ends[self.conceptual.stored_end(id)];
                let fixed = stored.id || stored.immutable || end.cardinality.is_many();
                let owner = !end.stored && stored.kind == RelationshipKind::Composition;
                (!fixed && !owner).then(|| format!("{name} = {parameter}"))
            }
        }
    }
}
