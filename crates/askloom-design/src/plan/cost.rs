//! What a plan is expected to cost, from the model's statistics. Where the model says nothing, a default is taken;
//! all defaults stand here.

use askloom_model::{
    ClassId, CollectionId, Conceptual, Contents, Design, Estimate, InSet, Joining, Limit, Member, Operand, Plan,
    Query, Reading, Type,
};

/// Instances of a class without `@count`.
const COUNT: f64 = 10_000.0;
/// Elements of a list, or ends of a to-many relationship, without `@avg`.
const AVERAGE: f64 = 10.0;
/// Different values of an attribute without `@distinct`, as a share of the instances.
const DISTINCT_SHARE: f64 = 0.1;
/// Bytes of a text without `@size`.
const TEXT_BYTES: f64 = 24.0;
/// The share of a block that a range leaves.
const RANGE_SHARE: f64 = 0.3;

/// One number to compare plans by: a request costs as much as reading some hundred rows.
pub(super) fn total(estimate: &Estimate) -> f64 {
    estimate.requests * 100.0 + estimate.rows + estimate.bytes / 1000.0
}

pub(super) fn estimate(conceptual: &Conceptual, design: &Design, query: &Query, plan: &Plan) -> Estimate {
    let collection = &design.collections[plan.access.collection];
    let all = rows(conceptual, design, plan.access.collection);
    let (ranges, how) = ranges(&plan.access.how);
    let mut read = match how {
        Reading::GetBlock { .. } => 1.0,
        Reading::Scan | Reading::Each { .. } => all,
        Reading::Range { equal, range, limited, .. } => {
            let mut rows = all;
            let bound = collection.block_key.iter().chain(collection.entry_key.iter().take(equal.len()));
            for field in bound {
                rows /= distinct(conceptual, &field.path, all);
            }
            if range.is_some() {
                rows *= RANGE_SHARE;
            }
            match (&query.limit, limited) {
                (Some(Limit::Rows(Operand::Constant(askloom_model::Constant::Int(n)))), true) => {
                    rows.min(*n as f64)
                }
                _unbounded => rows,
            }
        }
    };
    read = read.max(1.0) * ranges;
    let bytes = read * entry_bytes(conceptual, design, plan.access.collection);
    let pages = (bytes / 1e6).ceil().max(ranges);
    let mut total = Estimate { requests: pages, partitions: ranges, rows: read, bytes };
    for join in &plan.joins {
        let fan_out = fan_out(conceptual, query, join.position);
        let (requests, each) = match &join.how {
            Joining::Inside => (0.0, 0.0),
            Joining::LookUp { master } => ((read / 100.0).ceil(), entry_bytes(conceptual, design, *master)),
            Joining::Back { master, .. } => {
                (read + (read * fan_out / 100.0).ceil(), entry_bytes(conceptual, design, *master))
            }
            Joining::BackByScan { master } => {
                let all = rows(conceptual, design, *master);
                total.rows += all;
                total.bytes += all * entry_bytes(conceptual, design, *master);
                (1.0, 0.0)
            }
        };
        read *= fan_out;
        total.requests += requests;
        total.rows += if requests > 0.0 { read } else { 0.0 };
        total.bytes += each * read;
    }
    total
}

/// How many times something is read for the values of sets, and what.
fn ranges(how: &Reading) -> (f64, &Reading) {
    match how {
        Reading::Each { set, of, .. } => {
            let values = match set {
                InSet::List(items) => items.len() as f64,
                InSet::Parameter(_) => AVERAGE,
            };
            let (inner, how) = ranges(of);
            (values.max(1.0) * inner, how)
        }
        Reading::GetBlock { .. } | Reading::Range { .. } | Reading::Scan => (1.0, how),
    }
}

fn count(conceptual: &Conceptual, class: ClassId) -> f64 {
    conceptual.classes[class].statistics.count.map_or(COUNT, |count| count as f64)
}

