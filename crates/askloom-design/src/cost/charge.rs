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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::CostModel;

    fn dynamodb(work: &Work) -> f64 {
        askloom_target::dynamodb::PROFILE.cost(work)
    }

    /// The examples of the DynamoDB documentation: 8 KB are two units, 1.5 KB of writing are two.
    #[test]
    fn begun_units_are_charged() {
        let read = |bytes, reads| dynamodb(&Work { bytes, reads, ..Work::default() });
        assert_eq!(read(8_192.0, 1.0), 2.0 * 0.125);
        assert_eq!(read(8_192.0, 8.0), 8.0 * 0.125, "items of a batch are rounded up one by one");
        assert_eq!(read(1.0, 1.0), 0.125);
        let write = |in_transaction| {
            dynamodb(&Work { puts: 1.0, written: 1_500.0, in_transaction, ..Work::default() })
        };
        assert_eq!(write(false), 2.0 * 0.625);
        assert_eq!(write(true), 4.0 * 0.625);
    }

    #[test]
    fn the_published_model_of_nose_is_kept() {
        let cassandra = |work: &Work| askloom_target::cassandra::PROFILE.cost(work);
        let read = Work { requests: 1.0, partitions: 2.0, rows: 100.0, bytes: 1e6, ..Work::default() };
        let published = 0.0078395645 + 2.0 * 0.0013692786 + 100.0 * 0.0000117093638386496;
        assert!((cassandra(&read) / 1000.0 - published).abs() < 1e-12);
        let write = Work { puts: 1.0, deletes: 1.0, ..Work::default() };
        assert!((cassandra(&write) / 1000.0 - (0.013329108 + 0.0013287903)).abs() < 1e-12);
    }
}
