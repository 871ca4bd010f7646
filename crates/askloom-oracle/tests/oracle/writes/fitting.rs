//! Arguments that do not fit: what is refused for its form, whatever the state is.

use super::arguments::Arguments;
use super::blueprint::{Blueprint, Extent, Size};
use super::engine::Refusals;
use super::scalar::Scalar;
use super::statement::{RandomWrite, Statement, Wanted};
use serde_json::{Map, Value as Json};

impl Arguments {
    /// Refusals of the parameters in the text of a write, and of those that it does not have.
    pub(super) fn unfit_parameters(&self, blueprint: &Blueprint, write: &RandomWrite) -> Refusals {
        let mut refusals = Refusals::new();
        if self.json.contains_key("unheard") {
            refusals.insert("UnknownParameter unheard".to_owned());
        }
        for parameter in &write.parameters {
            let name = &parameter.name;
            match self.json.get(name) {
                None => drop(refusals.insert(format!("MissingParameter {name}"))),
                Some(Json::Null) => {}
                Some(value) => {
                    let fits = match parameter.wanted {
                        Wanted::Value(scalar) => scalar.fits(value),
                        Wanted::Key { class, column } => blueprint.key_scalars(class)[column].fits(value),
                        Wanted::Rank => Scalar::Long.fits(value),
                        Wanted::Identity(_) | Wanted::KeyReference { .. } => {
                            blueprint.fits_identity(parameter.wanted.identity(blueprint).unwrap(), value)
                        }
                        Wanted::Whole(class) => blueprint.fits_part(class, value),
                    };
                    if !fits {
                        refusals.insert(format!("WrongType {name}"));
                    }
                }
            }
        }
        refusals
    }

    /// Refusals of the fields that INSERT, UPSERT or STORE is given.
    pub(super) fn unfit_fields(&self, blueprint: &Blueprint, statement: &Statement) -> Refusals {
        match statement {
            Statement::Insert(extent) | Statement::Upsert(extent) | Statement::Store(extent) => {
                blueprint.unfit_fields(*extent, &self.json)
            }
            Statement::Add { from, list, value } => {
                let null = value.parameter.as_ref().is_some_and(|name| self.get(name).is_null());
                let name = blueprint.list_name(from.extent.class, *list);
                null.then(|| format!("Required {name}")).into_iter().collect()
            }
            Statement::Update { .. }
            | Statement::UpdateElements { .. }
            | Statement::Delete { .. }
            | Statement::Remove { .. }
            | Statement::Connect { .. }
            | Statement::Disconnect { .. } => Refusals::new(),
        }
    }
}

impl Blueprint {
    /// What concerns a class, of the arguments of a write: another statement may be about its subclass.
    pub(super) fn fields_of(&self, extent: Extent, fields: &Map<String, Json>) -> Map<String, Json> {
        let class = &self.classes[extent.class];
        let attributes =
            class.attributes.iter().filter(|attribute| attribute.sub).map(|attribute| &attribute.name);
        let lists = class.lists.iter().filter(|list| list.sub).map(|list| &list.name);
        let references =
            class.references.iter().filter(|reference| reference.sub).map(|reference| &reference.name);
        let of_subclass: Vec<&String> = attributes.chain(lists).chain(references).collect();
        let mut fields = fields.clone();
        fields.retain(|name, _| extent.sub || !of_subclass.contains(&name));
        fields
    }

