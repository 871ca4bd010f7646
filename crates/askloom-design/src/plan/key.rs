//! How a collection is read: by key as far as the query gives values, else as a whole.

use super::conjuncts::{self, Binding, bound};
use super::{Planner, cover, is_single};
use askloom_model::{
    Collection, Constant, Contents, HomePlace, InSet, KeyField, KeyRange, Leaf, Operand, Path, PositionId,
    Reading, Role,
};
use std::collections::HashSet;

/// The leading fields of a key that have values.
#[derive(Default)]
struct Bound {
    operands: Vec<Operand>,
    /// Fields with a choice of values.
    sets: Vec<(usize, InSet)>,
    /// The conjuncts that are guaranteed by that.
    used: HashSet<usize>,
}

impl Bound {
    fn push(&mut self, conjunct: usize, binding: Binding) {
        self.used.insert(conjunct);
        match binding {
            Binding::Value(operand) => self.operands.push(operand),
            Binding::Set(set) => self.choose(set),
        }
    }

    fn choose(&mut self, set: InSet) {
        self.sets.push((self.operands.len(), set));
        self.operands.push(Operand::Constant(Constant::Null));
    }

    /// The reading for each choice of values.
    fn each(sets: Vec<(usize, InSet)>, of: Reading) -> Reading {
        let around =
            |of: Reading, (field, set): (usize, InSet)| Reading::Each { field, set, of: Box::new(of) };
        sets.into_iter().rev().fold(of, around)
    }
}

/// Rows can be in any of them.
fn every_bucket(of: u32) -> InSet {
    InSet::List((0..of).map(|bucket| Operand::Constant(Constant::Int(i64::from(bucket)))).collect())
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
                None => scan(),
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

    fn bound(&self, path: &Path) -> Option<(usize, Binding)> {
        let same = self.same_value(path);
        bound(&self.conjuncts, path).or_else(|| bound(&self.conjuncts, &same?))
    }

    /// The path that always has the same value: an entity is its id if that is one attribute.
    fn same_value(&self, path: &Path) -> Option<Path> {
        let class = self.query.positions[path.position].class.filter(|_| path.hops.is_empty())?;
        let [askloom_model::Member::Attribute(id)] = self.conceptual.classes[class].identifier.as_slice()
        else {
            return None;
        };
        match path.leaf {
            Leaf::Attribute(attribute) if attribute == *id => {
                Some(Path { leaf: Leaf::Itself, ..path.clone() })
            }
            Leaf::Itself => Some(Path { leaf: Leaf::Attribute(*id), ..path.clone() }),
            Leaf::Attribute(_) | Leaf::Reference(_) | Leaf::Bucket(_) => None,
        }
    }

    /// Whether an index would only lead to a record that the query has the id of.
    pub(super) fn is_found_by_id(&self, collection: &Collection, positions: &[Option<PositionId>]) -> bool {
        let leads = self.costing.capability.leads_to_records(self.conceptual, collection);
        let master = self.design.master(collection.source.root).filter(|_| leads);
        master.is_some_and(|master| self.block(&self.design.collections[master], positions).is_some())
    }

    /// The key of a master's block: all fields of the id, or the id as a whole.
    fn block(&self, collection: &Collection, positions: &[Option<PositionId>]) -> Option<Bound> {
        // A part is not found by its id.
        if self
            .homes
            .iter()
            .any(|home| home.place == HomePlace::Inside || home.root != collection.source.root)
        {
            return None;
        }
        if let Some(bound) = self.bind_all(&collection.block_key, positions) {
            return Some(bound);
        }
        let itself = Path { position: super::main(), hops: Vec::new(), leaf: Leaf::Itself };
        let (conjunct, binding) = self.bound(&itself)?;
        let mut bound = Bound::default();
        bound.push(conjunct, binding);
        Some(bound)
    }

    fn bind_all(&self, fields: &[KeyField], positions: &[Option<PositionId>]) -> Option<Bound> {
        let mut bound = Bound::default();
        for field in fields {
            if let Leaf::Bucket(of) = field.path.leaf {
                bound.choose(every_bucket(of));
                continue;
            }
            let (conjunct, binding) = self.bound(&cover::map_path(&field.path, positions)?)?;
            bound.push(conjunct, binding);
        }
        Some(bound)
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
                Some((conjunct, Binding::Value(operand))) => {
                    used.insert(conjunct);
                    equal.push(operand);
                    continue;
                }
                Some((conjunct, Binding::Set(set))) if choices => {
                    used.insert(conjunct);
                    sets.push((block.operands.len() + equal.len(), set));
                    equal.push(Operand::Constant(Constant::Null));
                    continue;
                }
                Some((_, Binding::Set(_))) | None => {}
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
        for (index, conjunct) in self.conjuncts.iter().enumerate() {
            if conjuncts::narrow(conjunct, path, &mut narrowed) {
                used.insert(index);
            }
        }
        (narrowed != KeyRange::ALL).then_some(narrowed)
    }
}
