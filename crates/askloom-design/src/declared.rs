//! Masters whose key the model declares: the id of a class, split into the part that makes a partition and the part
//! that orders it, with buckets of time.

use askloom_model::{
    ClassId, Collection, Contents, DeclaredCollection, DeclaredField, DeclaredKeep, Design, Id, Keeper,
    KeyField, Leaf, Model, Origin, Path, PositionId, Role, Source,
};
use askloom_plan::upkeep::unused;

/// Why no method designs a declared collection yet, as the end of a sentence about it.
#[must_use]
pub fn why_not_designed(declared: &DeclaredCollection) -> Option<&'static str> {
    match (declared.classes.len() > 1, declared.master) {
        (true, _) => Some("holds several classes in one partition"),
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

/// What the declared master of a class carries of others, once its master is in a design.
pub(crate) fn add_carried(model: &Model, class: ClassId, origin: Origin, design: &mut Design) {
    let (Some(declared), Some(master)) = (master_of(model, class), design.master(class)) else { return };
    let fields: Vec<Path> = match &declared.keep {
        // The check refuses `keep *` of a master.
        DeclaredKeep::All => Vec::new(),
        DeclaredKeep::Fields(fields) => fields.iter().map(|field| field.path.clone()).collect(),
    };
    if fields.is_empty() || design.carried(class).is_some() {
        return;
    }
    let main = PositionId::from_index(0);
    let itself = Path { position: main, hops: Vec::new(), leaf: Leaf::Itself };
    let name = format!("{}Carried", design.collections[master].name);
    design.collections.push(Collection {
        name: unused(design, name),
        role: Role::Carried,
        origin,
        keeper: Keeper::Ours,
        source: Source { root: class, positions: askloom_plan::positions::only_main(class), condition: None },
        block_key: vec![KeyField { path: itself, descending: false }],
        entry_key: Vec::new(),
        contents: Contents::Fields(fields),
        reasons: vec!["The model declares that the master carries these.".to_owned()],
    });
}

fn field(declared: &DeclaredField) -> KeyField {
    let leaf = match (declared.path.leaf, declared.bucket) {
        (Leaf::Attribute(id), Some(unit)) => Leaf::TimeBucket(id, unit),
        (leaf, _) => leaf,
    };
    KeyField { path: Path { leaf, ..declared.path.clone() }, descending: declared.descending }
}
