//! Expressions hold placeholders alone: `#name` for an attribute, `:name` for a value. So no name is reserved and no
//! value can be taken for anything else.

use super::json::{Doc, text};
use super::read::Bound;
use crate::names::NameRule;

/// What placeholders are made of.
const PLACEHOLDERS: NameRule = NameRule {
    allowed: |letter| letter.is_ascii_alphanumeric() || letter == '_',
    first: |letter| letter.is_ascii_alphanumeric() || letter == '_',
    small: false,
    reserved: &[],
    longest: 200,
};

/// The placeholders of one request, with what they stand for.
#[derive(Debug, Default)]
pub(super) struct Expression {
    names: Vec<(String, String)>,
    values: Vec<(String, Bound)>,
}

impl Expression {
    /// The placeholder of an attribute.
    pub(super) fn name(&mut self, attribute: &str) -> String {
        if let Some((placeholder, _)) = self.names.iter().find(|(_, own)| own == attribute) {
            return placeholder.clone();
        }
        let taken = |wanted: &str| self.names.iter().any(|(placeholder, _)| placeholder == wanted);
        let placeholder = free('#', attribute, taken);
        self.names.push((placeholder.clone(), attribute.to_owned()));
        placeholder
    }

    /// The placeholder of a value.
    pub(super) fn value(&mut self, wanted: &str, bound: &Bound) -> String {
        let taken = |wanted: &str| self.values.iter().any(|(placeholder, _)| placeholder == wanted);
        let placeholder = free(':', wanted, taken);
        self.values.push((placeholder.clone(), bound.clone()));
        placeholder
    }

    /// What the request says about them.
    pub(super) fn fields(self) -> Vec<(String, Doc)> {
        let names: Vec<(String, Doc)> = self.names.into_iter().map(|(own, name)| (own, text(name))).collect();
        let values: Vec<(String, Doc)> =
            self.values.into_iter().map(|(own, bound)| (own, bound.doc())).collect();
        let all = [("ExpressionAttributeNames", names), ("ExpressionAttributeValues", values)];
        let used = all.into_iter().filter(|(_, fields)| !fields.is_empty());
        used.map(|(name, fields)| (name.to_owned(), Doc::Map(fields))).collect()
    }
}

fn free(mark: char, wanted: &str, taken: impl Fn(&str) -> bool) -> String {
    let name = PLACEHOLDERS.one(wanted);
    let mut placeholder = format!("{mark}{name}");
    let mut number = 2_usize;
    while taken(&placeholder) {
        placeholder = format!("{mark}{name}_{number}");
        number += 1;
    }
    placeholder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_and_strange_names_are_placeholders() {
        let mut of = Expression::default();
        let names = ["status", "a.b", "a#b", "a b", "SELECT", "", "é"].map(|name| of.name(name));
        assert_eq!(names, ["#status", "#a_b", "#a_b_2", "#a_b_3", "#SELECT", "#x_", "#_"]);
        assert_eq!(of.name("a#b"), "#a_b_2");
        let fields = of.fields();
        assert_eq!(fields.len(), 1);
        assert!(fields[0].1.print().contains("\"#a_b_2\": \"a#b\""), "{fields:?}");
    }
}
