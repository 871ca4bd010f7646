//! How a statement is answered over a design: one structure that is priced, printed and executed.

use crate::{
    AttributeId, ClassId, CollectionId, Column, ColumnValue, Comparison, Condition, EndId, InSet, IndexKeys,
    Limit, Member, Operand, OrderBy, OrderTerm, Parameter, Path, PerGroup, PositionId, Query, TimeBucket,
    Work,
};
use serde::Serialize;
use std::borrow::Cow;

/// A plan of a query: how its rows are found, then what is done with them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// What is found before anything else is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Box<Found>>,
    /// What is answered in place of the query: the same rows, without positions of which only the identity is wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduced: Option<Box<Query>>,
    /// References that lead to something, or else the answer would be another.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub relies_on: Vec<EndId>,
    pub access: Access,
    /// Positions that the access does not give, in the order in which they are joined.
    pub joins: Vec<JoinStep>,
    /// Copies that have a row for each row, by its identity: what is needed and not there yet comes from them.
    pub fetches: Vec<Fetch>,
    /// What the store looks for by itself where a plan would else read everything.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub searched: Vec<Condition>,
    /// What the access and the joins do not already guarantee.
    pub filter: Option<Condition>,
    pub group_by: Vec<Path>,
    /// `None`: rows come in this order already.
    pub sort: Option<Vec<OrderTerm>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_group: Option<PerGroup>,
    pub limit: Option<Limit>,
    pub columns: Vec<Column>,
    /// Every step after what is found first, in execution order. With the fields that a step names, it says all that is
    /// needed to run it.
    pub steps: Vec<PlanStep>,
    /// The sum of the steps, those of what is found first included.
    pub estimate: Estimate,
    pub priced: Priced,
}

impl Plan {
    /// How links are followed: those that the query joins along, and those to what an entry does not hold.
    pub fn follows(&self) -> impl Iterator<Item = &Joining> {
        let joins = self.joins.iter().map(|join| &join.how);
        let later = self.steps.iter().filter_map(|step| match &step.of {
            StepOf::Follow(follow) => Some(&follow.how),
            StepOf::Access
            | StepOf::Join(_)
            | StepOf::Fetch { .. }
            | StepOf::Filter
            | StepOf::Group
            | StepOf::Sort
            | StepOf::PerGroup
            | StepOf::Limit => None,
        });
        joins.chain(later)
    }

    /// What every step is expected to do, those of what is found first included, in execution order.
    pub fn work(&self) -> impl Iterator<Item = &Work> {
        let mut plans: Vec<&Self> = self.all().collect();
        plans.reverse();
        plans.into_iter().flat_map(|plan| plan.steps.iter().map(|step| &step.work))
    }

    /// The join that a step names.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a step that names nothing must be neither priced nor run")]
    pub fn join(&self, index: usize) -> &JoinStep {
        self.joins.get(index).expect("a step names a join of its own plan")
    }

    /// The copy that a step names.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a step that names nothing must be neither priced nor run")]
    pub fn fetch(&self, index: usize) -> &Fetch {
        self.fetches.get(index).expect("a step names a fetch of its own plan")
    }

    /// How many rows come out.
    #[must_use]
    pub fn rows_out(&self) -> f64 {
        self.steps.last().map_or(0.0, |step| step.out)
    }

    /// This plan, before it the one of what is found first, and so on.
    pub fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |plan| plan.first.as_ref().map(|found| &found.plan))
    }

    /// Every collection that is read; one may come twice.
    pub fn collections(&self) -> impl Iterator<Item = CollectionId> + '_ {
        self.all().flat_map(Self::read_after)
    }

    /// Those that are read after what is found first.
    pub fn read_after(&self) -> impl Iterator<Item = CollectionId> + '_ {
        let fetches = self.fetches.iter().map(|fetch| fetch.collection);
        let followed = self.follows().flat_map(Joining::collections);
        std::iter::once(self.access.collection).chain(fetches).chain(followed)
    }

    /// Every path that a value is taken from, but for those of whole instances.
    #[must_use]
    pub fn paths(&self) -> Vec<&Path> {
        let mut paths: Vec<&Path> = self.group_by.iter().collect();
        for column in &self.columns {
            match &column.value {
                ColumnValue::Path(path) => paths.push(path),
                ColumnValue::Aggregate(aggregate) => paths.extend(&aggregate.of),
                ColumnValue::Whole(_) => {}
            }
        }
        for term in self.sort.iter().flatten() {
            match &term.by {
                OrderBy::Path(path) => paths.push(path),
                OrderBy::Aggregate(aggregate) => paths.extend(&aggregate.of),
            }
        }
        paths.extend(self.filter.iter().flat_map(Condition::paths));
        paths.extend(self.per_group.iter().flat_map(|per_group| &per_group.by));
        paths.extend(self.reduced.iter().flat_map(|query| &query.identity));
        paths
    }

    /// The sum of the steps after what is found first.
    #[must_use]
    pub fn estimate_after(&self) -> Estimate {
        self.steps.iter().map(|step| step.estimate).sum()
    }

    /// The query as the plan answers it.
    #[must_use]
    pub fn query<'q>(&'q self, asked: &'q Query) -> &'q Query {
        self.reduced.as_deref().unwrap_or(asked)
    }

    /// The parameters that it goes by: those of the query, and behind them the ids that are found first.
    #[must_use]
    pub fn parameters<'p>(&'p self, query: &'p Query) -> &'p [Parameter] {
        self.first.as_ref().map_or(&query.parameters, |found| &found.parameters)
    }
}

