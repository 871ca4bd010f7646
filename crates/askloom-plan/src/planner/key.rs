//! How a collection is read: by key as far as the query gives values, else as a whole.

use super::conjuncts::{self, Binding, bound, bound_by_equality};
use super::same::{Atom, Same};
use super::{Planner, cover, is_single};
use askloom_model::{
    BucketsBetween, Collection, Constant, Contents, HomePlace, InSet, KeyComponent, KeyField, KeyRange,
    KeySet, KeyValue, Leaf, Operand, Path, PositionId, Reading, Role, TimeBucket,
};
use std::collections::HashSet;

/// The leading fields of a key that have values.
#[derive(Default)]
struct Bound {
    operands: Vec<KeyValue>,
    /// Fields with a choice of values.
    sets: Vec<(usize, KeySet)>,
    /// The conjuncts that are guaranteed by that.
    used: HashSet<usize>,
}

/// What the query says of a field of a key.
pub(super) struct BoundField {
    /// The conjuncts that say it.
    pub(super) conjuncts: Vec<usize>,
    pub(super) to: FieldBinding,
}

pub(super) enum FieldBinding {
    Value(KeyValue),
    Set(InSet),
}

impl BoundField {
    fn one((conjunct, binding): (usize, Binding)) -> Self {
        let to = match binding {
            Binding::Value(operand) => FieldBinding::Value(KeyValue::Is(operand)),
            Binding::Set(set) => FieldBinding::Set(set),
        };
        Self { conjuncts: vec![conjunct], to }
    }
}

impl Bound {
    fn push(&mut self, field: BoundField) {
        self.used.extend(field.conjuncts);
        match field.to {
            FieldBinding::Value(value) => self.operands.push(value),
            FieldBinding::Set(set) => self.choose(KeySet::In(set)),
        }
    }

    fn choose(&mut self, set: KeySet) {
        self.sets.push((self.operands.len(), set));
        self.operands.push(CHOSEN);
    }

    /// The reading for each choice of values.
    fn each(sets: Vec<(usize, KeySet)>, of: Reading) -> Reading {
        let around =
            |of: Reading, (field, set): (usize, KeySet)| Reading::Each { field, set, of: Box::new(of) };
        sets.into_iter().rev().fold(of, around)
    }
}

/// Stands where a set gives the value.
const CHOSEN: KeyValue = KeyValue::Is(Operand::Constant(Constant::Null));

