//! Broken limits in words.

use super::{Broken, Limit};
use askloom_model::{Capability, Code, Conceptual, Contents, Design, Diagnostic, Severity};
use askloom_plan::cost::at_most;
use askloom_plan::cost::{Sizes, Statistics};

impl Broken {
    /// What is to be said of it, and what to change.
    #[must_use]
    pub fn diagnostic(
        &self,
        capability: &Capability,
        conceptual: &Conceptual,
        design: &Design,
    ) -> Diagnostic {
        let collection = &design.collections[self.collection];
        let span = conceptual.classes[collection.source.root].span;
        let message = format!("`{}`: {}", collection.name, self.text(capability));
        let mut diagnostic =
            Diagnostic::new(Code::TooLarge, span, message).hint(self.hint(capability, conceptual, design));
        if !self.is_error() {
            diagnostic.severity = Severity::Warning;
        }
        diagnostic
    }

    /// How large what is, and how large it may be.
    #[must_use]
    pub fn text(&self, capability: &Capability) -> String {
        let words = &capability.words;
        let what = match self.limit {
            Limit::BlockKey => format!("a key ({})", words.block_key),
            Limit::EntryKey => format!("a key ({})", words.entry_key),
            Limit::IndexKey => format!("a value of the {}", words.own_index),
            Limit::Record => "a record".to_owned(),
            Limit::Block | Limit::AdvisedBlock => format!("a block ({})", words.spread_block),
        };
        let reason =
            if self.from_max { "with lists as long as @max" } else { "by the averages of the model" };
        let store = capability.title;
        let takes = match self.limit {
            Limit::BlockKey | Limit::EntryKey | Limit::IndexKey | Limit::Record | Limit::Block => {
                format!("{store} takes")
            }
            Limit::AdvisedBlock => format!("{store} should have"),
        };
        let most = self.most.value;
        // In the units that the store's makers count in.
        let unit = if most.is_multiple_of(1024) { 1024.0 } else { 1000.0 };
        let (has, takes_at_most) = (bytes(self.bytes, unit), bytes(most as f64, unit));
        format!("{what} has {has} {reason}, and {takes} {takes_at_most} at most")
    }

    fn hint(&self, capability: &Capability, conceptual: &Conceptual, design: &Design) -> String {
        let collection = &design.collections[self.collection];
        match (self.limit, &collection.contents) {
            (Limit::BlockKey | Limit::EntryKey | Limit::IndexKey, _) => {
                "say how large its values are with @size, or use a shorter key".to_owned()
            }
            (Limit::AdvisedBlock, Contents::Aggregate(_)) if collection.is_clustered() => {
                "add a bucket of time or another member of the id to its `key` to make partitions smaller"
                    .to_owned()
            }
            (Limit::AdvisedBlock, Contents::Aggregate(_))
                if capability.shares_tables && design.in_partitions_of(self.collection).count() > 1 =>
            {
                "declare a collection each, so that each class has partitions of its own".to_owned()
            }
            (Limit::Record | Limit::Block | Limit::AdvisedBlock, Contents::Aggregate(_)) => {
                let most = at_most(conceptual);
                let statistics = Statistics::new(&most);
                let sizes = Sizes { statistics: &statistics, design };
                match sizes.largest_list(self.collection) {
                    Some(list) => format!(
                        "most of it is `{}`: lower its @max, or make its elements entities of their own",
                        conceptual.member_name(list)
                    ),
                    None => format!("use another store than {}, or smaller values", capability.title),
                }
            }
            (Limit::Record, Contents::Fields(_) | Contents::Nested(_)) => {
                "let the query ask for less, so that the copy holds less".to_owned()
            }
            (Limit::Block | Limit::AdvisedBlock, Contents::Fields(_) | Contents::Nested(_)) => {
                "ask by something with more different values beside it, so that blocks are smaller".to_owned()
            }
        }
    }
}

/// More bytes than these have no unit here, and are a slip in the model.
const COUNTED: f64 = 1e15;

/// `400 KB`, `16 MB`.
fn bytes(bytes: f64, unit: f64) -> String {
    if bytes >= COUNTED {
        return "more bytes than can be counted".to_owned();
    }
    let units = [("GB", unit.powi(3)), ("MB", unit.powi(2)), ("KB", unit)];
    let unit = units.into_iter().find(|(_, size)| bytes >= *size);
    match unit {
        Some((name, size)) => {
            let number = format!("{:.1}", bytes / size);
            format!("{} {name}", number.strip_suffix(".0").unwrap_or(&number))
        }
        None => format!("{bytes:.0} B"),
    }
}
