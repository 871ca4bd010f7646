//! Whether a design that could be read can be run: what every method keeps and a hand may break.

use super::locate::Step;
use super::read::Reader;
use crate::native;
use askloom_model::{
    ClassId, Code, Collection, CollectionId, Conceptual, Condition, Contents, Design, Id, Keeper, KeyField,
    Leaf, Path, Role, Type,
};
use askloom_plan::planner::is_single;

pub(super) fn check(reader: &mut Reader<'_>, design: &Design) {
    let mut names: Vec<&str> = Vec::new();
    for (index, (id, collection)) in design.collections.iter().enumerate() {
        reader.key("collections", |reader| {
            reader.within(Step::Index(index), |reader| {
                if names.contains(&collection.name.as_str()) {
                    reader.key("name", |reader| say(reader, "another collection has this name"));
                }
                reader.key("name", |reader| named(reader, &collection.name));
                doubled(reader, collection);
                match collection.role {
                    Role::Master => master(reader, collection),
                    Role::Copy | Role::Index => copy(reader, collection),
                    Role::Carried => carried(reader, design, id),
                }
                kept(reader, design, id);
                shared(reader, design, id);
            });
        });
        names.push(&collection.name);
    }
    let conceptual = reader.conceptual;
    for class in conceptual.classes.ids().filter(|&class| is_root(conceptual, class)) {
        let masters =
            design.collections.iter().filter(|(_, c)| c.role == Role::Master && c.source.root == class);
        let message = match masters.count() {
            0 => "has no master in this design",
            1 => continue,
            _several => "has several masters in this design",
        };
        let message = format!("{} {message}", conceptual.classes[class].name);
        reader.key("collections", |reader| reader.say(Code::DesignOfAnotherModel, &message));
    }
}

/// A store keeps values of a master under another key, or another order of a copy.
fn kept(reader: &mut Reader<'_>, design: &Design, id: CollectionId) {
    let (conceptual, collection) = (reader.conceptual, &design.collections[id]);
    let possible = native::is_of_own_values(conceptual, collection) || design.sibling(id).is_some();
    if collection.keeper == Keeper::Store && !possible {
        let message = "a store keeps instances by their own single values, or another order of a copy: \
                       this one is `ours`";
        reader.key("keeper", |reader| say(reader, message));
    }
}

/// A master lies in the partitions of another one by one required reference to it, which is its whole block key. Those
/// partitions are by the identifier as it is, so that the reference says which one it is.
fn shared(reader: &mut Reader<'_>, design: &Design, id: CollectionId) {
    let (conceptual, collection) = (reader.conceptual, &design.collections[id]);
    let Some(class) = collection.partition_of else { return };
    let refers = match collection.block_key.as_slice() {
        [KeyField { path: Path { leaf: Leaf::Reference(end), hops, .. }, .. }] => {
            let end = &conceptual.ends[*end];
            hops.is_empty() && end.target == class && end.cardinality.min > 0
        }
        _another => false,
    };
    let first = design.master(class).map(|first| &design.collections[first]);
    let has_partitions =
        first.is_some_and(|first| first.partition_of.is_none() && conceptual.is_keyed_by_identity(first));
    if collection.role != Role::Master || !refers || !has_partitions {
        let name = &conceptual.classes[class].name;
        let message = format!(
            "only a master whose block key is one required reference to {name} lies in partitions of it, and those \
             are by the id of {name}"
        );
        reader.key("partition_of", |reader| say(reader, &message));
    }
}

fn say(reader: &mut Reader<'_>, message: &str) {
    reader.say(Code::DesignMalformed, message);
}

/// A name is printed, drawn and typed; nothing else is asked of it, as it may come from any name of the model.
fn named(reader: &mut Reader<'_>, name: &str) {
    let hint = "give it the name by which people are to know it";
    if name.trim().is_empty() {
        reader.say_with_hint("a collection has a name", hint);
    } else if name.trim() != name {
        reader.say_with_hint("a name neither starts nor ends with a space", hint);
    } else if let Some(odd) = name.chars().find(|&c| c.is_control() || is_invisible(c)) {
        let message = format!("a name has no such character as {}", odd.escape_unicode());
        reader.say_with_hint(&message, hint);
    }
}

