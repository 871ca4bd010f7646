//! Plans that take the id of what a reference names from the reference, and leave out what they need nothing else of.

use crate::examples::{model, query};
use askloom_design::method::{self, Method, Options};
use askloom_design::simple;
use askloom_model::{ClassId, Design, Id, KeyValue, Model, Plan, Reading, Role, StepOf};
use askloom_plan::{planner, upkeep};

/// The reference of a comment to its video is declared with this word before it.
fn videos(integrity: &str) -> Model {
    let text = format!(
        "\
@count(1_000)
entity Video {{
  id videoId: text
  title: text
}}

@count(5_000)
entity User {{
  id userId: text
  name: text
}}

@count(100_000)
entity Comment {{
  id commentId: int
  text: text
  {integrity} ref video: Video inverse comments
  ref author: User?
}}

@count(500_000)
entity Rating {{
  id {integrity} ref video: Video
  id ref user: User
  stars: int
}}

@count(1_000)
entity Mailbox {{ id address: text }}

@count(10_000)
entity Label {{
  id ref mailbox: Mailbox
  id labelId: int
  name: text
}}

@count(300_000)
entity Message {{
  id messageId: int
  subject: text
  ref label: Label
}}

query ofVideo: SELECT C.commentId, C.text FROM Video JOIN Video.comments AS C WHERE Video.videoId = :v
query ofComment: SELECT commentId, text FROM Comment JOIN Comment.video AS V WHERE V.videoId = :v
query titled: SELECT V.title, C.text FROM Video AS V JOIN V.comments AS C WHERE V.videoId = :v
query rated: SELECT stars FROM Rating WHERE video.videoId = :v AND user.userId = :u
query which: SELECT video.videoId, author.userId FROM Comment WHERE commentId = :c
query inOrder: SELECT commentId FROM Comment ORDER BY video.videoId
query labelled:
  SELECT subject, label.mailbox.address FROM Message
  WHERE label.mailbox.address = :a AND label.labelId = :l
query mailed: SELECT label.mailbox.address, COUNT(*) AS n FROM Message GROUP BY label.mailbox.address
write rate: UPDATE Rating SET stars = :stars WHERE video.videoId = :v AND user.userId = :u
"
    );
    model(&text.replace("   ref", "  ref").replace("id  ref", "id ref"))
}

fn class(model: &Model, name: &str) -> ClassId {
    model.conceptual.classes.iter().find(|(_, class)| class.name == name).unwrap().0
}

fn designed(model: &Model) -> Design {
    method::design(Method::Cost, model, &askloom_target::embedded::costing(), &Options::default()).design
}

fn planned(model: &Model, design: &Design, name: &str) -> Plan {
    planner::plan(&askloom_target::embedded::costing(), &model.conceptual, design, query(model, name))
        .unwrap()
}

/// The classes whose aggregates are read, or copies of them.
fn read(design: &Design, plan: &Plan) -> Vec<ClassId> {
    plan.collections().map(|id| design.collections[id].source.root).collect()
}

#[test]
fn a_position_that_gives_only_its_identity_is_not_read() {
    let model = videos("");
    let design = designed(&model);
    let comment = class(&model, "Comment");
    for name in ["ofVideo", "ofComment"] {
        let plan = planned(&model, &design, name);
        let printed = planner::print(&model, &design, query(&model, name), &plan);
        assert!(read(&design, &plan).iter().all(|root| *root == comment), "{printed}");
        assert!(plan.joins.is_empty() && plan.access.how != Reading::Scan, "{printed}");
        assert!(printed.contains("relies on Comment.video: trusted"), "{printed}");
        assert!(printed.contains("by video = :v"), "{printed}");
    }
    // What is wanted of the video itself is read.
    let titled = planned(&model, &design, "titled");
    assert!(titled.reduced.is_none());
    assert!(read(&design, &titled).contains(&class(&model, "Video")) || !titled.joins.is_empty());
}

#[test]
fn its_view_is_of_those_that_refer_alone() {
    let model = videos("");
    let conceptual = &model.conceptual;
    for name in ["ofVideo", "ofComment"] {
        let view = simple::view(&model, query(&model, name));
        assert_eq!(view.source.root, class(&model, "Comment"));
        assert_eq!(view.source.positions.len(), 1);
        let places = upkeep::places(conceptual, &view);
        assert!(places.iter().all(|place| place.class == Some(class(&model, "Comment"))), "{places:?}");
    }
    let view = simple::view(&model, query(&model, "mailed"));
    assert_eq!(upkeep::places(conceptual, &view).len(), 1, "labels and mailboxes do not change what is held");
}

