//! A query in two: first the instances that its rows lead to, by what it says of them; then the rows that lead there.
//!
//! `FROM Order WHERE customer.city = :city` is the ids of the customers of a city, then the orders of those customers: a
//! key of customers and a key of orders do, and no copy has to know the city of an order.

use super::conjuncts::{Conjunct, conjuncts, is_single};
use super::{cover, lookup, main};
use askloom_model::{
    ClassId, CollectionId, Column, ColumnValue, Comparison, Conceptual, Condition, EndId, Found, Header,
    InSet, KeySet, Leaf, Member, Operand, Parameter, ParameterType, Path, Plan, Position, PositionId, Query,
    Reading, RelationshipKind, Table,
};
use std::collections::BTreeSet;

/// Both parts of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// FROM the class of the instances, with what the query says of them.
    pub first: Query,
    /// What is left of the query, with the list of their ids as its last parameter.
    pub then: Query,
    /// Where rows lead to them.
    pub path: Path,
}

impl Split {
    pub(super) fn found(&self, plan: Plan) -> Found {
        Found { query: self.first.clone(), plan, parameters: self.then.parameters.clone() }
    }

    /// The rest for one of the instances.
    #[must_use]
    pub fn for_one(&self) -> Query {
        let index = self.then.parameters.len().saturating_sub(1);
        let list = self.then.parameters.last().map(|list| &list.ty);
        let mut then = self.then.clone();
        if let (Some(ParameterType::List(one)), Some(own)) = (list, then.parameters.last_mut()) {
            own.ty = (**one).clone();
        }
        let mut terms: Vec<Condition> =
            conjuncts(self.then.condition.as_ref()).iter().map(|term| term.condition.clone()).collect();
        terms.pop();
        let (left, right) = (Operand::Path(self.path.clone()), Operand::Parameter(index));
        terms.push(Condition::Compare { left, op: Comparison::Equal, right });
        then.condition = crate::conditions::all_of(terms);
        then
    }
}

/// Every way to find first what rows lead to.
#[must_use]
pub fn splits(conceptual: &Conceptual, query: &Query) -> Vec<Split> {
    let far = Far { conceptual, query, terms: conjuncts(query.condition.as_ref()) };
    let anchors = far.anchors();
    anchors.iter().flat_map(|anchor| far.split(anchor)).collect()
}

/// An instance that is reached from each row: over to-one links, from a position that is reached over none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Anchor {
    from: PositionId,
    hops: Vec<EndId>,
}

struct Far<'f> {
    conceptual: &'f Conceptual,
    query: &'f Query,
    terms: Vec<Conjunct<'f>>,
}

