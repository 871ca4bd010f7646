//! Tuple queries: given instances of the key classes, the linked instances of the result classes.

use crate::error::QueryError;
use crate::identity::NodeIdentity;
use crate::node::Node;
use crate::query::Row;
use crate::state::State;
use crate::view::View;
use askloom_model::typed::identity;
use askloom_model::{Ask, AskLink, ClassId, Identity, Member, Model};
use jiff::Timestamp;
use std::collections::BTreeMap;

/// One instance for each class that takes part.
type Tuple<'s> = BTreeMap<ClassId, Node<'s>>;

impl State {
    /// Each linked tuple of result instances, whole, in the order of their identities. `keys` are the ids of the
    /// key classes in the order of the `ask`. A class on the way that is neither key nor result links a tuple,
    /// but adds nothing to it: linked twice is linked.
    pub fn ask(
        &self,
        model: &Model,
        ask: &Ask,
        keys: &[Identity],
        now: Timestamp,
    ) -> Result<Vec<Row>, QueryError> {
        let live = self.live(&model.conceptual, now);
        let view = View::new(&model.conceptual, &live);
        if keys.len() != ask.keys.len() {
            return Err(QueryError::WrongKeys);
        }
        let mut given: BTreeMap<ClassId, Identity> = BTreeMap::new();
        for (&class, key) in ask.keys.iter().zip(keys) {
            let name = || model.conceptual.classes[class].name.clone();
            let key = identity(&model.conceptual, key, class);
            given.insert(class, key.ok_or_else(|| QueryError::WrongType { name: name() })?);
        }
        let mut found: BTreeMap<Vec<NodeIdentity>, Row> = BTreeMap::new();
        for tuple in tuples(&view, ask, &given) {
            let results: Vec<&Node<'_>> = ask.results.iter().filter_map(|class| tuple.get(class)).collect();
            let identity = results.iter().map(|node| node.identity.clone()).collect();
            found.insert(identity, results.iter().map(|node| node.whole()).collect());
        }
        Ok(found.into_values().collect())
    }
}

/// Every choice of one instance for each class, such that the keys are the given ones and all links hold.
fn tuples<'s>(view: &View<'s>, ask: &Ask, keys: &BTreeMap<ClassId, Identity>) -> Vec<Tuple<'s>> {
    let mut classes: Vec<ClassId> = ask.keys.iter().chain(&ask.results).copied().collect();
    classes.extend(ask.links.iter().flat_map(|link| [link.from, link.to]));
    let mut tuples: Vec<Tuple<'s>> = vec![Tuple::new()];
    for class in classes {
        let mut longer = Vec::new();
        for tuple in tuples {
            if tuple.contains_key(&class) {
                longer.push(tuple);
                continue;
            }
            for node in view.extent(class) {
                if keys.get(&class).is_some_and(|key| node.identity.entity() != Some(key)) {
                    continue;
                }
                let mut tuple = tuple.clone();
                tuple.insert(class, node.clone());
                // A link whose other class is still to come is looked at then.
                if ask.links.iter().all(|link| holds(view, link, &tuple).unwrap_or(true)) {
                    longer.push(tuple);
                }
            }
        }
        tuples = longer;
    }
    tuples
}

/// Whether a link holds in a tuple; nothing if one of its classes is not there yet.
fn holds<'s>(view: &View<'s>, link: &AskLink, tuple: &Tuple<'s>) -> Option<bool> {
    let (holder, target) = if link.reversed { (link.to, link.from) } else { (link.from, link.to) };
    let (holder, target) = (tuple.get(&holder)?, tuple.get(&target)?);
    // By identity and not by id: a value object can be on the way.
    Some(view.follow(holder, Member::End(link.end)).iter().any(|node| node.identity == target.identity))
}
