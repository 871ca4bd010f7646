//! Random models.

use super::blueprint::{
    Attribute, Blueprint, Class, ClassKind, Extent, Integrity, Inverse, KeyMember, Part, Preset, Reference,
    Size, ValueList,
};
use super::scalar::Scalar;
use askloom_oracle::Random;

impl Blueprint {
    pub(super) fn random(random: &mut Random) -> Self {
        let mut draw = Draw { blueprint: Blueprint { classes: Vec::new() }, random };
        let roots = 2 + draw.random.below(2) as usize;
        for number in 0..roots {
            let immutable = number > 0 && draw.random.chance(0.12);
            let kind = if immutable { ClassKind::ImmutableRoot } else { ClassKind::Root };
            draw.class(format!("E{number}"), kind, None);
        }
        for root in 0..roots {
            draw.parts(root, 0.65);
        }
        for class in 0..draw.blueprint.classes.len() {
            draw.references(class);
        }
        draw.blueprint
    }
}

struct Draw<'r> {
    blueprint: Blueprint,
    random: &'r mut Random,
}

impl Draw<'_> {
    fn class(&mut self, name: String, kind: ClassKind, owner: Option<(usize, usize)>) -> usize {
        let number = self.blueprint.classes.len();
        let subclass = kind == ClassKind::Root && self.random.chance(0.35);
        let mut class = Class {
            name,
            kind,
            key: Vec::new(),
            attributes: Vec::new(),
            lists: Vec::new(),
            parts: Vec::new(),
            references: Vec::new(),
            subclass,
            owner,
        };
        if class.is_entity() {
            self.key(&mut class, number);
        }
        let attributes =
            if kind == ClassKind::Root { 2 + self.random.below(3) } else { 1 + self.random.below(2) };
        class.attributes = (0..attributes).map(|n| self.attribute(&class, number, n)).collect();
        let lists = u64::from(self.random.chance(if kind == ClassKind::Value { 0.2 } else { 0.5 }));
        class.lists = (0..lists)
            .map(|n| ValueList {
                name: format!("l{number}_{n}"),
                scalar: Scalar::random(self.random),
                max: self.random.chance(0.3).then(|| 1 + self.random.below(3)),
                sub: subclass && self.random.chance(0.3),
            })
            .collect();
        self.blueprint.classes.push(class);
        number
    }

    fn key(&mut self, class: &mut Class, number: usize) {
        let plain = |letter: &str, scalar| KeyMember::Plain(format!("{letter}{number}"), scalar);
        let earlier: Vec<usize> =
            (0..number).filter(|&other| self.blueprint.classes[other].kind == ClassKind::Root).collect();
        let root = class.kind != ClassKind::PartEntity;
        if let Some(&target) = self.random.pick(&earlier).filter(|_| root)
            && self.random.chance(0.2)
        {
            let integrity = [Integrity::Trusted, Integrity::Refuse, Integrity::Cascade];
            let fixed = class.kind == ClassKind::ImmutableRoot;
            let integrity = if fixed { &integrity[..2] } else { &integrity[..] };
            class.references.push(Reference {
                name: format!("r{number}_0"),
                target: Extent { class: target, sub: false },
                size: Size::Required,
                integrity: *self.random.pick(integrity).unwrap(),
                unique: false,
                immutable: false,
                id: true,
                inverse: self.inverse(number, 0, Size::Many { bound: None, max: None }),
                sub: false,
                told_by_target: false,
            });
            class.key = vec![KeyMember::Reference(0), plain("k", Scalar::Int)];
            return;
        }
        class.key = vec![plain("k", Scalar::Int)];
        if root && self.random.chance(0.2) {
            class.key.push(plain("j", Scalar::Text));
        }
    }

    fn inverse(&mut self, class: usize, reference: usize, size: Size) -> Inverse {
        match self.random.chance(0.7) {
            true => Inverse::Derived { name: format!("i{class}_{reference}"), size },
            false => Inverse::None,
        }
    }

    fn attribute(&mut self, class: &Class, number: usize, n: u64) -> Attribute {
        let scalar = Scalar::random(self.random);
        let sub = class.subclass && self.random.chance(0.35);
        let optional = self.random.chance(0.5);
        let comparable = !matches!(scalar, Scalar::Bool | Scalar::Enum | Scalar::Double);
        let fixed = class.kind == ClassKind::ImmutableRoot;
        Attribute {
            name: format!("a{number}_{n}"),
            scalar,
            optional,
            unique: class.is_entity() && comparable && self.random.chance(0.2),
            immutable: class.is_entity() && !fixed && self.random.chance(0.12),
            preset: if sub { None } else { self.preset(class, scalar) },
            sub,
        }
    }

    fn preset(&mut self, class: &Class, scalar: Scalar) -> Option<Preset> {
        if !self.random.chance(0.35) {
            return None;
        }
        let root = matches!(class.kind, ClassKind::Root | ClassKind::ImmutableRoot);
        Some(match scalar {
            Scalar::Stamp if self.random.chance(0.7) => Preset::Now,
            Scalar::Uuid if root && self.random.chance(0.8) => Preset::NewUuid,
            _any => Preset::Constant(scalar.value(self.random)),
        })
    }

    /// The parts of a class, and theirs.
    fn parts(&mut self, owner: usize, chance: f64) {
        while self.blueprint.classes[owner].parts.len() < 3 && self.random.chance(chance) {
            let number = self.blueprint.classes[owner].parts.len();
            let fixed =
                self.blueprint.classes[self.blueprint.root_of(owner)].kind == ClassKind::ImmutableRoot;
            let in_value = self.blueprint.classes[owner].kind == ClassKind::Value;
            let entity = !fixed && !in_value && self.random.chance(0.5);
            let kind = if entity { ClassKind::PartEntity } else { ClassKind::Value };
            let letter = if entity { "P" } else { "V" };
            let name = format!("{letter}{}", self.blueprint.classes.len());
            let class = self.class(name, kind, Some((owner, number)));
            let size = match self.random.below(10) {
                0 if !entity => Size::Required,
                0..=2 => Size::Optional,
                _many => self.many(),
            };
            self.blueprint.classes[owner].parts.push(Part {
                name: format!("p{owner}_{number}"),
                class,
                size,
            });
            self.parts(class, if entity { 0.4 } else { 0.15 });
        }
    }

    fn many(&mut self) -> Size {
        let bound = self.random.chance(0.25).then(|| 2 + self.random.below(2));
        let max = (bound.is_none() && self.random.chance(0.25)).then(|| 1 + self.random.below(3));
        Size::Many { bound, max }
    }

    fn references(&mut self, class: usize) {
        let kind = self.blueprint.classes[class].kind;
        let count = match kind {
            ClassKind::Root => 1 + self.random.below(3),
            ClassKind::ImmutableRoot => self.random.below(2),
            ClassKind::PartEntity => 1 + self.random.below(2),
            ClassKind::Value => u64::from(self.random.chance(0.4)),
        };
        for _ in 0..count {
            let reference = self.reference(class);
            self.blueprint.classes[class].references.push(reference);
        }
    }

    fn reference(&mut self, class: usize) -> Reference {
        let number = self.blueprint.classes[class].references.len();
        // So that there are symmetric relationships, also of parts.
        let own = match self.blueprint.classes[class].kind {
            ClassKind::PartEntity => 0.35,
            ClassKind::Root => 0.15,
            ClassKind::ImmutableRoot | ClassKind::Value => 0.0,
        };
        let target = match self.random.chance(own) {
            true => Extent { class, sub: false },
            false => self.target(),
        };
        let row = &self.blueprint.classes[class];
        let (entity, subclass) = (row.is_entity(), row.subclass);
        let fixed = self.blueprint.classes[self.blueprint.root_of(class)].kind == ClassKind::ImmutableRoot;
        let size = match self.random.below(10) {
            0 | 1 => Size::Required,
            2..=6 => Size::Optional,
            _many => self.many(),
        };
        let integrity = self.integrity(class, size, fixed);
        // Something has to be the first: what is needed and checked is made before.
        let later = self.blueprint.root_of(target.class) >= self.blueprint.root_of(class);
        let size =
            if size == Size::Required && integrity.is_checked() && later { Size::Optional } else { size };
        let inverse = match entity {
            true if fixed => self.inverse(class, number, Size::Many { bound: None, max: None }),
            true => self.other_end(class, number, target, size),
            false => Inverse::None,
        };
        let immutable = entity && !fixed && !size.is_many() && self.random.chance(0.1);
        let mut reference = Reference {
            name: format!("r{class}_{number}"),
            target,
            size,
            integrity: if immutable && integrity == Integrity::Clear { Integrity::Refuse } else { integrity },
            unique: entity && !size.is_many() && self.random.chance(0.1),
            immutable,
            id: false,
            inverse,
            sub: subclass && self.random.chance(0.2),
            told_by_target: false,
        };
        if reference.inverse == Inverse::Symmetric {
            reference.sub = false;
        }
        let plain = reference.integrity == Integrity::Trusted && !reference.unique && !reference.immutable;
        let to_many = matches!(reference.inverse, Inverse::Derived { size, .. } if size.is_many());
        reference.told_by_target = plain && to_many && !reference.size.is_many() && self.random.chance(0.4);
        reference
    }

    fn target(&mut self) -> Extent {
        let entities: Vec<usize> = (0..self.blueprint.classes.len())
            .filter(|&class| self.blueprint.classes[class].is_entity())
            .collect();
        let class = *self.random.pick(&entities).unwrap();
        Extent { class, sub: self.blueprint.classes[class].subclass && self.random.chance(0.2) }
    }

    fn other_end(&mut self, class: usize, number: usize, target: Extent, size: Size) -> Inverse {
        if target == (Extent { class, sub: false }) && size.is_many() && self.random.chance(0.8) {
            return Inverse::Symmetric;
        }
        let other = match (size.is_many(), self.random.below(20)) {
            (false, 0..=5) => Size::Optional,
            (false, 6 | 7) => Size::Required,
            (_, 8..=11) => Size::Many { bound: Some(2), max: None },
            _any => Size::Many { bound: None, max: None },
        };
        self.inverse(class, number, other)
    }

    fn integrity(&mut self, class: usize, size: Size, fixed: bool) -> Integrity {
        use Integrity::{Cascade, Clear, Loose, Refuse, Trusted};
        let held = self.blueprint.classes[class]
            .owner
            .map(|(owner, part)| self.blueprint.classes[owner].parts[part].size);
        let drawn =
            *self.random.pick(&[Trusted, Trusted, Loose, Refuse, Refuse, Cascade, Clear, Clear]).unwrap();
        match drawn {
            Clear if size == Size::Required || fixed => Refuse,
            Cascade if fixed || held == Some(Size::Required) => Refuse,
            other => other,
        }
    }
}