/// Instances that the rows of a query have to lead to. Their ids are found by a plan of their own, and are then one more
/// parameter of the query.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// FROM their class, with what the query says of them.
    pub query: Query,
    pub plan: Plan,
    /// Those of the query, and behind them the list of ids.
    pub parameters: Vec<Parameter>,
}

impl Found {
    /// The list of ids.
    #[must_use]
    pub fn list(&self) -> Option<&Parameter> {
        self.parameters.last()
    }

    /// Where the list is among the parameters.
    #[must_use]
    pub fn index(&self) -> usize {
        self.parameters.len().saturating_sub(1)
    }
}

/// For each position of a collection, the query's position that it stands for. Nothing for one that the query does not
/// have and that changes no rows: something to-one that is joined outer.
pub type Mapped = Vec<Option<PositionId>>;

/// Where the first rows come from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Access {
    pub collection: CollectionId,
    pub how: Reading,
    pub positions: Mapped,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// One aggregate by its id.
    GetBlock { key: Vec<KeyValue> },
    /// The entries of one block: those equal to some leading fields, then within a range.
    Range {
        key: Vec<KeyValue>,
        equal: Vec<KeyValue>,
        range: Option<KeyRange>,
        /// From the last entry to the first.
        backwards: bool,
        /// No more rows are needed than the query's LIMIT says, or one more than its PAGE.
        limited: bool,
    },
    /// The same for each value of a set in place of one field of the key: those of the block first, then the equal ones.
    Each { field: usize, set: KeySet, of: Box<Reading> },
    /// Everything.
    Scan,
}

impl Reading {
    /// What is done for each choice of values.
    #[must_use]
    pub fn innermost(&self) -> &Self {
        match self {
            Self::Each { of, .. } => of.innermost(),
            Self::GetBlock { .. } | Self::Range { .. } | Self::Scan => self,
        }
    }
}

/// The values among which a field of a key has a choice.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum KeySet {
    In(InSet),
    Buckets(BucketsBetween),
}

/// The buckets of time from that of one instant to that of another, both included.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BucketsBetween {
    pub unit: TimeBucket,
    pub low: Operand,
    pub high: Operand,
}

/// What a field of a key is equal to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum KeyValue {
    Is(Operand),
    /// The identity that these make, in their order.
    Identity(Vec<KeyComponent>),
    /// The bucket of an instant.
    TimeBucket {
        unit: TimeBucket,
        of: Operand,
    },
    /// The bucket of what another field of the key has, for which a set gives the value.
    TimeBucketOfField {
        unit: TimeBucket,
        field: usize,
    },
}

/// What the query says of some components of an identity.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KeyComponent {
    pub path: Path,
    pub is: Operand,
}

/// A range of the entry field that follows the equal ones.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KeyRange {
    pub low: Option<(Operand, Inclusive)>,
    pub high: Option<(Operand, Inclusive)>,
    /// STARTS WITH
    pub prefix: Option<Operand>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Inclusive {
    Yes,
    No,
}

impl KeyRange {
    pub const ALL: Self = Self { low: None, high: None, prefix: None };

    /// Narrows by a comparison `field op operand`. False if it is no range.
    pub fn narrow(&mut self, op: Comparison, operand: &Operand) -> bool {
        let (bound, inclusive) = match op {
            Comparison::Greater => (&mut self.low, Inclusive::No),
            Comparison::GreaterOrEqual => (&mut self.low, Inclusive::Yes),
            Comparison::Less => (&mut self.high, Inclusive::No),
            Comparison::LessOrEqual => (&mut self.high, Inclusive::Yes),
            Comparison::Equal | Comparison::NotEqual => return false,
        };
        if bound.is_some() || self.prefix.is_some() {
            return false;
        }
        *bound = Some((operand.clone(), inclusive));
        true
    }
}

/// A copy in which a row is found by its own identity.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fetch {
    pub collection: CollectionId,
    pub positions: Mapped,
}

/// How a further position is reached from the ones before.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JoinStep {
    pub position: PositionId,
    pub how: Joining,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Joining {
    /// A part, a list or a set of ids: inside the aggregate that is there already.
    Inside,
    /// The instances that a stored reference names, by their ids, in one batch.
    LookUp { master: CollectionId },
    /// Parts that a stored reference names. Their ids do not say whose parts they are: an index leads to the owners, which
    /// are then looked up.
    PartByIndex { index: CollectionId, master: CollectionId },
    /// Parts that a stored reference names, by reading all owners.
    PartByScan { master: CollectionId },
    /// Those that refer back, by an index from the target; then they are looked up.
    Back { index: CollectionId, master: CollectionId },
    /// Those that refer back, by reading all of them.
    BackByScan { master: CollectionId },
}

