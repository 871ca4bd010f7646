//! What Redis costs, in microseconds of response time.

use crate::embedded::{CLIENT, IN_REQUESTS};
use askloom_model::{Charging, Coefficients, Fact, Profile};

const NETWORK: &str =
    "Redis documentation, \"Diagnosing latency issues\": typically 200 µs over a network of 1 Gbit/s";
const WIRE: &str = "1 Gbit/s, the network of the request cost: 8 ns a byte";
const PIPELINED: &str =
    "Redis documentation, \"Redis benchmark\", with pipelining: 508,388 GET and 403,063 SET a second";

pub static PROFILE: Profile = profile("redis");
pub static SEARCH_PROFILE: Profile = profile("redis-search");
/// A request goes to one node, which is asked as any other.
pub static CLUSTER_PROFILE: Profile = profile("redis-cluster");

const fn profile(target: &'static str) -> Profile {
    Profile {
        target,
        unit: "µs",
        charging: Charging::Linear(Coefficients {
            read_step: IN_REQUESTS,
            read_request: Fact::new(200.0, NETWORK),
            partition: Fact::new(0.0, "in the cost of a row: a key is found by its hash"),
            row: Fact::new(1e6 / 508_388.41, PIPELINED),
            byte_read: Fact::new(0.008, WIRE),
            write_request: Fact::new(200.0, NETWORK),
            put: Fact::new(1e6 / 403_063.28, PIPELINED),
            delete: Fact::new(1e6 / 403_063.28, PIPELINED),
            byte_written: Fact::new(0.008, WIRE),
            client: CLIENT,
        }),
        // Memory is the price of Redis, and whoever runs it knows what theirs costs.
        storage: None,
        said: "published figures of the makers, not measured on your server: calibrate before you trust the sum",
    }
}
