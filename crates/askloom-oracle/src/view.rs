//! Everything that exists at one moment, and where relationships lead.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a value is one of eighteen things, and a function knows the few that concern it"
)]

use crate::address::Address;
use crate::identity::NodeIdentity;
use crate::node::{Node, Thing};
use crate::state::State;
use askloom_model::{ClassId, Conceptual, End, EndId, Identity, Member, Record, RelationshipKind, Value};

/// A state without what has expired, laid out as one list of all records in it.
#[derive(Debug)]
pub(crate) struct View<'s> {
    pub(crate) conceptual: &'s Conceptual,
    /// Every entity and every value object, wherever it is.
    nodes: Vec<Node<'s>>,
}

impl<'s> View<'s> {
    /// The state has to be free of what has expired: see [`State::live`].
    pub(crate) fn new(conceptual: &'s Conceptual, live: &'s State) -> Self {
        let mut view = Self { conceptual, nodes: Vec::new() };
        for (top, identity, instance) in live.instances() {
            let address = Address { top, root: identity.clone(), place: Vec::new() };
            view.collect(&instance.record, NodeIdentity::Entity(identity.clone()), address);
        }
        view
    }

    fn collect(&mut self, record: &'s Record, identity: NodeIdentity, address: Address) {
        let node = Node { identity, address, thing: Thing::Record(record) };
        let ends: Vec<EndId> = record.fields.keys().filter_map(end_of).collect();
        let parts: Vec<Node<'s>> = ends.into_iter().flat_map(|end| self.contained(&node, end)).collect();
        self.nodes.push(node);
        for part in parts {
            if let Thing::Record(record) = part.thing {
                self.collect(record, part.identity, part.address);
            }
        }
    }

    /// Every record that exists.
    pub(crate) fn all(&self) -> &[Node<'s>] {
        &self.nodes
    }

