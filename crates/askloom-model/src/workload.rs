//! What is asked and what is written, resolved: names have become positions, members and constants.

use crate::{
    AttributeId, ClassId, Conceptual, Constant, EndId, Member, PositionId, Span, Table, TimeBucket, Type,
};
use serde::Serialize;

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Workload {
    pub queries: Vec<Query>,
    pub asks: Vec<Ask>,
    pub writes: Vec<Write>,
}

/// What every statement carries.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Header {
    pub name: String,
    /// Per second. `None`: the model does not say.
    pub rate: Option<f64>,
    /// Zipf exponent of how often a parameter value is asked for.
    pub skew: Option<f64>,
    pub highly_updated: bool,
    /// Where its name stands.
    #[serde(skip)]
    pub span: Span,
    /// The whole statement.
    #[serde(skip)]
    pub declaration: Span,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Query {
    pub header: Header,
    /// Never answered from a copy that may lag.
    pub fresh: bool,
    pub latency_ms: Option<f64>,
    pub positions: Table<PositionId, Position>,
    pub columns: Vec<Column>,
    pub condition: Option<Condition>,
    pub group_by: Vec<Path>,
    pub order_by: Vec<OrderTerm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_group: Option<PerGroup>,
    pub limit: Option<Limit>,
    pub parameters: Vec<Parameter>,
    /// What the model says about how many rows conditions keep.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stated: Vec<Stated>,
    /// What identifies a row, if that is not the identities of its positions: those of the positions of the query that
    /// this one stands for, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub identity: Vec<Path>,
}

impl Query {
    /// What identifies a row, in order.
    #[must_use]
    pub fn row_identity(&self) -> Vec<Path> {
        if !self.identity.is_empty() {
            return self.identity.clone();
        }
        let itself = |position| Path { position, hops: Vec::new(), leaf: Leaf::Itself };
        self.positions.ids().map(itself).collect()
    }
}

impl Query {
    /// The to-many ends whose lists or sets are columns.
    pub fn listed_ends(&self, conceptual: &Conceptual) -> impl Iterator<Item = EndId> {
        self.columns.iter().filter_map(|column| match &column.value {
            ColumnValue::Path(Path { leaf: Leaf::Reference(end), .. }) => {
                conceptual.ends[*end].cardinality.is_many().then_some(*end)
            }
            ColumnValue::Path(_) | ColumnValue::Whole(_) | ColumnValue::Aggregate(_) => None,
        })
    }

    /// The paths whose values make the groups of `LIMIT … PER`.
    pub fn per_group_paths(&self) -> impl Iterator<Item = &Path> {
        self.per_group.iter().flat_map(|per_group| &per_group.by)
    }
}

/// `@selects(1%)` or `@rows(15)`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stated {
    /// The comparison that it stands behind: it says how many of what the equalities select are kept. `None`: of the
    /// whole query, before LIMIT.
    pub condition: Option<Condition>,
    pub kept: Kept,
}

/// How many rows a condition keeps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kept {
    /// Between 0 and 1.
    Share(f64),
    Rows(f64),
}

/// A node of the tree of JOIN paths. The first one is the main entity.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Position {
    pub class: Option<ClassId>,
    pub from: Option<Hop>,
    /// `LEFT JOIN`, on every path that goes through here.
    pub outer: bool,
    pub alias: Option<String>,
}

/// How a position hangs on its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Hop {
    pub parent: PositionId,
    pub step: Member,
}

/// A value at a position, or further along hops that no JOIN names. Such hops are an implicit outer
/// position if all are to-one; in WHERE a to-many hop means "some".
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Path {
    pub position: PositionId,
    pub hops: Vec<EndId>,
    pub leaf: Leaf,
}

