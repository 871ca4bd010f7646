//! Masters whose key the model declares: the id of a class, split into the part that makes a partition and the part
//! that orders it, with buckets of time. Of a collection of several classes each has a master of its own, which lies in
//! the partitions of the first.

use askloom_model::{
    ClassId, Collection, Conceptual, Contents, DeclaredCollection, DeclaredField, DeclaredKeep, Design,
    EndId, Id, Keeper, KeyField, Leaf, Model, Origin, Path, PositionId, Role, Source,
};
use askloom_plan::upkeep::unused;

/// Why no method designs a declared collection yet, as the end of a sentence about it.
#[must_use]
pub fn why_not_designed(conceptual: &Conceptual, declared: &DeclaredCollection) -> Option<&'static str> {
    match (declared.classes.as_slice(), declared.master) {
        ([first, _, ..], true) => {
            let partition = is_identifier(conceptual, first.class, declared);
            (!partition).then_some("holds several classes by a key that is not the whole id of the first")
        }
        ([_, _, ..], false) => Some("holds several classes and is not their master"),
        ([] | [_], true) => None,
        ([] | [_], false) => Some("has a bucket of time in its key and is not a master"),
    }
}

/// Whether the key is the identifier of a class, member by member: only then is a reference to an instance the partition
/// that the instance is in.
fn is_identifier(conceptual: &Conceptual, class: ClassId, declared: &DeclaredCollection) -> bool {
    let key: Vec<Leaf> =
        declared.key.iter().filter(|field| field.bucket.is_none()).map(|field| field.path.leaf).collect();
    key.len() == declared.key.len()
        && key == askloom_plan::positions::identity_leaves(conceptual, class)
        && declared.sort.iter().all(|field| field.class != class)
}

/// The declaration of the master of a class, if the model has one that can be designed.
pub(crate) fn master_of(model: &Model, class: ClassId) -> Option<&DeclaredCollection> {
    let is_of = |one: &&DeclaredCollection| one.classes.iter().any(|own| own.class == class);
    let designed = |one: &&DeclaredCollection| why_not_designed(&model.conceptual, one).is_none();
    model.declared.iter().filter(is_of).find(|one| one.master && designed(one))
}

/// What the master of one of the classes of a declared collection is called: the first one as the collection, whose table
/// and partitions it makes, any other as its class.
pub(crate) fn name_of(model: &Model, declared: &DeclaredCollection, class: ClassId) -> String {
    let name = &model.conceptual.classes[class].name;
    let taken = model.declared.iter().any(|other| other.name == *name)
        || model.given.iter().any(|other| other.name == *name);
    match belongs_by(declared, class) {
        None => declared.name.clone(),
        Some(_) if taken => format!("{}{name}", declared.name),
        Some(_) => name.clone(),
    }
}

/// The first class of a declared collection, and the reference to it by which another one of its classes belongs there.
fn belongs_by(declared: &DeclaredCollection, class: ClassId) -> Option<(ClassId, EndId)> {
    let first = declared.classes.first()?.class;
    let own = declared.classes.iter().find(|one| one.class == class)?;
    Some((first, own.by?))
}

/// A master with the name and the key that its declaration gives it.
pub(crate) fn keyed(declared: &DeclaredCollection, name: String, master: Collection) -> Collection {
    let class = master.source.root;
    let belongs = belongs_by(declared, class);
    let mut reasons = vec![match &declared.physical_name {
        Some(name) => format!("The model declares it; in the store it is called {name}."),
        None => "The model declares it.".to_owned(),
    }];
    if belongs.is_some() {
        reasons.push(format!("It lies in the partitions of {}.", declared.name));
    }
    let main = PositionId::from_index(0);
    let block_key = match belongs {
        None => declared.key.iter().map(field).collect(),
        Some((_, by)) => {
            let path = Path { position: main, hops: Vec::new(), leaf: Leaf::Reference(by) };
            vec![KeyField { path, descending: false }]
        }
    };
    Collection {
        name,
        partition_of: belongs.map(|(first, _)| first),
        block_key,
        entry_key: declared.sort.iter().filter(|field| field.class == class).map(field).collect(),
        reasons,
        ..master
    }
}

/// What the declared master of a class carries of others, once its master is in a design.
pub(crate) fn add_carried(model: &Model, class: ClassId, origin: Origin, design: &mut Design) {
    let (Some(declared), Some(master)) = (master_of(model, class), design.master(class)) else { return };
    let fields: Vec<Path> = match &declared.keep {
        // The check refuses `keep *` of a master.
        DeclaredKeep::All => Vec::new(),
        DeclaredKeep::Fields(fields) => {
            fields.iter().filter(|field| field.class == class).map(|field| field.path.clone()).collect()
        }
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
        partition_of: None,
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
