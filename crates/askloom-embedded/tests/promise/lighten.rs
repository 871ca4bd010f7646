//! Copies that would multiply what was drawn are left out: upkeep works out all rows of a root, before and after each
//! write, and where a list of a hundred is joined several times a case would never end.

use crate::case::Case;
use askloom_model::{Collection, Conceptual, Design, EndId, Identity, Member, Record, Role, Value};
use std::collections::BTreeMap;

/// No copy has more rows of one root.
const MOST_ROWS: usize = 5_000;

impl Case {
    /// Drops such copies, before anything is stored.
    pub(crate) fn lighten(&mut self, records: &[Record]) {
        let (model, design) = (&self.schema.model, &self.schema.design);
        let mut found = FanOuts::default();
        records.iter().for_each(|record| found.note(record));
        let is_light = |collection: &Collection| {
            collection.role == Role::Master || found.rows(&model.conceptual, collection) <= MOST_ROWS
        };
        if design.collections.iter().all(|(_, collection)| is_light(collection)) {
            return;
        }
        let mut lighter = Design { method: design.method.clone(), ..Design::default() };
        for (_, collection) in design.collections.iter().filter(|(_, collection)| is_light(collection)) {
            lighter.collections.push(collection.clone());
        }
        let (now, telling) = (self.now, self.telling);
        *self = Self { now, telling, ..Self::of(model.clone(), lighter) };
    }
}

/// How many a member leads to at most.
#[derive(Debug, Default)]
struct FanOuts {
    stored: BTreeMap<Member, usize>,
    /// How many refer to each instance.
    referring: BTreeMap<EndId, BTreeMap<Identity, usize>>,
}

impl FanOuts {
    fn note(&mut self, record: &Record) {
        for (&member, value) in &record.fields {
            let several = match value {
                Value::List(elements) => elements.len(),
                Value::Set(ids) => ids.len(),
                _single => 1,
            };
            let most = self.stored.entry(member).or_default();
            *most = several.max(*most);
            match (member, value) {
                (_, Value::Record(inner)) => self.note(inner),
                (_, Value::List(elements)) => elements.iter().for_each(|element| {
                    if let Value::Record(inner) = &element.value {
                        self.note(inner);
                    }
                }),
                (Member::End(end), Value::Reference(id)) => self.refers(end, id),
                (Member::End(end), Value::Set(ids)) => ids.iter().for_each(|id| self.refers(end, id)),
                (_, _plain) => {}
            }
        }
    }

    fn refers(&mut self, end: EndId, id: &Identity) {
        *self.referring.entry(end).or_default().entry(id.clone()).or_default() += 1;
    }

    /// The rows that one root can have.
    fn rows(&self, conceptual: &Conceptual, collection: &Collection) -> usize {
        let joined = collection.source.positions.iter().filter_map(|(_, position)| Some(position.from?.step));
        joined.map(|step| self.most(conceptual, step)).fold(1, usize::saturating_mul)
    }

    fn most(&self, conceptual: &Conceptual, step: Member) -> usize {
        let held = self.stored.get(&step).copied().unwrap_or(0);
        let back = match step {
            Member::Attribute(_) => None,
            Member::End(end) => conceptual.ends[end].inverse,
        };
        let referring = back.and_then(|back| self.referring.get(&back)?.values().max().copied());
        // Of a symmetric relationship either side may hold the link.
        (held + referring.unwrap_or(0)).max(1)
    }
}

#[test]
fn a_copy_that_multiplies_a_long_list_is_left_out() {
    let text = "entity Shelf { id k: int, tags: text[*], marks: text[*], notes: text[*] }";
    let query =
        "query q: SELECT a, b, c FROM Shelf JOIN tags AS a JOIN marks AS b JOIN notes AS c WHERE k = :k";
    let (model, refused) = crate::case::parse(text, &[query.to_owned()]).unwrap();
    assert!(refused.is_empty(), "{refused:?}");
    let mut design = Design::default();
    askloom_design::simple::masters(&model, askloom_model::Origin::Method, &mut design);
    design.collections.push(askloom_design::simple::view(&model, &model.workload.queries[0]));
    let class = model.conceptual.classes.ids().next().unwrap();
    let lists: Vec<Member> = model.conceptual.all_members(class).skip(1).collect();
    let kept = |length: u64| {
        let mut record = Record::new(class);
        let tag = |ordinal| askloom_model::Element { ordinal, value: Value::Text("t".to_owned()) };
        lists.iter().for_each(|&list| record.set(list, Value::List((0..length).map(tag).collect())));
        let mut case = Case::of(model.clone(), design.clone());
        case.lighten(&[record]);
        (case.schema.design.collections.len(), case.plans[0].len())
    };
    assert_eq!(kept(17), (2, 2), "4,913 rows");
    assert_eq!(kept(18), (1, 1), "5,832 rows, so the master alone answers");
}
