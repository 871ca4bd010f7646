//! The largest that collections get.

use super::Sizes;
use askloom_model::{CollectionId, Conceptual, Contents, Held, Member};

/// The model with every list as long as it may get.
#[must_use]
pub fn at_most(conceptual: &Conceptual) -> Conceptual {
    let mut conceptual = conceptual.clone();
    for id in conceptual.attributes.ids() {
        let statistics = &mut conceptual.attributes[id].statistics;
        statistics.avg = statistics.max.map(|max| max as f64).or(statistics.avg);
    }
    for id in conceptual.ends.ids() {
        let bound = conceptual.ends[id].cardinality.max.filter(|&max| max > 1);
        let statistics = &mut conceptual.ends[id].statistics;
        let most = statistics.max.map(|max| max as f64).or(bound.map(f64::from));
        statistics.avg = most.or(statistics.avg);
    }
    conceptual
}

impl Sizes<'_> {
    /// What says where a block is.
    pub fn block_key_bytes(&self, id: CollectionId) -> f64 {
        self.design.collections[id].block_key.iter().map(|field| self.path_bytes(&field.path)).sum()
    }

    /// What an index finds records by.
    pub fn index_key_bytes(&self, id: CollectionId) -> f64 {
        let collection = &self.design.collections[id];
        let keys = collection.block_key.iter().chain(&collection.entry_key);
        keys.map(|field| self.path_bytes(&field.path)).sum()
    }

    /// What says where a record is in its block. What of an aggregate is told by paths is short.
    pub fn entry_key_bytes(&self, id: CollectionId) -> f64 {
        let collection = &self.design.collections[id];
        let identity = |class: Option<_>| class.map_or(8.0, |class| self.identity_bytes(class, 0));
        let positions = &collection.source.positions;
        let sorted: f64 = collection.entry_key.iter().map(|field| self.path_bytes(&field.path)).sum();
        match &collection.contents {
            Contents::Aggregate(_) => sorted,
            Contents::Fields(_) => {
                sorted + positions.iter().map(|(_, position)| identity(position.class)).sum::<f64>()
            }
            Contents::Nested(_) => {
                let down = |at| -> f64 {
                    collection.chain(at).into_iter().map(|at| identity(positions[at].class)).sum()
                };
                positions.ids().map(down).fold(0.0, f64::max)
            }
        }
    }

    /// The largest kind of record.
    pub fn record_bytes(&self, id: CollectionId, aggregate: Held) -> f64 {
        let collection = &self.design.collections[id];
        match &collection.contents {
            Contents::Fields(_) => self.entry_bytes(id),
            Contents::Nested(nodes) => {
                let nodes =
                    collection.source.positions.ids().map(|at| self.node_bytes_at(collection, nodes, at));
                nodes.fold(0.0, f64::max)
            }
            Contents::Aggregate(_) => match aggregate {
                Held::Whole => self.block_bytes(id),
                Held::Lists | Held::Entries | Held::Members => self.piece_bytes(id, aggregate),
            },
        }
    }

    /// The largest record of an aggregate that has several.
    fn piece_bytes(&self, id: CollectionId, aggregate: Held) -> f64 {
        let collection = &self.design.collections[id];
        let cuts = self.cuts(collection).cuts;
        let is_alone = |entries: f64, way: &[Member]| match aggregate {
            Held::Whole => false,
            Held::Lists => entries > 1.0,
            Held::Entries => true,
            Held::Members => !way.is_empty(),
        };
        let (alone, together): (Vec<_>, Vec<_>) =
            cuts.into_iter().partition(|cut| is_alone(cut.entries, &cut.way));
        let largest = alone.iter().map(|cut| cut.bytes_of_one()).fold(0.0, f64::max);
        let rest = match aggregate {
            Held::Whole | Held::Lists | Held::Entries => together.iter().map(|cut| cut.bytes).sum(),
            Held::Members => {
                let root = collection.source.root;
                let members = self.statistics.conceptual().all_members(root);
                let members = members.filter(|member| {
                    self.is_stored(*member) && alone.iter().all(|cut| cut.way.first() != Some(member))
                });
                members.map(|member| self.member_bytes(member)).fold(0.0, f64::max)
            }
        };
        f64::max(largest, rest)
    }

    /// The list that most of an aggregate is, if it is one: what to look at when the whole is too large.
    pub fn largest_list(&self, id: CollectionId) -> Option<Member> {
        let conceptual = self.statistics.conceptual();
        let members = conceptual.all_members(self.design.collections[id].source.root);
        let lists =
            members.filter(|member| self.is_stored(*member) && self.statistics.most(*member) != Some(1));
        lists.max_by(|a, b| self.member_bytes(*a).total_cmp(&self.member_bytes(*b)))
    }
}
