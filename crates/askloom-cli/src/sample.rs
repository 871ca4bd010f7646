//! Made-up records for the tables of a store.

use crate::document::sample::Made;
use crate::exit::Failure;
use askloom_model::{Design, Model};
use askloom_store::records;
use askloom_target::generate::Sample;
use askloom_target::layout::Layout;

/// A few instances of each class, with every copy of them.
pub(crate) fn records(model: &Model, design: &Design, layout: &Layout) -> Result<Vec<Sample>, Failure> {
    // What expires would have done so long ago if it had been made at the clock of other samples.
    let expires = model.conceptual.classes.ids().any(|class| model.conceptual.ttl(class).is_some());
    let made =
        if expires { Made::at(model, design, jiff::Timestamp::now()) } else { Made::new(model, design) };
    records::from_keyspace(&made.schema, layout, &made.keyspace)
        .map_err(|error| Failure::Input(error.to_string()))
}
