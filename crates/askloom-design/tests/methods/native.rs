//! Copies that a store keeps by itself.

use crate::{EXAMPLES, example, model};
use askloom_design::cost::Costing;
use askloom_design::method::{self, Method, Options};
use askloom_design::{plan, saved};
use askloom_model::{Design, Guarantee, Keeper, Leaf, Model};

fn on_dynamodb(model: &Model, method: Method) -> (Costing<'static>, Design) {
    let costing = Costing::from(askloom_target::target("dynamodb").unwrap());
    (costing, method::design(method, model, &costing, &Options::default()).design)
}

fn kept(design: &Design) -> Vec<&str> {
    let kept = design.collections.iter().filter(|(_, collection)| collection.keeper == Keeper::Store);
    kept.map(|(_, collection)| collection.name.as_str()).collect()
}

#[test]
fn what_is_added_for_queries_is_an_index_of_the_store_and_what_writes_go_by_is_ours() {
    let mut all = 0;
    for name in EXAMPLES {
        let model = example(name);
        for method in Method::ALL {
            let (costing, design) = on_dynamodb(&model, method);
            all += kept(&design).len();
            let is_kept = |id| design.collections[id].keeper == Keeper::Store;
            for (_, collection) in design.collections.iter().filter(|(id, _)| is_kept(*id)) {
                let by = collection.indexed().map(|path| path.leaf);
                let unique =
                    matches!(by, Some(Leaf::Attribute(id)) if model.conceptual.attributes[id].unique);
                assert!(!unique && !matches!(by, Some(Leaf::Reference(_))), "{name}: {}", collection.name);
            }
            for query in &model.workload.queries {
                let Ok(plan) = plan::answer(&costing, &model, &design, query) else { continue };
                let lags = plan.collections().any(is_kept);
                assert!(!lags || (plan.priced.reads == Guarantee::Lagging && !query.fresh), "{name}");
            }
            let read = saved::from_json(&model, &saved::to_json(&model, &design)).unwrap();
            assert_eq!(kept(&read), kept(&design), "{name}");
        }
    }
    assert!(all > 20, "{all} indexes");
}

#[test]
fn a_fresh_query_never_reads_one_and_no_store_without_indexes_is_given_any() {
    let lazy = model(
        "@count(100_000)\nentity User { id key: uuid, mail: text, age: int }\n\
         @rate(10/s)\nquery byMail: SELECT key, age FROM User WHERE mail = :mail\n",
    );
    let (costing, design) = on_dynamodb(&lazy, Method::Noam);
    assert_eq!(kept(&design), ["ByMailIndex"]);
    let mut fresh = lazy.clone();
    fresh.workload.queries[0].fresh = true;
    let reads = plan::answer(&costing, &fresh, &design, &fresh.workload.queries[0]).unwrap();
    assert!(reads.collections().all(|id| design.collections[id].keeper == Keeper::Ours));
    let embedded = method::design(Method::Noam, &lazy, &Costing::default(), &Options::default()).design;
    assert_eq!(kept(&embedded), Vec::<&str>::new());
}
