//! Numbers with units: sizes, durations, rates, shares.

/// What a unit stands for, in bytes, milliseconds, or times a second.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit {
    pub(super) names: &'static [&'static str],
    pub(super) factor: f64,
}

pub(super) const SIZES: &[Unit] = &[
    Unit { names: &["B", "byte", "bytes"], factor: 1.0 },
    Unit { names: &["KB", "kB"], factor: 1e3 },
    Unit { names: &["MB"], factor: 1e6 },
    Unit { names: &["GB"], factor: 1e9 },
    Unit { names: &["KiB"], factor: 1024.0 },
    Unit { names: &["MiB"], factor: 1_048_576.0 },
    Unit { names: &["GiB"], factor: 1_073_741_824.0 },
];

/// In milliseconds.
pub(super) const DURATIONS: &[Unit] = &[
    Unit { names: &["ms"], factor: 1.0 },
    Unit { names: &["s", "sec", "second", "seconds"], factor: 1e3 },
    Unit { names: &["min", "minute", "minutes"], factor: 6e4 },
    Unit { names: &["h", "hour", "hours"], factor: 3.6e6 },
    Unit { names: &["d", "day", "days"], factor: 8.64e7 },
    Unit { names: &["week", "weeks"], factor: 6.048e8 },
    Unit { names: &["year", "years"], factor: 3.1536e10 },
];

/// `800/s`: times a second.
pub(super) const RATES: &[Unit] = &[
    Unit { names: &["s", "sec", "second"], factor: 1.0 },
    Unit { names: &["min", "minute"], factor: 1.0 / 60.0 },
    Unit { names: &["h", "hour"], factor: 1.0 / 3600.0 },
    Unit { names: &["day", "d"], factor: 1.0 / 86_400.0 },
    Unit { names: &["week"], factor: 1.0 / 604_800.0 },
    Unit { names: &["month"], factor: 1.0 / 2_592_000.0 },
];

pub(super) fn find(units: &[Unit], name: &str) -> Option<f64> {
    units.iter().find(|unit| unit.names.contains(&name)).map(|unit| unit.factor)
}

pub(super) fn names(units: &'static [Unit]) -> impl Iterator<Item = &'static str> {
    units.iter().flat_map(|unit| unit.names.iter().copied())
}

/// A number as written, underscores and all. Finite or nothing.
pub(super) fn number(text: &str) -> Option<f64> {
    let plain: String = text.chars().filter(|c| *c != '_').collect();
    plain.parse::<f64>().ok().filter(|number| number.is_finite())
}

/// A whole number as written.
pub(super) fn whole(text: &str) -> Option<u64> {
    let plain: String = text.chars().filter(|c| *c != '_').collect();
    plain.parse::<u64>().ok()
}