    /// Every instance of a class and of its subclasses.
    pub(crate) fn extent(&self, class: ClassId) -> impl Iterator<Item = &Node<'s>> {
        self.nodes.iter().filter(move |node| self.is_a(node, class))
    }

    pub(crate) fn is_a(&self, node: &Node<'_>, class: ClassId) -> bool {
        node.record().is_some_and(|record| self.conceptual.is_kind_of(record.class, class))
    }

    /// The instance of that class and id, if it exists.
    pub(crate) fn find(&self, class: ClassId, identity: &Identity) -> Option<&Node<'s>> {
        self.extent(class).find(|node| node.identity.entity() == Some(identity))
    }

    /// What a step leads to: elements of a list, parts, or linked instances that exist.
    pub(crate) fn follow(&self, node: &Node<'s>, step: Member) -> Vec<Node<'s>> {
        match step {
            Member::Attribute(_) => elements(node, step),
            Member::End(id) => self.linked(node, id),
        }
    }

    fn linked(&self, node: &Node<'s>, id: EndId) -> Vec<Node<'s>> {
        let end = &self.conceptual.ends[id];
        match (end.stored, end.kind) {
            (true, RelationshipKind::Composition) => self.contained(node, id),
            (true, RelationshipKind::Association | RelationshipKind::Aggregation) => {
                let ids = self.ids_at(node, id);
                ids.iter().filter_map(|identity| self.find(end.target, identity)).cloned().collect()
            }
            (false, _) => self.holders_of(end, node),
        }
    }

    /// The ids that a reference holds, whether such instances exist or not; at a derived end, those of the
    /// instances that refer to this one; of a part, its own.
    pub(crate) fn ids_at(&self, node: &Node<'s>, id: EndId) -> Vec<Identity> {
        let end = &self.conceptual.ends[id];
        let by_composition = end.kind == RelationshipKind::Composition;
        if !end.stored || by_composition {
            let linked = self.linked(node, id);
            return linked.iter().filter_map(|node| node.identity.entity().cloned()).collect();
        }
        let mut ids = node.record().map(|record| stored_ids(record, id)).unwrap_or_default();
        if end.inverse == Some(id) {
            // Of a symmetric relationship either side may hold the link.
            let holders = self.holders_of(end, node);
            ids.extend(holders.iter().filter_map(|holder| holder.identity.entity().cloned()));
            ids.sort();
            ids.dedup();
        }
        ids
    }

    /// Who holds a link to this node at the inverse of `end`.
    fn holders_of(&self, end: &End, node: &Node<'s>) -> Vec<Node<'s>> {
        let Some(inverse) = end.inverse else { return Vec::new() };
        // A tuple query may come here with an instance of a class above the end's. Somebody may hold its id, but what
        // that refers to is not there.
        if !self.is_a(node, self.conceptual.ends[inverse].target) {
            return Vec::new();
        }
        match node.identity.entity() {
            Some(identity) => self.holders(inverse, identity),
            None => self.owners(inverse, node),
        }
    }

    /// Whose part a value object is.
    fn owners(&self, stored: EndId, part: &Node<'s>) -> Vec<Node<'s>> {
        let class = self.conceptual.ends[stored].class;
        let owns = |node: &&Node<'s>| {
            self.contained(node, stored).iter().any(|contained| contained.identity == part.identity)
        };
        self.extent(class).filter(owns).cloned().collect()
    }

    /// Every record that holds a link to `target` at a stored end.
    pub(crate) fn holders(&self, stored: EndId, target: &Identity) -> Vec<Node<'s>> {
        let class = self.conceptual.ends[stored].class;
        let holds = |node: &&Node<'s>| self.links_of(node, stored).contains(target);
        self.extent(class).filter(holds).cloned().collect()
    }

    /// The links of one record at a stored end: the ids in it, or those of its parts.
    pub(crate) fn links_of(&self, node: &Node<'s>, stored: EndId) -> Vec<Identity> {
        match self.conceptual.ends[stored].kind {
            RelationshipKind::Composition => {
                let parts = self.contained(node, stored);
                parts.iter().filter_map(|part| part.identity.entity().cloned()).collect()
            }
            RelationshipKind::Association | RelationshipKind::Aggregation => {
                node.record().map(|record| stored_ids(record, stored)).unwrap_or_default()
            }
        }
    }

    /// The parts of a node at one end. Nothing at a reference.
    fn contained(&self, node: &Node<'s>, end: EndId) -> Vec<Node<'s>> {
        let Some(record) = node.record() else { return Vec::new() };
        let member = Member::End(end);
        let part = |value: &'s Value, ordinal: Option<u64>| match value {
            Value::Record(part) => Some(Node {
                identity: match part.identity(self.conceptual) {
                    Some(identity) => NodeIdentity::Entity(identity),
                    None => node.identity.inside(member, ordinal),
                },
                address: node.address.below(member, ordinal),
                thing: Thing::Record(part),
            }),
            _not_a_part => None,
        };
        match record.fields.get(&member) {
            Some(Value::List(elements)) => {
                elements.iter().filter_map(|element| part(&element.value, Some(element.ordinal))).collect()
            }
            Some(single) => part(single, None).into_iter().collect(),
            None => Vec::new(),
        }
    }
}

/// The ids in a stored reference.
pub(crate) fn stored_ids(record: &Record, end: EndId) -> Vec<Identity> {
    match record.get(Member::End(end)) {
        Value::Reference(identity) => vec![identity.clone()],
        Value::Set(ids) => ids.iter().cloned().collect(),
        _absent_or_part => Vec::new(),
    }
}

fn end_of(member: &Member) -> Option<EndId> {
    match *member {
        Member::End(id) => Some(id),
        Member::Attribute(_) => None,
    }
}

/// The elements of a list of plain values.
fn elements<'s>(node: &Node<'s>, list: Member) -> Vec<Node<'s>> {
    let Some(record) = node.record() else { return Vec::new() };
    let element = |element: &'s askloom_model::Element| Node {
        identity: node.identity.inside(list, Some(element.ordinal)),
        address: node.address.below(list, Some(element.ordinal)),
        thing: Thing::Plain(&element.value),
    };
    record.list(list).iter().map(element).collect()
}
