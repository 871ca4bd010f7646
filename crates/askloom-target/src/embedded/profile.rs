//! What the embedded store costs, in microseconds, as measured.

use askloom_model::{Charging, ClientWork, Coefficients, Fact, Profile};

const MEASURED: &str = "measured by `cargo xtask bench profile`, the run is benches/runs/profile.json";

const fn measured(microseconds: f64) -> Fact<f64> {
    Fact::new(microseconds, MEASURED)
}

/// A step of a plan is nothing that a store knows of.
pub(crate) const IN_REQUESTS: Fact<f64> = Fact::new(0.0, "a step costs what its requests cost");

/// What the executor does with rows is the same whatever store they come from.
pub(crate) const CLIENT: ClientWork = ClientWork {
    filter: measured(0.201502),
    compare: measured(0.013996),
    group: measured(0.075412),
    sort: Fact::new(0.0, "a sort costs what its comparisons cost"),
};

const COEFFICIENTS: Coefficients = Coefficients {
    read_step: IN_REQUESTS,
    read_request: measured(0.972549),
    partition: Fact::new(0.0, "one ordered keyspace: where a block starts costs nothing by itself"),
    row: measured(0.09514),
    byte_read: measured(7.5e-05),
    write_request: measured(175.334368),
    put: measured(5.64391),
    delete: measured(7.800989),
    byte_written: measured(0.017545),
    client: CLIENT,
};

pub static PROFILE: Profile = Profile {
    target: "embedded",
    unit: "µs",
    charging: Charging::Linear(COEFFICIENTS),
    storage: None,
    said: "measured on one machine with the data in memory; a write waits for the medium",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_costs_something_was_measured() {
        let costly = PROFILE.facts().into_iter().filter(|fact| fact.value != "0");
        let unmeasured: Vec<_> = costly.filter(|fact| fact.said != MEASURED).collect();
        assert!(unmeasured.is_empty(), "{unmeasured:?}");
    }

    #[test]
    fn the_coefficients_are_those_of_the_recorded_run() {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/runs/profile.json");
        let run: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        let results = run["results"].as_array().unwrap();
        let recorded = |name: &str| {
            let result = results.iter().find(|result| result["name"] == name);
            result.unwrap_or_else(|| panic!("the run has no `{name}`"))["value"].as_f64().unwrap()
        };
        for (name, fact) in [
            ("read request", COEFFICIENTS.read_request),
            ("row", COEFFICIENTS.row),
            ("byte read", COEFFICIENTS.byte_read),
            ("write request", COEFFICIENTS.write_request),
            ("put", COEFFICIENTS.put),
            ("delete", COEFFICIENTS.delete),
            ("byte written", COEFFICIENTS.byte_written),
            ("filter", CLIENT.filter),
            ("compare", CLIENT.compare),
            ("group", CLIENT.group),
        ] {
            assert!((fact.value - recorded(name)).abs() < 1e-9, "`{name}` is {}", recorded(name));
        }
    }
}
