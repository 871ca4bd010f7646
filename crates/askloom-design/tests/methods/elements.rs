//! Copies that the model declares by what each element of a list is.

use crate::model;
use askloom_design::method::{Method, Options, design};
use askloom_design::saved::{from_json, to_json};
use askloom_model::{Reading, Role};
use askloom_plan::cost::Costing;
use askloom_plan::layout::{Layout, Place};
use askloom_plan::planner;

const VIDEOS: &str = "entity Actor { id name: text }
@count(100_000)
entity Video {
  id videoId: text
  title: text
  added: timestamp
  @avg(5) tags: text[*]
  @avg(3) part chapters: Chapter[*]
  @avg(4) ref cast: Actor[*]
}
value Chapter { heading: text, at: int }
collection VideosByTag of Video { key tags; sort added; keep title; }
collection VideosByActor of Video { key cast; sort added; keep title; }
collection VideosByHeading of Video { key chapters.heading; sort added; keep title; }
query tagged: SELECT videoId, title FROM Video WHERE tags = :tag ORDER BY added DESC LIMIT 20
query starring: SELECT videoId, title FROM Video WHERE cast = :actor ORDER BY added DESC LIMIT 20
query about: SELECT videoId, title FROM Video WHERE chapters.heading = :heading ORDER BY added DESC LIMIT 20
write upload: INSERT Video
";

#[test]
fn each_element_has_its_row_in_order_and_with_fields() {
    let model = model(VIDEOS);
    for target in ["embedded", "dynamodb", "cassandra", "mongodb", "redis", "hbase", "oracle-nosql"] {
        let costing = Costing::from(askloom_target::target(target).unwrap());
        let design = design(Method::Given, &model, &costing, &Options::default()).design;
        assert_eq!(from_json(&model, &to_json(&model, &design)).unwrap(), design);
        let layout = Layout::new(&model.conceptual, &design);
        for (name, copy) in
            [("tagged", "VideosByTag"), ("starring", "VideosByActor"), ("about", "VideosByHeading")]
        {
            let query = model.workload.queries.iter().find(|one| one.header.name == name).unwrap();
            let plan = planner::plan(&costing, &model.conceptual, &design, query).unwrap();
            let read = &design.collections[plan.access.collection];
            assert_eq!((read.name.as_str(), read.role), (copy, Role::Copy), "{target}");
            assert!(matches!(plan.access.how, Reading::Range { limited: true, .. }), "{target}: {plan:?}");
            assert!(plan.sort.is_none() && plan.filter.is_none(), "{target}: {plan:?}");
            let table = layout.table(plan.access.collection).unwrap();
            let places: Vec<Place> = table.columns.iter().map(|column| column.place).collect();
            let expected = [Place::Block, Place::Sort { descending: false }, Place::Row, Place::Value];
            assert_eq!(places, expected, "{target}");
            assert!(table.columns[0].holds.scalar().is_some() && !table.columns[0].optional);
        }
    }
}

#[test]
fn one_field_of_a_key_has_several_values_at_most() {
    let says = |text: &str| -> Vec<String> {
        let world = askloom_lang::Memory::default().with("m.loom", text);
        let checked = askloom_lang::check(&world, std::path::Path::new("m.loom"));
        checked.diagnostics.iter().map(|one| one.message.clone()).collect()
    };
    let both = VIDEOS.replace("key tags; sort", "key tags, cast; sort");
    assert!(says(&both).iter().any(|message| message.contains("is many")), "{:?}", says(&both));
    let sorted = VIDEOS.replace("key tags; sort added", "key title; sort tags");
    assert!(says(&sorted).iter().any(|message| message.contains("`tags` is many")), "{:?}", says(&sorted));
}
