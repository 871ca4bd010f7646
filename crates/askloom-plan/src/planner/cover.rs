//! Whether a collection's rows are those of a part of a query's tree, and its paths in the query's terms.

use super::conjuncts::is_single;
use super::ttl_safety::is_lasting;
use askloom_model::{
    Collection, Conceptual, Condition, Contents, Home, Hop, InSet, Leaf, Mapped, Member, Operand, Path,
    Position, PositionId, Query, Role, fault,
};

/// Whether rows of a collection that hold these values have all that there is of the instance at a position.
pub(super) fn spells_out(
    conceptual: &Conceptual,
    collection: &Collection,
    query: &Query,
    held: &[Path],
    position: PositionId,
) -> bool {
    let rows = matches!(collection.contents, Contents::Fields(_));
    let class = query.positions[position].class.filter(|_| rows);
    class.is_some_and(|class| conceptual.is_spelled_out(class, position, held))
}

/// The query's positions for those of the collection. `None` if some row that the query
/// wants could be missing: another root, a position that the query does not have and that changes rows, an inner join
/// that the query has outer.
/// `homes` are those of the query's main class.
pub(super) fn embed(
    conceptual: &Conceptual,
    collection: &Collection,
    query: &Query,
    homes: &[Home],
) -> Option<Mapped> {
    let source = &collection.source;
    let main = super::main();
    let asked = query.positions[main].class?;
    if collection.role == Role::Master {
        // A scan goes through all homes of a class, beginning with the first.
        return (homes.first()?.root == source.root).then(|| vec![Some(main)]);
    }
    let mut mapped: Mapped = Vec::with_capacity(source.positions.len());
    for (_, position) in source.positions.iter() {
        let Some(hop) = position.from else {
            // Rows of a whole hierarchy; the query may ask for a part of it, and filters by class then.
            if !conceptual.is_kind_of(asked, source.root) {
                return None;
            }
            mapped.push(Some(main));
            continue;
        };
        let parent = mapped.get(askloom_model::Id::index(hop.parent)).copied()?;
        let wanted = |parent| Some(Hop { parent, step: hop.step });
        // A tuple query may follow one link to two classes: then each of the two stands for one.
        let same = parent.and_then(|parent| {
            let mut same = query.positions.iter().filter(|(_, position)| position.from == wanted(parent));
            same.find(|(id, _)| !mapped.contains(&Some(*id)))
        });
        let Some((id, same)) = same else {
            if !is_idle(conceptual, position) {
                return None;
            }
            mapped.push(None);
            continue;
        };
        if !position.outer && same.outer && !fault!(InnerForOuter) {
            return None;
        }
        mapped.push(Some(id));
    }
    Some(mapped)
}

/// Whether a position neither adds rows nor takes any away.
fn is_idle(conceptual: &Conceptual, position: &Position) -> bool {
    let one = position.from.is_some_and(|hop| match hop.step {
        Member::End(end) => !conceptual.ends[end].cardinality.is_many(),
        Member::Attribute(_) => false,
    });
    position.outer && one
}

/// The collection's path in the query's positions.
pub(super) fn map_path(path: &Path, positions: &[Option<PositionId>]) -> Option<Path> {
    let position = positions.get(askloom_model::Id::index(path.position)).copied()??;
    Some(Path { position, ..path.clone() })
}

/// The values that an entry of a collection gives, in the query's positions. Of a list in a key an entry has one element,
/// not the list; and what can expire on the way is read where it is.
pub(super) fn given_paths(
    conceptual: &Conceptual,
    collection: &Collection,
    positions: &[Option<PositionId>],
) -> Vec<Path> {
    let keys = collection.block_key.iter().chain(&collection.entry_key).map(|field| &field.path);
    let given = keys.filter(|path| is_single(conceptual, path)).chain(collection.fields());
    let lasting = given.filter(|path| is_lasting(conceptual, path));
    lasting.filter_map(|path| map_path(path, positions)).collect()
}

/// The collection's condition in the query's positions.
pub(super) fn map_condition(condition: &Condition, positions: &[Option<PositionId>]) -> Option<Condition> {
    map_paths(condition, &|path| map_path(path, positions))
}

/// A condition with other paths; nothing if one has no other.
pub(super) fn map_paths(condition: &Condition, other: &impl Fn(&Path) -> Option<Path>) -> Option<Condition> {
    let operand = |operand: &Operand| match operand {
        Operand::Path(path) => other(path).map(Operand::Path),
        Operand::Constant(_) | Operand::Parameter(_) => Some(operand.clone()),
    };
    let terms =
        |terms: &[Condition]| terms.iter().map(|term| map_paths(term, other)).collect::<Option<Vec<_>>>();
    Some(match condition {
        Condition::And(list) => Condition::And(terms(list)?),
        Condition::Or(list) => Condition::Or(terms(list)?),
        Condition::Not(inner) => Condition::Not(Box::new(map_paths(inner, other)?)),
        Condition::Negated(inner) => Condition::Negated(Box::new(map_paths(inner, other)?)),
        Condition::Compare { left, op, right } => {
            Condition::Compare { left: operand(left)?, op: *op, right: operand(right)? }
        }
        Condition::Between { value, low, high } => {
            Condition::Between { value: operand(value)?, low: operand(low)?, high: operand(high)? }
        }
        Condition::In { value, set } => {
            let set = match set {
                InSet::List(items) => InSet::List(items.iter().map(operand).collect::<Option<Vec<_>>>()?),
                InSet::Parameter(index) => InSet::Parameter(*index),
            };
            Condition::In { value: operand(value)?, set }
        }
        Condition::StartsWith { value, prefix } => {
            Condition::StartsWith { value: operand(value)?, prefix: operand(prefix)? }
        }
        Condition::IsNull { value } => Condition::IsNull { value: operand(value)? },
        Condition::Matches { value, words } => {
            Condition::Matches { value: operand(value)?, words: operand(words)? }
        }
        Condition::Under { value, of } => Condition::Under { value: operand(value)?, of: operand(of)? },
        Condition::Above { value, of } => Condition::Above { value: operand(value)?, of: operand(of)? },
        Condition::Within { value, km, of } => {
            Condition::Within { value: operand(value)?, km: operand(km)?, of: operand(of)? }
        }
        Condition::InBox { value, low, high } => {
            Condition::InBox { value: operand(value)?, low: operand(low)?, high: operand(high)? }
        }
    })
}

/// Positions that the query joins inner and the collection outer must be there.
pub(super) fn presences(
    collection: &Collection,
    positions: &[Option<PositionId>],
    query: &Query,
) -> Vec<Condition> {
    let held = collection.source.positions.iter().zip(positions);
    let held = held.filter_map(|((_, own), asked)| Some((own, (*asked)?)));
    held.filter(|(own, asked)| own.outer && !query.positions[*asked].outer && !fault!(OuterForInner))
        .map(|(_, position)| {
            let itself = Operand::Path(Path { position, hops: Vec::new(), leaf: Leaf::Itself });
            Condition::Not(Box::new(Condition::IsNull { value: itself }))
        })
        .collect()
}
