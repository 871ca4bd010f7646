//! What Cassandra costs, by the published cost model of NoSE.

use crate::embedded::{CLIENT, IN_REQUESTS};
use askloom_model::{Charging, ClientWork, Coefficients, Fact, Profile};

const NOSE: &str = "Mior, Salem, Aboulnaga, Liu, \"NoSE: Schema Design for NoSQL Applications\": the coefficients of \
                    its published experiments";
const NO_BYTES: &str = "the cost model of NoSE has no term for bytes";

/// NoSE names no unit; the sizes fit seconds of response time.
const MILLISECONDS: f64 = 1000.0;

pub static PROFILE: Profile = Profile {
    target: "cassandra",
    unit: "ms",
    charging: Charging::Linear(Coefficients {
        read_step: IN_REQUESTS,
        read_request: Fact::new(0.007_839_564_5 * MILLISECONDS, NOSE),
        partition: Fact::new(0.001_369_278_6 * MILLISECONDS, NOSE),
        row: Fact::new(0.000_011_709_363_838_649_6 * MILLISECONDS, NOSE),
        byte_read: Fact::new(0.0, NO_BYTES),
        write_request: Fact::new(0.0, "in the cost of a put and of a delete"),
        put: Fact::new(0.013_329_108 * MILLISECONDS, NOSE),
        delete: Fact::new(0.001_328_790_3 * MILLISECONDS, NOSE),
        byte_written: Fact::new(0.0, NO_BYTES),
        client: ClientWork {
            filter: Fact::new(CLIENT.filter.value / MILLISECONDS, CLIENT.filter.said),
            compare: Fact::new(CLIENT.compare.value / MILLISECONDS, CLIENT.compare.said),
            group: Fact::new(CLIENT.group.value / MILLISECONDS, CLIENT.group.said),
            sort: CLIENT.sort,
        },
    }),
    storage: None,
    said: "a model that was fitted to one cluster and taken as seconds: calibrate before you trust the sum",
};

#[cfg(test)]
mod tests {
    use super::*;
    use askloom_model::Work;
    use askloom_plan::cost::CostModel;

    #[test]
    fn the_published_model_of_nose_is_kept() {
        let cassandra = |work: &Work| PROFILE.cost(work);
        let read = Work { requests: 1.0, partitions: 2.0, rows: 100.0, bytes: 1e6, ..Work::default() };
        let published = 0.0078395645 + 2.0 * 0.0013692786 + 100.0 * 0.0000117093638386496;
        assert!((cassandra(&read) / 1000.0 - published).abs() < 1e-12);
        let write = Work { puts: 1.0, deletes: 1.0, ..Work::default() };
        assert!((cassandra(&write) / 1000.0 - (0.013329108 + 0.0013287903)).abs() < 1e-12);
    }
}
