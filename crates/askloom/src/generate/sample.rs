//! Made-up records for the tables of a store.

use crate::document::sample::Made;
use crate::error::Error;
use askloom_embedded::records;
use askloom_model::{Design, Model};
use askloom_plan::layout::Layout;
use askloom_target::generate::Sample;

/// A few instances of each class, with every copy of them.
pub(super) fn records(model: &Model, design: &Design, layout: &Layout) -> Result<Vec<Sample>, Error> {
    // What expires would have done so long ago if it had been made at the clock of other samples.
    let expires = model.conceptual.classes.ids().any(|class| model.conceptual.ttl(class).is_some());
    let made =
        if expires { Made::at(model, design, jiff::Timestamp::now()) } else { Made::new(model, design) };
    records::from_keyspace(&made.schema, layout, &made.keyspace)
        .map_err(|error| Error::Input(error.to_string()))
}