    fn unfit_fields(&self, extent: Extent, fields: &Map<String, Json>) -> Refusals {
        let class = &self.classes[extent.class];
        let fields = &self.fields_of(extent, fields);
        let mut refusals = Refusals::new();
        let mut single = |name: &str, needed: bool, required: bool, fits: &dyn Fn(&Json) -> bool| {
            let refusal = match fields.get(name) {
                None if needed => format!("MissingParameter {name}"),
                Some(Json::Null) if required => format!("Required {name}"),
                None | Some(Json::Null) => return,
                Some(value) if fits(value) => return,
                Some(_) => format!("WrongType {name}"),
            };
            refusals.insert(refusal);
        };
        for (name, scalar) in class.key.iter().filter_map(|member| member.plain()) {
            single(name, true, true, &|value| scalar.fits(value));
        }
        for attribute in class.attributes.iter().filter(|attribute| extent.sub || !attribute.sub) {
            let needed = !attribute.optional && attribute.preset.is_none();
            single(&attribute.name, needed, !attribute.optional, &|value| attribute.scalar.fits(value));
        }
        for reference in class.references.iter().filter(|reference| extent.sub || !reference.sub) {
            let needed = reference.size == Size::Required;
            let fits = |value: &Json| self.fits_identity(reference.target, value);
            match reference.size {
                Size::Many { .. } => single(&reference.name, false, false, &|value| all(value, &fits)),
                Size::Required | Size::Optional => single(&reference.name, needed, needed, &fits),
            }
        }
        for part in &class.parts {
            let needed = part.size == Size::Required;
            let fits = |value: &Json| self.fits_part(part.class, value);
            match part.size {
                Size::Many { .. } => single(&part.name, false, false, &|value| all(value, &fits)),
                Size::Required | Size::Optional => single(&part.name, needed, needed, &fits),
            }
        }
        for list in class.lists.iter().filter(|list| extent.sub || !list.sub) {
            single(&list.name, false, false, &|value| all(value, &|value| list.scalar.fits(value)));
        }
        refusals.extend(self.too_many(extent.class, fields));
        refusals
    }

    fn fits_identity(&self, extent: Extent, value: &Json) -> bool {
        let scalars = self.key_scalars(extent.class);
        match value {
            Json::Array(values) => {
                values.len() == scalars.len()
                    && scalars.iter().zip(values).all(|(scalar, value)| scalar.fits(value))
            }
            one => scalars.len() == 1 && scalars[0].fits(one),
        }
    }

    /// Whether a value is a part of a class, with all that it must have.
    fn fits_part(&self, class: usize, value: &Json) -> bool {
        let Json::Object(fields) = value else { return false };
        let refusals = self.unfit_fields(Extent { class, sub: false }, fields);
        refusals.iter().all(|refusal| refusal.starts_with("TooMany")) && self.fits_sizes(class, fields)
    }

    /// A part is read as a whole: a set in it has no link twice, and nothing in it is over its bound.
    fn fits_sizes(&self, class: usize, fields: &Map<String, Json>) -> bool {
        let row = &self.classes[class];
        let elements = |name: &str| fields.get(name).and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
        let within = |name: &str, size: Size| match size {
            Size::Many { bound: Some(bound), .. } => elements(name).len() as u64 <= bound,
            Size::Many { bound: None, .. } | Size::Required | Size::Optional => true,
        };
        let different = |name: &str| {
            let ids = elements(name);
            ids.iter().enumerate().all(|(n, id)| !ids[..n].contains(id))
        };
        row.parts.iter().all(|part| within(&part.name, part.size))
            && row
                .references
                .iter()
                .filter(|reference| reference.size.is_many())
                .all(|set| within(&set.name, set.size) && different(&set.name))
    }

    /// Lists and sets over their `@max`, also inside parts.
    fn too_many(&self, class: usize, fields: &Map<String, Json>) -> Refusals {
        let row = &self.classes[class];
        let lists = row.lists.iter().map(|list| (&list.name, list.max));
        let max = |size| match size {
            Size::Many { max, .. } => max,
            Size::Required | Size::Optional => None,
        };
        let parts = row.parts.iter().map(|part| (&part.name, max(part.size)));
        let sets = row.references.iter().map(|reference| (&reference.name, max(reference.size)));
        let mut refusals = Refusals::new();
        for (name, max) in lists.chain(parts).chain(sets) {
            let given = fields.get(name).and_then(Json::as_array).into_iter().flatten();
            let mut given: Vec<String> = given.map(Json::to_string).collect();
            if row.references.iter().any(|set| set.name == *name) {
                given.sort();
                given.dedup();
            }
            let count = given.len() as u64;
            if let Some(max) = max.filter(|&max| count > max) {
                refusals.insert(format!("TooMany {name} {count} of {max}"));
            }
        }
        for part in &row.parts {
            let inner: Vec<&Json> = match fields.get(&part.name) {
                Some(Json::Array(parts)) => parts.iter().collect(),
                Some(one) => vec![one],
                None => Vec::new(),
            };
            for fields in inner.into_iter().filter_map(Json::as_object) {
                refusals.extend(self.too_many(part.class, fields));
            }
        }
        refusals
    }
}

fn all(value: &Json, fits: &dyn Fn(&Json) -> bool) -> bool {
    value.as_array().is_some_and(|values| values.iter().all(fits))
}
