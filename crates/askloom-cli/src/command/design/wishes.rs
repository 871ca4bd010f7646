//! What a person wants of the choice by cost.

use crate::args::MethodName;
use askloom::Error;
use askloom::design::method::cost::Wishes;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "What the cheapest design must be like")]
pub(super) struct WishArgs {
    /// No more than this is stored, as in 50MB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    storage: Option<f64>,

    /// No more collections than this, masters and indexes included
    #[arg(long, value_name = "N")]
    max_collections: Option<usize>,

    /// This collection is kept whatever it costs; may be said several times
    #[arg(long, value_name = "NAME")]
    pin: Vec<String>,

    /// This collection is not kept; may be said several times
    #[arg(long, value_name = "NAME")]
    forbid: Vec<String>,

    /// Stop after so long with the best design found, and say how good it is,
    /// as in 10s
    #[arg(long, value_name = "TIME", value_parser = time)]
    time_limit: Option<Duration>,

    /// Cost against storage, from the smallest design to the cheapest, instead
    /// of one design
    #[arg(long, conflicts_with_all = ["save", "check", "faithful"])]
    pub(super) pareto: bool,

    /// For each statement, the rates between which the design stays the
    /// cheapest, instead of the design
    #[arg(long, conflicts_with_all = ["save", "check", "faithful", "pareto"])]
    pub(super) sensitivity: bool,

    /// Write the choice as a programme in the LP format
    #[arg(long, value_name = "FILE")]
    pub(super) dump_lp: Option<PathBuf>,
}

impl WishArgs {
    pub(super) fn any(&self) -> bool {
        self.storage.is_some()
            || self.max_collections.is_some()
            || !self.pin.is_empty()
            || !self.forbid.is_empty()
            || self.time_limit.is_some()
            || self.pareto
            || self.sensitivity
            || self.dump_lp.is_some()
    }

    /// They are about the choice by cost alone.
    pub(super) fn wishes(&self, method: Option<MethodName>) -> Result<Wishes, Error> {
        if let Some(other) = method.filter(|method| *method != MethodName::Cost && self.any()) {
            let why = format!(
                "--storage, --max-collections, --pin, --forbid, --time-limit, --pareto, --sensitivity and --dump-lp are for \
                 --method cost; {} has nothing to choose",
                other.method().name()
            );
            return Err(Error::Call(why));
        }
        Ok(Wishes {
            storage: self.storage,
            max_collections: self.max_collections,
            pin: self.pin.clone(),
            forbid: self.forbid.clone(),
            time_limit: self.time_limit,
        })
    }
}

/// `50MB`, `1.5 GB`, `800`.
fn size(text: &str) -> Result<f64, String> {
    const UNITS: [(&str, f64); 6] =
        [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3), ("kB", 1e3), ("B", 1.0)];
    let text = text.trim();
    let unit = UNITS.iter().find_map(|(unit, times)| Some((text.strip_suffix(unit)?, *times)));
    let (number, times) = unit.unwrap_or((text, 1.0));
    let number: f64 =
        number.trim().parse().map_err(|_| "a size is a number with B, KB, MB, GB or TB".to_owned())?;
    let bytes = number * times;
    if bytes.is_finite() && bytes >= 0.0 { Ok(bytes) } else { Err("a size is not negative".to_owned()) }
}

/// `10s`, `500ms`, `2min`.
fn time(text: &str) -> Result<Duration, String> {
    const UNITS: [(&str, f64); 4] = [("ms", 1e-3), ("min", 60.0), ("s", 1.0), ("h", 3600.0)];
    let text = text.trim();
    let unit = UNITS.iter().find_map(|(unit, times)| Some((text.strip_suffix(unit)?, *times)));
    let (number, times) = unit.ok_or("a time has a unit: ms, s, min or h")?;
    let number: f64 =
        number.trim().parse().map_err(|_| "a time is a number with ms, s, min or h".to_owned())?;
    Duration::try_from_secs_f64(number * times).map_err(|_| "a time is not negative, nor endless".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_have_units() {
        let sizes = ["50MB", "1.5 GB", "800", "2KB"].map(size);
        assert_eq!(sizes, [Ok(5e7), Ok(1.5e9), Ok(800.0), Ok(2e3)]);
        assert!(["", "MB", "-1MB", "5 PB", "1e400", "NaN"].map(size).iter().all(Result::is_err));
        let times = ["10s", "500 ms", "2min"].map(time);
        assert_eq!(times, [10_000, 500, 120_000].map(|ms| Ok(Duration::from_millis(ms))));
        assert!(["10", "s", "-1s", "1e300h"].map(time).iter().all(Result::is_err));
    }
}
