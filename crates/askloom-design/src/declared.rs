//! Masters whose key the model declares: the id of a class, split into the part that makes a partition and the part
//! that orders it, with buckets of time.

use askloom_model::{
    ClassId, Collection, DeclaredCollection, DeclaredField, DeclaredKeep, KeyField, Leaf, Model, Path,
};

/// Why no method designs a declared collection yet, as the end of a sentence about it.
#[must_use]
pub fn why_not_designed(declared: &DeclaredCollection) -> Option<&'static str> {
    let carries = declared.keep != DeclaredKeep::Fields(Vec::new());
    match (declared.classes.len() > 1, declared.master) {
        (true, _) => Some("holds several classes in one partition"),
        (false, true) if carries => Some("is a master that carries attributes of others"),
        (false, true) => None,
        (false, false) => Some("has a bucket of time in its key and is not a master"),
    }
}

/// The declaration of the master of a class, if the model has one that can be designed.
pub(crate) fn master_of(model: &Model, class: ClassId) -> Option<&DeclaredCollection> {
    let is_of = |one: &&DeclaredCollection| one.classes.iter().any(|own| own.class == class);
    model.declared.iter().filter(is_of).find(|one| one.master && why_not_designed(one).is_none())
}

/// A master with the name and the key that its declaration gives it.
pub(crate) fn keyed(declared: &DeclaredCollection, name: String, master: Collection) -> Collection {
    let why = match &declared.physical_name {
        Some(name) => format!("The model declares it; in the store it is called {name}."),
        None => "The model declares it.".to_owned(),
    };
    Collection {
        name,
        block_key: declared.key.iter().map(field).collect(),
        entry_key: declared.sort.iter().map(field).collect(),
        reasons: vec![why],
        ..master
    }
}

fn field(declared: &DeclaredField) -> KeyField {
    let leaf = match (declared.path.leaf, declared.bucket) {
        (Leaf::Attribute(id), Some(unit)) => Leaf::TimeBucket(id, unit),
        (leaf, _) => leaf,
    };
    KeyField { path: Path { leaf, ..declared.path.clone() }, descending: declared.descending }
}