/// Marks of direction and of no width: two names that look the same would not be.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// No list of a collection names the same twice.
fn doubled(reader: &mut Reader<'_>, collection: &Collection) {
    let keys = |fields: &[KeyField]| fields.iter().map(|field| field.path.clone()).collect::<Vec<_>>();
    let mut lists =
        vec![("block_key", keys(&collection.block_key)), ("entry_key", keys(&collection.entry_key))];
    match &collection.contents {
        Contents::Aggregate(_) => {}
        Contents::Fields(fields) => lists.push(("value", fields.clone())),
        Contents::Nested(nodes) => lists.push(("nodes", nodes.fields.clone())),
    }
    for (key, paths) in lists {
        for (at, path) in paths.iter().enumerate() {
            if paths.iter().take(at).any(|before| before == path) {
                reader.key(key, |reader| {
                    reader.within(Step::Index(at), |reader| {
                        reader.say_with_hint("this field is there twice", "take one of the two away");
                    });
                });
            }
        }
    }
}

fn is_root(conceptual: &Conceptual, class: ClassId) -> bool {
    conceptual.aggregate_root(class) == Some(class)
}

/// A master is by the identifier of a root, which its key may split, and whole: rules alone cut it into entries.
fn master(reader: &mut Reader<'_>, collection: &Collection) {
    let conceptual = reader.conceptual;
    let root = collection.source.root;
    let name = &conceptual.classes[root].name;
    if !is_root(conceptual, root) {
        let message = format!("{name} is no root of an aggregate, so it has no master");
        return reader.key("source", |reader| say(reader, &message));
    }
    let own = |field: &KeyField| field.path.hops.is_empty() && field.path.position.index() == 0;
    if !is_identifier(conceptual, collection) || !collection.key_fields().all(own) {
        let message = format!(
            "the keys of a master are the identifier of {name}, each member once, and buckets of its timestamps"
        );
        reader.key("block_key", |reader| say(reader, &message));
    }
    if collection.block_key.iter().any(|field| field.descending) {
        reader.key("block_key", |reader| say(reader, "the block key of a master is ascending"));
    }
    if collection.source.positions.len() > 1 || collection.source.condition.is_some() {
        reader.key("source", |reader| say(reader, "a master holds every instance, and joins nothing"));
    }
    if !matches!(collection.contents, Contents::Aggregate(_)) {
        say(reader, "a master has `rules`");
    }
}

/// What a master carries is a copy by the identity of its root, and there is one of it.
fn carried(reader: &mut Reader<'_>, design: &Design, id: CollectionId) {
    let collection = &design.collections[id];
    copy(reader, collection);
    let root = collection.source.root;
    let itself = |field: &KeyField| field.path.leaf == Leaf::Itself && field.path.hops.is_empty();
    let by_identity = matches!(collection.block_key.as_slice(), [only] if itself(only) && !only.descending);
    if !by_identity || !collection.entry_key.is_empty() {
        let message = "what a master carries is by the aggregate: its block key is `id`, and no more";
        reader.key("block_key", |reader| say(reader, message));
    }
    if collection.source.positions.len() > 1 || collection.source.condition.is_some() {
        reader.key("source", |reader| say(reader, "a master carries values in all of its records"));
    }
    if !matches!(collection.contents, Contents::Fields(_)) {
        say(reader, "what a master carries has a `value`");
    }
    if collection.keeper == Keeper::Store {
        reader.key("keeper", |reader| say(reader, "what a master carries is kept by writes: it is `ours`"));
    }
    if design.carried(root) != Some(id) || design.master(root).is_none() {
        let name = &reader.conceptual.classes[root].name;
        let message = format!("{name} has one master, and what that carries is one collection");
        reader.key("source", |reader| say(reader, &message));
    }
}

