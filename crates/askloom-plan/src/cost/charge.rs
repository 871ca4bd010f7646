//! The two ways in which stores charge.

use askloom_model::{Charging, Coefficients, RequestUnits, Work};

pub(super) fn charge(charging: &Charging, work: &Work) -> f64 {
    match charging {
        Charging::Linear(coefficients) => linear(coefficients, work),
        Charging::Units(units) => by_units(units, work),
    }
}

fn linear(c: &Coefficients, work: &Work) -> f64 {
    work.read_steps * c.read_step.value
        + work.requests * c.read_request.value
        + work.partitions * c.partition.value
        + work.rows * c.row.value
        + work.bytes * c.byte_read.value
        + work.write_requests * c.write_request.value
        + work.puts * c.put.value
        + work.deletes * c.delete.value
        + work.written * c.byte_written.value
        + work.filtered * c.client.filter.value
        + work.compared * c.client.compare.value
        + work.grouped * c.client.group.value
        + work.sorts * c.client.sort.value
}

fn by_units(u: &RequestUnits, work: &Work) -> f64 {
    let times = if work.in_transaction { u.transaction.value } else { 1.0 };
    let written = begun(work.written, work.puts, u.write_bytes.value);
    let dropped = begun(work.dropped, work.deletes, u.write_bytes.value);
    let less = if work.lagging { u.lagging.value } else { 1.0 };
    begun(work.bytes, work.reads, u.read_bytes.value) * less * u.read_price.value
        + (written + dropped) * times * u.write_price.value
}

/// Units for bytes that are spread evenly over so many records, each rounded up for itself.
fn begun(bytes: f64, records: f64, unit: f64) -> f64 {
    if records <= 0.0 { 0.0 } else { (bytes / records / unit).ceil().max(1.0) * records }
}
