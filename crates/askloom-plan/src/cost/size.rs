//! How large collections, blocks and entries are.

use super::{Asked, Statistics, selectivity};
use askloom_model::{
    AssumptionAbout, AttributeId, ClassId, Collection, CollectionId, Contents, Design, Leaf, MAX_NESTING,
    Member, Nodes, Path, Plan, PositionId, RelationshipKind, Type,
};

/// Bytes of a text without `@size`, and of other values whose size varies.
const VARYING: f64 = 32.0;
/// Bytes of key and framing that each entry has besides its values.
const ENTRY: f64 = 16.0;
/// Bytes of the number of a bucket.
const BUCKET: f64 = 4.0;
/// Bytes of a day as text.
const TIME_BUCKET: f64 = 10.0;
/// Bytes of an identifier that Askloom makes.
const SURROGATE: f64 = 16.0;

/// The sizes of a design's collections by the model's statistics.
#[derive(Debug, Clone, Copy)]
pub struct Sizes<'s> {
    pub statistics: &'s Statistics<'s>,
    pub design: &'s Design,
}

/// How large a block is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Block {
    pub entries: f64,
    pub bytes: f64,
}

impl Sizes<'_> {
    /// The entries of a collection. Those of a master are counted in its blocks.
    #[must_use]
    pub fn entries(&self, id: CollectionId) -> f64 {
        let collection = &self.design.collections[id];
        self.rows(collection) * self.entries_of_row(collection)
    }

    /// Conceptual rows.
    pub fn rows(&self, collection: &Collection) -> f64 {
        let source = &collection.source;
        let share = source.condition.as_ref().map_or(1.0, |condition| {
            let asked = Asked { positions: &source.positions, skew: 0.0, stated: None };
            selectivity(self.statistics, asked, condition)
        });
        self.rows_without_condition(collection) * share
    }

    pub fn rows_without_condition(&self, collection: &Collection) -> f64 {
        let source = &collection.source;
        let joined = source.positions.iter().filter_map(|(_, position)| {
            let fan_out = self.statistics.fan_out(position.from?.step);
            Some(if position.outer { fan_out.max(1.0) } else { fan_out })
        });
        self.statistics.count(source.root) * joined.product::<f64>()
    }

    /// A row has an entry for each value of a block key that has several, an aggregate one for each cut.
    pub fn entries_of_row(&self, collection: &Collection) -> f64 {
        match &collection.contents {
            Contents::Aggregate(_) => self.cuts(collection).entries(),
            Contents::Fields(_) => self.keys_of_row(collection),
            Contents::Nested(_) => self.nodes(collection) / self.rows_without_condition(collection).max(1.0),
        }
    }

    /// The nodes of a nested copy: at each position one for each way down to it.
    fn nodes(&self, collection: &Collection) -> f64 {
        let ways = collection.source.positions.ids().map(|position| self.ways(collection, position));
        self.statistics.count(collection.source.root) * ways.sum::<f64>()
    }

    /// How many ways down to a position there are from one root.
    fn ways(&self, collection: &Collection, position: PositionId) -> f64 {
        let positions = &collection.source.positions;
        let steps = collection.chain(position).into_iter().filter_map(|at| positions[at].from);
        steps.map(|hop| self.statistics.fan_out(hop.step)).product()
    }

    /// Bytes of a node at one position.
    pub fn node_bytes_at(&self, collection: &Collection, nodes: &Nodes, position: PositionId) -> f64 {
        let positions = &collection.source.positions;
        let identity =
            |at: &PositionId| positions[*at].class.map_or(8.0, |class| self.identity_bytes(class, 0));
        let keys: f64 = collection.block_key.iter().map(|field| self.path_bytes(&field.path)).sum();
        let above: f64 = collection.chain(position).iter().map(identity).sum();
        let here = nodes.fields.iter().filter(|path| path.position == position);
        let whole = positions[position].class.filter(|_| nodes.whole.contains(&position));
        let whole = whole.map_or(0.0, |class| self.class_bytes(class, 0));
        keys + above + here.map(|path| self.path_bytes(path)).sum::<f64>() + whole + ENTRY
    }

    fn node_bytes(&self, collection: &Collection, nodes: &Nodes) -> f64 {
        let (mut count, mut bytes) = (0.0, 0.0);
        for position in collection.source.positions.ids() {
            let ways = self.ways(collection, position);
            count += ways;
            bytes += ways * self.node_bytes_at(collection, nodes, position);
        }
        bytes / f64::max(count, f64::MIN_POSITIVE)
    }

    pub fn keys_of_row(&self, collection: &Collection) -> f64 {
        collection.block_key.iter().map(|field| self.statistics.values(&field.path)).product()
    }

    /// Different block keys.
    #[must_use]
    pub fn blocks(&self, id: CollectionId) -> f64 {
        let collection = &self.design.collections[id];
        match collection.contents {
            Contents::Aggregate(_) => self.statistics.count(collection.source.root),
            Contents::Fields(_) | Contents::Nested(_) => {
                let keys: f64 = collection
                    .block_key
                    .iter()
                    .map(|field| self.different(collection, &field.path))
                    .product();
                keys.min(self.entries(id)).max(1.0)
            }
        }
    }

    /// How many aggregates a partition of a master has, on average.
    fn aggregates_of_partition(&self, collection: &Collection) -> f64 {
        if !collection.is_clustered() {
            return 1.0;
        }
        let mut keys = collection.block_key.iter();
        let count = self.statistics.count(collection.source.root);
        let first = match keys.next().map(|field| &field.path) {
            // The other side may say how many refer to one of it.
            Some(Path { leaf: Leaf::Reference(end), .. }) => self.statistics.referring(*end),
            Some(path) => count / self.different(collection, path),
            None => count,
        };
        let others: f64 = keys.map(|field| self.different(collection, &field.path)).product();
        (first / others).clamp(1.0, count.max(1.0))
    }

    /// Different partitions: as many as blocks, unless a master has several blocks in one.
    #[must_use]
    pub fn partitions(&self, id: CollectionId) -> f64 {
        self.blocks(id) / self.aggregates_of_partition(&self.design.collections[id])
    }

    /// A partition, on average.
    #[must_use]
    pub fn partition_bytes(&self, id: CollectionId) -> f64 {
        self.block_bytes(id) * self.aggregates_of_partition(&self.design.collections[id])
    }

    fn different(&self, collection: &Collection, path: &Path) -> f64 {
        match path.leaf {
            Leaf::Attribute(id) => self.statistics.distinct(Member::Attribute(id)),
            Leaf::Reference(id) => self.statistics.distinct(Member::End(id)),
            Leaf::Itself if path.hops.is_empty() => {
                let class = collection.source.positions[path.position].class;
                class.map_or(f64::INFINITY, |class| self.statistics.count(class))
            }
            Leaf::Itself => f64::INFINITY,
            Leaf::Bucket(of) => f64::from(of),
            Leaf::TimeBucket(id, unit) => self.statistics.time_buckets(id, unit),
        }
    }

    /// Bytes of an entry, on average.
    #[must_use]
    pub fn entry_bytes(&self, id: CollectionId) -> f64 {
        let collection = &self.design.collections[id];
        match &collection.contents {
            Contents::Aggregate(_) => {
                let block = self.block(id);
                block.bytes / block.entries.max(1.0)
            }
            Contents::Nested(nodes) => self.node_bytes(collection, nodes),
            Contents::Fields(_) => {
                let identity: f64 = collection
                    .source
                    .positions
                    .iter()
                    .map(|(_, position)| position.class.map_or(8.0, |class| self.identity_bytes(class, 0)))
                    .sum();
                collection.held().map(|path| self.path_bytes(path)).sum::<f64>() + identity + ENTRY
            }
        }
    }

    /// A block, on average. Both numbers at once, as it takes some time to see how an aggregate is cut.
    #[must_use]
    pub fn block(&self, id: CollectionId) -> Block {
        let collection = &self.design.collections[id];
        match collection.contents {
            Contents::Aggregate(_) => {
                let cuts = self.cuts(collection);
                let own: f64 = cuts.cuts.iter().map(|cut| cut.bytes + cut.entries * ENTRY).sum();
                let carried = self.design.carried(collection.source.root);
                let carried = carried.map_or(0.0, |carried| self.carried_bytes(carried));
                Block { entries: cuts.entries(), bytes: own + carried }
            }
            Contents::Fields(_) | Contents::Nested(_) => {
                let entries = self.entries(id) / self.blocks(id);
                Block { entries, bytes: entries * self.entry_bytes(id) }
            }
        }
    }

    /// What a record of a master carries of others.
    pub fn carried_bytes(&self, id: CollectionId) -> f64 {
        self.design.collections[id].fields().iter().map(|path| self.path_bytes(path)).sum()
    }

    /// Entries of a block, on average.
    #[must_use]
    pub fn block_entries(&self, id: CollectionId) -> f64 {
        self.block(id).entries
    }

    #[must_use]
    pub fn block_bytes(&self, id: CollectionId) -> f64 {
        self.block(id).bytes
    }

    /// All of a collection.
    #[must_use]
    pub fn bytes(&self, id: CollectionId) -> f64 {
        // What a master carries is counted in its records.
        if self.design.stored_in(id) != id {
            return 0.0;
        }
        self.entries(id) * self.entry_bytes(id)
    }

    fn is_part(&self, id: askloom_model::EndId) -> bool {
        self.statistics.conceptual.ends[id].kind == RelationshipKind::Composition
    }

    pub fn is_stored(&self, member: Member) -> bool {
        match member {
            Member::Attribute(_) => true,
            Member::End(id) => self.statistics.conceptual.ends[id].stored,
        }
    }

    /// An instance with its parts; of a class with subclasses, the mean of those that have instances.
    pub fn class_bytes(&self, class: ClassId, depth: usize) -> f64 {
        let conceptual = self.statistics.conceptual;
        if depth > MAX_NESTING {
            return 0.0;
        }
        let subclasses = &conceptual.classes[class].subclasses;
        if !subclasses.is_empty() {
            let counts: f64 = subclasses.iter().map(|&sub| self.statistics.count(sub)).sum();
            let bytes = |&sub: &ClassId| self.statistics.count(sub) * self.class_bytes(sub, depth + 1);
            return subclasses.iter().map(bytes).sum::<f64>() / counts.max(1.0);
        }
        let members = conceptual.all_members(class).filter(|&member| self.is_stored(member));
        members.map(|member| self.element_bytes(member, depth) * self.statistics.fan_out(member)).sum()
    }

    /// Of each record that an index leads to, however the design cuts it: all, or what a plan takes of it.
    pub fn led_to(&self, plan: &Plan) -> f64 {
        let collection = &self.design.collections[plan.access.collection];
        let whole = self.class_bytes(collection.source.root, 0) + ENTRY;
        let Some(members) = plan.members_of_records(self.statistics.conceptual) else { return whole };
        let keys: Vec<Member> = collection.held().flat_map(Path::members).collect();
        let beside = members.into_iter().filter(|member| !keys.contains(member));
        // Counted as in copies that hold the same.
        let beside: f64 = beside.map(|member| self.element_bytes(member, 0)).sum();
        whole.min(self.entry_bytes(plan.access.collection) + beside)
    }

    /// How many rows of a partition are read of each record that an index leads to: one, if what the plan takes of it is
    /// the same for all of them.
    pub fn rows_led_to(&self, plan: &Plan) -> f64 {
        let conceptual = self.statistics.conceptual;
        let single = |member: Member| match member {
            Member::Attribute(id) => !conceptual.attributes[id].list,
            Member::End(id) => !conceptual.ends[id].cardinality.is_many(),
        };
        let members = plan.members_of_records(conceptual);
        if members.is_some_and(|members| members.into_iter().all(single)) {
            return 1.0;
        }
        let root = self.design.collections[plan.access.collection].source.root;
        self.design.master(root).map_or(1.0, |master| self.block_entries(master).max(1.0))
    }

    /// An instance whose lists are empty.
    pub fn single_bytes(&self, class: ClassId) -> f64 {
        let single = self.statistics.conceptual.all_members(class).filter(|&member| match member {
            Member::Attribute(id) => !self.statistics.conceptual.attributes[id].list,
            Member::End(id) => {
                let end = &self.statistics.conceptual.ends[id];
                end.stored && !end.cardinality.is_many()
            }
        });
        single.map(|member| self.element_bytes(member, 0)).sum::<f64>() + ENTRY
    }

    /// All that an instance has of a member.
    pub fn member_bytes(&self, member: Member) -> f64 {
        self.element_bytes(member, 0) * self.statistics.fan_out(member)
    }

    /// One value of a member.
    pub(super) fn element_bytes(&self, member: Member, depth: usize) -> f64 {
        match member {
            Member::Attribute(id) => self.attribute_bytes(id),
            Member::End(id) if self.is_part(id) => {
                self.class_bytes(self.statistics.conceptual.ends[id].target, depth + 1)
            }
            Member::End(id) => self.identity_bytes(self.statistics.conceptual.ends[id].target, 0),
        }
    }

    pub fn identity_bytes(&self, class: ClassId, depth: usize) -> f64 {
        let conceptual = self.statistics.conceptual;
        let identifier = &conceptual.classes[class].identifier;
        if identifier.is_empty() || depth > MAX_NESTING {
            return SURROGATE;
        }
        let bytes = |member: &Member| match *member {
            Member::Attribute(id) => self.attribute_bytes(id),
            Member::End(id) => self.identity_bytes(conceptual.ends[id].target, depth + 1),
        };
        identifier.iter().map(bytes).sum()
    }

    pub fn path_bytes(&self, path: &Path) -> f64 {
        match path.leaf {
            Leaf::Attribute(id) => self.attribute_bytes(id),
            Leaf::Reference(id) => self.identity_bytes(self.statistics.conceptual.ends[id].target, 0),
            Leaf::Itself => SURROGATE,
            Leaf::Bucket(_) => BUCKET,
            Leaf::TimeBucket(..) => TIME_BUCKET,
        }
    }

    fn attribute_bytes(&self, id: AttributeId) -> f64 {
        let attribute = &self.statistics.conceptual.attributes[id];
        if let Some(bytes) = attribute.statistics.size_bytes {
            return bytes as f64;
        }
        match attribute.ty {
            Type::Bool | Type::Enum(_) => 1.0,
            Type::Int => 4.0,
            Type::Long | Type::Double | Type::Date | Type::Time | Type::Timestamp(_) => 8.0,
            Type::Uuid | Type::Geo => 16.0,
            Type::Text | Type::Blob | Type::Json | Type::Decimal => {
                self.statistics.assume(AssumptionAbout::Bytes(Member::Attribute(id)), VARYING)
            }
        }
    }
}
