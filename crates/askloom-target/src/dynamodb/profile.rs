//! What DynamoDB costs: on-demand request units at list prices. A million executions of a statement cost so many
//! dollars.
//!
//! The prices are those of `prices.toml`, which has their date; the program reads that file, or another one in its
//! place, and a test of the program compares.

use askloom_model::{Charging, Fact, Profile, RequestUnits};

/// The price list, as `--prices` takes it.
pub const PRICES: &str = include_str!("prices.toml");

pub static PROFILE: Profile = Profile {
    target: "dynamodb",
    unit: "$/M",
    charging: Charging::Units(RequestUnits {
        read_bytes: Fact::new(
            4_096.0,
            "DynamoDB Developer Guide, \"Constraints\": a read request unit is a strongly consistent read of 4 KB",
        ),
        write_bytes: Fact::new(
            1_024.0,
            "DynamoDB Developer Guide, \"Constraints\": a write request unit is a write of 1 KB",
        ),
        transaction: Fact::new(
            2.0,
            "DynamoDB Developer Guide, \"Constraints\": a write in a transaction takes two units for each",
        ),
        lagging: Fact::new(
            0.5,
            "DynamoDB Developer Guide, \"Constraints\": an eventually consistent read takes half a unit",
        ),
        read_price: Fact::new(
            0.125,
            "list price of a million read request units, on-demand, us-east-1, since 2024-11-01",
        ),
        write_price: Fact::new(
            0.625,
            "list price of a million write request units, on-demand, us-east-1, since 2024-11-01",
        ),
    }),
    storage: Some(Fact::new(0.25, "list price of a gigabyte a month, standard class, us-east-1, 2024-11-01")),
    said: "on-demand list prices of us-east-1; what the client does costs nothing at DynamoDB",
};

#[cfg(test)]
mod tests {
    use super::*;
    use askloom_model::Work;
    use askloom_plan::cost::CostModel;

    fn dynamodb(work: &Work) -> f64 {
        PROFILE.cost(work)
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
}