impl Far<'_> {
    /// Where a position is reached, joins along to-one links taken for hops.
    fn place(&self, position: PositionId) -> Anchor {
        let here = &self.query.positions[position];
        let hop = here.from.and_then(|hop| match hop.step {
            Member::End(end) => Some((hop.parent, end)),
            Member::Attribute(_) => None,
        });
        let one = hop.filter(|(_, end)| {
            let end = &self.conceptual.ends[*end];
            !end.cardinality.is_many() && here.class == Some(end.target)
        });
        match one {
            Some((parent, end)) => {
                let mut place = self.place(parent);
                place.hops.push(end);
                place
            }
            None => Anchor { from: position, hops: Vec::new() },
        }
    }

    /// Where a path leaves from, with all its hops.
    fn whole(&self, path: &Path) -> Anchor {
        let mut place = self.place(path.position);
        place.hops.extend(&path.hops);
        place
    }

    /// The instances that every path of some term goes through.
    fn anchors(&self) -> BTreeSet<Anchor> {
        let mut anchors = BTreeSet::new();
        for term in &self.terms {
            let mut paths = term.condition.paths().into_iter().map(|path| self.whole(path));
            let Some(first) = paths.next() else { continue };
            let shared = paths.try_fold(first.hops.len(), |shared, other| {
                let same = first.hops.iter().zip(&other.hops).take_while(|(a, b)| a == b).count();
                (other.from == first.from).then_some(shared.min(same))
            });
            let ways = (0..=shared.unwrap_or_default()).filter_map(|length| {
                let hops = first.hops.get(..length)?.to_vec();
                Some(Anchor { from: first.from, hops })
            });
            anchors.extend(ways.filter(|_| shared.is_some()).filter(|anchor| self.class(anchor).is_some()));
        }
        anchors
    }

    /// The class of what is found: an entity that has an aggregate of its own, and not the query's own.
    fn class(&self, anchor: &Anchor) -> Option<ClassId> {
        let class = match anchor.hops.last() {
            Some(&last) => {
                let part = self.conceptual.ends[self.conceptual.stored_end(last)].kind
                    == RelationshipKind::Composition;
                let one = anchor.hops.iter().all(|&hop| !self.conceptual.ends[hop].cardinality.is_many());
                Some(self.conceptual.ends[last].target).filter(|_| one && !part)
            }
            None => self.query.positions[anchor.from].class.filter(|_| anchor.from != main()),
        };
        class.filter(|&class| {
            self.conceptual.classes[class].kind.is_entity() && !lookup::is_part(self.conceptual, class)
        })
    }

    /// Whether a term is about the instance and what is behind it alone, and is not true where there is none.
    fn is_about(&self, anchor: &Anchor, term: &Condition) -> bool {
        let paths = term.paths();
        let behind = |path: &&Path| {
            let whole = self.whole(path);
            whole.from == anchor.from && whole.hops.starts_with(&anchor.hops)
        };
        !paths.is_empty() && paths.iter().all(behind) && !asks_for_nothing(term)
    }

    /// The query in two at an instance, for each way in which a key may lead to it.
    fn split(&self, anchor: &Anchor) -> Vec<Split> {
        let Some(class) = self.class(anchor) else { return Vec::new() };
        let own = |path: &Path| {
            let hops = self.whole(path).hops.get(anchor.hops.len()..)?.to_vec();
            Some(Path { position: main(), hops, leaf: path.leaf })
        };
        let (about, rest): (Vec<&Conjunct<'_>>, Vec<&Conjunct<'_>>) =
            self.terms.iter().partition(|term| self.is_about(anchor, term.condition));
        let about: Option<Vec<Condition>> =
            about.iter().map(|term| cover::map_paths(term.condition, &own)).collect();
        let about = about.filter(|about| about.iter().any(|term| self.says_more(anchor, class, term)));
        let Some(about) = about else { return Vec::new() };
        let first = self.first(class, crate::conditions::all_of(about));
        let parameter = self.list(anchor, class);
        let then = |path: Path| {
            let mut terms: Vec<Condition> = rest.iter().map(|term| term.condition.clone()).collect();
            let set = InSet::Parameter(self.query.parameters.len());
            terms.push(Condition::In { value: Operand::Path(path.clone()), set });
            let mut then = Query { condition: crate::conditions::all_of(terms), ..self.query.clone() };
            then.parameters.push(parameter.clone());
            Split { first: first.clone(), then, path }
        };
        self.paths(anchor).into_iter().map(then).collect()
    }

    /// Whether a condition says more of an instance than which one it is. Where a reference that is relied on leads to it,
    /// its id is known without it.
    fn says_more(&self, anchor: &Anchor, class: ClassId, condition: &Condition) -> bool {
        let relied_on = anchor.hops.last().is_some_and(|&last| self.conceptual.stores_relied_on(last));
        let only_which = |path: &Path| {
            let near = if relied_on { self.conceptual.nearest(path) } else { path.clone() };
            let is_id = relied_on && self.conceptual.component(class, near.leaf).is_some();
            near.hops.is_empty() && (near.leaf == Leaf::Itself || is_id)
        };
        !condition.paths().into_iter().all(only_which)
    }

    fn first(&self, class: ClassId, condition: Option<Condition>) -> Query {
        let mut positions = Table::default();
        positions.push(Position { class: Some(class), from: None, outer: false, alias: None });
        let itself = Path { position: main(), hops: Vec::new(), leaf: Leaf::Itself };
        Query {
            header: Header { highly_updated: false, ..self.query.header.clone() },
            fresh: self.query.fresh,
            latency_ms: None,
            positions,
            columns: vec![Column { name: "id".to_owned(), value: ColumnValue::Path(itself) }],
            condition,
            group_by: Vec::new(),
            order_by: Vec::new(),
            per_group: None,
            limit: None,
            parameters: self.query.parameters.clone(),
            identity: Vec::new(),
            stated: Vec::new(),
        }
    }

    /// A list of ids, by a name that the query does not use.
    fn list(&self, anchor: &Anchor, class: ClassId) -> Parameter {
        let name = match (anchor.hops.last(), self.query.positions[anchor.from].alias.as_ref()) {
            (Some(&end), _) => self.conceptual.ends[end].name.clone(),
            (None, Some(alias)) => alias.clone(),
            (None, None) => self.conceptual.classes[class].name.to_lowercase(),
        };
        let mut name = format!("{name}_ids");
        while self.query.parameters.iter().any(|parameter| parameter.name == name) {
            name.push('_');
        }
        let ty = ParameterType::List(Box::new(ParameterType::Identity(class)));
        Parameter { name, ty, span: self.query.header.span }
    }

    /// The paths to the instance: as what a reference holds, and as what is joined.
    fn paths(&self, anchor: &Anchor) -> Vec<Path> {
        let places = || self.query.positions.ids().map(|position| (position, self.place(position)));
        let joined = places().filter(|(_, place)| place == anchor).map(|(position, _)| position);
        let joined = joined.map(|position| Path { position, hops: Vec::new(), leaf: Leaf::Itself });
        let mut paths: Vec<Path> = joined.collect();
        if let Some((&last, before)) = anchor.hops.split_last() {
            let on_the_way =
                places().filter(|(_, place)| place.from == anchor.from && before.starts_with(&place.hops));
            let nearest = on_the_way.max_by_key(|(_, place)| place.hops.len());
            paths.extend(nearest.and_then(|(position, place)| {
                let hops = before.get(place.hops.len()..)?.to_vec();
                Some(Path { position, hops, leaf: Leaf::Reference(last) })
            }));
        }
        paths.retain(|path| is_single(self.conceptual, path));
        paths
    }
}

