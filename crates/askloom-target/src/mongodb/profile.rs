//! What MongoDB costs, in microseconds of response time: the coefficients of the server's own planner, and a network.

use crate::embedded::{CLIENT, IN_REQUESTS};
use askloom_model::{Charging, Coefficients, Fact, Profile};

const NETWORK: &str =
    "a round trip of 200 µs over 1 Gbit/s, as in the Redis documentation, \"Diagnosing latency issues\"";
const WIRE: &str = "1 Gbit/s, the network of the request cost: 8 ns a byte";
const FOUND: &str = "no published figure: an index seek and a fetch, as a write finds its document by";

// MongoDB server source, `cost_based_ranker`, the calibrated coefficients of its cost estimator, in nanoseconds.
const INDEX_SEEK: f64 = 1.13471;
const INDEX_KEY: f64 = 0.43555;
const FETCH: f64 = 1.2322;

pub static PROFILE: Profile = Profile {
    target: "mongodb",
    unit: "µs",
    charging: Charging::Linear(Coefficients {
        read_step: IN_REQUESTS,
        read_request: Fact::new(200.0, NETWORK),
        partition: Fact::new(INDEX_SEEK, "MongoDB server source, cost estimator: an index seek, 1,134.71 ns"),
        row: Fact::new(
            INDEX_KEY + FETCH,
            "MongoDB server source, cost estimator: an index key, 435.55 ns, and a fetch, 1,232.20 ns",
        ),
        byte_read: Fact::new(0.008, WIRE),
        write_request: Fact::new(
            400.0,
            "two round trips: w majority waits for a secondary, too; the journal's medium is not counted",
        ),
        put: Fact::new(INDEX_SEEK + FETCH, FOUND),
        delete: Fact::new(INDEX_SEEK + FETCH, FOUND),
        byte_written: Fact::new(0.008, WIRE),
        client: CLIENT,
    }),
    storage: None,
    said: "published figures of the makers, not measured on your server: calibrate before you trust the sum",
};
