//! What a reading by key guarantees, as conditions: to be estimated and to be shown.

use super::cover::map_path;
use askloom_model::{
    Access, BucketsBetween, Collection, Comparison, Condition, Id, Inclusive, KeyRange, KeySet, KeyValue,
    Leaf, Operand, Path, PositionId, Reading,
};

/// A field of a key and what it is bound to, in the query's positions.
pub(super) struct KeyTerm {
    pub(super) path: Path,
    pub(super) condition: Condition,
}

/// The conditions that the keys of an access stand for, in the order of the key.
pub(super) fn key_terms(collection: &Collection, access: &Access) -> Vec<KeyTerm> {
    let mut bound = Bound::default();
    bound.read(&access.how);
    let fields = collection.block_key.iter().chain(&collection.entry_key).map(|field| &field.path);
    let itself = Path { position: PositionId::from_index(0), hops: Vec::new(), leaf: Leaf::Itself };
    // An id of several fields can be given as a whole.
    let whole = bound.whole && bound.equal.len() < collection.key_fields().count();
    let fields: Vec<&Path> = if whole { vec![&itself] } else { fields.collect() };
    let paths = fields.into_iter().filter_map(|path| map_path(path, &access.positions));
    let mut terms = Vec::new();
    let mut buckets = Vec::new();
    for (index, path) in paths.enumerate() {
        let set = bound.sets.iter().find(|(field, _)| *field == index);
        let equal = |path: Path, right: &Operand| {
            let condition = Condition::Compare {
                left: Operand::Path(path.clone()),
                op: Comparison::Equal,
                right: right.clone(),
            };
            KeyTerm { path, condition }
        };
        match (set, bound.equal.get(index)) {
            (Some((_, KeySet::In(set))), _) => {
                let condition = Condition::In { value: Operand::Path(path.clone()), set: set.clone() };
                terms.push(KeyTerm { path, condition });
            }
            (Some((_, KeySet::Buckets(BucketsBetween { low, high, .. }))), _) => {
                let at = instant(path);
                let value = Operand::Path(at.clone());
                let condition = Condition::Between { value, low: low.clone(), high: high.clone() };
                buckets.push(KeyTerm { path: at, condition });
            }
            (None, Some(KeyValue::TimeBucket { of, .. })) => buckets.push(equal(instant(path), of)),
            // What the other field is says it.
            (None, Some(KeyValue::TimeBucketOfField { .. })) => {}
            (None, Some(KeyValue::Is(right))) => terms.push(equal(path, right)),
            (None, Some(KeyValue::Identity(components))) => {
                terms.extend(components.iter().map(|component| equal(component.path.clone(), &component.is)));
            }
            (None, None) => {
                terms.extend(bound.range.iter().flat_map(|range| of_range(&path, range)));
                break;
            }
        }
    }
    // What the key says of an instant itself says more than its bucket.
    buckets.retain(|bucket| terms.iter().all(|term| term.path != bucket.path));
    terms.extend(buckets);
    terms
}

/// The instant that a bucket is of.
fn instant(path: Path) -> Path {
    match path.leaf {
        Leaf::TimeBucket(id, _) => Path { leaf: Leaf::Attribute(id), ..path },
        Leaf::Attribute(_) | Leaf::Reference(_) | Leaf::Itself | Leaf::Bucket(_) => path,
    }
}

/// What the fields of a key are bound to, those of the block first.
#[derive(Default)]
struct Bound {
    equal: Vec<KeyValue>,
    sets: Vec<(usize, KeySet)>,
    range: Option<KeyRange>,
    /// The key is of one aggregate.
    whole: bool,
}

impl Bound {
    fn read(&mut self, how: &Reading) {
        match how {
            Reading::GetBlock { key } => {
                self.equal.clone_from(key);
                self.whole = true;
            }
            Reading::Range { key, equal, range, .. } => {
                self.equal = key.iter().chain(equal).cloned().collect();
                self.range.clone_from(range);
            }
            Reading::Each { field, set, of } => {
                self.read(of);
                self.sets.push((*field, set.clone()));
            }
            Reading::Scan => {}
        }
    }
}

fn of_range(path: &Path, range: &KeyRange) -> Vec<KeyTerm> {
    let value = Operand::Path(path.clone());
    let term = |condition| KeyTerm { path: path.clone(), condition };
    if let Some(prefix) = &range.prefix {
        return vec![term(Condition::StartsWith { value, prefix: prefix.clone() })];
    }
    if let (Some((low, Inclusive::Yes)), Some((high, Inclusive::Yes))) = (&range.low, &range.high) {
        return vec![term(Condition::Between { value, low: low.clone(), high: high.clone() })];
    }
    let bounds = [
        (&range.low, Comparison::Greater, Comparison::GreaterOrEqual),
        (&range.high, Comparison::Less, Comparison::LessOrEqual),
    ];
    let bounds = bounds.into_iter().filter_map(|(bound, open, closed)| {
        let (right, inclusive) = bound.as_ref()?;
        let op = match inclusive {
            Inclusive::Yes => closed,
            Inclusive::No => open,
        };
        Some(term(Condition::Compare { left: value.clone(), op, right: right.clone() }))
    });
    bounds.collect()
}
