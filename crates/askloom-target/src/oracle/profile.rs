//! What Oracle NoSQL Database costs, as a guess: its makers publish no figures for single operations.

use crate::embedded::{CLIENT, IN_REQUESTS};
use askloom_model::{Charging, Coefficients, Fact, Profile};

const GUESSED: &str = "a guess: a round trip on a network of 1 Gbit/s and a look into an index in memory";
const WIRE: &str = "1 Gbit/s: 8 ns a byte";

pub static PROFILE: Profile = Profile {
    target: "oracle-nosql",
    unit: "µs",
    charging: Charging::Linear(Coefficients {
        read_step: IN_REQUESTS,
        read_request: Fact::new(500.0, GUESSED),
        partition: Fact::new(0.0, "in the cost of a request: a shard is found by a hash"),
        row: Fact::new(10.0, GUESSED),
        byte_read: Fact::new(0.008, WIRE),
        write_request: Fact::new(500.0, GUESSED),
        put: Fact::new(20.0, GUESSED),
        delete: Fact::new(20.0, GUESSED),
        byte_written: Fact::new(0.008, WIRE),
        client: CLIENT,
    }),
    storage: None,
    said: "no server could be measured, and none has been: calibrate before you believe anything of it",
};