#[test]
fn a_loose_reference_keeps_its_read() {
    let model = videos("loose");
    let design = designed(&model);
    for name in ["ofVideo", "ofComment"] {
        let plan = planned(&model, &design, name);
        assert!(plan.reduced.is_none() && plan.relies_on.is_empty());
        assert!(
            read(&design, &plan).contains(&class(&model, "Video")) || {
                let positions = &design.collections[plan.access.collection].source.positions;
                positions.iter().any(|(_, position)| position.class == Some(class(&model, "Video")))
            }
        );
    }
    let which = planned(&model, &masters(&design), "which");
    let steps: Vec<&StepOf> = which.steps.iter().map(|step| &step.of).collect();
    let followed = steps.iter().filter(|of| matches!(of, StepOf::Follow(_))).count();
    assert_eq!(followed, 1, "the video is looked up, the author is not: {steps:?}");
    assert!(planned(&model, &masters(&design), "rated").first.is_some(), "the video is found first");
}

fn masters(design: &Design) -> Design {
    let mut only = Design { method: design.method.clone(), ..Design::default() };
    for (_, collection) in design.collections.iter().filter(|(_, one)| one.role == Role::Master) {
        only.collections.push(collection.clone());
    }
    only
}

#[test]
fn a_path_that_ends_in_the_id_is_the_reference() {
    let model = videos("");
    let design = masters(&designed(&model));
    let rated = planned(&model, &design, "rated");
    assert!(matches!(&rated.access.how, Reading::GetBlock { key } if key.len() == 2), "{:?}", rated.access);
    assert!(rated.filter.is_none());
    let which = planned(&model, &design, "which");
    assert_eq!(which.steps.len(), 2, "nothing but the comment: {:?}", which.steps);
    let one = planner::write::plan(
        &askloom_target::embedded::costing(),
        &model,
        &design,
        &model.workload.writes[0],
    )
    .unwrap();
    let find = &one.steps[0].find;
    assert!(matches!(find.access.how, Reading::GetBlock { .. }), "{find:?}");
    assert!((one.steps[0].matched - 1.0).abs() < f64::EPSILON);
}

#[test]
fn a_key_by_the_reference_gives_order_and_whole_ids() {
    let model = videos("");
    let mut design = masters(&designed(&model));
    let mut view = simple::view(&model, query(&model, "inOrder"));
    assert_eq!(view.entry_key.len(), 1);
    view.name = "ByVideo".to_owned();
    design.collections.push(view);
    let plan = planned(&model, &design, "inOrder");
    assert!(plan.sort.is_none(), "{}", planner::print(&model, &design, query(&model, "inOrder"), &plan));
    // Each component of the id is given by itself.
    let label = model.conceptual.ends.iter().find(|(_, end)| end.name == "label").unwrap().0;
    let mut by_label = simple::view(&model, query(&model, "inOrder"));
    by_label.source.root = class(&model, "Message");
    by_label.source.positions = {
        let mut positions = askloom_model::Table::default();
        let class = Some(class(&model, "Message"));
        positions.push(askloom_model::Position { class, from: None, outer: false, alias: None });
        positions
    };
    let leaf = askloom_model::Leaf::Reference(label);
    let path = askloom_model::Path { position: askloom_model::PositionId::from_index(0), hops: vec![], leaf };
    by_label.block_key = vec![askloom_model::KeyField { path, descending: false }];
    by_label.entry_key = Vec::new();
    by_label.contents = askloom_model::Contents::Fields(Vec::new());
    by_label.name = "ByLabel".to_owned();
    let id = design.collections.push(by_label);
    let plan = planned(&model, &design, "labelled");
    let printed = planner::print(&model, &design, query(&model, "labelled"), &plan);
    assert_eq!(plan.access.collection, id, "{printed}");
    assert!(plan.filter.is_none(), "{printed}");
    let Reading::Range { key, .. } = &plan.access.how else { panic!("{printed}") };
    assert!(matches!(key.as_slice(), [KeyValue::Identity(given)] if given.len() == 2), "{printed}");
    assert!(printed.contains("relies on Label.mailbox: trusted, Message.label: trusted"), "{printed}");
    let roots = read(&design, &plan);
    assert!(roots.iter().all(|root| *root == class(&model, "Message")), "{printed}");
}