/// The entries of a collection.
fn rows(conceptual: &Conceptual, design: &Design, collection: CollectionId) -> f64 {
    let source = &design.collections[collection].source;
    let mut rows = count(conceptual, source.root);
    for (_, position) in source.positions.iter().skip(1) {
        if let Some(hop) = position.from {
            rows *= member_fan_out(conceptual, hop.step);
        }
    }
    if source.condition.is_some() {
        rows *= DISTINCT_SHARE;
    }
    rows
}

fn fan_out(conceptual: &Conceptual, query: &Query, position: askloom_model::PositionId) -> f64 {
    query.positions[position].from.map_or(1.0, |hop| member_fan_out(conceptual, hop.step))
}

fn member_fan_out(conceptual: &Conceptual, member: Member) -> f64 {
    let (many, average) = match member {
        Member::Attribute(id) => (conceptual.attributes[id].list, conceptual.attributes[id].statistics.avg),
        Member::End(id) => (conceptual.ends[id].cardinality.is_many(), conceptual.ends[id].statistics.avg),
    };
    if many { average.unwrap_or(AVERAGE) } else { 1.0 }
}

/// How many different values a path has among the rows.
fn distinct(conceptual: &Conceptual, path: &askloom_model::Path, rows: f64) -> f64 {
    let default = (rows * DISTINCT_SHARE).max(1.0);
    match path.leaf {
        askloom_model::Leaf::Itself => rows,
        askloom_model::Leaf::Reference(id) => {
            let end = &conceptual.ends[id];
            end.statistics.distinct.map_or(count(conceptual, end.target), |n| n as f64)
        }
        askloom_model::Leaf::Attribute(id) => {
            let attribute = &conceptual.attributes[id];
            match (&attribute.ty, attribute.statistics.distinct) {
                (_, Some(n)) => n as f64,
                (_, None) if attribute.id || attribute.unique => rows,
                (Type::Enum(values), None) => values.len() as f64,
                (Type::Bool, None) => 2.0,
                (_, None) => default,
            }
        }
    }
    .max(1.0)
}

fn entry_bytes(conceptual: &Conceptual, design: &Design, collection: CollectionId) -> f64 {
    let collection = &design.collections[collection];
    match &collection.contents {
        Contents::Aggregate(_) => class_bytes(conceptual, collection.source.root, 0),
        Contents::Fields(_) => collection.held().map(|path| path_bytes(conceptual, path)).sum::<f64>() + 16.0,
    }
}

fn class_bytes(conceptual: &Conceptual, class: ClassId, depth: usize) -> f64 {
    if depth > 8 {
        return 0.0;
    }
    let member = |member: Member| match member {
        Member::Attribute(id) => attribute_bytes(conceptual, id) * member_fan_out(conceptual, member),
        Member::End(id) => {
            let end = &conceptual.ends[id];
            let each = match end.kind {
                askloom_model::RelationshipKind::Composition => {
                    class_bytes(conceptual, end.target, depth + 1)
                }
                askloom_model::RelationshipKind::Association
                | askloom_model::RelationshipKind::Aggregation => 16.0,
            };
            if end.stored { each * member_fan_out(conceptual, member) } else { 0.0 }
        }
    };
    conceptual.all_members(class).map(member).sum::<f64>() + 16.0
}

fn path_bytes(conceptual: &Conceptual, path: &askloom_model::Path) -> f64 {
    match path.leaf {
        askloom_model::Leaf::Attribute(id) => attribute_bytes(conceptual, id),
        askloom_model::Leaf::Reference(_) | askloom_model::Leaf::Itself => 16.0,
    }
}

fn attribute_bytes(conceptual: &Conceptual, id: askloom_model::AttributeId) -> f64 {
    let attribute = &conceptual.attributes[id];
    let default = match attribute.ty {
        Type::Bool | Type::Enum(_) => 1.0,
        Type::Int => 4.0,
        Type::Long | Type::Double | Type::Date | Type::Time | Type::Timestamp(_) => 8.0,
        Type::Uuid | Type::Geo | Type::Decimal => 16.0,
        Type::Text | Type::Blob | Type::Json => TEXT_BYTES,
    };
    attribute.statistics.size_bytes.map_or(default, |bytes| bytes as f64)
}