/// Whether a condition may be true where there is nothing. Nothing is null; it is not some of many; and it is not in a
/// list that turns out to be empty.
fn asks_for_nothing(condition: &Condition) -> bool {
    match condition {
        Condition::And(terms) | Condition::Or(terms) => terms.iter().any(asks_for_nothing),
        Condition::Not(_) | Condition::Negated(_) => true,
        Condition::IsNull { .. } => true,
        Condition::Compare { .. }
        | Condition::Between { .. }
        | Condition::In { .. }
        | Condition::StartsWith { .. }
        | Condition::Matches { .. }
        | Condition::Under { .. }
        | Condition::Above { .. }
        | Condition::Within { .. }
        | Condition::InBox { .. } => false,
    }
}

/// Whether a key goes by the list that is this parameter.
pub(super) fn goes_by(how: &Reading, index: usize) -> bool {
    match how {
        Reading::Each { set, of, .. } => *set == KeySet::In(InSet::Parameter(index)) || goes_by(of, index),
        Reading::GetBlock { .. } | Reading::Range { .. } | Reading::Scan => false,
    }
}

/// Those that no other one does with fewer collections for no more.
pub(super) fn undominated(mut plans: Vec<Plan>) -> Vec<Plan> {
    plans.sort_by(|a, b| a.estimate.cost.total_cmp(&b.estimate.cost));
    let mut left: Vec<(BTreeSet<CollectionId>, Plan)> = Vec::new();
    for plan in plans {
        let reads: BTreeSet<CollectionId> = plan.collections().collect();
        if !left.iter().any(|(other, _)| other.is_subset(&reads)) {
            left.push((reads, plan));
        }
    }
    left.into_iter().map(|(_, plan)| plan).collect()
}
