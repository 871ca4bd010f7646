//! What HBase costs, in microseconds of response time.

use crate::embedded::{CLIENT, IN_REQUESTS};
use askloom_model::{Charging, Coefficients, Fact, Profile};

const MEASURED: &str = "measured: HBase 2.6.1 in one process, Java client, loopback, local file system, 2 busy cores, \
                        records of 100 bytes";
const WIRE: &str = "1 Gbit/s: 8 ns a byte";

pub static PROFILE: Profile = Profile {
    target: "hbase",
    unit: "µs",
    charging: Charging::Linear(Coefficients {
        read_step: IN_REQUESTS,
        read_request: Fact::new(850.0, MEASURED),
        partition: Fact::new(0.0, "in the cost of a request: a region is found in the client's cache"),
        row: Fact::new(11.0, MEASURED),
        byte_read: Fact::new(0.008, WIRE),
        write_request: Fact::new(850.0, MEASURED),
        put: Fact::new(59.0, MEASURED),
        delete: Fact::new(51.0, MEASURED),
        byte_written: Fact::new(0.008, WIRE),
        client: CLIENT,
    }),
    storage: None,
    said: "one small server that was busy with other things: calibrate before you trust the sum",
};
