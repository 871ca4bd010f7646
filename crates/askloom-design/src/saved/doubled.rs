//! Members that an object of a JSON text has twice.

use super::locate::Step;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::cell::RefCell;
use std::fmt;

/// The places of all that stand twice, in the order of the text, each once. The text is valid JSON.
pub(super) fn members(text: &str) -> Vec<Vec<Step>> {
    let found = RefCell::new(Vec::new());
    let mut json = serde_json::Deserializer::from_str(text);
    // Whoever calls has read the text: it does not fail here.
    let _ = Walk { place: Vec::new(), found: &found }.deserialize(&mut json);
    found.into_inner()
}

/// Goes through a value without keeping it.
struct Walk<'f> {
    place: Vec<Step>,
    found: &'f RefCell<Vec<Vec<Step>>>,
}

impl Walk<'_> {
    fn inside(&self, step: Step) -> Self {
        let place = self.place.iter().cloned().chain([step]).collect();
        Self { place, found: self.found }
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut names: Vec<String> = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            let inside = self.inside(Step::Key(name.clone()));
            if names.contains(&name) {
                let mut found = self.found.borrow_mut();
                if !found.contains(&inside.place) {
                    found.push(inside.place.clone());
                }
            }
            names.push(name);
            map.next_value_seed(inside)?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let mut index = 0;
        while seq.next_element_seed(self.inside(Step::Index(index)))?.is_some() {
            index += 1;
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_that_stand_twice_at_any_depth() {
        let key = |name: &str| Step::Key(name.to_owned());
        let text = r#"{"a": [1, {"b": 1.5, "c": null, "b": {"b": 123456789012345678901234567890}}], "d": 1, "d": 2, "d": 3}"#;
        assert_eq!(members(text), [vec![key("a"), Step::Index(1), key("b")], vec![key("d")]]);
        assert_eq!(members(r#"{"a": {"a": {"a": [[], [{}]]}}}"#), Vec::<Vec<Step>>::new());
    }
}