/// Whether the keys of a master are all members of the root's identifier, each once, and buckets of its timestamps.
fn is_identifier(conceptual: &Conceptual, master: &Collection) -> bool {
    let identifier = askloom_plan::positions::identity_leaves(conceptual, master.source.root);
    let count = |leaf: Leaf| master.key_fields().filter(|field| field.path.leaf == leaf).count();
    let is_timestamp = |leaf: Leaf| {
        let Leaf::Attribute(id) = leaf else { return false };
        identifier.contains(&leaf) && matches!(conceptual.attributes[id].ty, Type::Timestamp(_))
    };
    let known = |field: &KeyField| match field.path.leaf {
        Leaf::TimeBucket(id, _) => is_timestamp(Leaf::Attribute(id)) && master.block_key.contains(field),
        leaf @ (Leaf::Attribute(_) | Leaf::Reference(_) | Leaf::Itself | Leaf::Bucket(_)) => {
            identifier.contains(&leaf)
        }
    };
    identifier.iter().all(|&leaf| count(leaf) == 1) && master.key_fields().all(known)
}

/// A row of a copy has one value in each field, and those of its keys have an order.
fn copy(reader: &mut Reader<'_>, collection: &Collection) {
    let conceptual = reader.conceptual;
    if matches!(collection.contents, Contents::Aggregate(_)) {
        return say(reader, "only a master has `rules`");
    }
    let each = askloom_plan::positions::each_value(conceptual, collection);
    for (key, fields) in [("block_key", &collection.block_key), ("entry_key", &collection.entry_key)] {
        for (at, field) in fields.iter().enumerate() {
            let wrong = if is_time_bucket(&field.path) {
                TIME_MISPLACED
            } else if is_bucket(&field.path)
                && !(key == "block_key" && is_of_root(conceptual, collection, field))
            {
                MISPLACED
            } else if (key, Some(at)) != ("block_key", each) && !is_single(conceptual, &field.path) {
                "this has several values in one row, so it cannot be a key"
            } else if !askloom_plan::positions::is_key(conceptual, &field.path) {
                "values of this have no order, so they cannot be a key"
            } else {
                continue;
            };
            reader.key(key, |reader| reader.within(Step::Index(at), |reader| say(reader, wrong)));
        }
    }
    if collection.block_key.iter().filter(|field| is_bucket(&field.path)).count() > 1 {
        reader.key("block_key", |reader| say(reader, "a block is in one bucket"));
    }
    let (key, fields) = match &collection.contents {
        Contents::Aggregate(_) => return,
        Contents::Fields(fields) => ("value", fields),
        Contents::Nested(nodes) => ("nodes", &nodes.fields),
    };
    for (at, &position) in collection.whole().iter().enumerate() {
        let class = collection.source.positions[position].class;
        if !class.is_some_and(|class| conceptual.is_aggregate(class)) {
            reader.key("whole", |reader| {
                let wrong = "only a whole aggregate can be held here";
                reader.within(Step::Index(at), |reader| say(reader, wrong));
            });
        }
    }
    for (at, path) in fields.iter().enumerate() {
        let wrong = if is_time_bucket(path) {
            TIME_MISPLACED
        } else if is_bucket(path) {
            MISPLACED
        } else if !askloom_plan::positions::is_held(conceptual, path) {
            "this has several values in one row"
        } else {
            continue;
        };
        reader.key(key, |reader| reader.within(Step::Index(at), |reader| say(reader, wrong)));
    }
    let condition = collection.source.condition.as_ref().map(Condition::paths).unwrap_or_default();
    if condition.into_iter().any(|path| is_bucket(path) || is_time_bucket(path)) {
        reader.key("source", |reader| say(reader, MISPLACED));
    }
}

const MISPLACED: &str =
    "a bucket is a field of a block key, of the entity that the rows begin with, ascending";

const TIME_MISPLACED: &str = "an hour, a day or a month is a field of a master's block key";

fn is_bucket(path: &Path) -> bool {
    matches!(path.leaf, Leaf::Bucket(_))
}

fn is_time_bucket(path: &Path) -> bool {
    matches!(path.leaf, Leaf::TimeBucket(..))
}

fn is_of_root(conceptual: &Conceptual, collection: &Collection, field: &KeyField) -> bool {
    let class = collection.source.positions[field.path.position].class;
    field.path.position.index() == 0
        && field.path.hops.is_empty()
        && !field.descending
        && class.is_some_and(|class| conceptual.classes[class].kind.is_entity())
}
