//! A design comes to a store: the first one, the same one again, or one that adds to it.

use super::Database;
use super::catalogue::Catalogue;
use super::difference::{Difference, Kind, differences, is_master};
use super::shape::Shape;
use crate::KeyedSchema;
use crate::store::{Batch, Options, Outcome, Store};
use askloom_design::saved;
use askloom_engine::RunError;
use askloom_model::{Design, Model};
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::Mutex;

/// Why a store cannot be used with a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenError {
    /// Nothing was ever applied to it.
    NotApplied,
    /// It was applied something else; these are the differences.
    Different(Vec<Difference>),
    /// Two collections of the design have this name.
    SameName(String),
    Store(RunError),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotApplied => f.write_str("nothing has been applied to the store yet"),
            Self::Different(differences) => {
                f.write_str("the store holds data of another model or design")?;
                differences.iter().try_for_each(|difference| write!(f, "\n  {difference}"))
            }
            Self::SameName(name) => write!(f, "two collections of the design are called `{name}`"),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for OpenError {}

impl From<RunError> for OpenError {
    fn from(error: RunError) -> Self {
        Self::Store(error)
    }
}

impl From<crate::store::Error> for OpenError {
    fn from(error: crate::store::Error) -> Self {
        Self::Store(error.into())
    }
}

/// What applying a design changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applied {
    /// The store held nothing.
    Created,
    /// It had this design already.
    Unchanged,
    /// Everything that was added. New copies have to be [filled](Database::fill).
    Extended(Vec<Difference>),
}

impl Database {
    /// Opens the store in a folder, which must hold data of this model by this design.
    pub fn open(
        folder: impl AsRef<Path>,
        options: &Options,
        model: Model,
        design: Design,
    ) -> Result<Self, OpenError> {
        let store = Store::open(folder, options)?;
        let shape = Shape::of(&model, &design);
        let catalogue = Catalogue::read(&store.snapshot())?.ok_or(OpenError::NotApplied)?;
        if !catalogue.shape.is_same(&shape) {
            return Err(OpenError::Different(differences(&catalogue.shape, &shape)));
        }
        Ok(Self::of(store, model, design, catalogue))
    }

    /// Opens the store in a folder, which must hold data of this model, by the design that was applied to it.
    pub fn open_as_applied(
        folder: impl AsRef<Path>,
        options: &Options,
        model: Model,
    ) -> Result<Self, OpenError> {
        let store = Store::open(folder, options)?;
        let catalogue = Catalogue::read(&store.snapshot())?.ok_or(OpenError::NotApplied)?;
        let mut shape = Shape::of(&model, &Design::default());
        shape.design.clone_from(&catalogue.shape.design);
        if !catalogue.shape.is_same(&shape) {
            return Err(OpenError::Different(differences(&catalogue.shape, &shape)));
        }
        let design = saved::from_json(&model, &catalogue.shape.design.to_string()).map_err(|errors| {
            let said: Vec<String> = errors.into_iter().map(|error| error.message).collect();
            RunError::Corrupted(format!("its design cannot be read: {}", said.join("; ")))
        })?;
        Ok(Self::of(store, model, design, catalogue))
    }

    /// A name for what the store holds: equal for equal models and designs.
    #[must_use]
    pub fn fingerprint(&self) -> &str {
        &self.catalogue.fingerprint
    }

    /// Applies a design to the store in a folder: to an empty one any, to one with data what adds to its own. Copies
    /// that are new are kept right from now on, and read after they have been [filled](Self::fill).
    pub fn apply(
        folder: impl AsRef<Path>,
        options: &Options,
        model: Model,
        design: Design,
    ) -> Result<(Self, Applied), OpenError> {
        unequal_names(&design)?;
        let store = Store::open(folder, options)?;
        let shape = Shape::of(&model, &design);
        let fingerprint = saved::fingerprint(&model, &design);
        let found = Catalogue::read(&store.snapshot())?;
        let (catalogue, applied) = match found {
            Some(old) if old.shape.is_same(&shape) => (old, Applied::Unchanged),
            Some(old) => {
                let differences = differences(&old.shape, &shape);
                if differences.iter().any(|difference| difference.kind == Kind::Refused) {
                    return Err(OpenError::Different(differences));
                }
                (extended(old, shape, fingerprint), Applied::Extended(differences))
            }
            None => {
                let mut made = extended(Catalogue::empty(), shape, fingerprint);
                // There is nothing that copies would lack.
                made.filling.clear();
                (made, Applied::Created)
            }
        };
        if applied != Applied::Unchanged {
            write(&store, &catalogue)?;
        }
        Ok((Self::of(store, model, design, catalogue), applied))
    }

    fn of(store: Store, model: Model, design: Design, catalogue: Catalogue) -> Self {
        let schema = KeyedSchema::numbered(model, design, &catalogue.numbers(), &catalogue.filling);
        Self { store, schema, catalogue, turn: Mutex::default() }
    }
}

/// What applying a design to the store in a folder would change. The store is not touched.
pub fn preview(
    folder: impl AsRef<Path>,
    options: &Options,
    model: &Model,
    design: &Design,
) -> Result<Applied, OpenError> {
    unequal_names(design)?;
    let is_empty = std::fs::read_dir(&folder).map_or(true, |mut entries| entries.next().is_none());
    if is_empty {
        return Ok(Applied::Created);
    }
    let store = Store::open(folder, options)?;
    let shape = Shape::of(model, design);
    Ok(match Catalogue::read(&store.snapshot())? {
        None => Applied::Created,
        Some(old) if old.shape.is_same(&shape) => Applied::Unchanged,
        Some(old) => {
            let differences = differences(&old.shape, &shape);
            if differences.iter().any(|difference| difference.kind == Kind::Refused) {
                return Err(OpenError::Different(differences));
            }
            Applied::Extended(differences)
        }
    })
}

fn unequal_names(design: &Design) -> Result<(), OpenError> {
    let mut names = BTreeSet::new();
    let twice = design.collections.iter().find(|(_, collection)| !names.insert(&collection.name));
    twice.map_or(Ok(()), |(_, collection)| Err(OpenError::SameName(collection.name.clone())))
}

/// The catalogue after the shape has become another one.
fn extended(mut catalogue: Catalogue, shape: Shape, fingerprint: String) -> Catalogue {
    let (old, new) = (catalogue.shape.collections(), shape.collections());
    for (name, _) in old.iter().filter(|(name, old)| new.get(*name) != Some(old)) {
        catalogue.dropping.extend(catalogue.numbers.remove(name));
        catalogue.filling.remove(name);
    }
    for (name, definition) in new.iter().filter(|(name, new)| old.get(*name) != Some(new)) {
        catalogue.give_number(name);
        // The instances of a new class are all still to come.
        if !is_master(definition) {
            catalogue.filling.insert(name.clone());
        }
    }
    Catalogue { shape, fingerprint, ..catalogue }
}

pub(super) fn write(store: &Store, catalogue: &Catalogue) -> Result<(), RunError> {
    let puts = catalogue.puts()?;
    put(store, puts.into_iter().fold(Batch::new(), |batch, (key, value)| batch.put(key, value)))
}

/// Writes a batch that has no conditions.
pub(super) fn put(store: &Store, batch: Batch) -> Result<(), RunError> {
    match store.commit(batch)? {
        Outcome::Committed { .. } => Ok(()),
        Outcome::Conflict(_) => Err(RunError::Conflict),
    }
}
