//! Masters whose id is split: saved, read back, and refused where the key is not the id.

use super::parse;
use askloom_design::saved::{from_json, to_json};
use askloom_design::simple;
use askloom_model::{Design, Leaf, Model, TimeBucket};

fn telemetry() -> (Model, Design) {
    let text = "entity Sensor { id name: text }
immutable entity Reading { id ref sensor: Sensor, id at: timestamp, value: double }
collection Readings of Reading { master; key sensor, day(at); sort at desc; }
query lately: SELECT at, value FROM Reading WHERE sensor = :sensor AND at BETWEEN :from AND :until
write note: INSERT Reading
";
    let model = parse(&[("m.loom", text)]);
    let design = simple::design(&model);
    (model, design)
}

#[test]
fn a_split_master_comes_back() {
    let (model, design) = telemetry();
    let readings = design.collections.iter().find(|(_, one)| one.name == "Readings").unwrap().1;
    let leaves: Vec<Leaf> = readings.key_fields().map(|field| field.path.leaf).collect();
    assert!(
        matches!(leaves[..], [Leaf::Reference(_), Leaf::TimeBucket(of, TimeBucket::Day), Leaf::Attribute(at)] if of == at),
        "{leaves:?}"
    );
    assert!(readings.is_clustered() && readings.entry_key[0].descending);
    let saved = to_json(&model, &design);
    assert!(saved.contains("\"path\": \"$day:at\""), "{saved}");
    assert_eq!(from_json(&model, &saved).unwrap(), design);
}

#[test]
fn the_key_of_a_master_is_its_id() {
    let (model, design) = telemetry();
    let saved = to_json(&model, &design);
    let says = |from: &str, to: &str, message: &str| {
        assert!(saved.contains(from), "{saved}");
        let errors = from_json(&model, &saved.replacen(from, to, 1)).unwrap_err();
        assert!(errors.iter().any(|error| error.message.contains(message)), "{errors:?}");
    };
    let identifier = "the keys of a master are the identifier of Reading";
    says("\"$day:at\"", "\"$day:value\"", identifier);
    says("\"$day:at\"", "\"value\"", identifier);
    says("\"$day:at\"", "\"at\"", identifier);
    says("\"$day:at\"", "\"$week:at\"", "has no member");
    says("\"$day:at\"", "\"$day:sensor\"", "is not a timestamp");
}
