//! No design has a collection that no declared statement reads, finds by, or needs for upkeep.

use crate::{EXAMPLES, example, model};
use askloom_design::method::{Method, Options, design, questions};
use askloom_model::{
    Collection, CollectionId, Conceptual, Design, EndId, Leaf, Model, Origin, Role, SupportOf,
};
use askloom_plan::cost::Costing;
use askloom_plan::delta::ways_back;
use askloom_plan::effects::Effects;
use askloom_plan::planner;
use std::collections::BTreeSet;

/// The collections that the plans of all statements read.
fn read(model: &Model, costing: &Costing<'_>, design: &Design) -> BTreeSet<CollectionId> {
    let mut found = BTreeSet::new();
    for query in questions(model) {
        let plan = planner::plan(costing, &model.conceptual, design, &query);
        found.extend(plan.iter().flat_map(|plan| plan.collections()));
    }
    for write in &model.workload.writes {
        let Ok(plan) = planner::write::plan(costing, model, design, write) else { continue };
        for step in &plan.steps {
            found.extend(step.find.collections());
            found.extend(step.reservations.iter().filter_map(|reservation| reservation.index));
            found.extend(step.checks.iter().flat_map(|check| check.what.how().collections()));
            for support in step.copies.iter().flat_map(|copy| &copy.support) {
                match &support.of {
                    SupportOf::Back(back) => found.extend(back.index),
                    SupportOf::Rebuild { how, .. } => found.extend(how.collections()),
                }
            }
        }
    }
    // The rows of a joined copy are worked out anew where they depend on all who refer.
    let effects = Effects::of(model);
    let kept =
        design.collections.iter().filter(|(id, one)| found.contains(id) || one.origin == Origin::Method);
    let walked: BTreeSet<EndId> =
        kept.flat_map(|(_, one)| ways_back(&model.conceptual, &effects, one)).collect();
    let back =
        design.collections.iter().filter(|(_, one)| one.reverses().is_some_and(|end| walked.contains(&end)));
    let back: Vec<CollectionId> = back.map(|(id, _)| id).collect();
    found.extend(back);
    let beside: Vec<CollectionId> = found.iter().filter_map(|&id| design.sibling(id)).collect();
    found.extend(beside);
    found
}

/// Whether its entries keep values and bounds that the model declares, for whoever writes them.
fn enforces(conceptual: &Conceptual, collection: &Collection) -> bool {
    collection.indexed().is_some_and(|path| match path.leaf {
        Leaf::Attribute(id) => conceptual.attributes[id].unique,
        Leaf::Reference(id) => {
            let end = &conceptual.ends[id];
            let bounded = end.inverse.is_some_and(|other| conceptual.ends[other].cardinality.max.is_some());
            end.unique || bounded
        }
        Leaf::Itself => true,
        Leaf::Bucket(_) | Leaf::TimeBucket(..) => false,
    })
}

/// The names of collections that nothing needs.
fn unneeded(model: &Model, costing: &Costing<'_>, method: Method) -> Vec<String> {
    let made = design(method, model, costing, &Options::default()).design;
    let read = read(model, costing, &made);
    let papers = |one: &Collection| method != Method::Cost && one.origin == Origin::Method;
    let unneeded = made.collections.iter().filter(|(id, one)| {
        let excepted = one.role == Role::Master || papers(one) || enforces(&model.conceptual, one);
        !excepted && !read.contains(id)
    });
    unneeded.map(|(_, one)| one.name.clone()).collect()
}

#[test]
fn every_collection_is_for_a_declared_statement() {
    let mut found = Vec::new();
    for name in EXAMPLES {
        let model = example(name);
        for target in askloom_target::targets() {
            let costing = Costing::from(target);
            for method in Method::ALL {
                for collection in unneeded(&model, &costing, method) {
                    found.push(format!(
                        "{name}, {}, {}: {collection}",
                        target.capability.target,
                        method.name()
                    ));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

const SITE: &str = "
    @count(1_000_000) entity User { id userId: uuid, name: text }
    @count(100_000) entity Video { id videoId: uuid, title: text, ref uploader: User inverse videos @avg(0.1) }
    @count(100_000_000) entity Comment {
      id commentId: uuid, at: timestamp, body: text
      ref video: Video inverse comments @avg(1_000)
      ref author: User inverse comments @avg(100)
    }
    @rate(100/s) query commentsOf: SELECT body, at FROM Comment WHERE video = :video ORDER BY at DESC LIMIT 20
    @rate(10/s) write comment: INSERT Comment
    @rate(1/s) write upload: INSERT Video
";

/// The names of the collections that the cheapest design on Cassandra has.
fn on_cassandra(text: &str) -> Vec<String> {
    let model = model(text);
    let target = askloom_target::target("cassandra").unwrap();
    let made = design(Method::Cost, &model, &Costing::from(target), &Options::default()).design;
    made.collections.iter().map(|(_, one)| one.name.clone()).collect()
}

#[test]
fn nothing_is_kept_for_writes_that_nobody_declares() {
    let declared = on_cassandra(SITE);
    // The masters, and the comments of a video.
    assert_eq!(declared.len(), 4, "{declared:?}");
    let any = on_cassandra(&format!("writes any\n{SITE}"));
    assert!(any.len() >= declared.len(), "{any:?}");
}

#[test]
fn a_reference_that_may_lead_nowhere_costs_a_way_back() {
    let with_name = "
        @rate(100/s) query shown: SELECT body, author.name FROM Comment WHERE video = :video ORDER BY at DESC LIMIT 20
        @rate(1/s) write join: INSERT User
    ";
    let trusted = on_cassandra(&format!("{SITE}{with_name}"));
    let loose = SITE.replace("ref author", "loose ref author");
    let loose = on_cassandra(&format!("{loose}{with_name}"));
    let back = |all: &[String]| all.iter().any(|name| name == "CommentByAuthor");
    assert!(!back(&trusted), "{trusted:?}");
    assert!(back(&loose) || loose.len() != trusted.len(), "{loose:?}");
}