impl Path {
    /// The members on the way, the last one included.
    pub fn members(&self) -> impl Iterator<Item = Member> {
        let leaf = match self.leaf {
            Leaf::Attribute(id) | Leaf::TimeBucket(id, _) => Some(Member::Attribute(id)),
            Leaf::Reference(id) => Some(Member::End(id)),
            Leaf::Itself | Leaf::Bucket(_) => None,
        };
        self.hops.iter().map(|&hop| Member::End(hop)).chain(leaf)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Leaf {
    Attribute(AttributeId),
    /// The stored id or ids of a relationship, or the identity at its derived end.
    Reference(EndId),
    /// The instance or list element at the position itself.
    Itself,
    /// Which of so many buckets the instance at the position is in, by its id. Only keys of copies have it.
    Bucket(u32),
    /// The hour, day or month, in UTC, of a timestamp in the instance's id. Only keys of masters have it.
    TimeBucket(AttributeId, TimeBucket),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Column {
    pub name: String,
    pub value: ColumnValue,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnValue {
    /// `*` or `a.*`: the whole aggregate, or the instance at a joined position.
    Whole(PositionId),
    Path(Path),
    Aggregate(Aggregate),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Aggregate {
    pub function: AggregateFunction,
    pub distinct: bool,
    /// `None` for `COUNT(*)`.
    pub of: Option<Path>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AggregateFunction {
    Count,
    Sum,
    Avg,
    Min,
    Max,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OrderTerm {
    pub by: OrderBy,
    pub descending: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OrderBy {
    Path(Path),
    Aggregate(Aggregate),
}

/// `LIMIT n PER paths`: of the ordered rows, the first n of each group of equal values. Null is a value like any other.
/// [`Limit`] applies to the rows that are left.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PerGroup {
    pub rows: Operand,
    pub by: Vec<Path>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    Rows(Operand),
    Page(Operand),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Condition {
    And(Vec<Condition>),
    Or(Vec<Condition>),
    /// The inner condition as a whole is false: over many values, none of them makes it true.
    Not(Box<Condition>),
    /// The negation of an element's predicate, as in `tags NOT IN :list`: over many values, some of them make the
    /// predicate false. It stands around a predicate that [has a negated form](Self::has_negated_form) and is about a
    /// path of many values; of a single value it means what NOT means, and NOT is what the language makes of it.
    Negated(Box<Condition>),
    Compare {
        left: Operand,
        op: Comparison,
        right: Operand,
    },
    Between {
        value: Operand,
        low: Operand,
        high: Operand,
    },
    In {
        value: Operand,
        set: InSet,
    },
    StartsWith {
        value: Operand,
        prefix: Operand,
    },
    IsNull {
        value: Operand,
    },
    /// Words in a text.
    Matches {
        value: Operand,
        words: Operand,
    },
    /// Descendants in a `@tree`.
    Under {
        value: Operand,
        of: Operand,
    },
    /// Ancestors in a `@tree`.
    Above {
        value: Operand,
        of: Operand,
    },
    Within {
        value: Operand,
        km: Operand,
        of: Operand,
    },
    InBox {
        value: Operand,
        low: Operand,
        high: Operand,
    },
}

impl Condition {
    /// Whether the language negates it within: `x NOT IN …`, `x IS NOT NULL`.
    #[must_use]
    pub fn has_negated_form(&self) -> bool {
        match self {
            Self::Between { .. }
            | Self::In { .. }
            | Self::StartsWith { .. }
            | Self::IsNull { .. }
            | Self::Matches { .. }
            | Self::Under { .. }
            | Self::Above { .. }
            | Self::Within { .. }
            | Self::InBox { .. } => true,
            // A comparison has an opposite instead.
            Self::And(_) | Self::Or(_) | Self::Not(_) | Self::Negated(_) | Self::Compare { .. } => false,
        }
    }

    /// The paths in it, in the order of the text.
    #[must_use]
    pub fn paths(&self) -> Vec<&Path> {
        let mut paths = Vec::new();
        self.collect_paths(&mut paths);
        paths
    }

    fn collect_paths<'c>(&'c self, paths: &mut Vec<&'c Path>) {
        let mut operand = |operand: &'c Operand| {
            if let Operand::Path(path) = operand {
                paths.push(path);
            }
        };
        match self {
            Self::And(terms) | Self::Or(terms) => terms.iter().for_each(|term| term.collect_paths(paths)),
            Self::Not(inner) | Self::Negated(inner) => inner.collect_paths(paths),
            Self::Compare { left, right, .. } => [left, right].into_iter().for_each(operand),
            Self::Between { value, low, high } | Self::InBox { value, low, high } => {
                [value, low, high].into_iter().for_each(operand);
            }
            Self::In { value, set } => {
                operand(value);
                match set {
                    InSet::List(items) => items.iter().for_each(operand),
                    InSet::Parameter(_) => {}
                }
            }
            Self::StartsWith { value, prefix: other }
            | Self::Matches { value, words: other }
            | Self::Under { value, of: other }
            | Self::Above { value, of: other } => [value, other].into_iter().for_each(operand),
            Self::IsNull { value } => operand(value),
            Self::Within { value, km, of } => [value, km, of].into_iter().for_each(operand),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum InSet {
    List(Vec<Operand>),
    /// A parameter that carries the whole list.
    Parameter(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    /// The same as seen from its other side: `a < b` is `b > a`.
    #[must_use]
    pub fn turned(self) -> Self {
        match self {
            Self::Equal => Self::Equal,
            Self::NotEqual => Self::NotEqual,
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Operand {
    Path(Path),
    Constant(Constant),
    /// Index into the statement's parameters.
    Parameter(usize),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Parameter {
    pub name: String,
    pub ty: ParameterType,
    #[serde(skip)]
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ParameterType {
    Basic(Type),
    /// The identity of an instance.
    Identity(ClassId),
    /// A whole value object or part entity.
    Whole(ClassId),
    List(Box<ParameterType>),
}

/// QODM's two-tuple: given the ids of the key classes, the linked result instances.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ask {
    pub header: Header,
    pub fresh: bool,
    pub latency_ms: Option<f64>,
    pub keys: Vec<ClassId>,
    pub results: Vec<ClassId>,
    /// The links that join all of them; a circle of classes is joined on all its links.
    pub links: Vec<AskLink>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct AskLink {
    pub from: ClassId,
    pub end: EndId,
    /// True when the link is walked from its target to its class.
    pub reversed: bool,
    pub to: ClassId,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Write {
    pub header: Header,
    /// One, or several that happen together or not at all, unless `apart` says otherwise.
    pub steps: Vec<WriteStep>,
    pub compound: bool,
    /// `@apart`: the statements commit one after the other, and those before one that fails stay.
    pub apart: bool,
    /// Those that the text names. The fields of an INSERT are parameters too.
    pub parameters: Vec<Parameter>,
    /// How long all of it may take.
    pub latency_ms: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WriteStep {
    /// Every field of the class that [`Conceptual::insertable`](crate::Conceptual::insertable) allows is a
    /// parameter of its name, beside the write's own.
    Insert {
        class: ClassId,
    },
    Upsert {
        class: ClassId,
    },
    /// A whole aggregate, new or in place of the one with its id.
    Store {
        class: ClassId,
    },
    Update {
        class: ClassId,
        set: Vec<Assignment>,
        condition: Option<Condition>,
        positions: Table<PositionId, Position>,
    },
    /// Every element that matches. Names of `set` are those of the element; of a list of plain values, the list itself
    /// stands for the element.
    UpdateElements {
        class: ClassId,
        list: Member,
        set: Vec<Assignment>,
        condition: Option<Condition>,
        positions: Table<PositionId, Position>,
    },
    Delete {
        class: ClassId,
        condition: Option<Condition>,
        positions: Table<PositionId, Position>,
    },
    Add {
        class: ClassId,
        list: Member,
        value: Operand,
        condition: Option<Condition>,
        positions: Table<PositionId, Position>,
    },
    Remove {
        class: ClassId,
        list: Member,
        at: Option<Operand>,
        condition: Option<Condition>,
        positions: Table<PositionId, Position>,
    },
    Connect {
        class: ClassId,
        end: EndId,
        to: Operand,
        condition: Option<Condition>,
        positions: Table<PositionId, Position>,
    },
    Disconnect {
        class: ClassId,
        end: EndId,
        from: Option<Operand>,
        condition: Option<Condition>,
        positions: Table<PositionId, Position>,
    },
}

impl WriteStep {
    /// The class whose fields are the statement's parameters.
    #[must_use]
    pub fn fields_of(&self) -> Option<ClassId> {
        match self {
            Self::Insert { class } | Self::Upsert { class } | Self::Store { class } => Some(*class),
            Self::Update { .. }
            | Self::UpdateElements { .. }
            | Self::Delete { .. }
            | Self::Add { .. }
            | Self::Remove { .. }
            | Self::Connect { .. }
            | Self::Disconnect { .. } => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Assignment {
    /// Through to-one parts to the field.
    pub hops: Vec<EndId>,
    pub member: Member,
    pub value: Assigned,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Assigned {
    To(Operand),
    /// `n = n + :d`; `negative` for `n - :d`.
    Plus {
        amount: Operand,
        negative: bool,
    },
    Now,
    NewUuid,
}
