//! The text of a random model.

use super::blueprint::{
    Attribute, Blueprint, Class, ClassKind, Extent, Integrity, Inverse, KeyMember, Preset, Reference, Size,
};
use std::fmt::Write;

impl Blueprint {
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (number, class) in self.classes.iter().enumerate() {
            let keyword = match class.kind {
                ClassKind::Root | ClassKind::PartEntity => "entity",
                ClassKind::ImmutableRoot => "immutable entity",
                ClassKind::Value => "value",
            };
            let members = self.members(number, class, false).join("\n  ");
            writeln!(text, "{keyword} {} {{\n  {members}\n}}", class.name).unwrap();
            if class.subclass {
                let members = self.members(number, class, true).join("\n  ");
                writeln!(text, "entity S{0} extends {0} {{\n  {members}\n}}", class.name).unwrap();
            }
        }
        text
    }

    fn members(&self, number: usize, class: &Class, sub: bool) -> Vec<String> {
        let mut members = Vec::new();
        if !sub {
            members.extend(class.key.iter().map(|member| match member {
                KeyMember::Plain(name, scalar) => format!("id {name}: {}", scalar.word()),
                KeyMember::Reference(reference) => self.reference(number, &class.references[*reference]),
            }));
            for part in &class.parts {
                let target = &self.classes[part.class].name;
                members.push(format!("part {}: {}", part.name, sized(target, part.size)));
            }
        }
        members.extend(class.attributes.iter().filter(|a| a.sub == sub).map(attribute));
        members.extend(class.lists.iter().filter(|list| list.sub == sub).map(|list| {
            let max = list.max.map(|max| format!(" @max({max})")).unwrap_or_default();
            format!("{}: {}[*]{max}", list.name, list.scalar.word())
        }));
        let told_here =
            |reference: &&Reference| !reference.id && !reference.told_by_target && reference.sub == sub;
        members.extend(class.references.iter().filter(told_here).map(|r| self.reference(number, r)));
        for (holder, _, reference) in self.references() {
            if reference.told_by_target && reference.target == (Extent { class: number, sub }) {
                members.push(self.told_by_target(holder, reference));
            }
        }
        members
    }

    fn reference(&self, class: usize, reference: &Reference) -> String {
        let mut text = String::new();
        for (word, said) in
            [("id ", reference.id), ("immutable ", reference.immutable), ("unique ", reference.unique)]
        {
            text += if said { word } else { "" };
        }
        let (before, after) = match reference.integrity {
            Integrity::Trusted => ("", ""),
            Integrity::Loose => ("loose ", ""),
            Integrity::Refuse => ("checked ", " on delete refuse"),
            Integrity::Cascade => ("checked ", " on delete cascade"),
            Integrity::Clear => ("checked ", " on delete clear"),
        };
        let target = sized(&self.extent_name(reference.target), reference.size);
        let inverse = match &reference.inverse {
            Inverse::None => String::new(),
            Inverse::Symmetric => format!(" inverse {}", reference.name),
            Inverse::Derived { name, size: Size::Many { bound: None, max: None } } => {
                format!(" inverse {name}")
            }
            Inverse::Derived { name, size } => {
                let holder = self.extent_name(Extent { class, sub: reference.sub });
                format!(" inverse {name}: {}", sized(&holder, *size))
            }
        };
        format!("{text}{before}ref {}: {target}{after}{inverse}", reference.name)
    }

    fn told_by_target(&self, class: usize, reference: &Reference) -> String {
        let Inverse::Derived { name, size } = &reference.inverse else {
            unreachable!("only a pair of ends is told by the target")
        };
        let holder = self.extent_name(Extent { class, sub: reference.sub });
        let target = sized(&self.extent_name(reference.target), reference.size);
        format!("ref {name}: {} inverse {}: {target}", sized(&holder, *size), reference.name)
    }
}

fn attribute(attribute: &Attribute) -> String {
    let immutable = if attribute.immutable { "immutable " } else { "" };
    let unique = if attribute.unique { "unique " } else { "" };
    let optional = if attribute.optional { "?" } else { "" };
    let preset = match &attribute.preset {
        None => String::new(),
        Some(Preset::Constant(value)) => format!(" = {}", attribute.scalar.default(value)),
        Some(Preset::Now) => " = now()".to_owned(),
        Some(Preset::NewUuid) => " = uuid()".to_owned(),
    };
    format!("{immutable}{unique}{}: {}{optional}{preset}", attribute.name, attribute.scalar.word())
}

fn sized(target: &str, size: Size) -> String {
    match size {
        Size::Required => target.to_owned(),
        Size::Optional => format!("{target}?"),
        Size::Many { bound, max } => {
            let bound = bound.map_or("[*]".to_owned(), |bound| format!("[0..{bound}]"));
            let max = max.map(|max| format!(" @max({max})")).unwrap_or_default();
            format!("{target}{bound}{max}")
        }
    }
}