impl Joining {
    /// The collections that are read.
    #[must_use]
    pub fn collections(&self) -> Vec<CollectionId> {
        match *self {
            Self::Inside => Vec::new(),
            Self::LookUp { master } | Self::PartByScan { master } | Self::BackByScan { master } => {
                vec![master]
            }
            Self::PartByIndex { index, master } | Self::Back { index, master } => vec![index, master],
        }
    }

    /// The master that it leads to.
    #[must_use]
    pub fn master(&self) -> Option<CollectionId> {
        match *self {
            Self::Inside => None,
            Self::LookUp { master }
            | Self::PartByScan { master }
            | Self::BackByScan { master }
            | Self::PartByIndex { master, .. }
            | Self::Back { master, .. } => Some(master),
        }
    }

    /// The collection that is read as a whole, if one is.
    #[must_use]
    pub fn scanned(&self) -> Option<CollectionId> {
        match *self {
            Self::PartByScan { master } | Self::BackByScan { master } => Some(master),
            Self::Inside | Self::LookUp { .. } | Self::PartByIndex { .. } | Self::Back { .. } => None,
        }
    }
}

/// What a plan, or a step of one, is expected to read, to write and to cost.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Estimate {
    /// Round trips, reading and writing.
    pub requests: f64,
    pub partitions: f64,
    /// Entries that the store goes through.
    pub rows: f64,
    /// Bytes read.
    pub bytes: f64,
    pub puts: f64,
    pub deletes: f64,
    /// Bytes put.
    pub written: f64,
    /// In the unit of the cost model.
    pub cost: f64,
}

impl std::ops::AddAssign for Estimate {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.partitions += other.partitions;
        self.rows += other.rows;
        self.bytes += other.bytes;
        self.puts += other.puts;
        self.deletes += other.deletes;
        self.written += other.written;
        self.cost += other.cost;
    }
}

impl std::iter::Sum for Estimate {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |mut sum, one| {
            sum += one;
            sum
        })
    }
}

/// For which store a plan was priced.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Priced {
    pub target: &'static str,
    /// What costs are counted in.
    pub unit: Cow<'static, str>,
    /// What a reader may see while others write.
    pub reads: Guarantee,
    pub assumed: Vec<Assumption>,
    /// What the keys of the store's own indexes are made of, if it has any.
    #[serde(skip)]
    pub index_keys: Option<IndexKeys>,
}

/// What a reader may see while others write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Guarantee {
    /// One state of everything.
    Snapshot,
    /// Each record as it was or as it is; the list may mix.
    #[default]
    Committed,
    /// A row may be behind its master.
    Lagging,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlanStep {
    pub of: StepOf,
    /// What it is expected to do. Any cost model can put a price on it.
    pub work: Work,
    /// Rows that go on to the next step.
    pub out: f64,
    /// The price of the work.
    pub estimate: Estimate,
}

impl PlanStep {
    /// A step that is not counted yet.
    #[must_use]
    pub fn uncounted(of: StepOf) -> Self {
        Self { of, work: Work::default(), out: 0.0, estimate: Estimate::default() }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepOf {
    Access,
    /// By its place in the plan's joins.
    Join(usize),
    /// Entries of one of the plan's fetches, by its place there. Of a nested copy, the records at one position.
    Fetch {
        index: usize,
        node: Option<PositionId>,
    },
    /// A look-up of what no entry holds.
    Follow(Follow),
    Filter,
    Group,
    Sort,
    /// The first rows of each group of `LIMIT … PER`.
    PerGroup,
    Limit,
}

/// A look-up that no join names: of the instance at a position, further along the hops of a path, or of those that refer
/// back by the last hop.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Follow {
    pub position: PositionId,
    pub hops: Vec<EndId>,
    pub how: Joining,
}

/// A number that the model does not give and an estimate needed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Assumption {
    pub about: AssumptionAbout,
    pub value: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AssumptionAbout {
    /// Instances of a class.
    Count(ClassId),
    /// Elements of a list or a to-many end.
    Average(Member),
    /// The share of instances that have a value, or a link.
    Present(Member),
    /// Different values.
    Distinct(Member),
    /// Bytes of a value.
    Bytes(Member),
    /// The share of rows that a kind of condition keeps.
    Share(ShareOf),
    /// Values in a list that a parameter brings.
    ListLength,
    /// Rows that a parameter of LIMIT or PAGE asks for.
    Rows,
    /// Days between the first and the last value of a timestamp.
    Days(AttributeId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ShareOf {
    /// `<`, `<=`, `>`, `>=`
    Comparison,
    Between,
    StartsWith,
    Matches,
    Under,
    Above,
    Within,
    InBox,
}