/// What the conjuncts say of a path, whichever of the paths with its value they name. Of an identity they may say each
/// component by itself.
pub(super) fn bound_field(
    same: Same<'_>,
    conjuncts: &[conjuncts::Conjunct<'_>],
    path: &Path,
) -> Option<BoundField> {
    if let Some(exact) = bound(conjuncts, &|other| other == path) {
        return Some(BoundField::one(exact));
    }
    let atoms = same.atoms(path);
    if let Some(whole) = bound(conjuncts, &|other| same.atoms(other) == atoms) {
        return Some(BoundField::one(whole));
    }
    // Of several ids, what is said of two components may be said of two ids.
    if atoms.len() < 2 || !is_single(same.conceptual, path) {
        return None;
    }
    let mut field = BoundField { conjuncts: Vec::new(), to: FieldBinding::Value(CHOSEN) };
    let mut components: Vec<KeyComponent> = Vec::new();
    let mut left: &[Atom] = &atoms;
    while !left.is_empty() {
        let leads = |other: &Path| {
            let own = same.atoms(other);
            !own.is_empty() && is_single(same.conceptual, other) && left.starts_with(&own)
        };
        let (conjunct, path, is) = bound_by_equality(conjuncts, &leads)?;
        field.conjuncts.push(conjunct);
        left = left.get(same.atoms(path).len()..)?;
        components.push(KeyComponent { path: path.clone(), is: is.clone() });
    }
    field.to = FieldBinding::Value(KeyValue::Identity(components));
    Some(field)
}

/// Rows can be in any of them.
fn every_bucket(of: u32) -> KeySet {
    let bucket = |bucket| Operand::Constant(Constant::Int(i64::from(bucket)));
    KeySet::In(InSet::List((0..of).map(bucket).collect()))
}

impl Planner<'_> {
    /// The ways to read a collection, each with the conjuncts that it guarantees.
    pub(super) fn readings(
        &self,
        collection: &Collection,
        positions: &[Option<PositionId>],
    ) -> Vec<(Reading, HashSet<usize>)> {
        if self.is_one_sided(collection) {
            return Vec::new();
        }
        let scan = || match self.holds_all(collection) {
            true => vec![(Reading::Scan, HashSet::new())],
            false => Vec::new(),
        };
        match &collection.contents {
            Contents::Aggregate(_) => match self.block(collection, positions) {
                Some(bound) => {
                    let get = Reading::GetBlock { key: bound.operands };
                    vec![(Bound::each(bound.sets, get), bound.used)]
                }
                None => match self.partition(collection, positions) {
                    Some(block) => self.ranges(collection, positions, &block),
                    None => scan(),
                },
            },
            Contents::Fields(_) | Contents::Nested(_) => {
                match self.bind_all(&collection.block_key, positions) {
                    Some(block) => self.ranges(collection, positions, &block),
                    None => scan(),
                }
            }
        }
    }

    /// Whether there is exactly one entry for each row, so that a scan gives them all. An index has one for each value,
    /// and none for an instance without any.
    fn holds_all(&self, collection: &Collection) -> bool {
        let single = |field: &KeyField| is_single(self.conceptual, &field.path);
        let leads = self.costing.capability.gives_no_order(self.conceptual, collection);
        collection.role == Role::Master
            || (collection.indexed().is_none() && !leads && collection.block_key.iter().all(single))
    }

    /// Whether an index is of a symmetric relationship: it has what one side holds, and links that the other side holds
    /// count too.
    fn is_one_sided(&self, collection: &Collection) -> bool {
        collection.reverses().is_some_and(|end| self.conceptual.ends[end].inverse == Some(end))
    }

    fn bound(&self, path: &Path) -> Option<BoundField> {
        bound_field(self.same(), &self.conjuncts, path)
    }

    /// Whether an index would only lead to a record that the query has the id of.
    pub(super) fn is_found_by_id(&self, collection: &Collection, positions: &[Option<PositionId>]) -> bool {
        let leads = self.costing.capability.leads_to_records(self.conceptual, collection);
        let master = self.design.master(collection.source.root).filter(|_| leads);
        master.is_some_and(|master| self.block(&self.design.collections[master], positions).is_some())
    }

    /// Whether instances of the main class are found by the key of this master. A part is not found by its id.
    fn is_root_of(&self, collection: &Collection) -> bool {
        self.homes.iter().all(|home| home.place != HomePlace::Inside && home.root == collection.source.root)
    }

    /// The key of one aggregate: all fields of the id, or the id as a whole.
    fn block(&self, collection: &Collection, positions: &[Option<PositionId>]) -> Option<Bound> {
        if !self.is_root_of(collection) {
            return None;
        }
        if let Some(bound) = self.bind_id(collection, positions) {
            return Some(bound);
        }
        let itself = Path { position: super::main(), hops: Vec::new(), leaf: Leaf::Itself };
        let mut bound = Bound::default();
        bound.push(self.bound(&itself)?);
        Some(bound)
    }

    /// The fields of a master's key, each by what the query says of the id; buckets of time follow from that.
    fn bind_id(&self, collection: &Collection, positions: &[Option<PositionId>]) -> Option<Bound> {
        let mut bound = Bound::default();
        for field in collection.key_fields() {
            match field.path.leaf {
                Leaf::TimeBucket(..) => bound.operands.push(CHOSEN),
                Leaf::Attribute(_) | Leaf::Reference(_) | Leaf::Itself | Leaf::Bucket(_) => {
                    bound.push(self.bound(&cover::map_path(&field.path, positions)?)?);
                }
            }
        }
        let is = |field: &KeyField, id| field.path.leaf == Leaf::Attribute(id);
        for (at, field) in collection.key_fields().enumerate() {
            let Leaf::TimeBucket(id, unit) = field.path.leaf else { continue };
            let of = collection.key_fields().position(|field| is(field, id))?;
            let chosen = bound.sets.iter().any(|(field, _)| *field == of);
            let value = match bound.operands.get(of)? {
                KeyValue::Is(operand) if !chosen => KeyValue::TimeBucket { unit, of: operand.clone() },
                KeyValue::Is(_)
                | KeyValue::Identity(_)
                | KeyValue::TimeBucket { .. }
                | KeyValue::TimeBucketOfField { .. } => KeyValue::TimeBucketOfField { unit, field: of },
            };
            *bound.operands.get_mut(at)? = value;
        }
        Some(bound)
    }

    /// The partition of a master that has several aggregates in one.
    fn partition(&self, collection: &Collection, positions: &[Option<PositionId>]) -> Option<Bound> {
        let has = collection.is_clustered() && self.is_root_of(collection);
        has.then(|| self.bind_all(&collection.block_key, positions))?
    }

    fn bind_all(&self, fields: &[KeyField], positions: &[Option<PositionId>]) -> Option<Bound> {
        let mut bound = Bound::default();
        for field in fields {
            match field.path.leaf {
                Leaf::Bucket(of) => bound.choose(every_bucket(of)),
                Leaf::TimeBucket(id, unit) => {
                    let at = Path { leaf: Leaf::Attribute(id), ..cover::map_path(&field.path, positions)? };
                    self.bind_time_bucket(&at, unit, &mut bound)?;
                }
                Leaf::Attribute(_) | Leaf::Reference(_) | Leaf::Itself => {
                    bound.push(self.bound(&cover::map_path(&field.path, positions)?)?);
                }
            }
        }
        Some(bound)
    }

    /// The bucket of an instant that the query gives, or those between two that it gives. Without both bounds nothing
    /// says which buckets there are. What the query says of the instant has to be looked at still.
    fn bind_time_bucket(&self, at: &Path, unit: TimeBucket, bound: &mut Bound) -> Option<()> {
        if let Some(BoundField { to, .. }) = self.bound(at) {
            let FieldBinding::Value(KeyValue::Is(of)) = to else { return None };
            bound.operands.push(KeyValue::TimeBucket { unit, of });
            return Some(());
        }
        let KeyRange { low: Some((low, _)), high: Some((high, _)), .. } =
            self.narrowed(at, &mut HashSet::new())?
        else {
            return None;
        };
        bound.choose(KeySet::Buckets(BucketsBetween { unit, low, high }));
        Some(())
    }

    /// The parts of a block: with what leading fields equal and what the next one is within. Fields with a choice of
    /// values are tried both ways, as several ranges and as none.
    fn ranges(
        &self,
        collection: &Collection,
        positions: &[Option<PositionId>],
        block: &Bound,
    ) -> Vec<(Reading, HashSet<usize>)> {
        // What is in no order is found by a value or a range of values: without, it is a scan of the records.
        let unordered = self.costing.capability.gives_no_order(self.conceptual, collection);
        let plain = self.range(collection, positions, block, false);
        let several = self.range(collection, positions, block, true);
        let mut found = if plain == several { vec![plain] } else { vec![plain, several] };
        found.retain(|(_, used)| !unordered || !used.is_empty());
        found
    }

    fn range(
        &self,
        collection: &Collection,
        positions: &[Option<PositionId>],
        block: &Bound,
        choices: bool,
    ) -> (Reading, HashSet<usize>) {
        let mut used = block.used.clone();
        let mut sets = block.sets.clone();
        let mut equal = Vec::new();
        let mut range = None;
        for field in &collection.entry_key {
            let Some(path) = cover::map_path(&field.path, positions) else { break };
            match self.bound(&path) {
                Some(BoundField { conjuncts, to: FieldBinding::Value(value) }) => {
                    used.extend(conjuncts);
                    equal.push(value);
                    continue;
                }
                Some(BoundField { conjuncts, to: FieldBinding::Set(set) }) if choices => {
                    used.extend(conjuncts);
                    sets.push((block.operands.len() + equal.len(), KeySet::In(set)));
                    equal.push(CHOSEN);
                    continue;
                }
                Some(BoundField { to: FieldBinding::Set(_), .. }) | None => {}
            }
            range = self.narrowed(&path, &mut used);
            break;
        }
        let key = block.operands.clone();
        let range = Reading::Range { key, equal, range, backwards: false, limited: false };
        (Bound::each(sets, range), used)
    }

    fn narrowed(&self, path: &Path, used: &mut HashSet<usize>) -> Option<KeyRange> {
        let mut narrowed = KeyRange::ALL;
        let (same, atoms) = (self.same(), self.same().atoms(path));
        // An id of several components is in no range of one.
        let is = |other: &Path| other == path || (atoms.len() == 1 && same.atoms(other) == atoms);
        for (index, conjunct) in self.conjuncts.iter().enumerate() {
            if conjuncts::narrow(conjunct, path, &is, &mut narrowed) {
                used.insert(index);
            }
        }
        (narrowed != KeyRange::ALL).then_some(narrowed)
    }
}
